/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Determines the members of each partition of the policy and the P_Key tables that follow (IBA
 * 10.9).
 *
 * Every end port has a table, and so has the switch port at the other end of a CA's or router's
 * link, which enforces the partitions.
 *
 * Equal tables are stored once: most ports of a fabric have the same one.  Entry 0 is the default
 * partition's P_Key if the port is in that partition, unless another partition wants entry 0 (`index0`)
 * or another subnet manager gave entry 0 to another P_Key that the port holds.  Any other P_Key keeps its index
 * in a port's table for as long as the port is in the partition, in whatever form, since programs use P_Keys by
 * index.  A P_Key that leaves makes a hole (0x0000).  A new P_Key goes to the first hole that no P_Key leaves
 * in the same change, in the order of the policy.  pkey_places remembers the indexes.
 *
 * The SM's own port is always a full member of the default partition, whatever the policy says:
 * nobody else could reach the SA.
 *
 * Two ports are compared by one bit per partition, in words of which a table stores only those that
 * are not 0.  So the cost of a query depends neither on the number of partitions nor, in practice,
 * on the length of the tables.
 */
#ifndef QOSD_PLAN_PARTITIONS_PKEY_MEMBERS_H
#define QOSD_PLAN_PARTITIONS_PKEY_MEMBERS_H

#include "fabric/fabric.h"
#include "lib/base/alloc.h"
#include "lib/base/buf.h"
#include "lib/base/map64.h"
#include "plan/ipoib_groups.h"
#include "plan/settings.h"
#include "qos/groups/port_groups.h"
#include "qos/policy.h"

/* Memberships in partitions 64 * at .. 64 * at + 63 of the policy. */
struct pkey_word {
	uint32_t at;
	uint64_t full, limited;
};

struct pkey_table {
	uint16_t *keys;		/* by index, with membership bit; 0: a hole, never the last */
	uint32_t n;		/* number of entries, holes included */
	struct pkey_word *words;	/* keys as bits, in order of `at`; in end ports' tables */
	uint32_t n_words;
};

/* The tables that end ports have or had, by port GUID, including absent ports. */
struct pkey_places {
	struct map64 by_guid;	/* -> index into rows */
	VEC(struct pkey_row {
		uint64_t guid;
		uint16_t *keys;		/* as in a table */
		uint32_t n;
	}) rows;
};

/* Two partitions of the policy that want index 0 of the same ports; the first has it. */
struct index0_conflict {
	uint32_t first, second;
	uint32_t n, port;	/* number of ports, and one of them */
};
#define INDEX0_CONFLICTS_MAX	64

/* A member whose table has no room for the P_Key. */
struct excluded_member {
	uint32_t partition, port;
};

struct partitions {
	uint32_t n_ports;
	/*
	 * per port slot: index into tables, for end ports and for external switch ports that
	 * enforce; else 0
	 */
	uint32_t *table;
	bool *enforce;		/* per port slot, for external switch ports: in any direction */
	struct pkey_table *tables;	/* [0] is empty */
	uint32_t n_tables;
	uint32_t n_partitions;		/* number of partitions in the policy */
	uint16_t *pkey;			/* per partition: P_Key without membership bit */
	uint16_t *by_pkey;		/* [0x8000]: index of the policy's partition + 1, or 0 */
	uint64_t **for_level;		/* per level: the partitions that it serves; NULL: any */
	uint64_t *for_own_level;	/* the partitions that are served by their own level */
	uint32_t n_levels;
	struct ipoib_group *ipoib;	/* per partition of the policy */
	VEC(struct excluded_member) excluded;	/* in order of partition */
	VEC(struct index0_conflict) conflicts;	/* in order of `second`; at most INDEX0_CONFLICTS_MAX */
};

/*
 * groups_resolve() asks for the members of partitions, so membership by group must not be cyclic:
 * config/ refuses that.  Findings: a member that does not exist (warning), a P_Key table that is
 * too short for a port's partitions (error: the last ones are excluded; for a switch port warning:
 * it does not enforce), a port that shares no partition with the SM (warning: it cannot reach the
 * SA), a partition without members.
 *
 * known: the indexes that P_Keys had so far, or NULL.
 *
 * enforcement: the directions in which switch ports are to enforce.  If all ports of CAs and routers are
 * full members of the same partitions, nothing has to be kept apart and no port enforces.
 */
/* Appends what is wrong with a conflict. */
void index0_conflict_text(const struct policy *policy, const struct fabric *f,
			  const struct index0_conflict *c, struct buf *out);
struct partitions *partitions_build(const struct policy *p, const struct fabric *f,
				    const struct group_sets *g, const struct pkey_places *known,
				    enum partition_enforcement enforcement, struct findings *out);
void partitions_free(struct partitions *p);	/* NULL is fine */

/* Remembers the tables of a fabric's end ports; true: some of them are new. */
bool pkey_places_learn(struct pkey_places *x, const struct fabric *f, const struct partitions *p);
/* The same for one port, from a file: copies the keys. */
void pkey_places_put(struct pkey_places *x, uint64_t guid, const uint16_t *keys, uint32_t n);
/*
 * The same for a port's table as read from the device, n entries.  The device's entries come first;
 * a P_Key that it lacks keeps its remembered index if that is free.  A table with only the default
 * partition's P_Key, at index 0, as after a reset, is ignored.  True: some of it is new.
 */
bool pkey_places_found(struct pkey_places *x, uint64_t guid, const uint16_t *keys, uint32_t n);
void pkey_places_free(struct pkey_places *x);

/* The keys of a port, with membership bit. */
static inline const struct pkey_table *port_pkeys(const struct partitions *p, uint32_t port)
{
	return &p->tables[p->table[port]];
}
/* Entries in the P_Key table of a port; external ports of switches have tables of their own. */
uint32_t port_pkey_cap(const struct fabric *f, uint32_t port);
/* The membership of an end port in a partition, from the P_Keys that it holds. */
enum membership port_membership(const struct partitions *p, uint32_t port, uint16_t pkey);
static inline bool port_is_member(const struct partitions *p, uint32_t port, uint16_t pkey)
{
	return port_membership(p, port, pkey) != MEMBER_NONE;
}
/*
 * The P_Key that a uses to talk to b, with a's membership bit: `pkey` (either form) if that is not
 * 0, else that of the first shared partition in the order of the policy.  0: they share none; two
 * limited members do not talk (10.9.3).
 */
uint16_t shared_pkey(const struct partitions *p, uint32_t a, uint32_t b, uint16_t pkey);
/* The level may have paths with the P_Key (given without membership bit). */
bool level_is_for(const struct policy_level *l, uint16_t pkey);
/* shared_pkey(), restricted to P_Keys that the level (an index) serves. */
uint16_t shared_pkey_of_level(const struct partitions *p, uint32_t level, uint32_t a, uint32_t b,
			      uint16_t pkey);
/*
 * The first shared P_Key whose partition is served by its own level: for traffic whose level
 * follows from the partition alone.
 */
uint16_t shared_pkey_of_own_level(const struct partitions *p, uint32_t a, uint32_t b);
/* Index of the policy's partition with this P_Key (either form), or UINT32_MAX. */
uint32_t policy_find_partition(const struct policy *p, uint16_t pkey);
/* The same, in constant time. */
static inline uint32_t partition_of_pkey(const struct partitions *p, uint16_t pkey)
{
	return p->by_pkey[pkey & IB_PKEY_DEFAULT] - 1u;
}

#endif
