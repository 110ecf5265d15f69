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

/* Sets how often and how long the thread has run; both stay 0 if Linux does not tell. */
static void count_runs(struct look_thread *t)
{
	char text[STATUS_MAX], *end;

	if (!read_thread(t, "schedstat", text))
		return;
	t->ran_ns = strtoull(text, &end, 10);
	strtoull(end, &end, 10);	/* how long it has waited for a CPU */
	t->runs = strtoull(end, NULL, 10);
}

static bool is_asleep(char state)
{
	return state && strchr("STtZX", state);
}

/* The letter of a thread's state.  `syscall` does not tell of a thread that is being woken, and is on no CPU yet. */
static char state_of(const struct look_thread *t)
{
	char text[STATUS_MAX];
	const char *name_end = read_thread(t, "stat", text) ? strrchr(text, ')') : NULL;

	return name_end && name_end[1] == ' ' ? name_end[2] : '\0';
}

static bool ran_between(const struct look_thread *a, const struct look_thread *b)
{
	return a->ran_ns != b->ran_ns || a->runs != b->runs;
}

/* The thread in an earlier look.  Looks have threads in the same order, so *at is where the search begins and ends. */
static const struct look_thread *in_look(const struct look *l, const struct look_thread *t, size_t *at)
{
	for (size_t i = 0; i < l->threads.n; i++) {
		const struct look_thread *x = &l->threads.v[(*at + i) % l->threads.n];

		if (x->pid == t->pid && x->tid == t->tid) {
			*at = (size_t)(x - l->threads.v) + 1;
			return x;
		}
	}
	return NULL;
}

/* A look that is being taken. */
struct looking {
	struct look *l;
	const struct look *last;	/* an earlier look at sleepers, NULL: none */
	size_t at;			/* in the last look: behind the thread found last */
	bool ended;			/* a process has ended since the last look */
};

/* Records a thread; l->asleep becomes false if it is not asleep. */
static void look_at_thread(struct looking *g, struct look_thread t)
{
	struct look *l = g->l;
	bool awake = runs(&t);	/* first: what is counted afterwards includes the thread's last run */
	const struct look_thread *same = g->last ? in_look(g->last, &t, &g->at) : NULL;
	char text[STATUS_MAX], state;

	count_runs(&t);
	if (!awake && same && t.runs && !ran_between(same, &t) && is_asleep(state_of(&t))) {
		*vec_push(&l->threads) = *same;
		return;
	}
	if (!read_thread(&t, "status", text) || !look_parse(text, &state, &t.switches))
		return;	/* the thread has ended */
	if (awake || !is_asleep(state)) {
		l->asleep = false;
		l->busy_pid = t.pid;
		l->busy_tid = t.tid;
		return;
	}
	if (strchr("ZX", state))
		g->ended = true;
	*vec_push(&l->threads) = t;
	add_children(l, &t);
}

/* Records a process; false if it does not exist. */
static bool look_at_process(struct looking *g, int32_t pid)
{
	char path[32];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	if (!d)
		return false;
	while (g->l->asleep && (e = readdir(d)))
		if (e->d_name[0] != '.')
			look_at_thread(g, (struct look_thread){ .pid = pid, .tid = (int32_t)atoi(e->d_name) });
	closedir(d);
	return true;
}

/* Looks with the help of an earlier look; false if that is of no help, because a process has ended since. */
static bool look_with(struct looking *g, const int32_t *pids, size_t n, void (*gone)(void *arg, int32_t pid),
		      void *arg)
{
	struct look *l = g->l;

	l->threads.n = l->pids.n = 0;
	l->asleep = true;
	for (size_t i = 0; i < n; i++)
		add_pid(l, pids[i]);
	n = l->pids.n;
	for (size_t i = 0; g->last && i < g->last->pids.n; i++)
		add_pid(l, g->last->pids.v[i]);
	for (size_t i = 0; i < l->pids.n && l->asleep; i++)
		if (!look_at_process(g, l->pids.v[i])) {
			g->ended = true;
			if (i < n)
				gone(arg, l->pids.v[i]);
		}
	return !g->last || !g->ended;
}

/* Whether the thread that was busy in the look l still is. */
static bool still_busy(const struct look *l)
{
	struct look_thread t = { .pid = l->busy_pid, .tid = l->busy_tid };

	return !l->asleep && t.pid && runs(&t);
}

void look_take(struct look *l, const struct look *last, const int32_t *pids, size_t n,
	       void (*gone)(void *arg, int32_t pid), void *arg)
{
	if (still_busy(l))
		return;
	if (!look_with(&(struct looking){ .l = l, .last = last && last->asleep ? last : NULL }, pids, n, gone, arg))
		look_with(&(struct looking){ .l = l }, pids, n, gone, arg);
}

bool look_rests(const struct look *before, const struct look *now)
{
	if (!before->asleep || !now->asleep || before->threads.n != now->threads.n)
		return false;
	for (size_t i = 0; i < now->threads.n; i++) {
		const struct look_thread *a = &before->threads.v[i], *b = &now->threads.v[i];

		if (a->pid != b->pid || a->tid != b->tid || a->switches != b->switches ||
		    ran_between(a, b))
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
