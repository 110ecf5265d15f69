/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Declares the probe's steps of a sweep.
 */
#ifndef QOSD_SM_PROBE_PROBE_STEPS_H
#define QOSD_SM_PROBE_PROBE_STEPS_H

#include "sm/sweep/steps.h"

/* Looks at the suspects in wishes.suspects and around them. */
enum step_result probe_start(struct sm *sm);
/* Asks devices that did not answer the discovery with the other M_Keys, and adds them to sweep.found. */
enum step_result probe_hidden(struct sm *sm);
/* Something new is suspected.  If it is a switch, the probe stops waiting for others (probe_wait.c). */
void probe_hurry(struct sm *sm);
void probe_free(struct sm *sm);

#endif
