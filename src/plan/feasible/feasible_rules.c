/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds rules that can give no path on this fabric because of P_Keys: no partition has those of the
 * rule, or no two ports that it matches share one that rule and level permit.
 *
 * Ports with equal P_Key tables are alike, so that one port of a group stands for all of its ports
 * with the same table, and there are few tables.  A rule that would take too long is not judged.  A
 * group without ports was reported when the groups were resolved, and is none of this.
 */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "plan/feasible/feasible_parts.h"

#define WORK_MAX 50000000u	/* looks for a shared P_Key in all: about a second */

struct ports {
	VEC(uint32_t) v;	/* port slots */
};

struct rules {
	struct judge *j;
	struct ports *of_group;	/* [group]: a port of each table, once known */
	bool *known;
	uint32_t *stamp, stamps;	/* [table]: the last group that had it */
	uint64_t work;
};

/* A port of each P_Key table in the group. */
static const struct ports *ports_of_group(struct rules *s, uint32_t group)
{
	const struct plan *p = s->j->p;
	const uint64_t *set = group_set(p->groups, group);
	struct ports *out = &s->of_group[group];

	if (s->known[group])
		return out;
	s->known[group] = true;
	s->stamps++;
	for (uint32_t w = 0; w < p->groups->words; w++)
		for (uint64_t bits = set[w]; bits; bits &= bits - 1) {
			uint32_t port = w * 64 + (unsigned)__builtin_ctzll(bits);
			uint32_t *stamp = &s->stamp[p->partitions->table[port]];

			if (!port_is_end(p->f, port) || !p->lid[port] || *stamp == s->stamps)
				continue;
			*stamp = s->stamps;
			*vec_push(&out->v) = port;
		}
	return out;
}

static void add_group(struct rules *s, const char *name, struct ports *out)
{
	uint32_t group = groups_find(s->j->p->groups, s->j->p->policy, name);
	const struct ports *of = group == UINT32_MAX ? NULL : ports_of_group(s, group);

	for (size_t i = 0; of && i < of->v.n; i++)
		*vec_push(&out->v) = of->v.v[i];
}

/* Ports for one end of a rule; no names mean all ports. */
static struct ports ports_of_end(struct rules *s, const struct policy_names *names)
{
	struct ports out = { 0 };

	for (size_t i = 0; i < names->n; i++)
		add_group(s, names->v[i].s, &out);
	if (!names->n)
		add_group(s, "all", &out);
	return out;
}

/* The partitions that a rule's queries may be for; 0 alone: any. */
static struct ports pkeys_of(const struct rules *s, const struct policy_rule *r)
{
	const struct policy *pol = s->j->p->policy;
	struct ports out = { 0 };

	if (!r->pkeys.n)
		*vec_push(&out.v) = 0;
	for (size_t i = 0; r->pkeys.n && i < pol->n_partitions; i++)
		if (u64_ranges_have(&r->pkeys, pol->partitions[i].pkey))
			*vec_push(&out.v) = pol->partitions[i].pkey;
	return out;
}

static bool share(struct rules *s, const struct policy_rule *r, const struct ports *from,
		  const struct ports *to, const struct ports *pkeys, bool *by_level)
{
	const struct partitions *parts = s->j->p->partitions;

	for (size_t a = 0; a < from->v.n; a++)
		for (size_t b = 0; b < to->v.n; b++)
			for (size_t k = 0; k < pkeys->v.n; k++) {
				uint32_t x = from->v.v[a], y = to->v.v[b];
				uint16_t pkey = (uint16_t)pkeys->v.v[k];

				if (++s->work > WORK_MAX ||
				    shared_pkey_of_level(parts, r->level, x, y, pkey))
					return true;
				*by_level |= shared_pkey(parts, x, y, pkey) != 0;
			}
	return false;
}

static void judge_ends(struct rules *s, const struct policy_rule *r, const struct ports *pkeys)
{
	const struct policy *pol = s->j->p->policy;
	bool either = r->either.n && !r->sources.n && !r->destinations.n, by_level = false;
	struct ports from = ports_of_end(s, either ? &r->either : &r->sources);
	struct ports to = ports_of_end(s, &r->destinations);

	if (from.v.n && to.v.n && !share(s, r, &from, &to, pkeys, &by_level))
		findings_add(&s->j->v->findings, SEV_WARNING, pol->file, r->pos, "this rule gives no path on "
			     "this fabric: no source shares with a destination a partition%s%s",
			     r->pkeys.n ? " of the rule's P_Keys" : "",
			     by_level ? " that its level permits" : "");
	vec_free(&from.v);
	vec_free(&to.v);
}

void judge_rules(struct judge *j)
{
	const struct policy *pol = j->p->policy;
	struct rules s = {
		.j = j, .of_group = xcalloc(j->p->groups->n_groups, sizeof(*s.of_group)),
		.known = xcalloc(j->p->groups->n_groups, sizeof(*s.known)),
		.stamp = xcalloc(j->p->partitions->n_tables, sizeof(*s.stamp)),
	};

	for (size_t i = 0; i < pol->n_rules && s.work <= WORK_MAX; i++) {
		struct ports pkeys = pkeys_of(&s, &pol->rules[i]);

		if (pkeys.v.n)
			judge_ends(&s, &pol->rules[i], &pkeys);
		else
			findings_add(&j->v->findings, SEV_WARNING, pol->file, pol->rules[i].pos,
				     "this rule gives no path: no partition has any of its P_Keys");
		vec_free(&pkeys.v);
	}
	for (uint32_t g = 0; g < j->p->groups->n_groups; g++)
		vec_free(&s.of_group[g].v);
	free(s.of_group);
	free(s.known);
	free(s.stamp);
}
