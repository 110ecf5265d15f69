/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Holds the packets under way, and the memory for them.
 *
 * Transits are allocated in blocks and reused, last freed first; the blocks are freed with the
 * queue.  So no packet costs a malloc(), and no code needs to find all holders of packets (timers,
 * for example) at the end of the simulation.
 */
#include <stdlib.h>

#include "sim/net/transit.h"

#define BLOCK 64
#define UNDER_WAY_MAX (1u << 18)	/* about 100 MiB; only a frozen fabric comes near */

struct sim_queue {
	struct transit *first, **last;
	struct transit *unused;
	VEC(struct transit *) blocks;
};

struct sim_queue *queue_new(void)
{
	struct sim_queue *q = xcalloc(1, sizeof(*q));

	q->last = &q->first;
	return q;
}

void queue_free(struct sim_queue *q)
{
	for (size_t i = 0; i < q->blocks.n; i++)
		free(q->blocks.v[i]);
	vec_free(&q->blocks);
	free(q);
}

static bool add_block(struct sim_queue *q)
{
	if (q->blocks.n >= UNDER_WAY_MAX / BLOCK)
		return false;
	struct transit *block = xmalloc(BLOCK * sizeof(*block));

	*vec_push(&q->blocks) = block;
	for (unsigned i = 0; i < BLOCK; i++)
		transit_free(q, &block[i]);
	return true;
}

static struct transit *take_unused(struct sim_queue *q)
{
	if (!q->unused && !add_block(q))
		return NULL;
	struct transit *t = q->unused;

	q->unused = t->next;
	return t;
}

struct transit *transit_new(struct sim_queue *q, uint32_t port, const struct packet *p)
{
	struct transit *t = take_unused(q);

	if (!t)
		return NULL;
	t->port = port;
	t->place = PLACE_START;
	t->faults_met = t->smi_met = false;
	t->hops = 0;
	t->mark = SIM_NONE;
	t->p = *p;
	return t;
}

struct transit *transit_copy(struct sim_queue *q, const struct transit *t)
{
	struct transit *copy = take_unused(q);

	if (copy)
		*copy = *t;
	return copy;
}

void transit_free(struct sim_queue *q, struct transit *t)
{
	t->next = q->unused;
	q->unused = t;
}

void transit_move(struct transit *t, uint32_t port, enum place place)
{
	t->faults_met = port == t->port;
	t->smi_met = false;
	t->port = port;
	t->place = place;
}

void queue_put(struct sim_queue *q, struct transit *t)
{
	t->next = NULL;
	*q->last = t;
	q->last = &t->next;
}

struct transit *queue_take(struct sim_queue *q)
{
	struct transit *t = q->first;

	if (!t)
		return NULL;
	q->first = t->next;
	if (!q->first)
		q->last = &q->first;
	return t;
}
