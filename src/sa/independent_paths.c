/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Chooses paths that share as little as possible, for IndependenceSelector and Automatic Path Migration.
 *
 * The parts of a path are the switches and links of its route, and of the route back
 * if the path is reversible: a connection is lost with either.  The first two paths of the
 * answer are the pair of candidates with the fewest parts in common; each further path is the
 * one that shares the fewest parts with those before it.  A common end port counts more than
 * any number of parts.  Among equals the shorter path precedes, then the order of the search.
 *
 * The record's Preference is the number of parts that the path shares with those
 * before it in the answer; 0: none.
 */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "sa/handler.h"

#define CANDIDATES_MAX 512	/* most paths to compare, of all pairs of ports together */
#define SHARED_END 1000		/* cost of an end port in common */

struct candidate {
	struct path_query q;
	struct path_answer a;
	uint32_t first, n;		/* its parts: range in struct choice's `parts` */
	uint32_t shared;		/* parts that chosen paths have, too */
	uint32_t cost;			/* `shared` and the cost of end ports in common */
	bool chosen;
};

struct choice {
	const struct subnet_state *s;
	VEC(struct candidate) c;
	VEC(uint32_t) parts;		/* links: index of their lower port; switches: n_ports + node */
	uint32_t *seen;			/* for each part: the last mark it got */
	uint32_t mark;
	struct path_found *out;		/* chosen paths */
	uint32_t n;
};

/* --- the parts of a path --- */

static void add_part(struct choice *x, uint32_t part)
{
	if (x->seen[part] == x->mark)
		return;
	x->seen[part] = x->mark;
	*vec_push(&x->parts) = part;
}

static void add_route(struct choice *x, uint32_t src, uint32_t dst, uint16_t dlid)
{
	const struct fabric *f = x->s->f;
	const struct plan *p = x->s->plan;
	struct path_hop hops[PATH_HOPS_MAX];
	unsigned n = paths_walk(f, p->lfts, p->tables, src, dlid, dst, hops, PATH_HOPS_MAX);

	for (unsigned i = 0; i < n; i++) {
		uint32_t port = f->nodes[hops[i].node].port0 + hops[i].out;

		if (node_is_switch(&f->nodes[hops[i].node]))
			add_part(x, f->n_ports + hops[i].node);
		if (hops[i].out)
			add_part(x, f->ports[port].peer < port ? f->ports[port].peer : port);
	}
}

static void add_candidate(struct choice *x, const struct path_query *q,
			  const struct path_answer *a)
{
	struct candidate *c = vec_push(&x->c);

	*c = (struct candidate){ .q = *q, .a = *a, .first = (uint32_t)x->parts.n };
	x->mark++;
	add_route(x, q->src, q->dst, a->dlid);
	if (a->reversible)
		add_route(x, q->dst, q->src, a->slid);
	c->n = (uint32_t)x->parts.n - c->first;
}

/* Finds equally many candidates for each pair of ports; LIDs with equal path bits come first. */
static void find_candidates(struct choice *x, const void *pairs, unsigned n,
			    path_begin_pair *begin, uint32_t *budget)
{
	uint32_t each = CANDIDATES_MAX / n ? CANDIDATES_MAX / n : 1;
	struct path_search search;
	struct path_answer a;

	for (unsigned i = 0; i < n && *budget; i++) {
		if (!begin(pairs, i, each, *budget, &search))
			continue;
		while (path_search_next(&search, &a))
			add_candidate(x, &search.q, &a);
		*budget = search.budget;
	}
}

/* --- the choice --- */

static bool has_end(const struct candidate *c, uint32_t port)
{
	return c->q.src == port || c->q.dst == port;
}

static unsigned ends_in_common(const struct candidate *a, const struct candidate *b)
{
	return has_end(b, a->q.src) + (a->q.dst != a->q.src && has_end(b, a->q.dst));
}

/* Marks the parts of a path as used. */
static void use(struct choice *x, const struct candidate *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		x->seen[x->parts.v[c->first + i]] = x->mark;
}

static uint32_t count_used(const struct choice *x, const struct candidate *c)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n; i++)
		n += x->seen[x->parts.v[c->first + i]] == x->mark;
	return n;
}

/* Finds the pair of candidates with the least in common. */
static void best_pair(struct choice *x, size_t *first, size_t *second)
{
	uint32_t least = UINT32_MAX, shortest = 0;

	for (size_t i = 0; i < x->c.n; i++) {
		x->mark++;
		use(x, &x->c.v[i]);
		for (size_t k = i + 1; k < x->c.n; k++) {
			const struct candidate *a = &x->c.v[i], *b = &x->c.v[k];
			uint32_t cost = count_used(x, b) + SHARED_END * ends_in_common(a, b);

			if (cost > least || (cost == least && a->n + b->n >= shortest))
				continue;
			least = cost;
			shortest = a->n + b->n;
			*first = i;
			*second = k;
		}
	}
}

static void choose(struct choice *x, struct candidate *c)
{
	c->chosen = true;
	c->a.preference = c->shared > UINT8_MAX ? UINT8_MAX : (uint8_t)c->shared;
	x->out[x->n++] = (struct path_found){ c->q, c->a };
	use(x, c);
	for (struct candidate *o = x->c.v; o < vec_end(&x->c); o++) {
		o->cost = o->cost - o->shared + SHARED_END * ends_in_common(o, c);
		o->shared = count_used(x, o);
		o->cost += o->shared;
	}
}

static struct candidate *next_best(struct choice *x)
{
	struct candidate *best = NULL;

	for (struct candidate *c = x->c.v; c < vec_end(&x->c); c++)
		if (!c->chosen && (!best || c->cost < best->cost ||
				   (c->cost == best->cost && c->n < best->n)))
			best = c;
	return best;
}

uint32_t path_find_independent(const struct subnet_state *s, const void *pairs, unsigned n,
			       path_begin_pair *begin, uint32_t max, uint32_t *budget,
			       struct path_found *out)
{
	struct choice x = { .s = s, .out = out };
	struct candidate *c;

	x.seen = xcalloc(s->f->n_ports + (size_t)s->f->n_nodes, sizeof(*x.seen));
	find_candidates(&x, pairs, n, begin, budget);
	x.mark++;
	if (x.c.n > 1 && max > 1) {
		size_t first = 0, second = 1;

		best_pair(&x, &first, &second);
		x.mark++;
		choose(&x, &x.c.v[first]);
		choose(&x, &x.c.v[second]);
	}
	while (x.n < max && (c = next_best(&x)))
		choose(&x, c);
	free(x.seen);
	vec_free(&x.c);
	vec_free(&x.parts);
	return x.n;
}

bool path_is_for_migration(const struct path_query *q, unsigned n_srcs, unsigned n_dsts)
{
	return q->has & PR_NUMB_PATH && q->num_path == 2 && n_srcs == 2 && n_dsts == 2;
}
