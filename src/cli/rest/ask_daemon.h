/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Asks the daemon on its control socket, for the handlers of the REST interface.
 *
 * Each question has a connection of its own, so that any thread may ask.  Changes are made one at a
 * time, also those of two servers while one takes the place of the other, and one thread at a time asks
 * whether they are in force.
 */
#ifndef QOSD_CLI_ASK_DAEMON_H
#define QOSD_CLI_ASK_DAEMON_H

#include <pthread.h>

#include "cli/rest/api/rest_api.h"

/* Shared by all requests. */
struct daemon_link {
	const char *socket;
	uint32_t wait_ms;
	pthread_mutex_t polling;
	int64_t in_force, last;		/* under polling: the last change in force, and the last one at all */
	int64_t polled_us;		/* when that was asked for */
};
void daemon_link_init(struct daemon_link *l, const char *socket, uint32_t wait_ms);
void daemon_link_free(struct daemon_link *l);

/* One request, made for a user. */
struct daemon_asker {
	struct daemon_link *link;
	const char *user;
};
/* What handlers ask by; the asker must stay. */
struct rest_daemon ask_daemon_for(struct daemon_asker *asker);

#endif
