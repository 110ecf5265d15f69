/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Chooses which drained links routes leave, where they cannot leave all of them by legal routes.
 *
 * A drain must not be a reason for an engine to make new tables: no order of writing leads from the
 * old tables to those without loss and credit loops.  So as many drained links as possible are
 * left, in order of the list, such that the repair still succeeds.
 */
#ifndef QOSD_PLAN_ROUTES_DRAINED_LINKS_H
#define QOSD_PLAN_ROUTES_DRAINED_LINKS_H

#include "fabric/fabric.h"
#include "lib/base/alloc.h"
#include "routing/change/route_repair.h"

struct drained_link {
	struct link_end ends[2];	/* the same twice, if only one direction is dead */
	bool used;		/* result: routes have to go on using it */
};

struct drained_links {
	VEC(struct drained_link) v;
};

/*
 * Repairs with these links dead, in addition to all that are missing, and tells whether the routes
 * can be taken: arg and the dead links of the list, both ends of each.
 */
typedef bool drained_try(void *arg, const struct drained_links *l);

/* Sets `used`; false: the repair fails even if all of them are used.  Tries DRAINED_TRIES_MAX times at most. */
#define DRAINED_TRIES_MAX 32
bool drained_choose(struct drained_links *l, drained_try *fits, void *arg);

#endif
