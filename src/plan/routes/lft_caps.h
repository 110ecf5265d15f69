/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Adapts routes to switches that do not forward as planned.
 *
 * Such switches are those
 *
 *  - whose linear forwarding tables are too small for the subnet: a LinearFDBCap (14.2.5.4) of no
 *    more than the highest LID;
 *  - that refuse SwitchInfo, so that their LinearFDBTop stays below the highest LID (top_stays in
 *    struct fabric_switch);
 *  - that refuse or ignore blocks of their forwarding table (fabric_fixed_block()).
 *
 * The first two kinds drop packets for LIDs beyond, the third forwards as before.  Where that does
 * not lead to the owner of the LID, routes avoid the switch (routing/change/fixed_entries.h), and end
 * where there is no other way; routes to all other LIDs use the switch as usual.
 */
#ifndef QOSD_PLAN_ROUTES_LFT_CAPS_H
#define QOSD_PLAN_ROUTES_LFT_CAPS_H

#include "plan/plan.h"

/*
 * Fits p's routes, which are complete otherwise, to what the switches do: changes p->lfts, sets
 * p->short_switches, p->fixed_switches and p->silent_switches, and adds findings to p->findings,
 * p->short_findings and p->cut_findings.
 *
 * The order of all switches has an up/down path for each pair.  That path may cross a switch that
 * forwards nothing, where the only other path goes down and up again.  Then route() makes p's
 * routes anew by an order of f, which is p's fabric with the links of such switches held.
 */
void routes_fit(struct plan *p, void (*route)(struct plan *p, const struct fabric *f));

#endif
