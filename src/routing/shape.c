/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compares a fabric with a tree and puts the differences into words; see shape.h.
 *
 * Ranks are those of the order if it is by ranks, else distances from the switches with hosts, so that a
 * damaged tree is recognized even where another order serves it better.
 */
#include "routing/shape.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "routing/dragonfly/dragonfly.h"
#include "routing/grid/grid.h"
#include "routing/updn/order.h"

static uint32_t node_of(const struct graph *g, uint32_t v)
{
	return g->f->switches[g->sw[v]].node;
}

/* --- links --- */

static uint32_t links_up(const struct graph *g, const uint16_t *rank, uint32_t v)
{
	uint32_t n = 0;

	for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++)
		if (rank[g->trunks[t].v] > rank[v])
			n += g->trunks[t].n_links;
	return n;
}

static int by_value(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Finds the switches of rank r with fewer uplinks than usual.  up: scratch space for all switches. */
static void find_fewer_in(const struct graph *g, const uint16_t *rank, unsigned r, uint32_t *up,
			  struct route_shape *s)
{
	struct shape_fewer x = { .rank = r };

	for (uint32_t v = 0; v < g->n; v++)
		if (rank[v] == r)
			up[x.of++] = links_up(g, rank, v);
	if (!x.of)
		return;
	qsort(up, x.of, sizeof(*up), by_value);
	x.usual = up[x.of / 2];
	x.has = up[0];
	while (x.n < x.of && up[x.n] < x.usual)
		x.n++;
	if (!x.n)
		return;
	for (uint32_t v = g->n; v-- > 0;)
		if (rank[v] == r && links_up(g, rank, v) == x.has)
			x.one = node_of(g, v);
	s->fewer[s->n_fewer++] = x;
}

/* [vertex]: rank, which the caller frees; NULL: there are no ranks. */
static uint16_t *find_ranks(const struct updn_order *o, struct route_shape *s)
{
	const struct graph *g = o->g;
	uint16_t *rank = xcalloc(g->n, sizeof(*rank));

	if (o->layered)
		for (uint32_t v = 0; v < g->n; v++)
			rank[v] = o->rank[v];
	if (!o->layered && !updn_ranks_by_hosts(g, rank)) {
		free(rank);
		return NULL;
	}
	for (uint32_t v = 0; v < g->n; v++)
		if (s->n_ranks <= rank[v])
			s->n_ranks = rank[v] + 1u;
	return rank;
}

static void look_at_links(const struct updn_order *o, struct route_shape *s)
{
	const struct graph *g = o->g;
	uint16_t *rank = find_ranks(o, s);

	s->n_switches = g->n;
	s->root = o->layered || !g->n ? FABRIC_NONE : node_of(g, g->n - 1);
	if (rank) {
		uint32_t *up;

		for (uint32_t v = 0; v < g->n; v++) {
			s->n_inner += rank[v] > 0;
			if (!rank[v] || !graph_hosts(g, v))
				continue;
			if (s->hosts_above++ == 0)
				s->hosts_above_one = node_of(g, v);
		}
		for (uint32_t v = 0; v < g->n; v++)
			for (uint32_t t = g->up0[v]; t < g->trunk0[v + 1]; t++) {
				s->n_links += g->trunks[t].n_links;
				if (rank[g->trunks[t].v] != rank[v])
					continue;
				if (!s->flat) {
					s->flat_from = node_of(g, v);
					s->flat_to = node_of(g, g->trunks[t].v);
				}
				s->flat += g->trunks[t].n_links;
			}
		up = xcalloc(g->n, sizeof(*up));
		for (unsigned r = 0; r + 1 < s->n_ranks && s->n_fewer < SHAPE_RANKS_TOLD; r++)
			find_fewer_in(g, rank, r, up, s);
		free(up);
	}
	free(rank);
}

/* --- paths --- */

static void look_at_paths(const struct graph *g, struct route_shape *s)
{
	uint16_t *down = xcalloc(g->n, sizeof(*down)), *total = xcalloc(g->n, sizeof(*total));
	uint16_t *least = xcalloc(g->n, sizeof(*least));
	uint32_t *queue = xcalloc(g->n, sizeof(*queue));

	for (uint32_t d = 0; d < g->n; d++) {
		if (!graph_hosts(g, d))
			continue;
		updn_distances(g, d, down, total);
		graph_bfs(g, d, least, queue);
		for (uint32_t v = 0; v < g->n; v++)
			if (v != d && graph_hosts(g, v) && least[v] != FAR) {
				s->pairs++;
				if (total[v] == FAR && s->pathless++ == 0) {
					s->pathless_from = node_of(g, v);
					s->pathless_to = node_of(g, d);
				} else if (total[v] != FAR && total[v] > least[v] &&
					   s->longer++ == 0) {
					s->longer_from = node_of(g, v);
					s->longer_to = node_of(g, d);
				}
			}
	}
	free(queue);
	free(least);
	free(total);
	free(down);
}

/* Whether there is only one path between any two switches, parallel links aside. */
static bool has_no_cycle(const struct graph *g)
{
	uint32_t *part = graph_parts(g), parts = 0, links = 0;
	bool *seen = xcalloc(g->n + 1u, sizeof(*seen));

	for (uint32_t v = 0; v < g->n; v++) {
		parts += !seen[part[v]];
		seen[part[v]] = true;
		links += g->trunk0[v + 1] - g->up0[v];
	}
	free(seen);
	free(part);
	return links + parts == g->n;
}

/* --- all --- */

static const struct route_shape nothing = {
	.root = FABRIC_NONE, .hosts_above_one = FABRIC_NONE, .flat_from = FABRIC_NONE,
	.flat_to = FABRIC_NONE, .pathless_from = FABRIC_NONE, .pathless_to = FABRIC_NONE,
	.longer_from = FABRIC_NONE, .longer_to = FABRIC_NONE,
};

/* Ranks with links inside them are not those that the tree was built by, so drops them. */
static void forget_ranks(struct route_shape *s)
{
	if (!s->flat)
		return;
	s->n_ranks = 0;
	s->n_fewer = 0;
}

static void look_for_other(const struct graph *g, struct route_shape *s)
{
	struct dragonfly *dragonfly;
	struct buf text = { 0 };
	struct grid *grid;

	if (s->kind == SHAPE_TREE || route_shape_is_damaged(s))
		return;
	grid = grid_new(g);
	dragonfly = grid ? NULL : dragonfly_new(g);
	if (grid)
		grid_text(grid, &text);
	else if (dragonfly)
		dragonfly_text(dragonfly, &text);
	snprintf(s->other, sizeof(s->other), "%s", text.n ? text.s : "");
	buf_free(&text);
	grid_free(grid);
	dragonfly_free(dragonfly);
}

void route_shape(const struct updn_order *o, struct route_shape *out)
{
	*out = nothing;
	look_at_links(o, out);
	if (o->tree || has_no_cycle(o->g)) {
		out->kind = SHAPE_TREE;
		forget_ranks(out);
		return;
	}
	out->kind = out->n_ranks ? SHAPE_RANKS : SHAPE_OTHER;
	look_at_paths(o->g, out);
	look_for_other(o->g, out);
}

static uint32_t to_node(const uint32_t *nodes, uint32_t node)
{
	return node == FABRIC_NONE || !nodes ? node : nodes[node];
}

void route_shape_on(const struct updn_order *o, const struct route_shape *was,
		    const uint32_t *nodes, struct route_shape *out)
{
	*out = nothing;
	look_at_links(o, out);
	out->kind = was->kind;
	if (out->kind == SHAPE_TREE)
		forget_ranks(out);
	out->pairs = was->pairs;
	out->pathless = was->pathless;
	out->longer = was->longer;
	out->pathless_from = to_node(nodes, was->pathless_from);
	out->pathless_to = to_node(nodes, was->pathless_to);
	out->longer_from = to_node(nodes, was->longer_from);
	out->longer_to = to_node(nodes, was->longer_to);
	look_for_other(o->g, out);
}

bool route_shape_is_damaged(const struct route_shape *s)
{
	return s->n_fewer && (s->kind == SHAPE_TREE || (!s->flat && !s->hosts_above));
}

/* --- text --- */

static const char *name_of(const struct fabric *f, uint32_t node, char *name)
{
	return fabric_node_name(f, node, name, FABRIC_NAME_MAX);
}

/* Separates reasons in the text. */
static void next_reason(unsigned *n, struct buf *out)
{
	buf_puts(out, (*n)++ ? "; " : ": ");
}

static void put_fewer(const struct shape_fewer *x, const struct fabric *f, struct buf *out)
{
	char name[FABRIC_NAME_MAX];

	buf_printf(out, "%" PRIu32 " of %" PRIu32 " switches of rank %u %s fewer than %" PRIu32
		   " link%s up", x->n, x->of, x->rank, x->n == 1 ? "has" : "have", x->usual,
		   x->usual == 1 ? "" : "s");
	buf_printf(out, ", %s%s has %" PRIu32, x->n == 1 ? "" : "for example ", name_of(f, x->one, name),
		   x->has);
}

/* Appends ", for example A to B" if both nodes are known. */
static void put_pair(const struct fabric *f, uint32_t from, uint32_t to, struct buf *out)
{
	char a[FABRIC_NAME_MAX], b[FABRIC_NAME_MAX];

	if (from != FABRIC_NONE && to != FABRIC_NONE)
		buf_printf(out, ", for example %s to %s", name_of(f, from, a), name_of(f, to, b));
}

static void put_links(const struct route_shape *s, const struct fabric *f, unsigned *n,
		      struct buf *out)
{
	char name[FABRIC_NAME_MAX];

	if (s->hosts_above) {
		next_reason(n, out);
		buf_printf(out, "%" PRIu32 " of %" PRIu32 " switches above the leaves %s hosts, %s%s",
			   s->hosts_above, s->n_inner, s->hosts_above == 1 ? "has" : "have",
			   s->hosts_above == 1 ? "" : "for example ", name_of(f, s->hosts_above_one, name));
	}
	if (s->flat) {
		next_reason(n, out);
		buf_printf(out, "%" PRIu32 " of %" PRIu32 " links %s within a rank", s->flat,
			   s->n_links, s->flat == 1 ? "is" : "are");
		put_pair(f, s->flat_from, s->flat_to, out);
	}
	/* Uneven uplinks explain nothing where the rest is not a tree either. */
	for (unsigned i = 0; i < s->n_fewer && !s->flat && 2 * s->hosts_above <= s->n_inner; i++) {
		next_reason(n, out);
		put_fewer(&s->fewer[i], f, out);
	}
}

void route_shape_text(const struct route_shape *s, const struct fabric *f, struct buf *out)
{
	char name[FABRIC_NAME_MAX];
	unsigned n = 0;

	if (s->kind == SHAPE_TREE) {
		if (s->n_switches < 2)
			buf_puts(out, s->n_switches ? "a single switch" : "no switches");
		else if (s->n_ranks > 1)
			buf_printf(out, "a tree of %u ranks", s->n_ranks);
		else
			buf_puts(out, "a tree");
		for (unsigned i = 0; i < s->n_fewer; i++) {
			buf_puts(out, "; ");
			put_fewer(&s->fewer[i], f, out);
		}
		return;
	}
	if (s->other[0])
		buf_printf(out, "a %s; ", s->other);
	buf_puts(out, "no tree");
	if (s->n_ranks) {
		put_links(s, f, &n, out);
	} else {
		next_reason(&n, out);
		buf_puts(out, "there are no ranks because all switches have hosts");
	}
	if (s->root != FABRIC_NONE) {
		next_reason(&n, out);
		buf_printf(out, "up leads to %s", name_of(f, s->root, name));
	}
	if (s->pathless) {
		next_reason(&n, out);
		buf_printf(out, "%" PRIu64 " of %" PRIu64 " pairs of switches with hosts have no path up and "
			   "then down", s->pathless, s->pairs);
		put_pair(f, s->pathless_from, s->pathless_to, out);
	}
	if (s->longer) {
		next_reason(&n, out);
		buf_printf(out, "%" PRIu64 " of %" PRIu64 " pairs of switches with hosts have only longer "
			   "paths up and then down than the shortest", s->longer, s->pairs);
		put_pair(f, s->longer_from, s->longer_to, out);
	}
}
