/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lists the steps of each kind of sweep, in order, and drives them.
 *
 * The event loop runs while a step waits, and between two steps if they have kept it for long.
 *
 * Side paths are results (steps.h): a probe that finds more than it can follow, and a device that
 * hid others, lead back to STEP_DISCOVER.  The plan's second part is computed beside the steps
 * between the one that begins it and STEP_PATHS, or STEP_JUDGE if tables wait for it; STEP_FOLLOW
 * computes paths once more if devices keep other tables.
 *
 * Invariant: sm->progress.step is the one step that runs.  A caller that ends a sweep from outside
 * (sweep_lost(), sweep_cleanup()) does so while the step waits, or from within the step's start
 * function, which then returns RESULT_WAIT.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "sm/devices/exclusions.h"
#include "sm/election/election.h"
#include "sm/keys/mkey.h"
#include "sm/probe/probe_steps.h"
#include "sm/sm_internal.h"
#include "sm/sweep/announce.h"
#include "sm/sweep/reading.h"
#include "sm/sweep/sweep_record.h"
#include "sm/write/fixed_routes.h"
#include "sm/write/write.h"

#define PHASE_SAME PHASE_IDLE	/* the phase of the step before */
#define TURN_US 1000		/* so long steps may keep the event loop before it runs between two of them */

static const struct {
	const char *name;
	enum phase phase;
	enum step_result (*start)(struct sm *sm);
	const char *what;
} steps[SWEEP_STEPS] = {
	[STEP_NONE] = { "none", PHASE_SAME, NULL, "" },
	[STEP_PROBE] = { "probe", PHASE_PROBING, probe_start,
		"reads the ports of suspect devices" },
	[STEP_DISCOVER] = { "discover", PHASE_DISCOVERY, sweep_discover, "walks the whole fabric" },
	[STEP_HIDDEN] = { "hidden", PHASE_SAME, probe_hidden,
		"queries silent devices again, with earlier M_Keys" },
	[STEP_ACCEPT] = { "accept", PHASE_SAME, sweep_accept,
		"discovers again if more devices are silent than before" },
	[STEP_PUBLISHED] = { "published", PHASE_PLANNING, sweep_take_published,
		"takes over the fabric of the last sweep" },
	[STEP_COPY] = { "copy", PHASE_ELECTION, takeover_take_copy,
		"takes over the standby's fabric and plan" },
	[STEP_KEYS] = { "keys", PHASE_SAME, mkey_identify, "finds out which M_Keys ports have" },
	[STEP_ADAPTERS] = { "adapters", PHASE_SAME, false_adapters_start,
		"finds switches that claim to be adapters; discovers again behind them" },
	[STEP_ELECT] = { "elect", PHASE_ELECTION, election_start,
		"queries other subnet managers and decides which is master" },
	[STEP_MASTER] = { "master", PHASE_SAME, sweep_become_master, "becomes or stays master" },
	[STEP_SPEEDS] = { "speeds", PHASE_LINKS, speeds_start, "reads speeds that discovery did not read" },
	[STEP_ADAPTIVE] = { "adaptive", PHASE_SAME, adaptive_start,
		"queries switches for adaptive routing" },
	[STEP_PLACES] = { "places", PHASE_SAME, places_start,
		"reads P_Key tables that another manager may have left" },
	[STEP_PREPARE] = { "prepare", PHASE_PLANNING, sweep_prepare, "notes links that went down" },
	[STEP_FIXED_ROUTES] = { "fixed-routes", PHASE_SAME, fixed_routes_start,
		"reads forwarding tables that switches keep" },
	[STEP_PLAN] = { "plan", PHASE_SAME, sweep_plan, "computes LIDs, tables and routes" },
	[STEP_PATHS_EARLY] = { "paths-early", PHASE_SAME, sweep_paths_early,
		"starts computing paths, if tables wait for the verdict" },
	[STEP_READ] = { "read", PHASE_READING, observe_start, "reads unknown tables" },
	[STEP_COMING] = { "coming", PHASE_PORTS, sweep_coming, "announces the coming plan to the SA" },
	[STEP_OWN_KEYS] = { "own-keys", PHASE_SAME, mkey_change, "sets our M_Key" },
	[STEP_PORTS] = { "ports", PHASE_SAME, write_ports, "sets SwitchInfo and PortInfo, up to Armed" },
	[STEP_MORE_VLS] = { "more-vls", PHASE_SAME, vls_add, "adds VLs to Active links and changes their "
			"MTU" },
	[STEP_PATHS_BEGIN] = { "paths-begin", PHASE_SAME, sweep_paths_begin,
		"starts computing paths, in parallel with the next steps" },
	[STEP_JUDGE] = { "judge", PHASE_SAME, sweep_judge,
		"waits for the paths if the policy is not in force yet" },
	[STEP_TABLES] = { "tables", PHASE_TABLES, write_tables, "writes forwarding, P_Key, SL2VL and VLArb tables" },
	[STEP_PATHS] = { "paths", PHASE_SAME, sweep_paths, "waits for the paths" },
	[STEP_FOLLOW] = { "follow", PHASE_SAME, sweep_follow,
		"computes paths again if devices keep other tables" },
	[STEP_ACTIVATE] = { "activate", PHASE_ACTIVATION, write_active,
		"makes ports Active and starts enforcing partitions" },
	[STEP_FEWER_VLS] = { "fewer-vls", PHASE_SAME, vls_take_away, "removes VLs from Active links" },
	[STEP_ROUTES] = { "routes", PHASE_ROUTES, reroute_start,
		"writes forwarding tables in rounds if they are based on those in force" },
	[STEP_ISOLATE] = { "isolate", PHASE_SAME, isolated_take_down, "takes isolated links down" },
	[STEP_PUBLISH] = { "publish", PHASE_ANNOUNCING, sweep_publish, "makes the SA answer from the new "
			"plan" },
	[STEP_ANNOUNCE] = { "announce", PHASE_SAME, announce_start,
		"informs Active ports: P_Keys, the master, a request to register again" },
	[STEP_SETTLE] = { "settle", PHASE_SAME, sweep_settle, "counts results" },
	[STEP_TELL] = { "tell", PHASE_SAME, sweep_tell, "reports what has changed, and starts what follows a sweep" },
	[STEP_END] = { "end", PHASE_SAME, sweep_end, "frees what the sweep held" },
	[STEP_KEEP_COPY] = { "keep-copy", PHASE_SAME, takeover_keep_copy,
		"keeps the plan for a failover" },
};

/* Steps that go through the items of each node by node_work.cursor. */
static const bool uses_cursor[SWEEP_STEPS] = {
	[STEP_ADAPTERS] = true, [STEP_SPEEDS] = true, [STEP_ADAPTIVE] = true, [STEP_PLACES] = true,
	[STEP_READ] = true, [STEP_PORTS] = true, [STEP_TABLES] = true, [STEP_ACTIVATE] = true,
	[STEP_ANNOUNCE] = true,
};

const struct sweep_traits sweep_kinds[SWEEP_KINDS] = {
	[SWEEP_NONE] = { .name = "none" },
	[SWEEP_STANDBY] = { "standby",
		.steps = {
			STEP_DISCOVER, STEP_HIDDEN, STEP_ACCEPT, STEP_KEYS, STEP_ADAPTERS,
			STEP_SPEEDS, STEP_ADAPTIVE,
			STEP_PREPARE, STEP_FIXED_ROUTES, STEP_PLAN, STEP_PATHS_BEGIN, STEP_PATHS,
			STEP_KEEP_COPY,
		} },
	[SWEEP_TAKEOVER] = { "takeover", .once = true, .by_copy = true, .writes = true,
		.steps = {
			STEP_COPY, STEP_ELECT, STEP_MASTER,
			STEP_PUBLISH, STEP_ANNOUNCE, STEP_SETTLE, STEP_TELL, STEP_END,
		} },
	[SWEEP_POLICY] = { "policy", .plans_all = true, .writes = true,
		.steps = {
			STEP_PUBLISHED,
			STEP_PREPARE, STEP_FIXED_ROUTES, STEP_PLAN, STEP_PATHS_EARLY,
			STEP_READ, STEP_COMING, STEP_OWN_KEYS, STEP_PORTS, STEP_MORE_VLS,
			STEP_PATHS_BEGIN, STEP_JUDGE, STEP_TABLES, STEP_PATHS, STEP_FOLLOW,
			STEP_ACTIVATE, STEP_FEWER_VLS, STEP_ROUTES, STEP_ISOLATE,
			STEP_PUBLISH, STEP_ANNOUNCE, STEP_SETTLE, STEP_TELL, STEP_END,
		} },
	[SWEEP_LOCAL] = { "local", .brief = true, .repairs = true, .writes = true,
		.steps = {
			STEP_PROBE, STEP_KEYS, STEP_ELECT, STEP_MASTER,
			STEP_SPEEDS, STEP_ADAPTIVE, STEP_PLACES,
			STEP_PREPARE, STEP_FIXED_ROUTES, STEP_PLAN, STEP_PATHS_EARLY,
			STEP_READ, STEP_COMING, STEP_OWN_KEYS, STEP_PORTS, STEP_MORE_VLS,
			STEP_PATHS_BEGIN, STEP_JUDGE, STEP_TABLES,
			STEP_ACTIVATE, STEP_ROUTES, STEP_ISOLATE, STEP_PATHS, STEP_FOLLOW,
			STEP_PUBLISH, STEP_ANNOUNCE, STEP_SETTLE, STEP_TELL, STEP_END,
		} },
#define DISCOVERS \
			STEP_DISCOVER, STEP_HIDDEN, STEP_ACCEPT, STEP_KEYS, STEP_ADAPTERS, \
			STEP_ELECT, STEP_MASTER, \
			STEP_SPEEDS, STEP_ADAPTIVE, STEP_PLACES, \
			STEP_PREPARE, STEP_FIXED_ROUTES, STEP_PLAN, STEP_PATHS_EARLY, \
			STEP_READ, STEP_COMING, STEP_OWN_KEYS, STEP_PORTS, STEP_MORE_VLS, \
			STEP_PATHS_BEGIN, STEP_JUDGE, STEP_TABLES, STEP_PATHS, STEP_FOLLOW, \
			STEP_ACTIVATE, STEP_FEWER_VLS, STEP_ROUTES, STEP_ISOLATE, \
			STEP_PUBLISH, STEP_ANNOUNCE, STEP_SETTLE, STEP_TELL, STEP_END,
	[SWEEP_CHANGE] = { "change", .whole = true, .writes = true, .steps = { DISCOVERS } },
	[SWEEP_FULL] = { "full", .whole = true, .reads_tables = true, .writes = true,
		.steps = { DISCOVERS } },
};

const char *phase_name(enum phase p)
{
	static const char *const names[] = {
		"idle", "probing", "discovery", "election", "links", "planning", "reading", "ports",
		"tables", "activation", "routes", "announcing",
	};
	return names[p];
}

static bool takes(enum sweep_kind kind, enum sweep_step step)
{
	return memchr(sweep_kinds[kind].steps, (int)step, SWEEP_STEPS);
}

static enum sweep_step step_after(enum sweep_kind kind, enum sweep_step step)
{
	const uint8_t *at = memchr(sweep_kinds[kind].steps, (int)step, SWEEP_STEPS);

	return step == STEP_NONE ? sweep_kinds[kind].steps[0] : at[1];
}

void sweep_step_over(struct sm *sm)
{
	struct sweep_progress *p = &sm->progress;
	int64_t now = clock_mono_us();

	if (p->step != STEP_NONE) {
		p->took_us[p->step] += now - p->begun_us;
		log_debug("sweep", "%s took %.3f s, %" PRIu64 " SMPs so far", steps[p->step].name,
			  (double)(now - p->begun_us) * 1e-6,
			  mad_counts(sm->mad)->smps - sm->sweep.smps_before);
	}
	p->step = STEP_NONE;
	p->done = false;
}

static enum step_result step_start(struct sm *sm, enum sweep_step step)
{
	struct sweep_progress *p = &sm->progress;

	sweep_step_over(sm);
	p->kind = sm->sweep.kind;
	p->step = step;
	p->begun_us = clock_mono_us();
	p->runs[step] += p->runs[step] < UINT8_MAX;
	if (steps[step].phase != PHASE_SAME)
		sm->sweep.phase = steps[step].phase;
	for (uint32_t i = 0; uses_cursor[step] && i < sm->sweep.f->n_nodes; i++)
		sm->sweep.work[i].cursor = 0;
	return steps[step].start(sm);
}

static void sweep_fail(struct sm *sm)
{
	char *why = sm->sweep.failure;
	struct event e;

	sm->sweep.failure = NULL;
	log_error("sweep", "given up: %s", why);
	event_make(&e, EVENT_SWEEP_INCOMPLETE, "gave up a sweep: %s", why);
	sm_tell(sm, &e);
	sweep_record(sm, why);
	free(why);
	sweep_lost(sm);
}

bool sweep_step_waits(const struct sm *sm, enum sweep_step step)
{
	return sm->progress.step == step && !sm->progress.done;
}

/* Acts on the result of the step that runs, and takes steps until one of them waits. */
static void advance(struct sm *sm, enum step_result result)
{
	int64_t turn_us = clock_mono_us();
	enum sweep_step next;

	for (;;) {
		switch (result) {
		case RESULT_DONE:
			next = step_after(sm->sweep.kind, sm->progress.step);
			break;
		case RESULT_DISCOVER:
			if (!takes(sm->sweep.kind, STEP_DISCOVER))
				sm->sweep.kind = SWEEP_CHANGE;
			next = STEP_DISCOVER;
			break;
		case RESULT_NOTHING:
			log_debug("sweep", "%s: nothing has changed", sm->sweep.reason);
			sm->sweep.phase = PHASE_IDLE;
			sweep_cleanup(sm, false);
			sm_sweep_ended(sm, sm->subnet_up);
			return;
		case RESULT_LOST:
			sweep_lost(sm);
			return;
		case RESULT_FAIL:
			sweep_fail(sm);
			return;
		case RESULT_WAIT:
		case RESULT_OVER:
		default:
			return;
		}
		result = step_start(sm, next);
		if (result == RESULT_DONE && clock_mono_us() - turn_us >= TURN_US) {
			sm->progress.done = true;
			timer_set(sm->turn_timer, 0, 0);
			return;
		}
	}
}

void sweep_turned(void *arg)
{
	struct sm *sm = arg;

	sm->progress.done = false;
	advance(sm, RESULT_DONE);
}

void sweep_step_done(struct sm *sm, enum sweep_step step, enum step_result result)
{
	if (sweep_step_waits(sm, step))
		advance(sm, result);
	else
		log_error("sweep", "internal error: step %s ended while step %s %s: ignored", steps[step].name,
			  steps[sm->progress.step].name, sm->progress.done ? "was done" : "ran");
}

void sweep_run(struct sm *sm)
{
	memset(&sm->progress, 0, sizeof(sm->progress));
	advance(sm, RESULT_DONE);
}

void sweep_job_over(void *arg)
{
	struct sm *sm = arg;

	sm->sweep.job = NULL;
	sweep_step_done(sm, sm->progress.step, RESULT_DONE);
}

enum step_result sweep_fails(struct sm *sm, const char *why)
{
	free(sm->sweep.failure);
	sm->sweep.failure = xstrdup(why);
	return RESULT_FAIL;
}

void sweep_lost(struct sm *sm)
{
	sweep_cleanup(sm, false);
	sm_sweep_ended(sm, false);
}

bool sm_sweep_step(const struct sm *sm, unsigned kind, unsigned i, struct sm_sweep_step *out)
{
	const struct sweep_progress none = { 0 }, *p = sm ? &sm->progress : &none;
	const struct sweep_traits *t = &sweep_kinds[kind + 1];	/* without SWEEP_NONE */
	enum phase phase = PHASE_IDLE;

	if (kind + 1 >= SWEEP_KINDS || i >= SWEEP_STEPS || t->steps[i] == STEP_NONE)
		return false;
	for (unsigned k = 0; k <= i; k++)
		if (steps[t->steps[k]].phase != PHASE_SAME)
			phase = steps[t->steps[k]].phase;
	*out = (struct sm_sweep_step){ .kind = t->name, .name = steps[t->steps[i]].name,
				       .phase = phase_name(phase), .what = steps[t->steps[i]].what };
	if (p->kind != kind + 1)
		return true;
	out->current = true;
	out->runs = p->step == t->steps[i];
	out->runs_so_far = p->runs[t->steps[i]];
	out->took_us = p->took_us[t->steps[i]] + (out->runs ? clock_mono_us() - p->begun_us : 0);
	return true;
}
