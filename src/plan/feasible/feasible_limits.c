/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Judges what a level asks besides its SL: limits of MTU and rate, path bits, P_Keys; and IPoIB
 * groups that hosts cannot join.
 *
 * A limit alone makes no path impossible, as config/ accepts only values that exist: a path gets
 * the lesser of the limit and its links.  A limit above every link changes nothing, and may be a
 * slip.  A multicast group has one rate and one MTU, and a port that cannot do both cannot join
 * (ipoib_groups.h).
 */
#include "lib/iba/units.h"
#include "plan/feasible/feasible_parts.h"
#include "plan/partitions/pkey_members.h"

/* The greatest MTU and rate of any link. */
static struct ipoib_limits best_of(const struct feasibility *v)
{
	struct ipoib_limits b = { 0, 0 };

	for (uint32_t k = 0; k < v->n_kinds; k++) {
		if (v->kinds[k].mtu > b.mtu)
			b.mtu = v->kinds[k].mtu;
		if (rate_compare(v->kinds[k].rate, b.rate) > 0)
			b.rate = v->kinds[k].rate;
	}
	return b;
}

static void judge_path_bits(struct judge *j, const struct policy_level *l)
{
	unsigned lmc = j->p->settings->lmc;

	if (l->path_bits < 0 || l->path_bits >> lmc == 0)
		return;
	findings_add(&j->v->findings, SEV_WARNING, policy_level_file(j->p->policy, l), l->pos,
		     "level %s: path-bits %d need more LIDs than the LMC of %u provides: using path bits "
		     "%d", l->name, l->path_bits, lmc, l->path_bits & ((1 << lmc) - 1));
}

static void judge_pkeys(struct judge *j, const struct policy_level *l)
{
	const struct policy *pol = j->p->policy;

	for (size_t i = 0; i < pol->n_partitions; i++)
		if (level_is_for(l, pol->partitions[i].pkey))
			return;
	findings_add(&j->v->findings, SEV_ERROR, policy_level_file(pol, l), l->pos,
		     "level %s: no partition has any of its P_Keys, so no path gets this level",
		     l->name);
}

/* --- IPoIB groups --- */

static void judge_ipoib(struct judge *j, const struct policy_partition *part,
			const struct ipoib_group *g)
{
	const struct policy_level *l = &j->p->policy->levels[part->ipoib_level_index];
	const char *file = policy_file_of(j->p->policy, part->dynamic);
	char named[24], made[24];

	rate_text(g->named.rate, named, sizeof(named));
	rate_text(g->made.rate, made, sizeof(made));
	if (g->made.mtu != g->named.mtu || g->made.rate != g->named.rate)
		findings_add(&j->v->findings, SEV_WARNING, file, part->pos,
			     "partition %s: its IPoIB group cannot have the MTU of %u and %s of level %s "
			     "because of %u of its ports; the first is %s.  Created while these ports are "
			     "present, the group has %u and %s; created before, they cannot join "
			     "it", part->name,
			     mtu_bytes(g->named.mtu), named, l->name, g->lesser,
			     PORT_NAME(j->p->f, g->first_lesser),
			     mtu_bytes(g->made.mtu), made);
	if (g->excluded)
		findings_add(&j->v->findings, SEV_WARNING, file, part->pos,
			     "partition %s: %u of its ports cannot join its IPoIB group, which has an MTU "
			     "of %u and %s; the first is %s", part->name, g->excluded,
			     mtu_bytes(g->made.mtu), made, PORT_NAME(j->p->f, g->first_excluded));
}

void judge_limits(struct judge *j)
{
	const struct policy *pol = j->p->policy;
	struct ipoib_limits best = best_of(j->v);

	for (size_t i = 0; i < pol->n_levels; i++) {
		const struct policy_level *l = &pol->levels[i];
		const char *file = policy_level_file(pol, l);
		char limit[24], most[24];

		if (l->mtu_limit > best.mtu && best.mtu)
			findings_add(&j->v->findings, SEV_INFO, file, l->pos,
				     "level %s: mtu-limit %u has no effect: no link carries more than %u",
				     l->name, mtu_bytes(l->mtu_limit), mtu_bytes(best.mtu));
		if (l->rate_limit && best.rate && rate_compare(l->rate_limit, best.rate) > 0)
			findings_add(&j->v->findings, SEV_INFO, file, l->pos,
				     "level %s: rate-limit %s has no effect: no link runs at more than %s",
				     l->name, rate_text(l->rate_limit, limit, sizeof(limit)),
				     rate_text(best.rate, most, sizeof(most)));
		judge_path_bits(j, &pol->levels[i]);
		judge_pkeys(j, &pol->levels[i]);
	}
	for (size_t i = 0; i < pol->n_partitions; i++)
		if (pol->partitions[i].ipoib)
			judge_ipoib(j, &pol->partitions[i], &j->p->partitions->ipoib[i]);
}
