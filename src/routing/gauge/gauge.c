/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Measures connectivity, detours and balance over all pairs, and calls the other parts of the gauge.
 *
 * For each LID the tables make a tree of the switches, so one visit of each switch counts the routes of
 * all pairs to that LID.  Shortest paths need one search for each switch with end ports; therefore
 * destinations are taken switch by switch.
 */
#include "routing/gauge/gauge.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "routing/choices.h"
#include "routing/gauge/gauge_net.h"

#define FAR UINT16_MAX

const struct gauge_options gauge_defaults = {
	.bisections = 1000, .shifts = 1000, .flows = 10000000, .seed = 1, .layers = true,
};

struct pairs {
	const struct gauge_net *n;
	struct gauge *out;
	struct gauge_tree tree;
	uint32_t *sources, n_sources;	/* switches with end ports, rising */
	uint32_t *by_switch;		/* indexes of ends, by switch and then LID */
	uint16_t *dist;			/* [switch]: cables to the destination's switch */
	uint32_t *queue;
	uint64_t *load;			/* [place]: number of routes */
	uint64_t *flow;			/* [switch]: pairs whose route to the current LID passes it */
	uint64_t *sent;			/* [switch]: LIDs that each end port on it reaches */
	uint64_t *entering, *leaving;	/* [switch]: connected pairs with one end there */
	uint64_t *received;		/* [end]: number of routes to it */
	bool *own;			/* [end]: its switch delivers to it */
	double ratios;			/* sum of ratios over connected pairs */
	uint64_t shortest;		/* sum of cables on the shortest routes of connected pairs */
};

static void pairs_init(struct pairs *p, const struct gauge_net *n, struct gauge *out)
{
	uint32_t *place = xcalloc(n->n + 1u, sizeof(*place));

	*p = (struct pairs){ .n = n, .out = out };
	gauge_tree_init(&p->tree, n);
	p->sources = xcalloc(n->n, sizeof(*p->sources));
	p->by_switch = xcalloc(n->n_ends, sizeof(*p->by_switch));
	p->dist = xcalloc(n->n, sizeof(*p->dist));
	p->queue = xcalloc(n->n, sizeof(*p->queue));
	p->load = xcalloc(n->first[n->n], sizeof(*p->load));
	p->flow = xcalloc(n->n, sizeof(*p->flow));
	p->sent = xcalloc(n->n, sizeof(*p->sent));
	p->entering = xcalloc(n->n, sizeof(*p->entering));
	p->leaving = xcalloc(n->n, sizeof(*p->leaving));
	p->received = xcalloc(n->n_ends, sizeof(*p->received));
	p->own = xcalloc(n->n_ends, sizeof(*p->own));
	for (uint32_t sw = 0; sw < n->n; sw++) {
		place[sw + 1] = place[sw] + n->at[sw];
		if (n->at[sw])
			p->sources[p->n_sources++] = sw;
	}
	for (uint32_t i = 0; i < n->n_ends; i++)
		p->by_switch[place[n->ends[i].sw]++] = i;
	free(place);
}

static void search(struct pairs *p, uint32_t from)
{
	const struct gauge_net *n = p->n;
	uint32_t head = 0, tail = 0;

	memset(p->dist, 0xff, n->n * sizeof(*p->dist));
	p->dist[from] = 0;
	p->queue[tail++] = from;
	while (head < tail) {
		uint32_t sw = p->queue[head++];

		for (uint32_t place = n->first[sw]; place < n->first[sw + 1]; place++) {
			uint32_t to = n->next[place];

			if (to == FABRIC_NONE || p->dist[to] != FAR)
				continue;
			p->dist[to] = (uint16_t)(p->dist[sw] + 1);
			p->queue[tail++] = to;
		}
	}
}

/* Some end port on a switch other than `but`; FABRIC_NONE if there is none. */
static uint32_t some_end(const struct gauge_net *n, uint32_t sw, uint32_t but)
{
	for (uint32_t i = 0; i < n->n_ends; i++)
		if (n->ends[i].sw == sw && n->ends[i].port != but)
			return n->ends[i].port;
	return FABRIC_NONE;
}

/* Counts the routes of `pairs` end ports on switch sw to an end port; the tree tells their length. */
static void count_detour(struct pairs *p, uint32_t sw, const struct gauge_end *to, uint64_t pairs)
{
	struct gauge *out = p->out;
	unsigned hops = p->tree.hops[sw], least = p->dist[sw] + 1u, longer = hops - least;
	double ratio = (double)hops / least;

	p->ratios += ratio * (double)pairs;
	p->shortest += p->dist[sw] * pairs;
	if (ratio > out->ratio_most)
		out->ratio_most = ratio;
	if (hops > out->hops_most)
		out->hops_most = hops;
	if (longer > out->longer_most) {
		out->longer_most = longer;
		out->longer_from = some_end(p->n, sw, to->port);
		out->longer_to = to->port;
	}
}

static void count_end(struct pairs *p, uint32_t i)
{
	const struct gauge_net *n = p->n;
	const struct gauge_end *to = &n->ends[i];
	struct gauge_tree *t = &p->tree;

	gauge_tree_walk(t, n, to->sw, to->num, to->lid, p->sources, p->n_sources);
	p->own[i] = t->hops[to->sw] != 0;
	for (uint32_t k = 0; k < p->n_sources; k++) {
		uint32_t sw = p->sources[k];
		uint64_t pairs = n->at[sw] - (sw == to->sw);

		if (!t->hops[sw])
			continue;
		p->sent[sw]++;
		p->received[i] += pairs;
		if (sw != to->sw) {
			p->leaving[sw] += pairs;
			p->entering[to->sw] += pairs;
		}
		if (pairs)
			count_detour(p, sw, to, pairs);
	}
	gauge_tree_load(t, n, p->flow, p->load);
	p->out->connected += p->received[i];
}

static void judge_cables(struct pairs *p)
{
	const struct gauge_net *n = p->n;
	struct gauge *out = p->out;
	double sum = 0;

	for (uint32_t sw = 0; sw < n->n; sw++) {
		for (uint32_t place = n->first[sw]; place < n->first[sw + 1]; place++) {
			if (n->next[place] == FABRIC_NONE)
				continue;
			out->cables++;
			sum += (double)p->load[place];
			if (p->load[place] <= out->efi)
				continue;
			out->efi = p->load[place];
			out->hottest = gauge_port(n, sw, place);
		}
	}
	out->efi_mean = out->cables ? sum / out->cables : 0;
}

static double greater(double a, double b)
{
	return a > b ? a : b;
}

/* The largest ratio of routes to capacity on any cable; *bound: its lower bound for any tables. */
static double most_loaded(const struct pairs *p, double *bound)
{
	const struct gauge_net *n = p->n;
	double most = 0, all = 0;

	*bound = 0;
	for (uint32_t i = 0; i < n->n_ends; i++) {
		const struct gauge_end *e = &n->ends[i];
		uint64_t sent = p->sent[e->sw] - p->own[i];

		*bound = greater(*bound, (double)(sent > p->received[i] ? sent : p->received[i]) /
				 e->gbps);
	}
	most = *bound;
	for (uint32_t sw = 0; sw < n->n; sw++) {
		double gbps = 0;

		for (uint32_t place = n->first[sw]; place < n->first[sw + 1]; place++) {
			if (n->next[place] == FABRIC_NONE)
				continue;
			gbps += n->gbps[place];
			most = greater(most, (double)p->load[place] / n->gbps[place]);
		}
		all += gbps;
		if (p->leaving[sw])
			*bound = greater(*bound, (double)p->leaving[sw] / gbps);
		if (p->entering[sw])
			*bound = greater(*bound, (double)p->entering[sw] / gbps);
	}
	if (p->shortest)
		*bound = greater(*bound, (double)p->shortest / all);
	return most;
}

static void gauge_pairs(const struct gauge_net *n, const struct gauge_options *o,
			struct gauge *out)
{
	struct pairs p;
	double most, bound;

	pairs_init(&p, n, out);
	for (uint32_t i = 0; i < n->n_ends && !gauge_stopped(o); i++) {
		uint32_t sw = n->ends[p.by_switch[i]].sw;

		if (i == 0 || sw != n->ends[p.by_switch[i - 1]].sw)
			search(&p, sw);
		count_end(&p, p.by_switch[i]);
	}
	out->ratio_mean = out->connected ? p.ratios / (double)out->connected : 0;
	judge_cables(&p);
	most = most_loaded(&p, &bound);
	out->all_to_all = bound > 0 ? most / bound : 0;
	gauge_tree_free(&p.tree);
	free(p.sources);
	free(p.by_switch);
	free(p.dist);
	free(p.queue);
	free(p.load);
	free(p.flow);
	free(p.sent);
	free(p.entering);
	free(p.leaving);
	free(p.received);
	free(p.own);
}

/* Table entries above which finding all choices takes too long. */
#define ENTRIES_MANY (32u << 20)

static void measure_choices(const struct route_request *r, const struct lfts *l, const struct gauge_options *o,
			    struct gauge *out)
{
	struct route_choices *x;

	if (!o->layers || (uint64_t)l->n_switches * l->top > ENTRIES_MANY)
		return;
	x = route_choices_new(r, l, o->stop);
	if (x && x->places)
		out->choices = (double)x->ports / (double)x->places;
	route_choices_free(x);
}

void gauge_measure(const struct route_request *r, const struct lfts *l,
		   const struct gauge_options *o, struct gauge *out)
{
	struct gauge_net n;

	*out = (struct gauge){ .longer_from = FABRIC_NONE, .longer_to = FABRIC_NONE,
			       .hottest = FABRIC_NONE };
	gauge_net_init(&n, r, l);
	out->ends = n.n_ends;
	out->pairs = n.n_ends ? (uint64_t)n.n_ends * (n.n_ends - 1) : 0;
	gauge_pairs(&n, o, out);
	gauge_bisections(&n, o, out);
	gauge_shifts(&n, o, out);
	gauge_layers(&n, r, o, out);
	measure_choices(r, l, o, out);
	gauge_net_free(&n);
}

void gauge_plain(const struct route_request *r, const struct gauge_options *o, struct gauge *out)
{
	struct lfts *l = lfts_new(r->f->n_switches, r->lid_top);
	struct gauge_options less = *o;
	struct route_layers *none = NULL;
	struct buf why = { 0 };

	less.shifts = 0;
	less.layers = false;
	*out = (struct gauge){ .longer_from = FABRIC_NONE, .longer_to = FABRIC_NONE,
			       .hottest = FABRIC_NONE };
	if (route_minhop.run(r, l, &none, &why))
		gauge_measure(r, l, &less, out);
	buf_free(&why);
	lfts_free(l);
}
