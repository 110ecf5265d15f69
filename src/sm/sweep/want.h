/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What each attribute of each device should be, by the plan: pure functions
 * from (plan, device) to the 64 bytes of an SMP.  Reading, comparing and
 * writing all ask here, so that they cannot disagree.
 */
#ifndef QOSD_SM_SWEEP_WANT_H
#define QOSD_SM_SWEEP_WANT_H

#include "mad/mad.h"
#include "plan/plan.h"
#include "store/store.h"

/* Our own place in the subnet, as ports are told. */
struct want_env {
	const struct plan *plan;
	uint16_t sm_lid;
	uint64_t m_key;		/* that devices are to have */
	uint16_t successor_of;	/* LID of an SM whose clients' registrations we have; 0: none */
	bool reregister;	/* all clients are to register again (14.4.11) … */
	const struct map64 *asked;	/* … but for those at these port GUIDs, who were asked; or NULL */
	const struct refusals *refused;	/* what devices do not take; NULL: nothing */
	const struct port_answer *answers;	/* instead of the fabric's PortInfo, in order of ports */
	size_t n_answers;
	bool as_found;		/* want_port_info() leaves our fields as they are */
	bool tables_written;	/* … so that enforcement of partitions may begin anywhere */
};

/*
 * Fills the directed route to the port num of a node (0: the node, whichever
 * way).  An SMP to a CA answers for the port by which it arrives, so that each
 * port of a CA has a route of its own, through the switch it is linked to.
 * m_key becomes what the PortInfo of the port that answers shows, 0: none.
 * False if there is no route, FABRIC_UNREACHED nodes included.
 */
bool want_route(const struct fabric *f, uint32_t node, unsigned num, struct smp *s);

/* The port whose agent answers to what goes by want_route(). */
uint32_t agent_port(const struct fabric *f, uint32_t node, unsigned num);
/* The M_Key that it shows (14.2.4); 0: none, or it is not known. */
uint64_t port_m_key(const struct fabric *f, uint32_t node, unsigned num);

/* --- PortInfo (14.2.5.6) --- */

/*
 * Puts our fields into a PortInfo, and leaves all others.  Of a port that awaits publishing it also
 * leaves those of want_announced_fields().
 */
void want_port_fields(const struct want_env *e, uint32_t port, uint8_t data[64]);
/*
 * The clients of an Active port ask within a millisecond when they hear of a new subnet manager, or
 * are asked to register again.  So the port is told only when the answers are published, by one
 * Set (announce.c).  A port whose LID is to change waits for nothing: what it sends carries a LID
 * that is not known before.
 */
bool port_awaits_publishing(const struct want_env *e, uint32_t port);
/* The fields that may wait as long: no table, no answer and no data packet depends on them. */
void want_announced_fields(const struct want_env *e, uint32_t port, uint8_t data[64]);
/*
 * AttributeModifier of PortInfo: the port number and, where the device knows extended
 * speeds, SMSupportExtendedSpeeds.  Without that bit a device may hide them in a Get, and
 * ignore them in a Set.
 */
uint32_t port_info_modifier(const struct fabric *f, uint32_t node, unsigned num);
/*
 * The PortInfo to Set: what the port holds, with our fields in it.  state:
 * IB_PORT_NOP for no change, or the next state.
 */
void want_port_info(const struct want_env *e, uint32_t port, unsigned state, uint8_t data[64]);
/*
 * OperationalVLs that both ends of the port's link are to have, a code, where the link is
 * Active and one of them has others; else 0.  want_port_fields() leaves those of such a link
 * as they are.
 */
uint8_t port_new_vls(const struct plan *p, uint32_t port);
/* The same of NeighborMTU: the greatest that both ends support. */
uint8_t port_new_mtu(const struct plan *p, uint32_t port);
/*
 * A switch port that is to enforce partitions and does not, although it carries
 * traffic: that begins only when its P_Key table is there.
 */
bool port_is_to_enforce(const struct plan *p, uint32_t port);
/*
 * A digest of the fields that are ours in a PortInfo: one that a device answered, or
 * want_port_fields() filled; not one for a Set, where 0 is "no change" for some fields.
 */
uint64_t port_info_digest(const struct want_env *e, uint32_t port, const uint8_t info[64]);
/*
 * Clients behind the port lost their registrations, or have another SM in mind,
 * and the port can tell them to register again.
 */
bool port_owes_registrations(const struct want_env *e, uint32_t port);
/* The same, and the port is not one that awaits publishing. */
bool port_is_to_reregister(const struct want_env *e, uint32_t port);
/*
 * The registrations of its clients were lost, the port was not asked since, and it does not await
 * publishing.
 */
bool port_lost_registrations(const struct want_env *e, uint32_t port);
/* The port has a link whose two ends both answer. */
bool port_is_linked(const struct fabric *f, uint32_t port);
/* We have something to say about this port at all. */
bool port_is_managed(const struct fabric *f, uint32_t port);

/* --- SwitchInfo (14.2.5.4) --- */

/*
 * MulticastFDBTop: the highest that the switch's table allows, so that it is written once and
 * not with each group that comes or goes; what the switch holds if it has no such field, or is
 * known to refuse that value.  held: what it holds.
 */
unsigned want_mcast_top(const struct plan *p, const struct refusals *refused, uint32_t sw,
			unsigned held);
/* The modifier by which refusals of MulticastFDBTop alone are remembered; 0: the other fields. */
#define REFUSED_MCAST_TOP 1
/* Fills data; true if it differs from what the switch holds. */
bool want_switch_info(const struct want_env *e, const struct refusals *refused, uint32_t sw,
		      uint8_t data[64]);

/* --- tables: one item is one attribute block of a device --- */

enum item_kind { ITEM_NONE, ITEM_LFT, ITEM_PKEY, ITEM_SL2VL, ITEM_VLARB };

/* kind in the upper 4 bits, two numbers of up to 10 bits below. */
typedef uint32_t item_t;
#define ITEM(kind, a, b)	((item_t)(kind) << 28 | (item_t)(a) << 10 | (item_t)(b))
#define ITEM_KIND(i)		((enum item_kind)((i) >> 28))
#define ITEM_A(i)		((i) >> 10 & 0x3ff)
#define ITEM_B(i)		((i) & 0x3ff)
#define ITEM_ALL		0x3ffu

/*
 * LFT: a = 0, b = block.  P_Key table: a = port, b = block; external ports of
 * switches have one where they enforce partitions.  SL2VL: a = in,
 * b = out; ITEM_ALL as a: all in ports, and as b, too: all pairs, where all want the
 * same.  VLArb: a = port, b = block 1..4 (low, low, high, high).
 * item_port() is the port by which a CA must be reached for it.
 */
static inline unsigned item_port(item_t i)
{
	return ITEM_KIND(i) == ITEM_LFT ? 0 : ITEM_KIND(i) == ITEM_SL2VL ? ITEM_B(i) : ITEM_A(i);
}

struct item_want {
	uint16_t attr;
	uint32_t mod;
	unsigned len;		/* bytes that count; the rest is 0 */
	uint8_t data[64];
};
/*
 * The first pair of ports that has a table, of those that an SL2VL item stands
 * for: the item itself if it is of a pair.  0 if there is none.
 */
item_t want_first_pair(const struct plan *p, uint32_t node, item_t item);
void want_item(const struct plan *p, uint32_t node, item_t item, struct item_want *w);

/* Calls fn for every item that the plan has for the node, in the order of writing. */
void want_items(const struct plan *p, uint32_t node, void (*fn)(void *arg, item_t item), void *arg);

#endif
