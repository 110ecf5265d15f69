/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SMPs of files of sm/ without a port: jobs and single SMPs wait until smps_run(), and are answered
 * by a function of the test.  The program is linked with the functions of mad/ wrapped (Makefile:
 * SMPS_TESTS), and with sm_want_sweep(), which only counts.
 */
#ifndef TEST_SM_SMPS_H
#define TEST_SM_SMPS_H

#include "sm/sm_internal.h"

/* Puts the answer into s->data; the status: 0, that of the MAD, or below 0: there was no answer. */
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
/* Until nothing is under way. */
void smps_run(void);

#endif
