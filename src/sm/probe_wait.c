/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long a round of a probe waits for those that do not answer, which takes seconds.
 *
 * They may be behind the very link that a switch is about to report as down.  So when a switch is
 * suspected (its trap came), a round that has lasted WAIT_US ends, and whoever has not answered is
 * asked after that switch.
 *
 * End nodes (adapters and routers, but for our own node) are asked last, all in one round: no route leads
 * over them.  Where nothing more is known of those that have not answered than that they are suspected,
 * they are left to the next sweep, which follows at once, if
 *
 *  - links or nodes are known to have changed, for which others wait, or
 *  - a switch is suspected meanwhile.
 */
#include <limits.h>
#include <stdlib.h>

#include "base/clock.h"
#include "sm/probe.h"

#define WAIT_US 50000

static bool is_end(const struct probe *p, uint32_t node)
{
	return !node_is_switch(&p->f->nodes[node]) && node != p->f->ports[p->f->self].node;
}

unsigned probe_turn(const struct probe *p, const struct ask *a)
{
	if (is_end(p, a->node))
		return UINT_MAX;
	return (unsigned)a->late << 8 | p->f->nodes[a->node].hops;
}

bool probe_asks_ends_only(const struct probe *p)
{
	for (size_t i = 0; i < p->later.n; i++)
		if (!is_end(p, p->later.v[i].node))
			return false;
	return true;
}

static bool is_switch_suspected(const struct probe *p)
{
	const struct sm *sm = p->sm;

	for (size_t i = 0; i < sm->suspects.n; i++) {
		uint32_t node = map64_get(&p->f->node_by_guid, sm->suspects.v[i].guid);

		if (node != MAP64_NONE && node_is_switch(&p->f->nodes[node]))
			return true;
	}
	return false;
}

/* Of a round of end nodes. */
static bool may_leave_the_rest(const struct probe *p)
{
	for (size_t i = 0; i < p->asks.n; i++) {
		uint32_t node = p->asks.v[i].node;

		if (!p->asks.v[i].done && (node >= p->n_before || p->touched.v[node]))
			return false;
	}
	return true;
}

static void ask_after_others(struct probe *p, const struct ask *a)
{
	struct ask *again = vec_push(&p->later);

	*again = *a;
	again->late = true;
	again->tries--;
}

static void leave_to_next_sweep(struct probe *p, const struct ask *a)
{
	*vec_push(&p->left_over) = (struct suspect){
		.guid = p->f->nodes[a->node].guid, .renamed = a->kind == ASK_DESC, .unasked = true,
	};
}

static void on_time(void *arg)
{
	struct probe *p = arg;

	if (p->of_ends && !may_leave_the_rest(p)) {
		timer_set(p->wait_timer, WAIT_US, 0);
		return;
	}
	smp_job_cancel(p->sm->job);
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

/* What a discovery did not find is asked before it ends: nothing is suspected there. */
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
	struct probe *p = sm->probe;
	int64_t left_us;

	if (!p || p->found || !sm->job || timer_active(p->wait_timer) || !is_switch_suspected(p))
		return;
	left_us = p->begun_us + WAIT_US - clock_mono_us();
	timer_set(p->wait_timer, left_us > 0 ? left_us : 0, 0);
}

void probe_wait_free(struct probe *p)
{
	/* a discovery reads all */
	for (size_t i = 0; i < p->left_over.n && !p->doubt; i++)
		sm_suspect(p->sm, &p->left_over.v[i]);
	vec_free(&p->left_over);
	timer_free(p->wait_timer);
}
