/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which answers to path queries another policy would change, from which rule
 * and level to which, for how many pairs of ports.
 *
 * Ports that no rule of either policy can tell apart are one kind, and so are
 * values of a query's fields; one query of each kind between each two kinds of
 * port is asked of both policies, by the SA's own resolver.  That finds every
 * change that rules and levels make.  What routes add (their MTU and rate, an SL
 * that some hop drops) is looked at for a few pairs of each two kinds.
 *
 * Where that would be too much, a sample is asked, and the result says so.  No
 * I/O: for a worker thread.
 */
#ifndef QOSD_CTL_ANSWER_CHANGES_H
#define QOSD_CTL_ANSWER_CHANGES_H

#include "lib/base/alloc.h"
#include "sa/sa.h"

#define ANSWER_EXAMPLES		3
#define ANSWER_CHANGES_MAX	1000	/* kept */

struct answer_side {
	const char *why;	/* no path, and why; else NULL */
	struct path_answer a;	/* rule and level in either case */
};

struct answer_example {
	struct path_query q;	/* has: the PR_* bits of lib/iba/sa_records.h */
	struct answer_side old, new;
};

/* From one rule and level to another (indexes of the two policies). */
struct answer_change {
	uint32_t old_rule, new_rule;	/* MATCH_NO_RULE: none */
	uint32_t old_level, new_level;
	uint64_t pairs;			/* ordered pairs of ports that some query concerns */
	uint32_t queries;		/* of those asked, how many are answered otherwise */
	struct answer_example examples[ANSWER_EXAMPLES];
	unsigned n_examples;
	uint64_t *seen;			/* while it is counted: a bit for each query, */
	uint64_t last_pair;		/* … and the last pair of kinds */
};

struct answers {
	VEC(struct answer_change) changes;	/* most pairs first */
	uint64_t pairs_changed, pairs;	/* ordered pairs of ports: concerned by any; all */
	uint32_t kinds, queries;	/* kinds of port; queries asked of each two of them */
	uint32_t more;			/* kinds of change beyond ANSWER_CHANGES_MAX, at least */
	bool all_queries, all_kinds;	/* else a sample was taken */
};

/* Both states are of one fabric. */
void answers_compare(const struct subnet_state *old, const struct subnet_state *new,
		     struct answers *out);
void answers_free(struct answers *a);

#endif
