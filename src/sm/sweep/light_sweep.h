/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Light sweeps: one SwitchInfo Get for each switch.
 */
#ifndef QOSD_SM_SWEEP_LIGHT_SWEEP_H
#define QOSD_SM_SWEEP_LIGHT_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sm;
struct subnet_state;

struct light_sweep {
	struct timer *timer;
	struct smp_job *job;
	size_t left;			/* of exclusions.c: which is asked next */
	struct subnet_state *state;	/* what it goes over */
	uint8_t *asked;			/* per switch: LIGHT_... */
	bool told;			/* a switch has a change to tell */
	bool master_asked;		/* one was asked whom it has for its master … */
	bool claimed;			/* … and that is not us any more */
	bool owed;			/* one, when what is under way has ended */
	int64_t claim_next_us, claim_wait_us;	/* when the next claim is heeded; the wait for it */
};

void light_new(struct sm *sm);
void light_free(struct sm *sm);
void light_stop(struct sm *sm);
/* Begins the one that is owed, if nothing else is under way. */
void light_if_owed(struct sm *sm);
/* A light sweep, as soon as nothing else is under way. */
void sm_look(struct sm *sm);
/*
 * By the MasterSMLID that an end port of the state had, and the one that it has now: was another
 * SM master without our knowledge?
 */
bool state_was_claimed(const struct subnet_state *s, uint16_t before, uint16_t now);

#endif
