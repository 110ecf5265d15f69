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
 *
 * When the process ends there is a line
 *	PID passes N COUNT
 * for each N: so often did a thread that receives MADs take a lock of the program which other threads
 * had taken N times since it asked for it.  That does not depend on how busy the machine is: one that
 * waits for a single piece of work of another thread has N = 1.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
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
#define LOCKS		64u	/* told from each other by a hash */
#define PASSES_MAX	64u	/* more count as so many */

enum kind { EVENTS, MADS };

/* A turn that is on. */
static _Thread_local struct {
	bool on;
	int64_t wall, cpu;
} turn;
static int out = -1;
static int (*real_epoll_wait)(int fd, struct epoll_event *events, int n, int timeout_ms);
static int (*real_recv)(int fd, void *umad, int *length, int timeout_ms);
static int (*real_lock)(pthread_mutex_t *m);
static uintptr_t program, program_end;		/* its code */
static _Thread_local bool receives;
static atomic_ulong taken[LOCKS], passes[PASSES_MAX + 1];

/* The first object is the program itself. */
static int find_program(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
			program = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
			program_end = program + info->dlpi_phdr[i].p_memsz;
		}
	return 1;
}

/* Constructors of other libraries take locks before begin() is called. */
static void find_lock(void)
{
	void *next = dlsym(RTLD_NEXT, "pthread_mutex_lock");

	memcpy(&real_lock, &next, sizeof(next));
}

__attribute__((constructor))
static void begin(void)
{
	const char *path = getenv("TURNS");
	void *next = dlsym(RTLD_NEXT, "epoll_wait");

	memcpy(&real_epoll_wait, &next, sizeof(next));	/* ISO C has no cast for this */
	next = dlsym(RTLD_NEXT, "umad_recv");
	memcpy(&real_recv, &next, sizeof(next));
	find_lock();
	dl_iterate_phdr(find_program, NULL);
	if (path)
		out = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

__attribute__((destructor))
static void end(void)
{
	char line[96];

	for (unsigned i = 0; out >= 0 && i <= PASSES_MAX; i++) {
		unsigned long n = atomic_load(&passes[i]);
		int len = snprintf(line, sizeof(line), "%d passes %u %lu\n", (int)getpid(), i, n);

		if (n && write(out, line, (size_t)len) < 0)
			out = -1;
	}
}

int pthread_mutex_lock(pthread_mutex_t *m)
{
	uintptr_t from = (uintptr_t)__builtin_return_address(0);
	atomic_ulong *of = &taken[((uintptr_t)m >> 4) % LOCKS];
	unsigned long n = atomic_load(of);
	int r;

	if (!real_lock)
		find_lock();
	r = real_lock(m);
	if (!receives) {
		atomic_fetch_add(of, 1);
	} else if (from >= program && from < program_end) {
		n = atomic_load(of) - n;
		atomic_fetch_add(&passes[n < PASSES_MAX ? n : PASSES_MAX], 1);
	}
	return r;
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

	receives = true;
	turn_ends(MADS);
	r = real_recv(fd, umad, length, timeout_ms);
	turn_begins();
	return r;
}
