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
#ifndef QOSD_QOS_TABLES_H
#define QOSD_QOS_TABLES_H

#include "bandwidth/classes.h"
#include "fabric/fabric.h"
#include "qos/groups.h"
#include "qos/policy.h"

#define TABLE_NONE UINT16_MAX	/* this port has no such table, or it is not ours to write */

struct switch_maps {
	uint16_t uniform;	/* the id for every pair, or TABLE_NONE: see ids */
	uint16_t *ids;		/* [in * (nports + 1) + out], NULL when uniform */
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
};

/*
 * max_vls: the most data VLs that any link may have (1..15, the daemon's
 * setting), below what the policy's classes say with max-vls.
 *
 * Findings about traffic classes: an error for a fabric-setup scope that names
 * one of their ports; for each kind of link an info with the classes that share
 * a VL, a warning if all do, and a warning with the share that is missed most.
 * About any tables: a warning for VLs that SL2VL sends to and no arbitration
 * table serves.
 */
struct qos_tables *qos_tables_build(const struct policy *p, const struct fabric *f,
				    const struct group_sets *g, unsigned max_vls,
				    struct findings *out);
void qos_tables_free(struct qos_tables *t);

/*
 * Which table is in force between two ports of a node.  For a CA port in is
 * ignored.  TABLE_NONE when there is none to write: in == out on a switch
 * external port, a port without link, port 0 as out of a base port 0, a device
 * whose CapabilityMask says that it has no such tables (all SLs are on VL 0
 * there), or tables not managed.  in and out are port numbers of node.
 */
uint16_t qos_sl2vl_id(const struct qos_tables *t, const struct fabric *f,
		      uint32_t node, unsigned in, unsigned out);

#endif
