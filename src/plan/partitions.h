/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who is in which partition of the policy, and the P_Key tables that follow
 * (IBA 10.9): of every end port, and of the switch port at the other end of a
 * CA's or router's link, which enforces them.
 *
 * Tables are interned: most ports of a fabric have the same one.  Entry 0 is
 * the default partition's P_Key wherever the port is in it; the others follow
 * in the order of the policy, which keeps an index as long as what stands before
 * it in the policy stays.
 *
 * The SM's own port is always a full member of the default partition, whatever
 * the policy says: nobody else could reach the SA.
 */
#ifndef QOSD_PLAN_PARTITIONS_H
#define QOSD_PLAN_PARTITIONS_H

#include "fabric/fabric.h"
#include "qos/groups.h"
#include "qos/policy.h"

struct pkey_table {
	uint16_t *keys;		/* with membership bit; no 0 in between */
	uint32_t n;
};

struct partitions {
	uint32_t n_ports;
	uint16_t *table;	/* per port slot: index into tables; of end ports, and of switch
				 * external ports that are linked to a CA or router */
	bool *enforce;		/* per port slot, of switch external ports: in and out */
	struct pkey_table *tables;	/* [0] is empty */
	uint32_t n_tables;
};

/*
 * groups_resolve() asks for the members of partitions, so that membership by
 * group must not go in a circle: conf/ refuses that.  Findings: a member that is
 * nowhere (warning), a P_Key table that is too short for a port's partitions
 * (error: the last ones are left out; of a switch port: warning, no enforcement
 * there), a port in no partition (warning: it can't reach the SA), a partition
 * without members.
 */
struct partitions *partitions_build(const struct policy *p, const struct fabric *f,
				    const struct group_sets *g, struct findings *out);
void partitions_free(struct partitions *p);

/* The keys of a port, with membership bit. */
static inline const struct pkey_table *port_pkeys(const struct partitions *p, uint32_t port)
{
	return &p->tables[p->table[port]];
}
/* What an end port is in a partition: of the two P_Keys that it holds. */
enum membership port_membership(const struct partitions *p, uint32_t port, uint16_t pkey);
/*
 * The P_Key by which a talks to b, with a's membership bit: `pkey` (either form)
 * if that is not 0, else the first of a's table.  0 if they share none: two
 * limited members do not talk (10.9.3).
 */
uint16_t shared_pkey(const struct partitions *p, uint32_t a, uint32_t b, uint16_t pkey);
/* Index of the policy's partition with this P_Key (either form), or UINT32_MAX. */
uint32_t policy_find_partition(const struct policy *p, uint16_t pkey);

#endif
