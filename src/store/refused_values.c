/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A list of refusals with hash indexes by key and by kind; see refused_values.h.
 *
 * The list has no holes: the last entry replaces a dropped one, and both indexes follow.  A
 * map64 cannot delete a key, so a key may lead to an index that another entry has by now.  A
 * look-up therefore compares what it finds, and the maps are rebuilt when most of their keys
 * are stale.
 */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/map64.h"
#include "store/refused_values.h"

struct refusals {
	VEC(struct refused_set) list;
	VEC(struct refused_kind) kinds;
	struct map64 by_key, kind_by_key;
	size_t by_value;
	size_t oldest;		/* the next to be dropped */
	bool probing;
};

static uint64_t key_of(uint64_t guid, uint16_t attr, uint32_t mod)
{
	return hash64(guid ^ hash64((uint64_t)attr << 32 | mod));
}

static uint64_t kind_key(uint64_t guid, uint16_t attr)
{
	return hash64(guid ^ hash64((uint64_t)attr << 32 | 1ull << 63));
}

struct refusals *refusals_new(void)
{
	struct refusals *all = xcalloc(1, sizeof(*all));

	map64_init(&all->by_key, 16);
	map64_init(&all->kind_by_key, 16);
	return all;
}

struct refusals *refusals_copy(const struct refusals *all)
{
	struct refusals *copy = xcalloc(1, sizeof(*copy));

	*copy = *all;
	copy->probing = false;
	map64_clone(&copy->by_key, &all->by_key);
	map64_clone(&copy->kind_by_key, &all->kind_by_key);
	copy->list.v = all->list.n ? xmemdup(all->list.v, all->list.n * sizeof(*all->list.v)) : NULL;
	copy->list.cap = all->list.n;
	copy->kinds.v = all->kinds.n ? xmemdup(all->kinds.v, all->kinds.n * sizeof(*all->kinds.v)) :
			NULL;
	copy->kinds.cap = all->kinds.n;
	return copy;
}

void refusals_free(struct refusals *all)
{
	if (!all)
		return;
	map64_free(&all->by_key);
	map64_free(&all->kind_by_key);
	vec_free(&all->list);
	vec_free(&all->kinds);
	free(all);
}

static uint32_t find(const struct refusals *all, uint64_t guid, uint16_t attr, uint32_t mod)
{
	uint32_t i = map64_get(&all->by_key, key_of(guid, attr, mod));
	const struct refused_set *r = i < all->list.n ? &all->list.v[i] : NULL;

	return r && r->guid == guid && r->attr == attr && r->mod == mod ? i : MAP64_NONE;
}

static struct refused_kind *kind_of(const struct refusals *all, uint64_t guid, uint16_t attr)
{
	uint32_t i = map64_get(&all->kind_by_key, kind_key(guid, attr));
	struct refused_kind *k = i < all->kinds.n ? &all->kinds.v[i] : NULL;

	return k && k->guid == guid && k->attr == attr ? k : NULL;
}

static struct refused_kind *kind_get(struct refusals *all, uint64_t guid, uint16_t attr)
{
	struct refused_kind *k = kind_of(all, guid, attr);

	if (k)
		return k;
	map64_put(&all->kind_by_key, kind_key(guid, attr), (uint32_t)all->kinds.n);
	k = vec_push(&all->kinds);
	*k = (struct refused_kind){ .guid = guid, .attr = attr };
	return k;
}

static void count(struct refusals *all, const struct refused_set *r, int by)
{
	struct refused_kind *k = kind_get(all, r->guid, r->attr);

	if (r->mod >> 16)
		k->of_ports += (uint32_t)by;
	if (!refusal_by_status(r)) {
		k->by_value += (uint32_t)by;
		all->by_value += (size_t)by;
		return;
	}
	k->by_status += (uint32_t)by;
	if (by > 0) {
		k->status = (uint16_t)r->got;
		k->firm = true;
	}
	k->firm &= k->by_status != 0;
}

/* Rebuilds the maps without stale keys, and drops kinds without refusals. */
static void tidy(struct refusals *all)
{
	size_t n = 0;

	for (size_t i = 0; i < all->kinds.n; i++)
		if (all->kinds.v[i].by_status || all->kinds.v[i].by_value)
			all->kinds.v[n++] = all->kinds.v[i];
	all->kinds.n = n;
	map64_clear(&all->kind_by_key);
	for (size_t i = 0; i < n; i++)
		map64_put(&all->kind_by_key, kind_key(all->kinds.v[i].guid, all->kinds.v[i].attr),
			  (uint32_t)i);
	map64_clear(&all->by_key);
	for (size_t i = 0; i < all->list.n; i++)
		map64_put(&all->by_key, key_of(all->list.v[i].guid, all->list.v[i].attr,
					       all->list.v[i].mod), (uint32_t)i);
}

static void drop_at(struct refusals *all, size_t i)
{
	struct refused_set *last = &all->list.v[all->list.n - 1];

	count(all, &all->list.v[i], -1);
	all->list.v[i] = *last;
	all->list.n--;
	if (i < all->list.n)
		map64_put(&all->by_key, key_of(all->list.v[i].guid, all->list.v[i].attr,
					       all->list.v[i].mod), (uint32_t)i);
	if (all->by_key.n > 2 * all->list.n + 64)
		tidy(all);
}

bool refusals_put(struct refusals *all, const struct refused_set *r)
{
	uint32_t i = find(all, r->guid, r->attr, r->mod);

	if (i != MAP64_NONE) {
		struct refused_set *old = &all->list.v[i];

		if (old->want == r->want && old->got == r->got)
			return false;
		count(all, old, -1);
		*old = *r;
		count(all, r, 1);
		return true;
	}
	if (all->list.n >= REFUSALS_MAX)
		drop_at(all, all->oldest++ % all->list.n);
	map64_put(&all->by_key, key_of(r->guid, r->attr, r->mod), (uint32_t)all->list.n);
	*vec_push(&all->list) = *r;
	count(all, r, 1);
	return true;
}

bool refusals_drop(struct refusals *all, uint64_t guid, uint16_t attr, uint32_t mod)
{
	struct refused_kind *k = all->list.n ? kind_of(all, guid, attr) : NULL;
	uint32_t i;

	if (!k)
		return false;
	k->firm = false;
	i = find(all, guid, attr, mod);
	if (i == MAP64_NONE)
		return false;
	drop_at(all, i);
	return true;
}

bool refusals_forget(struct refusals *all, uint64_t guid)
{
	size_t before = all->list.n;

	for (size_t i = all->list.n; i-- > 0;)
		if (all->list.v[i].guid == guid && refusal_by_status(&all->list.v[i]))
			drop_at(all, i);
	return all->list.n != before;
}

bool refusals_prune(struct refusals *all, bool (*is_there)(void *arg, uint64_t guid), void *arg)
{
	size_t before = all->list.n;
	bool many = before > REFUSALS_MAX / 2;

	for (size_t i = all->list.n; i-- > 0;)
		if ((many || refusal_by_status(&all->list.v[i])) &&
		    !is_there(arg, all->list.v[i].guid))
			drop_at(all, i);
	if (all->list.n != before)
		tidy(all);
	return all->list.n != before;
}

void refusals_probe(struct refusals *all, bool on)
{
	all->probing = on;
}

bool refusals_know_status(const struct refusals *all, uint64_t guid, uint16_t attr, uint32_t mod,
			  uint64_t want)
{
	uint32_t i = all && all->list.n ? find(all, guid, attr, mod) : MAP64_NONE;

	return i != MAP64_NONE && all->list.v[i].want == want &&
	       refusal_by_status(&all->list.v[i]);
}

bool refusals_have_status(const struct refusals *all, uint64_t guid, uint16_t attr, uint32_t mod,
			  uint64_t want)
{
	return all && !all->probing && refusals_know_status(all, guid, attr, mod, want);
}

bool refusals_have(const struct refusals *all, uint64_t guid, uint16_t attr, uint32_t mod,
		   uint64_t want, uint64_t got)
{
	uint32_t i = all && all->list.n ? find(all, guid, attr, mod) : MAP64_NONE;

	if (i == MAP64_NONE || all->list.v[i].want != want)
		return false;
	return refusal_by_status(&all->list.v[i]) ? !all->probing : all->list.v[i].got == got;
}

const struct refused_set *refusals_find(const struct refusals *all, uint64_t guid, uint16_t attr,
					uint32_t mod)
{
	uint32_t i = all && all->list.n ? find(all, guid, attr, mod) : MAP64_NONE;

	return i == MAP64_NONE ? NULL : &all->list.v[i];
}

const struct refused_kind *refusals_kind(const struct refusals *all, uint64_t guid, uint16_t attr)
{
	const struct refused_kind *k = all && all->list.n ? kind_of(all, guid, attr) : NULL;

	return k && (k->by_status || k->by_value) ? k : NULL;
}

const struct refused_kind *refusals_kind_at(const struct refusals *all, size_t i)
{
	return i < all->kinds.n ? &all->kinds.v[i] : NULL;
}

const struct refused_set *refusals_at(const struct refusals *all, size_t i)
{
	return i < all->list.n ? &all->list.v[i] : NULL;
}

size_t refusals_by_value(const struct refusals *all)
{
	return all->by_value;
}
