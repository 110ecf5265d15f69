/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Implements the event loop over libev; see loop.h.
 *
 * Each watcher struct embeds libev's watcher, whose `data` points back to the struct.  A callback
 * may free its own watcher, so the code touches nothing after the callback.
 */
#include <ev.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/loop/loop.h"

struct loop {
	struct ev_loop *ev;
};

struct loop *loop_new(void)
{
	struct loop *l = xcalloc(1, sizeof(*l));

	/* only the default loop may watch children */
	l->ev = ev_default_loop(EVFLAG_AUTO | EVFLAG_NOENV);
	if (!l->ev) {
		free(l);
		return NULL;
	}
	return l;
}

void loop_free(struct loop *l)
{
	if (!l)
		return;
	ev_loop_destroy(l->ev);
	free(l);
}

void loop_run(struct loop *l)
{
	ev_run(l->ev, 0);
}

void loop_stop(struct loop *l)
{
	ev_break(l->ev, EVBREAK_ALL);
}

struct timer {
	ev_timer ev;
	struct ev_loop *loop;
	void (*fn)(void *arg);
	void *arg;
};

static void on_timer(struct ev_loop *l, ev_timer *w, int revents)
{
	struct timer *t = w->data;
	(void)l;
	(void)revents;
	t->fn(t->arg);
}

struct timer *timer_new(struct loop *l, void (*fn)(void *arg), void *arg)
{
	struct timer *t = xcalloc(1, sizeof(*t));

	ev_init(&t->ev, on_timer);
	t->ev.data = t;
	t->loop = l->ev;
	t->fn = fn;
	t->arg = arg;
	return t;
}

void timer_set(struct timer *t, int64_t delay_us, int64_t repeat_us)
{
	ev_timer_stop(t->loop, &t->ev);
	/* make the delay relative to now, not to the start of this iteration */
	ev_now_update(t->loop);
	ev_timer_set(&t->ev, (double)delay_us * 1e-6, (double)repeat_us * 1e-6);
	ev_timer_start(t->loop, &t->ev);
}

void timer_stop(struct timer *t)
{
	ev_timer_stop(t->loop, &t->ev);
}

bool timer_active(struct timer *t)
{
	return ev_is_active(&t->ev);
}

void timer_free(struct timer *t)
{
	if (!t)
		return;
	ev_timer_stop(t->loop, &t->ev);
	free(t);
}

struct io {
	ev_io ev;
	struct ev_loop *loop;
	int fd;
	void (*fn)(void *arg, int events);
	void *arg;
};

static void on_io(struct ev_loop *l, ev_io *w, int revents)
{
	struct io *io = w->data;
	(void)l;
	io->fn(io->arg, ((revents & EV_READ) ? LOOP_READ : 0) |
			((revents & EV_WRITE) ? LOOP_WRITE : 0));
}

struct io *io_new(struct loop *l, int fd, void (*fn)(void *arg, int events), void *arg)
{
	struct io *io = xcalloc(1, sizeof(*io));

	ev_init(&io->ev, on_io);
	io->ev.data = io;
	io->loop = l->ev;
	io->fd = fd;
	io->fn = fn;
	io->arg = arg;
	return io;
}

void io_set(struct io *io, int events)
{
	ev_io_stop(io->loop, &io->ev);
	if (!events)
		return;
	ev_io_set(&io->ev, io->fd, ((events & LOOP_READ) ? EV_READ : 0) |
				   ((events & LOOP_WRITE) ? EV_WRITE : 0));
	ev_io_start(io->loop, &io->ev);
}

void io_free(struct io *io)
{
	if (!io)
		return;
	ev_io_stop(io->loop, &io->ev);
	free(io);
}

struct wake {
	ev_async ev;
	struct ev_loop *loop;
	void (*fn)(void *arg);
	void *arg;
	/* orders memory: fn sees everything done before loop_wake(), without relying on libev */
	atomic_uint calls;
};

static void on_wake(struct ev_loop *l, ev_async *w, int revents)
{
	struct wake *k = w->data;
	(void)l;
	(void)revents;
	atomic_load(&k->calls);
	k->fn(k->arg);
}

struct wake *wake_new(struct loop *l, void (*fn)(void *arg), void *arg)
{
	struct wake *w = xcalloc(1, sizeof(*w));

	ev_async_init(&w->ev, on_wake);
	w->ev.data = w;
	w->loop = l->ev;
	w->fn = fn;
	w->arg = arg;
	ev_async_start(l->ev, &w->ev);
	return w;
}

void loop_wake(struct wake *w)
{
	atomic_fetch_add(&w->calls, 1);
	ev_async_send(w->loop, &w->ev);
}

void wake_free(struct wake *w)
{
	if (!w)
		return;
	ev_async_stop(w->loop, &w->ev);
	free(w);
}

struct sig {
	ev_signal ev;
	struct ev_loop *loop;
	void (*fn)(void *arg);
	void *arg;
};

static void on_signal(struct ev_loop *l, ev_signal *w, int revents)
{
	struct sig *s = w->data;
	(void)l;
	(void)revents;
	s->fn(s->arg);
}

struct sig *sig_new(struct loop *l, int signum, void (*fn)(void *arg), void *arg)
{
	struct sig *s = xcalloc(1, sizeof(*s));

	ev_signal_init(&s->ev, on_signal, signum);
	s->ev.data = s;
	s->loop = l->ev;
	s->fn = fn;
	s->arg = arg;
	ev_signal_start(l->ev, &s->ev);
	return s;
}

void sig_free(struct sig *s)
{
	if (!s)
		return;
	ev_signal_stop(s->loop, &s->ev);
	free(s);
}

struct child {
	ev_child ev;
	struct ev_loop *loop;
	void (*fn)(void *arg, int status);
	void *arg;
};

static void on_child(struct ev_loop *l, ev_child *w, int revents)
{
	struct child *c = w->data;
	(void)revents;
	ev_child_stop(l, w);
	c->fn(c->arg, w->rstatus);
}

struct child *child_new(struct loop *l, int pid, void (*fn)(void *arg, int status), void *arg)
{
	struct child *c = xcalloc(1, sizeof(*c));

	ev_child_init(&c->ev, on_child, pid, 0);
	c->ev.data = c;
	c->loop = l->ev;
	c->fn = fn;
	c->arg = arg;
	ev_child_start(l->ev, &c->ev);
	return c;
}

void child_free(struct child *c)
{
	if (!c)
		return;
	ev_child_stop(c->loop, &c->ev);
	free(c);
}
