/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Inside sim/net: a packet on its way, and how far it has come.
 *
 * A packet starts at an end port, leaves by a port (exit), comes in at the one
 * at the other end of the cable (entry), and so on until it ends at an end port.
 * It is taken all the way at once, unless a fault holds it back; then it goes on
 * from where it is.
 */
#ifndef QOSD_SIM_NET_TRANSIT_H
#define QOSD_SIM_NET_TRANSIT_H

#include "sim/net/wire.h"

enum place { PLACE_START, PLACE_EXIT, PLACE_ENTRY, PLACE_END };

struct transit {
	struct transit *next;
	uint32_t port;			/* where it is, and … */
	enum place place;		/* … what it does there next */
	bool faults_met;		/* those of this place have been asked */
	bool smi_met;			/* the SMI of this place has had it (vl15.c) */
	uint8_t vl;			/* data packets: of the link that they are to go over */
	uint32_t hops;			/* LID-routed: switches that it came into … */
	uint32_t mark;			/* … and one of them, which it meets again if it loops */
	struct packet p;
};

/* Where a packet goes next. */
struct way {
	uint32_t port;
	enum place place;		/* PLACE_EXIT or PLACE_END */
};

static inline bool is_smp(const struct packet *p)
{
	return p->dqpn == 0;
}

static inline bool is_multicast(const struct packet *p)
{
	return p->dlid >= SIM_LID_MCAST && p->dlid != SIM_LID_PERMISSIVE && !is_smp(p);
}

/* --- queue.c: first in, first out; owns every transit, wherever that is held --- */

struct sim_queue *queue_new(void);
void queue_free(struct sim_queue *q);
/* At the start of its way from `port`. NULL if more are under way than any fabric has. */
struct transit *transit_new(struct sim_queue *q, uint32_t port, const struct packet *p);
/* Another one at the same place; NULL as transit_new(). */
struct transit *transit_copy(struct sim_queue *q, const struct transit *t);
void transit_free(struct sim_queue *q, struct transit *t);
/* To its next place. The faults of one port are met once, even if it ends where it came in. */
void transit_move(struct transit *t, uint32_t port, enum place place);
void queue_put(struct sim_queue *q, struct transit *t);
struct transit *queue_take(struct sim_queue *q);	/* NULL: empty */

/* --- timers.c --- */

struct sim_timers *timers_new(void);
void timers_free(struct sim_timers *ts);
/* Runs the first timer, at its time, if that is not after now_us. */
bool timers_run_one(struct sim *s, int64_t now_us);
/* When the first is due; INT64_MAX: there is none. */
int64_t timers_first(const struct sim_timers *ts);

/* --- wire.c --- */

/* Takes a packet on until it has arrived, is lost or is held back. */
void wire_carry(struct sim *s, struct transit *t);
/* The same, but true with t at a switch that is to multicast it. */
bool wire_advance(struct sim *s, struct transit *t);
/* Lost on its way to `out`: there if that is what is at fault, else where it is. */
void transit_blocked(struct sim *s, struct transit *t, uint32_t out, enum drop_reason why);
void transit_drop(struct sim *s, struct transit *t, enum drop_reason why);

/* --- lid.c --- */

/* Where a unicast packet at `port` goes by its LID; w->port is set in any case. */
enum drop_reason way_by_lid(const struct sim_fabric *f, uint32_t port, enum place place,
			    uint16_t dlid, struct way *w);
/* What keeps anything from leaving by `out`, where its PortState must be `state` at least. */
enum drop_reason link_blocked(const struct sim_fabric *f, uint32_t out, uint8_t state);
/* What keeps a data packet from going from `in` out of `out` of one node; vl is set. */
enum drop_reason data_blocked(const struct sim_fabric *f, uint32_t in, uint32_t out, uint8_t sl,
			      uint8_t *vl);

/* --- directed.c --- */

/* Where a directed route SMP goes next; turns its pointers and LIDs as the SMI there does. */
enum drop_reason way_by_path(const struct sim_fabric *f, struct transit *t, struct way *w);

/* --- mcast.c --- */

/* Sends t, at a switch, to wherever the MFTs lead. */
void mcast_flood(struct sim *s, struct transit *t);

/* --- fault.c --- */

/* What faults do to a packet at its place; false if it is lost or held back, and no longer t's. */
bool faults_let_pass(struct sim *s, struct transit *t);

/* --- vl15.c --- */

/* An SMP that came into a node: false if it is lost, or waits for the SMI there. */
bool vl15_let_pass(struct sim *s, struct transit *t);

/* --- drop.c --- */

/* As wire_drop(), but leaves the port's counters alone. */
void drop_note(struct sim *s, uint32_t port, const struct packet *p, enum drop_reason why);

#endif
