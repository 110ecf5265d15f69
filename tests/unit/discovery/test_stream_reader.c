/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the reader with arbitrary streams of a discovery process: the result is a failed scan or
 * a consistent fabric.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "discovery/stream_reader.h"
#include "lib/base/alloc.h"
#include "lib/base/buf.h"
#include "lib/base/bytes.h"
#include "unit/run.h"

static struct buf stream;
static struct stream_reader r;
static uint64_t seed;

static uint32_t random_below(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 16) % n;
}

static void setup(void)
{
	reader_start(&r);
	r.complaints.tokens = 0;	/* thousands of streams cause many messages */
	r.complaints.per_second = 0;
	log_set_level(LOG_LEVEL_ERROR);
}

static void teardown(void)
{
	reader_free(&r);
	buf_free(&stream);
}

/* --- records --- */

static struct stream_node node(uint64_t guid, bool is_switch, unsigned nports, unsigned hops)
{
	struct stream_node n = { .type = STREAM_NODE, .is_switch = is_switch, .hops = (uint8_t)hops };

	n.node_info[2] = is_switch ? 2 : 1;
	n.node_info[3] = (uint8_t)nports;
	put_be64(n.node_info + 12, guid);
	memset(n.route, 1, sizeof(n.route));
	return n;
}

static void put_port(uint64_t guid, unsigned num)
{
	struct stream_port p = { .type = STREAM_PORT, .num = (uint8_t)num, .guid = guid };

	p.port_info[32] = 4;	/* PortState Active */
	buf_add(&stream, &p, sizeof(p));
}

static void put_node(const struct stream_node *n, uint64_t port_guid)
{
	buf_add(&stream, n, sizeof(*n));
	for (unsigned num = n->is_switch ? 0 : 1; num <= n->node_info[3]; num++)
		put_port(port_guid, num);
}

static void put_link(uint32_t a, unsigned num_a, uint32_t b, unsigned num_b)
{
	struct stream_link l = { .type = STREAM_LINK, .num_a = (uint8_t)num_a,
				 .num_b = (uint8_t)num_b, .node_a = a, .node_b = b };

	buf_add(&stream, &l, sizeof(l));
}

static void put_end(uint32_t self, unsigned num)
{
	struct stream_end e = { .type = STREAM_END, .self_num = (uint8_t)num, .self_node = self };

	buf_add(&stream, &e, sizeof(e));
}

/* Writes a host with the SM, and a switch; the caller writes the link. */
static void put_two(void)
{
	struct stream_node host = node(0x10, false, 1, 0), sw = node(0x20, true, 4, 1);

	put_node(&host, 0x11);
	put_node(&sw, 0x20);
}

static bool read_all(void)
{
	ck_assert_uint_le(reader_take(&r, stream.s, stream.n), stream.n);
	return r.whole && !r.broken;
}

/* --- consistency of a fabric --- */

static void check_route(const struct fabric *f, const struct fabric_node *n)
{
	uint32_t at = f->ports[f->self].node;

	ck_assert_uint_le(n->hops, IB_DR_HOPS_MAX);
	ck_assert_uint_le(n->route + n->hops, f->n_routes);
	for (unsigned i = 0; i < n->hops; i++) {
		unsigned num = f->routes[n->route + i];

		ck_assert_uint_ge(num, 1);
		ck_assert_uint_le(num, f->nodes[at].nports);
	}
}

static void check_fabric(const struct fabric *f)
{
	uint32_t ports = 0, reached = 1;
	uint32_t *queue = xcalloc(f->n_nodes, sizeof(*queue));
	bool *seen = xcalloc(f->n_nodes, sizeof(*seen));

	ck_assert_uint_lt(f->self, f->n_ports);
	ck_assert_uint_eq(f->ports[f->self].node, 0);
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		const struct fabric_node *n = &f->nodes[i];

		ck_assert_uint_eq(n->port0, ports);
		ck_assert_uint_eq(map64_get(&f->node_by_guid, n->guid), i);
		ck_assert(n->local_port <= n->nports);
		ck_assert((n->sw != FABRIC_NONE) == node_is_switch(n));
		if (n->sw != FABRIC_NONE)
			ck_assert_uint_eq(f->switches[n->sw].node, i);
		if (!n->hops)
			ck_assert_uint_eq(i, 0);
		if (n->hops <= 1)
			check_route(f, n);
		ports += n->nports + 1u;
	}
	ck_assert_uint_eq(ports, f->n_ports);
	for (uint32_t i = 0; i < f->n_ports; i++) {
		const struct fabric_port *p = &f->ports[i];

		ck_assert_uint_eq(f->nodes[p->node].port0 + p->num, i);
		if (p->peer == FABRIC_NONE)
			continue;
		ck_assert_uint_lt(p->peer, f->n_ports);
		ck_assert(p->peer != i && p->num && p->present && f->ports[p->peer].present);
		ck_assert_uint_eq(f->ports[p->peer].peer, i);
	}
	seen[0] = true;
	for (uint32_t i = 0; i < reached; i++)
		for (unsigned num = 1; num <= f->nodes[queue[i]].nports; num++) {
			uint32_t peer = f->ports[f->nodes[queue[i]].port0 + num].peer;

			if (peer == FABRIC_NONE || seen[f->ports[peer].node])
				continue;
			seen[f->ports[peer].node] = true;
			queue[reached++] = f->ports[peer].node;
		}
	ck_assert_uint_eq(reached, f->n_nodes);
	free(queue);
	free(seen);
}

/* --- streams --- */

START_TEST(a_good_one)
{
	put_two();
	put_link(0, 1, 1, 1);
	put_end(0, 1);
	/* in pieces of any size */
	for (size_t at = 0, n; at < stream.n; at += n) {
		n = reader_take(&r, stream.s + at, stream.n - at > 50 ? 50 : stream.n - at);
		if (!n)
			n = reader_take(&r, stream.s + at, stream.n - at);
		ck_assert_uint_gt(n, 0);
	}
	ck_assert(r.whole && !r.broken);
	ck_assert_uint_eq(r.f->n_nodes, 2);
	check_fabric(r.f);
}
END_TEST

START_TEST(nodes_without_a_link_are_excluded)
{
	struct stream_node lost = node(0x30, true, 4, 2), end = node(0x40, false, 1, 3);

	put_two();
	put_node(&lost, 0x30);
	put_node(&end, 0x41);
	put_link(0, 1, 1, 1);
	put_link(2, 1, 3, 1);
	put_end(0, 1);
	ck_assert(read_all());
	ck_assert_uint_eq(r.f->n_nodes, 2);
	check_fabric(r.f);
}
END_TEST

/* Writes switch 0x20 with hosts behind it, then 0x30 with the port GUID of 0x20. */
static void put_copy(void)
{
	struct stream_node copy = node(0x30, true, 4, 2);

	put_two();
	put_node(&copy, 0x20);
	put_link(0, 1, 1, 1);
	put_link(1, 2, 2, 1);
	put_end(0, 1);
}

START_TEST(a_copy_of_a_switch)
{
	put_copy();
	ck_assert(read_all());
	ck_assert_uint_eq(r.f->n_nodes, 2);
	check_fabric(r.f);
}
END_TEST

/* Without a known fabric, the port GUID belongs to the switch with the nearest node GUID. */
START_TEST(a_copy_that_is_met_first)
{
	struct stream_node host = node(0x10, false, 1, 0), leaf = node(0x18, true, 4, 1);
	struct stream_node copy = node(0x30, true, 4, 2), right = node(0x20, true, 4, 2);

	copy.route[1] = 2;
	right.route[1] = 3;
	put_node(&host, 0x11);
	put_node(&leaf, 0x18);
	put_node(&copy, 0x20);
	put_node(&right, 0x20);
	put_link(0, 1, 1, 1);
	put_link(1, 2, 2, 1);
	put_link(1, 3, 3, 1);
	put_end(0, 1);
	ck_assert(read_all());
	ck_assert_uint_eq(r.f->n_nodes, 3);
	ck_assert_uint_ne(map64_get(&r.f->node_by_guid, 0x20), MAP64_NONE);
	check_fabric(r.f);
}
END_TEST

/* The copy stays if it is the only path to all others. */
START_TEST(a_copy_at_our_own_port)
{
	struct stream_node host = node(0x10, false, 1, 0), leaf = node(0x30, true, 4, 1);
	struct stream_node right = node(0x20, true, 4, 2), other = node(0x40, true, 4, 2);

	right.route[1] = 2;
	other.route[1] = 3;
	put_node(&host, 0x11);
	put_node(&leaf, 0x20);
	put_node(&right, 0x20);
	put_node(&other, 0x40);
	put_link(0, 1, 1, 1);
	put_link(1, 2, 2, 1);
	put_link(1, 3, 3, 1);
	put_end(0, 1);
	ck_assert(read_all());
	ck_assert_uint_eq(r.f->n_nodes, 3);
	ck_assert_uint_ne(map64_get(&r.f->node_by_guid, 0x30), MAP64_NONE);
	ck_assert_uint_ne(map64_get(&r.f->node_by_guid, 0x40), MAP64_NONE);
	check_fabric(r.f);
}
END_TEST

/* Here the copy is found first, and leads to the switch that was known before. */
/* promise: A65 */
START_TEST(a_copy_of_a_switch_that_is_known)
{
	struct stream_node host = node(0x10, false, 1, 0), leaf = node(0x18, true, 4, 1);
	struct stream_node copy = node(0x30, true, 4, 2), known = node(0x20, true, 4, 2);
	struct fabric *before;

	put_copy();
	ck_assert(read_all());
	before = r.f;
	r.f = NULL;
	teardown();
	stream = (struct buf){ 0 };
	setup();
	r.known = before;
	copy.route[1] = 2;
	known.route[1] = 3;
	put_node(&host, 0x11);
	put_node(&leaf, 0x18);
	put_node(&copy, 0x20);
	put_node(&known, 0x20);
	put_link(0, 1, 1, 1);
	put_link(1, 2, 2, 1);
	put_link(1, 3, 3, 1);
	put_end(0, 1);
	ck_assert(read_all());
	ck_assert_uint_eq(r.f->n_nodes, 3);
	ck_assert_uint_ne(map64_get(&r.f->node_by_guid, 0x20), MAP64_NONE);
	check_fabric(r.f);
	fabric_free(before);
}
END_TEST

/* promise: A4 */
START_TEST(one_port_in_two_places)
{
	struct stream_node other = node(0x30, true, 4, 2);

	put_two();
	put_node(&other, 0x30);
	put_link(0, 1, 1, 1);
	put_link(1, 2, 2, 1);
	put_link(1, 3, 2, 3);
	put_link(1, 2, 2, 2);
	put_link(1, 4, 1, 4);
	put_end(0, 1);
	ck_assert(read_all());
	/* neither of the copy's links counts; the third node is reached through the other switch */
	ck_assert_uint_eq(r.f->n_nodes, 3);
	ck_assert_uint_eq(fabric_port(r.f, 1, 2)->peer, FABRIC_NONE);
	check_fabric(r.f);
}
END_TEST

static void spoil_type(struct stream_node *n) { n->node_info[2] = 1; }
static void spoil_kind(struct stream_node *n) { n->is_switch = 0; }
static void spoil_ports(struct stream_node *n) { n->node_info[3] = 0; }
static void spoil_guid(struct stream_node *n) { put_be64(n->node_info + 12, 0x10); }
static void spoil_no_guid(struct stream_node *n) { put_be64(n->node_info + 12, 0); }
static void spoil_local_port(struct stream_node *n) { n->node_info[36] = 5; }
static void spoil_hops(struct stream_node *n) { n->hops = 64; }
static void spoil_no_hops(struct stream_node *n) { n->hops = 0; }
static void spoil_route(struct stream_node *n) { n->route[0] = 0; }
static void spoil_long_route(struct stream_node *n) { n->route[0] = 255; }
static void (*const spoil[])(struct stream_node *n) = {
	spoil_type, spoil_kind, spoil_ports, spoil_guid, spoil_no_guid, spoil_local_port, spoil_hops,
	spoil_no_hops, spoil_route, spoil_long_route,
};

/* promise: A4 */
START_TEST(nodes_that_cannot_be)
{
	struct stream_node host = node(0x10, false, 1, 0), sw = node(0x20, true, 4, 1);

	put_node(&host, 0x11);
	spoil[_i](&sw);
	buf_add(&stream, &sw, sizeof(sw));
	put_end(0, 1);
	ck_assert(!read_all());
}
END_TEST

static const struct { uint32_t a; unsigned num_a; uint32_t b; unsigned num_b; } bad_links[] = {
	{ 0, 2, 1, 1 }, { 0, 0, 1, 1 }, { 0, 1, 1, 5 }, { 0, 1, 2, 1 }, { UINT32_MAX, 1, 1, 1 },
};

/* promise: A4 */
START_TEST(links_that_cannot_be)
{
	put_two();
	put_link(bad_links[_i].a, bad_links[_i].num_a, bad_links[_i].b, bad_links[_i].num_b);
	put_end(0, 1);
	ck_assert(!read_all());
}
END_TEST

/* Endless records: ports, second links of ports, excluded devices. */
/* promise: A69 */
START_TEST(more_than_can_be)
{
	struct stream_left left = { .type = STREAM_LEFT };
	struct stream_node many = node(0x30, true, 200, 2);

	r.ports_max = 100;
	put_two();
	for (unsigned i = 0; i <= 100; i++)
		if (_i == 0)
			put_link(1, 2, 1, 3);
		else if (_i == 1)
			buf_add(&stream, &left, sizeof(left));
	if (_i == 2)
		buf_add(&stream, &many, sizeof(many));
	put_end(0, 1);
	ck_assert(!read_all());
	ck_assert(r.too_many);
}
END_TEST

START_TEST(a_port_that_comes_twice)
{
	put_two();
	put_port(0x20, 2);
	put_end(0, 1);
	ck_assert(!read_all());
}
END_TEST

START_TEST(a_node_behind_the_links)
{
	struct stream_node sw = node(0x30, true, 4, 1);

	put_two();
	put_link(0, 1, 1, 1);
	buf_add(&stream, &sw, sizeof(sw));
	put_end(0, 1);
	ck_assert(!read_all());
}
END_TEST

/* Writes a complete stream with random numbers, most of them near to valid ones. */
static void put_random(void)
{
	unsigned nodes = 1 + random_below(12);

	for (unsigned i = 0; i < nodes; i++) {
		struct stream_node n = node(0x10 + random_below(40), i && random_below(2),
					    1 + random_below(6), i ? 1 + random_below(3) : 0);

		n.node_info[36] = (uint8_t)random_below(n.node_info[3] + 1u);
		if (!random_below(60))
			n.node_info[random_below(40)] = (uint8_t)random_below(256);
		if (!random_below(60))
			n.hops = (uint8_t)random_below(256);
		buf_add(&stream, &n, sizeof(n));
		for (unsigned num = n.is_switch ? 0 : 1; num <= n.node_info[3]; num++)
			if (random_below(10))
				put_port(random_below(50), num);
	}
	for (unsigned i = random_below(30); i; i--)
		put_link(random_below(nodes + !random_below(50)), 1 + random_below(6),
			 random_below(nodes), 1 + random_below(6));
	put_end(0, 1);
	for (unsigned i = random_below(3); i && !random_below(4); i--)
		stream.s[random_below((uint32_t)stream.n)] = (char)random_below(256);
}

/* promise: A4 A69 */
START_TEST(any_stream)
{
	unsigned good = 0;

	seed = 0x9e3779b97f4a7c15ull + (uint64_t)_i;
	for (unsigned i = 0; i < 2000; i++) {
		teardown();
		setup();
		put_random();
		if (!read_all())
			continue;
		check_fabric(r.f);
		good++;
	}
	ck_assert_uint_gt(good, 20);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("reader");
	TCase *t = tcase_create("reader");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_good_one);
	tcase_add_test(t, nodes_without_a_link_are_excluded);
	tcase_add_test(t, a_copy_of_a_switch);
	tcase_add_test(t, a_copy_of_a_switch_that_is_known);
	tcase_add_test(t, a_copy_that_is_met_first);
	tcase_add_test(t, a_copy_at_our_own_port);
	tcase_add_test(t, one_port_in_two_places);
	tcase_add_loop_test(t, nodes_that_cannot_be, 0, ARRAY_SIZE(spoil));
	tcase_add_loop_test(t, links_that_cannot_be, 0, ARRAY_SIZE(bad_links));
	tcase_add_loop_test(t, more_than_can_be, 0, 3);
	tcase_add_test(t, a_port_that_comes_twice);
	tcase_add_test(t, a_node_behind_the_links);
	tcase_add_loop_test(t, any_stream, 0, 5);
	suite_add_tcase(s, t);
	return run_suite(s);
}
