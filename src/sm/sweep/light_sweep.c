/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs light sweeps: one SwitchInfo Get for each switch.
 *
 * A switch that has us as its master is also asked for PortInfo of its port 0.  If another SM has
 * become master without our knowledge, for example because it did not hear our answers, its LID is
 * the MasterSMLID there.
 */
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad_sm.h>

#include "lib/base/alloc.h"
#include "lib/base/backoff.h"
#include "lib/base/clock.h"
#include "sm/devices/exclusions.h"
#include "sm/devices/implausible.h"
#include "sm/devices/silent.h"
#include "sm/devices/node_names.h"
#include "sm/devices/scrub.h"
#include "sm/election/election.h"
#include "sm/keys/mkey.h"
#include "sm/sm_internal.h"
#include "sm/write/refused_sets.h"

#define CLAIM_FIRST_US	10000000 /* initial time between claims that are acted on, which doubles each time */
#define CLAIM_MAX_US	3600000000ll	/* up to this, */
#define CLAIM_FORGET_US	600000000ll	/* and is reset after this time without a claim */

static void light_end(struct sm *sm)
{
	free(sm->light.asked);
	sm->light.asked = NULL;
	state_unref(sm->light.state);
	sm->light.state = NULL;
	sm->light.job = NULL;
}

void light_stop(struct sm *sm)
{
	if (sm->light.job)
		smp_job_cancel(sm->light.job);
	light_end(sm);
}

enum { LIGHT_SWITCH, LIGHT_MASTER, LIGHT_LEFT };	/* cookies; from LIGHT_LEFT on: of exclusions.c */
/* Flags of a switch, in sm->light.asked. */
enum {
	LIGHT_ASKED = 1 << 0,
	LIGHT_ANSWERED = 1 << 1,
	LIGHT_SUSPECT = 1 << 2,		/* it reports a change, or does not answer */
	LIGHT_CHANGED = 1 << 3,		/* its answer differs from before */
};

bool state_was_claimed(const struct subnet_state *s, uint16_t before, uint16_t now)
{
	return before == state_own_lid(s) && now && now != before;
}

/*
 * Whether to read everything because of a claim.  Not if that was done recently: two SMs that do
 * not obey each other, or a device that invents claims, would keep us reading for ever.  A claim
 * that is ignored is seen again later.
 */
static bool heed_claim(struct sm *sm)
{
	int64_t now = clock_mono_us();
	int64_t forget = CLAIM_FORGET_US + sm->settings->sweep_interval_s * 1000000ll;

	if (now < sm->light.claim_next_us)
		return false;
	if (now - sm->light.claim_next_us > sm->light.claim_wait_us + forget)
		sm->light.claim_wait_us = 0;
	sm->light.claim_wait_us =
		backoff_next(sm->light.claim_wait_us, CLAIM_FIRST_US, CLAIM_MAX_US);
	sm->light.claim_next_us = now + sm->light.claim_wait_us;
	return true;
}

/* The MasterSMLID of a switch, as we left it. */
static uint16_t master_of(const struct subnet_state *s, uint32_t sw)
{
	return s->f->ports[s->f->nodes[s->f->switches[sw].node].port0].sm_lid;
}

/* Asks for excluded devices, as if they were one more device of the job. */
static bool light_next_left(struct sm *sm, struct smp *s, uint64_t *cookie)
{
	while (sm->light.left < exclusions_asked(sm)) {
		*cookie = LIGHT_LEFT + sm->light.left;
		if (exclusions_ask(sm, sm->light.state->f, sm->light.left++, s))
			return true;
	}
	return false;
}

static bool light_next(void *arg, uint32_t sw, struct smp *s, uint64_t *cookie)
{
	struct sm *sm = arg;
	const struct fabric *f = sm->light.state->f;
	uint32_t node;

	if (sw == f->n_switches)
		return light_next_left(sm, s, cookie);
	node = f->switches[sw].node;
	*cookie = sm->light.asked[sw] ? LIGHT_MASTER : LIGHT_SWITCH;
	if (*cookie == LIGHT_MASTER &&
	    (!(sm->light.asked[sw] & LIGHT_ANSWERED) || sm->light.master_asked ||
	     master_of(sm->light.state, sw) != state_own_lid(sm->light.state)))
		return false;
	*s = (struct smp){ .method = SMP_GET, .attr = UMAD_SM_ATTR_SWITCH_INFO, .brief = true };
	if (*cookie == LIGHT_MASTER) {
		s->attr = UMAD_SM_ATTR_PORT_INFO;
		s->mod = port_info_modifier(f, node, 0);
		sm->light.master_asked = true;
	} else {
		sm->light.asked[sw] = LIGHT_ASKED;
	}
	/* its change cannot be cleared; incomplete sweeps look at it again */
	if (mkey_is_mismatched(sm, f, node) || f->nodes[node].silent)
		return false;
	return mkey_route(sm, f, node, 0, s);
}

static bool is_claimed(const struct sm *sm, uint32_t sw, uint8_t info[64])
{
	return state_was_claimed(sm->light.state, master_of(sm->light.state, sw),
				 (uint16_t)mad_get_field(info, 0, IB_PORT_SMLID_F));
}

static const struct fabric_node *light_switch(const struct sm *sm, uint32_t sw)
{
	const struct fabric *f = sm->light.state->f;

	return &f->nodes[f->switches[sw].node];
}

static void light_done(void *arg, uint32_t sw, const struct smp *s, uint64_t cookie, int status)
{
	struct sm *sm = arg;
	uint8_t data[64];

	memcpy(data, s->data, sizeof(data));
	if (cookie >= LIGHT_LEFT) {
		exclusions_answered(sm, cookie - LIGHT_LEFT, s, status);
		return;
	}
	if (cookie == LIGHT_MASTER) {
		sm->light.claimed = !status && is_claimed(sm, sw, data);
		return;
	}
	if (!status)
		sm->light.asked[sw] |= LIGHT_ANSWERED;
	if (status || mad_get_field(data, 0, IB_SW_STATE_CHANGE_F))
		sm->light.asked[sw] |= LIGHT_SUSPECT;
	if (!status && implausible_switch_is_news(sm, sm->light.state->f, sw, data))
		sm->light.asked[sw] |= LIGHT_CHANGED;
	if (!status && sm->light.asked[sw] & LIGHT_SUSPECT &&
	    !refused_clearing(sm, light_switch(sm, sw)->guid))
		sm->light.told = true;
}

/*
 * A port that a Set takes down does not report it (14.2.5.4), and the two ends of a link need not
 * notice at once that it is down.  So ports that a probe skipped are read when there is time.
 */
static bool suspect_spared(struct sm *sm)
{
	struct map64 *m = &sm->known.spared;
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
	const struct fabric *f = sm->light.state->f;
	uint32_t changed = 0;
	bool told = sm->light.told, claimed = sm->light.claimed, spared;
	enum exclusions_end left;

	for (uint32_t i = 0; i < f->n_switches; i++)
		if (sm->light.asked[i] & (LIGHT_SUSPECT | LIGHT_CHANGED)) {
			uint64_t guid = light_switch(sm, i)->guid;

			/*
			 * a PortStateChange that cannot be cleared is no news: there may be nothing
			 * to find
			 */
			sm_suspect(sm, &(struct suspect){
				.guid = guid, .changed = sm->light.asked[i] & LIGHT_CHANGED,
				.unasked = refused_clearing(sm, guid) ||
					   !(sm->light.asked[i] & LIGHT_SUSPECT) });
			changed++;
		}
	light_end(sm);
	sm->wishes.psc_seen |= told;
	spared = suspect_spared(sm);
	left = exclusions_end(sm);
	if (claimed && heed_claim(sm))
		sm_want_sweep(sm, SWEEP_FULL, "another subnet manager was active");
	else if (left == EXCLUSIONS_RENAMED)
		sm_want_sweep(sm, SWEEP_CHANGE, "a device no longer has the GUID of another device");
	else if (changed)
		sm_want_sweep(sm, SWEEP_LOCAL, "a switch reports a change or does not answer");
	else if (left == EXCLUSIONS_BACK)
		sm_want_sweep(sm, SWEEP_LOCAL, "an excluded device answers correctly");
	else if (spared)
		sm_want_sweep(sm, SWEEP_LOCAL, "some ports have not been read");
	scrub_look(sm->devices.own_scrub);
	light_if_owed(sm);
}

static const struct smp_job_ops light_ops = { light_next, light_done, light_finished };

static void light_start(struct sm *sm)
{
	if (sweep_runs(sm) || sm->light.job || !sm->published)
		return;
	/* our own link was down: no switch can report that it is back */
	if (!sm->published->f->n_switches) {
		exclusions_forget(sm);	/* they cannot be asked one by one */
		sm_want_sweep(sm, SWEEP_CHANGE, "no switch to query");
		return;
	}
	election_ask_silent(sm);
	sm->light.told = sm->light.claimed = sm->light.master_asked = false;
	sm->light.state = state_ref(sm->published);
	sm->light.asked = xcalloc(sm->published->f->n_switches, 1);
	sm->light.left = 0;
	sm->light.job = smp_job_start(sm->mad, sm->published->f->n_switches + exclusions_begin(sm),
				      &light_ops, sm);
	implausible_ask(sm);
	names_ask(sm);
	silent_ask(sm);
}

static void on_light(void *arg)
{
	light_start(arg);
}

void light_if_owed(struct sm *sm)
{
	if (!sm->light.owed || sweep_runs(sm) || sm->light.job)
		return;
	sm->light.owed = false;
	if (sm->state == SM_MASTER)
		light_start(sm);
}

void sm_look(struct sm *sm)
{
	sm->light.owed = true;
	light_if_owed(sm);
}

void light_new(struct sm *sm)
{
	sm->light.timer = timer_new(sm->loop, on_light, sm);
}

void light_free(struct sm *sm)
{
	light_stop(sm);
	timer_free(sm->light.timer);
}

void sm_sweep_interval_changed(struct sm *sm)
{
	int64_t interval_us = sm->settings->sweep_interval_s * 1000000ll;

	if (sm->state != SM_MASTER || !sm->published)
		return;			/* the end of the sweep sets the timer */
	if (interval_us)
		timer_set(sm->light.timer, interval_us, interval_us);
	else
		timer_stop(sm->light.timer);
}
