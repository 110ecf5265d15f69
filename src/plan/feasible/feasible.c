/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * See feasible.h.  Puts the judgement on a plan together from its parts.
 */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/iba/units.h"
#include "plan/feasible/feasible_parts.h"

double feasible_link_gbps(const struct link_kind *k)
{
	return link_data_gbps(k->rate, k->fdr10);
}

struct feasibility *feasible_judge(const struct plan *p)
{
	struct feasibility *v = xcalloc(1, sizeof(*v));
	struct judge j = { .p = p, .v = v };

	v->levels = xcalloc(p->policy->n_levels, sizeof(*v->levels));
	for (size_t i = 0; i < p->policy->n_levels; i++) {
		v->levels[i] = (struct level_verdict){
			.worst = UINT32_MAX, .from = FABRIC_NONE, .to = FABRIC_NONE,
		};
		j.sls |= (uint16_t)(1u << p->policy->levels[i].sl);
	}
	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
		v->sls[sl] = (struct level_verdict){
			.worst = UINT32_MAX, .from = FABRIC_NONE, .to = FABRIC_NONE,
		};
	if (p->tables->managed)
		v->unnamed = sl_plan_unnamed(&p->sls, p->policy);
	judge_links(&j);
	judge_demands(&j);
	judge_cuts(&j);
	judge_reach(&j);
	judge_sls(&j);
	judge_limits(&j);
	judge_rules(&j);
	judge_deviations(&j);
	judge_unnamed(&j);
	findings_sort(&v->findings);
	return v;
}

void feasible_free(struct feasibility *v)
{
	if (!v)
		return;
	for (uint32_t k = 0; k < v->n_kinds; k++)
		free(v->kinds[k].levels);
	free(v->kinds);
	free(v->kind_of_port);
	free(v->levels);
	free(v->deviations);
	findings_free(&v->findings);
	findings_free(&v->cut);
	free(v->level_cut);
	free(v);
}
