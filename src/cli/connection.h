/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Connections of qosd-ctl to the daemon: requests go out, and the objects of an answer come in, one
 * on each line.  The protocol is in include/qosd/ctl.h.
 */
#ifndef QOSD_CLI_CONNECTION_H
#define QOSD_CLI_CONNECTION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/base/buf.h"

#define PATIENCE_SECONDS 30	/* for a daemon that responds, but has not answered the request, */
#define PATIENCE_FILE_SECONDS 600	/* longer for a request with a file, */
#define PATIENCE_ENDLESS 0		/* and none for an endless answer */

/*
 * A connection to the daemon.  After half of the time limit without data the client asks on a
 * second connection whether the daemon responds at all: a request may take long for good reasons,
 * but a stopped daemon responds to nobody.  Silence means little in an endless answer, so there the
 * client asks only after FOLLOW_LIMITS time limits.
 */
struct connection {
	FILE *in;
	int fd;
	int64_t patience_ms;	/* silence allowed to a daemon that responds; 0: unlimited */
	bool answered;
	bool shows_wait;	/* how long the answer takes, on a terminal: it is no stream of what happens */
};

/* The monotonic clock, in milliseconds. */
int64_t now_ms(void);
/* Returns NULL with a message on errors; fclose() of ->in ends the connection. */
struct connection *connect_daemon(unsigned patience_seconds);
/* file: NULL if the request has none. */
void send_request(int fd, const char *command, json_t *args, const struct buf *file);
/* Reads the next line's object; returns NULL with a message on errors. */
json_t *read_object(FILE *daemon);
/* Appends n bytes; returns false with a message on errors. */
bool read_bytes(FILE *daemon, size_t n, struct buf *to);
/* Returns the answer's first object, which may be a refusal, or NULL with a message. */
json_t *ask_once(const char *request, json_t *args, const struct buf *file);

#endif
