/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests `routing: auto`: which engine it selects on which fabric, the reason, and when the engine stays. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "net.h"
#include "plan/routes/base_routes.h"
#include "plan/routes/choose_engine.h"
#include "unit/run.h"

enum { PORTS = 16 };

/* --- fabrics --- */

/* Makes switches in order and links them by their next free ports; the SM's host is node 0. */
struct maker {
	struct fabric *f;
	uint32_t sw[128];
	unsigned next[128], n, hosts;
};

static void begin(struct maker *m, unsigned switches)
{
	*m = (struct maker){ .f = fabric_new(), .n = switches };
	net_ca(m->f, 0x100000, 1);
	for (unsigned i = 0; i < switches; i++)
		m->sw[i] = net_switch(m->f, 0x1000 + i, PORTS, false);
}

static void link_switches(struct maker *m, unsigned a, unsigned b)
{
	ck_assert(fabric_link(m->f, m->sw[a], ++m->next[a], m->sw[b], ++m->next[b]));
}

static void add_hosts(struct maker *m, unsigned sw, unsigned n)
{
	while (n--) {
		uint32_t ca = m->hosts ? net_ca(m->f, 0x100000 + m->hosts * 16, 1) : 0;

		ck_assert(fabric_link(m->f, m->sw[sw], ++m->next[sw], ca, 1));
		m->hosts++;
	}
}

/* A grid, closed both ways, with two hosts on each switch. */
static struct fabric *torus(unsigned a, unsigned b)
{
	struct maker m;

	begin(&m, a * b);
	for (unsigned i = 0; i < a * b; i++) {
		unsigned x = i % a, y = i / a;

		link_switches(&m, i, y * a + (x + 1) % a);
		link_switches(&m, i, (y + 1) % b * a + x);
	}
	for (unsigned i = 0; i < a * b; i++)
		add_hosts(&m, i, 2);
	net_finish(m.f);
	return m.f;
}

/* Nine groups of four switches, each with two links to other groups and two hosts. */
static struct fabric *dragonfly(void)
{
	enum { GROUPS = 9, A = 4, H = 2, OTHERS = GROUPS - 1 };
	struct maker m;

	begin(&m, GROUPS * A);
	for (unsigned g = 0; g < GROUPS; g++) {
		for (unsigned i = 0; i < A; i++)
			for (unsigned k = i + 1; k < A; k++)
				link_switches(&m, g * A + i, g * A + k);
		for (unsigned k = 0; k < OTHERS; k++) {
			unsigned peer = (g + 1 + k) % GROUPS;

			if (g < peer)
				link_switches(&m, g * A + k / H, peer * A + (OTHERS - 1 - k) / H);
		}
	}
	for (unsigned i = 0; i < GROUPS * A; i++)
		add_hosts(&m, i, 2);
	net_finish(m.f);
	return m.f;
}

static struct fabric *fat_tree(void)
{
	enum { LEAVES = 6, SPINES = 3 };
	struct maker m;

	begin(&m, LEAVES + SPINES);
	for (unsigned i = 0; i < LEAVES; i++)
		for (unsigned k = 0; k < SPINES; k++)
			link_switches(&m, i, LEAVES + k);
	for (unsigned i = 0; i < LEAVES; i++)
		add_hosts(&m, i, 3);
	net_finish(m.f);
	return m.f;
}

/* A full mesh of switches, which has no credit loops. */
static struct fabric *mesh(void)
{
	struct maker m;

	begin(&m, 6);
	for (unsigned i = 0; i < m.n; i++)
		for (unsigned k = i + 1; k < m.n; k++)
			link_switches(&m, i, k);
	for (unsigned i = 0; i < m.n; i++)
		add_hosts(&m, i, 2);
	net_finish(m.f);
	return m.f;
}

/* --- plans --- */

static struct settings *settings;
static struct policy *policy;

static void setup(void)
{
	settings = settings_default();
	for (char **e = settings->engines; *e; e++) {
		free(*e);
		*e = NULL;
	}
	settings->engines[0] = xstrdup(SETTINGS_ENGINE_AUTO);
	policy = policy_builtin();
}

static void teardown(void)
{
	settings_free(settings);
	policy_free(policy);
}

static void add_levels(unsigned n)
{
	policy->levels = xrealloc(policy->levels, policy->n_levels + n, sizeof(*policy->levels));
	for (unsigned i = 1; i <= n; i++) {
		char name[] = { 'l', 'e', 'v', 'e', 'l', '-', (char)('0' + i), 0 };

		policy->levels[policy->n_levels++] = (struct policy_level){
			.name = xstrdup(name), .sl = (uint8_t)i, .packet_lifetime = -1,
			.path_bits = -1, .tclass = -1,
		};
	}
}

static struct plan *compute(const struct fabric *f, const struct plan *before)
{
	return plan_compute(f, policy, settings, NULL, before, NULL);
}

static void says(const struct plan *p, const char *what)
{
	struct buf text = { 0 };

	plan_choice_text(p, &text);
	ck_assert_msg(text.s && strstr(text.s, what), "'%s' not in '%s'", what, text.s ? text.s : "");
	buf_free(&text);
}

static const struct engine_try *tried(const struct plan *p, const char *engine)
{
	const struct engine_choice *c = plan_choice(p);

	for (unsigned i = 0; i < c->n_tried; i++)
		if (!strcmp(c->tried[i].engine->name, engine))
			return &c->tried[i];
	ck_abort_msg("%s was not tried", engine);
	return NULL;
}

/* A copy of the fabric in which a link of a switch to another is held. */
static struct fabric *without_link(const struct fabric *f, unsigned sw, unsigned num)
{
	struct fabric *less = fabric_clone(f);
	struct fabric_port *port = fabric_port(less, less->switches[sw].node, num);

	port->held = less->ports[port->peer].held = true;
	return less;
}

static void set_vls(struct fabric *f, unsigned code)
{
	for (uint32_t i = 0; i < f->n_ports; i++)
		f->ports[i].vl_cap = (uint8_t)code;
}

/* --- tests --- */

/* promise: F16 */
START_TEST(a_tree_goes_up_and_down_at_once)
{
	struct fabric *f = fat_tree();
	struct plan *p = compute(f, NULL);

	ck_assert_str_eq(p->engine, "updn");
	says(p, "routing auto: updn, as the switches form a tree");
	ck_assert_uint_eq(plan_choice(p)->n_tried, 1);
	ck_assert_uint_eq(p->findings.n, 0);
	plan_free(p);
	fabric_free(f);
}
END_TEST

/* The measured quality decides, and layers are used if their gain is worth the VLs. */
/* promise: F16 */
START_TEST(the_best_is_taken)
{
	static const char *const best[] = { "grid", "dragonfly" };
	struct fabric *f[] = { torus(6, 6), dragonfly() };

	for (unsigned i = 0; i < ARRAY_SIZE(f); i++) {
		struct plan *p = compute(f[i], NULL);
		const struct engine_try *taken = tried(p, best[i]), *updn = tried(p, "updn");

		ck_assert_str_eq(p->engine, best[i]);
		ck_assert_uint_gt(p->layers->n, 1);
		ck_assert(!p->report.credit_loop);
		ck_assert_uint_eq(p->report.unreachable, 0);
		ck_assert_uint_eq(taken->layers, p->layers->n_vl_sets);
		ck_assert_double_gt(taken->ebb, 1.03 * updn->ebb);
		ck_assert_ptr_null(taken->why);
		ck_assert_ptr_nonnull(updn->why);
		ck_assert_str_eq(tried(p, "minhop")->why, "credit loop");
		says(p, i ? "routing auto: dragonfly with 2 layers on 2 VL sets" :
			    "routing auto: grid with 4 layers on 2 VL sets");
		says(p, "; minhop: credit loop");
		plan_free(p);
		fabric_free(f[i]);
	}
}
END_TEST

/* A torus of rings of four needs no second VL, and the gain of layers is not worth their VLs. */
/* promise: F16 */
START_TEST(layers_have_to_be_worth_their_vls)
{
	struct fabric *f = torus(4, 4);
	struct plan *p = compute(f, NULL);
	const struct engine_try *layered = tried(p, "layered"), *grid = tried(p, "grid");

	ck_assert_uint_gt(layered->layers, 1);
	ck_assert_uint_eq(grid->layers, 1);
	ck_assert_double_lt(layered->ebb, 1.03 * grid->ebb);
	ck_assert_str_eq(p->engine, "grid");
	ck_assert_ptr_nonnull(layered->why);
	says(p, "routing auto: grid: effective bisection bandwidth");
	plan_free(p);
	fabric_free(f);
}
END_TEST

/* With one VL, or if the levels need all VLs, there is one layer, and the reason says so. */
/* promise: F16 */
START_TEST(levels_stay_apart)
{
	struct fabric *f = dragonfly();
	struct plan *p;

	set_vls(f, 1);
	p = compute(f, NULL);
	ck_assert_uint_eq(tried(p, "layered")->layers, 1);
	ck_assert(!p->report.credit_loop);
	says(p, "layered with 1 layer, the maximum (1 data VL on links between switches");
	plan_free(p);

	set_vls(f, 4);
	add_levels(4);
	p = compute(f, NULL);
	ck_assert_uint_eq(tried(p, "layered")->layers, 1);
	says(p, "(8 data VLs on links between switches, 5 SLs of levels; in 2 layers levels default and level-4 "
	     "would share a VL)");
	plan_free(p);
	fabric_free(f);
}
END_TEST

/* An engine with a credit loop is not selected, however good its bandwidth; without one, it is compared. */
/* promise: F16 */
START_TEST(minhop_without_a_loop)
{
	struct fabric *f = mesh();
	struct plan *p = compute(f, NULL);

	ck_assert(tried(p, "minhop")->measured);
	ck_assert_uint_eq(tried(p, "minhop")->layers, 1);
	ck_assert_str_eq(p->engine, "updn");
	says(p, "; minhop: ");
	plan_free(p);
	fabric_free(f);
}
END_TEST

/* promise: F16 */
START_TEST(the_same_twice)
{
	struct fabric *f = torus(6, 6);
	struct plan *a = compute(f, NULL), *b = compute(f, NULL);

	ck_assert_str_eq(plan_choice(a)->text, plan_choice(b)->text);
	ck_assert_mem_eq(a->lfts->entries, b->lfts->entries, (size_t)f->n_switches * a->lfts->stride);
	plan_free(a);
	plan_free(b);
	fabric_free(f);
}
END_TEST

/* Neither a fault nor its end selects another engine. */
/* promise: F16 */
START_TEST(a_fault_keeps_the_engine)
{
	struct fabric *f[] = { torus(6, 6), torus(4, 4), fat_tree() };

	for (unsigned i = 0; i < ARRAY_SIZE(f); i++) {
		struct fabric *less = without_link(f[i], 2, 1), *whole = fabric_clone(f[i]);
		struct plan *p = compute(f[i], NULL), *fault = compute(less, p);
		struct plan *again = compute(whole, fault);

		ck_assert_str_eq(fault->engine, p->engine);
		ck_assert_ptr_eq(plan_choice(fault), plan_choice(p));
		ck_assert_ptr_eq(plan_choice(again), plan_choice(p));
		ck_assert(!fault->report.credit_loop);
		ck_assert_uint_eq(fault->report.unreachable, 0);
		ck_assert_mem_eq(again->lfts->entries, p->lfts->entries,
				 (size_t)f[i]->n_switches * p->lfts->stride);
		plan_free(again);
		plan_free(fault);
		plan_free(p);
		fabric_free(less);
		fabric_free(whole);
		fabric_free(f[i]);
	}
}
END_TEST

/* Other levels leave VLs for another number of layers; in a tree, there is nothing to choose. */
/* promise: F16 */
START_TEST(another_policy_chooses_again)
{
	struct fabric *f = torus(6, 6), *tree = fat_tree();
	struct plan *p = compute(f, NULL), *of_tree = compute(tree, NULL), *then, *then_tree;

	ck_assert_str_eq(p->engine, "grid");
	add_levels(7);
	then = compute(f, p);
	then_tree = compute(tree, of_tree);
	ck_assert_ptr_ne(plan_choice(then), plan_choice(p));
	ck_assert_uint_eq(tried(then, "layered")->layers, 1);
	ck_assert_ptr_eq(plan_choice(then_tree), plan_choice(of_tree));
	plan_free(then_tree);
	plan_free(of_tree);
	plan_free(then);
	plan_free(p);
	fabric_free(tree);
	fabric_free(f);
}
END_TEST

START_TEST(named_engines_are_not_judged)
{
	struct fabric *f = torus(4, 4);
	struct buf text = { 0 };
	struct plan *p;

	free(settings->engines[0]);
	settings->engines[0] = xstrdup("updn");
	p = compute(f, NULL);
	ck_assert_ptr_null(plan_choice(p));
	plan_choice_text(p, &text);
	ck_assert_uint_eq(text.n, 0);
	plan_free(p);
	fabric_free(f);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		a_tree_goes_up_and_down_at_once, the_best_is_taken, layers_have_to_be_worth_their_vls,
		levels_stay_apart, minhop_without_a_loop, the_same_twice, a_fault_keeps_the_engine,
		another_policy_chooses_again, named_engines_are_not_judged,
	};
	Suite *s = suite_create("choose-engine");
	TCase *c = tcase_create("choose-engine");

	tcase_add_checked_fixture(c, setup, teardown);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
