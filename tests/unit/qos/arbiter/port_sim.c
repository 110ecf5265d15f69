/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>

#include "port_sim.h"

static void table_init(struct sim_table *t, const struct vlarb_entry *entries, unsigned length)
{
	memcpy(t->entries, entries, length * sizeof(*entries));
	t->length = length;
	t->pointer = 0;
	t->available = length ? entries[0].weight * 64u : 0;
}

void port_sim_init(struct port_sim *p, const struct vlarb *arb, const uint16_t size[SIM_VLS])
{
	memset(p, 0, sizeof(*p));
	table_init(&p->high, arb->high, arb->n_high);
	table_init(&p->low, arb->low, arb->n_low);
	p->limit = arb->high_limit;
	for (unsigned vl = 0; vl < SIM_VLS; vl++)
		p->size[vl] = size[vl];
}

static bool entry_can_send(const struct port_sim *p, const struct sim_table *t)
{
	unsigned vl = t->entries[t->pointer].vl;

	return t->available > 0 && vl < SIM_VLS && p->queue[vl] > 0;
}

/* Moves the pointer to an entry that can send; false if there is none. */
static bool table_find(const struct port_sim *p, struct sim_table *t)
{
	if (t->length == 0)
		return false;
	if (entry_can_send(p, t))
		return true;
	for (unsigned looked_at = 0; looked_at < t->length; looked_at++) {
		t->pointer = (t->pointer + 1) % t->length;
		t->available = t->entries[t->pointer].weight * 64u;
		if (entry_can_send(p, t))
			return true;
	}
	return false;
}

static unsigned table_send(struct port_sim *p, struct sim_table *t)
{
	unsigned vl = t->entries[t->pointer].vl;

	if (t->available > p->size[vl])
		t->available -= p->size[vl];
	else
		t->available = 0;
	if (p->queue[vl] != SIM_BACKLOG)
		p->queue[vl]--;
	return vl;
}

static bool counter_expired(const struct port_sim *p)
{
	switch (p->limit) {
	case 255:
		return false;
	case 0:
		return p->high_packets > 0;
	default:
		return p->high_bytes >= p->limit * 4096;
	}
}

static void counter_reset(struct port_sim *p)
{
	p->high_packets = 0;
	p->high_bytes = 0;
}

int port_sim_send(struct port_sim *p)
{
	if (counter_expired(p) || !table_find(p, &p->high)) {
		counter_reset(p);
		if (table_find(p, &p->low))
			return (int)table_send(p, &p->low);
		if (!table_find(p, &p->high))
			return -1;
	}

	unsigned vl = table_send(p, &p->high);

	/* without a limit, there is no counter */
	if (p->limit != 255) {
		p->high_packets++;
		p->high_bytes += p->size[vl];
	}
	return (int)vl;
}

bool port_sim_same_state(const struct port_sim *a, const struct port_sim *b)
{
	return a->high.pointer == b->high.pointer && a->high.available == b->high.available &&
	       a->low.pointer == b->low.pointer && a->low.available == b->low.available &&
	       a->high_packets == b->high_packets && a->high_bytes == b->high_bytes;
}
