/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests pairs that have SLs of their own: reading them, and the audit that uses them.
 *
 * promise: V5
 */
#include <check.h>
#include <stdio.h>

#include "expect.h"
#include "unit/run.h"

#define RING 5u
#define MLID 0xc001

static struct buf text, err;
static struct path_sls by_pair;

static void add_source(const char *port)
{
	buf_printf(&text, "Channel Adapter 0x%016llx, base LID %u, \"a host, 0x1 : 2\"\n",
		   (unsigned long long)the_fabric->ports[port_named(the_fabric, port)].guid,
		   lid_of(the_fabric, port));
}

static void add_path(const char *to, unsigned sl)
{
	buf_printf(&text, "0x%04x : %u\n", lid_of(the_fabric, to), sl);
}

static bool read_text(void)
{
	path_sls_free(&by_pair);
	buf_free(&err);
	return path_sls_read(&by_pair, the_fabric, "sls", text.s ? text.s : "", text.n, &err);
}

/* mcast: SLs of multicast, 0: not said. */
static void audit_by_pair(uint16_t mcast)
{
	struct audit_options o = { .sls = mcast, .path_sls = &by_pair, .findings_max = 20 };

	ck_assert_msg(read_text(), "%s", err.s);
	audit_free(&the_audit);
	audit_run(the_fabric, &o, &the_audit);
}

static void all_down(void)
{
	path_sls_free(&by_pair);
	buf_free(&text);
	buf_free(&err);
	fabric_free();
}

/* --- a tree: H1 and H2 are at P1 and P2 of S1 --- */

/* All pairs use one SL, except H1 to H2. */
static void say_all(unsigned sl, unsigned first)
{
	static const char *const hosts[] = { "H1/P1", "H2/P1", "H3/P1", "H4/P1", "H5/P1", "H6/P1" };

	buf_free(&text);
	for (unsigned i = 0; i < ARRAY_SIZE(hosts); i++) {
		add_source(hosts[i]);
		for (unsigned k = 0; k < ARRAY_SIZE(hosts); k++)
			add_path(hosts[k], i == 0 && k == 1 ? first : sl);
	}
}

START_TEST(all_use_one)
{
	say_all(3, 3);
	audit_by_pair(0);
	expect_clean(30);
	expect_text("SLs in use        3, each by its own pairs; SLs that connect all of them: 3\n");
	ck_assert_uint_eq(the_audit.sls, 1 << 3);
	ck_assert_uint_eq(the_audit.vls_used, 1 << 3);
	ck_assert_uint_eq(the_audit.pairs_without_sl, 0);
}
END_TEST

START_TEST(hole_where_a_pair_goes)
{
	set_sl2vl(the_fabric, 0, 1, 2, 5, SIM_VL_DROP);
	say_all(5, 0);
	audit_by_pair(0);
	expect_clean(30);
	say_all(0, 5);
	audit_by_pair(0);
	expect(AUDIT_VL15, 1, -1);
	expect_text("S1/P2 from P1: SL 5 dropped by VL15");
	ck_assert_uint_eq(the_audit.pairs, 30);
	ck_assert_uint_eq(the_audit.connected, 29);
	ck_assert_uint_eq(the_audit.sls, 1 << 5 | 1);
	ck_assert_uint_eq(the_audit.sls_connected, 1);
}
END_TEST

START_TEST(hole_at_a_host)
{
	set_host_sl2vl(the_fabric, "H3/P1", 5, SIM_VL_DROP);
	say_all(0, 5);
	audit_by_pair(0);
	expect_clean(30);
	set_host_sl2vl(the_fabric, "H1/P1", 5, SIM_VL_DROP);
	audit_by_pair(0);
	expect(AUDIT_VL15, 1, -1);
	expect_text("H1/P1: SL 5 dropped by VL15");
}
END_TEST

START_TEST(mapped_where_no_pair_goes)
{
	set_sl2vl(the_fabric, 0, 1, 2, 5, 6);
	say_all(5, 0);
	audit_by_pair(0);
	expect_note("table: S1/P2: SL2VL maps SL 5 beyond the 4 operational VLs from 1 port");
}
END_TEST

START_TEST(several_sls_add_up)
{
	say_all(0, 0);
	add_source("H1/P1");
	add_path("H2/P1", 2);
	add_path("H3/P1", 2);
	add_path("H3/P1", 0);
	audit_by_pair(0);
	expect_clean(32);
	ck_assert_uint_eq(the_audit.sls_connected, 5);
}
END_TEST

START_TEST(pairs_without)
{
	/* H1's entries for itself and for an unassigned LID are not pairs */
	add_source("H1/P1");
	add_path("H1/P1", 7);
	add_path("H2/P1", 0);
	buf_puts(&text, "0xbfff : 9\n0x0800 : 9\r\n\n");
	audit_by_pair(0);
	expect_clean(1);
	ck_assert_uint_eq(the_audit.pairs_without_sl, 29);
	ck_assert_uint_eq(the_audit.sls, 1);
	expect_text("pairs without SL  29; not judged\n");
}
END_TEST

START_TEST(cut_off)
{
	set_lft(the_fabric, "S1/P0", lid_of(the_fabric, "H2/P1"), SIM_LFT_DROP);
	say_all(0, 4);
	audit_by_pair(0);
	expect(AUDIT_UNREACHABLE, 1, -1);
	/* H1 to H2 by SL 4; the four behind the spines by SL 0 */
	ck_assert_uint_eq(the_audit.pairs - the_audit.connected, 5);
	ck_assert_uint_eq(the_audit.sls_connected, 0);
}
END_TEST

START_TEST(switches_as_ends)
{
	struct audit_options o = { .switches = true, .path_sls = &by_pair };

	buf_printf(&text, "Switch 0x%016llx, base LID 1, \"S1\"\n",
		   (unsigned long long)the_fabric->ports[port_named(the_fabric, "S1/P0")].guid);
	add_path("S2/P0", 1);
	add_path("H1/P1", 2);
	add_source("H1/P1");
	add_path("S1/P0", 3);
	add_path("S5/P0", 3);
	ck_assert_msg(read_text(), "%s", err.s);
	audit_run(the_fabric, &o, &the_audit);
	ck_assert(audit_clean(&the_audit));
	ck_assert_uint_eq(the_audit.pairs, 4);
	ck_assert_uint_eq(the_audit.connected, 4);
	ck_assert_uint_eq(the_audit.sls, 0xe);
	ck_assert_uint_eq(the_audit.pairs_without_sl, 11 * 10 - 4);
}
END_TEST

START_TEST(end_to_end)
{
	fabric_free();
	the_fabric = simfab_new();
	add_host(the_fabric, add_free_host(the_fabric), 1);
	bring_up(the_fabric, 2, 0, SHORTEST);
	add_source("H1/P1");
	add_path("H2/P1", 1);
	audit_by_pair(0);
	expect_clean(1);
	ck_assert_uint_eq(the_audit.pairs_without_sl, 1);
	set_host_sl2vl(the_fabric, "H1/P1", 1, SIM_VL_DROP);
	audit_by_pair(0);
	expect(AUDIT_VL15, 1, -1);
	ck_assert_uint_eq(the_audit.connected, 0);
}
END_TEST

/* --- a ring, whose ways need two layers either way round; S1 is the first --- */

static void ring_up(void)
{
	the_fabric = make_ring(RING, 1);
	bring_up(the_fabric, 2, 0, SHORTEST);
}

/* The layer of a way between switches, so that what multicast from S1 to S5 waits for fits into 0. */
static unsigned layer_of(unsigned from, unsigned to)
{
	bool onwards = (to + RING - from) % RING <= RING / 2;

	return onwards ? from >= 3 : from <= 1;
}

static void say_layers(unsigned layer(unsigned from, unsigned to))
{
	char host[16];

	buf_free(&text);
	for (unsigned from = 0; from < RING; from++) {
		snprintf(host, sizeof(host), "H%u/P1", from + 1);
		add_source(host);
		for (unsigned to = 0; to < RING; to++) {
			snprintf(host, sizeof(host), "H%u/P1", to + 1);
			add_path(host, layer(from, to));
		}
	}
}

START_TEST(layers_break_the_ring)
{
	audit_all(3);
	expect(AUDIT_CREDIT_LOOP, 4, -1);
	say_layers(layer_of);
	audit_by_pair(0);
	expect_clean(RING * (RING - 1));
	ck_assert_uint_eq(the_audit.sls, 3);
	ck_assert_uint_eq(the_audit.vls_used, 3);
}
END_TEST

static unsigned layer_1(unsigned from, unsigned to)
{
	(void)from;
	(void)to;
	return 1;
}

START_TEST(one_layer_does_not)
{
	say_layers(layer_1);
	audit_by_pair(0);
	expect(AUDIT_CREDIT_LOOP, 2, -1);
	expect_text("VL 1: ");
	ck_assert_uint_eq(the_audit.connected, RING * (RING - 1));
}
END_TEST

START_TEST(layers_on_one_vl)
{
	say_layers(layer_of);
	for (uint32_t sw = 0; sw < RING; sw++)
		for (unsigned in = 0; in <= 3; in++)
			for (unsigned out = 1; out <= 2; out++)
				set_sl2vl(the_fabric, sw, in, out, 1, 0);
	audit_by_pair(0);
	expect(AUDIT_CREDIT_LOOP, 2, -1);
	expect_text("VL 0: ");
}
END_TEST

START_TEST(multicast_beside_layers)
{
	static const char *const tree[] = {
		"S1/P1", "S2/P2", "S2/P1", "S3/P2", "S3/P1", "S4/P2", "S4/P1", "S5/P2", "S1/P3", "S5/P3",
	};

	for (unsigned i = 0; i < ARRAY_SIZE(tree); i++)
		set_mft(the_fabric, tree[i], MLID, true);
	say_layers(layer_of);
	audit_by_pair(1);
	expect_clean(RING * (RING - 1));
	ck_assert_uint_eq(the_audit.sls_mcast, 1);
	audit_by_pair(2);
	expect(AUDIT_CREDIT_LOOP, 2, -1);
	expect_text("with multicast: VL 1: ");
	/* not said: by each that a pair has */
	audit_by_pair(0);
	expect(AUDIT_CREDIT_LOOP, 2, -1);
}
END_TEST

/* --- what can't be read --- */

static void expect_refused(const char *what, const char *why)
{
	buf_free(&text);
	buf_puts(&text, what);
	ck_assert(!read_text());
	ck_assert_str_eq(err.s, why);
}

START_TEST(refused)
{
	const uint64_t guid = the_fabric->ports[port_named(the_fabric, "H1/P1")].guid;
	char source[64], more[200];

	snprintf(source, sizeof(source), "Channel Adapter 0x%llx", (unsigned long long)guid);
	expect_refused("", "sls:1: names no source");
	expect_refused("\n\n", "sls:2: names no source");
	expect_refused("0x0001 : 2", "sls:1: no source is named before this line");
	expect_refused("Switch 0xabcd, base LID 3, \"x\"\n",
		       "sls:1: no end port has the GUID 0x000000000000abcd");
	expect_refused("Swatch 0x1, base LID 3\n",
		       "sls:1: 'Swatch 0x1, base LID 3' is neither a source, as 'Switch 0xGUID', nor "
		       "'0xLID : SL'");
	expect_refused("Router 0x11111111111111111, base LID 3 and so on and on",
		       "sls:1: 'Router 0x11111111111111111, base LID 3 a...' is neither a source, as "
		       "'Switch 0xGUID', nor '0xLID : SL'");
	static const struct { const char *line, *why; } lines[] = {
		{ "0x0001 : 16", "sls:2: SL 16 is above 15" },
		{ "0x0000 : 1", "sls:2: 0x0 is not a unicast LID" },
		{ "0xc000 : 1", "sls:2: 0xc000 is not a unicast LID" },
		{ "0x0001 : x", "sls:2: '0x0001 : x' is not '0xLID : SL'" },
		{ "0x0001 1", "sls:2: '0x0001 1' is not '0xLID : SL'" },
		{ "0x0001 : 1 2", "sls:2: '0x0001 : 1 2' is not '0xLID : SL'" },
		{ "0001 : 1", "sls:2: '0001 : 1' is not '0xLID : SL'" },
		{ "0x0001 :", "sls:2: '0x0001 :' is not '0xLID : SL'" },
		{ "0x0001 : 99999999999999999999",
		  "sls:2: '0x0001 : 99999999999999999999' is not '0xLID : SL'" },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(lines); i++) {
		snprintf(more, sizeof(more), "%s\n%s\n", source, lines[i].line);
		expect_refused(more, lines[i].why);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pairs");
	TCase *tree = tcase_create("tree");
	TCase *ring = tcase_create("ring");

	tcase_add_checked_fixture(tree, tree_up, all_down);
	tcase_add_test(tree, all_use_one);
	tcase_add_test(tree, hole_where_a_pair_goes);
	tcase_add_test(tree, hole_at_a_host);
	tcase_add_test(tree, mapped_where_no_pair_goes);
	tcase_add_test(tree, several_sls_add_up);
	tcase_add_test(tree, pairs_without);
	tcase_add_test(tree, cut_off);
	tcase_add_test(tree, switches_as_ends);
	tcase_add_test(tree, end_to_end);
	tcase_add_test(tree, refused);
	suite_add_tcase(s, tree);
	tcase_add_checked_fixture(ring, ring_up, all_down);
	tcase_add_test(ring, layers_break_the_ring);
	tcase_add_test(ring, one_layer_does_not);
	tcase_add_test(ring, layers_on_one_vl);
	tcase_add_test(ring, multicast_beside_layers);
	suite_add_tcase(s, ring);
	return run_suite(s);
}
