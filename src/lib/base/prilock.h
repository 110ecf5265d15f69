/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A lock of which one thread, or few, must have it at once, while another takes it again and again.
 *
 * A mutex of glibc goes to whoever asks first after it was released, and that is the thread that just
 * released it, if it asks again before a waiting thread has woken up: so one that takes it for
 * a microsecond each time can keep others out for as long as it likes.  Here the threads that call
 * prilock_urgent() wait for one holder at most, the one that has the lock when they ask.  Whoever
 * calls prilock_patient() lets an urgent thread that waits go first, one at a time, so that it has
 * its turn, too.
 */
#ifndef QOSD_LIB_BASE_PRILOCK_H
#define QOSD_LIB_BASE_PRILOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct prilock {
	pthread_mutex_t mutex;
	pthread_cond_t passed;		/* an urgent thread has released it */
	atomic_uint coming;		/* urgent threads that wait */
	unsigned turns;			/* that urgent threads have had; it may wrap */
	unsigned patient;		/* threads that wait for `passed' */
};

#define PRILOCK_INITIALIZER { .mutex = PTHREAD_MUTEX_INITIALIZER, .passed = PTHREAD_COND_INITIALIZER }

void prilock_urgent(struct prilock *l);
void prilock_patient(struct prilock *l);
/* For either kind. */
void prilock_release(struct prilock *l);

#endif
