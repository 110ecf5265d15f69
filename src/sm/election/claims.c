/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Follows what other SMs say of themselves in requests for our SMInfo.
 *
 * That is a hint and no more, and nothing without a key: we ask the port with that GUID for its
 * SMInfo, and its answer begins a sweep.  Questions and sweeps are limited, so a flood of claims
 * costs no discovery and only a few SMPs.  In the same way a standby hears that its master has
 * something for it (sm_nudge()).
 */
#include <infiniband/umad_sm.h>

#include "lib/base/clock.h"
#include "sm/election/election.h"
#include "sm/election/election_internal.h"

/*
 * A port that claims to have an SM is asked once per CLAIM_US.  ASK_… limits questions to ports
 * that do not say IsSM, ASK_SM_… to ports that do; NEWS_… limits the sweeps that their answers
 * begin.  STRANGERS_… limits how often claims from ports outside the fabric have all switches asked
 * for changes.
 */
#define CLAIM_US	1000000
#define ASK_BURST	8
#define ASK_EACH_US	200000
#define ASK_SM_BURST	32
#define ASK_SM_EACH_US	20000
#define NEWS_BURST	8
#define NEWS_EACH_US	5000000
#define STRANGERS_BURST	2
#define STRANGERS_EACH_US	10000000
#define NUDGE_US	2000	/* least time between nudges of a master */
#define SHOWN_US	60000000	/* how long it counts that a manager has shown the SM_Key */

/*
 * For a master, what another SM reports of itself is news if that SM ranks above it or is master,
 * too; or if it is a standby that must be asked after we did not run for a while.
 */
static bool is_news(const struct sm *sm, const struct sm_info *other, int64_t now)
{
	const struct election *e = sm->election;
	struct sm_info us = sm_info_ours(sm);

	switch (sm_judge(&us, other)) {
	case SM_AWAIT:
		return !sweep_runs(sm) && other->guid != e->awaited;
	case SM_HAND_OVER:
		return !sweep_runs(sm) &&
		       !(other->guid == e->refused_by && now < e->next_handover_us);
	case SM_OTHER_KEY:
		return !election_knows(e, other->guid);
	default:
		return other->guid != us.guid && other->state == SM_STANDBY &&
		       other->guid != e->introduced && !election_knows(e, other->guid);
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
	bool is_it = !status && question_take_answer(sm, q, s);
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
	if (port_says_sm(f, port) ? bucket_take(&e->ask_sm, ASK_SM_BURST, ASK_SM_EACH_US, now) :
			       bucket_take(&e->ask, ASK_BURST, ASK_EACH_US, now))
		question_ask_port(sm, f, port, on_claimant);
}

uint64_t sm_master(const struct sm *sm)
{
	return sm->standby.master_guid;
}

bool sm_is_manager(struct sm *sm, uint64_t guid)
{
	struct election *e = sm->election;
	struct sm_info us = sm_info_ours(sm);
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

void claims_take_hint(struct sm *sm, const uint8_t *data)
{
	struct sm_info other, us = sm_info_ours(sm);
	int64_t now = clock_mono_us();

	sm_info_get(data, &other);
	if (data[SM_INFO_NUDGE] == 1 && sm->state == SM_STANDBY &&
	    other.guid == sm->standby.master_guid) {
		nudged(sm);
		return;
	}
	other.key = us.key;	/* requests do not contain it; the question that follows asks for it */
	if (sm->state == SM_MASTER && other.state == SM_NOT_ACTIVE)
		election_update_peer(sm, &other);
	if (sm->state == SM_MASTER && sm->published && other.guid && other.guid != us.guid &&
	    is_news(sm, &other, now))
		ask_claimant(sm, other.guid, now);
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
		s.data[SM_INFO_NUDGE] = 1;
		question_send(sm, &sm->election->peers.v[i], s, on_nudged);
	}
}
