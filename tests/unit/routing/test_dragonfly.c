/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests that dragonflies are recognized, intact and with faults (routing/dragonfly/dragonfly.h). */
#include <check.h>
#include <limits.h>

#include "dragonflies.h"
#include "routing/dragonfly/dragonfly.h"
#include "unit/run.h"

/* The groups must be the same, in any numbering, and the missing parts must be reported. */
static void check_dragonfly(const struct made_dragonfly *m, const char *text, const char *missing)
{
	struct dragonfly *d = dragonfly_new(m->g);
	struct buf want = { 0 }, is = { 0 };

	ck_assert_ptr_nonnull(d);
	for (uint32_t v = 0; v < m->g->n; v++)
		for (uint32_t u = 0; u < v; u++) {
			ck_assert((m->group[v] == m->group[u]) == (d->group[v] == d->group[u]));
			ck_assert(d->group[v] != d->group[u] || d->member[v] != d->member[u]);
		}
	buf_printf(&want, "%s%s", text, missing);
	dragonfly_text(d, &is);
	ck_assert_str_eq(is.s, want.s);
	dragonfly_free(d);
	buf_free(&want);
	buf_free(&is);
}

static const struct dragonfly_plan plans[] = {
	{ 9, 4, 2, "dragonfly of 9 groups of 4 switches" },
	{ 19, 6, 3, "dragonfly of 19 groups of 6 switches" },
	{ 33, 8, 4, "dragonfly of 33 groups of 8 switches" },
	{ 5, 4, 2, "dragonfly of 5 groups of 4 switches" },
	{ 4, 6, 3, "dragonfly of 4 groups of 6 switches" },
	{ 3, 8, 4, "dragonfly of 3 groups of 8 switches" },
	{ 13, 12, 1, "dragonfly of 13 groups of 12 switches" },
};

/* promise: B6 */
START_TEST(intact)
{
	for (uint64_t seed = 1; seed < 4; seed++) {
		struct made_dragonfly m;

		make_dragonfly(&m, &plans[_i], seed, UINT_MAX, UINT_MAX);
		check_dragonfly(&m, plans[_i].text, "");
		made_dragonfly_free(&m);
	}
}
END_TEST

/* promise: B6 */
START_TEST(one_fault)
{
	for (unsigned i = 0; i < 10; i++) {
		struct made_dragonfly m;

		make_dragonfly(&m, &plans[_i], 1 + i, 3 * i % (plans[_i].groups * plans[_i].a), UINT_MAX);
		check_dragonfly(&m, plans[_i].text, ", 1 switch missing");
		made_dragonfly_free(&m);
		make_dragonfly(&m, &plans[_i], 1 + i, UINT_MAX, 3 * i);
		check_dragonfly(&m, plans[_i].text, ", 1 link missing");
		made_dragonfly_free(&m);
	}
}
END_TEST

static bool is_dragonfly(const struct topo *t)
{
	struct graph *g = graph_new(t->f, graph_by_guid(t->f));
	struct dragonfly *d = dragonfly_new(g);
	bool is = d != NULL;

	dragonfly_free(d);
	graph_free(g);
	return is;
}

/* promise: B6 */
START_TEST(nothing_else)
{
	static const unsigned dims[][3] = { { 5, 5, 1 }, { 4, 4, 3 }, { 3, 3, 3 } };
	struct fat p = { .pods = 4, .leaves = 4, .hosts = 3, .aggs = 4, .width = 1, .spines = 4 };
	struct topo t;

	for (unsigned i = 0; i < ARRAY_SIZE(dims); i++) {
		torus_topo(&t, dims[i]);
		ck_assert(!is_dragonfly(&t));
		topo_free(&t);
	}
	fat_topo(&t, &p, 0);
	ck_assert(!is_dragonfly(&t));
	topo_free(&t);
	fat_free(&p);
	for (uint64_t seed = 0; seed < 300; seed++) {
		random_topo(&t, seed);
		ck_assert(!is_dragonfly(&t));
		topo_free(&t);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("dragonfly");
	TCase *tc = tcase_create("all");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, intact, 0, (int)ARRAY_SIZE(plans));
	tcase_add_loop_test(tc, one_fault, 0, (int)ARRAY_SIZE(plans));
	tcase_add_test(tc, nothing_else);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
