/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Multicast trees.
 *
 * A tree hangs from the switch that has all members below it, at the least
 * total distance; of equals the first, so that members who come and go move
 * the tree as seldom as possible.  From there it goes down only: on the way
 * from any member to any other a packet goes up, then down.
 *
 * Members without a common switch above them meet at the order's hub, where
 * unicast may turn up too, if that is safe; else by the shortest way whatever
 * it is, since no tree for them is legal.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "route/order.h"

/* A tree under construction, by vertices. */
struct growth {
	const struct updn_order *o;
	const struct graph *g;
	struct mcast_tree *tree;
	uint32_t *vertex;	/* [switch] */
	uint32_t *parent;	/* [vertex]: where it would hang; FABRIC_NONE: not reached, or the root */
	bool *on_tree;
};

static void set_port(struct mcast_tree *t, uint32_t sw, unsigned num)
{
	t->ports[sw][num / 64] |= 1ULL << num % 64;
}

/* Members' vertices, each once; returns their number.  Their ports are set in the tree. */
static uint32_t place_members(struct growth *w, const uint32_t *members, uint32_t n,
			      uint32_t *vertices)
{
	const struct fabric *f = w->g->f;
	uint32_t n_vertices = 0;
	bool *seen = xcalloc(w->g->n, sizeof(*seen));

	for (uint32_t i = 0; i < n; i++) {
		uint32_t sw = fabric_switch_of(f, members[i]);

		if (sw == FABRIC_NONE)
			continue;	/* two CAs back to back need no tree */
		bool is_switch = node_is_switch(port_node(f, members[i]));

		set_port(w->tree, sw, is_switch ? 0 : f->ports[f->ports[members[i]].peer].num);
		if (!seen[w->vertex[sw]])
			vertices[n_vertices++] = w->vertex[sw];
		seen[w->vertex[sw]] = true;
	}
	free(seen);
	return n_vertices;
}

/* Above most members (all: true), then nearest to them, then first in the order. */
static uint32_t choose_root(const struct graph *g, const uint32_t *vertices, uint32_t n,
			    bool *all)
{
	uint32_t *above = xcalloc(g->n, sizeof(*above)), best = 0;
	uint64_t *sum = xcalloc(g->n, sizeof(*sum));
	uint16_t *down = xcalloc(g->n, sizeof(*down));

	for (uint32_t i = 0; i < n; i++) {
		updn_down(g, vertices[i], down);
		for (uint32_t v = vertices[i]; v < g->n; v++) {
			if (down[v] == FAR)
				continue;
			above[v]++;
			sum[v] += down[v];
		}
	}
	for (uint32_t v = 1; v < g->n; v++)
		if (above[v] > above[best] || (above[v] == above[best] && sum[v] < sum[best]))
			best = v;
	*all = above[best] == n;
	free(down);
	free(sum);
	free(above);
	return best;
}

/* The shortest way up to the root for everybody below it. */
static void hang_below(struct growth *w, uint32_t root)
{
	const struct graph *g = w->g;
	uint16_t *depth = xmalloc(g->n * sizeof(*depth));

	for (uint32_t v = 0; v < g->n; v++) {
		depth[v] = FAR;
		w->parent[v] = FABRIC_NONE;
	}
	depth[root] = 0;
	for (uint32_t v = root + 1; v-- > 0;) {
		if (depth[v] == FAR)
			continue;
		for (uint32_t t = g->trunk0[v]; t < g->up0[v]; t++) {
			uint32_t u = g->trunks[t].v;

			if (depth[u] <= depth[v] + 1)
				continue;
			depth[u] = (uint16_t)(depth[v] + 1);
			w->parent[u] = v;
		}
	}
	free(depth);
}

/* The way to the hub as unicast goes: down from above it, else up until there is a way down. */
static void hang_at_hub(struct growth *w)
{
	const struct graph *g = w->g;
	uint32_t hub = w->o->hub;
	uint16_t *down = xmalloc(g->n * sizeof(*down)), *total = xmalloc(g->n * sizeof(*total));

	updn_distances(g, hub, down, total);
	for (uint32_t v = 0; v < g->n; v++) {
		w->parent[v] = FABRIC_NONE;
		if (v == hub || total[v] == FAR)
			continue;
		bool descend = down[v] != FAR;
		const uint16_t *dist = descend ? down : total;
		uint32_t t = descend ? g->trunk0[v] : g->up0[v];

		while (dist[g->trunks[t].v] + 1 != total[v])
			t++;
		w->parent[v] = g->trunks[t].v;
	}
	free(total);
	free(down);
}

/* Everybody's shortest way to the tree as it is, by any links. */
static void hang_anyhow(struct growth *w)
{
	const struct graph *g = w->g;
	uint32_t *queue = xcalloc(g->n, sizeof(*queue)), head = 0, tail = 0;
	bool *seen = xcalloc(g->n, sizeof(*seen));

	for (uint32_t v = 0; v < g->n; v++) {
		w->parent[v] = FABRIC_NONE;
		seen[v] = w->on_tree[v];
		if (seen[v])
			queue[tail++] = v;
	}
	while (head < tail) {
		uint32_t v = queue[head++];

		for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++) {
			uint32_t u = g->trunks[t].v;

			if (seen[u])
				continue;
			seen[u] = true;
			w->parent[u] = v;
			queue[tail++] = u;
		}
	}
	free(seen);
	free(queue);
}

/* Both ends of one link between v and its parent. */
static void join(struct growth *w, uint32_t v)
{
	const struct graph *g = w->g;
	uint32_t t = g->trunk0[v];

	while (g->trunks[t].v != w->parent[v])
		t++;
	const struct fabric_port *p = graph_port(g, v, g->lanes[g->trunks[t].lane0]);

	set_port(w->tree, g->sw[v], p->num);
	set_port(w->tree, g->sw[w->parent[v]], g->f->ports[p->peer].num);
}

/* From v along the parents to the tree.  False if that doesn't lead there. */
static bool climb(struct growth *w, uint32_t v)
{
	if (!w->on_tree[v] && w->parent[v] == FABRIC_NONE)
		return false;
	for (; !w->on_tree[v]; v = w->parent[v]) {
		w->on_tree[v] = true;
		w->tree->n_on_tree++;
		join(w, v);
	}
	return true;
}

static void grow(struct growth *w, const uint32_t *vertices, uint32_t n)
{
	bool all, meet_at_hub;
	uint32_t root = choose_root(w->g, vertices, n, &all);

	meet_at_hub = !all && w->o->hub_safe;
	if (meet_at_hub)
		root = w->o->hub;
	w->tree->root = w->g->sw[root];
	w->tree->n_on_tree = 1;
	w->on_tree[root] = true;
	if (meet_at_hub)
		hang_at_hub(w);
	else
		hang_below(w, root);
	all = true;
	for (uint32_t i = 0; i < n; i++)
		all &= climb(w, vertices[i]);
	if (all)
		return;
	hang_anyhow(w);
	for (uint32_t i = 0; i < n; i++)
		climb(w, vertices[i]);
}

struct mcast_tree *mcast_tree_build_on(const struct updn_order *o, const uint32_t *members,
				       uint32_t n)
{
	const struct graph *g = o->g;
	struct mcast_tree *t = xcalloc(1, sizeof(*t));
	struct growth w = { .o = o, .g = g, .tree = t };
	uint32_t *vertices = xcalloc(g->n, sizeof(*vertices)), n_vertices;

	*t = (struct mcast_tree){ .n_switches = g->n, .root = FABRIC_NONE };
	t->ports = xcalloc(g->n, sizeof(*t->ports));
	w.vertex = xcalloc(g->n, sizeof(*w.vertex));
	w.parent = xcalloc(g->n, sizeof(*w.parent));
	w.on_tree = xcalloc(g->n, sizeof(*w.on_tree));
	for (uint32_t v = 0; v < g->n; v++)
		w.vertex[g->sw[v]] = v;
	n_vertices = place_members(&w, members, n, vertices);
	if (n_vertices)
		grow(&w, vertices, n_vertices);
	free(w.on_tree);
	free(w.parent);
	free(w.vertex);
	free(vertices);
	return t;
}

struct mcast_tree *mcast_tree_build(const struct fabric *f, const uint32_t *members, uint32_t n)
{
	struct updn_order *o = updn_order_new(f);
	struct mcast_tree *t = mcast_tree_build_on(o, members, n);

	updn_order_free(o);
	return t;
}

void mcast_tree_free(struct mcast_tree *t)
{
	if (!t)
		return;
	free(t->ports);
	free(t);
}
