/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The face of the subnet manager: its state, what starts a sweep (start,
 * policy, traps, light sweeps, wishes from outside), and what `status` tells.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad_sm.h>

#include "lib/base/alloc.h"
#include "lib/base/backoff.h"
#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "sa/registry/groups.h"
#include "sm/devices/liars.h"
#include "sm/devices/mute.h"
#include "sm/devices/node_names.h"
#include "sm/keys/callers.h"
#include "sm/sm_internal.h"

#define TRAP_SETTLE_US	3000		/* a fault brings several traps: take them together */
#define SPARED_US	10000000	/* without light sweeps: until what a probe did not read is read */
#define CLAIM_FIRST_US	10000000	/* between claims that are heeded, twice as long each time … */
#define CLAIM_MAX_US	3600000000ll	/* … up to that, */
#define CLAIM_FORGET_US	600000000ll	/* … and anew after so long without one */
#define AWAIT_US	200000
#define AWAIT_MAX	100
#define RETRY_FIRST_S	2
#define RETRY_MAX_S	300

static struct log_ratelimit trap_log = LOG_RATELIMIT, flood_log = LOG_RATELIMIT;

const char *sm_state_name(enum sm_state s)
{
	static const char *const names[] = { "not-active", "discovering", "standby", "master" };
	return (unsigned)s < ARRAY_SIZE(names) ? names[s] : "unknown";
}

static void light_end(struct sm *sm)
{
	free(sm->light_asked);
	sm->light_asked = NULL;
	state_unref(sm->light_state);
	sm->light_state = NULL;
	sm->light_job = NULL;
}

static void light_stop(struct sm *sm)
{
	if (sm->light_job)
		smp_job_cancel(sm->light_job);
	light_end(sm);
}

static void unpublish(struct sm *sm)
{
	struct subnet_state *old = sm->published;

	if (!old)
		return;
	sm->published = NULL;
	light_stop(sm);
	watch_stop(sm);
	liars_stop(sm);
	names_stop(sm);
	mute_stop(sm);
	multicast_stop(sm);
	guidinfo_stop(sm);
	mkey_stop(sm);
	shared_policy_unref(sm->in_force);
	sm->in_force = NULL;
	sm->hooks.published(sm->hooks.arg, NULL);
	state_unref(old);
}

void sm_tell(struct sm *sm, const struct event *e)
{
	if (sm->hooks.event)
		sm->hooks.event(sm->hooks.arg, e);
}

static void tell_state(struct sm *sm, enum sm_state s)
{
	struct event e;

	event_make(&e, EVENT_SM_STATE, "the subnet manager is %s (was %s)", sm_state_name(s),
		   sm_state_name(sm->state));
	event_text(&e, "state", "%s", sm_state_name(s));
	event_text(&e, "was", "%s", sm_state_name(sm->state));
	if (s != SM_MASTER && sm->master_guid)
		event_guid(&e, "master", sm->master_guid);
	sm_tell(sm, &e);
}

void sm_set_state(struct sm *sm, enum sm_state s)
{
	if (sm->state == s)
		return;
	tell_state(sm, s);
	log_info("sm", "%s (was %s)", sm_state_name(s), sm_state_name(sm->state));
	sm->another_was |= sm->state == SM_STANDBY && s == SM_MASTER && !sm->heir_of;
	sm->state = s;
	if (s != SM_MASTER) {
		sm->subnet_up = false;
		timer_stop(sm->light_timer);
		sm->look_owed = false;
		unpublish(sm);
	}
}

/* --- what starts sweeps --- */

void sm_want_sweep(struct sm *sm, enum sweep_kind kind, const char *reason)
{
	/* before the own port is known to be free of others, start() is still to come */
	if (sm->state == SM_NOT_ACTIVE || sm->state == SM_STANDBY || !sm->own_port_checked)
		return;
	if (!sweep_runs(sm)) {
		if (sweep_kinds[kind].whole)
			timer_stop(sm->retry_timer);
		sweep_start(sm, kind, reason);
		return;
	}
	sm->again_replan |= kind == SWEEP_POLICY;
	if (kind > sm->again_kind)
		sm->again_kind = kind;
	free(sm->again_reason);
	sm->again_reason = xstrdup(reason);
}

/* With more than that a discovery costs less than to ask around each. */
#define SUSPECTS_MAX 4096

void sm_suspect(struct sm *sm, const struct suspect *s)
{
	for (size_t i = 0; i < sm->suspects.n; i++) {
		struct suspect *x = &sm->suspects.v[i];

		if (x->guid != s->guid)
			continue;
		x->renamed |= s->renamed;
		x->changed |= s->changed;
		x->whole |= s->whole;
		x->unasked &= s->unasked;
		x->ends &= s->ends;
		x->left &= s->left;
		return;
	}
	if (sm->suspects.n < SUSPECTS_MAX)
		*vec_push(&sm->suspects) = *s;
	else
		sm_want_sweep(sm, SWEEP_CHANGE, "very many nodes are suspected");
}

/*
 * A link that is up with no known device at its other end, or a switch port that did not answer.  Links to
 * devices that are left out do not count, since light sweeps ask those, if there are any.
 */
static bool is_silent(const struct sm *sm, const struct fabric *f, uint32_t port)
{
	const struct fabric_port *p = &f->ports[port];

	if (!p->present)
		return node_is_switch(port_node(f, port));
	return p->num && p->state >= IB_PORT_INIT_S && p->peer == FABRIC_NONE &&
	       !(sm->settings->sweep_interval_s &&
		 left_out_is_behind(sm, port_node(f, port)->guid, p->num));
}

static bool anybody_silent(const struct sm *sm)
{
	const struct fabric *f = sm->published ? sm->published->f : NULL;

	for (uint32_t i = 0; f && f->unanswered && i < f->n_ports; i++)
		if (is_silent(sm, f, i))
			return true;
	return false;
}

/* All else is complete: who is silent is asked alone. */
static void ask_silent_ends(struct sm *sm)
{
	const struct fabric *f = sm->published->f;

	for (uint32_t i = 0; i < f->n_ports; i++)
		if (is_silent(sm, f, i))
			sm_suspect(sm, &(struct suspect){ .guid = port_node(f, i)->guid,
							  .unasked = true, .ends = true });
	sm_want_sweep(sm, SWEEP_LOCAL, "links whose far ends are silent");
}

static void on_retry(void *arg)
{
	struct sm *sm = arg;

	if (sm->published && sm->only_silent && !sweep_runs(sm)) {
		ask_silent_ends(sm);
		return;
	}
	sm_want_sweep(sm, SWEEP_CHANGE, "again, after an incomplete sweep");
}

static void arm_retry(struct sm *sm, bool complete)
{
	unsigned max_s = RETRY_MAX_S;

	/* blind_all: of a discovery or a look that failed nobody else knows what it was to find */
	sm->only_silent = (complete || sm->only_refused || sm->only_mute) && !sm->full_owed && !sm->blind_all &&
			  !mkey_is_late(sm);
	if (sm->only_silent && !anybody_silent(sm)) {
		timer_stop(sm->retry_timer);
		sm->retry_wait_s = 0;
		return;
	}
	if (timer_active(sm->retry_timer))
		return;		/* a local sweep is no try */
	/*
	 * While nothing is up nothing else tells that a device has come to its senses, nor does
	 * anybody who is behind a link without a far end.
	 */
	if ((!sm->published || sm->only_silent) && sm->settings->sweep_interval_s &&
	    sm->settings->sweep_interval_s < max_s)
		max_s = sm->settings->sweep_interval_s;
	sm->retry_wait_s = (unsigned)backoff_next(sm->retry_wait_s, RETRY_FIRST_S, max_s);
	timer_set(sm->retry_timer, sm->retry_wait_s * 1000000ll, 0);
}

/*
 * Another SM that is still discovering will say what it wants to be: it is asked again
 * then, since nothing else tells that it is done.
 */
static void await_others(struct sm *sm)
{
	struct sm_seen other;
	bool any = false;

	for (uint32_t i = 1; sm_seen_at(sm, i, &other); i++)
		any |= other.state == SM_DISCOVERING;
	if (!any) {
		sm->others_awaited = 0;
	} else if (sm->state == SM_MASTER && sm->others_awaited < AWAIT_MAX &&
		   !timer_active(sm->soon_timer)) {
		sm->others_awaited++;
		sm->election_due = true;
		sm->soon_is_trap = false;
		timer_set(sm->soon_timer, AWAIT_US, 0);
	}
}

static void look_if_owed(struct sm *sm);

void sm_sweep_ended(struct sm *sm, bool complete)
{
	enum sweep_kind again = sm->again_kind;
	char *reason = sm->again_reason;

	/* a local sweep that finds nothing would end without the plan that another wish was about */
	sm->replan |= sm->again_replan && again == SWEEP_LOCAL;
	sm->again_replan = false;
	sm->again_kind = SWEEP_NONE;
	sm->again_reason = NULL;
	if (again != SWEEP_NONE)
		sm_want_sweep(sm, again, reason);
	else if (sm->suspects.n)
		sm_want_sweep(sm, SWEEP_LOCAL, "more of it");
	else if (sm->replan && sm->state == SM_MASTER && sm->published && !sm->full_owed)
		sm_want_sweep(sm, SWEEP_LOCAL, "devices do not answer, or do again");
	else if (sm->state == SM_DISCOVERING || sm->state == SM_MASTER)
		arm_retry(sm, complete);
	await_others(sm);
	/* what was joined, or which aliases came, while it ran, also if it failed */
	if (sm->state == SM_MASTER && sm->published) {
		if (sm->mcast)
			sm_mcast_changed(sm);
		guidinfo_after_sweep(sm);
	}
	if (sm->state == SM_MASTER && !timer_active(sm->light_timer)) {
		int64_t interval_us = sm->settings->sweep_interval_s * 1000000ll;

		if (interval_us)
			timer_set(sm->light_timer, interval_us, interval_us);
		else if (sm->spared.n)		/* one, for their sake */
			timer_set(sm->light_timer, SPARED_US, 0);
	}
	if (!sweep_runs(sm))
		reregister_after_sweep(sm);
	look_if_owed(sm);
	free(reason);
	sm->hooks.sweep_done(sm->hooks.arg, complete);
}

void sm_request_sweep(struct sm *sm, const char *reason)
{
	if (sm->state == SM_NOT_ACTIVE) {
		election_rejoin(sm);
		return;
	}
	left_out_forget(sm);
	sm_want_sweep(sm, SWEEP_FULL, reason);
}

void sm_set_policy(struct sm *sm, struct shared_policy *p)
{
	shared_policy_ref(p);
	shared_policy_unref(sm->policy);
	sm->policy = p;
	findings_free(&sm->rejected);
	sm->has_rejected = false;
	sm_want_sweep(sm, sm->published ? SWEEP_POLICY : SWEEP_CHANGE, "new policy");
}

void sm_policy_rejected(struct sm *sm, struct findings *f)
{
	findings_free(&sm->rejected);
	findings_move(&sm->rejected, f);
	sm->has_rejected = true;
}

/*
 * --- light sweeps: one SwitchInfo Get for each switch ---
 *
 * One that has us for its master is asked for PortInfo of its port 0, too: if another SM has
 * become master without our knowledge, as where it did not hear our answers, it has another's LID
 * as MasterSMLID.
 */

enum { LIGHT_SWITCH, LIGHT_MASTER, LIGHT_LEFT };	/* cookies; the last and above: of left_out.c */
/* Of a switch, in sm->light_asked. */
enum {
	LIGHT_ASKED = 1 << 0,
	LIGHT_ANSWERED = 1 << 1,
	LIGHT_SUSPECT = 1 << 2,		/* it has a change to tell, or says nothing */
	LIGHT_CHANGED = 1 << 3,		/* it does not say what it said before */
};

bool state_was_claimed(const struct subnet_state *s, uint16_t before, uint16_t now)
{
	return before == state_own_lid(s) && now && now != before;
}

/*
 * Is everything to be read because of a claim?  Not, where that was done a while ago: two that do
 * not obey each other, or a device that makes it up, would have us read for ever.  What is not
 * heeded is seen again.
 */
static bool heed_claim(struct sm *sm)
{
	int64_t now = clock_mono_us();
	int64_t forget = CLAIM_FORGET_US + sm->settings->sweep_interval_s * 1000000ll;

	if (now < sm->claim_next_us)
		return false;
	if (now - sm->claim_next_us > sm->claim_wait_us + forget)
		sm->claim_wait_us = 0;
	sm->claim_wait_us = backoff_next(sm->claim_wait_us, CLAIM_FIRST_US, CLAIM_MAX_US);
	sm->claim_next_us = now + sm->claim_wait_us;
	return true;
}

/* The MasterSMLID of a switch, as it was left. */
static uint16_t master_of(const struct subnet_state *s, uint32_t sw)
{
	return s->f->ports[s->f->nodes[s->f->switches[sw].node].port0].sm_lid;
}

/* What is left out, as if it were one device more. */
static bool light_next_left(struct sm *sm, struct smp *s, uint64_t *cookie)
{
	while (sm->light_left < left_out_asked(sm)) {
		*cookie = LIGHT_LEFT + sm->light_left;
		if (left_out_ask(sm, sm->light_state->f, sm->light_left++, s))
			return true;
	}
	return false;
}

static bool light_next(void *arg, uint32_t sw, struct smp *s, uint64_t *cookie)
{
	struct sm *sm = arg;
	const struct fabric *f = sm->light_state->f;
	uint32_t node;

	if (sw == f->n_switches)
		return light_next_left(sm, s, cookie);
	node = f->switches[sw].node;
	*cookie = sm->light_asked[sw] ? LIGHT_MASTER : LIGHT_SWITCH;
	if (*cookie == LIGHT_MASTER &&
	    (!(sm->light_asked[sw] & LIGHT_ANSWERED) || sm->light_master_asked ||
	     master_of(sm->light_state, sw) != state_own_lid(sm->light_state)))
		return false;
	*s = (struct smp){ .method = SMP_GET, .attr = UMAD_SM_ATTR_SWITCH_INFO, .brief = true };
	if (*cookie == LIGHT_MASTER) {
		s->attr = UMAD_SM_ATTR_PORT_INFO;
		s->mod = port_info_modifier(f, node, 0);
		sm->light_master_asked = true;
	} else {
		sm->light_asked[sw] = LIGHT_ASKED;
	}
	/* what it says can't be cleared; it is looked at again as sweeps are that are not complete */
	if (mkey_is_foreign(sm, f, node) || f->nodes[node].mute)
		return false;
	return mkey_route(sm, f, node, 0, s);
}

static bool is_claimed(const struct sm *sm, uint32_t sw, uint8_t info[64])
{
	return state_was_claimed(sm->light_state, master_of(sm->light_state, sw),
				 (uint16_t)mad_get_field(info, 0, IB_PORT_SMLID_F));
}

static const struct fabric_node *light_switch(const struct sm *sm, uint32_t sw)
{
	const struct fabric *f = sm->light_state->f;

	return &f->nodes[f->switches[sw].node];
}

static void light_done(void *arg, uint32_t sw, const struct smp *s, uint64_t cookie, int status)
{
	struct sm *sm = arg;
	uint8_t data[64];

	memcpy(data, s->data, sizeof(data));
	if (cookie >= LIGHT_LEFT) {
		left_out_answered(sm, cookie - LIGHT_LEFT, s, status);
		return;
	}
	if (cookie == LIGHT_MASTER) {
		sm->light_claimed = !status && is_claimed(sm, sw, data);
		return;
	}
	if (!status)
		sm->light_asked[sw] |= LIGHT_ANSWERED;
	if (status || mad_get_field(data, 0, IB_SW_STATE_CHANGE_F))
		sm->light_asked[sw] |= LIGHT_SUSPECT;
	if (!status && liars_switch_is_news(sm, sm->light_state->f, sw, data))
		sm->light_asked[sw] |= LIGHT_CHANGED;
	if (!status && sm->light_asked[sw] & LIGHT_SUSPECT &&
	    !refused_clearing(sm, light_switch(sm, sw)->guid))
		sm->light_told = true;
}

/*
 * A port that is taken down by a Set does not tell of it (14.2.5.4), and the two ends of a link need
 * not see at once that it is down: what a probe did not read is read when there is time.
 */
static bool suspect_spared(struct sm *sm)
{
	struct map64 *m = &sm->spared;
	bool any = m->n;

	for (uint32_t i = 0; any && i <= m->mask; i++)
		if (m->slots[i].value != MAP64_NONE)
			sm_suspect(sm, &(struct suspect){ .guid = m->slots[i].key, .whole = true,
							  .unasked = true });
	map64_clear(m);
	return any;
}

static void light_finished(void *arg)
{
	struct sm *sm = arg;
	const struct fabric *f = sm->light_state->f;
	uint32_t changed = 0;
	bool told = sm->light_told, claimed = sm->light_claimed, spared;
	enum left_out_end left;

	for (uint32_t i = 0; i < f->n_switches; i++)
		if (sm->light_asked[i] & (LIGHT_SUSPECT | LIGHT_CHANGED)) {
			uint64_t guid = light_switch(sm, i)->guid;

			/* what can't be cleared says nothing new: there need be nothing to find */
			sm_suspect(sm, &(struct suspect){
				.guid = guid, .changed = sm->light_asked[i] & LIGHT_CHANGED,
				.unasked = refused_clearing(sm, guid) ||
					   !(sm->light_asked[i] & LIGHT_SUSPECT) });
			changed++;
		}
	light_end(sm);
	sm->psc_seen |= told;
	spared = suspect_spared(sm);
	left = left_out_end(sm);
	if (claimed && heed_claim(sm))
		sm_want_sweep(sm, SWEEP_FULL, "another subnet manager was at work");
	else if (left == LEFT_OUT_RENAMED)
		sm_want_sweep(sm, SWEEP_CHANGE, "a device does not have the GUID of another any more");
	else if (changed)
		sm_want_sweep(sm, SWEEP_LOCAL, "a switch reports a change or does not answer");
	else if (left == LEFT_OUT_BACK)
		sm_want_sweep(sm, SWEEP_LOCAL, "a device that was left out answers as it should");
	else if (spared)
		sm_want_sweep(sm, SWEEP_LOCAL, "ports that were not read");
	scrub_look(sm->own_scrub);
	look_if_owed(sm);
}

static const struct smp_job_ops light_ops = { light_next, light_done, light_finished };

static void light_start(struct sm *sm)
{
	if (sweep_runs(sm) || sm->light_job || !sm->published)
		return;
	/* our own link was down: nobody is there to report that it is back */
	if (!sm->published->f->n_switches) {
		left_out_forget(sm);	/* nobody is asked for them one by one */
		sm_want_sweep(sm, SWEEP_CHANGE, "no switch to ask");
		return;
	}
	election_ask_mute(sm);
	sm->light_told = sm->light_claimed = sm->light_master_asked = false;
	sm->light_state = state_ref(sm->published);
	sm->light_asked = xcalloc(sm->published->f->n_switches, 1);
	sm->light_left = 0;
	sm->light_job = smp_job_start(sm->mad, sm->published->f->n_switches + left_out_begin(sm),
				      &light_ops, sm);
	liars_ask(sm);
	names_ask(sm);
	mute_ask(sm);
}

static void on_light(void *arg)
{
	light_start(arg);
}

static void look_if_owed(struct sm *sm)
{
	if (!sm->look_owed || sweep_runs(sm) || sm->light_job)
		return;
	sm->look_owed = false;
	if (sm->state == SM_MASTER)
		light_start(sm);
}

void sm_look(struct sm *sm)
{
	sm->look_owed = true;
	look_if_owed(sm);
}

/* --- traps (14.4.10) --- */

static void on_soon(void *arg)
{
	struct sm *sm = arg;

	sm_want_sweep(sm, sm->trap_from_stranger ? SWEEP_CHANGE : SWEEP_LOCAL, "trap");
	sm->trap_from_stranger = false;
	probe_hurry(sm);
}

/* Of the published fabric; FABRIC_NONE: nobody we know. */
static uint32_t port_of_lid(const struct sm *sm, uint16_t lid)
{
	const struct subnet_state *s = sm->published;

	return s && lid && lid < IB_LID_MCAST_FIRST ? s->plan->port_by_lid[lid] : FABRIC_NONE;
}

/* Trap 144 (14.2.5.1): what changed is in the details, from byte 10 on. */
enum { NOTICE_LOCAL_CHANGES = 15, NOTICE_CAPMASK = 16, NOTICE_CHANGE_FLAGS = 20 };
/* … of traps 129 to 131 */
enum { NOTICE_ABOUT_PORT = 14 };

/* Has our port the LID, before or after the sweep that runs? */
static bool is_our_lid(const struct sm *sm, const struct fabric *f, uint16_t lid)
{
	const struct plan *p = sm->f ? sm->plan : sm->published->plan;

	return lid == f->ports[f->self].lid || (p && lid == p->lid[f->self]);
}

/*
 * Our own port tells that there is a subnet manager on it, or was: nothing that the
 * sweep which runs, or the last one, has not seen.  When one starts, or was started
 * again, that comes in the middle of its first sweep.
 */
static bool is_our_issm(const struct sm *sm, const struct mad_in *in, const uint8_t *notice)
{
	const struct fabric *f = sm->f ? sm->f : sm->published ? sm->published->f : NULL;

	return f && is_our_lid(sm, f, in->slid) &&
	       !notice[NOTICE_LOCAL_CHANGES] && !get_be16(notice + NOTICE_CHANGE_FLAGS) &&
	       !((get_be32(notice + NOTICE_CAPMASK) ^ f->ports[f->self].capmask) & ~IB_CAP_IS_SM);
}

/* The GUID of the port that a trap came from, as the gate and all behind it know it. */
static uint64_t source_of(const struct sm *sm, uint16_t lid)
{
	const struct subnet_state *s = sm->published;
	uint32_t port = port_of_lid(sm, lid);

	return port == FABRIC_NONE ? 0 : s->f->ports[port].guid;
}

/* Link state, and capability or description: whoever it is, look. */
static unsigned trap_asks(bool generic, unsigned number, uint64_t source)
{
	if (!generic || (number != UMAD_SM_LINK_STATE_CHANGED_TRAP &&
			 number != UMAD_SM_LOCAL_CHANGES_TRAP &&
			 number != UMAD_SM_SYS_IMG_GUID_CHANGED_TRAP))
		return 0;
	/* nobody we know; or its SystemImageGUID changed, which only a discovery reads */
	if (!source || number == UMAD_SM_SYS_IMG_GUID_CHANGED_TRAP)
		return TRAP_ALL;
	return number == UMAD_SM_LOCAL_CHANGES_TRAP ? TRAP_LOOK | TRAP_NAME : TRAP_LOOK;
}

static void look_soon(struct sm *sm, uint64_t source, unsigned asks)
{
	const struct fabric *f = sm->published ? sm->published->f : NULL;
	uint32_t port = f && source ? fabric_find_port(f, source) : FABRIC_NONE;

	if (port != FABRIC_NONE && asks & TRAP_NAME)
		sm->election_due |= f->ports[port].capmask & IB_CAP_IS_SM;
	if (port == FABRIC_NONE || asks & TRAP_ALL) {
		sm->trap_from_stranger = true;
	} else if (port_node(f, port)->mute && !mute_has_answered(sm, port_node(f, port)->guid)) {
		mute_ask(sm);	/* a sweep would not ask it */
		if (!mute_told(sm, port_node(f, port)->guid))
			return;
	} else {
		sm_suspect(sm, &(struct suspect){ .guid = port_node(f, port)->guid,
						  .renamed = asks & TRAP_NAME });
	}
	/* another SM that is awaited (await_others) can wait */
	if (!sm->soon_is_trap || !timer_active(sm->soon_timer))
		timer_set(sm->soon_timer, TRAP_SETTLE_US, 0);
	sm->soon_is_trap = true;
}

static void arm_gate(struct sm *sm, int64_t now_us)
{
	int64_t next = trap_gate_next(sm->trap_gate, now_us);

	if (next == INT64_MAX)
		timer_stop(sm->trap_timer);
	else
		timer_set(sm->trap_timer, next - now_us, 0);
}

static uint32_t flood_port(const struct fabric *f, const struct trap_flood *flood)
{
	return f && flood->source ? fabric_find_port(f, flood->source) : FABRIC_NONE;
}

void sm_flood_text(const struct fabric *f, const struct trap_flood *flood, struct buf *out)
{
	uint32_t port = flood_port(f, flood);
	char name[FABRIC_NAME_MAX];

	buf_puts(out, port == FABRIC_NONE ? "ports that are not of the fabric, or too many at once" :
		      fabric_node_name(f, f->ports[port].node, name, sizeof(name)));
	if (flood->port)
		buf_printf(out, " port %u", flood->port);
	buf_printf(out, ": %" PRIu64 " traps in %.0f s, of which %" PRIu64 " were left out",
		   flood->traps, (double)flood->us * 1e-6, flood->left_out);
}

static void tell_flood(struct sm *sm, const struct trap_flood *flood)
{
	const struct fabric *f = sm->published ? sm->published->f : NULL;
	uint32_t port = flood_port(f, flood);
	struct buf text = { 0 };
	struct event e;

	sm_flood_text(f, flood, &text);
	log_limited(&flood_log, LOG_LEVEL_WARNING, "trap", "%s", text.s);
	event_make(&e, EVENT_TRAP_FLOOD, "%s", text.s);
	if (port != FABRIC_NONE)
		event_guid(&e, "node", port_node(f, port)->guid);
	event_number(&e, "port", flood->port);
	event_number(&e, "traps", (int64_t)flood->traps);
	event_number(&e, "left-out", (int64_t)flood->left_out);
	event_number(&e, "microseconds", flood->us);
	sm_tell(sm, &e);
	buf_free(&text);
}

/* A source that sent too many has another look to its credit; or a flood is to be told. */
static void on_gate(void *arg)
{
	struct sm *sm = arg;
	int64_t now = clock_mono_us();
	struct trap_flood flood;
	uint64_t source;
	unsigned asks;

	while (trap_gate_due(sm->trap_gate, now, &source, &asks))
		look_soon(sm, source, asks);
	while (trap_gate_tell(sm->trap_gate, now, &flood))
		tell_flood(sm, &flood);
	arm_gate(sm, now);
}

/* Traps 129 to 131 are about a port, not always the one that they come from. */
static unsigned port_of_trap(const uint8_t *notice, bool generic, unsigned number)
{
	return generic && number >= UMAD_SM_LINK_INTEGRITY_THRESHOLD_TRAP &&
	       number <= UMAD_SM_WATCHDOG_TIMER_EXPIRED_TRAP ? notice[NOTICE_ABOUT_PORT] : 0;
}

static bool on_trap(struct sm *sm, const struct mad_in *in)
{
	const uint8_t *notice = in->mad + 64;
	uint16_t number = get_be16(notice + 4);
	bool generic = notice[0] & 0x80;
	uint64_t source = source_of(sm, in->slid);
	unsigned asks = trap_asks(generic, number, source);
	int64_t now = clock_mono_us();

	if (sm->state != SM_MASTER)
		return true;
	repress(sm, in, port_of_lid(sm, in->slid));
	if (generic && number == UMAD_SM_LOCAL_CHANGES_TRAP && is_our_issm(sm, in, notice))
		asks = 0;
	/* before there is a subnet nobody is known, and the ports that come up tell of it all at once */
	if (sm->published && !trap_gate_take(sm->trap_gate, source, asks,
					     port_of_trap(notice, generic, number), now)) {
		arm_gate(sm, now);
		return false;
	}
	log_limited(&trap_log, LOG_LEVEL_INFO, "trap", "LID %u: %s %u", in->slid,
		    generic ? "trap" : "vendor trap", number);
	if (generic && number == UMAD_SM_BAD_MKEY_TRAP)
		mkey_violated(sm, port_of_lid(sm, in->slid), in->slid, notice);
	if (asks)
		look_soon(sm, source, asks);
	return true;
}

bool sm_receive(struct sm *sm, const struct mad_in *in)
{
	watch_smp(sm);
	if (in->len < 256)
		return true;
	if (in->mad[3] == UMAD_METHOD_TRAP)
		return get_be16(in->mad + 16) != UMAD_ATTR_NOTICE || on_trap(sm, in);
	election_receive(sm, in);
	return true;
}

bool sm_flood_at(const struct sm *sm, uint32_t i, struct trap_flood *out)
{
	return trap_gate_flood(sm->trap_gate, i, clock_mono_us(), out);
}

/* --- life --- */

struct sm *sm_new(struct loop *l, struct mad_port *m, const struct settings *settings,
		  struct shared_policy *policy, struct store *store, const struct sm_hooks *hooks)
{
	struct sm *sm = xcalloc(1, sizeof(*sm));

	sm->loop = l;
	sm->mad = m;
	sm->settings = settings;
	sm->priority = settings->priority;
	sm->hooks = *hooks;
	sm->store = store;
	sm->state = SM_DISCOVERING;
	sm->fruitless_max = FRUITLESS_FIRST;
	sm->policy = shared_policy_ref(policy);
	if (store)
		map64_clone(&sm->known_guids, &store_lids(store)->by_guid);
	map64_init(&sm->not_adaptive, 16);
	map64_init(&sm->no_ext_port_info, 16);
	map64_init(&sm->doubtful, 16);
	map64_init(&sm->blind, 16);
	map64_init(&sm->spared, 16);
	map64_init(&sm->asked, 16);
	map64_init(&sm->kept_by_guid, 16);
	map64_init(&sm->arbs_by_guid, 16);
	sm->blind_all = true;
	sm->remnants = remnants_new();
	mkey_new(sm);
	repress_new(sm);
	election_new(sm);
	callers_new(sm);
	sm->poll_timer = timer_new(l, election_on_poll, sm);
	sm->light_timer = timer_new(l, on_light, sm);
	sm->soon_timer = timer_new(l, on_soon, sm);
	sm->retry_timer = timer_new(l, on_retry, sm);
	sm->trap_gate = trap_gate_new();
	sm->trap_timer = timer_new(l, on_gate, sm);
	watch_new(sm);
	sm->scrub = scrub_new(sm);
	sm->own_scrub = scrub_new_own(sm);
	flapping_new(sm);
	refused_new(sm);
	liars_new(sm);
	names_new(sm);
	congestion_new(sm);
	kept_routes_new(sm);
	mute_new(sm);
	sm->left_out = left_out_new();
	sm->publish_timer = timer_new(l, sweep_turned, sm);
	vls_new(sm);
	return sm;
}

void sm_free(struct sm *sm)
{
	if (!sm)
		return;
	scrub_free(sm->scrub);
	scrub_free(sm->own_scrub);
	sweep_cleanup(sm, false);
	light_stop(sm);
	/* joins and leaves that were answered a moment ago and no tree was made of yet */
	if (sm->published && sm->mcast)
		store_end_groups(sm->store, sm->mcast);
	unpublish(sm);
	multicast_stop(sm);
	guidinfo_free(sm);
	callers_free(sm);
	election_free(sm);
	mkey_free(sm);
	repress_free(sm);
	takeover_forget(sm);
	timer_free(sm->poll_timer);
	timer_free(sm->light_timer);
	timer_free(sm->soon_timer);
	timer_free(sm->retry_timer);
	timer_free(sm->trap_timer);
	trap_gate_free(sm->trap_gate);
	watch_free(sm);
	flapping_free(sm);
	refused_free(sm);
	liars_free(sm);
	names_free(sm);
	congestion_free(sm);
	kept_routes_free(sm);
	mute_free(sm);
	left_out_free(sm->left_out);
	timer_free(sm->publish_timer);
	timer_free(sm->vls_timer);
	shared_policy_unref(sm->policy);
	shared_policy_unref(sm->in_force);
	findings_free(&sm->findings);
	findings_free(&sm->rejected);
	map64_free(&sm->known_guids);
	map64_free(&sm->not_adaptive);
	map64_free(&sm->no_ext_port_info);
	map64_free(&sm->doubtful);
	map64_free(&sm->blind);
	map64_free(&sm->spared);
	map64_free(&sm->asked);
	map64_free(&sm->kept_by_guid);
	vec_free(&sm->kept_before);
	map64_free(&sm->arbs_by_guid);
	vec_free(&sm->arbs_before);
	remnants_free(sm->remnants);
	free(sm->again_reason);
	vec_free(&sm->to_register);
	vec_free(&sm->suspects);
	vec_free(&sm->answers);
	free(sm);
}

static void start(struct sm *sm)
{
	struct buf err = { 0 };

	sm->own_port_checked = true;
	if (!mad_set_issm(sm->mad, true, &err))
		sm->hooks.fatal(sm->hooks.arg, err.s);
	else
		sm_want_sweep(sm, SWEEP_FULL, "start");
	buf_free(&err);
}

static void on_own_port(void *arg, const struct smp *s, int status)
{
	struct sm *sm = arg;
	uint8_t data[64];

	memcpy(data, s->data, sizeof(data));
	if (status == 0 && mad_get_field(data, 0, IB_SMINFO_STATE_F) != SM_NOT_ACTIVE)
		sm->hooks.fatal(sm->hooks.arg, "another subnet manager runs on this port");
	else
		start(sm);
}

void sm_start(struct sm *sm)
{
	/*
	 * A question to our own port: the kernel lets only one SM register, so that
	 * it comes back to us, who are not active yet; ibsim lets any number.
	 */
	static const uint8_t here[1];
	struct smp s = { .method = SMP_GET, .attr = UMAD_SM_ATTR_SM_INFO, .route = here,
			 .once = true };

	smp_send(sm->mad, &s, on_own_port, sm);
}

void sm_get_status(const struct sm *sm, struct sm_status *out)
{
	const struct mad_port_info *info = mad_info(sm->mad);
	const struct subnet_state *p = sm->published;
	const char *call;
	enum disco_filter filter = disco_filter(&call);

	mad_hold(sm->mad);
	*out = (struct sm_status){
		.state = sm->state, .subnet_up = sm->subnet_up,
		.no_m_key = !mkey_ours(sm),
		.m_key_readable = mkey_ours(sm) && !sm->settings->m_key_protect,
		.sm_key_known = sm->settings->sm_key <= SM_KEY_KNOWN,
		.foreign_keys = mkey_foreign(sm), .m_key_violations = mkey_violations(sm),
		.sweeping = sweep_runs(sm), .phase = phase_name(sm->phase),
		.guid = info->guid, .lid = p ? state_own_lid(p) : info->lid,
		.master_guid = sm->state == SM_MASTER ? info->guid : sm->master_guid,
		.master_priority = sm->state == SM_MASTER ? sm->priority : sm->master_priority,
		.priority = sm->priority, .foreign = election_foreign(sm),
		.registrations_held = sm->state == SM_STANDBY && !sm->registrations_lost,
		.nodes = p ? p->f->n_nodes : 0, .switches = p ? p->f->n_switches : 0,
		.ports_active = p ? sm->ports_active : 0,
		.ports_linked = p ? sm->ports_linked : 0,
		.sweeps = sm->sweeps, .last_sweep_seconds = sm->last_seconds,
		.last_smps = sm->last_smps, .last_sets = sm->last_sets,
		.failed_devices = sm->failed_devices, .sets_failed = sm->sets_failed,
		.unanswered = p ? p->f->unanswered : 0,
		.discovery_smps = sm->discovery_smps, .discovery_lost = sm->discovery_lost,
		.refused = refusals_by_value(store_refusals(sm->store)),
		.traps_left_out = trap_gate_left_out(sm->trap_gate),
		.adaptive_ended = sm->overrides_ended[OVERRIDE_ADAPTIVE],
		.adaptive_stays = sm->overrides_stay[OVERRIDE_ADAPTIVE],
		.private_ended = sm->overrides_ended[OVERRIDE_PRIVATE],
		.private_stays = sm->overrides_stay[OVERRIDE_PRIVATE],
		.tables_replaced = sm->inherited_total, .congestion = congestion_sum(sm),
		.discovery_filter = filter, .discovery_call = call,
		.scrub = scrub_counts(sm->scrub),
		.engine = p ? p->plan->engine : NULL,
		.policy = p ? p->policy : sm->policy, .in_force = sm->in_force, .findings = &sm->findings,
		.rejected = sm->has_rejected ? &sm->rejected : NULL,
	};
	mad_release(sm->mad);
	multicast_status(sm, out);
}

bool sm_left_out(const struct sm *sm, size_t i, struct sm_left *out)
{
	const struct fabric *f = sm->published ? sm->published->f : NULL;
	const struct disco_left *x = left_out_at(sm, i);
	uint32_t node;

	if (!x)
		return false;
	node = f ? map64_get(&f->node_by_guid, x->near_guid) : MAP64_NONE;
	out->near = node == MAP64_NONE || x->near_port > f->nodes[node].nports ? FABRIC_NONE :
		    f->nodes[node].port0 + x->near_port;
	out->guid = left_out_culprit(sm, x);
	out->is_switch = x->why == LEFT_SWITCH;
	out->known_as = x->why == LEFT_TWIN ? x->known_as : 0;
	left_out_text(sm, f, x, &out->text);
	return true;
}

static void insert_lossy(struct sm_lossy *out, unsigned *n, unsigned max, struct sm_lossy x)
{
	unsigned at = *n < max ? (*n)++ : max;

	for (; at && out[at - 1].lost < x.lost; at--)
		if (at < max)
			out[at] = out[at - 1];
	if (at < max)
		out[at] = x;
}

unsigned sm_lossy(const struct sm *sm, struct sm_lossy *out, unsigned max)
{
	const struct fabric *f = sm->published ? sm->published->f : NULL;
	unsigned n = 0;

	if (!f || !mad_counts(sm->mad)->lost)
		return 0;
	for (uint32_t i = 0; i < f->n_ports; i++) {
		struct sm_lossy x = { .port = i };
		struct smp s = { 0 };

		if (port_is_end(f, i) && want_route(f, f->ports[i].node, f->ports[i].num, &s) &&
		    mad_losses(sm->mad, &s, &x.lost, &x.window))
			insert_lossy(out, &n, max, x);
	}
	return n;
}

static int by_port(const void *a, const void *b)
{
	const struct port_answer *x = a, *y = b;

	return (x->port > y->port) - (x->port < y->port);
}

void sm_knowledge_take(const struct sm *sm, struct sm_knowledge *out)
{
	map64_clone(&out->doubtful, &sm->doubtful);
	mad_hold(sm->mad);	/* a job of a sweep adds to them */
	out->refused = refusals_copy(store_refusals(sm->store));
	map64_clone(&out->asked, &sm->asked);
	out->n_answers = sm->answers.n;
	out->answers = sm->answers.n ?
		       xmemdup(sm->answers.v, sm->answers.n * sizeof(*out->answers)) : NULL;
	mad_release(sm->mad);
	out->reregister = sm->reregister;
	out->m_key = mkey_ours(sm);
	if (out->n_answers)
		qsort(out->answers, out->n_answers, sizeof(*out->answers), by_port);
}

void sm_knowledge_free(struct sm_knowledge *k)
{
	map64_free(&k->doubtful);
	map64_free(&k->asked);
	refusals_free(k->refused);
	k->refused = NULL;
	free(k->answers);
	k->answers = NULL;
	k->n_answers = 0;
}

struct subnet_state *sm_published(const struct sm *sm)
{
	return sm->published;
}

void sm_registrations_lost(struct sm *sm)
{
	sm->registrations_lost = sm->reregister = true;
	sm->heir_of = 0;
	mad_hold(sm->mad);	/* a job of a sweep adds to them */
	map64_clear(&sm->asked);
	mad_release(sm->mad);
}

void sm_registrations_coming(struct sm *sm)
{
	sm_registrations_lost(sm);
	sm->registrations_unknown = false;
	sm->registrations_coming = true;
}

void sm_registrations_not_to_be_had(struct sm *sm)
{
	sm_registrations_lost(sm);
	sm->registrations_coming = sm->registrations_unknown = false;
}

void sm_registrations_held(struct sm *sm, uint16_t master_lid)
{
	sm->registrations_lost = sm->registrations_coming = sm->registrations_unknown = false;
	sm->reregister = false;
	sm->heir_of = master_lid;
}

void sm_set_mcast(struct sm *sm, struct mcast_db *db)
{
	sm->mcast = db;
	sm->registrations_lost = sm->reregister = !store_load_groups(sm->store, db);
}
