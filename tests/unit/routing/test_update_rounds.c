/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the rounds between tables in layers (routing/change/update_rounds.h).  Links and switches fail and
 * return; the test makes the writes of each round in random order, and walks all pairs after each.  No LID may
 * loop, and no layer may have a credit loop.  The checks share no code with the code under test.
 * test_route_repair.c tests rounds of other tables.
 */
#include <check.h>

#include "routing/change/update_rounds.h"
#include "routing/layered/layered.h"
#include "routing/updn/order.h"
#include "topo.h"
#include "unit/run.h"

#define LAYERS 8
#define ORDERS 2	/* random orders of writing for each change */

/* Tables in layers while some links are dead. */
struct moment {
	struct lfts *lfts;
	struct route_layers *layers;
	bool *dead;		/* [port] */
	bool same_order;	/* made by the order of all links */
};

struct scene {
	struct topo t;
	uint64_t seed;
	struct updn_order *o;
	struct channels *c;
	struct moment base;
	/* of the change at hand */
	const struct moment *from, *to;
	const struct lfts *is;
	bool *here;		/* [switch]: the SM gets there */
	uint64_t *waits[LAYERS];	/* [port]: bits of the ports that the switch behind it is left by */
	uint8_t *state;		/* [port]: of the search for a cycle */
	/* what was seen in all changes */
	unsigned cycles;
	unsigned writes, again, dropped;
};

static unsigned chance(struct scene *s, unsigned n)
{
	return (unsigned)(hash64(s->seed += 0x9e3779b97f4a7c15ULL) % n);
}

/* --- fabrics --- */

/* Groups of switches, all connected, with a host each, and one link between any two groups. */
static void dragonfly_topo(struct topo *t, unsigned groups, unsigned routers)
{
	struct fabric *f = topo_begin();
	unsigned next[64];
	uint32_t sw[64];

	for (unsigned i = 0; i < groups * routers; i++) {
		sw[i] = topo_switch(f, hash64(i) >> 32 | 1ULL << 33, 20);
		next[i] = 1;
	}
	for (unsigned g = 0; g < groups; g++) {
		for (unsigned i = 0; i < routers; i++)
			for (unsigned k = 0; k < i; k++) {
				unsigned a = g * routers + i, b = g * routers + k;

				fabric_link(f, sw[a], next[a]++, sw[b], next[b]++);
			}
		for (unsigned h = 0; h < g; h++) {
			unsigned a = g * routers + h % routers, b = h * routers + (g - 1) % routers;

			fabric_link(f, sw[a], next[a]++, sw[b], next[b]++);
		}
	}
	for (unsigned i = 0; i < groups * routers; i++)
		topo_host(f, sw[i], next[i]);
	topo_finish(t, f, 0);
}

static void make_topo(struct topo *t, int i)
{
	static const unsigned dims[][3] = { { 4, 4, 1 }, { 5, 5, 1 }, { 7, 1, 1 }, { 3, 3, 3 }, { 6, 3, 1 } };

	if (i < (int)ARRAY_SIZE(dims))
		torus_topo(t, dims[i]);
	else if (i == (int)ARRAY_SIZE(dims))
		dragonfly_topo(t, 5, 4);
	else if (i == (int)ARRAY_SIZE(dims) + 1)
		dragonfly_topo(t, 9, 3);
	else
		random_topo(t, (uint64_t)i);
}

/* --- tables --- */

static bool joins_switches(const struct fabric *f, uint32_t port)
{
	return f->ports[port].peer != FABRIC_NONE && node_is_switch(port_node(f, port)) &&
	       node_is_switch(port_node(f, f->ports[port].peer));
}

/* Makes tables without the dead links of m, near to the base if there is one. */
static void route(struct scene *s, struct moment *m)
{
	struct fabric *f = s->t.f;
	struct route_request r = s->t.r;
	uint32_t *same = xcalloc(f->n_switches, sizeof(*same));
	struct updn_order *o;

	for (uint32_t p = 0; p < f->n_ports; p++)
		f->ports[p].held = m->dead[p];
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		same[sw] = sw;
	o = updn_order_on(s->o, f, same);
	m->same_order = updn_order_connects(o);
	if (!m->same_order) {
		updn_order_free(o);
		o = updn_order_by_root(f);
	}
	r.near = s->base.lfts;
	r.near_layers = s->base.layers;
	m->lfts = lfts_new(f->n_switches, r.lid_top);
	m->layers = layered_routes(&r, o, LAYERS, m->lfts, NULL);
	ck_assert_ptr_nonnull(m->layers);
	for (uint32_t p = 0; p < f->n_ports; p++)
		f->ports[p].held = false;
	updn_order_free(o);
	free(same);
}

static void scene_make(struct scene *s, int i)
{
	*s = (struct scene){ .seed = (uint64_t)i * 1000003 + 1 };
	make_topo(&s->t, i);
	s->o = updn_order_by_root(s->t.f);
	s->c = channels_new(s->t.f, s->o);
	s->here = xcalloc(s->t.f->n_switches, 1);
	for (unsigned layer = 0; layer < LAYERS; layer++)
		s->waits[layer] = xcalloc(s->t.f->n_ports, sizeof(*s->waits[layer]));
	s->state = xcalloc(s->t.f->n_ports, 1);
	s->base.dead = xcalloc(s->t.f->n_ports, 1);
	route(s, &s->base);
}

static void moment_free(struct moment *m)
{
	lfts_free(m->lfts);
	route_layers_free(m->layers);
	free(m->dead);
}

static void scene_free(struct scene *s)
{
	moment_free(&s->base);
	channels_free(s->c);
	updn_order_free(s->o);
	free(s->here);
	for (unsigned layer = 0; layer < LAYERS; layer++)
		free(s->waits[layer]);
	free(s->state);
	topo_free(&s->t);
}

/* --- walks --- */

/* The port by which a table leads on from a switch to another, FABRIC_NONE if it does not. */
static uint32_t port_out(const struct scene *s, const struct lfts *l, uint32_t sw, uint16_t lid)
{
	const struct fabric *f = s->t.f;
	const struct fabric_node *n = &f->nodes[f->switches[sw].node];
	uint8_t num = lft_get(l, sw, lid);

	if (!num || num > n->nports || !joins_switches(f, n->port0 + num) || s->to->dead[n->port0 + num])
		return FABRIC_NONE;
	return n->port0 + num;
}

static uint32_t next_switch(const struct scene *s, uint32_t port)
{
	return port_node(s->t.f, s->t.f->ports[port].peer)->sw;
}

/* Whether two tables have the same route from a switch to a LID. */
static bool same_way(const struct scene *s, const struct lfts *a, const struct lfts *b, uint32_t sw, uint16_t lid)
{
	for (unsigned hops = 0; hops <= s->t.f->n_switches; hops++) {
		uint32_t port = port_out(s, a, sw, lid);

		if (lft_get(a, sw, lid) != lft_get(b, sw, lid))
			return false;
		if (port == FABRIC_NONE)
			return true;
		sw = next_switch(s, port);
	}
	return true;
}

/* The layer of packets from one switch to another on their present route; LAYERS if it does not count. */
static unsigned layer_now(const struct scene *s, uint32_t sw, uint32_t home, uint16_t lid)
{
	unsigned was = route_layer(s->from->layers, sw, home), next = route_layer(s->to->layers, sw, home);

	if (was == next)
		return was;
	if (same_way(s, s->from->lfts, s->to->lfts, sw, lid))
		return LAYERS;
	if (same_way(s, s->is, s->from->lfts, sw, lid))
		return was;
	return same_way(s, s->is, s->to->lfts, sw, lid) ? next : LAYERS;
}

static void walk(struct scene *s, unsigned layer, uint32_t sw, uint16_t lid)
{
	uint32_t in = FABRIC_NONE, out;

	for (unsigned hops = 0; (out = port_out(s, s->is, sw, lid)) != FABRIC_NONE; hops++) {
		if (hops > s->t.f->n_switches)
			ck_abort_msg("LID %u goes in a cycle", lid);
		if (in != FABRIC_NONE)
			s->waits[layer][in] |= 1ull << s->t.f->ports[out].num;
		in = out;
		sw = next_switch(s, out);
	}
}

static bool cycle_from(struct scene *s, unsigned layer, uint32_t port)
{
	uint32_t port0 = port_node(s->t.f, s->t.f->ports[port].peer)->port0;

	if (s->state[port])
		return s->state[port] == 1;
	s->state[port] = 1;
	for (uint64_t left = s->waits[layer][port]; left; left &= left - 1)
		if (cycle_from(s, layer, port0 + (uint32_t)__builtin_ctzll(left)))
			return true;
	s->state[port] = 2;
	return false;
}

static bool cycle_in_layer(struct scene *s, unsigned layer)
{
	memset(s->state, 0, s->t.f->n_ports);
	for (uint32_t p = 0; p < s->t.f->n_ports; p++)
		if (s->waits[layer][p] && cycle_from(s, layer, p))
			return true;
	return false;
}

/* Walks all pairs of a switch with hosts and a LID of a host. */
static void walk_all(struct scene *s)
{
	const struct fabric *f = s->t.f;

	for (unsigned layer = 0; layer < LAYERS; layer++)
		memset(s->waits[layer], 0, f->n_ports * sizeof(*s->waits[layer]));
	for (uint32_t p = 0; p < f->n_ports; p++) {
		uint32_t n = s->t.lid[p] && !node_is_switch(port_node(f, p)) ? 1u << s->t.lmc[p] : 0;
		uint32_t home = fabric_switch_of(f, p);

		for (uint32_t sw = 0; sw < f->n_switches && n; sw++)
			for (uint32_t lid = s->t.lid[p]; lid < s->t.lid[p] + n; lid++) {
				unsigned layer = s->here[sw] && route_is_source(f, sw) ?
						 layer_now(s, sw, home, (uint16_t)lid) : LAYERS;

				if (layer < LAYERS)
					walk(s, layer, sw, (uint16_t)lid);
			}
	}
}

static void check_loops(const struct scene *s, uint16_t lid)
{
	for (uint32_t from = 0; from < s->t.f->n_switches; from++) {
		uint32_t sw = from, port;

		for (unsigned hops = 0; s->here[sw] && (port = port_out(s, s->is, sw, lid)) != FABRIC_NONE; hops++) {
			if (hops > s->t.f->n_switches)
				ck_abort_msg("LID %u goes in a cycle", lid);
			sw = next_switch(s, port);
		}
	}
}

/* Checks the tables after each write; counts cycles, for tests that expect some. */
static void check_moment(struct scene *s, const struct lft_write *w, const uint8_t *before)
{
	for (unsigned i = 0; i < LFT_BLOCK; i++)
		if (w->entries[i] != before[i])
			check_loops(s, (uint16_t)(w->block * LFT_BLOCK + i));
	walk_all(s);
	for (unsigned layer = 0; layer < LAYERS; layer++)
		s->cycles += cycle_in_layer(s, layer);
}

/* --- writing --- */

static void find_here(struct scene *s)
{
	const struct fabric *f = s->t.f;
	bool more = true;

	memset(s->here, 0, f->n_switches);
	s->here[fabric_switch_of(f, f->self)] = true;
	while (more) {
		more = false;
		for (uint32_t p = 0; p < f->n_ports; p++) {
			if (!joins_switches(f, p) || s->to->dead[p] || !s->here[port_node(f, p)->sw] ||
			    s->here[next_switch(s, p)])
				continue;
			s->here[next_switch(s, p)] = more = true;
		}
	}
}

static void do_write(struct scene *s, struct lfts *is, const struct lft_write *w)
{
	uint8_t *at = is->entries + (size_t)w->sw * is->stride + (size_t)w->block * LFT_BLOCK;
	uint8_t before[LFT_BLOCK];

	memcpy(before, at, LFT_BLOCK);
	ck_assert_msg(memcmp(before, w->entries, LFT_BLOCK) != 0, "a write that changes nothing");
	ck_assert(s->here[w->sw]);
	memcpy(at, w->entries, LFT_BLOCK);
	check_moment(s, w, before);
}

static void do_rounds(struct scene *s, const struct rounds *r)
{
	struct lfts *is = lfts_copy(s->from->lfts);

	s->is = is;
	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t first = r->first[i], n = r->first[i + 1] - first;
		uint32_t *turn = xcalloc(n, sizeof(*turn));

		ck_assert_uint_gt(n, 0);
		for (uint32_t k = 0; k < n; k++) {
			uint32_t other = chance(s, k + 1);

			turn[k] = turn[other];
			turn[other] = first + k;
		}
		for (uint32_t k = 0; k < n; k++)
			do_write(s, is, &r->writes[turn[k]]);
		free(turn);
	}
	for (uint32_t sw = 0; sw < is->n_switches; sw++)
		if (s->here[sw])
			ck_assert_mem_eq(is->entries + (size_t)sw * is->stride,
					 s->to->lfts->entries + (size_t)sw * is->stride, is->stride);
	lfts_free(is);
}

/* Counts routes from switches with hosts to hosts' LIDs that differ in the second moment, or in their layer. */
static uint32_t count_ways(const struct scene *s)
{
	const struct fabric *f = s->t.f;
	uint32_t n = 0;

	for (uint32_t p = 0; p < f->n_ports; p++) {
		uint32_t home = port_is_host(f, p) ? fabric_switch_of(f, p) : FABRIC_NONE;

		if (home == FABRIC_NONE || !s->t.lid[p])
			continue;
		for (uint32_t sw = 0; sw < f->n_switches; sw++) {
			bool other = route_layer(s->from->layers, sw, home) != route_layer(s->to->layers, sw, home);

			for (uint32_t k = 0; k < 1u << s->t.lmc[p] && route_is_source(f, sw); k++)
				n += other || !same_way(s, s->from->lfts, s->to->lfts, sw,
							(uint16_t)(s->t.lid[p] + k));
		}
	}
	return n;
}

/* Changes the tables from one moment to another.  blind: as if there were no layers. */
static void go(struct scene *s, const struct moment *from, const struct moment *to, bool blind)
{
	const struct fabric *f = s->t.f;
	struct rounds_layers y = { .was = from->layers, .next = to->layers, .lid = s->t.lid, .lmc = s->t.lmc,
				   .legal = from->same_order && to->same_order ? s->o : NULL };
	VEC(struct link_end) dead = { 0 };
	struct rounds r;

	s->from = from;
	s->to = to;
	find_here(s);
	for (uint32_t p = 0; p < f->n_ports; p++)
		if (to->dead[p])
			*vec_push(&dead) = (struct link_end){ port_node(f, p)->sw, f->ports[p].num, false, false };
	rounds_make(&r, s->c, NULL, blind ? NULL : &y, dead.v, (uint32_t)dead.n, from->lfts, to->lfts, NULL, 0);
	/* the work is proportional to the change, not to the fabric */
	if (!blind)
		ck_assert_uint_le(r.ways, count_ways(s));
	for (unsigned i = 0; i < ORDERS; i++)
		do_rounds(s, &r);
	s->writes += r.n ? r.first[r.n] : 0;
	s->again += r.again;
	s->dropped += r.dropped;
	rounds_free(&r);
	vec_free(&dead);
}

/* --- faults --- */

static void fail_link(struct scene *s, bool *dead, uint32_t port)
{
	dead[port] = dead[s->t.f->ports[port].peer] = true;
}

static void fail_something(struct scene *s, bool *dead)
{
	const struct fabric *f = s->t.f;
	uint32_t port = chance(s, f->n_ports), sw = chance(s, f->n_switches);
	const struct fabric_node *n = &f->nodes[f->switches[sw].node];

	if (chance(s, 4) == 0) {
		for (uint32_t p = n->port0; p <= n->port0 + n->nports; p++)
			if (joins_switches(f, p))
				fail_link(s, dead, p);
		return;
	}
	while (!joins_switches(f, port))
		port = (port + 1) % f->n_ports;
	fail_link(s, dead, port);
}

/* Makes a fault, another, and ends both; changes the tables each time, and back. */
static void faults(struct scene *s, bool blind)
{
	struct moment one = { .dead = xcalloc(s->t.f->n_ports, 1) }, two;

	fail_something(s, one.dead);
	two.dead = xmemdup(one.dead, s->t.f->n_ports);
	fail_something(s, two.dead);
	route(s, &one);
	route(s, &two);
	go(s, &s->base, &one, blind);
	go(s, &one, &two, blind);
	go(s, &two, &s->base, blind);
	moment_free(&one);
	moment_free(&two);
}

/* promise: F15 */
START_TEST(no_cycle_in_any_layer)
{
	struct scene s;

	scene_make(&s, _i);
	for (unsigned i = 0; i < (sanitized() ? 1 : 3); i++)
		faults(&s, false);
	ck_assert_uint_eq(s.cycles, 0);
	scene_free(&s);
}
END_TEST

/* Without regard to layers there are cycles, which the test above can detect. */
/* promise: F15 */
START_TEST(cycles_are_seen)
{
	unsigned cycles = 0;

	for (int i = 0; i < 7; i++) {
		struct scene s;

		scene_make(&s, i);
		faults(&s, true);
		cycles += s.cycles;
		scene_free(&s);
	}
	ck_assert_uint_gt(cycles, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rounds");
	TCase *tc = tcase_create("all");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, no_cycle_in_any_layer, 0, cases(30));
	tcase_add_test(tc, cycles_are_seen);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
