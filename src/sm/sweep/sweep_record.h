/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records each sweep as an event, for the history.
 *
 * A sweep that wrote nothing and ended as the one before did is only counted: repeated looks at a device that stays
 * silent would push all other events out.  The count is in the next record, at the latest an hour after the last.
 */
#ifndef QOSD_SM_SWEEP_SWEEP_RECORD_H
#define QOSD_SM_SWEEP_SWEEP_RECORD_H

#include <stdbool.h>
#include <stdint.h>

struct sm;

struct sweep_records {
	int64_t told_us;	/* monotonic, of the last record; 0: none yet */
	bool complete;		/* how the last sweep ended */
	uint32_t alike;		/* sweeps that were only counted since */
};

/* Records the running sweep, before it is cleaned up.  result: why it is not complete; NULL: it is. */
void sweep_record(struct sm *sm, const char *result);

#endif
