/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * See stale_tables.h.  Each distinct content is stored once, as there are few; a switch's map finds
 * it by item.  Items in the plan in force are never stored.
 */
#include "sm/write/stale_tables.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"

#define CONTENTS_MAX	65536
#define SWITCHES_MAX	65536

struct content {
	unsigned len;
	uint8_t data[64];
};

struct stale_tables {
	struct map64 by_guid;		/* index in switches */
	VEC(struct map64) switches;	/* per switch: item to index in contents */
	struct map64 by_hash;		/* content hash to index in contents */
	VEC(struct content) contents;
};

struct stale_tables *stale_tables_new(void)
{
	struct stale_tables *r = xcalloc(1, sizeof(*r));

	map64_init(&r->by_guid, 16);
	map64_init(&r->by_hash, 16);
	return r;
}

static void drop(struct stale_tables *r)
{
	for (size_t i = 0; i < r->switches.n; i++)
		map64_free(&r->switches.v[i]);
	vec_free(&r->switches);
	vec_free(&r->contents);
	map64_free(&r->by_guid);
	map64_free(&r->by_hash);
}

void stale_tables_free(struct stale_tables *r)
{
	if (!r)
		return;
	drop(r);
	free(r);
}

void stale_tables_forget_all(struct stale_tables *r)
{
	if (!r->switches.n)
		return;
	drop(r);
	map64_init(&r->by_guid, 16);
	map64_init(&r->by_hash, 16);
}

void stale_tables_forget(struct stale_tables *r, uint64_t guid)
{
	uint32_t i = map64_get(&r->by_guid, guid);

	if (i == MAP64_NONE || !r->switches.v[i].n)
		return;
	map64_clear(&r->switches.v[i]);
}

static struct map64 *switch_of(struct stale_tables *r, uint64_t guid)
{
	uint32_t i = map64_get(&r->by_guid, guid);

	if (i == MAP64_NONE) {
		i = (uint32_t)r->switches.n;
		map64_init(vec_push(&r->switches), 16);
		map64_put(&r->by_guid, guid, i);
	}
	return &r->switches.v[i];
}

static bool is_content(const struct content *c, const struct item_want *w)
{
	return c->len == w->len && !memcmp(c->data, w->data, w->len);
}

static uint32_t place_of(struct stale_tables *r, const struct item_want *w)
{
	uint64_t hash = hash_bytes(w->data, w->len, w->len);
	uint32_t i = map64_get(&r->by_hash, hash);

	if (i != MAP64_NONE && is_content(&r->contents.v[i], w))
		return i;
	i = (uint32_t)r->contents.n;
	*vec_push(&r->contents) = (struct content){ .len = w->len };
	memcpy(r->contents.v[i].data, w->data, w->len);
	map64_put(&r->by_hash, hash, i);
	return i;
}

/* --- ports that lost their link --- */

struct note {
	struct stale_tables *r;
	const struct plan *old, *p;
	uint32_t old_node, node;
};

static bool lost_link(const struct note *n, unsigned num)
{
	const struct fabric *a = n->old->f, *b = n->p->f;

	return num && a->ports[a->nodes[n->old_node].port0 + num].peer != FABRIC_NONE &&
	       b->ports[b->nodes[n->node].port0 + num].peer == FABRIC_NONE;
}

static bool is_of_lost_link(const struct note *n, item_t item)
{
	switch (ITEM_KIND(item)) {
	case ITEM_SL2VL:
		return lost_link(n, ITEM_A(item)) || lost_link(n, ITEM_B(item));
	case ITEM_VLARB:
		return lost_link(n, ITEM_A(item));
	default:
		return false;
	}
}

static void note_item(void *arg, item_t item)
{
	const struct note *n = arg;
	struct item_want want;

	if (!is_of_lost_link(n, item) || item_is_planned(n->p, n->node, item))
		return;
	want_item(n->old, n->old_node, item, &want);
	map64_put(switch_of(n->r, n->p->f->nodes[n->node].guid), item, place_of(n->r, &want));
}

static bool is_left(const struct map64_slot *s, const struct plan *p, uint32_t node)
{
	return s->value != MAP64_NONE && !item_is_planned(p, node, (item_t)s->key);
}

static uint32_t count_left(const struct map64 *of, const struct plan *p, uint32_t node)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k <= of->mask; k++)
		n += is_left(&of->slots[k], p, node);
	return n;
}

/* Drops tables that the plan contains again; mostly it contains none. */
static void prune(struct stale_tables *r, const struct plan *p, uint32_t node)
{
	uint32_t i = map64_get(&r->by_guid, p->f->nodes[node].guid);
	struct map64 *of, before;

	if (i == MAP64_NONE || !r->switches.v[i].n)
		return;
	of = &r->switches.v[i];
	if (count_left(of, p, node) == of->n)
		return;
	before = *of;
	map64_init(of, 16);
	for (uint32_t k = 0; k <= before.mask; k++)
		if (is_left(&before.slots[k], p, node))
			map64_put(of, before.slots[k].key, before.slots[k].value);
	map64_free(&before);
}

void stale_tables_note(struct stale_tables *r, const struct plan *old, uint32_t old_node,
		       const struct plan *p, uint32_t node)
{
	struct note n = { r, old, p, old_node, node };
	unsigned nports = p->f->nodes[node].nports, num = 1;

	/*
	 * policies and links that come and go leave ever more stale tables: beyond a limit all are
	 * forgotten, and read again when needed
	 */
	if (r->contents.n > CONTENTS_MAX || r->switches.n > SWITCHES_MAX)
		stale_tables_forget_all(r);
	/* unmanaged tables may have been written by anybody */
	if (old->f->nodes[old_node].nports != nports || !p->tables->managed) {
		stale_tables_forget(r, p->f->nodes[node].guid);
		return;
	}
	prune(r, p, node);
	while (num <= nports && !lost_link(&n, num))
		num++;
	if (num <= nports)
		want_items(old, old_node, note_item, &n);
}

enum item_change stale_tables_compare(const struct stale_tables *r, const struct plan *p, uint32_t node,
				      item_t item)
{
	uint32_t i = map64_get(&r->by_guid, p->f->nodes[node].guid), k;
	struct item_want want;

	if (i == MAP64_NONE)
		return ITEM_UNKNOWN;
	k = map64_get(&r->switches.v[i], item);
	if (k == MAP64_NONE)
		return ITEM_UNKNOWN;
	want_item(p, node, item, &want);
	if (want.len > r->contents.v[k].len)
		return ITEM_UNKNOWN;
	return memcmp(r->contents.v[k].data, want.data, want.len) ? ITEM_DIFFERS : ITEM_SAME;
}
