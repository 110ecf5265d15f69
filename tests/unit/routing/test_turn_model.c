/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests turn models of grids: the turns that one allows close no cycle, and its tree takes no others. */
#include <check.h>

#include "grids.h"
#include "routing/deps.h"
#include "routing/tree.h"
#include "unit/run.h"

/* Grids without rings, which are free of cycles only by their VL sets, and with a fault. */
static const struct {
	const char *plan;
	unsigned links, switches;
} grids[] = {
	{ "6p5p", 1, 0 }, { "6p5p", 0, 1 }, { "5p4p3p", 1, 0 }, { "5p4p3p", 0, 1 }, { "4c4c", 1, 0 },
	{ "4c4c", 0, 1 }, { "4c3c3c", 0, 1 }, { "5p4c", 1, 0 }, { "2c2c2c2c", 1, 0 },
	{ "2c2c2c2c2c2c2c", 1, 0 },
};

struct subject {
	struct made_grid m;
	struct updn_order *o;
	struct grid *grid;
	struct channels *c;
	struct turn_model models[TURN_MODELS_MAX];
	unsigned n;
};

static void subject_make(struct subject *x, int which)
{
	struct grid_plan p = grid_plan_of(grids[which].plan);

	p.seed = 5;
	p.links_gone = grids[which].links;
	p.switches_gone = grids[which].switches;
	make_grid(&x->m, &p);
	x->o = updn_order_new(x->m.t.f);
	x->grid = grid_new(x->o->g);
	ck_assert_ptr_nonnull(x->grid);
	x->c = channels_new(x->m.t.f, x->o);
	x->n = turn_models(x->grid, x->c->g, x->models);
	ck_assert_uint_gt(x->n, 0);
}

static void subject_free(struct subject *x)
{
	channels_free(x->c);
	grid_free(x->grid);
	updn_order_free(x->o);
	made_grid_free(&x->m);
}

static bool allows(const struct subject *x, const struct turn_model *m, struct dep turn)
{
	return turn_model_allows(m, x->grid, x->c->from[turn.in], x->c->from[turn.out], x->c->g->trunks[turn.out].v);
}

/* Returns how many turns it allows. */
static unsigned check_turns(const struct subject *x, const struct turn_model *m)
{
	const struct graph *g = x->c->g;
	struct deps *deps = deps_new(x->c, 1);
	unsigned n = 0;

	for (uint32_t in = 0; in < g->trunk0[g->n]; in++) {
		uint32_t v = g->trunks[in].v;

		for (uint32_t out = g->trunk0[v]; out < g->trunk0[v + 1]; out++) {
			struct dep turn = { .in = in, .out = out };

			if (out == channels_trunk_back(x->c, in) || !allows(x, m, turn))
				continue;
			ck_assert(deps_add(deps, 0, &turn, 1, NULL));
			n++;
		}
	}
	deps_free(deps);
	return n;
}

/* promise: F17 */
START_TEST(no_cycle)
{
	struct subject x;

	unsigned by_entry = 0;

	subject_make(&x, _i);
	for (unsigned i = 0; i < x.n; i++) {
		ck_assert_uint_gt(check_turns(&x, &x.models[i]), 0);
		by_entry += x.models[i].by_entry;
	}
	ck_assert(by_entry && by_entry < x.n);
	subject_free(&x);
}
END_TEST

struct walk {
	const struct subject *x;
	const struct turn_model *m;
	unsigned n;
};

static void check_turn(void *arg, struct dep turn)
{
	struct walk *w = arg;

	ck_assert(allows(w->x, w->m, turn));
	w->n++;
}

/* promise: F17 */
START_TEST(tree_keeps_to_it)
{
	struct subject x;

	subject_make(&x, _i);
	for (unsigned i = 0; i < x.n; i++) {
		struct walk w = { .x = &x, .m = &x.models[i] };
		uint32_t *tree = tree_on_grid(x.c->g, x.grid, w.m);

		deps_each_on_tree(x.c, tree, check_turn, &w);
		ck_assert_uint_gt(w.n, 0);
		free(tree);
	}
	subject_free(&x);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("turn models");
	TCase *tc = tcase_create("all");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, no_cycle, 0, (int)ARRAY_SIZE(grids));
	tcase_add_loop_test(tc, tree_keeps_to_it, 0, (int)ARRAY_SIZE(grids));
	suite_add_tcase(s, tc);
	return run_suite(s);
}
