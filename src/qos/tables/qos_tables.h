/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tables that a policy means on a fabric: OperationalVLs, SL2VL, VLArb and
 * the high limit for every port (T1..T6).  Plain data; nothing is sent here.
 *
 * Tables are interned: nearly all of a fabric's SL2VL tables are equal, and a
 * port has an index.
 *
 * How they come about, for each (in, out) of a switch and each CA port:
 *  1. the default of the port's class, else the built-in one: SL i to VL i,
 *     folded into the link's VLs; every VL in the low arbitration table with
 *     equal weights;
 *  2. each fabric-setup scope in file order, so that the last one wins;
 *  3. with traffic classes neither of these, but what they make of the link, on
 *     all ports save those of the groups that are excepted;
 *  4. OperationalVLs of a link: what the tables of both ends and both
 *     directions use, at most what both ends support (and max-vls); a VL
 *     beyond that is mapped to VL15 with a finding, or with `unsupported-vl:
 *     fold` to (VL mod supported VLs).  Built-in tables fold silently.
 */
#ifndef QOSD_QOS_TABLES_QOS_TABLES_H
#define QOSD_QOS_TABLES_QOS_TABLES_H

#include "fabric/fabric.h"
#include "qos/arbiter/traffic_classes.h"
#include "qos/groups/port_groups.h"
#include "qos/policy.h"
#include "qos/sl_plan.h"

#define TABLE_NONE UINT16_MAX	/* this port has no such table, or it is not ours to write */

struct switch_maps {
	uint16_t uniform;	/* the id for every pair, or TABLE_NONE: see ids */
	uint16_t *ids;		/* [in * (nports + 1) + out], NULL when uniform */
};

/* What devices have, where that is not what they were told: everything else is as wanted. */
struct fixed_tables {
	uint16_t **sw;		/* per switch: as ids of switch_maps, or NULL: as wanted */
	uint16_t *ca_map;	/* per port slot, as below */
	uint8_t *op_vls;	/* … and here the lesser of both ends */
	uint16_t *sends;	/* … bit v: the arbitration tables let VL v send; all bits: as wanted */
	uint8_t *mtu;		/* per port slot: likewise, of NeighborMTU; MTUCap without a link */
};

struct qos_tables {
	bool managed;		/* false: op_vls only, no tables */
	uint32_t n_ports;
	uint8_t *op_vls;	/* per port slot: code 1..5, 0 where there is no link */
	uint16_t *arb;		/* per port slot: index into arbs */
	uint16_t *ca_map;	/* per port slot: of a CA or router port, else TABLE_NONE */
	struct switch_maps *sw;	/* per switch */
	uint32_t n_switches;
	struct sl2vl *maps;
	uint32_t n_maps;
	struct vlarb *arbs;
	uint32_t n_arbs;
	/*
	 * What the policy's traffic classes, in their order, come to on each kind of
	 * link there is: ports with equal VLs, table sizes and MTU.
	 */
	struct class_fit *fits;
	uint32_t n_fits;
	uint16_t *fit;		/* per port slot: index into fits; TABLE_NONE: not by classes */
	struct fixed_tables *fixed;	/* NULL: devices took all of it; see qos/tables/fixed_tables.c */
};

/*
 * max_vls: the most data VLs that any link may have (1..15, the daemon's
 * setting), below what the policy's classes say with max-vls.  sls: with more layers than one
 * tables are managed whatever the policy says, and links between switches have them all; else these
 * have the tables that they would have with one.
 *
 * Findings about traffic classes: an error for a fabric-setup scope that names
 * one of their ports; for each kind of link an info with the classes that share
 * a VL, a warning if all do, and a warning with the share that is missed most.
 * About any tables: a warning for VLs that SL2VL sends to and no arbitration
 * table serves.
 */
struct qos_tables *qos_tables_build(const struct policy *p, const struct fabric *f,
				    const struct group_sets *g, unsigned max_vls,
				    const struct sl_plan *sls, struct findings *out);
void qos_tables_free(struct qos_tables *t);

enum port_class port_class_of(const struct fabric *f, uint32_t port);

/*
 * Which table is wanted between two ports of a node.  For a CA port in is
 * ignored.  TABLE_NONE when there is none to write: in == out on a switch
 * external port, a port without link, port 0 as out of a base port 0, a device
 * whose CapabilityMask says that it has no such tables (all SLs are on VL 0
 * there), or tables not managed.  in and out are port numbers of node.
 */
uint16_t qos_sl2vl_id(const struct qos_tables *t, const struct fabric *f,
		      uint32_t node, unsigned in, unsigned out);

/* SLs that a table maps to a VL which the out port has; op_vls: its OperationalVLs, 0: not known. */
uint16_t qos_map_sls(const struct sl2vl *map, unsigned op_vls);

/* --- tables that devices keep (qos/tables/fixed_tables.c) --- */

/* Seen on a device: the SL2VL table of a pair for which there is one. */
struct fixed_map {
	uint32_t node;
	uint8_t in, out;	/* port numbers; in is 0 on a CA */
	struct sl2vl map;
};

/* Seen on a device: a port whose arbitration tables give no weight to a VL that is used. */
struct fixed_arb {
	uint32_t node;
	uint8_t num;		/* port */
	uint16_t sends;		/* bit v: VL v has weight */
};

/* All that was seen; of several that are for one pair or port the last one counts. */
struct fixed_seen {
	const struct fixed_map *maps;
	size_t n_maps;
	const struct fixed_arb *arbs;
	size_t n_arbs;
};

/*
 * Whether a link of the fabric has fewer VLs than it is meant to have, or a smaller NeighborMTU
 * than both ends support.
 */
bool qos_links_lack(const struct qos_tables *t, const struct fabric *f);
/*
 * Fills t->fixed, once, from what was seen of SL2VL and arbitration tables and from
 * OperationalVLs and NeighborMTU of f.  What is wanted stays as it is; t->maps gets the tables
 * that nobody wanted behind the others.  A warning for each device says which SLs are lost
 * there, and another one how many of its links carry short packets only.
 */
void qos_tables_keep(struct qos_tables *t, const struct fabric *f, const struct fixed_seen *seen,
		     struct findings *out);
void qos_fixed_free(struct fixed_tables *k, uint32_t n_switches);

/* As qos_sl2vl_id(), of the table that the device has. */
static inline uint16_t qos_sl2vl_in_force(const struct qos_tables *t, const struct fabric *f,
					  uint32_t node, unsigned in, unsigned out)
{
	const struct fabric_node *n = &f->nodes[node];

	if (!t->fixed)
		return qos_sl2vl_id(t, f, node, in, out);
	if (!node_is_switch(n))
		return t->fixed->ca_map[n->port0 + out];
	return t->fixed->sw[n->sw] ? t->fixed->sw[n->sw][in * (n->nports + 1u) + out] :
				    qos_sl2vl_id(t, f, node, in, out);
}

/* The VLs that packets may have which leave by a port: a code as in op_vls. */
static inline unsigned qos_vls_in_force(const struct qos_tables *t, uint32_t port)
{
	return t->fixed ? t->fixed->op_vls[port] : t->op_vls[port];
}

#define ALL_VLS 0xffff
/* Those of them that ever send: the arbitration of a port with one VL has no say. */
static inline unsigned qos_vls_sending(const struct qos_tables *t, uint32_t port)
{
	return t->fixed && ib_vls_from_code(t->fixed->op_vls[port]) != 1 ? t->fixed->sends[port] :
	       ALL_VLS;
}
/* SLs that a table maps to one of the VLs. */
uint16_t qos_map_sls_on(const struct sl2vl *map, unsigned vls);

#endif
