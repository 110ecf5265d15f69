/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Elects the master: exchanges SMInfo with other SMs, polls the master as a standby, hands over and
 * takes over (14.4.1, 14.2.5.13).
 *
 * election_table.c decides; this file sends, waits and acts.
 *
 * Whoever asks for SMInfo includes its own SMInfo in the same MAD; IBA does not use these bytes.
 * So a master hears at once of a better SM or of another master.  That is a hint and no more, and
 * nothing without a key: we ask the port with that GUID for its SMInfo, and its answer begins a
 * sweep.  Questions and sweeps are limited, so a flood of claims costs no discovery and only a few
 * SMPs.  In the same way a standby hears that its master has something for it (sm_nudge()).
 *
 * No SM is believed before it has shown a key.  We tell the SM_Key to an SM that shows the port's
 * M_Key, and to one that tells the SM_Key itself when asked at the place where the request came
 * from (callers.h): OpenSM does so, and regards us as a stranger unless we do.  Two qosd prove that
 * they have the key without telling it (proof.h).  A control is obeyed only after its sender was
 * found where its GUID and LID are, with the key (sm_obeys()).
 *
 * A master that was stopped for a while may have lost the subnet meanwhile.  Sets go out only while
 * the loop has turned lately (mad_permit_sets()).  After a pause the other SMs are asked first, and
 * if one is master we stand by without having written anything.  If none is master now, one may
 * have been: a light sweep finds out.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad_sm.h>

#include "lib/base/alloc.h"
#include "lib/base/bucket.h"
#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "sm/election/election.h"
#include "sm/election/election_table.h"
#include "sm/keys/callers.h"
#include "sm/keys/mkey.h"
#include "sm/keys/proof.h"
#include "sm/sm_internal.h"

#define IDLE_US		20000000	/* longest wait for an SM that discovers and never ends, */
#define STANDBY_US	1000000	/* and for a master that has become a standby */
#define BUSY_US		10000000	/* longest time to put off a handover, */
#define ASK_US		5000000		/* and to put it off while the master does not answer us */
#define AWAIT_US	10000000	/* longest wait for a lesser master to hand over, */
#define AWAIT_LOOK_US	1000000	/* and how often to look for it meanwhile */
#define HANDOVER_TRIES	5
/*
 * Limits on following claims of others.  A port that claims to have an SM is asked once per
 * CLAIM_US.  ASK_… limits questions to ports that do not say IsSM, ASK_SM_… to ports that do;
 * NEWS_… limits the sweeps that their answers begin.  STRANGERS_… limits how often claims from
 * ports outside the fabric have all switches asked for changes, and CONTROLS_… the discoveries that
 * controls begin.
 */
#define CLAIMS		32	/* ports with a remembered time of the last question */
#define CLAIM_US	1000000
#define ASK_BURST	8
#define ASK_EACH_US	200000
#define ASK_SM_BURST	32
#define ASK_SM_EACH_US	20000
#define NEWS_BURST	8
#define NEWS_EACH_US	5000000
#define STRANGERS_BURST	2
#define STRANGERS_EACH_US	10000000
#define CONTROLS_BURST	6
#define CONTROLS_EACH_US	10000000
#define JUDGED_MAX	4 /* controls whose senders are being asked; further ones are answered BUSY */
#define NUDGE_US	2000	/* least time between nudges of a master */
#define ALIVE_US	100000	/* how often the loop turns */
#define PAUSE_MIN_US	300000	/* shortest pause of the loop that is worth asking the other SMs */
#define SHOWN		16		/* managers with a remembered time at which they showed the SM_Key, */
#define SHOWN_US	60000000	/* and how long such a time counts */

enum { OFF_M_KEY = 24, OFF_DATA = 64 };	/* offsets in an SMP */
enum { OFF_NUDGE = 32 };	/* offset in the data, beyond SMInfo's fields: 1 is a nudge */

static struct log_ratelimit smp_log = LOG_RATELIMIT;
static struct log_ratelimit other_log = LOG_RATELIMIT;
static struct log_ratelimit heard_log = LOG_RATELIMIT;
static struct log_ratelimit control_log = LOG_RATELIMIT;
static struct log_ratelimit claim_log = LOG_RATELIMIT;

/* Another SM, and the directed route to it. */
struct peer {
	struct sm_info info;
	uint8_t route[UMAD_SMP_MAX_HOPS];
	uint8_t hops, last_hop;
	uint64_t m_key;			/* M_Key of its port, so that it tells us its SM_Key */
	bool tells_key;			/* it tells the SM_Key itself, so it learns nothing from ours */
};

struct election {
	VEC(struct peer) peers;		/* of the last election */
	VEC(struct peer) heard;		/* of the running election */
	uint32_t round;			/* number of the election: answers to earlier ones are ignored */
	uint32_t to_ask;		/* outstanding answers */
	/* GUIDs that did not answer in the last and in this election: asked once only */
	VEC(uint64_t) silent, silent_now;
	uint32_t other_managers;		/* SMs with another SM_Key, at the last election */
	uint64_t nonce;			/* of the last proof that we sent */

	/* standing by */
	struct peer master;		/* guid 0: none */
	unsigned unanswered;		/* consecutive polls without an answer */
	int64_t idle_since_us;		/* since when it answers without being master; 0: it is master */
	int64_t busy_since_us;		/* since when it hands over while we are not ready; 0: not so */
	unsigned judging;		/* senders of controls that are being asked */
	uint64_t silent_master;	/* GUID of a master that did not answer, until we are elected */

	/* master */
	struct peer successor;		/* the SM to which we are handing over */
	uint64_t refused_by;		/* GUID of an SM that refused a handover */
	unsigned refusals;
	int64_t next_handover_us;
	uint64_t awaited;		/* GUID of a lesser master that should hand over */
	int64_t await_until_us;
	int64_t followed_us;		/* since when we follow the master */
	int64_t nudged_us;		/* time of the last nudge that was acted on */
	int64_t alive_us;		/* when the loop last turned */
	uint32_t checks;		/* outstanding answers after a pause */
	/* Claims of others in requests for our SMInfo, and what they began. */
	struct {
		uint64_t guid;
		int64_t asked_us;
	} claims[CLAIMS];
	struct bucket ask, ask_sm, news, strangers, controls;
	struct {
		uint64_t guid;
		int64_t when_us;
	} shown[SHOWN];			/* managers that showed the SM_Key at their place */
	uint64_t introduced;		/* GUID of a standby that we looked for after it had polled us */
	struct timer *alive, *again;
	struct question *questions;	/* unanswered; freed by us, also at the end */
};

/* A Get(SMInfo) under way. */
struct question {
	struct sm *sm;
	struct peer peer;		/* its guid: the SM that is expected there */
	uint64_t asked, nonce;		/* that GUID, and the nonce that the proof in the answer must have */
	uint32_t node;
	uint32_t round;
	struct question *next, **link;	/* in the list of unanswered questions */
};

void sm_info_get(const uint8_t data[64], struct sm_info *i)
{
	void *d = (void *)(uintptr_t)data;	/* libibmad only reads */

	i->guid = mad_get_field64(d, 0, IB_SMINFO_GUID_F);
	i->key = mad_get_field64(d, 0, IB_SMINFO_KEY_F);
	i->act_count = mad_get_field(d, 0, IB_SMINFO_ACT_F);
	i->priority = (uint8_t)mad_get_field(d, 0, IB_SMINFO_PRIO_F);
	i->state = (uint8_t)mad_get_field(d, 0, IB_SMINFO_STATE_F);
}

static struct sm_info ourselves(const struct sm *sm)
{
	return (struct sm_info){
		.guid = mad_info(sm->mad)->guid, .key = sm->settings->sm_key,
		.act_count = sm->act_count, .priority = sm->priority,
		.state = (uint8_t)(sm->own_port_checked ? sm->state : SM_NOT_ACTIVE),
	};
}

void sm_info_say(struct sm *sm, uint8_t data[64])
{
	struct sm_info us;

	sm->act_count++;
	us = ourselves(sm);
	memset(data, 0, 64);
	mad_set_field64(data, 0, IB_SMINFO_GUID_F, us.guid);
	mad_set_field(data, 0, IB_SMINFO_ACT_F, us.act_count);
	mad_set_field(data, 0, IB_SMINFO_PRIO_F, us.priority);
	mad_set_field(data, 0, IB_SMINFO_STATE_F, us.state);
}

/* Adds the SM_Key, for SMs that may see it: without it OpenSM regards us as a stranger (14.4.7). */
static void sm_key_put(const struct sm *sm, uint8_t *data)
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

/*
 * Takes the answer of the SM that is expected at a port.  An SM that proves to have the SM_Key
 * counts as one that tells it.  False: the answer has another GUID, so nothing of it is believed.
 */
static bool take_info(const struct sm *sm, struct question *q, const struct smp *s)
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

/* --- actions of the state machine --- */

static void poll_start(struct sm *sm)
{
	sm->election->unanswered = 0;
	sm->election->idle_since_us = 0;
	timer_set(sm->standby.poll, 0, sm->settings->poll_interval_ms * 1000ll);
}

/* False: the input is not legal in this state, and nothing happens. */
static bool step(struct sm *sm, enum sm_input input, const char *why)
{
	struct sm_transition t = sm_transition(sm->state, input);
	bool stood_by = sm->state == SM_STANDBY;

	if (!t.legal)
		return false;
	if (t.actions & DO_STOP_POLLING)
		timer_stop(sm->standby.poll);
	if (t.next == SM_MASTER || t.next == SM_DISCOVERING) {
		sm->standby.master_guid = 0;
		sm->election->awaited = 0;
	}
	sm_set_state(sm, t.next);
	if (t.next == SM_MASTER && !timer_active(sm->election->alive)) {
		sm->election->alive_us = clock_mono_us();
		timer_set(sm->election->alive, ALIVE_US, ALIVE_US);
	}
	if (t.actions & DO_ABANDON && sweep_runs(sm))
		sweep_lost(sm);
	if (t.actions & DO_POLL)
		poll_start(sm);
	if (t.actions & DO_CONFIGURE)
		sweep_step_done(sm, RESULT_DONE);
	if (t.actions & DO_SWEEP) {
		if (sweep_runs(sm) && !sweep_is(sm)->writes)
			sweep_cleanup(sm, false);	/* it is not the sweep that is needed now */
		/*
		 * a master knows better than the copy; and a copy that is no good now will not be
		 * good later
		 */
		if (!stood_by || !takeover_start(sm, why))
			takeover_forget(sm);
		sm_standby_copy_is_old(sm);
		sm_want_sweep(sm, SWEEP_FULL, why);
	}
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

static void question_free(struct question *q)
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

static void send_data(struct sm *sm, const struct peer *p, struct smp s,
		      void (*fn)(void *arg, const struct smp *s, int status))
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

static void send_to(struct sm *sm, const struct peer *p, uint8_t method, uint32_t mod,
		    bool once, void (*fn)(void *arg, const struct smp *s, int status))
{
	struct smp s = { .method = method, .attr = UMAD_SM_ATTR_SM_INFO, .mod = mod, .once = once };

	sm_info_say(sm, s.data);
	if (method == SMP_SET && p->tells_key)
		sm_key_put(sm, s.data);
	send_data(sm, p, s, fn);
}

/* Follows another master: clients belong to it, unless we learn what they registered there. */
static void take_as_master(struct sm *sm, const struct peer *p)
{
	sm->election->master = *p;
	sm->election->busy_since_us = 0;
	sm->standby.master_guid = p->info.guid;
	sm->standby.master_priority = p->info.priority;
	sm_registrations_not_to_be_had(sm);	/* from the master before */
	sm->clients.unknown = true;
	sm->election->followed_us = clock_mono_us();
}

/* --- as a step of a sweep: which SMs are there --- */

/* The strongest verdict on all SMs that answered; *who: the SM that the verdict is about. */
static enum sm_verdict verdict(struct sm *sm, const struct peer **who)
{
	struct election *e = sm->election;
	struct sm_info us = ourselves(sm);
	enum sm_verdict v = SM_NO_MATTER;

	e->other_managers = 0;
	*who = NULL;
	for (const struct peer *p = e->heard.v; p < vec_end(&e->heard); p++) {
		enum sm_verdict x = sm_judge(&us, &p->info);

		if (x == SM_OTHER_KEY) {
			e->other_managers++;
			log_limited(&other_log, LOG_LEVEL_ERROR, "election",
				    "SM 0x%016" PRIx64 " (%s, priority %u) %s: ignored",
				    p->info.guid, sm_state_name((enum sm_state)p->info.state),
				    p->info.priority, p->info.key ? "has another SM_Key" :
				    "does not send our SM_Key: its sm-key or m-key differs");
		}
		if (x > v || (x == v && *who && sm_comes_first(x, &p->info, &(*who)->info))) {
			v = x;
			*who = p;
		}
	}
	return v;
}

/* The sweep that asked still waits for this election. */
static bool is_of_this_round(const struct sm *sm, uint32_t round)
{
	return sm->sweep.phase == PHASE_ELECTION && round == sm->election->round;
}

static void on_look_again(void *arg)
{
	sm_want_sweep(arg, SWEEP_CHANGE, "handover with another SM");
}

static void handover_failed(struct sm *sm, int status)
{
	struct election *e = sm->election;
	uint64_t guid = e->successor.info.guid;

	e->refusals = guid == e->refused_by ? e->refusals + 1 : 1;
	e->refused_by = guid;
	if (e->refusals >= HANDOVER_TRIES) {
		log_error("election", "SM 0x%016" PRIx64 " has precedence but does not accept the handover "
			  "(%d): giving up, staying master", guid, status);
		e->next_handover_us = INT64_MAX;
		return;
	}
	log_warn("election", "SM 0x%016" PRIx64 " does not accept the handover (%d); trying again in %u s",
		 guid, status, 1u << e->refusals);
	e->next_handover_us = clock_mono_us() + (1000000ll << e->refusals);
	timer_set(e->again, 1000000ll << e->refusals, 0);
}

/* The other SM takes over now; if it could not be told, the subnet is still ours. */
static void on_handed_over(void *arg, const struct smp *s, int status)
{
	struct question *q = arg;
	struct sm *sm = q->sm;
	uint32_t round = q->round;

	(void)s;
	question_free(q);
	/* the other may have acknowledged before it answered */
	if (sm->state != SM_MASTER || !is_of_this_round(sm, round))
		return;
	if (status) {
		handover_failed(sm, status);
		step(sm, IN_WON, NULL);
		return;
	}
	sm->election->refused_by = 0;
	take_as_master(sm, &sm->election->successor);
	step(sm, IN_HANDED_OVER, NULL);
}

/* As master, gives way to a better SM (14.4.1.2). */
static void hand_over(struct sm *sm, const struct peer *p)
{
	struct election *e = sm->election;

	if (p->info.guid == e->refused_by && clock_mono_us() < e->next_handover_us) {
		step(sm, IN_WON, NULL);
		return;
	}
	log_info("election", "handing over to SM 0x%016" PRIx64, p->info.guid);
	e->successor = *p;
	send_to(sm, p, SMP_SET, CTRL_HANDOVER, false, on_handed_over);
}

/* Writes nothing for a while, until a lesser master has handed over its part. */
static void await(struct sm *sm, const struct peer *p)
{
	struct election *e = sm->election;
	int64_t now = clock_mono_us();

	if (p->info.guid != e->awaited) {
		log_info("election", "SM 0x%016" PRIx64 " is master as well; waiting for its handover",
			 p->info.guid);
		e->awaited = p->info.guid;
		e->await_until_us = now + AWAIT_US;
	}
	if (now >= e->await_until_us) {
		log_limited(&smp_log, LOG_LEVEL_WARNING, "election",
			    "SM 0x%016" PRIx64 " does not hand over: there are two masters",
			    p->info.guid);
		sweep_step_done(sm, RESULT_DONE);
		return;
	}
	sweep_step_done(sm, RESULT_LOST);
	timer_set(e->again, AWAIT_LOOK_US, 0);
}

static bool was_seen(const struct peer *list, size_t n, uint64_t guid)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].info.guid == guid)
			return true;
	return false;
}

static void tell_seen(struct sm *sm, enum event_kind kind, const struct sm_info *i)
{
	struct event e;
	const char *state = sm_state_name((enum sm_state)i->state);

	event_make(&e, kind, kind == EVENT_SM_SEEN ?
		   "found another subnet manager, 0x%016" PRIx64 ", priority %u: %s" :
		   "the subnet manager 0x%016" PRIx64 ", priority %u, is gone; it was %s", i->guid,
		   i->priority, state);
	event_guid(&e, "guid", i->guid);
	event_number(&e, "priority", i->priority);
	event_text(&e, "state", "%s", state);
	sm_tell(sm, &e);
}

/* Reports SMs that came or went since the last election. */
static void tell_others(struct sm *sm)
{
	const struct election *e = sm->election;

	for (size_t i = 0; i < e->heard.n; i++)
		if (!was_seen(e->peers.v, e->peers.n, e->heard.v[i].info.guid))
			tell_seen(sm, EVENT_SM_SEEN, &e->heard.v[i].info);
	for (size_t i = 0; i < e->peers.n; i++)
		if (!was_seen(e->heard.v, e->heard.n, e->peers.v[i].info.guid))
			tell_seen(sm, EVENT_SM_GONE, &e->peers.v[i].info);
}

static void asked_all(struct sm *sm)
{
	struct election *e = sm->election;
	const struct peer *who;
	enum sm_verdict v = verdict(sm, &who);
	struct peer p = who ? *who : (struct peer){ 0 };

	tell_others(sm);
	vec_free(&e->peers);
	e->peers.v = e->heard.v;
	e->peers.n = e->heard.n;
	e->peers.cap = e->heard.cap;
	memset(&e->heard, 0, sizeof(e->heard));
	vec_free(&e->silent);
	e->silent.v = e->silent_now.v;
	e->silent.n = e->silent_now.n;
	e->silent.cap = e->silent_now.cap;
	memset(&e->silent_now, 0, sizeof(e->silent_now));
	if (!sweep_is(sm)->by_copy)	/* after a takeover the next sweep comes at once */
		e->silent_master = 0;
	switch (v) {
	case SM_STAND_BY:
		take_as_master(sm, &p);
		step(sm, IN_LOST, NULL);
		break;
	case SM_HAND_OVER:
		hand_over(sm, &p);
		break;
	case SM_AWAIT:
		await(sm, &p);
		break;
	case SM_OTHER_KEY:
	case SM_NO_MATTER:
		e->refused_by = 0;
		if (!step(sm, IN_WON, NULL))
			sweep_step_done(sm, RESULT_LOST);
		break;
	}
}

static void on_answer(void *arg, const struct smp *s, int status)
{
	struct question *q = arg;
	struct sm *sm = q->sm;
	const char *desc;

	if (!is_of_this_round(sm, q->round)) {
		question_free(q);
		return;
	}
	desc = fabric_node_desc(sm->sweep.f, &sm->sweep.f->nodes[q->node]);
	if (status == 0 && take_info(sm, q, s)) {
		log_limited(&heard_log, LOG_LEVEL_INFO, "election",
			    "SM 0x%016" PRIx64 " at %s: %s, priority %u", q->peer.info.guid,
			    desc, sm_state_name((enum sm_state)q->peer.info.state),
			    q->peer.info.priority);
		if (q->peer.info.guid != mad_info(sm->mad)->guid)
			*vec_push(&sm->election->heard) = q->peer;
	} else {
		log_debug("election", "the SM at %s does not answer", desc);
		*vec_push(&sm->election->silent_now) = q->asked;
	}
	question_free(q);
	if (--sm->election->to_ask == 0)
		asked_all(sm);
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

static bool ask_port(struct sm *sm, const struct fabric *f, uint32_t port,
		     void (*fn)(void *arg, const struct smp *s, int status))
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

static bool ask(struct sm *sm, uint32_t port)
{
	/* what a takeover writes does no harm, and the sweep after it asks all */
	if (sweep_is(sm)->by_copy && sm->sweep.f->ports[port].guid == sm->election->silent_master)
		return false;
	return ask_port(sm, sm->sweep.f, port, on_answer);
}

static bool says_sm(const struct fabric *f, uint32_t port)
{
	return port_is_end(f, port) && port != f->self && (f->ports[port].capmask & IB_CAP_IS_SM);
}

enum step_result election_start(struct sm *sm)
{
	struct election *e = sm->election;

	/* a probe knows whether an SM is new */
	if (sm->sweep.touched && !sm->wishes.election && !sweep_sms_changed(sm))
		return RESULT_DONE;
	sm->wishes.election = false;
	vec_free(&e->heard);
	vec_free(&e->silent_now);
	e->round++;
	e->to_ask = 1;	/* kept above 0 until all are asked */
	for (uint32_t p = 0; p < sm->sweep.f->n_ports; p++)
		if (says_sm(sm->sweep.f, p) && ask(sm, p))
			e->to_ask++;
	if (--e->to_ask == 0)
		asked_all(sm);
	return RESULT_WAIT;
}

static bool is_known(const struct election *e, uint64_t guid)
{
	return was_seen(e->peers.v, e->peers.n, guid);
}

static void on_late_answer(void *arg, const struct smp *s, int status)
{
	struct question *q = arg;
	struct sm *sm = q->sm;

	if (!status && sm->state == SM_MASTER && take_info(sm, q, s) &&
	    !is_known(sm->election, q->asked))
		sm_want_sweep(sm, SWEEP_CHANGE, "another subnet manager has appeared");
	question_free(q);
}

/* Updates a known SM's state; an election takes care of the rest. */
static void update_peer(struct sm *sm, const struct sm_info *i)
{
	struct election *e = sm->election;

	for (size_t k = 0; k < e->peers.n; k++) {
		struct sm_info *had = &e->peers.v[k].info;
		bool told = had->state != i->state &&
			    (had->state == SM_NOT_ACTIVE || i->state == SM_NOT_ACTIVE);

		if (had->guid != i->guid)
			continue;
		had->priority = i->priority;
		had->act_count = i->act_count;
		had->state = i->state;
		if (told && i->state == SM_NOT_ACTIVE)
			log_warn("election", "disabled SM 0x%016" PRIx64 ": it is no longer "
				 "standby", i->guid);
		if (told)
			tell_seen(sm, EVENT_SM_SEEN, i);
	}
}

static void on_looked_after(void *arg, const struct smp *s, int status)
{
	struct question *q = arg;
	struct sm_info us = ourselves(q->sm);

	if (!status && take_info(q->sm, q, s) && !sm_has_other_key(&us, &q->peer.info))
		update_peer(q->sm, &q->peer.info);
	question_free(q);
}

void election_ask_silent(struct sm *sm)
{
	const struct election *e = sm->election;
	const struct fabric *f = sm->published->f;

	for (size_t i = 0; i < e->silent.n; i++) {
		uint32_t port = fabric_find_port(f, e->silent.v[i]);

		if (port != FABRIC_NONE && says_sm(f, port))
			ask_port(sm, f, port, on_late_answer);
	}
	for (size_t i = 0; i < e->peers.n; i++)
		send_to(sm, &e->peers.v[i], SMP_GET, 0, true, on_looked_after);
}

bool sm_seen_at(const struct sm *sm, uint32_t i, struct sm_seen *out)
{
	const struct election *e = sm->election;
	struct sm_info x = ourselves(sm);

	if (i > e->peers.n)
		return false;
	if (i)
		x = e->peers.v[i - 1].info;
	*out = (struct sm_seen){ x.guid, x.act_count, x.priority, (enum sm_state)x.state };
	return true;
}

uint32_t election_other_managers(const struct sm *sm)
{
	return sm->election->other_managers;
}

void sm_set_priority(struct sm *sm, uint8_t priority)
{
	if (priority == sm->priority)
		return;
	log_info("election", "priority %u (was %u)", priority, sm->priority);
	sm->priority = priority;
	sm->election->refused_by = 0;
	/* a standby says so in its next poll */
	if (sm->state == SM_MASTER)
		sm_want_sweep(sm, SWEEP_CHANGE, "another priority");
}

/* --- standing by --- */

static void master_is_gone(struct sm *sm, const char *why)
{
	log_warn("election", "master SM 0x%016" PRIx64 " %s", sm->standby.master_guid, why);
	step(sm, IN_MASTER_GONE, "the master is gone");
}

static void on_poll_answer(void *arg, const struct smp *s, int status)
{
	struct question *q = arg;
	struct sm *sm = q->sm;
	struct election *e = sm->election;
	uint64_t asked = q->asked;
	struct sm_info i, us = ourselves(sm);
	int64_t now = clock_mono_us();
	bool is_it = !status && take_info(sm, q, s), tells_key = q->peer.tells_key;

	i = q->peer.info;
	question_free(q);
	/* lost polls are counted when the next one is sent */
	if (status || asked != e->master.info.guid)
		return;
	if (sm->state == SM_NOT_ACTIVE) {
		e->unanswered = 0;
		sm->standby.master_guid = is_it && i.state == SM_MASTER && !sm_has_other_key(&us, &i) ? asked : 0;
		return;
	}
	if (sm->state != SM_STANDBY || asked != sm->standby.master_guid)
		return;
	e->unanswered = 0;
	e->master.tells_key = tells_key;
	if (!is_it)
		master_is_gone(sm, "was replaced");
	else if (sm_has_other_key(&us, &i))
		master_is_gone(sm, "has another SM_Key now");
	else if (i.state == SM_NOT_ACTIVE)
		master_is_gone(sm, "is no longer active");
	else if (i.state != SM_MASTER && !e->idle_since_us)
		e->idle_since_us = now;
	else if (i.state != SM_MASTER &&
		 now - e->idle_since_us > (i.state == SM_STANDBY ? STANDBY_US : IDLE_US))
		master_is_gone(sm, "is not master");
	else if (i.state == SM_MASTER) {
		e->idle_since_us = 0;
		sm->standby.master_priority = i.priority;
		if (sm->sweep.planning)
			return;		/* a worker is reading what the hook may change */
		if (sm->hooks.master_alive)
			sm->hooks.master_alive(sm->hooks.arg);
		takeover_look(sm);
	}
}

void election_on_poll(void *arg)
{
	struct sm *sm = arg;
	struct election *e = sm->election;

	if (sm->state == SM_NOT_ACTIVE && e->unanswered > sm->settings->poll_retries) {
		/* 14.4.1: only a control or this host's operator ends that state */
		if (sm->standby.master_guid)
			log_error("election", "the master SM 0x%016" PRIx64 " is gone, but this one was "
				  "disabled: 'qosd-ctl sweep' makes it active again",
				  sm->standby.master_guid);
		sm->standby.master_guid = 0;
	} else if (sm->state != SM_STANDBY && sm->state != SM_NOT_ACTIVE) {
		return;
	} else if (e->unanswered > sm->settings->poll_retries) {
		/* otherwise the election would wait for it once more */
		e->silent_master = sm->standby.master_guid;
		master_is_gone(sm, "does not answer");
		return;
	}
	e->unanswered++;
	send_to(sm, &e->master, SMP_GET, 0, true, on_poll_answer);
}

/* --- a master that did not run for a while --- */

/* Half the time that a standby with our settings waits before it takes over. */
static int64_t patience_us(const struct settings *s)
{
	int64_t us = s->poll_interval_ms * 1000ll * (s->poll_retries + 1) / 2;

	return us < PAUSE_MIN_US ? PAUSE_MIN_US : us;
}

bool sm_is_asking(const struct sm *sm)
{
	const struct election *e = sm->election;

	return e->checks || (sm->state == SM_MASTER && e->peers.n &&
			     clock_mono_us() - e->alive_us >= patience_us(sm->settings));
}

int64_t sm_ran_us(const struct sm *sm)
{
	return sm->election->alive_us;
}

static void permit(struct sm *sm)
{
	mad_permit_sets(sm->mad, sm->state == SM_MASTER && sm->election->peers.n ?
				 clock_mono_us() + patience_us(sm->settings) : INT64_MAX);
}

static void on_check_answer(void *arg, const struct smp *s, int status)
{
	struct question *q = arg;
	struct sm *sm = q->sm;
	struct sm_info us = ourselves(sm);

	if (status == 0 && sm->state == SM_MASTER && take_info(sm, q, s) &&
	    q->peer.info.state == SM_MASTER && q->peer.info.guid != us.guid &&
	    !sm_has_other_key(&us, &q->peer.info)) {
		log_warn("election", "SM 0x%016" PRIx64 " has become master meanwhile",
			 q->peer.info.guid);
		take_as_master(sm, &q->peer);
		step(sm, IN_DEPOSED, NULL);
	}
	question_free(q);
	if (--sm->election->checks)
		return;
	permit(sm);
	/* an SM that took over may be gone again, or not answer: the switches know */
	if (sm->state == SM_MASTER)
		sm_look(sm);
}

static void on_alive(void *arg)
{
	struct sm *sm = arg;
	struct election *e = sm->election;
	int64_t now = clock_mono_us(), pause = now - e->alive_us;

	e->alive_us = now;
	if (e->checks)
		return;
	if (sm->state != SM_MASTER) {
		timer_stop(e->alive);
		permit(sm);
		return;
	}
	if (pause < patience_us(sm->settings) || !e->peers.n) {
		permit(sm);
		return;
	}
	log_warn("election", "the daemon was stopped for %.1f s: checking whether another SM has become "
			"master",
		 (double)pause * 1e-6);
	e->checks = (uint32_t)e->peers.n;
	for (size_t i = 0; i < e->peers.n; i++)
		send_to(sm, &e->peers.v[i], SMP_GET, 0, true, on_check_answer);
}

/* --- answering --- */

/* What an answer reveals of the SM_Key. */
enum telling { TELL_NOTHING, TELL_PROOF, TELL_KEY };

/* Decides by what the request shows, or its sender has shown lately. */
static enum telling telling(const struct sm *sm, const struct mad_in *in)
{
	const uint8_t *data = in->mad + OFF_DATA;
	uint64_t m_key = get_be64(in->mad + OFF_M_KEY);
	struct sm_info other;

	sm_info_get(data, &other);
	/* 0 may be among the earlier keys, and shows nothing */
	if ((mkey_ours(sm) && m_key && mkey_is_known(sm, m_key)) || callers_knows(sm, in))
		return TELL_KEY;
	return proof_holds(data, sm->settings->sm_key, PROOF_GET, other.guid,
			   mad_info(sm->mad)->guid) ? TELL_PROOF : TELL_NOTHING;
}

static void answer(struct sm *sm, const struct mad_in *in, uint16_t status, enum telling how)
{
	uint8_t mad[256], *data = mad + OFF_DATA;
	bool directed = in->mgmt_class == UMAD_CLASS_SUBN_DIRECTED_ROUTE;
	uint64_t other = get_be64(in->mad + OFF_DATA), nonce = proof_nonce(in->mad + OFF_DATA);

	memcpy(mad, in->mad, sizeof(mad));
	mad[3] = UMAD_METHOD_GET_RESP;
	put_be16(mad + 4, (uint16_t)(status | (directed ? 0x8000 : 0)));
	if (get_be16(mad + 16) == UMAD_SM_ATTR_SM_INFO) {
		sm_info_say(sm, data);
		if (how == TELL_KEY)
			sm_key_put(sm, data);
		if (how == TELL_PROOF)
			proof_put(data, sm->settings->sm_key, PROOF_ANSWER,
				  mad_info(sm->mad)->guid, other, nonce);
	}
	mad_reply(sm->mad, in, mad, sizeof(mad));
}

static void on_acknowledged(void *arg, const struct smp *s, int status)
{
	struct question *q = arg;

	(void)s;
	if (status)
		log_debug("election", "SM 0x%016" PRIx64 " did not accept the ACKNOWLEDGE (%d)",
			  q->peer.info.guid, status);
	question_free(q);
}

/* The route to the SM with that GUID; NULL: unknown. */
static const struct peer *peer_of(const struct election *e, uint64_t guid)
{
	if (e->master.info.guid == guid)
		return &e->master;
	for (size_t i = 0; i < e->peers.n; i++)
		if (e->peers.v[i].info.guid == guid)
			return &e->peers.v[i];
	return NULL;
}

/* Acknowledges a handover if the route to the SM is known; it is a courtesy (14.4.1.2). */
static void acknowledge(struct sm *sm, uint64_t guid)
{
	const struct peer *p = peer_of(sm->election, guid);

	if (p)
		send_to(sm, p, SMP_SET, CTRL_ACKNOWLEDGE, false, on_acknowledged);
}

/* The hook asks no more than after a poll.  A nudge does not show that the master runs. */
static void nudged(struct sm *sm)
{
	int64_t now = clock_mono_us();

	if (sm->sweep.planning || !sm->hooks.master_alive ||
	    now - sm->election->nudged_us < NUDGE_US)
		return;
	sm->election->nudged_us = now;
	sm->hooks.master_alive(sm->hooks.arg);
}

/*
 * For a master, what another SM reports of itself is news if that SM ranks above it or is master,
 * too; or if it is a standby that must be asked after we did not run for a while.
 */
static bool is_news(const struct sm *sm, const struct sm_info *other, int64_t now)
{
	const struct election *e = sm->election;
	struct sm_info us = ourselves(sm);

	switch (sm_judge(&us, other)) {
	case SM_AWAIT:
		return !sweep_runs(sm) && other->guid != e->awaited;
	case SM_HAND_OVER:
		return !sweep_runs(sm) &&
		       !(other->guid == e->refused_by && now < e->next_handover_us);
	case SM_OTHER_KEY:
		return !is_known(e, other->guid);
	default:
		return other->guid != us.guid && other->state == SM_STANDBY &&
		       other->guid != e->introduced && !is_known(e, other->guid);
	}
}

/* Takes the answer of a port that was claimed to have a subnet manager. */
static void on_claimant(void *arg, const struct smp *s, int status)
{
	struct question *q = arg;
	struct sm *sm = q->sm;
	struct election *e = sm->election;
	uint64_t guid = q->asked;
	int64_t now = clock_mono_us();
	bool is_it = !status && take_info(sm, q, s);
	struct sm_info other = q->peer.info;
	uint32_t port;

	question_free(q);
	if (!is_it || sm->state != SM_MASTER || !sm->published)
		return;
	port = fabric_find_port(sm->published->f, guid);
	if (port == FABRIC_NONE || !is_news(sm, &other, now) ||
	    !bucket_take(&e->news, NEWS_BURST, NEWS_EACH_US, now))
		return;
	if (other.state == SM_STANDBY)
		e->introduced = guid;
	/* an election is needed; and it may be new that its port says IsSM */
	sm_suspect(sm, &(struct suspect){ .guid = port_node(sm->published->f, port)->guid,
					  .changed = true, .unasked = true });
	sm->wishes.election = true;
	sm_want_sweep(sm, SWEEP_LOCAL, other.state == SM_MASTER ? "another SM is master as well" :
				       "another SM is standby");
}

/* False: the port was asked a moment ago. */
static bool may_ask_again(struct election *e, uint64_t guid, int64_t now)
{
	unsigned oldest = 0;

	for (unsigned i = 0; i < CLAIMS; i++) {
		if (e->claims[i].guid == guid && now - e->claims[i].asked_us < CLAIM_US)
			return false;
		if (e->claims[i].guid == guid || e->claims[i].asked_us < e->claims[oldest].asked_us)
			oldest = i;
		if (e->claims[i].guid == guid)
			break;
	}
	e->claims[oldest].guid = guid;
	e->claims[oldest].asked_us = now;
	return true;
}

/* Asks the port with the GUID whether it has a subnet manager. */
static void ask_claimant(struct sm *sm, uint64_t guid, int64_t now)
{
	struct election *e = sm->election;
	const struct fabric *f = sm->published->f;
	uint32_t port = fabric_find_port(f, guid);

	if (port == FABRIC_NONE || !port_is_end(f, port)) {
		/* if it exists, a link has come up without a report: the switches know */
		if (bucket_take(&e->strangers, STRANGERS_BURST, STRANGERS_EACH_US, now))
			sm_look(sm);
		return;
	}
	if (!may_ask_again(e, guid, now))
		return;
	if (says_sm(f, port) ? bucket_take(&e->ask_sm, ASK_SM_BURST, ASK_SM_EACH_US, now) :
			       bucket_take(&e->ask, ASK_BURST, ASK_EACH_US, now))
		ask_port(sm, f, port, on_claimant);
}

uint64_t sm_master(const struct sm *sm)
{
	return sm->standby.master_guid;
}

bool sm_is_manager(struct sm *sm, uint64_t guid)
{
	struct election *e = sm->election;
	struct sm_info us = ourselves(sm);
	int64_t now = clock_mono_us();

	for (size_t i = 0; i < e->peers.n; i++)
		if (e->peers.v[i].info.guid == guid && !sm_has_other_key(&us, &e->peers.v[i].info))
			return true;
	for (unsigned i = 0; i < SHOWN; i++)
		if (e->shown[i].guid == guid && now - e->shown[i].when_us < SHOWN_US)
			return true;
	if (sm->state == SM_MASTER && sm->published)
		ask_claimant(sm, guid, now);
	return false;
}

/* Takes the sender's own SMInfo from a request for ours; the sender has shown a key. */
static void hint(struct sm *sm, const uint8_t *data)
{
	struct sm_info other, us = ourselves(sm);
	int64_t now = clock_mono_us();

	sm_info_get(data, &other);
	if (data[OFF_NUDGE] == 1 && sm->state == SM_STANDBY &&
	    other.guid == sm->standby.master_guid) {
		nudged(sm);
		return;
	}
	other.key = us.key;	/* requests do not contain it; the question that follows asks for it */
	if (sm->state == SM_MASTER && other.state == SM_NOT_ACTIVE)
		update_peer(sm, &other);
	if (sm->state == SM_MASTER && sm->published && other.guid && other.guid != us.guid &&
	    is_news(sm, &other, now))
		ask_claimant(sm, other.guid, now);
}

static void control(struct sm *sm, enum sm_input input, const struct sm_info *from)
{
	struct election *e = sm->election;

	if (input == IN_ACKNOWLEDGE && sm->state == SM_MASTER &&
	    sm->sweep.phase == PHASE_ELECTION &&
	    from->guid == e->successor.info.guid) {
		e->refused_by = 0;
		take_as_master(sm, &e->successor);
		step(sm, IN_HANDED_OVER, NULL);
		return;
	}
	/*
	 * the ACKNOWLEDGE reports STANDBY or MASTER, and OpenSM expects STANDBY: so it goes before
	 * the step
	 */
	if (sm_transition(sm->state, input).actions & DO_ACKNOWLEDGE)
		acknowledge(sm, from->guid);
	if (input == IN_HANDOVER && e->awaited == from->guid)
		e->awaited = 0;
	step(sm, input, input == IN_HANDOVER ? "handover" : "another SM requested discovery");
}

bool sm_registrations_unknown(const struct sm *sm)
{
	return sm->clients.unknown &&
	       clock_mono_us() - sm->election->followed_us < ASK_US;
}

/*
 * A handover comes too early while the registrations of the master's clients are on their way to
 * us: after a moment nothing is lost.  A master that tells the SM_Key itself is no qosd, and has
 * nothing for us. OpenSM stands by as soon as it has sent HANDOVER, though 14.4.1 has it wait for
 * ACKNOWLEDGE: if we put that off, nobody would be master.
 */
static bool is_too_early(struct sm *sm, const struct sm_info *from)
{
	struct election *e = sm->election;
	int64_t now = clock_mono_us();

	/* we may be master no longer, and have nothing of what the other has */
	if (sm_is_asking(sm))
		return true;
	if (sm->state != SM_STANDBY || (from->key && from->key == ourselves(sm).key))
		return false;
	if (sm_registrations_unknown(sm))
		return true;
	if (!sm->clients.coming)
		return false;
	if (!e->busy_since_us)
		e->busy_since_us = now;
	return now - e->busy_since_us < BUSY_US;
}

static void on_nudged(void *arg, const struct smp *s, int status)
{
	(void)s;
	(void)status;	/* it polls anyway */
	question_free(arg);
}

void sm_nudge(struct sm *sm)
{
	for (size_t i = 0; sm->state == SM_MASTER && i < sm->election->peers.n; i++) {
		struct smp s = { .method = SMP_GET, .attr = UMAD_SM_ATTR_SM_INFO, .once = true };

		sm_info_say(sm, s.data);
		s.data[OFF_NUDGE] = 1;
		send_data(sm, &sm->election->peers.v[i], s, on_nudged);
	}
}

/* Limits controls that cause a discovery; an awaited handover is always obeyed. */
static bool may_obey_again(struct sm *sm, enum sm_input input)
{
	if (!(sm_transition(sm->state, input).actions & DO_SWEEP) ||
	    (input == IN_HANDOVER && sm->state == SM_STANDBY))
		return true;
	return bucket_take(&sm->election->controls, CONTROLS_BURST, CONTROLS_EACH_US,
			   clock_mono_us());
}

static void refuse(struct sm *sm, const struct mad_in *in, const char *why)
{
	uint32_t mod = get_be32(in->mad + 20);
	struct sm_info from;

	sm_info_get(in->mad + OFF_DATA, &from);
	log_limited(&smp_log, LOG_LEVEL_WARNING, "election",
		    "SM 0x%016" PRIx64 " (%s) sent %s to a %s: refused: %s", from.guid,
		    sm_state_name((enum sm_state)from.state),
		    sm_control_name(mod) ? sm_control_name(mod) : "an unknown control",
		    sm_state_name(sm->state), why);
	answer(sm, in, IB_STATUS_BAD_VALUE, TELL_NOTHING);
}

/* Answers BUSY: the sender repeats the control. */
static void put_off(struct sm *sm, const struct mad_in *in)
{
	struct sm_info from;

	sm_info_get(in->mad + OFF_DATA, &from);
	log_limited(&smp_log, LOG_LEVEL_INFO, "election", "SM 0x%016" PRIx64 " sent %s too early",
		    from.guid, sm_control_name(get_be32(in->mad + 20)));
	answer(sm, in, IB_STATUS_BUSY, TELL_NOTHING);
}

/* Stands by again, for a master that we did not follow before. */
static void stand_by_for(struct sm *sm, const struct sm_info *from, const struct caller *who)
{
	const struct peer *known = peer_of(sm->election, from->guid);
	struct peer p = { .hops = who->route.hops, .last_hop = who->route.last_hop,
			  .m_key = who->route.m_key, .tells_key = who->tells_key };

	memcpy(p.route, who->route.route, who->route.hops);
	if (known)
		p = *known;
	p.info = *from;
	take_as_master(sm, &p);
}

/* Takes the result of asking a control's sender for its identity. */
static void on_controller(struct sm *sm, const struct mad_in *in, const struct caller *who)
{
	struct election *e = sm->election;
	uint32_t mod = get_be32(in->mad + 20);
	bool by_lid = in->mgmt_class == UMAD_CLASS_SUBN_LID_ROUTED;
	struct sm_info from, us = ourselves(sm);
	enum sm_input input;
	enum sm_state state;

	e->judging--;
	sm_info_get(in->mad + OFF_DATA, &from);
	input = sm_control_input(mod, from.state);
	state = (enum sm_state)(by_lid ? from.state : who->info.state);
	if (!who->is_there) {
		refuse(sm, in, by_lid ? "the sender has another LID" : "the sender's port is another "
		       "device's, or does not answer");
		return;
	}
	if (!by_lid && us.key && !who->tells_key && !who->proves_key) {
		refuse(sm, in, "the SM at the sender's port does not send our SM_Key");
		return;
	}
	/* our state may have changed meanwhile */
	if (!sm_transition(sm->state, input).legal ||
	    !sm_obeys(sm->state, input, from.guid, state, sm->standby.master_guid,
		      e->successor.info.guid)) {
		refuse(sm, in, "only our master may send it");
		return;
	}
	if (!may_obey_again(sm, input) || (input == IN_HANDOVER && is_too_early(sm, &from))) {
		put_off(sm, in);
		return;
	}
	log_limited(&control_log, LOG_LEVEL_INFO, "election", "SM 0x%016" PRIx64 " sent %s", from.guid,
		    sm_control_name(mod));
	answer(sm, in, IB_STATUS_OK, who->tells_key ? TELL_KEY : TELL_NOTHING);
	if (input == IN_STANDBY)
		stand_by_for(sm, &from, who);
	control(sm, input, &from);
}

/* Asks a control's sender for its identity.  False: it cannot be asked. */
static bool judge_controller(struct sm *sm, const struct mad_in *in, uint64_t guid)
{
	const struct peer *p = peer_of(sm->election, guid);

	if (in->mgmt_class == UMAD_CLASS_SUBN_DIRECTED_ROUTE)
		return callers_ask(sm, in, guid, on_controller);
	return p && callers_ask_lid(sm, in, &(struct smp){
		.route = p->route, .hops = p->hops, .last_hop = p->last_hop,
		.m_key = p->m_key }, on_controller);
}

/*
 * Takes a control that shows the SM_Key, and also the M_Key, if we have one, as any SubnSet() must
 * (14.2.4), and that is legal in our state: its sender is asked for its identity before the control
 * is obeyed.
 */
static void take_control(struct sm *sm, const struct mad_in *in)
{
	struct election *e = sm->election;
	uint32_t mod = get_be32(in->mad + 20);
	uint64_t m_key = get_be64(in->mad + OFF_M_KEY);
	struct sm_info from, us = ourselves(sm);
	enum sm_input input;

	sm_info_get(in->mad + OFF_DATA, &from);
	if (mkey_ours(sm) && !(m_key && mkey_is_known(sm, m_key))) {
		log_limited(&smp_log, LOG_LEVEL_WARNING, "election",
			    "SM 0x%016" PRIx64 ": ignored control %u without our M_Key", from.guid,
			    mod);
		return;
	}
	if (sm_has_other_key(&us, &from) &&
	    !proof_holds(in->mad + OFF_DATA, us.key, PROOF_CONTROL + mod, from.guid, us.guid)) {
		refuse(sm, in, "the sender does not send our SM_Key");
		return;
	}
	input = sm_control_input(mod, from.state);
	if (input == IN_COUNT || !sm_transition(sm->state, input).legal)
		refuse(sm, in, "the state table has no such transition");
	else if (sm->state != SM_NOT_ACTIVE &&
		 !sm_obeys(sm->state, input, from.guid, (enum sm_state)from.state,
			   sm->standby.master_guid,
			   e->successor.info.guid))
		refuse(sm, in, "only our master may send it");
	else if (e->judging >= JUDGED_MAX || (input == IN_HANDOVER && is_too_early(sm, &from)))
		put_off(sm, in);
	else if (judge_controller(sm, in, from.guid))
		e->judging++;
	else
		refuse(sm, in, "the sender's port is not known");
}

/* Answers a Get after its sender was asked for its own SM_Key. */
static void on_asker(struct sm *sm, const struct mad_in *in, const struct caller *who)
{
	answer(sm, in, IB_STATUS_OK, who->tells_key ? TELL_KEY : TELL_NOTHING);
}

static void take_get(struct sm *sm, const struct mad_in *in)
{
	enum telling how = telling(sm, in);

	/* until our own port is known to have no other SM, the sender is us */
	if (how == TELL_NOTHING && sm->own_port_checked && sm->settings->sm_key &&
	    callers_ask(sm, in, 0, on_asker))
		return;
	answer(sm, in, IB_STATUS_OK, how);
	if (how != TELL_NOTHING || !sm->settings->sm_key)
		hint(sm, in->mad + OFF_DATA);
}

void election_receive(struct sm *sm, const struct mad_in *in)
{
	uint8_t method = in->mad[3];
	uint16_t attr = get_be16(in->mad + 16);

	if (in->len < 256)
		return;
	if (attr != UMAD_SM_ATTR_SM_INFO) {
		log_limited(&smp_log, LOG_LEVEL_DEBUG, "election",
			    "LID %u: method 0x%02x of attribute 0x%04x is not supported", in->slid,
			    method, attr);
		answer(sm, in, IB_STATUS_BAD_METHOD_ATTR, TELL_NOTHING);
	} else if (method == UMAD_METHOD_GET) {
		take_get(sm, in);
	} else if (sm->own_port_checked) {
		take_control(sm, in);
	}
}

void election_rejoin(struct sm *sm)
{
	log_info("election", "active again");
	step(sm, IN_REJOIN, "this manager becomes active again");
}

/* --- beginning and end --- */

void election_new(struct sm *sm)
{
	sm->election = xcalloc(1, sizeof(*sm->election));
	sm->election->alive = timer_new(sm->loop, on_alive, sm);
	sm->election->again = timer_new(sm->loop, on_look_again, sm);
	sm->election->nonce = (uint64_t)clock_real_us() << 8;
}

void election_free(struct sm *sm)
{
	timer_free(sm->election->alive);
	timer_free(sm->election->again);
	while (sm->election->questions)
		question_free(sm->election->questions);
	vec_free(&sm->election->peers);
	vec_free(&sm->election->heard);
	vec_free(&sm->election->silent);
	vec_free(&sm->election->silent_now);
	free(sm->election);
}
