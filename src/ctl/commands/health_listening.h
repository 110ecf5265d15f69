/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The part of `health` about pages that are served by HTTP (health.h). */
#ifndef QOSD_CTL_COMMANDS_HEALTH_LISTENING_H
#define QOSD_CTL_COMMANDS_HEALTH_LISTENING_H

#include "ctl/commands/health.h"

/* Adds a problem for each of n addresses that cannot be had. */
void health_listening(const struct ctl_listening *v, size_t n, struct health *h);

#endif
