/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests the proof that a manager has the SM_Key, which holds for one other manager and one kind of MAD. */
#include <check.h>
#include <string.h>

#include "lib/iba/sa_records.h"
#include "sm/keys/proof.h"
#include "unit/run.h"

#define KEY 0x1122334455667788ull
enum { A = 0x101, B = 0x202, C = 0x303 };

/* promise: A40 */
START_TEST(holds_for_what_it_was_made_for)
{
	uint8_t data[64] = { 0 };

	proof_put(data, KEY, PROOF_GET, A, B, 7);
	ck_assert(proof_holds(data, KEY, PROOF_GET, A, B));
	ck_assert_uint_eq(proof_nonce(data), 7);
	ck_assert(!proof_holds(data, KEY + 1, PROOF_GET, A, B));
	ck_assert(!proof_holds(data, 0, PROOF_GET, A, B));
	ck_assert(!proof_holds(data, KEY, PROOF_ANSWER, A, B));
	ck_assert(!proof_holds(data, KEY, PROOF_CONTROL + 3, A, B));
	ck_assert(!proof_holds(data, KEY, PROOF_GET, B, A));
	ck_assert_msg(!proof_holds(data, KEY, PROOF_GET, A, C), "of use towards a third");
	ck_assert(!proof_holds(data, KEY, PROOF_GET, C, B));
}
END_TEST

/* The proof does not cover SMInfo itself and the mark of a nudge; any other changed bit breaks it. */
/* promise: A40 */
START_TEST(bytes)
{
	uint8_t data[64], was[64];

	memset(data, 0xa5, sizeof(data));
	proof_put(data, KEY, PROOF_CONTROL + 1, A, B, 1);
	for (unsigned i = 0; i < 40; i++)
		ck_assert_uint_eq(data[i], 0xa5);
	memcpy(was, data, sizeof(was));
	for (unsigned bit = 40 * 8; bit < 56 * 8; bit++) {
		data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		ck_assert(!proof_holds(data, KEY, PROOF_CONTROL + 1, A, B));
		memcpy(data, was, sizeof(data));
	}
	memset(data, 0, sizeof(data));
	ck_assert_msg(!proof_holds(data, KEY, PROOF_GET, A, B), "nothing is no proof");
}
END_TEST

/* Requests of a standby and their answers: every bit counts, and so do sender, receiver and kind. */
/* promise: A77 */
START_TEST(a_seal_is_of_the_whole_message)
{
	struct sa_replica x, was;
	uint8_t *raw = (uint8_t *)&x;

	memset(&x, 0x5a, sizeof(x));
	proof_seal(&x, KEY, PROOF_REPLICA_GET, A, B);
	was = x;
	ck_assert(proof_seal_holds(&x, KEY, PROOF_REPLICA_GET, A, B));
	for (unsigned bit = 0; bit < sizeof(x) * 8; bit++) {
		raw[bit / 8] ^= (uint8_t)(1 << bit % 8);
		ck_assert(!proof_seal_holds(&x, KEY, PROOF_REPLICA_GET, A, B));
		x = was;
	}
	ck_assert(!proof_seal_holds(&x, KEY + 1, PROOF_REPLICA_GET, A, B));
	ck_assert(!proof_seal_holds(&x, KEY, PROOF_REPLICA_ANSWER, A, B));
	ck_assert(!proof_seal_holds(&x, KEY, PROOF_REPLICA_GET, B, A));
	ck_assert_msg(!proof_seal_holds(&x, KEY, PROOF_REPLICA_GET, A, C), "of use towards a third");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("proof");
	TCase *t = tcase_create("all");

	tcase_add_test(t, holds_for_what_it_was_made_for);
	tcase_add_test(t, bytes);
	tcase_add_test(t, a_seal_is_of_the_whole_message);
	suite_add_tcase(s, t);
	return run_suite(s);
}
