/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds routes for forests, chooses roots and updates trees; see mcast_tree.h.
 *
 * Everything here is indexed by vertices of the order, except what the header says otherwise.
 */
#include <stdlib.h>

#include "lib/base/search.h"
#include "routing/multicast/mcast_parts.h"

struct mcast_forest *mcast_forest_new(const struct updn_order *o, const bool *closed)
{
	struct mcast_forest *w = xcalloc(1, sizeof(*w));

	w->o = o;
	w->g = o->g;
	w->vertex = xcalloc(w->g->n, sizeof(*w->vertex));
	w->spans = xcalloc(w->g->n, sizeof(*w->spans));
	w->able = xcalloc(w->g->n, sizeof(*w->able));
	for (uint32_t v = 0; v < w->g->n; v++) {
		w->vertex[w->g->sw[v]] = v;
		w->able[v] = fabric_switch_mlids(w->g->f, w->g->sw[v]) &&
			     !(closed && closed[w->g->sw[v]]);
	}
	return w;
}

static void span_free(struct span *s)
{
	if (!s)
		return;
	free(s->parent);
	free(s->depth);
	free(s->legal);
	free(s);
}

void mcast_forest_free(struct mcast_forest *w)
{
	if (!w)
		return;
	for (uint32_t v = 0; v < w->g->n; v++)
		span_free(w->spans[v]);
	free(w->spans);
	free(w->vertex);
	free(w->able);
	free(w);
}

/* --- spans --- */

/* Gives every vertex below the anchor its shortest route up to it. */
static void hang_below(const struct mcast_forest *w, struct span *s)
{
	const struct graph *g = w->g;

	for (uint32_t v = s->anchor + 1; v-- > 0;) {
		if (s->depth[v] == FAR)
			continue;
		for (uint32_t t = g->trunk0[v]; t < g->up0[v]; t++) {
			uint32_t u = g->trunks[t].v;

			if (!w->able[u] || s->depth[u] <= s->depth[v] + 1)
				continue;
			s->depth[u] = (uint16_t)(s->depth[v] + 1);
			s->parent[u] = v;
			s->legal[u] = true;
		}
	}
}

/* Gives vertices unicast's route to the hub: down from above the hub, else up until there is a way down. */
static void hang_at_hub(const struct graph *g, struct span *s)
{
	uint16_t *down = xmalloc(g->n * sizeof(*down)), *total = xmalloc(g->n * sizeof(*total));

	updn_distances(g, s->anchor, down, total);
	for (uint32_t v = 0; v < g->n; v++) {
		if (v == s->anchor || total[v] == FAR)
			continue;
		bool descend = down[v] != FAR;
		const uint16_t *dist = descend ? down : total;
		uint32_t t = descend ? g->trunk0[v] : g->up0[v];

		while (dist[g->trunks[t].v] + 1 != total[v])
			t++;
		s->parent[v] = g->trunks[t].v;
		s->depth[v] = total[v];
		s->legal[v] = true;
	}
	free(total);
	free(down);
}

/* Gives vertices without a route the shortest to one that has a route, by any links. */
static void hang_anyhow(const struct mcast_forest *w, struct span *s)
{
	const struct graph *g = w->g;
	uint32_t *queue = xcalloc(g->n, sizeof(*queue)), head = 0, tail = 0;

	for (uint32_t v = 0; v < g->n; v++)
		if (s->depth[v] != FAR)
			queue[tail++] = v;
	while (head < tail) {
		uint32_t v = queue[head++];

		for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++) {
			uint32_t u = g->trunks[t].v;

			if (s->depth[u] != FAR || !w->able[u])
				continue;
			s->depth[u] = (uint16_t)(s->depth[v] + 1);
			s->parent[u] = v;
			queue[tail++] = u;
		}
	}
	free(queue);
}

static bool all_able(const struct mcast_forest *w)
{
	for (uint32_t v = 0; v < w->g->n; v++)
		if (!w->able[v])
			return false;
	return true;
}

static bool is_universal(const struct mcast_forest *w, const struct span *s)
{
	for (uint32_t v = 0; v < w->g->n; v++)
		if (graph_hosts(w->g, v) && w->able[v] && !s->legal[v])
			return false;
	return true;
}

const struct span *span_of(struct mcast_forest *w, uint32_t anchor)
{
	const struct graph *g = w->g;
	struct span *s = w->spans[anchor];

	if (s)
		return s;
	s = w->spans[anchor] = xcalloc(1, sizeof(*s));
	s->anchor = anchor;
	s->parent = xmalloc(g->n * sizeof(*s->parent));
	s->depth = xmalloc(g->n * sizeof(*s->depth));
	s->legal = xcalloc(g->n, sizeof(*s->legal));
	for (uint32_t v = 0; v < g->n; v++) {
		s->parent[v] = FABRIC_NONE;
		s->depth[v] = FAR;
	}
	s->depth[anchor] = 0;
	s->legal[anchor] = true;
	hang_below(w, s);
	s->universal = is_universal(w, s);
	if (!s->universal && anchor == w->o->hub && w->o->hub_safe && all_able(w))
		hang_at_hub(g, s);
	hang_anyhow(w, s);
	return s;
}

/* --- the root of a tree --- */

/* The vertex of the switch that a member is on; FABRIC_NONE if no tree leads there. */
static uint32_t member_vertex(const struct mcast_forest *w, uint32_t port)
{
	uint32_t sw = fabric_switch_of(w->g->f, port);

	if (sw == FABRIC_NONE || !w->able[w->vertex[sw]])
		return FABRIC_NONE;	/* two CAs back to back need no tree */
	return w->vertex[sw];
}

/* Lists the members' vertices, each once, in order; returns their number. */
static uint32_t place_members(const struct mcast_forest *w, const struct mcast_member_port *members,
			      uint32_t n, uint32_t *vertices)
{
	bool *seen = xcalloc(w->g->n, sizeof(*seen));
	uint32_t n_vertices = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t v = member_vertex(w, members[i].port);

		if (v != FABRIC_NONE)
			seen[v] = true;
	}
	for (uint32_t v = 0; v < w->g->n; v++)
		if (seen[v])
			vertices[n_vertices++] = v;
	free(seen);
	return n_vertices;
}

static bool all_legal(const struct span *s, const uint32_t *vertices, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!s->legal[vertices[i]])
			return false;
	return true;
}

/* Trees that hang from a vertex, and from vertices that share a neighbour below with it. */
struct burden {
	uint64_t own, around;
	uint32_t v;
};

static int by_burden(const void *a, const void *b)
{
	const struct burden *x = a, *y = b;

	return ORDER(x->own, y->own) ?: ORDER(x->around, y->around) ?: ORDER(x->v, y->v);
}

/* Lists the vertices with no neighbour above, least burdened first; returns their number. */
static uint32_t summits(const struct mcast_forest *w, const uint32_t *load, struct burden *out)
{
	const struct graph *g = w->g;
	uint64_t *above = xcalloc(g->n, sizeof(*above));
	uint32_t n = 0;

	/* Sums up the trees that hang from the neighbours above each vertex. */
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t t = g->up0[v]; t < g->trunk0[v + 1]; t++)
			above[v] += load[g->sw[g->trunks[t].v]];
	for (uint32_t v = 0; v < g->n; v++) {
		if (g->up0[v] != g->trunk0[v + 1] || !w->able[v])
			continue;
		out[n] = (struct burden){ .own = load[g->sw[v]], .v = v };
		for (uint32_t t = g->trunk0[v]; t < g->up0[v]; t++)
			out[n].around += above[g->trunks[t].v];
		n++;
	}
	free(above);
	qsort(out, n, sizeof(*out), by_burden);
	return n;
}

static uint32_t universal_root(struct mcast_forest *w, const uint32_t *load)
{
	struct burden *order = xcalloc(w->g->n, sizeof(*order));
	uint32_t n = summits(w, load, order), root = FABRIC_NONE;

	for (uint32_t i = 0; i < n && root == FABRIC_NONE; i++)
		if (span_of(w, order[i].v)->universal)
			root = order[i].v;
	free(order);
	return root;
}

/* Value of a vertex as a root: number of members below it, and their total distance. */
struct worth {
	uint32_t above;
	uint64_t sum;
};

static bool is_worth_more(const struct graph *g, const struct worth *worth, const uint32_t *load,
			  uint32_t v, uint32_t than)
{
	const struct worth *a = &worth[v], *b = &worth[than];

	if (a->above != b->above)
		return a->above > b->above;
	if (a->sum != b->sum)
		return a->sum < b->sum;
	return load[g->sw[v]] < load[g->sw[than]];
}

/* The vertex above the most members, then nearest to them, then least used, then first in the order. */
static uint32_t nearest_root(const struct mcast_forest *w, const uint32_t *vertices, uint32_t n,
			     const uint32_t *load)
{
	const struct graph *g = w->g;
	struct worth *worth = xcalloc(g->n, sizeof(*worth));
	uint32_t best = vertices[0];
	uint16_t *down = xcalloc(g->n, sizeof(*down));

	/* Counts the members below each vertex, and their distances. */
	for (uint32_t i = 0; i < n; i++) {
		updn_down(g, vertices[i], down);
		for (uint32_t v = vertices[i]; v < g->n; v++) {
			if (down[v] == FAR)
				continue;
			worth[v].above++;
			worth[v].sum += down[v];
		}
	}
	free(down);
	for (uint32_t v = 0; v < g->n; v++)
		if (w->able[v] && is_worth_more(g, worth, load, v, best))
			best = v;
	if (worth[best].above < n && w->o->hub_safe && w->able[w->o->hub])
		best = w->o->hub;
	free(worth);
	return best;
}

uint32_t mcast_choose_root(struct mcast_forest *w, const struct mcast_member_port *members,
			   uint32_t n, const uint32_t *load, uint32_t keep, bool *legal)
{
	uint32_t *vertices = xcalloc(w->g->n, sizeof(*vertices));
	uint32_t n_vertices = place_members(w, members, n, vertices), root = FABRIC_NONE;

	*legal = true;
	if (n_vertices && keep != FABRIC_NONE && w->able[w->vertex[keep]] &&
	    all_legal(span_of(w, w->vertex[keep]), vertices, n_vertices))
		root = w->vertex[keep];
	if (n_vertices && root == FABRIC_NONE && w->o->layered)
		root = universal_root(w, load);
	/* a switch itself may be a member, though it has no hosts and is outside the layers */
	if (root != FABRIC_NONE && !all_legal(span_of(w, root), vertices, n_vertices))
		root = FABRIC_NONE;
	if (n_vertices && root == FABRIC_NONE)
		root = nearest_root(w, vertices, n_vertices, load);
	if (root != FABRIC_NONE)
		*legal = all_legal(span_of(w, root), vertices, n_vertices);
	free(vertices);
	return root == FABRIC_NONE ? FABRIC_NONE : w->g->sw[root];
}

/* --- trees --- */

struct mcast_tree *mcast_tree_new(struct mcast_forest *w, uint32_t root, unsigned salt)
{
	struct mcast_tree *t = xcalloc(1, sizeof(*t));

	t->w = w;
	t->span = span_of(w, w->vertex[root]);
	t->top = FABRIC_NONE;
	t->salt = salt;
	map64_init(&t->by_vertex, 16);
	return t;
}

void mcast_tree_free(struct mcast_tree *t)
{
	if (!t)
		return;
	vec_free(&t->nodes);
	vec_free(&t->touched);
	map64_free(&t->by_vertex);
	free(t);
}

static struct mcast_node *node_find(const struct mcast_tree *t, uint32_t v)
{
	uint32_t i = map64_get(&t->by_vertex, v);

	return i == MAP64_NONE ? NULL : &t->nodes.v[i];
}

/* Finds or adds the node of v; the pointer is valid until the next node is added. */
static struct mcast_node *node_get(struct mcast_tree *t, uint32_t v)
{
	struct mcast_node *n = node_find(t, v);

	if (n)
		return n;
	map64_put(&t->by_vertex, v, (uint32_t)t->nodes.n);
	n = vec_push(&t->nodes);
	*n = (struct mcast_node){ .v = v };
	return n;
}

static void touch(struct mcast_tree *t, uint32_t v)
{
	*vec_push(&t->touched) = t->w->g->sw[v];
}

static bool is_on(const struct mcast_tree *t, uint32_t v)
{
	const struct mcast_node *n = node_find(t, v);

	return n && n->on;
}

static void put_on(struct mcast_tree *t, uint32_t v, bool on)
{
	struct mcast_node *n = node_get(t, v);

	t->n_on += on - n->on;
	n->on = on;
	touch(t, v);
}

static void set_bit(uint64_t bits[4], unsigned i, bool on)
{
	bits[i / 64] = (bits[i / 64] & ~(1ULL << i % 64)) | (uint64_t)on << i % 64;
}

static unsigned count_bits(const uint64_t bits[4])
{
	unsigned n = 0;

	for (unsigned i = 0; i < 4; i++)
		n += (unsigned)__builtin_popcountll(bits[i]);
	return n;
}

const struct fabric_port *span_exit(const struct graph *g, uint32_t v, uint32_t parent,
				    unsigned salt)
{
	uint32_t k = g->trunk0[v];

	while (g->trunks[k].v != parent)
		k++;
	return graph_port(g, v, g->links[g->trunks[k].link0 + salt % g->trunks[k].n_links]);
}

/* Adds or removes one link between v and its parent, at both ends; salt spreads trees over equal links. */
static void link_parent(struct mcast_tree *t, uint32_t v, bool on)
{
	const struct graph *g = t->w->g;
	uint32_t parent = t->span->parent[v];
	const struct fabric_port *p = span_exit(g, v, parent, t->salt);

	set_bit(node_get(t, v)->links, p->num, on);
	set_bit(node_get(t, parent)->links, g->f->ports[p->peer].num, on);
	touch(t, v);
	touch(t, parent);
}

static void link_up_to(struct mcast_tree *t, uint32_t v, uint32_t end)
{
	for (; v != end; v = t->span->parent[v]) {
		if (!is_on(t, v))
			put_on(t, v, true);
		link_parent(t, v, true);
	}
}

/* Connects v to the tree, whose top rises as far as needed. */
static void climb(struct mcast_tree *t, uint32_t v)
{
	const struct span *s = t->span;
	uint32_t a = v, b = t->top;

	if (t->top == FABRIC_NONE) {
		t->top = v;
		put_on(t, v, true);
		return;
	}
	while (a != b && !is_on(t, a)) {
		if (s->depth[a] >= s->depth[b])
			a = s->parent[a];
		else
			b = s->parent[b];
	}
	link_up_to(t, v, a);
	if (is_on(t, a))
		return;
	put_on(t, a, true);
	link_up_to(t, t->top, a);
	t->top = a;
}

static bool has_ports(const struct mcast_node *n)
{
	return count_bits(n->members) || count_bits(n->senders);
}

/* Lowers the top to where the tree branches or has a member. */
static void lower_top(struct mcast_tree *t)
{
	const struct graph *g = t->w->g;

	while (t->top != FABRIC_NONE) {
		struct mcast_node *n = node_find(t, t->top);
		uint32_t child;
		unsigned num = 0;

		if (has_ports(n) || count_bits(n->links) != 1)
			return;
		while (!(n->links[num / 64] >> num % 64 & 1))
			num++;
		child = t->w->vertex[port_node(g->f, graph_port(g, t->top, num)->peer)->sw];
		link_parent(t, child, false);
		put_on(t, t->top, false);
		t->top = child;
	}
}

/* Removes the links that lead to v only. */
static void prune(struct mcast_tree *t, uint32_t v)
{
	while (v != t->top) {
		const struct mcast_node *n = node_find(t, v);

		if (has_ports(n) || count_bits(n->links) > 1)
			break;
		link_parent(t, v, false);
		put_on(t, v, false);
		v = t->span->parent[v];
	}
	if (v == t->top && !has_ports(node_find(t, v)) && !count_bits(node_find(t, v)->links)) {
		put_on(t, v, false);
		t->top = FABRIC_NONE;
	}
	lower_top(t);
}

enum mcast_set mcast_tree_set(struct mcast_tree *t, uint32_t port, unsigned role)
{
	const struct fabric *f = t->w->g->f;
	uint32_t v = member_vertex(t->w, port);

	if (v == FABRIC_NONE || t->span->depth[v] == FAR)
		return MCAST_SET_NO_WAY;
	unsigned num = node_is_switch(port_node(f, port)) ? 0 : f->ports[f->ports[port].peer].num;
	struct mcast_node *n = node_get(t, v);

	set_bit(n->members, num, role & MCAST_RECEIVES);
	set_bit(n->senders, num, role != 0);
	touch(t, v);
	if (role && !n->on)
		climb(t, v);
	else if (!role && n->on)
		prune(t, v);
	return t->span->legal[v] || !role ? MCAST_SET_OK : MCAST_SET_ILLEGAL;
}

void mcast_tree_clear(struct mcast_tree *t)
{
	for (size_t i = 0; i < t->nodes.n; i++) {
		if (t->nodes.v[i].on)
			touch(t, t->nodes.v[i].v);
		t->nodes.v[i] = (struct mcast_node){ .v = t->nodes.v[i].v };
	}
	t->top = FABRIC_NONE;
	t->n_on = 0;
}

uint32_t mcast_node_switch(const struct mcast_tree *t, const struct mcast_node *n)
{
	return t->w->g->sw[n->v];
}

bool mcast_tree_ports(const struct mcast_tree *t, uint32_t sw, uint64_t ports[4])
{
	const struct mcast_node *n = node_find(t, t->w->vertex[sw]);
	bool any = false;

	for (unsigned i = 0; i < 4; i++) {
		ports[i] = n ? n->members[i] | n->links[i] : 0;
		any |= ports[i] != 0;
	}
	return any;
}
