/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Holds the packets under way, and the memory for them.
 *
 * Transits are allocated in blocks and reused, last freed first; the blocks are freed with the
 * queue.  So no packet costs a malloc(), and no code needs to find all holders of packets (timers,
 * for example) at the end of the simulation.
 *
 * A transit uses the bytes of its packet.  Unused transits have none.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/net/transit.h"

#define BLOCK 64
#define UNDER_WAY_MAX (1u << 18)	/* about 100 MiB; only a frozen fabric comes near */
#define BYTES_MAX (64u << 20)		/* the same for bytes of packets, each copy counted */

struct sim_queue {
	struct transit *first, **last;
	struct transit *unused;
	VEC(struct transit *) blocks;
	size_t bytes;			/* of packets under way */
};

struct sim_queue *queue_new(void)
{
	struct sim_queue *q = xcalloc(1, sizeof(*q));

	q->last = &q->first;
	return q;
}

struct packet_bytes *packet_bytes_new(const void *data, uint32_t n, uint16_t payload)
{
	struct packet_bytes *b = xmalloc(sizeof(*b) + n);

	*b = (struct packet_bytes){ .users = 1, .payload = payload, .n = n };
	memcpy(b->data, data, n);
	return b;
}

void packet_bytes_free(struct packet_bytes *b)
{
	if (b && --b->users == 0)
		free(b);
}

void queue_free(struct sim_queue *q)
{
	for (size_t i = 0; i < q->blocks.n; i++) {
		for (unsigned j = 0; j < BLOCK; j++)
			packet_bytes_free(q->blocks.v[i][j].p.bytes);
		free(q->blocks.v[i]);
	}
	vec_free(&q->blocks);
	free(q);
}

static bool add_block(struct sim_queue *q)
{
	if (q->blocks.n >= UNDER_WAY_MAX / BLOCK)
		return false;
	struct transit *block = xmalloc(BLOCK * sizeof(*block));

	*vec_push(&q->blocks) = block;
	for (unsigned i = 0; i < BLOCK; i++) {
		block[i].p.bytes = NULL;
		transit_free(q, &block[i]);
	}
	return true;
}

/* A transit for a packet with these bytes. */
static struct transit *take_unused(struct sim_queue *q, struct packet_bytes *bytes)
{
	if ((!q->unused && !add_block(q)) || (bytes && q->bytes + bytes->n > BYTES_MAX))
		return NULL;
	struct transit *t = q->unused;

	q->unused = t->next;
	if (bytes) {
		bytes->users++;
		q->bytes += bytes->n;
	}
	return t;
}

struct transit *transit_new(struct sim_queue *q, uint32_t port, const struct packet *p)
{
	struct transit *t = take_unused(q, p->bytes);

	if (!t)
		return NULL;
	t->port = port;
	t->place = PLACE_START;
	t->faults_met = t->smi_met = false;
	t->vl = 0;
	t->hops = 0;
	t->mark = SIM_NONE;
	t->p = *p;
	return t;
}

struct transit *transit_copy(struct sim_queue *q, const struct transit *t)
{
	struct transit *copy = take_unused(q, t->p.bytes);

	if (copy)
		*copy = *t;
	return copy;
}

void transit_free(struct sim_queue *q, struct transit *t)
{
	if (t->p.bytes) {
		q->bytes -= t->p.bytes->n;
		packet_bytes_free(t->p.bytes);
		t->p.bytes = NULL;
	}
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
