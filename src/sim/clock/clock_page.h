/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The simulator's side of the page of simulated time (qosd/sim_clock.h).
 *
 * It stops time, advances it and lets it run, and finds the thread whose wait ends next.  The
 * caller reads the machine's clock and passes it in.  Times are nanoseconds of simulated
 * CLOCK_MONOTONIC.
 */
#ifndef QOSD_SIM_CLOCK_CLOCK_PAGE_H
#define QOSD_SIM_CLOCK_CLOCK_PAGE_H

#include "qosd/sim_clock.h"

/* The machine's clocks, read together. */
struct machine_time {
	int64_t ns[SIM_CLOCK_KINDS];
};

/* Simulated time when the machine's CLOCK_MONOTONIC is mono_ns. */
int64_t clock_page_now(const struct sim_clock *c, int64_t mono_ns);
/* Stops the running time at the moment that read() returns. */
void clock_page_stop(struct sim_clock *c, struct machine_time (*read)(void));
/* Sets the stopped time to at_ns, which must not be earlier. */
void clock_page_move(struct sim_clock *c, int64_t at_ns);
/* Sets the stopped time, which no process has read yet, to at_ns, and the time of day to real_ns. */
void clock_page_date(struct sim_clock *c, int64_t at_ns, int64_t real_ns);
/* Lets time run on with the machine's, whose CLOCK_MONOTONIC is mono_ns. */
void clock_page_go(struct sim_clock *c, int64_t mono_ns);

/*
 * The slot whose wait ends first; of equal ones, the lowest.  Skips slots whose end is woken[slot],
 * the end for which the slot's thread was woken last (SIM_CLOCK_SLOTS entries). -1 if there is
 * none.
 */
int clock_page_first(const struct sim_clock *c, const int64_t *woken, int64_t *deadline_ns);
/* Frees the slots of a process that has ended. */
void clock_page_forget(struct sim_clock *c, int32_t pid);

#endif
