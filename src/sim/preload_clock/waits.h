/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Simulated time for a process on a simulated node (libqosd-sim-clock.so).
 *
 * Preloaded, it replaces the C library's clocks (clock.c), timed waits (waits.c) and condition
 * variables (cond.c).  A process without it has the machine's time and the C library's waits.
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

/* hidden, since programs may have functions of the same names */
#pragma GCC visibility push(hidden)

#define NS_PER_S INT64_C(1000000000)

static inline struct timespec span(int64_t ns)
{
	return (struct timespec){ .tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S };
}

/* Simulated CLOCK_MONOTONIC, nanoseconds. */
int64_t clock_now_ns(void);
/* Converts an absolute time of another clock to simulated CLOCK_MONOTONIC. */
int64_t clock_from(clockid_t id, const struct timespec *t);

/* A timed wait of this thread.  Without a slot, it waits in short pieces. */
struct wait {
	struct sim_clock_slot *slot;	/* NULL: no slot */
	int64_t deadline_ns;
	uint32_t wakes;			/* the slot's count at the last wait_left() */
};
/* Begins a wait; `how` as in the slot. */
void wait_begin(struct wait *w, int64_t deadline_ns, unsigned how);
void wait_end(struct wait *w);
/*
 * How long to wait by the machine's clock, in nanoseconds: 0 if the wait is over; -1 for ever (time
 * is stopped, and the simulator will wake the thread).
 */
int64_t wait_left(struct wait *w);
/* The descriptor by which the simulator wakes this thread; -1 if none could be opened. */
int wait_file(struct wait *w);
/* Reads what the descriptor has; it must be readable. */
void wait_drain(int fd);
/*
 * Waits until the futex is not `value`, or for ns nanoseconds (-1: for ever).  Returns what futex()
 * does.  A cancellation point.
 */
long futex_wait(_Atomic uint32_t *futex, uint32_t value, int64_t ns);
void futex_wake(_Atomic uint32_t *futex);

#pragma GCC visibility pop

#endif
