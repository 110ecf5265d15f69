/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether processes rest: none of their threads runs, nor do their descendants'.
 *
 * One look reads /proc thread by thread, which takes time, so that a thread that is
 * found asleep may run before the next one is looked at.  But a thread that sleeps in
 * two looks, and was not switched between them, slept all the time from its first to its second.
 * So if two looks find the same threads, all asleep, each with an unchanged count of
 * switches, then all of them slept at the moment between the looks.  Since only a thread
 * that runs can make another one, or wake it, they sleep until something else wakes them: the
 * simulator, a timer, or a process that is none of these.
 *
 * Stopped processes and zombies rest.  A thread that waits for a disk, or for
 * a vfork()ed child, does not.
 */
#ifndef QOSD_SIM_CLOCK_REST_H
#define QOSD_SIM_CLOCK_REST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct look_thread {
	int32_t pid, tid;
	uint64_t switches;
};

/* {0} is an empty look, which is the same as no other. */
struct look {
	struct {
		struct look_thread *v;
		size_t n, cap;
	} threads;
	struct {
		int32_t *v;
		size_t n, cap;
	} pids;				/* that were asked for, and their descendants */
	bool asleep;			/* all threads were, each when it was looked at */
	int32_t busy_pid, busy_tid;	/* if not: the first that was not */
};

/*
 * Looks at the processes, those that are gone aside; ends early at the first thread that does not
 * sleep.  l is {0} or of an earlier look.  gone(arg, pid) is told of each pid that was asked for
 * and has no process.
 */
void look_take(struct look *l, const int32_t *pids, size_t n, void (*gone)(void *arg, int32_t pid),
	       void *arg);
/* All rested at the moment between the two. */
bool look_rests(const struct look *before, const struct look *now);
void look_free(struct look *l);

/* Of /proc/PID/task/TID/status: the letter of the state, and the switches; false: it has none. */
bool look_parse(const char *status, char *state, uint64_t *switches);

#endif
