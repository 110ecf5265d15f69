/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Computes what each attribute of each device should be under the plan.
 *
 * Pure functions from (plan, device) to the 64 bytes of an SMP.  Reading, comparing and writing all
 * use them, so they cannot disagree.
 */
#ifndef QOSD_SM_SWEEP_WANT_H
#define QOSD_SM_SWEEP_WANT_H

#include "mad/mad.h"
#include "plan/plan.h"
#include "store/store.h"

/* What ports are told about us. */
struct want_env {
	const struct plan *plan;
	uint16_t sm_lid;
	uint64_t m_key;		/* the key that devices should have */
	uint16_t successor_of;	/* LID of an SM whose clients' registrations we have; 0: none */
	bool reregister;	/* all clients must register again (14.4.11), */
	const struct map64 *asked;	/* except behind these port GUIDs, which were asked; or NULL */
	const struct refusals *refused;	/* values that devices do not take; NULL: none */
	const struct port_answer *answers;	/* PortInfo newer than the fabric's, in order of ports */
	size_t n_answers;
	bool as_found;		/* want_port_info() leaves our fields unchanged */
	bool tables_written;	/* all tables are written: any port may begin to enforce partitions */
};

/*
 * Fills the directed route to port num of a node (0: to the node, by any port).  A CA answers an
 * SMP for the port by which it arrives, so each port of a CA has a route of its own, through the
 * switch that it is linked to.  Sets m_key from the PortInfo of the port that answers; 0: none.
 * False: there is no route, as to FABRIC_UNREACHED nodes.
 */
bool want_route(const struct fabric *f, uint32_t node, unsigned num, struct smp *s);

/* The end of the port's link whose answer need not cross it; the port must have a peer. */
uint32_t link_near_end(const struct fabric *f, uint32_t port);
/* The port whose agent answers an SMP that takes the route of want_route(). */
uint32_t agent_port(const struct fabric *f, uint32_t node, unsigned num);
/* The M_Key that this port's PortInfo shows (14.2.4); 0: none, or not known. */
uint64_t port_m_key(const struct fabric *f, uint32_t node, unsigned num);

/* --- PortInfo (14.2.5.6) --- */

/*
 * Puts our fields into a PortInfo and leaves all others.  If the port awaits publishing, the fields
 * of want_announced_fields() are left, too.
 */
void want_port_fields(const struct want_env *e, uint32_t port, uint8_t data[64]);
/*
 * The port is told of us only after publishing.  The clients of an Active port send queries within
 * a millisecond when they see a new subnet manager or are asked to register again, so the port is
 * told by one Set when the answers are published (announce.c).  A port whose LID is to change does
 * not wait: its packets carry a LID that nobody knows yet.
 */
bool port_awaits_publishing(const struct want_env *e, uint32_t port);
/* Puts in the fields that can wait for publishing: no table, answer or data packet depends on them. */
void want_announced_fields(const struct want_env *e, uint32_t port, uint8_t data[64]);
/*
 * AttributeModifier of PortInfo: the port number and, where the device knows extended speeds,
 * SMSupportExtendedSpeeds.  Without that bit a device may hide the speeds in a Get and ignore them
 * in a Set.
 */
uint32_t port_info_modifier(const struct fabric *f, uint32_t node, unsigned num);
/*
 * The PortInfo to Set: the port's contents with our fields in it.  state: the next state, or
 * IB_PORT_NOP for no change.
 */
void want_port_info(const struct want_env *e, uint32_t port, unsigned state, uint8_t data[64]);
/* The same, but with all fields as found except for the state. */
void want_port_state(const struct fabric_port *p, unsigned state, uint8_t data[64]);
/*
 * The OperationalVLs code that both ends of the port's link should get if the link is Active and an
 * end has another one; else 0.  want_port_fields() leaves OperationalVLs of such a link unchanged.
 */
uint8_t port_new_vls(const struct plan *p, uint32_t port);
/* The same for NeighborMTU: the greatest that both ends support. */
uint8_t port_new_mtu(const struct plan *p, uint32_t port);
/*
 * A switch port that should enforce partitions and carries traffic without doing so: it must not
 * begin before its P_Key table is in place.
 */
bool port_is_to_enforce(const struct plan *p, uint32_t port);
/*
 * A digest of the fields that we set in a PortInfo.  info: a device's answer or the result of
 * want_port_fields(), but not the data of a Set, where 0 means "no change" in some fields.
 */
uint64_t port_info_digest(const struct want_env *e, uint32_t port, const uint8_t info[64]);
/*
 * Clients behind the port lost their registrations or know another SM, and the port can tell them
 * to register again.
 */
bool port_owes_registrations(const struct want_env *e, uint32_t port);
/* The same, and the port does not await publishing. */
bool port_is_to_reregister(const struct want_env *e, uint32_t port);
/*
 * The registrations of the port's clients were lost, the port has not been asked since, and it does
 * not await publishing.
 */
bool port_lost_registrations(const struct want_env *e, uint32_t port);
/* The port has a link whose two ends both answer. */
bool port_is_linked(const struct fabric *f, uint32_t port);
/* We set something on this port. */
bool port_is_managed(const struct fabric *f, uint32_t port);

/* --- SwitchInfo (14.2.5.4) --- */

/*
 * The MulticastFDBTop to set: the highest that the switch's table allows, so that it is written
 * once and not with each group that comes or goes.  Returns `held`, the switch's present value, if
 * the switch has no such field or is known to refuse the value.
 */
unsigned want_mcast_top(const struct plan *p, const struct refusals *refused, uint32_t sw,
			unsigned held);
/* AttributeModifier under which refusals of MulticastFDBTop alone are remembered; 0: the other fields. */
#define REFUSED_MCAST_TOP 1
/* Fills data; true if it differs from what the switch holds. */
bool want_switch_info(const struct want_env *e, const struct refusals *refused, uint32_t sw,
		      uint8_t data[64]);

/* --- tables: one item is one attribute block of a device --- */

enum item_kind { ITEM_NONE, ITEM_LFT, ITEM_PKEY, ITEM_SL2VL, ITEM_VLARB };

/* The kind in the upper 4 bits, two numbers of up to 10 bits below. */
typedef uint32_t item_t;
#define ITEM(kind, a, b)	((item_t)(kind) << 28 | (item_t)(a) << 10 | (item_t)(b))
#define ITEM_KIND(i)		((enum item_kind)((i) >> 28))
#define ITEM_A(i)		((i) >> 10 & 0x3ff)
#define ITEM_B(i)		((i) & 0x3ff)
#define ITEM_ALL		0x3ffu

/*
 * LFT: a = 0, b = block.  P_Key table: a = port, b = block; switches have them for external ports
 * that enforce partitions.  SL2VL: a = in, b = out; ITEM_ALL as a: all in ports, as both: all
 * pairs, if all should hold the same table.  VLArb: a = port, b = block 1..4 (low, low, high,
 * high).
 *
 * item_port(): the port by which a CA must be reached for the item.
 */
static inline unsigned item_port(item_t i)
{
	return ITEM_KIND(i) == ITEM_LFT ? 0 : ITEM_KIND(i) == ITEM_SL2VL ? ITEM_B(i) : ITEM_A(i);
}

struct item_want {
	uint16_t attr;
	uint32_t mod;
	unsigned len;		/* bytes in use; the rest is 0 */
	uint8_t data[64];
};
/*
 * Of the pairs of ports that an SL2VL item stands for, the first that has a table: the item itself
 * if it is one pair.  0: none has.
 */
item_t want_first_pair(const struct plan *p, uint32_t node, item_t item);
void want_item(const struct plan *p, uint32_t node, item_t item, struct item_want *w);

/* Calls fn for every item that the plan has for the node, in the order of writing. */
void want_items(const struct plan *p, uint32_t node, void (*fn)(void *arg, item_t item), void *arg);

#endif
