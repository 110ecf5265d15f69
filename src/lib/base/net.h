/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Addresses of the network, as numbers: no name is ever looked up. */
#ifndef QOSD_LIB_BASE_NET_H
#define QOSD_LIB_BASE_NET_H

#include <stdbool.h>
#include <sys/socket.h>

/*
 * "127.0.0.1:9683", "[::1]:9683"; port 0 is one that the system chooses.  False if the
 * text is neither.
 */
bool net_parse(const char *text, struct sockaddr_storage *addr);

#endif
