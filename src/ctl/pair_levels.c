/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tells which level pairs of end ports get; see pair_levels.h. */
#include "ctl/pair_levels.h"

#include <stdlib.h>

#define UNASKED		(UINT16_MAX - 1)
#define KINDS_MAX	2000	/* more are not remembered: each pair is asked about */

struct pair_levels {
	const struct subnet_state *s;
	struct path_query q;
	struct port_kinds kinds;
	uint16_t *level;	/* [source kind][destination kind]; NULL: too many */
};

struct pair_levels *pair_levels_new(const struct subnet_state *s, const struct path_query *query)
{
	struct pair_levels *x = xcalloc(1, sizeof(*x));
	size_t n;

	x->s = s;
	x->q = *query;
	port_kinds_find(&x->kinds, (const struct plan *[]){ s->plan }, 1, true);
	n = x->kinds.list.n;
	if (n > KINDS_MAX)
		return x;
	x->level = xcalloc(n * n + 1, sizeof(*x->level));
	for (size_t i = 0; i < n * n; i++)
		x->level[i] = UNASKED;
	return x;
}

void pair_levels_free(struct pair_levels *x)
{
	if (!x)
		return;
	port_kinds_free(&x->kinds);
	free(x->level);
	free(x);
}

bool pair_levels_remembers(const struct pair_levels *x)
{
	return x->level != NULL;
}

const struct port_kinds *pair_levels_kinds(const struct pair_levels *x)
{
	return &x->kinds;
}

static uint16_t ask(const struct pair_levels *x, uint32_t src, uint32_t dst)
{
	struct path_query q = x->q;
	struct path_answer a;

	q.src = src;
	q.dst = dst;
	q.slid = x->s->plan->lid[src];
	q.dlid = x->s->plan->lid[dst];
	return path_resolve(x->s, &q, &a) ? PAIR_NO_PATH : (uint16_t)a.level;
}

uint16_t pair_level(struct pair_levels *x, uint32_t src, uint32_t dst)
{
	uint16_t *level;

	if (!x->level)
		return ask(x, src, dst);
	level = &x->level[x->kinds.of[src] * x->kinds.list.n + x->kinds.of[dst]];
	if (*level == UNASKED)
		*level = ask(x, src, dst);
	return *level;
}
