/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A packet under way and its position (private to sim/net).
 *
 * A packet starts at an end port, leaves by a port (exit), comes in at the port at the other end of
 * the cable (entry), and so on until it ends at an end port.  It goes all the way at once, unless a
 * fault holds it back; then it goes on from its position later.
 */
#ifndef QOSD_SIM_NET_TRANSIT_H
#define QOSD_SIM_NET_TRANSIT_H

#include "sim/net/wire.h"

enum place { PLACE_START, PLACE_EXIT, PLACE_ENTRY, PLACE_END };

struct transit {
	struct transit *next;
	uint32_t port;			/* current port */
	enum place place;		/* what it does next at that port */
	bool faults_met;		/* the faults of this place were applied already */
	bool smi_met;			/* the SMI of this place handled it already (vl15.c) */
	uint8_t vl;			/* data packets: VL on the link that they cross next */
	uint32_t hops;			/* LID-routed: number of switches entered */
	uint32_t mark;			/* one of these switches; a packet that loops meets it again */
	struct packet p;
};

/* The next place of a packet. */
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

/* --- queue.c: first in, first out; owns every transit, whoever holds it --- */

struct sim_queue *queue_new(void);
void queue_free(struct sim_queue *q);
/* A transit at the start of its way from `port`.  NULL if there are too many for any real fabric. */
struct transit *transit_new(struct sim_queue *q, uint32_t port, const struct packet *p);
/* A copy at the same place; NULL like transit_new(). */
struct transit *transit_copy(struct sim_queue *q, const struct transit *t);
void transit_free(struct sim_queue *q, struct transit *t);
/*
 * Moves it to its next place.  The faults of a port apply once, even if the packet ends where it
 * came in.
 */
void transit_move(struct transit *t, uint32_t port, enum place place);
void queue_put(struct sim_queue *q, struct transit *t);
struct transit *queue_take(struct sim_queue *q);	/* NULL: empty */

/* --- timers.c --- */

struct sim_timers *timers_new(void);
void timers_free(struct sim_timers *ts);
/* Runs the first timer, at its time, if it is due by now_us. */
bool timers_run_one(struct sim *s, int64_t now_us);
/* The time of the first timer; INT64_MAX if there is none. */
int64_t timers_first(const struct sim_timers *ts);

/* --- wire.c --- */

/* Carries a packet until it has arrived, is lost or is held back. */
void wire_carry(struct sim *s, struct transit *t);
/* The same, but stops with true when t is at a switch that must multicast it. */
bool wire_advance(struct sim *s, struct transit *t);
/*
 * Drop a packet, and return false.  One that cannot leave by `out` is counted there if that port is at
 * fault, else at its current port.
 */
bool transit_blocked(struct sim *s, struct transit *t, uint32_t out, enum drop_reason why);
bool transit_drop(struct sim *s, struct transit *t, enum drop_reason why);

/* --- lid.c --- */

/* The next place of a unicast packet at `port` by its LID; always sets w->port. */
enum drop_reason way_by_lid(const struct sim_fabric *f, uint32_t port, enum place place,
			    uint16_t dlid, struct way *w);
/* The reason why nothing can leave by `out`, whose PortState must be at least `state`. */
enum drop_reason link_blocked(const struct sim_fabric *f, uint32_t out, uint8_t state);
/* The reason why a data packet cannot go from `in` to `out` of one node; sets vl. */
enum drop_reason data_blocked(const struct sim_fabric *f, uint32_t in, uint32_t out, uint8_t sl,
			      uint8_t *vl);

/* --- directed.c --- */

/* The next place of a directed route SMP.  Updates its pointers and LIDs as the SMI there does. */
enum drop_reason way_by_path(const struct sim_fabric *f, struct transit *t, struct way *w);

/* --- mcast.c --- */

/* Multicasts t from a switch along the MFTs. */
void mcast_flood(struct sim *s, struct transit *t);

/* --- fault.c --- */

/*
 * Applies faults to a packet at its place.  False: the packet is lost or held back, and t is no
 * longer the caller's.
 */
bool faults_let_pass(struct sim *s, struct transit *t);

/* --- vl15.c --- */

/* Handles an SMP that came into a node.  False: it is lost, or waits for the SMI there. */
bool vl15_let_pass(struct sim *s, struct transit *t);

/* --- drop.c --- */

/* Like wire_drop(), but leaves the port's counters alone. */
void drop_note(struct sim *s, uint32_t port, const struct packet *p, enum drop_reason why);

#endif
