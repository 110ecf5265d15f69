/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Connects qosd-ctl to the daemon; connection.h has the contracts. */
#include "connection.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "cli/socket/daemon_socket.h"
#include "command_line.h"
#include "lib/base/alloc.h"
#include "terminal.h"

#define WAIT_STEP_MS 250
#define FOLLOW_LIMITS 6		/* silence before probing during an endless answer, in time limits */

int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

/* Waits for input on fd or, unless it is -1, on other. */
static bool readable_within(int fd, int other, int64_t ms)
{
	struct pollfd p[] = { { .fd = fd, .events = POLLIN }, { .fd = other, .events = POLLIN } };
	int64_t end = now_ms() + ms;
	int r;

	do {
		int64_t left = end - now_ms();

		r = poll(p, ARRAY_SIZE(p), left > 0 ? (int)left : 0);
	} while (r < 0 && errno == EINTR);
	return r != 0;
}

/* The same on the connection; meanwhile a terminal shows how long it has been since begun_ms. */
static bool answers_within(const struct connection *c, int64_t ms, int64_t begun_ms)
{
	int64_t end = now_ms() + ms, left = ms;

	while (c->shows_wait && left > WAIT_STEP_MS) {
		if (readable_within(c->fd, -1, WAIT_STEP_MS))
			return true;
		put_wait(now_ms() - begun_ms);
		left = end - now_ms();
	}
	return readable_within(c->fd, -1, left > 0 ? left : 0);
}

/* True if the daemon says anything within the time, even that it has too many connections. */
static bool daemon_lives(int fd, int64_t ms)
{
	static const char request[] = "{\"command\": \"status\"}\n";
	int64_t end = now_ms() + ms;
	int probe = daemon_connect(options.socket, ms);
	bool lives;

	if (probe < 0 && errno != EAGAIN)
		return true;	/* the daemon has gone: so the end of the answer can be read */
	if (probe >= 0)
		send(probe, request, sizeof(request) - 1, MSG_NOSIGNAL);
	lives = readable_within(fd, probe, end - now_ms());
	if (probe >= 0)
		close(probe);
	return lives;
}

/* Read function for stdio.  ETIME: the daemon is silent; ETIMEDOUT: only this request is. */
static ssize_t connection_read(void *cookie, char *to, size_t n)
{
	struct connection *c = cookie;
	int64_t half_ms = options.limit_seconds * INT64_C(500), begun_ms = now_ms();
	bool follows = !c->patience_ms && c->answered;
	ssize_t got;

	while (options.limit_seconds &&
	       !answers_within(c, follows ? 2 * FOLLOW_LIMITS * half_ms : half_ms, begun_ms)) {
		errno = 0;
		if (!daemon_lives(c->fd, half_ms))
			errno = ETIME;
		else if (c->patience_ms && now_ms() - begun_ms >= c->patience_ms)
			errno = ETIMEDOUT;
		if (errno == ETIME || errno == ETIMEDOUT) {
			int why = errno;

			end_progress();
			errno = why;
			return -1;
		}
	}
	if (c->shows_wait)
		end_progress();
	do
		got = read(c->fd, to, n);
	while (got < 0 && errno == EINTR);
	c->answered |= got > 0;
	return got;
}

static int connection_close(void *cookie)
{
	struct connection *c = cookie;
	int r = close(c->fd);

	free(c);
	return r;
}

static void say_no_connection(void)
{
	if (errno == EACCES)
		fprintf(stderr, "qosd-ctl: %s: not permitted to uid %ld, gid %ld: this needs root, the "
			"daemon's user or a member of the group of the socket or its folder "
			"(ctl-read-group and ctl-admin-group of qosd.yaml admit others)\n",
			options.socket, (long)geteuid(), (long)getegid());
	else if (errno == EAGAIN)
		fprintf(stderr, "qosd-ctl: the daemon on %s does not answer: it has accepted no connection "
			"for %u s (is it stopped? see --timeout)\n", options.socket, options.limit_seconds);
	else
		fprintf(stderr, "qosd-ctl: no daemon answers on %s: %s\n", options.socket,
			strerror(errno));
}

struct connection *connect_daemon(unsigned patience_seconds)
{
	static const cookie_io_functions_t functions = {
		.read = connection_read, .close = connection_close,
	};
	int fd = daemon_connect(options.socket, options.limit_seconds * INT64_C(1000));
	struct connection *c;

	if (fd < 0) {
		say_no_connection();
		return NULL;
	}
	c = xmalloc(sizeof(*c));
	*c = (struct connection){ .fd = fd, .patience_ms = patience_seconds * INT64_C(1000) };
	c->in = fopencookie(c, "r", functions);
	if (c->in)
		return c;
	connection_close(c);
	fprintf(stderr, "qosd-ctl: out of memory\n");
	return NULL;
}

void send_request(int fd, const char *command, json_t *args, const struct buf *file)
{
	daemon_send(fd, json_pack("{s:s, s:O}", "command", command, "args", args), file);
}

static void say_incomplete(int error)
{
	if (error == ETIME)
		fprintf(stderr, "qosd-ctl: the daemon on %s does not answer: it has sent nothing for %u s "
			"(is it stopped? see --timeout)\n", options.socket, options.limit_seconds);
	else if (error == ETIMEDOUT)
		fprintf(stderr, "qosd-ctl: the daemon is running, but does not answer this request\n");
	else
		fprintf(stderr, "qosd-ctl: the answer is incomplete\n");
}

json_t *read_object(FILE *daemon)
{
	char *line = NULL;
	size_t size = 0;
	json_t *object = NULL;

	errno = 0;
	if (getline(&line, &size, daemon) > 0) {
		errno = 0;
		object = json_loads(line, 0, NULL);
	}
	if (!object)
		say_incomplete(errno);
	free(line);
	return object;
}

bool read_bytes(FILE *daemon, size_t n, struct buf *to)
{
	buf_reserve(to, n);
	errno = 0;
	if (fread(to->s + to->n, 1, n, daemon) != n) {
		say_incomplete(errno);
		return false;
	}
	to->n += n;
	to->s[to->n] = '\0';
	return true;
}

json_t *ask_once(const char *request, json_t *args, const struct buf *file)
{
	struct connection *daemon = connect_daemon(file ? PATIENCE_FILE_SECONDS : PATIENCE_SECONDS);
	json_t *answer = NULL;

	if (!daemon)
		return NULL;
	send_request(daemon->fd, request, args, file);
	answer = read_object(daemon->in);
	fclose(daemon->in);
	return answer;
}
