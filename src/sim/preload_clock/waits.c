/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Replaces the C library's timed waits by waits in simulated time: poll, select, epoll and sleep.
 *
 * A wait for files also waits for the thread's connection to the simulator, which wakes the thread
 * when its time has come, and when stopped time runs again.  Calls without a time limit, and calls
 * that do not wait, go to the C library unchanged.
 */
#undef _FORTIFY_SOURCE		/* its inline functions have the names of those defined here */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

#include "sim/preload/next.h"
#include "waits.h"

#define FEW_FILES 64

static int64_t span_ns(const struct timespec *t)
{
	/* treat more than a century as for ever */
	return t->tv_sec > INT64_C(3000000000) ? INT64_C(3000000000) * NS_PER_S :
						 t->tv_sec * NS_PER_S + t->tv_nsec;
}

/* --- poll --- */

typedef int ppoll_fn(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *mask);

static int next_ppoll(struct pollfd *fds, nfds_t n, int64_t ns, const sigset_t *mask)
{
	struct timespec t = span(ns);
	NEXT_FUNCTION(ppoll_fn, next, "ppoll")

	return next(fds, n, ns < 0 ? NULL : &t, mask);
}

/* `all`: fds, with room for one more. */
static int poll_until(struct pollfd *all, nfds_t n, int64_t deadline_ns, const sigset_t *mask)
{
	struct wait w;
	int64_t left;
	int found;

	wait_begin(&w, deadline_ns, SIM_WAIT_FILES);
	all[n].fd = wait_file(&w);
	all[n].events = POLLIN;
	do {
		left = wait_left(&w);
		if (left < 0 && all[n].fd < 0)
			left = NS_PER_S / 50;
		all[n].revents = 0;
		found = next_ppoll(all, n + 1, left, mask);
		if (found > 0 && all[n].revents) {
			wait_drain(all[n].fd);
			all[n].fd = wait_file(&w);
			found--;
		}
	} while (found == 0 && left);
	wait_end(&w);
	return found;
}

static int poll_ns(struct pollfd *fds, nfds_t n, int64_t ns, const sigset_t *mask)
{
	struct pollfd few[FEW_FILES + 1], *all = few;
	int found, error;

	if (ns <= 0)
		return next_ppoll(fds, n, ns, mask);
	if (n > FEW_FILES)
		all = malloc((n + 1) * sizeof(*all));
	if (!all)
		return next_ppoll(fds, n, ns, mask);
	memcpy(all, fds, n * sizeof(*all));
	found = poll_until(all, n, clock_now_ns() + ns, mask);
	error = errno;
	for (nfds_t i = 0; found >= 0 && i < n; i++)
		fds[i].revents = all[i].revents;
	if (all != few)
		free(all);
	errno = error;
	return found;
}

int poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	return poll_ns(fds, n, timeout_ms < 0 ? -1 : timeout_ms * INT64_C(1000000), NULL);
}

int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *mask)
{
	return poll_ns(fds, n, t ? span_ns(t) : -1, mask);
}

/* The names of the two in a program built with _FORTIFY_SOURCE. */
int __poll_chk(struct pollfd *fds, nfds_t n, int timeout_ms, size_t room);
int __poll_chk(struct pollfd *fds, nfds_t n, int timeout_ms, size_t room)
{
	(void)room;
	return poll(fds, n, timeout_ms);
}

int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *mask,
		size_t room);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *mask,
		size_t room)
{
	(void)room;
	return ppoll(fds, n, t, mask);
}

/* --- epoll --- */

typedef int epoll_fn(int epfd, struct epoll_event *events, int n, int timeout_ms,
		     const sigset_t *mask);

static int next_epoll(int epfd, struct epoll_event *events, int n, int timeout_ms,
		      const sigset_t *mask)
{
	NEXT_FUNCTION(epoll_fn, next, "epoll_pwait")

	return next(epfd, events, n, timeout_ms, mask);
}

/* Polls the epoll descriptor, which is readable when it has events. */
static int epoll_ns(int epfd, struct epoll_event *events, int n, int64_t ns, const sigset_t *mask)
{
	struct pollfd p[2] = { { .fd = epfd, .events = POLLIN } };
	int64_t deadline_ns;
	int found;

	if (ns <= 0)
		return next_epoll(epfd, events, n, ns < 0 ? -1 : 0, mask);
	deadline_ns = clock_now_ns() + ns;
	while ((found = next_epoll(epfd, events, n, 0, mask)) == 0) {
		found = poll_until(p, 1, deadline_ns, mask);
		if (found <= 0)
			break;
	}
	return found;
}

int epoll_wait(int epfd, struct epoll_event *events, int n, int timeout_ms)
{
	return epoll_pwait(epfd, events, n, timeout_ms, NULL);
}

int epoll_pwait(int epfd, struct epoll_event *events, int n, int timeout_ms, const sigset_t *mask)
{
	return epoll_ns(epfd, events, n, timeout_ms < 0 ? -1 : timeout_ms * INT64_C(1000000), mask);
}

int epoll_pwait2(int epfd, struct epoll_event *events, int n, const struct timespec *t,
		 const sigset_t *mask)
{
	return epoll_ns(epfd, events, n, t ? span_ns(t) : -1, mask);
}

/* --- select --- */

typedef int pselect_fn(int n, fd_set *in, fd_set *out, fd_set *except, const struct timespec *t,
		       const sigset_t *mask);

static int next_pselect(int n, fd_set *in, fd_set *out, fd_set *except, int64_t ns,
			const sigset_t *mask)
{
	struct timespec t = span(ns);
	NEXT_FUNCTION(pselect_fn, next, "pselect")

	return next(n, in, out, except, ns < 0 ? NULL : &t, mask);
}

/* Copies of select()'s sets, each of which may be NULL. */
struct sets {
	fd_set in, out, except;
};

static fd_set *copy(fd_set *to, const fd_set *from, int n)
{
	FD_ZERO(to);
	for (int fd = 0; from && fd < n; fd++)
		if (FD_ISSET(fd, from))
			FD_SET(fd, to);
	return to;
}

static void give_back(fd_set *to, const fd_set *from)
{
	if (to)
		*to = *from;
}

static int select_ns(int n, fd_set *in, fd_set *out, fd_set *except, int64_t ns,
		     const sigset_t *mask)
{
	struct sets found;
	struct wait w;
	int64_t left;
	int wake, r;

	if (ns <= 0 || n > FD_SETSIZE)
		return next_pselect(n, in, out, except, ns, mask);
	wait_begin(&w, clock_now_ns() + ns, SIM_WAIT_FILES);
	do {
		wake = wait_file(&w);
		if (wake >= FD_SETSIZE)
			wake = -1;
		left = wait_left(&w);
		if (left < 0 && wake < 0)
			left = NS_PER_S / 50;
		copy(&found.in, in, n);
		if (wake >= 0)
			FD_SET(wake, &found.in);
		r = next_pselect(n > wake ? n : wake + 1, &found.in, copy(&found.out, out, n),
				 copy(&found.except, except, n), left, mask);
		if (r > 0 && wake >= 0 && FD_ISSET(wake, &found.in)) {
			wait_drain(wake);
			FD_CLR(wake, &found.in);
			r--;
		}
	} while (r == 0 && left);
	wait_end(&w);
	if (r >= 0) {
		give_back(in, &found.in);
		give_back(out, &found.out);
		give_back(except, &found.except);
	}
	return r;
}

/* Like Linux, leaves the remaining time in *t. */
int select(int n, fd_set *in, fd_set *out, fd_set *except, struct timeval *t)
{
	int64_t begin, left;
	int r;

	if (!t)
		return select_ns(n, in, out, except, -1, NULL);
	begin = clock_now_ns();
	left = t->tv_sec * NS_PER_S + t->tv_usec * INT64_C(1000);
	r = select_ns(n, in, out, except, left, NULL);
	left -= clock_now_ns() - begin;
	if (left < 0)
		left = 0;
	*t = (struct timeval){ .tv_sec = left / NS_PER_S, .tv_usec = left % NS_PER_S / 1000 };
	return r;
}

int pselect(int n, fd_set *in, fd_set *out, fd_set *except, const struct timespec *t,
	    const sigset_t *mask)
{
	return select_ns(n, in, out, except, t ? span_ns(t) : -1, mask);
}

/* --- sleep --- */

/* Returns 0, or EINTR with the remaining time in *left_ns. */
static int sleep_until(int64_t deadline_ns, int64_t *left_ns)
{
	struct wait w;
	int error = 0;

	wait_begin(&w, deadline_ns, 0);
	while (!error && (*left_ns = wait_left(&w))) {
		_Atomic uint32_t alone = 0;

		if (futex_wait(w.slot ? &w.slot->wakes : &alone, w.wakes, *left_ns) < 0 && errno == EINTR)
			error = EINTR;
	}
	wait_end(&w);
	if (error)
		*left_ns = deadline_ns - clock_now_ns();
	if (*left_ns < 0)
		*left_ns = 0;
	return error;
}

static bool is_span(const struct timespec *t)
{
	return t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < NS_PER_S;
}

int clock_nanosleep(clockid_t id, int flags, const struct timespec *t, struct timespec *rest)
{
	int64_t left, deadline;
	int error;

	if (!is_span(t))
		return EINVAL;
	deadline = flags & TIMER_ABSTIME ? clock_from(id, t) : clock_now_ns() + span_ns(t);
	error = sleep_until(deadline, &left);
	if (error && rest && !(flags & TIMER_ABSTIME))
		*rest = span(left);
	return error;
}

int nanosleep(const struct timespec *t, struct timespec *rest)
{
	errno = clock_nanosleep(CLOCK_MONOTONIC, 0, t, rest);
	return errno ? -1 : 0;
}

int usleep(useconds_t us)
{
	struct timespec t = span(us * INT64_C(1000));

	return nanosleep(&t, NULL);
}

unsigned sleep(unsigned s)
{
	struct timespec t = { .tv_sec = s }, rest;

	return nanosleep(&t, &rest) < 0 ? (unsigned)rest.tv_sec : 0;
}
