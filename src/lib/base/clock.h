/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The only file that reads clocks, apart from the loop's own timers. */
#ifndef QOSD_LIB_BASE_CLOCK_H
#define QOSD_LIB_BASE_CLOCK_H

#include <pthread.h>
#include <stdint.h>

int64_t clock_mono_us(void);	/* CLOCK_MONOTONIC, microseconds */
/* CLOCK_BOOTTIME, microseconds since the machine started; nobody can set this clock */
int64_t clock_boot_us(void);
/* CLOCK_REALTIME, which may jump: use it only to show people the time of an event */
int64_t clock_real_us(void);	/* microseconds since 1970 */

/* Makes a condition variable for clock_cond_wait(). */
void clock_cond_init(pthread_cond_t *c);
/* Waits until clock_mono_us() is end_us at most; like pthread_cond_wait(), it may return at any time. */
void clock_cond_wait(pthread_cond_t *c, pthread_mutex_t *lock, int64_t end_us);

#endif
