/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sorts end ports into kinds, by a sum of hashes of all that contains a port; see port_kinds.h. */
#include "ctl/port_kinds.h"

#include <stdlib.h>

struct sums {
	const struct fabric *f;
	uint64_t *v;		/* [port]: sum of hashes of what contains it */
	bool all_groups;
};

static void add_group(struct sums *k, const struct group_sets *g, uint32_t group, uint64_t hash)
{
	const uint64_t *set = group_set(g, group);

	for (uint32_t w = 0; w < g->words; w++)
		for (uint64_t bits = set[w]; bits; bits &= bits - 1)
			k->v[w * 64 + (unsigned)__builtin_ctzll(bits)] += hash;
}

static void add_guids(struct sums *k, uint64_t lo, uint64_t hi, uint64_t hash)
{
	uint32_t port = lo == hi ? fabric_find_port(k->f, lo) : FABRIC_NONE;

	if (port != FABRIC_NONE)
		k->v[port] += hash;
	for (port = 0; lo != hi && port < k->f->n_ports; port++)
		if (k->f->ports[port].guid >= lo && k->f->ports[port].guid <= hi &&
		    port_is_end(k->f, port))
			k->v[port] += hash;
}

static void mark(const struct plan *p, const char *name, bool *used)
{
	uint32_t g = groups_find(p->groups, p->policy, name);

	if (g != UINT32_MAX)
		used[g] = true;
}

static void mark_names(const struct plan *p, const struct policy_names *names, bool *used)
{
	for (size_t i = 0; i < names->n; i++)
		mark(p, names->v[i].s, used);
}

/* Adds the groups, GUIDs and P_Keys that rules test; nothing else tells ports apart. */
static void add_policy(struct sums *k, const struct plan *p, unsigned number)
{
	const struct policy *pol = p->policy;
	bool *used = xcalloc(p->groups->n_groups, sizeof(*used));
	uint64_t key = p->groups->n_groups;

	for (size_t i = 0; i < pol->n_rules; i++) {
		const struct policy_rule *r = &pol->rules[i];

		mark_names(p, &r->sources, used);
		mark_names(p, &r->destinations, used);
		mark_names(p, &r->either, used);
		for (size_t g = 0; g < r->dest_guids.n; g++)
			add_guids(k, r->dest_guids.v[g].lo, r->dest_guids.v[g].hi,
				  key_hash(number, key++));
	}
	for (uint32_t g = 0; g < p->groups->n_groups; g++)
		if (used[g] || k->all_groups)
			add_group(k, p->groups, g, key_hash(number, g));
	for (uint32_t port = 0; port < k->f->n_ports; port++)
		k->v[port] += key_hash(number, key + p->partitions->table[port]);
	free(used);
}

static bool has_lids(const struct plan *const *plans, unsigned n, uint32_t port)
{
	for (unsigned i = 0; i < n; i++)
		if (!plans[i]->lid[port])
			return false;
	return true;
}

void port_kinds_find(struct port_kinds *k, const struct plan *const *plans, unsigned n, bool all_groups)
{
	const struct fabric *f = plans[0]->f;
	/* group bit sets come in whole words */
	struct sums sums = { f, xcalloc((size_t)f->n_ports + 64, sizeof(*sums.v)), all_groups };
	struct map64 by_sum;

	*k = (struct port_kinds){ .of = xcalloc(f->n_ports + 1u, sizeof(*k->of)) };
	for (unsigned i = 0; i < n; i++)
		add_policy(&sums, plans[i], i);
	map64_init(&by_sum, 64);
	for (uint32_t port = 0; port < f->n_ports; port++) {
		uint32_t i;

		k->of[port] = PORT_KIND_NONE;
		if (!has_lids(plans, n, port))
			continue;
		i = map64_get(&by_sum, sums.v[port]);
		if (i == MAP64_NONE) {
			i = (uint32_t)k->list.n;
			map64_put(&by_sum, sums.v[port], i);
			*vec_push(&k->list) = (struct port_kind){ .first = port };
		}
		k->of[port] = i;
		k->list.v[i].last = port;
		k->list.v[i].n++;
	}
	map64_free(&by_sum);
	free(sums.v);
}

void port_kinds_free(struct port_kinds *k)
{
	vec_free(&k->list);
	free(k->of);
}
