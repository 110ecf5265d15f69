/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Exports all measurements to Prometheus (prom.h). */
#ifndef QOSD_CTL_COMMANDS_METRICS_H
#define QOSD_CTL_COMMANDS_METRICS_H

#include "ctl/command.h"

/* Called in the loop's thread. */
void metrics_print(const struct ctl_env *env, const struct ctl_view *view, struct buf *out);

#endif
