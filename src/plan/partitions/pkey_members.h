/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who is in which partition of the policy, and the P_Key tables that follow
 * (IBA 10.9): of every end port, and of the switch port at the other end of a
 * CA's or router's link, which enforces them.
 *
 * Tables are interned: most ports of a fabric have the same one.  Entry 0 is
 * the default partition's P_Key wherever the port is in it, unless another subnet
 * manager gave entry 0 to another P_Key that the port holds.  Any other keeps its
 * place in a port's table for as long as the port is in the partition, in
 * whatever form, since programs use P_Keys by their place.  A P_Key that leaves makes a
 * hole (0x0000).  A new P_Key goes to the first hole that no P_Key leaves in the same
 * change, in the order of the policy.  Which place a P_Key had is what pkey_places tell.
 *
 * The SM's own port is always a full member of the default partition, whatever
 * the policy says: nobody else could reach the SA.
 *
 * Two ports are held against each other by one bit per partition, in words of
 * which a table has only those that are not 0: what a query costs depends neither
 * on the number of partitions nor, in practice, on the length of the tables.
 */
#ifndef QOSD_PLAN_PARTITIONS_PKEY_MEMBERS_H
#define QOSD_PLAN_PARTITIONS_PKEY_MEMBERS_H

#include "fabric/fabric.h"
#include "lib/base/alloc.h"
#include "lib/base/map64.h"
#include "plan/ipoib_groups.h"
#include "qos/groups/port_groups.h"
#include "qos/policy.h"

/* Memberships in the partitions 64 at .. 64 at + 63 of the policy. */
struct pkey_word {
	uint32_t at;
	uint64_t full, limited;
};

struct pkey_table {
	uint16_t *keys;		/* by place, with membership bit; 0: a hole, never the last */
	uint32_t n;		/* places, holes included */
	struct pkey_word *words;	/* the same, in order of `at`; of end ports' tables */
	uint32_t n_words;
};

/* The tables that end ports have or had, by port GUID, of absent ports too. */
struct pkey_places {
	struct map64 by_guid;	/* -> index into rows */
	VEC(struct pkey_row {
		uint64_t guid;
		uint16_t *keys;		/* as in a table */
		uint32_t n;
	}) rows;
};

/* A member whose table has no room for the P_Key. */
struct excluded_member {
	uint32_t partition, port;
};

struct partitions {
	uint32_t n_ports;
	uint32_t *table;	/* per port slot: index into tables; of end ports, and of switch
				 * external ports that enforce, else 0 */
	bool *enforce;		/* per port slot, of switch external ports: in and out */
	struct pkey_table *tables;	/* [0] is empty */
	uint32_t n_tables;
	uint32_t n_partitions;		/* of the policy */
	uint16_t *pkey;			/* per partition: without membership bit */
	uint16_t *by_pkey;		/* [0x8000]: number of the policy's partition + 1, or 0 */
	uint64_t **for_level;		/* per level: the partitions that it is for; NULL: any */
	uint64_t *for_own_level;	/* the partitions whose own level is for them */
	uint32_t n_levels;
	struct ipoib_group *ipoib;	/* per partition of the policy */
	VEC(struct excluded_member) excluded;	/* in order of partition */
};

/*
 * groups_resolve() asks for the members of partitions, so that membership by
 * group must not go in a cycle: config/ refuses that.  Findings: a member that is
 * nowhere (warning), a P_Key table that is too short for a port's partitions
 * (error: the last ones are excluded; of a switch port: warning, no enforcement
 * there), a port that shares no partition with the SM (warning: it can't reach
 * the SA), a partition without members.
 *
 * known: the places that P_Keys had so far, or NULL.
 *
 * Nothing is enforced where there is nothing to keep apart: when all ports of CAs
 * and routers are full members of the same partitions.
 */
struct partitions *partitions_build(const struct policy *p, const struct fabric *f,
				    const struct group_sets *g, const struct pkey_places *known,
				    struct findings *out);
void partitions_free(struct partitions *p);	/* NULL is fine */

/* Remembers the places of a fabric's end ports; true if any of them is news. */
bool pkey_places_learn(struct pkey_places *x, const struct fabric *f, const struct partitions *p);
/* The same of one port, as it was written down: takes a copy of the keys. */
void pkey_places_put(struct pkey_places *x, uint64_t guid, const uint16_t *keys, uint32_t n);
/*
 * The table of a port as it was read from the device, n places of it.  What the device has
 * comes first; a P_Key that it does not have keeps the place that was known, if that is free.
 * The default partition's P_Key alone in place 0, as after a reset, tells nothing.  True if
 * any of it is news.
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
/* What an end port is in a partition: of the two P_Keys that it holds. */
enum membership port_membership(const struct partitions *p, uint32_t port, uint16_t pkey);
static inline bool port_is_member(const struct partitions *p, uint32_t port, uint16_t pkey)
{
	return port_membership(p, port, pkey) != MEMBER_NONE;
}
/*
 * The P_Key by which a talks to b, with a's membership bit: `pkey` (either form)
 * if that is not 0, else that of the first partition in the order of the policy.
 * 0 if they share none: two limited members do not talk (10.9.3).
 */
uint16_t shared_pkey(const struct partitions *p, uint32_t a, uint32_t b, uint16_t pkey);
/* Whether the level may have paths of the P_Key (without membership bit). */
bool level_is_for(const struct policy_level *l, uint16_t pkey);
/* The same as shared_pkey(), of those P_Keys only that the level (an index) is for. */
uint16_t shared_pkey_of_level(const struct partitions *p, uint32_t level, uint32_t a, uint32_t b,
			      uint16_t pkey);
/*
 * The first P_Key that is shared and that the partition's own level is for: for
 * traffic of which nothing but the partition says which level it has.
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
