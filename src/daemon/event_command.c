/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs the operator's command for events; see event_command.h. */
#include "daemon/event_command.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "events/event_json.h"
#include "lib/base/alloc.h"
#include "lib/base/log.h"

#define REAP_US		1000
#define REAP_TRIES	200

struct hook {
	struct loop *loop;
	struct events *events;
	char *const *argv;
	uint64_t kinds;
	uint64_t next;			/* id of the next event */
	pid_t pid;			/* 0: no process runs */
	int errors;			/* read end of the process's pipe; -1: no process runs */
	bool killed;
	int64_t limit_us;
	struct child *child;
	struct timer *limit;
	struct timer *soon;		/* starts a process outside of events_add() */
	struct hook_counts counts;
	struct log_ratelimit rl;
};

/* --- the command's environment and input --- */

/* prefix "DATA_", name "node": "QOSD_EVENT_DATA_NODE=value" */
static char *variable(const char *prefix, const char *name, const json_t *value)
{
	char *s = json_is_integer(value) ?
		  xasprintf("QOSD_EVENT_%s%s=%" JSON_INTEGER_FORMAT, prefix, name,
			    json_integer_value(value)) :
		  xasprintf("QOSD_EVENT_%s%s=%s", prefix, name, json_string_value(value));

	for (char *c = s; *c != '='; c++)
		*c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
	return s;
}

#define ENV_MAX (16 + EVENT_MEMBERS)

static void make_env(char *env[ENV_MAX], json_t *event)
{
	const char *name;
	json_t *value, *data = json_object_get(event, "data");
	size_t n = 0;

	env[n++] = xstrdup("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
	json_object_foreach(event, name, value)
		if (value != data)
			env[n++] = variable("", name, value);
	json_object_foreach(data, name, value)
		env[n++] = variable("DATA_", name, value);
	env[n] = NULL;
}

/* A file with the line of JSON, positioned at its beginning; -1 with errno. */
static int make_input(const json_t *event)
{
	char *line = json_dumps(event, JSON_COMPACT);
	size_t n = strlen(line);
	int fd = memfd_create("qosd-event", MFD_CLOEXEC);

	line[n++] = '\n';	/* replaces the NUL */
	if (fd >= 0 && (write(fd, line, n) != (ssize_t)n || lseek(fd, 0, SEEK_SET) < 0)) {
		close(fd);
		fd = -1;
	}
	free(line);
	return fd;
}

/* --- the process --- */

#define ERROR_FD 3	/* in the helper: pipe for the errno of its execv() */

int hook_helper_main(int argc, char **argv)
{
	int error;

	if (argc < 2 || fcntl(ERROR_FD, F_SETFD, FD_CLOEXEC) < 0)
		return EXIT_FAILURE;
	execv(argv[1], argv + 1);
	error = errno;
	return write(ERROR_FD, &error, sizeof(error)) == sizeof(error) ? EXIT_FAILURE : 127;
}

/* "HOOK_ARGV0 COMMAND ARGUMENT...": NULL-terminated; the strings are not copied. */
static char **helper_argv(char *const *command)
{
	static char name[] = HOOK_ARGV0;	/* must outlive the call */
	VEC(char *) v = { 0 };

	*vec_push(&v) = name;
	do
		*vec_push(&v) = *command;
	while (*command++);
	return v.v;
}

/* Returns 0 or an errno. */
static int spawn(struct hook *h, char **env, int input, int errors)
{
	static const int defaults[] = { SIGPIPE, SIGHUP, SIGTERM, SIGINT };
	char **argv = helper_argv(h->argv);
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int e;

	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, input, STDIN_FILENO);
	posix_spawn_file_actions_addopen(&fa, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&fa, STDOUT_FILENO, STDERR_FILENO);
	posix_spawn_file_actions_adddup2(&fa, errors, ERROR_FD);
	posix_spawn_file_actions_addclosefrom_np(&fa, ERROR_FD + 1);
	posix_spawn_file_actions_addchdir_np(&fa, "/");
	posix_spawnattr_init(&attr);
	sigemptyset(&none);
	sigemptyset(&all);
	for (size_t i = 0; i < ARRAY_SIZE(defaults); i++)
		sigaddset(&all, defaults[i]);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
				 POSIX_SPAWN_SETPGROUP);
	e = posix_spawn(&h->pid, "/proc/self/exe", &fa, &attr, argv, env);
	if (e)
		h->pid = 0;
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&fa);
	free(argv);
	return e;
}

/* Starts the helper with a pipe whose read end is h->errors.  Returns 0 or an errno. */
static int spawn_with_pipe(struct hook *h, char **env, int input)
{
	int fd[2], e;

	if (pipe2(fd, O_CLOEXEC | O_NONBLOCK) < 0)
		return errno;
	e = spawn(h, env, input, fd[1]);
	close(fd[1]);
	if (e)
		close(fd[0]);
	else
		h->errors = fd[0];
	return e;
}

/* The errno of an ended process that could not run its command; 0: it ran the command. */
static int read_error(struct hook *h)
{
	int error = 0;

	if (read(h->errors, &error, sizeof(error)) != sizeof(error))
		error = 0;
	close(h->errors);
	h->errors = -1;
	return error;
}

static void failed(struct hook *h, const char *fmt, const char *what, int value)
{
	h->counts.failed++;
	log_limited(&h->rl, LOG_LEVEL_WARNING, "events", fmt, h->argv[0], what, value);
}

static void not_run(struct hook *h, int error)
{
	failed(h, "%s: cannot be run: %s (%d)", strerror(error), error);
}

static void on_exit_status(void *arg, int status);

static void start(struct hook *h, const struct event *e, uint64_t lost)
{
	json_t *event = event_json(h->events, e);
	char *env[ENV_MAX] = { NULL };
	int input, error;

	if (lost)
		json_object_set_new(event, "lost-before", json_integer((json_int_t)lost));
	input = make_input(event);
	make_env(env, event);
	error = input < 0 ? errno : spawn_with_pipe(h, env, input);
	if (input >= 0)
		close(input);
	for (size_t i = 0; env[i]; i++)
		free(env[i]);
	json_decref(event);
	if (error) {
		not_run(h, error);
		return;
	}
	h->counts.started++;
	h->killed = false;
	h->child = child_new(h->loop, h->pid, on_exit_status, h);
	timer_set(h->limit, h->limit_us, 0);
}

static void go_on(void *arg)
{
	struct hook *h = arg;
	const struct event *e;
	uint64_t lost = 0;

	if (h->pid)
		return;
	e = events_get(h->events, &h->next, h->kinds, &lost);
	if (lost) {
		h->counts.lost += lost;
		log_limited(&h->rl, LOG_LEVEL_WARNING, "events", "%s is too slow: it lost %" PRIu64 " events",
			    h->argv[0], lost);
	}
	if (!e)
		return;
	start(h, e, lost);
	if (!h->pid)		/* the command failed to start; go on with the next event */
		timer_set(h->soon, 0, 0);
}

static void on_exit_status(void *arg, int status)
{
	struct hook *h = arg;
	int error = read_error(h);

	timer_stop(h->limit);
	child_free(h->child);
	h->child = NULL;
	h->pid = 0;
	if (error)
		not_run(h, error);
	else if (h->killed)
		failed(h, "%s: %s after %d s", "killed", (int)(h->limit_us / 1000000));
	else if (WIFSIGNALED(status))
		failed(h, "%s: %s signal %d", "ended by", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		failed(h, "%s: %s exit status %d", "ended with", WEXITSTATUS(status));
	go_on(h);
}

static void on_limit(void *arg)
{
	struct hook *h = arg;

	h->killed = true;
	h->counts.killed++;
	kill(-h->pid, SIGKILL);
}

static void on_new(void *arg)
{
	struct hook *h = arg;

	if (!h->pid && !timer_active(h->soon))
		timer_set(h->soon, 0, 0);
}

/* --- beginning and end --- */

struct hook *hook_new(struct loop *l, struct events *es, char *const *argv, uint64_t kinds)
{
	struct hook *h = xcalloc(1, sizeof(*h));

	h->loop = l;
	h->events = es;
	h->argv = argv;
	h->kinds = kinds;
	h->next = 1;
	h->errors = -1;
	h->limit_us = HOOK_SECONDS * 1000000ll;
	h->limit = timer_new(l, on_limit, h);
	h->soon = timer_new(l, go_on, h);
	h->rl = (struct log_ratelimit)LOG_RATELIMIT;
	events_watch(es, on_new, h);
	on_new(h);
	return h;
}

void hook_skip(struct hook *h)
{
	h->next = events_next_id(h->events);
}

void hook_change(struct hook *h, char *const *argv, uint64_t kinds)
{
	h->argv = argv;
	h->kinds = kinds;
}

/* Reaps a killed process; one that a disk holds up is left to init. */
static void reap(pid_t pid)
{
	for (unsigned i = 0; i < REAP_TRIES && waitpid(pid, NULL, WNOHANG) == 0; i++)
		usleep(REAP_US);
}

void hook_free(struct hook *h)
{
	if (!h)
		return;
	events_unwatch(h->events, on_new, h);
	child_free(h->child);
	if (h->pid) {
		kill(-h->pid, SIGKILL);
		reap(h->pid);
		close(h->errors);
	}
	timer_free(h->limit);
	timer_free(h->soon);
	free(h);
}

const struct hook_counts *hook_counts(const struct hook *h)
{
	return &h->counts;
}

void hook_set_limit(struct hook *h, int64_t us)
{
	h->limit_us = us;
}
