/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Begins and ends every sweep, and has what its steps share: filling SMPs, and giving up devices
 * that do not answer.
 *
 * steps.c has the order of the steps.
 */
#include <stdlib.h>
#include <string.h>

#include "fabric/edit.h"
#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "sm/devices/exclusions.h"
#include "sm/devices/silent.h"
#include "sm/devices/scrub.h"
#include "sm/keys/mkey.h"
#include "sm/probe/probe_steps.h"
#include "sm/sm_internal.h"
#include "sm/sweep/announce.h"
#include "sm/sweep/reading.h"
#include "sm/write/refused_sets.h"
#include "sm/write/stale_tables.h"
#include "sm/write/write.h"

struct want_env sweep_env(const struct sm *sm)
{
	return (struct want_env){
		.plan = sm->sweep.plan,
		.sm_lid = sm->sweep.plan->lid[sm->sweep.f->self], .m_key = mkey_ours(sm),
		.refused = store_refusals(sm->store),
		.reregister = sm->clients.reregister, .asked = &sm->clients.asked,
		.successor_of = sm->clients.successor_of,
	};
}

void sweep_fill_smp(const struct sm *sm, struct smp *s, unsigned method, uint16_t attr,
		    uint32_t mod)
{
	s->method = (uint8_t)method;
	s->attr = attr;
	s->mod = mod;
	if (!s->m_key)
		s->m_key = mkey_ours(sm);
	s->once = sweep_is(sm)->once;
	/* others wait for the repair; a device that answers too late is soon asked again (silent.h) */
	s->brief = sweep_is(sm)->brief;
	memset(s->data, 0, sizeof(s->data));
}

void sweep_fill_set(const struct sm *sm, uint32_t node, struct smp *s, uint16_t attr, uint32_t mod)
{
	sweep_fill_smp(sm, s, SMP_SET, attr, mod);
	s->brief &= !sm->sweep.work[node].heard;
}

static struct log_ratelimit failed_log = LOG_RATELIMIT;

/*
 * Lost SMPs before a device is given up: as many as are under way at once, so that a device that is
 * gone fails with its first window.
 */
#define SILENT_MAX 4
/* The same for Sets, each of which was tried several times. */
#define SETS_LOST_MAX 2
#define LOST_MAX 100

/* The route of an SMP may be broken: the next sweep, which follows at once, finds another. */
static bool is_outdated(const struct sm *sm)
{
	for (size_t i = 0; i < sm->wishes.suspects.n; i++)
		if (!sm->wishes.suspects.v[i].left)
			return true;
	return false;
}

bool sweep_smp_lost(struct sm *sm, uint32_t node, const char *what)
{
	struct node_work *w = &sm->sweep.work[node];
	bool outdated = sweep_is(sm)->brief && is_outdated(sm);

	if (w->failed)
		return false;
	if (!sweep_is(sm)->once && !outdated && (!sweep_is(sm)->brief || w->heard) &&
	    ++w->silent < SILENT_MAX && ++w->lost < LOST_MAX)
		return true;
	w->failed = true;
	w->outdated = outdated;
	sm->last.failed_devices++;
	log_limited(&failed_log, LOG_LEVEL_WARNING, "sweep",
		    "%s: no answer while %s; skipping it in this sweep",
		    NODE_NAME(sm->sweep.f, node), what);
	return false;
}

bool sweep_set_lost(struct sm *sm, uint32_t node, const char *what)
{
	struct node_work *w = &sm->sweep.work[node];

	if (++w->sets_lost >= SETS_LOST_MAX)
		w->silent = SILENT_MAX;
	return sweep_smp_lost(sm, node, what);
}

/*
 * Stores a PortInfo.  A state below the known one means that the link has trained anew, at both
 * ends, since the fabric was read.
 */
void sweep_store_port(struct sm *sm, uint32_t port, const uint8_t info[64])
{
	struct fabric_port *p = &sm->sweep.f->ports[port];
	unsigned before = p->state;

	fabric_port_store(p, info);
	sm->sweep.work[p->node].stored = true;
	if (p->state < before && p->state != IB_PORT_NOP && p->peer != FABRIC_NONE)
		sm->sweep.work[sm->sweep.f->ports[p->peer].node].trained = true;
}

void sweep_port_unsure(struct sm *sm, uint32_t port)
{
	sm->sweep.f->ports[port].unsure = true;
	sm->sweep.work[sm->sweep.f->ports[port].node].stored = true;
}

void sweep_free_work(struct sm *sm)
{
	for (uint32_t i = 0; sm->sweep.work && i < sm->sweep.f->n_nodes; i++) {
		free(sm->sweep.work[i].items);
		free(sm->sweep.work[i].ports);
		free(sm->sweep.work[i].look);
		free(sm->sweep.work[i].inherited);
		vec_free(&sm->sweep.work[i].late);
		places_free(&sm->sweep.work[i]);
		vec_free(&sm->sweep.work[i].speeds);
		vec_free(&sm->sweep.work[i].fixed);
		vec_free(&sm->sweep.work[i].arbs);
	}
	free(sm->sweep.work);
	sm->sweep.work = NULL;
}

void sweep_nothing_is_coming(struct sm *sm)
{
	if (sm->sweep.told_coming)
		sm->hooks.coming(sm->hooks.arg, NULL);
	sm->sweep.told_coming = false;
}

void sweep_cleanup(struct sm *sm, bool keep_fabric)
{
	bool published;

	sweep_step_over(sm);
	planning_join(sm);
	sweep_nothing_is_coming(sm);
	sweep_discovery_stop(sm);
	if (sm->sweep.job)
		smp_job_cancel(sm->sweep.job);
	sm->sweep.job = NULL;
	timer_stop(sm->turn_timer);
	vls_free(sm);
	probe_free(sm);
	reroute_free(sm->sweep.reroute);
	sm->sweep.reroute = NULL;
	fabric_free(sm->sweep.spare);
	sm->sweep.spare = NULL;
	free(sm->sweep.touched);
	sm->sweep.touched = NULL;
	sm->sweep.only_election = false;
	refused_end(sm);
	sweep_free_work(sm);
	/* a published fabric is not ours to free; announce_free() drops the reference */
	published = announce_has_begun(sm);
	announce_free(sm);
	state_unref(sm->sweep.replaced);
	sm->sweep.replaced = NULL;
	/* findings may be lost, and a part of the plan may have been written */
	if (!keep_fabric && sm->sweep.phase != PHASE_IDLE)
		sm->known.blind_all = true;
	if (!keep_fabric && sm->sweep.phase >= PHASE_PORTS) {
		stale_tables_forget_all(sm->known.stale_tables);
		sm->wishes.full = true;
	}
	if (!keep_fabric && !published) {
		plan_free(sm->sweep.plan);
		fabric_free(sm->sweep.f);
	}
	sm->sweep.plan = NULL;
	sm->sweep.f = NULL;
	shared_policy_unref(sm->sweep.policy);
	sm->sweep.policy = NULL;
	free(sm->sweep.reason);
	sm->sweep.reason = NULL;
	vec_free(&sm->sweep.fixed);
	vec_free(&sm->sweep.fixed_arbs);
	vec_free(&sm->sweep.lft_reads);
	sm->sweep.kind = SWEEP_NONE;
	sm->sweep.phase = PHASE_IDLE;
}

void sweep_begin(struct sm *sm, enum sweep_kind kind, const char *reason)
{
	const struct mad_counts *c = mad_counts(sm->mad);

	scrub_give_way(sm->devices.scrub);
	scrub_give_way(sm->devices.own_scrub);
	mkey_settle(sm);
	sm->sweep.kind = kind;
	sm->sweep.reason = xstrdup(reason);
	sm->sweep.started_us = clock_mono_us();
	sm->sweep.smps_before = c->smps;
	sm->sweep.sets_before = c->sets_total;
	sm->sweep.discovery_tries = 0;
	exclusions_sweep(sm);
	sm->sweep.inherited_nodes = 0;
	sm->sweep.was_owed = sm->wishes.full;
	sm->wishes.full |= sweep_is(sm)->reads_tables;
	sm->wishes.only_refused = false;
	if (kind != SWEEP_LOCAL)	/* a local sweep may find nothing, and then nothing changes */
		sm->last.failed_devices = sm->last.sets_failed = 0;
	sm->sweep.policy = shared_policy_ref(sm->policy);
	log_debug("sweep", "starts: %s", reason);
}

/* Works on a copy of the published fabric. */
enum step_result sweep_take_published(struct sm *sm)
{
	struct fabric *f = fabric_clone(sm->published->f);

	if (silent_mark(sm, f))
		fabric_reroute_all(f);
	sweep_take_fabric(sm, f, sweep_new_work(f));
	announce_correct(sm, sm->sweep.f);
	return RESULT_DONE;
}

enum step_result sweep_become_master(struct sm *sm)
{
	if (sm->sweep.only_election)
		return RESULT_NOTHING;
	sm_set_state(sm, SM_MASTER);
	return RESULT_DONE;
}

enum step_result sweep_coming(struct sm *sm)
{
	inherited_tell(sm);
	sm->sweep.told_coming = true;
	sm->hooks.coming(sm->hooks.arg, sm->sweep.plan);
	if (sweep_is(sm)->whole) {
		map64_clear(&sm->known.blind);
		map64_clear(&sm->known.spared);
	}
	return RESULT_DONE;
}

void sweep_start(struct sm *sm, enum sweep_kind kind, const char *reason)
{
	/* all nodes must be told of a new policy, and a sweep needs a fabric to begin with */
	if ((kind == SWEEP_LOCAL && (!sm->published || sm->published->policy != sm->policy)) ||
	    (kind == SWEEP_POLICY && !sm->published))
		kind = SWEEP_CHANGE;
	/* the published fabric may be a copy, or older than another master: it was not read */
	if (sm->wishes.full && kind > SWEEP_TAKEOVER)
		kind = SWEEP_FULL;
	if (kind != SWEEP_LOCAL && kind != SWEEP_POLICY)
		sm->wishes.suspects.n = 0;	/* everything is discovered */
	sweep_begin(sm, kind, reason);
	sweep_run(sm);
}
