/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Collects the reasons for the next sweep and begins it: at once if none runs, else when the
 * running one has ended.
 *
 * An incomplete sweep is requested again, after a delay that grows; so is a look at nodes that
 * became suspects meanwhile.
 */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/backoff.h"
#include "sm/devices/exclusions.h"
#include "sm/election/election.h"
#include "sm/keys/mkey.h"
#include "sm/multicast/multicast_sweeps.h"
#include "sm/probe/probe_steps.h"
#include "sm/sm_internal.h"
#include "sm/write/write.h"

#define TRAP_SETTLE_US	3000		/* a fault causes several traps: wait for all of them */
#define SPARED_US	10000000 /* without light sweeps: delay before ports that a probe skipped are read */
#define AWAIT_US	200000
#define AWAIT_MAX	100
#define RETRY_FIRST_S	2
#define RETRY_MAX_S	300

void sm_want_sweep(struct sm *sm, enum sweep_kind kind, const char *reason)
{
	/* until our own port is known to have no other SM, start() is still to come */
	if (sm->state == SM_NOT_ACTIVE || sm->state == SM_STANDBY || !sm->own_port_checked)
		return;
	if (!sweep_runs(sm)) {
		if (sweep_kinds[kind].whole)
			timer_stop(sm->wishes.retry);
		sweep_start(sm, kind, reason);
		return;
	}
	sm->wishes.policy_too |= kind == SWEEP_POLICY;
	if (kind > sm->wishes.kind)
		sm->wishes.kind = kind;
	free(sm->wishes.reason);
	sm->wishes.reason = xstrdup(reason);
}

/* Beyond that number a discovery costs less than asking around each suspect. */
#define SUSPECTS_MAX 4096

void sm_suspect(struct sm *sm, const struct suspect *s)
{
	for (struct suspect *x = sm->wishes.suspects.v; x < vec_end(&sm->wishes.suspects); x++) {
		if (x->guid != s->guid)
			continue;
		x->renamed |= s->renamed;
		x->changed |= s->changed;
		x->whole |= s->whole;
		x->unasked &= s->unasked;
		x->ends &= s->ends;
		x->dark |= s->dark;
		x->left &= s->left;
		return;
	}
	if (sm->wishes.suspects.n < SUSPECTS_MAX)
		*vec_push(&sm->wishes.suspects) = *s;
	else
		sm_want_sweep(sm, SWEEP_CHANGE, "too many nodes are suspect");
}

/*
 * A link that is up without a known far end, or a switch port that did not answer.  Links to
 * excluded devices do not count if there are light sweeps, which ask those.
 */
static bool is_silent(const struct sm *sm, const struct fabric *f, uint32_t port)
{
	const struct fabric_port *p = &f->ports[port];

	if (!p->present)
		return node_is_switch(port_node(f, port));
	return p->num && p->state >= IB_PORT_INIT_S && p->peer == FABRIC_NONE && !p->isolated &&
	       !(sm->settings->sweep_interval_s &&
		 exclusions_is_behind(sm, port_node(f, port)->guid, p->num));
}

static bool anybody_silent(const struct sm *sm)
{
	const struct fabric *f = sm->published ? sm->published->f : NULL;

	for (uint32_t i = 0; f && f->unanswered && i < f->n_ports; i++)
		if (is_silent(sm, f, i))
			return true;
	return false;
}

/* Everything else is complete: only silent ends are asked. */
static void ask_silent_ends(struct sm *sm)
{
	const struct fabric *f = sm->published->f;

	for (uint32_t i = 0; i < f->n_ports; i++)
		if (is_silent(sm, f, i))
			sm_suspect(sm, &(struct suspect){ .guid = port_node(f, i)->guid,
							  .unasked = true, .ends = true });
	sm_want_sweep(sm, SWEEP_LOCAL, "links with silent far ends");
}

static void on_retry(void *arg)
{
	struct sm *sm = arg;

	if (sm->published && sm->wishes.only_silent_ends && !sweep_runs(sm)) {
		ask_silent_ends(sm);
		return;
	}
	sm_want_sweep(sm, SWEEP_CHANGE, "again, after an incomplete sweep");
}

static void arm_retry(struct sm *sm, bool complete)
{
	unsigned max_s = RETRY_MAX_S;

	/* blind_all: nobody else knows what a failed discovery or look should have found */
	sm->wishes.only_silent_ends = (complete || sm->wishes.only_refused || sm->wishes.only_silent) &&
				 !sm->wishes.full && !sm->known.blind_all && !mkey_is_late(sm);
	if (sm->wishes.only_silent_ends && !anybody_silent(sm)) {
		timer_stop(sm->wishes.retry);
		sm->wishes.retry_wait_s = 0;
		return;
	}
	if (timer_active(sm->wishes.retry))
		return;		/* a local sweep is no retry */
	/*
	 * While nothing is up, nothing else shows that a device answers again; nor does anything
	 * report a device behind a link without a far end.
	 */
	if ((!sm->published || sm->wishes.only_silent_ends) && sm->settings->sweep_interval_s &&
	    sm->settings->sweep_interval_s < max_s)
		max_s = sm->settings->sweep_interval_s;
	sm->wishes.retry_wait_s =
		(unsigned)backoff_next(sm->wishes.retry_wait_s, RETRY_FIRST_S, max_s);
	timer_set(sm->wishes.retry, sm->wishes.retry_wait_s * 1000000ll, 0);
}

/*
 * Another SM that is still discovering will soon change its state: it is asked again then, since
 * nothing else shows that it is done.
 */
static void await_others(struct sm *sm)
{
	struct sm_seen other;
	bool any = false;

	for (uint32_t i = 1; sm_seen_at(sm, i, &other); i++)
		any |= other.state == SM_DISCOVERING;
	if (!any) {
		sm->wishes.others_awaited = 0;
	} else if (sm->state == SM_MASTER && sm->wishes.others_awaited < AWAIT_MAX &&
		   !timer_active(sm->wishes.soon)) {
		sm->wishes.others_awaited++;
		sm->wishes.election = true;
		sm->wishes.soon_is_trap = false;
		timer_set(sm->wishes.soon, AWAIT_US, 0);
	}
}

void sm_sweep_ended(struct sm *sm, bool complete)
{
	enum sweep_kind again = sm->wishes.kind;
	char *reason = sm->wishes.reason;

	/* a local sweep that finds nothing would end without the plan that another wish needs */
	sm->wishes.replan |= sm->wishes.policy_too && again == SWEEP_LOCAL;
	sm->wishes.policy_too = false;
	sm->wishes.kind = SWEEP_NONE;
	sm->wishes.reason = NULL;
	if (again != SWEEP_NONE)
		sm_want_sweep(sm, again, reason);
	else if (sm->wishes.suspects.n)
		sm_want_sweep(sm, SWEEP_LOCAL, "further changes");
	else if (sm->wishes.replan && sm->state == SM_MASTER && sm->published && !sm->wishes.full)
		sm_want_sweep(sm, SWEEP_LOCAL, "devices fell silent or answer again");
	else if (sm->state == SM_DISCOVERING || sm->state == SM_MASTER)
		arm_retry(sm, complete);
	await_others(sm);
	/* joins and aliases that came while it ran, even if it failed */
	if (sm->state == SM_MASTER && sm->published) {
		if (sm->mcast)
			sm_mcast_changed(sm);
		guidinfo_after_sweep(sm);
	}
	if (sm->state == SM_MASTER && !timer_active(sm->light.timer)) {
		int64_t interval_us = sm->settings->sweep_interval_s * 1000000ll;

		if (interval_us)
			timer_set(sm->light.timer, interval_us, interval_us);
		else if (sm->known.spared.n)		/* one light sweep, for their sake */
			timer_set(sm->light.timer, SPARED_US, 0);
	}
	if (!sweep_runs(sm))
		reregister_after_sweep(sm);
	light_if_owed(sm);
	free(reason);
	sm->hooks.sweep_done(sm->hooks.arg, complete);
}

void sm_request_sweep(struct sm *sm, const char *reason)
{
	if (sm->state == SM_NOT_ACTIVE) {
		election_rejoin(sm);
		return;
	}
	exclusions_forget(sm);
	sm_want_sweep(sm, SWEEP_FULL, reason);
}

static void on_soon(void *arg)
{
	struct sm *sm = arg;

	sm_want_sweep(sm, sm->wishes.trap_from_stranger ? SWEEP_CHANGE : SWEEP_LOCAL, "trap");
	sm->wishes.trap_from_stranger = false;
	probe_hurry(sm);
}

void wish_soon(struct sm *sm)
{
	/* asking another SM (await_others()) can wait */
	if (!sm->wishes.soon_is_trap || !timer_active(sm->wishes.soon))
		timer_set(sm->wishes.soon, TRAP_SETTLE_US, 0);
	sm->wishes.soon_is_trap = true;
}

void wishes_new(struct sm *sm)
{
	sm->wishes.soon = timer_new(sm->loop, on_soon, sm);
	sm->wishes.retry = timer_new(sm->loop, on_retry, sm);
	sm->wishes.fruitless_max = FRUITLESS_FIRST;
}

void wishes_free(struct sm *sm)
{
	timer_free(sm->wishes.soon);
	timer_free(sm->wishes.retry);
	free(sm->wishes.reason);
	vec_free(&sm->wishes.suspects);
}
