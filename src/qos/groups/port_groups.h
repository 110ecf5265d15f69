/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Resolves port groups against a fabric into one bit per port slot and group.
 *
 * A GUID, a node type and `all` name end ports (CA and router ports, switch port 0); "NodeDescription/Pn"
 * may also name an external port of a switch.  For tables, port 0 of a switch as a member stands for the
 * whole switch.  A group defined by a partition has the partition's members in the policy, full or
 * limited; config/ makes sure that no group contains itself.
 */
#ifndef QOSD_QOS_GROUPS_PORT_GROUPS_H
#define QOSD_QOS_GROUPS_PORT_GROUPS_H

#include "fabric/fabric.h"
#include "qos/groups/port_guids.h"
#include "qos/policy.h"

struct group_sets {
	uint32_t n_ports;	/* bits per set */
	uint32_t n_groups;	/* the policy's groups, plus one for `all` */
	uint32_t words;		/* 64-bit words per set */
	uint64_t *bits;
	uint32_t *by_name;	/* the policy's groups in order of name */
};

/*
 * Findings (T6, P1): a warning for each GUID (single value), name or partition that is not in the fabric,
 * for a range or glob that matches nothing, and for an empty group.
 */
struct group_sets *groups_resolve(const struct policy *p, const struct fabric *f,
				  struct findings *out);
void groups_free(struct group_sets *g);
/* The set number of a name ("all" included); UINT32_MAX if unknown. */
uint32_t groups_find(const struct group_sets *g, const struct policy *p, const char *name);
/* Whether any of the named groups has the port (a slot). */
bool groups_any_has(const struct group_sets *g, const struct policy *p,
		    const struct policy_names *names, uint32_t port);

/*
 * Lists the nodes of a fabric in order of description, so that the cost of a glob grows with its matches
 * only.
 */
struct port_names *port_names_new(const struct fabric *f);
void port_names_free(struct port_names *n);	/* NULL is fine */
/* Adds the ports that a "NodeDescription/Pn" with globs names to a set; false if there are none. */
bool port_names_add(const struct port_names *n, const char *name, uint64_t *set);
/* Adds the end ports of nodes of these types (enum policy_node_type) to a set. */
void node_types_add(const struct guid_index *guids, const struct fabric *f, unsigned types,
		    uint64_t *set);

static inline const uint64_t *group_set(const struct group_sets *g, uint32_t group)
{
	return g->bits + (size_t)group * g->words;
}

static inline bool group_has(const struct group_sets *g, uint32_t group, uint32_t port)
{
	return g->bits[(size_t)group * g->words + (port >> 6)] >> (port & 63) & 1;
}

#endif
