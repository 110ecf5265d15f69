/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A multicast tree of given ports, for tests and benchmarks. */
#ifndef TESTS_UNIT_BUILD_TREE_H
#define TESTS_UNIT_BUILD_TREE_H

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "routing/multicast/mcast_tree.h"

/*
 * Root and tree of n ports that all send and receive, in a fabric of so many switches; NULL: no
 * port is reached.  The caller frees the tree.
 */
static inline struct mcast_tree *build_tree(struct mcast_forest *w, uint32_t n_switches,
					    const uint32_t *ports, uint32_t n)
{
	struct mcast_member_port *members = xcalloc(n + 1u, sizeof(*members));
	uint32_t *load = xcalloc(n_switches + 1u, sizeof(*load)), root;
	struct mcast_tree *t = NULL;
	bool legal;

	for (uint32_t i = 0; i < n; i++)
		members[i] = (struct mcast_member_port){ ports[i], MCAST_SENDS | MCAST_RECEIVES };
	root = mcast_choose_root(w, members, n, load, FABRIC_NONE, &legal);
	if (root != FABRIC_NONE) {
		t = mcast_tree_new(w, root, 0);
		for (uint32_t i = 0; i < n; i++)
			mcast_tree_set(t, ports[i], members[i].role);
	}
	free(load);
	free(members);
	return t;
}

#endif
