/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests the list of M_Keys that devices may have: their order, and their text form. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "sm/keys/mkey_ring.h"
#include "unit/run.h"

static struct mkey_ring ring;

static void setup(void)
{
	memset(&ring, 0, sizeof(ring));
}

static void expect(unsigned n, const uint64_t *keys)
{
	ck_assert_uint_eq(ring.n, n);
	for (unsigned i = 0; i < n; i++) {
		ck_assert_uint_eq(ring.keys[i], keys[i]);
		ck_assert_uint_eq(mkey_ring_find(&ring, keys[i]), i);
	}
}

/* promise: L4 */
START_TEST(latest_first)
{
	mkey_ring_put_first(&ring, 1);
	expect(1, (uint64_t[]){ 1 });
	mkey_ring_put_first(&ring, 0);
	mkey_ring_put_first(&ring, UINT64_MAX);
	expect(3, (uint64_t[]){ UINT64_MAX, 0, 1 });
	ck_assert_uint_eq(mkey_ring_find(&ring, 2), 3);
	/* a known key moves to the front and is listed once */
	mkey_ring_put_first(&ring, 0);
	expect(3, (uint64_t[]){ 0, UINT64_MAX, 1 });
	mkey_ring_put_first(&ring, 0);
	expect(3, (uint64_t[]){ 0, UINT64_MAX, 1 });
	mkey_ring_put_first(&ring, 1);
	expect(3, (uint64_t[]){ 1, 0, UINT64_MAX });
}
END_TEST

/* promise: L4 */
START_TEST(the_oldest_falls_out)
{
	for (uint64_t k = 1; k <= MKEY_RING_MAX; k++)
		mkey_ring_put_first(&ring, k);
	expect(4, (uint64_t[]){ 4, 3, 2, 1 });
	mkey_ring_put_first(&ring, 1);
	expect(4, (uint64_t[]){ 1, 4, 3, 2 });
	mkey_ring_put_first(&ring, 9);
	expect(4, (uint64_t[]){ 9, 1, 4, 3 });
}
END_TEST

START_TEST(lines)
{
	static const char *const bad[] = {
		"", "1", "0x", "0x1 ", "0x1\n0x2", "0xfffffffffffffffff", "key", "0x8877665544332211",
	};
	struct mkey_ring was;
	struct buf b = { 0 };
	char *next;

	mkey_ring_put_first(&ring, 0);
	mkey_ring_put_first(&ring, 0x8877665544332211);
	mkey_ring_print(&ring, &b);
	ck_assert_str_eq(b.s, "0x8877665544332211\n0x0000000000000000\n");
	was = ring;
	setup();
	for (char *line = b.s; *line; line = next) {
		next = strchr(line, '\n');
		*next++ = '\0';
		ck_assert(mkey_ring_take_line(&ring, line));
	}
	expect(was.n, was.keys);
	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ck_assert_msg(!mkey_ring_take_line(&ring, bad[i]), "%s", bad[i]);
	ck_assert(mkey_ring_take_line(&ring, "0x2"));
	ck_assert(mkey_ring_take_line(&ring, "0x3"));
	ck_assert(!mkey_ring_take_line(&ring, "0x4"));
	buf_free(&b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mkey_ring");
	TCase *c = tcase_create("mkey_ring");

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_add_test(c, latest_first);
	tcase_add_test(c, the_oldest_falls_out);
	tcase_add_test(c, lines);
	suite_add_tcase(s, c);
	return run_suite(s);
}
