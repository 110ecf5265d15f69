/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How many pieces of work of another thread an urgent one waits for. */
#include <check.h>
#include <sched.h>

#include "base/prilock.h"
#include "unit/run.h"

#define TURNS 1000

static struct prilock lock = PRILOCK_INITIALIZER;
static atomic_uint pieces;		/* begun by the thread that takes it again and again */
static atomic_bool enough;

static void *take_again_and_again(void *arg)
{
	(void)arg;
	while (!atomic_load(&enough)) {
		prilock_patient(&lock);
		atomic_fetch_add(&pieces, 1);
		for (volatile unsigned i = 0; i < 300; i++)	/* about as long as a join */
			;
		prilock_release(&lock);
	}
	return NULL;
}

START_TEST(waits_for_one_piece_of_work)
{
	pthread_t other;
	unsigned longer = 0, before, waited, all;

	ck_assert_int_eq(pthread_create(&other, NULL, take_again_and_again, NULL), 0);
	while (!atomic_load(&pieces))
		sched_yield();
	for (unsigned i = 0; i < TURNS; i++) {
		before = atomic_load(&pieces);
		prilock_urgent(&lock);
		waited = atomic_load(&pieces) - before;
		/* one may begin before we ask, after we looked */
		prilock_release(&lock);
		longer += waited > 2;
		/* and the other has its turn, too */
		while (atomic_load(&pieces) == before + waited)
			sched_yield();
	}
	atomic_store(&enough, true);
	all = atomic_load(&pieces);
	pthread_join(other, NULL);
	ck_assert_uint_ge(all, TURNS);
	/* this thread may lose its processor after it looked, and before it asks */
	ck_assert_uint_le(longer, TURNS / 50);
}
END_TEST

/* An urgent thread that asks again at once does not keep the patient one out. */
static void *take_urgently(void *arg)
{
	(void)arg;
	while (!atomic_load(&enough)) {
		prilock_urgent(&lock);
		atomic_fetch_add(&pieces, 1);
		prilock_release(&lock);
	}
	return NULL;
}

START_TEST(the_patient_one_has_its_turn)
{
	pthread_t other;

	ck_assert_int_eq(pthread_create(&other, NULL, take_urgently, NULL), 0);
	while (!atomic_load(&pieces))
		sched_yield();
	for (unsigned i = 0; i < TURNS / 10; i++) {
		prilock_patient(&lock);
		prilock_release(&lock);
	}
	atomic_store(&enough, true);
	pthread_join(other, NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("prilock");
	TCase *c = tcase_create("all");

	tcase_set_timeout(c, 60);
	tcase_add_test(c, waits_for_one_piece_of_work);
	tcase_add_test(c, the_patient_one_has_its_turn);
	suite_add_tcase(s, c);
	return run_suite(s);
}
