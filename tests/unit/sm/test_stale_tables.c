/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the memory of stale tables, which a switch holds for a port that lost its link: one switch and
 * three CAs, one of which goes and returns.
 */
#include <check.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "sm/write/stale_tables.h"
#include "unit/load_fabric.h"
#include "unit/run.h"
#include "unit/temp.h"

#define SWITCH "vendid=0x8f1\ndevid=0x5a06\nswitchguid=0x900(900)\n" \
	"Switch\t8 \"S-0000000000000900\"\t\t# \"switch\" base port 0 lid 0 lmc 0\n"
#define TO(n) "[" #n "]\t\"H-0000000000000" #n "00\"[1](" #n "01)\t\t# \"h\" lid 0 4xQDR\n"
#define CA(n) "\nvendid=0x2c9\ndevid=0x673c\ncaguid=0x" #n "00\n" \
	"Ca\t1 \"H-0000000000000" #n "00\"\t\t# \"h\"\n" \
	"[1](" #n "01)\t\"S-0000000000000900\"[" #n "]\t\t# lid 0 lmc 0 \"switch\" lid 0 4xQDR\n"

static const char all[] = SWITCH TO(1) TO(2) TO(3) CA(1) CA(2) CA(3);
static const char without[] = SWITCH TO(1) TO(2) CA(1) CA(2);

enum { GUID = 0x900, GONE = 3 };

/* Fabrics with and without the third CA, and their plans. */
static struct fabric *whole, *less;
static struct settings *settings;
static struct policy *policy, *other, *none;
static struct lid_map known;
static struct plan *before, *after, *plain_before, *plain_after, *other_before;
static struct stale_tables *r;

static struct fabric *load(const char *text)
{
	char *path = temp_file(text, strlen(text));
	struct buf err = { 0 };
	struct fabric *f = fabric_load(path, 0x100, false, &err);

	ck_assert_msg(f != NULL, "%s", err.s);
	unlink(path);
	free(path);
	return f;
}

/* A policy with SL i on VL i % 4, and one weight. */
static struct policy *policy_with(uint8_t weight)
{
	struct policy *p = policy_builtin();

	p->has_fabric_setup = true;
	for (int c = 0; c < PORT_CLASS_COUNT; c++) {
		struct policy_class_default *x = &p->defaults[c];

		x->given = x->has_sl2vl = x->has_low = true;
		for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
			x->sl2vl.vl[sl] = (uint8_t)(sl % 4);
		x->arb.n_low = 1;
		x->arb.low[0] = (struct vlarb_entry){ 0, weight };
	}
	return p;
}

static struct plan *plan_for(struct fabric *f, struct policy *p)
{
	return plan_compute(f, p, settings, &known, NULL, NULL);
}

static uint32_t node_in(const struct plan *p)
{
	return map64_get(&p->f->node_by_guid, GUID);
}

static void setup(void)
{
	whole = load(all);
	less = load(without);
	settings = settings_default();
	map64_init(&known.by_guid, 8);
	map64_init(&known.lmc_by_guid, 8);
	policy = policy_with(10);
	other = policy_with(20);
	none = policy_builtin();
	before = plan_for(whole, policy);
	after = plan_for(less, policy);
	other_before = plan_for(whole, other);
	plain_before = plan_for(whole, none);
	plain_after = plan_for(less, none);
	ck_assert(before->tables->managed && !plain_before->tables->managed);
	r = stale_tables_new();
}

static void teardown(void)
{
	stale_tables_free(r);
	plan_free(before);
	plan_free(after);
	plan_free(other_before);
	plan_free(plain_before);
	plan_free(plain_after);
	policy_free(policy);
	policy_free(other);
	policy_free(none);
	settings_free(settings);
	fabric_free(whole);
	fabric_free(less);
	map64_free(&known.by_guid);
	map64_free(&known.lmc_by_guid);
}

static void note(const struct plan *old, const struct plan *p)
{
	stale_tables_note(r, old, node_in(old), p, node_in(p));
}

static enum item_change compare(const struct plan *p, item_t item)
{
	ck_assert(item_is_planned(p, node_in(p), item));
	return stale_tables_compare(r, p, node_in(p), item);
}

static void expect_all(const struct plan *p, enum item_change change)
{
	ck_assert_int_eq(compare(p, ITEM(ITEM_SL2VL, GONE, 1)), change);
	ck_assert_int_eq(compare(p, ITEM(ITEM_SL2VL, 2, GONE)), change);
	ck_assert_int_eq(compare(p, ITEM(ITEM_SL2VL, 0, GONE)), change);
	ck_assert_int_eq(compare(p, ITEM(ITEM_VLARB, GONE, 1)), change);
}

/* promise: F10 */
START_TEST(a_port_that_lost_its_link)
{
	expect_all(before, ITEM_UNKNOWN);
	note(before, after);
	expect_all(before, ITEM_SAME);
	/* entries that stay in the plan, and P_Key tables, are not recorded here */
	ck_assert_int_eq(compare(before, ITEM(ITEM_SL2VL, 1, 2)), ITEM_UNKNOWN);
	ck_assert_int_eq(compare(before, ITEM(ITEM_VLARB, 1, GONE)), ITEM_UNKNOWN);
	ck_assert_int_eq(stale_tables_compare(r, before, node_in(before), ITEM(ITEM_PKEY, GONE, 0)),
			 ITEM_UNKNOWN);
	/* the entry stays when something else happens */
	note(after, after);
	expect_all(before, ITEM_SAME);
}
END_TEST

/* promise: F10 */
START_TEST(it_comes_back_to_another_policy)
{
	note(before, after);
	ck_assert_int_eq(compare(other_before, ITEM(ITEM_VLARB, GONE, 1)), ITEM_DIFFERS);
	ck_assert_int_eq(compare(other_before, ITEM(ITEM_SL2VL, GONE, 1)), ITEM_SAME);
}
END_TEST

/* promise: F10 */
START_TEST(what_a_plan_has_again_is_not_left)
{
	note(before, after);
	note(after, other_before);
	expect_all(before, ITEM_UNKNOWN);
	/*
	 * tables that are no longer managed do not count as a lost link, as other programs may
	 * write them
	 */
	note(other_before, plain_before);
	expect_all(before, ITEM_UNKNOWN);
	note(plain_before, plain_after);
	expect_all(before, ITEM_UNKNOWN);
}
END_TEST

/* While tables are not managed, others may write them, and qosd does not read them. */
START_TEST(tables_that_are_not_managed_for_a_while)
{
	note(before, after);
	note(after, plain_after);
	note(plain_after, after);
	expect_all(before, ITEM_UNKNOWN);
}
END_TEST

/* promise: F10 */
START_TEST(what_is_not_known_is_forgotten)
{
	note(before, after);
	stale_tables_forget(r, GUID + 1);
	expect_all(before, ITEM_SAME);
	stale_tables_forget(r, GUID);
	expect_all(before, ITEM_UNKNOWN);
	note(before, after);
	expect_all(before, ITEM_SAME);
	stale_tables_forget_all(r);
	expect_all(before, ITEM_UNKNOWN);
	note(before, after);
	expect_all(before, ITEM_SAME);
}
END_TEST

static size_t in_use(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* Policies come and go, each with a different table for the departed port. */
/* promise: D111 */
START_TEST(contents_are_bounded)
{
	const struct qos_tables *t = before->tables;
	struct vlarb *arb = &t->arbs[t->arb[before->f->nodes[node_in(before)].port0 + GONE]];
	size_t least = in_use(), most = 0;

	arb->n_low = 4;
	for (uint32_t i = 0; i < 200000; i++) {
		for (unsigned k = 1; k < 4; k++)
			arb->low[k] = (struct vlarb_entry){ 1, (uint8_t)(i >> 8 * (k - 1)) };
		note(before, after);
		if (i % 1000 == 0 && in_use() > most)
			most = in_use();
	}
	/* 65,536 of them are kept: 9 MiB of arrays and 4 MiB of hash maps */
	ck_assert_uint_lt(most - least, 15u << 20);
	expect_all(before, ITEM_SAME);
}
END_TEST

static Suite *stale_tables_suite(void)
{
	Suite *s = suite_create("stale tables");
	TCase *c = tcase_create("stale tables");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, a_port_that_lost_its_link);
	tcase_add_test(c, it_comes_back_to_another_policy);
	tcase_add_test(c, what_a_plan_has_again_is_not_left);
	tcase_add_test(c, tables_that_are_not_managed_for_a_while);
	tcase_add_test(c, what_is_not_known_is_forgotten);
	tcase_add_test(c, contents_are_bounded);
	suite_add_tcase(s, c);
	return s;
}

int main(void)
{
	return run_suite(stale_tables_suite());
}
