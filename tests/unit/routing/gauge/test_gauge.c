/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the gauge: figures of small tables against values computed by hand, and figures of random
 * tables against a walk of each pair.
 */
#include <check.h>

#include "lib/iba/units.h"
#include "routing/gauge/gauge_net.h"
#include "unit/routing/topo.h"
#include "unit/run.h"

static struct gauge measure(const struct topo *t, const struct lfts *l)
{
	struct gauge g;

	gauge_measure(&t->r, l, &gauge_defaults, &g);
	return g;
}

static struct lfts *tables(const struct topo *t)
{
	return lfts_new(t->f->n_switches, t->r.lid_top);
}

static void set(struct lfts *l, uint32_t sw, uint16_t lid, unsigned port)
{
	l->entries[(size_t)sw * l->stride + lid] = (uint8_t)port;
}

/* The LID of the port at the other end of a switch's port. */
static uint16_t lid_at(const struct topo *t, uint32_t sw, unsigned num)
{
	return t->lid[fabric_port(t->f, t->f->switches[sw].node, num)->peer];
}

static void set_speed(struct fabric *f, uint32_t port, const char *link)
{
	f->ports[port].rate = f->ports[f->ports[port].peer].rate =
		(uint8_t)rate_parse_link(link);
}

/* --- rings: port 1 leads clockwise, port 2 counter-clockwise, port 3 to a host --- */

static void ring(struct topo *t, unsigned n)
{
	struct fabric *f = topo_begin();
	uint32_t sw[16];

	for (unsigned i = 0; i < n; i++)
		sw[i] = topo_switch(f, 1 + i, 4);
	for (unsigned i = 0; i < n; i++)
		fabric_link(f, sw[i], 1, sw[(i + 1) % n], 2);
	for (unsigned i = 0; i < n; i++)
		topo_host(f, sw[i], 3);
	topo_finish(t, f, 0);
}

static struct lfts *ring_tables(const struct topo *t, unsigned n)
{
	struct lfts *l = tables(t);

	for (unsigned from = 0; from < n; from++)
		for (unsigned to = 0; to < n; to++) {
			unsigned way = (to + n - from) % n;

			set(l, from, lid_at(t, to, 3), way == 0 ? 3 : way <= n / 2 ? 1 : 2);
		}
	return l;
}

/*
 * Five switches: each route goes the short way round.  Clockwise cable i is used from i to i + 1
 * and i + 2, and from i - 1 to i + 1.  Each dependency of two clockwise cables is one path's; all five
 * are a cycle, and so are those of the other way round.  One path of each moves.
 */
/* promise: B5 */
START_TEST(ring_of_five)
{
	struct topo t;

	ring(&t, 5);
	struct lfts *l = ring_tables(&t, 5);
	struct gauge g = measure(&t, l);

	ck_assert_uint_eq(g.ends, 5);
	ck_assert_uint_eq(g.pairs, 20);
	ck_assert_uint_eq(g.connected, 20);
	ck_assert_double_eq(g.ratio_mean, 1);
	ck_assert_double_eq(g.ratio_most, 1);
	ck_assert_uint_eq(g.longer_most, 0);
	ck_assert_uint_eq(g.longer_from, FABRIC_NONE);
	ck_assert_uint_eq(g.hops_most, 3);
	ck_assert_uint_eq(g.cables, 10);
	ck_assert_uint_eq(g.efi, 3);
	ck_assert_double_eq(g.efi_mean, 3);
	ck_assert_double_eq(g.all_to_all, 1);	/* 4 on each end cable */
	/* by 1 and by 4: each cable has one flow; by 2 and by 3: two */
	ck_assert_uint_eq(g.shifts, 4);
	ck_assert_uint_eq(g.shifts_all, 4);
	ck_assert_double_eq(g.shift_mean, 1.5);
	ck_assert_uint_eq(g.shift_worst, 2);
	ck_assert_uint_eq(g.shift_worst_k, 2);
	ck_assert(g.credit_loop);
	ck_assert_uint_eq(g.layers, 2);
	ck_assert_uint_eq(g.vls, 1);	/* PortInfo says nothing */
	ck_assert_int_eq(g.vls_left, -1);
	ck_assert_double_eq(g.choices, 0);
	lfts_free(l);
	topo_free(&t);
}
END_TEST

/* The routes on each link, also those of end ports, of which each sends to and hears from four others. */
/* promise: W1 */
START_TEST(loads_of_a_ring)
{
	struct topo t;

	ring(&t, 5);
	struct lfts *l = ring_tables(&t, 5);
	uint32_t *routes = xcalloc(t.f->n_ports, sizeof(*routes));

	gauge_loads(&t.r, l, routes);
	for (uint32_t port = 0; port < t.f->n_ports; port++) {
		bool linked = t.f->ports[port].peer != FABRIC_NONE;

		ck_assert_uint_eq(routes[port], !linked ? 0 : link_joins_switches(t.f, port) ? 3 : 4);
	}
	/* a switch that drops what is for the host of another one */
	set(l, 0, lid_at(&t, 1, 3), LFT_DROP);
	memset(routes, 0, t.f->n_ports * sizeof(*routes));
	gauge_loads(&t.r, l, routes);
	ck_assert_uint_eq(routes[fabric_port(t.f, t.f->switches[0].node, 3)->peer], 3);
	free(routes);
	lfts_free(l);
	topo_free(&t);
}
END_TEST

/* Up and down in a ring of five: one cable carries only the routes between its ends. */
/* promise: B6 */
START_TEST(beside_shortest_paths)
{
	struct gauge g, plain;
	struct buf out = { 0 };
	struct topo t;

	ring(&t, 5);
	struct lfts *l = topo_route(&t, &route_updn);

	g = measure(&t, l);
	ck_assert_double_gt(g.ratio_mean, 1);
	ck_assert_double_eq(g.choices, 1);	/* in a ring of odd length no switch has two shortest ways */
	gauge_plain(&t.r, &gauge_defaults, &plain);
	ck_assert_double_eq(plain.ratio_mean, 1);
	ck_assert_uint_eq(plain.efi, 3);
	ck_assert_double_eq(plain.efi_mean, 3);
	ck_assert_double_gt(plain.ebb, g.ebb);
	ck_assert_uint_eq(plain.shifts, 0);
	gauge_print_cost(&g, &plain, &out);
	ck_assert_ptr_nonnull(strstr(out.s, "(minhop), would have "));
	ck_assert_ptr_nonnull(strstr(out.s, " and 1.0 times"));
	buf_free(&out);
	lfts_free(l);
	topo_free(&t);
}
END_TEST

/* Eight data VLs everywhere, but two on one cable. */
START_TEST(data_vls_that_are_left)
{
	struct topo t;

	ring(&t, 5);
	struct lfts *l = ring_tables(&t, 5);

	for (uint32_t p = 0; p < t.f->n_ports; p++)
		t.f->ports[p].vl_cap = 4;
	struct gauge g = measure(&t, l);

	ck_assert_uint_eq(g.vls, 8);
	ck_assert_int_eq(g.vls_left, 6);
	fabric_port(t.f, t.f->switches[2].node, 1)->vl_cap = 1;
	g = measure(&t, l);
	ck_assert_uint_eq(g.vls, 1);
	ck_assert_int_eq(g.vls_left, -1);
	/* an end cable is no matter */
	fabric_port(t.f, t.f->switches[2].node, 1)->vl_cap = 2;
	fabric_port(t.f, t.f->switches[2].node, 3)->vl_cap = 1;
	g = measure(&t, l);
	ck_assert_uint_eq(g.vls, 2);
	ck_assert_int_eq(g.vls_left, 0);
	lfts_free(l);
	topo_free(&t);
}
END_TEST

/* Switches 1 and 2 send to 0's host the long way: over 5 switches for 2, and over 4 for 3. */
/* promise: B5 */
START_TEST(detours)
{
	struct topo t;

	ring(&t, 5);
	struct lfts *l = ring_tables(&t, 5);
	uint16_t lid = lid_at(&t, 0, 3);

	set(l, 1, lid, 1);
	set(l, 2, lid, 1);
	struct gauge g = measure(&t, l);

	ck_assert_uint_eq(g.connected, 20);
	ck_assert_double_eq_tol(g.ratio_mean, (18 + 5. / 2 + 4. / 3) / 20, 1e-12);
	ck_assert_double_eq(g.ratio_most, 2.5);
	ck_assert_uint_eq(g.longer_most, 3);
	ck_assert_uint_eq(g.longer_from, fabric_port(t.f, t.f->switches[1].node, 3)->peer);
	ck_assert_uint_eq(g.longer_to, fabric_port(t.f, t.f->switches[0].node, 3)->peer);
	ck_assert_uint_eq(g.hops_most, 5);
	/* clockwise from 2, 3 and 4 there are these two more; the first is named */
	ck_assert_uint_eq(g.efi, 5);
	ck_assert_uint_eq(g.hottest, t.f->nodes[t.f->switches[2].node].port0 + 1);
	lfts_free(l);
	topo_free(&t);
}
END_TEST

static void lost(const struct topo *t, const struct lfts *l, unsigned connected)
{
	struct gauge g = measure(t, l);

	ck_assert_uint_eq(g.pairs, 20);
	ck_assert_uint_eq(g.connected, connected);
	ck_assert_double_eq(g.ratio_mean, 1);
	ck_assert_uint_eq(g.longer_most, 0);
}

START_TEST(pairs_that_are_not_connected)
{
	struct topo t;

	ring(&t, 5);
	struct lfts *l = ring_tables(&t, 5);
	uint16_t lid = lid_at(&t, 0, 3);

	set(l, 1, lid, LFT_DROP);	/* 2 sends by way of it */
	lost(&t, l, 18);
	set(l, 1, lid, 4);		/* leads nowhere */
	lost(&t, l, 18);
	set(l, 1, lid, 200);		/* there is no such port */
	lost(&t, l, 18);
	set(l, 1, lid, 3);		/* another host's */
	lost(&t, l, 18);
	set(l, 1, lid, 1);		/* back and forth */
	lost(&t, l, 18);
	set(l, 1, lid, 2);
	lost(&t, l, 20);
	set(l, 0, lid, 1);		/* 4 pairs; and it comes back */
	lost(&t, l, 16);
	l->top = (uint16_t)(lid - 1);	/* no switch knows any LID */
	struct gauge g = measure(&t, l);

	ck_assert_uint_eq(g.connected, 0);
	ck_assert_double_eq(g.ebb, 0);
	ck_assert_double_eq(g.all_to_all, 0);
	ck_assert_uint_eq(g.shift_worst, 0);
	lfts_free(l);
	topo_free(&t);
}
END_TEST

/* Aggregation nodes and ports without a LID or a cable do not count as end ports. */
START_TEST(ends_that_count)
{
	struct topo t;

	ring(&t, 5);
	uint32_t host = fabric_port(t.f, t.f->switches[2].node, 3)->peer;
	struct lfts *l = ring_tables(&t, 5);

	t.f->nodes[t.f->ports[host].node].aggregation = true;
	struct gauge g = measure(&t, l);

	ck_assert_uint_eq(g.ends, 4);
	ck_assert_uint_eq(g.pairs, 12);
	t.f->nodes[t.f->ports[host].node].aggregation = false;
	t.lid[host] = 0;
	ck_assert_uint_eq(measure(&t, l).ends, 4);
	lfts_free(l);
	topo_free(&t);
}
END_TEST

/* --- two switches, or a Clos network of two leaves and two spines: two hosts on each leaf --- */

/* Ports 1 and 2 of a leaf lead to hosts, 3 and 4 up. */
static void pair_of_leaves(struct topo *t, unsigned spines)
{
	struct fabric *f = topo_begin();
	uint32_t leaf[2] = { topo_switch(f, 1, 4), topo_switch(f, 2, 4) };

	if (!spines)
		fabric_link(f, leaf[0], 3, leaf[1], 3);
	for (unsigned s = 0; s < spines; s++) {
		uint32_t spine = topo_switch(f, 3 + s, 2);

		fabric_link(f, leaf[0], 3 + s, spine, 1);
		fabric_link(f, leaf[1], 3 + s, spine, 2);
	}
	for (unsigned i = 0; i < 4; i++)
		topo_host(f, leaf[i / 2], 1 + i % 2);
	topo_finish(t, f, 0);
}

/* Host i of the other leaf by up port up[i]. */
static struct lfts *leaf_tables(const struct topo *t, unsigned spines, const unsigned up[2])
{
	struct lfts *l = tables(t);

	for (unsigned leaf = 0; leaf < 2; leaf++)
		for (unsigned i = 0; i < 2; i++) {
			uint16_t lid = lid_at(t, leaf, 1 + i);

			set(l, leaf, lid, 1 + i);
			set(l, !leaf, lid, up[i]);
			for (unsigned s = 0; s < spines; s++)
				set(l, 2 + s, lid, 1 + leaf);
		}
	return l;
}

/*
 * A third of all matchings of four hosts has none that cross, and then all get 1.  Of two that do, half go
 * the same way and get 1/2 each.
 */
/* promise: B5 */
START_TEST(two_switches)
{
	struct topo t;

	pair_of_leaves(&t, 0);
	struct lfts *l = leaf_tables(&t, 0, (unsigned[]){ 3, 3 });
	struct gauge g = measure(&t, l);

	ck_assert_uint_eq(g.pairs, 12);
	ck_assert_uint_eq(g.connected, 12);
	ck_assert_uint_eq(g.cables, 2);
	ck_assert_uint_eq(g.efi, 4);
	ck_assert_double_eq(g.efi_mean, 4);
	ck_assert_double_eq(g.all_to_all, 1);
	ck_assert_uint_eq(g.bisections, 1000);
	ck_assert_double_eq_tol(g.ebb, 5. / 6, 0.03);
	ck_assert_double_eq(g.ebb_least, 0.5);
	/* by 2 both of each cross */
	ck_assert_double_eq_tol(g.shift_mean, 4. / 3, 1e-12);
	ck_assert_uint_eq(g.shift_worst, 2);
	ck_assert_uint_eq(g.shift_worst_k, 2);
	ck_assert(!g.credit_loop);
	ck_assert_uint_eq(g.layers, 1);
	/* the same once more, and others from another seed */
	ck_assert_double_eq(measure(&t, l).ebb, g.ebb);
	struct gauge_options o = gauge_defaults;

	o.seed = 3;
	struct gauge other;

	gauge_measure(&t.r, l, &o, &other);
	ck_assert_double_ne(other.ebb, g.ebb);
	ck_assert_double_eq_tol(other.ebb, g.ebb, 0.06);
	lfts_free(l);
	topo_free(&t);
}
END_TEST

static void all_speeds(struct fabric *f, const char *ends, const char *cables)
{
	for (uint32_t p = 0; p < f->n_ports; p++)
		if (f->ports[p].peer != FABRIC_NONE)
			set_speed(f, p, port_is_host(f, p) || port_is_host(f, f->ports[p].peer) ?
				  ends : cables);
}

/* FDR's data rate is 54.5 Gb/s, and not 56: what counts is what the encoding leaves. */
/* promise: B5 */
START_TEST(cables_of_different_speeds)
{
	static const struct { const char *ends, *cables; double ebb, least, all; } speeds[] = {
		{ "4xEDR", "4xEDR", 5. / 6, 0.5, 1 },
		{ "4xEDR", "4xHDR", 1, 1, 1 },		/* twice as fast: none is short */
		{ "4xHDR", "4xEDR", 7. / 12, 0.25, 1 },	/* half as fast */
		{ "4xQDR", "4xHDR", 1, 1, 1 },
		{ "4xEDR", "4xFDR", 1. / 3 + 2. / 3 * (54.54545 / 100) * 0.75, 54.54545 / 200, 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(speeds); i++) {
		struct topo t;

		pair_of_leaves(&t, 0);
		struct lfts *l = leaf_tables(&t, 0, (unsigned[]){ 3, 3 });

		all_speeds(t.f, speeds[i].ends, speeds[i].cables);
		struct gauge g = measure(&t, l);

		ck_assert_double_eq_tol(g.ebb, speeds[i].ebb, 0.03);
		ck_assert_double_eq_tol(g.ebb_least, speeds[i].least, 1e-6);
		ck_assert_double_eq_tol(g.all_to_all, speeds[i].all, 1e-9);
		/* the lesser of the end cables is what a pair could have; no other counts */
		set_speed(t.f, fabric_port(t.f, t.f->switches[0].node, 1)->peer, "1xSDR");
		ck_assert_double_ge(measure(&t, l).ebb, g.ebb);
		lfts_free(l);
		topo_free(&t);
	}
}
END_TEST

/* promise: B5 */
START_TEST(clos)
{
	struct topo t;

	pair_of_leaves(&t, 2);
	struct lfts *even = leaf_tables(&t, 2, (unsigned[]){ 3, 4 });
	struct lfts *uneven = leaf_tables(&t, 2, (unsigned[]){ 3, 3 });
	struct gauge g = measure(&t, even);

	ck_assert_uint_eq(g.connected, 12);
	ck_assert_double_eq(g.ratio_mean, 1);
	ck_assert_uint_eq(g.hops_most, 3);
	ck_assert_uint_eq(g.cables, 8);
	ck_assert_uint_eq(g.efi, 2);
	ck_assert_double_eq(g.efi_mean, 2);
	ck_assert_double_eq(g.all_to_all, 1);
	ck_assert_double_eq(g.ebb, 1);
	ck_assert_double_eq(g.ebb_least, 1);
	ck_assert_double_eq(g.shift_mean, 1);
	ck_assert_uint_eq(g.layers, 1);
	/* one spine does it all: the other could have half of it, but an end cable has 3 routes */
	g = measure(&t, uneven);
	ck_assert_uint_eq(g.efi, 4);
	ck_assert_double_eq(g.efi_mean, 2);
	ck_assert_double_eq_tol(g.all_to_all, 4. / 3, 1e-12);
	ck_assert_double_eq_tol(g.ebb, 5. / 6, 0.03);
	ck_assert_uint_eq(g.shift_worst, 2);
	lfts_free(even);
	lfts_free(uneven);
	topo_free(&t);
}
END_TEST

/* --- many --- */

/* Returns the switches on the route between two end ports, 0 for none; counts the route on its cables. */
static unsigned follow(const struct topo *t, const struct lfts *l, uint32_t from, uint32_t to,
		       uint64_t *load)
{
	const struct fabric *f = t->f;
	uint32_t out[64], sw = fabric_switch_of(f, from);
	unsigned hops = 0;

	while (hops < 64) {
		uint8_t num = lft_get(l, sw, t->lid[to]);

		if (num == 0 || num > f->nodes[f->switches[sw].node].nports)
			return 0;
		out[hops++] = f->nodes[f->switches[sw].node].port0 + num;
		uint32_t peer = f->ports[out[hops - 1]].peer;

		if (peer == FABRIC_NONE)
			return 0;
		if (peer == to)
			break;
		sw = port_node(f, peer)->sw;
		if (sw == FABRIC_NONE)
			return 0;
	}
	for (unsigned i = 0; i < hops; i++)
		load[out[i]]++;
	return hops;
}

static bool is_cable(const struct fabric *f, uint32_t port)
{
	uint32_t peer = f->ports[port].peer;

	return peer != FABRIC_NONE && node_is_switch(port_node(f, port)) &&
	       node_is_switch(port_node(f, peer));
}

/* Distances between switches by relaxing all cables until nothing changes. */
static void distances(const struct fabric *f, unsigned *d)
{
	uint32_t n = f->n_switches;
	bool more = true;

	for (uint32_t i = 0; i < n * n; i++)
		d[i] = i / n == i % n ? 1 : 10000;
	while (more) {
		more = false;
		for (uint32_t p = 0; p < f->n_ports; p++) {
			if (!is_cable(f, p))
				continue;
			uint32_t a = port_node(f, p)->sw, b = port_node(f, f->ports[p].peer)->sw;

			for (uint32_t to = 0; to < n; to++)
				if (d[b * n + to] + 1 < d[a * n + to]) {
					d[a * n + to] = d[b * n + to] + 1;
					more = true;
				}
		}
	}
}

/* --- layers: no layer that paths are placed in may have a cycle --- */

struct placed_dep {
	unsigned layer;
	uint32_t from, to;	/* ports by which a path leaves two switches in turn */
	bool gone;
};

struct placed {
	const struct topo *t;
	const struct lfts *l;
	unsigned layers;
	struct map64 known;
	VEC(struct placed_dep) deps;
};

static void on_placed(void *arg, uint32_t sw, uint16_t lid, unsigned layer)
{
	struct placed *x = arg;
	const struct fabric *f = x->t->f;
	uint32_t last = FABRIC_NONE;

	if (layer >= x->layers)
		x->layers = layer + 1;
	for (;;) {
		uint32_t out = f->nodes[f->switches[sw].node].port0 + lft_get(x->l, sw, lid);
		uint32_t peer = f->ports[out].peer;

		if (peer == FABRIC_NONE || !node_is_switch(port_node(f, peer)))
			break;
		if (last != FABRIC_NONE &&
		    map64_put(&x->known, (uint64_t)layer << 40 | (uint64_t)last << 20 | out, 0) ==
		    MAP64_NONE)
			*vec_push(&x->deps) = (struct placed_dep){ layer, last, out, false };
		last = out;
		sw = port_node(f, peer)->sw;
	}
}

/* Repeatedly removes channels that nothing in the layer depends on; only cycles remain. */
static bool has_cycle(struct placed *x, unsigned layer)
{
	bool *waited = xcalloc(x->t->f->n_ports, sizeof(*waited)), more = true;
	size_t left = 0;

	while (more) {
		more = false;
		left = 0;
		memset(waited, 0, x->t->f->n_ports);
		for (size_t i = 0; i < x->deps.n; i++)
			if (x->deps.v[i].layer == layer && !x->deps.v[i].gone)
				waited[x->deps.v[i].to] = true;
		for (size_t i = 0; i < x->deps.n; i++) {
			struct placed_dep *d = &x->deps.v[i];

			if (d->layer != layer || d->gone)
				continue;
			left++;
			if (!waited[d->from])
				d->gone = more = true;
		}
	}
	free(waited);
	return left > 0;
}

static void check_layers(const struct topo *t, const struct lfts *l, unsigned layers)
{
	struct placed x = { .t = t, .l = l };
	struct gauge_net n;

	gauge_net_init(&n, &t->r, l);
	ck_assert_uint_eq(gauge_place_paths(&n, &t->r, &gauge_defaults, on_placed, &x), layers);
	ck_assert_uint_le(x.layers, layers);
	for (unsigned i = 0; i < layers; i++)
		ck_assert(!has_cycle(&x, i));
	map64_free(&x.known);
	vec_free(&x.deps);
	gauge_net_free(&n);
}

static void compare(const struct topo *t, const struct lfts *l)
{
	const struct fabric *f = t->f;
	uint64_t *load = xcalloc(f->n_ports, sizeof(*load)), most = 0, sum = 0, connected = 0;
	unsigned *d = xcalloc(f->n_switches * f->n_switches, sizeof(*d)), longer = 0, cables = 0;
	struct gauge g = measure(t, l);
	struct route_report report;
	double ratios = 0, ratio = 0;

	distances(f, d);
	for (uint32_t a = 0; a < f->n_ports; a++)
		for (uint32_t b = 0; b < f->n_ports; b++) {
			if (a == b || !port_is_host(f, a) || !port_is_host(f, b) ||
			    f->ports[a].peer == FABRIC_NONE || f->ports[b].peer == FABRIC_NONE)
				continue;
			unsigned hops = follow(t, l, a, b, load);
			unsigned least = d[fabric_switch_of(f, a) * f->n_switches +
					   fabric_switch_of(f, b)];

			if (!hops)
				continue;
			connected++;
			ratios += (double)hops / least;
			ratio = (double)hops / least > ratio ? (double)hops / least : ratio;
			longer = hops - least > longer ? hops - least : longer;
		}
	for (uint32_t p = 0; p < f->n_ports; p++) {
		if (!is_cable(f, p))
			continue;
		cables++;
		sum += load[p];
		most = load[p] > most ? load[p] : most;
	}
	ck_assert_uint_eq(g.connected, connected);
	ck_assert_double_eq_tol(g.ratio_mean, connected ? ratios / (double)connected : 0, 1e-9);
	ck_assert_double_eq(g.ratio_most, ratio);
	ck_assert_uint_eq(g.longer_most, longer);
	ck_assert_uint_eq(g.cables, cables);
	ck_assert_uint_eq(g.efi, most);
	ck_assert_double_eq_tol(g.efi_mean, cables ? (double)sum / cables : 0, 1e-9);
	if (g.efi)
		ck_assert_uint_eq(load[g.hottest], most);
	if (g.connected)
		ck_assert_double_ge(g.all_to_all, 1 - 1e-12);
	route_verify(&t->r, l, &report);
	ck_assert_int_eq(g.credit_loop, report.credit_loop);
	ck_assert_int_eq(g.layers == 1, !report.credit_loop);
	check_layers(t, l, g.layers);
	route_report_free(&report);
	free(load);
	free(d);
}

/* promise: B5 */
START_TEST(random_fabrics)
{
	for (unsigned seed = 1; seed <= (unsigned)cases(60); seed++) {
		struct topo t;

		random_topo(&t, seed);
		for (int i = 0; any_engines[i]; i++) {
			struct lfts *l = topo_route(&t, any_engines[i]);

			if (!l)
				continue;
			compare(&t, l);
			/* and damaged */
			for (unsigned k = 0; k < 5; k++)
				set(l, (uint32_t)(hash64(seed * 10 + k) % t.f->n_switches),
				    (uint16_t)(1 + hash64(seed * 20 + k) % t.r.lid_top), 255);
			compare(&t, l);
			lfts_free(l);
		}
		topo_free(&t);
	}
}
END_TEST

START_TEST(torus)
{
	struct topo t;

	torus_topo(&t, (unsigned[]){ 4, 4, 4 });
	struct lfts *l = topo_route(&t, &route_minhop);

	ck_assert_ptr_nonnull(l);
	compare(&t, l);
	struct gauge g = measure(&t, l);

	ck_assert(g.credit_loop);
	ck_assert_uint_ge(g.layers, 2);
	ck_assert_uint_le(g.layers, 5);
	ck_assert_double_eq(g.ratio_mean, 1);
	lfts_free(l);
	topo_free(&t);
}
END_TEST

/* A fabric with nothing in it to measure. */
START_TEST(next_to_nothing)
{
	struct topo t;
	struct fabric *f = topo_begin();

	topo_host(f, topo_switch(f, 1, 4), 1);
	topo_finish(&t, f, 0);
	struct lfts *l = tables(&t);
	struct gauge g = measure(&t, l);
	struct buf text = { 0 };

	ck_assert_uint_eq(g.ends, 1);
	ck_assert_uint_eq(g.pairs, 0);
	ck_assert_uint_eq(g.bisections, 0);
	ck_assert_uint_eq(g.layers, 1);
	gauge_print(&g, t.f, &text);
	ck_assert_ptr_nonnull(strstr(text.s, "1 end port; 0 of 0 pairs connected\n"));
	buf_free(&text);
	lfts_free(l);
	topo_free(&t);
}
END_TEST

/* The gauge reports what it omits for lack of time. */
START_TEST(bounded)
{
	struct gauge_options o = gauge_defaults;
	struct topo t;
	struct gauge g;
	struct buf text = { 0 };

	ring(&t, 9);
	struct lfts *l = ring_tables(&t, 9);

	o.flows = 30;
	o.layers = false;
	gauge_measure(&t.r, l, &o, &g);
	ck_assert_uint_eq(g.bisections, 7);
	ck_assert_uint_eq(g.shifts, 3);
	ck_assert_uint_eq(g.shifts_all, 8);
	ck_assert(g.credit_loop);
	ck_assert_uint_eq(g.layers, 0);
	gauge_print(&g, t.f, &text);
	ck_assert_ptr_nonnull(strstr(text.s, "3 of 8 shifts were measured"));
	buf_free(&text);
	lfts_free(l);
	topo_free(&t);
}
END_TEST

START_TEST(text)
{
	struct topo t;

	ring(&t, 5);
	struct lfts *l = ring_tables(&t, 5);
	struct gauge g = measure(&t, l);
	struct buf out = { 0 };

	gauge_print(&g, t.f, &out);
	ck_assert_ptr_nonnull(strstr(out.s, "5 end ports; 20 of 20 pairs connected\n"));
	ck_assert_ptr_nonnull(strstr(out.s, "  routes on a cable: 3 at most, 3.0 on average"));
	ck_assert_ptr_nonnull(strstr(out.s, "    most of them leave S-1/P1 (0x0000000000000001)\n"));
	ck_assert_ptr_nonnull(strstr(out.s, "credit loop"));
	buf_free(&out);
	lfts_free(l);
	topo_free(&t);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("gauge");
	TCase *tc = tcase_create("gauge");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, ring_of_five);
	tcase_add_test(tc, loads_of_a_ring);
	tcase_add_test(tc, beside_shortest_paths);
	tcase_add_test(tc, data_vls_that_are_left);
	tcase_add_test(tc, detours);
	tcase_add_test(tc, pairs_that_are_not_connected);
	tcase_add_test(tc, ends_that_count);
	tcase_add_test(tc, two_switches);
	tcase_add_test(tc, cables_of_different_speeds);
	tcase_add_test(tc, clos);
	tcase_add_test(tc, random_fabrics);
	tcase_add_test(tc, torus);
	tcase_add_test(tc, next_to_nothing);
	tcase_add_test(tc, bounded);
	tcase_add_test(tc, text);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
