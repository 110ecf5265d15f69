/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The event loop: the only user of libev.  One thread runs it; loop_wake() is
 * the one call that others may make.
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

/* Each watcher is owned by the caller of *_new and ends with *_free (NULL is fine). */
struct timer;
/* once: fn after delay_us; repeat_us > 0: again each repeat_us. Starts stopped. */
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
/* fn runs in the loop's thread once or more after loop_wake() from any thread. */
struct wake *wake_new(struct loop *l, void (*fn)(void *arg), void *arg);
void loop_wake(struct wake *w);
void wake_free(struct wake *w);

struct work;
/*
 * run(arg) in a thread of its own, then done(arg) in the loop's, which calls
 * work_end().  NULL and errno if there is no thread for it.
 */
struct work *work_start(struct loop *l, void (*run)(void *arg), void (*done)(void *arg), void *arg);
/* Waits for run() to be over; done() is not called any more if it was not yet. */
void work_end(struct work *w);			/* NULL is fine */
/* Whether run() is over, for which it waits limit_us at most. */
bool work_wait(struct work *w, int64_t limit_us);
/*
 * As work_end(), for work that may never be over: waits for limit_us at most.  False: run(arg) goes on,
 * and that thread calls left(arg) when it is over, if ever; arg is no more the caller's.
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
