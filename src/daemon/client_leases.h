/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Manages clients' registrations other than multicast groups while the daemon runs.
 *
 * Services end with their leases, and subscribers get Reports.  Services, subscriptions and the
 * aliases of ports are written to disk a moment after they change.  For the loop's thread only.
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

/* dropped() is called when a subscriber was dropped because it does not answer Reports. */
struct clients_hooks {
	void (*dropped)(void *arg, uint64_t guid, uint32_t qpn);
	void *arg;
};

/*
 * Loads services and subscriptions into sa, and aliases into sa's registry; watches sa's groups
 * from then on.  *lost: a file was missing or bad.
 */
struct clients *clients_new(struct loop *l, struct store *store, struct mad_port *mad,
			    struct sa *sa, const struct clients_hooks *hooks, bool *lost);
/* Saves what is not on disk yet; must be called before mad_close(). */
void clients_free(struct clients *c);		/* NULL is fine */

/* Counts outstanding Reports against these holdings from now on; NULL: stops counting. */
void clients_hold(struct clients *c, struct holdings *h);
/* Sets the published state, or NULL. */
void clients_publish(struct clients *c, struct subnet_state *s);
/* Number of changes of each since the start, including loading. */
struct clients_changes {
	uint64_t services, subscriptions, aliases;
};
const struct clients_changes *clients_changes(const struct clients *c);
/* An alias of a port changed. */
void clients_alias(struct clients *c, const struct alias_change *x);
/* Handles a MAD of the SMI classes: a trap becomes Reports to its subscribers. */
void clients_smp(struct clients *c, const struct mad_in *in);
/* Fills in the members of a request that are not in its MAD. */
void clients_request(const struct mad_in *in, struct sa_request *req);

#endif
