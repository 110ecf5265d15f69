/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Implements the engine "updn", which uses legal paths of an up/down order, hence no credit loops on any
 * topology.
 *
 * On fat trees its paths are shortest and evenly spread.  In a layered fabric a destination's number says
 * which up port to take (dmodk.h), unless that port is on no shortest route or carries much more load than
 * the others, as happens where links are missing.  Elsewhere it takes the least loaded port.
 *
 * A switch without a legal path to a destination (from a spine to another, or to a vertex that it lost its
 * link to) sends towards the order's hub until a vertex has one, if that adds no cycle of channels, as in
 * a fat tree.  The remaining routes use single turns that add no cycle (stranded.h).  If even so some end
 * port cannot reach another, an order below a root replaces the layers.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/search.h"
#include "routing/relief.h"
#include "routing/updn/dmodk.h"
#include "routing/updn/stranded.h"
#include "routing/updn/updn.h"
#include "routing/weigh.h"

/* The up links of a vertex in the order of digits. */
struct up_link {
	uint32_t v, link;
	uint8_t turn;		/* index of the link in its trunk */
	uint8_t port;
};

struct updn {
	const struct route_request *r;
	const struct updn_order *o;
	const struct graph *g;
	struct lfts *out;
	struct dmodk *k;	/* NULL if not by digits */
	struct up_link *up;	/* of vertex v: up[up_first[v]] .. up[up_first[v + 1] - 1] */
	uint32_t *up_first;
	uint32_t *floor;	/* [vertex]: lower bound of the load of its up links */
	uint32_t *allowance;	/* [rank]: load by which the link of a digit may exceed the floor */
	uint32_t *load;		/* [link]: destinations sent by it */
	uint16_t *down, *total;	/* distances to the current destination vertex: two rows of `distances` */
	uint16_t *distances;
	/* [vertex]: its rows are filled; NULL: there is room for the rows of one vertex only */
	bool *known;
	uint32_t *part;		/* [vertex]: number of its connected component */
	uint8_t *to_hub;	/* [vertex]: out port to the hub, LFT_DROP if there is none */
	struct dest dests[DESTS_MAX];	/* the ends on the current destination vertex */
	unsigned n_dests;
	uint32_t *digit;	/* [rank * DESTS_MAX + dest]: number without the lower digits */
	struct weigh *weigh;	/* NULL if not by weight */
	struct channels *channels;	/* while relief.h is at work */
	struct stranded *stranded;
	uint32_t *todo;		/* vertices that do not reach the destination yet */
	uint32_t n_todo;
	struct updn_outcome outcome;
};

/*
 * Lists link i of all trunks before link i + 1 of any, so that successive digits go to different
 * neighbours.
 */
static uint32_t list_up_links(const struct graph *g, uint32_t v, struct up_link *up)
{
	uint32_t n = 0, before, turn = 0;

	do {
		before = n;
		for (uint32_t t = g->up0[v]; t < g->trunk0[v + 1]; t++) {
			const struct trunk *trunk = &g->trunks[t];

			if (turn < trunk->n_links)
				up[n++] = (struct up_link){
					trunk->v, trunk->link0 + turn, (uint8_t)turn,
					g->links[trunk->link0 + turn],
				};
		}
		turn++;
	} while (n > before);
	return n;
}

/*
 * Destinations come in runs of equal digits, as long as the ranks below are wide: a surplus of less than
 * two such runs is no imbalance.
 */
static void set_allowances(struct updn *u)
{
	uint32_t run = 1;

	u->allowance = xcalloc(u->o->n_ranks, sizeof(*u->allowance));
	for (unsigned r = 0; r < u->o->n_ranks; r++) {
		u->allowance[r] = 2 * run + 2;
		if (run < 1u << 16)
			run *= u->k->radix[r];
	}
}

static void digits_init(struct updn *u)
{
	uint32_t n = 0;

	u->k = dmodk_new(u->o);
	set_allowances(u);
	u->floor = xcalloc(u->g->n, sizeof(*u->floor));
	u->digit = xcalloc((size_t)u->o->n_ranks * DESTS_MAX, sizeof(*u->digit));
	u->up = xcalloc(u->g->n_links / 2, sizeof(*u->up));
	u->up_first = xcalloc(u->g->n + 1, sizeof(*u->up_first));
	for (uint32_t v = 0; v < u->g->n; v++) {
		u->up_first[v] = n;
		n += list_up_links(u->g, v, u->up + n);
	}
	u->up_first[u->g->n] = n;
}

/*
 * A switch uses its own number, and its aggregation node the next one, so that an up port with one switch
 * more than others does not also have one aggregation node more.
 */
static void digits_of(struct updn *u, uint32_t d)
{
	uint64_t number[256];

	dmodk_hosts(u->k, u->g, d, number);
	for (unsigned i = 0; i < u->n_dests; i++) {
		const struct dest *dest = &u->dests[i];
		uint64_t x = dest->weight ? number[dest->port] : u->k->leaf[d] + (dest->port != 0);

		for (unsigned r = 0; r < u->o->n_ranks; r++) {
			u->digit[r * DESTS_MAX + i] = (uint32_t)x;
			x /= u->k->radix[r];
		}
	}
}

/* The least load of any up link of v.  It only grows, so an old value is a valid lower bound. */
static uint32_t link_floor(const struct updn *u, uint32_t v)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t i = u->up_first[v]; i < u->up_first[v + 1]; i++)
		if (u->load[u->up[i].link] < least)
			least = u->load[u->up[i].link];
	return least;
}

static uint32_t least_load(const struct updn *u, const struct choice *c)
{
	uint32_t least = UINT32_MAX;

	for (unsigned i = 0; i < c->n; i++)
		if (u->load[c->link[i]] < least)
			least = u->load[c->link[i]];
	return least;
}

/*
 * The up link, of n, that a digit names: digit % n.  Neighbouring destinations have equal or neighbouring
 * digits, so hardly any needs a division; *last: digit and link of the one before.
 */
struct place {
	uint32_t digit, link;
};

static uint32_t place_of(struct place *last, uint32_t digit, uint32_t n)
{
	uint32_t ahead = digit - last->digit;

	last->link = ahead < n - last->link ? last->link + ahead : digit % n;
	last->digit = digit;
	return last->link;
}

/*
 * Sends dests from index i up by their digits, while the links lead the right way and have no more load
 * than limit.  All LIDs of a destination are sent that way, or none.  Returns the first index not done.
 */
static unsigned up_by_digit(struct updn *u, uint32_t v, unsigned i, uint8_t *row, uint32_t limit)
{
	const struct up_link *up = u->up + u->up_first[v], *link;
	const uint32_t *digit = u->digit + u->o->rank[v] * DESTS_MAX;
	const uint16_t *total = u->total;
	uint32_t n = u->up_first[v + 1] - u->up_first[v], want = total[v] - 1u;
	uint32_t *load = u->load, k = 0;
	struct place last = { 0, 0 };

	for (; i < u->n_dests; i++) {
		const struct dest *dest = &u->dests[i];

		for (k = 0; k < dest->n_lids; k++) {
			link = &up[place_of(&last, digit[i] + k, n)];
			if (total[link->v] != want || load[link->link] > limit)
				goto undo;
			row[dest->lid + k] = link->port;
			load[link->link] += dest->weight;
		}
	}
	return i;
undo:
	while (k-- > 0)
		load[up[(digit[i] + k) % n].link] -= u->dests[i].weight;
	return i;
}

static void route_up(struct updn *u, uint32_t v)
{
	uint8_t *row = graph_row(u->g, u->out, v);
	uint32_t allowance = u->k ? u->allowance[u->o->rank[v]] : 0, limit = 0;
	struct choice c;
	unsigned i = 0;

	if (u->k)
		i = up_by_digit(u, v, i, row, u->floor[v] + allowance);
	if (i == u->n_dests)
		return;
	choice_find(&c, u->g, u->g->up0[v], u->g->trunk0[v + 1], u->total,
		    (uint16_t)(u->total[v] - 1));
	if (u->k) {
		u->floor[v] = link_floor(u, v);
		limit = least_load(u, &c) + allowance;
	}
	for (; i < u->n_dests; i++) {
		if (u->k && (i = up_by_digit(u, v, i, row, limit)) == u->n_dests)
			break;
		choice_spread(&c, u->g, u->load, row + u->dests[i].lid, u->dests[i].n_lids,
			      u->dests[i].weight);
	}
}

/*
 * The link of c by which v sends down to a vertex where the destination's own digit would lead up to v:
 * routes that go up apart then also come down apart.  FABRIC_NONE if v is on no such route.
 */
static uint32_t link_of_digit(const struct updn *u, const struct choice *c, uint32_t v,
			      uint32_t i, uint32_t k)
{
	for (unsigned j = 0; j < c->n;) {
		uint32_t below = c->v[j], n = u->up_first[below + 1] - u->up_first[below];
		uint32_t digit = u->digit[u->o->rank[below] * DESTS_MAX + i] + k;
		const struct up_link *up = &u->up[u->up_first[below] + digit % n];

		if (up->v == v)
			return c->link[j + up->turn];
		while (j < c->n && c->v[j] == below)
			j++;
	}
	return FABRIC_NONE;
}

static bool down_by_digit(struct updn *u, const struct choice *c, uint32_t v, unsigned i,
			  uint8_t *row)
{
	const struct dest *dest = &u->dests[i];
	uint32_t link[1 << IB_LMC_MAX];

	for (uint32_t k = 0; k < dest->n_lids; k++) {
		link[k] = link_of_digit(u, c, v, i, k);
		if (link[k] == FABRIC_NONE)
			return false;
	}
	for (uint32_t k = 0; k < dest->n_lids; k++) {
		row[dest->lid + k] = u->g->links[link[k]];
		u->load[link[k]] += dest->weight;
	}
	return true;
}

static void route_down(struct updn *u, uint32_t v)
{
	uint8_t *row = graph_row(u->g, u->out, v);
	struct choice c;

	choice_find(&c, u->g, u->g->trunk0[v], u->g->up0[v], u->down, (uint16_t)(u->down[v] - 1));
	for (unsigned i = 0; i < u->n_dests; i++) {
		const struct dest *dest = &u->dests[i];

		if (!u->k || c.n == 1 || !down_by_digit(u, &c, v, i, row))
			choice_spread(&c, u->g, u->load, row + dest->lid, dest->n_lids,
				      dest->weight);
	}
}

static void route_by_hub(struct updn *u, uint32_t v)
{
	uint8_t *row = graph_row(u->g, u->out, v);

	for (unsigned i = 0; i < u->n_dests; i++)
		memset(row + u->dests[i].lid, u->to_hub[v], u->dests[i].n_lids);
}

/* Chooses a legal route, by digits or by load. */
static void route_legally(struct updn *u, uint32_t v, uint32_t d)
{
	if (v == d || u->total[v] == FAR)
		return;
	if (u->down[v] != FAR)
		route_down(u, v);
	else
		route_up(u, v);
}

/* Routes where no path is legal: over the hub, or later by single turns. */
static void route_from(struct updn *u, uint32_t v, uint32_t d)
{
	if (v == d)
		graph_deliver(u->g, u->out, d, u->dests, u->n_dests);
	else if (u->total[v] != FAR)
		;	/* route_legally() did it */
	else if (u->to_hub && u->to_hub[v] != LFT_DROP && u->total[u->o->hub] != FAR)
		route_by_hub(u, v);
	else if (u->part[v] == u->part[d])
		u->todo[u->n_todo++] = v;
}

static void count_lost(struct updn *u, uint32_t v, const struct dest *dest)
{
	if (u->g->end0[v + 1] == u->g->end0[v])
		return;
	if (dest->port)
		u->outcome.lost++;
	else
		u->outcome.lost_inner++;
}

/* Gives a port's LID number k the routes of its first LID everywhere. */
static void copy_first(struct updn *u, const struct dest *dest, unsigned k)
{
	for (uint32_t v = 0; v < u->g->n; v++) {
		uint8_t *row = graph_row(u->g, u->out, v);

		row[dest->lid + k] = row[dest->lid];
	}
}

/*
 * Routes a LID from all vertices anew by stranded.h.  todo: the vertices that stay without a route.
 * Returns their number if it is less than `lost`; otherwise restores the tables and returns `lost`.
 */
static uint32_t route_afresh(struct updn *u, uint32_t d, uint16_t lid, uint32_t *todo, uint32_t lost)
{
	const struct graph *g = u->g;
	uint8_t *was = xmalloc(g->n);
	uint32_t *all = xcalloc(g->n, sizeof(*all)), n = 0;

	for (uint32_t v = 0; v < g->n; v++) {
		was[v] = graph_row(g, u->out, v)[lid];
		if (v == d || u->part[v] != u->part[d])
			continue;
		graph_row(g, u->out, v)[lid] = LFT_DROP;
		all[n++] = v;
	}
	n = stranded_route(u->stranded, u->out, d, lid, all, n, true, u->load, 0);
	for (uint32_t v = 0; n >= lost && v < g->n; v++)
		graph_row(g, u->out, v)[lid] = was[v];
	if (n < lost) {
		memcpy(todo, all, n * sizeof(*all));
		lost = n;
	}
	free(all);
	free(was);
	return lost;
}

/*
 * Finds routes that are not legal, by turns that close no cycle.  Only a port's first LID gets turns of
 * its own: turns are too scarce for several routes to one port.
 */
static void route_stranded(struct updn *u, uint32_t d)
{
	uint32_t *todo = xcalloc(u->n_todo, sizeof(*todo)), lost, first = 0;

	if (!u->stranded)
		u->stranded = stranded_new(u->o, NULL, NULL, NULL);
	for (unsigned i = 0; i < u->n_dests; i++)
		for (unsigned k = 0; k < u->dests[i].n_lids; k++) {
			uint16_t lid = (uint16_t)(u->dests[i].lid + k);

			memcpy(todo, u->todo, u->n_todo * sizeof(*todo));
			lost = stranded_route(u->stranded, u->out, d, lid, todo, u->n_todo, k == 0,
					      u->load, u->dests[i].weight);
			if (lost && k == 0)
				lost = route_afresh(u, d, lid, todo, lost);
			if (k == 0)
				first = lost;
			for (uint32_t j = 0; j < lost && k == 0; j++)
				count_lost(u, todo[j], &u->dests[i]);
			if (lost > first)
				copy_first(u, &u->dests[i], k);
		}
	free(todo);
}

/* With more vertices, distances are computed anew each time: keeping them would take over 64 MB. */
#define VERTICES_KEPT 4096u

static void find_distances(struct updn *u, uint32_t d)
{
	size_t n = u->g->n;

	u->down = u->distances + (u->known ? 2 * n * d : 0);
	u->total = u->down + n;
	if (u->known && u->known[d])
		return;
	updn_distances(u->g, d, u->down, u->total);
	if (u->known)
		u->known[d] = true;
}

static bool begin(struct updn *u, uint32_t d)
{
	u->n_dests = graph_dests(u->g, u->r, u->out->top, d, u->dests);
	if (u->n_dests)
		find_distances(u, d);
	return u->n_dests > 0;
}

static void choose_first(struct updn *u, uint32_t d)
{
	if (u->k)
		digits_of(u, d);
	for (uint32_t v = 0; v < u->g->n; v++)
		route_legally(u, v, d);
}

static void weigh_once(struct updn *u, uint32_t d, bool again)
{
	if (!begin(u, d))
		return;
	weigh_begin(u->weigh, d, u->down, u->total);
	if (again)
		weigh_take_back(u->weigh, u->out, u->dests, u->n_dests);
	weigh_route(u->weigh, u->out, u->dests, u->n_dests);
}

/* Adds the entries that build on those of legal routes, which are set. */
static void complete(struct updn *u, uint32_t d)
{
	u->n_todo = 0;
	for (uint32_t v = 0; v < u->g->n; v++)
		route_from(u, v, d);
	if (u->n_todo)
		route_stranded(u, d);
}

static void find_hub_ports(struct updn *u)
{
	const struct graph *g = u->g;
	struct choice c;

	u->to_hub = xmalloc(g->n);
	find_distances(u, u->o->hub);
	for (uint32_t v = 0; v < g->n; v++) {
		bool descend = u->down[v] != FAR;

		u->to_hub[v] = LFT_DROP;
		if (u->total[v] == FAR || v == u->o->hub)
			continue;
		choice_find(&c, g, descend ? g->trunk0[v] : g->up0[v],
			    descend ? g->up0[v] : g->trunk0[v + 1],
			    descend ? u->down : u->total, (uint16_t)(u->total[v] - 1));
		u->to_hub[v] = g->links[c.link[0]];
	}
}

/* Takes destinations in the order of their numbers, which keeps loads even all the time. */
struct by_number {
	uint16_t rank;
	uint64_t number;
	uint32_t v;
};

static int compare_numbers(const void *a, const void *b)
{
	const struct by_number *x = a, *y = b;

	return ORDER(x->rank, y->rank) ?: ORDER(x->number, y->number) ?: ORDER(x->v, y->v);
}

static uint32_t *sequence(const struct updn *u)
{
	uint32_t n = u->g->n, *order = xcalloc(n, sizeof(*order));
	struct by_number *seq = xcalloc(n, sizeof(*seq));

	for (uint32_t v = 0; v < n; v++)
		seq[v] = (struct by_number){ u->o->rank[v], u->k ? u->k->leaf[v] : v, v };
	qsort(seq, n, sizeof(*seq), compare_numbers);
	for (uint32_t i = 0; i < n; i++)
		order[i] = seq[i].v;
	free(seq);
	return order;
}

/*
 * Allows a move if the vertex still sends up, or still down.  A packet that came from above, or is sent
 * down, has to get down all the way.
 */
static bool stays_legal(void *arg, const struct relief_move *m, uint64_t *looks)
{
	const struct updn *u = arg;
	struct channel had = channel_by_port(u->channels, m->v, m->had);
	struct channel now = channel_by_lid(u->channels, u->out, m->v, m->lid);

	(void)looks;	/* only a few, which relief.c counts itself */
	if ((had.to > m->v) != (now.to > m->v))
		return false;
	return now.to > m->v || now.to == m->d ||
	       channel_by_lid(u->channels, u->out, now.to, m->lid).to < now.to;
}

static void route_all(struct updn *u)
{
	const struct updn_method *m = &u->o->method;
	uint32_t n = u->g->n, *order = sequence(u);
	bool weighed = u->weigh != NULL;

	for (uint32_t i = 0; i < n && (m->digits || !weighed); i++) {
		if (!begin(u, order[i]))
			continue;
		choose_first(u, order[i]);
		if (!weighed) {
			complete(u, order[i]);
			continue;
		}
		weigh_begin(u->weigh, order[i], u->down, u->total);
		weigh_add(u->weigh, u->out, u->dests, u->n_dests);
	}
	for (uint32_t i = 0; i < n * m->passes; i++)
		weigh_once(u, order[i % n], m->digits || i >= n);
	if (m->relief) {
		u->channels = channels_new(u->g->f, u->o);
		relieve(u->r, u->channels, u->out, stays_legal, u);
		channels_free(u->channels);
	}
	for (uint32_t i = 0; i < n && weighed; i++)
		if (begin(u, order[i]))
			complete(u, order[i]);
	free(order);
}

struct updn_outcome updn_by(const struct route_request *r, const struct updn_order *o,
			    struct lfts *out)
{
	const struct graph *g = o->g;
	struct updn u = { .r = r, .o = o, .g = g, .out = out };
	size_t n;
	bool keeps;

	memset(out->entries, LFT_DROP, (size_t)out->n_switches * out->stride);
	n = u.g->n;
	keeps = u.o->method.passes && n <= VERTICES_KEPT;
	u.distances = xcalloc(2 * n * (keeps ? n : 1), sizeof(*u.distances));
	u.known = keeps ? xcalloc(n, sizeof(*u.known)) : NULL;
	u.load = xcalloc(g->n_links, sizeof(*u.load));
	u.part = graph_parts(g);
	u.todo = xcalloc(g->n, sizeof(*u.todo));
	if (o->method.passes)
		u.weigh = weigh_new(o, o->method.hop, o->method.down);
	if (o->method.digits)
		digits_init(&u);
	if (o->hub != FABRIC_NONE && o->hub_safe)
		find_hub_ports(&u);
	route_all(&u);
	weigh_free(u.weigh);
	stranded_free(u.stranded);
	free(u.todo);
	free(u.part);
	free(u.to_hub);
	free(u.digit);
	free(u.floor);
	free(u.allowance);
	free(u.up_first);
	free(u.up);
	dmodk_free(u.k);
	free(u.load);
	free(u.known);
	free(u.distances);
	return u.outcome;
}

static bool updn_run(const struct route_request *r, struct lfts *out,
		     struct route_layers **layers, struct buf *why)
{
	struct updn_order *own = r->order ? NULL : updn_order_new(r->f);
	const struct updn_order *o = r->order ? r->order : own;
	struct updn_outcome did = updn_by(r, o, out);

	(void)layers;
	(void)why;
	if (o->layered && did.lost) {
		updn_order_free(own);
		own = updn_order_by_root(r->f);
		updn_by(r, own, out);
	}
	updn_order_free(own);
	return true;
}

const struct route_engine route_updn = { "updn", updn_run };
