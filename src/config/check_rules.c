/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds rules that contradict their level: a query that names an SL or a P_Key gets no path with
 * another one, so a rule on queries for values that its level does not have gives no path.
 *
 * This follows from the file alone, as far as the level has its own SL on a route: where the routes
 * have layers, the level's SL is another one in layers other than the first.  What a fabric shows is
 * for plan/feasible/feasible_rules.c.
 */
#include "config/conf_parts.h"

static bool is_only(const struct u64_ranges *ranges, uint64_t value)
{
	for (size_t i = 0; i < ranges->n; i++)
		if (ranges->v[i].lo != value || ranges->v[i].hi != value)
			return false;
	return true;
}

static bool overlap(const struct u64_ranges *a, const struct u64_ranges *b)
{
	for (size_t i = 0; i < a->n; i++)
		for (size_t k = 0; k < b->n; k++)
			if (a->v[i].lo <= b->v[k].hi && b->v[k].lo <= a->v[i].hi)
				return true;
	return false;
}

static void check_sls(struct reader *r, const struct policy_rule *rule, const struct policy_level *l)
{
	if (!rule->sls.n || is_only(&rule->sls, l->sl))
		return;
	if (u64_ranges_have(&rule->sls, l->sl))
		findings_add(r->out, SEV_INFO, r->file, rule->pos, "of the queries for an SL that this rule "
			     "matches, those for another SL than %u, which the level '%s' has, get no path",
			     l->sl, EXCERPT(l->name));
	else
		findings_add(r->out, SEV_WARNING, r->file, rule->pos, "this rule gives no path: it matches "
			     "queries for other SLs than %u, which the level '%s' has", l->sl,
			     EXCERPT(l->name));
}

static void check_pkeys(struct reader *r, const struct policy_rule *rule, const struct policy_level *l)
{
	if (rule->pkeys.n && l->pkeys.n && !overlap(&rule->pkeys, &l->pkeys))
		findings_add(r->out, SEV_WARNING, r->file, rule->pos, "this rule gives no path: it matches "
			     "queries for P_Keys that the level '%s' does not permit", EXCERPT(l->name));
}

static void check_tclass(struct reader *r, const struct policy_rule *rule, const struct policy_level *l)
{
	if (rule->tclasses.n && l->tclass >= 0 && !u64_ranges_have(&rule->tclasses, (uint64_t)l->tclass))
		findings_add(r->out, SEV_INFO, r->file, rule->pos, "paths by this rule have the TClass %d of "
			     "the level '%s', and none of those that the queries name", l->tclass,
			     EXCERPT(l->name));
	if (rule->tclasses.n && rule->qos_classes.n)
		findings_add(r->out, SEV_INFO, r->file, rule->pos, "this rule matches only queries that "
			     "name a QoS class and a TClass; Linux's connection manager names the one for "
			     "IPv4 addresses and the other for IPv6 and GIDs, never both");
}

void check_rules(struct reader *r, const struct policy *p)
{
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct policy_rule *rule = &p->rules[i];
		const struct policy_level *l = &p->levels[rule->level];

		check_sls(r, rule, l);
		check_pkeys(r, rule, l);
		check_tclass(r, rule, l);
	}
}
