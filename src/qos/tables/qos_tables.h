/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Computes OperationalVLs, SL2VL, VLArb and the high limit of every port from a policy and a fabric.
 *
 * Implements T1..T6 as plain data; nothing is sent here.  Tables are interned, because nearly all of a
 * fabric's SL2VL tables are equal; a port has an index.
 *
 * For each (in, out) of a switch and each CA port:
 *  1. The default of the port's class applies, else the built-in one: SL i to VL i, folded into the link's
 *     VLs; every VL in the low arbitration table with equal weights.
 *  2. Each fabric-setup scope applies in file order, so that the last one wins.
 *  3. With traffic classes, neither of these applies, but what the classes make of the link, on all ports
 *     except those of the excepted groups.
 *  4. OperationalVLs of a link covers what the tables of both ends and both directions use, at most what
 *     both ends support (and max-vls).  A VL beyond that is mapped to VL15, and its arbitration entries are
 *     omitted, with a finding.  With `unsupported-vl: fold`, (VL mod supported VLs) takes its place in both
 *     kinds of table.  Built-in tables fold without a finding.
 */
#ifndef QOSD_QOS_TABLES_QOS_TABLES_H
#define QOSD_QOS_TABLES_QOS_TABLES_H

#include "fabric/fabric.h"
#include "qos/arbiter/vlarb_from_shares.h"
#include "qos/groups/port_groups.h"
#include "qos/policy.h"
#include "qos/sl_plan.h"

#define TABLE_NONE UINT16_MAX	/* the port has no such table, or qosd does not write it */

struct switch_maps {
	uint16_t uniform;	/* id for every pair; TABLE_NONE: see ids */
	uint16_t *ids;		/* [in * (nports + 1) + out]; NULL if uniform */
};

/* Tables that devices hold, where these differ from the tables that qosd wants; all others are as wanted. */
struct fixed_tables {
	uint16_t **sw;		/* [switch]: like ids of switch_maps; NULL: as wanted */
	uint16_t *ca_map;	/* [port slot]: like ca_map of qos_tables */
	uint8_t *op_vls;	/* [port slot]: like op_vls of qos_tables, the lesser of both ends */
	/* [port slot]: bit v: the arbitration tables let VL v send; all bits: as wanted */
	uint16_t *sends;
	uint8_t *mtu;		/* [port slot]: NeighborMTU code; MTUCap without a link */
};

struct qos_tables {
	bool managed;		/* false: only op_vls is set, no tables */
	uint32_t n_ports;
	uint8_t *op_vls;	/* [port slot]: OperationalVLs code 1..5, 0 without a link */
	uint16_t *arb;		/* [port slot]: index into arbs */
	uint16_t *ca_map;	/* [port slot]: index into maps for a CA or router port, else TABLE_NONE */
	struct switch_maps *sw;	/* [switch] */
	uint32_t n_switches;
	struct sl2vl *maps;
	uint32_t n_maps;
	struct vlarb *arbs;
	uint32_t n_arbs;
	/*
	 * Result of the policy's traffic classes, in their order, on each kind of link: ports with equal
	 * VLs, table sizes and MTU.
	 */
	struct class_fit *fits;
	uint32_t n_fits;
	uint16_t *fit;		/* [port slot]: index into fits; TABLE_NONE: not by classes */
	struct fixed_tables *fixed;	/* NULL: devices accepted everything; see qos/tables/fixed_tables.c */
};

/*
 * Builds the tables.  max_vls: most data VLs of any link (1..15, the daemon's setting); max-vls of the
 * policy's classes of port may lower it.  sls: with more than one layer, tables are managed whatever the
 * policy says, and links between switches carry all layers.
 *
 * Findings about traffic classes: an error for a fabric-setup scope that names one of their ports; for
 * each kind of link an info with the classes that share a VL, a warning if all do, and a warning with the
 * share that is missed most.  About any tables: a warning for VLs that SL2VL sends to and no arbitration
 * table serves.
 */
struct qos_tables *qos_tables_build(const struct policy *p, const struct fabric *f,
				    const struct group_sets *g, unsigned max_vls,
				    const struct sl_plan *sls, struct findings *out);
void qos_tables_free(struct qos_tables *t);

enum port_class port_class_of(const struct fabric *f, uint32_t port);

/*
 * The index of the table wanted between two ports of a node, given by their numbers.  For a CA port, in is
 * ignored.  TABLE_NONE if there is none to write: in == out on an external port of a switch; a port
 * without link; port 0 as out of a base port 0; a device whose CapabilityMask says that it has no such
 * tables (all SLs are on VL 0 there); or tables not managed.
 */
uint16_t qos_sl2vl_id(const struct qos_tables *t, const struct fabric *f,
		      uint32_t node, unsigned in, unsigned out);

/* The SLs that a table maps to a VL of the out port; op_vls: its OperationalVLs, 0: unknown. */
uint16_t qos_map_sls(const struct sl2vl *map, unsigned op_vls);

/* --- tables that devices keep (qos/tables/fixed_tables.c) --- */

/* The SL2VL table that a device was seen to hold for a pair. */
struct fixed_map {
	uint32_t node;
	uint8_t in, out;	/* port numbers; in is 0 on a CA */
	struct sl2vl map;
};

/* A port that was seen with arbitration tables that give no weight to a VL in use. */
struct fixed_arb {
	uint32_t node;
	uint8_t num;		/* port */
	uint16_t sends;		/* bit v: VL v has weight */
};

/* All tables that were seen; of several for one pair or port the last one counts. */
struct fixed_seen {
	const struct fixed_map *maps;
	size_t n_maps;
	const struct fixed_arb *arbs;
	size_t n_arbs;
};

/*
 * Whether some link of the fabric has fewer VLs than it should have, or a smaller NeighborMTU than both
 * ends support.
 */
bool qos_links_lack(const struct qos_tables *t, const struct fabric *f);
/*
 * Fills t->fixed, once, from the SL2VL and arbitration tables that were seen, and from OperationalVLs and
 * NeighborMTU in f.  The wanted tables stay unchanged; tables that were seen but not wanted are appended
 * to t->maps.  A warning for each device says which SLs are lost there, and another how many of its links
 * carry only short packets.
 */
void qos_tables_keep(struct qos_tables *t, const struct fabric *f, const struct fixed_seen *seen,
		     struct findings *out);
void qos_fixed_free(struct fixed_tables *k, uint32_t n_switches);

/* As qos_sl2vl_id(), for the table that the device holds. */
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

/* OperationalVLs in force for packets that leave by a port: a code as in op_vls. */
static inline unsigned qos_vls_in_force(const struct qos_tables *t, uint32_t port)
{
	return t->fixed ? t->fixed->op_vls[port] : t->op_vls[port];
}

#define ALL_VLS 0xffff
/* Bits of the VLs that can send on a port.  Arbitration does not apply to a port with one VL. */
static inline unsigned qos_vls_sending(const struct qos_tables *t, uint32_t port)
{
	return t->fixed && ib_vls_from_code(t->fixed->op_vls[port]) != 1 ? t->fixed->sends[port] :
	       ALL_VLS;
}
/* The SLs that a table maps to one of the VLs, given as bits. */
uint16_t qos_map_sls_on(const struct sl2vl *map, unsigned vls);

#endif
