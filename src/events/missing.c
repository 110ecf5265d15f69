/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps the table of what is missing; see missing.h.
 *
 * Items are found by a digest of what they stand for.  The map cannot remove a key, so a key whose
 * item is gone gets the value NO_ITEM, and the map is made anew when it has many of these.  Another map
 * counts the links that went by what they connect, so that a new link knows whether one like it did.
 */
#include "events/missing.h"

#include <stdlib.h>
#include <string.h>

#include "events/missing_items.h"
#include "events/missing_wanted.h"
#include "lib/base/alloc.h"
#include "lib/base/search.h"
#include "lib/iba/units.h"

#define NO_ITEM		(MAP64_NONE - 1)
#define STALE_MIN	1024	/* keys without an item before the map is made anew */

struct missing {
	VEC(struct missing_item *) v;
	struct map64 by_key;
	struct map64 went;	/* between what -> links that went */
	uint32_t stale;		/* keys in the map without an item */
	size_t n_forgotten, n_new;
	bool may_drop_new;	/* a link is back since needless new links were dropped */
	uint64_t changes, dropped;
	int64_t now_us;
	bool unwatched, forgets;	/* of items that are added now */
};

struct missing *missing_new(void)
{
	struct missing *m = xcalloc(1, sizeof(*m));

	map64_init(&m->by_key, 64);
	map64_init(&m->went, 64);
	return m;
}

void missing_item_free(struct missing_item *x)
{
	if (!--x->refs)
		free(x);
}

void missing_clear(struct missing *m)
{
	for (size_t i = 0; i < m->v.n; i++)
		missing_item_free(m->v.v[i]);
	vec_free(&m->v);
	map64_clear(&m->by_key);
	map64_clear(&m->went);
	m->stale = 0;
	m->n_forgotten = m->n_new = 0;
	m->changes++;
}

void missing_free(struct missing *m)
{
	if (!m)
		return;
	missing_clear(m);
	map64_free(&m->by_key);
	map64_free(&m->went);
	free(m);
}

uint64_t missing_changes(const struct missing *m)
{
	return m->changes;
}

uint64_t missing_dropped(const struct missing *m)
{
	return m->dropped;
}

void missing_set_time(struct missing *m, int64_t now_us)
{
	m->now_us = now_us;
}

bool missing_has_new(const struct missing *m)
{
	return m->n_new;
}

const struct missing_item *missing_at(const struct missing *m, size_t i)
{
	return i < m->v.n ? m->v.v[i] : NULL;
}

/* --- finding items --- */

static bool is_node(const struct missing_item *x)
{
	return x->kind == MISSING_SWITCH || x->kind == MISSING_HOST;
}

/*
 * Switches and hosts share a space of keys, and so do links that are gone and links that are slow.  New links
 * have one of their own.
 */
static uint64_t key_of(const struct missing_item *x)
{
	uint64_t part[5] = { x->kind == MISSING_MANAGER, x->a.guid };

	if (missing_is_link(x)) {
		part[0] = x->is_new ? 3 : 2;
		part[2] = x->a.num;
		if (x->trunk) {
			part[3] = x->b.guid;
			part[4] = x->b.num + 1u;
		}
	}
	return hash_bytes(part, sizeof(part), 0);
}

static bool is_same(const struct missing_item *x, const struct missing_item *y)
{
	if (is_node(x) || !missing_is_link(x))
		return is_node(x) == is_node(y) && !missing_is_link(y) && x->a.guid == y->a.guid;
	return missing_is_link(y) && x->is_new == y->is_new && x->trunk == y->trunk && x->a.guid == y->a.guid &&
	       x->a.num == y->a.num && (!x->trunk || (x->b.guid == y->b.guid && x->b.num == y->b.num));
}

static struct missing_item *find(const struct missing *m, const struct missing_item *like)
{
	uint32_t i = map64_get(&m->by_key, key_of(like));

	return i < NO_ITEM && is_same(m->v.v[i], like) ? m->v.v[i] : NULL;
}

static bool lacks_node(const struct missing *m, uint64_t guid)
{
	const struct missing_item node = { .kind = MISSING_HOST, .a.guid = guid };
	const struct missing_item *x = find(m, &node);

	return x && !x->forgotten;
}

/* Whether users see the item: it is not forgotten, and of a link, neither node is missing. */
static bool missing_is_shown(const struct missing *m, const struct missing_item *x)
{
	return !x->forgotten &&
	       (!missing_is_link(x) || (!lacks_node(m, x->a.guid) && !lacks_node(m, x->b.guid)));
}

size_t missing_count(const struct missing *m, size_t n[MISSING_KINDS])
{
	size_t all = 0;

	memset(n, 0, MISSING_KINDS * sizeof(*n));
	for (size_t i = 0; i < m->v.n; i++)
		if (missing_is_shown(m, m->v.v[i])) {
			n[m->v.v[i]->kind]++;
			all++;
		}
	return all;
}

static int by_kind_and_name(const void *a, const void *b)
{
	const struct missing_item *x = *(struct missing_item *const *)a, *y = *(struct missing_item *const *)b;
	int names = strcmp(x->a.name, y->a.name);

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (names)
		return names;
	return ORDER(x->a.guid, y->a.guid) ?: ORDER(x->a.num, y->a.num);
}

struct missing_item **missing_list(const struct missing *m, size_t *n)
{
	struct missing_item **list = xcalloc(m->v.n + 1, sizeof(struct missing_item *));

	*n = 0;
	for (size_t i = 0; i < m->v.n; i++)
		if (missing_is_shown(m, m->v.v[i])) {
			m->v.v[i]->refs++;
			list[(*n)++] = m->v.v[i];
		}
	qsort(list, *n, sizeof(*list), by_kind_and_name);
	return list;
}

void missing_list_free(struct missing_item **list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		missing_item_free(list[i]);
	free(list);
}

/* --- adding and removing --- */

/* How many links went that connected what this one does. */
static uint32_t count_went(const struct missing *m, const struct missing_item *x)
{
	uint32_t n = map64_get(&m->went, missing_between(x));

	return n == MAP64_NONE ? 0 : n;
}

/* Keeps the counts when an item comes (1) or goes (-1). */
static void count_item(struct missing *m, const struct missing_item *x, int by)
{
	m->n_forgotten += (size_t)(x->forgotten * by);
	m->n_new += (size_t)(x->is_new * by);
	if (missing_is_link(x) && !x->is_new) {
		map64_put(&m->went, missing_between(x), count_went(m, x) + (uint32_t)by);
		m->may_drop_new |= by < 0;
	}
}

static void index_anew(struct missing *m)
{
	map64_clear(&m->by_key);
	map64_clear(&m->went);
	m->n_forgotten = m->n_new = 0;
	for (size_t i = 0; i < m->v.n; i++) {
		map64_put(&m->by_key, key_of(m->v.v[i]), (uint32_t)i);
		count_item(m, m->v.v[i], 1);
	}
	m->stale = 0;
}

static void remove_item(struct missing *m, const struct missing_item *gone)
{
	uint32_t i = map64_get(&m->by_key, key_of(gone)), last = (uint32_t)m->v.n - 1;

	map64_put(&m->by_key, key_of(gone), NO_ITEM);
	count_item(m, gone, -1);
	missing_item_free(m->v.v[i]);
	m->v.v[i] = m->v.v[last];
	m->v.n--;
	if (i != last)
		map64_put(&m->by_key, key_of(m->v.v[i]), i);
	m->changes++;
	if (++m->stale > STALE_MIN && m->stale > m->v.n)
		index_anew(m);
}

/* Gives up all items for which the function says so. */
static void drop(struct missing *m, bool (*is_needless)(const struct missing *m, const struct missing_item *x))
{
	size_t n = 0;

	for (size_t i = 0; i < m->v.n; i++)
		if (is_needless(m, m->v.v[i]))
			missing_item_free(m->v.v[i]);
		else
			m->v.v[n++] = m->v.v[i];
	m->v.n = n;
	index_anew(m);
}

static bool is_forgotten(const struct missing *m, const struct missing_item *x)
{
	(void)m;
	return x->forgotten;
}

/* A new link of which nobody misses another one any more. */
static bool is_old_news(const struct missing *m, const struct missing_item *x)
{
	return x->is_new && !count_went(m, x);
}

/* Adds a copy, which has the only reference; false: there is no room. */
static bool put(struct missing *m, const struct missing_item *x)
{
	struct missing_item *copy;
	uint32_t had;

	if (m->v.n >= MISSING_MAX && m->n_forgotten)
		drop(m, is_forgotten);
	had = map64_get(&m->by_key, key_of(x));
	if (m->v.n >= MISSING_MAX || had < NO_ITEM) {	/* full, or two things have one digest */
		m->dropped++;
		return false;
	}
	m->stale -= had == NO_ITEM;
	copy = xmemdup(x, sizeof(*x));
	copy->refs = 1;
	count_item(m, copy, 1);
	map64_put(&m->by_key, key_of(x), (uint32_t)m->v.n);
	*vec_push(&m->v) = copy;
	m->changes++;
	return true;
}

/* Adds an item that is missing from now on, unless it is in the table. */
static void add(struct missing *m, struct missing_item *x)
{
	if (find(m, x))
		return;
	x->since_us = m->now_us;
	x->unwatched = m->unwatched;
	x->forgotten = m->forgets;
	put(m, x);
}

/* --- from a fabric --- */

/* The same link as one that is new. */
static struct missing_item as_new(const struct missing_item *link)
{
	struct missing_item x = *link;

	x.is_new = x.forgotten = true;
	return x;
}

static void link_went(struct missing *m, const struct fabric *f, uint32_t port)
{
	struct missing_item x = missing_item_of_link(f, port), *had = find(m, &x), like = as_new(&x),
			    *news = find(m, &like);

	if (news)
		remove_item(m, news);
	if (had && had->kind == MISSING_RATE && had->forgotten) {	/* the lower rate was accepted */
		remove_item(m, had);
		had = NULL;
	}
	if (!had) {
		add(m, &x);
	} else if (had->kind == MISSING_RATE) {		/* it had another rate once */
		had->kind = x.kind;
		had->is[0] = '\0';
		had->since_us = m->now_us;
		m->changes++;
	}
}

/* The link of this port is there; `was`, if not NULL, is what it was just before. */
static void link_is(struct missing *m, const struct fabric *f, uint32_t port,
		    const struct missing_item *was)
{
	struct missing_item x = missing_item_of_link(f, port), *had = find(m, &x);
	char is[LINK_TEXT];

	memcpy(is, x.was, sizeof(is));
	if (had && (had->forgotten || !had->rate || !x.rate || rate_compare(x.rate, had->rate) >= 0)) {
		remove_item(m, had);
		had = NULL;
	}
	if (!had && was && was->rate && x.rate && rate_compare(x.rate, was->rate) < 0) {
		x.rate = was->rate;
		memcpy(x.was, was->was, sizeof(x.was));
		memcpy(x.is, is, sizeof(x.is));
		x.kind = MISSING_RATE;
		add(m, &x);
	} else if (had && (had->kind != MISSING_RATE || strcmp(had->is, is))) {
		if (had->kind != MISSING_RATE)
			had->since_us = m->now_us;
		had->kind = MISSING_RATE;
		had->b = x.b;		/* a host may have moved */
		memcpy(had->is, is, sizeof(had->is));
		m->changes++;
	}
}

/* The link of this port has come.  One that nobody missed may be the cable of one that is missing. */
static void link_came(struct missing *m, const struct fabric *f, uint32_t port)
{
	struct missing_item x = missing_item_of_link(f, port);

	if (find(m, &x)) {
		link_is(m, f, port, NULL);
		return;
	}
	x = as_new(&x);
	if (!count_went(m, &x) || find(m, &x))
		return;
	if (m->n_new >= MISSING_NEW_MAX && m->may_drop_new) {
		m->may_drop_new = false;
		drop(m, is_old_news);
	}
	if (m->n_new >= MISSING_NEW_MAX || m->v.n >= MISSING_MAX)
		return;
	x.since_us = m->now_us;
	x.unwatched = m->unwatched;
	put(m, &x);
}

static void links_of(struct missing *m, const struct fabric *f, uint32_t node, bool went)
{
	const struct fabric_node *n = &f->nodes[node];

	for (uint32_t i = n->port0; i <= n->port0 + n->nports; i++)
		if (f->ports[i].peer != FABRIC_NONE && went)
			link_went(m, f, i);
		else if (f->ports[i].peer != FABRIC_NONE)
			link_came(m, f, i);
}

static void node_went(struct missing *m, const struct fabric *f, uint32_t node)
{
	struct missing_item x = missing_item_of_node(f, node);

	add(m, &x);
	links_of(m, f, node, true);
}

static void node_came(struct missing *m, const struct fabric *f, uint32_t node)
{
	const struct missing_item x = { .kind = MISSING_HOST, .a.guid = f->nodes[node].guid };
	const struct missing_item *had = find(m, &x);

	if (had)
		remove_item(m, had);
	links_of(m, f, node, false);
}

void missing_differs(void *arg, const struct topology_difference *d)
{
	struct missing *m = arg;
	struct missing_item was;

	switch (d->change) {
	case NODE_WENT:
		node_went(m, d->f, d->node);
		break;
	case NODE_CAME:
		node_came(m, d->f, d->node);
		break;
	case LINK_WENT:
		link_went(m, d->f, d->port);
		break;
	case LINK_CAME:
		link_came(m, d->f, d->port);
		break;
	case LINK_MOVED:
		link_is(m, d->f, d->port, NULL);
		break;
	case LINK_CHANGED:
		was = missing_item_of_link(d->before, d->was);
		link_is(m, d->f, d->port, &was);
		break;
	}
}

static void review(struct missing *m, const struct fabric *now, const struct missing_item *x)
{
	uint32_t port;

	if (is_node(x) && map64_get(&now->node_by_guid, x->a.guid) != MAP64_NONE)
		remove_item(m, x);
	else if (x->is_new && !missing_link_is_there(now, x, &port))
		remove_item(m, x);
	else if (missing_is_link(x) && !x->is_new && missing_link_is_there(now, x, &port))
		link_is(m, now, port, NULL);
}

/* `now` has a link that the fabric which was known lacks. */
static void is_unknown(void *arg, const struct topology_difference *d)
{
	if (d->change == LINK_WENT)
		link_came(arg, d->f, d->port);
}

void missing_review(struct missing *m, const struct fabric *now, const struct fabric *known,
		    bool forget)
{
	for (size_t i = m->v.n; i-- > 0;)	/* a removal moves only an item that was looked at */
		review(m, now, m->v.v[i]);
	m->unwatched = true;
	m->forgets = forget;
	if (known)
		topology_lacks(known, now, missing_differs, m);
	if (known && !forget)
		topology_lacks(now, known, is_unknown, m);
	m->unwatched = m->forgets = false;
}

void missing_manager(struct missing *m, uint64_t guid, const char *name, bool gone)
{
	struct missing_item x = { .kind = MISSING_MANAGER, .a.guid = guid };
	const struct missing_item *had = find(m, &x);

	missing_set_name(&x.a, name);
	if (gone)
		add(m, &x);
	else if (had)
		remove_item(m, had);
}

/* --- forgetting --- */

size_t missing_forget(struct missing *m, const char *text)
{
	struct missing_wanted w = missing_wanted_read(text ? text : "");
	size_t shown = 0, n = 0;

	/* first, as a link is shown or not by its nodes */
	for (size_t i = 0; i < m->v.n; i++)
		shown += (!text || missing_is_wanted(m->v.v[i], &w)) && missing_is_shown(m, m->v.v[i]);
	for (size_t i = 0; shown && i < m->v.n; i++) {
		struct missing_item *x = m->v.v[i];

		if (x->forgotten || (text && !missing_is_wanted(x, &w)))
			continue;
		x->forgotten = true;
		m->n_forgotten++;
		n++;
	}
	m->changes += n > 0;
	missing_wanted_free(&w);
	return shown;
}

/* --- for missing_text.c --- */

void missing_put(struct missing *m, const struct missing_item *x)
{
	if (!find(m, x))
		put(m, x);
}
