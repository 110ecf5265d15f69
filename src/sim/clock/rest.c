/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Examines threads in /proc; see rest.h. */
#include "sim/clock/rest.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/alloc.h"

#define STATUS_MAX 4096		/* bytes of /proc/PID/task/TID/status, or of its children */

static bool number_behind(const char *text, const char *name, uint64_t *v)
{
	const char *at = strstr(text, name);

	if (!at)
		return false;
	*v = strtoull(at + strlen(name), NULL, 10);
	return true;
}

bool look_parse(const char *status, char *state, uint64_t *switches)
{
	static const char state_name[] = "\nState:\t", voluntary[] = "\nvoluntary_ctxt_switches:\t",
			  forced[] = "\nnonvoluntary_ctxt_switches:\t";
	const char *at = strstr(status, state_name);
	uint64_t v, f;

	if (!at || !number_behind(status, voluntary, &v) || !number_behind(status, forced, &f))
		return false;
	*state = at[sizeof(state_name) - 1];
	*switches = v + f;
	return true;
}

/* Reads a file of a thread as text; false if the thread has ended. */
static bool read_thread(const struct look_thread *t, const char *name, char text[STATUS_MAX])
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)t->pid, (int)t->tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, STATUS_MAX - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n >= 0;
}

static void add_pid(struct look *l, int32_t pid)
{
	for (size_t i = 0; i < l->pids.n; i++)
		if (l->pids.v[i] == pid)
			return;
	*vec_push(&l->pids) = pid;
}

static void add_children(struct look *l, const struct look_thread *t)
{
	char text[STATUS_MAX], *at = text, *end;
	long pid;

	if (!read_thread(t, "children", text))
		return;
	while ((pid = strtol(at, &end, 10)) > 0) {
		add_pid(l, (int32_t)pid);
		at = end;
	}
}

/* Whether a thread has not left its CPU, or waits for one. */
static bool runs(const struct look_thread *t)
{
	char text[STATUS_MAX];

	return read_thread(t, "syscall", text) && strcmp(text, "running\n") == 0;
}

static uint64_t time_on_cpu(const struct look_thread *t)
{
	char text[STATUS_MAX];

	return read_thread(t, "schedstat", text) ? strtoull(text, NULL, 10) : 0;
}

/* Records a thread; false if it is not asleep. */
static bool look_at_thread(struct look *l, struct look_thread t)
{
	bool awake = runs(&t);	/* first: what is counted afterwards includes the thread's last run */
	char text[STATUS_MAX], state;

	t.ran_ns = time_on_cpu(&t);
	if (!read_thread(&t, "status", text) || !look_parse(text, &state, &t.switches))
		return true;	/* the thread has ended */
	if (awake || !strchr("STtZX", state)) {
		l->asleep = false;
		l->busy_pid = t.pid;
		l->busy_tid = t.tid;
		return false;
	}
	*vec_push(&l->threads) = t;
	add_children(l, &t);
	return true;
}

/* Records a process; false if it does not exist. */
static bool look_at_process(struct look *l, int32_t pid)
{
	char path[32];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	if (!d)
		return false;
	while (l->asleep && (e = readdir(d)))
		if (e->d_name[0] != '.')
			look_at_thread(l, (struct look_thread){ .pid = pid, .tid = (int32_t)atoi(e->d_name) });
	closedir(d);
	return true;
}

void look_take(struct look *l, const int32_t *pids, size_t n, void (*gone)(void *arg, int32_t pid),
	       void *arg)
{
	l->threads.n = l->pids.n = 0;
	l->asleep = true;
	for (size_t i = 0; i < n; i++)
		add_pid(l, pids[i]);
	n = l->pids.n;
	for (size_t i = 0; i < l->pids.n && l->asleep; i++)
		if (!look_at_process(l, l->pids.v[i]) && i < n)
			gone(arg, l->pids.v[i]);
}

bool look_rests(const struct look *before, const struct look *now)
{
	if (!before->asleep || !now->asleep || before->threads.n != now->threads.n)
		return false;
	for (size_t i = 0; i < now->threads.n; i++) {
		const struct look_thread *a = &before->threads.v[i], *b = &now->threads.v[i];

		if (a->pid != b->pid || a->tid != b->tid || a->switches != b->switches ||
		    a->ran_ns != b->ran_ns)
			return false;
	}
	return true;
}

void look_free(struct look *l)
{
	vec_free(&l->threads);
	vec_free(&l->pids);
	*l = (struct look){ 0 };
}
