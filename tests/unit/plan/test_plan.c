/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests the plan as a whole: the order of engines, the report on routes, and that its parts agree. */
#include <check.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "net.h"
#include "plan/port_shares.h"
#include "plan/published_state.h"
#include "plan/routes/base_routes.h"
#include "unit/run.h"

/* A ring of switches with a host on each, where most routings have credit loops. */
static struct fabric *ring(unsigned n)
{
	struct fabric *f = fabric_new();
	uint32_t first = FABRIC_NONE, previous = FABRIC_NONE;

	for (unsigned i = 0; i < n; i++) {
		uint32_t ca = net_ca(f, 0x100000 + i * 16, 1);
		uint32_t sw = net_switch(f, 0x1000 + i, 4, false);

		ck_assert(fabric_link(f, sw, 1, ca, 1));
		if (previous == FABRIC_NONE)
			first = sw;
		else
			ck_assert(fabric_link(f, previous, 3, sw, 2));
		previous = sw;
	}
	if (n > 2)
		ck_assert(fabric_link(f, previous, 3, first, 2));
	net_finish(f);
	return f;
}

static void set_engines(struct settings *s, const char *a, const char *b)
{
	for (char **e = s->engines; *e; e++) {
		free(*e);
		*e = NULL;
	}
	s->engines[0] = a ? xstrdup(a) : NULL;
	s->engines[1] = a && b ? xstrdup(b) : NULL;
}

static bool finds(const struct plan *p, enum severity severity, const char *text)
{
	for (size_t i = 0; i < p->findings.n; i++)
		if (p->findings.v[i].severity == severity && strstr(p->findings.v[i].text, text))
			return true;
	return false;
}

struct scene {
	struct fabric *f;
	struct policy *policy;
	struct settings *settings;
	struct plan *p;
};

static struct scene compute(struct fabric *f, const char *a, const char *b)
{
	struct scene s = { .f = f, .policy = policy_builtin(), .settings = settings_default() };

	set_engines(s.settings, a, b);
	s.p = plan_compute(f, s.policy, s.settings, NULL, NULL, NULL);
	return s;
}

static void end(struct scene *s)
{
	plan_free(s->p);
	policy_free(s->policy);
	settings_free(s->settings);
	fabric_free(s->f);
}

START_TEST(first_engine_is_taken)
{
	struct scene s = compute(ring(6), "updn", "minhop");

	ck_assert_str_eq(s.p->engine, "updn");
	ck_assert_uint_eq(s.p->findings.n, 0);
	ck_assert_uint_eq(s.p->report.unreachable, 0);
	end(&s);
}
END_TEST

START_TEST(unknown_engine_is_skipped_aloud)
{
	struct scene s = compute(ring(6), "crystal-ball", "updn");

	ck_assert_str_eq(s.p->engine, "updn");
	ck_assert(finds(s.p, SEV_WARNING, "crystal-ball"));
	ck_assert_uint_eq(s.p->findings.count[SEV_ERROR], 0);
	end(&s);
}
END_TEST

START_TEST(no_engine_drops_everything_and_says_so)
{
	struct scene s = compute(ring(3), NULL, NULL);
	const struct plan *p = s.p;

	ck_assert_str_eq(p->engine, "none");
	ck_assert(finds(p, SEV_ERROR, "none of the routing engines"));
	ck_assert(finds(p, SEV_ERROR, "lead nowhere"));
	for (uint16_t lid = 1; lid <= p->lid_top; lid++)
		ck_assert_uint_eq(lft_get(p->lfts, 0, lid), LFT_DROP);
	end(&s);
}
END_TEST

START_TEST(credit_loop_is_a_warning)
{
	struct scene s = compute(ring(6), "minhop", NULL);

	ck_assert_str_eq(s.p->engine, "minhop");
	ck_assert(finds(s.p, SEV_WARNING, "credit loop"));
	end(&s);
}
END_TEST

START_TEST(every_pair_has_a_path)
{
	struct scene s = compute(ring(7), "updn", NULL);
	const struct plan *p = s.p;

	for (uint32_t src = 0; src < s.f->n_ports; src++)
		for (uint16_t lid = 1; p->lid[src] && lid <= p->lid_top; lid++) {
			struct path_info i = paths_between(p->paths, s.f, p->lfts, p->tables, src,
							   p->port_by_lid[lid], lid);
			ck_assert_uint_eq(i.mtu, 4);
			ck_assert_uint_eq(i.rate, 7);
			ck_assert_uint_eq(i.sl_mask, 1);	/* no policy, no tables: SL 0 */
		}
	end(&s);
}
END_TEST

START_TEST(lone_host)
{
	struct fabric *f = fabric_new();

	net_ca(f, 0x10, 1);
	net_finish(f);
	struct scene s = compute(f, "updn", "minhop");
	ck_assert_uint_eq(s.p->lid[f->self], 1);
	ck_assert_uint_eq(s.p->findings.count[SEV_ERROR], 0);
	end(&s);
}
END_TEST

static int64_t ticks;
static int64_t tick(void)
{
	return ticks++;
}

START_TEST(phases_are_timed)
{
	struct scene s = { ring(3), policy_builtin(), settings_default(), NULL };

	s.p = plan_compute(s.f, s.policy, s.settings, NULL, NULL, tick);
	ck_assert_int_eq(s.p->us_lids, 1);
	ck_assert_int_eq(s.p->us_tables, 2);
	ck_assert_int_eq(s.p->us_routes, 1);
	ck_assert_int_eq(s.p->us_verdict, 1);
	ck_assert_int_eq(s.p->us_paths, 1);
	end(&s);
}
END_TEST

START_TEST(state_lives_as_long_as_anybody_needs_it)
{
	struct settings *settings = settings_default();
	struct shared_policy *policy = shared_policy_new(policy_builtin());
	struct subnet_state *s[2];

	for (int i = 0; i < 2; i++) {
		s[i] = xcalloc(1, sizeof(*s[i]));
		s[i]->refs = 1;
		s[i]->f = ring(3);
		s[i]->policy = shared_policy_ref(policy);
		s[i]->plan = plan_compute(s[i]->f, policy->p, settings, NULL, NULL, NULL);
	}
	shared_policy_unref(policy);
	state_ref(s[0]);
	state_unref(s[0]);
	state_unref(s[1]);
	ck_assert_uint_eq(policy->refs, 1);
	ck_assert_uint_eq(s[0]->plan->lid[s[0]->f->self], 1);
	state_unref(s[0]);
	state_unref(NULL);
	settings_free(settings);
}
END_TEST

/* The port of the host on the i-th switch of a ring. */
static uint32_t ring_host(const struct fabric *f, unsigned i)
{
	return fabric_find_port(f, 0x100000 + i * 16 + 1);
}

/* promise: F15 */
START_TEST(layers_have_sls_of_their_own)
{
	struct scene s = compute(ring(6), "layered", NULL);
	unsigned layers = 0;

	ck_assert_str_eq(s.p->engine, "layered");
	ck_assert_uint_gt(s.p->layers->n, 1);
	ck_assert(!s.p->report.credit_loop);
	ck_assert_uint_eq(s.p->report.unreachable, 0);
	ck_assert(s.p->tables->managed);
	ck_assert(finds(s.p, SEV_INFO, "layers of at most 8"));
	for (unsigned a = 0; a < 6; a++)
		for (unsigned b = 0; b < 6; b++) {
			uint32_t from = ring_host(s.f, a), to = ring_host(s.f, b);
			uint8_t sl = plan_sl(s.p, 0, from, to);
			struct path_info way = paths_between(s.p->paths, s.f, s.p->lfts, s.p->tables,
							     from, to, s.p->lid[to]);

			ck_assert_uint_eq(sl, plan_sl(s.p, 0, to, from));
			ck_assert_uint_eq(s.p->sls.base[sl], 0);
			ck_assert(way.sl_mask >> sl & 1);
			layers |= 1u << s.p->sls.layer[sl];
		}
	ck_assert_uint_eq(layers, (1u << s.p->layers->n) - 1);
	/* the same tables, with one layer alone */
	struct route_request r = { .f = s.f, .lid = s.p->lid, .lmc = s.p->lmc, .lid_top = s.p->lid_top };
	struct route_report report;

	route_verify(&r, s.p->lfts, &report);
	ck_assert(report.credit_loop);
	route_report_free(&report);
	end(&s);
}
END_TEST

/* On a link between switches, the VL of each layer has a share, and names its level. */
/* promise: F15 */
START_TEST(layers_share_links)
{
	struct fabric *f = ring(6);
	struct port_shares shares;
	uint16_t layers = 0;
	double sum = 0;

	for (uint32_t i = 0; i < f->n_ports; i++)
		f->ports[i].vlarb_low_cap = f->ports[i].vlarb_high_cap = 8;
	struct scene s = compute(f, "layered", NULL);
	const struct subnet_state state = { .f = s.f, .plan = s.p };

	for (uint32_t i = 0; i < s.f->n_ports; i++)
		if (link_joins_switches(s.f, i)) {
			port_shares(&state, i, &shares);
			break;
		}
	for (unsigned vl = 0; vl < ARB_VLS; vl++) {
		if (!shares.sls[vl])
			continue;
		ck_assert_uint_eq(sl_plan_levels(&s.p->sls, shares.sls[vl]), 1);
		ck_assert_double_gt(vl_share(&shares, vl), 0);
		sum += vl_share(&shares, vl);
		for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
			layers |= (shares.sls[vl] >> sl & 1u) << s.p->sls.layer[sl];
	}
	ck_assert_double_eq_tol(sum, 1, 0.001);
	ck_assert_uint_eq(layers, (1u << s.p->layers->n) - 1);
	end(&s);
}
END_TEST

/* Without a link, the engine derives other tables from the base; when the link returns, the former ones. */
/* promise: F15 */
START_TEST(layers_follow)
{
	struct scene s = compute(ring(6), "layered", NULL);
	struct fabric *f = fabric_clone(s.f), *g = fabric_clone(s.f);
	struct fabric_port *port = fabric_port(f, f->switches[2].node, 3);
	struct plan *less, *again;
	struct route_layers *y;

	port->held = f->ports[port->peer].held = true;
	less = plan_compute(f, s.policy, s.settings, NULL, s.p, NULL);
	again = plan_compute(g, s.policy, s.settings, NULL, less, NULL);
	ck_assert_uint_eq(less->report.unreachable, 0);
	ck_assert(!less->report.credit_loop);
	ck_assert(routes_follow(less, s.p) && routes_follow(again, less));
	/* the tables derived from the base are those of the plan */
	for (uint32_t sw = 0; sw < s.f->n_switches; sw++)
		ck_assert_mem_eq(routes_wanted(less->now)->entries + (size_t)sw * less->lfts->stride,
				 less->lfts->entries + (size_t)less->now->switches[sw] * less->lfts->stride,
				 less->lfts->stride);
	ck_assert_ptr_null(again->now->round);
	ck_assert_mem_eq(again->lfts->entries, s.p->lfts->entries, (size_t)s.f->n_switches * s.p->lfts->stride);
	/* a line needs one layer, but SLs of other layers that hosts already use keep their VLs */
	ck_assert_uint_eq(less->layers->n, s.p->layers->n);
	y = routes_layers(less);
	for (uint32_t a = 0; a < s.f->n_switches; a++)
		for (uint32_t b = 0; b < a; b++)
			ck_assert_uint_eq(route_layer(y, a, b), route_layer(less->layers, less->now->switches[a],
									    less->now->switches[b]));
	route_layers_free(y);
	plan_free(again);
	plan_free(less);
	fabric_free(f);
	fabric_free(g);
	end(&s);
}
END_TEST

START_TEST(no_layers_without_a_switch)
{
	struct fabric *f = fabric_new();
	uint32_t a = net_ca(f, 0x100, 1), b = net_ca(f, 0x110, 1);

	ck_assert(fabric_link(f, a, 1, b, 1));
	net_finish(f);
	struct scene s = compute(f, "layered", NULL);

	ck_assert_uint_eq(plan_sl(s.p, 0, fabric_find_port(f, 0x101), fabric_find_port(f, 0x111)), 0);
	end(&s);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("plan");
	TCase *c = tcase_create("plan");

	tcase_add_test(c, first_engine_is_taken);
	tcase_add_test(c, unknown_engine_is_skipped_aloud);
	tcase_add_test(c, no_engine_drops_everything_and_says_so);
	tcase_add_test(c, credit_loop_is_a_warning);
	tcase_add_test(c, every_pair_has_a_path);
	tcase_add_test(c, lone_host);
	tcase_add_test(c, phases_are_timed);
	tcase_add_test(c, state_lives_as_long_as_anybody_needs_it);
	tcase_add_test(c, layers_have_sls_of_their_own);
	tcase_add_test(c, layers_share_links);
	tcase_add_test(c, layers_follow);
	tcase_add_test(c, no_layers_without_a_switch);
	suite_add_tcase(s, c);
	return run_suite(s);
}
