/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers the SMPs of sm/ without a port: jobs and single SMPs wait until smps_run(), and a function of
 * the test answers them.  The program is linked with wrapped functions of mad/ (Makefile: SMPS_TESTS),
 * and with an sm_want_sweep() that only counts.
 */
#ifndef TEST_SM_SMPS_H
#define TEST_SM_SMPS_H

#include "sm/sm_internal.h"

/* Puts the answer into s->data; returns 0, the status of the MAD, or less than 0 for no answer. */
typedef int smps_answer(struct smp *s);

struct smps {
	smps_answer *answer;
	unsigned gets, sets;			/* that were sent */
	unsigned jobs;				/* that were started */
	unsigned sweeps;			/* wished since smps_reset() */
	enum sweep_kind kind;			/* … the last one */
};
extern struct smps smps;

void smps_reset(smps_answer *answer);
/* Answers SMPs until none is outstanding. */
void smps_run(void);

#endif
