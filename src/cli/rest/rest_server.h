/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Serves the REST interface over HTTP and TLS with libmicrohttpd, one thread for each connection.
 *
 * Limits bound what clients can cost: SERVER_CLIENTS connections, SERVER_CLIENTS_EACH of one
 * client, SERVER_SECONDS of silence, the time of the settings for a request, SERVER_MEMORY bytes for
 * headers, SERVER_BODY for a body.  Who
 * makes a request is known before any of its body is taken.
 */
#ifndef QOSD_CLI_REST_SERVER_H
#define QOSD_CLI_REST_SERVER_H

#include "cli/rest/api/rest_settings.h"

#define SERVER_CLIENTS 256
#define SERVER_CLIENTS_EACH 32
#define SERVER_SECONDS 30
#define SERVER_MEMORY (160u << 10)	/* the path of a DELETE may have thousands of GUIDs */
#define SERVER_BODY (1u << 20)

struct rest_server;
/*
 * Takes ownership of the settings and, unless it is -1, of the listening socket; without one the
 * server checks certificate and key and takes no connections.  NULL: the reason is in err, and the
 * settings and the socket are still the caller's.
 */
struct rest_server *rest_server_new(struct rest_settings *s, int fd, struct buf *err);
/* Stops listening, and returns the socket for another server; requests in progress go on. */
int rest_server_leave(struct rest_server *x);
/* Ends requests in progress and frees the server and its settings; NULL is fine. */
void rest_server_free(struct rest_server *x);
const struct rest_settings *rest_server_settings(const struct rest_server *x);

#endif
