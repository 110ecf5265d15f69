/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts the pairs of hosts of two port groups by the level that they get.
 *
 * Hosts of one kind get the same level (pair_levels.h), so that two groups cost as many queries as they have pairs of
 * kinds.  No I/O: for a worker thread.
 */
#ifndef QOSD_CTL_GROUP_PAIRS_H
#define QOSD_CTL_GROUP_PAIRS_H

#include "ctl/pair_levels.h"

struct group_hosts {
	uint32_t number;	/* of a set of plan->groups */
	uint32_t hosts;
	bool sampled;		/* it has more kinds than are looked at: so many stand for all */
	VEC(uint32_t) kinds;	/* those that it has, or a sample; the owner frees them */
};

struct group_pairs;
/* query: as for pair_levels_new(). */
struct group_pairs *group_pairs_new(const struct subnet_state *s, const struct path_query *query);
void group_pairs_free(struct group_pairs *x);
/*
 * Finds the hosts of a group; out is overwritten.  At most kinds_max kinds are looked at, and fewer where they are so
 * many that nothing is remembered of them.
 */
void group_pairs_hosts(const struct group_pairs *x, uint32_t group, size_t kinds_max, struct group_hosts *out);
/*
 * Adds the numbers of pairs by level to by_level, whose element after the policy's last level is for pairs without a
 * path, and returns how many there are.
 */
uint64_t group_pairs_count(struct group_pairs *x, const struct group_hosts *from, const struct group_hosts *to,
			   uint64_t *by_level);
/* The policy's groups come first, `all` last. */
const char *group_pairs_name(const struct subnet_state *s, uint32_t group);

#endif
