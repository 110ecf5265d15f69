/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests how many pieces of another thread's work an urgent thread waits for. */
#include <check.h>
#include <sched.h>

#include "lib/base/prilock.h"
#include "unit/run.h"

#define TURNS 1000

static struct prilock lock = PRILOCK_INITIALIZER;
static atomic_uint pieces;		/* begun by the thread that takes the lock repeatedly */
static atomic_bool enough;

static unsigned broken;			/* pieces begun before an urgent thread that was seen waiting */

/*
 * Only what this thread saw before it asked for the lock counts, so that the
 * result does not depend on how threads are scheduled.
 */
static void *take_again_and_again(void *arg)
{
	unsigned turns = 0;
	bool seen = false;

	(void)arg;
	while (!atomic_load(&enough)) {
		prilock_patient(&lock);
		broken += seen && lock.turns == turns;
		atomic_fetch_add(&pieces, 1);
		for (volatile unsigned i = 0; i < 300; i++)	/* about as long as a join */
			;
		turns = lock.turns;
		prilock_release(&lock);
		seen = atomic_load(&lock.coming) != 0;
	}
	return NULL;
}

/* promise: D110 */
START_TEST(waits_for_one_piece_of_work)
{
	pthread_t other;
	unsigned before;

	ck_assert_int_eq(pthread_create(&other, NULL, take_again_and_again, NULL), 0);
	while (!atomic_load(&pieces))
		sched_yield();
	for (unsigned i = 0; i < TURNS; i++) {
		prilock_urgent(&lock);
		before = atomic_load(&pieces);
		prilock_release(&lock);
		/* the other thread gets the lock, too */
		while (atomic_load(&pieces) == before)
			sched_yield();
	}
	atomic_store(&enough, true);
	pthread_join(other, NULL);
	ck_assert_uint_ge(atomic_load(&pieces), TURNS);
	ck_assert_uint_eq(broken, 0);
}
END_TEST

/* An urgent thread that takes the lock again at once does not keep the other thread out. */
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

/* promise: D110 */
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
