/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests which SLs routes carry against a walk of every hop with every SL, on random
 * fabrics with random forwarding and SL-to-VL tables.
 *
 * promise: C1
 */
#include <check.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/iba/units.h"
#include "net.h"
#include "plan/paths.h"
#include "unit/run.h"

#define N_MAPS 4

struct world {
	struct fabric *f;
	struct lfts *l;
	struct qos_tables t;
	uint16_t top;
	uint16_t *lid;			/* per port slot */
	uint32_t *port_by_lid;
	uint64_t seed;
	VEC(struct fixed_map) seen;	/* on devices that keep other tables */
	bool fewer_vls;			/* … and some fewer VLs: fabric_port.op_vls counts */
};

static unsigned below(struct world *w, unsigned n)
{
	return net_random(&w->seed) % n;
}

/* --- a random world --- */

static void make_fabric(struct world *w, unsigned n_switches, unsigned n_hosts)
{
	uint32_t sw[32], host[64];

	w->f = fabric_new();
	for (unsigned i = 0; i < n_hosts; i++) {
		host[i] = net_ca(w->f, 0x100000 + i * 16, 2);
		if (i < n_switches)
			sw[i] = net_switch(w->f, 0x1000 + i, 8, below(w, 2));
	}
	for (unsigned i = 1; i < n_switches; i++)	/* a tree, then whatever fits */
		fabric_link(w->f, sw[i], 1, sw[below(w, i)], 2 + below(w, 3));
	for (unsigned i = 0; i < n_switches * 2; i++)
		fabric_link(w->f, sw[below(w, n_switches)], 1 + below(w, 8),
			    sw[below(w, n_switches)], 1 + below(w, 8));
	for (unsigned i = 0; i < n_hosts; i++)
		for (unsigned try = 0; try < 20; try++)
			fabric_link(w->f, host[i], 1 + below(w, 2), sw[below(w, n_switches)],
				    1 + below(w, 8));
	net_finish(w->f);
	for (uint32_t p = 0; p < w->f->n_ports; p++) {
		w->f->ports[p].mtu_cap = (uint8_t)(3 + below(w, 3));
		w->f->ports[p].rate = below(w, 8) ? 7 : (uint8_t)(2 + below(w, 20));
	}
}

static void give_lids(struct world *w)
{
	w->lid = xcalloc(w->f->n_ports, sizeof(*w->lid));
	w->port_by_lid = xmalloc((IB_LID_UCAST_MAX + 1) * sizeof(*w->port_by_lid));
	for (uint32_t lid = 0; lid <= IB_LID_UCAST_MAX; lid++)
		w->port_by_lid[lid] = FABRIC_NONE;
	for (uint32_t p = 0; p < w->f->n_ports; p++) {
		if (!port_is_end(w->f, p))
			continue;
		w->top += 1 + below(w, 3);
		w->lid[p] = w->top;
		w->port_by_lid[w->top] = p;
	}
}

/* Makes shortest routes to the LID, so that most routes work, and then damages some. */
static void route_lid(struct world *w, uint16_t lid, unsigned damage)
{
	const struct fabric *f = w->f;
	uint32_t dst = w->port_by_lid[lid], queue[32];
	unsigned head = 0, tail = 0;
	uint8_t *entry = w->l->entries + lid;
	uint32_t first = fabric_switch_of(f, dst);

	if (first != FABRIC_NONE) {
		entry[(size_t)first * w->l->stride] =
			node_is_switch(port_node(f, dst)) ? 0 : f->ports[f->ports[dst].peer].num;
		queue[tail++] = first;
	}
	while (head < tail) {
		uint32_t sw = queue[head++];
		const struct fabric_node *n = &f->nodes[f->switches[sw].node];

		for (unsigned num = 1; num <= n->nports; num++) {
			uint32_t peer = f->ports[n->port0 + num].peer;
			uint32_t next = peer == FABRIC_NONE ? FABRIC_NONE : port_node(f, peer)->sw;

			if (next == FABRIC_NONE || next == first ||
			    entry[(size_t)next * w->l->stride] != LFT_DROP)
				continue;
			entry[(size_t)next * w->l->stride] = f->ports[peer].num;
			queue[tail++] = next;
		}
	}
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		if (below(w, 100) < damage)
			entry[(size_t)sw * w->l->stride] = (uint8_t)below(w, 12);
}

static void make_tables(struct world *w, bool managed)
{
	struct qos_tables *t = &w->t;
	const struct fabric *f = w->f;

	t->managed = managed;
	t->n_ports = f->n_ports;
	t->op_vls = xcalloc(f->n_ports, 1);
	t->ca_map = xcalloc(f->n_ports, sizeof(*t->ca_map));
	t->sw = xcalloc(f->n_switches, sizeof(*t->sw));
	t->n_switches = f->n_switches;
	t->maps = xcalloc(N_MAPS, sizeof(*t->maps));
	t->n_maps = N_MAPS;
	for (unsigned m = 0; m < N_MAPS; m++)
		for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
			t->maps[m].vl[sl] = below(w, 4) ? (uint8_t)below(w, 8) : IB_VL_DROP;
	for (uint32_t p = 0; p < f->n_ports; p++) {
		t->op_vls[p] = (uint8_t)(3 + below(w, 3));
		t->ca_map[p] = (uint16_t)below(w, N_MAPS);
	}
	for (uint32_t s = 0; s < f->n_switches; s++) {
		unsigned ports = f->nodes[f->switches[s].node].nports + 1u;

		t->sw[s].uniform = below(w, 3) ? (uint16_t)below(w, N_MAPS) : TABLE_NONE;
		if (below(w, 2))
			continue;
		t->sw[s].uniform = TABLE_NONE;
		t->sw[s].ids = xcalloc(ports * ports, sizeof(uint16_t));
		for (unsigned i = 0; i < ports * ports; i++)
			t->sw[s].ids[i] = below(w, 9) ? (uint16_t)below(w, N_MAPS) : TABLE_NONE;
	}
}

static void make_world(struct world *w, uint64_t seed, bool managed, unsigned damage)
{
	*w = (struct world){ .seed = seed * 0x9e3779b97f4a7c15ULL + 1 };
	make_fabric(w, 2 + below(w, 12), 14 + below(w, 10));
	give_lids(w);
	make_tables(w, managed);
	w->l = lfts_new(w->f->n_switches, w->top);
	for (uint16_t lid = 1; lid <= w->top; lid++)
		if (w->port_by_lid[lid] != FABRIC_NONE)
			route_lid(w, lid, damage);
}

static void end_world(struct world *w)
{
	for (uint32_t s = 0; s < w->f->n_switches; s++)
		free(w->t.sw[s].ids);
	qos_fixed_free(w->t.fixed, w->f->n_switches);
	vec_free(&w->seen);
	free(w->t.sw);
	free(w->t.op_vls);
	free(w->t.ca_map);
	free(w->t.maps);
	free(w->lid);
	free(w->port_by_lid);
	lfts_free(w->l);
	fabric_free(w->f);
}

/* --- the slow walk --- */

struct slow {
	unsigned mtu, rate_tenths, sl_mask;
	unsigned nodes;		/* on the way, both ends included; 0: no route */
};

/* The table that the device was last seen to have, or else the planned one. */
static const struct sl2vl *in_force(const struct world *w, uint32_t node, unsigned in, unsigned out)
{
	for (size_t i = w->seen.n; i-- > 0;) {
		const struct fixed_map *m = &w->seen.v[i];

		if (m->node == node && m->in == in && m->out == out)
			return &m->map;
	}
	return &w->t.maps[qos_sl2vl_id(&w->t, w->f, node, in, out)];
}

/* Whether a packet of this SL that enters the node by `in` can leave by `out`. */
static bool sl_passes(const struct world *w, uint32_t node, unsigned in, unsigned out, unsigned sl)
{
	if (!w->t.managed)
		return sl == 0;
	uint16_t id = qos_sl2vl_id(&w->t, w->f, node, in, out);

	if (id == TABLE_NONE)
		return true;
	uint32_t port = w->f->nodes[node].port0 + out, peer = w->f->ports[port].peer;

	unsigned is = in_force(w, node, in, out)->vl[sl], vl = w->t.maps[id].vl[sl];

	if (is >= ib_vls_from_code(w->t.op_vls[port]))
		return false;
	if (w->fewer_vls && (is >= ib_vls_from_code(w->f->ports[port].op_vls) ||
			     (peer != FABRIC_NONE &&
			      is >= ib_vls_from_code(w->f->ports[peer].op_vls))))
		return false;
	return vl != 15 && vl < ib_vls_from_code(w->t.op_vls[w->f->nodes[node].port0 + out]);
}

static void slow_limit(struct slow *s, const struct fabric_port *p)
{
	if (p->mtu_cap < s->mtu)
		s->mtu = p->mtu_cap;
	if (rate_tenths(p->rate) < s->rate_tenths)
		s->rate_tenths = rate_tenths(p->rate);
}

static void slow_leave(const struct world *w, struct slow *s, uint32_t node, unsigned in,
		       unsigned out)
{
	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
		if (!sl_passes(w, node, in, out, sl))
			s->sl_mask &= ~(1u << sl);
}

static struct slow slow_walk(const struct world *w, uint32_t src, uint32_t dst, uint16_t lid)
{
	const struct fabric *f = w->f;
	struct slow s = { .mtu = 99, .rate_tenths = UINT32_MAX, .sl_mask = 0xffff };
	uint32_t node = f->ports[src].node;
	unsigned in = 0;

	slow_limit(&s, &f->ports[src]);
	for (s.nodes = 1; s.nodes < 60; s.nodes++) {
		const struct fabric_node *n = &f->nodes[node];
		bool is_switch = node_is_switch(n);
		unsigned out = is_switch ? lft_get(w->l, n->sw, lid) : f->ports[src].num;

		if (src == dst && s.nodes == 1) {
			slow_leave(w, &s, node, 0, is_switch ? 0 : out);
			return s;
		}
		if (n->port0 + in == dst && !is_switch)
			return s;
		if (!is_switch && s.nodes > 1)
			break;
		if (out > n->nports || (out == 0 && n->port0 != dst))
			break;
		slow_leave(w, &s, node, in, out);
		if (out == 0) {
			slow_limit(&s, &f->ports[dst]);
			return s;
		}
		uint32_t peer = f->ports[n->port0 + out].peer;

		if (peer == FABRIC_NONE)
			break;
		slow_limit(&s, &f->ports[n->port0 + out]);
		slow_limit(&s, &f->ports[peer]);
		node = f->ports[peer].node;
		in = f->ports[peer].num;
	}
	return (struct slow){ 0 };
}

/* --- tests --- */

static unsigned check_pair(const struct world *w, const struct paths *p, uint32_t src, uint16_t lid)
{
	uint32_t dst = w->port_by_lid[lid];
	struct path_hop hops[PATH_HOPS_MAX];
	struct path_info got = paths_between(p, w->f, w->l, &w->t, src, dst, lid);
	struct slow want = slow_walk(w, src, dst, lid);
	unsigned n = paths_walk(w->f, w->l, &w->t, src, lid, dst, hops, PATH_HOPS_MAX);

	ck_assert_uint_eq(n, want.nodes);
	if (!want.nodes) {
		ck_assert_uint_eq(got.mtu, 0);
		ck_assert_uint_eq(got.sl_mask, 0);
		return 0;
	}
	ck_assert_uint_eq(got.mtu, want.mtu);
	ck_assert_uint_eq(rate_tenths(got.rate), want.rate_tenths);
	ck_assert_uint_eq(got.sl_mask, want.sl_mask);
	ck_assert_uint_eq(hops[0].node, w->f->ports[src].node);
	ck_assert_uint_eq(hops[n - 1].node, w->f->ports[dst].node);
	ck_assert_uint_eq(hops[n - 1].out, 0);
	return 1;
}

static void check_world(uint64_t seed, bool managed, unsigned damage)
{
	struct world w;
	unsigned routes = 0;

	make_world(&w, seed, managed, damage);
	struct paths *p = paths_compute(w.f, w.l, w.top, w.port_by_lid, &w.t);

	for (uint32_t src = 0; src < w.f->n_ports; src++)
		for (uint16_t lid = 1; w.lid[src] && lid <= w.top; lid++)
			if (w.port_by_lid[lid] != FABRIC_NONE)
				routes += check_pair(&w, p, src, lid);
	ck_assert_uint_gt(routes, 50);
	paths_free(p);
	end_world(&w);
}

START_TEST(same_as_a_walk)
{
	check_world((uint64_t)_i, true, 0);
}
END_TEST

START_TEST(same_as_a_walk_with_broken_routes)
{
	check_world(1000 + (uint64_t)_i, true, 8);
}
END_TEST

START_TEST(same_as_a_walk_without_tables)
{
	check_world(2000 + (uint64_t)_i, false, 3);
}
END_TEST

/* Gives some pairs another table, some of these later the planned one; some ports have fewer VLs. */
static void keep_tables(struct world *w)
{
	const struct fabric *f = w->f;
	struct findings found = { 0 };

	for (unsigned i = 0; i < 200; i++) {
		uint32_t node = below(w, f->n_nodes);
		bool is_switch = node_is_switch(&f->nodes[node]);
		unsigned nports = f->nodes[node].nports;
		struct fixed_map m = {
			.node = node, .in = (uint8_t)(is_switch ? below(w, nports + 1) : 0),
			.out = (uint8_t)(is_switch ? below(w, nports + 1) : 1 + below(w, nports)),
		};
		uint16_t id = qos_sl2vl_id(&w->t, f, node, m.in, m.out);

		if (id == TABLE_NONE)
			continue;
		if (below(w, 4))
			for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
				m.map.vl[sl] = below(w, 5) ? (uint8_t)below(w, 4) : IB_VL_DROP;
		else
			m.map = w->t.maps[id];
		*vec_push(&w->seen) = m;
	}
	w->fewer_vls = true;
	for (uint32_t p = 0; p < f->n_ports; p++)
		f->ports[p].op_vls = below(w, 8) ? 5 : (uint8_t)(1 + below(w, 2));
	qos_tables_keep(&w->t, f, &(struct fixed_seen){ .maps = w->seen.v, .n_maps = w->seen.n },
			&found);
	ck_assert_uint_gt(found.n, 0);
	findings_free(&found);
}

START_TEST(same_as_a_walk_by_tables_that_are_kept)
{
	struct world w;
	unsigned differ = 0;

	make_world(&w, 3000 + (uint64_t)_i, true, 3);
	struct paths *wanted = paths_compute(w.f, w.l, w.top, w.port_by_lid, &w.t);

	keep_tables(&w);
	struct paths *p = paths_compute(w.f, w.l, w.top, w.port_by_lid, &w.t);

	for (uint32_t src = 0; src < w.f->n_ports; src++)
		for (uint16_t lid = 1; w.lid[src] && lid <= w.top; lid++)
			if (w.port_by_lid[lid] != FABRIC_NONE)
				check_pair(&w, p, src, lid);
	for (uint16_t lid = 1; lid <= w.top; lid++)
		for (uint32_t s = 0; s < w.f->n_switches; s++) {
			uint16_t before = paths_get(wanted, s, lid)->sl_mask;
			uint16_t now = paths_get(p, s, lid)->sl_mask;

			ck_assert_uint_eq(now & ~before, 0);	/* nothing is offered by mistake */
			differ += now != before;
		}
	ck_assert_uint_gt(differ, 0);
	paths_free(wanted);
	paths_free(p);
	end_world(&w);
}
END_TEST

START_TEST(host_to_host_without_switch)
{
	struct world w = { .f = fabric_new(), .top = 2 };
	uint32_t a = net_ca(w.f, 0x10, 1), b = net_ca(w.f, 0x20, 1);

	fabric_link(w.f, a, 1, b, 1);
	net_finish(w.f);
	w.lid = xcalloc(w.f->n_ports, sizeof(*w.lid));
	w.port_by_lid = xcalloc(IB_LID_UCAST_MAX + 1, sizeof(*w.port_by_lid));
	w.seed = 5;
	make_tables(&w, true);
	w.l = lfts_new(0, 2);
	uint32_t pa = w.f->nodes[a].port0 + 1, pb = w.f->nodes[b].port0 + 1;
	w.port_by_lid[0] = FABRIC_NONE;
	w.port_by_lid[1] = pa;
	w.port_by_lid[2] = pb;
	struct paths *p = paths_compute(w.f, w.l, w.top, w.port_by_lid, &w.t);

	ck_assert_uint_eq(check_pair(&w, p, pa, 2), 1);
	ck_assert_uint_eq(check_pair(&w, p, pb, 1), 1);
	ck_assert_uint_eq(check_pair(&w, p, pa, 1), 1);
	paths_free(p);
	end_world(&w);
}
END_TEST

/* A LID beyond the computed range has no route, and no memory is read for it. */
START_TEST(lid_beyond_the_top)
{
	struct world w;

	make_world(&w, 77, true, 0);
	struct paths *p = paths_compute(w.f, w.l, w.top, w.port_by_lid, &w.t);
	uint32_t src = w.port_by_lid[w.top], dst = w.f->self;
	struct path_hop hops[PATH_HOPS_MAX];

	ck_assert_uint_eq(paths_between(p, w.f, w.l, &w.t, src, dst, 0xbfff).mtu, 0);
	ck_assert_uint_eq(paths_walk(w.f, w.l, &w.t, src, 0xbfff, dst, hops, PATH_HOPS_MAX), 0);
	ck_assert_uint_eq(paths_walk(w.f, w.l, &w.t, src, w.lid[dst], dst, hops, 1), 0);
	paths_free(p);
	end_world(&w);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("paths");
	TCase *c = tcase_create("paths");

	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, same_as_a_walk, 0, cases(40));
	tcase_add_loop_test(c, same_as_a_walk_with_broken_routes, 0, cases(40));
	tcase_add_loop_test(c, same_as_a_walk_without_tables, 0, cases(20));
	tcase_add_loop_test(c, same_as_a_walk_by_tables_that_are_kept, 0, cases(40));
	tcase_add_test(c, host_to_host_without_switch);
	tcase_add_test(c, lid_beyond_the_top);
	suite_add_tcase(s, c);
	return run_suite(s);
}
