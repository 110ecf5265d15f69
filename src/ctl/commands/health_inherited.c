/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Judges what another subnet manager left behind in devices; see health_judges.h. */
#include "ctl/commands/health_judges.h"

#include <inttypes.h>

/* Something of the other manager's that may be on at switches: how many it stays on at, and was switched off at. */
struct left_on {
	const char *what, *stays, *was;		/* with verbs that fit */
	uint32_t n_stays, n_ended;
	enum health_finding found_on, found_ended;
};

static void judge_left_on(struct health *h, const struct left_on *x)
{
	if (x->n_stays)
		health_add(h, x->found_on, "%s of another subnet manager %s on at %" PRIu32 " switch%s: packets do "
			   "not follow the routes of qosd", x->what, x->stays, x->n_stays,
			   PLURAL(x->n_stays, "", "es"));
	if (x->n_ended)
		health_add(h, x->found_ended, "%s of another subnet manager %s switched off at %" PRIu32 " switch%s",
			   x->what, x->was, x->n_ended, PLURAL(x->n_ended, "", "es"));
}

void health_inherited(const struct health_input *in, struct health *h)
{
	const struct sm_status *sm = in->sm;

	judge_left_on(h, &(struct left_on){ "adaptive routing", "stays", "was", sm->adaptive_stays,
					    sm->adaptive_ended, FOUND_ADAPTIVE_ROUTING,
					    FOUND_ADAPTIVE_ROUTING_ENDED });
	judge_left_on(h, &(struct left_on){ "private linear tables", "stay", "were", sm->private_stays,
					    sm->private_ended, FOUND_PRIVATE_TABLES, FOUND_PRIVATE_TABLES_ENDED });
	if (sm->tables_replaced)
		health_add(h, FOUND_TABLES_REPLACED, "SL2VL or arbitration tables of another subnet manager "
			   "dropped or starved SL 0 on %" PRIu32 " device%s and were replaced",
			   sm->tables_replaced, PLURAL_S(sm->tables_replaced));
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
			   PLURAL_S(c->hidden), PLURAL(c->hidden, " has", "s have"), PLURAL(c->hidden, "does", "do"));
	buf_free(&text);
}
