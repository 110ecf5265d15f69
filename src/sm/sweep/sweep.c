/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The way of a sweep, from discovery to publishing; sm_internal.h has the map.
 *
 * The plan is computed in a worker thread, so that queries and the control
 * socket are served meanwhile.  Its first part runs while no SMP of the sweep
 * is outstanding: nobody else looks at the LIDs of the store.  Its second part,
 * which only clients need, runs while the tables are written.  During both
 * nobody writes to the fabric or the policy that they read.
 *
 * Tables of a policy that is not in force yet wait for the second part, in which
 * is said whether this fabric can do what it asks.  When only the policy is
 * new, both parts come first; else the second works on a copy of the fabric
 * while devices are read and ports are set.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/edit.h"
#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "plan/feasible/feasible.h"
#include "plan/routes/base_routes.h"
#include "plan/routes/choose_engine.h"
#include "plan/routes/fabric_shape.h"
#include "sm/devices/liars.h"
#include "sm/devices/mute.h"
#include "sm/sm_internal.h"
#include "sm/sweep/forget.h"

#define DISCOVERY_TRIES 3
#define FRUITLESS_MAX 1024

const char *phase_name(enum phase p)
{
	static const char *const names[] = {
		"idle", "probing", "discovery", "election", "links", "planning", "reading", "ports",
		"tables", "activation", "routes", "announcing",
	};
	return names[p];
}

void sweep_enter(struct sm *sm, enum phase p)
{
	int64_t now = clock_mono_us();

	if (sm->phase != PHASE_IDLE)
		log_debug("sweep", "%s took %.3f s, %" PRIu64 " SMPs so far", phase_name(sm->phase),
			  (double)(now - sm->phase_us) * 1e-6,
			  mad_counts(sm->mad)->smps - sm->smps_before);
	sm->phase = p;
	sm->phase_us = now;
}

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
	s->once = sm->kind == SWEEP_TAKEOVER;	/* see takeover.c */
	/* others wait for the repair of what changed; who is late is asked again soon (mute.h) */
	s->brief = sm->kind == SWEEP_LOCAL;
	memset(s->data, 0, sizeof(s->data));
}

void sweep_fill_set(const struct sm *sm, uint32_t node, struct smp *s, uint16_t attr, uint32_t mod)
{
	sweep_fill_smp(sm, s, SMP_SET, attr, mod);
	s->brief &= !sm->work[node].heard;
}

static struct log_ratelimit failed_log = LOG_RATELIMIT;
/* What others say begins sweeps, as often as the trap gate and the like allow. */
static struct log_ratelimit ended_log = { .burst = 40, .per_second = 1, .tokens = 40 };

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
	bool outdated = sm->kind == SWEEP_LOCAL && is_outdated(sm);

	if (w->failed)
		return false;
	if (sm->kind != SWEEP_TAKEOVER && !outdated && (sm->kind != SWEEP_LOCAL || w->heard) &&
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

static void free_work(struct sm *sm)
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

static void planning_join(struct sm *sm);

static void nothing_is_coming(struct sm *sm)
{
	if (sm->told_coming)
		sm->hooks.coming(sm->hooks.arg, NULL);
	sm->told_coming = false;
}

static void disco_over(struct sm *sm)
{
	sm->disco = NULL;
	state_unref(sm->disco_known);
	sm->disco_known = NULL;
}

void sweep_cleanup(struct sm *sm, bool keep_fabric)
{
	bool published;

	planning_join(sm);
	nothing_is_coming(sm);
	disco_cancel(sm->disco);
	disco_over(sm);
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
	free_work(sm);
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

static void sweep_fail(struct sm *sm, const char *why)
{
	struct event e;

	log_error("sweep", "given up: %s", why);
	event_make(&e, EVENT_SWEEP_INCOMPLETE, "a sweep was given up: %s", why);
	sm_tell(sm, &e);
	sweep_cleanup(sm, false);
	sm_sweep_ended(sm, false);
}

/* --- discovery --- */

/* Links that are up and nobody answered at the other end, and ports of switches that did not. */
static uint32_t count_unanswered(const struct fabric *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n_ports; i++) {
		const struct fabric_port *p = &f->ports[i];

		if (!p->present)
			n += node_is_switch(port_node(f, i));
		else if (p->num && p->state >= IB_PORT_INIT_S && p->peer == FABRIC_NONE)
			n++;
	}
	return n;
}

/* Those of them behind which a device is that is left out. */
static uint32_t count_left_out(const struct sm *sm, const struct fabric *f)
{
	const struct disco_left *x;
	uint32_t n = 0;

	for (size_t i = 0; (x = left_out_at(sm, i)); i++) {
		uint32_t node = map64_get(&f->node_by_guid, x->near_guid);

		n += node != MAP64_NONE && x->near_port <= f->nodes[node].nports &&
		     f->ports[f->nodes[node].port0 + x->near_port].peer == FABRIC_NONE;
	}
	return n;
}

/* The sweep goes on with this fabric, which it takes over. */
static void take_fabric(struct sm *sm, struct fabric *f)
{
	if (sm->published)
		fabric_keep_owners(f, sm->published->f);
	sm->f = f;
	sm->work = xcalloc(f->n_nodes, sizeof(*sm->work));
	/* a repair waits for nobody; a new policy is a reason to try who was silent */
	for (uint32_t i = 0; i < f->n_nodes && sm->kind == SWEEP_LOCAL; i++) {
		sm->work[i].failed = f->nodes[i].mute;
		sm->failed_devices += f->nodes[i].mute;
	}
}

static void discovery_start(struct sm *sm);

static void discovery_done(void *arg, const struct disco_result *res)
{
	struct sm *sm = arg;
	struct buf why = { 0 };

	disco_over(sm);
	sm->discovery_smps += res->mads;
	sm->discovery_lost += res->learned.lost;
	if (left_out_scanned(sm, res)) {
		log_info("discovery", "%s: it is repeated without them", res->error ? res->error :
			 "devices that can't be what they say were found");
		fabric_free(res->f);
		sm->discovery_tries--;
		discovery_start(sm);
		return;
	}
	if (!res->f) {
		if (res->own_port)
			mkey_scan_failed(sm);
		if (sm->discovery_tries < DISCOVERY_TRIES - 1 + mkey_count(sm)) {
			log_warn("discovery", "%s; trying again", res->error);
			discovery_start(sm);
		} else {
			mkey_scan_given_up(sm);
			buf_puts(&why, res->error);
			if (res->own_port)
				buf_puts(&why, " (has it an M_Key that is not m-key of our settings?)");
			/* no light sweep would ask for them */
			if (!sm->published)
				left_out_forget(sm);
			sweep_fail(sm, why.s);
			buf_free(&why);
		}
		return;
	}
	mad_learn(sm->mad, &res->learned);
	log_debug("discovery", "%u nodes, %u switches, %u SMPs", res->f->n_nodes,
		  res->f->n_switches, res->mads);
	if (mkey_count(sm) > 1 && count_unanswered(res->f))
		probe_hidden(sm, res->f);
	else
		sweep_discovered(sm, res->f);
}

void sweep_adapters_known(struct sm *sm)
{
	if (sm->kind == SWEEP_PICTURE) {
		sweep_enter(sm, PHASE_LINKS);
		speeds_start(sm);
		return;
	}
	sweep_enter(sm, PHASE_ELECTION);
	election_start(sm);
}

static bool node_was_claimed(const struct subnet_state *old, const struct fabric *f, uint32_t node)
{
	const struct fabric_node *n = &f->nodes[node];

	for (uint32_t i = n->port0; i <= n->port0 + n->nports; i++) {
		uint32_t before = port_is_end(f, i) ? fabric_find_port(old->f, f->ports[i].guid) :
				  FABRIC_NONE;

		if (before != FABRIC_NONE &&
		    state_was_claimed(old, old->f->ports[before].sm_lid, f->ports[i].sm_lid))
			return true;
	}
	return false;
}

/*
 * Another was master meanwhile, of a part of the subnet at least, and need not be there any more:
 * a port that had our LID as its MasterSMLID has another.
 *
 * touched: the nodes that are not as they were; NULL: any may be.
 */
static bool another_was_master(const struct sm *sm, const struct fabric *f, const uint8_t *touched)
{
	if (!sm->published || sm->state != SM_MASTER)
		return false;
	for (uint32_t node = 0; node < f->n_nodes; node++)
		if ((!touched || touched[node]) && node_was_claimed(sm->published, f, node))
			return true;
	return false;
}

/* Nothing that devices were known to hold is relied on. */
static void read_everything(struct sm *sm)
{
	log_info("sweep", "all is read: another subnet manager was at work");
	sm->another_was = true;
	sm->full_owed = true;
	sm->kind = SWEEP_FULL;
}

void sweep_discovered(struct sm *sm, struct fabric *f)
{
	uint32_t known = sm->published ? sm->published->f->unanswered : 0;
	uint32_t left = count_left_out(sm, f);

	f->unanswered = count_unanswered(f);
	/*
	 * The library reports a partial fabric as success: look again before
	 * believing it, but not for what was silent before, or is left out.
	 */
	if (f->unanswered > (known > left ? known : left) &&
	    sm->discovery_tries < DISCOVERY_TRIES) {
		log_warn("discovery", "%u ports or their far ends do not answer; looking again",
			 f->unanswered);
		fabric_free(f);
		discovery_start(sm);
		return;
	}
	if (sm->kind == SWEEP_CHANGE && another_was_master(sm, f, NULL))
		read_everything(sm);
	take_fabric(sm, f);
	mkey_identify(sm, false_adapters_start);
}

static enum disco_sandbox sandbox_of(const struct settings *s)
{
	return s->sandbox == SANDBOX_OFF ? DISCO_OPEN :
	       s->sandbox == SANDBOX_ON ? DISCO_SANDBOX : DISCO_STRICT;
}

static void discovery_start(struct sm *sm)
{
	const struct mad_port_info *info = mad_info(sm->mad);
	const struct pace_learned learned = mad_learned(sm->mad);
	struct disco_request r = {
		.ca = info->ca, .port = info->port, .window = sm->settings->discovery_window,
		.timeout_ms = sm->settings->smp_timeout_ms, .retries = sm->settings->smp_retries,
		.m_key = mkey_of_discovery(sm), .sandbox = sandbox_of(sm->settings),
		.known_window = learned.lossy ? learned.window : 0,
		.ports_max = left_out_ports_max(sm),
	};
	struct disco_left *out = xcalloc(LEFT_MAX, sizeof(*out));
	struct buf err = { 0 };

	r.out = out;
	r.n_out = left_out_list(sm, out);
	for (size_t i = 0; i < r.n_out; i++)
		r.without_library |= out[i].why == LEFT_KILLS || out[i].why == LEFT_HANGS;
	if (sm->published) {
		sm->disco_known = state_ref(sm->published);
		r.known = sm->disco_known->f;
	}
	sm->discovery_tries++;
	sm->disco = disco_start(sm->loop, &r, discovery_done, sm, &err);
	free(out);
	if (!sm->disco) {
		disco_over(sm);
		sweep_fail(sm, err.s);
	}
	buf_free(&err);
}

/* --- a local sweep: what is suspected, instead of everything --- */

/* Among what changed is a port that says IsSM, or did. */
static bool sms_changed(const struct sm *sm)
{
	const struct fabric *old = sm->published->f;

	for (uint32_t i = 0; i < sm->f->n_ports; i++) {
		const struct fabric_port *p = &sm->f->ports[i];
		uint32_t before;

		if (!sm->touched[p->node] || !port_is_end(sm->f, i))
			continue;
		before = fabric_find_port(old, p->guid);
		if (((before == FABRIC_NONE ? 0 : old->ports[before].capmask) ^ p->capmask) &
		    IB_CAP_IS_SM)
			return true;
	}
	return false;
}

static void nothing_changed(struct sm *sm);

static void probing_known(struct sm *sm)
{
	if (sm->election_due || sms_changed(sm)) {
		sweep_enter(sm, PHASE_ELECTION);
		election_start(sm);
	} else {
		sweep_elected(sm);
	}
}

/*
 * Nothing was found: who goes on to complain has a reason that was not found, but for who does
 * nothing else.
 */
static bool has_looked_too_often(struct sm *sm)
{
	struct trap_flood flood;

	if (sm->election_due || sm->unasked || sm_flood_at(sm, 0, &flood))
		return false;
	return ++sm->fruitless > sm->fruitless_max;
}

/* A local sweep becomes one of all there is. */
static void discover(struct sm *sm)
{
	sm->psc_seen = false;
	sm->failed_devices = sm->sets_failed = 0;
	sweep_enter(sm, PHASE_DISCOVERY);
	discovery_start(sm);
}

void sweep_discover_again(struct sm *sm)
{
	free_work(sm);
	fabric_free(sm->f);
	sm->f = NULL;
	sm->discovery_tries = 0;	/* what is new has as many as what was found before */
	discover(sm);
}

void sweep_probed(struct sm *sm, struct fabric *f, uint8_t *touched, bool all)
{
	if (!f && !all && has_looked_too_often(sm)) {
		log_info("sweep", "all is discovered: %u times something was said to have changed, "
			 "and nothing was found", sm->fruitless);
		sm->fruitless = 0;
		sm->fruitless_max = sm->fruitless_max < FRUITLESS_MAX ? 2 * sm->fruitless_max :
				    FRUITLESS_MAX;
		all = true;
	} else if (f) {
		sm->fruitless = 0;
		sm->fruitless_max = FRUITLESS_FIRST;
	}
	if (f && another_was_master(sm, f, touched)) {
		read_everything(sm);
		fabric_free(f);
		free(touched);
		discover(sm);
		return;
	}
	if (all || (!f && sm->psc_seen)) {
		sm->kind = SWEEP_CHANGE;
		discover(sm);
		return;
	}
	if (!f && sm->election_due) {
		sm->only_election = true;
		f = fabric_clone(sm->published->f);
		announce_correct(sm, f);
		touched = xcalloc(f->n_nodes, 1);
	}
	if (!f) {
		nothing_changed(sm);
		return;
	}
	sm->failed_devices = sm->sets_failed = 0;
	sm->psc_seen = false;
	f->unanswered = count_unanswered(f);
	take_fabric(sm, f);
	sm->touched = touched;
	mkey_identify(sm, probing_known);
}

/* --- planning --- */

struct plan_task {
	struct sm *sm;
	struct work *work;
	void (*next)(struct sm *sm);	/* the step of the sweep after it */
	const struct fabric *f;
	const struct policy *policy;
	const struct settings *settings;
	struct store *store;
	struct subnet_state *before;	/* a reference to what is in force, or NULL */
	struct reroute *reroute;
	struct plan *plan;	/* NULL before its first part */
	bool whole;		/* both parts at once, if there are tables */
	bool wants_spare;	/* a copy of f for the second part is made with the first */
	struct fabric *spare;
	bool forget;		/* its LIDs are not given to anybody: they are not kept */
	bool follow;		/* plan is complete: the paths are to follow what was seen */
	struct kept_seen seen;		/* … of sm->kept and sm->kept_arbs */
	struct fabric *copy;	/* plan is a fork of sm->plan on this one; else NULL */
};

static void plan_run(void *arg)
{
	struct plan_task *t = arg;
	const struct plan *before = t->before ? t->before->plan : NULL;
	bool second = t->plan;

	if (t->follow) {
		plan_follow(t->plan, &t->seen, clock_mono_us);
		return;
	}
	if (!second) {
		t->plan = plan_begin(t->f, t->policy, t->settings, store_lids(t->store),
				     before, clock_mono_us);
		t->reroute = reroute_new(t->plan, before, &t->sm->lft_reads);
		/* before any device hears of them: after a crash they must be the same */
		if (!t->forget) {
			store_save_lids(t->store, t->plan);
			store_save_pkeys(t->store, t->plan);
			if (!store_wait(t->store))
				log_warn("sweep", "LIDs are given out that may not be on disk");
			if (!before || before->now->base != t->plan->now->base)
				store_save_known(t->store, t->plan->now->base->f);
		}
		if (t->wants_spare)
			t->spare = fabric_clone(t->f);
	}
	if (second || (t->whole && t->plan->tables->managed)) {
		plan_complete(t->plan, before, clock_mono_us);
		plan_judge(t->plan, clock_mono_us);
	}
}

static void planning_join(struct sm *sm)
{
	struct plan_task *t = sm->planning;

	if (!t)
		return;
	work_end(t->work);
	if (t->copy) {
		plan_join(sm->plan, t->plan);
		fabric_free(t->copy);
	} else if (!sm->plan)	/* of the second part the receiver's thread reads it meanwhile */
		sm->plan = t->plan;
	if (t->reroute)
		sm->reroute = t->reroute;
	if (t->spare)
		sm->spare = t->spare;
	state_unref(t->before);
	sm->planning = NULL;
	free(t);
}

/* Those of a sweep like the last one were said already. */
static void log_if_new(const struct findings *f, uint64_t *seen)
{
	uint64_t digest = 1;

	for (size_t i = 0; i < f->n; i++)
		digest = hash_bytes(f->v[i].text, strlen(f->v[i].text), digest);
	if (digest != *seen)
		findings_log(f, "plan");
	*seen = digest;
}

/* That the switches form no tree, or one that costs: when it begins, changes, and ends. */
static void log_shape(struct sm *sm)
{
	enum shape_state state = plan_shape_state(sm->plan);
	bool told = state == SHAPE_NO_TREE || state == SHAPE_COSTS;
	struct buf text = { 0 };
	uint64_t digest;

	plan_shape_text(sm->plan, &text);
	digest = told ? hash_bytes(text.s, text.n, 1) : 0;
	if (digest != sm->shape_seen)
		log_at(state == SHAPE_COSTS ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO, "routing", "%s", text.s);
	sm->shape_seen = digest;
	buf_free(&text);
}

/* Which engine was chosen, and why: once, until that changes. */
static void log_choice(struct sm *sm)
{
	struct buf text = { 0 };
	uint64_t digest;

	plan_choice_text(sm->plan, &text);
	digest = text.n ? hash_bytes(text.s, text.n, 1) : 0;
	if (text.n && digest != sm->choice_seen)
		log_info("routing", "%s", text.s);
	sm->choice_seen = digest;
	buf_free(&text);
}

static void log_new_findings(struct sm *sm)
{
	struct findings f = { 0 };

	log_shape(sm);
	log_choice(sm);
	findings_copy(&f, &sm->plan->findings);
	findings_copy(&f, &sm->plan->feasible->findings);
	log_if_new(&f, &sm->findings_seen);
	findings_free(&f);
}

enum planning {
	PLAN_NEXT,	/* the part that is next */
	PLAN_AHEAD,	/* … ahead of its time, on a copy of the fabric */
	PLAN_FOLLOW,	/* both are done: what devices keep */
};

static void planning_done(void *arg)
{
	struct plan_task *t = arg;
	struct sm *sm = t->sm;
	void (*next)(struct sm *sm) = t->next;

	planning_join(sm);
	next(sm);
}

/*
 * A local sweep does not wait for the paths, which nobody but clients needs: new routes
 * are written before.
 */
static bool routes_first(const struct sm *sm)
{
	return sm->kind == SWEEP_LOCAL;
}

/*
 * A copy of the fabric as it is.  To copy a large one takes long: the spare was made in a
 * worker, and since then only ports that were stored, and SwitchInfo, may have changed.
 */
static struct fabric *copy_fabric(struct sm *sm)
{
	struct fabric *f = sm->spare;

	sm->spare = NULL;
	if (!f)
		return fabric_clone(sm->f);
	memcpy(f->switches, sm->f->switches, f->n_switches * sizeof(*f->switches));
	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (sm->work[i].stored)
			memcpy(fabric_port(f, i, 0), fabric_port(sm->f, i, 0),
			       (f->nodes[i].nports + 1u) * sizeof(*f->ports));
	return f;
}

static void planning_start(struct sm *sm, void (*next)(struct sm *sm), enum planning what)
{
	struct plan_task *t = xcalloc(1, sizeof(*t));
	int failed;

	t->sm = sm;
	t->next = next;
	t->plan = sm->plan;
	t->follow = what == PLAN_FOLLOW;
	t->seen = (struct kept_seen){ sm->kept.v, sm->kept.n, sm->kept_arbs.v, sm->kept_arbs.n };
	if (what == PLAN_AHEAD) {
		t->copy = copy_fabric(sm);
		t->plan = plan_fork(sm->plan, t->copy);
	}
	t->f = sm->f;
	t->policy = sm->sweep_policy->p;
	t->settings = sm->settings;
	t->store = sm->store;
	t->before = sm->published ? state_ref(sm->published) : NULL;
	t->whole = sm->kind == SWEEP_POLICY;
	t->forget = sm->kind == SWEEP_PICTURE;
	t->wants_spare = routes_first(sm);
	t->work = work_start(sm->loop, plan_run, planning_done, t);
	if (t->work) {
		sm->planning = t;
		return;
	}
	failed = errno;
	if (t->copy) {
		plan_join(sm->plan, t->plan);
		fabric_free(t->copy);
	}
	state_unref(t->before);
	free(t);
	sweep_fail(sm, strerror(failed));
}

static void paths_known(struct sm *sm)
{
	const struct plan *p = sm->plan;

	log_if_new(&sm->plan->kept, &sm->kept_seen);
	log_debug("sweep", "plan: LIDs %.3f s, tables %.3f s, routes %.3f s (%s), "
		  "verdict %.3f s, paths %.3f s, realizability %.3f s", (double)p->us_lids * 1e-6,
		  (double)p->us_tables * 1e-6, (double)p->us_routes * 1e-6,
		  p->engine ? p->engine : "none", (double)p->us_verdict * 1e-6,
		  (double)p->us_paths * 1e-6, (double)p->us_feasible * 1e-6);
	/* in a turn of its own: of a large fabric both this and publishing take their time */
	if (routes_first(sm))
		timer_set(sm->publish_timer, 0, 0);
	else
		write_active(sm);
}

/*
 * The tables are written and the plan is complete.  Where devices have others,
 * which is hardly ever so, the paths are computed once more.
 */
static void tables_known(struct sm *sm)
{
	kept_gather(sm);
	if (sm->kept.n || sm->kept_arbs.n || qos_links_lack(sm->plan->tables, sm->f))
		planning_start(sm, paths_known, PLAN_FOLLOW);
	else
		paths_known(sm);
}

static void plan_completed(struct sm *sm)
{
	log_new_findings(sm);
	if (sm->tables_wait)
		write_tables(sm);
	else if (routes_first(sm) ? sm->routes_written : sm->tables_written)
		tables_known(sm);
}

/* Tables are to be written, of a policy that is not in force yet. */
static bool judge_first(const struct sm *sm)
{
	return sm->plan->tables->managed &&
	       (!sm->published || sm->published->policy != sm->sweep_policy);
}

/* No port will be told of another width or speed, which would change what paths carry. */
static bool links_stay(const struct settings *s)
{
	return s->link_width == LINK_KEEP && s->link_speed == LINK_KEEP;
}

static void plan_begun(struct sm *sm)
{
	if (sm->kind == SWEEP_PICTURE) {
		planning_start(sm, takeover_keep_picture, PLAN_NEXT);
		return;
	}
	if (sm->plan->feasible)
		log_new_findings(sm);
	else if (judge_first(sm) && links_stay(sm->settings)) {
		planning_start(sm, plan_completed, PLAN_AHEAD);
		if (!sm->planning)
			return;		/* the sweep was given up */
	}
	sweep_enter(sm, PHASE_READING);
	observe_start(sm);
}

static void plan_what_is_there(struct sm *sm)
{
	planning_start(sm, plan_begun, PLAN_NEXT);
}

static void plan_start(struct sm *sm)
{
	sweep_enter(sm, PHASE_PLANNING);
	sm->tables_wait = sm->tables_written = sm->routes_written = sm->replan = false;
	flapping_look(sm);
	refused_begin(sm);
	kept_routes_start(sm, plan_what_is_there);
}

void sweep_ports_written(struct sm *sm)
{
	if (!sm->plan->feasible && !sm->planning) {
		/* ports become Active, and are written to, while it runs */
		planning_start(sm, plan_completed, routes_first(sm) ? PLAN_AHEAD : PLAN_NEXT);
		if (!sm->planning)
			return;		/* the sweep was given up */
	}
	sm->tables_wait = sm->planning && judge_first(sm);
	if (!sm->tables_wait)
		write_tables(sm);
}

void sweep_tables_written(struct sm *sm)
{
	sm->tables_written = true;
	if (routes_first(sm))
		write_active(sm);
	else if (!sm->planning)
		tables_known(sm);
}

void sweep_written(struct sm *sm)
{
	sm->routes_written = true;
	if (!routes_first(sm))
		sweep_finish(sm);
	else if (!sm->planning)
		tables_known(sm);
}

/* --- steps that other files end --- */

static void nothing_changed(struct sm *sm)
{
	log_debug("sweep", "%s: nothing has changed", sm->reason);
	sweep_enter(sm, PHASE_IDLE);
	sweep_cleanup(sm, false);
	sm_sweep_ended(sm, sm->subnet_up);
}

void sweep_elected(struct sm *sm)
{
	if (sm->only_election) {
		nothing_changed(sm);
		return;
	}
	sm_set_state(sm, SM_MASTER);
	if (sm->kind == SWEEP_TAKEOVER) {
		takeover_write(sm);
		return;
	}
	sweep_enter(sm, PHASE_LINKS);
	speeds_start(sm);
}

void sweep_links_known(struct sm *sm)
{
	plan_start(sm);
}

void sweep_lost(struct sm *sm)
{
	sweep_cleanup(sm, false);
	sm_sweep_ended(sm, false);
}

void sweep_observed(struct sm *sm)
{
	inherited_tell(sm);
	sm->told_coming = true;
	sm->hooks.coming(sm->hooks.arg, sm->plan);
	write_start(sm);
}

/* The device refuses for good to take the port to its next state. */
static bool state_is_refused(const struct sm *sm, uint32_t port)
{
	return sm->f->ports[port].state < IB_PORT_ACTIVE_S &&
	       port_state_is_refused(store_refusals(sm->store), sm->f, port);
}

/* The link has trained anew, and its end at a switch that is silent cannot be set (probe_forget_states()). */
static bool waits_for_silent(const struct fabric *f, uint32_t port)
{
	uint32_t peer = f->ports[port].peer;

	return f->ports[port].state < IB_PORT_ACTIVE_S && f->ports[peer].state == IB_PORT_NOP &&
	       port_node(f, peer)->mute && node_is_switch(port_node(f, port));
}

/* Ports that can't become Active do not count, nor do the ports at the other ends of their links. */
static void count_ports(struct sm *sm)
{
	sm->ports_active = sm->ports_linked = 0;
	for (uint32_t i = 0; i < sm->f->n_ports; i++) {
		const struct fabric_port *p = &sm->f->ports[i];

		if (!port_is_linked(sm->f, i) || state_is_refused(sm, i) || waits_for_silent(sm->f, i) ||
		    (p->state < IB_PORT_ACTIVE_S && state_is_refused(sm, p->peer)))
			continue;
		sm->ports_linked++;
		sm->ports_active += p->state == IB_PORT_ACTIVE_S;
	}
}

/* A CA without a link manages nobody. */
static bool self_is_linked(const struct fabric *f)
{
	return f->ports[f->self].num == 0 || port_is_linked(f, f->self);
}

/* The nodes whose tables are not surely as planned: the next sweep reads them. */
static void remember_doubts(struct sm *sm)
{
	map64_clear(&sm->doubtful);
	for (uint32_t i = 0; i < sm->f->n_nodes; i++)
		if (sm->work[i].failed || sm->work[i].doubtful)
			map64_put(&sm->doubtful, sm->f->nodes[i].guid, 1);
}

/*
 * The port at the other end is believed to be Active still, and this one is made Active, after which
 * nothing that the two say tells that the other is not.
 */
static void look_at_trained(struct sm *sm)
{
	mad_hold(sm->mad);
	for (uint32_t i = 0; i < sm->f->n_nodes; i++)
		if (sm->work[i].trained)
			map64_put(&sm->spared, sm->f->nodes[i].guid, 1);
	mad_release(sm->mad);
}

/* What is left on switches, of the plan in force until now, on ports that lost their link. */
static void note_remnants(struct sm *sm)
{
	const struct plan *old = sm->published ? sm->published->plan : NULL;

	if (!old || sm->kind >= SWEEP_FULL || sm->kind == SWEEP_TAKEOVER) {
		remnants_forget_all(sm->remnants);
		return;
	}
	for (uint32_t i = 0; i < sm->f->n_switches; i++) {
		uint32_t node = sm->f->switches[i].node;
		const struct node_work *w = &sm->work[node];
		uint32_t old_node = fabric_same_node(old->f, &sm->f->nodes[node]);

		if (w->unknown || w->failed || w->doubtful || w->joined || old_node == FABRIC_NONE)
			remnants_forget(sm->remnants, sm->f->nodes[node].guid);
		else
			remnants_note(sm->remnants, old, old_node, sm->plan, node);
	}
}

/* How many pairs of ports of a node have another SL2VL table than the plan's. */
static uint32_t count_kept(const struct sm *sm, uint32_t node)
{
	const struct fabric_node *n = &sm->f->nodes[node];
	const struct qos_tables *t = sm->plan->tables;
	unsigned ins = node_is_switch(n) ? n->nports : 0, first = !node_is_switch(n);
	uint32_t kept = 0;

	for (unsigned in = 0; in <= ins; in++)
		for (unsigned out = first; out <= n->nports; out++)
			kept += qos_sl2vl_id(t, sm->f, node, in, out) !=
				qos_sl2vl_in_force(t, sm->f, node, in, out);
	return kept;
}

/* A switch that forwards fewer MLIDs than its table has, as it does not take the limit back. */
static bool keeps_mcast_top(const struct sm *sm, uint32_t node)
{
	uint32_t sw = sm->f->nodes[node].sw;

	return sw != FABRIC_NONE &&
	       fabric_switch_mlids(sm->f, sw) < sm->f->switches[sw].mcast_cap;
}

static int by_node_and_kind(const void *va, const void *vb)
{
	const struct device_fault *a = va, *b = vb;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->kind != b->kind)
		return (int)a->kind - (int)b->kind;
	return a->attr - b->attr;
}

/*
 * What devices did not do in this sweep, and what they refuse for good.  sm->kept is in order of
 * nodes.
 */
static void add_faults(const struct sm *sm, struct subnet_state *s)
{
	VEC(struct device_fault) list = { 0 };
	struct sm_refused x;
	size_t k = 0, kind = 0;

	for (uint32_t i = 0; i < sm->f->n_nodes; i++) {
		const struct node_work *w = &sm->work[i];
		uint32_t kept = w->keeps + keeps_mcast_top(sm, i);

		if (k < sm->kept.n && sm->kept.v[k].node == i)
			kept += count_kept(sm, i);
		while (k < sm->kept.n && sm->kept.v[k].node == i)
			k++;
		if (w->failed)
			*vec_push(&list) = (struct device_fault){
				.node = i, .kind = w->foreign ? FAULT_FOREIGN_KEY : FAULT_SILENT };
		if (kept)
			*vec_push(&list) = (struct device_fault){ .node = i, .kind = FAULT_KEEPS,
								  .n = kept };
	}
	while (sm_refused_at(sm, sm->f, &kind, &x))
		*vec_push(&list) = (struct device_fault){
			.node = x.node, .kind = FAULT_REFUSES, .n = x.kind.by_status,
			.attr = x.kind.attr, .status = x.kind.status };
	if (list.n)
		qsort(list.v, list.n, sizeof(*list.v), by_node_and_kind);
	s->faults = list.v;
	s->n_faults = (uint32_t)list.n;
}

/* Which nodes are not as in the state before: found to be others, or written to. */
static void add_changed(const struct sm *sm, struct subnet_state *s)
{
	if (!sm->touched || !sm->published)
		return;
	s->since = sm->published->generation;
	s->changed = xmalloc(sm->f->n_nodes);
	for (uint32_t i = 0; i < sm->f->n_nodes; i++)
		s->changed[i] = sm->touched[i] || sm->work[i].stored;
}

static void publish(struct sm *sm)
{
	struct subnet_state *s = xcalloc(1, sizeof(*s));

	s->refs = 1;
	s->generation = ++sm->generation;
	s->f = sm->f;
	s->plan = sm->plan;
	s->policy = shared_policy_ref(sm->sweep_policy);
	s->published_us = clock_real_us();
	plan_follow_lmc(sm->plan);
	add_faults(sm, s);
	add_changed(sm, s);
	sm->replaced = sm->published;
	sm->published = s;
	sm->answers.n = 0;
	findings_free(&sm->findings);
	findings_copy(&sm->findings, &sm->sweep_policy->findings);
	findings_copy(&sm->findings, &sm->plan->findings);
	findings_copy(&sm->findings, &sm->plan->feasible->findings);
	findings_copy(&sm->findings, &sm->plan->kept);
	sm->hooks.published(sm->hooks.arg, s);
	nothing_is_coming(sm);
}

/* Why a sweep is not complete. */
static const char *what_is_missing(const struct sm *sm)
{
	return !self_is_linked(sm->f) ? "our own link is down" :
	       sm->failed_devices ? "some devices stopped answering" :
	       sm->sets_failed ? "some settings were refused, and are tried again" :
	       mkey_foreign(sm) ? "some devices have another's M_Key" : "some ports are not Active";
}

static void tell_written(struct sm *sm, bool complete, bool was_up)
{
	struct event e;

	if (complete && was_up)
		return;
	if (complete)
		event_make(&e, EVENT_SUBNET_UP, "the subnet is up: %u nodes, %u switches, %u ports",
			   sm->f->n_nodes, sm->f->n_switches, sm->ports_linked);
	else
		event_make(&e, EVENT_SWEEP_INCOMPLETE, "a sweep is not complete: %s",
			   what_is_missing(sm));
	event_number(&e, "ports-active", sm->ports_active);
	event_number(&e, "ports-linked", sm->ports_linked);
	event_number(&e, "silent-devices", sm->failed_devices);
	event_number(&e, "refused-sets", sm->sets_failed);
	event_number(&e, "foreign-keys", mkey_foreign(sm));
	sm_tell(sm, &e);
}

/* What another manager left; a full sweep looks at all of it. */
static void count_inherited(struct sm *sm)
{
	if (sm->kind == SWEEP_FULL)
		sm->inherited_total = 0;
	for (unsigned kind = 0; kind < OVERRIDES && sm->kind == SWEEP_FULL; kind++)
		sm->overrides_ended[kind] = sm->overrides_stay[kind] = 0;
	sm->inherited_total += sm->inherited_nodes;
	for (uint32_t i = 0; i < sm->f->n_nodes; i++)
		for (unsigned kind = 0; kind < OVERRIDES; kind++) {
			enum override_state state = sm->work[i].overrides[kind].state;

			sm->overrides_ended[kind] += state == OVERRIDE_ENDED;
			sm->overrides_stay[kind] += state == OVERRIDE_STAYS;
		}
}

/*
 * Ports were asked to have their clients register again, each when its Set was answered.  Those
 * that did not answer, or are not there, are asked when they do; the list of those that were asked
 * keeps no more than the fabric has.
 */
static void note_asked(struct sm *sm)
{
	struct want_env env = sweep_env(sm);
	struct map64 present;

	if (!sm->reregister || (!sm->registrations_lost && sm->kind < SWEEP_CHANGE))
		return;
	sm->registrations_lost = false;
	map64_init(&present, sm->asked.n);
	for (uint32_t i = 0; i < sm->f->n_ports; i++) {
		if (!port_is_end(sm->f, i))
			continue;
		if (map64_get(&sm->asked, sm->f->ports[i].guid) != MAP64_NONE)
			map64_put(&present, sm->f->ports[i].guid, 1);
		else if (port_is_managed(sm->f, i) && port_owes_registrations(&env, i))
			sm->registrations_lost = true;
	}
	map64_free(&sm->asked);
	sm->asked = present;
}

/*
 * A node that is gone is read in full when it is back, its ports are asked to register again, and
 * whether it has adaptive routing is asked once more.
 */
static void forget_nodes(struct sm *sm)
{
	bool any;

	mad_hold(sm->mad);	/* jobs of multicast and scrubs may run beside */
	any = forget_gone(&sm->blind, &sm->f->node_by_guid);
	any |= forget_gone(&sm->spared, &sm->f->node_by_guid);
	any |= forget_gone(&sm->not_adaptive, &sm->f->node_by_guid);
	any |= forget_gone(&sm->no_ext_port_info, &sm->f->node_by_guid);
	any |= forget_gone(&sm->asked, &sm->f->by_guid);
	mad_release(sm->mad);
	if (any)
		log_info("sweep", "what was remembered of nodes that are gone is forgotten");
}

void sweep_finish(void *arg)
{
	struct sm *sm = arg;

	sweep_enter(sm, PHASE_ANNOUNCING);
	mkey_swept(sm);
	note_remnants(sm);
	multicast_observed(sm);
	guidinfo_observed(sm);
	announce_prepare(sm);
	publish(sm);
	announce_start(sm);
}

/* The devices did less than they were told after publishing, too. */
static void settle(struct sm *sm)
{
	struct subnet_state *s = sm->published;

	free(s->faults);
	s->faults = NULL;
	s->n_faults = 0;
	add_faults(sm, s);
	for (uint32_t i = 0; i < sm->f->n_switches; i++) {
		uint32_t node = sm->f->switches[i].node;

		if (sm->work[node].failed)
			remnants_forget(sm->remnants, sm->f->nodes[node].guid);
	}
	shared_policy_unref(sm->in_force);
	sm->in_force = shared_policy_ref(sm->sweep_policy);
	sm->hooks.settled(sm->hooks.arg, sm->replaced, s);
}

void sweep_announced(struct sm *sm)
{
	double seconds = (double)(clock_mono_us() - sm->started_us) * 1e-6;
	const struct mad_counts *c = mad_counts(sm->mad);
	bool complete, was_up = sm->subnet_up, all_active;

	sweep_enter(sm, PHASE_IDLE);
	refused_end(sm);
	count_ports(sm);
	mad_hold(sm->mad);	/* a job of multicast or aliases may add to them */
	store_save_refused(sm->store);
	mad_release(sm->mad);
	sm->sweeps++;
	sm->last_seconds = seconds;
	sm->last_smps = c->smps - sm->smps_before;
	sm->last_sets = c->sets_total - sm->sets_before;
	mute_swept(sm);
	/*
	 * What does not answer at all cannot be reached, and keeps nobody from the rest; nor does who was
	 * known to be silent before, whom health tells of.
	 */
	all_active = sm->ports_active == sm->ports_linked && !mkey_foreign(sm) && self_is_linked(sm->f);
	/* with too many of them routes do not follow what others were told */
	complete = all_active && !sm->sets_failed && (!sm->failed_devices || mute_is_known(sm)) &&
		   !sm->plan->now->stale.n;
	sm->subnet_up = complete;
	sm->only_refused = sm->sets_failed && (!sm->failed_devices || mute_is_all(sm)) &&
			   !mkey_foreign(sm) && self_is_linked(sm->f);
	sm->only_mute = all_active && !sm->sets_failed && mute_is_all(sm);
	note_asked(sm);
	if (sm->kind != SWEEP_TAKEOVER)
		sm->heir_of = 0;	/* who still has the other's LID was away */
	remember_doubts(sm);
	look_at_trained(sm);
	forget_nodes(sm);
	if (sm->kind >= SWEEP_CHANGE)
		sm->blind_all = false;
	count_inherited(sm);
	if (sm->kind == SWEEP_FULL)
		sm->full_owed = sm->another_was = false;
	log_limited(&ended_log, LOG_LEVEL_INFO, "sweep", "%s: %u nodes, %u switches, %u of %u ports "
		    "active, %" PRIu64 " SMPs (%" PRIu64 " Sets), %.3f s%s%s", sm->reason,
		    sm->f->n_nodes, sm->f->n_switches, sm->ports_active, sm->ports_linked,
		    sm->last_smps, sm->last_sets, seconds, complete ? "" : "; incomplete: ",
		    complete ? "" : what_is_missing(sm));
	settle(sm);
	liars_look(sm);
	tell_written(sm, complete, was_up);
	congestion_after_sweep(sm);
	kept_routes_swept(sm);
	flapping_swept(sm);
	sweep_cleanup(sm, true);
	multicast_after_sweep(sm);
	refused_swept(sm);
	sm_sweep_ended(sm, complete);
}

/* --- the beginning --- */

void sweep_begin(struct sm *sm, enum sweep_kind kind, const char *reason)
{
	const struct mad_counts *c = mad_counts(sm->mad);

	scrub_give_way(sm->scrub);
	scrub_give_way(sm->own_scrub);
	mkey_settle(sm);
	sm->kind = kind;
	sm->reason = xstrdup(reason);
	sm->started_us = sm->phase_us = clock_mono_us();
	sm->smps_before = c->smps;
	sm->sets_before = c->sets_total;
	sm->discovery_tries = 0;
	left_out_sweep(sm);
	sm->inherited_nodes = 0;
	sm->was_owed = sm->full_owed;
	sm->full_owed |= kind == SWEEP_FULL;
	sm->only_refused = false;
	if (kind != SWEEP_LOCAL)	/* which may find nothing, and then all is as it was */
		sm->failed_devices = sm->sets_failed = 0;
	sm->sweep_policy = shared_policy_ref(sm->policy);
	log_debug("sweep", "starts: %s", reason);
}

/* The published fabric once more. */
static void take_published(struct sm *sm)
{
	struct fabric *f = fabric_clone(sm->published->f);

	if (mute_mark(sm, f))
		fabric_reroute_all(f);
	take_fabric(sm, f);
	announce_correct(sm, sm->f);
}

void sweep_start(struct sm *sm, enum sweep_kind kind, const char *reason)
{
	/* all nodes have to hear of a new policy, and there must be something to begin with */
	if (kind == SWEEP_LOCAL && (!sm->published || sm->published->policy != sm->policy))
		kind = SWEEP_CHANGE;
	/* what is published may be a picture's, or of before another was master: nobody read it */
	if (sm->full_owed && kind > SWEEP_TAKEOVER)
		kind = SWEEP_FULL;
	sweep_begin(sm, kind, reason);
	if (kind == SWEEP_LOCAL) {
		sweep_enter(sm, PHASE_PROBING);
		probe_start(sm);
		return;
	}
	if (kind == SWEEP_POLICY && sm->published) {
		take_published(sm);
		plan_start(sm);
		return;
	}
	sm->suspects.n = 0;
	sweep_enter(sm, PHASE_DISCOVERY);
	discovery_start(sm);
}
