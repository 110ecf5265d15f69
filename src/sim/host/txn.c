/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tracks sends that wait for their answer or for ACKs of their segments.
 *
 * All are in one hash table, by transaction id and class; answers also by destination, since many
 * nodes may have asked with the same id.
 */
#include <errno.h>

#include "sim/host/parts.h"

static uint64_t send_key(uint64_t tid, uint8_t mgmt_class, bool answer, uint16_t lid)
{
	return hash64(tid ^ hash64((uint64_t)lid << 16 | (uint64_t)mgmt_class << 1 | answer));
}

/* Key of an answer under way to or from that LID, or of a request under way. */
static uint64_t packet_key(const struct packet *p, bool answer, uint16_t lid)
{
	return send_key(get_be64(p->mad + MAD_TID), p->mad[MAD_CLASS], answer,
			answer && !p->grh ? lid : 0);
}

static bool same_transaction(const struct packet *a, const struct packet *b)
{
	return !memcmp(a->mad + MAD_TID, b->mad + MAD_TID, 8) &&
	       a->mad[MAD_CLASS] == b->mad[MAD_CLASS];
}

struct txn *txn_new(struct host_agent *a, const struct ib_user_mad *head, const struct packet *p)
{
	struct host_file *h = a->file;
	struct hosts *hs = h->hosts;
	struct txn *t;

	if (h->n_sends == SENDS_MAX)
		return NULL;
	h->n_sends++;
	if (hs->spare) {
		t = container_of(hs->spare, struct txn, node);
		hs->spare = hs->spare->next;
	} else {
		t = xmalloc(sizeof(*t));
	}
	t->agent = a;
	t->head = *head;
	t->retries_left = head->retries;
	t->answer = mad_is_answer(p->mad);
	t->rmpp.data = NULL;
	t->packet = *p;
	t->timer = 0;
	link_append(&a->sends, &t->of_agent);
	table_add(&hs->sends, &t->node, packet_key(p, t->answer, p->dlid));
	return t;
}

void txn_free(struct txn *t)
{
	struct hosts *hs = t->agent->file->hosts;

	rmpp_send_free(t);
	sim_cancel(hs->s, t->timer);
	link_remove(&t->of_agent);
	table_remove(&hs->sends, &t->node);
	t->agent->file->n_sends--;
	t->node.next = hs->spare;
	hs->spare = &t->node;
}

static void expired(struct sim *s, void *arg)
{
	struct txn *t = arg;

	(void)s;
	t->timer = 0;
	if (t->rmpp.data) {
		rmpp_send_expired(t);
	} else if (t->retries_left) {
		t->retries_left--;
		txn_start(t);
	} else {
		txn_timed_out(t);
	}
}

void txn_set_timer(struct txn *t, int64_t delay_us)
{
	host_set_timer(t->agent->file->hosts, &t->timer, delay_us, expired, t);
}

void txn_await_answer(struct txn *t)
{
	/* to the kernel, a value that does not fit an int is a negative time: no time-out */
	if (t->head.timeout_ms <= INT32_MAX)
		txn_set_timer(t, t->head.timeout_ms * INT64_C(1000));
}

void txn_start(struct txn *t)
{
	file_send(t->agent->file, &t->packet);
	txn_await_answer(t);
}

void txn_timed_out(struct txn *t)
{
	struct host_agent *a = t->agent;
	uint8_t umad[UMAD_HEAD + MAD_HEAD];
	struct packet p = t->packet;

	t->head.agent_id = a->id;
	t->head.status = ETIMEDOUT;
	memcpy(umad, &t->head, UMAD_HEAD);
	memcpy(umad + UMAD_HEAD, p.mad, MAD_HEAD);
	txn_free(t);
	agent_deliver(a, &p, umad, sizeof(umad));
}

static bool same_destination(const struct packet *a, const struct packet *b)
{
	if (a->grh != b->grh)
		return false;
	return a->grh ? !memcmp(a->dgid, b->dgid, 16) : a->dlid == b->dlid;
}

bool txn_duplicate(const struct host_agent *a, const struct packet *p)
{
	bool answer = mad_is_answer(p->mad);
	struct node *n = table_find(&a->file->hosts->sends, packet_key(p, answer, p->dlid));

	for (; n; n = node_next(n)) {
		const struct txn *t = container_of(n, struct txn, node);

		if (t->agent->file == a->file && t->answer == answer &&
		    same_transaction(&t->packet, p) && (!answer || same_destination(&t->packet, p)))
			return true;
	}
	return false;
}

/* Whether p took the way that an answer to t (or an ACK) takes. */
static bool comes_back(const struct txn *t, const struct packet *p)
{
	const struct packet *sent = &t->packet;

	if (p->mad[MAD_CLASS] == CLASS_SM_DR)
		return true;
	if (sent->grh != p->grh)
		return false;
	if (t->answer)
		return p->grh ? !memcmp(sent->dgid, p->sgid, 16) : sent->dlid == p->slid;
	if (p->grh)
		return !memcmp(sent->sgid, p->dgid, 16);
	return !((sent->slid ^ p->dlid) & ((1u << sim_port_of(t->agent->file)->lmc) - 1));
}

struct txn *txn_find(const struct host_agent *a, const struct packet *p)
{
	bool answer = !mad_is_answer(p->mad);
	struct node *n = table_find(&a->file->hosts->sends, packet_key(p, answer, p->slid));

	for (; n; n = node_next(n)) {
		struct txn *t = container_of(n, struct txn, node);

		if (t->agent == a && t->answer == answer && same_transaction(&t->packet, p) &&
		    comes_back(t, p))
			return t;
	}
	return NULL;
}
