/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps the table of what is missing; see missing.h.
 *
 * Items are found by a digest of what they stand for.  The map cannot remove a key, so a key whose
 * item is gone gets the value NO_ITEM, and the map is made anew when it has many of these.
 */
#include "events/missing.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/host_names.h"
#include "lib/base/alloc.h"
#include "lib/base/clean.h"
#include "lib/base/glob.h"
#include "lib/base/search.h"
#include "lib/iba/units.h"

#define NO_ITEM		(MAP64_NONE - 1)
#define STALE_MIN	1024	/* keys without an item before the map is made anew */

struct missing {
	VEC(struct missing_item *) v;
	struct map64 by_key;
	uint32_t stale;		/* keys in the map without an item */
	size_t n_forgotten;
	uint64_t changes, dropped;
	int64_t now_us;
	bool unwatched, forgets;	/* of items that are added now */
};

static const char *const kind_names[MISSING_KINDS] = {
	[MISSING_SWITCH] = "switch", [MISSING_HOST] = "host", [MISSING_MANAGER] = "manager",
	[MISSING_LINK] = "link", [MISSING_HOST_LINK] = "host-link", [MISSING_RATE] = "rate",
};

const char *missing_kind_name(enum missing_kind k)
{
	return kind_names[k];
}

struct missing *missing_new(void)
{
	struct missing *m = xcalloc(1, sizeof(*m));

	map64_init(&m->by_key, 64);
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
	map64_free(&m->by_key);
	map64_init(&m->by_key, 64);
	m->stale = 0;
	m->n_forgotten = 0;
	m->changes++;
}

void missing_free(struct missing *m)
{
	if (!m)
		return;
	missing_clear(m);
	map64_free(&m->by_key);
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

const struct missing_item *missing_at(const struct missing *m, size_t i)
{
	return i < m->v.n ? m->v.v[i] : NULL;
}

/* --- finding items --- */

static bool is_node(const struct missing_item *x)
{
	return x->kind == MISSING_SWITCH || x->kind == MISSING_HOST;
}

static bool is_link(const struct missing_item *x)
{
	return x->kind == MISSING_LINK || x->kind == MISSING_HOST_LINK || x->kind == MISSING_RATE;
}

/* Switches and hosts share a space of keys, and so do links that are gone and links that are slow. */
static uint64_t key_of(const struct missing_item *x)
{
	uint64_t part[5] = { x->kind == MISSING_MANAGER, x->a.guid };

	if (is_link(x)) {
		part[0] = 2;
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
	if (is_node(x) || !is_link(x))
		return is_node(x) == is_node(y) && !is_link(y) && x->a.guid == y->a.guid;
	return is_link(y) && x->trunk == y->trunk && x->a.guid == y->a.guid && x->a.num == y->a.num &&
	       (!x->trunk || (x->b.guid == y->b.guid && x->b.num == y->b.num));
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
	       (!is_link(x) || (!lacks_node(m, x->a.guid) && !lacks_node(m, x->b.guid)));
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

static void index_anew(struct missing *m)
{
	map64_clear(&m->by_key);
	for (size_t i = 0; i < m->v.n; i++)
		map64_put(&m->by_key, key_of(m->v.v[i]), (uint32_t)i);
	m->stale = 0;
}

static void remove_item(struct missing *m, const struct missing_item *gone)
{
	uint32_t i = map64_get(&m->by_key, key_of(gone)), last = (uint32_t)m->v.n - 1;

	map64_put(&m->by_key, key_of(gone), NO_ITEM);
	m->n_forgotten -= gone->forgotten;
	missing_item_free(m->v.v[i]);
	m->v.v[i] = m->v.v[last];
	m->v.n--;
	if (i != last)
		map64_put(&m->by_key, key_of(m->v.v[i]), i);
	m->changes++;
	if (++m->stale > STALE_MIN && m->stale > m->v.n)
		index_anew(m);
}

/* Makes room by giving up what was forgotten. */
static void drop_forgotten(struct missing *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->v.n; i++)
		if (m->v.v[i]->forgotten)
			missing_item_free(m->v.v[i]);
		else
			m->v.v[n++] = m->v.v[i];
	m->v.n = n;
	m->n_forgotten = 0;
	index_anew(m);
}

/* Adds a copy, which has the only reference; false: there is no room. */
static bool put(struct missing *m, const struct missing_item *x)
{
	struct missing_item *copy;
	uint32_t had;

	if (m->v.n >= MISSING_MAX && m->n_forgotten)
		drop_forgotten(m);
	had = map64_get(&m->by_key, key_of(x));
	if (m->v.n >= MISSING_MAX || had < NO_ITEM) {	/* full, or two things have one digest */
		m->dropped++;
		return false;
	}
	m->stale -= had == NO_ITEM;
	copy = xmemdup(x, sizeof(*x));
	copy->refs = 1;
	m->n_forgotten += copy->forgotten;
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

static void set_name(struct missing_end *e, const char *name)
{
	snprintf(e->name, sizeof(e->name), "%s", name);
	clean_text(e->name);
}

static struct missing_end node_end(const struct fabric *f, uint32_t node)
{
	struct missing_end e = { .guid = f->nodes[node].guid };

	set_name(&e, fabric_node_desc(f, &f->nodes[node]));
	return e;
}

static struct missing_end port_end(const struct fabric *f, uint32_t port)
{
	struct missing_end e = node_end(f, f->ports[port].node);

	e.num = f->ports[port].num;
	if (port_is_end(f, port))
		e.port_guid = f->ports[port].guid;
	return e;
}

static bool is_of_switch(const struct fabric *f, uint32_t port)
{
	return node_is_switch(port_node(f, port));
}

static bool comes_first(const struct missing_end *x, const struct missing_end *y)
{
	return x->guid != y->guid ? x->guid < y->guid : x->num < y->num;
}

/* The item for the link of this port, of which the rate is that of the port. */
static struct missing_item link_item(const struct fabric *f, uint32_t port)
{
	uint32_t peer = f->ports[port].peer;
	struct missing_item x = { .trunk = is_of_switch(f, port) && is_of_switch(f, peer),
				  .a = port_end(f, port), .b = port_end(f, peer),
				  .rate = f->ports[port].rate };
	bool swap = is_of_switch(f, port) == is_of_switch(f, peer) ? comes_first(&x.b, &x.a) :
		    is_of_switch(f, port);	/* a host's port comes first */

	x.kind = x.trunk ? MISSING_LINK : MISSING_HOST_LINK;
	if (swap) {
		struct missing_end end = x.a;

		x.a = x.b;
		x.b = end;
	}
	if (x.rate)
		port_link_text(&f->ports[port], x.was);
	return x;
}

static void link_went(struct missing *m, const struct fabric *f, uint32_t port)
{
	struct missing_item x = link_item(f, port), *had = find(m, &x);

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
	struct missing_item x = link_item(f, port), *had = find(m, &x);
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

static void links_of(struct missing *m, const struct fabric *f, uint32_t node, bool went)
{
	const struct fabric_node *n = &f->nodes[node];

	for (uint32_t i = n->port0; i <= n->port0 + n->nports; i++)
		if (f->ports[i].peer != FABRIC_NONE && went)
			link_went(m, f, i);
		else if (f->ports[i].peer != FABRIC_NONE)
			link_is(m, f, i, NULL);
}

static struct missing_item node_item(const struct fabric *f, uint32_t node)
{
	const struct fabric_node *n = &f->nodes[node];
	struct missing_item x = { .kind = node_is_switch(n) ? MISSING_SWITCH : MISSING_HOST,
				  .a = node_end(f, node) };

	for (uint32_t i = n->port0; i <= n->port0 + n->nports && !x.a.port_guid; i++)
		if (port_is_end(f, i))
			x.a.port_guid = f->ports[i].guid;
	for (uint32_t i = n->port0 + 1; i <= n->port0 + n->nports && !x.a.num; i++)
		if (f->ports[i].peer != FABRIC_NONE && is_of_switch(f, f->ports[i].peer)) {
			x.a.num = f->ports[i].num;
			x.b = port_end(f, f->ports[i].peer);
		}
	return x;
}

static void node_went(struct missing *m, const struct fabric *f, uint32_t node)
{
	struct missing_item x = node_item(f, node);

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
	case LINK_MOVED:
		link_is(m, d->f, d->port, NULL);
		break;
	case LINK_CHANGED:
		was = link_item(d->before, d->was);
		link_is(m, d->f, d->port, &was);
		break;
	}
}

/* The port in the fabric that an end names, or FABRIC_NONE. */
static uint32_t slot_of(const struct fabric *f, const struct missing_end *e)
{
	uint32_t node = map64_get(&f->node_by_guid, e->guid);

	if (node == MAP64_NONE || e->num > f->nodes[node].nports)
		return FABRIC_NONE;
	return f->nodes[node].port0 + e->num;
}

static bool link_is_there(const struct fabric *f, const struct missing_item *x, uint32_t *port)
{
	*port = slot_of(f, &x->a);
	if (*port == FABRIC_NONE || f->ports[*port].peer == FABRIC_NONE)
		return false;
	return !x->trunk || f->ports[*port].peer == slot_of(f, &x->b);
}

static void review(struct missing *m, const struct fabric *now, const struct missing_item *x)
{
	uint32_t port;

	if (is_node(x) && map64_get(&now->node_by_guid, x->a.guid) != MAP64_NONE)
		remove_item(m, x);
	else if (is_link(x) && link_is_there(now, x, &port))
		link_is(m, now, port, NULL);
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
	m->unwatched = m->forgets = false;
}

void missing_manager(struct missing *m, uint64_t guid, const char *name, bool gone)
{
	struct missing_item x = { .kind = MISSING_MANAGER, .a.guid = guid };
	const struct missing_item *had = find(m, &x);

	set_name(&x.a, name);
	if (gone)
		add(m, &x);
	else if (had)
		remove_item(m, had);
}

/* --- forgetting --- */

static bool name_matches(const char *name, const char *pattern)
{
	size_t host = fabric_host_length(name);
	char first[sizeof(((struct missing_end *)0)->name)];

	if (!*name)
		return false;
	memcpy(first, name, host);
	first[host] = '\0';
	return strcmp(name, pattern) == 0 || strcmp(first, pattern) == 0 ||
	       glob_match(pattern, strlen(pattern), name) || glob_match(pattern, strlen(pattern), first);
}

/* What an operator wrote: text up to "/Pn", if it ends so, and n; a GUID, if it is one. */
struct wanted {
	char *name;
	unsigned num;		/* 0: any */
	uint64_t guid;		/* 0: it is a name */
};

static struct wanted parse_wanted(const char *text)
{
	struct wanted w = { .name = xstrdup(text) };
	char *slash = strrchr(w.name, '/'), *end;
	unsigned long num;

	if (slash && slash[1] == 'P' && isdigit((unsigned char)slash[2])) {
		num = strtoul(slash + 2, &end, 10);
		if (!*end && num && num <= IB_PORT_NUM_MAX) {
			w.num = (unsigned)num;
			*slash = '\0';
		}
	}
	if (!strncmp(w.name, "0x", 2)) {
		w.guid = strtoull(w.name, &end, 16);
		if (*end)
			w.guid = 0;
	}
	return w;
}

static bool end_matches(const struct missing_end *e, const struct wanted *w)
{
	if (w->num && w->num != e->num)
		return false;
	return w->guid ? e->guid == w->guid || e->port_guid == w->guid : name_matches(e->name, w->name);
}

static bool matches(const struct missing_item *x, const struct wanted *w)
{
	if (!is_link(x))	/* "/Pn" means a link */
		return !w->num && end_matches(&x->a, w);
	return end_matches(&x->a, w) || end_matches(&x->b, w);
}

size_t missing_forget(struct missing *m, const char *text)
{
	struct wanted w = parse_wanted(text ? text : "");
	size_t shown = 0, n = 0;

	/* first, as a link is shown or not by its nodes */
	for (size_t i = 0; i < m->v.n; i++)
		shown += (!text || matches(m->v.v[i], &w)) && missing_is_shown(m, m->v.v[i]);
	for (size_t i = 0; shown && i < m->v.n; i++) {
		struct missing_item *x = m->v.v[i];

		if (x->forgotten || (text && !matches(x, &w)))
			continue;
		x->forgotten = true;
		m->n_forgotten++;
		n++;
	}
	m->changes += n > 0;
	free(w.name);
	return shown;
}

/* --- for missing_text.c --- */

void missing_put(struct missing *m, const struct missing_item *x)
{
	if (!find(m, x))
		put(m, x);
}
