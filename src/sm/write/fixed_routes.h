/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Forwarding tables that switches do not let the subnet manager change.
 */
#ifndef QOSD_SM_WRITE_FIXED_ROUTES_H
#define QOSD_SM_WRITE_FIXED_ROUTES_H

#include "sm/sweep/steps.h"
#include "sm/sweep/want.h"

struct sm;

void fixed_routes_new(struct sm *sm);
void fixed_routes_free(struct sm *sm);
/* The step before planning: what such switches hold, into sm->sweep.f. */
enum step_result fixed_routes_start(struct sm *sm);
/* What a switch of the plan holds, by all that is known; row: as many entries as a row of its tables. */
void fixed_routes_in_force(const struct plan *p, uint32_t sw, uint8_t *row);
/* A node of the sweep's fabric holds what the old plan gave it: it has not started anew, nor is it another. */
bool fixed_routes_survived(const struct sm *sm, const struct plan *old, uint32_t node);
/* The item is such a block, of which the plan wants what it holds. */
bool fixed_routes_holds(const struct sm *sm, uint32_t node, item_t item);
/* In a full sweep: adds the Sets, with ITEM_PROBE, that show whether the node takes blocks again. */
void fixed_routes_try(struct sm *sm, uint32_t node);
/*
 * A Set of a node was refused for good, or ignored; or, if not `refused`, taken against what was
 * remembered.  From a job of a sweep.
 */
void fixed_routes_changed(struct sm *sm, uint64_t guid, uint16_t attr, uint32_t mod, bool refused);
/* The sweep publishes: another follows if its plan does not know what switches keep. */
void fixed_routes_swept(struct sm *sm);

#endif
