/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests MLIDs and MGIDs against simple models that search all groups. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/map64.h"
#include "sa/registry/mgids.h"
#include "sa/registry/mlids.h"
#include "unit/run.h"

#define LIMIT 50

/* The model of an MLID. */
static struct {
	bool used;
	uint64_t given_back;	/* 0: never */
	uint64_t signature;
	uint32_t members;
} model[LIMIT];
static uint64_t n_given_back;

static unsigned model_unused(unsigned limit)
{
	unsigned oldest = MLID_NONE;

	for (unsigned i = 0; i < limit; i++) {
		if (model[i].used)
			continue;
		if (!model[i].given_back || n_given_back - model[i].given_back >= MLID_REUSE_AFTER)
			return i;
		if (oldest == MLID_NONE || model[i].given_back < model[oldest].given_back)
			oldest = i;
	}
	return oldest;
}

static unsigned model_to_share(uint64_t signature, unsigned limit)
{
	unsigned best = MLID_NONE;

	for (unsigned i = 0; i < limit; i++)
		if (model[i].used && model[i].signature == signature &&
		    (best == MLID_NONE || model[i].members < model[best].members))
			best = i;
	return best;
}

static void one_step(struct mlids *m, uint64_t dice)
{
	unsigned mlid = (unsigned)(dice % LIMIT);

	if (!model[mlid].used) {
		/* now and then one that is asked for, else the one that is free */
		unsigned free_one = mlids_unused(m, LIMIT);

		ck_assert_uint_eq(free_one, model_unused(LIMIT));
		if (dice >> 8 & 1 && free_one != MLID_NONE)
			mlid = free_one;
		model[mlid].used = true;
		mlids_take(m, mlid);
	} else if (!(dice >> 8 & 3)) {
		model[mlid].used = false;
		model[mlid].given_back = ++n_given_back;
		mlids_give_back(m, mlid);
		return;
	}
	model[mlid].signature = dice >> 16 & 7 ? dice >> 20 & 1 : dice >> 20;
	model[mlid].members = dice >> 40 & 7;
	mlids_describe(m, mlid, model[mlid].signature, model[mlid].members);
}

/* promise: D42 */
START_TEST(as_the_plain_way)
{
	struct mlids *m = mlids_new();

	memset(model, 0, sizeof(model));
	n_given_back = 0;
	for (unsigned i = 0; i < 5000; i++) {
		one_step(m, hash64((uint64_t)_i << 32 | i));
		for (unsigned limit = LIMIT; limit > LIMIT - 30; limit -= 9) {
			ck_assert_uint_eq(mlids_unused(m, limit), model_unused(limit));
			for (uint64_t s = 0; s < 3; s++)
				ck_assert_uint_eq(mlids_to_share(m, s, limit),
						  model_to_share(s, limit));
		}
	}
	mlids_free(m);
}
END_TEST

/* promise: D42 */
START_TEST(all_of_them)
{
	struct mlids *m = mlids_new();

	for (unsigned i = 0; i < MLIDS; i++) {
		ck_assert_uint_eq(mlids_unused(m, MLIDS), i);
		mlids_take(m, i);
		mlids_describe(m, i, 7, 0);
	}
	ck_assert_uint_eq(mlids_unused(m, MLIDS), MLID_NONE);
	for (unsigned i = 0; i < 3 * MLIDS; i++) {
		unsigned mlid = mlids_to_share(m, 7, MLIDS);

		ck_assert_uint_eq(mlid, i % MLIDS);
		mlids_describe(m, mlid, 7, i / MLIDS + 1);
	}
	ck_assert_uint_eq(mlids_to_share(m, 8, MLIDS), MLID_NONE);
	mlids_free(m);
}
END_TEST

/* --- MGIDs --- */

#define KINDS 3000
static bool there[KINDS];
static unsigned things[KINDS];

static void make_mgid(uint8_t mgid[16], unsigned kind)
{
	memset(mgid, 0xff, 16);
	mgid[3] = (uint8_t)(kind >> 8);
	mgid[15] = (uint8_t)kind;
}

static void check_order(struct mgids *m, bool backwards)
{
	size_t n = mgids_count(m), i = 0;
	uint8_t mgid[16];

	for (unsigned k = 0; k < KINDS; k++) {
		unsigned kind = backwards ? KINDS - 1 - k : k;

		make_mgid(mgid, kind);
		ck_assert_ptr_eq(mgids_find(m, mgid), there[kind] ? &things[kind] : NULL);
		if (!backwards)
			ck_assert_uint_eq(mgids_place(m, mgid), i);
		if (there[kind])
			ck_assert_ptr_eq(mgids_at(m, backwards ? n - 1 - i : i), &things[kind]);
		i += there[kind];
	}
	ck_assert_uint_eq(i, n);
}

/* promise: D42 */
START_TEST(mgids_in_order)
{
	struct mgids *m = mgids_new();
	uint8_t mgid[16] = { 0 };

	memset(there, 0, sizeof(there));
	ck_assert_ptr_null(mgids_find(m, mgid));
	ck_assert_uint_eq(mgids_place(m, mgid), 0);
	for (unsigned i = 0; i < 40000; i++) {
		uint64_t dice = hash64((uint64_t)_i << 32 | i);
		/* growing, then shrinking to nothing, in any order or one after the other */
		unsigned kind = _i == 1 ? i % KINDS : (unsigned)(dice % KINDS);
		bool add = i % 20000 < 10000;

		if (there[kind] == add)
			continue;
		make_mgid(mgid, kind);
		if (add)
			mgids_add(m, mgid, &things[kind]);
		else
			mgids_remove(m, mgid);
		there[kind] = add;
		if (i % 997 == 0)
			check_order(m, i % 2);
	}
	check_order(m, false);
	mgids_free(m);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mlids");
	TCase *c = tcase_create("mlids");

	tcase_add_loop_test(c, as_the_plain_way, 0, 4);
	tcase_add_test(c, all_of_them);
	tcase_add_loop_test(c, mgids_in_order, 0, 3);
	suite_add_tcase(s, c);
	return run_suite(s);
}
