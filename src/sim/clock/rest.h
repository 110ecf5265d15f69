/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Determines whether processes rest, that is, whether no thread of theirs or of their descendants
 * runs.
 *
 * A look reads /proc thread by thread.  That takes time, so a thread found asleep may run before
 * the next one is examined.  But a thread that is asleep in two looks, and was not switched between
 * them, slept all the time from the first to the second.  So if two looks find the same threads,
 * all asleep and each with unchanged counts of switches and of runs and time on a CPU, then all of them slept
 * at the moment between the looks.  Only a running thread can create another one or wake it, so
 * they sleep until something else wakes them: the simulator, a timer, or a process outside this set.
 *
 * Linux shows a thread as asleep from the moment when it intends to sleep: it may still run then,
 * find that it need not sleep, and go on without having been switched.  Such a thread is told by the
 * file `syscall`, whose reader waits until the thread has left its CPU, or gets "running".  Where
 * the file cannot be read (it wants the right to trace), the state alone decides.
 *
 * Most threads sleep from one look to the next.  Of a thread that is asleep, and has not run since
 * an earlier look, a look takes the rest from there: it begets children only while it runs.  When a
 * process ends, others may get its children without running; then nothing is taken from the earlier
 * look.
 *
 * Stopped processes and zombies rest.  A thread that waits for a disk, or for a vfork()ed child,
 * does not.
 */
#ifndef QOSD_SIM_CLOCK_REST_H
#define QOSD_SIM_CLOCK_REST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct look_thread {
	int32_t pid, tid;
	uint64_t switches;
	uint64_t ran_ns, runs;		/* time on a CPU, and how often; 0 if Linux does not tell */
};

/* The result of a look. {0} is an empty look, which equals no other. */
struct look {
	struct {
		struct look_thread *v;
		size_t n, cap;
	} threads;
	struct {
		int32_t *v;
		size_t n, cap;
	} pids;				/* processes asked for, and their descendants */
	bool asleep;			/* each thread was asleep when it was examined */
	int32_t busy_pid, busy_tid;	/* if not asleep: the first running thread */
};

/*
 * Looks at the processes and skips those that have ended; stops at the first thread that is not
 * asleep. l is {0} or an earlier look; if that ended at a thread that is still running, l stays as it
 * is.  `last` is the last look that found all asleep, another one than l, or NULL.  Calls gone(arg, pid),
 * once or twice, for each pid of `pids` that has no process.
 */
void look_take(struct look *l, const struct look *last, const int32_t *pids, size_t n,
	       void (*gone)(void *arg, int32_t pid), void *arg);
/* Whether all processes rested at the moment between the two looks. */
bool look_rests(const struct look *before, const struct look *now);
void look_free(struct look *l);

/*
 * Parses /proc/PID/task/TID/status: the letter of the state, and the count of switches.  False if
 * either is missing.
 */
bool look_parse(const char *status, char *state, uint64_t *switches);

#endif
