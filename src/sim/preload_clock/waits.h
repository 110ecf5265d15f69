/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libqosd-sim-clock.so: simulated time for a process on a simulated node.
 *
 * Preloaded, it takes the place of the C library's clocks (clock.c), timed waits (waits.c) and condition
 * variables (cond.c).  A process without it has the machine's time, and waits as the C library does.
 */
#ifndef QOSD_SIM_PRELOAD_CLOCK_WAITS_H
#define QOSD_SIM_PRELOAD_CLOCK_WAITS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "qosd/sim.h"
#include "qosd/sim_clock.h"

/* Programs have names like these, too. */
#pragma GCC visibility push(hidden)

#define NS_PER_S	INT64_C(1000000000)

/* Simulated CLOCK_MONOTONIC, nanoseconds. */
int64_t clock_now_ns(void);
/* The same moment, of another clock's absolute time. */
int64_t clock_from(clockid_t id, const struct timespec *t);

/* A timed wait of this thread; where there is no slot, the wait goes on in short pieces. */
struct wait {
	struct sim_clock_slot *slot;	/* NULL: none */
	int64_t deadline_ns;
	uint32_t wakes;			/* slot's, when wait_left() was asked */
};
/* how as in the slot. */
void wait_begin(struct wait *w, int64_t deadline_ns, unsigned how);
void wait_end(struct wait *w);
/*
 * How long to wait by the machine's clock: 0 if it is over, -1 for ever (time stands, and the
 * simulator will wake the thread), else nanoseconds.
 */
int64_t wait_left(struct wait *w);
/* The descriptor by which the simulator wakes this thread; -1: none could be opened. */
int wait_file(struct wait *w);
/* It is readable: takes what is there. */
void wait_drain(int fd);
/*
 * Waits until the futex is not `value`, or for ns nanoseconds (-1: for ever); returns what futex() does.  A
 * cancellation point.
 */
long futex_wait(_Atomic uint32_t *futex, uint32_t value, int64_t ns);
void futex_wake(_Atomic uint32_t *futex);

#pragma GCC visibility pop

#endif
