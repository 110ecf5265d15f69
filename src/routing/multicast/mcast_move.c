/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Moves trees that stay the same into the next forest.
 *
 * After a change somewhere in the fabric most routes are the same as before, and a tree depends only on
 * routes and members.  A tree stays if all its switches exist and are unchanged, and if each except the
 * top has the same route to the top.  Routes are compared once for each root, trees by the switches on
 * them.
 */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "routing/multicast/mcast_parts.h"

struct mcast_move {
	struct mcast_forest *from, *to;
	/* [vertex of from]: vertex of the same switch in to, FABRIC_NONE: it is gone */
	uint32_t *vertex;
	bool *changed;		/* [vertex of from] */
	bool **same;		/* [anchor]: [vertex]: its route is the same; NULL: not compared yet */
};

/* The vertex of a switch of another fabric, by GUID. */
static uint32_t find_vertex(const struct mcast_forest *w, uint64_t guid, uint32_t *node)
{
	const struct fabric *f = w->g->f;

	*node = map64_get(&f->node_by_guid, guid);
	if (*node == MAP64_NONE || f->nodes[*node].sw == FABRIC_NONE)
		return FABRIC_NONE;
	return w->vertex[f->nodes[*node].sw];
}

struct mcast_move *mcast_move_new(struct mcast_forest *from, struct mcast_forest *to,
				  const uint8_t *changed)
{
	struct mcast_move *m = xcalloc(1, sizeof(*m));
	const struct graph *g = from->g;

	m->from = from;
	m->to = to;
	m->vertex = xcalloc(g->n + 1u, sizeof(*m->vertex));
	m->changed = xcalloc(g->n + 1u, sizeof(*m->changed));
	m->same = xcalloc(g->n + 1u, sizeof(*m->same));
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t node;

		m->vertex[v] = find_vertex(to, g->f->nodes[g->f->switches[g->sw[v]].node].guid,
					   &node);
		m->changed[v] = m->vertex[v] == FABRIC_NONE || changed[node];
	}
	return m;
}

void mcast_move_free(struct mcast_move *m)
{
	if (!m)
		return;
	for (uint32_t v = 0; v < m->from->g->n; v++)
		free(m->same[v]);
	free(m->same);
	free(m->changed);
	free(m->vertex);
	free(m);
}

/* Whether the hop from v to its parent leads to the same switch; link_is_same() compares the link. */
static bool way_is_same(const struct mcast_move *m, const struct span *old,
			const struct span *now, uint32_t v)
{
	uint32_t there = m->vertex[v], parent = old->parent[v];

	return there != FABRIC_NONE && parent != FABRIC_NONE && old->legal[v] && now->legal[there] &&
	       m->vertex[parent] != FABRIC_NONE && now->parent[there] == m->vertex[parent];
}

static const bool *compare_ways(struct mcast_move *m, const struct span *old,
				const struct span *now)
{
	bool *same = m->same[old->anchor];

	if (same)
		return same;
	same = m->same[old->anchor] = xcalloc(m->from->g->n, sizeof(*same));
	for (uint32_t v = 0; v < m->from->g->n; v++)
		same[v] = way_is_same(m, old, now, v);
	return same;
}

static bool link_is_same(const struct mcast_move *m, const struct span *old, uint32_t v,
			 unsigned salt)
{
	const struct graph *a = m->from->g, *b = m->to->g;
	const struct fabric_port *p = span_exit(a, v, old->parent[v], salt);
	const struct fabric_port *q = span_exit(b, m->vertex[v], m->vertex[old->parent[v]], salt);

	return p->num == q->num && a->f->ports[p->peer].num == b->f->ports[q->peer].num;
}

static bool may_move(struct mcast_move *m, const struct mcast_tree *t, const struct span *now)
{
	const bool *same = compare_ways(m, t->span, now);

	for (size_t i = 0; i < t->nodes.n; i++) {
		uint32_t v = t->nodes.v[i].v;

		if (!t->nodes.v[i].on)
			continue;
		if (m->changed[v] || !now->legal[m->vertex[v]] || !m->to->able[m->vertex[v]])
			return false;
		if (v != t->top && (!same[v] || !link_is_same(m, t->span, v, t->salt)))
			return false;
	}
	return true;
}

bool mcast_tree_move(struct mcast_move *m, struct mcast_tree *t)
{
	uint32_t anchor = m->vertex[t->span->anchor];
	const struct span *now;
	size_t n = 0;

	if (t->top == FABRIC_NONE || anchor == FABRIC_NONE || !m->to->able[anchor])
		return false;
	now = span_of(m->to, anchor);
	if (!may_move(m, t, now))
		return false;
	map64_clear(&t->by_vertex);
	for (size_t i = 0; i < t->nodes.n; i++) {
		if (!t->nodes.v[i].on)
			continue;
		t->nodes.v[n] = t->nodes.v[i];
		t->nodes.v[n].v = m->vertex[t->nodes.v[i].v];
		map64_put(&t->by_vertex, t->nodes.v[n].v, (uint32_t)n);
		n++;
	}
	t->nodes.n = n;
	t->top = m->vertex[t->top];
	t->w = m->to;
	t->span = now;
	return true;
}

uint32_t mcast_tree_root(const struct mcast_tree *t)
{
	return t->w->g->sw[t->span->anchor];
}

const struct mcast_forest *mcast_tree_forest(const struct mcast_tree *t)
{
	return t->w;
}

const struct fabric *mcast_tree_fabric(const struct mcast_tree *t)
{
	return t->w->g->f;
}
