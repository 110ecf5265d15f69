/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stores alias GUIDs, which are further GUIDs of end ports (GUIDInfo, 14.2.5.5).
 *
 * A GID may have an alias in place of the port's own GUID.  An alias is in one place of one
 * port's table.
 *
 * The caller checks that no port has the alias as its own GUID.  The number of aliases is bounded
 * (sa/registry/holdings.h).  A departed port keeps its aliases.  A database that is NULL is
 * empty.  Several threads may look up aliases at once, but not while one changes the database.
 */
#ifndef QOSD_SA_REGISTRY_ALIAS_H
#define QOSD_SA_REGISTRY_ALIAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ALIAS_PLACES	256		/* per port (GUIDCap has 8 bits); place 0: the port's own GUID */
#define ALIAS_BLOCK	8		/* places in a block of GUIDInfo */

struct alias_db;
struct holdings;

/* A change of one place in a port's table from one GUID to another; 0: none. */
struct alias_change {
	uint64_t port, from, to;
	unsigned place;
};

struct alias_db *alias_new(void);
void alias_free(struct alias_db *db);		/* NULL is fine */
/* Sets the function that is called after each change; NULL: none. */
void alias_watch(struct alias_db *db, void (*changed)(void *arg, const struct alias_change *c),
		 void *arg);

/* Counts the present and all future aliases of each port in h, which must outlive db. */
void alias_hold(struct alias_db *db, struct holdings *h);

size_t alias_count(const struct alias_db *db);
/* The GUID of the port that has the alias; 0: no port has it. */
uint64_t alias_owner(const struct alias_db *db, uint64_t alias);
/* The alias in a place of a port's table; 0: none. */
uint64_t alias_at(const struct alias_db *db, uint64_t port, unsigned place);
/* Whether the place has an alias or the port may have one more; counts a refusal in the holdings. */
bool alias_room(struct alias_db *db, uint64_t port, unsigned place);
/*
 * Puts an alias into a place from 1 on and replaces the one there, whatever alias_room() says; alias 0
 * empties the place.  False, and nothing changes: the alias has another place already, or there is no
 * such place.
 */
bool alias_put(struct alias_db *db, uint64_t port, unsigned place, uint64_t alias);

/* Returns a new GUID, which is in no place and was never returned before; 0: all were used. */
uint64_t alias_assign(struct alias_db *db);
/* How many GUIDs alias_assign() went through; stored on disk and set at start, so that none is used twice. */
uint32_t alias_assigned(const struct alias_db *db);
void alias_set_assigned(struct alias_db *db, uint32_t n);

/*
 * The i-th port that has or had aliases, in no order, and the number of blocks in its
 * table.  False: there are no more.
 */
bool alias_port(const struct alias_db *db, size_t i, uint64_t *port, unsigned *blocks);

#endif
