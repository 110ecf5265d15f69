/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Adds findings on shares: levels that get nothing on some links or less than asked, and levels
 * that share a VL on some links only.
 */
#include <math.h>
#include <stdio.h>

#include "plan/feasible/feasible_parts.h"

void tally_add(struct tally *t, const struct feasibility *v, uint32_t kind)
{
	if (!t->ports)
		t->kind = kind;
	t->ports += v->kinds[kind].n_ports;
}

const char *tally_text(const struct judge *j, struct tally *t)
{
	char name[FABRIC_NAME_MAX];

	fabric_port_name(j->p->f, j->v->kinds[t->kind].example, name, sizeof(name));
	if (t->ports == 1)
		snprintf(t->text, sizeof(t->text), "at %s", name);
	else
		snprintf(t->text, sizeof(t->text), "at %u ports (for example %s)", t->ports, name);
	return t->text;
}

static bool kind_serves(const struct judge *j, const struct link_kind *k, unsigned vl)
{
	if (k->arb == TABLE_NONE)
		return true;
	const struct vlarb *arb = &j->p->tables->arbs[k->arb];

	return (arbiter_high_vls(arb) | arbiter_low_vls(arb)) >> vl & 1;
}

static void judge_starving(struct judge *j, size_t level)
{
	const struct policy *pol = j->p->policy;
	const struct policy_level *l = &pol->levels[level];
	struct tally starved = { 0 };

	/* a VL that no table serves is for feasible_cut.c */
	for (uint32_t k = 0; k < j->v->n_kinds; k++) {
		const struct level_link *r = &j->v->kinds[k].levels[level];

		if (r->starved && kind_serves(j, &j->v->kinds[k], r->vl))
			tally_add(&starved, j->v, k);
	}
	if (starved.ports)
		findings_add(&j->v->findings, SEV_WARNING, policy_level_file(pol, l), l->pos,
			     "level %s: VL %u of SL %u may starve %s because high-priority VLs are "
			     "unlimited there (high-limit 255); lower the limit",
			     l->name, j->v->kinds[starved.kind].levels[level].vl, l->sl,
			     tally_text(j, &starved));
}

/* --- VLs shared on some links only --- */

/* The first level, other than `but`, that has one of the SLs. */
static const struct policy_level *level_of_sl(const struct policy *pol, uint16_t sls, size_t but)
{
	for (size_t i = 0; i < pol->n_levels; i++)
		if (i != but && sls >> pol->levels[i].sl & 1)
			return &pol->levels[i];
	return NULL;
}

/*
 * Levels that share a VL everywhere are meant to share it.  Each pair is reported once, at the
 * later level, where other SLs than its own come in.
 */
static void judge_sharing(struct judge *j, size_t level)
{
	const struct policy *pol = j->p->policy;
	const struct policy_level *l = &pol->levels[level];
	uint16_t always = UINT16_MAX, ever = 0, lower = (uint16_t)((1u << l->sl) - 1);
	struct tally shared = { 0 };

	for (uint32_t k = 0; k < j->v->n_kinds; k++) {
		const struct level_link *r = &j->v->kinds[k].levels[level];

		if (r->vl == IB_VL_DROP)
			continue;
		always &= r->shared_with;
		ever |= r->shared_with;
	}
	ever &= (uint16_t)~always & lower;
	const struct policy_level *other = level_of_sl(pol, ever, level);

	if (!other)
		return;
	for (uint32_t k = 0; k < j->v->n_kinds; k++)
		if (j->v->kinds[k].levels[level].shared_with >> other->sl & 1)
			tally_add(&shared, j->v, k);
	findings_add(&j->v->findings, SEV_INFO, policy_level_file(pol, l), l->pos,
		     "level %s shares VL %u with level %s %s, but not everywhere: there they get one "
		     "common share", l->name, j->v->kinds[shared.kind].levels[level].vl,
		     other->name, tally_text(j, &shared));
}

/* --- requested shares --- */

/*
 * The tables were made for packets of the link's MTU.  A level with smaller packets sends less in
 * turns of one packet, and so spoils shares that the tables meet.  Shares that no table could meet
 * were reported with the tables.
 */
static void judge_share(struct judge *j, size_t level)
{
	const struct policy *pol = j->p->policy;
	const struct qos_tables *t = j->p->tables;
	struct tally off = { 0 };

	for (uint32_t k = 0; k < j->v->n_kinds; k++) {
		const struct link_kind *kind = &j->v->kinds[k];
		const struct level_link *r = &kind->levels[level];

		if (r->due >= 0 && !r->unknown && !t->fits[t->fit[kind->example]].inexact &&
		    fabs(r->share - r->due) * CLASSES_SHARE_ALL > CLASSES_EXACT)
			tally_add(&off, j->v, k);
	}
	if (!off.ports)
		return;
	const struct level_link *r = &j->v->kinds[off.kind].levels[level];

	findings_add(&j->v->findings, SEV_WARNING, policy_level_file(pol, &pol->levels[level]),
		     pol->levels[level].pos,
		     "level %s: with packets as long as the mtu-limits of the levels allow, its VL gets "
		     "%.1f %% of the link instead of the %.1f %% of its class %s",
		     pol->levels[level].name, r->share * 100, r->due * 100,
		     tally_text(j, &off));
}

/*
 * The study of hardware found shares that IBA's arbiter does not give.  Which of the two a device follows is
 * known to its maker alone, so where they disagree the administrator learns both.
 */
static void judge_models(struct judge *j, size_t level)
{
	const struct policy *pol = j->p->policy;
	struct tally differ = { 0 };

	for (uint32_t k = 0; k < j->v->n_kinds; k++) {
		const struct level_link *r = &j->v->kinds[k].levels[level];

		if (r->vl != IB_VL_DROP && r->share_measured >= 0 &&
		    arbiter_shares_differ(r->share_iba, r->share_measured))
			tally_add(&differ, j->v, k);
	}
	if (!differ.ports)
		return;
	const struct level_link *r = &j->v->kinds[differ.kind].levels[level];

	findings_add(&j->v->findings, SEV_INFO, policy_level_file(pol, &pol->levels[level]),
		     pol->levels[level].pos,
		     "level %s: its VL gets %.1f %% of the link by IBA's arbiter, but %.1f %% by what a study "
		     "measured on hardware, %s", pol->levels[level].name, r->share_iba * 100,
		     r->share_measured * 100, tally_text(j, &differ));
}

/* --- findings about no level --- */

static void judge_unknown(struct judge *j)
{
	struct tally t = { 0 };

	for (uint32_t k = 0; k < j->v->n_kinds; k++) {
		bool unknown = false;

		for (size_t i = 0; i < j->p->policy->n_levels; i++)
			unknown |= j->v->kinds[k].levels[i].unknown;
		if (unknown)
			tally_add(&t, j->v, k);
	}
	if (t.ports)
		findings_add(&j->v->findings, SEV_WARNING, j->p->policy->file,
			     (struct src_pos){ 0, 0 },
			     "several VLs contend %s, where there are no arbitration tables: the shares "
			     "there are unknown",
			     tally_text(j, &t));
}

void judge_demands(struct judge *j)
{
	for (size_t i = 0; i < j->p->policy->n_levels; i++) {
		judge_starving(j, i);
		judge_share(j, i);
		judge_models(j, i);
		if (!j->p->policy->n_classes)	/* with classes, the findings on tables cover it */
			judge_sharing(j, i);
	}
	judge_unknown(j);
}
