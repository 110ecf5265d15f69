/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tells which level pairs of end ports get, asking once for each two kinds of port (port_kinds.h).
 *
 * The level is that of each pair.  Whether there is a path is that of the first pair asked about: of two kinds, one
 * pair may have a route that another lacks.  No I/O: for a worker thread.
 */
#ifndef QOSD_CTL_PAIR_LEVELS_H
#define QOSD_CTL_PAIR_LEVELS_H

#include "ctl/port_kinds.h"
#include "sa/sa.h"

struct pair_levels;
/* query: what is asked of each pair; its ends are ignored.  The state must outlive the result. */
struct pair_levels *pair_levels_new(const struct subnet_state *s, const struct path_query *query);
void pair_levels_free(struct pair_levels *x);	/* NULL is fine */
/* False: there are so many kinds that each pair is asked about anew. */
bool pair_levels_remembers(const struct pair_levels *x);
const struct port_kinds *pair_levels_kinds(const struct pair_levels *x);
/* The index of the pair's level, or PAIR_NO_PATH.  Both ports must have a LID. */
#define PAIR_NO_PATH UINT16_MAX
uint16_t pair_level(struct pair_levels *x, uint32_t src, uint32_t dst);

#endif
