/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Starts the discovery process, reads its stream into a fabric, and decides whether the scan is
 * valid.
 *
 * A scan is valid only if the process exited with status 0 and its stream was complete, with
 * nothing after the end record.
 *
 * A system call filter that is too tight for this machine's libraries fails the first scan,
 * whatever devices answer.  A call that is refused later is not the libraries' doing: so once a
 * sandboxed scan has succeeded, no scan runs without the filter.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "discovery/board.h"
#include "discovery/discovery.h"
#include "discovery/stream_reader.h"
#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/sandbox.h"

#define CHUNK		(256 * 1024)
#define REFUSED_NONE	(-1)
#define REFUSED_UNKNOWN	(-2)
#define LIMIT_US	(600 * 1000000ll)	/* no fabric takes longer */
#define WATCH_US	100000ll
/* Processor time that the process may spend on one answer, or on its final output. */
#define HANG_US		500000ll
#define END_US		(60 * 1000000ll)
#define IDLE_US		(120 * 1000000ll)	/* longest time between two beats */

extern char **environ;

/*
 * State of the filter for this process, that is for this program with the libraries it has loaded.
 */
static enum {
	FILTER_UNTRIED,
	FILTER_FITS,		/* a filtered scan has succeeded */
	FILTER_TOO_TIGHT,	/* an unfiltered scan has succeeded, and no filtered one */
} filter;
static char refused_call[48];	/* first call that the filter refused in the last filtered scan */
static bool scan_refused;	/* that refusal made the scan invalid */

enum disco_filter disco_filter(const char **call)
{
	*call = refused_call;
	return filter == FILTER_TOO_TIGHT ? DISCO_FILTER_LEFT :
	       scan_refused ? DISCO_FILTER_REFUSES : DISCO_FILTER_GOOD;
}

struct disco {
	struct loop *loop;
	struct disco_request request;
	char *ca;		/* owned string that the request points to */
	/* runs in the sandbox; repeats the scan without it after a refusal there */
	bool filtered, again;
	uint32_t nodes_filtered;	/* found by the filtered scan; 0: it failed */
	int refused;		/* first system call that the filter refused, or REFUSED_… */
	void (*done)(void *arg, const struct disco_result *res);
	void *arg;
	pid_t pid;
	struct child *child;
	struct timer *limit, *watch;
	struct board *board;
	unsigned beats;			/* the board's beats when last looked at, */
	int64_t beat_cpu_us, beat_us;	/* and when they last changed: process CPU time, clock */
	bool hangs;			/* killed because it hung */
	int out_fd, err_fd;
	struct io *out_io, *err_io;
	bool out_closed, exited;
	int status;
	struct buf in, err_text;
	struct stream_reader r;
	struct log_ratelimit complaints;
};

/* Releases what belongs to one process, whether or not it was started. */
static void process_free(struct disco *d)
{
	child_free(d->child);
	timer_free(d->limit);
	timer_free(d->watch);
	if (d->board)
		munmap(d->board, sizeof(*d->board));
	d->board = NULL;
	d->watch = NULL;
	io_free(d->out_io);
	io_free(d->err_io);
	d->child = NULL;
	d->limit = NULL;
	d->out_io = d->err_io = NULL;
	if (d->out_fd >= 0)
		close(d->out_fd);
	if (d->err_fd >= 0)
		close(d->err_fd);
	d->out_fd = d->err_fd = -1;
	buf_free(&d->in);
	buf_free(&d->err_text);
	reader_free(&d->r);
}

static void disco_free(struct disco *d)
{
	process_free(d);
	free((void *)(uintptr_t)d->request.out);
	free(d->ca);
	free(d);
}

static void take_records(struct disco *d)
{
	size_t n = reader_take(&d->r, d->in.s, d->in.n);

	buf_consume(&d->in, n);
	if (d->r.too_many && !d->exited)	/* it would not end by itself */
		kill(d->pid, SIGKILL);
}

static bool start(struct disco *d, struct buf *err);
static bool read_err(struct disco *d);

/*
 * True if the scan should be repeated without the filter: at most once, and only if no scan has
 * shown that the filter fits.  A scan that found only a part of the fabric, which the library
 * reports as success, may be repeated as well.
 */
static bool may_try_without(struct disco *d, const char *why)
{
	char *call;

	if (WIFSIGNALED(d->status) && WTERMSIG(d->status) == SIGSYS && d->refused == REFUSED_NONE)
		d->refused = REFUSED_UNKNOWN;
	if (!d->filtered || d->refused == REFUSED_NONE)
		return false;
	if (!why && (d->request.sandbox == DISCO_STRICT || filter == FILTER_FITS))
		return false;
	scan_refused = why;
	why = why ? why : "the scan may be incomplete";
	call = d->refused == REFUSED_UNKNOWN ? xstrdup("which only the kernel's audit log names") :
	       sandbox_call_name(d->refused);
	snprintf(refused_call, sizeof(refused_call), "%s", call);
	if (d->request.sandbox == DISCO_STRICT)
		log_error("discovery", "%s after its sandbox refused system call %s; not trying without "
			  "the sandbox because 'sandbox' is strict", why, call);
	else if (filter == FILTER_FITS)
		log_error("discovery", "%s after its sandbox refused system call %s; not trying without "
			  "the sandbox because discovery has worked in it before: a device may have taken "
			  "over the process", why, call);
	else
		log_error("discovery", "%s after its sandbox refused system call %s: trying once without "
			  "the sandbox.  The libraries on this machine may need that call: please report "
			  "it", why, call);
	free(call);
	return d->request.sandbox != DISCO_STRICT && filter != FILTER_FITS;
}

static void learn_of_filter(const struct disco *d)
{
	if (d->filtered) {
		if (d->refused == REFUSED_NONE)
			filter = FILTER_FITS;
	} else if (d->again && d->nodes_filtered == d->r.f->n_nodes) {
		filter = FILTER_FITS;
		log_info("discovery", "found the same without its sandbox, and uses it again");
	} else if (d->again) {
		filter = FILTER_TOO_TIGHT;
		log_error("discovery", "works only without its sandbox, and goes on without it");
	}
}

/* Appends why the scan is invalid, or nothing. */
static void judge(const struct disco *d, struct buf *why)
{
	if (d->r.too_many)
		buf_puts(why, "there are more nodes or ports than a subnet can have: a device makes them "
				"up");
	else if (d->hangs)
		buf_puts(why, "the discovery process did not end");
	else if (WIFSIGNALED(d->status))
		buf_printf(why, "the discovery process died of signal %d", WTERMSIG(d->status));
	else if (WEXITSTATUS(d->status) == BOARD_EXIT_FULL)
		buf_puts(why, "there are more devices than a subnet can have: a device makes them up");
	else if (WEXITSTATUS(d->status) == BOARD_EXIT_OWN_PORT)
		buf_puts(why, "our own port does not answer");
	else if (WEXITSTATUS(d->status))
		buf_puts(why, "the scan failed");
	else if (!d->r.whole || d->r.broken)
		buf_puts(why, "the scan is incomplete");
}

/*
 * True for death by a signal, or by a library's exit() call, as libibmad makes when it cannot go
 * on.  The process's own exit statuses are excluded.
 */
static bool was_killed(int status)
{
	if (WIFSIGNALED(status))
		return WTERMSIG(status) != SIGKILL && WTERMSIG(status) != SIGTERM &&
		       WTERMSIG(status) != SIGSYS;
	return WEXITSTATUS(status) && WEXITSTATUS(status) != BOARD_EXIT_FULL &&
	       WEXITSTATUS(status) != BOARD_EXIT_OWN_PORT;
}

/*
 * Excludes the device whose answer killed or hung the process.  board is NULL if no process was
 * started.
 */
static void blame(struct disco *d)
{
	struct disco_excluded x;

	if (!d->board || !atomic_load(&d->board->feeding))
		return;
	x = d->board->fed;
	if (d->hangs)
		x.why = EXCLUDED_HANGS;
	else if (was_killed(d->status))
		x.why = EXCLUDED_KILLS;
	else
		return;
	reader_take_left(&d->r, &x);
}

static void maybe_done(struct disco *d)
{
	struct disco_result res = { 0 };
	struct buf why = { 0 };

	if (!d->exited || !d->out_closed)
		return;
	while (read_err(d))
		;
	judge(d, &why);
	if (may_try_without(d, why.s)) {
		d->nodes_filtered = why.n ? 0 : d->r.f->n_nodes;
		process_free(d);
		d->again = true;
		buf_free(&why);
		if (start(d, &why))
			return;
	}
	blame(d);
	res.mads = d->r.mads;
	res.learned = d->r.learned;
	res.left = d->r.left.v;
	res.n_left = d->r.left.n;
	if (why.n) {
		res.error = why.s;
		res.own_port = WIFEXITED(d->status) && WEXITSTATUS(d->status) == BOARD_EXIT_OWN_PORT;
	} else {
		learn_of_filter(d);
		scan_refused = false;
		res.f = d->r.f;
		d->r.f = NULL;
	}
	d->done(d->arg, &res);
	buf_free(&why);
	disco_free(d);
}

static void on_out(void *arg, int events)
{
	struct disco *d = arg;
	static char chunk[CHUNK];
	ssize_t n = read(d->out_fd, chunk, sizeof(chunk));

	(void)events;
	if (n > 0) {
		if (!d->r.broken) {
			buf_add(&d->in, chunk, (size_t)n);
			take_records(d);
		}
		return;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	io_set(d->out_io, 0);
	d->out_closed = true;
	maybe_done(d);
}

static void take_err_line(struct disco *d, const char *line)
{
	const size_t n = strlen(SANDBOX_REFUSED);
	char *call;
	int nr;

	if (strncmp(line, SANDBOX_REFUSED, n) || sscanf(line + n, "%d", &nr) != 1 || nr < 0) {
		log_limited(&d->complaints, LOG_LEVEL_WARNING, "discovery", "%s", line);
		return;
	}
	if (d->refused == REFUSED_NONE)
		d->refused = nr;
	call = sandbox_call_name(nr);
	log_limited(&d->complaints, LOG_LEVEL_WARNING, "discovery", "%s%d, %s", SANDBOX_REFUSED, nr,
		    call);
	free(call);
}

/*
 * Copies the library's messages line by line to the log.  Returns false when nothing more can be
 * read now.
 */
static bool read_err(struct disco *d)
{
	char chunk[4096], *nl;
	ssize_t n = read(d->err_fd, chunk, sizeof(chunk));

	if (n <= 0) {
		if (n == 0 || (errno != EAGAIN && errno != EINTR))
			io_set(d->err_io, 0);
		return false;
	}
	buf_add(&d->err_text, chunk, (size_t)n);
	while (d->err_text.n && (nl = memchr(d->err_text.s, '\n', d->err_text.n))) {
		*nl = '\0';
		take_err_line(d, d->err_text.s);
		buf_consume(&d->err_text, (size_t)(nl - d->err_text.s) + 1);
	}
	if (d->err_text.n > CHUNK)
		buf_free(&d->err_text);
	return true;
}

static void on_err(void *arg, int events)
{
	(void)events;
	read_err(arg);
}

static void on_exit_status(void *arg, int status)
{
	struct disco *d = arg;

	d->exited = true;
	d->status = status;
	maybe_done(d);
}

static void on_limit(void *arg)
{
	struct disco *d = arg;

	log_error("discovery", "the discovery process has not ended after %lld s; giving up", LIMIT_US / 1000000);
	kill(d->pid, SIGKILL);
}

/* CPU time of the process in microseconds; -1: it is gone. */
static int64_t cpu_us(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t) < 0)
		return -1;
	return t.tv_sec * 1000000ll + t.tv_nsec / 1000;
}

/*
 * Checks that the process makes progress.  It measures the process's own CPU time, as a busy
 * machine may give it none for a while; a process that waits for answers uses none, and goes on
 * when they time out.
 */
static void on_watch(void *arg)
{
	struct disco *d = arg;
	unsigned beats = atomic_load(&d->board->beats);
	int64_t cpu = cpu_us(d->pid), now = clock_mono_us();

	if (cpu < 0 || d->exited)
		return;
	if (beats != d->beats || !d->beat_us) {
		d->beats = beats;
		d->beat_cpu_us = cpu;
		d->beat_us = now;
	} else if (cpu - d->beat_cpu_us > (atomic_load(&d->board->feeding) ? HANG_US : END_US) ||
		   now - d->beat_us > IDLE_US) {
		d->hangs = true;
		kill(d->pid, SIGKILL);
	}
}

/*
 * Our environment plus the M_Key: every user can read a process's arguments, but not its
 * environment.
 */
static char **env_with_key(uint64_t m_key)
{
	size_t n = 0;
	char **env;

	while (environ[n])
		n++;
	env = xcalloc(n + 2, sizeof(*env));
	env[0] = xasprintf(DISCO_KEY_VAR "=%llx", (unsigned long long)m_key);
	memcpy(env + 1, environ, n * sizeof(*env));
	return env;
}

/* Creates the shared memory and returns its descriptor; -1 with errno. */
static int make_board(struct disco *d)
{
	int fd = memfd_create("discovery", MFD_CLOEXEC);
	void *at = fd >= 0 && !ftruncate(fd, sizeof(*d->board)) ?
		   mmap(NULL, sizeof(*d->board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;

	if (at == MAP_FAILED) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	d->board = at;
	d->board->ports_max = d->request.ports_max;
	d->board->n_out = (uint32_t)d->request.n_out;
	if (d->request.n_out)
		memcpy(d->board->out, d->request.out, d->request.n_out * sizeof(*d->request.out));
	return fd;
}

static bool spawn(struct disco *d, int out, int err, int board)
{
	const struct disco_request *r = &d->request;
	char port[16], window[16], timeout[16], retries[16], sandbox[16], known[16], walk[16];
	char *argv[] = { (char[]){ DISCO_ARGV0 }, xstrdup(r->ca), port, window, timeout, retries,
			 sandbox, known, walk, NULL };
	char **env = env_with_key(r->m_key);
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t attr;
	sigset_t none;
	int e;

	snprintf(port, sizeof(port), "%d", r->port);
	snprintf(window, sizeof(window), "%u", r->window);
	snprintf(timeout, sizeof(timeout), "%u", r->timeout_ms);
	snprintf(retries, sizeof(retries), "%u", r->retries);
	snprintf(known, sizeof(known), "%u", r->known_window);
	snprintf(walk, sizeof(walk), "%d", r->without_library);
	snprintf(sandbox, sizeof(sandbox), "%d", d->filtered ? (int)r->sandbox : 0);
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&fa, err, STDERR_FILENO);
	posix_spawn_file_actions_adddup2(&fa, board, BOARD_FD);
	posix_spawn_file_actions_addclosefrom_np(&fa, BOARD_FD + 1);
	posix_spawnattr_init(&attr);
	sigemptyset(&none);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	e = posix_spawn(&d->pid, "/proc/self/exe", &fa, &attr, argv, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&fa);
	free(argv[1]);
	free(env[0]);
	free(env);
	errno = e;
	return e == 0;
}

/* Starts a process; returns false with err if that fails. */
static bool start(struct disco *d, struct buf *err)
{
	int out[2] = { -1, -1 }, er[2] = { -1, -1 }, board = make_board(d);

	d->out_closed = d->exited = d->hangs = false;
	d->beats = 0;
	d->beat_us = 0;
	d->refused = REFUSED_NONE;
	d->filtered = d->request.sandbox == DISCO_STRICT ||
		      (d->request.sandbox == DISCO_SANDBOX && !d->again && filter != FILTER_TOO_TIGHT);
	if (board < 0 || pipe2(out, O_CLOEXEC) < 0 || pipe2(er, O_CLOEXEC) < 0 ||
	    !spawn(d, out[1], er[1], board)) {
		buf_printf(err, "cannot start discovery: %s", strerror(errno));
		for (int i = 0; i < 2; i++) {
			if (out[i] >= 0)
				close(out[i]);
			if (er[i] >= 0)
				close(er[i]);
		}
		if (board >= 0)
			close(board);
		return false;
	}
	close(board);
	close(out[1]);
	close(er[1]);
	d->out_fd = out[0];
	d->err_fd = er[0];
	fcntl(d->out_fd, F_SETFL, O_NONBLOCK);
	fcntl(d->err_fd, F_SETFL, O_NONBLOCK);
	reader_start(&d->r);
	d->r.known = d->request.known;
	if (d->request.ports_max)
		d->r.ports_max = d->request.ports_max;
	d->out_io = io_new(d->loop, d->out_fd, on_out, d);
	io_set(d->out_io, LOOP_READ);
	d->err_io = io_new(d->loop, d->err_fd, on_err, d);
	io_set(d->err_io, LOOP_READ);
	d->child = child_new(d->loop, d->pid, on_exit_status, d);
	d->limit = timer_new(d->loop, on_limit, d);
	timer_set(d->limit, LIMIT_US, 0);
	d->watch = timer_new(d->loop, on_watch, d);
	timer_set(d->watch, WATCH_US, WATCH_US);
	return true;
}

struct disco *disco_start(struct loop *l, const struct disco_request *r,
			  void (*done)(void *arg, const struct disco_result *res), void *arg,
			  struct buf *err)
{
	struct disco *d = xcalloc(1, sizeof(*d));

	d->loop = l;
	d->done = done;
	d->arg = arg;
	d->request = *r;
	d->request.ca = d->ca = xstrdup(r->ca);
	d->request.n_out = r->n_out < EXCLUDED_MAX ? r->n_out : EXCLUDED_MAX;
	d->request.out = r->n_out ? xmemdup(r->out, d->request.n_out * sizeof(*r->out)) : NULL;
	d->out_fd = d->err_fd = -1;
	d->complaints = (struct log_ratelimit)LOG_RATELIMIT;
	if (start(d, err))
		return d;
	disco_free(d);
	return NULL;
}

void disco_cancel(struct disco *d)
{
	if (!d)
		return;
	if (!d->exited) {
		kill(d->pid, SIGKILL);
		waitpid(d->pid, NULL, 0);
	}
	disco_free(d);
}
