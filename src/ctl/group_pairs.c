/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See group_pairs.h. */
#include "ctl/group_pairs.h"

#include <stdlib.h>

#define KINDS_ASKED 10	/* of a group, where each pair is asked about anew */

/* Hosts of a kind. */
struct kind {
	uint32_t first, last;	/* port indexes */
	uint32_t n;		/* 0: none */
};

struct group_pairs {
	const struct subnet_state *s;
	struct pair_levels *levels;
	struct kind *kinds;
	size_t n;
};

const char *group_pairs_name(const struct subnet_state *s, uint32_t group)
{
	const struct policy *p = s->plan->policy;

	return group < p->n_groups ? p->groups[group].name : "all";
}

static void find_hosts(struct group_pairs *x, const struct port_kinds *kinds)
{
	x->n = kinds->list.n;
	x->kinds = xcalloc(x->n + 1, sizeof(*x->kinds));
	for (uint32_t port = 0; port < x->s->f->n_ports; port++) {
		struct kind *k;

		if (kinds->of[port] == PORT_KIND_NONE || !port_is_host(x->s->f, port))
			continue;
		k = &x->kinds[kinds->of[port]];
		if (!k->n++)
			k->first = port;
		k->last = port;
	}
}

struct group_pairs *group_pairs_new(const struct subnet_state *s, const struct path_query *query)
{
	struct group_pairs *x = xcalloc(1, sizeof(*x));

	x->s = s;
	x->levels = pair_levels_new(s, query);
	find_hosts(x, pair_levels_kinds(x->levels));
	return x;
}

void group_pairs_free(struct group_pairs *x)
{
	pair_levels_free(x->levels);
	free(x->kinds);
	free(x);
}

static bool has_kind(const struct group_pairs *x, uint32_t group, size_t kind)
{
	return x->kinds[kind].n && group_has(x->s->plan->groups, group, x->kinds[kind].first);
}

void group_pairs_hosts(const struct group_pairs *x, uint32_t group, size_t kinds_max, struct group_hosts *out)
{
	size_t has = 0, step, at = 0;

	*out = (struct group_hosts){ .number = group };
	if (!pair_levels_remembers(x->levels) && kinds_max > KINDS_ASKED)
		kinds_max = KINDS_ASKED;
	for (size_t i = 0; i < x->n; i++)
		if (has_kind(x, group, i)) {
			out->hosts += x->kinds[i].n;
			has++;
		}
	step = has / kinds_max + 1;
	out->sampled = step > 1;
	for (size_t i = 0; i < x->n; i++)
		if (has_kind(x, group, i) && at++ % step == 0)
			*vec_push(&out->kinds) = (uint32_t)i;
}

uint64_t group_pairs_count(struct group_pairs *x, const struct group_hosts *from, const struct group_hosts *to,
			   uint64_t *by_level)
{
	uint64_t all = 0;

	for (size_t i = 0; i < from->kinds.n; i++)
		for (size_t k = 0; k < to->kinds.n; k++) {
			const struct kind *a = &x->kinds[from->kinds.v[i]], *b = &x->kinds[to->kinds.v[k]];
			uint64_t pairs = (uint64_t)a->n * b->n - (a == b ? a->n : 0);
			uint16_t level;

			if (!pairs)
				continue;
			level = pair_level(x->levels, a->first, b->last);
			by_level[level == PAIR_NO_PATH ? x->s->policy->p->n_levels : level] += pairs;
			all += pairs;
		}
	return all;
}
