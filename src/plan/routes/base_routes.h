/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes a fabric's routes so that a fault changes as few of them as possible.
 *
 * An engine routes the whole known fabric (the base); the routes of the moment are derived from
 * these.
 *
 * The base includes what is absent at the moment.  Its routes are repaired
 * (routing/change/route_repair.h) for the present fabric.  Whatever goes away moves only the pairs whose
 * routes used it, and what comes back finds its routes unchanged.
 *
 * The known fabric only grows, except where it contradicts the present one: a node that is plugged
 * in elsewhere, a port that belongs to another node now.  Then, and with other LIDs, the engine
 * makes the base anew.
 */
#ifndef QOSD_PLAN_ROUTES_BASE_ROUTES_H
#define QOSD_PLAN_ROUTES_BASE_ROUTES_H

#include <stdatomic.h>

#include "plan/plan.h"
#include "plan/routes/drained_links.h"
#include "plan/routes/isolated_base.h"
#include "routing/change/update_rounds.h"
#include "routing/shape.h"

/* Immutable except for the count; shared by plans, some of which may be in a worker's thread. */
struct base_routes {
	atomic_uint refs;
	struct fabric *f;		/* everything known, with all links up */
	uint16_t *lid;			/* per port slot of f, including what is absent */
	uint8_t *lmc;
	uint16_t lid_top;
	struct updn_order *order;
	struct route_shape shape;	/* shape of `order` */
	unsigned most_layers, most_shared;	/* limits that the policy sets on layers */
	struct engine_choice *choice;	/* NULL: the settings name engines */
	struct lfts *lfts;
	struct route_layers *layers;	/* NULL: one layer */
	const struct route_engine *engine;	/* NULL: no engine can route it */
	struct findings findings;	/* on the engines */
	struct channels *channels;
	struct repair *repair;
};

/* The order that the tables follow; NULL: the engine has none. */
static inline const struct updn_order *base_order(const struct base_routes *b)
{
	return b->engine == &route_updn ? b->order : NULL;
}

/* The routes of the moment, in terms of the base's switches and links. */
struct routes_now {
	struct base_routes *base;	/* a reference */
	struct isolated_base *isolated;	/* a reference; NULL: few links are isolated, or the base has layers */
	uint32_t *switches;		/* [switch of the base]: switch of the fabric, or FABRIC_NONE */
	/* links of the base that are missing or held and not used, both ends; those that are isolated come first */
	VEC(struct link_end) dead;
	size_t n_isolated;
	struct drained_links drained;	/* the held ones that a drain covers; those that must be used are not dead */
	/* next is NULL: the present fabric needs other routes, which the engine made anew. */
	struct repaired repaired;
	bool follows;		/* repaired.blocks is relative to the previous moment */
	/*
	 * Planned tables in place of repaired.next: routes in layers, which the engine made near to
	 * the base, or detours around switches that do not answer.  NULL: not needed.
	 */
	struct lfts *round;
	bool other_order;	/* the order of the multicast trees is not the base's */
	/*
	 * Blocks that switches are known to hold instead: writes that were held back
	 * (sm/write/write_routes.c).
	 */
	VEC(struct lft_write) stale;
};

/* The planned tables, in terms of the base; NULL where an engine made other routes. */
static inline const struct lfts *routes_wanted(const struct routes_now *x)
{
	return x->round ? x->round : x->repaired.next;
}

/*
 * Makes the routes of p's fabric by p->lid, which must be assigned: fills p->lfts, engine, order,
 * lid_top and now, and adds findings.  before may be NULL; then known, which may be NULL, too,
 * supplies the known fabric.
 */
void routes_make(struct plan *p, const struct plan *before, const struct lid_map *known);
void routes_free(struct plan *p);
/*
 * Marks links of f, p's fabric, as neither held nor drained that are drained but that p's routes must
 * use.  True: there are some, and everything else of the plan has to be made anew.
 */
bool routes_give_back_drained(const struct plan *p, struct fabric *f);
/*
 * The tables of p and of `before` have the same base, so an order of writing can be computed
 * (routing/change/update_rounds.h).
 */
bool routes_follow(const struct plan *p, const struct plan *before);
/* p's layers in terms of the base; the caller frees them.  NULL: one layer. */
struct route_layers *routes_layers(const struct plan *p);

#endif
