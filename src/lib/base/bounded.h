/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls that may never return, such as a read from a network file system whose server is gone:
 * each runs in a thread of its own, for which its caller waits for a limited time.
 *
 * A thread that is left behind keeps what it works on until its call returns, or the process
 * ends.  At most BOUNDED_LEFT_MAX are left behind at a time; while so many are, no other call is
 * begun.
 */
#ifndef QOSD_LIB_BASE_BOUNDED_H
#define QOSD_LIB_BASE_BOUNDED_H

#include <stdbool.h>
#include <stdint.h>

#define BOUNDED_LEFT_MAX 4

/*
 * Calls run(arg) in another thread and waits limit_us at most.  True: it has returned, and arg is
 * the caller's.  False, with errno: ETIMEDOUT, ECANCELED, EBUSY (too many are left behind), or why
 * there is no thread.  Then arg is no more the caller's: drop(arg) is called, at once or by
 * that thread when run() has returned.  From any thread.
 */
bool bounded_run(void (*run)(void *arg), void (*drop)(void *arg), void *arg, int64_t limit_us);

/*
 * The process is about to end: who waits in bounded_run() gets ECANCELED now, and so does everybody
 * who calls it later.
 */
void bounded_cancel(void);

#endif
