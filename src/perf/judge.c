/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Judges whether the VLs of a link got their promised shares; see judge.h. */
#include "perf/judge.h"

#define ALL_OF_IT	0.999	/* a VL with this share did not wait for others */
#define WANTS_MORE	0.5	/* in proportion to the ticks of a VL that always has data */

const char *verdict_name(enum verdict v)
{
	static const char *const names[] = {
		[VERDICT_NONE] = "none", [VERDICT_SERVED] = "served", [VERDICT_CONTENT] = "content",
		[VERDICT_NOT_FULL] = "not-full", [VERDICT_SHORT] = "short",
		[VERDICT_UNKNOWN] = "unknown",
	};

	return names[v];
}

/* Adds up the words of all VLs; false: those of some VL are unknown. */
static bool add_up(const struct vl_use vls[ARB_VLS], double *all)
{
	*all = 0;
	for (unsigned vl = 0; vl < ARB_VLS; vl++) {
		if (vls[vl].words.is != GROWTH_KNOWN)
			return false;
		*all += (double)vls[vl].words.n;
	}
	return true;
}

/* Wait ticks in proportion to the time in which the VL did not send. */
static double waited(const struct vl_use *l)
{
	return (double)l->wait.n / (1 - l->got);
}

/*
 * The highest waited() of all VLs except `but`; 0: none of them waited.  *exact is cleared if it
 * may be higher.
 */
static double ticks(const struct vl_use vls[ARB_VLS], unsigned but, bool *exact)
{
	double most = 0;

	for (unsigned vl = 0; vl < ARB_VLS; vl++) {
		const struct vl_use *l = &vls[vl];

		if (vl == but || l->got >= ALL_OF_IT || (l->words.n == 0 && l->promised <= 0))
			continue;
		if (l->wait.is != GROWTH_KNOWN)
			*exact = false;
		if (growth_is_some(l->wait) && waited(l) > most)
			most = waited(l);
	}
	return most;
}

/* The verdict of a VL below its promise on a full link. */
static enum verdict wanted(const struct vl_use vls[ARB_VLS], unsigned vl)
{
	const struct vl_use *l = &vls[vl];
	bool exact = true;
	double others = ticks(vls, vl, &exact);

	if (l->wait.is != GROWTH_KNOWN)
		return VERDICT_UNKNOWN;
	if (l->wait.n < JUDGE_TICKS || waited(l) < WANTS_MORE * others)
		return VERDICT_CONTENT;
	if (!exact || (others <= 0 && l->words.n))
		return VERDICT_UNKNOWN;
	return VERDICT_SHORT;
}

static enum verdict verdict_of(const struct vl_use vls[ARB_VLS], unsigned vl, double full)
{
	if (vls[vl].promised <= 0)
		return VERDICT_NONE;
	if (!(vls[vl].got < vls[vl].promised - JUDGE_TOLERANCE &&
	      vls[vl].got < vls[vl].promised * 0.9))
		return VERDICT_SERVED;
	return full < JUDGE_FULL ? VERDICT_NOT_FULL : wanted(vls, vl);
}

double judge_vls(struct vl_use vls[ARB_VLS], double gbps, int64_t us)
{
	double all, full;
	bool known = add_up(vls, &all);

	for (unsigned vl = 0; vl < ARB_VLS; vl++) {
		vls[vl].got = !known ? -1 : all > 0 ? (double)vls[vl].words.n / all : 0;
		vls[vl].verdict = !known && vls[vl].promised > 0 ? VERDICT_UNKNOWN :
								      VERDICT_NONE;
	}
	if (!known || gbps <= 0 || us <= 0)
		return -1;
	full = all * 4 * 8 / (gbps * 1000 * (double)us);
	if (all <= 0)
		return full;
	for (unsigned vl = 0; vl < ARB_VLS; vl++)
		vls[vl].verdict = verdict_of(vls, vl, full);
	return full;
}
