/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The simulation as a whole: creates its parts, runs them, and provides randomness.
 *
 * Packets run before timers: packets under way have left before the time of the next timer.
 */
#include <stdlib.h>

#include "sim/net/fault.h"
#include "sim/net/transit.h"

struct sim *sim_new(struct sim_fabric *f, uint64_t seed)
{
	struct sim *s = xcalloc(1, sizeof(*s));

	s->f = f;
	s->rng = seed;
	s->stats = stats_new();
	s->faults = xcalloc(1, sizeof(*s->faults));
	s->drops = xcalloc(1, sizeof(*s->drops));
	s->queue = queue_new();
	s->timers = timers_new();
	s->flooded = xcalloc(f->n_switches, sizeof(*s->flooded));
	return s;
}

void sim_free(struct sim *s)
{
	if (!s)
		return;
	timers_free(s->timers);
	queue_free(s->queue);
	free(s->drops);
	vec_free(&s->faults->rules);
	free(s->faults);
	stats_free(s->stats);
	free(s->flooded);
	simfab_free(s->f);
	free(s);
}

/* splitmix64 */
static uint64_t next_random(struct sim *s)
{
	s->rng += 0x9e3779b97f4a7c15ULL;
	return hash64(s->rng);
}

uint32_t sim_random(struct sim *s, uint32_t n)
{
	return (uint32_t)((next_random(s) >> 32) * n >> 32);
}

bool sim_chance(struct sim *s, double probability)
{
	return (double)(next_random(s) >> 11) * 0x1p-53 < probability;
}

static bool move_packet(struct sim *s)
{
	struct transit *t = s->frozen ? NULL : queue_take(s->queue);

	if (t)
		wire_carry(s, t);
	return t != NULL;
}

int64_t sim_run(struct sim *s, int64_t now_us)
{
	unsigned left = SIM_TURN;

	while (left && (move_packet(s) || timers_run_one(s, now_us)))
		left--;
	if (!left)
		return 0;
	if (s->now_us < now_us)
		s->now_us = now_us;

	int64_t first = timers_first(s->timers);

	if (first == INT64_MAX)
		return -1;
	return first > s->now_us ? first - s->now_us : 0;
}
