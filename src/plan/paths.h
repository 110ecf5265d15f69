/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Computes what each route can carry: its least MTU and rate, and the SLs that map to a real VL at
 * every hop.
 *
 * Results are computed once for all (switch, LID) pairs, so that a PathRecord query walks nothing.
 *
 * Nearly all LIDs are reached equally well from everywhere: a LID has one class, or else a row of
 * classes, one per switch.  Equal rows are stored once.
 */
#ifndef QOSD_PLAN_PATHS_H
#define QOSD_PLAN_PATHS_H

#include "fabric/fabric.h"
#include "lib/base/alloc.h"
#include "qos/tables/qos_tables.h"
#include "routing/route.h"

/* What the route from a switch's out port to the LID's port carries; class 0 is "no route". */
struct path_class {
	uint8_t mtu;		/* MTU code, least on the route */
	uint8_t rate;		/* rate code, least on the route */
	uint16_t sl_mask;	/* bit s: SL s maps to a real VL at every later switch */
};

struct hops;			/* plan/routes/changed_ways.h */

#define PATH_ROW UINT16_MAX
struct paths {
	struct path_class *classes;
	uint32_t n_classes;
	uint16_t *by_lid;	/* [lid]: class, or PATH_ROW: see rows */
	uint16_t **rows;	/* [lid]: NULL, or [switch] -> class, one of shared */
	VEC(uint16_t *) shared;
	uint16_t top;		/* highest LID */
	uint32_t n_switches;
	struct hops *hops;	/* the input besides forwarding tables */
};

/*
 * Takes SLs per hop from t as in force.  If tables are not managed, only SL 0 is valid, and only
 * where no device is known to drop it.
 */
struct paths *paths_compute(const struct fabric *f, const struct lfts *l, uint16_t top,
			    const uint32_t *port_by_lid, const struct qos_tables *t);
/*
 * The same, taking over results of `before` as far as they hold.  changes: relative to the tables
 * and hops from which before was computed; NULL: unknown.  hops: paths_hops() of f and t; the
 * result takes ownership.
 */
struct hops *paths_hops(const struct fabric *f, const struct qos_tables *t);
struct paths *paths_update(const struct fabric *f, const struct lfts *l, uint16_t top,
			   const uint32_t *port_by_lid, const struct qos_tables *t,
			   struct hops *hops, const struct route_changes *changes,
			   const struct paths *before);
void paths_free(struct paths *p);

static inline const struct path_class *paths_get(const struct paths *p, uint32_t sw, uint16_t lid)
{
	uint16_t c = p->by_lid[lid];
	return &p->classes[c == PATH_ROW ? p->rows[lid][sw] : c];
}

/* The whole route from end port src to a LID of end port dst. */
struct path_info {
	uint8_t mtu, rate;
	uint16_t sl_mask;	/* 0 and mtu 0: no route */
};
struct path_info paths_between(const struct paths *p, const struct fabric *f,
			       const struct lfts *l, const struct qos_tables *t,
			       uint32_t src, uint32_t dst, uint16_t dlid);

/*
 * The SLs that pass from port in of a node to its port out (numbers): those that the plan lets pass
 * and that pass by the device's actual tables.  A port without a table, though tables are managed,
 * takes everything on its one VL.
 */
uint16_t paths_hop_sls(const struct fabric *f, const struct qos_tables *t,
		       uint32_t node, unsigned in, unsigned out);

/* What an end port and its link can carry, to any destination. */
struct path_info paths_of_port(const struct fabric *f, uint32_t port);

/* One hop of a route, for `route` and `explain`. */
struct path_hop {
	uint32_t node;
	uint8_t in, out;	/* port numbers; 0: in at the source, out at the destination */
	uint16_t map;		/* SL2VL id in force at out; TABLE_NONE: not managed */
};
/* Fills the hops from src to dlid, at most max; returns their number, 0 if there is no route. */
unsigned paths_walk(const struct fabric *f, const struct lfts *l, const struct qos_tables *t,
		    uint32_t src, uint16_t dlid, uint32_t dst, struct path_hop *hops, unsigned max);
#define PATH_HOPS_MAX 64
/*
 * The same, also for a route that does not arrive (*there is false): its last hop leads nowhere
 * (its out port has no link, is LFT_DROP, or leads to a wrong host), or the route is a cycle when
 * max hops were filled.
 */
unsigned paths_follow(const struct fabric *f, const struct lfts *l, const struct qos_tables *t,
		      uint32_t src, uint16_t dlid, uint32_t dst, struct path_hop *hops,
		      unsigned max, bool *there);

#endif
