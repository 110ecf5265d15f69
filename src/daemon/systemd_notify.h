/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tells the service manager the state of the daemon, as sd_notify(3) describes. */
#ifndef QOSD_DAEMON_SYSTEMD_NOTIFY_H
#define QOSD_DAEMON_SYSTEMD_NOTIFY_H

/*
 * Sends assignments, one per line and at most 255 bytes, to the socket of $NOTIFY_SOCKET, if
 * there is one.  The caller never waits: if the socket has no room, the text replaces the one
 * kept for notify_again().
 */
void notify(const char *text);
/* Sends the kept text, if there is one; to be called every second or so. */
void notify_again(void);
/*
 * Tells the service manager's watchdog that the event loop runs, four times per $WATCHDOG_USEC at
 * most, if that is set; to be called every second or so, by a timer of the loop.
 */
void notify_alive(void);

#endif
