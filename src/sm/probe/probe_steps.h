/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The probe as steps of a sweep.
 */
#ifndef QOSD_SM_PROBE_PROBE_STEPS_H
#define QOSD_SM_PROBE_PROBE_STEPS_H

#include "sm/sweep/steps.h"

/* probe.c: steps of a sweep: from sm->wishes.suspects; what did not answer a discovery, with the other M_Keys, into sm->sweep.found */
enum step_result probe_start(struct sm *sm);
enum step_result probe_hidden(struct sm *sm);
/* Something new is suspected: if it is a switch, others are not waited for (probe_wait.c). */
void probe_hurry(struct sm *sm);
void probe_free(struct sm *sm);

#endif
