/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Chooses the engine for the base routes of a fabric (plan/routes/base_routes.h), and says why,
 * with `routing` set to auto.
 *
 * In a tree up/down routes are the shortest, and nothing else is tried.  Elsewhere each engine of a
 * table (choose_engine.c) routes the fabric, with as many layers as there is room for.  An engine
 * is out if its routes have a credit loop, or leave more routes unconnected that hosts, aggregation
 * nodes or the subnet manager need than another's.  The rest is decided by:
 *
 *  1. an effective bisection bandwidth (routing/gauge/gauge.h) within 3 % of the best;
 *  2. no credit loops even after faults;
 *  3. the fewest layers, since layers cost VLs;
 *  4. the least edge-forwarding index, and
 *  5. the first place in the table.
 *
 * Pure: the same input gives the same choice.  Work is bounded by the size of the fabric: beyond
 * CHOICE_SWITCHES_MAX switches only up/down is tried.
 */
#ifndef QOSD_PLAN_ROUTES_CHOOSE_ENGINE_H
#define QOSD_PLAN_ROUTES_CHOOSE_ENGINE_H

#include "plan/plan.h"

enum { CHOICE_ENGINES_MAX = 8, CHOICE_SWITCHES_MAX = 3000 };

/* An engine that was considered. */
struct engine_try {
	const struct route_engine *engine;
	bool measured;		/* layers, ebb and efi are known */
	unsigned layers;	/* layers with VLs of their own: VL sets (routing/layers.h) */
	double ebb;		/* effective bisection bandwidth */
	uint64_t efi;		/* edge-forwarding index */
	char *why;		/* why it was not taken; NULL: it was */
};

struct engine_choice {
	const struct route_engine *engine;	/* NULL: no engine can route */
	bool tree;		/* the switches form a tree, so no other engine was considered */
	struct engine_try tried[CHOICE_ENGINES_MAX];
	unsigned n_tried;
	char *text;		/* "routing auto: layered with 3 layers: …" */
};

/* The settings leave the choice to us. */
bool routing_is_auto(const struct settings *s);
/*
 * Routes r->f, whose order is r->order and has the shape s.  room: the reason that sl_plan_most()
 * gave for r->most_layers.  Sets *out and *layers as an engine does; the caller owns them.  If no
 * engine can route, *out drops everything.
 */
struct engine_choice *choose_engine(const struct route_request *r, const struct route_shape *s,
				    const char *room, struct lfts **out, struct route_layers **layers);
void engine_choice_free(struct engine_choice *c);	/* NULL is fine */
/*
 * The engine's routes stay free of credit loops when they are repaired (routing/change/route_repair.h),
 * if they are so at first.
 */
bool engine_stays_free(const struct route_engine *e);

/* The choice that made the plan's base; NULL: the settings name engines. */
const struct engine_choice *plan_choice(const struct plan *p);
/* Appends the choice's text and, if another engine has taken over since, that. */
void plan_choice_text(const struct plan *p, struct buf *out);

#endif
