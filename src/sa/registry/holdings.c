/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps what each port holds (holdings.h) in an array of ports, with a hash from GUIDs to indexes.
 *
 * The hash cannot remove a key: a port that holds nothing any more stays until half of the ports are
 * such ports.  Then array and hash are rebuilt.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/map64.h"
#include "sa/registry/holdings.h"

#define NEWCOMERS_PART	8	/* one part in so many of what all may hold is for newcomers */
#define NEWCOMER_PART	16	/* a newcomer holds less than one part in so many of what one may */
#define FIRSTS_PART	16	/* one part in so many of what cannot grow is for ports with none */
#define EMPTY_MIN	1024	/* empty ports that may stay before a rebuild */

struct holdings {
	VEC(struct holding) list;
	struct map64 by_port;
	size_t n_empty;
	struct hold_bound bound[HOLD_KINDS];
	uint32_t total[HOLD_KINDS];
	uint64_t refused[HOLD_KINDS];
};

static const struct {
	const char *name, *text;
} kinds[HOLD_KINDS] = {
	[HOLD_GROUPS] = { "groups", "multicast groups" },
	[HOLD_MLIDS] = { "mlids", "multicast LIDs" },
	[HOLD_MEMBERSHIPS] = { "memberships", "memberships of multicast groups" },
	[HOLD_SERVICES] = { "services", "services" },
	[HOLD_SUBSCRIPTIONS] = { "subscriptions", "subscriptions to events" },
	[HOLD_ALIASES] = { "aliases", "alias GUIDs" },
	[HOLD_TRANSFERS] = { "transfers", "RMPP answers under way" },
	[HOLD_LONG_REQUESTS] = { "long-requests", "RMPP requests under way" },
	[HOLD_REPORTS] = { "reports", "Reports outstanding" },
};

const char *hold_kind_name(enum hold_kind kind)
{
	return kinds[kind].name;
}

const char *hold_kind_text(enum hold_kind kind)
{
	return kinds[kind].text;
}

/* --- holders without a GUID --- */

#define LID_HOLDERS	0xffffffffffff0000ULL

uint64_t holder_of_lid(uint16_t lid)
{
	return LID_HOLDERS | lid;
}

bool holder_is_lid(uint64_t holder)
{
	return (holder & LID_HOLDERS) == LID_HOLDERS;
}

char *holder_name(uint64_t holder, char out[HOLDER_NAME_MAX])
{
	if (holder_is_lid(holder))
		snprintf(out, HOLDER_NAME_MAX, "LID %u", (unsigned)(holder & 0xffff));
	else
		snprintf(out, HOLDER_NAME_MAX, "0x%016" PRIx64, holder);
	return out;
}

struct holdings *holdings_new(void)
{
	struct holdings *h = xcalloc(1, sizeof(*h));

	map64_init(&h->by_port, 16);
	for (unsigned k = 0; k < HOLD_KINDS; k++)
		h->bound[k] = (struct hold_bound){ UINT32_MAX, UINT32_MAX };
	return h;
}

void holdings_free(struct holdings *h)
{
	if (!h)
		return;
	vec_free(&h->list);
	map64_free(&h->by_port);
	free(h);
}

void holdings_set_bound(struct holdings *h, enum hold_kind kind, struct hold_bound bound)
{
	if (h)
		h->bound[kind] = bound;
}

struct hold_bound holdings_bound(const struct holdings *h, enum hold_kind kind)
{
	return h ? h->bound[kind] : (struct hold_bound){ UINT32_MAX, UINT32_MAX };
}

uint32_t holdings_total(const struct holdings *h, enum hold_kind kind)
{
	return h ? h->total[kind] : 0;
}

uint64_t holdings_refused(const struct holdings *h, enum hold_kind kind)
{
	return h ? h->refused[kind] : 0;
}

size_t holdings_count(const struct holdings *h)
{
	return h ? h->list.n : 0;
}

const struct holding *holdings_at(const struct holdings *h, size_t i)
{
	return &h->list.v[i];
}

static struct holding *find(const struct holdings *h, uint64_t port)
{
	uint32_t i = h ? map64_get(&h->by_port, port) : MAP64_NONE;

	return i == MAP64_NONE ? NULL : &h->list.v[i];
}

const struct holding *holdings_find(const struct holdings *h, uint64_t port)
{
	return find(h, port);
}

bool holding_is_empty(const struct holding *x)
{
	for (unsigned k = 0; k < HOLD_KINDS; k++)
		if (x->n[k])
			return false;
	return true;
}

uint32_t holdings_of(const struct holdings *h, enum hold_kind kind, uint64_t port)
{
	const struct holding *x = find(h, port);

	return x ? x->n[kind] : 0;
}

/* --- bounds --- */

static bool can_grow(enum hold_kind kind)
{
	return kind != HOLD_MLIDS && !hold_is_under_way(kind);
}

bool holdings_room(const struct holdings *h, enum hold_kind kind, uint64_t port)
{
	struct hold_bound b = holdings_bound(h, kind);
	uint32_t has = holdings_of(h, kind, port), total = holdings_total(h, kind);
	uint32_t newcomer = b.each / NEWCOMER_PART ? b.each / NEWCOMER_PART : 1;

	if (has >= b.each || !b.max)
		return false;
	if (!has)
		return total < b.max || (can_grow(kind) && total - b.max < HOLD_FIRSTS_MAX);
	if (has >= newcomer)
		return total < b.max - b.max / NEWCOMERS_PART;
	return total < b.max - (can_grow(kind) ? 0 : b.max / FIRSTS_PART);
}

bool holdings_ask(struct holdings *h, enum hold_kind kind, uint64_t port)
{
	struct holding *x;

	if (!h || holdings_room(h, kind, port))
		return true;
	h->refused[kind]++;
	x = find(h, port);
	if (x)
		x->refused[kind]++;
	return false;
}

/* --- counting --- */

static void drop_empty(struct holdings *h)
{
	size_t n = 0;

	map64_clear(&h->by_port);
	for (size_t i = 0; i < h->list.n; i++) {
		if (holding_is_empty(&h->list.v[i]))
			continue;
		map64_put(&h->by_port, h->list.v[i].port, (uint32_t)n);
		h->list.v[n++] = h->list.v[i];
	}
	h->list.n = n;
	h->n_empty = 0;
}

static struct holding *make(struct holdings *h, uint64_t port)
{
	struct holding *x = find(h, port);

	if (x)
		return x;
	if (h->n_empty > EMPTY_MIN && h->n_empty > h->list.n / 2)
		drop_empty(h);
	map64_put(&h->by_port, port, (uint32_t)h->list.n);
	h->n_empty++;
	x = vec_push(&h->list);
	*x = (struct holding){ .port = port };
	return x;
}

void holdings_add(struct holdings *h, enum hold_kind kind, uint64_t port, int more)
{
	struct holding *x;
	bool was_empty;

	if (!h || !more)
		return;
	x = make(h, port);
	was_empty = holding_is_empty(x);
	x->n[kind] += (uint32_t)more;
	h->total[kind] += (uint32_t)more;
	if (was_empty) {
		h->n_empty--;
	} else if (holding_is_empty(x)) {
		h->n_empty++;
		*x = (struct holding){ .port = port };
	}
}

void holdings_set_gone(struct holdings *h, uint64_t port, int64_t since_us)
{
	struct holding *x = find(h, port);

	if (x && !holding_is_empty(x))
		x->gone_us = since_us;
}
