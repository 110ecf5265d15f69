/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the congestion control that another manager set up.
 */
#ifndef QOSD_SM_SWEEP_CONGESTION_H
#define QOSD_SM_SWEEP_CONGESTION_H

#include "sm/sm.h"

void congestion_new(struct sm *sm);
void congestion_free(struct sm *sm);
/* Asks the devices of a newly published state in the background. */
void congestion_after_sweep(struct sm *sm);
struct sm_congestion congestion_sum(const struct sm *sm);

#endif
