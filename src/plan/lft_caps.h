/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Switches whose linear forwarding tables are too small for the subnet: those with a
 * LinearFDBCap (14.2.5.4) of no more than the highest LID.
 *
 * Such a switch drops all packets for the LIDs beyond.  Routes to these LIDs go round
 * it, and end where it is the only way; routes to lower LIDs use it as any other.
 */
#ifndef QOSD_PLAN_LFT_CAPS_H
#define QOSD_PLAN_LFT_CAPS_H

#include "plan/plan.h"

/*
 * Fits p's routes, which are complete otherwise, to what the switches hold: changes
 * p->lfts, sets p->short_switches, and adds findings to p->findings and p->short_findings.
 */
void routes_fit(struct plan *p);

#endif
