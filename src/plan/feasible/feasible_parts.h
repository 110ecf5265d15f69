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

/* feasible_links.c: kinds, kind_of_port, and what each level gets on each kind */
void judge_links(struct judge *j);
/* feasible_demand.c: findings on starved levels, shared VLs, missed shares, models that differ */
void judge_demands(struct judge *j);
/* feasible_cut.c: levels that can send nothing at some ports */
void judge_cuts(struct judge *j);
/* feasible_sls.c: findings on SLs that no level has */
void judge_sls(struct judge *j);
/* feasible_reach.c: pairs of end ports that an SL does not connect, and findings for those of levels */
void judge_reach(struct judge *j);
/*
 * Says at which hop of the route between the pair in v an SL ends: "is dropped by … at its port 1".
 */
void name_lost_hop(const struct judge *j, const struct level_verdict *v, unsigned sl, char *out, size_t size);

/* Ports with some property. */
struct tally {
	uint32_t ports, kind;		/* number of ports; kind of the first */
	char text[FABRIC_NAME_MAX + 48];
};
void tally_add(struct tally *t, const struct feasibility *v, uint32_t kind);
/* "at 3 ports (for example A/P1 (0x…))", or "at A/P1 (0x…)"; in t. */
const char *tally_text(const struct judge *j, struct tally *t);
/* feasible_limits.c: limits, path bits and P_Keys of levels, IPoIB groups */
void judge_limits(struct judge *j);
/* feasible_rules.c: rules that no two ports share a P_Key for */
void judge_rules(struct judge *j);
/* feasible_unnamed.c: nodes that no group names */
void judge_unnamed(struct judge *j);
/* feasible_deviate.c: links below what they support or below most others */
void judge_deviations(struct judge *j);

#endif
