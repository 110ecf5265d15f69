/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends notifications to the service manager; see systemd_notify.h.
 *
 * libsystemd's sd_notify() is not used, because it waits until the socket has room.
 */
#include "daemon/systemd_notify.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"

static char kept[256];		/* text that the socket had no room for; "" if none */

/* False: the socket has no room now. */
static bool send_text(const char *text)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	const char *path = getenv("NOTIFY_SOCKET");
	size_t n = path ? strlen(path) : 0;
	bool full = false;
	int fd;

	/* a path, or '@' and the name of an abstract socket */
	if (n < 2 || n >= sizeof(addr.sun_path) || (*path != '/' && *path != '@'))
		return true;
	memcpy(addr.sun_path, path, n);
	if (*path == '@')
		addr.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return true;
	if (sendto(fd, text, strlen(text), MSG_NOSIGNAL, (const struct sockaddr *)&addr,
		   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + (*path == '/'))) < 0) {
		full = errno == EAGAIN || errno == ENOBUFS;
		log_debug("qosd", "%s: %s", path, strerror(errno));
	}
	close(fd);
	return !full;
}

void notify(const char *text)
{
	if (send_text(text))
		kept[0] = '\0';
	else
		snprintf(kept, sizeof(kept), "%s", text);
}

void notify_again(void)
{
	if (kept[0] && send_text(kept))
		kept[0] = '\0';
}

/* The interval that the service manager expects, as sd_watchdog_enabled(3) reads it; 0: none. */
static uint64_t watchdog_us(void)
{
	const char *us = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");

	if (!us || (pid && strtoumax(pid, NULL, 10) != (uintmax_t)getpid()))
		return 0;
	return strtoumax(us, NULL, 10);
}

void notify_alive(void)
{
	static int64_t next_us;
	int64_t now = clock_mono_us();
	uint64_t us = now < next_us ? 0 : watchdog_us();

	/* if the socket is full, the next call is early enough */
	if (us && send_text("WATCHDOG=1"))
		next_us = now + (int64_t)(us / 4);
}
