/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Services as a sorted array, as the groups are.  Which lease ends first is found
 * by going through all of them: that is asked once for each change that shall be
 * written to disk, which costs more.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map64.h"
#include "registry/services.h"

#define SOURCES_MIN 1024

struct services {
	VEC(struct service *) list;
	struct map64 by_source;		/* port GUID: how many */
	void (*changed)(void *arg);
	void *arg;
};

struct services *services_new(void (*changed)(void *arg), void *arg)
{
	struct services *db = xcalloc(1, sizeof(*db));

	map64_init(&db->by_source, 16);
	db->changed = changed;
	db->arg = arg;
	return db;
}

void services_free(struct services *db)
{
	if (!db)
		return;
	for (size_t i = 0; i < db->list.n; i++)
		free(db->list.v[i]);
	vec_free(&db->list);
	map64_free(&db->by_source);
	free(db);
}

static void tell(struct services *db)
{
	if (db->changed)
		db->changed(db->arg);
}

static int compare(const struct service_key *a, const struct service_key *b)
{
	int by_gid;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	by_gid = memcmp(a->gid, b->gid, sizeof(a->gid));
	return by_gid ? by_gid : (a->pkey > b->pkey) - (a->pkey < b->pkey);
}

/* Where the key is, or belongs. */
static size_t place_of(const struct services *db, const struct service_key *key)
{
	size_t lo = 0, hi = db ? db->list.n : 0;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (compare(&db->list.v[mid]->key, key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
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

static uint32_t count_of(const struct services *db, uint64_t source)
{
	uint32_t n = map64_get(&db->by_source, source);

	return n == MAP64_NONE ? 0 : n;
}

/* Sources that have none any more are forgotten, now and then. */
static void count_sources_anew(struct services *db)
{
	map64_clear(&db->by_source);
	for (size_t i = 0; i < db->list.n; i++)
		map64_put(&db->by_source, db->list.v[i]->source,
			  count_of(db, db->list.v[i]->source) + 1);
}

/* One more of it, or one less. */
static void count_source(struct services *db, uint64_t source, int more)
{
	map64_put(&db->by_source, source, (uint32_t)((int)count_of(db, source) + more));
}

/* A source may change with an update: it counts as the new one's then. */
static bool has_room(const struct services *db, const struct service *s, const struct service *old)
{
	if (old && old->source == s->source)
		return true;
	return (old || db->list.n < SERVICES_MAX) && count_of(db, s->source) < SERVICES_PER_SOURCE;
}

bool services_put(struct services *db, const struct service *s)
{
	size_t i = place_of(db, &s->key);
	struct service *old = at(db, i);

	if (old && compare(&old->key, &s->key))
		old = NULL;
	if (!db || !has_room(db, s, old))
		return false;
	if (old) {
		count_source(db, old->source, -1);
		*old = *s;
	} else {
		vec_push(&db->list);
		memmove(&db->list.v[i + 1], &db->list.v[i],
			(db->list.n - 1 - i) * sizeof(*db->list.v));
		db->list.v[i] = xmemdup(s, sizeof(*s));
	}
	count_source(db, s->source, 1);
	if (db->by_source.n > 2 * db->list.n + SOURCES_MIN)
		count_sources_anew(db);
	tell(db);
	return true;
}

static void drop(struct services *db, struct service *s)
{
	count_source(db, s->source, -1);
	free(s);
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
