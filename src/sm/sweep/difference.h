/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is to be written to devices that hold one plan so that they hold
 * another: pure functions.  A sweep asks them item by item when it compares and
 * writes; sm_difference() adds up the same answers, so that what is foretold
 * is what is sent.
 */
#ifndef QOSD_SM_SWEEP_DIFFERENCE_H
#define QOSD_SM_SWEEP_DIFFERENCE_H

#include "sm/sm.h"
#include "sm/sweep/want.h"
#include "store/store.h"

/*
 * Whether the tables of a node of f are surely those of the plan `old` (may be
 * NULL), which was written last: the node is there, is not doubtful (node GUIDs)
 * and kept its state, or that which it was left with as it refuses another.  *old_node is then its index there.
 */
bool node_is_as_planned(const struct plan *old, const struct map64 *doubtful,
			const struct refusals *refused, const struct fabric *f, uint32_t node,
			uint32_t *old_node);

/* Whether the plan has the item at all. */
bool item_is_planned(const struct plan *p, uint32_t node, item_t item);

/* An item of the new plan against the old one. */
enum item_change {
	ITEM_SAME,
	ITEM_DIFFERS,
	ITEM_UNKNOWN,	/* not in the old plan, and the device may hold anything: to be read */
};
enum item_change item_change(const struct plan *old, uint32_t old_node,
			     const struct plan *p, uint32_t node, item_t item);

/*
 * Two plans as far as they are compared once for all nodes.  Most nodes have the same items in
 * both, and what items are made of is compared faster than the items.
 */
struct plan_pair {
	const struct plan *old, *p;
	bool tables_alike;		/* numbers of SL2VL and VLArb tables mean the same in both */
	uint32_t pkeys_old, pkeys;	/* P_Key tables that are equal: those compared last */
};
void plan_pair_init(struct plan_pair *x, const struct plan *old, const struct plan *p);
/*
 * True only if item_change() says ITEM_SAME of all items that the new plan has for the node, but
 * for those of forwarding tables if `no_routes`.  False: perhaps.
 */
bool node_items_same(struct plan_pair *x, uint32_t old_node, uint32_t node, bool no_routes);

/* The state that a port's first PortInfo Set asks for. */
unsigned port_next_state(const struct fabric *f, uint32_t port);
/*
 * The three Sets of a port's PortInfo that it may refuse one by one: fields alone, and the step to the
 * state (IB_PORT_NOP: fields).  In refusals the step is part of the modifier.
 */
uint32_t port_set_modifier(unsigned num, unsigned state);
/* The port refuses for good to become Armed, or Active. */
bool port_state_is_refused(const struct refusals *refused, const struct fabric *f, uint32_t port);
/* Its fields are to be set, or it is to have clients register again; else only its state. */
bool port_fields_need_set(const struct want_env *e, const struct refusals *refused, uint32_t port);
/* The state that a port's first PortInfo Set asks for, unless it refuses that. */
unsigned port_set_state(const struct want_env *e, const struct refusals *refused, uint32_t port);
/* Whether a Set would change anything, as far as is known. */
bool port_needs_set(const struct want_env *e, const struct refusals *refused, uint32_t port);
bool switch_info_needs_set(const struct want_env *e, const struct refusals *refused, uint32_t sw);
/* … in fields other than MulticastFDBTop. */
bool switch_info_rest_needs_set(const struct want_env *e, const struct refusals *refused,
				uint32_t sw);
/*
 * Whether what a device says, of a port, its SwitchInfo or a table, is other than what it is
 * to have, and nothing that it is known to keep.
 */
bool port_info_differs(const struct want_env *e, const struct refusals *refused, uint32_t port,
		       const uint8_t info[64]);
bool switch_info_differs(const struct plan *p, const struct refusals *refused, uint32_t sw,
			 const struct fabric_switch *is);
bool item_differs(const struct plan *p, const struct refusals *refused, uint32_t node, item_t item,
		  const struct item_want *want, const uint8_t got[64]);
/* A digest of the fields of SwitchInfo that are ours, but for MulticastFDBTop. */
uint64_t switch_info_digest(unsigned lft_top, unsigned lifetime);
/*
 * A switch that did not take our SwitchInfo: it refused it with a status, or ignored it and still says what
 * it said then.
 */
bool switch_info_is_fixed(const struct fabric_switch *says, const struct refused_set *r);
/* The environment of the third pass, from that of the others (write.c). */
struct want_env active_env(const struct want_env *e);
/* A port that is told of us, or asked to have its clients register again, after publishing. */
struct announced {
	uint8_t info[64];	/* PortInfo as it will be */
	bool changes;		/* which is not what the port has now */
	bool reregister;
};
/* Fills out; false: nothing is to be sent to the port then. */
bool port_is_announced(const struct want_env *e, const struct refusals *refused, uint32_t port,
		       struct announced *out);
/* Whether a port that carries traffic is to begin to enforce then; e: of that pass. */
bool port_may_enforce(const struct want_env *e, const struct refusals *refused, uint32_t port);

/*
 * Puts the SL2VL items of a switch together that one Set can write
 * (14.2.5.8); returns how many items are left.
 */
uint32_t slmap_join(const struct plan *p, uint32_t node, item_t *items, uint32_t n);

#endif
