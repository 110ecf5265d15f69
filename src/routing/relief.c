/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the busiest link and moves single entries off it; see relief.h. */
#include "routing/relief.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "routing/ways.h"

/* Upper limit on looks at vertices, some ten nanoseconds each. */
#define WORK_MAX 20000000u
/* Cost of asking may(), in such looks per vertex. */
#define ASKING 8u

struct target {
	uint32_t d;
	uint16_t lid;
	uint16_t lid0, n_lids;	/* LIDs of the same port */
};

struct relief {
	const struct channels *c;
	const struct graph *g;
	struct lfts *l;
	bool (*may)(void *arg, const struct relief_move *m, uint64_t *looks);
	void *arg;
	VEC(struct target) targets;
	/* the target to begin with: earlier ones had no move to offer when last asked */
	size_t next;
	uint64_t work;
	uint64_t *load;		/* [link]: total cost of the routes that it carries */
	uint32_t *cost;		/* [link]: cost of one route */
	/* of the current LID */
	uint32_t *link;		/* [vertex]: link that its entry leads to, FABRIC_NONE if none */
	uint32_t *way;		/* [vertex]: trunk of that link */
	/* [vertex]: hops to the destination, FABRIC_NONE if its route does not arrive */
	uint32_t *hops;
	uint32_t *below;	/* [vertex]: hosts whose route leads over it */
	uint32_t *order, n;	/* vertices with a route, each before the vertex that it sends to */
	bool *over;		/* [vertex]: its route leads over the busiest link */
};

/* --- beginning and end --- */

static void relief_init(struct relief *x)
{
	uint32_t n = x->g->n;

	x->load = xcalloc(x->g->n_links + 1, sizeof(*x->load));
	x->cost = ways_link_costs(x->c);
	x->link = xcalloc(n, sizeof(*x->link));
	x->way = xcalloc(n, sizeof(*x->way));
	x->hops = xcalloc(n, sizeof(*x->hops));
	x->below = xcalloc(n, sizeof(*x->below));
	x->order = xcalloc(n, sizeof(*x->order));
	x->over = xcalloc(n, sizeof(*x->over));
}

/* --- the routes to a LID --- */

static uint32_t next_of(const struct relief *x, uint32_t v)
{
	return x->g->trunks[x->way[v]].v;
}

static void recall(struct relief *x, struct target to)
{
	const struct graph *g = x->g;

	x->work += g->n;
	for (uint32_t v = 0; v < g->n; v++) {
		x->link[v] = v == to.d ? FABRIC_NONE : channel_by_lid(x->c, x->l, v, to.lid).link;
		x->way[v] = x->link[v] == FABRIC_NONE ? FABRIC_NONE : x->c->trunk[x->link[v]];
		x->hops[v] = v == to.d ? 0 : FABRIC_NONE;
	}
	x->n = ways_sort(g, x->way, x->below, x->order);
	memset(x->below, 0, g->n * sizeof(*x->below));
	for (uint32_t i = x->n; i-- > 0;) {
		uint32_t v = x->order[i], on = x->hops[next_of(x, v)];

		x->hops[v] = on == FABRIC_NONE ? on : on + 1;
	}
	for (uint32_t i = 0; i < x->n; i++) {
		uint32_t v = x->order[i];

		x->below[v] += graph_hosts(g, v);
		x->below[next_of(x, v)] += x->below[v];
	}
}

/* Adds the routes of n hosts from v on to the loads, or subtracts them. */
static void count_along(struct relief *x, uint32_t v, uint32_t n, bool add)
{
	for (; x->hops[v]; v = next_of(x, v)) {
		uint64_t load = (uint64_t)n * x->cost[x->link[v]];

		x->load[x->link[v]] += add ? load : -load;
	}
}

/* --- moves --- */

/* Whether every link on v's route, with the routes of n more hosts, carries less than `most`. */
static bool has_room(const struct relief *x, uint32_t v, uint32_t n, uint64_t most)
{
	for (; x->hops[v]; v = next_of(x, v))
		if (x->load[x->link[v]] + (uint64_t)n * x->cost[x->link[v]] >= most)
			return false;
	return true;
}

/* The link of a trunk with the least load. */
static uint32_t link_of(const struct relief *x, uint32_t trunk)
{
	const struct trunk *t = &x->g->trunks[trunk];
	uint32_t least = t->link0;

	for (uint32_t link = t->link0 + 1; link < t->link0 + t->n_links; link++)
		if (x->load[link] < x->load[least])
			least = link;
	return least;
}

static void take_link(struct relief *x, uint32_t v, uint32_t link)
{
	x->link[v] = link;
	x->way[v] = x->c->trunk[link];
}

/*
 * Whether moving v's LID to the link keeps it as far apart from the port's other LIDs as now: on another
 * link, and at another neighbour.
 */
static bool is_apart(const struct relief *x, struct target to, uint32_t v, uint32_t link)
{
	uint32_t trunk = x->c->trunk[link];

	for (uint16_t lid = to.lid0; lid < to.lid0 + to.n_lids; lid++) {
		uint32_t other = lid == to.lid ? FABRIC_NONE : channel_by_lid(x->c, x->l, v, lid).link;

		if (other != FABRIC_NONE &&
		    (other == link || (x->c->trunk[other] == trunk && trunk != x->way[v])))
			return false;
	}
	return true;
}

static bool is_allowed(struct relief *x, uint32_t v, struct target to, uint32_t link)
{
	uint8_t *entry = graph_row(x->g, x->l, v) + to.lid;
	struct relief_move m = { v, to.d, to.lid, *entry };

	*entry = x->g->links[link];
	x->work += (uint64_t)ASKING * x->g->n;
	if (x->may(x->arg, &m, &x->work))
		return true;
	*entry = m.had;
	return false;
}

/* Moves vertex v's entry to another link, unless a link then carries `most` or more, or may() objects. */
static bool move(struct relief *x, struct target to, uint32_t v, uint32_t link, uint64_t most)
{
	uint32_t had = x->link[v], n = x->below[v];
	bool done;

	count_along(x, v, n, false);
	take_link(x, v, link);
	done = has_room(x, v, n, most) && is_allowed(x, v, to, link);
	if (!done)
		take_link(x, v, had);
	count_along(x, v, n, true);
	return done;
}

static bool move_any(struct relief *x, struct target to, uint32_t v, uint64_t most)
{
	const struct graph *g = x->g;

	for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++) {
		uint32_t on = x->hops[g->trunks[t].v], link = link_of(x, t);

		if (on != FABRIC_NONE && on + 1 == x->hops[v] && is_apart(x, to, v, link) &&
		    move(x, to, v, link, most))
			return true;
	}
	return false;
}

/* Tries vertices nearest to the destination first, so that routes that went together stay together. */
static bool relieve_of(struct relief *x, struct target to, uint32_t busiest)
{
	recall(x, to);
	x->over[to.d] = false;
	for (uint32_t i = x->n; i-- > 0;) {
		uint32_t v = x->order[i];

		x->over[v] = x->hops[v] != FABRIC_NONE && (x->link[v] == busiest || x->over[next_of(x, v)]);
		if (x->over[v] && x->below[v] && move_any(x, to, v, x->load[busiest]))
			return true;
	}
	return false;
}

static bool relieve_link(struct relief *x, uint32_t busiest)
{
	uint32_t v = x->c->from[x->c->trunk[busiest]];
	const uint8_t *row = graph_row_of(x->g, x->l, v);

	for (size_t i = 0; i < x->targets.n && x->work < WORK_MAX; i++) {
		struct target to = x->targets.v[(x->next + i) % x->targets.n];

		if (row[to.lid] != x->g->links[busiest] || v == to.d || !relieve_of(x, to, busiest))
			continue;
		x->next = (x->next + i) % x->targets.n;
		return true;
	}
	return false;
}

static uint32_t find_busiest(const struct relief *x)
{
	uint32_t busiest = 0;

	for (uint32_t link = 1; link < x->g->n_links; link++)
		if (x->load[link] > x->load[busiest])
			busiest = link;
	return busiest;
}

void relieve(const struct route_request *r, const struct channels *c, struct lfts *l,
	     bool (*may)(void *arg, const struct relief_move *m, uint64_t *looks), void *arg)
{
	struct relief x = { .c = c, .g = c->g, .l = l, .may = may, .arg = arg };
	struct dest dests[DESTS_MAX];

	relief_init(&x);
	for (uint32_t d = 0; d < x.g->n; d++) {
		unsigned n = graph_dests(x.g, r, x.l->top, d, dests);

		for (unsigned i = 0; i < n; i++)
			for (unsigned k = 0; k < dests[i].n_lids && dests[i].weight; k++)
				*vec_push(&x.targets) = (struct target){
					d, (uint16_t)(dests[i].lid + k), dests[i].lid, dests[i].n_lids
				};
	}
	for (size_t i = 0; i < x.targets.n; i++) {
		recall(&x, x.targets.v[i]);
		for (uint32_t k = 0; k < x.n; k++) {
			uint32_t v = x.order[k];

			if (x.hops[v] != FABRIC_NONE)
				x.load[x.link[v]] += (uint64_t)x.below[v] * x.cost[x.link[v]];
		}
	}
	x.work = 0;
	while (x.work < WORK_MAX && x.g->n_links && relieve_link(&x, find_busiest(&x)))
		x.work += x.g->n_links;
	vec_free(&x.targets);
	free(x.load);
	free(x.cost);
	free(x.link);
	free(x.way);
	free(x.hops);
	free(x.below);
	free(x.order);
	free(x.over);
}
