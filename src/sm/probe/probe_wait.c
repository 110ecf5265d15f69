/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decides how long a round of a probe waits for nodes that do not answer, which takes seconds.
 *
 * Such nodes may be behind the very link that a switch is about to report as down.  So when another
 * switch becomes a suspect (its trap came), a round that has lasted WAIT_US ends, and the nodes
 * that have not answered are asked after that switch.  A question is put off CUTS_MAX times at
 * most.
 *
 * End nodes (adapters and routers, except our own node) are asked last, all in one round: no route
 * crosses them.  Those that have not answered are left to the next sweep, which follows at once, if
 * nothing but suspicion is known of them, and if
 *
 *  - links or nodes are known to have changed, for which others wait, or
 *  - a switch becomes a suspect meanwhile.
 */
#include <limits.h>

#include "lib/base/clock.h"
#include "sm/probe/probe.h"
#include "sm/probe/probe_steps.h"

#define WAIT_US		100000
#define CUTS_MAX	2

static bool is_end(const struct probe *p, uint32_t node)
{
	return !node_is_switch(&p->f->nodes[node]) && node != p->f->ports[p->f->self].node;
}

unsigned probe_turn(const struct probe *p, const struct ask *a)
{
	if (is_end(p, a->node))
		return UINT_MAX;
	return (unsigned)a->cuts << 8 | p->f->nodes[a->node].hops;
}

bool probe_has_slow_only(const struct probe *p)
{
	for (const struct ask *a = p->later.v; a < vec_end(&p->later); a++)
		if (!is_end(p, a->node) && !a->tries && !a->cuts)
			return false;
	return true;
}

/*
 * A switch has become a suspect.  If this probe has asked the switch before, it is left to the next
 * sweep, which only a round of end nodes would hold up.
 */
static bool is_switch_suspected(const struct probe *p)
{
	const struct sm *sm = p->sm;

	for (size_t i = 0; i < sm->wishes.suspects.n; i++) {
		uint32_t node = map64_get(&p->f->node_by_guid, sm->wishes.suspects.v[i].guid);

		if (node != MAP64_NONE && node_is_switch(&p->f->nodes[node]) &&
		    (p->of_ends || (!p->heard.v[node] && !probe_was_asked(p, node, 0, ASK_SWITCH))))
			return true;
	}
	return false;
}

/*
 * The engine is held.  A round must not end before it has sent anything: another job may have gone
 * first.
 */
static bool may_end(const struct probe *p)
{
	bool sent = false;

	for (const struct ask *a = p->asks.v; a < vec_end(&p->asks); a++) {
		if (p->of_ends && !a->done && (a->node >= p->n_before || p->touched.v[a->node]))
			return false;
		sent |= a->sent;
	}
	return sent;
}

static void ask_after_others(struct probe *p, const struct ask *a)
{
	struct ask *again = vec_push(&p->later);

	*again = *a;
	again->cuts++;
	again->tries--;
	if (a->sent)
		probe_suspect_gone(p, a->node);
}

static void leave_to_next_sweep(struct probe *p, const struct ask *a)
{
	*vec_push(&p->left_over) = (struct suspect){
		.guid = p->f->nodes[a->node].guid, .renamed = a->kind == ASK_DESC, .unasked = true,
		.left = true,
	};
	probe_unask(p, a);
}

static void on_time(void *arg)
{
	struct probe *p = arg;

	bool now;

	mad_hold(p->sm->mad);
	now = may_end(p);
	mad_release(p->sm->mad);
	if (!now) {
		timer_set(p->wait_timer, WAIT_US, 0);
		return;
	}
	smp_job_cancel(p->sm->sweep.job);
	for (size_t i = 0; i < p->asks.n; i++) {
		if (p->asks.v[i].done)
			continue;
		if (p->of_ends)
			leave_to_next_sweep(p, &p->asks.v[i]);
		else
			ask_after_others(p, &p->asks.v[i]);
	}
	p->cut_short = true;
	probe_round_over(p);
}

/* A probe at the end of a discovery (p->found) has no suspects, and waits for all nodes. */
void probe_wait_begin(struct probe *p)
{
	p->cut_short = false;
	p->of_ends = p->asks.n && is_end(p, p->asks.v[0].node);
	p->begun_us = clock_mono_us();
	if (!p->wait_timer)
		p->wait_timer = timer_new(p->sm->loop, on_time, p);
	if (p->of_ends && !p->found && (p->changed || is_switch_suspected(p)))
		timer_set(p->wait_timer, WAIT_US, 0);
}

void probe_wait_over(struct probe *p)
{
	timer_stop(p->wait_timer);
}

void probe_hurry(struct sm *sm)
{
	struct probe *p = sm->sweep.probe;
	int64_t left_us;

	if (!p || p->found || !sm->sweep.job || timer_active(p->wait_timer) ||
	    !is_switch_suspected(p))
		return;
	if (p->asks.n && p->asks.v[0].cuts >= CUTS_MAX)
		return;
	left_us = p->begun_us + WAIT_US - clock_mono_us();
	timer_set(p->wait_timer, left_us > 0 ? left_us : 0, 0);
}

void probe_wait_free(struct probe *p)
{
	/* in doubt a discovery reads everything */
	for (size_t i = 0; i < p->left_over.n && !p->doubt; i++)
		sm_suspect(p->sm, &p->left_over.v[i]);
	vec_free(&p->left_over);
	timer_free(p->wait_timer);
}
