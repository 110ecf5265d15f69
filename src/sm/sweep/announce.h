/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What ports at work hear when a plan is published.
 */
#ifndef QOSD_SM_SWEEP_ANNOUNCE_H
#define QOSD_SM_SWEEP_ANNOUNCE_H

#include "sm/sweep/steps.h"
#include "sm/sweep/want.h"

struct sm;

/*
 * announce.c: after the last pass of writing.  announce_prepare() finds the ports that are to be
 * told, and makes the fabric, which is not published yet, say what they will hold; announce_start(),
 * after publishing, is a step.  announce_free() drops all of it; a job of
 * the step has ended before.
 */
void announce_prepare(struct sm *sm);
enum step_result announce_start(struct sm *sm);
void announce_free(struct sm *sm);
/* f is a copy of the published fabric: makes it say what ports answered after publishing. */
void announce_correct(const struct sm *sm, struct fabric *f);
/* The sweep's fabric and plan belong to a published state. */
bool announce_has_begun(const struct sm *sm);
/* From a job that writes tables: whether the item is to be written after publishing; then it is kept. */
bool announce_takes(struct sm *sm, uint32_t node, item_t item);

#endif
