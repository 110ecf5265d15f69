/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The order that a fabric is routed by: of those that there are (order.h) the one whose
 * routes are best.
 *
 * An order that gives all hosts shortest paths by layers is taken at once: that is a tree as
 * it should be.  Else each is tried: all hosts are to be connected, and then what counts is
 * the bandwidth that a pair may expect when all hosts send at once: that of the busiest
 * channel on its way, shared by those of the pairs that cross it which do so at a time.
 */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/map64.h"
#include "route/channel.h"
#include "route/updn.h"

/* Of more hosts than that only some are looked at as destinations. */
#define HOSTS_JUDGED 4096u

#define PASSES 3	/* of weigh.h; further ones change little */

/* LIDs for all that may have some, from 1 on. */
struct numbers {
	struct route_request r;
	uint16_t *lid;
	uint8_t *lmc;
};

static void give_numbers(struct numbers *x, const struct fabric *f, const struct graph *g)
{
	uint32_t lid = 0;

	*x = (struct numbers){ .lid = xcalloc(f->n_ports, sizeof(*x->lid)),
			       .lmc = xcalloc(f->n_ports, sizeof(*x->lmc)) };
	for (uint32_t v = 0; v < g->n; v++) {
		x->lid[graph_port(g, v, 0) - f->ports] = (uint16_t)++lid;
		for (uint32_t i = g->end0[v]; i < g->end0[v + 1] && lid < 0xbfff; i++)
			x->lid[g->ends[i]] = (uint16_t)++lid;
	}
	x->r = (struct route_request){ .f = f, .lid = x->lid, .lmc = x->lmc,
				       .lid_top = (uint16_t)lid };
}

/* The ways to one destination, as a tree. */
struct tree {
	const struct graph *g;
	struct channel *next;	/* [vertex] */
	uint32_t *below;	/* [vertex]: hosts whose way leads over it, its own included */
	uint32_t *open;		/* [vertex]: neighbours whose way leads to it, and that are not done */
	uint32_t *seq;		/* vertices, each before the one that its way leads to */
	uint32_t n;
};

static void tree_init(struct tree *t, const struct graph *g)
{
	*t = (struct tree){ .g = g, .next = xcalloc(g->n, sizeof(*t->next)),
			    .below = xcalloc(g->n, sizeof(*t->below)),
			    .open = xcalloc(g->n, sizeof(*t->open)),
			    .seq = xcalloc(g->n, sizeof(*t->seq)) };
}

static void tree_free(struct tree *t)
{
	free(t->next);
	free(t->below);
	free(t->open);
	free(t->seq);
}

static void tree_make(struct tree *t, const struct channels *c, const struct lfts *l, uint16_t lid)
{
	t->n = 0;
	for (uint32_t v = 0; v < t->g->n; v++) {
		t->next[v] = channel_by_port(c, v, lft_get(l, t->g->sw[v], lid));
		t->below[v] = graph_hosts(t->g, v);
		if (t->next[v].to != FABRIC_NONE)
			t->open[t->next[v].to]++;
	}
	for (uint32_t v = 0; v < t->g->n; v++)
		if (!t->open[v])
			t->seq[t->n++] = v;
	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t v = t->seq[i], to = t->next[v].to;

		if (to == FABRIC_NONE)
			continue;
		t->below[to] += t->below[v];
		if (!--t->open[to])
			t->seq[t->n++] = to;
	}
}

static void each_tree(const struct numbers *x, const struct channels *c, const struct lfts *l,
		      struct tree *t, void (*fn)(void *arg, const struct tree *t), void *arg)
{
	const struct graph *g = c->g;

	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t i = g->end0[v]; i < g->inner0[v]; i++) {
			if (hash64(g->ends[i]) % g->n_hosts >= HOSTS_JUDGED)
				continue;
			tree_make(t, c, l, x->lid[g->ends[i]]);
			fn(arg, t);
		}
}

struct judge {
	uint64_t *load;		/* [lane]: pairs of hosts */
	uint64_t *most;		/* [vertex]: the greatest load on its way */
	uint32_t n_dests;
	double sum, pairs;
};

static void add_load(void *arg, const struct tree *t)
{
	struct judge *j = arg;

	j->n_dests++;
	for (uint32_t i = 0; i < t->n; i++)
		if (t->next[t->seq[i]].to != FABRIC_NONE)
			j->load[t->next[t->seq[i]].lane] += t->below[t->seq[i]];
}

static void add_share(void *arg, const struct tree *t)
{
	struct judge *j = arg;

	for (uint32_t i = t->n; i-- > 0;) {
		uint32_t v = t->seq[i], hosts = graph_hosts(t->g, v);
		struct channel ch = t->next[v];
		uint64_t most = 0;

		if (ch.to != FABRIC_NONE) {
			most = j->load[ch.lane];
			if (j->most[ch.to] > most)
				most = j->most[ch.to];
		}
		j->most[v] = most;
		j->sum += hosts / (1 + (double)most / j->n_dests);
		j->pairs += hosts;
	}
}

/* How evenly the lanes are loaded: mean by greatest, of those that carry anything. */
static double evenness(const struct judge *j, uint32_t n_lanes)
{
	uint64_t most = 0, sum = 0, n = 0;

	for (uint32_t i = 0; i < n_lanes; i++) {
		if (j->load[i] > most)
			most = j->load[i];
		sum += j->load[i];
		n += j->load[i] > 0;
	}
	return n ? (double)sum / (double)n / (double)most : 1;
}

/*
 * The share of a host's bandwidth that a pair of them may expect, from 0 to 1; somewhat less if
 * one lane has much more to carry than others, for those that have to use it.
 */
static double judge(const struct numbers *x, const struct updn_order *o, const struct lfts *l)
{
	struct channels *c = channels_new(o->g->f, o);
	struct judge j = { .load = xcalloc(o->g->n_lanes, sizeof(*j.load)),
			   .most = xcalloc(o->g->n, sizeof(*j.most)) };
	struct tree t;
	double share;

	tree_init(&t, o->g);
	each_tree(x, c, l, &t, add_load, &j);
	each_tree(x, c, l, &t, add_share, &j);
	share = j.pairs ? j.sum / j.pairs * sqrt(sqrt(sqrt(evenness(&j, o->g->n_lanes)))) : 1;
	tree_free(&t);
	free(j.load);
	free(j.most);
	channels_free(c);
	return share;
}

struct trial {
	struct updn_order *order;
	unsigned passes;
	struct updn_outcome did;
	double share;
};

static struct trial try(const struct numbers *x, struct updn_order *o, unsigned passes)
{
	struct lfts *l = lfts_new(x->r.f->n_switches, x->r.lid_top);
	struct trial t = { .order = o, .passes = passes };

	o->passes = passes;
	t.did = updn_by(&x->r, o, l);
	t.share = judge(x, o, l);
	lfts_free(l);
	return t;
}

/*
 * Bandwidth is not all: a fabric whose multicast trees can't all be free of credit loops, or whose
 * switches can't all be managed from everywhere, has to have much more of it.
 */
static double worth(const struct trial *t)
{
	return t->share * (t->order->meets ? 1 : 0.5) * (t->did.lost_inner ? 0.75 : 1);
}

static bool is_better(const struct trial *a, const struct trial *b)
{
	if (!a->did.lost != !b->did.lost)
		return !a->did.lost;
	return worth(a) > worth(b);
}

/* Digits give so poor a result with this order that weighing is not worth a try. */
static bool is_hopeless(const struct trial *t, const struct trial *best)
{
	return !t->passes && best->order && !best->did.lost && 4 * worth(t) < worth(best);
}

/*
 * The best of all orders, each tried with digits and with one pass of weighing.  Further passes are tried
 * with the order that weighing suits best: they rarely make another order the best.
 */
static struct updn_order *find_best(const struct fabric *f, const struct updn_orders *all)
{
	struct trial best = { 0 }, weighed = { 0 }, again;
	struct numbers x;

	give_numbers(&x, f, all->v[0]->g);
	for (unsigned i = 0; i < 2 * all->n; i++) {
		struct trial t = try(&x, all->v[i / 2], i % 2);

		i += is_hopeless(&t, &best);
		if (!best.order || is_better(&t, &best))
			best = t;
		if (t.passes && (!weighed.order || is_better(&t, &weighed)))
			weighed = t;
	}
	again = try(&x, weighed.order, PASSES);
	if (is_better(&again, &best))
		best = again;
	best.order->passes = best.passes;
	free(x.lid);
	free(x.lmc);
	return best.order;
}

/* True if the switches of a rank have equally many lanes up, and only the lowest rank has hosts. */
static bool is_regular(const struct updn_order *o)
{
	const struct graph *g = o->g;
	uint32_t *up = xcalloc(o->n_ranks, sizeof(*up));
	bool regular = o->layered && o->shortest;

	for (uint32_t v = 0; v < g->n && regular; v++) {
		uint32_t n = 1;

		for (uint32_t t = g->up0[v]; t < g->trunk0[v + 1]; t++)
			n += g->trunks[t].n_lanes;
		if (!up[o->rank[v]])
			up[o->rank[v]] = n;
		regular = up[o->rank[v]] == n && !(o->rank[v] && graph_hosts(g, v));
	}
	free(up);
	return regular;
}

/* See `tree` of order.h.  A grid has ranks, too, by the distance from its middle, but hosts there. */
static bool is_tree(const struct updn_order *o)
{
	const struct graph *g = o->g;
	uint32_t top = 0, with_hosts = 0;

	if (!o->layered || !o->shortest)
		return false;
	for (uint32_t v = 0; v < g->n; v++) {
		for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++)
			if (o->rank[g->trunks[t].v] == o->rank[v])
				return false;
		if (o->rank[v] + 1u < o->n_ranks)
			continue;
		top++;
		with_hosts += graph_hosts(g, v) > 0;
	}
	return 2 * with_hosts <= top;
}

struct updn_order *updn_order_new(const struct fabric *f)
{
	struct updn_orders all;
	struct updn_order *best;

	updn_orders(f, &all);
	best = is_regular(all.v[0]) ? all.v[0] : find_best(f, &all);
	for (unsigned i = 0; i < all.n; i++)
		best->tree |= is_tree(all.v[i]);
	for (unsigned i = 0; i < all.n; i++)
		if (all.v[i] != best)
			updn_order_free(all.v[i]);
	return best;
}
