/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Random fabrics with random damage: the auditor counts what a plain walk of
 * every pair by every SL counts.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "simnet/wire.h"
#include "small.h"
#include "unit/run.h"

#define VLS 16
#define PATH_MAX_HOPS 64

static uint64_t rng;

static unsigned chance(unsigned n)
{
	rng += 0x9e3779b97f4a7c15ULL;
	return (unsigned)(hash64(rng) % n);
}

/* --- the plain way --- */

struct path {
	/* Ports; the first is the source's own. */
	uint32_t in[PATH_MAX_HOPS], out[PATH_MAX_HOPS];
	unsigned n;
	bool arrived, loops;
	uint32_t end;		/* switch where it ends; the lowest of those that it meets twice */
};

struct edge {
	uint32_t from, to;	/* channels: port times VLS plus VL */
};

struct plain {
	const struct sim_fabric *f;
	uint16_t sls;
	uint64_t pairs, by_sl[16], arrived, hops;
	unsigned hops_max;
	struct map64 ends, circles, used;
	uint64_t n_ends, n_circles, n_holes, n_mute;
	struct map64 edges;
	VEC(struct edge) edge_list;
};

static bool owns(const struct sim_port *p, unsigned lid)
{
	return lid >= p->lid && lid < p->lid + (1u << p->lmc);
}

static bool open_out(const struct sim_fabric *f, uint32_t port)
{
	return link_is_up(f, port) && f->ports[port].state == SIM_PORT_ACTIVE &&
	       f->ports[f->ports[port].peer].state >= SIM_PORT_ARMED;
}

static unsigned vls_behind(const struct sim_fabric *f, uint32_t port)
{
	unsigned a = f->ports[port].op_vls, b = f->ports[f->ports[port].peer].op_vls;

	return a < b ? a : b;
}

/* The switches that the path meets over and over: the lowest of them. */
static uint32_t lowest_of_circle(const struct sim_fabric *f, const struct path *p)
{
	uint32_t lowest = SIM_NONE;

	for (unsigned i = p->n; i-- > 1;) {
		uint32_t sw = node_of(f, p->out[i])->sw;

		lowest = sw < lowest ? sw : lowest;
		if (i < p->n - 1 && node_of(f, p->out[p->n - 1])->sw == sw)
			return lowest;
	}
	ck_abort_msg("no circle");
}

static void walk(const struct sim_fabric *f, uint32_t src, unsigned lid, struct path *p)
{
	uint32_t at = f->ports[src].peer;

	*p = (struct path){ .n = 1, .in = { src }, .out = { src } };
	while (is_switch(node_of(f, at)) && p->n < PATH_MAX_HOPS) {
		const struct sim_node *n = node_of(f, at);
		unsigned num = f->switches[n->sw].lft[lid];

		p->end = n->sw;
		if (num == 0 || num > n->nports || !open_out(f, n->port0 + num))
			return;
		p->in[p->n] = at;
		p->out[p->n++] = n->port0 + num;
		at = f->ports[n->port0 + num].peer;
	}
	p->loops = p->n == PATH_MAX_HOPS;
	if (p->loops)
		p->end = lowest_of_circle(f, p);
	else
		p->arrived = owns(&f->ports[at], lid);
}

static unsigned vl_at(const struct plain *w, const struct path *p, unsigned hop, unsigned sl)
{
	const struct sim_port *out = &w->f->ports[p->out[hop]];

	return sl2vl_get(w->f, out->node, w->f->ports[p->in[hop]].num, out->num, sl);
}

static bool passes(const struct plain *w, const struct path *p, unsigned hop, unsigned sl)
{
	unsigned vl = vl_at(w, p, hop, sl);

	return vl < 15 && vl < vls_behind(w->f, p->out[hop]);
}

static bool between_switches(const struct sim_fabric *f, uint32_t port)
{
	return is_switch(node_of(f, port)) && is_switch(node_of(f, f->ports[port].peer));
}

static void add_edges(struct plain *w, const struct path *p, unsigned sl)
{
	for (unsigned i = 2; i < p->n; i++) {
		uint32_t from = p->out[i - 1] * VLS + vl_at(w, p, i - 1, sl);
		uint32_t to = p->out[i] * VLS + vl_at(w, p, i, sl);

		if (between_switches(w->f, p->out[i - 1]) && between_switches(w->f, p->out[i]) &&
		    passes(w, p, i - 1, sl) && passes(w, p, i, sl) &&
		    map64_put(&w->edges, (uint64_t)from << 32 | to, 0) == MAP64_NONE)
			*vec_push(&w->edge_list) = (struct edge){ from, to };
	}
}

static void count_path(struct plain *w, const struct path *p)
{
	w->arrived++;
	w->hops += p->n - 1;
	if (p->n - 1 > w->hops_max)
		w->hops_max = p->n - 1;
	for (unsigned sl = 0; sl < 16; sl++) {
		bool all = true;

		for (unsigned i = 0; i < p->n; i++)
			all &= passes(w, p, i, sl);
		w->by_sl[sl] += all;
	}
}

/* Each hop once, if it loses any SL in use. */
static void count_holes(struct plain *w, const struct path *p)
{
	for (unsigned i = 1; i < p->n; i++) {
		bool hole = false;

		if (map64_put(&w->used, (uint64_t)p->in[i] << 32 | p->out[i], 0) != MAP64_NONE)
			continue;
		for (unsigned sl = 0; sl < 16; sl++)
			hole |= (w->sls >> sl & 1) && !passes(w, p, i, sl);
		w->n_holes += hole;
	}
}

static void one_pair(struct plain *w, uint32_t src, unsigned lid, bool second)
{
	struct path p;
	uint64_t key;

	walk(w->f, src, lid, &p);
	if (second) {
		for (unsigned sl = 0; sl < 16 && p.arrived; sl++)
			if (w->sls >> sl & 1)
				add_edges(w, &p, sl);
		if (p.arrived)
			count_holes(w, &p);
		return;
	}
	key = (uint64_t)lid << 32 | p.end;
	if (p.arrived)
		count_path(w, &p);
	else if (p.loops)
		w->n_circles += map64_put(&w->circles, key, 0) == MAP64_NONE;
	else
		w->n_ends += map64_put(&w->ends, key, 0) == MAP64_NONE;
}

static bool is_host(const struct sim_fabric *f, uint32_t port)
{
	return !is_switch(node_of(f, port)) && f->ports[port].num != 0 && link_is_up(f, port);
}

static void all_pairs(struct plain *w, bool second)
{
	const struct sim_fabric *f = w->f;

	for (uint32_t src = 0; src < f->n_ports; src++) {
		struct path own = { .n = 1, .in = { src }, .out = { src } };
		uint64_t before = w->pairs;
		bool hole = false;

		if (!is_host(f, src))
			continue;
		for (unsigned sl = 0; sl < 16; sl++)
			hole |= (w->sls >> sl & 1) && !passes(w, &own, 0, sl);
		w->n_holes += second && hole && open_out(f, src);
		for (uint32_t dst = 0; dst < f->n_ports; dst++) {
			if (!is_host(f, dst) || src == dst)
				continue;
			for (unsigned k = 0; k < 1u << f->ports[dst].lmc; k++) {
				w->pairs += !second;
				if (open_out(f, src))
					one_pair(w, src, f->ports[dst].lid + k, second);
			}
		}
		w->n_mute += w->pairs > before && !open_out(f, src);
	}
}

/* Sets of channels that reach each other. */
static unsigned count_circles(const struct plain *w)
{
	size_t n = (size_t)w->f->n_ports * VLS, count = 0;
	uint32_t *reach = xcalloc(n, sizeof(*reach)), *stack = xcalloc(n, sizeof(*stack));
	struct map64 pairs = { 0 };

	map64_init(&pairs, 1000);
	for (size_t i = 0; i < w->edge_list.n; i++) {
		uint32_t start = w->edge_list.v[i].from, depth = 0;

		if (reach[start] == start + 1)
			continue;
		memset(reach, 0, n * sizeof(*reach));
		stack[depth++] = start;
		while (depth > 0) {
			uint32_t c = stack[--depth];

			for (size_t k = 0; k < w->edge_list.n; k++) {
				uint32_t to = w->edge_list.v[k].to;

				if (w->edge_list.v[k].from != c || reach[to])
					continue;
				reach[to] = 1;
				map64_put(&pairs, (uint64_t)start << 32 | to, 0);
				stack[depth++] = to;
			}
		}
	}
	for (uint32_t c = 0; c < n; c++) {
		bool first = map64_get(&pairs, (uint64_t)c << 32 | c) != MAP64_NONE;

		for (uint32_t d = 0; d < c && first; d++)
			first = map64_get(&pairs, (uint64_t)c << 32 | d) == MAP64_NONE ||
				map64_get(&pairs, (uint64_t)d << 32 | c) == MAP64_NONE;
		count += first;
	}
	map64_free(&pairs);
	free(reach);
	free(stack);
	return (unsigned)count;
}

/* --- random fabrics --- */

static struct sim_fabric *random_fabric(void)
{
	struct sim_fabric *f = simfab_new();
	unsigned n = 2 + chance(6), ports = 12, used[8] = { 0 };

	for (unsigned i = 0; i < n; i++)
		add_switch(f, ports);
	bool chain = chance(2);

	for (unsigned i = 1; i < n; i++) {
		unsigned to = chain ? i - 1 : chance(i);

		cable(f, i, ++used[i], to, ++used[to]);
	}
	if (chain && n > 2)
		cable(f, 0, ++used[0], n - 1, ++used[n - 1]);
	for (unsigned i = chain ? chance(3) : chance(2 * n); i > 0; i--) {
		unsigned a = chance(n), b = chance(n);

		if (a != b && used[a] < 8 && used[b] < 8)
			cable(f, a, ++used[a], b, ++used[b]);
	}
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = chance(4); k > 0 && used[i] < ports; k--)
			add_host(f, i, ++used[i]);
	return f;
}

static uint32_t random_port(const struct sim_fabric *f)
{
	return chance(f->n_ports);
}

/* All SLs from some in ports to some out ports on a VL: routes change it on their way. */
static void mix_vls(struct sim_fabric *f, unsigned vls)
{
	for (unsigned i = chance(100); i > 0; i--) {
		uint32_t sw = chance(f->n_switches);
		unsigned in = chance(13), out = 1 + chance(12);
		uint8_t vl = (uint8_t)chance(vls);

		for (unsigned sl = 0; sl < 16; sl++)
			set_sl2vl(f, sw, in, out, sl, vl);
	}
}

static void damage(struct sim_fabric *f)
{
	static const uint8_t states[] = { SIM_PORT_INIT, SIM_PORT_ARMED };
	unsigned way = chance(8);

	for (unsigned i = way & 1 ? chance(6) : 0; i > 0; i--)
		f->switches[chance(f->n_switches)].lft[1 + chance(60)] = (uint8_t)chance(14);
	for (unsigned i = way & 2 ? chance(200) : 0; i > 0; i--)
		set_sl2vl(f, chance(f->n_switches), chance(13), 1 + chance(12), chance(16),
			  (uint8_t)(chance(30) ? chance(3) : 15));
	if (way & 4 && chance(2)) {
		f->ports[random_port(f)].state = states[chance(2)];
		f->ports[random_port(f)].op_vls = 1;
	}
}

static void compare(const struct plain *w, const struct audit *a)
{
	uint64_t connected = 0;

	for (unsigned sl = 0; sl < 16; sl++) {
		if (w->sls >> sl & 1)
			connected += w->by_sl[sl];
		ck_assert_uint_eq(a->sls_connected >> sl & 1, w->by_sl[sl] == w->pairs);
	}
	ck_assert_uint_eq(a->pairs, w->pairs * (unsigned)__builtin_popcount(w->sls));
	ck_assert_uint_eq(a->connected, connected);
	ck_assert_uint_eq(a->hops_max, w->hops_max);
	ck_assert_double_eq_tol(a->hops_mean,
				w->arrived ? (double)w->hops / (double)w->arrived : 0, 1e-9);
	ck_assert_uint_eq(a->count[AUDIT_UNREACHABLE], w->n_ends + w->n_mute);
	ck_assert_uint_eq(a->count[AUDIT_LOOP], w->n_circles);
	ck_assert_uint_eq(a->count[AUDIT_VL15], w->n_holes);
	ck_assert_uint_eq(a->count[AUDIT_CREDIT_LOOP], count_circles(w));
}

static uint16_t sls_in_use(const struct plain *w, uint16_t told)
{
	uint16_t most = 1;	/* MasterSMSL of all is 0 */

	for (unsigned sl = 0; sl < 16; sl++)
		most |= (unsigned)(2 * w->by_sl[sl] > w->arrived) << sl;
	return told ? told : most;
}

static void compare_on(const struct sim_fabric *f, uint16_t sls)
{
	struct audit_options o = { .sls = sls };
	struct plain w = { .f = f };
	struct audit a;

	map64_init(&w.ends, 16);
	map64_init(&w.circles, 16);
	map64_init(&w.used, 16);
	map64_init(&w.edges, 16);
	all_pairs(&w, false);
	w.sls = sls_in_use(&w, sls);
	all_pairs(&w, true);
	audit_run(f, &o, &a);
	ck_assert_uint_eq(a.sls, w.sls);
	compare(&w, &a);
	audit_free(&a);
	map64_free(&w.ends);
	map64_free(&w.circles);
	map64_free(&w.used);
	map64_free(&w.edges);
	vec_free(&w.edge_list);
}

START_TEST(random_damage)
{
	rng = (uint64_t)_i + 1;

	struct sim_fabric *f = random_fabric();
	unsigned vls = 1 + chance(3);

	bring_up(f, vls, chance(3), chance(4) ? SHORTEST : ALONG_TREE);
	mix_vls(f, vls);
	compare_on(f, 0);
	damage(f);
	compare_on(f, 0);
	compare_on(f, (uint16_t)(1u << chance(16)));
	simfab_free(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("random");
	TCase *tc = tcase_create("all");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, random_damage, 0, 300);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
