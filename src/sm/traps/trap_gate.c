/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * See trap_gate.h.  A bucket is stored as the time until it is full again (debt), which decreases
 * with the clock.  At 0 nothing need be known of the source, and its place is free.
 *
 * The hash of a source selects WAYS places, of which the source takes a free one.
 */
#include "sm/traps/trap_gate.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/bucket.h"
#include "lib/base/map64.h"

#define SETS		4096
#define WAYS		4
#define CAPACITY	((int64_t)TRAP_BURST * TRAP_LOOK_US)

struct place {
	uint64_t source;
	int64_t since_us, last_us;	/* times of the first and the last trap */
	int64_t debt;			/* as of charged_us */
	int64_t charged_us;
	uint64_t traps, dropped;
	uint8_t owed;			/* what the dropped traps asked for that was not served yet */
	uint8_t port;
	bool told;
};

struct trap_gate {
	struct place shared, places[SETS * WAYS];
	struct bucket all;		/* discoveries */
	uint64_t dropped;
	uint32_t floods;		/* places with dropped traps */
};

struct trap_gate *trap_gate_new(void)
{
	return xcalloc(1, sizeof(struct trap_gate));
}

void trap_gate_free(struct trap_gate *g)
{
	free(g);
}

uint64_t trap_gate_dropped(const struct trap_gate *g)
{
	return g->dropped;
}

static int64_t debt_at(const struct place *p, int64_t now_us)
{
	int64_t debt = p->debt - (now_us - p->charged_us);

	return debt > 0 ? debt : 0;
}

static int64_t cost_of(unsigned asks)
{
	return (int64_t)TRAP_LOOK_US * (asks & TRAP_ALL ? TRAP_ALL_LOOKS : 1);
}

/* The dropped traps are served, and the bucket is full again. */
static bool is_over(const struct place *p, int64_t now_us)
{
	return !p->owed && !debt_at(p, now_us);
}

static bool is_flood(const struct place *p)
{
	return p->dropped >= TRAP_FLOOD;
}

/* The place can be reused. */
static bool is_settled(const struct place *p, int64_t now_us)
{
	return is_over(p, now_us) && (p->told || !is_flood(p));
}

static void charge(struct trap_gate *g, struct place *p, unsigned asks, int64_t now_us)
{
	p->debt = debt_at(p, now_us) + cost_of(asks);
	p->charged_us = now_us;
	if (asks & TRAP_ALL)
		bucket_take(&g->all, TRAP_ALL_BURST, TRAP_ALL_US, now_us);
}

static bool has_room(const struct trap_gate *g, const struct place *p, unsigned asks, int64_t now_us)
{
	return debt_at(p, now_us) + cost_of(asks) <= CAPACITY &&
	       (!(asks & TRAP_ALL) ||
		bucket_next(&g->all, TRAP_ALL_BURST, TRAP_ALL_US) <= now_us);
}

static void forget(struct trap_gate *g, struct place *p, uint64_t source)
{
	g->floods -= p->dropped != 0;
	*p = (struct place){ .source = source };
}

static struct place *place_of(struct trap_gate *g, uint64_t source, int64_t now_us)
{
	struct place *set = &g->places[hash64(source) % SETS * WAYS], *free_one = NULL;

	if (!source)
		return &g->shared;
	for (unsigned i = 0; i < WAYS; i++) {
		if (set[i].source == source)
			return &set[i];
		if (!free_one && is_settled(&set[i], now_us))
			free_one = &set[i];
	}
	if (!free_one)
		return &g->shared;
	forget(g, free_one, source);
	return free_one;
}

/* Place i of all; the shared one is the last. */
static struct place *place_at(struct trap_gate *g, unsigned i)
{
	return i < SETS * WAYS ? &g->places[i] : &g->shared;
}

/* A discovery is under way, which serves all sources that asked for one. */
static void all_are_served(struct trap_gate *g)
{
	for (unsigned i = 0; g->floods && i <= SETS * WAYS; i++)
		if (place_at(g, i)->owed & TRAP_ALL)
			place_at(g, i)->owed = 0;
}

bool trap_gate_take(struct trap_gate *g, uint64_t source, unsigned asks, unsigned port,
		    int64_t now_us)
{
	struct place *p = place_of(g, source, now_us);

	/* the shared source cannot name a node to look at */
	if (p == &g->shared && asks)
		asks = TRAP_ALL;
	if (is_settled(p, now_us)) {
		forget(g, p, p->source);
		p->since_us = now_us;
	}
	p->traps++;
	p->last_us = now_us;
	if (port)
		p->port = (uint8_t)port;
	if (has_room(g, p, asks, now_us)) {
		charge(g, p, asks, now_us);
		p->owed &= asks & TRAP_ALL ? 0 : (uint8_t)~asks;
		if (asks & TRAP_ALL)
			all_are_served(g);
		return true;
	}
	g->floods += !p->dropped;
	p->dropped++;
	g->dropped++;
	p->owed |= (uint8_t)asks;
	return false;
}

bool trap_gate_due(struct trap_gate *g, int64_t now_us, uint64_t *source, unsigned *asks)
{
	for (unsigned i = 0; g->floods && i <= SETS * WAYS; i++) {
		struct place *p = place_at(g, i);

		if (!p->owed || !has_room(g, p, p->owed, now_us))
			continue;
		charge(g, p, p->owed, now_us);
		*source = p->source;
		*asks = p->owed;
		p->owed = 0;
		if (*asks & TRAP_ALL)
			all_are_served(g);
		return true;
	}
	return false;
}

static struct trap_flood flood_of(const struct place *p)
{
	return (struct trap_flood){ p->source, p->port, p->traps, p->dropped,
				    p->last_us - p->since_us };
}

static int64_t over_at(const struct place *p)
{
	return p->charged_us + p->debt;
}

/* When the bucket has room for that. */
static int64_t room_at(const struct trap_gate *g, const struct place *p, unsigned asks)
{
	int64_t own = over_at(p) + cost_of(asks) - CAPACITY;
	int64_t all = bucket_next(&g->all, TRAP_ALL_BURST, TRAP_ALL_US);

	return asks & TRAP_ALL && all > own ? all : own;
}

/* When a flood must be reported. */
static int64_t tell_at(const struct place *p)
{
	int64_t old = p->since_us + TRAP_TELL_US;

	return over_at(p) < old ? over_at(p) : old;
}

bool trap_gate_tell(struct trap_gate *g, int64_t now_us, struct trap_flood *out)
{
	for (unsigned i = 0; g->floods && i <= SETS * WAYS; i++) {
		struct place *p = place_at(g, i);

		if (!is_flood(p) || p->told || now_us < tell_at(p))
			continue;
		p->told = true;
		*out = flood_of(p);
		return true;
	}
	return false;
}

int64_t trap_gate_next(const struct trap_gate *g, int64_t now_us)
{
	int64_t next = INT64_MAX;

	for (unsigned i = 0; g->floods && i <= SETS * WAYS; i++) {
		const struct place *p = place_at((struct trap_gate *)(uintptr_t)g, i);
		int64_t due = room_at(g, p, p->owed);

		if (p->owed && due < next)
			next = due;
		if (is_flood(p) && !p->told && tell_at(p) < next)
			next = tell_at(p);
	}
	return next < now_us ? now_us : next;
}

bool trap_gate_flood(const struct trap_gate *g, unsigned i, int64_t now_us,
		     struct trap_flood *out)
{
	for (unsigned k = 0; g->floods && k <= SETS * WAYS; k++) {
		const struct place *p = place_at((struct trap_gate *)(uintptr_t)g, k);

		if (!is_flood(p) || is_over(p, now_us) || i--)
			continue;
		*out = flood_of(p);
		return true;
	}
	return false;
}
