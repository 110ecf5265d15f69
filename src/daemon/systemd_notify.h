/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the service manager is told of the daemon, as sd_notify(3) describes it. */
#ifndef QOSD_DAEMON_SYSTEMD_NOTIFY_H
#define QOSD_DAEMON_SYSTEMD_NOTIFY_H

/*
 * Sends the assignments, a line each and 255 bytes at most, to the socket of $NOTIFY_SOCKET, if there
 * is one.  The caller does not wait for a service manager that does not read: a text for which the
 * socket has no room is kept in place of an earlier one, for notify_again().
 */
void notify(const char *text);
/* Sends the text that is kept, if there is one: to be called every second or so. */
void notify_again(void);

#endif
