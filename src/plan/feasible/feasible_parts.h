/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Declares what the parts of the judgement share, private to feasible*.c.
 */
#ifndef QOSD_PLAN_FEASIBLE_FEASIBLE_PARTS_H
#define QOSD_PLAN_FEASIBLE_FEASIBLE_PARTS_H

#include "plan/feasible/feasible.h"

struct judge {
	const struct plan *p;
	struct feasibility *v;
	uint16_t sls;		/* bit s: a level has SL s */
};

/* The VL on which a kind of link sends an SL; IB_VL_DROP: it drops the SL. */
unsigned kind_vl(const struct plan *p, const struct link_kind *k, unsigned sl);

/* feasible_links.c: kinds, kind_of_port, and what each level gets on each kind */
void judge_links(struct judge *j);
/* feasible_demand.c: findings on starved levels, shared VLs, missed shares, models that differ */
void judge_demands(struct judge *j);
/* feasible_cut.c: levels that can send nothing at some ports */
void judge_cuts(struct judge *j);
/* feasible_reach.c: pairs of end ports that the SL of a level does not connect */
void judge_reach(struct judge *j);
/* feasible_limits.c: limits, path bits and P_Keys of levels, IPoIB groups */
void judge_limits(struct judge *j);
/* feasible_rules.c: rules that no two ports share a P_Key for */
void judge_rules(struct judge *j);
/* feasible_unnamed.c: nodes that no group names */
void judge_unnamed(struct judge *j);
/* feasible_deviate.c: links below what they support or below most others */
void judge_deviations(struct judge *j);

#endif
