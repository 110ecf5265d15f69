/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Routes that stay: the engine's for the fabric with all that is known in its place, what
 * is away at the moment included (*base*), and from them those of the moment
 * (routing/change/route_repair.h).  Whatever goes away moves only the pairs that went by it, and what
 * comes back finds the routes as they were.
 *
 * What is known only grows, but for what contradicts the fabric as it is: a node that
 * is plugged in elsewhere, a port that another node has now.  Then, and with other LIDs,
 * the engine makes the base anew.
 */
#ifndef QOSD_PLAN_ROUTES_BASE_ROUTES_H
#define QOSD_PLAN_ROUTES_BASE_ROUTES_H

#include <stdatomic.h>

#include "plan/plan.h"
#include "routing/change/update_rounds.h"
#include "routing/shape.h"

/* Immutable but for the count; shared by plans, of which some may be in a worker's thread. */
struct base_routes {
	atomic_uint refs;
	struct fabric *f;		/* all that is known; all links are up */
	uint16_t *lid;			/* per port slot of f; of what is away, too */
	uint8_t *lmc;
	uint16_t lid_top;
	struct updn_order *order;
	struct route_shape shape;	/* of the order */
	unsigned most_layers, most_shared;	/* that there is room for, by the policy */
	struct engine_choice *choice;	/* NULL: the settings name engines */
	struct lfts *lfts;
	struct route_layers *layers;	/* NULL: one */
	const struct route_engine *engine;	/* NULL: none can do it */
	struct findings findings;	/* about the engines */
	struct channels *channels;
	struct repair *repair;
};

/* The order that the tables keep to; NULL: the engine has none. */
static inline const struct updn_order *base_order(const struct base_routes *b)
{
	return b->engine == &route_updn ? b->order : NULL;
}

/* The routes of a moment, in terms of the base: its switches, its links. */
struct routes_now {
	struct base_routes *base;	/* a reference */
	uint32_t *switches;		/* [switch of the base]: the fabric's, or FABRIC_NONE */
	VEC(struct link_end) dead;	/* links of the base that are not there, or held, both ends */
	/* NULL in next: what is left needs other routes, which the engine made anew. */
	struct repaired repaired;	/* against those of the moment before, if by the same base */
	/*
	 * What switches are to hold instead of repaired.next: routes in layers, which the engine made near
	 * to the base, or ways round switches that do not answer.  NULL: there is none of these.
	 */
	struct lfts *round;
	bool other_order;	/* that of the multicast trees is not the base's */
	/* Blocks that switches are known to hold otherwise: writes held back (sm/write/write_routes.c). */
	VEC(struct lft_write) stale;
};

/* What the switches are to hold, in terms of the base; NULL where an engine made other routes. */
static inline const struct lfts *routes_wanted(const struct routes_now *x)
{
	return x->round ? x->round : x->repaired.next;
}

/*
 * The routes of p's fabric by p->lid, which are assigned: fills p->lfts, engine, order,
 * lid_top and now, and adds findings.  before may be NULL: then what is known is that of
 * known, which may be NULL, too.
 */
void routes_make(struct plan *p, const struct plan *before, const struct lid_map *known);
void routes_free(struct plan *p);
/*
 * Whether the tables of p follow from those of `before` by the same base, so that the order of
 * writing can be made (routing/change/update_rounds.h).
 */
bool routes_follow(const struct plan *p, const struct plan *before);
/* p's layers in terms of the base, to be freed; NULL: all is in one. */
struct route_layers *routes_layers(const struct plan *p);

#endif
