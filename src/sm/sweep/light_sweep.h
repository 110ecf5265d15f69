/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Asks each switch for its SwitchInfo to find changes that no trap reported (light sweeps).
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
	size_t left;			/* index of the next question of exclusions.c */
	struct subnet_state *state;	/* the state whose switches are asked */
	uint8_t *asked;			/* per switch: LIGHT_… flags */
	bool told;			/* a switch reported a change */
	bool master_asked;		/* a switch was asked for its MasterSMLID */
	bool claimed;			/* a switch has a MasterSMLID that is not ours */
	bool owed;			/* a light sweep must follow when what is under way has ended */
	int64_t claim_next_us, claim_wait_us;	/* earliest time of the next claim; the wait for it */
};

void light_new(struct sm *sm);
void light_free(struct sm *sm);
void light_stop(struct sm *sm);
/* Begins the light sweep that is owed, if nothing else is under way. */
void light_if_owed(struct sm *sm);
/* Requests a light sweep, to begin as soon as nothing else is under way. */
void sm_look(struct sm *sm);
/*
 * Whether another SM was master without our knowledge, judging by the MasterSMLID that an end port
 * of the state had and the one that it has now.
 */
bool state_was_claimed(const struct subnet_state *s, uint16_t before, uint16_t now);

#endif
