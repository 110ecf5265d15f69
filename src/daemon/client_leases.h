/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What clients register beyond multicast groups, while the daemon lives: services
 * end with their leases, subscribers get Reports, and both are written to disk a
 * moment after they change, as are aliases of ports.  All of it is of the loop's thread.
 */
#ifndef QOSD_DAEMON_CLIENT_LEASES_H
#define QOSD_DAEMON_CLIENT_LEASES_H

#include "lib/loop/loop.h"
#include "mad/mad.h"
#include "sa/registry/alias.h"
#include "sa/registry/groups.h"
#include "sa/sa.h"
#include "store/store.h"

struct clients;

/* A subscriber answers no Reports, and is none any more. */
struct clients_hooks {
	void (*dropped)(void *arg, uint64_t guid, uint32_t qpn);
	void *arg;
};

/*
 * Loads both and puts them into sa, and fills the aliases that it has; its groups are
 * watched from now on.  *lost: a file was not there, or no good.
 */
struct clients *clients_new(struct loop *l, struct store *store, struct mad_port *mad,
			    struct sa *sa, const struct clients_hooks *hooks, bool *lost);
/* Writes what is not on disk yet; before mad_close(). */
void clients_free(struct clients *c);		/* NULL is fine */

/* Reports that are outstanding are counted there from now on; NULL: nowhere. */
void clients_hold(struct clients *c, struct holdings *h);
/* The published state, or NULL. */
void clients_publish(struct clients *c, struct subnet_state *s);
/* How often each has changed, or was loaded. */
struct clients_changes {
	uint64_t services, subscriptions, aliases;
};
const struct clients_changes *clients_changes(const struct clients *c);
/* An alias of a port changed. */
void clients_alias(struct clients *c, const struct alias_change *x);
/* A MAD of the SMI classes: traps become events. */
void clients_smp(struct clients *c, const struct mad_in *in);
/* Fills in what sa_answer() wants to know of a request beyond its bytes. */
void clients_request(const struct mad_in *in, struct sa_request *req);

#endif
