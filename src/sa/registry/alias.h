/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Alias GUIDs: further GUIDs of end ports, which GIDs may have in place of the
 * port's own (GUIDInfo, 14.2.5.5).  Each is in one place of one port's table.
 *
 * Which are taken by ports as their own is the caller's to know.  How many there may be is bounded
 * (sa/registry/holdings.h).  A port that is away keeps its aliases.  A database that is NULL is
 * empty.  Not safe for several threads while it changes; look-ups are else.
 */
#ifndef QOSD_SA_REGISTRY_ALIAS_H
#define QOSD_SA_REGISTRY_ALIAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ALIAS_PLACES	256		/* of a port: GUIDCap has 8 bits; the first is its own */
#define ALIAS_BLOCK	8		/* places in a block of GUIDInfo */

struct alias_db;
struct holdings;

/* One place of a port's table, from one GUID to another; 0: none. */
struct alias_change {
	uint64_t port, from, to;
	unsigned place;
};

struct alias_db *alias_new(void);
void alias_free(struct alias_db *db);		/* NULL is fine */
/* changed() is called after each change from now on; NULL: no more. */
void alias_watch(struct alias_db *db, void (*changed)(void *arg, const struct alias_change *c),
		 void *arg);

/* Ports hold what is there, and what comes from now on, by h, which must outlive db. */
void alias_hold(struct alias_db *db, struct holdings *h);

size_t alias_count(const struct alias_db *db);
/* The GUID of the port that has an alias; 0 if nobody has it. */
uint64_t alias_owner(const struct alias_db *db, uint64_t alias);
/* What is in a place of a port's table; 0: nothing. */
uint64_t alias_at(const struct alias_db *db, uint64_t port, unsigned place);
/* Whether the port may have one more alias, unless there is one in the place. */
bool alias_room(struct alias_db *db, uint64_t port, unsigned place);
/*
 * Puts an alias into a place from 1 on, in place of what is there, whatever alias_room() says; 0
 * empties it.  False, and nothing changes: it is in another place already.
 */
bool alias_put(struct alias_db *db, uint64_t port, unsigned place, uint64_t alias);

/* A GUID that no place has, and that this never returned before; 0: there are no more. */
uint64_t alias_assign(struct alias_db *db);
/* How many it has returned, for the disk; and the next are to be others than those. */
uint32_t alias_assigned(const struct alias_db *db);
void alias_set_assigned(struct alias_db *db, uint32_t n);

/*
 * Ports that have or had aliases, in some order: the i-th, and how many blocks of its
 * table did.  False: there are no more.
 */
bool alias_port(const struct alias_db *db, size_t i, uint64_t *port, unsigned *blocks);

#endif
