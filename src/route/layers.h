/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Layers: pairs of switches in sets whose routes can't wait for each other in a circle.
 *
 * Routes that are no up/down routes are free of credit loops if those of each layer are and each
 * layer has virtual lanes of its own.  Both directions of a pair are in the same layer, since what a
 * connection manager sets up has one SL for both (IBA 12.7, a reversible path), and so are all
 * LIDs of the ports on the two switches, so that the SL of a path is a matter of the two switches.
 *
 * Which pairs: those of switches with CA or router ports, each with itself too, in layer 0.
 */
#ifndef QOSD_ROUTE_LAYERS_H
#define QOSD_ROUTE_LAYERS_H

#include "route/route.h"

struct route_layers {
	unsigned n;		/* layers that have pairs, at least 1 */
	uint32_t n_switches, n_places;
	uint32_t *place;	/* [switch]: among those with CA or router ports, or FABRIC_NONE */
	uint8_t *of;		/* [route_layers_pair()]: 0 .. n - 1 */
};

/* Where a pair of places is in `of`; a != b. */
static inline size_t route_layers_pair(uint32_t a, uint32_t b)
{
	return a > b ? (size_t)a * (a - 1) / 2 + b : (size_t)b * (b - 1) / 2 + a;
}

/*
 * The layer of what ports on the two switches send each other.  0 also of switches without any, and of
 * a port that is on none (FABRIC_NONE).
 */
static inline unsigned route_layer(const struct route_layers *y, uint32_t sw_a, uint32_t sw_b)
{
	uint32_t a = sw_a == FABRIC_NONE ? FABRIC_NONE : y->place[sw_a];
	uint32_t b = sw_b == FABRIC_NONE ? FABRIC_NONE : y->place[sw_b];

	return a == b || a == FABRIC_NONE || b == FABRIC_NONE ? 0 : y->of[route_layers_pair(a, b)];
}

struct route_layers *route_layers_copy(const struct route_layers *y);
void route_layers_free(struct route_layers *y);	/* NULL is fine */

#endif
