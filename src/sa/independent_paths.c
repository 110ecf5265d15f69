/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Paths that have as little in common as this fabric allows, for IndependenceSelector
 * and for Automatic Path Migration.
 *
 * What a path needs are the switches and links of its route, and of the route back
 * too, if there is one: a connection is lost with either.  Of all pairs of
 * paths that come into question the first two of the answer are the pair with the
 * least in common; each further one is that which has least in common with those
 * before it.  To share an end port counts more than any number of switches; among
 * equals it is the shorter way, then the order of the search.
 *
 * How far it went is told in the record's Preference: how many switches and links
 * the path shares with those before it in the answer; 0: none.
 */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "sa/handler.h"

#define CANDIDATES_MAX 512	/* paths that are compared, of all pairs of ports together */
#define SHARED_END 1000		/* what an end port in common counts for */

struct candidate {
	struct path_query q;
	struct path_answer a;
	uint32_t first, n;		/* of its parts */
	uint32_t shared;		/* parts that chosen ones have, too */
	uint32_t cost;			/* that and end ports in common */
	bool chosen;
};

struct choice {
	const struct subnet_state *s;
	VEC(struct candidate) c;
	VEC(uint32_t) parts;		/* links by their lower port, switches from n_ports on */
	uint32_t *seen;			/* per part: the last mark that it got */
	uint32_t mark;
	struct path_found *out;		/* what is chosen */
	uint32_t n;
};

/* --- what a path needs --- */

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

/* From each pair of ports alike; its pairs of LIDs come with equal path bits first. */
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

/* Marks what a path needs, so that it counts as used. */
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

/* The pair with the least in common. */
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
	for (size_t i = 0; i < x->c.n; i++) {
		struct candidate *o = &x->c.v[i];

		o->cost = o->cost - o->shared + SHARED_END * ends_in_common(o, c);
		o->shared = count_used(x, o);
		o->cost += o->shared;
	}
}

static struct candidate *next_best(struct choice *x)
{
	struct candidate *best = NULL;

	for (size_t i = 0; i < x->c.n; i++) {
		struct candidate *c = &x->c.v[i];

		if (!c->chosen && (!best || c->cost < best->cost ||
				   (c->cost == best->cost && c->n < best->n)))
			best = c;
	}
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
