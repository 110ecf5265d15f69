/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How the levels of a policy and the layers of the routes (routing/layers.h) share SLs and data VLs.
 *
 * A level has its own SL in layer 0, which multicast has, too, and one that no level has in
 * each other layer.  On links between switches the data VLs are divided among the lanes of the layers: each
 * lane has as many, in each the levels are as on a link with so many VLs, and no VL carries two lanes, which
 * alone keeps credit loops away.  A link with an end node, and one that has all layers on one lane, is
 * not divided: there a level's SLs share a VL.  Which lane a layer is on may depend on the port that packets
 * come in by.
 */
#ifndef QOSD_QOS_SL_PLAN_H
#define QOSD_QOS_SL_PLAN_H

#include "fabric/fabric.h"
#include "qos/policy.h"
#include "routing/layers.h"

#define SL_LAYERS_MAX 8u
#define SL_BITS_MAX 3u		/* of so many layers */

struct sl_plan {
	unsigned n_layers;	/* at least 1 */
	unsigned n_lanes;	/* of a link between switches; at least 1 */
	const struct route_layers *layers;	/* the caller's; NULL: one, or each has a lane of its own */
	uint8_t sl[IB_SL_COUNT][SL_LAYERS_MAX];	/* [the level's SL][layer] */
	/* [SL]: the level's SL that it stands for, and in which layer; of an SL of nobody: itself, 0 */
	uint8_t base[IB_SL_COUNT], layer[IB_SL_COUNT];
};

/*
 * The most layers that a policy leaves room for on a fabric: 16 SLs for all levels in all layers, and
 * VLs on all links between switches for all traffic classes in all layers or, if there are no
 * classes, so many that levels share a VL only where they would with one layer; max_vls as in
 * qos/tables/qos_tables.h.  1 if the policy has SL2VL or arbitration tables of its own, which say for all SLs
 * where they go.  Says in *why, appended, what sets the limit.
 */
unsigned sl_plan_most(const struct policy *p, const struct fabric *f, unsigned max_vls,
		      struct buf *why);
/* The same for layers that share two lanes; 0: there are no VLs for two. */
unsigned sl_plan_most_shared(const struct policy *p, const struct fabric *f, unsigned max_vls);
/* y: at most as many layers as that, and must outlive the plan; NULL: one. */
void sl_plan_make(struct sl_plan *x, const struct policy *p, const struct route_layers *y);
/* The levels' own SLs that a set of SLs, of whatever layers, stands for. */
uint16_t sl_plan_levels(const struct sl_plan *x, uint16_t sls);

/* --- the lanes of a link between switches, by the port of a switch that sends on it --- */

/* How the layers are on the lanes of a link: links of one kind are alike. */
enum {
	SL_LANES_NONE,		/* it is not divided */
	SL_LANES_FIRST,		/* all on its lane 0 */
	SL_LANES_OWN,		/* each on its own */
	SL_LANES_BIT,		/* SL_LANES_BIT + i: as bit i of the layer says */
};
#define SL_LANE_KINDS (SL_LANES_BIT + SL_BITS_MAX)

/* in: the port that packets come in by, or FABRIC_NONE: from a host, or it does not matter. */
unsigned sl_plan_lane_kind(const struct sl_plan *x, const struct fabric *f, uint32_t in, uint32_t port);
/* Whether `in` matters. */
bool sl_plan_minds_entry(const struct sl_plan *x, const struct fabric *f, uint32_t port);
static inline unsigned sl_plan_lane(unsigned kind, unsigned layer)
{
	return kind < SL_LANES_OWN ? 0 : kind == SL_LANES_OWN ? layer : layer >> (kind - SL_LANES_BIT) & 1;
}

#endif
