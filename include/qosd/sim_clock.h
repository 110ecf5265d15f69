/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Simulated time, in a memory page that the simulator shares with each process that preloads
 * its library.
 *
 * Simulated time is the machine's CLOCK_MONOTONIC plus an offset, or it stands still.  Both
 * states fit in one word, so that a reader never sees half of a change.  Only the simulator
 * writes the word.  A slot belongs to the thread that took it, until the simulator finds that
 * this thread has exited.
 *
 * A thread with a timed wait stores the wait's end in its slot before it reads the word; the
 * simulator stores the word before it reads the slots.  So either the thread sees the new time,
 * or the simulator sees the wait and wakes the thread.
 */
#ifndef QOSD_SIM_CLOCK_H
#define QOSD_SIM_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SIM_CLOCK_SLOTS	4096

/*
 * How the simulator wakes the thread of a slot: always by the futex, and with SIM_WAIT_FILES by
 * its socket too.
 */
#define SIM_WAIT_FILES	1u

struct sim_clock_slot {
	_Atomic int32_t pid, tid;	/* pid 0: free */
	_Atomic int64_t deadline_ns;	/* end of a timed wait, simulated CLOCK_MONOTONIC; 0: none */
	_Atomic uint32_t wakes;		/* futex, incremented to wake the thread */
	_Atomic uint32_t how;		/* SIM_WAIT_FILES, or 0 */
};

enum sim_clock_kind { SIM_CLOCK_MONO, SIM_CLOCK_REAL, SIM_CLOCK_BOOT, SIM_CLOCK_KINDS };

struct sim_clock {
	_Atomic int64_t word;		/* sim_clock_word() */
	/* offsets of the other clocks from CLOCK_MONOTONIC when time was last stopped */
	_Atomic int64_t ahead_ns[SIM_CLOCK_KINDS];
	_Atomic uint32_t n_slots;	/* number of leading slots that were ever taken */
	struct sim_clock_slot slots[SIM_CLOCK_SLOTS];
};

/*
 * The word for the moment before time stops: a reader waits for the next word.  By then nobody
 * has read a time later than the one at which the clock stops.
 */
#define SIM_CLOCK_CHANGES	INT64_C(1)

/* The word for time that stands at ns, which must not be 0, or for an offset of ns. */
static inline int64_t sim_clock_word(bool stands, int64_t ns)
{
	return (int64_t)((uint64_t)ns << 1) | stands;
}

static inline bool sim_clock_stands(int64_t word)
{
	return word & 1;
}

/* Simulated nanoseconds, given the word and the machine's clock of the same kind. */
static inline int64_t sim_clock_ns(int64_t word, int64_t machine_ns)
{
	int64_t ns = word >> 1;

	return sim_clock_stands(word) ? ns : machine_ns + ns;
}

#endif
