/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names the nodes and links that go away too often, for health and metrics. */
#ifndef QOSD_CTL_COMMANDS_HEALTH_OUTAGES_H
#define QOSD_CTL_COMMANDS_HEALTH_OUTAGES_H

#include "ctl/commands/health.h"
#include "ctl/prom.h"
#include "events/outages.h"
#include "sm/devices/withdrawals.h"

/*
 * Adds the nodes and links that went away too often: switches first, as hosts behind them go
 * with them.  w: what is drained is left out, because somebody works on it; may be NULL.
 * Times are monotonic.
 */
void health_outages(const struct outages *o, const struct withdrawals *w, int64_t now_us,
		    struct health *h);
/* Adds the metric of how many there are. */
void metrics_outages(struct prom *p, const struct outages *o, const struct withdrawals *w,
		     int64_t now_us);

#endif
