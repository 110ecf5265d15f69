/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Waits until a change is in force on the devices (--wait). */
#ifndef QOSD_CLI_WAIT_H
#define QOSD_CLI_WAIT_H

#include <jansson.h>
#include <stdbool.h>

#include "qosd/commands.h"

/* The subnet before a request: what was wrong then is not the fault of the change. */
struct before {
	bool up;
	long long failed_devices;
};

/* Returns false, with a message, if no daemon answers. */
bool look_before(struct before *before);
/*
 * Polls `status` until the change that a request's result names is on the devices.  Returns the
 * exit status.
 */
int wait_in_force(const struct ctl_command *c, const json_t *result, const struct before *before);

#endif
