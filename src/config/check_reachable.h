/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by check_reachable.c and rule_index.c only: rules as their criteria, and the index of them. */
#ifndef QOSD_CONFIG_CHECK_REACHABLE_H
#define QOSD_CONFIG_CHECK_REACHABLE_H

#include "config/conf_parts.h"
#include "lib/base/alloc.h"
#include "lib/base/map64.h"

enum criterion {
	SOURCE, DESTINATION, EITHER,
	SERVICE_ID, QOS_CLASS, TCLASS, PKEY, SL, TARGET, CRITERION_COUNT
};
#define FIRST_RANGES SERVICE_ID
#define SETS (1u << CRITERION_COUNT)

struct span {
	uint64_t lo, hi;
};

/* Part of reach->groups, or of reach->spans: sorted, spans neither touch nor overlap. */
struct slice {
	uint32_t at, n;
};

/* A rule's criteria without those that always hold. */
struct criteria {
	unsigned set;		/* 1 << enum criterion, or-ed */
	struct slice of[CRITERION_COUNT];
};

/* Rules on a list, newest first. */
struct post {
	uint32_t rule, next;	/* next: index + 1, 0 = none */
};
struct list {
	uint32_t head, n;	/* head: index + 1 */
};

/* Of one criterion of one set: node i has the lists of nodes 2i and 2i + 1 above it. */
struct tree {
	uint64_t *x;		/* where intervals begin, ascending */
	uint32_t n, cap;
	struct list *nodes;	/* 2n; interval i at n + i */
};

struct reach {
	struct reader *r;
	const struct policy *p;
	struct index names;
	VEC(uint32_t) groups;
	VEC(struct span) spans;
	struct criteria *rules;
	/* who contains each group: parents[first[g]] ... up to first[g + 1] */
	uint32_t *parents, *first;
	bool *everybody;	/* of each group: has every end port, in any fabric */
	VEC(uint32_t) above;	/* a group and who contains it: result of look_above() */
	uint32_t *seen, stamp;	/* of each group: the last look_above() that met it */

	bool present[SETS];	/* some rule has just these criteria */
	struct tree *trees[SETS];	/* by criterion */
	struct map64 by_group;	/* set, criterion, group -> list */
	VEC(struct list) lists;
	VEC(struct post) posts;
	VEC(uint32_t) candidates;
	uint64_t work;
};

/* check_reachable.c */
/* s->above: group g, and all groups that contain it. */
void reach_look_above(struct reach *s, uint32_t g);
/* Those of L's criteria whose groups, within those of criterion k of E, are enough for it. */
unsigned reach_sides(enum criterion k);
/* Which criteria a rule with these can be held against. */
unsigned reach_comparable(unsigned set);
/* Whether E matches whatever L does; false when the work is used up. */
bool reach_hides(struct reach *s, const struct criteria *e, const struct criteria *l);

/* rule_index.c */
/* Of all rules' criteria; nothing is kept yet. */
void reach_build_trees(struct reach *s);
/* Later rules are held against this one, too. */
void reach_keep(struct reach *s, uint32_t rule);
/* The first rule that was kept and hides L; UINT32_MAX: none does, or the work is used up. */
uint32_t reach_first_hiding(struct reach *s, const struct criteria *l);
void reach_index_free(struct reach *s);

#endif
