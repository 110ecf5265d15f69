/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps the registered services in a sorted array.
 *
 * services_next_end() looks at all services: it is called once for each change that
 * is written to disk, and the write costs more.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/search.h"
#include "sa/registry/holdings.h"
#include "sa/registry/services.h"

struct services {
	VEC(struct service *) list;
	struct holdings *holdings;	/* or NULL */
	void (*changed)(void *arg);
	void *arg;
};

struct services *services_new(void (*changed)(void *arg), void *arg)
{
	struct services *db = xcalloc(1, sizeof(*db));

	db->changed = changed;
	db->arg = arg;
	return db;
}

static void drop(struct services *db, struct service *s)
{
	holdings_add(db->holdings, HOLD_SERVICES, s->source, -1);
	free(s);
}

void services_free(struct services *db)
{
	if (!db)
		return;
	for (size_t i = 0; i < db->list.n; i++)
		drop(db, db->list.v[i]);
	vec_free(&db->list);
	free(db);
}

static void tell(struct services *db)
{
	if (db->changed)
		db->changed(db->arg);
}

static int compare(const struct service_key *a, const struct service_key *b)
{
	return ORDER(a->id, b->id) ?: memcmp(a->gid, b->gid, sizeof(a->gid)) ?: ORDER(a->pkey, b->pkey);
}

/* The index where the key is or belongs. */
static size_t place_of(const struct services *db, const struct service_key *key)
{
	size_t lo;

	LOWER_BOUND(lo, 0, db ? db->list.n : 0, compare(&db->list.v[lo]->key, key) < 0);
	return lo;
}

size_t services_count(const struct services *db)
{
	return db ? db->list.n : 0;
}

static struct service *at(const struct services *db, size_t i)
{
	return db && i < db->list.n ? db->list.v[i] : NULL;
}

const struct service *services_from(const struct services *db, const struct service_key *key,
				    bool beyond)
{
	size_t i = place_of(db, key);
	const struct service *s = at(db, i);

	return s && beyond && !compare(&s->key, key) ? at(db, i + 1) : s;
}

const struct service *services_find(const struct services *db, const struct service_key *key)
{
	const struct service *s = services_from(db, key, false);

	return s && !compare(&s->key, key) ? s : NULL;
}

/* --- changes --- */

void services_hold(struct services *db, struct holdings *h)
{
	db->holdings = h;
	for (size_t i = 0; i < db->list.n; i++)
		holdings_add(h, HOLD_SERVICES, db->list.v[i]->source, 1);
}

/* An update may change the source; the service then counts for the new one. */
bool services_room(struct services *db, const struct service *s)
{
	const struct service *old = services_find(db, &s->key);

	return db && ((old && old->source == s->source) ||
		      holdings_ask(db->holdings, HOLD_SERVICES, s->source));
}

bool services_put(struct services *db, const struct service *s)
{
	size_t i = place_of(db, &s->key);
	struct service *old = at(db, i);

	if (old && compare(&old->key, &s->key))
		old = NULL;
	if (!db)
		return false;
	if (old) {
		holdings_add(db->holdings, HOLD_SERVICES, old->source, -1);
		*old = *s;
	} else {
		vec_push(&db->list);
		memmove(&db->list.v[i + 1], &db->list.v[i],
			(db->list.n - 1 - i) * sizeof(*db->list.v));
		db->list.v[i] = xmemdup(s, sizeof(*s));
	}
	holdings_add(db->holdings, HOLD_SERVICES, s->source, 1);
	tell(db);
	return true;
}

void services_remove(struct services *db, const struct service_key *key)
{
	size_t i = place_of(db, key);
	struct service *s = at(db, i);

	if (!s || compare(&s->key, key))
		return;
	drop(db, s);
	db->list.n--;
	memmove(&db->list.v[i], &db->list.v[i + 1], (db->list.n - i) * sizeof(*db->list.v));
	tell(db);
}

/* --- leases --- */

uint32_t service_lease(const struct service *s, int64_t now_us)
{
	int64_t left;

	if (s->ends_us == SERVICE_NEVER)
		return SERVICE_FOREVER;
	left = (s->ends_us - now_us + 999999) / 1000000;
	return left < 0 ? 0 : left >= SERVICE_FOREVER ? SERVICE_FOREVER - 1 : (uint32_t)left;
}

size_t services_expire(struct services *db, int64_t now_us)
{
	size_t kept = 0, over;

	for (size_t i = 0; i < services_count(db); i++)
		if (db->list.v[i]->ends_us > now_us)
			db->list.v[kept++] = db->list.v[i];
		else
			drop(db, db->list.v[i]);
	over = services_count(db) - kept;
	if (over) {
		db->list.n = kept;
		tell(db);
	}
	return over;
}

int64_t services_next_end(const struct services *db)
{
	int64_t first = SERVICE_NEVER;

	for (size_t i = 0; i < services_count(db); i++)
		if (db->list.v[i]->ends_us < first)
			first = db->list.v[i]->ends_us;
	return first;
}
