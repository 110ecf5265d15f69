/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the routing engines and the verdict on them.
 *
 * This file has its own walk and its own search for cycles of channels, which
 * check the engines' guarantees and route_verify().
 */
#include <check.h>

#include "fabric/edit.h"
#include "routing/multicast/mcast_tree.h"
#include "routing/updn/order.h"
#include "topo.h"
#include "unit/build_tree.h"
#include "unit/run.h"

/* --- an independent checker --- */

struct edge {
	uint32_t from, to;	/* channels, by the port that sends into them */
};

struct edges {
	VEC(struct edge) list;
	struct map64 known;
};

static void add_edge(struct edges *e, uint32_t from, uint32_t to)
{
	if (map64_put(&e->known, (uint64_t)from << 32 | to, 0) == MAP64_NONE)
		*vec_push(&e->list) = (struct edge){ from, to };
}

static void edges_free(struct edges *e)
{
	vec_free(&e->list);
	map64_free(&e->known);
}

struct found {
	uint64_t pairs, lost, lost_ends;	/* the last: to ports that are no switch's own */
	uint64_t to_hosts, to_aggregation, to_switches, of_sm, inner_pairs, inner;
	unsigned max_hops, host_hops;
	bool cycle;
};

static bool has_hosts(const struct fabric *f, uint32_t sw)
{
	const struct fabric_node *n = &f->nodes[f->switches[sw].node];

	for (unsigned i = 1; i <= n->nports; i++) {
		uint32_t peer = f->ports[n->port0 + i].peer;

		if (peer != FABRIC_NONE && port_is_host(f, peer))
			return true;
	}
	return false;
}

/* Returns the hops from switch sw to the port with the LID, 0 if none arrives; out[] gets the out ports. */
static unsigned follow(const struct topo *t, const struct lfts *l, uint32_t sw, uint32_t port,
		       uint16_t lid, uint32_t *out)
{
	const struct fabric *f = t->f;

	for (unsigned hops = 1; hops <= f->n_switches; hops++) {
		const struct fabric_node *n = &f->nodes[f->switches[sw].node];
		uint8_t num = lft_get(l, sw, lid);

		if (num > n->nports)
			return 0;
		out[hops - 1] = n->port0 + num;
		uint32_t to = num ? f->ports[n->port0 + num].peer : n->port0;

		if (to == FABRIC_NONE)	/* not ck_assert: it is slow when it succeeds */
			ck_abort_msg("LID %u leaves a switch by port %u, which has no link", lid, num);
		if (to == port)
			return hops;
		sw = port_node(f, to)->sw;
		if (num == 0 || sw == FABRIC_NONE)
			return 0;
	}
	return 0;
}

/* Removes channels that wait for nothing, until only cycles are left, if any. */
static bool edges_have_cycle(struct edges *edges, uint32_t n_channels)
{
	uint32_t *waits = xcalloc(n_channels, sizeof(*waits));
	struct edge *e = edges->list.v;
	size_t n = edges->list.n;
	bool more = true;

	for (size_t i = 0; i < n; i++)
		waits[e[i].from]++;
	while (more && n) {
		more = false;
		for (size_t i = 0; i < n; i++) {
			if (waits[e[i].to])
				continue;
			waits[e[i].from]--;
			e[i--] = e[--n];
			more = true;
		}
	}
	free(waits);
	return n > 0;
}

/*
 * Walks from all switches with hosts; edges gets the dependencies of routes to
 * hosts.  all: also from and to switches.
 */
static struct found walk_tables(const struct topo *t, const struct lfts *l, struct edges *edges,
				bool all)
{
	const struct fabric *f = t->f;
	struct found found = { 0 };
	uint32_t *out = xcalloc(f->n_switches + 1, sizeof(*out));

	for (uint32_t p = 0; p < f->n_ports; p++)
		for (uint32_t k = 0; t->lid[p] && k < 1u << t->lmc[p]; k++)
			for (uint32_t sw = 0; sw < f->n_switches; sw++) {
				if (!all && !has_hosts(f, sw))
					continue;
				uint16_t lid = (uint16_t)(t->lid[p] + k);
				unsigned hops = follow(t, l, sw, p, lid, out);

				found.pairs++;
				found.lost += !hops;
				found.lost_ends += !hops && !node_is_switch(port_node(f, p));
				if (hops > found.max_hops)
					found.max_hops = hops;
				/* the last port out leads to the end port and is no channel */
				for (unsigned i = 0; i + 2 < hops; i++)
					if (all || !node_is_switch(port_node(f, p)))
						add_edge(edges, out[i], out[i + 1]);
			}
	free(out);
	return found;
}

/* Counts pairs out of reach in the same way as the verdict. */
static void count_lost(const struct topo *t, const struct lfts *l, struct found *found)
{
	const struct fabric *f = t->f;
	uint32_t *out = xcalloc(f->n_switches + 1, sizeof(*out));

	for (uint32_t p = 0; p < f->n_ports; p++)
		for (uint32_t i = 0; t->lid[p] && i < f->n_switches << t->lmc[p]; i++) {
			uint32_t sw = i % f->n_switches;
			uint16_t lid = (uint16_t)(t->lid[p] + i / f->n_switches);
			unsigned hops = follow(t, l, sw, p, lid, out);
			bool own = node_is_switch(port_node(f, p)), host = !own && port_is_host(f, p);

			if (!has_hosts(f, sw)) {
				found->inner_pairs += own;
				found->inner += own && !hops;
				found->of_sm += p == f->self && !hops;
				continue;
			}
			found->to_hosts += host && !hops;
			found->to_switches += own && !hops;
			found->to_aggregation += !own && !host && !hops;
			found->of_sm += own && !hops && sw == fabric_switch_of(f, f->self);
			if (host && hops > found->host_hops)
				found->host_hops = hops;
		}
	free(out);
}

static struct found check_tables(const struct topo *t, const struct lfts *l)
{
	struct edges edges = { 0 };
	struct found found = walk_tables(t, l, &edges, false);

	count_lost(t, l, &found);
	found.cycle = edges_have_cycle(&edges, t->f->n_ports);
	edges_free(&edges);
	return found;
}

/* Checks updn's guarantee, which includes the traffic between switches. */
static void check_no_loop_at_all(const struct topo *t, const struct lfts *l)
{
	struct edges edges = { 0 };

	walk_tables(t, l, &edges, true);
	ck_assert(!edges_have_cycle(&edges, t->f->n_ports));
	edges_free(&edges);
}

/* Checks the tables; the verdict must agree. */
static struct found verify_and_check(const struct topo *t, const struct lfts *l)
{
	struct route_report report;
	struct found found = check_tables(t, l);

	route_verify(&t->r, l, &report);
	ck_assert_uint_eq(report.pairs, found.pairs);
	ck_assert_uint_eq(report.unreachable, found.lost);
	ck_assert_uint_eq(report.loops, 0);
	ck_assert_uint_eq(report.max_hops, found.max_hops);
	ck_assert_int_eq(report.credit_loop, found.cycle);
	ck_assert_int_eq(report.credit_loop_text.n > 0, found.cycle);
	ck_assert_uint_eq(report.to_hosts.n, found.to_hosts);
	ck_assert_uint_eq(report.to_aggregation.n, found.to_aggregation);
	ck_assert_uint_eq(report.to_switches.n, found.to_switches);
	ck_assert_uint_eq(report.of_sm.n, found.of_sm);
	ck_assert_uint_eq(report.inner.n, found.inner);
	ck_assert_uint_eq(report.inner_pairs, found.inner_pairs);
	ck_assert_uint_eq(report.host_hops, found.host_hops);
	ck_assert(!found.inner || (node_is_switch(port_node(t->f, report.inner.src)) &&
				   node_is_switch(port_node(t->f, report.inner.dst))));
	route_report_free(&report);
	return found;
}

static struct found route_and_check(const struct topo *t, const struct route_engine *e)
{
	struct lfts *l = topo_route(t, e);
	struct found found;

	ck_assert_ptr_nonnull(l);
	found = verify_and_check(t, l);
	lfts_free(l);
	return found;
}

/* Returns updn's routes, which must have its guarantees; minhop's must connect all, too. */
static struct lfts *sound_routes(const struct topo *t)
{
	struct lfts *l = topo_route(t, &route_updn);

	ck_assert_ptr_nonnull(l);
	struct found found = verify_and_check(t, l);

	ck_assert_uint_eq(found.lost_ends, 0);
	/* a turn that one switch's own port 0 needs may be one that others exclude */
	ck_assert_uint_le(found.lost * 1000, found.pairs);
	ck_assert(!found.cycle);
	check_no_loop_at_all(t, l);
	found = route_and_check(t, &route_minhop);
	ck_assert_uint_eq(found.lost, 0);
	return l;
}

static void check_sound(const struct topo *t)
{
	lfts_free(sound_routes(t));
}

/* --- small things --- */

START_TEST(engines_by_name)
{
	ck_assert_ptr_eq(route_engine_find("updn"), &route_updn);
	ck_assert_ptr_eq(route_engine_find("minhop"), &route_minhop);
	ck_assert_ptr_null(route_engine_find("no-such-engine"));
}
END_TEST

START_TEST(new_tables_drop)
{
	struct lfts *l = lfts_new(3, 64);

	ck_assert_uint_eq(l->stride, 2 * LFT_BLOCK);
	for (uint32_t sw = 0; sw < 3; sw++)
		for (uint16_t lid = 0; lid < 128; lid++)
			ck_assert_uint_eq(lft_get(l, sw, lid), LFT_DROP);
	lfts_free(l);
	l = lfts_new(1, 63);
	ck_assert_uint_eq(l->stride, LFT_BLOCK);
	lfts_free(l);
	lfts_free(NULL);
}
END_TEST

/* Random entries that drop: each kind of LID is counted separately. */
/* promise: F13 */
START_TEST(verdict_on_holes)
{
	struct fat p = { .pods = 3, .leaves = 3, .hosts = 2, .aggs = 2, .width = 1, .spines = 3,
			 .aggregation = true };
	struct topo t;
	struct found found;

	fat_topo(&t, &p, (unsigned)_i % 2);
	struct lfts *l = topo_route(&t, &route_updn);

	for (uint32_t i = 0; i < l->n_switches * l->stride; i++)
		if (hash64(i + (uint64_t)_i * 7919) % 16 == 0)
			l->entries[i] = LFT_DROP;
	found = verify_and_check(&t, l);
	ck_assert_uint_gt(found.to_hosts, 0);
	ck_assert_uint_gt(found.to_aggregation, 0);
	ck_assert_uint_gt(found.to_switches, 0);
	ck_assert_uint_gt(found.of_sm, 0);
	ck_assert_uint_gt(found.inner, 0);
	lfts_free(l);
	topo_free(&t);
	fat_free(&p);
}
END_TEST

/* A multicast tree by switches, and its inputs. */
struct flat {
	struct updn_order *o, *own;	/* own: NULL if the caller has made o */
	struct mcast_forest *w;
	uint32_t n_switches, root, n_on_tree;
	uint64_t (*ports)[4];
};

static void flatten(struct flat *m, const struct mcast_tree *t)
{
	m->n_on_tree = t ? t->n_on : 0;
	m->root = t && t->top != FABRIC_NONE ? m->o->g->sw[t->top] : FABRIC_NONE;
	for (uint32_t sw = 0; t && sw < m->n_switches; sw++)
		mcast_tree_ports(t, sw, m->ports[sw]);
}

/* o: the order of f, which has to outlive the result; NULL: it is made here. */
static struct flat *flat_new(const struct fabric *f, struct updn_order *o)
{
	struct flat *m = xcalloc(1, sizeof(*m));

	m->own = o ? NULL : updn_order_new(f);
	m->o = o ? o : m->own;
	m->w = mcast_forest_new(m->o, NULL);
	m->n_switches = f->n_switches;
	m->ports = xcalloc(f->n_switches + 1u, sizeof(*m->ports));
	return m;
}

static struct flat *flat_build_by(const struct fabric *f, struct updn_order *o, const uint32_t *members,
				  uint32_t n)
{
	struct flat *m = flat_new(f, o);
	struct mcast_tree *t = build_tree(m->w, f->n_switches, members, n);

	flatten(m, t);
	mcast_tree_free(t);
	return m;
}

static struct flat *flat_build(const struct fabric *f, const uint32_t *members, uint32_t n)
{
	return flat_build_by(f, NULL, members, n);
}

static void flat_free(struct flat *m)
{
	mcast_forest_free(m->w);
	updn_order_free(m->own);
	free(m->ports);
	free(m);
}

START_TEST(no_switch)
{
	struct fabric *f = fabric_new();
	uint32_t a = topo_node(f, IB_NODE_CA_T, 1, 1), b = topo_node(f, IB_NODE_CA_T, 5, 1);
	struct topo t;

	fabric_link(f, a, 1, b, 1);
	topo_finish(&t, f, 0);
	for (unsigned i = 0; any_engines[i]; i++)
		ck_assert_uint_eq(route_and_check(&t, any_engines[i]).pairs, 0);
	struct flat *m = flat_build(f, &f->self, 1);

	ck_assert_uint_eq(m->n_on_tree, 0);
	flat_free(m);
	topo_free(&t);
}
END_TEST

START_TEST(one_switch)
{
	struct fabric *f = topo_begin();
	uint32_t sw = topo_switch(f, 1, 4);
	struct topo t;

	topo_host(f, sw, 2);
	topo_host(f, sw, 4);
	fabric_link(f, sw, 1, sw, 3);	/* a cable from the switch to itself leads nowhere */
	topo_finish(&t, f, 2);
	struct lfts *l = sound_routes(&t);

	ck_assert_uint_eq(lft_get(l, 0, t.lid[fabric_port(f, sw, 0) - f->ports]), 0);
	for (unsigned k = 0; k < 4; k++)
		ck_assert_uint_eq(lft_get(l, 0, (uint16_t)(t.lid[f->self] + k)), 2);
	lfts_free(l);
	topo_free(&t);
}
END_TEST

/* The SM is on a switch and there is no host: only switches can be reached. */
START_TEST(switches_only)
{
	struct fabric *f = fabric_new();
	uint32_t a = topo_switch(f, 1, 4), b = topo_switch(f, 2, 4), c = topo_switch(f, 3, 4);
	struct topo t;

	fabric_link(f, a, 1, b, 1);
	fabric_link(f, b, 2, c, 1);
	topo_finish(&t, f, 0);
	for (unsigned i = 0; any_engines[i]; i++) {
		struct lfts *l = topo_route(&t, any_engines[i]);
		struct route_report report;

		route_verify(&t.r, l, &report);
		ck_assert_uint_eq(report.pairs, 3);
		ck_assert_uint_eq(report.unreachable, 0);
		ck_assert_uint_eq(report.max_hops, 3);
		route_report_free(&report);
		lfts_free(l);
	}
	topo_free(&t);
}
END_TEST

static void ring_topo(struct topo *t, unsigned n)
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

START_TEST(ring)
{
	unsigned n = (unsigned)_i;
	struct topo t;

	ring_topo(&t, n);
	struct found found = route_and_check(&t, &route_updn);

	ck_assert(!found.cycle);
	ck_assert_uint_eq(found.lost, 0);
	found = route_and_check(&t, &route_minhop);
	ck_assert_uint_eq(found.lost, 0);
	/* in a ring of four, opposite switches have a choice: the loop may or may not be closed */
	ck_assert(found.cycle || n == 4);
	topo_free(&t);
}
END_TEST

/* All clockwise: the loop is the whole ring, and the text names it port by port. */
START_TEST(credit_loop_text)
{
	struct topo t;

	ring_topo(&t, 4);
	struct lfts *l = topo_route(&t, &route_updn);
	struct route_report report;

	for (uint32_t p = 0; p < t.f->n_ports; p++)
		for (uint32_t sw = 0; t.lid[p] && sw < 4; sw++)
			if (fabric_switch_of(t.f, p) != sw)
				l->entries[sw * l->stride + t.lid[p]] = 1;
	route_verify(&t.r, l, &report);
	ck_assert(report.credit_loop);
	ck_assert_uint_eq(report.unreachable, 0);
	ck_assert_uint_eq(report.max_hops, 4);
	for (unsigned i = 1; i <= 4; i++) {
		char name[32];

		snprintf(name, sizeof(name), "S-%u/P1 ", i);
		ck_assert_ptr_nonnull(strstr(report.credit_loop_text.s, name));
	}
	unsigned arrows = 0;

	for (const char *s = report.credit_loop_text.s; (s = strstr(s, " -> ")); s++)
		arrows++;
	ck_assert_uint_eq(arrows, 4);
	route_report_free(&report);
	lfts_free(l);
	topo_free(&t);
}
END_TEST

/* The verdict distinguishes tables that lead nowhere, in cycles or out of dead ports, and does not crash. */
START_TEST(verdict_on_rubbish)
{
	struct topo t;
	struct route_report report;

	ring_topo(&t, 6);
	struct lfts *l = lfts_new(t.f->n_switches, t.r.lid_top);

	route_verify(&t.r, l, &report);
	ck_assert_uint_eq(report.unreachable, report.pairs);
	ck_assert_uint_eq(report.loops, 0);
	ck_assert_uint_ne(report.unreachable_src, FABRIC_NONE);
	route_report_free(&report);

	memset(l->entries, 1, l->stride * l->n_switches);
	route_verify(&t.r, l, &report);
	ck_assert_uint_eq(report.unreachable, report.pairs);
	/* except on the destination's own switch, where the walk ends at the wrong port */
	ck_assert_uint_eq(report.loops, 0);
	route_report_free(&report);

	l->entries[0 * l->stride + t.r.lid_top] = 1;
	l->entries[1 * l->stride + t.r.lid_top] = 2;
	route_verify(&t.r, l, &report);
	ck_assert_uint_ge(report.loops, 2);
	route_report_free(&report);

	for (unsigned round = 0; round < 200; round++) {
		for (size_t i = 0; i < l->stride * l->n_switches; i++)
			l->entries[i] = (uint8_t)(hash64(round * 1000003 + i) % 6);
		route_verify(&t.r, l, &report);
		ck_assert_uint_le(report.loops, report.unreachable);
		ck_assert_uint_le(report.unreachable, report.pairs);
		route_report_free(&report);
	}
	lfts_free(l);
	topo_free(&t);
}
END_TEST

/* Two parts without a link: each is routed in itself, nothing leads from one to the other. */
START_TEST(divided)
{
	struct fabric *f = topo_begin();
	uint32_t sw[4];
	struct topo t;

	for (unsigned i = 0; i < 4; i++)
		sw[i] = topo_switch(f, 1 + i, 4);
	fabric_link(f, sw[0], 1, sw[1], 1);
	fabric_link(f, sw[2], 1, sw[3], 1);
	for (unsigned i = 0; i < 4; i++)
		topo_host(f, sw[i], 4);
	topo_finish(&t, f, 1);
	for (unsigned i = 0; any_engines[i]; i++) {
		struct found found = route_and_check(&t, any_engines[i]);

		/* 4 sources; from each, 2 of 4 hosts (2 LIDs each) and 2 of 4 switches are lost */
		ck_assert_uint_eq(found.pairs, 4 * 12);
		ck_assert_uint_eq(found.lost, 4 * 6);
		ck_assert(!found.cycle);
	}
	topo_free(&t);
}
END_TEST

/* --- fat trees --- */

/* Host i of the tree (leaf by leaf) as a port index. */
static uint32_t fat_host(const struct topo *t, const struct fat *p, unsigned i)
{
	return fabric_port(t->f, p->leaf[i / p->hosts], 1 + i % p->hosts)->peer;
}

/* The least and most destinations on the uplinks of all leaves. */
static void leaf_loads(const struct topo *t, const struct fat *p, const struct lfts *l,
		       unsigned *least, unsigned *most)
{
	unsigned n = p->pods * p->leaves;

	*least = UINT32_MAX;
	*most = 0;
	for (unsigned i = 0; i < n; i++) {
		unsigned load[256] = { 0 };
		uint32_t sw = t->f->nodes[p->leaf[i]].sw;

		for (unsigned h = 0; h < n * p->hosts; h++) {
			uint32_t port = fat_host(t, p, h);

			for (unsigned k = 0; port != FABRIC_NONE && k < 1u << t->lmc[port]; k++)
				load[lft_get(l, sw, (uint16_t)(t->lid[port] + k))]++;
		}
		for (unsigned j = p->hosts + 1; j <= p->hosts + p->aggs * p->width; j++) {
			if (fabric_port(t->f, p->leaf[i], j)->peer == FABRIC_NONE)
				continue;
			if (load[j] < *least)
				*least = load[j];
			if (load[j] > *most)
				*most = load[j];
		}
	}
}

/* The most flows on any channel when each host i sends to host i + shift, if both exist. */
static unsigned shift_contention(const struct topo *t, const struct fat *p, const struct lfts *l,
				 unsigned shift)
{
	unsigned n = p->pods * p->leaves * p->hosts, most = 0;
	unsigned *flows = xcalloc(t->f->n_ports, sizeof(*flows));
	uint32_t out[16];

	for (unsigned i = 0; i < n; i++) {
		uint32_t src = fat_host(t, p, i), dst = fat_host(t, p, (i + shift) % n);

		if (src == FABRIC_NONE || dst == FABRIC_NONE)
			continue;
		unsigned hops = follow(t, l, fabric_switch_of(t->f, src), dst, t->lid[dst], out);

		for (unsigned h = 0; h < hops; h++)
			if (++flows[out[h]] > most)
				most = flows[out[h]];
	}
	free(flows);
	return most;
}

/* Paths between hosts of a fat tree must be shortest. */
static void check_shortest(const struct topo *t, const struct fat *p, const struct lfts *l)
{
	unsigned n = p->pods * p->leaves * p->hosts;
	uint32_t out[16];

	for (unsigned i = 0; i < n; i += p->hosts)
		for (unsigned j = 0; j < n; j++) {
			unsigned a = i / p->hosts, b = j / p->hosts;
			unsigned want = a == b ? 1 : a / p->leaves == b / p->leaves ? 3 : 5;
			uint32_t dst = fat_host(t, p, j);

			ck_assert_uint_eq(follow(t, l, t->f->nodes[p->leaf[a]].sw, dst,
						 t->lid[dst], out), want);
		}
}

static const struct fat trees[] = {
	{ .pods = 1, .leaves = 6, .hosts = 4, .aggs = 4, .width = 1 },
	{ .pods = 1, .leaves = 12, .hosts = 16, .aggs = 8, .width = 2 },
	{ .pods = 1, .leaves = 20, .hosts = 18, .aggs = 18, .width = 1 },
	{ .pods = 4, .leaves = 2, .hosts = 2, .aggs = 2, .width = 1, .spines = 2 },
	{ .pods = 6, .leaves = 6, .hosts = 6, .aggs = 6, .width = 1, .spines = 6 },
	{ .pods = 6, .leaves = 3, .hosts = 6, .aggs = 3, .width = 2, .spines = 6 },
	{ .pods = 3, .leaves = 5, .hosts = 7, .aggs = 7, .width = 1, .spines = 5 },
};

/* The full trees: even to one destination, shortest, and every shift free of contention. */
START_TEST(full_fat_tree)
{
	struct fat p = trees[_i / 3];
	struct topo t;
	unsigned least, most;

	p.scatter = (uint64_t)(_i % 3);
	fat_topo(&t, &p, 0);
	for (unsigned e = 0; any_engines[e]; e++) {
		struct lfts *l = topo_route(&t, any_engines[e]);

		check_shortest(&t, &p, l);
		leaf_loads(&t, &p, l, &least, &most);
		ck_assert_uint_le(most - least, 1);
		lfts_free(l);
	}
	struct lfts *l = sound_routes(&t);
	unsigned n = p.pods * p.leaves * p.hosts;

	for (unsigned shift = 1; shift < n; shift += n > 300 ? 7 : 1)
		ck_assert_msg(shift_contention(&t, &p, l, shift) == 1, "shift by %u of %u", shift, n);
	lfts_free(l);
	topo_free(&t);
	fat_free(&p);
}
END_TEST

/* The number of hosts among the end ports on switches; the others are aggregation nodes. */
static unsigned count_hosts(const struct topo *t)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < t->f->n_ports; i++)
		n += port_is_end(t->f, i) && port_is_host(t->f, i);
	return n;
}

/* Aggregation nodes in all switches change no route of a host, and are reached from everywhere. */
/* promise: D10 */
START_TEST(aggregation_nodes)
{
	struct fat plain = trees[_i / 3], p = plain;
	struct topo t, without;
	uint32_t out[64];

	plain.scatter = p.scatter = (uint64_t)(_i % 3);
	p.aggregation = true;
	fat_topo(&without, &plain, 0);
	fat_topo(&t, &p, 0);
	check_sound(&t);
	ck_assert_uint_eq(count_hosts(&t), p.pods * p.leaves * p.hosts);
	ck_assert_uint_eq(t.f->n_nodes, without.f->n_nodes + t.f->n_switches);
	struct lfts *l = topo_route(&t, &route_updn), *was = topo_route(&without, &route_updn);

	check_shortest(&t, &p, l);
	for (uint32_t sw = 0; sw < t.f->n_switches; sw++)
		for (unsigned i = 0; i < p.pods * p.leaves * p.hosts; i++)
			ck_assert_uint_eq(lft_get(l, sw, t.lid[fat_host(&t, &p, i)]),
					  lft_get(was, sw,
						  without.lid[fat_host(&without, &plain, i)]));
	for (uint32_t i = 0; i < t.f->n_ports; i++)
		for (uint32_t sw = 0; port_node(t.f, i)->aggregation && sw < t.f->n_switches; sw++)
			if (port_is_end(t.f, i))
				ck_assert_uint_gt(follow(&t, l, sw, i, t.lid[i], out), 0);
	lfts_free(l);
	lfts_free(was);
	topo_free(&t);
	topo_free(&without);
	fat_free(&p);
	fat_free(&plain);
}
END_TEST

/* Half as many hosts as up links, or twice as many: still even. */
START_TEST(uneven_fat_tree)
{
	static const struct fat shapes[] = {
		{ .pods = 1, .leaves = 12, .hosts = 9, .aggs = 18, .width = 1 },
		{ .pods = 1, .leaves = 12, .hosts = 24, .aggs = 6, .width = 2 },
		{ .pods = 6, .leaves = 6, .hosts = 3, .aggs = 6, .width = 1, .spines = 6 },
		{ .pods = 4, .leaves = 6, .hosts = 12, .aggs = 6, .width = 1, .spines = 6 },
		{ .pods = 4, .leaves = 6, .hosts = 10, .aggs = 4, .width = 2, .spines = 3 },
	};
	struct fat p = shapes[_i / 2];
	struct topo t;
	unsigned least, most;

	p.scatter = (uint64_t)(_i % 2);
	fat_topo(&t, &p, 0);
	struct lfts *l = sound_routes(&t);

	check_shortest(&t, &p, l);
	leaf_loads(&t, &p, l, &least, &most);
	ck_assert_msg(most - least <= 2, "%u to %u", least, most);
	lfts_free(l);
	topo_free(&t);
	fat_free(&p);
}
END_TEST

/* With LMC the LIDs of a host go up by different ports of every leaf. */
START_TEST(lmc_spreads)
{
	struct fat p = trees[_i];
	struct topo t;
	unsigned n = p.pods * p.leaves, up = p.aggs * p.width;

	fat_topo(&t, &p, 2);
	check_sound(&t);
	for (unsigned e = 0; any_engines[e]; e++) {
		struct lfts *l = topo_route(&t, any_engines[e]);

		for (unsigned i = 0; i < n; i++)
			for (unsigned h = 0; h < n * p.hosts; h++) {
				uint16_t lid = t.lid[fat_host(&t, &p, h)];
				uint32_t sw = t.f->nodes[p.leaf[i]].sw;
				unsigned different = 0;
				bool seen[256] = { false };

				for (uint16_t k = 0; k < 4; k++) {
					uint8_t out = lft_get(l, sw, (uint16_t)(lid + k));

					different += !seen[out];
					seen[out] = true;
				}
				ck_assert_uint_eq(different,
						  h / p.hosts == i ? 1 : up < 4 ? up : 4);
			}
		lfts_free(l);
	}
	topo_free(&t);
	fat_free(&p);
}
END_TEST

/* Links lost: everything is still reached, also the switches, and no link is overburdened. */
START_TEST(removed_links)
{
	struct fat p = trees[4 + _i % 2];
	struct topo t;
	unsigned least, most;

	struct fabric *f = fat_build(&p);

	remove_links(f, 1 + (unsigned)_i % 7, (uint64_t)_i);
	fat_hosts(&p, f);
	topo_finish(&t, f, (unsigned)_i % 3);
	struct lfts *l = sound_routes(&t);

	leaf_loads(&t, &p, l, &least, &most);
	unsigned share = p.pods * p.leaves * p.hosts * (1u << _i % 3) / (p.aggs * p.width);

	ck_assert_msg(most <= share * 2, "%u to %u, share %u", least, most, share);
	lfts_free(l);
	topo_free(&t);
	fat_free(&p);
}
END_TEST

/* The entry of a switch for a host, both by GUID; LFT_DROP if either is missing. */
static uint8_t entry_by_guid(const struct topo *t, const struct lfts *l, uint64_t sw, uint64_t host)
{
	uint32_t port = fabric_find_port(t->f, host), at = fabric_find_port(t->f, sw);

	if (port == FABRIC_NONE || at == FABRIC_NONE)
		return LFT_DROP;
	return lft_get(l, port_node(t->f, at)->sw, t->lid[port]);
}

/* How many entries for hosts that both fabrics have differ, on switches with hosts or on all. */
static unsigned count_changes(const struct topo *a, const struct lfts *la,
			      const struct topo *b, const struct lfts *lb, bool leaves_only)
{
	unsigned changes = 0;

	for (uint32_t p = 0; p < a->f->n_ports; p++) {
		if (node_is_switch(port_node(a->f, p)) || !port_is_end(a->f, p))
			continue;
		for (uint32_t sw = 0; sw < a->f->n_switches; sw++) {
			if (leaves_only && !has_hosts(a->f, sw))
				continue;
			uint64_t guid = a->f->nodes[a->f->switches[sw].node].guid;
			uint8_t then = entry_by_guid(a, la, guid, a->f->ports[p].guid);
			uint8_t now = entry_by_guid(b, lb, guid, a->f->ports[p].guid);

			changes += now != LFT_DROP && then != now;
		}
	}
	return changes;
}

/* Pulls all cables of a switch. */
static void cut_off(struct fabric *f, uint32_t node)
{
	for (unsigned i = 1; i <= f->nodes[node].nports; i++) {
		struct fabric_port *port = fabric_port(f, node, i);

		if (port->peer != FABRIC_NONE)
			f->ports[port->peer].peer = FABRIC_NONE;
		port->peer = FABRIC_NONE;
	}
}

/*
 * The loss of a host or a leaf moves no route to another host; the loss of a spine moves
 * none on the leaves.
 */
START_TEST(loss_moves_little)
{
	enum { HOST, LEAF, SPINE } gone = (unsigned)_i % 3;
	struct fat p = trees[4], q;
	struct topo before, after;

	p.scatter = (uint64_t)_i / 3;
	q = p;
	fat_topo(&before, &p, 0);
	struct fabric *f = fat_build(&q);

	for (unsigned i = 0; i < q.pods * q.leaves; i++)
		for (unsigned j = 0; j < q.hosts; j++)
			if (!(gone == LEAF && i == 9) && !(gone == HOST && i == 9 && j == 3))
				topo_host(f, q.leaf[i], 1 + j);
	if (gone == LEAF)
		cut_off(f, q.leaf[9]);
	/* the one with the least GUID of every other plane */
	for (unsigned i = 0; gone == SPINE && i < q.aggs; i += 2) {
		uint32_t *spine = q.spine + i * q.spines, least = spine[0];

		for (unsigned j = 1; j < q.spines; j++)
			if (f->nodes[spine[j]].guid < f->nodes[least].guid)
				least = spine[j];
		cut_off(f, least);
	}
	topo_finish(&after, f, 0);
	struct lfts *was = topo_route(&before, &route_updn), *is = topo_route(&after, &route_updn);

	ck_assert_uint_eq(count_changes(&before, was, &after, is, gone == SPINE), 0);
	lfts_free(was);
	lfts_free(is);
	topo_free(&before);
	topo_free(&after);
	fat_free(&p);
	fat_free(&q);
}
END_TEST

/* Where the pattern would crowd some links, since leaves are half empty, the load decides. */
START_TEST(half_empty_leaves)
{
	struct fat p = { .pods = 1, .leaves = 25, .hosts = 4, .aggs = 4, .width = 1 };
	struct fabric *f = fat_build(&p);
	struct topo t;
	unsigned least, most;

	for (unsigned i = 0; i < p.leaves; i++)
		for (unsigned j = 0; j < (i % 2 ? 2 : p.hosts); j++)
			topo_host(f, p.leaf[i], 1 + j);
	topo_finish(&t, f, 0);
	struct lfts *l = topo_route(&t, &route_updn);

	leaf_loads(&t, &p, l, &least, &most);
	ck_assert_msg(most - least <= 6, "%u to %u", least, most);
	lfts_free(l);
	topo_free(&t);
	fat_free(&p);
}
END_TEST

/* One host missing from each leaf, another each time: the pattern still holds. */
START_TEST(missing_hosts)
{
	struct fat p = trees[2];
	struct fabric *f = fat_build(&p);
	struct topo t;

	for (unsigned i = 0; i < p.leaves; i++)
		for (unsigned j = 0; j < p.hosts; j++)
			if (j != i * 7 % p.hosts)
				topo_host(f, p.leaf[i], 1 + j);
	topo_finish(&t, f, 0);
	struct lfts *l = topo_route(&t, &route_updn);

	for (unsigned shift = 1; shift < p.leaves * p.hosts; shift += 5)
		ck_assert_uint_eq(shift_contention(&t, &p, l, shift), 1);
	lfts_free(l);
	topo_free(&t);
	fat_free(&p);
}
END_TEST

/* Two LIDs of a host take different spines, though one of these has more links. */
START_TEST(lmc_prefers_neighbours)
{
	struct fabric *f = topo_begin();
	uint32_t leaf[2] = { topo_switch(f, 1, 8), topo_switch(f, 2, 8) };
	uint32_t a = topo_switch(f, 3, 8), b = topo_switch(f, 4, 8);
	struct topo t;

	for (unsigned i = 0; i < 2; i++) {
		fabric_link(f, leaf[i], 5, a, 1 + 2 * i);
		fabric_link(f, leaf[i], 6, a, 2 + 2 * i);
		fabric_link(f, leaf[i], 7, b, 1 + i);
		for (unsigned j = 1; j <= 4; j++)
			topo_host(f, leaf[i], j);
	}
	topo_finish(&t, f, 1);
	struct lfts *l = topo_route(&t, &route_minhop);

	for (unsigned j = 1; j <= 4; j++) {
		uint16_t lid = t.lid[fabric_port(f, leaf[1], j)->peer];
		uint8_t first = lft_get(l, f->nodes[leaf[0]].sw, lid);
		uint8_t second = lft_get(l, f->nodes[leaf[0]].sw, (uint16_t)(lid + 1));

		ck_assert_int_eq((first == 7) + (second == 7), 1);
	}
	lfts_free(l);
	topo_free(&t);
}
END_TEST

/* The same fabric discovered in another order gets the same tables. */
START_TEST(order_of_discovery)
{
	struct topo a, b;
	struct fabric *f = topo_begin(), *g = topo_begin();
	uint32_t sf[8], sg[8];

	for (unsigned i = 0; i < 8; i++) {
		sf[i] = topo_switch(f, 1 + i, 8);
		sg[7 - i] = topo_switch(g, 8 - i, 8);
	}
	for (unsigned i = 0; i < 8; i++)
		for (unsigned j = 0; j < 3; j++) {
			static const unsigned step[] = { 1, 3, 4 };
			unsigned to = (i + step[j]) % 8;

			fabric_link(f, sf[i], 1 + j, sf[to], 4 + j);
			fabric_link(g, sg[i], 1 + j, sg[to], 4 + j);
		}
	for (unsigned i = 0; i < 8; i++) {
		topo_host(f, sf[i], 8);
		topo_host(g, sg[(8 - i) % 8], 8);
	}
	topo_finish(&a, f, 0);
	topo_finish(&b, g, 0);
	for (unsigned e = 0; any_engines[e]; e++) {
		struct lfts *la = topo_route(&a, any_engines[e]), *lb = topo_route(&b, any_engines[e]);

		ck_assert_uint_eq(count_changes(&a, la, &b, lb, false), 0);
		lfts_free(la);
		lfts_free(lb);
	}
	topo_free(&a);
	topo_free(&b);
}
END_TEST

/* Hosts on a spine don't make it a leaf: the spines go on carrying equal shares. */
START_TEST(hosts_on_a_spine)
{
	struct fat p = trees[2];
	struct topo t;
	unsigned least, most;
	struct fabric *f;

	p.scatter = (uint64_t)_i;
	f = fat_build(&p);

	fat_hosts(&p, f);
	/* one leaf's cable to the first spine is pulled for a management host */
	struct fabric_port *port = fabric_port(f, p.agg[0], 7);

	f->ports[port->peer].peer = FABRIC_NONE;
	port->peer = FABRIC_NONE;
	topo_host(f, p.agg[0], 7);
	topo_finish(&t, f, 0);
	struct lfts *l = sound_routes(&t);

	leaf_loads(&t, &p, l, &least, &most);
	ck_assert_msg(least >= 15 && most <= 25, "%u to %u", least, most);
	lfts_free(l);
	topo_free(&t);
	fat_free(&p);
}
END_TEST

/* Routes of hosts to hosts, by channel between switches ([port]). */
static uint32_t *count_routes(const struct topo *t, const struct lfts *l)
{
	const struct fabric *f = t->f;
	uint32_t *out = xcalloc(f->n_switches + 1, sizeof(*out));
	uint32_t *load = xcalloc(f->n_ports, sizeof(*load));

	for (uint32_t from = 0; from < f->n_ports; from++)
		for (uint32_t p = 0; port_is_host(f, from) && p < f->n_ports; p++) {
			if (!t->lid[p] || p == from || !port_is_host(f, p))
				continue;
			unsigned hops = follow(t, l, port_node(f, f->ports[from].peer)->sw, p,
					       t->lid[p], out);

			for (unsigned i = 0; i + 1 < hops; i++)
				load[out[i]]++;
		}
	free(out);
	return load;
}

/* The routes on the busiest channel; *mean gets the mean over all channels. */
static uint32_t busiest(const struct topo *t, const struct lfts *l, double *mean)
{
	uint32_t *load = count_routes(t, l), most = 0, n = 0;
	uint64_t sum = 0;

	for (uint32_t p = 0; p < t->f->n_ports; p++) {
		most = load[p] > most ? load[p] : most;
		sum += load[p];
		n += load[p] > 0;
	}
	*mean = (double)sum / n;
	free(load);
	return most;
}

/*
 * However many links a tree has lost, no channel carries a multiple of what the last link of some leaf
 * must carry.  An order from one root, through which all routes go, has 10 times the mean and more.
 */
/* promise: F12 */
START_TEST(no_cliff)
{
	struct fat p = { .pods = 8, .leaves = 4, .hosts = 4, .aggs = 4, .width = 1, .spines = 4 };
	struct fabric *f = fat_build(&p);
	struct topo t;
	double mean;

	fat_hosts(&p, f);
	remove_links(f, 256 * (1 + (unsigned)_i % 7 * 3) / 100, (uint64_t)_i + 1);
	topo_finish(&t, f, 0);
	struct lfts *l = sound_routes(&t);
	uint32_t most = busiest(&t, l, &mean);

	ck_assert_msg(most <= 5 * mean, "%u, on average %.0f", most, mean);
	lfts_free(l);
	topo_free(&t);
	fat_free(&p);
}
END_TEST

/* Routes by an order with this method. */
static struct lfts *route_by(const struct topo *t, struct updn_order *o, struct updn_method m)
{
	struct route_request r = t->r;
	struct buf why = { 0 };
	struct lfts *l = lfts_new(r.f->n_switches, r.lid_top);
	struct route_layers *none = NULL;

	o->method = m;
	r.order = o;
	ck_assert(route_updn.run(&r, l, &none, &why));
	buf_free(&why);
	return l;
}

/* The sum of the squares of the loads of all channels. */
static uint64_t unevenness(const struct topo *t, struct updn_order *o, struct updn_method m)
{
	struct lfts *l = route_by(t, o, m);
	uint32_t *load = count_routes(t, l);
	uint64_t sum = 0;

	for (uint32_t p = 0; p < t->f->n_ports; p++)
		sum += (uint64_t)load[p] * load[p];
	free(load);
	lfts_free(l);
	return sum;
}

static uint32_t host_switch(const struct fabric *f, uint32_t port)
{
	return port_node(f, f->ports[port].peer)->sw;
}

/* One bisection of bandwidth(): hosts[0 .. half - 1] send to the other half. */
static double bisect(const struct topo *t, const struct lfts *l, const uint32_t *hosts,
		     unsigned half)
{
	const struct fabric *f = t->f;
	uint32_t *out = xcalloc(f->n_switches + 1, sizeof(*out));
	uint32_t *load = xcalloc(f->n_ports, sizeof(*load));
	double sum = 0;

	for (unsigned i = 0; i < 2 * half; i++) {
		uint32_t to = hosts[half + i % half], most = 1;
		unsigned hops = follow(t, l, host_switch(f, hosts[i % half]), to, t->lid[to], out);

		for (unsigned k = 0; k + 1 < hops; k++) {
			load[out[k]] += i < half;
			most = load[out[k]] > most ? load[out[k]] : most;
		}
		sum += i < half ? 0 : 1.0 / most;
	}
	free(load);
	free(out);
	return sum / half;
}

/* Effective bisection bandwidth (see routing/gauge/gauge.h), with all channels alike, over 200 bisections. */
static double bandwidth(const struct topo *t, const struct lfts *l)
{
	const struct fabric *f = t->f;
	uint32_t *hosts = xcalloc(f->n_ports, sizeof(*hosts)), n = 0;
	uint64_t x = 1;
	double sum = 0;

	for (uint32_t p = 0; p < f->n_ports; p++)
		if (t->lid[p] && port_is_host(f, p))
			hosts[n++] = p;
	for (unsigned i = 0; i < 200; i++) {
		for (uint32_t k = n; k > 1; k--) {
			uint32_t j = (uint32_t)(hash64(x++) % k), h = hosts[j];

			hosts[j] = hosts[k - 1];
			hosts[k - 1] = h;
		}
		sum += bisect(t, l, hosts, n / 2);
	}
	free(hosts);
	return sum / 200;
}

/* The first destinations chose without the load of later ones; choosing anew evens out the loads. */
/* promise: F14 */
START_TEST(more_passes)
{
	struct fat p = { .pods = 6, .leaves = 4, .hosts = 4, .aggs = 4, .width = 1, .spines = 4 };
	uint64_t once = 0, thrice = 0;

	for (unsigned seed = 1; seed <= 12; seed++) {
		struct fabric *f = fat_build(&p);
		struct updn_order *o;
		struct topo t;

		fat_hosts(&p, f);
		remove_links(f, 192 * 10 / 100, seed);
		topo_finish(&t, f, 0);
		o = updn_order_new(f);
		ck_assert(o->layered);
		once += unevenness(&t, o, (struct updn_method){ .passes = 1, .down = 1 });
		thrice += unevenness(&t, o, (struct updn_method){ .passes = 3, .down = 1 });
		updn_order_free(o);
		topo_free(&t);
		fat_free(&p);
	}
	ck_assert_msg(thrice * 1000 <= once * 995, "%.0f with three passes, %.0f with one",
		      (double)thrice, (double)once);
}
END_TEST

/*
 * A tree that lost links keeps the bandwidth of the remaining links: sources come down to a destination by the
 * same channels, as in a whole tree.
 */
/* promise: F14 */
START_TEST(bandwidth_of_what_is_left)
{
	struct fat p = { .pods = 8, .leaves = 4, .hosts = 4, .aggs = 4, .width = 1, .spines = 4 };
	double chosen = 0, apart = 0;

	for (unsigned seed = 1; seed <= 4; seed++) {
		struct fabric *f = fat_build(&p);
		struct updn_order *o;
		struct lfts *l;
		struct topo t;

		fat_hosts(&p, f);
		remove_links(f, 256 * 5 / 100, seed);
		topo_finish(&t, f, 0);
		l = topo_route(&t, &route_updn);
		chosen += bandwidth(&t, l);
		lfts_free(l);
		o = updn_order_new(f);
		l = route_by(&t, o, (struct updn_method){ .passes = 3, .down = 1 });
		apart += bandwidth(&t, l);
		lfts_free(l);
		updn_order_free(o);
		topo_free(&t);
		fat_free(&p);
	}
	ck_assert_msg(chosen >= 1.015 * apart, "%.4f, each source by itself %.4f",
		      chosen / 4, apart / 4);
}
END_TEST

/* Counts the entries that the second LID of a host has in common with the first one. */
static uint32_t count_shared(const struct topo *t, const struct lfts *l)
{
	uint32_t n = 0;

	for (uint32_t p = 0; p < t->f->n_ports; p++)
		for (uint32_t sw = 0; sw < t->f->n_switches && t->lid[p] && t->lmc[p]; sw++)
			n += lft_get(l, sw, t->lid[p]) == lft_get(l, sw, (uint16_t)(t->lid[p] + 1));
	return n;
}

/*
 * In a tree that lost links, the busiest channel is relieved of routes while no route becomes longer or
 * illegal, and with the same bandwidth; LIDs of one port stay as far apart.
 */
START_TEST(busiest_is_relieved)
{
	struct fat p = { .pods = 8, .leaves = 4, .hosts = 4, .aggs = 4, .width = 1, .spines = 4 };
	uint32_t most[2] = { 0 }, shared[2] = { 0 };
	double share[2] = { 0 }, mean[2] = { 0 }, each;

	for (unsigned i = 0; i < 8; i++) {
		struct fabric *f = fat_build(&p);
		struct route_report report;
		struct updn_order *o;
		struct topo t;

		fat_hosts(&p, f);
		remove_links(f, 256 * 5 / 100, i / 2 + 1);
		topo_finish(&t, f, (unsigned)_i);
		o = updn_order_new(f);
		ck_assert(o->method.relief);
		struct lfts *l = route_by(&t, o, (struct updn_method){ .passes = 3, .down = 16, .relief = i % 2 });

		most[i % 2] += busiest(&t, l, &each);
		mean[i % 2] += each;
		share[i % 2] += bandwidth(&t, l);
		shared[i % 2] += count_shared(&t, l);
		route_verify(&t.r, l, &report);
		ck_assert(!report.credit_loop && !report.unreachable);
		route_report_free(&report);
		lfts_free(l);
		updn_order_free(o);
		topo_free(&t);
		fat_free(&p);
	}
	/* of several LIDs of a port, busiest() counts the first one's routes only */
	ck_assert_msg(_i || most[1] * 10 <= most[0] * 9, "%u, before %u", most[1], most[0]);
	ck_assert_msg(share[1] >= 0.99 * share[0], "%.4f, before %.4f", share[1] / 4, share[0] / 4);
	ck_assert_msg(mean[1] <= 1.001 * mean[0], "%.1f, before %.1f", mean[1] / 4, mean[0] / 4);
	ck_assert_msg(shared[1] <= shared[0], "%u, before %u", shared[1], shared[0]);
}
END_TEST

/*
 * Pods with two switches in each of several planes: a top switch reaches a leaf through either, which the
 * digits do not express.  Both methods are tried although all switches of a rank are alike.
 */
/* promise: F14 */
START_TEST(two_of_a_plane)
{
	enum { PODS = 6, LEAVES = 5, PLANES = 3, TOPS = 4, HOSTS = 9 };
	struct fabric *f = topo_begin();
	uint32_t leaf[PODS * LEAVES], middle[PODS * PLANES * 2], top[PLANES * TOPS];
	struct topo t;
	double mean;

	for (unsigned i = 0; i < PODS * LEAVES; i++)
		leaf[i] = topo_switch(f, 0x100 + i, PLANES * 2 + HOSTS);
	for (unsigned i = 0; i < PODS * PLANES * 2; i++)
		middle[i] = topo_switch(f, 0x200 + i, LEAVES + TOPS);
	for (unsigned i = 0; i < PLANES * TOPS; i++)
		top[i] = topo_switch(f, 0x300 + i, PODS * 2);
	for (unsigned i = 0; i < PODS * LEAVES; i++)
		for (unsigned k = 0; k < PLANES * 2; k++)
			fabric_link(f, leaf[i], 1 + k, middle[i / LEAVES + k * PODS],
				    1 + i % LEAVES);
	for (unsigned i = 0; i < PODS * PLANES * 2; i++)
		for (unsigned k = 0; k < TOPS; k++)
			fabric_link(f, middle[i], LEAVES + 1 + k, top[i / PODS / 2 * TOPS + k],
				    1 + i % (2 * PODS));
	for (unsigned i = 0; i < PODS * LEAVES * HOSTS; i++)
		topo_host(f, leaf[i / HOSTS], PLANES * 2 + 1 + i % HOSTS);
	topo_finish(&t, f, 0);
	struct lfts *l = topo_route(&t, &route_updn);
	uint32_t most = busiest(&t, l, &mean);

	ck_assert_msg(most <= 1.6 * mean, "%u, on average %.0f", most, mean);
	lfts_free(l);
	topo_free(&t);
}
END_TEST

/* As many links on each switch, made of `rings` cycles through all by chance; two hosts each. */
static void rings_topo(struct topo *t, unsigned n, unsigned rings, uint64_t seed)
{
	struct fabric *f = topo_begin();
	uint32_t sw[64], seq[64];

	for (unsigned i = 0; i < n; i++) {
		sw[i] = topo_switch(f, 1 + i, 2 * rings + 2);
		seq[i] = sw[i];
	}
	for (unsigned r = 0; r < rings; r++) {
		for (unsigned i = n; i > 1; i--) {
			unsigned j = (unsigned)(hash64(seed++) % i);
			uint32_t x = seq[j];

			seq[j] = seq[i - 1];
			seq[i - 1] = x;
		}
		for (unsigned i = 0; i < n; i++)
			fabric_link(f, seq[i], 1 + 2 * r, seq[(i + 1) % n], 2 + 2 * r);
	}
	for (unsigned i = 0; i < 2 * n; i++)
		topo_host(f, sw[i / 2], 2 * rings + 1 + i % 2);
	topo_finish(t, f, 0);
}

/* Without layers an order is searched for: one by the distance from a root crowds there. */
/* promise: F14 */
START_TEST(searched_order)
{
	double mean, means = 0;
	uint32_t most = 0;

	for (unsigned seed = 1; seed <= 6; seed++) {
		struct topo t;
		struct lfts *l;

		rings_topo(&t, 32, 3, seed * 1000);
		l = sound_routes(&t);
		most += busiest(&t, l, &mean);
		means += mean;
		lfts_free(l);
		topo_free(&t);
	}
	ck_assert_msg(most <= 2.3 * means, "%u, on average %.0f", most, means);
}
END_TEST

/*
 * Ranks by the distance from the middle leave many pairs of an irregular fabric without a legal path,
 * and an order of a root none.  A tree that has lost links is not sparse by its ranks.
 */
START_TEST(sparse_orders)
{
	struct fat p = { .pods = 6, .leaves = 4, .hosts = 4, .aggs = 4, .width = 1, .spines = 4 };
	struct updn_orders all;
	struct topo t;
	unsigned n = 0;

	rings_topo(&t, 64, 3, 1);
	updn_orders(t.f, &all, NULL);
	for (unsigned i = 0; i < all.n; i++) {
		n += all.v[i]->sparse;
		ck_assert(all.v[i]->layered || !all.v[i]->sparse);
		updn_order_free(all.v[i]);
	}
	ck_assert_uint_gt(n, 0);
	topo_free(&t);
	struct fabric *f = fat_build(&p);

	fat_hosts(&p, f);
	remove_links(f, 10, 1);
	topo_finish(&t, f, 0);
	updn_orders(t.f, &all, NULL);
	for (unsigned i = 0; i < all.n; i++) {
		ck_assert(!all.v[i]->sparse);
		updn_order_free(all.v[i]);
	}
	topo_free(&t);
	fat_free(&p);
}
END_TEST

/* If each leaf has one host fewer than spines, a channel carries at most one of a leaf's hosts. */
/* promise: F12 */
START_TEST(hosts_beside_a_multiple)
{
	static const unsigned sizes[][3] = { { 36, 18, 17 }, { 12, 6, 11 }, { 16, 9, 17 }, { 32, 9, 17 } };
	const unsigned *n = sizes[_i];
	struct fat p = { .pods = 1, .leaves = n[0], .aggs = n[1], .hosts = n[2], .width = 1 };
	struct topo t;
	double mean;

	fat_topo(&t, &p, 0);
	struct lfts *l = topo_route(&t, &route_updn);

	ck_assert_uint_eq(busiest(&t, l, &mean), (n[0] - 1) * n[2] * ((n[2] + n[1] - 1) / n[1]));
	lfts_free(l);
	topo_free(&t);
	fat_free(&p);
}
END_TEST

/*
 * Line boards with hosts of their own below the spines of a chassis, and switches with hosts that are
 * plugged into the line boards: hosts are on two levels of three.
 */
/* promise: F12 */
START_TEST(hosts_on_two_levels)
{
	enum { SPINES = 4, LINES = 8, EDGES = 8, HOSTS = 4 };
	struct fabric *f = topo_begin();
	uint32_t spine[SPINES], line[LINES];
	struct topo t;
	double mean;

	for (unsigned i = 0; i < SPINES; i++)
		spine[i] = topo_switch(f, 1 + i, LINES);
	for (unsigned i = 0; i < LINES; i++) {
		line[i] = topo_switch(f, 101 + i, 16);
		for (unsigned k = 0; k < SPINES; k++)
			fabric_link(f, line[i], 1 + k, spine[k], 1 + i);
		for (unsigned k = 0; k < HOSTS; k++)
			topo_host(f, line[i], 5 + k);
	}
	for (unsigned i = 0; i < EDGES; i++) {
		uint32_t edge = topo_switch(f, 201 + i, 16);

		for (unsigned k = 0; k < 2; k++)
			fabric_link(f, edge, 1 + k, line[(i + k) % LINES], 9 + k);
		for (unsigned k = 0; k < HOSTS; k++)
			topo_host(f, edge, 5 + k);
	}
	topo_finish(&t, f, 0);
	struct lfts *l = sound_routes(&t);
	uint32_t most = busiest(&t, l, &mean);

	ck_assert_msg(most <= 2 * mean, "%u, on average %.0f", most, mean);
	lfts_free(l);
	topo_free(&t);
}
END_TEST

/* A stray cable between two leaves leaves the tree a tree. */
START_TEST(cable_between_leaves)
{
	struct fat p = trees[0];
	struct fabric *f;
	struct topo t;
	unsigned least, most;

	p.hosts = 5;		/* the fifth port is used for the cable */
	f = fat_build(&p);
	p.hosts = 4;

	fat_hosts(&p, f);
	fabric_link(f, p.leaf[1], 5, p.leaf[3], 5);
	topo_finish(&t, f, 0);
	struct lfts *l = sound_routes(&t);

	unsigned load[256] = { 0 };

	least = UINT32_MAX;
	most = 0;
	for (unsigned h = 0; h < p.leaves * p.hosts; h++)
		load[lft_get(l, f->nodes[p.leaf[0]].sw, t.lid[fat_host(&t, &p, h)])]++;
	for (unsigned j = 6; j <= 9; j++) {
		least = load[j] < least ? load[j] : least;
		most = load[j] > most ? load[j] : most;
	}
	ck_assert_msg(most - least <= 1, "%u to %u", least, most);
	lfts_free(l);
	topo_free(&t);
	fat_free(&p);
}
END_TEST

/* --- other shapes --- */

START_TEST(torus)
{
	static const unsigned dims[][3] = { { 4, 4, 1 }, { 5, 3, 1 }, { 3, 3, 3 }, { 4, 4, 4 } };
	struct topo t;

	torus_topo(&t, dims[_i]);
	check_sound(&t);
	topo_free(&t);
}
END_TEST

/* promise: F12 */
START_TEST(random_fabric)
{
	struct topo t;

	random_topo(&t, (uint64_t)_i);
	check_sound(&t);
	topo_free(&t);
}
END_TEST

START_TEST(recorded_fabrics)
{
	struct topo t;

	if (!recorded_topo(&t, _i))
		return;
	check_sound(&t);
	topo_free(&t);
}
END_TEST

/* --- multicast --- */

/* Walks the tree from `sw`: each switch once, each link in both switches' sets. */
static unsigned walk_tree(const struct fabric *f, const struct flat *m, uint32_t sw,
			  uint32_t came_by, bool *seen)
{
	const struct fabric_node *n = &f->nodes[f->switches[sw].node];
	unsigned count = 1;

	ck_assert(!seen[sw]);
	seen[sw] = true;
	for (unsigned i = 1; i <= 255; i++) {
		if (!(m->ports[sw][i / 64] >> i % 64 & 1))
			continue;
		ck_assert_uint_le(i, n->nports);
		uint32_t peer = f->ports[n->port0 + i].peer;

		ck_assert_uint_ne(peer, FABRIC_NONE);
		if (n->port0 + i == came_by || !node_is_switch(port_node(f, peer)))
			continue;
		uint32_t to = port_node(f, peer)->sw, back = f->ports[peer].num;

		ck_assert(m->ports[to][back / 64] >> back % 64 & 1);
		count += walk_tree(f, m, to, peer, seen);
	}
	return count;
}

/* Adds the dependencies of channels when any switch of the tree sends to all others. */
static void tree_edges(const struct fabric *f, const struct flat *m, uint32_t sw,
		       struct edges *edges)
{
	uint32_t port0 = f->nodes[f->switches[sw].node].port0;

	for (unsigned i = 1; i <= 255; i++)
		for (unsigned j = 1; j <= 255; j++) {
			if (i == j || !(m->ports[sw][i / 64] >> i % 64 & 1) ||
			    !(m->ports[sw][j / 64] >> j % 64 & 1))
				continue;
			uint32_t in = f->ports[port0 + i].peer, to = f->ports[port0 + j].peer;

			if (node_is_switch(port_node(f, in)) && node_is_switch(port_node(f, to)))
				add_edge(edges, in, port0 + j);
		}
}

/*
 * Trees and the tables of updn together have no credit loop, unless the order
 * has neither a vertex above all nor a safe place to turn.
 */
static void check_tree_harmless(const struct topo *t, const struct flat *m, const struct lfts *l)
{
	struct edges edges = { 0 };

	if (m->o->layered && !m->o->hub_safe)
		return;

	walk_tables(t, l, &edges, false);
	for (uint32_t sw = 0; sw < m->n_switches; sw++)
		tree_edges(t->f, m, sw, &edges);
	ck_assert(!edges_have_cycle(&edges, t->f->n_ports));
	edges_free(&edges);
}

/* o and l: the order of t's fabric, and the routes by it. */
static void check_tree_by(const struct topo *t, struct updn_order *o, const struct lfts *l,
			  const uint32_t *members, uint32_t n)
{
	const struct fabric *f = t->f;
	struct flat *m = flat_build_by(f, o, members, n);
	bool *seen = xcalloc(f->n_switches, sizeof(*seen));

	ck_assert_uint_eq(m->n_switches, f->n_switches);
	ck_assert_uint_eq(walk_tree(f, m, m->root, FABRIC_NONE, seen), m->n_on_tree);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t sw = fabric_switch_of(f, members[i]);
		bool is_switch = node_is_switch(port_node(f, members[i]));
		unsigned num = is_switch ? 0 : f->ports[f->ports[members[i]].peer].num;

		ck_assert(seen[sw]);
		ck_assert(m->ports[sw][num / 64] >> num % 64 & 1);
	}
	/* pruned: a switch at the end of a branch has a member */
	for (uint32_t sw = 0; sw < f->n_switches; sw++) {
		unsigned branches = 0;

		for (unsigned i = 0; i < 4; i++)
			branches += (unsigned)__builtin_popcountll(m->ports[sw][i]);
		if (!seen[sw])
			ck_assert_uint_eq(branches, 0);
		else if (m->n_on_tree > 1)
			ck_assert_uint_ge(branches, 2);
	}
	check_tree_harmless(t, m, l);
	free(seen);
	flat_free(m);
}

static void check_tree(const struct topo *t, const uint32_t *members, uint32_t n)
{
	struct updn_order *o = updn_order_new(t->f);
	struct topo ordered = *t;

	ordered.r.order = o;	/* or the engine would look for it once more */
	struct lfts *l = topo_route(&ordered, &route_updn);

	check_tree_by(t, o, l, members, n);
	lfts_free(l);
	updn_order_free(o);
}

static uint32_t some_members(const struct fabric *f, uint32_t *members, uint64_t seed)
{
	uint32_t n = 0;

	for (uint32_t p = 0; p < f->n_ports; p++)
		if (port_is_end(f, p) && (seed == 0 || hash64(seed * 999983 + p) % 4 == 0))
			members[n++] = p;
	return n;
}

START_TEST(mcast_random)
{
	struct topo t;

	random_topo(&t, (uint64_t)_i);
	uint32_t *members = xcalloc(t.f->n_ports, sizeof(*members));
	struct updn_order *o = updn_order_new(t.f);

	t.r.order = o;	/* or the engine would look for it once more */
	struct lfts *l = topo_route(&t, &route_updn);

	for (uint64_t seed = 0; seed < 4; seed++) {
		uint32_t n = some_members(t.f, members, seed);

		if (n)
			check_tree_by(&t, o, l, members, n);
	}
	lfts_free(l);
	updn_order_free(o);
	free(members);
	topo_free(&t);
}
END_TEST

/* In a tree: the lowest switch that has all below it is the root, and packets go up, then down. */
START_TEST(mcast_fat_tree)
{
	struct fat p = trees[4];
	struct topo t;

	fat_topo(&t, &p, 0);
	uint32_t a = fat_host(&t, &p, 0), members[4];
	static const unsigned other[] = { 1, 7, 35, 36, 200 }, on_tree[] = { 1, 3, 3, 5, 5 };

	for (unsigned i = 0; i < ARRAY_SIZE(other); i++) {
		members[0] = a;
		members[1] = fat_host(&t, &p, other[i]);
		check_tree(&t, members, 2);
		struct flat *m = flat_build(t.f, members, 2);

		ck_assert_uint_eq(m->n_on_tree, on_tree[i]);
		flat_free(m);
	}
	/* with members all over: each leaf, one middle switch of each pod, one spine */
	uint32_t *all = xcalloc(t.f->n_ports, sizeof(*all)), n = 0;

	for (unsigned i = 0; i < p.pods * p.leaves * p.hosts; i++)
		all[n++] = fat_host(&t, &p, i);
	check_tree(&t, all, n);
	struct flat *m = flat_build(t.f, all, n);

	ck_assert_uint_eq(m->n_on_tree, p.pods * p.leaves + p.pods + 1);
	ck_assert_uint_eq(t.f->nodes[t.f->switches[m->root].node].nports, p.pods);
	flat_free(m);
	free(all);
	topo_free(&t);
	fat_free(&p);
}
END_TEST

/* After members come and go one by one, the tree is the one that the present members make. */
START_TEST(mcast_one_by_one)
{
	struct topo t;

	random_topo(&t, (uint64_t)_i);
	struct flat *m = flat_new(t.f, NULL);
	uint32_t *members = xcalloc(t.f->n_ports, sizeof(*members));
	uint32_t n = some_members(t.f, members, 0), root;
	unsigned *role = xcalloc(n + 1, sizeof(*role));
	struct mcast_member_port *all = xcalloc(n + 1, sizeof(*all));
	uint32_t *load = xcalloc(t.f->n_switches + 1u, sizeof(*load));
	bool legal;

	for (uint32_t i = 0; i < n; i++)
		all[i] = (struct mcast_member_port){ members[i], 3 };
	root = mcast_choose_root(m->w, all, n, load, FABRIC_NONE, &legal);
	struct mcast_tree *grown = root == FABRIC_NONE ? NULL : mcast_tree_new(m->w, root, 3);

	for (unsigned step = 0; grown && n && step < 300; step++) {
		uint64_t dice = hash64((uint64_t)_i << 32 | step);
		uint32_t who = (uint32_t)(dice % n);
		static const unsigned roles[] = { 0, 0, MCAST_SENDS, 3 };

		role[who] = step > 270 ? 0 : roles[dice >> 40 & 3];
		if (mcast_tree_set(grown, members[who], role[who]) == MCAST_SET_NO_WAY)
			role[who] = 0;
		struct mcast_tree *made = mcast_tree_new(m->w, root, 3);

		for (uint32_t i = n; i-- > 0;)
			if (role[i])
				mcast_tree_set(made, members[i], role[i]);
		ck_assert_uint_eq(made->n_on, grown->n_on);
		ck_assert_uint_eq(made->top, grown->top);
		for (uint32_t sw = 0; sw < t.f->n_switches; sw++) {
			uint64_t a[4], b[4];

			mcast_tree_ports(grown, sw, a);
			mcast_tree_ports(made, sw, b);
			ck_assert_mem_eq(a, b, sizeof(a));
		}
		/* all changes were given */
		for (uint32_t sw = 0; sw < t.f->n_switches; sw++) {
			uint64_t now[4];
			bool told = false;

			mcast_tree_ports(grown, sw, now);
			for (size_t k = 0; k < grown->touched.n; k++)
				told |= grown->touched.v[k] == sw;
			ck_assert(told || !memcmp(now, m->ports[sw], sizeof(now)));
			memcpy(m->ports[sw], now, sizeof(now));
		}
		grown->touched.n = 0;
		mcast_tree_free(made);
	}
	mcast_tree_free(grown);
	free(load);
	free(all);
	free(role);
	free(members);
	flat_free(m);
	topo_free(&t);
}
END_TEST

/* The fabric without some links, and which of its nodes had one of them. */
static struct fabric *without_links(const struct fabric *f, unsigned n, uint64_t seed,
				    uint8_t **changed)
{
	struct fabric *g = fabric_clone(f), *h;
	uint64_t *touched = xcalloc(2 * n + 1, sizeof(*touched));
	struct buf err = { 0 };
	size_t n_touched = 0;

	for (unsigned i = 0; i < n; i++) {
		uint32_t port = (uint32_t)(hash64(seed * 1000003 + i) % g->n_ports);

		while (g->ports[port].peer == FABRIC_NONE || port == g->self ||
		       g->ports[port].peer == g->self)
			port = (port + 1) % g->n_ports;
		touched[n_touched++] = port_node(g, port)->guid;
		touched[n_touched++] = port_node(g, g->ports[port].peer)->guid;
		fabric_cut(g, port);
	}
	h = fabric_settle(g, &err);
	ck_assert_ptr_nonnull(h);
	*changed = xcalloc(h->n_nodes, 1);
	for (uint32_t i = 0; i < h->n_nodes; i++)
		for (size_t k = 0; k < n_touched; k++)
			(*changed)[i] |= h->nodes[i].guid == touched[k];
	free(touched);
	buf_free(&err);
	fabric_free(g);
	return h;
}

/* The members in another fabric, by GUID; false: not all are there. */
static bool find_members(const struct fabric *f, struct mcast_member_port *members, uint32_t n,
			 const struct fabric *there)
{
	for (uint32_t i = 0; i < n; i++) {
		members[i].port = fabric_find_port(there, f->ports[members[i].port].guid);
		if (members[i].port == FABRIC_NONE)
			return false;
	}
	return true;
}

static struct mcast_tree *tree_of(struct mcast_forest *w, const struct mcast_member_port *members,
				  uint32_t n, uint32_t root, unsigned salt)
{
	struct mcast_tree *t = mcast_tree_new(w, root, salt);

	for (uint32_t i = 0; i < n; i++)
		mcast_tree_set(t, members[i].port, members[i].role);
	t->touched.n = 0;
	return t;
}

/* A moved tree must be equal to one made in the new fabric. */
static void check_moved(struct mcast_forest *to, const struct mcast_tree *moved,
			const struct mcast_member_port *members, uint32_t n, uint32_t n_switches)
{
	uint32_t *load = xcalloc(n_switches + 1u, sizeof(*load));
	bool legal;

	ck_assert_uint_eq(mcast_choose_root(to, members, n, load, mcast_tree_root(moved), &legal),
			  mcast_tree_root(moved));
	ck_assert(legal);
	struct mcast_tree *made = tree_of(to, members, n, mcast_tree_root(moved), moved->salt);

	ck_assert_uint_eq(made->n_on, moved->n_on);
	ck_assert_uint_eq(made->top, moved->top);
	ck_assert_uint_eq(moved->touched.n, 0);
	for (uint32_t sw = 0; sw < n_switches; sw++) {
		uint64_t a[4], b[4];

		mcast_tree_ports(moved, sw, a);
		mcast_tree_ports(made, sw, b);
		ck_assert_mem_eq(a, b, sizeof(a));
	}
	mcast_tree_free(made);
	free(load);
}

/* Trees of a few members each, before and after some links are gone; returns how many stayed. */
static unsigned move_trees(const struct fabric *f, unsigned n_trees, unsigned links, uint64_t seed)
{
	uint8_t *changed;
	struct fabric *h = without_links(f, links, seed, &changed);
	struct flat *from = flat_new(f, NULL), *to = flat_new(h, NULL);
	struct mcast_move *move = mcast_move_new(from->w, to->w, changed);
	uint32_t *load = xcalloc(f->n_switches + 1u, sizeof(*load));
	unsigned moved = 0;

	for (unsigned k = 0; k < n_trees; k++) {
		struct mcast_member_port members[4];
		uint32_t n = 1 + (uint32_t)(hash64(seed + k) % 4), root;
		bool legal;

		for (uint32_t i = 0; i < n; i++) {
			uint32_t port = (uint32_t)(hash64(seed * 77 + k * 5 + i) % f->n_ports);

			while (!port_is_end(f, port))
				port = (port + 1) % f->n_ports;
			members[i] = (struct mcast_member_port){ port, i % 3 ? 3 : MCAST_SENDS };
		}
		root = mcast_choose_root(from->w, members, n, load, FABRIC_NONE, &legal);
		if (root == FABRIC_NONE)
			continue;
		load[root]++;
		struct mcast_tree *t = tree_of(from->w, members, n, root, k);

		if (legal && find_members(f, members, n, h) && mcast_tree_move(move, t)) {
			check_moved(to->w, t, members, n, h->n_switches);
			moved++;
		}
		mcast_tree_free(t);
	}
	mcast_move_free(move);
	flat_free(from);
	flat_free(to);
	free(load);
	free(changed);
	fabric_free(h);
	return moved;
}

/* promise: D42 */
START_TEST(mcast_trees_that_stay)
{
	struct topo t;

	random_topo(&t, (uint64_t)_i);
	if (t.f->n_switches > 1)
		move_trees(t.f, 40, (unsigned)_i % 3, (uint64_t)_i);
	topo_free(&t);
}
END_TEST

/* A lost link changes only trees on its ends, or trees that it had led elsewhere. */
/* promise: D42 */
START_TEST(mcast_few_trees_are_made_anew)
{
	struct fat p = trees[4];
	struct topo t;

	fat_topo(&t, &p, 0);
	ck_assert_uint_eq(move_trees(t.f, 200, 0, 1), 200);
	for (uint64_t seed = 0; seed < 20; seed++)
		ck_assert_uint_gt(move_trees(t.f, 200, 1, seed), 120);
	topo_free(&t);
	fat_free(&p);
}
END_TEST

/* A send-only member receives nothing, but its switch forwards what it sends. */
START_TEST(mcast_send_only)
{
	struct fat p = trees[4];
	struct topo t;

	fat_topo(&t, &p, 0);
	struct flat *m = flat_new(t.f, NULL);
	uint32_t a = fat_host(&t, &p, 0), b = fat_host(&t, &p, 200);
	uint32_t root = m->o->g->sw[m->o->g->n - 1];
	struct mcast_tree *tree = mcast_tree_new(m->w, root, 0);

	mcast_tree_set(tree, a, MCAST_SENDS | MCAST_RECEIVES);
	mcast_tree_set(tree, b, MCAST_SENDS);
	flatten(m, tree);
	ck_assert_uint_eq(m->n_on_tree, 5);
	const uint64_t *at_b = m->ports[fabric_switch_of(t.f, b)];
	unsigned num = t.f->ports[t.f->ports[b].peer].num;

	ck_assert_uint_eq(at_b[num / 64] >> num % 64 & 1, 0);
	ck_assert_uint_eq((unsigned)__builtin_popcountll(at_b[0]), 1);
	mcast_tree_free(tree);
	flat_free(m);
	topo_free(&t);
	fat_free(&p);
}
END_TEST

/* Over many groups, the numbers of trees of any two top switches differ by at most one; a usable root stays. */
START_TEST(mcast_roots_are_spread)
{
	struct fat p = trees[4];
	struct topo t;

	fat_topo(&t, &p, 0);
	struct flat *m = flat_new(t.f, NULL);
	const struct graph *g = m->o->g;
	uint32_t *load = xcalloc(t.f->n_switches, sizeof(*load)), tops = 0, least, most = 0;
	uint32_t *middle = xcalloc(g->n, sizeof(*middle)), first_two[2];
	struct mcast_member_port members[2] = { { fat_host(&t, &p, 0), 3 },
						{ fat_host(&t, &p, 200), 3 } };
	bool legal;

	for (uint32_t v = 0; v < g->n; v++)
		tops += g->up0[v] == g->trunk0[v + 1];
	ck_assert_uint_gt(tops, 1);
	for (uint32_t i = 0; i < 3 * tops + 1; i++) {
		uint32_t root = mcast_choose_root(m->w, members, 2, load, FABRIC_NONE, &legal);

		ck_assert(legal);
		if (i < 2)
			first_two[i] = root;
		load[root]++;
		ck_assert_uint_eq(mcast_choose_root(m->w, members, 2, load, root, &legal), root);
	}
	least = UINT32_MAX;
	for (uint32_t v = 0; v < g->n; v++) {
		if (g->up0[v] != g->trunk0[v + 1]) {
			ck_assert_uint_eq(load[g->sw[v]], 0);
			continue;
		}
		least = load[g->sw[v]] < least ? load[g->sw[v]] : least;
		most = load[g->sw[v]] > most ? load[g->sw[v]] : most;
	}
	ck_assert_uint_eq(least, 3);
	ck_assert_uint_eq(most, 4);
	/* the first two have no middle switch in common */
	for (unsigned i = 0; i < 2; i++) {
		uint32_t v = 0;

		while (g->sw[v] != first_two[i])
			v++;
		for (uint32_t k = g->trunk0[v]; k < g->trunk0[v + 1]; k++)
			ck_assert_uint_eq(middle[g->trunks[k].v]++, 0);
	}
	free(middle);
	free(load);
	flat_free(m);
	topo_free(&t);
	fat_free(&p);
}
END_TEST

/* Trees avoid a switch that forwards no multicast. */
START_TEST(mcast_round_the_unable)
{
	struct fat p = trees[4];
	struct topo t;

	fat_topo(&t, &p, 0);
	uint32_t members[2] = { fat_host(&t, &p, 0), fat_host(&t, &p, 200) };

	for (unsigned lost = 0; lost < 3; lost++) {
		struct flat *m = flat_build(t.f, members, 2);

		ck_assert_uint_eq(m->n_on_tree, 5);
		for (uint32_t sw = 0; sw < t.f->n_switches; sw++)
			if (!t.f->switches[sw].mcast_cap)
				ck_assert_uint_eq(m->ports[sw][0], 0);
		t.f->switches[m->root].mcast_cap = 0;
		flat_free(m);
	}
	t.f->switches[fabric_switch_of(t.f, members[1])].mcast_cap = 0;
	struct flat *m = flat_build(t.f, members, 2);
	ck_assert_uint_eq(m->n_on_tree, 1);
	flat_free(m);
	topo_free(&t);
	fat_free(&p);
}
END_TEST

/* A fabric in two parts: each part gets its own tree. */
START_TEST(mcast_divided)
{
	struct fabric *f = topo_begin();
	uint32_t a = topo_switch(f, 1, 4), b = topo_switch(f, 2, 4), members[2];
	struct topo t;

	topo_host(f, a, 1);
	topo_host(f, b, 1);
	topo_finish(&t, f, 0);
	members[0] = f->self;
	members[1] = fabric_port(f, b, 1)->peer;
	struct flat *m = flat_build(f, members, 2);

	ck_assert_uint_eq(m->n_on_tree, 1);
	flat_free(m);
	m = flat_build(f, members, 0);
	ck_assert_uint_eq(m->n_on_tree, 0);
	ck_assert_uint_eq(m->root, FABRIC_NONE);
	flat_free(m);
	topo_free(&t);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("route");
	TCase *tc = tcase_create("all");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, engines_by_name);
	tcase_add_test(tc, new_tables_drop);
	tcase_add_test(tc, no_switch);
	tcase_add_test(tc, one_switch);
	tcase_add_test(tc, switches_only);
	tcase_add_loop_test(tc, ring, 4, 7);
	tcase_add_test(tc, credit_loop_text);
	tcase_add_test(tc, verdict_on_rubbish);
	tcase_add_loop_test(tc, verdict_on_holes, 0, 8);
	tcase_add_test(tc, divided);
	tcase_add_loop_test(tc, full_fat_tree, 0, 3 * ARRAY_SIZE(trees));
	tcase_add_loop_test(tc, aggregation_nodes, 0, 3 * ARRAY_SIZE(trees));
	tcase_add_loop_test(tc, uneven_fat_tree, 0, 10);
	tcase_add_loop_test(tc, lmc_spreads, 0, ARRAY_SIZE(trees));
	tcase_add_loop_test(tc, removed_links, 0, cases(40));
	tcase_add_loop_test(tc, loss_moves_little, 0, 9);
	tcase_add_test(tc, half_empty_leaves);
	tcase_add_test(tc, missing_hosts);
	tcase_add_test(tc, lmc_prefers_neighbours);
	tcase_add_test(tc, order_of_discovery);
	tcase_add_loop_test(tc, hosts_on_a_spine, 0, 3);
	tcase_add_loop_test(tc, no_cliff, 0, cases(40));
	tcase_add_test(tc, more_passes);
	tcase_add_test(tc, bandwidth_of_what_is_left);
	tcase_add_loop_test(tc, busiest_is_relieved, 0, 2);
	tcase_add_test(tc, two_of_a_plane);
	tcase_add_test(tc, searched_order);
	tcase_add_test(tc, sparse_orders);
	tcase_add_loop_test(tc, hosts_beside_a_multiple, 0, 4);
	tcase_add_test(tc, hosts_on_two_levels);
	tcase_add_test(tc, cable_between_leaves);
	tcase_add_loop_test(tc, torus, 0, 4);
	tcase_add_loop_test(tc, random_fabric, 0, cases(200));
	tcase_add_loop_test(tc, recorded_fabrics, 0, RECORDED);
	tcase_add_loop_test(tc, mcast_random, 0, cases(200));
	tcase_add_test(tc, mcast_fat_tree);
	tcase_add_loop_test(tc, mcast_one_by_one, 0, cases(100));
	tcase_add_loop_test(tc, mcast_trees_that_stay, 0, cases(200));
	tcase_add_test(tc, mcast_few_trees_are_made_anew);
	tcase_add_test(tc, mcast_send_only);
	tcase_add_test(tc, mcast_roots_are_spread);
	tcase_add_test(tc, mcast_round_the_unable);
	tcase_add_test(tc, mcast_divided);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
