/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Computes what classes ask, in parts of a link, and which share a VL where a link has too few.
 *
 * See vlarb_from_shares.h.  Of the tables, only their numbers of entries matter here.
 *
 * Which classes share a VL: classes on a shared VL are not told apart there, so each may take all that was
 * promised to the others on it.  So of all pairs of one priority, the pair whose promised shares of the
 * link have the least sum is merged; a high-priority class without a share was promised none.  Among equal
 * sums the pair whose shares differ least is taken, then the pair that comes first.  This is repeated
 * until the VLs suffice.  No step depends on the link, so links with fewer VLs take the same steps and
 * then more.
 */
#include <string.h>

#include "qos/arbiter/intent.h"

/* --- shares --- */

/* Given shares of one priority, and the number of classes without one. */
struct shares {
	uint32_t given;		/* sum of the given shares, 1/100 per cent */
	uint32_t least;		/* least of the given shares */
	unsigned n, n_open;
};

static struct shares add_up(const struct traffic_class *c, unsigned n, bool high)
{
	struct shares s = { .least = CLASSES_SHARE_ALL };

	for (unsigned i = 0; i < n; i++) {
		if (c[i].high != high)
			continue;
		s.n++;
		if (c[i].share < 0) {
			s.n_open++;
			continue;
		}
		s.given += (uint32_t)c[i].share;
		if ((uint32_t)c[i].share < s.least)
			s.least = (uint32_t)c[i].share;
	}
	return s;
}

static bool is_above(const struct traffic_class *c, unsigned n, unsigned *at)
{
	for (*at = 0; *at < n; ++*at)
		if (add_up(c, *at + 1, c[*at].high).given > CLASSES_SHARE_ALL)
			return true;
	return false;
}

static bool limits_differ(const struct traffic_class *c, unsigned n, unsigned *at)
{
	int limit = -1;

	for (*at = 0; *at < n; ++*at) {
		int own = c[*at].high_limit;

		if (own >= 0 && limit >= 0 && own != limit)
			return true;
		if (own >= 0)
			limit = own;
	}
	return false;
}

const char *classes_check(const struct traffic_class *c, unsigned n, unsigned *at)
{
	if (is_above(c, n, at))
		return "with the previous classes, the shares of this priority exceed 100 %";
	if (limits_differ(c, n, at))
		return "another class has a different limit of high priority, but a port has only one";
	for (*at = 0; *at < n; ++*at) {
		if (!c[*at].high && c[*at].high_limit >= 0)
			return "a class of low priority cannot have a limit of high priority";
		if (add_up(c, n, c[*at].high).given < CLASSES_SHARE_ALL)
			continue;
		if (c[*at].share < 0)
			return "the other classes have 100 %: nothing is left for this class, which has no "
					"share";
		if (c[*at].high && add_up(c, n, false).n)
			return "with this class, high priority has 100 %: nothing is left for low priority";
	}
	return NULL;
}

/* Sets what low classes ask among themselves: those without a share divide the rest. */
static void intend_low(const struct traffic_class *c, unsigned n, struct intent *in)
{
	struct shares s = add_up(c, n, false);
	uint32_t rest = (CLASSES_SHARE_ALL - s.given) * PARTS_PER_SHARE;
	uint64_t all = s.n_open ? PARTS : s.given * PARTS_PER_SHARE;

	in->has_low = s.n;
	for (unsigned i = 0; i < n; i++) {
		if (c[i].high)
			continue;
		uint32_t w = c[i].share < 0 ? rest / s.n_open
					    : (uint32_t)c[i].share * PARTS_PER_SHARE;

		in->own[i] = (uint32_t)((uint64_t)w * PARTS / all);
		in->part[i] = in->promised[i] =
			(uint32_t)((uint64_t)in->own[i] * (PARTS - in->high) / PARTS);
	}
}

/*
 * The part of a high class without a share, which is expected to need little: the least share given, as
 * far as enough is left.  If no high class has a share they are equal, and have half of the link where
 * they cannot go first.
 */
static uint32_t open_part(const struct shares *s)
{
	uint32_t rest = (CLASSES_SHARE_ALL - s->given) * PARTS_PER_SHARE / (s->n_open + 1);
	uint32_t least = s->least * PARTS_PER_SHARE;

	if (s->n_open == s->n)
		return PARTS / 2 / s->n_open;
	return least < rest ? least : rest;
}

static void intend_high(const struct traffic_class *c, unsigned n, struct intent *in)
{
	struct shares s = add_up(c, n, true);
	uint32_t open = s.n_open ? open_part(&s) : 0;

	in->has_high = s.n;
	in->high_shares = s.n_open < s.n;
	for (unsigned i = 0; i < n; i++) {
		if (!c[i].high)
			continue;
		if (c[i].high_limit >= 0)
			in->limit = c[i].high_limit;
		if (c[i].share >= 0)
			in->promised[i] = (uint32_t)c[i].share * PARTS_PER_SHARE;
		in->part[i] = c[i].share < 0 ? open : in->promised[i];
		in->high += in->part[i];
		in->high_promised += in->promised[i];
	}
}

struct intent intent_of(const struct traffic_class *c, unsigned n)
{
	struct intent in = { .limit = -1 };

	intend_high(c, n, &in);
	intend_low(c, n, &in);
	return in;
}

/* --- merging of VLs --- */

static unsigned count_priority(const struct groups *g, bool high)
{
	unsigned n = 0;

	for (unsigned i = 0; i < g->n; i++)
		n += high ? g->v[i].high : g->v[i].low;
	return n;
}

static void merge(struct groups *g, unsigned a, unsigned b)
{
	g->v[a].members |= g->v[b].members;
	g->v[a].promised += g->v[b].promised;
	g->v[a].high |= g->v[b].high;
	g->v[a].low |= g->v[b].low;
	g->n--;
	memmove(&g->v[b], &g->v[b + 1], (g->n - b) * sizeof(g->v[0]));
}

/* Merges the pair that it hurts least; false if there is no pair of these priorities. */
static bool merge_least_hurt(struct groups *g, bool high, bool low)
{
	uint64_t least = UINT64_MAX;
	unsigned a = 0, b = 0;

	for (unsigned i = 0; i < g->n; i++) {
		for (unsigned j = i + 1; j < g->n; j++) {
			const struct group *x = &g->v[i], *y = &g->v[j];
			/* orders by the sum, then by the difference */
			uint64_t hurt = (uint64_t)(x->promised + y->promised) << 32 |
					apart(x->promised, y->promised);

			if (x->high != y->high || (x->high ? !high : !low) || hurt >= least)
				continue;
			least = hurt;
			a = i;
			b = j;
		}
	}
	if (least == UINT64_MAX)
		return false;
	merge(g, a, b);
	return true;
}

bool intent_two_tables(const struct intent *in, const struct class_link *link)
{
	return in->has_high && in->has_low && link->high_cap && link->low_cap;
}

bool intent_only_high(const struct intent *in, const struct class_link *link)
{
	return !link->low_cap || (!in->has_low && link->high_cap);
}

static unsigned vls_for(const struct intent *in, const struct class_link *link)
{
	unsigned vls = link->vls;

	if (!intent_two_tables(in, link)) {
		unsigned cap = intent_only_high(in, link) ? link->high_cap : link->low_cap;

		vls = cap < vls ? cap : vls;
	}
	return vls ? vls : 1;
}

struct groups intent_groups(const struct traffic_class *c, unsigned n, const struct intent *in,
			    const struct class_link *link)
{
	struct groups g = { .n = n };
	unsigned vls = vls_for(in, link);

	for (unsigned i = 0; i < n; i++)
		g.v[i] = (struct group){ (uint16_t)(1u << i), c[i].high, !c[i].high,
					 in->promised[i] };
	if (intent_two_tables(in, link)) {
		while (count_priority(&g, true) > link->high_cap)
			merge_least_hurt(&g, true, false);
		while (count_priority(&g, false) > link->low_cap)
			merge_least_hurt(&g, false, true);
	}
	while (g.n > vls)
		if (!merge_least_hurt(&g, true, true))
			merge(&g, 0, 1);
	return g;
}
