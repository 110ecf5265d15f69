/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Says where each switch stands, for drawings of the fabric: its rank in a tree, its coordinates in a grid,
 * or its group and number in a dragonfly.
 *
 * A shape that shape.h calls a tree is never taken for a grid.  In a fabric of no known shape, the rank is
 * the number of links to the nearest switch that has hosts.
 *
 * Pure: a value.
 */
#ifndef QOSD_ROUTING_PLACES_H
#define QOSD_ROUTING_PLACES_H

#include "routing/route.h"

#define PLACES_DIMS_MAX 12
#define PLACES_NOWHERE UINT16_MAX	/* coordinate of a switch without a place, or that no hosts reach */

struct route_places {
	/* PLACES_RANKS: one dimension, the rank; PLACES_DRAGONFLY: group, then number in the group */
	enum places_kind { PLACES_RANKS, PLACES_GRID, PLACES_DRAGONFLY } kind;
	unsigned n_dims;
	uint32_t length[PLACES_DIMS_MAX];	/* number of values of each coordinate; at most 65535 */
	bool ring[PLACES_DIMS_MAX];		/* the last and the first are neighbours, as in a torus */
	uint16_t *at;				/* [switch * n_dims + dimension]; owned */
};

/*
 * The places of f's switches, by an order that was made for f or for a fabric with the same switches by the same
 * numbers.  NULL, or an order of other switches: none has a place, by rank.
 */
void route_places(const struct fabric *f, const struct updn_order *o, struct route_places *out);
void route_places_free(struct route_places *p);

#endif
