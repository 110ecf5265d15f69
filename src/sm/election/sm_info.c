/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Asks other SMs for their SMInfo and takes their answers (14.2.5.13): what we say of ourselves,
 * what an answer proves, and the questions that are under way.
 *
 * Two qosd prove that they have the SM_Key without telling it (proof.h).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad_sm.h>

#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "sm/election/election.h"
#include "sm/election/election_internal.h"
#include "sm/keys/mkey.h"
#include "sm/keys/proof.h"

static struct log_ratelimit claim_log = LOG_RATELIMIT;

void sm_info_get(const uint8_t data[64], struct sm_info *i)
{
	void *d = (void *)(uintptr_t)data;	/* libibmad only reads */

	i->guid = mad_get_field64(d, 0, IB_SMINFO_GUID_F);
	i->key = mad_get_field64(d, 0, IB_SMINFO_KEY_F);
	i->act_count = mad_get_field(d, 0, IB_SMINFO_ACT_F);
	i->priority = (uint8_t)mad_get_field(d, 0, IB_SMINFO_PRIO_F);
	i->state = (uint8_t)mad_get_field(d, 0, IB_SMINFO_STATE_F);
	i->changed = i->state == SM_MASTER && data[SM_INFO_CHANGED] == 1;
	i->newer = false;
}

struct sm_info sm_info_ours(const struct sm *sm)
{
	return (struct sm_info){
		.guid = mad_info(sm->mad)->guid, .key = sm->settings->sm_key,
		.act_count = sm->election->act_count, .priority = sm->election->priority,
		.state = (uint8_t)(sm->own_port_checked ? sm->state : SM_NOT_ACTIVE),
	};
}

void sm_info_say(struct sm *sm, uint8_t data[64])
{
	struct sm_info us;

	sm->election->act_count++;
	us = sm_info_ours(sm);
	memset(data, 0, 64);
	mad_set_field64(data, 0, IB_SMINFO_GUID_F, us.guid);
	mad_set_field(data, 0, IB_SMINFO_ACT_F, us.act_count);
	mad_set_field(data, 0, IB_SMINFO_PRIO_F, us.priority);
	mad_set_field(data, 0, IB_SMINFO_STATE_F, us.state);
	data[SM_INFO_CHANGED] = us.state == SM_MASTER && sm->election->changed;
}

void sm_info_put_key(const struct sm *sm, uint8_t *data)
{
	mad_set_field64(data, 0, IB_SMINFO_KEY_F, sm->settings->sm_key);
}

/* Replaces the entry with the oldest time. */
static void note_shown(struct election *e, uint64_t guid)
{
	unsigned at = 0;

	for (unsigned i = 0; i < SHOWN && e->shown[at].guid != guid; i++)
		if (e->shown[i].guid == guid || e->shown[i].when_us < e->shown[at].when_us)
			at = i;
	e->shown[at].guid = guid;
	e->shown[at].when_us = clock_mono_us();
}

bool question_take_answer(const struct sm *sm, struct question *q, const struct smp *s)
{
	uint64_t key = sm->settings->sm_key;
	struct sm_info i;

	sm_info_get(s->data, &i);
	if (i.guid != q->asked) {
		log_limited(&claim_log, LOG_LEVEL_WARNING, "election",
			    "the SM at port 0x%016" PRIx64 " claims to be 0x%016" PRIx64 ": "
			    "ignored", q->asked, i.guid);
		return false;
	}
	q->peer.tells_key = i.key == key;
	if (!q->peer.tells_key && proof_nonce(s->data) == q->nonce &&
	    proof_holds(s->data, key, PROOF_ANSWER, q->asked, mad_info(sm->mad)->guid))
		i.key = key;
	if (i.key == key)
		note_shown(sm->election, i.guid);
	q->peer.info = i;
	return true;
}

static struct question *question_new(struct sm *sm)
{
	struct question *q = xcalloc(1, sizeof(*q));

	q->sm = sm;
	q->round = sm->election->round;
	q->next = sm->election->questions;
	q->link = &sm->election->questions;
	if (q->next)
		q->next->link = &q->next;
	*q->link = q;
	return q;
}

void question_free(struct question *q)
{
	if (q->next)
		q->next->link = q->link;
	*q->link = q->next;
	free(q);
}

/* Proves to the SM at the port with that GUID that we have the SM_Key. */
static void prove(struct sm *sm, struct question *q, uint64_t guid, uint32_t what,
		  uint8_t data[64])
{
	q->asked = guid;
	q->nonce = ++sm->election->nonce;
	proof_put(data, sm->settings->sm_key, what, mad_info(sm->mad)->guid, guid, q->nonce);
}

void question_send(struct sm *sm, const struct peer *p, struct smp s, question_done *fn)
{
	struct question *q = question_new(sm);

	q->peer = *p;
	prove(sm, q, p->info.guid, s.method == SMP_SET ? PROOF_CONTROL + s.mod : PROOF_GET, s.data);
	s.route = p->route;
	s.hops = p->hops;
	s.last_hop = p->last_hop;
	s.m_key = p->m_key;
	smp_send(sm->mad, &s, fn, q);
}

void question_send_to(struct sm *sm, const struct peer *p, uint8_t method, uint32_t mod, bool once,
		      question_done *fn)
{
	struct smp s = { .method = method, .attr = UMAD_SM_ATTR_SM_INFO, .mod = mod, .once = once };

	sm_info_say(sm, s.data);
	if (method == SMP_SET && p->tells_key)
		sm_info_put_key(sm, s.data);
	question_send(sm, p, s, fn);
}

/*
 * An SM that did not answer lately is asked once only.  It is asked, though: perhaps our own link
 * was down, and nobody else would ever tell us of it, or it of us.
 */
static bool was_silent(const struct election *e, uint64_t guid)
{
	for (size_t i = 0; i < e->silent.n; i++)
		if (e->silent.v[i] == guid)
			return true;
	return guid == e->silent_master;
}

bool port_says_sm(const struct fabric *f, uint32_t port)
{
	return port_is_end(f, port) && port != f->self && (f->ports[port].capmask & IB_CAP_IS_SM);
}

bool question_ask_port(struct sm *sm, const struct fabric *f, uint32_t port, question_done *fn)
{
	struct question *q;
	struct smp s = { .method = SMP_GET, .attr = UMAD_SM_ATTR_SM_INFO };

	if (!mkey_route(sm, f, f->ports[port].node, f->ports[port].num, &s))
		return false;
	q = question_new(sm);
	q->node = f->ports[port].node;
	q->peer.hops = s.hops;
	q->peer.last_hop = s.last_hop;
	q->peer.m_key = s.m_key;
	q->peer.info.guid = f->ports[port].guid;
	/* the fabric may be freed before the SMP is answered; the question is not */
	memcpy(q->peer.route, s.route, s.hops);
	s.route = q->peer.route;
	s.once = was_silent(sm->election, q->peer.info.guid);
	sm_info_say(sm, s.data);
	prove(sm, q, q->peer.info.guid, PROOF_GET, s.data);
	smp_send(sm->mad, &s, fn, q);
	return true;
}
