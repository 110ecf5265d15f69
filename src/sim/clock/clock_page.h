/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The simulator's side of the page of simulated time (qosd/sim_clock.h): it stops
 * time, moves it on and lets it go, and finds out which thread's wait ends next.
 *
 * The caller reads the machine's clock and hands it in; times are nanoseconds of
 * simulated CLOCK_MONOTONIC.
 */
#ifndef QOSD_SIM_CLOCK_CLOCK_PAGE_H
#define QOSD_SIM_CLOCK_CLOCK_PAGE_H

#include "qosd/sim_clock.h"

/* The machine's clocks at one moment. */
struct machine_time {
	int64_t ns[SIM_CLOCK_KINDS];
};

/* Simulated time when the machine's CLOCK_MONOTONIC is mono_ns. */
int64_t clock_page_now(const struct sim_clock *c, int64_t mono_ns);
/* Time, which goes, stands from now on at the moment that it has come to by read(). */
void clock_page_stop(struct sim_clock *c, struct machine_time (*read)(void));
/* Time, which stands, is at_ns now; it never goes back. */
void clock_page_move(struct sim_clock *c, int64_t at_ns);
/* Time goes on as the machine's does, whose CLOCK_MONOTONIC is mono_ns. */
void clock_page_go(struct sim_clock *c, int64_t mono_ns);

/*
 * The slot whose wait ends first, of those whose end is not woken[slot] (the end that
 * the slot's thread was woken for last; SIM_CLOCK_SLOTS entries), the lowest of equals.
 * -1: none.
 */
int clock_page_first(const struct sim_clock *c, const int64_t *woken, int64_t *deadline_ns);
/* Frees the slots of a process that is gone. */
void clock_page_forget(struct sim_clock *c, int32_t pid);

#endif
