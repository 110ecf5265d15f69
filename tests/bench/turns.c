/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A library to preload before a simulator's: how long a program lets wait those whom it serves.
 *
 * A thread that serves others does so between two waits: for events (libev's epoll_wait()), or
 * for a MAD (umad_recv()).  Each turn between two waits of a thread that took TURN_MIN_US or more is a line
 * of the file $TURNS, appended:
 *	PID events|mads WALL CPU READY LOCK DEVICE SLEPT
 * in us.  WALL is what somebody waits at most for that turn, CPU the time that the thread ran, READY
 * the time that it could have run and another thread had the processor.  LOCK is the time that it waited for a
 * lock, DEVICE for room in the socket to a simulator, which no umad device makes anybody wait for;
 * in neither is time that counts as READY.  What is left it waited for something else, such as a disk, if
 * SLEPT, how often it gave up its processor by itself, is not 0: kernels count less as READY than there
 * was.  READY and SLEPT are told of turns of events only.
 * Where $TURNS is not set, nothing is done.
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
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/umad.h>

#define TURN_MIN_US	1000
#define LOCKS		64u	/* distinguished by a hash */
#define PASSES_MAX	64u	/* higher counts count as this */

enum kind { EVENTS, MADS };

/* A turn that is on. */
static _Thread_local struct {
	bool on;
	int64_t wall, cpu, ready, lock, device;
	long slept;
} turn;
static _Thread_local int schedstat = -1;
static int out = -1;
static int (*real_epoll_wait)(int fd, struct epoll_event *events, int n, int timeout_ms);
static int (*real_recv)(int fd, void *umad, int *length, int timeout_ms);
static int (*real_poll)(struct pollfd *fds, nfds_t n, int timeout_ms);
static int (*real_lock)(pthread_mutex_t *m);
static int (*real_wait)(pthread_cond_t *c, pthread_mutex_t *m);
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
	/* its symbol has an older version, which dlsym() finds first */
	next = dlvsym(RTLD_NEXT, "pthread_cond_wait", "GLIBC_2.3.2");
	memcpy(&real_wait, &next, sizeof(next));
}

__attribute__((constructor))
static void begin(void)
{
	const char *path = getenv("TURNS");
	void *next = dlsym(RTLD_NEXT, "epoll_wait");

	memcpy(&real_epoll_wait, &next, sizeof(next));	/* ISO C has no cast for this */
	next = dlsym(RTLD_NEXT, "umad_recv");
	memcpy(&real_recv, &next, sizeof(next));
	next = dlsym(RTLD_NEXT, "poll");
	memcpy(&real_poll, &next, sizeof(next));
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

static int64_t us(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* How long this thread has waited for a processor; 0 where the kernel does not count it. */
static int64_t ready_us(void)
{
	unsigned long long ran, waited;
	char line[96];
	ssize_t n;

	if (schedstat == -1)
		schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	n = schedstat < 0 ? 0 : pread(schedstat, line, sizeof(line) - 1, 0);
	line[n > 0 ? n : 0] = '\0';
	return sscanf(line, "%llu %llu", &ran, &waited) == 2 ? (int64_t)(waited / 1000) : 0;
}

static long slept(void)
{
	struct rusage r;

	return getrusage(RUSAGE_THREAD, &r) == 0 ? r.ru_nvcsw : 0;
}

/* A wait amid a turn. */
struct wait {
	int64_t wall, ready;
};

static struct wait wait_begins(void)
{
	return turn.on ? (struct wait){ us(CLOCK_MONOTONIC), ready_us() } : (struct wait){ 0, 0 };
}

static void wait_ends(struct wait w, int64_t *sum)
{
	if (turn.on)
		*sum += us(CLOCK_MONOTONIC) - w.wall - (ready_us() - w.ready);
}

static int lock(pthread_mutex_t *m)
{
	struct wait w;
	int r;

	if (!turn.on)
		return real_lock(m);
	if (pthread_mutex_trylock(m) == 0)
		return 0;
	w = wait_begins();
	r = real_lock(m);
	wait_ends(w, &turn.lock);
	return r;
}

int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	struct wait w = wait_begins();
	int r;

	if (!real_wait)
		find_lock();
	r = real_wait(c, m);
	wait_ends(w, &turn.lock);
	return r;
}

/* libqosd-sim.so's umad_send() calls it when the socket has no room. */
int poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	struct wait w = wait_begins();
	int r = real_poll(fds, n, timeout_ms);

	if (n == 1 && fds[0].events == POLLOUT)
		wait_ends(w, &turn.device);
	return r;
}

int pthread_mutex_lock(pthread_mutex_t *m)
{
	uintptr_t from = (uintptr_t)__builtin_return_address(0);
	atomic_ulong *of = &taken[((uintptr_t)m >> 4) % LOCKS];
	unsigned long n = atomic_load(of);
	int r;

	if (!real_lock)
		find_lock();
	r = lock(m);
	if (!receives) {
		atomic_fetch_add(of, 1);
	} else if (from >= program && from < program_end) {
		n = atomic_load(of) - n;
		atomic_fetch_add(&passes[n < PASSES_MAX ? n : PASSES_MAX], 1);
	}
	return r;
}

static void turn_ends(enum kind kind)
{
	char line[96];
	int64_t wall, cpu, ready;
	int n;

	if (!turn.on)
		return;
	turn.on = false;
	wall = us(CLOCK_MONOTONIC) - turn.wall;
	if (wall < TURN_MIN_US)
		return;
	cpu = us(CLOCK_THREAD_CPUTIME_ID) - turn.cpu;
	ready = turn.ready < 0 ? 0 : ready_us() - turn.ready;
	n = snprintf(line, sizeof(line), "%d %s %lld %lld %lld %lld %lld %ld\n", (int)getpid(),
		     kind == EVENTS ? "events" : "mads", (long long)wall, (long long)cpu,
		     (long long)ready, (long long)turn.lock, (long long)turn.device,
		     turn.ready < 0 ? 0 : slept() - turn.slept);
	if (write(out, line, (size_t)n) < 0)
		out = -1;
}

static void turn_begins(enum kind kind)
{
	turn.on = out >= 0;
	if (!turn.on)
		return;
	turn.wall = us(CLOCK_MONOTONIC);
	turn.cpu = us(CLOCK_THREAD_CPUTIME_ID);
	/* longer than receiving a MAD */
	turn.ready = kind == EVENTS ? ready_us() : -1;
	turn.slept = kind == EVENTS ? slept() : 0;
	turn.lock = turn.device = 0;
}

int epoll_wait(int fd, struct epoll_event *events, int n, int timeout_ms)
{
	int r;

	turn_ends(EVENTS);
	r = real_epoll_wait(fd, events, n, timeout_ms);
	turn_begins(EVENTS);
	return r;
}

int umad_recv(int fd, void *umad, int *length, int timeout_ms)
{
	int r;

	receives = true;
	turn_ends(MADS);
	r = real_recv(fd, umad, length, timeout_ms);
	turn_begins(MADS);
	return r;
}
