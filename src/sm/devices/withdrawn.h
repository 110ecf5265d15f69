/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes the subnet follow the list of what is withdrawn (withdrawals.h), by local sweeps. */
#ifndef QOSD_SM_DEVICES_WITHDRAWN_H
#define QOSD_SM_DEVICES_WITHDRAWN_H

#include <stdbool.h>
#include <stdint.h>

#include "sm/devices/isolated.h"

struct sm;
struct sm_status;

struct withdrawn {
	const struct withdrawals *list;		/* NULL: never set */
	/* numbers of changes of the list: the last, that of the present plan, that which devices have */
	uint64_t change, planned, in_force;
	bool unverified;	/* what is published is a standby's copy, which devices may not have */
	uint64_t looked;	/* the last that a fabric was cut by */
	struct isolated isolated;
};

/* Before a sweep makes routes. */
void withdrawn_prepare(struct sm *sm);
/* A sweep has written its plan. */
void withdrawn_swept(struct sm *sm);
/* Fills the members of out about what is withdrawn. */
void withdrawn_status(const struct sm *sm, struct sm_status *out);

#endif
