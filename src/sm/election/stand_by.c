/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Polls the master as a standby, and takes over when it is gone (14.4.1).
 *
 * A master that was stopped for a while may have lost the subnet meanwhile.  Sets go out only while
 * the loop has turned lately (mad_permit_sets()).  After a pause the other SMs are asked first, and
 * if one is master we stand by without having written anything.  If none is master now, one may
 * have been: a light sweep finds out.
 *
 * Such a question may get no answer, and a master that was cut off, or not heard, has asked nobody.
 * Then it meets the standby that took over as a second master, which would hand over to it if it ranks
 * above that, and what operators changed there would be lost.  So an SMInfo also says whether anything
 * was changed since its sender became master, and the better master yields if it knows that the other
 * had all that it has (election_yield()).
 */
#include <inttypes.h>

#include <infiniband/umad_sm.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "sm/election/election.h"
#include "sm/election/election_internal.h"

#define IDLE_US		20000000	/* longest wait for an SM that discovers and never ends, */
#define STANDBY_US	1000000	/* and for a master that has become a standby */
#define PAUSE_MIN_US	300000	/* shortest pause of the loop that is worth asking the other SMs */

/* --- as standby --- */

static void master_is_gone(struct sm *sm, const char *why)
{
	log_warn("election", "master SM 0x%016" PRIx64 " %s", sm->standby.master_guid, why);
	election_step(sm, IN_MASTER_GONE, "the master is gone");
}

static void on_poll_answer(void *arg, const struct smp *s, int status)
{
	struct question *q = arg;
	struct sm *sm = q->sm;
	struct election *e = sm->election;
	uint64_t asked = q->asked;
	struct sm_info i, us = sm_info_ours(sm);
	int64_t now = clock_mono_us();
	bool is_it = !status && question_take_answer(sm, q, s), tells_key = q->peer.tells_key;

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
	question_send_to(sm, &e->master, SMP_GET, 0, true, on_poll_answer);
}

/* --- as a master that did not run for a while --- */

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
	struct sm_info us = sm_info_ours(sm);

	if (status == 0 && sm->state == SM_MASTER && question_take_answer(sm, q, s) &&
	    q->peer.info.state == SM_MASTER && q->peer.info.guid != us.guid &&
	    !sm_has_other_key(&us, &q->peer.info)) {
		log_warn("election", "SM 0x%016" PRIx64 " has become master meanwhile",
			 q->peer.info.guid);
		election_follow(sm, &q->peer);
		election_step(sm, IN_DEPOSED, NULL);
	}
	question_free(q);
	if (--sm->election->checks)
		return;
	permit(sm);
	/* an SM that took over may be gone again, or not answer: the switches know */
	if (sm->state == SM_MASTER)
		sm_look(sm);
}

void election_on_alive(void *arg)
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
		question_send_to(sm, &e->peers.v[i], SMP_GET, 0, false, on_check_answer);
}
