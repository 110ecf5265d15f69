/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The probe as steps of a sweep.
 */
#ifndef QOSD_SM_PROBE_PROBE_STEPS_H
#define QOSD_SM_PROBE_PROBE_STEPS_H

#include "sm/sweep/steps.h"

/* A step of a sweep: looks at what is around wishes.suspects. */
enum step_result probe_start(struct sm *sm);
/* Another: asks what did not answer the discovery with the other M_Keys, and adds it to sweep.found. */
enum step_result probe_hidden(struct sm *sm);
/* Something new is suspected: if it is a switch, others are not waited for (probe_wait.c). */
void probe_hurry(struct sm *sm);
void probe_free(struct sm *sm);

#endif
