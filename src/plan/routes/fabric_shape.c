/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See fabric_shape.h. */
#include "plan/routes/fabric_shape.h"

#include "plan/routes/base_routes.h"

/*
 * Switches on the longest route between hosts in a complete tree with this number of ranks; 0: no
 * ranks.
 */
static unsigned tree_hops(const struct route_shape *s)
{
	return s->n_ranks ? 2 * s->n_ranks - 1 : 0;
}

static bool has_detours(const struct plan *p)
{
	unsigned hops = tree_hops(&p->shape);

	return hops && p->report.host_hops > hops;
}

enum shape_state plan_shape_state(const struct plan *p)
{
	const struct route_shape *s = &p->shape;
	bool damaged = route_shape_is_damaged(s);

	/* other engines ignore ranks, so missing links cost them no detours */
	if (damaged && route_engine_find(p->engine) == &route_updn &&
	    (s->kind != SHAPE_TREE || has_detours(p)))
		return SHAPE_COSTS;
	if (s->kind != SHAPE_TREE)
		return SHAPE_NO_TREE;
	return damaged && p->now->dead.n ? SHAPE_LACKS_LINKS : SHAPE_SOUND;
}

void plan_shape_text(const struct plan *p, struct buf *out)
{
	buf_puts(out, "the switches form ");
	route_shape_text(&p->shape, p->f, out);
	if (route_shape_is_damaged(&p->shape) && has_detours(p))
		buf_printf(out, "; the longest route between hosts crosses %u switches, instead of %u in the "
			   "whole tree", p->report.host_hops, tree_hops(&p->shape));
}
