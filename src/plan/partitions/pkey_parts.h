/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by pkey_members.c and pkey_tables.c only: what building the tables takes.
 */
#ifndef QOSD_PLAN_PARTITIONS_PKEY_PARTS_H
#define QOSD_PLAN_PARTITIONS_PKEY_PARTS_H

#include "plan/partitions/pkey_members.h"
#include "qos/groups/port_guids.h"

struct holding {		/* what one end port holds so far */
	VEC(uint16_t) keys;
};

/* Ports to which something happened: how many, and one of them. */
struct tally {
	uint32_t n, example;
};

struct builder {
	const struct policy *policy;
	const struct pkey_places *known;
	struct port_names *names;	/* NULL: not asked for yet */
	const struct fabric *f;
	const struct group_sets *groups;
	struct findings *out;
	struct partitions *p;
	struct guid_index guids;
	struct holding *holding;	/* per port slot */
	uint64_t *members, *range;	/* of a partition, of a range of GUIDs: sets of ports */
	uint8_t *membership;		/* per port slot: that of its members */
	uint32_t *at;			/* [0x10000]: of each P_Key something, 0 between uses */
	struct map64 by_hash;
};

static inline void count(struct tally *t, uint32_t port)
{
	if (!t->n++)
		t->example = port;
}

/* pkey_tables.c */
/* Holdings to tables of end ports. */
void make_pkey_tables(struct builder *b);
/* Whether any two ports of CAs and routers are to be kept apart at all. */
bool pkeys_restrict(const struct partitions *p, const struct fabric *f);
/* The tables of switch ports that face them; says where that can't be done. */
void enforce_pkeys(struct builder *b);

#endif
