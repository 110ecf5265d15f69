/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Judges error counters of links, for health and metrics. */
#ifndef QOSD_CTL_COMMANDS_HEALTH_ERRORS_H
#define QOSD_CTL_COMMANDS_HEALTH_ERRORS_H

#include "ctl/commands/health.h"
#include "ctl/prom.h"
#include "perf/error_watch.h"

/* Adds the links with a counter over its limit, worst first.  Times are monotonic. */
void health_errors(const struct error_watch *w, const struct subnet_state *s, int64_t now_us,
		   struct health *h);
/* Adds the metrics of error counters. */
void metrics_errors(struct prom *p, const struct error_watch *w, const struct subnet_state *s,
		    int64_t now_us);

#endif
