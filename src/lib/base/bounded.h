/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs calls that may never return in threads of their own, with a time limit for the caller.
 *
 * An example is a read from a network file system whose server is gone.  An abandoned thread keeps
 * its data until its call returns or the process ends.  At most BOUNDED_LEFT_MAX threads are
 * abandoned at a time; at that limit, bounded_run() refuses new calls.
 */
#ifndef QOSD_LIB_BASE_BOUNDED_H
#define QOSD_LIB_BASE_BOUNDED_H

#include <stdbool.h>
#include <stdint.h>

#define BOUNDED_LEFT_MAX 4

/*
 * Calls run(arg) in another thread and waits limit_us at most.  Returns true when run() has
 * returned; the caller then owns arg.  Returns false with errno ETIMEDOUT, ECANCELED, EBUSY (too
 * many abandoned threads), or the error of pthread_create().  In that case bounded_run() takes arg
 * over: drop(arg) is called at once, or by the abandoned thread when run() returns.  May be called
 * from any thread.
 */
bool bounded_run(void (*run)(void *arg), void (*drop)(void *arg), void *arg, int64_t limit_us);

/* Call when the process is about to end: every current and later bounded_run() fails with ECANCELED. */
void bounded_cancel(void);

#endif
