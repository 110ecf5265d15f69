/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A mutex with priority for urgent threads over one that takes it again and again.
 *
 * A glibc mutex goes to the first thread that asks after its release.  That is the releasing thread
 * itself if it asks again before a waiting thread has woken up, so a thread that holds the mutex
 * only for microseconds can still starve others.  Here a thread that calls prilock_urgent() waits
 * for one holder at most: the one that has the lock at that time.  A thread that calls
 * prilock_patient() lets one waiting urgent thread go first, and then has its own turn.
 */
#ifndef QOSD_LIB_BASE_PRILOCK_H
#define QOSD_LIB_BASE_PRILOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct prilock {
	pthread_mutex_t mutex;
	pthread_cond_t passed;		/* signalled when an urgent thread releases the lock */
	atomic_uint coming;		/* number of urgent threads that wait */
	unsigned turns;			/* number of urgent acquisitions so far; it may wrap */
	unsigned patient;		/* number of threads that wait for `passed' */
};

#define PRILOCK_INITIALIZER { .mutex = PTHREAD_MUTEX_INITIALIZER, .passed = PTHREAD_COND_INITIALIZER }

void prilock_urgent(struct prilock *l);
void prilock_patient(struct prilock *l);
/* Releases the lock, however it was taken. */
void prilock_release(struct prilock *l);

#endif
