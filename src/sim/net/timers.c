/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Timers in a binary heap, ordered by time and then by order of calls.
 *
 * A handle is a slot and its generation, so that the handle of a timer that fired or was cancelled
 * does not match when the slot is used again.  A slot knows its place in the heap, so cancelling is
 * as fast as setting.
 */
#include <stdlib.h>

#include "sim/net/transit.h"

struct entry {
	int64_t when_us;
	uint64_t order;
	uint32_t slot;
};

struct slot {
	void (*fn)(struct sim *s, void *arg);
	void *arg;
	uint32_t generation;		/* incremented whenever the slot is freed; never 0 */
	uint32_t at;			/* index in the heap, or the next free slot */
};

struct sim_timers {
	VEC(struct entry) heap;
	VEC(struct slot) slots;
	uint32_t free_slot;		/* SIM_NONE: none */
	uint64_t order;
};

struct sim_timers *timers_new(void)
{
	struct sim_timers *ts = xcalloc(1, sizeof(*ts));

	ts->free_slot = SIM_NONE;
	return ts;
}

void timers_free(struct sim_timers *ts)
{
	vec_free(&ts->heap);
	vec_free(&ts->slots);
	free(ts);
}

static bool before(const struct entry *a, const struct entry *b)
{
	return a->when_us != b->when_us ? a->when_us < b->when_us : a->order < b->order;
}

static void put_at(struct sim_timers *ts, size_t i, struct entry e)
{
	ts->heap.v[i] = e;
	ts->slots.v[e.slot].at = (uint32_t)i;
}

static void sift_up(struct sim_timers *ts, size_t i, struct entry e)
{
	while (i && before(&e, &ts->heap.v[(i - 1) / 2])) {
		put_at(ts, i, ts->heap.v[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	put_at(ts, i, e);
}

static void sift_down(struct sim_timers *ts, size_t i, struct entry e)
{
	for (size_t child; (child = 2 * i + 1) < ts->heap.n; i = child) {
		if (child + 1 < ts->heap.n &&
		    before(&ts->heap.v[child + 1], &ts->heap.v[child]))
			child++;
		if (before(&e, &ts->heap.v[child]))
			break;
		put_at(ts, i, ts->heap.v[child]);
	}
	put_at(ts, i, e);
}

static uint32_t take_slot(struct sim_timers *ts)
{
	uint32_t i = ts->free_slot;

	if (i == SIM_NONE) {
		i = (uint32_t)ts->slots.n;
		vec_push(&ts->slots)->generation = 1;
	} else {
		ts->free_slot = ts->slots.v[i].at;
	}
	return i;
}

/* Removes the timer at index i of the heap. */
static struct slot take_out(struct sim_timers *ts, size_t i)
{
	uint32_t n = ts->heap.v[i].slot;
	struct slot taken = ts->slots.v[n];
	struct entry moved = ts->heap.v[--ts->heap.n];

	if (i < ts->heap.n) {
		if (i && before(&moved, &ts->heap.v[(i - 1) / 2]))
			sift_up(ts, i, moved);
		else
			sift_down(ts, i, moved);
	}
	if (++ts->slots.v[n].generation == 0)
		ts->slots.v[n].generation = 1;
	ts->slots.v[n].at = ts->free_slot;
	ts->free_slot = n;
	return taken;
}

uint64_t sim_after(struct sim *s, int64_t delay_us, void (*fn)(struct sim *s, void *arg),
		   void *arg)
{
	struct sim_timers *ts = s->timers;
	uint32_t n = take_slot(ts);
	struct slot *slot = &ts->slots.v[n];

	if (delay_us < 0)
		delay_us = 0;
	if (delay_us > INT64_MAX - 1 - s->now_us)
		delay_us = INT64_MAX - 1 - s->now_us;
	slot->fn = fn;
	slot->arg = arg;
	(void)vec_push(&ts->heap);
	sift_up(ts, ts->heap.n - 1, (struct entry){ s->now_us + delay_us, ts->order++, n });
	return (uint64_t)slot->generation << 32 | n;
}

void sim_cancel(struct sim *s, uint64_t timer)
{
	struct sim_timers *ts = s->timers;
	uint32_t n = (uint32_t)timer;

	/* no handle has the generation of a free slot */
	if (n < ts->slots.n && ts->slots.v[n].generation == timer >> 32)
		take_out(ts, ts->slots.v[n].at);
}

int64_t timers_first(const struct sim_timers *ts)
{
	return ts->heap.n ? ts->heap.v[0].when_us : INT64_MAX;
}

bool timers_run_one(struct sim *s, int64_t now_us)
{
	int64_t when_us = timers_first(s->timers);

	if (when_us > now_us || when_us == INT64_MAX)
		return false;
	struct slot t = take_out(s->timers, 0);

	if (when_us > s->now_us)
		s->now_us = when_us;
	t.fn(s, t.arg);
	return true;
}
