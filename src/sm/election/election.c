/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Elects the master (14.4.1): as a step of a sweep asks who is there, hands over to a better SM or
 * stands by, and acts on what the state machine says.
 *
 * election_table.c decides; this file and its neighbours send, wait and act.
 *
 * Whoever asks for SMInfo includes its own SMInfo in the same MAD; IBA does not use these bytes.
 * So a master hears at once of a better SM or of another master (claims.c).
 *
 * No SM is believed before it has shown a key.  We tell the SM_Key to an SM that shows the port's
 * M_Key, and to one that tells the SM_Key itself when asked at the place where the request came
 * from (callers.h): OpenSM does so, and regards us as a stranger unless we do.  Two qosd prove that
 * they have the key without telling it (proof.h).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad_sm.h>

#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "sm/election/election.h"
#include "sm/election/election_internal.h"
#include "sm/keys/mkey.h"

#define AWAIT_US	10000000	/* longest wait for a lesser master to hand over, */
#define AWAIT_LOOK_US	1000000	/* and how often to look for it meanwhile */
#define HANDOVER_TRIES	5
#define ALIVE_US	100000	/* how often a master's loop turns */

static struct log_ratelimit smp_log = LOG_RATELIMIT;
static struct log_ratelimit other_log = LOG_RATELIMIT;
static struct log_ratelimit heard_log = LOG_RATELIMIT;

/* --- actions of the state machine --- */

static void poll_start(struct sm *sm)
{
	sm->election->unanswered = 0;
	sm->election->idle_since_us = 0;
	timer_set(sm->standby.poll, 0, sm->settings->poll_interval_ms * 1000ll);
}

bool election_step(struct sm *sm, enum sm_input input, const char *why)
{
	struct sm_transition t = sm_transition(sm->state, input);
	bool stood_by = sm->state == SM_STANDBY;

	if (!t.legal) {
		log_debug("election", "input %d is not legal for a %s: nothing happens", (int)input,
			  sm_state_name(sm->state));
		return false;
	}
	if (t.actions & DO_STOP_POLLING)
		timer_stop(sm->standby.poll);
	if (t.next == SM_MASTER || t.next == SM_DISCOVERING) {
		sm->standby.master_guid = 0;
		sm->election->awaited = 0;
	}
	if (t.next == SM_MASTER && sm->state != SM_MASTER)
		sm->election->changed = false;
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
		sweep_step_done(sm, STEP_ELECT, RESULT_DONE);
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

void election_follow(struct sm *sm, const struct peer *p)
{
	sm->election->master = *p;
	sm->election->busy_since_us = 0;
	sm->standby.master_guid = p->info.guid;
	sm->standby.master_priority = p->info.priority;
	sm_registrations_not_to_be_had(sm);	/* from the master before */
	sm->clients.unknown = true;
	sm->election->followed_us = clock_mono_us();
}

void sm_operator_changed(struct sm *sm)
{
	sm->election->changed = true;
}

bool election_is_newer(const struct sm *sm, const struct sm_info *i)
{
	return i->changed && sm->hooks.has_ours && sm->hooks.has_ours(sm->hooks.arg, i->guid);
}

/* Clients of either may have registered since, and what they registered here is lost. */
void election_yield(struct sm *sm, const struct sm_info *i)
{
	log_warn("election", "SM 0x%016" PRIx64 " took over from us meanwhile, and operators have changed "
		 "something there: standing by until we have it", i->guid);
	sm->clients.forked_us = clock_mono_us();
	election_step(sm, IN_DEPOSED, NULL);
}

/* --- as a step of a sweep: which SMs are there --- */

/* The strongest verdict on all SMs that answered; *who: the SM that the verdict is about. */
static enum sm_verdict verdict(struct sm *sm, const struct peer **who)
{
	struct election *e = sm->election;
	struct sm_info us = sm_info_ours(sm);
	enum sm_verdict v = SM_NO_MATTER;

	e->other_managers = 0;
	*who = NULL;
	for (struct peer *p = e->heard.v; p < vec_end(&e->heard); p++) {
		enum sm_verdict x;

		p->info.newer = election_is_newer(sm, &p->info);
		x = sm_judge(&us, &p->info);
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
		election_step(sm, IN_WON, NULL);
		return;
	}
	sm->election->refused_by = 0;
	election_follow(sm, &sm->election->successor);
	election_step(sm, IN_HANDED_OVER, NULL);
}

/* As master, gives way to a better SM (14.4.1.2). */
static void hand_over(struct sm *sm, const struct peer *p)
{
	struct election *e = sm->election;

	if (p->info.guid == e->refused_by && clock_mono_us() < e->next_handover_us) {
		election_step(sm, IN_WON, NULL);
		return;
	}
	log_info("election", "handing over to SM 0x%016" PRIx64, p->info.guid);
	e->successor = *p;
	question_send_to(sm, p, SMP_SET, CTRL_HANDOVER, false, on_handed_over);
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
		sweep_step_done(sm, STEP_ELECT, RESULT_DONE);
		return;
	}
	sweep_step_done(sm, STEP_ELECT, RESULT_LOST);
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
		election_follow(sm, &p);
		election_step(sm, IN_LOST, NULL);
		break;
	case SM_HAND_OVER:
		hand_over(sm, &p);
		break;
	case SM_YIELD:
		election_follow(sm, &p);
		election_yield(sm, &p.info);
		break;
	case SM_AWAIT:
		await(sm, &p);
		break;
	case SM_OTHER_KEY:
	case SM_NO_MATTER:
		e->refused_by = 0;
		if (!election_step(sm, IN_WON, NULL))
			sweep_step_done(sm, STEP_ELECT, RESULT_LOST);
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
	if (status == 0 && question_take_answer(sm, q, s)) {
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

static bool ask(struct sm *sm, uint32_t port)
{
	/* what a takeover writes does no harm, and the sweep after it asks all */
	if (sweep_is(sm)->by_copy && sm->sweep.f->ports[port].guid == sm->election->silent_master)
		return false;
	return question_ask_port(sm, sm->sweep.f, port, on_answer);
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
		if (port_says_sm(sm->sweep.f, p) && ask(sm, p))
			e->to_ask++;
	if (--e->to_ask == 0)
		asked_all(sm);
	return RESULT_WAIT;
}

bool election_knows(const struct election *e, uint64_t guid)
{
	return was_seen(e->peers.v, e->peers.n, guid);
}

static void on_late_answer(void *arg, const struct smp *s, int status)
{
	struct question *q = arg;
	struct sm *sm = q->sm;

	if (!status && sm->state == SM_MASTER && question_take_answer(sm, q, s) &&
	    !election_knows(sm->election, q->asked))
		sm_want_sweep(sm, SWEEP_CHANGE, "another subnet manager has appeared");
	question_free(q);
}

void election_update_peer(struct sm *sm, const struct sm_info *i)
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
	struct sm_info us = sm_info_ours(q->sm);

	if (!status && question_take_answer(q->sm, q, s) && !sm_has_other_key(&us, &q->peer.info))
		election_update_peer(q->sm, &q->peer.info);
	question_free(q);
}

void election_ask_silent(struct sm *sm)
{
	const struct election *e = sm->election;
	const struct fabric *f = sm->published->f;

	for (size_t i = 0; i < e->silent.n; i++) {
		uint32_t port = fabric_find_port(f, e->silent.v[i]);

		if (port != FABRIC_NONE && port_says_sm(f, port))
			question_ask_port(sm, f, port, on_late_answer);
	}
	for (size_t i = 0; i < e->peers.n; i++)
		question_send_to(sm, &e->peers.v[i], SMP_GET, 0, true, on_looked_after);
}

bool sm_seen_at(const struct sm *sm, uint32_t i, struct sm_seen *out)
{
	const struct election *e = sm->election;
	struct sm_info x = sm_info_ours(sm);

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

uint8_t election_priority(const struct sm *sm)
{
	return sm->election->priority;
}

void sm_set_priority(struct sm *sm, uint8_t priority)
{
	if (priority == sm->election->priority)
		return;
	log_info("election", "priority %u (was %u)", priority, sm->election->priority);
	sm->election->priority = priority;
	sm->election->refused_by = 0;
	/* a standby says so in its next poll */
	if (sm->state == SM_MASTER)
		sm_want_sweep(sm, SWEEP_CHANGE, "another priority");
}

void election_rejoin(struct sm *sm)
{
	log_info("election", "active again");
	election_step(sm, IN_REJOIN, "this manager becomes active again");
}

/* --- beginning and end --- */

void election_new(struct sm *sm)
{
	sm->election = xcalloc(1, sizeof(*sm->election));
	sm->election->priority = sm->settings->priority;
	sm->election->alive = timer_new(sm->loop, election_on_alive, sm);
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
