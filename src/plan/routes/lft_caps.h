/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Switches that do not forward as the routes have it:
 *
 *  - whose linear forwarding tables are too small for the subnet: a LinearFDBCap (14.2.5.4) of
 *    no more than the highest LID;
 *  - that refuse SwitchInfo, so that their LinearFDBTop stays below the highest LID (top_stays
 *    in struct fabric_switch);
 *  - that refuse or ignore blocks of their forwarding table (fabric_fixed_block()).
 *
 * The first two drop packets for the LIDs beyond, the third forward them as they did before.
 * Where that does not lead to the owner of the LID, routes go round the switch
 * (routing/change/fixed_entries.h), and end where it is the only way; routes to all other LIDs use it as
 * any other.
 */
#ifndef QOSD_PLAN_ROUTES_LFT_CAPS_H
#define QOSD_PLAN_ROUTES_LFT_CAPS_H

#include "plan/plan.h"

/*
 * Fits p's routes, which are complete otherwise, to what the switches do: changes p->lfts, sets
 * p->short_switches, p->fixed_switches and p->silent_switches, and adds findings to p->findings,
 * p->short_findings and p->cut_findings.
 *
 * The order of all switches has a way up and down for each pair, which may lead over a switch that
 * forwards nothing, where the only other way goes down and up again.  Then route() makes p's routes anew
 * by an order of f, which is p's fabric with the links of such switches held.
 */
void routes_fit(struct plan *p, void (*route)(struct plan *p, const struct fabric *f));

#endif
