/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes the up/down orders that a fabric may be routed by.
 *
 * In a fabric built in layers the order follows ranks, by the distance from the hosts or, if hosts are on
 * several levels, from the middle.  Every shortest path between leaves then goes up and down, and no
 * switch of a layer is preferred.  An order by the distance from a root connects all vertices in any
 * fabric, but crowds traffic around the root; of several roots the one with the shortest paths is taken.
 * order_pick.c finds out which order serves a fabric best.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/disjoint.h"
#include "lib/base/search.h"
#include "routing/updn/order.h"
#include "routing/updn/order_search.h"

#define ROOTS_TRIED 8

/* Quality of an order, over all pairs of vertices with hosts. */
struct verdict {
	uint64_t pairs;		/* pairs that are connected */
	uint64_t length;	/* length of all their paths together */
};

/* What orders are measured against: shortest paths, legal or not. */
struct survey {
	struct verdict best;
	uint64_t *sum;		/* [vertex]: sum of the distances to all vertices with hosts */
};

static bool is_origin(const struct graph *g, uint32_t v)
{
	/* without any host, paths between all switches count */
	return graph_hosts(g, v) || g->n_hosts == 0;
}

static void survey_make(struct survey *s, const struct graph *g)
{
	uint16_t *dist = xcalloc(g->n, sizeof(*dist));
	uint32_t *queue = xcalloc(g->n, sizeof(*queue));

	*s = (struct survey){ .sum = xcalloc(g->n, sizeof(*s->sum)) };
	for (uint32_t d = 0; d < g->n; d++) {
		if (!is_origin(g, d))
			continue;
		graph_bfs(g, d, dist, queue);
		for (uint32_t v = 0; v < g->n; v++) {
			s->sum[v] += dist[v] == FAR ? g->n : dist[v];
			if (dist[v] == FAR || !is_origin(g, v))
				continue;
			s->best.pairs++;
			s->best.length += dist[v];
		}
	}
	free(queue);
	free(dist);
}

void updn_down(const struct graph *g, uint32_t d, uint16_t *down)
{
	for (uint32_t v = 0; v < g->n; v++)
		down[v] = FAR;
	down[d] = 0;
	for (uint32_t v = d; v < g->n; v++) {
		if (down[v] == FAR)
			continue;
		for (uint32_t t = g->up0[v]; t < g->trunk0[v + 1]; t++) {
			uint32_t u = g->trunks[t].v;

			if (down[u] > down[v] + 1)
				down[u] = (uint16_t)(down[v] + 1);
		}
	}
}

void updn_distances(const struct graph *g, uint32_t d, uint16_t *down, uint16_t *total)
{
	updn_down(g, d, down);
	for (uint32_t v = g->n; v-- > 0;) {
		uint16_t least = FAR;

		total[v] = down[v];
		if (down[v] != FAR)
			continue;
		for (uint32_t t = g->up0[v]; t < g->trunk0[v + 1]; t++)
			if (total[g->trunks[t].v] < least)
				least = total[g->trunks[t].v];
		total[v] = least == FAR ? FAR : (uint16_t)(least + 1);
	}
}

/*
 * Whether each vertex above d has only one way down to d.  Then a packet that turned up at d or above and
 * came down again cannot come back to those vertices, so no cycle of channels has such a turn.
 */
static bool one_way_down(const struct graph *g, uint32_t d, const uint16_t *down)
{
	for (uint32_t v = d + 1; v < g->n; v++) {
		unsigned ways = 0;

		if (down[v] == FAR)
			continue;
		for (uint32_t t = g->trunk0[v]; t < g->up0[v]; t++)
			ways += down[g->trunks[t].v] != FAR;
		if (ways > 1)
			return false;
	}
	return true;
}

/* Measures an order, sets `meets`, and chooses the hub of a layered one. */
static struct verdict judge(struct updn_order *o)
{
	const struct graph *g = o->g;
	struct verdict verdict = { 0 };
	uint16_t *down = xcalloc(g->n, sizeof(*down)), *total = xcalloc(g->n, sizeof(*total));
	uint32_t *below = xcalloc(g->n, sizeof(*below)), n_origins = 0, hub_origins = 0, most = 0;

	for (uint32_t d = 0; d < g->n; d++) {
		uint32_t reached = 0, origins = 0;

		if (!is_origin(g, d))
			continue;
		n_origins++;
		updn_distances(g, d, down, total);
		for (uint32_t v = 0; v < g->n; v++) {
			below[v] += down[v] != FAR;
			if (total[v] == FAR)
				continue;
			reached++;
			if (is_origin(g, v)) {
				origins++;
				verdict.length += total[v];
			}
		}
		verdict.pairs += origins;
		if (!o->layered || reached < o->hub_reach ||
		    (reached == o->hub_reach && o->hub_safe))
			continue;
		o->hub_safe = one_way_down(g, d, down);
		if (reached > o->hub_reach || o->hub_safe)
			o->hub = d;
		o->hub_reach = reached;
		hub_origins = origins;
	}
	for (uint32_t v = 0; v < g->n; v++)
		if (below[v] > most)
			most = below[v];
	o->meets = most == n_origins || (o->hub_safe && hub_origins == n_origins);
	free(below);
	free(down);
	free(total);
	return verdict;
}

/* --- from ranks to an order --- */

struct key {
	uint16_t rank;
	uint8_t plane_port, own_port;
	uint32_t plane;
	uint32_t v;
};

static int by_key(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	return ORDER(x->rank, y->rank) ?: ORDER(x->plane_port, y->plane_port) ?:
	       ORDER(x->plane, y->plane) ?: ORDER(x->own_port, y->own_port) ?: ORDER(x->v, y->v);
}

/* The port by which most switches below (their median) reach v; 0 if there are none. */
static uint8_t port_from_below(const struct graph *g, const uint16_t *rank, uint32_t v)
{
	unsigned seen[256] = { 0 }, n = 0, sum = 0, port = 0;

	for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++) {
		const struct trunk *trunk = &g->trunks[t];

		if (rank[trunk->v] >= rank[v])
			continue;
		for (uint32_t i = 0; i < trunk->n_links; i++, n++)
			seen[g->f->ports[graph_port(g, v, g->links[trunk->link0 + i])->peer].num]++;
	}
	while (n && 2 * sum < n)
		sum += seen[++port];
	return (uint8_t)port;
}

/*
 * The order within a rank decides which up port a switch takes for which destinations, and should mean the
 * same on every switch.  In a fat tree of three levels the middle switches fall into planes, one switch of
 * each pod, that are connected only through the top: planes stay together.  Otherwise the ports by which
 * switches are reached from below decide, because cabling follows a pattern that outlives the loss of any
 * switch.
 */
static void sort_within_ranks(const struct graph *g, const uint16_t *rank, unsigned n_ranks,
			      struct key *keys)
{
	uint32_t *plane = xcalloc(g->n, sizeof(*plane));
	uint8_t *plane_port = xcalloc(g->n, 1);

	for (uint32_t v = 0; v < g->n; v++) {
		plane[v] = v;
		keys[v].own_port = port_from_below(g, rank, v);
	}
	for (unsigned r = n_ranks; r-- > 1;) {
		for (uint32_t v = 0; v < g->n; v++)
			for (uint32_t t = g->trunk0[v]; rank[v] == r && t < g->trunk0[v + 1]; t++)
				if (rank[g->trunks[t].v] > r)
					disjoint_join(plane, v, g->trunks[t].v);
		for (uint32_t v = 0; v < g->n; v++)
			plane_port[v] = UINT8_MAX;
		for (uint32_t v = 0; v < g->n; v++) {
			uint32_t p = disjoint_find(plane, v);

			if (rank[v] == r && keys[v].own_port < plane_port[p])
				plane_port[p] = keys[v].own_port;
		}
		for (uint32_t v = 0; v < g->n; v++) {
			if (rank[v] != r)
				continue;
			keys[v].plane = disjoint_find(plane, v);
			keys[v].plane_port = plane_port[keys[v].plane];
		}
	}
	free(plane_port);
	free(plane);
}

static struct updn_order *order_from_ranks(const struct graph *base, const uint16_t *rank,
					   bool layered)
{
	struct updn_order *o = xcalloc(1, sizeof(*o));
	struct key *keys = xcalloc(base->n, sizeof(*keys));
	uint32_t *sw = xcalloc(base->n, sizeof(*sw));

	*o = (struct updn_order){ .layered = layered, .hub = FABRIC_NONE,
				  .method.digits = layered };
	for (uint32_t v = 0; v < base->n; v++) {
		keys[v] = (struct key){ .rank = rank[v], .v = v };
		if (o->n_ranks <= rank[v])
			o->n_ranks = rank[v] + 1u;
	}
	if (layered)
		sort_within_ranks(base, rank, o->n_ranks, keys);
	qsort(keys, base->n, sizeof(*keys), by_key);
	o->rank = xcalloc(base->n, sizeof(*o->rank));
	for (uint32_t i = 0; i < base->n; i++) {
		sw[i] = base->sw[keys[i].v];
		o->rank[i] = keys[i].rank;
	}
	free(keys);
	o->g = graph_new(base->f, sw);
	return o;
}

struct updn_order *updn_order_on(const struct updn_order *o, const struct fabric *f,
				 const uint32_t *sw_of)
{
	struct updn_order *to = xcalloc(1, sizeof(*to));
	uint32_t *sw = xcalloc(f->n_switches, sizeof(*sw)), n = 0;

	*to = (struct updn_order){ .n_ranks = o->n_ranks, .layered = o->layered,
				   .hub = FABRIC_NONE, .hub_safe = o->hub_safe,
				   .hub_reach = o->hub_reach, .method = o->method, .meets = o->meets };
	to->rank = xcalloc(f->n_switches, sizeof(*to->rank));
	for (uint32_t v = 0; v < o->g->n; v++) {
		if (sw_of[o->g->sw[v]] == FABRIC_NONE)
			continue;
		if (v == o->hub)
			to->hub = n;
		to->rank[n] = o->rank[v];
		sw[n++] = sw_of[o->g->sw[v]];
	}
	to->g = graph_new(f, sw);
	return to;
}

/*
 * Takes vertices from the top, each time the highest with a neighbour already taken, so that each has a
 * neighbour above it.  An order in which each has one already is left as it is.  Fills from[] in rising
 * order.
 */
static void take_from_top(const struct graph *g, uint32_t *from)
{
	bool *beside = xcalloc(g->n, sizeof(*beside)), *taken = xcalloc(g->n, sizeof(*taken));
	/* from `next` up, no untaken vertex is beside a taken one; from `rest` up, all are taken */
	uint32_t next = 0, rest = g->n;

	for (uint32_t n = g->n; n-- > 0;) {
		uint32_t v;

		while (next && (taken[next - 1] || !beside[next - 1]))
			next--;
		while (!next && taken[rest - 1])	/* another connected component */
			rest--;
		v = (next ? next : rest) - 1;
		taken[v] = true;
		from[n] = v;
		for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++) {
			uint32_t u = g->trunks[t].v;

			beside[u] = true;
			next = !taken[u] && u >= next ? u + 1 : next;
		}
	}
	free(beside);
	free(taken);
}

struct updn_order *updn_order_mend(const struct updn_order *o)
{
	uint32_t *from, *sw;
	struct updn_order *to;

	if (o->layered)
		return NULL;
	to = xmemdup(o, sizeof(*o));
	to->rank = xcalloc(o->g->n, sizeof(*to->rank));
	from = xcalloc(o->g->n, sizeof(*from));
	sw = xcalloc(o->g->n, sizeof(*sw));
	take_from_top(o->g, from);
	for (uint32_t i = 0; i < o->g->n; i++) {
		to->rank[i] = o->rank[from[i]];
		sw[i] = o->g->sw[from[i]];
	}
	free(from);
	to->g = graph_new(o->g->f, sw);
	return to;
}

static bool has_ends(const struct graph *g, uint32_t v)
{
	return g->end0[v + 1] > g->end0[v];
}

bool updn_order_connects(const struct updn_order *o)
{
	const struct graph *g = o->g;
	uint16_t *down = xcalloc(g->n, sizeof(*down)), *total = xcalloc(g->n, sizeof(*total));
	uint16_t *to_hub = xcalloc(g->n, sizeof(*to_hub));
	uint32_t *part = graph_parts(g);
	bool hub = o->layered && o->hub != FABRIC_NONE && o->hub_safe, all = true;

	if (hub)
		updn_distances(g, o->hub, down, to_hub);
	for (uint32_t d = 0; d < g->n && all; d++) {
		if (!has_ends(g, d))
			continue;
		updn_distances(g, d, down, total);
		for (uint32_t v = 0; v < g->n && all; v++)
			all = !has_ends(g, v) || part[v] != part[d] || total[v] != FAR ||
			      (hub && to_hub[v] != FAR && total[o->hub] != FAR);
	}
	free(part);
	free(down);
	free(total);
	free(to_hub);
	return all;
}

void updn_order_free(struct updn_order *o)
{
	if (!o)
		return;
	graph_free(o->g);
	free(o->rank);
	free(o);
}

/* --- layers --- */

static int by_value(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The median number of hosts on switches that have any. */
static uint32_t usual_hosts(const struct graph *g)
{
	uint32_t *hosts = xcalloc(g->n, sizeof(*hosts)), n = 0, usual = 0;

	for (uint32_t v = 0; v < g->n; v++)
		if (graph_hosts(g, v))
			hosts[n++] = graph_hosts(g, v);
	qsort(hosts, n, sizeof(*hosts), by_value);
	if (n)
		usual = hosts[n / 2];
	free(hosts);
	return usual;
}

/*
 * Ranks by the distance from the queued vertices, 0 for vertices out of their reach.  Returns the
 * greatest.
 */
static uint16_t rank_outward(const struct graph *g, uint32_t *queue, uint32_t tail, uint16_t *rank)
{
	uint16_t greatest = 0;

	for (uint32_t v = 0; v < g->n; v++)
		rank[v] = FAR;
	for (uint32_t i = 0; i < tail; i++)
		rank[queue[i]] = 0;
	for (uint32_t head = 0; head < tail; head++) {
		uint32_t v = queue[head];

		greatest = rank[v];
		for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++) {
			uint32_t u = g->trunks[t].v;

			if (rank[u] != FAR)
				continue;
			rank[u] = (uint16_t)(rank[v] + 1);
			queue[tail++] = u;
		}
	}
	for (uint32_t v = 0; v < g->n; v++)
		if (rank[v] == FAR)
			rank[v] = 0;	/* not connected to the queued vertices: any order will do */
	return greatest;
}

/*
 * Ranks by the distance from the switches with at least min hosts.  False if none or all switches have
 * that many.
 */
static bool rank_layers(const struct graph *g, uint32_t min, uint16_t *rank)
{
	uint32_t *queue = xcalloc(g->n, sizeof(*queue)), n = 0;

	for (uint32_t v = 0; v < g->n; v++)
		if (graph_hosts(g, v) >= min)
			queue[n++] = v;
	rank_outward(g, queue, n, rank);
	free(queue);
	return n > 0 && n < g->n;
}

/* Number of hosts that makes a switch a leaf.  A few hosts on a spine (management, storage) do not. */
static uint32_t hosts_of_leaf(const struct graph *g)
{
	return (usual_hosts(g) + 7) / 8;
}

bool updn_ranks_by_hosts(const struct graph *g, uint16_t *rank)
{
	return rank_layers(g, hosts_of_leaf(g), rank);
}

/*
 * The order by layers above the switches with at least min hosts; NULL if none or all switches have that
 * many.
 */
static struct updn_order *by_layers(const struct graph *base, uint32_t min_hosts, uint16_t *rank)
{
	return rank_layers(base, min_hosts, rank) ? order_from_ranks(base, rank, true) : NULL;
}

/* --- roots --- */

/* The vertex with the next greater distance to all hosts after `last`; n if there is none. */
static uint32_t next_root(const struct graph *g, const uint64_t *sum, uint32_t last)
{
	uint32_t best = g->n;

	for (uint32_t v = 0; v < g->n; v++) {
		if (last < g->n && (sum[v] < sum[last] || (sum[v] == sum[last] && v <= last)))
			continue;
		if (best == g->n || sum[v] < sum[best])
			best = v;
	}
	return best;
}

/* Ranks fall with the distance from the root; other connected components have roots of their own. */
static void rank_below(const struct graph *g, const uint64_t *sum, uint32_t root, uint16_t *rank)
{
	uint16_t *dist = xcalloc(g->n, sizeof(*dist)), deepest = 0;
	uint32_t *queue = xcalloc(g->n, sizeof(*queue));

	for (uint32_t v = 0; v < g->n; v++)
		rank[v] = FAR;
	while (root < g->n) {
		graph_bfs(g, root, dist, queue);
		root = g->n;
		for (uint32_t v = 0; v < g->n; v++) {
			if (dist[v] != FAR)
				rank[v] = dist[v];
			if (dist[v] != FAR && dist[v] > deepest)
				deepest = dist[v];
			if (rank[v] == FAR && (root == g->n || sum[v] < sum[root]))
				root = v;
		}
	}
	for (uint32_t v = 0; v < g->n; v++)
		rank[v] = (uint16_t)(deepest - rank[v]);
	free(queue);
	free(dist);
}

static struct updn_order *try_roots(const struct graph *base, const struct survey *s,
				    uint16_t *rank)
{
	struct updn_order *best = NULL;
	struct verdict least = { 0 };
	uint32_t root = next_root(base, s->sum, base->n);

	for (unsigned i = 0; i < ROOTS_TRIED && root < base->n; i++) {
		rank_below(base, s->sum, root, rank);
		struct updn_order *o = order_from_ranks(base, rank, false);
		struct verdict v = judge(o);

		if (!best || v.length < least.length) {
			updn_order_free(best);
			best = o;
			least = v;
		} else {
			updn_order_free(o);
		}
		root = next_root(base, s->sum, root);
	}
	return best;
}

/* --- from the middle --- */

/*
 * Ranks by the distance from the middle, the switches without a neighbour nearer to all hosts.  Where
 * hosts are on switches of several levels, as in a chassis, these ranks show the levels and distances from
 * hosts do not.
 */
static bool rank_from_middle(const struct graph *g, const uint64_t *sum, uint16_t *rank)
{
	uint32_t *queue = xcalloc(g->n, sizeof(*queue)), n = 0;
	uint16_t deepest;

	for (uint32_t v = 0; v < g->n; v++) {
		bool middle = g->trunk0[v + 1] > g->trunk0[v];

		for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++)
			middle &= sum[v] <= sum[g->trunks[t].v];
		if (middle)
			queue[n++] = v;
	}
	deepest = rank_outward(g, queue, n, rank);
	for (uint32_t v = 0; v < g->n; v++)
		if (g->trunk0[v + 1] > g->trunk0[v])
			rank[v] = (uint16_t)(deepest - rank[v]);
	free(queue);
	return deepest > 0;
}

static struct updn_order *from_middle(const struct graph *base, const struct survey *s,
				      uint16_t *rank)
{
	return rank_from_middle(base, s->sum, rank) ? order_from_ranks(base, rank, true) : NULL;
}

/* --- all --- */

static bool is_same(const struct updn_order *a, const struct updn_order *b)
{
	return a->layered == b->layered &&
	       !memcmp(a->rank, b->rank, a->g->n * sizeof(*a->rank)) &&
	       !memcmp(a->g->sw, b->g->sw, a->g->n * sizeof(*a->g->sw));
}

/* If more than one pair in this many has no legal path, looking for turns for all of them costs too much. */
#define SPARSE 32u

static void add(struct updn_orders *all, struct updn_order *o, const struct survey *s)
{
	struct verdict v;

	if (!o)
		return;
	for (unsigned i = 0; i < all->n; i++)
		if (is_same(all->v[i], o)) {
			updn_order_free(o);
			return;
		}
	v = judge(o);
	o->shortest = v.pairs == s->best.pairs && v.length == s->best.length;
	o->sparse = (s->best.pairs - v.pairs) * SPARSE > s->best.pairs;
	all->v[all->n++] = o;
}

void updn_orders(const struct fabric *f, struct updn_orders *all,
		 bool (*enough)(const struct updn_orders *all))
{
	struct graph *base = graph_new(f, graph_by_guid(f));
	uint16_t *rank = xcalloc(base->n, sizeof(*rank));
	uint32_t min = hosts_of_leaf(base);
	struct survey s;

	all->n = 0;
	survey_make(&s, base);
	add(all, by_layers(base, min, rank), &s);
	/* spines with hosts may have no path to each other; as leaves they have one */
	if (min > 1)
		add(all, by_layers(base, 1, rank), &s);
	add(all, from_middle(base, &s, rank), &s);
	if (!all->n || !enough || !enough(all))
		add(all, try_roots(base, &s, rank), &s);
	if (!all->n)
		add(all, order_from_ranks(base, rank, false), &s);	/* no switches at all */
	free(s.sum);
	free(rank);
	graph_free(base);
}

/* --- by search --- */

/* Number of roots below which breadth-first orders are tried. */
#define ROOTS_SEARCHED 16u

struct far {
	uint64_t sum;
	uint32_t v;
};

static int by_sum(const void *a, const void *b)
{
	const struct far *x = a, *y = b;

	return ORDER(x->sum, y->sum) ?: ORDER(x->v, y->v);
}

static void places_of_ranks(const struct graph *g, const uint16_t *rank, uint16_t *place)
{
	struct far *by_rank = xcalloc(g->n, sizeof(*by_rank));

	for (uint32_t v = 0; v < g->n; v++)
		by_rank[v] = (struct far){ rank[v], v };
	qsort(by_rank, g->n, sizeof(*by_rank), by_sum);
	for (uint32_t i = 0; i < g->n; i++)
		place[by_rank[i].v] = (uint16_t)i;
	free(by_rank);
}

/* Tries roots from the middle of the fabric to its rim: in a grid the corners are the best roots. */
static void search_roots(struct search *search, const struct graph *g, const struct survey *s,
			 uint16_t *place)
{
	struct far *roots = xcalloc(g->n, sizeof(*roots));
	uint16_t *rank = xcalloc(g->n, sizeof(*rank));
	uint32_t last = g->n - 1;

	for (uint32_t v = 0; v < g->n; v++)
		roots[v] = (struct far){ s->sum[v], v };
	qsort(roots, g->n, sizeof(*roots), by_sum);
	for (uint32_t i = 0; i < ROOTS_SEARCHED; i++) {
		rank_below(g, s->sum, roots[(uint64_t)last * i / (ROOTS_SEARCHED - 1)].v, rank);
		places_of_ranks(g, rank, place);
		search_try(search, place);
	}
	free(rank);
	free(roots);
}

static bool is_connected(const struct graph *g)
{
	uint32_t *part = graph_parts(g), v = 0;

	while (v < g->n && part[v] == part[0])
		v++;
	free(part);
	return v == g->n;
}

void updn_orders_search(const struct fabric *f, struct updn_orders *all)
{
	struct graph *base = graph_new(f, graph_by_guid(f));
	uint16_t *place = xcalloc(base->n, sizeof(*place));
	uint16_t *of_sw = xcalloc(base->n, sizeof(*of_sw));
	struct search *search = NULL;
	struct survey s = { 0 };

	if (base->n_hosts && base->n > 2 && is_connected(base))
		search = search_new(base);
	if (search) {
		survey_make(&s, base);
		search_roots(search, base, &s, place);
	}
	for (unsigned i = 0; i < all->n && search; i++) {
		for (uint32_t v = 0; v < base->n; v++)
			of_sw[all->v[i]->g->sw[v]] = (uint16_t)v;
		for (uint32_t v = 0; v < base->n; v++)
			place[v] = of_sw[base->sw[v]];
		search_try(search, place);
	}
	if (search) {
		search_improve(search, place);
		add(all, order_from_ranks(base, place, false), &s);
	}
	search_free(search);
	free(s.sum);
	free(of_sw);
	free(place);
	graph_free(base);
}

struct updn_order *updn_order_by_root(const struct fabric *f)
{
	struct graph *base = graph_new(f, graph_by_guid(f));
	uint16_t *rank = xcalloc(base->n, sizeof(*rank));
	struct updn_order *o;
	struct survey s;

	survey_make(&s, base);
	o = try_roots(base, &s, rank);
	if (!o)
		o = order_from_ranks(base, rank, false);
	free(s.sum);
	free(rank);
	graph_free(base);
	return o;
}
