/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The metrics of transceivers. */
#ifndef QOSD_CTL_COMMANDS_HEALTH_OPTICS_H
#define QOSD_CTL_COMMANDS_HEALTH_OPTICS_H

#include "ctl/prom.h"
#include "perf/optics_watch.h"

/* Adds them. */
void metrics_optics(struct prom *p, const struct optics_watch *w, const struct subnet_state *s);

#endif
