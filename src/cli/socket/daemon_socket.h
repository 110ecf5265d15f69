/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Connects to the daemon's control socket and sends requests; the protocol is in include/qosd/ctl.h.
 * Knows nothing of command lines, so that every client of the socket can use it.
 */
#ifndef QOSD_CLI_DAEMON_SOCKET_H
#define QOSD_CLI_DAEMON_SOCKET_H

#include <jansson.h>
#include <stdint.h>

#include "lib/base/buf.h"

/*
 * Returns a connected socket, which the caller closes, and on which no send blocks longer than ms
 * (0: no limit); -1 with errno.
 */
int daemon_connect(const char *path, int64_t ms);
/*
 * Sends a request, a JSON object with "command" and perhaps "args", and takes ownership of it.
 * file: NULL if the request has none.  Send errors are ignored: a daemon that turns a client away
 * closes before it has read anything, but its reason can still be read.
 */
void daemon_send(int fd, json_t *request, const struct buf *file);

#endif
