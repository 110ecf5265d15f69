/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The metrics of error counters. */
#ifndef QOSD_CTL_COMMANDS_HEALTH_ERRORS_H
#define QOSD_CTL_COMMANDS_HEALTH_ERRORS_H

#include "ctl/prom.h"
#include "perf/error_watch.h"

/* Adds them.  now_us is monotonic. */
void metrics_errors(struct prom *p, const struct error_watch *w, const struct subnet_state *s,
		    int64_t now_us);

#endif
