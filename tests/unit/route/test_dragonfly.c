/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Dragonflies are recognized, intact and with faults (route/dragonfly.h). */
#include <check.h>
#include <limits.h>

#include "route/dragonfly.h"
#include "topo.h"
#include "unit/run.h"

/* Groups of a switches with h cables each to other groups, as qosd-sim makes them. */
struct plan {
	unsigned groups, a, h;
	const char *text;
};

struct made {
	struct topo t;
	struct graph *g;
	unsigned *group;	/* [vertex] */
};

static uint64_t mixed(uint64_t seed, unsigned i)
{
	return (hash64(seed * 1000003 + i) & 0xffffff) << 16 | i;
}

/* gone: a switch that is missing, or a number beyond all; cut: a link that is. */
static void make(struct made *m, const struct plan *p, uint64_t seed, unsigned gone, unsigned cut)
{
	unsigned n = p->groups * p->a, others = p->groups - 1, n_links = 0;
	unsigned links = p->a * p->h / others * others;
	struct fabric *f = topo_begin();
	unsigned *next = xcalloc(n, sizeof(*next));
	uint32_t *sw = xcalloc(n, sizeof(*sw));

#define LINK(x, y) do { \
		if ((x) != gone && (y) != gone && n_links++ != cut) \
			fabric_link(f, sw[x], ++next[x], sw[y], ++next[y]); \
	} while (0)
	for (unsigned i = 0; i < n; i++)
		if (i != gone)
			sw[i] = topo_switch(f, mixed(seed, i), 60);
	for (unsigned g = 0; g < p->groups; g++) {
		for (unsigned i = 0; i < p->a; i++)
			for (unsigned k = i + 1; k < p->a; k++)
				LINK(g * p->a + i, g * p->a + k);
		for (unsigned k = 0; k < links; k++) {
			unsigned peer = (g + 1 + k % others) % p->groups;
			unsigned back = k / others * others + others - 1 - k % others;

			if (g < peer)
				LINK(g * p->a + k / p->h, peer * p->a + back / p->h);
		}
	}
#undef LINK
	for (unsigned i = 0; i < n; i++)
		if (i != gone)
			topo_host(f, sw[i], 60);
	topo_finish(&m->t, f, 0);
	m->g = graph_new(f, graph_by_guid(f));
	m->group = xcalloc(n, sizeof(*m->group));
	for (uint32_t v = 0; v < m->g->n; v++)
		m->group[v] = (f->nodes[f->switches[m->g->sw[v]].node].guid & 0xffff) / p->a;
	free(next);
	free(sw);
}

static void made_free(struct made *m)
{
	graph_free(m->g);
	topo_free(&m->t);
	free(m->group);
}

/* The same groups, whatever their numbers, and what is missing is said. */
static void check_dragonfly(const struct made *m, const char *text, const char *missing)
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

static const struct plan plans[] = {
	{ 9, 4, 2, "dragonfly of 9 groups of 4 switches" },
	{ 19, 6, 3, "dragonfly of 19 groups of 6 switches" },
	{ 33, 8, 4, "dragonfly of 33 groups of 8 switches" },
	{ 5, 4, 2, "dragonfly of 5 groups of 4 switches" },
	{ 4, 6, 3, "dragonfly of 4 groups of 6 switches" },
	{ 3, 8, 4, "dragonfly of 3 groups of 8 switches" },
	{ 13, 12, 1, "dragonfly of 13 groups of 12 switches" },
};

START_TEST(intact)
{
	for (uint64_t seed = 1; seed < 4; seed++) {
		struct made m;

		make(&m, &plans[_i], seed, UINT_MAX, UINT_MAX);
		check_dragonfly(&m, plans[_i].text, "");
		made_free(&m);
	}
}
END_TEST

START_TEST(one_fault)
{
	for (unsigned i = 0; i < 10; i++) {
		struct made m;

		make(&m, &plans[_i], 1 + i, 3 * i % (plans[_i].groups * plans[_i].a), UINT_MAX);
		check_dragonfly(&m, plans[_i].text, ", 1 switch missing");
		made_free(&m);
		make(&m, &plans[_i], 1 + i, UINT_MAX, 3 * i);
		check_dragonfly(&m, plans[_i].text, ", 1 link missing");
		made_free(&m);
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
