/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The connections of a server: how many each client may have, and how long a request may take to arrive and its
 * answer to leave.
 *
 * A client that sends a byte now and then is never silent, and would hold its connection for ever.  So a thread
 * ends connections whose client has exceeded its time, whatever it sends.  A client is an IPv4 address or an
 * IPv6 network of 64 bits; trusted proxies ask for many, and have no limit of their own.
 */
#ifndef QOSD_CLI_CONNECTIONS_H
#define QOSD_CLI_CONNECTIONS_H

#include "cli/rest/api/rest_settings.h"

struct connections;
/* most: of all clients together; most_each: of one.  The settings must stay. */
struct connections *connections_new(const struct rest_settings *s, unsigned most, unsigned most_each);
/* No connection may be left; NULL is fine. */
void connections_free(struct connections *x);

/* Whether a client at this address may have one more. */
bool connections_may_begin(struct connections *x, const struct sockaddr *from);

struct connection;
/* A connection with this socket, which stays open until connection_end().  NULL: there are too many. */
struct connection *connection_begin(struct connections *x, int fd, const struct sockaddr *from);
void connection_end(struct connections *x, struct connection *c);	/* NULL is fine */
/* From now on it is the client that must send or receive, or it is not.  NULL is fine. */
void connection_client_is_due(struct connections *x, struct connection *c, bool due);

#endif
