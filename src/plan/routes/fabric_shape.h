/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Says whether the switches of a plan form a tree (routing/shape.h), and whether missing links cost
 * anything.
 *
 * The cost is judged without measuring.
 */
#ifndef QOSD_PLAN_ROUTES_FABRIC_SHAPE_H
#define QOSD_PLAN_ROUTES_FABRIC_SHAPE_H

#include "plan/plan.h"

enum shape_state {
	SHAPE_SOUND,		/* a tree that has lost no links */
	SHAPE_LACKS_LINKS,	/* a tree that lost links, at no cost for hosts */
	SHAPE_NO_TREE,		/* not built as a tree */
	/* missing links make routes between hosts longer, or leave pairs without an up/down path */
	SHAPE_COSTS,
};

enum shape_state plan_shape_state(const struct plan *p);
/* "the switches form a tree of 3 ranks", "the switches form no tree: ...". */
void plan_shape_text(const struct plan *p, struct buf *out);

#endif
