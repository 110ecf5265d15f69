/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs `policy install`: two requests, with a file that is replaced between them. */
#ifndef QOSD_CLI_POLICY_INSTALL_H
#define QOSD_CLI_POLICY_INSTALL_H

#include <jansson.h>

#include "lib/base/buf.h"

/*
 * Replaces the configured policy file by this one.  The daemon checks the policy and says which
 * file to replace; the calling user must have permission to write it, which the daemon should not
 * have.  *result gets a reference to the result of the reload.  Returns the exit status.
 */
int policy_install(json_t *args, const struct buf *file, json_t **result);

#endif
