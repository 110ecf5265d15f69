/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sorts end ports into kinds that policies do not tell apart, so that one path query stands for many.
 *
 * Two ports are of one kind if they are in the same groups that match rules name, in the same ranges of GUIDs of
 * rules, and have the same P_Key table.  Routes are no part of it: two pairs of the same kinds get the same level,
 * but perhaps another MTU, rate or layer.  No I/O.
 */
#ifndef QOSD_CTL_PORT_KINDS_H
#define QOSD_CTL_PORT_KINDS_H

#include "lib/base/alloc.h"
#include "plan/plan.h"

#define PORT_KIND_NONE UINT32_MAX

struct port_kind {
	uint32_t first, last;	/* port indexes */
	uint32_t n;
};

struct port_kinds {
	VEC(struct port_kind) list;
	uint32_t *of;		/* [port]: index into list; PORT_KIND_NONE: the port has no LID */
};

/* A hash of something numbered in one of two policies: sums of these tell sets apart. */
static inline uint64_t key_hash(unsigned policy, uint64_t number)
{
	return hash64(number * 2 + policy + 1);
}

/*
 * The kinds of ports that have a LID in each of n plans of the same fabric, 1 or 2.  all_groups: groups that no
 * rule names tell ports apart, too, so that no kind is in part in a group.  Free with port_kinds_free().
 */
void port_kinds_find(struct port_kinds *k, const struct plan *const *plans, unsigned n, bool all_groups);
void port_kinds_free(struct port_kinds *k);

#endif
