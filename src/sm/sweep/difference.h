/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decides what must be written to devices that hold one plan so that they hold another.
 *
 * Pure functions.  A sweep asks them item by item when it compares and writes; sm_difference() adds
 * up the same answers, so a preview equals what a sweep sends.
 */
#ifndef QOSD_SM_SWEEP_DIFFERENCE_H
#define QOSD_SM_SWEEP_DIFFERENCE_H

#include "sm/sm.h"
#include "sm/sweep/want.h"
#include "store/store.h"

/*
 * The tables of a node of f are certainly those of the plan `old` (may be NULL), which was written
 * last.  This requires that old has the node, that the node is not doubtful (node GUIDs), and that
 * each of its ports kept its state, or is in the state in which it was left when it refused
 * another.  *old_node: the node's index in old->f.
 */
bool node_is_as_planned(const struct plan *old, const struct map64 *doubtful,
			const struct refusals *refused, const struct fabric *f, uint32_t node,
			uint32_t *old_node);

/* The plan contains the item. */
bool item_is_planned(const struct plan *p, uint32_t node, item_t item);

/* How an item of the new plan compares with the old plan. */
enum item_change {
	ITEM_SAME,
	ITEM_DIFFERS,
	ITEM_UNKNOWN,	/* not in the old plan: the device may hold anything and must be read */
};
enum item_change item_change(const struct plan *old, uint32_t old_node,
			     const struct plan *p, uint32_t node, item_t item);

/*
 * Two plans, with comparisons that are made once for all nodes.  Most nodes have the same items in
 * both plans, and the inputs of items are compared faster than the items.
 */
struct plan_pair {
	const struct plan *old, *p;
	bool tables_alike;		/* the same numbers of SL2VL and VLArb tables mean the same tables */
	uint32_t pkeys_old, pkeys;	/* the pair of equal P_Key tables that was compared last */
};
void plan_pair_init(struct plan_pair *x, const struct plan *old, const struct plan *p);
/*
 * True only if item_change() is ITEM_SAME for all items that the new plan has for the node; with
 * `no_routes` forwarding tables are ignored.  False: perhaps not.
 */
bool node_items_same(struct plan_pair *x, uint32_t old_node, uint32_t node, bool no_routes);

/* The state that a port's first PortInfo Set asks for. */
unsigned port_next_state(const struct fabric *f, uint32_t port);
/*
 * AttributeModifier under which refusals of a port's PortInfo Sets are remembered.  There are three
 * kinds, which a port may refuse one by one: fields alone (state IB_PORT_NOP), and the step to
 * either state.
 */
uint32_t port_set_modifier(unsigned num, unsigned state);
/* The port refuses for good to become Armed or Active. */
bool port_state_is_refused(const struct refusals *refused, const struct fabric *f, uint32_t port);
/* Fields must be set, or clients asked to register again; false: at most the state must be set. */
bool port_fields_need_set(const struct want_env *e, const struct refusals *refused, uint32_t port);
/* The state that a port's first PortInfo Set asks for, unless it refuses that. */
unsigned port_set_state(const struct want_env *e, const struct refusals *refused, uint32_t port);
/* A Set would change something, as far as is known. */
bool port_needs_set(const struct want_env *e, const struct refusals *refused, uint32_t port);
bool switch_info_needs_set(const struct want_env *e, const struct refusals *refused, uint32_t sw);
/* The same for fields other than MulticastFDBTop. */
bool switch_info_rest_needs_set(const struct want_env *e, const struct refusals *refused,
				uint32_t sw);
/*
 * A device's answer (a PortInfo, a SwitchInfo, a table) differs from the plan, and is not a value
 * that the device is known to keep.
 */
bool port_info_differs(const struct want_env *e, const struct refusals *refused, uint32_t port,
		       const uint8_t info[64]);
bool switch_info_differs(const struct plan *p, const struct refusals *refused, uint32_t sw,
			 const struct fabric_switch *is);
bool item_differs(const struct plan *p, const struct refusals *refused, uint32_t node, item_t item,
		  const struct item_want *want, const uint8_t got[64]);
/* A digest of those fields of SwitchInfo that we set, without MulticastFDBTop. */
uint64_t switch_info_digest(unsigned lft_top, unsigned lifetime);
/*
 * The switch did not take our SwitchInfo: it refused it with a status, or ignored it and still
 * reports what it reported then.
 */
bool switch_info_is_fixed(const struct fabric_switch *says, const struct refused_set *r);
/* The environment of the third pass, derived from that of the others (write.c). */
struct want_env active_env(const struct want_env *e);
/* What a port is told after publishing: who is master, or that its clients should register again. */
struct announced {
	uint8_t info[64];	/* the PortInfo to be */
	bool changes;		/* `info` differs from what the port has now */
	bool reregister;
};
/* Fills out; false: nothing need be sent to the port then. */
bool port_is_announced(const struct want_env *e, const struct refusals *refused, uint32_t port,
		       struct announced *out);
/* A port that carries traffic should begin to enforce partitions then; e: environment of that pass. */
bool port_may_enforce(const struct want_env *e, const struct refusals *refused, uint32_t port);

/* Joins SL2VL items of a switch that one Set can write (14.2.5.8); returns the number of items left. */
uint32_t optimized_sl2vl_join(const struct plan *p, uint32_t node, item_t *items, uint32_t n);

#endif
