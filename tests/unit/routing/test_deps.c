/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests channel dependencies in layers (routing/deps.h) against a model that has a matrix of
 * dependencies and searches it depth first before each addition.
 */
#include <check.h>

#include "routing/deps.h"
#include "topo.h"
#include "unit/run.h"

#define LAYERS 3u
#define GROUP_MAX 12u

/* deps[layer][in * n + out] */
struct model {
	uint32_t n;		/* trunks */
	bool *deps[LAYERS];
};

struct bench {
	struct topo t;
	struct updn_order *o;	/* NULL: the vertices are in the order of their GUIDs */
	struct channels *c;
	struct deps *d;
	struct model m;
	uint64_t seed;
};

static unsigned chance(struct bench *b, unsigned n)
{
	return (unsigned)(hash64(b->seed += 0x9e3779b97f4a7c15ULL) % n);
}

static void bench_init(struct bench *b, uint64_t seed)
{
	*b = (struct bench){ .seed = seed * 7919 };
	random_topo(&b->t, seed);
	b->o = seed % 3 ? updn_order_new(b->t.f) : NULL;
	b->c = channels_new(b->t.f, b->o);
	b->d = deps_new(b->c, LAYERS);
	b->m.n = b->c->g->trunk0[b->c->g->n];
	for (unsigned i = 0; i < LAYERS; i++)
		b->m.deps[i] = xcalloc((size_t)b->m.n * b->m.n, sizeof(bool));
}

static void bench_free(struct bench *b)
{
	for (unsigned i = 0; i < LAYERS; i++)
		free(b->m.deps[i]);
	deps_free(b->d);
	channels_free(b->c);
	updn_order_free(b->o);
	topo_free(&b->t);
}

/* --- the model --- */

/* Whether dependencies lead from one trunk to another; seen: all false on entry. */
static bool leads_to(const struct bench *b, const bool *deps, uint32_t from, uint32_t to, bool *seen)
{
	const struct graph *g = b->c->g;
	uint32_t v = g->trunks[from].v;

	if (from == to)
		return true;
	seen[from] = true;
	for (uint32_t out = g->trunk0[v]; out < g->trunk0[v + 1]; out++)
		if (deps[(size_t)from * b->m.n + out] && !seen[out] && leads_to(b, deps, out, to, seen))
			return true;
	return false;
}

static bool closes_cycle(const struct bench *b, const bool *deps, struct dep x)
{
	bool *seen = xcalloc(b->m.n, sizeof(*seen)), closes = leads_to(b, deps, x.out, x.in, seen);

	free(seen);
	return closes;
}

/* Adds a group, or nothing; returns the place of the first that closes a cycle, or n. */
static uint32_t model_add(struct bench *b, unsigned layer, const struct dep *x, uint32_t n)
{
	size_t size = (size_t)b->m.n * b->m.n * sizeof(bool);
	bool *deps = b->m.deps[layer], *before = xmemdup(deps, size);
	uint32_t i = 0;

	for (; i < n && !closes_cycle(b, deps, x[i]); i++)
		deps[(size_t)x[i].in * b->m.n + x[i].out] = true;
	if (i < n)
		memcpy(deps, before, size);
	free(before);
	return i;
}

static void compare(const struct bench *b)
{
	const struct graph *g = b->c->g;

	for (unsigned layer = 0; layer < LAYERS; layer++)
		for (uint32_t in = 0; in < b->m.n; in++)
			for (uint32_t v = g->trunks[in].v, out = g->trunk0[v]; out < g->trunk0[v + 1]; out++)
				if (deps_has(b->d, layer, (struct dep){ .in = in, .out = out }) !=
				    b->m.deps[layer][(size_t)in * b->m.n + out])
					ck_abort_msg("layer %u, %u to %u", layer, in, out);
}

/* --- random additions --- */

static struct dep random_turn(struct bench *b, uint32_t in)
{
	const struct graph *g = b->c->g;
	uint32_t v = g->trunks[in].v;

	return (struct dep){ .in = in, .out = g->trunk0[v] + chance(b, g->trunk0[v + 1] - g->trunk0[v]) };
}

/* The turns of a random walk, or unrelated turns; sometimes with a duplicate. */
static uint32_t random_group(struct bench *b, struct dep *x)
{
	uint32_t n = chance(b, 4) ? 1 + chance(b, GROUP_MAX) : 1, in = chance(b, b->m.n);
	bool walk = chance(b, 2);

	for (uint32_t i = 0; i < n; i++) {
		x[i] = random_turn(b, in);
		in = walk ? x[i].out : chance(b, b->m.n);
	}
	if (n > 1 && !chance(b, 3))
		x[n - 1] = x[0];
	return n;
}

static bool add_group(struct bench *b, unsigned layer)
{
	struct dep x[GROUP_MAX];
	uint32_t n = random_group(b, x), blocked = UINT32_MAX;
	uint32_t first = model_add(b, layer, x, n);
	bool added = deps_add(b->d, layer, x, n, chance(b, 5) ? &blocked : NULL);

	ck_assert_int_eq(added, first == n);
	/* the first with those before it, or one with what the layer has */
	if (blocked != UINT32_MAX && blocked != first)
		ck_assert(blocked < n && closes_cycle(b, b->m.deps[layer], x[blocked]));
	compare(b);
	return added;
}

/* promise: F15 */
START_TEST(agrees_with_model)
{
	unsigned n[2] = { 0 };
	struct bench b;

	bench_init(&b, (uint64_t)_i + 1);
	for (unsigned i = 0; i < 250 && b.m.n; i++)
		n[add_group(&b, chance(&b, LAYERS))]++;
	ck_assert(!b.m.n || n[1]);
	/* two switches have two trunks, which only turn back into each other */
	ck_assert(b.m.n <= 2 || n[0]);
	bench_free(&b);
}
END_TEST

/* Offers all turns of random trunks one by one, until the layer refuses most of what is left. */
START_TEST(fills_up_like_model)
{
	struct bench b;
	const struct graph *g;

	bench_init(&b, (uint64_t)_i + 101);
	g = b.c->g;
	for (unsigned i = 0; i < 2 * b.m.n; i++) {
		uint32_t in = chance(&b, b.m.n), v = g->trunks[in].v;

		for (uint32_t out = g->trunk0[v]; out < g->trunk0[v + 1]; out++) {
			struct dep x = { .in = in, .out = out };

			ck_assert_int_eq(deps_add(b.d, 1, &x, 1, NULL), model_add(&b, 1, &x, 1) == 1);
		}
	}
	compare(&b);
	bench_free(&b);
}
END_TEST

/* With more than 64 neighbours the turns of a trunk take several words. */
START_TEST(many_neighbours)
{
	struct fabric *f = topo_begin();
	struct bench b = { 0 };
	uint32_t hub = topo_switch(f, 1, 150), vertex;

	for (unsigned i = 0; i < 140; i++)
		fabric_link(f, hub, 1 + i, topo_switch(f, 2 + i, 4), 1);
	topo_host(f, hub, 150);
	topo_finish(&b.t, f, 0);
	b.c = channels_new(f, NULL);
	b.d = deps_new(b.c, LAYERS);
	b.m.n = b.c->g->trunk0[b.c->g->n];
	for (unsigned i = 0; i < LAYERS; i++)
		b.m.deps[i] = xcalloc((size_t)b.m.n * b.m.n, sizeof(bool));
	vertex = b.c->vertex[f->nodes[hub].sw];
	for (unsigned i = 0; i < 400; i++) {
		uint32_t out = b.c->g->trunk0[vertex] + chance(&b, 140);
		struct dep x[2] = { random_turn(&b, chance(&b, b.m.n)), random_turn(&b, out) };

		ck_assert_int_eq(deps_add(b.d, i % 2, x, 2, NULL), model_add(&b, i % 2, x, 2) == 2);
	}
	compare(&b);
	bench_free(&b);
}
END_TEST

/* --- many at once --- */

/* Fills layers with random turns; all accepted turns go to `notes`, too. */
static void fill_up(struct bench *b, struct deps *notes)
{
	for (unsigned i = 0; i < 4 * b->m.n; i++) {
		unsigned layer = chance(b, LAYERS);
		struct dep x = random_turn(b, chance(b, b->m.n));

		if (model_add(b, layer, &x, 1))
			deps_note(notes, layer, x);
	}
}

START_TEST(settled_as_added)
{
	struct bench b;

	bench_init(&b, (uint64_t)_i + 201);
	for (unsigned i = 0; i < 3 && b.m.n; i++) {
		fill_up(&b, b.d);
		ck_assert(deps_settle(b.d));
		compare(&b);
		for (unsigned k = 0; k < 50; k++)
			add_group(&b, chance(&b, LAYERS));
	}
	bench_free(&b);
}
END_TEST

START_TEST(cycle_does_not_settle)
{
	struct bench b;
	struct dep x;

	bench_init(&b, (uint64_t)_i + 301);
	fill_up(&b, b.d);
	for (unsigned i = 0; i < 1000 && b.m.n; i++) {
		x = random_turn(&b, chance(&b, b.m.n));
		if (!closes_cycle(&b, b.m.deps[1], x))
			continue;
		deps_note(b.d, 1, x);
		ck_assert(!deps_settle(b.d));
		for (unsigned layer = 0; layer < LAYERS; layer++)
			memset(b.m.deps[layer], 0, (size_t)b.m.n * b.m.n * sizeof(bool));
		compare(&b);
		add_group(&b, 1);
		break;
	}
	bench_free(&b);
}
END_TEST

START_TEST(returns_to_mark)
{
	struct bench b;

	bench_init(&b, (uint64_t)_i + 401);
	for (unsigned i = 0; i < 10 && b.m.n; i++) {
		size_t size = (size_t)b.m.n * b.m.n * sizeof(bool);
		bool *marked[LAYERS];

		add_group(&b, chance(&b, LAYERS));
		deps_mark(b.d);
		for (unsigned layer = 0; layer < LAYERS; layer++)
			marked[layer] = xmemdup(b.m.deps[layer], size);
		for (unsigned k = 0; k < 30; k++)
			add_group(&b, chance(&b, LAYERS));
		deps_return(b.d);
		for (unsigned layer = 0; layer < LAYERS; layer++) {
			memcpy(b.m.deps[layer], marked[layer], size);
			free(marked[layer]);
		}
		compare(&b);
	}
	bench_free(&b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("deps");
	TCase *tc = tcase_create("all");

	tcase_add_loop_test(tc, agrees_with_model, 0, cases(60));
	tcase_add_loop_test(tc, fills_up_like_model, 0, cases(30));
	tcase_add_test(tc, many_neighbours);
	tcase_add_loop_test(tc, settled_as_added, 0, cases(20));
	tcase_add_loop_test(tc, cycle_does_not_settle, 0, cases(20));
	tcase_add_loop_test(tc, returns_to_mark, 0, cases(20));
	suite_add_tcase(s, tc);
	return run_suite(s);
}
