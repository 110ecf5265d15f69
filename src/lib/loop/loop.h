/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The event loop, and the only user of libev.
 *
 * One thread runs it; loop_wake() is the only call that other threads may make.
 */
#ifndef QOSD_LIB_LOOP_LOOP_H
#define QOSD_LIB_LOOP_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct loop *loop_new(void);
void loop_free(struct loop *l);
void loop_run(struct loop *l);
void loop_stop(struct loop *l);

/* The caller of *_new owns the watcher and ends it with *_free (NULL is fine). */
struct timer;
/*
 * Calls fn after delay_us and, if repeat_us > 0, every repeat_us after that.  A new timer is
 * stopped.
 */
struct timer *timer_new(struct loop *l, void (*fn)(void *arg), void *arg);
void timer_set(struct timer *t, int64_t delay_us, int64_t repeat_us);
void timer_stop(struct timer *t);
bool timer_active(struct timer *t);
void timer_free(struct timer *t);

enum { LOOP_READ = 1, LOOP_WRITE = 2 };
struct io;
struct io *io_new(struct loop *l, int fd, void (*fn)(void *arg, int events), void *arg);
void io_set(struct io *io, int events);		/* 0: none */
void io_free(struct io *io);			/* does not close fd */

struct wake;
/* After a loop_wake() from any thread, fn runs once or more in the loop's thread. */
struct wake *wake_new(struct loop *l, void (*fn)(void *arg), void *arg);
void loop_wake(struct wake *w);
void wake_free(struct wake *w);

struct work;
/*
 * Calls run(arg) in a thread of its own, then done(arg) in the loop's thread; done() calls
 * work_end().  NULL with errno if the thread cannot be started.
 */
struct work *work_start(struct loop *l, void (*run)(void *arg), void (*done)(void *arg), void *arg);
/* Waits for run() to return. done() is not called after this. */
void work_end(struct work *w);			/* NULL is fine */
/* Whether run() has returned; waits limit_us at most for that. */
bool work_wait(struct work *w, int64_t limit_us);
/*
 * Like work_end(), for work that may never end: waits limit_us at most.  False: run(arg) goes on,
 * and its thread calls left(arg) if it ever returns; the caller no longer owns arg.
 */
bool work_leave(struct work *w, int64_t limit_us, void (*left)(void *arg));

struct sig;
struct sig *sig_new(struct loop *l, int signum, void (*fn)(void *arg), void *arg);
void sig_free(struct sig *s);

struct child;
/* The loop reaps pid and calls fn with its wait status. */
struct child *child_new(struct loop *l, int pid, void (*fn)(void *arg, int status), void *arg);
void child_free(struct child *c);

#endif
