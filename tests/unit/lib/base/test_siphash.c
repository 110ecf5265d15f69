/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <check.h>

#include "lib/base/siphash.h"
#include "unit/run.h"

/* The example in the appendix of the authors' paper: bytes of key and message count up. */
/* promise: A40 */
START_TEST(example_of_the_authors)
{
	static const uint64_t key[2] = { 0x0706050403020100, 0x0f0e0d0c0b0a0908 };
	uint8_t message[15];

	for (uint8_t i = 0; i < sizeof(message); i++)
		message[i] = i;
	ck_assert_uint_eq(siphash(key, message, sizeof(message)), 0xa129ca6149be45e5);
}
END_TEST

/* Each bit of key, message and length changes the hash. */
START_TEST(everything_counts)
{
	uint64_t key[2] = { 1, 2 }, was;
	uint8_t message[20] = { 0 };

	was = siphash(key, message, 16);
	ck_assert_uint_ne(was, siphash(key, message, 17));
	for (unsigned bit = 0; bit < 128; bit++) {
		key[bit / 64] ^= 1ull << bit % 64;
		ck_assert_uint_ne(was, siphash(key, message, 16));
		key[bit / 64] ^= 1ull << bit % 64;
		message[bit / 8] ^= (uint8_t)(1 << bit % 8);
		ck_assert_uint_ne(was, siphash(key, message, 16));
		message[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	ck_assert_uint_eq(was, siphash(key, message, 16));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("siphash");
	TCase *t = tcase_create("all");

	tcase_add_test(t, example_of_the_authors);
	tcase_add_test(t, everything_counts);
	suite_add_tcase(s, t);
	return run_suite(s);
}
