/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who is master: SMInfo asked of every port that says IsSM, answered to others,
 * and a master polled while standing by (14.4.1, 14.2.5.13).
 *
 * We stand by when another SM is master already, whatever its priority (if it
 * is the lesser one it hands over when it sees us), or when one that outranks
 * us is about to become it.  Higher priority outranks, then the lower GUID.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad_sm.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/log.h"
#include "sm/internal.h"

/* SMInfo AttributeModifiers of a Set (14.4.1.2) */
enum { CTRL_HANDOVER = 1, CTRL_ACKNOWLEDGE, CTRL_DISABLE, CTRL_STANDBY, CTRL_DISCOVER };

/* A master-to-be that never becomes it is not waited for longer than that many polls. */
#define IDLE_POLLS_MAX 40

static struct log_ratelimit smp_log = LOG_RATELIMIT;

struct sm_info {
	uint64_t guid, key;
	uint32_t act_count;
	uint8_t priority, state;
};

static void sm_info_get(const uint8_t *data, struct sm_info *i)
{
	void *d = (void *)(uintptr_t)data;	/* libibmad only reads */

	i->guid = mad_get_field64(d, 0, IB_SMINFO_GUID_F);
	i->key = mad_get_field64(d, 0, IB_SMINFO_KEY_F);
	i->act_count = mad_get_field(d, 0, IB_SMINFO_ACT_F);
	i->priority = (uint8_t)mad_get_field(d, 0, IB_SMINFO_PRIO_F);
	i->state = (uint8_t)mad_get_field(d, 0, IB_SMINFO_STATE_F);
}

static void sm_info_put(struct sm *sm, uint8_t *data)
{
	memset(data, 0, 64);
	mad_set_field64(data, 0, IB_SMINFO_GUID_F, mad_info(sm->mad)->guid);
	mad_set_field(data, 0, IB_SMINFO_ACT_F, ++sm->act_count);
	mad_set_field(data, 0, IB_SMINFO_PRIO_F, sm->settings->priority);
	mad_set_field(data, 0, IB_SMINFO_STATE_F,
		      (uint32_t)(sm->own_port_checked ? sm->state : SM_NOT_ACTIVE));
}

/* The SM_Key, for those who may see it: without it OpenSM takes us for a stranger (14.4.7). */
static void sm_key_put(const struct sm *sm, uint8_t *data)
{
	mad_set_field64(data, 0, IB_SMINFO_KEY_F, sm->settings->sm_key);
}

static bool outranks(const struct sm *sm, const struct sm_info *i)
{
	return i->priority > sm->settings->priority ||
	       (i->priority == sm->settings->priority && i->guid < mad_info(sm->mad)->guid);
}

/* --- asking the others, as a step of a sweep --- */

struct question {
	struct sm *sm;
	uint32_t node;
};

/* The best other SM seen so far in this election lives in master_*, by master_guid != 0. */
static void consider(struct sm *sm, const struct question *q, const struct smp *s)
{
	struct sm_info i;
	bool yield;

	sm_info_get(s->data, &i);
	if (i.guid == mad_info(sm->mad)->guid || i.state > SM_MASTER)
		return;
	*vec_push(&sm->heard) = (struct sm_seen){ i.guid, i.act_count, i.priority,
						  (enum sm_state)i.state };
	if (i.state == SM_NOT_ACTIVE)
		return;
	if (sm->state == SM_MASTER)
		yield = (i.state == SM_MASTER || i.state == SM_STANDBY) && outranks(sm, &i);
	else
		yield = i.state == SM_MASTER || outranks(sm, &i);
	log_info("election", "SM 0x%016" PRIx64 " at %s: %s, priority %u%s", i.guid,
		 sm->f->nodes[q->node].desc, sm_state_name((enum sm_state)i.state), i.priority,
		 yield ? "; it goes before us" : "");
	if (yield && (!sm->master_guid || i.state == SM_MASTER)) {
		sm->master_is_up = i.state == SM_MASTER;
		election_stand_by(sm, i.guid, i.priority, s);
	}
}

/* It takes over now; or it can't be told, and the subnet is ours still. */
static void on_handed_over(void *arg, const struct smp *s, int status)
{
	struct sm *sm = arg;

	(void)s;
	if (!status) {
		sweep_lost(sm);
		return;
	}
	log_warn("election", "SM 0x%016" PRIx64 " does not take the handover (%d)",
		 sm->master_guid, status);
	sm->master_guid = 0;
	sweep_elected(sm);
}

/* A master gives way to a better one that stands by (14.4.1.2). */
static void hand_over(struct sm *sm)
{
	struct smp s = sm->master_poll;

	log_info("election", "handing over to SM 0x%016" PRIx64, sm->master_guid);
	s.method = SMP_SET;
	s.mod = CTRL_HANDOVER;
	s.m_key = sm->settings->m_key;
	s.once = false;
	sm_info_put(sm, s.data);
	sm_key_put(sm, s.data);
	smp_send(sm->mad, &s, on_handed_over, sm);
}

static bool was_seen(const struct sm_seen *list, size_t n, uint64_t guid)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].guid == guid)
			return true;
	return false;
}

static void tell_seen(struct sm *sm, enum event_kind kind, const struct sm_seen *s)
{
	struct event e;

	event_make(&e, kind, kind == EVENT_SM_SEEN ?
		   "another subnet manager, 0x%016" PRIx64 ", priority %u: %s" :
		   "the subnet manager 0x%016" PRIx64 ", priority %u, is gone; it was %s", s->guid,
		   s->priority, sm_state_name(s->state));
	event_guid(&e, "guid", s->guid);
	event_number(&e, "priority", s->priority);
	event_text(&e, "state", "%s", sm_state_name(s->state));
	sm_tell(sm, &e);
}

static void asked_all(struct sm *sm)
{
	for (size_t i = 0; i < sm->heard.n; i++)
		if (!was_seen(sm->others.v, sm->others.n, sm->heard.v[i].guid))
			tell_seen(sm, EVENT_SM_SEEN, &sm->heard.v[i]);
	for (size_t i = 0; i < sm->others.n; i++)
		if (!was_seen(sm->heard.v, sm->heard.n, sm->others.v[i].guid))
			tell_seen(sm, EVENT_SM_GONE, &sm->others.v[i]);
	vec_free(&sm->others);
	sm->others.v = sm->heard.v;
	sm->others.n = sm->heard.n;
	sm->others.cap = sm->heard.cap;
	memset(&sm->heard, 0, sizeof(sm->heard));
	if (sm->master_guid && sm->state == SM_MASTER && !sm->master_is_up)
		hand_over(sm);
	else if (sm->master_guid)
		sweep_lost(sm);
	else
		sweep_elected(sm);
}

static void on_answer(void *arg, const struct smp *s, int status)
{
	struct question *q = arg;
	struct sm *sm = q->sm;

	if (status == 0)
		consider(sm, q, s);
	else
		log_debug("election", "the SM at %s does not answer", sm->f->nodes[q->node].desc);
	free(q);
	if (--sm->sms_to_ask == 0)
		asked_all(sm);
}

static bool ask(struct sm *sm, uint32_t port)
{
	struct question *q;
	struct smp s = { .method = SMP_GET, .attr = UMAD_SM_ATTR_SM_INFO };

	if (!want_route(sm->f, sm->f->ports[port].node, sm->f->ports[port].num, &s))
		return false;
	q = xmalloc(sizeof(*q));
	*q = (struct question){ sm, sm->f->ports[port].node };
	smp_send(sm->mad, &s, on_answer, q);
	return true;
}

void election_start(struct sm *sm)
{
	sm->master_guid = 0;
	vec_free(&sm->heard);
	sm->election_due = false;
	sm->sms_to_ask = 1;	/* so that it can't get to 0 before all are asked */
	for (uint32_t p = 0; p < sm->f->n_ports; p++)
		if (port_is_end(sm->f, p) && p != sm->f->self &&
		    (sm->f->ports[p].capmask & IB_CAP_IS_SM) && ask(sm, p))
			sm->sms_to_ask++;
	if (--sm->sms_to_ask == 0)
		asked_all(sm);
}

bool sm_seen_at(const struct sm *sm, uint32_t i, struct sm_seen *out)
{
	if (!i)
		*out = (struct sm_seen){ mad_info(sm->mad)->guid, sm->act_count,
					 sm->settings->priority, sm->state };
	else if (i <= sm->others.n)
		*out = sm->others.v[i - 1];
	return i <= sm->others.n;
}

/* --- standing by --- */

void election_stand_by(struct sm *sm, uint64_t guid, uint8_t priority, const struct smp *route)
{
	sm->master_guid = guid;
	sm->master_priority = priority;
	sm->master_poll = (struct smp){
		.method = SMP_GET, .attr = UMAD_SM_ATTR_SM_INFO,
		.hops = route->hops, .last_hop = route->last_hop,
		.once = true,	/* the next poll is the next try */
	};
	/* the route lives in a fabric that goes when the sweep ends */
	free(sm->master_route);
	sm->master_route = xmemdup(route->route, route->hops);
	sm->master_poll.route = sm->master_route;
	sm->polls_missed = sm->polls_idle = 0;
	/* clients register with that one now */
	sm->registrations_lost = true;
}

static void master_is_gone(struct sm *sm, const char *why)
{
	log_warn("election", "master SM 0x%016" PRIx64 " %s", sm->master_guid, why);
	timer_stop(sm->poll_timer);
	sm->master_guid = 0;
	sm_set_state(sm, SM_DISCOVERING);
	sm_want_sweep(sm, SWEEP_FULL, "the master is gone");
}

static void on_poll_answer(void *arg, const struct smp *s, int status)
{
	struct sm *sm = arg;
	struct sm_info i;

	if (sm->state != SM_STANDBY)
		return;
	if (status) {
		if (++sm->polls_missed > sm->settings->poll_retries)
			master_is_gone(sm, "does not answer");
		return;
	}
	sm->polls_missed = 0;
	sm_info_get(s->data, &i);
	if (i.guid != sm->master_guid)
		master_is_gone(sm, "was replaced");
	else if (i.state == SM_MASTER)
		sm->polls_idle = 0;
	else if (i.state == SM_NOT_ACTIVE)
		master_is_gone(sm, "is not active any more");
	else if (++sm->polls_idle > IDLE_POLLS_MAX)
		master_is_gone(sm, "does not become master");
}

void election_on_poll(void *arg)
{
	struct sm *sm = arg;

	smp_send(sm->mad, &sm->master_poll, on_poll_answer, sm);
}

/* --- answering --- */

static void answer(struct sm *sm, const struct mad_in *in, uint16_t status)
{
	uint8_t mad[256];
	bool directed = in->mgmt_class == UMAD_CLASS_SUBN_DIRECTED_ROUTE;

	memcpy(mad, in->mad, sizeof(mad));
	mad[3] = UMAD_METHOD_GET_RESP;
	put_be16(mad + 4, (uint16_t)(status | (directed ? 0x8000 : 0)));
	if (get_be16(mad + 16) == UMAD_SM_ATTR_SM_INFO) {
		sm_info_put(sm, mad + 64);
		if (!sm->settings->m_key || get_be64(in->mad + 24) == sm->settings->m_key)
			sm_key_put(sm, mad + 64);
	}
	mad_reply(sm->mad, in, mad, sizeof(mad));
}

/* Whether the state that we are in takes this control (14.4.1.2). */
static bool control_allowed(const struct sm *sm, uint32_t control, unsigned sender)
{
	switch (control) {
	case CTRL_HANDOVER:
		return sender == SM_MASTER && sm->state != SM_NOT_ACTIVE;
	case CTRL_ACKNOWLEDGE:
		return sender == SM_STANDBY || (sender == SM_MASTER && sm->state == SM_STANDBY);
	case CTRL_DISABLE:
		return sender == SM_MASTER && sm->state == SM_STANDBY;
	case CTRL_STANDBY:
		return sender == SM_MASTER && sm->state == SM_NOT_ACTIVE;
	case CTRL_DISCOVER:
		return sender == SM_MASTER && sm->state == SM_STANDBY;
	default:
		return false;
	}
}

static void control(struct sm *sm, uint32_t what, const struct sm_info *from)
{
	log_info("election", "SM 0x%016" PRIx64 " says %s", from->guid,
		 what == CTRL_HANDOVER ? "HANDOVER" : what == CTRL_ACKNOWLEDGE ? "ACKNOWLEDGE" :
		 what == CTRL_DISABLE ? "DISABLE" : what == CTRL_STANDBY ? "STANDBY" : "DISCOVER");
	switch (what) {
	case CTRL_HANDOVER:
		timer_stop(sm->poll_timer);
		if (sm->state == SM_STANDBY) {
			/* the one that left is nobody's master any more */
			sm->master_guid = 0;
			sm_set_state(sm, SM_MASTER);
		}
		sm_want_sweep(sm, SWEEP_FULL, "handover");
		break;
	case CTRL_DISABLE:
		timer_stop(sm->poll_timer);
		sm_set_state(sm, SM_NOT_ACTIVE);
		break;
	case CTRL_STANDBY:
		sm_set_state(sm, SM_STANDBY);
		timer_set(sm->poll_timer, 0, sm->settings->poll_interval_ms * 1000ll);
		break;
	case CTRL_DISCOVER:
		timer_stop(sm->poll_timer);
		sm_set_state(sm, SM_DISCOVERING);
		sm_want_sweep(sm, SWEEP_FULL, "told to discover");
		break;
	default:
		break;
	}
}

void election_receive(struct sm *sm, const struct mad_in *in)
{
	uint8_t method = in->mad[3];
	uint16_t attr = get_be16(in->mad + 16);
	uint32_t mod = get_be32(in->mad + 20);
	struct sm_info from;

	if (in->len < 256)
		return;
	if (attr != UMAD_SM_ATTR_SM_INFO) {
		log_limited(&smp_log, LOG_LEVEL_DEBUG, "election",
			    "LID %u: method 0x%02x of attribute 0x%04x is not for us", in->slid,
			    method, attr);
		answer(sm, in, IB_STATUS_BAD_METHOD_ATTR);
		return;
	}
	if (method == UMAD_METHOD_GET) {
		answer(sm, in, IB_STATUS_OK);
		return;
	}
	if (!sm->own_port_checked)
		return;
	sm_info_get(in->mad + 64, &from);
	if (sm->settings->sm_key && from.key != sm->settings->sm_key) {
		log_limited(&smp_log, LOG_LEVEL_WARNING, "election",
			    "SM 0x%016" PRIx64 ": control %u with a wrong SM_Key ignored",
			    from.guid, mod);
		answer(sm, in, IB_STATUS_BAD_VALUE);
		return;
	}
	if (!control_allowed(sm, mod, from.state)) {
		answer(sm, in, IB_STATUS_BAD_VALUE);
		return;
	}
	answer(sm, in, IB_STATUS_OK);
	control(sm, mod, &from);
}
