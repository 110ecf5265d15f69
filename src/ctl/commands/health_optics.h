/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Judges transceivers, for health and metrics. */
#ifndef QOSD_CTL_COMMANDS_HEALTH_OPTICS_H
#define QOSD_CTL_COMMANDS_HEALTH_OPTICS_H

#include "ctl/commands/health.h"
#include "ctl/prom.h"
#include "perf/optics_watch.h"

/* Adds the modules in linked ports with a value beyond an alarm threshold of theirs, then those beyond a warning. */
void health_optics(const struct optics_watch *w, const struct subnet_state *s, struct health *h);
/* Adds the metrics of transceivers. */
void metrics_optics(struct prom *p, const struct optics_watch *w, const struct subnet_state *s);

#endif
