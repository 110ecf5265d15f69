/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The way of a packet through the fabric (wire.c), and what is lost on it.
 *
 * A directed route SMP goes where its path says, over any link that is up
 * (14.2.2).  A LID-routed SMP follows the LFTs on VL15 from Init on.  Anything
 * else follows LFTs, or MFTs, hop by hop: at each the port must be Active, the
 * SL must map to a VL that the out port has, and the P_Key must pass where it is
 * enforced (7.9, 10.9).  Each hop counts in the ports' counters; each loss is
 * counted with its reason and kept in the list of the last ones.
 */
#ifndef QOSD_SIM_NET_WIRE_H
#define QOSD_SIM_NET_WIRE_H

#include "sim/net/engine.h"

enum drop_reason {
	DROP_NONE,
	DROP_LINK_DOWN,		/* no link behind the out port */
	DROP_PORT_STATE,	/* of the port or the one behind it (from Init on for SMPs) */
	DROP_NO_ROUTE,		/* LFT entry is 255, beyond LinearFDBTop, or no such port */
	DROP_WRONG_LFT,		/* came out at a port with another LID */
	DROP_LOOP,		/* more hops than any path has */
	DROP_VL15,		/* SL2VL says drop */
	DROP_VL_MISSING,	/* SL2VL names a VL beyond OperationalVLs */
	DROP_NO_CREDIT,		/* the other end of the link has no such VL, and sends no flow control for it */
	DROP_PKEY,		/* not in the table where it is enforced, or both limited members */
	DROP_BAD_PATH,		/* directed route that leads nowhere or is malformed */
	DROP_NODE_OFF,
	DROP_SILENT,		/* the device does not answer */
	DROP_FAULT,		/* a fault took it */
	DROP_NO_AGENT,		/* nobody registered for it */
	DROP_MKEY,		/* M_Key does not match (14.2.4) */
	DROP_MCAST,		/* multicast LID without an entry in the MFT */
	DROP_QP,		/* no such QP at the end port */
	DROP_QUEUE,		/* a client that does not read */
	DROP_VL15_FULL,		/* no room for an SMP at a port */
	DROP_REASONS
};
const char *drop_reason_name(enum drop_reason r);	/* "vl15", "no-route" … */

struct drop {
	int64_t when_us;
	uint32_t port;		/* where */
	enum drop_reason reason;
	uint32_t from;		/* end port that sent it */
	uint16_t slid, dlid;
	uint8_t sl, mgmt_class, method;
	uint16_t attr;
	uint32_t mod;
};
#define DROPS_KEPT 1024
struct sim_drops {
	uint64_t by_reason[DROP_REASONS];
	struct drop last[DROPS_KEPT];	/* ring: the n-th is at n % DROPS_KEPT */
	uint64_t n;
};
/*
 * Counts a loss at a port (counters of the port, too, where IBA has one for it:
 * PortXmitDiscards where it was to leave, PortRcvSwitchRelayErrors where a switch
 * cannot forward what came in).
 */
void wire_drop(struct sim *s, uint32_t port, const struct packet *p, enum drop_reason why);

/*
 * A packet leaves end port `port` (a CA or router port, or port 0 of a switch),
 * into the queue; p->from is set to it.  LID-routed: p->dlid says where; directed
 * route: p->mad does, from hop pointer 0 for requests and hop count + 1 for
 * answers, unless it begins with a LID-routed part (14.2.2).  To QP 0 it goes
 * on VL 15.  Copied, and counted in the statistics of p->client.
 */
void wire_send(struct sim *s, uint32_t port, const struct packet *p);
/* The same after a delay. */
void wire_send_after(struct sim *s, uint32_t port, const struct packet *p, int64_t delay_us);

/*
 * Turns a request that arrived at `port` into the headers of its answer: LIDs,
 * QPs, GIDs, and for a directed route SMP the direction, are swapped, the P_Key is
 * the port's own that matches, and the sender a device (client 0); method and
 * data are the caller's.  Then wire_send() takes it back.
 */
void wire_turn_round(const struct sim *s, uint32_t port, struct packet *p);

/* --- the same rules as questions, for whoever wants to know without sending --- */

/*
 * One hop of a data packet that came in by in_port, or starts at that end port:
 * the port to leave by and the VL there, or the reason why not.  Port 0 of the
 * switch, with VL 0: it is there.  CA and router ports forward nothing: asked
 * for one, this is about a packet that leaves it.
 */
enum drop_reason wire_next_hop(const struct sim_fabric *f, uint32_t in_port, uint16_t dlid,
			       uint8_t sl, uint32_t *out_port, uint8_t *vl);
/*
 * VL by SL2VL; in 0..nports for a switch (0: from port 0), ignored for others.
 * A port without a table has one data VL, and that is 0.
 */
uint8_t sl2vl_get(const struct sim_fabric *f, uint32_t node, unsigned in, unsigned out,
		  unsigned sl);
/* Does the port's table have the P_Key, such that not both are limited members (10.9.3)? */
bool pkey_matches(const struct sim_port *p, uint16_t pkey);
/* … and where: the place of the first such entry, or -1. */
int pkey_find(const struct sim_port *p, uint16_t pkey);

#endif
