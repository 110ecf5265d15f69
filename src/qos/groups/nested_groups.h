/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Resolves groups within groups, and groups defined by partitions (internal to port_groups.c). */
#ifndef QOSD_QOS_GROUPS_NESTED_GROUPS_H
#define QOSD_QOS_GROUPS_NESTED_GROUPS_H

#include "qos/groups/port_groups.h"
#include "qos/groups/port_guids.h"

struct inner_input {
	const struct policy *p;
	const struct fabric *f;
	const struct guid_index *guids;
	const struct port_names *names;
	struct findings *out;
};

/*
 * Adds the ports of its inner groups and partitions to each group, whose direct members must be set
 * already.  Adds a warning for each partition that does not exist.
 */
void inner_add(const struct inner_input *r, struct group_sets *g);

static inline uint64_t *set_of(struct group_sets *g, uint32_t group)
{
	return g->bits + (size_t)group * g->words;
}

static inline void set_add(uint64_t *set, uint32_t port)
{
	set[port >> 6] |= 1ull << (port & 63);
}

#endif
