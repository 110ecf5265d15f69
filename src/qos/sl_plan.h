/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Divides SLs and data VLs between the levels of a policy and the layers of the routes (routing/layers.h).
 *
 * A level has its own SL in layer 0, which multicast uses too, and in each other layer an SL that no level
 * has.  On links between switches, the VL sets of the layers divide the data VLs equally.  In each VL set,
 * levels map to VLs as on a link with that many VLs, and no VL carries two VL sets: that separation keeps
 * credit loops away.  A link with an end node, and one that has all layers on one VL set, is not divided:
 * there a level's SLs share a VL.  The VL set of a layer may depend on the port by which packets arrive.
 */
#ifndef QOSD_QOS_SL_PLAN_H
#define QOSD_QOS_SL_PLAN_H

#include "fabric/fabric.h"
#include "qos/policy.h"
#include "routing/layers.h"

#define SL_LAYERS_MAX 8u
#define SL_BITS_MAX 3u		/* log2 of SL_LAYERS_MAX */

struct sl_plan {
	unsigned n_layers;	/* at least 1 */
	unsigned n_vl_sets;	/* VL sets of a link between switches; at least 1 */
	/* the caller's; NULL: one layer, or each has a VL set of its own */
	const struct route_layers *layers;
	uint8_t sl[IB_SL_COUNT][SL_LAYERS_MAX];	/* [the level's SL][layer] */
	/* [SL]: the level's SL that it stands for, and the layer; for an unused SL: itself, 0 */
	uint8_t base[IB_SL_COUNT], layer[IB_SL_COUNT];
};

/*
 * The most layers that a policy leaves room for on a fabric.  16 SLs must suffice for all levels in all
 * layers.  The VLs of all links between switches must suffice for all traffic classes in all layers;
 * without classes, levels may share a VL only where they would with one layer.  max_vls: as in
 * qos/tables/qos_tables.h.  1 if the policy has SL2VL or arbitration tables of its own, because these map
 * all SLs.  Appends the limiting factor to *why.
 */
unsigned sl_plan_most(const struct policy *p, const struct fabric *f, unsigned max_vls,
		      struct buf *why);
/* As sl_plan_most(), for layers that share two VL sets; 0: there are too few VLs for two VL sets. */
unsigned sl_plan_most_shared(const struct policy *p, const struct fabric *f, unsigned max_vls);
/* y: has at most that many layers and must outlive the plan; NULL: one layer. */
void sl_plan_make(struct sl_plan *x, const struct policy *p, const struct route_layers *y);
/* Whether the policy has SL2VL or arbitration tables of its own. */
bool sl_plan_has_own_tables(const struct policy *p);
/* The levels' own SLs that a set of SLs, of any layers, stands for. */
uint16_t sl_plan_levels(const struct sl_plan *x, uint16_t sls);
/* The SLs that no level of the policy has, in any layer: programs may choose them nevertheless. */
uint16_t sl_plan_unnamed(const struct sl_plan *x, const struct policy *p);

/* --- the VL sets of a link between switches, by the port of a switch that sends on it --- */

/* How the layers use the VL sets of a link; the same for links of one kind. */
enum {
	SL_VL_SETS_NONE,		/* the link is not divided */
	SL_VL_SETS_FIRST,		/* all layers on its VL set 0 */
	SL_VL_SETS_OWN,		/* each layer on its own VL set */
	SL_VL_SETS_BIT,		/* SL_VL_SETS_BIT + i: VL set = bit i of the layer */
};
#define SL_VL_SET_KINDS (SL_VL_SETS_BIT + SL_BITS_MAX)

/*
 * The VL set kind of a port.  in: the port by which packets arrive; FABRIC_NONE: from a host, or it does not
 * matter.
 */
unsigned sl_plan_vl_set_kind(const struct sl_plan *x, const struct fabric *f, uint32_t in, uint32_t port);
/* Whether the VL set kind depends on `in`. */
bool sl_plan_minds_entry(const struct sl_plan *x, const struct fabric *f, uint32_t port);
static inline unsigned sl_plan_vl_set(unsigned kind, unsigned layer)
{
	return kind < SL_VL_SETS_OWN ? 0 : kind == SL_VL_SETS_OWN ? layer : layer >> (kind - SL_VL_SETS_BIT) & 1;
}

#endif
