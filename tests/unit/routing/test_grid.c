/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests that grids are recognized, intact and with faults, and other fabrics are not (routing/grid/grid.h). */
#include <check.h>

#include "grids.h"
#include "unit/run.h"

/* Every switch must have its own place, and every link must lead to an adjacent place. */
static void check_places(const struct graph *g, const struct grid *grid)
{
	uint32_t n_there = 0;

	for (uint32_t place = 0; place < grid->n_places; place++)
		n_there += grid->vertex[place] != FABRIC_NONE;
	ck_assert_uint_eq(n_there, g->n);
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t place = 0;

		for (unsigned d = 0; d < grid->n_dims; d++) {
			ck_assert_uint_lt(grid_at(grid, v, d), grid->dim[d].length);
			place += grid_at(grid, v, d) * grid->stride[d];
		}
		ck_assert_uint_eq(grid->vertex[place], v);
		for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++) {
			unsigned steps = 0;

			for (unsigned d = 0; d < grid->n_dims; d++) {
				unsigned x = grid_at(grid, v, d);
				unsigned y = grid_at(grid, g->trunks[t].v, d);
				unsigned far = x > y ? x - y : y - x;
				const struct grid_dim *dim = &grid->dim[d];

				steps += far > 0;
				ck_assert(dim->kind == GRID_COMPLETE || far < 2 ||
					  (dim->kind == GRID_RING && far == dim->length - 1));
			}
			ck_assert_uint_eq(steps, 1);
		}
	}
}

static bool says(const struct grid *grid, const char *what)
{
	struct buf text = { 0 };
	bool same;

	grid_text(grid, &text);
	same = strcmp(text.s, what) == 0;
	if (!same)
		printf("%s instead of %s\n", text.s, what);
	buf_free(&text);
	return same;
}

static const struct {
	const char *plan, *text;
	bool faults;		/* large enough to be known without any one switch or link */
} grids[] = {
	{ "5r5r", "torus 5x5", true },
	{ "6r6r6r", "torus 6x6x6", true },
	{ "3r6r", "torus 6x3", true },
	{ "4r6r", "torus 6x4", true },
	{ "3r4r5r", "torus 5x4x3", true },
	{ "2r8r", "torus 8x2", true },
	{ "7r2r2r2r", "torus 7x4x2", true },
	{ "4r4r5r", "torus 5x4x4", true },
	{ "4r4r4r", "hypercube of 6 dimensions (torus 4x4x4)", true },
	{ "4r4r", "hypercube of 4 dimensions (torus 4x4)", true },
	{ "2c2c2c", "hypercube of 3 dimensions", false },
	{ "2r2r2r2r2r", "hypercube of 5 dimensions", true },
	{ "3r3r", "HyperX 3x3", true },
	{ "3r3r3r", "HyperX 3x3x3", true },
	{ "8p8p", "mesh 8x8", true },
	{ "4p4p", "mesh 4x4", true },
	{ "3p3p", "mesh 3x3", false },
	{ "2p8p", "mesh 8x2", false },
	{ "3p2p", "mesh 3x2", false },
	{ "3p4p5p", "mesh 5x4x3", true },
	{ "12c8c", "HyperX 12x8", true },
	{ "4c4c", "HyperX 4x4", true },
	{ "5c4c3c2c", "HyperX 5x4x3x2", true },
	{ "6r5p", "grid of 6 (ring) x 5 (path)", true },
	{ "6r4c", "grid of 6 (ring) x 4 (complete)", true },
	{ "5p5c", "grid of 5 (path) x 5 (complete)", true },
	{ "4r5p", "mesh 5x2x2", true },
	{ "5r5r5r5r4r", "torus 5x5x5x5x4", true },
	{ "9r", "ring of 9", false },
	{ "5r", "ring of 5", false },
	{ "4r", "ring of 4", false },
	{ "3r", "complete graph of 3", false },
	{ "8c", "complete graph of 8", false },
	{ "4c", "complete graph of 4", false },
	{ "5p", "line of 5", false },
};

/* Whatever the order of GUIDs and ports, the number of cables and where hosts are. */
/* promise: B6 */
START_TEST(intact)
{
	for (uint64_t seed = 0; seed < 8; seed++) {
		struct grid_plan p = grid_plan_of(grids[_i].plan);
		struct made_grid m;

		p.seed = seed;
		p.cables = 1 + seed % 3;
		p.every = 1 + seed % 2 * 3;
		make_grid(&m, &p);
		struct grid *grid = grid_new(m.g);

		ck_assert_ptr_nonnull(grid);
		ck_assert(says(grid, grids[_i].text));
		check_places(m.g, grid);
		ck_assert_uint_eq(grid->missing_links + grid->missing_switches, 0);
		grid_free(grid);
		made_grid_free(&m);
	}
}
END_TEST

/* The grid that is recognized in a damaged plan must have exactly the faults that were made. */
static void check_with_faults(const struct grid_plan *p, const char *text)
{
	struct buf whole = { 0 };
	struct made_grid m;

	make_grid(&m, p);
	buf_puts(&whole, text);
	if (p->links_gone)
		buf_printf(&whole, ", %u link%s", p->links_gone, p->links_gone == 1 ? "" : "s");
	if (p->switches_gone)
		buf_printf(&whole, "%s %u switch%s", p->links_gone ? " and" : ",", p->switches_gone,
			   p->switches_gone == 1 ? "" : "es");
	buf_puts(&whole, " missing");
	struct grid *grid = grid_new(m.g);

	ck_assert_msg(grid != NULL, "seed %u: no %s", (unsigned)p->seed, whole.s);
	ck_assert(says(grid, whole.s));
	check_places(m.g, grid);
	grid_free(grid);
	buf_free(&whole);
	made_grid_free(&m);
}

/* promise: B6 */
START_TEST(one_fault)
{
	struct grid_plan p = grid_plan_of(grids[_i].plan);
	unsigned n = places(&p) > 500 ? 4 : 30;

	for (p.seed = 1; grids[_i].faults && p.seed < n; p.seed++) {
		p.links_gone = 1;
		p.switches_gone = 0;
		check_with_faults(&p, grids[_i].text);
		p.links_gone = 0;
		p.switches_gone = 1;
		check_with_faults(&p, grids[_i].text);
	}
}
END_TEST

static const struct {
	const char *plan, *text;
	unsigned links, switches;
} damaged[] = {
	{ "6r6r6r", "torus 6x6x6", 20, 4 },
	{ "5r5r", "torus 5x5", 2, 0 },
	{ "5r5r", "torus 5x5", 0, 2 },
	{ "8r8r", "torus 8x8", 3, 1 },
	{ "30r30r", "torus 30x30", 20, 9 },
	{ "54r54r", "torus 54x54", 50, 15 },
	{ "4r4r4r", "hypercube of 6 dimensions (torus 4x4x4)", 6, 2 },
	{ "8p8p8p", "mesh 8x8x8", 10, 5 },
	{ "12c8c", "HyperX 12x8", 30, 3 },
	{ "5c4c3c2c", "HyperX 5x4x3x2", 8, 3 },
	{ "9c", "complete graph of 9", 2, 0 },
	{ "5r5r5r5r4r", "torus 5x5x5x5x4", 250, 50 },
};

/* promise: B6 */
START_TEST(several_faults)
{
	struct grid_plan p = grid_plan_of(damaged[_i].plan);
	unsigned n = places(&p) > 500 ? 3 : 20;

	p.links_gone = damaged[_i].links;
	p.switches_gone = damaged[_i].switches;
	for (p.seed = 1; p.seed < n; p.seed++)
		check_with_faults(&p, damaged[_i].text);
}
END_TEST

static struct grid *grid_of(const struct topo *t)
{
	struct graph *g = graph_new(t->f, graph_by_guid(t->f));
	struct grid *grid = grid_new(g);

	if (grid)
		check_places(g, grid);
	graph_free(g);
	return grid;
}

/* promise: B6 */
START_TEST(no_trees)
{
	static const struct fat trees[] = {
		{ .pods = 1, .leaves = 8, .hosts = 4, .aggs = 4, .width = 1 },
		{ .pods = 1, .leaves = 3, .hosts = 4, .aggs = 2, .width = 2 },
		{ .pods = 1, .leaves = 12, .hosts = 4, .aggs = 2, .width = 1 },
		{ .pods = 4, .leaves = 4, .hosts = 3, .aggs = 4, .width = 1, .spines = 4 },
		{ .pods = 2, .leaves = 2, .hosts = 3, .aggs = 2, .width = 1, .spines = 2 },
		{ .pods = 4, .leaves = 2, .hosts = 3, .aggs = 2, .width = 1, .spines = 2 },
	};

	for (unsigned links = 0; links < 4; links++) {
		struct fat p = trees[_i];
		struct fabric *f = fat_build(&p);
		struct topo t;

		fat_hosts(&p, f);
		remove_links(f, links, links);
		topo_finish(&t, f, 0);
		ck_assert_ptr_null(grid_of(&t));
		topo_free(&t);
		fat_free(&p);
	}
}
END_TEST

/* A grid that is found in a random fabric must be there; in larger random fabrics, none may be found. */
/* promise: B6 */
START_TEST(by_chance)
{
	for (uint64_t seed = 0; seed < 300; seed++) {
		struct topo t;

		random_topo(&t, seed);
		struct grid *grid = grid_of(&t);

		ck_assert(!grid || t.f->n_switches < 8 || grid->n_dims == 1);
		grid_free(grid);
		topo_free(&t);
	}
}
END_TEST

/* Each of n switches is linked to `degree` others or a few less. */
static void regular_topo(struct topo *t, unsigned n, unsigned degree, uint64_t seed)
{
	struct fabric *f = topo_begin();
	uint32_t sw[256];
	unsigned next[256] = { 0 };

	for (unsigned i = 0; i < n; i++) {
		sw[i] = topo_switch(f, 1 + i, 60);
		topo_host(f, sw[i], 60);
	}
	for (unsigned i = 0; i < n; i++) {
		fabric_link(f, sw[i], 50, sw[(i + 1) % n], 51);
		next[i] += 2;
	}
	for (unsigned i = 0; i < 50 * n; i++) {
		unsigned a = (unsigned)(hash64(seed * 7919 + 2 * i) % n);
		unsigned b = (unsigned)(hash64(seed * 7919 + 2 * i + 1) % n);

		if (a == b || next[a] >= degree || next[b] >= degree)
			continue;
		fabric_link(f, sw[a], next[a]++, sw[b], next[b]++);
	}
	topo_finish(t, f, 0);
}

/* promise: B6 */
START_TEST(regular_graphs)
{
	for (uint64_t seed = 0; seed < 10; seed++) {
		struct topo t;

		regular_topo(&t, 20 + 23 * (unsigned)seed, 3 + (unsigned)_i, seed);
		ck_assert_ptr_null(grid_of(&t));
		topo_free(&t);
	}
}
END_TEST

/* A torus with one cable too many. */
/* promise: B6 */
START_TEST(a_chord)
{
	struct grid_plan p = grid_plan_of("6r6r6r");
	struct made_grid m;

	make_grid(&m, &p);
	fabric_link(m.t.f, m.t.f->switches[0].node, 240, m.t.f->switches[100].node, 240);
	ck_assert_ptr_null(grid_of(&m.t));
	made_grid_free(&m);
}
END_TEST

START_TEST(recorded_fabrics)
{
	struct topo t;

	if (!recorded_topo(&t, _i))
		return;
	ck_assert_ptr_null(grid_of(&t));
	topo_free(&t);
}
END_TEST

START_TEST(small_ones)
{
	struct fabric *f = topo_begin();
	uint32_t a = topo_switch(f, 1, 8);
	struct topo t;

	topo_host(f, a, 1);
	if (_i)
		fabric_link(f, a, 2, topo_switch(f, 2, 8), 2);
	topo_finish(&t, f, 0);
	ck_assert_ptr_null(grid_of(&t));
	topo_free(&t);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("grid");
	TCase *tc = tcase_create("all");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, intact, 0, (int)ARRAY_SIZE(grids));
	tcase_add_loop_test(tc, one_fault, 0, (int)ARRAY_SIZE(grids));
	tcase_add_loop_test(tc, several_faults, 0, (int)ARRAY_SIZE(damaged));
	tcase_add_loop_test(tc, no_trees, 0, 6);
	tcase_add_test(tc, by_chance);
	tcase_add_loop_test(tc, regular_graphs, 0, 12);
	tcase_add_test(tc, a_chord);
	tcase_add_loop_test(tc, recorded_fabrics, 0, RECORDED);
	tcase_add_loop_test(tc, small_ones, 0, 2);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
