/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Judges what another subnet manager left behind in devices; see health_judges.h. */
#include "ctl/commands/health_judges.h"

#include <inttypes.h>

void health_inherited(const struct health_input *in, struct health *h)
{
	const struct sm_status *sm = in->sm;

	if (sm->adaptive_stays)
		health_add(h, FOUND_ADAPTIVE_ROUTING, "adaptive routing of another subnet manager stays on at "
			   "%" PRIu32 " switch%s: packets do not follow the routes of qosd",
			   sm->adaptive_stays, VERB(sm->adaptive_stays, "", "es"));
	if (sm->adaptive_ended)
		health_add(h, FOUND_ADAPTIVE_ROUTING_ENDED, "adaptive routing of another subnet manager was "
			   "switched off at %" PRIu32 " switch%s", sm->adaptive_ended,
			   VERB(sm->adaptive_ended, "", "es"));
	if (sm->private_stays)
		health_add(h, FOUND_PRIVATE_TABLES, "private linear tables of another subnet manager stay on "
			   "at %" PRIu32 " switch%s: packets do not follow the routes of qosd",
			   sm->private_stays, VERB(sm->private_stays, "", "es"));
	if (sm->private_ended)
		health_add(h, FOUND_PRIVATE_TABLES_ENDED, "private linear tables of another subnet manager "
			   "were switched off at %" PRIu32 " switch%s", sm->private_ended,
			   VERB(sm->private_ended, "", "es"));
	if (sm->tables_replaced)
		health_add(h, FOUND_TABLES_REPLACED, "SL2VL or arbitration tables of another subnet manager "
			   "dropped or starved SL 0 on %" PRIu32 " device%s and were replaced",
			   sm->tables_replaced, NOUN(sm->tables_replaced));
}

/* Mask of the SLs that the policy's paths use. */
static unsigned policy_sls(const struct policy *p)
{
	unsigned sls = 0;

	for (size_t i = 0; i < p->n_levels; i++)
		sls |= 1u << p->levels[i].sl;
	return sls;
}

/*
 * Hosts should slow down on all SLs of the policy, or on none: otherwise some lose bandwidth to
 * others.
 */
void health_congestion(const struct health_input *in, struct health *h)
{
	const struct sm_congestion *c = &in->sm->congestion;
	unsigned told = policy_sls(in->state->plan->policy);
	unsigned spared = c->slowing && told & c->sls ? told & ~c->same_sls : 0;
	struct buf text = { 0 };

	if (sm_congestion_text(c, &text)) {
		if (spared) {
			buf_puts(&text, "; of the policy's SLs, not all ports slow down on ");
			sm_congestion_sls(spared, &text);
		}
		health_add(h, spared ? FOUND_CONGESTION_UNEVEN : FOUND_CONGESTION_CONTROL, "%s", text.s);
	}
	if (c->hidden)
		health_add(h, FOUND_CONGESTION_HIDDEN, "%" PRIu32 " port%s whose device%s congestion "
			   "control %s not answer queries for it: a CC_Key may protect it", c->hidden,
			   NOUN(c->hidden), VERB(c->hidden, " has", "s have"), VERB(c->hidden, "does", "do"));
	buf_free(&text);
}
