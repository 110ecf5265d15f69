/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Adds findings on SLs that no level has.
 *
 * MPI and other libraries choose an SL by themselves and never ask the subnet administrator, so that an SL
 * counts even if no level has it.  Policies leave most SLs unused, and map them to the VL of the default
 * level or drop them everywhere; there is nothing to say about these.  Each finding covers all SLs that it
 * holds for, in one line.
 */
#include "plan/feasible/feasible_parts.h"

#define NOWHERE ((struct src_pos){ 0, 0 })

/* "SL 2, 4-7 (no level)" */
static void name_sls(struct buf *out, uint16_t sls)
{
	buf_puts(out, "SL ");
	buf_put_bits(out, sls);
	buf_puts(out, " (no level)");
}

/* The SLs of levels on a VL of a kind of link. */
static uint16_t levels_on(const struct judge *j, const struct link_kind *k, unsigned vl)
{
	return kind_sls_on(k, j->sls, vl);
}

/* --- starving --- */

/* The SLs of the set whose VLs tables serve, but which may get nothing on a kind of link. */
static uint16_t starving(const struct link_kind *k, uint16_t sls)
{
	uint16_t found = 0;

	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
		if (sls >> sl & 1 && k->sls[sl].starved && k->sls[sl].served)
			found |= (uint16_t)(1u << sl);
	return found;
}

/* Those that share the VL of a level starve with that level, which has a finding of its own. */
static void judge_starving(struct judge *j)
{
	struct tally at = { 0 };
	uint16_t sls = 0;
	struct buf names = { 0 };

	for (uint32_t i = 0; i < j->v->n_kinds; i++) {
		const struct link_kind *k = &j->v->kinds[i];
		uint16_t here = starving(k, j->v->unnamed);

		for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
			if (here >> sl & 1 && levels_on(j, k, k->sls[sl].vl))
				here &= (uint16_t)~(1u << sl);
		if (!here)
			continue;
		sls |= here;
		tally_add(&at, j->v, i);
	}
	if (!sls)
		return;
	name_sls(&names, sls);
	findings_add(&j->v->findings, SEV_WARNING, j->p->policy->file, NOWHERE,
		     "%s: their VLs may starve %s because high-priority VLs are unlimited there (high-limit "
		     "255); lower the limit", names.s, tally_text(j, &at));
	buf_free(&names);
}

#define NEARLY_NOTHING 0.001	/* of a link */

/* SLs whose own VLs are served, but so rarely that their packets hardly move while others are sent. */
static void judge_nearly_starving(struct judge *j)
{
	struct tally at = { 0 };
	double most = 0;
	uint16_t sls = 0;
	struct buf names = { 0 };

	for (uint32_t i = 0; i < j->v->n_kinds; i++) {
		const struct link_kind *k = &j->v->kinds[i];
		bool here = false;

		for (unsigned sl = 0; sl < IB_SL_COUNT; sl++) {
			const struct sl_link *l = &k->sls[sl];

			if (!(j->v->unnamed >> sl & 1) || l->share <= 0 || l->share >= NEARLY_NOTHING ||
			    levels_on(j, k, l->vl))
				continue;
			sls |= (uint16_t)(1u << sl);
			here = true;
			if (l->share > most)
				most = l->share;
		}
		if (here)
			tally_add(&at, j->v, i);
	}
	if (!sls)
		return;
	name_sls(&names, sls);
	findings_add(&j->v->findings, SEV_INFO, j->p->policy->file, NOWHERE,
		     "%s: their VLs get at most %.3f %% of a link %s while programs use all SLs", names.s,
		     most * 100, tally_text(j, &at));
	buf_free(&names);
}

/* The SLs without a level on VLs of high priority, without those on the VL of a level. */
static uint16_t rivals_of(const struct judge *j, const struct link_kind *k)
{
	uint16_t rivals = 0;

	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
		if (j->v->unnamed >> sl & 1 && k->sls[sl].high && !levels_on(j, k, k->sls[sl].vl))
			rivals |= (uint16_t)(1u << sl);
	return rivals;
}

/* A level that would starve only because of SLs that no level has. */
static void judge_starved_level(struct judge *j, size_t level)
{
	const struct policy_level *l = &j->p->policy->levels[level];
	struct tally at = { 0 };
	uint16_t rivals = 0;
	struct buf names = { 0 };

	for (uint32_t i = 0; i < j->v->n_kinds; i++) {
		const struct link_kind *k = &j->v->kinds[i];

		if (k->levels[level].starved || !starving(k, (uint16_t)(1u << l->sl)))
			continue;
		rivals |= rivals_of(j, k);
		tally_add(&at, j->v, i);
	}
	if (!at.ports)
		return;
	name_sls(&names, rivals);
	findings_add(&j->v->findings, SEV_WARNING, policy_level_file(j->p->policy, l), l->pos,
		     "level %s: VL %u of SL %u may starve %s while programs use %s, whose VLs have high "
		     "priority without a limit there (high-limit 255); lower the limit", l->name,
		     j->v->kinds[at.kind].sls[l->sl].vl, l->sl, tally_text(j, &at),
		     names.s);
	buf_free(&names);
}

/* --- what they take from levels --- */

/* The SLs without a level that have VLs of their own on a kind of link, and are sent there. */
static uint16_t apart(const struct judge *j, const struct link_kind *k)
{
	uint16_t sls = 0;

	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
		if (j->v->unnamed >> sl & 1 && k->sls[sl].vl != IB_VL_DROP && k->sls[sl].served &&
		    !levels_on(j, k, k->sls[sl].vl))
			sls |= (uint16_t)(1u << sl);
	return sls;
}

#define WORTH_SAYING 0.5	/* a level that keeps less of its share than this part of it */

/* What a level keeps of its share while programs use all SLs, 0..1; 1 where it would starve: that is said. */
static double kept_of(const struct link_kind *k, size_t level, unsigned sl)
{
	const struct level_link *l = &k->levels[level];

	if (l->unknown || l->share <= 0 || k->sls[sl].starved)
		return 1;
	return k->sls[sl].share / l->share;
}

/*
 * Names the level that loses most of its share, and where.  qosd's own tables give every VL of a link the same
 * weight, so that this holds for each policy with few levels, and is nothing to tell.
 */
static void judge_taking(struct judge *j)
{
	const struct policy *pol = j->p->policy;
	struct tally at = { 0 };
	uint16_t sls = 0;
	double least = 1;
	size_t level = 0;
	uint32_t kind = 0;
	struct buf names = { 0 };

	if (!sl_plan_has_own_tables(pol))
		return;
	for (uint32_t i = 0; i < j->v->n_kinds; i++) {
		const struct link_kind *k = &j->v->kinds[i];

		if (!apart(j, k))
			continue;
		sls |= apart(j, k);
		tally_add(&at, j->v, i);
		for (size_t n = 0; n < pol->n_levels; n++) {
			double kept = kept_of(k, n, pol->levels[n].sl);

			if (kept < least) {
				least = kept;
				level = n;
				kind = i;
			}
		}
	}
	if (least >= WORTH_SAYING)
		return;
	name_sls(&names, sls);
	findings_add(&j->v->findings, SEV_INFO, pol->file, NOWHERE,
		     "%s: they have VLs of their own %s; while programs use them, level %s may get only "
		     "%.1f %% of a link instead of %.1f %%", names.s,
		     tally_text(j, &at), pol->levels[level].name,
		     j->v->kinds[kind].sls[pol->levels[level].sl].share * 100,
		     j->v->kinds[kind].levels[level].share * 100);
	buf_free(&names);
}

static bool has_written_maps(const struct policy *p)
{
	for (unsigned c = 0; c < PORT_CLASS_COUNT; c++)
		if (p->defaults[c].has_sl2vl)
			return true;
	return p->n_sl2vl;
}

/*
 * SLs that a table of the policy puts on the VL of a level other than `default`, where unused SLs are not
 * expected.  qosd's own tables do that, too, where VLs are few.
 */
static void judge_sharing(struct judge *j)
{
	const struct policy *pol = j->p->policy;
	unsigned usual = pol->levels[pol->default_level].sl;
	struct tally at = { 0 };
	uint16_t sls = 0, levels = 0;
	struct buf names = { 0 }, with = { 0 };

	if (!has_written_maps(pol))
		return;
	for (uint32_t i = 0; i < j->v->n_kinds; i++) {
		const struct link_kind *k = &j->v->kinds[i];
		bool here = false;

		for (unsigned sl = 0; sl < IB_SL_COUNT; sl++) {
			uint16_t own = levels_on(j, k, k->sls[sl].vl);

			if (!(j->v->unnamed >> sl & 1) || k->sls[sl].vl == IB_VL_DROP || !own ||
			    own >> usual & 1)
				continue;
			sls |= (uint16_t)(1u << sl);
			levels |= own;
			here = true;
		}
		if (here)
			tally_add(&at, j->v, i);
	}
	if (!sls)
		return;
	name_sls(&names, sls);
	for (size_t i = 0; i < pol->n_levels; i++)
		if (levels >> pol->levels[i].sl & 1)
			buf_printf(&with, "%s %s", with.n ? "," : "", pol->levels[i].name);
	findings_add(&j->v->findings, SEV_INFO, pol->file, NOWHERE,
		     "%s: programs that use them take bandwidth of the levels whose VLs they share %s:%s",
		     names.s, tally_text(j, &at), with.s);
	buf_free(&names);
	buf_free(&with);
}

/* --- reach --- */

/*
 * SLs that connect some pairs and not others; one that connects none was meant to be dropped.  Many tables drop
 * SL 15, while qosd's own do not: nobody expects to use it.
 */
static void judge_partial(struct judge *j)
{
	const struct level_verdict *worst = NULL;
	unsigned worst_sl = 0;
	uint16_t sls = 0;
	char where[FABRIC_NAME_MAX + 64];
	struct buf names = { 0 };

	for (unsigned sl = 0; sl < IB_SL_COUNT - 1; sl++) {
		const struct level_verdict *v = &j->v->sls[sl];

		if (!(j->v->unnamed >> sl & 1) || !v->unreachable || v->unreachable == v->pairs ||
		    v->from == FABRIC_NONE)
			continue;
		sls |= (uint16_t)(1u << sl);
		if (!worst || v->unreachable > worst->unreachable) {
			worst = v;
			worst_sl = sl;
		}
	}
	if (!worst)
		return;
	name_sls(&names, sls);
	name_lost_hop(j, worst, worst_sl, where, sizeof(where));
	findings_add(&j->v->findings, SEV_WARNING, j->p->policy->file, NOWHERE,
		     "%s: some pairs of ports only are connected; SL %u does not connect %llu of %llu: from %s "
		     "to %s it %s", names.s, worst_sl, (unsigned long long)worst->unreachable,
		     (unsigned long long)worst->pairs, PORT_NAME(j->p->f, worst->from),
		     PORT_NAME(j->p->f, worst->to), where);
	buf_free(&names);
}

void judge_sls(struct judge *j)
{
	judge_starving(j);
	judge_nearly_starving(j);
	for (size_t i = 0; i < j->p->policy->n_levels; i++)
		judge_starved_level(j, i);
	judge_taking(j);
	judge_sharing(j);
	judge_partial(j);
}
