/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stores the services that clients registered (ServiceRecord, 15.2.5.14), sorted by
 * their keys: ServiceID, ServiceGID and ServiceP_Key.
 *
 * A lease ends at a time of the caller's monotonic clock; nothing here reads a clock.
 * The number of services is bounded in all and for each source (sa/registry/holdings.h), so
 * that a client that registers without end harms only itself.
 *
 * A database that is NULL is empty and refuses every service.
 */
#ifndef QOSD_SA_REGISTRY_SERVICES_H
#define QOSD_SA_REGISTRY_SERVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SERVICE_FOREVER		UINT32_MAX	/* ServiceLease: no end */
#define SERVICE_NEVER		INT64_MAX	/* when such a lease ends */
#define SERVICE_DATA		64		/* ServiceData8, 16, 32 and 64, as on the wire */

struct service_key {
	uint64_t id;
	uint8_t gid[16];
	uint16_t pkey;
};

struct service {
	struct service_key key;
	uint64_t source;		/* GUID of the port that registered it */
	int64_t ends_us;		/* end of the lease by the caller's clock, or SERVICE_NEVER */
	uint8_t secret[16];		/* ServiceKey */
	uint8_t name[64];
	uint8_t data[SERVICE_DATA];
};

struct services;
struct holdings;

/* The database calls changed(), which may be NULL, after each change. */
struct services *services_new(void (*changed)(void *arg), void *arg);
void services_free(struct services *db);	/* NULL is fine */
/* Counts the present and all future services of each source in h, which must outlive db. */
void services_hold(struct services *db, struct holdings *h);

size_t services_count(const struct services *db);
const struct service *services_find(const struct services *db, const struct service_key *key);
/*
 * The first service whose key is not below (or, with beyond, is above) the given one; NULL:
 * none.  Serves to iterate while services change.
 */
const struct service *services_from(const struct services *db, const struct service_key *key,
				    bool beyond);
/* Whether the source may register s, as a new service or in place of the one with its key. */
bool services_room(struct services *db, const struct service *s);
/* Adds s or replaces the service with its key, whatever services_room() says.  False: db is NULL. */
bool services_put(struct services *db, const struct service *s);
void services_remove(struct services *db, const struct service_key *key);

/* The rest of the lease in seconds, rounded up; or SERVICE_FOREVER. */
uint32_t service_lease(const struct service *s, int64_t now_us);
/* Removes services whose lease has ended; returns how many. */
size_t services_expire(struct services *db, int64_t now_us);
/* When the next lease ends, or SERVICE_NEVER. */
int64_t services_next_end(const struct services *db);

#endif
