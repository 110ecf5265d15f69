/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs the socket, the fabric's timer and the turns of clients; see server.h.
 *
 * The fabric's timer is a timerfd: devices answer within microseconds, and the loop's own timers
 * are only accurate to a millisecond.  While time is stopped, the timer says when to check whether
 * all processes rest.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "server.h"
#include "sim/hca/hca.h"

static int64_t simulated_now(const struct server *sv)
{
	return passing_now_us(sv) - sv->start_us;
}

void server_arm(struct server *sv, int64_t us)
{
	struct itimerspec t = { 0 };

	if (us <= 0)
		us = 1;		/* 0 would stop the timer */
	t.it_value.tv_sec = us / 1000000;
	t.it_value.tv_nsec = us % 1000000 * 1000;
	timerfd_settime(sv->timer, 0, &t, NULL);
}

/* Sets the timer to fire in delay_us, unless it fires earlier anyway. */
static void set_timer(struct server *sv, int64_t delay_us)
{
	int64_t when = sim_now(sv->sim) + delay_us;

	sv->due_us = delay_us < 0 ? -1 : when;
	if (passing_stands(sv)) {
		if (delay_us == 0)
			server_arm(sv, 0);
		return;
	}
	if (delay_us < 0 || (sv->timer_us >= 0 && sv->timer_us <= when))
		return;
	server_arm(sv, delay_us);
	sv->timer_us = when;
}

void server_catch_up(struct server *sv)
{
	sim_run(sv->sim, simulated_now(sv));
}

void server_flush(struct client **flush)
{
	struct client *c = *flush;

	*flush = c->flush_next;
	c->flushing = false;
	client_flush(c);
}

void server_turn(struct server *sv)
{
	set_timer(sv, sim_run(sv->sim, simulated_now(sv)));
	hcas_end_turn(sv->sim);
	for (struct client **f = &sv->flush, *c; (c = *f);) {
		if (passing_holds(c)) {
			f = &c->flush_next;
			continue;
		}
		server_flush(f);
		f = &sv->flush;		/* the next client may be gone */
	}
}

void server_stand_still(struct server *sv, int64_t us)
{
	sv->start_us += us;
}

static void on_timer(void *arg, int events)
{
	struct server *sv = arg;
	uint64_t times;

	(void)events;
	if (read(sv->timer, &times, sizeof(times)) < 0)
		return;
	sv->timer_us = -1;
	server_turn(sv);
	if (passing_stands(sv))
		passing_look(sv);
}

/* No descriptor is left: accepts the connection with the spare one, to close it. */
static void turn_away(struct server *sv)
{
	int fd;

	log_limited(&sv->complaints, LOG_LEVEL_WARNING, "server",
		    "too many clients (%u): refused a new one", sv->n_clients);
	close(sv->spare);
	fd = accept(sv->listener, NULL, NULL);
	if (fd >= 0)
		close(fd);
	sv->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void on_connection(void *arg, int events)
{
	struct server *sv = arg;
	int fd;

	(void)events;
	sv->passing.events++;
	while ((fd = accept4(sv->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
		client_new(sv, fd);
	if (errno == EMFILE || errno == ENFILE)
		turn_away(sv);
}

static bool complain(const char *path, const char *what)
{
	fprintf(stderr, "qosd-sim: %s: %s\n", path, what);
	return false;
}

/* Removes a socket without a listener, which a killed simulator left behind. */
static bool remove_stale(const char *path, const struct sockaddr_un *a)
{
	struct stat st;
	int fd, r;

	if (lstat(path, &st) < 0)
		return true;
	if (!S_ISSOCK(st.st_mode))
		return complain(path, "exists and is not a socket");
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	r = fd < 0 ? -1 : connect(fd, (const struct sockaddr *)a, sizeof(*a));
	if (fd >= 0)
		close(fd);
	if (r == 0)
		return complain(path, "another simulator listens on it");
	return unlink(path) == 0 || complain(path, strerror(errno));
}

static bool listen_on(struct server *sv, const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	mode_t mask;
	int r;

	if (strlen(path) >= sizeof(a.sun_path))
		return complain(path, "the name is too long for a socket");
	strcpy(a.sun_path, path);
	if (!remove_stale(path, &a))
		return false;
	sv->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	mask = umask(0077);		/* accessible only to the owner */
	r = bind(sv->listener, (struct sockaddr *)&a, sizeof(a));
	umask(mask);
	if (r < 0 || listen(sv->listener, SOMAXCONN) < 0)
		return complain(path, strerror(errno));
	sv->path = xstrdup(path);
	return true;
}

void *shared_memory(const char *name, size_t size, int seals, int *file)
{
	void *memory = MAP_FAILED;

	*file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*file >= 0 && ftruncate(*file, (off_t)size) == 0 && fcntl(*file, F_ADD_SEALS, seals) == 0)
		memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *file, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* Raises the limit of descriptors, since each client needs one. */
static void raise_limit(struct rlimit *before)
{
	struct rlimit r;

	getrlimit(RLIMIT_NOFILE, before);
	r = *before;
	r.rlim_cur = r.rlim_max;
	setrlimit(RLIMIT_NOFILE, &r);
}

bool server_start(struct server *sv, struct loop *l, struct sim *s, const char *path,
		  const struct options *o)
{
	*sv = (struct server){
		.loop = l, .sim = s, .listener = -1, .timer_us = -1,
		.due_us = -1, .passing = { .memory = -1 }, .complaints = LOG_RATELIMIT,
	};
	raise_limit(&sv->files_before);
	sv->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	sv->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (!passing_start(sv, o) || !listen_on(sv, path)) {
		server_stop(sv);
		return false;
	}
	sv->start_us = passing_now_us(sv) - sim_now(s);
	sv->timer_io = io_new(l, sv->timer, on_timer, sv);
	sv->listener_io = io_new(l, sv->listener, on_connection, sv);
	io_set(sv->timer_io, LOOP_READ);
	io_set(sv->listener_io, LOOP_READ);
	server_turn(sv);
	return true;
}

void server_stop(struct server *sv)
{
	while (sv->clients)
		client_drop(sv->clients);
	ivshmem_stop(sv);
	passing_stop(sv);
	io_free(sv->listener_io);
	io_free(sv->timer_io);
	close_fd(sv->listener);
	close_fd(sv->timer);
	close_fd(sv->spare);
	if (sv->path)
		unlink(sv->path);
	free(sv->path);
	sv->path = NULL;
}
