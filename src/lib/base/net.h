/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parses numeric network addresses; never looks up a name. */
#ifndef QOSD_LIB_BASE_NET_H
#define QOSD_LIB_BASE_NET_H

#include <stdbool.h>
#include <sys/socket.h>

/*
 * Parses "127.0.0.1:9683" or "[::1]:9683"; port 0 lets the system choose.  False if the text is
 * neither form.
 */
bool net_parse(const char *text, struct sockaddr_storage *addr);

#endif
