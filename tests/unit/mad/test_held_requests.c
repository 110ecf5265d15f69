/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests held requests: each is held once, in the order of their latest copies, within the limits.
 *
 * promise: N3
 */
#include <check.h>

#include "lib/base/alloc.h"
#include "mad/held_requests.h"
#include "unit/run.h"

enum { MAX = 10, EACH = 4, KEEP = 1000 };

static struct held *h;
static struct held_item items[2 * MAX];
static unsigned n;

static struct held_item *put_by(uint64_t source, uint32_t qpn, uint64_t tid, int64_t arrived_us)
{
	struct held_item *i = &items[n++];

	*i = (struct held_item){ .source = source, .qpn = qpn, .tid = tid, .arrived_us = arrived_us };
	return held_put(h, i);
}

static struct held_item *put(uint64_t source, uint64_t tid, int64_t arrived_us)
{
	return put_by(source, 1, tid, arrived_us);
}

static void begin(void)
{
	h = held_new(MAX, EACH, KEEP);
	n = 0;
}

static void expect_left(const unsigned *which, unsigned k)
{
	for (unsigned i = 0; i < k; i++)
		ck_assert_ptr_eq(held_take(h), &items[which[i]]);
	ck_assert_ptr_null(held_take(h));
	held_free(h);
}

START_TEST(a_copy_takes_the_place_of_the_one_before)
{
	begin();
	ck_assert_ptr_null(held_take(h));
	ck_assert_ptr_null(put(1, 7, 0));
	ck_assert_ptr_null(put(2, 7, 1));
	ck_assert_ptr_null(put(1, 8, 2));
	ck_assert_ptr_eq(put(1, 7, 3), &items[0]);
	ck_assert_ptr_eq(put(1, 7, 4), &items[3]);
	expect_left((const unsigned[]){ 1, 2, 4 }, 3);
}
END_TEST

/* Queue pairs of one port may use the same TransactionID, but share one limit. */
START_TEST(queue_pairs_share_and_are_told_apart)
{
	begin();
	for (unsigned i = 0; i < EACH; i++)
		ck_assert_ptr_null(put_by(1, 1 + i, 7, i));
	ck_assert_ptr_eq(put_by(1, 2, 7, EACH), &items[1]);
	ck_assert_ptr_eq(put_by(1, 1 + EACH, 7, EACH + 1), &items[0]);
	expect_left((const unsigned[]){ 2, 3, 4, 5 }, 4);
}
END_TEST

START_TEST(a_source_has_its_share)
{
	begin();
	for (unsigned i = 0; i < EACH; i++)
		ck_assert_ptr_null(put(1, i, i));
	ck_assert_ptr_null(put(2, 0, EACH));
	ck_assert_ptr_eq(put(1, EACH, EACH + 1), &items[0]);
	ck_assert_ptr_eq(put(1, EACH + 1, EACH + 2), &items[1]);
	expect_left((const unsigned[]){ 2, 3, 4, 5, 6 }, 5);
}
END_TEST

START_TEST(what_is_old_makes_room)
{
	begin();
	for (unsigned i = 0; i < MAX; i++)
		ck_assert_ptr_null(put(i, 0, i));
	ck_assert_ptr_eq(put(MAX, 0, KEEP), &items[MAX]);		/* itself */
	ck_assert_ptr_eq(put(MAX, 0, KEEP + 1), &items[0]);
	expect_left((const unsigned[]){ 1, 2, 3, 4, 5, 6, 7, 8, 9, 11 }, MAX);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("held");
	TCase *c = tcase_create("held");

	tcase_add_test(c, a_copy_takes_the_place_of_the_one_before);
	tcase_add_test(c, queue_pairs_share_and_are_told_apart);
	tcase_add_test(c, a_source_has_its_share);
	tcase_add_test(c, what_is_old_makes_room);
	suite_add_tcase(s, c);
	return run_suite(s);
}
