/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the surplus links that may be the cables of missing ones, moved at both ends; see expected.h. */
#include <stdlib.h>

#include "fabric/expected.h"
#include "lib/base/search.h"

/* A missing or a surplus link. */
struct place {
	uint64_t between;		/* what it connects */
	struct expected_finding *finding;
};

/* The two switches, or else the host: its cable may go to another switch now. */
static uint64_t between(const struct fabric *f, uint32_t a, uint32_t b)
{
	uint64_t x = f->ports[a].node, y = f->ports[b].node;

	if (!node_is_switch(&f->nodes[x]) || !node_is_switch(&f->nodes[y]))
		return node_is_switch(&f->nodes[x]) ? y : x;
	return x < y ? (x + 1) << 32 | y : (y + 1) << 32 | x;
}

/* By what they connect, missing ones first. */
static int by_between(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return ORDER(x->between, y->between) ?: ORDER(x->finding->kind, y->finding->kind);
}

/* Tells the missing ones of a group, which come first, of the surplus ones. */
static void match_group(const struct place *v, size_t n)
{
	uint32_t n_missing = 0;

	while (n_missing < n && v[n_missing].finding->kind == EXPECTED_LINK_MISSING)
		n_missing++;
	for (size_t i = 0; i < n_missing; i++) {
		v[i].finding->n_missing = n_missing;
		v[i].finding->n_surplus = (uint32_t)n - n_missing;
		v[i].finding->moved = n == 2 && n_missing == 1 ? v[1].finding->port_a : FABRIC_NONE;
	}
}

void expected_find_moves(const struct fabric *f, struct expected_findings *out)
{
	struct place *v = xcalloc(out->v.n + 1, sizeof(*v));
	size_t n = 0;

	for (size_t i = 0;
	     i < out->v.n && out->count[EXPECTED_LINK_MISSING] && out->count[EXPECTED_LINK_SURPLUS]; i++) {
		struct expected_finding *x = &out->v.v[i];

		if (x->kind == EXPECTED_LINK_SURPLUS || (x->kind == EXPECTED_LINK_MISSING &&
							 port_is_empty(f, x->port_a) && port_is_empty(f, x->port_b)))
			v[n++] = (struct place){ between(f, x->port_a, x->port_b), x };
	}
	qsort(v, n, sizeof(*v), by_between);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && v[end].between == v[i].between;)
			end++;
		match_group(v + i, end - i);
	}
	free(v);
}
