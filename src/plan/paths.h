/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a route can carry: the least MTU and rate on it, and the SLs that map
 * to a real VL at every hop.  Computed once for all (switch, LID) pairs, so
 * that a PathRecord query walks nothing.
 *
 * Nearly all LIDs are reached equally well from everywhere: a LID has one
 * class, or else a row of classes, one for each switch.  Equal rows are stored
 * once.
 */
#ifndef QOSD_PLAN_PATHS_H
#define QOSD_PLAN_PATHS_H

#include "fabric/fabric.h"
#include "lib/base/alloc.h"
#include "qos/tables/qos_tables.h"
#include "routing/route.h"

/* From a switch's out port on, to the LID's port; class 0 is "no route". */
struct path_class {
	uint8_t mtu;		/* MTU code, least on the way */
	uint8_t rate;		/* rate code, least on the way */
	uint16_t sl_mask;	/* bit s: SL s maps to a real VL at every later switch */
};

struct hops;			/* plan/routes/changed_ways.h */

#define PATH_ROW UINT16_MAX
struct paths {
	struct path_class *classes;
	uint32_t n_classes;
	uint16_t *by_lid;	/* [lid]: class, or PATH_ROW: see rows */
	uint16_t **rows;	/* [lid]: NULL or [switch], one of shared */
	VEC(uint16_t *) shared;
	uint16_t top;		/* last LID */
	uint32_t n_switches;
	struct hops *hops;	/* what they were computed from, beside forwarding tables */
};

/*
 * Per-hop masks of the tables are taken from t, as they are in force; when they
 * are not managed, SL 0 alone is valid, where no device is known to drop it.
 */
struct paths *paths_compute(const struct fabric *f, const struct lfts *l, uint16_t top,
			    const uint32_t *port_by_lid, const struct qos_tables *t);
/*
 * The same, from those of `before` as far as these hold: changes are against the tables and
 * hops that they were computed from; NULL: nothing is known of that.  hops: paths_hops() of f
 * and t, which the result takes over.
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

/* The whole way from end port src to a LID of end port dst. */
struct path_info {
	uint8_t mtu, rate;
	uint16_t sl_mask;	/* 0 and mtu 0: no route */
};
struct path_info paths_between(const struct paths *p, const struct fabric *f,
			       const struct lfts *l, const struct qos_tables *t,
			       uint32_t src, uint32_t dst, uint16_t dlid);

/*
 * SLs that get from port in of a node to its port out, port numbers: those
 * which are meant to, and do by the tables that the device has.  A port that has
 * no table although tables are managed takes everything on its one VL.
 */
uint16_t paths_hop_sls(const struct fabric *f, const struct qos_tables *t,
		       uint32_t node, unsigned in, unsigned out);

/* What an end port and its link can carry, wherever it goes. */
struct path_info paths_of_port(const struct fabric *f, uint32_t port);

/* One hop of a route, for `route` and `explain`. */
struct path_hop {
	uint32_t node;
	uint8_t in, out;	/* port numbers; 0: in of the source, out of the destination */
	uint16_t map;		/* SL2VL id in force when leaving by out, TABLE_NONE: not managed */
};
/* The hops from src to dlid; returns their number, 0 if there is no route. At most max. */
unsigned paths_walk(const struct fabric *f, const struct lfts *l, const struct qos_tables *t,
		    uint32_t src, uint16_t dlid, uint32_t dst, struct path_hop *hops, unsigned max);
#define PATH_HOPS_MAX 64
/*
 * The same, as far as it goes: not *there, the last hop is the one that leads
 * nowhere (its out has no link, is LFT_DROP, or the port of a host that is not
 * meant), or the route is in a cycle when max hops are told.
 */
unsigned paths_follow(const struct fabric *f, const struct lfts *l, const struct qos_tables *t,
		      uint32_t src, uint16_t dlid, uint32_t dst, struct path_hop *hops,
		      unsigned max, bool *there);

#endif
