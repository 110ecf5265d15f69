/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Declares the state of building P_Key tables, private to pkey_members.c and pkey_tables.c.
 */
#ifndef QOSD_PLAN_PARTITIONS_PKEY_PARTS_H
#define QOSD_PLAN_PARTITIONS_PKEY_PARTS_H

#include "plan/partitions/pkey_members.h"
#include "qos/groups/port_guids.h"

struct holding {		/* P_Keys of one end port so far */
	VEC(uint16_t) keys;
	uint16_t first;		/* the one that index 0 is for; 0: none */
};

/* Ports with some problem: their number, and one of them. */
struct tally {
	uint32_t n, example;
};

struct builder {
	const struct policy *policy;
	const struct pkey_places *known;
	struct port_names *names;	/* NULL: not needed yet */
	const struct fabric *f;
	const struct group_sets *groups;
	struct findings *out;
	struct partitions *p;
	struct guid_index guids;
	struct holding *holding;	/* per port slot */
	uint64_t *members, *range;	/* sets of ports: members of a partition, ports in a range of GUIDs */
	uint8_t *membership;		/* per port slot: membership of the members, and MEMBER_FIRST */
	uint32_t *at;			/* [0x10000]: scratch by P_Key, 0 between uses */
	struct map64 by_hash;
};

/* The P_Key is to have index 0: added to the membership. */
#define MEMBER_FIRST 8u

static inline void count(struct tally *t, uint32_t port)
{
	if (!t->n++)
		t->example = port;
}

/* pkey_tables.c */
/* Makes the tables of end ports from what they hold. */
void make_pkey_tables(struct builder *b);
/* Some two ports of CAs and routers must be kept apart. */
bool pkeys_restrict(const struct partitions *p, const struct fabric *f);
/*
 * Makes the tables of switch ports that face end ports and can enforce in one of the directions; adds
 * findings where that is impossible.
 */
void enforce_pkeys(struct builder *b, enum partition_enforcement directions);

#endif
