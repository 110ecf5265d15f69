/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the auditor on random fabrics with random damage: its counts must be equal to those of
 * a walk of every pair by every SL, or by the SLs given for the pair.
 *
 * promise: V5
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "sim/net/wire.h"
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
	uint64_t told;		/* by_pair: whence the SLs of pairs are */
	bool by_pair;
	uint64_t pairs, by_sl[16], arrived, hops;
	uint64_t unsaid, sent[16], got[16];
	unsigned hops_max;
	struct map64 ends, cycles, holes;
	uint64_t n_ends, n_cycles, n_holes, n_silent;
	struct map64 edges;
	VEC(struct edge) edge_list;
};

/* Of one pair: mostly one SL, sometimes none or two. */
static uint16_t sls_said(uint64_t told, uint32_t src, unsigned lid)
{
	uint64_t h = hash64(told + ((uint64_t)src << 32 | lid) * 0x9e3779b97f4a7c15ULL);
	uint16_t sls = (uint16_t)(1u << h % 3);

	if (h >> 8 & 7)
		return sls;
	return h >> 12 & 1 ? sls | 1u << (h >> 16) % 16 : 0;
}

static uint16_t sls_of(const struct plain *w, uint32_t src, unsigned lid)
{
	return w->by_pair ? sls_said(w->told, src, lid) : w->sls;
}

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
static uint32_t lowest_of_cycle(const struct sim_fabric *f, const struct path *p)
{
	uint32_t lowest = SIM_NONE;

	for (unsigned i = p->n; i-- > 1;) {
		uint32_t sw = node_of(f, p->out[i])->sw;

		lowest = sw < lowest ? sw : lowest;
		if (i < p->n - 1 && node_of(f, p->out[p->n - 1])->sw == sw)
			return lowest;
	}
	ck_abort_msg("no cycle");
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
		p->end = lowest_of_cycle(f, p);
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

static void count_path(struct plain *w, const struct path *p, uint16_t sls)
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
		w->got[sl] += all && (sls >> sl & 1);
	}
}

/* Each hop once, if it loses any SL that is used there. */
static void count_hole(struct plain *w, const struct path *p, unsigned hop, uint16_t sls)
{
	for (unsigned sl = 0; sl < 16; sl++)
		if ((sls >> sl & 1) && !passes(w, p, hop, sl)) {
			w->n_holes += map64_put(&w->holes, (uint64_t)p->in[hop] << 32 | p->out[hop],
						0) == MAP64_NONE;
			return;
		}
}

static void one_pair(struct plain *w, uint32_t src, unsigned lid, bool second)
{
	uint16_t sls = sls_of(w, src, lid);
	struct path p;
	uint64_t key;

	walk(w->f, src, lid, &p);
	if (second) {
		count_hole(w, &p, 0, sls);
		for (unsigned sl = 0; sl < 16 && p.arrived; sl++)
			if (sls >> sl & 1)
				add_edges(w, &p, sl);
		for (unsigned i = 1; i < p.n && p.arrived; i++)
			count_hole(w, &p, i, sls);
		return;
	}
	key = (uint64_t)lid << 32 | p.end;
	if (p.arrived)
		count_path(w, &p, sls);
	else if (p.loops)
		w->n_cycles += map64_put(&w->cycles, key, 0) == MAP64_NONE;
	else
		w->n_ends += map64_put(&w->ends, key, 0) == MAP64_NONE;
}

static bool is_host(const struct sim_fabric *f, uint32_t port)
{
	return !is_switch(node_of(f, port)) && f->ports[port].num != 0 && link_is_up(f, port);
}

/* The SLs given for the pair, before the walk. */
static void count_said(struct plain *w, uint32_t src, unsigned lid)
{
	uint16_t sls = sls_of(w, src, lid);

	w->pairs++;
	w->unsaid += sls == 0;
	for (unsigned sl = 0; sl < 16; sl++)
		w->sent[sl] += sls >> sl & 1;
}

static void all_pairs(struct plain *w, bool second)
{
	const struct sim_fabric *f = w->f;

	for (uint32_t src = 0; src < f->n_ports; src++) {
		struct path own = { .n = 1, .in = { src }, .out = { src } };
		uint64_t before = w->pairs;

		if (!is_host(f, src))
			continue;
		/* an end without any destination is a fault as well if all pairs share the SLs in use */
		if (second && !w->by_pair && open_out(f, src))
			count_hole(w, &own, 0, w->sls);
		for (uint32_t dst = 0; dst < f->n_ports; dst++) {
			if (!is_host(f, dst) || src == dst)
				continue;
			for (unsigned k = 0; k < 1u << f->ports[dst].lmc; k++) {
				if (!second)
					count_said(w, src, f->ports[dst].lid + k);
				if (open_out(f, src))
					one_pair(w, src, f->ports[dst].lid + k, second);
			}
		}
		w->n_silent += w->pairs > before && !open_out(f, src);
	}
}

/* Sets of channels that reach each other. */
static unsigned count_cycles(const struct plain *w)
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

static void compare_sls(const struct plain *w, const struct audit *a)
{
	uint64_t connected = 0;

	for (unsigned sl = 0; sl < 16; sl++) {
		if (w->sls >> sl & 1)
			connected += w->by_sl[sl];
		ck_assert_uint_eq(a->sls_connected >> sl & 1, w->by_sl[sl] == w->pairs);
	}
	ck_assert_uint_eq(a->sls, w->sls);
	ck_assert_uint_eq(a->pairs, w->pairs * (unsigned)__builtin_popcount(w->sls));
	ck_assert_uint_eq(a->connected, connected);
}

static void compare_sls_by_pair(const struct plain *w, const struct audit *a)
{
	uint64_t sent = 0, got = 0;

	for (unsigned sl = 0; sl < 16; sl++) {
		sent += w->sent[sl];
		got += w->got[sl];
		ck_assert_uint_eq(a->sls >> sl & 1, w->sent[sl] > 0);
		ck_assert_uint_eq(a->sls_connected >> sl & 1,
				  w->sent[sl] && w->got[sl] == w->sent[sl]);
	}
	ck_assert_uint_eq(a->pairs, sent);
	ck_assert_uint_eq(a->connected, got);
	ck_assert_uint_eq(a->pairs_without_sl, w->unsaid);
}

static void compare(const struct plain *w, const struct audit *a)
{
	if (w->by_pair)
		compare_sls_by_pair(w, a);
	else
		compare_sls(w, a);
	ck_assert_uint_eq(a->hops_max, w->hops_max);
	ck_assert_double_eq_tol(a->hops_mean,
				w->arrived ? (double)w->hops / (double)w->arrived : 0, 1e-9);
	ck_assert_uint_eq(a->count[AUDIT_UNREACHABLE], w->n_ends + w->n_silent);
	ck_assert_uint_eq(a->count[AUDIT_LOOP], w->n_cycles);
	ck_assert_uint_eq(a->count[AUDIT_VL15], w->n_holes);
	ck_assert_uint_eq(a->count[AUDIT_CREDIT_LOOP], count_cycles(w));
}

static uint16_t sls_in_use(const struct plain *w, uint16_t told)
{
	uint16_t most = 1;	/* MasterSMSL of all is 0 */

	for (unsigned sl = 0; sl < 16; sl++)
		most |= (unsigned)(2 * w->by_sl[sl] > w->arrived) << sl;
	return told ? told : most;
}

static void audit_and_compare(struct plain *w, const struct audit_options *o, uint16_t sls)
{
	struct audit a;

	map64_init(&w->ends, 16);
	map64_init(&w->cycles, 16);
	map64_init(&w->holes, 16);
	map64_init(&w->edges, 16);
	all_pairs(w, false);
	w->sls = sls_in_use(w, sls);
	all_pairs(w, true);
	audit_run(w->f, o, &a);
	compare(w, &a);
	audit_free(&a);
	map64_free(&w->ends);
	map64_free(&w->cycles);
	map64_free(&w->holes);
	map64_free(&w->edges);
	vec_free(&w->edge_list);
}

static void compare_on(const struct sim_fabric *f, uint16_t sls)
{
	struct audit_options o = { .sls = sls };
	struct plain w = { .f = f };

	audit_and_compare(&w, &o, sls);
}

/* As a subnet manager would dump them. */
static void say_sls(const struct plain *w, struct buf *text)
{
	for (uint32_t src = 0; src < w->f->n_ports; src++) {
		if (!is_host(w->f, src))
			continue;
		buf_printf(text, "Channel Adapter 0x%016llx, base LID %u, \"host\"\n",
			   (unsigned long long)w->f->ports[src].guid, w->f->ports[src].lid);
		for (unsigned lid = 1; lid < 200; lid++)
			for (unsigned sl = 0; sl < 16; sl++)
				if (sls_of(w, src, lid) >> sl & 1)
					buf_printf(text, "0x%04x : %u\n", lid, sl);
	}
}

static void compare_by_pair(const struct sim_fabric *f)
{
	struct plain w = { .f = f, .by_pair = true, .told = hash64(rng) };
	struct path_sls p;
	struct audit_options o = { .path_sls = &p };
	struct buf text = { 0 }, err = { 0 };

	say_sls(&w, &text);
	if (text.n) {
		ck_assert_msg(path_sls_read(&p, f, "sls", text.s, text.n, &err), "%s", err.s);
		audit_and_compare(&w, &o, 0);
		path_sls_free(&p);
	}
	buf_free(&text);
}

START_TEST(random_damage)
{
	rng = (uint64_t)_i + 1;

	struct sim_fabric *f = random_fabric();
	unsigned vls = 1 + chance(3);

	bring_up(f, vls, chance(3), chance(4) ? SHORTEST : ALONG_TREE);
	mix_vls(f, vls);
	compare_on(f, 0);
	compare_by_pair(f);
	damage(f);
	compare_on(f, 0);
	compare_on(f, (uint16_t)(1u << chance(16)));
	compare_by_pair(f);
	simfab_free(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("random");
	TCase *tc = tcase_create("all");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, random_damage, 0, cases(300));
	suite_add_tcase(s, tc);
	return run_suite(s);
}
