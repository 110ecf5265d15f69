/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps a table of aliases for each port, and a hash from aliases to places in the tables.
 *
 * The hash cannot remove a key: a removed alias has the value 0, which is no place.  When
 * there are many of those, the hash is rebuilt.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/map64.h"
#include "sa/registry/alias.h"
#include "sa/registry/holdings.h"

/* OpenIB's OUI, as in OpenSM, and a byte of our own, so that the two never assign the same GUID. */
#define ASSIGNED_FIRST	0x0014057100000000ULL
#define GONE_MIN	1024
#define TABLES_MIN	1024

struct table {
	uint64_t port;
	uint64_t *v;
	unsigned n;		/* number of places, a multiple of ALIAS_BLOCK */
};

struct alias_db {
	VEC(struct table) tables;
	struct map64 by_port;
	struct map64 by_alias;	/* table << 8 | place; 0: removed */
	size_t n, gone;		/* aliases, and keys of removed ones in by_alias */
	size_t tidy_at;		/* number of tables at which empty ones are dropped */
	uint32_t assigned;
	struct holdings *holdings;	/* or NULL */
	void (*changed)(void *arg, const struct alias_change *c);
	void *arg;
};

struct alias_db *alias_new(void)
{
	struct alias_db *db = xcalloc(1, sizeof(*db));

	map64_init(&db->by_port, 16);
	map64_init(&db->by_alias, 16);
	db->tidy_at = TABLES_MIN;
	return db;
}

void alias_free(struct alias_db *db)
{
	if (!db)
		return;
	for (size_t i = 0; i < db->tables.n; i++)
		free(db->tables.v[i].v);
	vec_free(&db->tables);
	map64_free(&db->by_port);
	map64_free(&db->by_alias);
	free(db);
}

void alias_watch(struct alias_db *db, void (*changed)(void *arg, const struct alias_change *c),
		 void *arg)
{
	db->changed = changed;
	db->arg = arg;
}

/* The number of aliases in a table; place 0 is the port's own GUID. */
static unsigned aliases_in(const struct table *t)
{
	unsigned n = 0;

	for (unsigned k = 1; k < t->n; k++)
		n += t->v[k] != 0;
	return n;
}

void alias_hold(struct alias_db *db, struct holdings *h)
{
	db->holdings = h;
	for (size_t i = 0; i < db->tables.n; i++)
		holdings_add(h, HOLD_ALIASES, db->tables.v[i].port,
			     (int)aliases_in(&db->tables.v[i]));
}

size_t alias_count(const struct alias_db *db)
{
	return db ? db->n : 0;
}

/* The table and place of an alias as in by_alias; 0: none. */
static uint32_t find(const struct alias_db *db, uint64_t alias)
{
	uint32_t at = map64_get(&db->by_alias, alias);

	return at == MAP64_NONE ? 0 : at;
}

uint64_t alias_owner(const struct alias_db *db, uint64_t alias)
{
	uint32_t at = alias_count(db) ? find(db, alias) : 0;

	return at ? db->tables.v[at / ALIAS_PLACES].port : 0;
}

static const struct table *table_of(const struct alias_db *db, uint64_t port)
{
	uint32_t i = db ? map64_get(&db->by_port, port) : MAP64_NONE;

	return i == MAP64_NONE ? NULL : &db->tables.v[i];
}

uint64_t alias_at(const struct alias_db *db, uint64_t port, unsigned place)
{
	const struct table *t = table_of(db, port);

	return t && place < t->n ? t->v[place] : 0;
}

bool alias_port(const struct alias_db *db, size_t i, uint64_t *port, unsigned *blocks)
{
	if (!db || i >= db->tables.n)
		return false;
	*port = db->tables.v[i].port;
	*blocks = db->tables.v[i].n / ALIAS_BLOCK;
	return true;
}

/* --- changes --- */

static void forget_gone(struct alias_db *db)
{
	map64_free(&db->by_alias);
	map64_init(&db->by_alias, (uint32_t)db->n);
	db->gone = 0;
	for (uint32_t i = 0; i < db->tables.n; i++) {
		const struct table *t = &db->tables.v[i];

		for (unsigned k = 1; k < t->n; k++)
			if (t->v[k])
				map64_put(&db->by_alias, t->v[k], i * ALIAS_PLACES + k);
	}
}

/* Ports come and go, so that tables without an alias would add up. */
static void drop_empty_tables(struct alias_db *db)
{
	size_t n = 0;

	map64_clear(&db->by_port);
	for (struct table *t = db->tables.v; t < vec_end(&db->tables); t++) {
		if (!aliases_in(t)) {
			free(t->v);
			continue;
		}
		map64_put(&db->by_port, t->port, (uint32_t)n);
		db->tables.v[n++] = *t;
	}
	db->tables.n = n;
	db->tidy_at = 2 * n + TABLES_MIN;
	forget_gone(db);
}

/* Makes the port's table long enough for the place; returns the table's index. */
static uint32_t make_room(struct alias_db *db, uint64_t port, unsigned place)
{
	unsigned n = (place / ALIAS_BLOCK + 1) * ALIAS_BLOCK;
	uint32_t i = map64_get(&db->by_port, port);
	struct table *t;

	if (i == MAP64_NONE) {
		if (db->tables.n >= db->tidy_at)
			drop_empty_tables(db);
		i = (uint32_t)db->tables.n;
		*vec_push(&db->tables) = (struct table){ .port = port };
		map64_put(&db->by_port, port, i);
	}
	t = &db->tables.v[i];
	if (n > t->n) {
		t->v = xrealloc(t->v, n, sizeof(*t->v));
		memset(t->v + t->n, 0, (n - t->n) * sizeof(*t->v));
		t->n = n;
	}
	return i;
}

/* Counts one alias more or less of the port. */
static void count(struct alias_db *db, uint64_t port, int more)
{
	db->n += (size_t)more;
	holdings_add(db->holdings, HOLD_ALIASES, port, more);
}

bool alias_room(struct alias_db *db, uint64_t port, unsigned place)
{
	return alias_at(db, port, place) || holdings_ask(db->holdings, HOLD_ALIASES, port);
}

bool alias_put(struct alias_db *db, uint64_t port, unsigned place, uint64_t alias)
{
	struct alias_change c = { port, alias_at(db, port, place), alias, place };

	if (alias == c.from)
		return true;
	if (!place || place >= ALIAS_PLACES || (alias && find(db, alias)))
		return false;
	uint32_t i = make_room(db, port, place);

	db->tables.v[i].v[place] = alias;
	if (c.from) {
		map64_put(&db->by_alias, c.from, 0);
		db->gone++;
		count(db, port, -1);
	}
	if (alias) {
		db->gone -= map64_put(&db->by_alias, alias, i * ALIAS_PLACES + place) != MAP64_NONE;
		count(db, port, 1);
	}
	if (db->gone > db->n + GONE_MIN)
		forget_gone(db);
	if (db->changed)
		db->changed(db->arg, &c);
	return true;
}

/* --- assigning --- */

uint64_t alias_assign(struct alias_db *db)
{
	while (db->assigned < UINT32_MAX) {
		uint64_t guid = ASSIGNED_FIRST + ++db->assigned;

		if (!find(db, guid))
			return guid;
	}
	return 0;
}

uint32_t alias_assigned(const struct alias_db *db)
{
	return db->assigned;
}

void alias_set_assigned(struct alias_db *db, uint32_t n)
{
	db->assigned = n;
}
