/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parses numeric network addresses, and listens at them; never looks up a name. */
#ifndef QOSD_LIB_BASE_NET_H
#define QOSD_LIB_BASE_NET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "lib/base/buf.h"

/*
 * Parses "127.0.0.1:9683" or "[::1]:9683"; port 0 lets the system choose.  False if the text is
 * neither form.
 */
bool net_parse(const char *text, struct sockaddr_storage *addr);
/*
 * Makes a TCP socket that listens at an address in net_parse()'s form, which the caller closes; it
 * does not block.  *port is the port that it has.  -1: the reason is in err.
 */
int net_listen(const char *address, uint16_t *port, struct buf *err);

#endif
