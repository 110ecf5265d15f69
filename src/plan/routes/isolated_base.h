/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Repairs the base tables (base_routes.h) for the links that are isolated, once for all faults that follow.
 *
 * What is isolated stays so for days, and may be half of the upper switches of a tree.  A repair costs time for
 * each route over a dead link.  Repairs for everything else therefore start from tables that were repaired for the
 * isolated links alone, as if an engine had made these (repair_of()).
 *
 * Tables are still a function of the base, of what is isolated and of what is dead, whatever the order of events was.
 */
#ifndef QOSD_PLAN_ROUTES_ISOLATED_BASE_H
#define QOSD_PLAN_ROUTES_ISOLATED_BASE_H

#include <stdatomic.h>

#include "routing/change/route_repair.h"

/* Immutable except for the count; plans share it. */
struct isolated_base {
	atomic_uint refs;
	struct link_end *ends;		/* both ends of the links, in terms of the base's switches */
	uint32_t n;
	struct repaired repaired;	/* next is NULL if repair is NULL */
	struct repair *repair;		/* NULL: without these links, an engine has to make new tables */
};

/*
 * Marks of the ports of `known`, the base's fabric: the port is an end of a link between switches that f has not, as
 * it is isolated.  map: the nodes of f that are those of known, or FABRIC_NONE.  The caller frees them.  NULL: nothing
 * is isolated.
 */
bool *isolated_links(const struct fabric *known, const struct fabric *f, const uint32_t *map);
/*
 * A reference to the base tables without these links.  NULL: the links are so few that every repair may count them
 * among the dead ones.  rp: of the base, whose tables are lfts; both must outlive the result.  before: made of the same
 * base, or NULL; it is taken again if its links are these.
 */
struct isolated_base *isolated_base_get(const struct repair *rp, const struct lfts *lfts, const struct link_end *ends,
					uint32_t n, struct isolated_base *before);
void isolated_base_unref(struct isolated_base *x);	/* NULL is fine */

#endif
