/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds which answers to path queries another policy would change.  For each change it gives the
 * old and the new rule and level, and how many pairs of ports it affects.
 *
 * Ports that no rule of either policy can tell apart are one kind, and so are values of a query's
 * fields.  For each two kinds of port, one query of each kind is resolved under both policies, by
 * the SA's own resolver.  That finds every change that rules and levels make.  What routes
 * contribute (their MTU and rate, an SL that some hop drops) is checked for a few pairs of each two
 * kinds.
 *
 * If that would take too long, a sample is checked, and the result says so.  No I/O: for a worker
 * thread.
 */
#ifndef QOSD_CTL_ANSWER_CHANGES_H
#define QOSD_CTL_ANSWER_CHANGES_H

#include "lib/base/alloc.h"
#include "sa/sa.h"

#define ANSWER_EXAMPLES		3
#define ANSWER_CHANGES_MAX	1000	/* changes kept */

struct answer_side {
	const char *why;	/* reason if there is no path, else NULL */
	struct path_answer a;	/* rule and level are valid in either case */
};

struct answer_example {
	struct path_query q;	/* has: the PR_* bits of lib/iba/sa_records.h */
	struct answer_side old, new;
};

/* A change from one rule and level to another (indexes in each policy). */
struct answer_change {
	uint32_t old_rule, new_rule;	/* MATCH_NO_RULE: none */
	uint32_t old_level, new_level;
	uint64_t pairs;			/* ordered pairs of ports affected by some query */
	uint32_t queries;		/* number of queries whose answer differs */
	struct answer_example examples[ANSWER_EXAMPLES];
	unsigned n_examples;
	uint64_t *seen;			/* during counting: bit mask of queries, */
	uint64_t last_pair;		/* and the last pair of kinds */
};

struct answers {
	VEC(struct answer_change) changes;	/* most pairs first */
	uint64_t pairs_changed, pairs;	/* ordered pairs of ports: affected by any query; all */
	uint32_t kinds, queries;	/* kinds of port; queries for each two kinds */
	uint32_t more;			/* number of changes beyond ANSWER_CHANGES_MAX, at least */
	bool all_queries, all_kinds;	/* false: only a sample was checked */
};

/* Compares two states of the same fabric. */
void answers_compare(const struct subnet_state *old, const struct subnet_state *new,
		     struct answers *out);
void answers_free(struct answers *a);

#endif
