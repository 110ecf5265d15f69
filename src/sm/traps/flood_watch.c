/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Asks switches for changes while a flood of SMPs from others arrives at our port.
 *
 * The driver of our adapter may drop a trap in the flood, and the switch repeats it only after one
 * or a few SubnetTimeOuts, which is a second or more.  So as long as RUSH SMPs or more arrive in
 * RUSH_US, each switch is asked for SwitchInfo every WATCH_US, or less often where that takes long.
 * A switch with PortStateChange (14.2.5.4) is then suspected as if its trap had come.
 *
 * These questions go before those of a sweep, but do not begin during a discovery, which sees
 * changes itself.
 */
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad_sm.h>

#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "sm/keys/mkey.h"
#include "sm/probe/probe_steps.h"
#include "sm/sm_internal.h"
#include "sm/write/refused_sets.h"

#define RUSH		100u
#define RUSH_US		100000
#define WATCH_US	100000
#define REST_SHARE	9 /* rest, in multiples of the time that asking took: a tenth of all time is used */
#define REST_MAX_US	1000000

enum { ASKED = 1 << 0, TELLS = 1 << 1 };

struct watch {
	uint64_t smps;		/* count of arrived SMPs at the last check, */
	int64_t since_us;	/* and its time */
	bool rush;		/* the last check found a flood */
	struct timer *timer;
	struct smp_job *job;
	struct subnet_state *state;	/* the state whose switches the job asks */
	uint8_t *switches;		/* flags above, for each switch of the state */
	int64_t begun_us, next_us;	/* when the last job began; when the next one may */
};

static const struct fabric_node *switch_of(const struct watch *w, uint32_t sw)
{
	const struct fabric *f = w->state->f;

	return &f->nodes[f->switches[sw].node];
}

static bool next(void *arg, uint32_t sw, struct smp *s, uint64_t *cookie)
{
	struct sm *sm = arg;
	struct watch *w = sm->traps.watch;
	const struct fabric *f = w->state->f;
	uint32_t node = f->switches[sw].node;

	*cookie = 0;
	if (w->switches[sw])
		return false;
	w->switches[sw] = ASKED;
	/* a PortStateChange that cannot be cleared tells nothing */
	if (mkey_is_mismatched(sm, f, node) || refused_clearing(sm, f->nodes[node].guid))
		return false;
	*s = (struct smp){ .method = SMP_GET, .attr = UMAD_SM_ATTR_SWITCH_INFO, .once = true };
	return mkey_route(sm, f, node, 0, s);
}

static void done(void *arg, uint32_t sw, const struct smp *s, uint64_t cookie, int status)
{
	struct watch *w = ((struct sm *)arg)->traps.watch;
	uint8_t info[64];

	(void)cookie;
	memcpy(info, s->data, sizeof(info));
	if (!status && mad_get_field(info, 0, IB_SW_STATE_CHANGE_F))
		w->switches[sw] |= TELLS;
}

static void arm(struct watch *w)
{
	int64_t us = w->next_us - clock_mono_us();

	if (w->rush && !w->job && !timer_active(w->timer))
		timer_set(w->timer, us > 0 ? us : 0, 0);
}

static void end(struct watch *w)
{
	w->job = NULL;
	state_unref(w->state);
	w->state = NULL;
	free(w->switches);
	w->switches = NULL;
}

static void finished(void *arg)
{
	struct sm *sm = arg;
	struct watch *w = sm->traps.watch;
	int64_t now_us = clock_mono_us(), rest_us = REST_SHARE * (now_us - w->begun_us);
	bool any = false;

	/* unasked: a sweep may have cleared PortStateChange meanwhile, and there may be nothing to find */
	for (uint32_t i = 0; i < w->state->f->n_switches; i++)
		if (w->switches[i] & TELLS) {
			sm_suspect(sm, &(struct suspect){ .guid = switch_of(w, i)->guid, .unasked = true });
			any = true;
		}
	if (rest_us < WATCH_US)
		rest_us = WATCH_US;
	w->next_us = now_us + (rest_us < REST_MAX_US ? rest_us : REST_MAX_US);
	end(w);
	w->rush &= now_us - w->since_us < 2 * RUSH_US;
	arm(w);
	if (!any)
		return;
	sm_want_sweep(sm, SWEEP_LOCAL, "a switch reports a change");
	probe_hurry(sm);
}

static void on_time(void *arg)
{
	static const struct smp_job_ops ops = { next, done, finished };
	struct sm *sm = arg;
	struct watch *w = sm->traps.watch;

	if (w->job || sm->state != SM_MASTER || !sm->published || sweep_is(sm)->whole)
		return;
	w->begun_us = clock_mono_us();
	w->state = state_ref(sm->published);
	w->switches = xcalloc(w->state->f->n_switches, 1);
	w->job = smp_job_start_first(sm->mad, w->state->f->n_switches, &ops, sm);
}

void watch_smp(struct sm *sm)
{
	struct watch *w = sm->traps.watch;
	int64_t now_us = clock_mono_us(), us = now_us - w->since_us;
	uint64_t smps;

	if (us < RUSH_US)
		return;
	smps = mad_smps_arrived(sm->mad);
	w->rush = (smps - w->smps) * RUSH_US >= (uint64_t)us * RUSH;
	w->smps = smps;
	w->since_us = now_us;
	arm(w);
}

void watch_stop(struct sm *sm)
{
	struct watch *w = sm->traps.watch;

	if (w->job)
		smp_job_cancel(w->job);
	end(w);
}

void watch_new(struct sm *sm)
{
	sm->traps.watch = xcalloc(1, sizeof(*sm->traps.watch));
	sm->traps.watch->timer = timer_new(sm->loop, on_time, sm);
}

void watch_free(struct sm *sm)
{
	watch_stop(sm);
	timer_free(sm->traps.watch->timer);
	free(sm->traps.watch);
}
