/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A library to preload before a simulator's: how long a program lets wait those whom it serves.
 *
 * A thread that serves others does so between two waits: for events (libev's epoll_wait()), or
 * for a MAD (umad_recv()).  Each turn between two waits of a thread that took TURN_MIN_US or more is a line
 * of the file $TURNS, appended:
 *	PID events|mads WALL CPU
 * in us.  WALL is what somebody waits at most for that turn; CPU is less where the thread was not
 * running: it waited for a lock, or other processes had the processor.  Where $TURNS is not set,
 * nothing is done.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/umad.h>

#define TURN_MIN_US	1000

enum kind { EVENTS, MADS };

/* A turn that is on. */
static _Thread_local struct {
	bool on;
	int64_t wall, cpu;
} turn;
static int out = -1;
static int (*real_epoll_wait)(int fd, struct epoll_event *events, int n, int timeout_ms);
static int (*real_recv)(int fd, void *umad, int *length, int timeout_ms);

__attribute__((constructor))
static void begin(void)
{
	const char *path = getenv("TURNS");
	void *next = dlsym(RTLD_NEXT, "epoll_wait");

	memcpy(&real_epoll_wait, &next, sizeof(next));	/* ISO C has no cast for this */
	next = dlsym(RTLD_NEXT, "umad_recv");
	memcpy(&real_recv, &next, sizeof(next));
	if (path)
		out = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

static int64_t us(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void turn_ends(enum kind kind)
{
	char line[96];
	int64_t wall, cpu;
	int n;

	if (!turn.on)
		return;
	turn.on = false;
	wall = us(CLOCK_MONOTONIC) - turn.wall;
	if (wall < TURN_MIN_US)
		return;
	cpu = us(CLOCK_THREAD_CPUTIME_ID) - turn.cpu;
	n = snprintf(line, sizeof(line), "%d %s %lld %lld\n", (int)getpid(),
		     kind == EVENTS ? "events" : "mads", (long long)wall, (long long)cpu);
	if (write(out, line, (size_t)n) < 0)
		out = -1;
}

static void turn_begins(void)
{
	turn.on = out >= 0;
	if (!turn.on)
		return;
	turn.wall = us(CLOCK_MONOTONIC);
	turn.cpu = us(CLOCK_THREAD_CPUTIME_ID);
}

int epoll_wait(int fd, struct epoll_event *events, int n, int timeout_ms)
{
	int r;

	turn_ends(EVENTS);
	r = real_epoll_wait(fd, events, n, timeout_ms);
	turn_begins();
	return r;
}

int umad_recv(int fd, void *umad, int *length, int timeout_ms)
{
	int r;

	turn_ends(MADS);
	r = real_recv(fd, umad, length, timeout_ms);
	turn_begins();
	return r;
}
