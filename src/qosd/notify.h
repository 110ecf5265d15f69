/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the service manager is told of the daemon, as sd_notify(3) describes it. */
#ifndef QOSD_QOSD_NOTIFY_H
#define QOSD_QOSD_NOTIFY_H

/*
 * Sends the assignments, a line each, to the socket of $NOTIFY_SOCKET, if there is one.  Nobody
 * waits for a service manager that does not read: what it has no room for is lost, and said again
 * with the next sweep.
 */
void notify(const char *text);

#endif
