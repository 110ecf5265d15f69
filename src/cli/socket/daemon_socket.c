/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See daemon_socket.h. */
#include "cli/socket/daemon_socket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int daemon_connect(const char *path, int64_t ms)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct timeval limit = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };
	int fd, failed;

	if (strlen(path) >= sizeof(addr.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(addr.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	/* the limit applies to connect(), too, which blocks while the daemon's backlog is full */
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) == 0 &&
	    connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) == 0)
		return fd;
	failed = errno;
	close(fd);
	errno = failed;
	return -1;
}

static void send_all(int fd, const char *data, size_t n)
{
	size_t sent = 0;

	while (sent < n) {
		ssize_t k = send(fd, data + sent, n - sent, MSG_NOSIGNAL);

		if (k < 0 && errno != EINTR)
			break;
		sent += k > 0 ? (size_t)k : 0;
	}
}

void daemon_send(int fd, json_t *request, const struct buf *file)
{
	char *line;
	size_t n;

	if (file)
		json_object_set_new(request, "body", json_integer((json_int_t)file->n));
	line = json_dumps(request, JSON_COMPACT);
	n = strlen(line);
	line[n++] = '\n';	/* in place of the NUL */
	send_all(fd, line, n);
	if (file && file->n)
		send_all(fd, file->s, file->n);
	free(line);
	json_decref(request);
}
