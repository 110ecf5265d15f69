/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `routing: auto`: which engine makes the base routes of a fabric (plan/routes/base_routes.h), and why.
 *
 * In a tree up/down routes are the shortest, and nothing else is tried.  Elsewhere each engine of a
 * table (choose_engine.c) routes the fabric, with as many layers as there is room for.  An engine is out
 * if its routes have a credit loop, or leave more routes that hosts, aggregation nodes or the subnet
 * manager need unconnected than another's.  Of the others
 *
 *  1. those count whose effective bisection bandwidth (routing/gauge/gauge.h) is within 3 % of the best;
 *  2. of these the engines that keep credit loops away after faults as well;
 *  3. of these the ones with fewest layers, since layers cost VLs;
 *  4. of these the one with the least edge-forwarding index, and
 *  5. the first in the table.
 *
 * Pure, and the same input gives the same choice.  Work is bounded by the size of the fabric: beyond
 * CHOICE_SWITCHES_MAX switches only up/down is tried.
 */
#ifndef QOSD_PLAN_ROUTES_CHOOSE_ENGINE_H
#define QOSD_PLAN_ROUTES_CHOOSE_ENGINE_H

#include "plan/plan.h"

enum { CHOICE_ENGINES_MAX = 8, CHOICE_SWITCHES_MAX = 3000 };

/* An engine that was considered. */
struct engine_try {
	const struct route_engine *engine;
	bool measured;		/* the next three are known */
	unsigned layers;	/* that take VLs of their own: lanes (routing/layers.h) */
	double ebb;		/* effective bisection bandwidth */
	uint64_t efi;		/* edge-forwarding index */
	char *why;		/* … it was not taken; NULL: it was */
};

struct engine_choice {
	const struct route_engine *engine;	/* NULL: none can do it */
	bool tree;		/* so that nothing else was considered */
	struct engine_try tried[CHOICE_ENGINES_MAX];
	unsigned n_tried;
	char *text;		/* "routing auto: layered with 3 layers: …" */
};

/* Whether the settings leave the choice to us. */
bool routing_is_auto(const struct settings *s);
/*
 * Routes r->f, whose order is r->order and has the shape s.  room: what sets r->most_layers, by
 * sl_plan_most().  Sets *out and *layers as an engine does, which are the caller's then; if no engine
 * can do it *out drops everything.
 */
struct engine_choice *choose_engine(const struct route_request *r, const struct route_shape *s,
				    const char *room, struct lfts **out, struct route_layers **layers);
void engine_choice_free(struct engine_choice *c);	/* NULL is fine */
/*
 * Whether the engine's routes stay free of credit loops when they are repaired
 * (routing/change/route_repair.h), if they are so to begin with.
 */
bool engine_stays_free(const struct route_engine *e);

/* What the plan's base was made by; NULL: the settings name engines. */
const struct engine_choice *plan_choice(const struct plan *p);
/* Appends the choice's text, and that another engine has taken over since, if so. */
void plan_choice_text(const struct plan *p, struct buf *out);

#endif
