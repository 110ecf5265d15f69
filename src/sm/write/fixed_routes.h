/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Learns the forwarding tables of switches that refuse to let the subnet manager change them.
 */
#ifndef QOSD_SM_WRITE_FIXED_ROUTES_H
#define QOSD_SM_WRITE_FIXED_ROUTES_H

#include "sm/sweep/steps.h"
#include "sm/sweep/want.h"

struct sm;

void fixed_routes_new(struct sm *sm);
void fixed_routes_free(struct sm *sm);
/* The step before planning: puts what such switches hold into sm->sweep.f. */
enum step_result fixed_routes_start(struct sm *sm);
/*
 * Fills row with what a switch of the plan holds, as far as is known; row has as many entries as a
 * row of the plan's tables.
 */
void fixed_routes_in_force(const struct plan *p, uint32_t sw, uint8_t *row);
/*
 * A node of the sweep's fabric still holds what the old plan gave it: it is the same device and has
 * not restarted.
 */
bool fixed_routes_survived(const struct sm *sm, const struct plan *old, uint32_t node);
/* The item is a refused block, and the plan wants what the switch holds in it. */
bool fixed_routes_holds(const struct sm *sm, uint32_t node, item_t item);
/* In a full sweep: adds Sets with ITEM_PROBE that show whether the node takes such blocks again. */
void fixed_routes_try(struct sm *sm, uint32_t node);
/*
 * Records a Set of a node that was refused for good or ignored (`refused`), or else one that the
 * node took although a refusal was remembered.  Called from a job of a sweep.
 */
void fixed_routes_changed(struct sm *sm, uint64_t guid, uint16_t attr, uint32_t mod, bool refused);
/* Called when a sweep publishes: requests another sweep if the plan does not know what switches keep. */
void fixed_routes_swept(struct sm *sm);

#endif
