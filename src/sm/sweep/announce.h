/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tells ports at work about a plan when the plan is published.
 */
#ifndef QOSD_SM_SWEEP_ANNOUNCE_H
#define QOSD_SM_SWEEP_ANNOUNCE_H

#include "sm/sweep/steps.h"
#include "sm/sweep/want.h"

struct sm;

/*
 * announce.c, after the last pass of writing.  announce_prepare() finds the ports that must be
 * told, and makes the fabric, before it is published, say what they will hold.  announce_start() is
 * a step after publishing.  announce_free() drops all of it; a job of the step has ended before.
 */
void announce_prepare(struct sm *sm);
enum step_result announce_start(struct sm *sm);
void announce_free(struct sm *sm);
/* Makes f, a copy of the published fabric, say what ports have answered since publishing. */
void announce_correct(const struct sm *sm, struct fabric *f);
/* The sweep's fabric and plan already belong to a published state. */
bool announce_has_begun(const struct sm *sm);
/*
 * Called from a job that writes tables.  True: the item is written after publishing, and is kept
 * here until then.
 */
bool announce_takes(struct sm *sm, uint32_t node, item_t item);

#endif
