/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The services that clients registered (ServiceRecord, 15.2.5.14), in order of
 * their keys: ServiceID, ServiceGID and ServiceP_Key.
 *
 * A lease ends at a moment of a monotonic clock that the caller has; nothing
 * here reads one.  How many there may be is bounded (sa/registry/holdings.h), in all and of one
 * source, so that a client that never tires costs itself only.
 *
 * A database that is NULL is empty, and takes nothing.
 */
#ifndef QOSD_SA_REGISTRY_SERVICES_H
#define QOSD_SA_REGISTRY_SERVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SERVICE_FOREVER		UINT32_MAX	/* ServiceLease */
#define SERVICE_NEVER		INT64_MAX	/* when that ends */
#define SERVICE_DATA		64		/* ServiceData8, 16, 32 and 64, as on the wire */

struct service_key {
	uint64_t id;
	uint8_t gid[16];
	uint16_t pkey;
};

struct service {
	struct service_key key;
	uint64_t source;		/* GUID of the port that registered it */
	int64_t ends_us;		/* of the caller's clock, or SERVICE_NEVER */
	uint8_t secret[16];		/* ServiceKey */
	uint8_t name[64];
	uint8_t data[SERVICE_DATA];
};

struct services;
struct holdings;

/* changed(), which may be NULL, is called after each change. */
struct services *services_new(void (*changed)(void *arg), void *arg);
void services_free(struct services *db);	/* NULL is fine */
/* Sources hold what is there, and what comes from now on, by h, which must outlive db. */
void services_hold(struct services *db, struct holdings *h);

size_t services_count(const struct services *db);
const struct service *services_find(const struct services *db, const struct service_key *key);
/*
 * The first whose key is not below (or, with beyond, is above) the given one; NULL:
 * there is none.  For going through all of them while they change.
 */
const struct service *services_from(const struct services *db, const struct service_key *key,
				    bool beyond);
/* Whether its source may register it, as a new one or in place of the one of that key. */
bool services_room(struct services *db, const struct service *s);
/* Adds it, or replaces the one of that key, whatever services_room() says.  False: db is NULL. */
bool services_put(struct services *db, const struct service *s);
void services_remove(struct services *db, const struct service_key *key);

/* What is left of the lease in seconds, of a second that has begun all; or SERVICE_FOREVER. */
uint32_t service_lease(const struct service *s, int64_t now_us);
/* Removes those whose lease is over; how many. */
size_t services_expire(struct services *db, int64_t now_us);
/* When the next lease is over, or SERVICE_NEVER. */
int64_t services_next_end(const struct services *db);

#endif
