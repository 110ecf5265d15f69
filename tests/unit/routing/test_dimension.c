/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests dimension-order routes (routing/grid/dimension.h).  Code that knows only the coordinates of the grid
 * follows them from switch to switch and searches their channels for cycles.
 *
 * promise: C1
 */
#include <check.h>

#include "grids.h"
#include "routing/grid/dimension.h"
#include "unit/run.h"

struct net {
	struct made_grid m;
	const struct graph *g;
	struct grid *grid;
	uint32_t *next;		/* [to * n + v] */
	uint32_t *from;		/* [trunk] */
};

static void net_init(struct net *x, const struct grid_plan *p)
{
	make_grid(&x->m, p);
	x->g = x->m.g;
	x->grid = grid_new(x->g);
	ck_assert_ptr_nonnull(x->grid);
	x->next = xcalloc((size_t)x->g->n * x->g->n, sizeof(*x->next));
	x->from = xcalloc(x->g->trunk0[x->g->n], sizeof(*x->from));
	for (uint32_t v = 0; v < x->g->n; v++) {
		dimension_ways(x->g, x->grid, v, x->next + (size_t)v * x->g->n);
		for (uint32_t t = x->g->trunk0[v]; t < x->g->trunk0[v + 1]; t++)
			x->from[t] = v;
	}
}

static void net_free(struct net *x)
{
	free(x->next);
	free(x->from);
	grid_free(x->grid);
	made_grid_free(&x->m);
}

/* The dimension of a trunk. */
static unsigned along(const struct net *x, uint32_t t)
{
	unsigned d = 0;

	while (grid_at(x->grid, x->from[t], d) == grid_at(x->grid, x->g->trunks[t].v, d))
		d++;
	return d;
}

/* The trunks of the path from a to b; returns how many, 0 if it ends at a fault. */
static unsigned follow(const struct net *x, uint32_t a, uint32_t b, uint32_t *path)
{
	unsigned n = 0;

	while (a != b) {
		uint32_t t = x->next[(size_t)b * x->g->n + a];

		if (t == FABRIC_NONE)
			return 0;
		ck_assert_uint_eq(x->from[t], a);
		ck_assert_uint_lt(n, x->g->n);
		path[n++] = t;
		a = x->g->trunks[t].v;
	}
	return n;
}

/* Datelines that the path crosses. */
static uint32_t crossed(const struct net *x, const uint32_t *path, unsigned n)
{
	uint32_t bits = 0;

	for (unsigned i = 0; i < n; i++) {
		unsigned d = along(x, path[i]);
		uint32_t a = grid_at(x->grid, x->from[path[i]], d);
		uint32_t b = grid_at(x->grid, x->g->trunks[path[i]].v, d);

		if (x->grid->dim[d].kind == GRID_RING && (!a || !b) &&
		    a + b == x->grid->dim[d].length - 1)
			bits |= 1u << d;
	}
	return bits;
}

/* --- cycles --- */

struct search {
	uint32_t n;		/* channels: trunk * 2 + VL */
	bool *after;		/* [a * n + b]: b comes after a on a path */
	uint8_t *state;		/* [channel]: 1: on the way, 2: done */
};

static bool cycle_from(struct search *s, uint32_t a)
{
	s->state[a] = 1;
	for (uint32_t b = 0; b < s->n; b++)
		if (s->after[(size_t)a * s->n + b] && s->state[b] != 2 &&
		    (s->state[b] == 1 || cycle_from(s, b)))
			return true;
	s->state[a] = 2;
	return false;
}

/* Whether channels of all paths form a cycle, with VL sets by class or on one VL set. */
static bool has_cycle(const struct net *x, bool by_class)
{
	struct search s = { .n = 2 * x->g->trunk0[x->g->n] };
	uint32_t *path = xcalloc(x->g->n, sizeof(*path));
	bool cycle = false;

	s.after = xcalloc((size_t)s.n * s.n, sizeof(*s.after));
	s.state = xcalloc(s.n, sizeof(*s.state));
	for (uint32_t a = 0; a < x->g->n; a++)
		for (uint32_t b = 0; b < x->g->n; b++) {
			unsigned n = follow(x, a, b, path);
			uint32_t class = by_class ? dimension_class(x->grid, a, b) : 0, before = 0;

			for (unsigned i = 0; i < n; i++) {
				uint32_t channel = 2 * path[i] + (class >> along(x, path[i]) & 1);

				if (i)
					s.after[(size_t)before * s.n + channel] = true;
				before = channel;
			}
		}
	for (uint32_t c = 0; c < s.n && !cycle; c++)
		cycle = s.state[c] == 0 && cycle_from(&s, c);
	free(path);
	free(s.after);
	free(s.state);
	return cycle;
}

/* --- intact grids --- */

static const struct {
	const char *plan;
	unsigned bits;
} grids[] = {
	{ "5r", 1 },
	{ "6r", 1 },
	{ "7r", 1 },
	{ "8r", 1 },
	{ "9r", 1 },
	{ "5r5r", 2 },
	{ "6r6r", 2 },
	{ "8r7r", 2 },
	{ "4r6r", 1 },
	{ "3r6r", 1 },
	{ "2r8r", 1 },
	{ "6r6r6r", 3 },
	{ "5r6r7r", 3 },
	{ "6r5p", 1 },
	{ "6r4c", 1 },
	{ "8p8p", 0 },
	{ "3p4p5p", 0 },
	{ "12c8c", 0 },
	{ "5c4c3c", 0 },
	{ "9c", 0 },
	{ "5p5c", 0 },
	{ "2r2r2r2r2r", 0 },
	{ "4r4r4r", 0 },
	{ "3r3r3r", 0 },
};

/* Every pair must have a shortest path, whose class is the datelines that it crosses, in both directions. */
static void check_paths(const struct net *x)
{
	uint16_t *dist = xcalloc(x->g->n, sizeof(*dist));
	uint32_t *queue = xcalloc(x->g->n, sizeof(*queue)), *path = xcalloc(x->g->n, sizeof(*path));

	for (uint32_t a = 0; a < x->g->n; a++) {
		graph_bfs(x->g, a, dist, queue);
		ck_assert_uint_eq(x->next[(size_t)a * x->g->n + a], FABRIC_NONE);
		for (uint32_t b = 0; b < x->g->n; b++) {
			unsigned n = follow(x, a, b, path);
			uint32_t class = dimension_class(x->grid, a, b);

			ck_assert_uint_eq(n, dist[b]);
			ck_assert_uint_eq(class, crossed(x, path, n));
			ck_assert_uint_eq(class, dimension_class(x->grid, b, a));
			ck_assert_uint_eq(class >> dimension_bits(x->grid), 0);
		}
	}
	free(dist);
	free(queue);
	free(path);
}

START_TEST(intact)
{
	struct grid_plan p = grid_plan_of(grids[_i].plan);
	struct net x;

	p.seed = (uint64_t)_i + 1;
	net_init(&x, &p);
	ck_assert_uint_eq(dimension_bits(x.grid), grids[_i].bits);
	check_paths(&x);
	ck_assert(!has_cycle(&x, true));
	ck_assert(has_cycle(&x, false) == (grids[_i].bits > 0));
	net_free(&x);
}
END_TEST

/* --- balance --- */

/* Pairs of hosts on the link that most of them use. */
static uint32_t most_used(const struct net *x)
{
	uint32_t *used = xcalloc(x->g->trunk0[x->g->n], sizeof(*used)), most = 0;
	uint32_t *path = xcalloc(x->g->n, sizeof(*path));

	for (uint32_t a = 0; a < x->g->n; a++)
		for (uint32_t b = 0; b < x->g->n; b++) {
			unsigned n = follow(x, a, b, path);

			for (unsigned i = 0; i < n; i++)
				used[path[i]] += graph_hosts(x->g, a) * graph_hosts(x->g, b);
		}
	for (uint32_t t = 0; t < x->g->trunk0[x->g->n]; t++)
		if (used[t] > most)
			most = used[t];
	free(used);
	free(path);
	return most;
}

static const struct {
	const char *plan;
	unsigned hosts, most;
} balances[] = {
	/* least: 1458, all links alike; with one way round for all pairs half-way apart 1944 */
	{ "6r6r6r", 3, 1620 },
	{ "5r5r", 2, 60 },
	{ "8p8p", 4, 2048 },	/* half of a line to all hosts on the other side */
	{ "12c8c", 2, 48 },
	{ "4r4r4r", 1, 32 },
};

START_TEST(balance)
{
	struct grid_plan p = grid_plan_of(balances[_i].plan);
	struct net x;

	p.seed = 7;
	p.hosts = balances[_i].hosts;
	net_init(&x, &p);
	ck_assert_uint_le(most_used(&x), balances[_i].most);
	net_free(&x);
}
END_TEST

/* --- faults --- */

/*
 * With faults, some pairs have no path; all others keep theirs, so there is no cycle either.
 */
START_TEST(faults)
{
	static const char *const plans[] = { "6r6r", "5r5r5r", "8p8p", "6c5c" };
	struct grid_plan p = grid_plan_of(plans[_i / 2]);
	uint32_t path[256], lost = 0;

	p.links_gone = _i % 2 ? 1 : 0;
	p.switches_gone = _i % 2 ? 0 : 1;
	for (p.seed = 1; p.seed < 10; p.seed++) {
		struct net x;

		net_init(&x, &p);
		for (uint32_t a = 0; a < x.g->n; a++)
			for (uint32_t b = 0; b < x.g->n; b++) {
				unsigned n = follow(&x, a, b, path);

				lost += a != b && !n;
				if (n)
					ck_assert(dimension_class(x.grid, a, b) ==
						  crossed(&x, path, n));
			}
		ck_assert(!has_cycle(&x, true));
		net_free(&x);
	}
	ck_assert_uint_gt(lost, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("dimension");
	TCase *tc = tcase_create("all");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, intact, 0, (int)ARRAY_SIZE(grids));
	tcase_add_loop_test(tc, balance, 0, (int)ARRAY_SIZE(balances));
	tcase_add_loop_test(tc, faults, 0, 8);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
