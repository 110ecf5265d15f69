/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Implements the timer wheel.
 *
 * A timer that is due after more than one turn stays in its slot, and is checked once each turn.
 */
#include "sim/host/wheel.h"

#define TICK_US 1000

static struct link *slot_of(struct wheel *w, int64_t tick)
{
	return &w->slots[(uint64_t)tick % WHEEL_SLOTS];
}

static void mark(struct wheel *w, int64_t tick)
{
	unsigned slot = (uint64_t)tick % WHEEL_SLOTS;
	uint64_t bit = UINT64_C(1) << slot % 64;

	if (link_alone(&w->slots[slot]))
		w->used[slot / 64] &= ~bit;
	else
		w->used[slot / 64] |= bit;
}

/* The next tick whose slot is not empty; there must be one. */
static int64_t next_used(const struct wheel *w)
{
	unsigned slot = (uint64_t)(w->tick + 1) % WHEEL_SLOTS;
	uint64_t bits = w->used[slot / 64] & ~UINT64_C(0) << slot % 64;
	unsigned word = slot / 64;

	while (!bits) {
		word = (word + 1) % (WHEEL_SLOTS / 64);
		bits = w->used[word];
	}
	unsigned found = word * 64 + (unsigned)__builtin_ctzll(bits);
	return w->tick + 1 + (found + WHEEL_SLOTS - slot) % WHEEL_SLOTS;
}

static void turn(struct sim *s, void *arg);

static void arm(struct wheel *w)
{
	int64_t tick = next_used(w), delay;

	if (w->sim_timer && w->armed <= tick)
		return;
	sim_cancel(w->s, w->sim_timer);
	w->armed = tick;
	delay = tick * TICK_US - sim_now(w->s);
	w->sim_timer = sim_after(w->s, delay > 0 ? delay : 0, turn, w);
}

static void run_slot(struct wheel *w, int64_t tick)
{
	struct link *slot = slot_of(w, tick), due, later;

	link_init(&due);
	link_init(&later);
	/* moved out first: callbacks may set timers that fall into this slot */
	while (!link_alone(slot)) {
		struct link *l = slot->next;
		struct wheel_timer *t = container_of(l, struct wheel_timer, link);

		link_remove(l);
		link_append(t->tick <= tick ? &due : &later, l);
	}
	while (!link_alone(&later)) {
		struct link *l = later.next;

		link_remove(l);
		link_append(slot, l);
	}
	mark(w, tick);
	while (!link_alone(&due)) {
		struct wheel_timer *t = container_of(due.next, struct wheel_timer, link);

		wheel_cancel(w, t);
		t->fn(t);
	}
}

static void turn(struct sim *s, void *arg)
{
	struct wheel *w = arg;
	int64_t now = sim_now(s) / TICK_US;

	w->sim_timer = 0;
	while (w->n) {
		int64_t tick = next_used(w);

		if (tick > now)
			break;
		w->tick = tick;
		run_slot(w, tick);
	}
	if (w->n)
		arm(w);
}

void wheel_init(struct wheel *w, struct sim *s)
{
	*w = (struct wheel){ .s = s };
	for (unsigned i = 0; i < WHEEL_SLOTS; i++)
		link_init(&w->slots[i]);
}

void wheel_stop(struct wheel *w)
{
	sim_cancel(w->s, w->sim_timer);
	w->sim_timer = 0;
}

void wheel_timer_init(struct wheel_timer *t, void (*fn)(struct wheel_timer *t))
{
	link_init(&t->link);
	t->tick = 0;
	t->fn = fn;
}

void wheel_set(struct wheel *w, struct wheel_timer *t, int64_t at_us)
{
	wheel_cancel(w, t);
	if (w->n == 0)
		w->tick = sim_now(w->s) / TICK_US;
	t->tick = (at_us + TICK_US - 1) / TICK_US;
	if (t->tick <= w->tick)
		t->tick = w->tick + 1;
	link_append(slot_of(w, t->tick), &t->link);
	mark(w, t->tick);
	w->n++;
	if (!w->sim_timer || t->tick < w->armed)
		arm(w);
}

void wheel_cancel(struct wheel *w, struct wheel_timer *t)
{
	if (link_alone(&t->link))
		return;
	link_remove(&t->link);
	mark(w, t->tick);
	w->n--;
}
