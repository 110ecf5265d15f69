/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recognizes dragonflies, and which group each switch belongs to (internal to routing/).
 *
 * A dragonfly has groups of equally many switches, at least three, all of which are linked to each other,
 * and the same number of cables between any two of at least three groups.  Which switches of a group these
 * cables leave from does not matter, and neither do hosts, GUIDs and port numbers.  Some links and
 * switches may be missing.
 *
 * A HyperX of two dimensions also meets this definition: code that names the shape asks grid.h first
 * (shape.h).  The engine "dragonfly" takes either.
 *
 * Pure: a value, and its text.
 */
#ifndef QOSD_ROUTING_DRAGONFLY_DRAGONFLY_H
#define QOSD_ROUTING_DRAGONFLY_DRAGONFLY_H

#include "routing/graph.h"

struct dragonfly {
	uint32_t groups, members;	/* members: switches of a complete group */
	uint32_t cables;		/* number between two groups */
	uint32_t *group, *member;	/* [vertex]: members of a group are numbered by vertex */
	uint32_t missing_switches;
	uint32_t missing_links;		/* within groups */
	uint32_t missing_cables;	/* between groups */
};

/* NULL if it is not a dragonfly. */
struct dragonfly *dragonfly_new(const struct graph *g);
void dragonfly_free(struct dragonfly *d);	/* NULL is fine */
/* Appends "dragonfly of 9 groups of 4 switches, 1 link missing", without a newline. */
void dragonfly_text(const struct dragonfly *d, struct buf *out);

#endif
