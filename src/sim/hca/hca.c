/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Attaches HCAs and detaches them, and moves frames between them and their drivers.
 *
 * A packet that finds the ring full is lost.  Answers wait in order, and events stay due (events.c).
 * While an answer waits, no packet overtakes it, so that a flood of packets cannot starve it.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "sim/hca/hca_internal.h"
#include "sim/hca/raw.h"

void hcas_start(struct sim *s)
{
	struct hcas *hs = xcalloc(1, sizeof(*hs));

	hs->by_node = xcalloc(s->f->n_nodes, sizeof(struct hca *));
	hs->complaints = (struct log_ratelimit)LOG_RATELIMIT;
	s->hcas = hs;
}

void hcas_stop(struct sim *s)
{
	struct hcas *hs = hcas_of(s);

	while (hs->list.n)
		hca_detach(hs->list.v[0]);
	vec_free(&hs->list);
	free(hs->by_node);
	free(hs);
	s->hcas = NULL;
}

/* --- from start to end --- */

bool hca_possible(const struct sim *s, uint32_t node, struct buf *err)
{
	const struct sim_node *n = &s->f->nodes[node];
	const struct sim_profile *pr = n->profile;

	if (n->type != SIM_CA)
		buf_printf(err, "%s is not an adapter", n->desc);
	else if (n->nports > SIMHCA_PORTS_MAX)
		buf_printf(err, "%s has %u ports, a virtual machine's adapter at most %d", n->desc,
			   n->nports, SIMHCA_PORTS_MAX);
	else if (pr->smi_apart || pr->smi_disabled || pr->ethernet)
		buf_printf(err, "%s: its profile hides its subnet management from hosts", n->desc);
	else if (n->driven)
		buf_printf(err, "%s belongs to another virtual machine", n->desc);
	else
		return true;
	return false;
}

static void write_header(const struct hca *h, uint32_t peer, struct simhca_header *header)
{
	const struct sim_node *n = hca_node(h);

	header->version = htole32(SIMHCA_VERSION);
	header->hca = htole32(peer);
	header->n_ports = htole32(n->nports);
	header->node_guid = htole64(n->guid);
	header->system_guid = htole64(n->sysimg_guid);
	for (unsigned i = 0; i < n->nports; i++)
		header->port_guid[i] = htole64(h->s->f->ports[n->port0 + 1 + i].guid);
	header->magic = htole64(SIMHCA_MAGIC);
}

struct hca *hca_attach(struct sim *s, uint32_t node, void *memory, uint32_t peer, uint32_t client,
		       const struct hca_ops *ops)
{
	struct hca *h = xcalloc(1, sizeof(*h));

	h->s = s;
	h->node = node;
	h->client = client;
	h->ops = *ops;
	h->last = &h->waiting;
	rings_open(memory, &h->in, &h->out);
	events_init(h);
	hcas_of(s)->by_node[node] = h;
	*vec_push(&hcas_of(s)->list) = h;
	device_drive(s, node, true);
	write_header(h, peer, memory);
	return h;
}

static void forget_answers(struct hca *h)
{
	while (h->waiting) {
		struct answer *a = h->waiting;

		h->waiting = a->next;
		free(a);
	}
	h->last = &h->waiting;
	h->n_waiting = 0;
}

static void unlist(struct hca *h)
{
	struct hcas *hs = hcas_of(h->s);

	hs->by_node[h->node] = NULL;
	for (size_t i = 0; i < hs->list.n; i++)
		if (hs->list.v[i] == h) {
			hs->list.v[i] = hs->list.v[--hs->list.n];
			return;
		}
}

void hca_detach(struct hca *h)
{
	unlist(h);
	device_drive(h->s, h->node, false);
	forget_answers(h);
	events_free(h);
	free(h);
}

void hca_start(struct hca *h)
{
	h->broken = false;
	forget_answers(h);
	device_start(h->s, h->node, true);
	events_reset(h);
}

/* Stops the HCA, as a defect stops a real one: it has no power until the next SIMHCA_START. */
static void hca_break(struct hca *h, const char *why)
{
	if (!h->broken)
		log_limited(&hcas_of(h->s)->complaints, LOG_LEVEL_WARNING, "hca",
			    "%s: %s: the HCA stops until its driver starts it again",
			    hca_node(h)->given_desc, why);
	h->broken = true;
	forget_answers(h);
	ring_skip(&h->in);
	device_start(h->s, h->node, false);
}

/* --- to the driver --- */

bool hca_write(struct hca *h)
{
	switch (ring_put(&h->out, &h->frame)) {
	case RING_PUT:
		h->written = true;
		return true;
	case RING_WRONG:
		hca_break(h, "the count of read bytes is impossible");
		return false;
	case RING_FULL:
		break;
	}
	return false;
}

static bool write_answer(struct hca *h, const struct answer *a)
{
	struct frame *f = &h->frame;

	f->kind = SIMHCA_ANSWER;
	f->port = a->port;
	f->flags = a->verdict;
	f->id = a->id;
	f->length = a->verdict == SIMHCA_REPLY ? SIMHCA_MAD_SIZE : 0;
	memcpy(f->data, a->mad, f->length);
	return hca_write(h);
}

static void write_waiting(struct hca *h)
{
	while (h->waiting && write_answer(h, h->waiting)) {
		struct answer *a = h->waiting;

		h->waiting = a->next;
		h->n_waiting--;
		free(a);
	}
	if (!h->waiting)
		h->last = &h->waiting;
}

void hca_answer(struct hca *h, const struct answer *a)
{
	struct answer *copy;

	if ((!h->waiting && write_answer(h, a)) || h->broken)
		return;
	copy = xmemdup(a, sizeof(*a));
	copy->next = NULL;
	*h->last = copy;
	h->last = &copy->next;
	h->n_waiting++;
}

void hca_receive(struct sim *s, uint32_t port, const struct packet *p, uint8_t vl)
{
	struct hca *h = hcas_of(s)->by_node[s->f->ports[port].node];

	h->frame.kind = SIMHCA_PACKET;
	h->frame.port = s->f->ports[port].num;
	h->frame.flags = 0;
	h->frame.id = 0;
	h->frame.length = (uint32_t)raw_write(p, vl, h->frame.data);
	if (h->waiting || !hca_write(h))
		wire_drop(s, port, p, DROP_QUEUE);
}

/* --- from the driver --- */

/* Reads what was there when the driver rang, so that one that writes for ever gets its turn only. */
void hca_doorbell(struct hca *h)
{
	const char *wrong;
	bool crowded;

	write_waiting(h);
	crowded = ring_look(&h->in, &wrong) > SIMHCA_RING_SIZE / 2;
	while (!wrong && h->n_waiting < ANSWERS_MAX && ring_take(&h->in, &h->frame, &wrong))
		wrong = hca_take(h, &h->frame);
	if (wrong)
		hca_break(h, wrong);
	h->written |= crowded;		/* the driver may wait for room */
}

void hcas_end_turn(struct sim *s)
{
	struct hcas *hs = hcas_of(s);

	for (size_t i = 0; i < hs->list.n; i++) {
		struct hca *h = hs->list.v[i];

		write_waiting(h);
		events_tell(h);
		if (h->written)
			h->ops.ring(h->ops.arg);
		h->written = false;
	}
}
