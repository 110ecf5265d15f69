/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See ask_daemon.h. */
#include "cli/rest/ask_daemon.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "cli/socket/daemon_socket.h"
#include "lib/base/alloc.h"
#include "lib/base/clock.h"

#define CONNECT_MS 5000
#define SILENCE_S 60		/* the daemon answers any request in less */
#define BUSY_TRIES 200		/* while the daemon works on as many long requests as it takes */
#define BUSY_US 50000
#define POLL_US 10000
#define CHANGE_WAIT_MS 1000	/* at least, for the changes of others */

void daemon_link_init(struct daemon_link *l, const char *socket, uint32_t wait_ms)
{
	*l = (struct daemon_link){ .socket = socket, .wait_ms = wait_ms };
	pthread_mutex_init(&l->polling, NULL);
}

void daemon_link_free(struct daemon_link *l)
{
	pthread_mutex_destroy(&l->polling);
}

/* --- one question --- */

static json_t *read_line(FILE *f)
{
	char *line = NULL;
	size_t size = 0;
	json_t *object = getline(&line, &size, f) > 0 ? json_loads(line, 0, NULL) : NULL;

	free(line);
	return object;
}

/* Puts the rows where the answer says that they belong.  False: it is incomplete. */
static bool read_rows(FILE *f, json_t *answer)
{
	const char *name = json_string_value(json_object_get(answer, "rows"));
	json_t *rows, *row;

	if (!name)
		return true;
	rows = json_array();
	while ((row = read_line(f)) && !json_object_get(row, "end"))
		json_array_append_new(rows, row);
	if (*name)
		json_object_set(json_object_get(answer, "result"), name, rows);
	json_object_set_new(answer, "rows", rows);
	json_decref(row);
	return row != NULL;
}

static json_t *read_answer(int fd)
{
	FILE *f = fdopen(fd, "r");
	json_t *answer;

	if (!f) {
		close(fd);
		return NULL;
	}
	answer = read_line(f);
	if (answer && !read_rows(f, answer)) {
		json_decref(answer);
		answer = NULL;
	}
	fclose(f);
	return answer;
}

/* NULL: err says why. */
static json_t *ask_once(const struct daemon_asker *asker, const char *command, json_t *args, const struct buf *file,
			struct buf *err)
{
	int fd = daemon_connect(asker->link->socket, CONNECT_MS);
	struct timeval limit = { .tv_sec = SILENCE_S };
	json_t *request, *answer;

	if (fd < 0) {
		buf_printf(err, "the subnet manager cannot be reached: %s", strerror(errno));
		return NULL;
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	request = json_pack("{s:s, s:O}", "command", command, "args", args);
	if (asker->user)
		json_object_set_new(request, "on-behalf-of", json_string(asker->user));
	daemon_send(fd, request, file);
	answer = read_answer(fd);
	if (!answer)
		buf_puts(err, "the subnet manager's answer is incomplete");
	return answer;
}

static bool is_busy(const json_t *answer)
{
	return json_is_true(json_object_get(answer, "busy"));
}

static json_t *ask(void *arg, const char *command, json_t *args, json_t *file, struct buf *err)
{
	const struct daemon_asker *asker = arg;
	char *text = file ? json_dumps(file, JSON_COMPACT) : NULL;
	struct buf body = { .s = text, .n = text ? strlen(text) : 0 };
	json_t *answer;

	if (!args)
		args = json_object();
	answer = ask_once(asker, command, args, text ? &body : NULL, err);
	for (unsigned i = 0; i < BUSY_TRIES && is_busy(answer); i++) {
		json_decref(answer);
		usleep(BUSY_US);
		answer = ask_once(asker, command, args, text ? &body : NULL, err);
	}
	free(text);
	json_decref(file);
	json_decref(args);
	return answer;
}

/* --- changes --- */

/* Of the whole process: requests of a server go on while another one, with new settings, begins. */
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

/*
 * A client that waits for others waits no longer than it would for its own change.  Not every C library has the
 * monotonic clock here: if somebody sets the clock, the wait is another one.
 */
static bool begin_change(void *arg)
{
	const struct daemon_asker *asker = arg;
	uint32_t wait_ms = asker->link->wait_ms > CHANGE_WAIT_MS ? asker->link->wait_ms : CHANGE_WAIT_MS;
	int64_t end = clock_real_us() + wait_ms * INT64_C(1000);
	struct timespec until = { end / 1000000, end % 1000000 * 1000 };

	return !pthread_mutex_timedlock(&changing, &until);
}

static void end_change(void *arg)
{
	(void)arg;
	pthread_mutex_unlock(&changing);
}

/* Asks for the last change, and the last one in force.  -1: not known. */
static void poll_changes(const struct daemon_asker *asker)
{
	struct daemon_link *l = asker->link;
	struct buf err = { 0 };
	int64_t now = clock_mono_us();
	json_t *status = ask((void *)(uintptr_t)asker, "status", NULL, NULL, &err);
	const json_t *dynamic =
		json_object_get(json_object_get(json_object_get(status, "result"), "policy"), "dynamic");
	const json_t *in_force = json_object_get(dynamic, "change-in-force");

	l->in_force = json_is_integer(in_force) ? json_integer_value(in_force) : -1;
	l->last = json_integer_value(json_object_get(dynamic, "change"));
	l->polled_us = now;
	json_decref(status);
	buf_free(&err);
}

/*
 * Looks, unless another thread has just looked.  Only what was asked for after the answer to the
 * change counts: a daemon that has restarted meanwhile numbers changes anew, so that an older number says
 * nothing.  It loads all changes when it starts: then the last of them has this one in it.
 */
static bool is_in_force(const struct daemon_asker *asker, int64_t change, int64_t answered_us)
{
	struct daemon_link *l = asker->link;
	bool there;

	pthread_mutex_lock(&l->polling);
	if (l->polled_us < answered_us || (l->in_force < change && clock_mono_us() - l->polled_us >= POLL_US))
		poll_changes(asker);
	there = l->in_force >= (change < l->last ? change : l->last);
	pthread_mutex_unlock(&l->polling);
	return there;
}

static void await(void *arg, int64_t change)
{
	const struct daemon_asker *asker = arg;
	int64_t begin = clock_mono_us(), end = begin + asker->link->wait_ms * INT64_C(1000);

	while (clock_mono_us() < end && !is_in_force(asker, change, begin))
		usleep(POLL_US);
}

struct rest_daemon ask_daemon_for(struct daemon_asker *asker)
{
	return (struct rest_daemon){ asker, ask, begin_change, end_change, await };
}
