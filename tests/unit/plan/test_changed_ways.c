/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compares incremental updates of the verdict, the paths and the judgement of routes with computing them
 * from nothing.  Links, hosts and switches come and go at random, ports return with other limits, nodes
 * in another order, and tables are damaged.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>

#include "fabric/edit.h"
#include "lib/base/alloc.h"
#include "net.h"
#include "plan/feasible/feasible.h"
#include "plan/routes/changed_ways.h"
#include "unit/run.h"

#define LEAVES 5
#define SPINES 3
#define PER_LEAF 3
#define HOSTS (LEAVES * PER_LEAF)
#define STUBS 2		/* switches that forward only packets to themselves */
#define SWITCHES (LEAVES + SPINES + STUBS)
#define NODES (HOSTS + SWITCHES)
#define LINKS (HOSTS + LEAVES * SPINES + 1 + STUBS)
#define EVENTS 120
enum { SPINE = 0x900, LEAF = 0x500, HOST = 0x1000 };

/* Leaves, spines and stubs are nodes HOSTS …; the links of the stubs are the last links. */
static struct end {
	unsigned node, num;
} ends[LINKS][2];
static bool up[LINKS], here[NODES];
static uint8_t mtu[HOSTS], vls[HOSTS];
static unsigned order[NODES];
static uint64_t seed;

static struct settings *settings;
static struct policy *policy;
static struct lid_map known;

static unsigned below(unsigned n)
{
	return net_random(&seed) % n;
}

static uint64_t guid_of(unsigned node)
{
	return node < HOSTS ? HOST + 0x10 * node :
	       node < HOSTS + LEAVES ? LEAF + node : SPINE + node;
}

static void limit(struct fabric_port *p, unsigned mtu_code, unsigned vl_code)
{
	uint8_t info[64];

	memcpy(info, p->info, sizeof(info));
	mad_set_field(info, 0, IB_PORT_MTU_CAP_F, mtu_code);
	mad_set_field(info, 0, IB_PORT_VL_CAP_F, vl_code);
	fabric_port_store(p, info);
}

/* Builds the present fabric, with fixed LIDs. */
static struct fabric *build(void)
{
	struct fabric *f = fabric_new(), *to;
	uint32_t index[NODES];
	struct buf err = { 0 };

	for (unsigned i = 0; i < NODES; i++) {
		unsigned node = order[i];

		if (!here[node])
			continue;
		index[node] = node < HOSTS ? net_ca(f, guid_of(node), 1) :
			      net_switch(f, guid_of(node), 8, node % 2);
		if (node < HOSTS)
			limit(fabric_port(f, index[node], 1), mtu[node], vls[node]);
		if (node == NODES - 1)		/* from there on, less gets through */
			limit(fabric_port(f, index[node], 1), 1, 4);
	}
	for (unsigned i = 0; i < LINKS; i++)
		if (up[i] && here[ends[i][0].node] && here[ends[i][1].node])
			ck_assert(fabric_link(f, index[ends[i][0].node], ends[i][0].num,
					      index[ends[i][1].node], ends[i][1].num));
	net_finish(f);
	to = fabric_settle(f, &err);
	ck_assert_ptr_nonnull(to);
	buf_free(&err);
	fabric_free(f);
	return to;
}

/* A policy whose tables differ by class of port, so that a switch has several tables for its pairs. */
static struct policy *make_policy(void)
{
	struct policy *p = policy_builtin();

	p->has_fabric_setup = true;
	for (unsigned c = 0; c < PORT_CLASS_COUNT; c++) {
		struct policy_class_default *x = &p->defaults[c];

		x->given = x->has_sl2vl = x->has_low = true;
		for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
			x->sl2vl.vl[sl] = (uint8_t)(sl % (c + 2) + (sl > 11 + c ? IB_VL_DROP : 0)) &
					  IB_VL_DROP;
		x->arb.n_low = 1;
		x->arb.low[0] = (struct vlarb_entry){ 0, 1 };
	}
	return p;
}

static void link_up(unsigned i, unsigned a, unsigned a_num, unsigned b, unsigned b_num)
{
	ends[i][0] = (struct end){ a, a_num };
	ends[i][1] = (struct end){ b, b_num };
	up[i] = true;
}

static void setup(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < NODES; i++) {
		order[i] = i;
		here[i] = true;
	}
	for (unsigned i = 0; i < HOSTS; i++) {
		mtu[i] = vls[i] = 4;
		link_up(n++, i, 1, HOSTS + i / PER_LEAF, 1 + i % PER_LEAF);
	}
	for (unsigned i = 0; i < LEAVES; i++)
		for (unsigned k = 0; k < SPINES; k++)
			link_up(n++, HOSTS + i, 5 + k, HOSTS + LEAVES + k, 1 + i);
	link_up(n++, HOSTS, 4, HOSTS + 1, 4);
	link_up(n++, HOSTS + 2, 8, NODES - 2, 1);
	link_up(n++, NODES - 2, 2, NODES - 1, 1);
	settings = settings_default();
	policy = make_policy();
	map64_init(&known.by_guid, 64);
	map64_init(&known.lmc_by_guid, 64);
	struct fabric *f = build();
	struct plan *p = plan_compute(f, policy, settings, NULL, NULL, NULL);

	for (uint32_t i = 0; i < f->n_ports; i++)
		if (p->lid[i]) {
			map64_put(&known.by_guid, f->ports[i].guid, p->lid[i]);
			map64_put(&known.lmc_by_guid, f->ports[i].guid, 0);
		}
	plan_free(p);
	fabric_free(f);
}

static void teardown(void)
{
	map64_free(&known.by_guid);
	map64_free(&known.lmc_by_guid);
	known = (struct lid_map){ 0 };
	policy_free(policy);
	settings_free(settings);
}

/* Makes a random change; the SM's host, node 0, and its link stay. */
static void happen(void)
{
	unsigned node = 1 + below(HOSTS - 1), other, was;

	switch (below(9)) {
	case 0:
	case 1:
	case 2:
		node = 1 + below(LINKS - 1);
		up[node] = !up[node] || below(2);
		break;
	case 3:
		here[node] = !here[node];
		break;
	case 4:
		other = NODES - 1 - below(STUBS);
		here[other] = !here[other];
		node = HOSTS + 1 + below(SWITCHES - 1);
		here[node] = !here[node] || below(3) == 0;
		break;
	case 5:
		mtu[node] = (uint8_t)(2 + below(3));
		break;
	case 6:
		vls[node] = (uint8_t)(2 + below(3));
		break;
	case 8:		/* as it should be */
		for (unsigned i = 0; i < NODES + LINKS; i++)
			*(i < NODES ? &here[i] : &up[i - NODES]) = true;
		break;
	case 7:
		node = 1 + below(NODES - 1);
		other = 1 + below(NODES - 1);
		was = order[node];
		order[node] = order[other];
		order[other] = was;
		break;
	}
}

static void set_entry(struct plan *p, unsigned node, unsigned dst, unsigned num)
{
	uint32_t at = map64_get(&p->f->node_by_guid, guid_of(node));
	uint32_t port = fabric_find_port(p->f, guid_of(dst) + 1);

	if (at != MAP64_NONE && port != FABRIC_NONE)
		p->lfts->entries[p->f->nodes[at].sw * p->lfts->stride + p->lid[port]] =
			(uint8_t)num;
}

/* Damaged entries, for some time. */
static struct {
	unsigned node, dst, num;
} damages[8];
static unsigned n_damages;

static void damage(struct plan *p, struct plan *q)
{
	for (unsigned i = 0; i < n_damages; i++) {
		set_entry(p, damages[i].node, damages[i].dst, damages[i].num);
		set_entry(q, damages[i].node, damages[i].dst, damages[i].num);
	}
}

static void choose_damage(void)
{
	n_damages = below(8);
	for (unsigned i = 0; i < n_damages; i++) {
		damages[i].node = HOSTS + below(SWITCHES);
		damages[i].dst = below(HOSTS);
		damages[i].num = below(10);
	}
}

/* Makes a credit loop of four routes, from leaf to leaf to leaf over two spines in turn. */
static void close_cycle(struct plan *p)
{
	for (unsigned i = 0; i < 4; i++) {
		unsigned via = (i + 1) % 4, to = (i + 2) % 4, host = to * PER_LEAF, spine = i % 2;

		set_entry(p, HOSTS + i, host, 5 + spine);
		set_entry(p, HOSTS + LEAVES + spine, host, 1 + via);
		set_entry(p, HOSTS + via, host, 5 + !spine);
		set_entry(p, HOSTS + LEAVES + !spine, host, 1 + to);
	}
}

static void same_findings(const struct findings *a, const struct findings *b)
{
	ck_assert_uint_eq(a->n, b->n);
	for (size_t i = 0; i < a->n; i++)
		ck_assert_str_eq(a->v[i].text, b->v[i].text);
}

static void same_lost(const struct route_lost *a, const struct route_lost *b)
{
	ck_assert_uint_eq(a->n, b->n);
	ck_assert_uint_eq(a->src, b->src);
	ck_assert_uint_eq(a->dst, b->dst);
}

static void same(const struct plan *p, const struct plan *q)
{
	const struct route_report *a = &p->report, *b = &q->report;

	ck_assert_uint_eq(a->pairs, b->pairs);
	ck_assert_uint_eq(a->unreachable, b->unreachable);
	ck_assert_uint_eq(a->loops, b->loops);
	ck_assert_uint_eq(a->unreachable_src, b->unreachable_src);
	ck_assert_uint_eq(a->unreachable_dst, b->unreachable_dst);
	same_lost(&a->to_hosts, &b->to_hosts);
	same_lost(&a->to_aggregation, &b->to_aggregation);
	same_lost(&a->to_switches, &b->to_switches);
	same_lost(&a->of_sm, &b->of_sm);
	same_lost(&a->inner, &b->inner);
	ck_assert_uint_eq(a->inner_pairs, b->inner_pairs);
	ck_assert_uint_eq(a->max_hops, b->max_hops);
	ck_assert_uint_eq(a->host_hops, b->host_hops);
	ck_assert_uint_eq(a->credit_loop, b->credit_loop);
	same_findings(&p->findings, &q->findings);
	for (uint32_t sw = 0; sw < p->f->n_switches; sw++)
		for (uint32_t lid = 0; lid <= p->lid_top; lid++) {
			const struct path_class *x = paths_get(p->paths, sw, (uint16_t)lid);
			const struct path_class *y = paths_get(q->paths, sw, (uint16_t)lid);

			ck_assert_uint_eq(x->mtu, y->mtu);
			ck_assert_uint_eq(x->rate, y->rate);
			ck_assert_uint_eq(x->sl_mask, y->sl_mask);
		}
	for (uint32_t lid = 0; lid <= p->lid_top; lid++)
		ck_assert_int_eq(p->paths->by_lid[lid] == PATH_ROW,
				 q->paths->by_lid[lid] == PATH_ROW);
	same_findings(&p->feasible->findings, &q->feasible->findings);
	for (size_t i = 0; i < policy->n_levels; i++) {
		ck_assert_uint_eq(p->feasible->levels[i].pairs, q->feasible->levels[i].pairs);
		ck_assert_uint_eq(p->feasible->levels[i].unreachable,
				  q->feasible->levels[i].unreachable);
		ck_assert_uint_eq(p->feasible->levels[i].from, q->feasible->levels[i].from);
		ck_assert_uint_eq(p->feasible->levels[i].to, q->feasible->levels[i].to);
	}
}

/* How many LIDs were updated, of how many. */
struct work_done {
	unsigned changed, all, extended, cycles, loops, rows;
};

static void count_work(struct work_done *w, const struct plan *p, const struct plan *before)
{
	struct hops *hops = paths_hops(p->f, p->tables);
	struct route_changes *c = changes_find(p, hops, before);

	for (uint32_t lid = 0; c && lid <= c->top; lid++)
		if (p->port_by_lid[lid] != FABRIC_NONE) {
			w->changed += route_changed(c, lid);
			w->extended += c->n_new && !route_changed(c, lid);
			w->all++;
		}
	w->cycles += p->report.credit_loop;
	w->loops += p->report.loops > 0;
	w->rows += (unsigned)p->paths->shared.n;
	route_changes_free(c);
	/* its own copy, because the paths take it over */
	paths_free(paths_update(p->f, p->lfts, p->lid_top, p->port_by_lid, p->tables, hops, NULL,
				NULL));
}

/* promise: F9 */
START_TEST(same_as_from_nothing)
{
	struct fabric *f = build(), *g;
	struct plan *before = plan_compute(f, policy, settings, &known, NULL, NULL), *p, *q;
	struct work_done w = { 0 };

	n_damages = 0;
	seed = 17 + 1000003ull * (unsigned)_i;
	for (unsigned i = 0; i < EVENTS; i++) {
		happen();
		g = build();
		p = plan_begin(g, policy, settings, &known, before, NULL);
		q = plan_begin(g, policy, settings, &known, before, NULL);
		if (_i % 2 && below(4) == 0)
			choose_damage();
		damage(p, q);
		if (_i % 2 && below(3) == 0) {
			close_cycle(p);
			close_cycle(q);
		}
		plan_complete(p, before, NULL);
		plan_complete(q, NULL, NULL);
		plan_judge(p, NULL);
		plan_judge(q, NULL);
		same(p, q);
		count_work(&w, p, before);
		if (below(10) == 0) {	/* devices keep to fewer VLs: so do the paths */
			for (uint32_t k = 0; k < g->n_ports; k++)
				g->ports[k].op_vls = 1;
			plan_follow(p, &(struct fixed_seen){ 0 }, NULL);
		}
		plan_free(q);
		plan_free(before);
		fabric_free(f);
		before = p;
		f = g;
	}
	/* the results must not be equal because everything was computed anew */
	ck_assert_uint_gt(w.all, EVENTS * HOSTS / 3);
	ck_assert_uint_lt(w.changed, w.all * 2 / 3);
	ck_assert_uint_gt(w.changed, 0);
	ck_assert_uint_gt(w.extended, 0);
	ck_assert_uint_gt(w.rows, 0);
	if (_i % 2) {
		ck_assert_uint_gt(w.loops, 0);
		ck_assert_uint_gt(w.cycles, 0);
	}
	plan_free(before);
	fabric_free(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("changes");
	TCase *c = tcase_create("changes");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, same_as_from_nothing, 0, 12);
	suite_add_tcase(s, c);
	return run_suite(s);
}
