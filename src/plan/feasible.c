/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The judgement on a plan, put together from its parts; see feasible.h. */
#include <stdlib.h>

#include "base/alloc.h"
#include "ib/units.h"
#include "plan/feasible_parts.h"

/* Rates of 1, 2, 4, 8 and 12 lanes of FDR. */
static bool rate_is_fdr(unsigned tenths)
{
	return tenths == 140 || tenths == 280 || tenths == 560 || tenths == 1120 || tenths == 1680;
}

/* Rates that lanes of SDR, DDR or QDR make. */
static bool rate_is_8b10b(unsigned tenths)
{
	static const uint16_t rates[] = { 25, 50, 100, 200, 300, 400, 600, 800, 1200 };

	for (size_t i = 0; i < ARRAY_SIZE(rates); i++)
		if (rates[i] == tenths)
			return true;
	return false;
}

double data_rate_gbps(unsigned rate_code)
{
	unsigned tenths = rate_tenths(rate_code);
	double nominal = tenths * 0.1;

	if (rate_is_8b10b(tenths))
		return nominal * 0.8;
	if (rate_is_fdr(tenths))
		return nominal / 14 * 14.0625 * 64 / 66;
	return nominal;
}

double feasible_link_gbps(const struct link_kind *k)
{
	return k->fdr10 ? rate_tenths(k->rate) * 0.1 : data_rate_gbps(k->rate);
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
	judge_links(&j);
	judge_demands(&j);
	judge_reach(&j);
	judge_limits(&j);
	judge_deviations(&j);
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
	free(v);
}
