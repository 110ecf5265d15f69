/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds where the cables of missing links may be now; see missing_move.h. */
#include "events/missing_move.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/search.h"

struct link {
	uint64_t between;	/* see missing_between() */
	int64_t since_us;	/* it came, or went */
	uint32_t port;		/* its end a */
	bool unwatched;
};

struct links { VEC(struct link) list; };

struct missing_moves {
	const struct fabric *f;
	struct links news, lost;	/* by what they connect, then by time */
};

uint32_t missing_linked_to(const struct missing_item *x, const struct missing_end *e, const struct fabric *f)
{
	uint32_t port = f && e->num ? missing_port(f, e) : FABRIC_NONE;

	if ((x->kind != MISSING_LINK && x->kind != MISSING_HOST_LINK) || port == FABRIC_NONE)
		return FABRIC_NONE;
	return f->ports[port].peer;
}

static bool is_missed(const struct missing_item *x)
{
	return !x->forgotten && (x->kind == MISSING_LINK || x->kind == MISSING_HOST_LINK);
}

/* A missing link whose cable may be elsewhere. */
static bool is_lost(const struct missing_item *x, const struct fabric *f)
{
	return is_missed(x) && port_is_empty(f, missing_port(f, &x->a)) &&
	       port_is_empty(f, missing_port(f, &x->b));
}

static int by_time(const void *a, const void *b)
{
	const struct link *x = a, *y = b;

	return ORDER(x->between, y->between) ?: ORDER(x->since_us, y->since_us);
}

static void add(struct links *l, const struct missing_item *x, uint32_t port)
{
	*vec_push(&l->list) = (struct link){ missing_between(x), x->since_us, port, x->unwatched };
}

static void sort(struct links *l)
{
	if (l->list.n)
		qsort(l->list.v, l->list.n, sizeof(*l->list.v), by_time);
}

/* A new link in a port that a missing link had is told as such. */
static void find_new(struct missing_moves *v, const struct missing *m)
{
	const struct missing_item *x;
	struct map64 had;
	uint32_t port;

	map64_init(&had, 64);
	for (size_t i = 0; (x = missing_at(m, i)); i++)
		if (is_missed(x)) {
			map64_put(&had, missing_port(v->f, &x->a), 1);
			map64_put(&had, missing_port(v->f, &x->b), 1);
		}
	for (size_t i = 0; (x = missing_at(m, i)); i++)
		if (x->is_new && missing_link_is_there(v->f, x, &port) && map64_get(&had, port) == MAP64_NONE &&
		    map64_get(&had, v->f->ports[port].peer) == MAP64_NONE)
			add(&v->news, x, port);
	map64_free(&had);
	sort(&v->news);
}

struct missing_moves *missing_moves_new(const struct missing *m, const struct fabric *f)
{
	struct missing_moves *v = xcalloc(1, sizeof(*v));
	const struct missing_item *x;

	v->f = f;
	if (!m || !f || !missing_has_new(m))
		return v;
	find_new(v, m);
	for (size_t i = 0; v->news.list.n && (x = missing_at(m, i)); i++)
		if (is_lost(x, f))
			add(&v->lost, x, missing_port(f, &x->a));
	sort(&v->lost);
	return v;
}

void missing_moves_free(struct missing_moves *v)
{
	vec_free(&v->news.list);
	vec_free(&v->lost.list);
	free(v);
}

/* The first place of a link that is not before the one looked for. */
static size_t first_from(const struct links *l, const struct link *wanted)
{
	size_t at;

	LOWER_BOUND(at, 0, l->list.n, by_time(&l->list.v[at], wanted) < 0);
	return at;
}

struct missing_move missing_moves_of(const struct missing_moves *v, const struct missing_item *x)
{
	struct missing_move move = { .port = FABRIC_NONE };
	struct link from = { missing_between(x), x->since_us, 0, false }, begin = { from.between, 0, 0, false };
	const struct link *found = NULL;

	if (!v->news.list.n || !is_lost(x, v->f))
		return move;
	for (size_t i = first_from(&v->news, &from); i < v->news.list.n; i++) {
		if (v->news.list.v[i].between != from.between)
			break;
		found = &v->news.list.v[i];
		move.n_new++;
	}
	for (size_t i = first_from(&v->lost, &begin); found && i < v->lost.list.n; i++)
		if (v->lost.list.v[i].between != from.between || v->lost.list.v[i].since_us > found->since_us)
			break;
		else
			move.n_missing++;
	if (move.n_new == 1 && move.n_missing == 1) {
		move.port = found->port;
		move.since_us = found->since_us;
		move.unwatched = found->unwatched;
	}
	return move;
}
