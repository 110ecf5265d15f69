/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers other SMs: requests for our SMInfo, and the controls of 14.4.1.2 (HANDOVER, ACKNOWLEDGE,
 * DISABLE, STANDBY, DISCOVER).
 *
 * A control is obeyed only after its sender was found where its GUID and LID are, with the key
 * (sm_obeys()).
 */
#include <inttypes.h>
#include <string.h>

#include <infiniband/umad_sm.h>

#include "lib/base/bucket.h"
#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "sm/election/election.h"
#include "sm/election/election_internal.h"
#include "sm/keys/callers.h"
#include "sm/keys/mkey.h"
#include "sm/keys/proof.h"

/*
 * A handover that is obeyed too early loses what operators changed at the master before.  A master
 * makes its last try after more than 40 s.
 */
#define BUSY_US		30000000	/* longest time to put off a handover, */
#define ASK_US		20000000	/* and to put it off while the master does not answer us */
#define CONTROLS_BURST	6		/* discoveries that controls may begin */
#define CONTROLS_EACH_US	10000000
#define JUDGED_MAX	4 /* controls whose senders are being asked; further ones are answered BUSY */

enum { OFF_M_KEY = 24, OFF_DATA = 64 };	/* offsets in an SMP */

static struct log_ratelimit smp_log = LOG_RATELIMIT;
static struct log_ratelimit control_log = LOG_RATELIMIT;

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
			sm_info_put_key(sm, data);
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
		question_send_to(sm, p, SMP_SET, CTRL_ACKNOWLEDGE, false, on_acknowledged);
}

static void control(struct sm *sm, enum sm_input input, const struct sm_info *from)
{
	struct election *e = sm->election;

	if (input == IN_ACKNOWLEDGE && sm->state == SM_MASTER &&
	    sm->sweep.phase == PHASE_ELECTION &&
	    from->guid == e->successor.info.guid) {
		e->refused_by = 0;
		election_follow(sm, &e->successor);
		election_step(sm, IN_HANDED_OVER, NULL);
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
	election_step(sm, input, input == IN_HANDOVER ? "handover" : "another SM requested discovery");
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
	if (sm->state != SM_STANDBY || (from->key && from->key == sm_info_ours(sm).key))
		return false;
	if (sm_registrations_unknown(sm))
		return true;
	if (!sm->clients.coming)
		return false;
	if (!e->busy_since_us)
		e->busy_since_us = now;
	return now - e->busy_since_us < BUSY_US;
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
	election_follow(sm, &p);
}

/* Takes the result of asking a control's sender for its identity. */
static void on_controller(struct sm *sm, const struct mad_in *in, const struct caller *who)
{
	struct election *e = sm->election;
	uint32_t mod = get_be32(in->mad + 20);
	bool by_lid = in->mgmt_class == UMAD_CLASS_SUBN_LID_ROUTED;
	struct sm_info from, us = sm_info_ours(sm);
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
	if (input == IN_HANDOVER && sm->state == SM_MASTER && election_is_newer(sm, &from)) {
		put_off(sm, in);
		stand_by_for(sm, &from, who);
		election_yield(sm, &from);
		return;
	}
	log_limited(&control_log, LOG_LEVEL_INFO, "election", "SM 0x%016" PRIx64 " sent %s", from.guid,
		    sm_control_name(mod));
	if (input == IN_HANDOVER && sm->state == SM_MASTER && from.changed)
		log_error("election", "both SM 0x%016" PRIx64 " and this one were master, and dynamic "
			  "partitions, withdrawals or the accepted topology were changed on both: "
			  "what was changed there is lost", from.guid);
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
	struct sm_info from, us = sm_info_ours(sm);
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
		claims_take_hint(sm, in->mad + OFF_DATA);
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
