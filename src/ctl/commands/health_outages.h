/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The metric of nodes and links that go away too often. */
#ifndef QOSD_CTL_COMMANDS_HEALTH_OUTAGES_H
#define QOSD_CTL_COMMANDS_HEALTH_OUTAGES_H

#include "ctl/prom.h"
#include "events/outages.h"
#include "sm/devices/withdrawals.h"

/*
 * Adds the metric of how many there are.  w: what is drained is left out, because somebody works on it; may be NULL.
 * now_us is monotonic.
 */
void metrics_outages(struct prom *p, const struct outages *o, const struct withdrawals *w,
		     int64_t now_us);

#endif
