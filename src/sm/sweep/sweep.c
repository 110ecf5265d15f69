/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The beginning and the end of every sweep, and what its steps have in common: how their SMPs are filled,
 * and when a device that does not answer is given up.  steps.h has the order of the steps.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/edit.h"
#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "sm/devices/mute.h"
#include "sm/sm_internal.h"

struct want_env sweep_env(const struct sm *sm)
{
	return (struct want_env){
		.plan = sm->plan,
		.sm_lid = sm->plan->lid[sm->f->self], .m_key = mkey_ours(sm),
		.refused = store_refusals(sm->store),
		.reregister = sm->reregister, .asked = &sm->asked, .heir_of = sm->heir_of,
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
	/* others wait for the repair of what changed; who is late is asked again soon (mute.h) */
	s->brief = sweep_is(sm)->brief;
	memset(s->data, 0, sizeof(s->data));
}

void sweep_fill_set(const struct sm *sm, uint32_t node, struct smp *s, uint16_t attr, uint32_t mod)
{
	sweep_fill_smp(sm, s, SMP_SET, attr, mod);
	s->brief &= !sm->work[node].heard;
}

static struct log_ratelimit failed_log = LOG_RATELIMIT;

/* As many as are under way at once: a device that is gone fails with its first window. */
#define SILENT_MAX 4
/* Of Sets, each of which was tried several times. */
#define SETS_LOST_MAX 2
#define LOST_MAX 100

/* The way of an SMP may be no more: the next sweep, which comes at once, finds another. */
static bool is_outdated(const struct sm *sm)
{
	for (size_t i = 0; i < sm->suspects.n; i++)
		if (!sm->suspects.v[i].left)
			return true;
	return false;
}

bool sweep_smp_lost(struct sm *sm, uint32_t node, const char *what)
{
	char name[FABRIC_NAME_MAX];
	struct node_work *w = &sm->work[node];
	bool outdated = sweep_is(sm)->brief && is_outdated(sm);

	if (w->failed)
		return false;
	if (!sweep_is(sm)->once && !outdated && (!sweep_is(sm)->brief || w->heard) &&
	    ++w->silent < SILENT_MAX && ++w->lost < LOST_MAX)
		return true;
	w->failed = true;
	w->outdated = outdated;
	sm->failed_devices++;
	log_limited(&failed_log, LOG_LEVEL_WARNING, "sweep",
		    "%s: no answer while %s; nothing more is asked of it in this sweep",
		    fabric_node_name(sm->f, node, name, sizeof(name)), what);
	return false;
}

bool sweep_set_lost(struct sm *sm, uint32_t node, const char *what)
{
	struct node_work *w = &sm->work[node];

	if (++w->sets_lost >= SETS_LOST_MAX)
		w->silent = SILENT_MAX;
	return sweep_smp_lost(sm, node, what);
}

/* A port below the state that was known: its link has trained anew, at both ends, since the fabric was read. */
void sweep_store_port(struct sm *sm, uint32_t port, const uint8_t info[64])
{
	struct fabric_port *p = &sm->f->ports[port];
	unsigned before = p->state;

	fabric_port_store(p, info);
	sm->work[p->node].stored = true;
	if (p->state < before && p->state != IB_PORT_NOP && p->peer != FABRIC_NONE)
		sm->work[sm->f->ports[p->peer].node].trained = true;
}

void sweep_port_unsure(struct sm *sm, uint32_t port)
{
	sm->f->ports[port].unsure = true;
	sm->work[sm->f->ports[port].node].stored = true;
}

void sweep_free_work(struct sm *sm)
{
	for (uint32_t i = 0; sm->work && i < sm->f->n_nodes; i++) {
		free(sm->work[i].items);
		free(sm->work[i].ports);
		free(sm->work[i].look);
		free(sm->work[i].inherited);
		vec_free(&sm->work[i].late);
		places_free(&sm->work[i]);
		vec_free(&sm->work[i].speeds);
		vec_free(&sm->work[i].kept);
		vec_free(&sm->work[i].arbs);
	}
	free(sm->work);
	sm->work = NULL;
}

void sweep_nothing_is_coming(struct sm *sm)
{
	if (sm->told_coming)
		sm->hooks.coming(sm->hooks.arg, NULL);
	sm->told_coming = false;
}

void sweep_cleanup(struct sm *sm, bool keep_fabric)
{
	bool published;

	sweep_step_over(sm);
	planning_join(sm);
	sweep_nothing_is_coming(sm);
	sweep_discovery_stop(sm);
	if (sm->job)
		smp_job_cancel(sm->job);
	sm->job = NULL;
	timer_stop(sm->publish_timer);
	vls_free(sm);
	probe_free(sm);
	reroute_free(sm->reroute);
	sm->reroute = NULL;
	fabric_free(sm->spare);
	sm->spare = NULL;
	free(sm->touched);
	sm->touched = NULL;
	sm->only_election = false;
	refused_end(sm);
	sweep_free_work(sm);
	/* what is published is not ours to free; announce_free() drops the reference */
	published = announce_has_begun(sm);
	announce_free(sm);
	state_unref(sm->replaced);
	sm->replaced = NULL;
	/* what was found may be lost, and some of it may have been written */
	if (!keep_fabric && sm->phase != PHASE_IDLE)
		sm->blind_all = true;
	if (!keep_fabric && sm->phase >= PHASE_PORTS) {
		remnants_forget_all(sm->remnants);
		sm->full_owed = true;
	}
	if (!keep_fabric && !published) {
		plan_free(sm->plan);
		fabric_free(sm->f);
	}
	sm->plan = NULL;
	sm->f = NULL;
	shared_policy_unref(sm->sweep_policy);
	sm->sweep_policy = NULL;
	free(sm->reason);
	sm->reason = NULL;
	vec_free(&sm->kept);
	vec_free(&sm->kept_arbs);
	vec_free(&sm->lft_reads);
	sm->kind = SWEEP_NONE;
	sm->phase = PHASE_IDLE;
}

void sweep_begin(struct sm *sm, enum sweep_kind kind, const char *reason)
{
	const struct mad_counts *c = mad_counts(sm->mad);

	scrub_give_way(sm->scrub);
	scrub_give_way(sm->own_scrub);
	mkey_settle(sm);
	sm->kind = kind;
	sm->reason = xstrdup(reason);
	sm->started_us = clock_mono_us();
	sm->smps_before = c->smps;
	sm->sets_before = c->sets_total;
	sm->discovery_tries = 0;
	left_out_sweep(sm);
	sm->inherited_nodes = 0;
	sm->was_owed = sm->full_owed;
	sm->full_owed |= sweep_is(sm)->reads_tables;
	sm->only_refused = false;
	if (kind != SWEEP_LOCAL)	/* which may find nothing, and then all is as it was */
		sm->failed_devices = sm->sets_failed = 0;
	sm->sweep_policy = shared_policy_ref(sm->policy);
	log_debug("sweep", "starts: %s", reason);
}

/* The published fabric once more. */
enum step_result sweep_take_published(struct sm *sm)
{
	struct fabric *f = fabric_clone(sm->published->f);

	if (mute_mark(sm, f))
		fabric_reroute_all(f);
	sweep_take_fabric(sm, f);
	announce_correct(sm, sm->f);
	return RESULT_DONE;
}

enum step_result sweep_become_master(struct sm *sm)
{
	if (sm->only_election)
		return RESULT_NOTHING;
	sm_set_state(sm, SM_MASTER);
	return RESULT_DONE;
}

enum step_result sweep_coming(struct sm *sm)
{
	inherited_tell(sm);
	sm->told_coming = true;
	sm->hooks.coming(sm->hooks.arg, sm->plan);
	if (sweep_is(sm)->whole) {
		map64_clear(&sm->blind);
		map64_clear(&sm->spared);
	}
	return RESULT_DONE;
}

enum step_result sweep_turn(struct sm *sm)
{
	timer_set(sm->publish_timer, 0, 0);
	return RESULT_WAIT;
}

void sweep_turned(void *arg)
{
	sweep_step_done(arg, RESULT_DONE);
}

void sweep_start(struct sm *sm, enum sweep_kind kind, const char *reason)
{
	/* all nodes have to hear of a new policy, and there must be something to begin with */
	if ((kind == SWEEP_LOCAL && (!sm->published || sm->published->policy != sm->policy)) ||
	    (kind == SWEEP_POLICY && !sm->published))
		kind = SWEEP_CHANGE;
	/* what is published may be a picture's, or of before another was master: nobody read it */
	if (sm->full_owed && kind > SWEEP_TAKEOVER)
		kind = SWEEP_FULL;
	if (kind != SWEEP_LOCAL && kind != SWEEP_POLICY)
		sm->suspects.n = 0;	/* all is discovered */
	sweep_begin(sm, kind, reason);
	sweep_run(sm);
}
