/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Picks the up/down order, and the method of spreading routes, that serves a fabric best.
 *
 * A regular tree, for which d-mod-k routing is ideal, is taken at once, and so is a large tree that lost
 * links.  Otherwise several orders (order.h) are tried with several methods.  All hosts have to be
 * connected; then the effective bisection bandwidth, measured on the tables, and the largest load of any
 * channel count.
 */
#include <math.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/map64.h"
#include "routing/channel.h"
#include "routing/updn/updn.h"

/* With more hosts than this, only some are looked at as destinations. */
#define HOSTS_JUDGED 4096u

/*
 * Looks at channels in a pass of weigh.h, two nanoseconds each, up to which several methods are tried.
 * Larger fabrics would take too long: quick methods compare their orders, and the method that serves most
 * fabrics best is taken.
 */
#define PASS_MAX 30000000u

/* Flows between hosts that are followed to compare bandwidths. */
#define FLOWS_JUDGED 30000u

/* Assigns LIDs from 1 to all ports that can have one. */
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

/* The routes to one destination, as a tree. */
struct tree {
	const struct graph *g;
	struct channel *next;	/* [vertex]: next hop */
	uint32_t *below;	/* [vertex]: hosts whose route leads over it, including its own */
	uint32_t *open;		/* [vertex]: neighbours that send to it and are not done */
	uint32_t *seq;		/* vertices, each before the one that it sends to */
	uint32_t n;
};

static void tree_init(struct tree *t, const struct graph *g)
{
	*t = (struct tree){ .g = g, .next = xcalloc(g->n, sizeof(*t->next)),
			    .below = xcalloc(g->n, sizeof(*t->below)),
			    .open = xcalloc(g->n, sizeof(*t->open)),
			    .seq = xcalloc(g->n, sizeof(*t->seq)) };
}

static void tree_make(struct tree *t, const struct channels *c, const struct lfts *l, uint16_t lid)
{
	t->n = 0;
	for (uint32_t v = 0; v < t->g->n; v++) {
		t->next[v] = channel_by_lid(c, l, v, lid);
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
	uint64_t *load;		/* [link]: routes between hosts */
};

static void add_load(void *arg, const struct tree *t)
{
	struct judge *j = arg;

	for (uint32_t i = 0; i < t->n; i++)
		if (t->next[t->seq[i]].to != FABRIC_NONE)
			j->load[t->next[t->seq[i]].link] += t->below[t->seq[i]];
}

/* A packet on its route: it uses links[first] .. links[end - 1]. */
struct flow {
	uint32_t first, end;
	bool lost;
};

struct traffic {
	const struct numbers *x;
	const struct channels *c;
	const struct lfts *l;
	uint32_t *from;		/* [host]: its vertex */
	uint16_t *lid;		/* [host]: its LID */
	uint32_t *hosts;	/* in random order */
	uint32_t n;
	uint64_t chance;
	uint32_t *load;		/* [link]: number of flows */
	struct flow *flows;
	VEC(uint32_t) links;
};

static uint32_t draw(struct traffic *t, uint32_t n)
{
	t->chance += 0x9e3779b97f4a7c15ULL;
	return (uint32_t)((hash64(t->chance) >> 32) * n >> 32);
}

static void traffic_init(struct traffic *t, const struct numbers *x, const struct channels *c,
			 const struct lfts *l)
{
	const struct graph *g = c->g;

	*t = (struct traffic){ .x = x, .c = c, .l = l };
	t->from = xcalloc(g->n_hosts, sizeof(*t->from));
	t->lid = xcalloc(g->n_hosts, sizeof(*t->lid));
	t->hosts = xcalloc(g->n_hosts, sizeof(*t->hosts));
	t->load = xcalloc(g->n_links, sizeof(*t->load));
	t->flows = xcalloc(g->n_hosts / 2 + 1, sizeof(*t->flows));
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t i = g->end0[v]; i < g->inner0[v]; i++) {
			t->from[t->n] = v;
			t->hosts[t->n] = t->n;
			t->lid[t->n++] = x->lid[g->ends[i]];
		}
}

static void send(struct traffic *t, struct flow *flow, uint32_t from, uint32_t to)
{
	uint32_t v = t->from[from], hops = 0;

	flow->first = (uint32_t)t->links.n;
	while (v != t->from[to] && hops++ < t->c->g->n) {
		struct channel ch = channel_by_lid(t->c, t->l, v, t->lid[to]);

		if (ch.to == FABRIC_NONE)
			break;
		*vec_push(&t->links) = ch.link;
		t->load[ch.link]++;
		v = ch.to;
	}
	flow->end = (uint32_t)t->links.n;
	flow->lost = v != t->from[to];
}

/*
 * Lets half of the hosts send, each to one of the others; returns the sum of the pairs' shares of
 * bandwidth.
 */
static double bisect(struct traffic *t)
{
	uint32_t half = t->n / 2;
	double sum = 0;

	for (uint32_t i = t->n; i > 1; i--) {
		uint32_t j = draw(t, i), host = t->hosts[j];

		t->hosts[j] = t->hosts[i - 1];
		t->hosts[i - 1] = host;
	}
	t->links.n = 0;
	for (uint32_t i = 0; i < half; i++)
		send(t, &t->flows[i], t->hosts[i], t->hosts[half + i]);
	for (uint32_t i = 0; i < half; i++) {
		const struct flow *flow = &t->flows[i];
		uint32_t most = 1;

		for (uint32_t k = flow->first; k < flow->end; k++)
			if (t->load[t->links.v[k]] > most)
				most = t->load[t->links.v[k]];
		sum += flow->lost ? 0 : 1.0 / most;
	}
	for (size_t k = 0; k < t->links.n; k++)
		t->load[t->links.v[k]] = 0;
	return sum;
}

/* The effective bisection bandwidth; routing/gauge/gauge.h measures it in more detail. */
static double bandwidth(const struct numbers *x, const struct channels *c, const struct lfts *l)
{
	struct traffic t;
	double sum = 0;
	uint64_t flows = 0;

	traffic_init(&t, x, c, l);
	while (t.n > 1 && flows < FLOWS_JUDGED) {
		sum += bisect(&t);
		flows += t.n / 2;
	}
	free(t.from);
	free(t.lid);
	free(t.hosts);
	free(t.load);
	free(t.flows);
	vec_free(&t.links);
	return flows ? sum / (double)flows : 1;
}

/* The bandwidth, reduced somewhat if one link carries much more than others. */
static double judge(const struct numbers *x, const struct updn_order *o, const struct lfts *l)
{
	struct channels *c = channels_new(o->g->f, o);
	struct judge j = { .load = xcalloc(o->g->n_links, sizeof(*j.load)) };
	uint64_t most = 1;
	struct tree t;
	double share = bandwidth(x, c, l);

	tree_init(&t, o->g);
	each_tree(x, c, l, &t, add_load, &j);
	for (uint32_t i = 0; i < o->g->n_links; i++)
		most = j.load[i] > most ? j.load[i] : most;
	free(t.next);
	free(t.below);
	free(t.open);
	free(t.seq);
	free(j.load);
	channels_free(c);
	return share / sqrt(sqrt(sqrt((double)most)));
}

struct trial {
	struct updn_order *order;
	struct updn_method method;
	struct updn_outcome did;
	double share;
};

static struct trial try(const struct numbers *x, struct updn_order *o, struct updn_method m)
{
	struct lfts *l = lfts_new(x->r.f->n_switches, x->r.lid_top);
	struct trial t = { .order = o, .method = m };

	o->method = m;
	t.did = updn_by(&x->r, o, l);
	t.share = judge(x, o, l);
	lfts_free(l);
	return t;
}

/* Penalty for lost paths to switches' own ports: for any, and in proportion for all of them. */
#define INNER_ANY 0.05
#define INNER_ALL 0.2

/* Share of the pairs that could count as lost_inner (updn.h) and do. */
static double lost_share(const struct trial *t)
{
	const struct graph *g = t->order->g;
	uint64_t with_ends = 0;

	for (uint32_t v = 0; v < g->n; v++)
		with_ends += g->end0[v + 1] > g->end0[v];
	return (double)t->did.lost_inner / (double)(with_ends * g->n);
}

/*
 * Weighs bandwidth against connectivity.  An order that cannot keep every multicast tree free of credit
 * loops needs twice as much bandwidth.  One that leaves switches without a path to others needs more, too,
 * but a few such pairs matter less to users than the bandwidth between hosts.
 */
static double worth(const struct trial *t)
{
	double lost = t->did.lost_inner ? INNER_ANY + INNER_ALL * lost_share(t) : 0;

	return t->share * (t->order->meets ? 1 : 0.5) * (1 - lost);
}

static bool is_better(const struct trial *a, const struct trial *b)
{
	if (!a->did.lost != !b->did.lost)
		return !a->did.lost;
	return worth(a) > worth(b);
}

/* `down` of weigh_new() where there are ranks. */
#define TOGETHER 16u
/* Passes of weigh.h: for a first look at an order, and then for the best one. */
#define FEW 1u
#define MANY 3u

static void improve(struct trial *best, const struct trial *t)
{
	if (!best->order || is_better(t, best))
		*best = *t;
}

/* Whether a pass of weigh.h takes more than some tens of milliseconds. */
static bool is_large(const struct graph *g)
{
	return (uint64_t)g->n_hosts * g->trunk0[g->n] > PASS_MAX;
}

/* Cost of an unnecessary hop for weigh.h: half of the load of all hosts' routes to one host. */
static uint64_t hop_of(const struct graph *g)
{
	return g->n_hosts / 2 + 1;
}

static void try_order(const struct numbers *x, struct updn_order *o, struct trial *best)
{
	struct trial t;

	if (o->layered || is_large(o->g)) {
		t = try(x, o, (struct updn_method){ .digits = o->layered });
		improve(best, &t);
	}
	if (is_large(o->g))
		return;
	if (o->layered)
		t = try(x, o, (struct updn_method){ .passes = FEW, .down = TOGETHER });
	else
		t = try(x, o, (struct updn_method){ .passes = MANY, .hop = hop_of(o->g), .down = 1 });
	improve(best, &t);
}

/* Tries further methods with the best order. */
static void try_methods(const struct numbers *x, struct updn_order *o, struct trial *best)
{
	uint64_t hop = hop_of(o->g);
	struct updn_method layered[] = {
		{ .digits = true, .passes = FEW, .down = TOGETHER },
		{ .digits = true, .passes = MANY, .down = TOGETHER },
		{ .passes = MANY, .down = TOGETHER },
		{ .passes = MANY, .hop = hop, .down = 1 },
		{ .passes = MANY, .hop = hop, .down = TOGETHER },
	}, other[] = {
		{ .passes = MANY, .down = 1 },
		{ .passes = MANY, .down = TOGETHER },
		{ .passes = 3 * MANY, .hop = hop, .down = 1 },
		{ .passes = MANY, .hop = hop, .down = 4 },
	};
	const struct updn_method *m = o->layered ? layered : other;
	unsigned n = o->layered ? ARRAY_SIZE(layered) : ARRAY_SIZE(other);

	for (unsigned i = 0; i < n; i++) {
		struct trial t = try(x, o, m[i]);

		improve(best, &t);
	}
}

/*
 * Tries to relieve the busiest links of the best method.  Does not if the method uses digits alone: routes
 * by digits change little when a switch is lost, while moves that depend on all loads change much.
 */
static void try_relief(const struct numbers *x, struct trial *best)
{
	struct updn_method m = best->method;
	struct trial t;

	if (!m.passes)
		return;
	m.relief = true;
	t = try(x, best->order, m);
	improve(best, &t);
}

/* Whether the switches of a rank have equally many links up, and only the lowest rank has hosts. */
static bool has_even_ranks(const struct updn_order *o)
{
	const struct graph *g = o->g;
	uint32_t *up = xcalloc(o->n_ranks, sizeof(*up));
	bool even = true;

	for (uint32_t v = 0; v < g->n && even; v++) {
		uint32_t n = 1;

		if (g->trunk0[v] == g->trunk0[v + 1])
			continue;	/* not connected: it does not matter */
		for (uint32_t t = g->up0[v]; t < g->trunk0[v + 1]; t++)
			n += g->trunks[t].n_links;
		if (!up[o->rank[v]])
			up[o->rank[v]] = n;
		even = up[o->rank[v]] == n && !(o->rank[v] && graph_hosts(g, v));
	}
	free(up);
	return even;
}

static bool same_parents(const struct graph *g, uint32_t a, uint32_t b)
{
	uint32_t n = g->trunk0[a + 1] - g->up0[a];

	if (g->trunk0[b + 1] - g->up0[b] != n)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (g->trunks[g->up0[a] + i].v != g->trunks[g->up0[b] + i].v)
			return false;
	return true;
}

/* Whether switches that share one neighbour above share all of them, as digits require. */
static bool has_pods(const struct graph *g)
{
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t t = g->trunk0[v] + 1; t < g->up0[v]; t++)
			if (!same_parents(g, g->trunks[t - 1].v, g->trunks[t].v))
				return false;
	return true;
}

/* Whether no two switches below a switch share a neighbour below them: there is only one way down. */
static bool has_planes(const struct graph *g)
{
	uint32_t *above = xcalloc(g->n, sizeof(*above));
	bool apart = true;

	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t t = g->trunk0[v]; t < g->up0[v]; t++) {
			uint32_t u = g->trunks[t].v;

			for (uint32_t s = g->trunk0[u]; s < g->up0[u]; s++) {
				apart &= above[g->trunks[s].v] != v + 1;
				above[g->trunks[s].v] = v + 1;
			}
		}
	free(above);
	return apart;
}

/* Whether routing by digits is ideal, so that nothing else needs to be tried. */
static bool is_regular(const struct updn_order *o)
{
	return o->layered && o->shortest && has_even_ranks(o) && has_pods(o->g) && has_planes(o->g);
}

/*
 * See `tree` in order.h.  A grid has ranks, too, by the distance from its middle, but it has hosts in the
 * middle.
 */
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

/* Switches of the top rank from which on several roots share the load that one root would carry. */
#define TOPS_MANY 4u

/* Whether every switch with aggregation nodes has hosts. */
static bool ends_with_hosts(const struct graph *g)
{
	for (uint32_t v = 0; v < g->n; v++)
		if (g->end0[v + 1] > g->end0[v] && !graph_hosts(g, v))
			return false;
	return true;
}

/*
 * Whether orders below a root are certainly worse, so that a large fabric is spared the time to try them.
 * Below a root all paths that cross the top use one switch; this tree has several, with shortest paths for
 * all hosts.
 */
static bool is_large_tree(const struct updn_order *o)
{
	uint32_t tops = 0;

	for (uint32_t v = 0; v < o->g->n; v++)
		tops += o->rank[v] + 1u == o->n_ranks;
	return is_large(o->g) && is_tree(o) && o->meets && tops >= TOPS_MANY && ends_with_hosts(o->g);
}

/* Whether the first order is good enough to make none below a root. */
static bool is_enough(const struct updn_orders *all)
{
	return is_regular(all->v[0]) || (all->n == 1 && is_large_tree(all->v[0]));
}

/*
 * Each pair without a legal path needs a search for turns.  An order with many such pairs would be bad on
 * a large fabric, and finding that out would take minutes.
 */
static bool takes_too_long(const struct updn_order *o)
{
	return o->sparse && !o->hub_safe && is_large(o->g);
}

/* The method for a large fabric, where trials would take too long: the one that serves most fabrics best. */
static struct updn_method method_of_large(const struct updn_order *o)
{
	return o->layered ? (struct updn_method){ .digits = true, .passes = FEW, .down = TOGETHER } :
			    (struct updn_method){ .passes = FEW, .hop = hop_of(o->g), .down = 1 };
}

static struct updn_order *find_best(const struct fabric *f, struct updn_orders *all)
{
	struct trial best = { 0 };
	struct numbers x;
	unsigned n = all->n;
	bool tree = false;

	for (unsigned i = 0; i < n; i++)
		tree |= is_tree(all->v[i]);
	give_numbers(&x, f, all->v[0]->g);
	for (unsigned i = 0; i < n; i++)
		if (!takes_too_long(all->v[i]))
			try_order(&x, all->v[i], &best);
	for (unsigned i = 0; i < n && !best.order; i++)
		try_order(&x, all->v[i], &best);
	if (!tree || best.did.lost) {
		updn_orders_search(f, all);
		if (all->n > n)
			try_order(&x, all->v[n], &best);
	}
	if (!is_large(best.order->g)) {
		try_methods(&x, best.order, &best);
		try_relief(&x, &best);
	} else {
		best.method = method_of_large(best.order);
	}
	best.order->method = best.method;
	free(x.lid);
	free(x.lmc);
	return best.order;
}

struct updn_order *updn_order_new(const struct fabric *f)
{
	struct updn_orders all;
	struct updn_order *best;

	updn_orders(f, &all, is_enough);
	if (is_enough(&all)) {
		best = all.v[0];
		if (!is_regular(best))
			best->method = method_of_large(best);
	} else {
		best = find_best(f, &all);
	}
	for (unsigned i = 0; i < all.n; i++)
		best->tree |= is_tree(all.v[i]);
	for (unsigned i = 0; i < all.n; i++)
		if (all.v[i] != best)
			updn_order_free(all.v[i]);
	return best;
}
