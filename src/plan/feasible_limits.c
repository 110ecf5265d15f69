/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a level asks besides its SL: limits of MTU and rate, path bits, P_Keys;
 * and who can't join the IPoIB group of a partition.
 *
 * A limit alone makes no path impossible, as conf/ takes only values that exist:
 * a path gets the lesser of limit and links.  One above every link changes
 * nothing, and may be a slip.  A multicast group has one rate and one MTU, and
 * a port that can't do both can't join.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "ib/units.h"
#include "plan/feasible_parts.h"
#include "plan/partitions.h"

/* The most that any link carries. */
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

static void judge_level_limits(struct judge *j, const struct policy_level *l,
			       struct ipoib_limits best)
{
	const char *file = j->p->policy->file;
	char limit[24], most[24];

	if (l->mtu_limit > best.mtu && best.mtu)
		findings_add(&j->v->findings, SEV_INFO, file, l->pos,
			     "level %s: mtu-limit %u limits nothing, no link carries more than %u",
			     l->name, mtu_bytes(l->mtu_limit), mtu_bytes(best.mtu));
	if (l->rate_limit && best.rate && rate_compare(l->rate_limit, best.rate) > 0)
		findings_add(&j->v->findings, SEV_INFO, file, l->pos,
			     "level %s: rate-limit %s limits nothing, no link runs at more than %s",
			     l->name, rate_text(l->rate_limit, limit, sizeof(limit)),
			     rate_text(best.rate, most, sizeof(most)));
}

static void judge_path_bits(struct judge *j, const struct policy_level *l)
{
	unsigned lmc = j->p->settings->lmc;

	if (l->path_bits < 0 || l->path_bits >> lmc == 0)
		return;
	findings_add(&j->v->findings, SEV_WARNING, j->p->policy->file, l->pos,
		     "level %s: path-bits %d need more LIDs than the LMC of %u gives: %d are "
		     "used", l->name, l->path_bits, lmc, l->path_bits & ((1 << lmc) - 1));
}

static void judge_pkeys(struct judge *j, const struct policy_level *l)
{
	const struct policy *pol = j->p->policy;

	for (size_t i = 0; i < pol->n_partitions; i++)
		if (level_is_for(l, pol->partitions[i].pkey))
			return;
	findings_add(&j->v->findings, SEV_ERROR, pol->file, l->pos,
		     "level %s: no partition has any of its P_Keys, so that no path gets it",
		     l->name);
}

/* --- IPoIB groups --- */

/* A port of a host, and what it can: many partitions ask. */
struct host {
	uint32_t port;
	uint8_t mtu;
	unsigned tenths;
};
struct hosts {
	struct host *v;
	size_t n, cap;
};

static void find_hosts(const struct plan *p, struct hosts *h)
{
	for (uint32_t i = 0; i < p->f->n_ports; i++) {
		if (!p->lid[i] || !port_is_host(p->f, i))
			continue;
		struct path_info can = paths_of_port(p->f, i);

		*vec_push(h) = (struct host){ i, can.mtu, rate_tenths(can.rate) };
	}
}

static void judge_ipoib(struct judge *j, const struct hosts *hosts,
			const struct policy_partition *part)
{
	const struct policy_level *l = &j->p->policy->levels[part->ipoib_level_index];
	struct ipoib_limits group = level_ipoib_limits(l);
	uint32_t n = 0, first = 0;
	char name[FABRIC_NAME_MAX], rate[24];

	for (size_t i = 0; i < hosts->n; i++) {
		const struct host *h = &hosts->v[i];

		if ((h->mtu >= group.mtu && h->tenths >= rate_tenths(group.rate)) ||
		    !port_is_member(j->p->partitions, h->port, part->pkey))
			continue;
		if (!n++)
			first = h->port;
	}
	if (n)
		findings_add(&j->v->findings, SEV_WARNING, j->p->policy->file, part->pos,
			     "partition %s: %u of its ports can't join its IPoIB group, which has "
			     "an MTU of %u and %s; the first is %s", part->name, n,
			     mtu_bytes(group.mtu), rate_text(group.rate, rate, sizeof(rate)),
			     fabric_port_name(j->p->f, first, name, sizeof(name)));
}

void judge_limits(struct judge *j)
{
	const struct policy *pol = j->p->policy;
	struct ipoib_limits best = best_of(j->v);
	struct hosts hosts = { 0 };

	find_hosts(j->p, &hosts);
	for (size_t i = 0; i < pol->n_levels; i++) {
		judge_level_limits(j, &pol->levels[i], best);
		judge_path_bits(j, &pol->levels[i]);
		judge_pkeys(j, &pol->levels[i]);
	}
	for (size_t i = 0; i < pol->n_partitions; i++)
		if (pol->partitions[i].ipoib)
			judge_ipoib(j, &hosts, &pol->partitions[i]);
	vec_free(&hosts);
}
