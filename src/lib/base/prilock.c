/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See prilock.h. */
#include "lib/base/prilock.h"

void prilock_urgent(struct prilock *l)
{
	atomic_fetch_add(&l->coming, 1);
	pthread_mutex_lock(&l->mutex);
	atomic_fetch_sub(&l->coming, 1);
	l->turns++;
}

void prilock_patient(struct prilock *l)
{
	unsigned turns;

	pthread_mutex_lock(&l->mutex);
	turns = l->turns;
	while (atomic_load(&l->coming) && l->turns == turns) {
		l->patient++;
		pthread_cond_wait(&l->passed, &l->mutex);
		l->patient--;
	}
}

void prilock_release(struct prilock *l)
{
	bool tell = l->patient != 0;

	pthread_mutex_unlock(&l->mutex);
	if (tell)
		pthread_cond_broadcast(&l->passed);
}
