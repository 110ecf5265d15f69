/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Carries packets through the fabric (wire.c), and records those that are lost.
 *
 * A directed route SMP goes where its path says, over any link that is up (14.2.2).  A LID-routed
 * SMP follows the LFTs on VL15 from Init on.  Any other packet follows LFTs or MFTs hop by hop: at
 * each hop the port must be Active, the SL must map to a VL that the out port has, and the P_Key
 * must pass where it is enforced (7.9, 10.9).  Each hop counts in the ports' counters.  Each loss
 * is counted by reason, and the last ones are listed.
 */
#ifndef QOSD_SIM_NET_WIRE_H
#define QOSD_SIM_NET_WIRE_H

#include "sim/net/engine.h"

/* X(constant, name) for each reason, with what it means. */
#define DROP_REASON_TABLE(X) \
	X(DROP_LINK_DOWN, "link-down")	/* no link behind the out port */ \
	X(DROP_PORT_STATE, "port-state")	/* of the port or its peer: too low (SMPs need Init) */ \
	X(DROP_NO_ROUTE, "no-route")	/* LFT entry is 255, beyond LinearFDBTop, or no such port */ \
	X(DROP_WRONG_LFT, "wrong-lft")	/* arrived at a port with another LID */ \
	X(DROP_LOOP, "loop")	/* more hops than any path can have */ \
	X(DROP_VL15, "vl15")	/* SL2VL maps the SL to VL15 */ \
	X(DROP_VL_MISSING, "vl-missing")	/* SL2VL names a VL beyond OperationalVLs */ \
	X(DROP_NO_CREDIT, "no-credit")	/* the link's other end has no flow control for the VL */ \
	X(DROP_PKEY, "pkey")	/* not in a table that enforces it, or both are limited members */ \
	X(DROP_BAD_PATH, "bad-path")	/* directed route that is malformed or leads nowhere */ \
	X(DROP_NODE_OFF, "node-off") \
	X(DROP_SILENT, "silent")	/* the device does not answer */ \
	X(DROP_FAULT, "fault")	/* dropped by a fault rule */ \
	X(DROP_NO_AGENT, "no-agent")	/* no agent registered for it */ \
	X(DROP_MKEY, "mkey")	/* M_Key does not match (14.2.4) */ \
	X(DROP_MCAST, "mcast")	/* multicast LID without an entry in the MFT */ \
	X(DROP_QP, "qp")	/* no such QP at the end port */ \
	X(DROP_QUEUE, "queue")	/* a client does not read */ \
	X(DROP_VL15_FULL, "vl15-full")	/* no room for the SMP at a port */ \
	X(DROP_MTU, "mtu")	/* longer than the NeighborMTU of the out port */ \
	X(DROP_SLID, "slid")	/* an HCA's driver sent it by a LID that is not the port's */

#define DROP_REASON_CONSTANT(constant, name) constant,
enum drop_reason { DROP_NONE, DROP_REASON_TABLE(DROP_REASON_CONSTANT) DROP_REASONS };
const char *drop_reason_name(enum drop_reason r);	/* "vl15", "no-route" … */

struct drop {
	int64_t when_us;
	uint32_t port;		/* where it was lost */
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
 * Records a loss at a port.  Also counts it at the port where IBA has a counter: PortXmitDiscards
 * if it was to leave there, PortRcvSwitchRelayErrors if a switch cannot forward it.
 */
void wire_drop(struct sim *s, uint32_t port, const struct packet *p, enum drop_reason why);

/* Makes the bytes of a packet; the caller is their first user. */
struct packet_bytes *packet_bytes_new(const void *data, uint32_t n, uint16_t payload);
/* Ends the use of bytes by the caller; NULL is fine. */
void packet_bytes_free(struct packet_bytes *b);

/*
 * Sends a packet from end port `port` (a CA or router port, or port 0 of a switch): copies it to
 * the queue, sets p->from, and counts a MAD in the statistics of p->client.  A LID-routed packet goes
 * by p->dlid; a directed route SMP by p->mad, from hop pointer 0 for requests and hop count + 1 for
 * answers, unless it begins with a LID-routed part (14.2.2).  Packets to QP 0 use VL 15.  From a
 * node with a driver, whose SMI has moved the hop pointer, a directed route SMP leaves by the port.
 */
void wire_send(struct sim *s, uint32_t port, const struct packet *p);
/* The same after a delay. */
void wire_send_after(struct sim *s, uint32_t port, const struct packet *p, int64_t delay_us);

/*
 * Turns a request that arrived at `port` into the headers of its answer.  It swaps LIDs, QPs, GIDs
 * and, for a directed route SMP, the direction; it uses the port's own matching P_Key, and makes a
 * device the sender (client 0).  The caller sets method and data. wire_send() then sends the
 * answer.
 */
void wire_turn_round(const struct sim *s, uint32_t port, struct packet *p);
/* The same, and makes the method GetResp and sets the status; a directed route SMP keeps its direction. */
void wire_answer(const struct sim *s, uint32_t port, struct packet *p, unsigned status);

/* --- the same rules as queries, without sending --- */

/*
 * One hop of a data packet that came in by in_port, or that starts at that end port: out port and
 * VL, or the reason why there is none.  Port 0 of the switch, with VL 0, means that the packet has
 * arrived.  CA and router ports forward nothing: for one of these, the query is about a packet that
 * leaves it.
 */
enum drop_reason wire_next_hop(const struct sim_fabric *f, uint32_t in_port, uint16_t dlid,
			       uint8_t sl, uint32_t *out_port, uint8_t *vl);
/*
 * The VL by SL2VL; in 0..nports for a switch (0: from port 0), ignored for other nodes.  A port
 * without a table has a single data VL, 0.
 */
uint8_t sl2vl_get(const struct sim_fabric *f, uint32_t node, unsigned in, unsigned out,
		  unsigned sl);
/* Whether the port's table has the P_Key, and not both are limited members (10.9.3). */
bool pkey_matches(const struct sim_port *p, uint16_t pkey);
/* Index of the first such entry; -1 if there is none. */
int pkey_find(const struct sim_port *p, uint16_t pkey);

#endif
