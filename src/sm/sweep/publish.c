/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Publishes the fabric and the plan at the end of a sweep, and evaluates the result.
 *
 * When the ports at work have been told, it decides whether the sweep is complete, and what to remember of devices;
 * then it notifies operators and starts what follows a sweep, in a step of its own, as either takes some ms on a large
 * fabric.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/search.h"
#include "plan/feasible/feasible.h"
#include "plan/routes/base_routes.h"
#include "sm/devices/implausible.h"
#include "sm/devices/silent.h"
#include "sm/keys/mkey.h"
#include "sm/multicast/multicast_sweeps.h"
#include "sm/sm_internal.h"
#include "sm/sweep/announce.h"
#include "sm/sweep/congestion.h"
#include "sm/sweep/forget.h"
#include "sm/sweep/sweep_record.h"
#include "sm/write/fixed_routes.h"
#include "sm/write/refused_sets.h"
#include "sm/write/stale_tables.h"

/* Other managers can cause sweeps as often as the trap gate and similar limits allow. */
static struct log_ratelimit ended_log = { .burst = 40, .per_second = 1, .tokens = 40 };

/* The device refuses for good to take the port to its next state. */
static bool state_is_refused(const struct sm *sm, uint32_t port)
{
	return sm->sweep.f->ports[port].state < IB_PORT_ACTIVE_S &&
	       port_state_is_refused(store_refusals(sm->store), sm->sweep.f, port);
}

/* The link has trained anew, and its far end at a silent switch cannot be set (probe_forget_states()). */
static bool waits_for_silent(const struct fabric *f, uint32_t port)
{
	uint32_t peer = f->ports[port].peer;

	return f->ports[port].state < IB_PORT_ACTIVE_S && f->ports[peer].state == IB_PORT_NOP &&
	       port_node(f, peer)->silent && node_is_switch(port_node(f, port));
}

static void count_port(struct sm *sm, uint32_t port)
{
	const struct fabric_port *p = &sm->sweep.f->ports[port];

	if (!port_is_linked(sm->sweep.f, port) || state_is_refused(sm, port) || waits_for_silent(sm->sweep.f, port) ||
	    (p->state < IB_PORT_ACTIVE_S && state_is_refused(sm, p->peer)))
		return;
	sm->last.ports_linked++;
	sm->last.ports_active += p->state == IB_PORT_ACTIVE_S;
}

/* Counts Active and linked ports, without ports that cannot become Active and their far ends. */
static void count_ports(struct sm *sm)
{
	const struct fabric *f = sm->sweep.f;

	sm->last.ports_active = sm->last.ports_linked = 0;
	/* both ends of a link together, as they are far apart in memory */
	for (uint32_t i = 0; i < f->n_ports; i++) {
		fabric_fetch_peer(f, i);
		if (f->ports[i].peer == FABRIC_NONE || f->ports[i].peer < i)
			continue;
		count_port(sm, i);
		if (f->ports[i].peer != i)
			count_port(sm, f->ports[i].peer);
	}
}

/* A CA without a link manages nobody. */
static bool self_is_linked(const struct fabric *f)
{
	return f->ports[f->self].num == 0 || port_is_linked(f, f->self);
}

/* Remembers nodes whose tables may differ from the plan: the next sweep reads them. */
static void remember_doubts(struct sm *sm)
{
	map64_clear(&sm->known.doubtful);
	for (uint32_t i = 0; i < sm->sweep.f->n_nodes; i++)
		if (sm->sweep.work[i].failed || sm->sweep.work[i].doubtful)
			map64_put(&sm->known.doubtful, sm->sweep.f->nodes[i].guid, 1);
}

/*
 * The far end of such a port is believed to be Active still.  This port has been made Active
 * meanwhile, after which neither end's answers show that the other is not: a light sweep must look.
 */
static void look_at_trained(struct sm *sm)
{
	mad_hold(sm->mad);
	for (uint32_t i = 0; i < sm->sweep.f->n_nodes; i++)
		if (sm->sweep.work[i].trained)
			map64_put(&sm->known.spared, sm->sweep.f->nodes[i].guid, 1);
	mad_release(sm->mad);
}

/* Records tables of the plan in force until now that stay on switches for ports that lost their link. */
static void note_stale_tables(struct sm *sm)
{
	const struct plan *old = sm->published ? sm->published->plan : NULL;

	if (!old || sweep_is(sm)->reads_tables || sweep_is(sm)->by_copy) {
		stale_tables_forget_all(sm->known.stale_tables);
		return;
	}
	for (uint32_t i = 0; i < sm->sweep.f->n_switches; i++) {
		uint32_t node = sm->sweep.f->switches[i].node, old_node;
		const struct node_work *w = &sm->sweep.work[node];

		/* a switch that loses a link is touched */
		if (!sweep_touches(sm, node) && !w->unknown && !w->failed && !w->doubtful && !w->joined)
			continue;
		old_node = fabric_same_node(old->f, &sm->sweep.f->nodes[node]);
		if (w->unknown || w->failed || w->doubtful || w->joined || old_node == FABRIC_NONE)
			stale_tables_forget(sm->known.stale_tables, sm->sweep.f->nodes[node].guid);
		else
			stale_tables_note(sm->known.stale_tables, old, old_node, sm->sweep.plan, node);
	}
}

/* Counts pairs of ports of a node whose SL2VL table differs from the plan. */
static uint32_t count_kept(const struct sm *sm, uint32_t node)
{
	const struct fabric_node *n = &sm->sweep.f->nodes[node];
	const struct qos_tables *t = sm->sweep.plan->tables;
	unsigned ins = node_is_switch(n) ? n->nports : 0, first = !node_is_switch(n);
	uint32_t kept = 0;

	for (unsigned in = 0; in <= ins; in++)
		for (unsigned out = first; out <= n->nports; out++)
			kept += qos_sl2vl_id(t, sm->sweep.f, node, in, out) !=
				qos_sl2vl_in_force(t, sm->sweep.f, node, in, out);
	return kept;
}

/*
 * A switch whose MulticastFDBTop limits it to fewer MLIDs than its table has, and that does not
 * take a higher one.
 */
static bool keeps_mcast_top(const struct sm *sm, uint32_t node)
{
	uint32_t sw = sm->sweep.f->nodes[node].sw;

	return sw != FABRIC_NONE &&
	       fabric_switch_mlids(sm->sweep.f, sw) < sm->sweep.f->switches[sw].mcast_cap;
}

static int by_node_and_kind(const void *va, const void *vb)
{
	const struct device_fault *a = va, *b = vb;

	return ORDER(a->node, b->node) ?: ORDER(a->kind, b->kind) ?: ORDER(a->attr, b->attr);
}

/*
 * Records what devices did not do in this sweep, and what they refuse for good.  sm->sweep.fixed is
 * in order of nodes.
 */
static void add_faults(const struct sm *sm, struct subnet_state *s)
{
	VEC(struct device_fault) list = { 0 };
	struct sm_refused x;
	size_t k = 0, kind = 0;

	for (uint32_t i = 0; i < sm->sweep.f->n_nodes; i++) {
		const struct node_work *w = &sm->sweep.work[i];
		uint32_t kept = w->keeps + keeps_mcast_top(sm, i);

		if (k < sm->sweep.fixed.n && sm->sweep.fixed.v[k].node == i)
			kept += count_kept(sm, i);
		while (k < sm->sweep.fixed.n && sm->sweep.fixed.v[k].node == i)
			k++;
		if (w->failed)
			*vec_push(&list) = (struct device_fault){
				.node = i, .kind = w->key_mismatch ? FAULT_KEY_MISMATCH : FAULT_SILENT };
		if (kept)
			*vec_push(&list) = (struct device_fault){ .node = i, .kind = FAULT_KEEPS,
								  .n = kept };
	}
	while (sm_refused_at(sm, sm->sweep.f, &kind, &x))
		*vec_push(&list) = (struct device_fault){
			.node = x.node, .kind = FAULT_REFUSES, .n = x.kind.by_status,
			.attr = x.kind.attr, .status = x.kind.status };
	if (list.n)
		qsort(list.v, list.n, sizeof(*list.v), by_node_and_kind);
	s->faults = list.v;
	s->n_faults = (uint32_t)list.n;
}

/* Marks nodes that differ from the state before: found changed, or written to. */
static void add_changed(const struct sm *sm, struct subnet_state *s)
{
	if (!sm->sweep.touched || !sm->published)
		return;
	s->since = sm->published->generation;
	s->changed = xmalloc(sm->sweep.f->n_nodes);
	for (uint32_t i = 0; i < sm->sweep.f->n_nodes; i++)
		s->changed[i] = sm->sweep.touched[i] || sm->sweep.work[i].stored;
}

static void publish(struct sm *sm)
{
	struct subnet_state *s = xcalloc(1, sizeof(*s));

	s->refs = 1;
	s->generation = ++sm->generation;
	s->f = sm->sweep.f;
	s->plan = sm->sweep.plan;
	s->policy = shared_policy_ref(sm->sweep.policy);
	plan_follow_lmc(sm->sweep.plan);
	add_faults(sm, s);
	add_changed(sm, s);
	sm->sweep.replaced = sm->published;
	sm->published = s;
	sm->answers.n = 0;
	findings_free(&sm->said.findings);
	findings_copy(&sm->said.findings, &sm->sweep.policy->findings);
	findings_copy(&sm->said.findings, &sm->sweep.plan->findings);
	findings_copy(&sm->said.findings, &sm->sweep.plan->feasible->findings);
	findings_copy(&sm->said.findings, &sm->sweep.plan->fixed);
	sm->hooks.published(sm->hooks.arg, s);
	sweep_nothing_is_coming(sm);
}

/* Why the sweep is incomplete. */
static const char *what_is_missing(const struct sm *sm)
{
	return !self_is_linked(sm->sweep.f) ? "our own link is down" :
	       sm->last.failed_devices ? "some devices stopped answering" :
	       sm->last.sets_failed ? "some Sets were refused and will be tried again" :
	       mkey_mismatches(sm) ? "some devices have an unknown M_Key" : "some ports are not Active";
}

static void tell_written(struct sm *sm, bool complete, bool was_up)
{
	struct event e;

	if (complete && was_up)
		return;
	if (complete)
		event_make(&e, EVENT_SUBNET_UP, "the subnet is up: %u nodes, %u switches, %u ports",
			   sm->sweep.f->n_nodes, sm->sweep.f->n_switches, sm->last.ports_linked);
	else
		event_make(&e, EVENT_SWEEP_INCOMPLETE, "the sweep is incomplete: %s",
			   what_is_missing(sm));
	event_number(&e, "ports-active", sm->last.ports_active);
	event_number(&e, "ports-linked", sm->last.ports_linked);
	event_number(&e, "silent-devices", sm->last.failed_devices);
	event_number(&e, "refused-sets", sm->last.sets_failed);
	event_number(&e, "key-mismatches", mkey_mismatches(sm));
	sm_tell(sm, &e);
}

/* Counts what another manager left; a full sweep looks at all of it. */
static void count_inherited(struct sm *sm)
{
	if (sweep_is(sm)->reads_tables)
		sm->last.inherited = 0;
	for (unsigned kind = 0; kind < OVERRIDES && sweep_is(sm)->reads_tables; kind++)
		sm->last.overrides_ended[kind] = sm->last.overrides_stay[kind] = 0;
	sm->last.inherited += sm->sweep.inherited_nodes;
	for (uint32_t i = 0; i < sm->sweep.f->n_nodes; i++)
		for (unsigned kind = 0; kind < OVERRIDES; kind++) {
			enum override_state state = sm->sweep.work[i].overrides[kind].state;

			sm->last.overrides_ended[kind] += state == OVERRIDE_ENDED;
			sm->last.overrides_stay[kind] += state == OVERRIDE_STAYS;
		}
}

/*
 * Ports were asked to have their clients register again, and noted when they answered.  Ports that
 * did not answer or are not there are asked when they do.  Prunes the list of noted ports to those
 * in the fabric.
 */
static void note_asked(struct sm *sm)
{
	struct want_env env = sweep_env(sm);
	struct map64 present;

	if (!sm->clients.reregister || (!sm->clients.lost && !sweep_is(sm)->whole))
		return;
	sm->clients.lost = false;
	map64_init(&present, sm->clients.asked.n);
	for (uint32_t i = 0; i < sm->sweep.f->n_ports; i++) {
		if (!port_is_end(sm->sweep.f, i))
			continue;
		if (map64_get(&sm->clients.asked, sm->sweep.f->ports[i].guid) != MAP64_NONE)
			map64_put(&present, sm->sweep.f->ports[i].guid, 1);
		else if (port_is_managed(sm->sweep.f, i) && port_owes_registrations(&env, i))
			sm->clients.lost = true;
	}
	map64_free(&sm->clients.asked);
	sm->clients.asked = present;
}

/*
 * Prunes memories by GUID.  If a node returns after that, it is read in full, its ports are asked
 * to register again, and it is asked again about adaptive routing.
 */
static void forget_nodes(struct sm *sm)
{
	bool any;

	mad_hold(sm->mad);	/* jobs of multicast and scrubs may run at the same time */
	any = forget_gone(&sm->known.blind, &sm->sweep.f->node_by_guid);
	any |= forget_gone(&sm->known.spared, &sm->sweep.f->node_by_guid);
	any |= forget_gone(&sm->known.not_adaptive, &sm->sweep.f->node_by_guid);
	any |= forget_gone(&sm->known.no_ext_port_info, &sm->sweep.f->node_by_guid);
	any |= forget_gone(&sm->clients.asked, &sm->sweep.f->by_guid);
	mad_release(sm->mad);
	if (any)
		log_info("sweep", "dropped the records of removed nodes");
}

enum step_result sweep_publish(struct sm *sm)
{
	mkey_swept(sm);
	note_stale_tables(sm);
	isolated_publish(sm);
	multicast_observed(sm);
	guidinfo_observed(sm);
	announce_prepare(sm);
	publish(sm);
	return RESULT_DONE;
}

/* Updates the published state with what devices failed to do after publishing. */
static void settle_state(struct sm *sm)
{
	struct subnet_state *s = sm->published;

	free(s->faults);
	s->faults = NULL;
	s->n_faults = 0;
	add_faults(sm, s);
	for (uint32_t i = 0; i < sm->sweep.f->n_switches; i++) {
		uint32_t node = sm->sweep.f->switches[i].node;

		if (sm->sweep.work[node].failed)
			stale_tables_forget(sm->known.stale_tables, sm->sweep.f->nodes[node].guid);
	}
	shared_policy_unref(sm->in_force);
	sm->in_force = shared_policy_ref(sm->sweep.policy);
	sm->change_in_force = sm->in_force->base ? sm->in_force->base->change : sm->in_force->change;
	sm->hooks.settled(sm->hooks.arg, sm->sweep.replaced, s);
}

enum step_result sweep_settle(struct sm *sm)
{
	double seconds = (double)(clock_mono_us() - sm->sweep.started_us) * 1e-6;
	const struct mad_counts *c = mad_counts(sm->mad);
	bool complete, all_active;

	refused_end(sm);
	count_ports(sm);
	mad_hold(sm->mad);	/* a job of multicast or alias GUIDs may add refusals */
	store_save_refused(sm->store);
	mad_release(sm->mad);
	sm->last.sweeps++;
	sm->last.seconds = seconds;
	sm->last.smps = c->smps - sm->sweep.smps_before;
	sm->last.sets = c->sets_total - sm->sweep.sets_before;
	silent_swept(sm);
	/*
	 * Ports that do not answer at all cannot be reached, and do not delay the others; nor do
	 * devices that were known to be silent before, which health reports.
	 */
	all_active = sm->last.ports_active == sm->last.ports_linked && !mkey_mismatches(sm) &&
		     self_is_linked(sm->sweep.f);
	/* if there are too many of them, routes do not follow what other switches were told */
	complete = all_active && !sm->last.sets_failed &&
		   (!sm->last.failed_devices || silent_is_known(sm)) && !sm->sweep.plan->now->stale.n;
	sm->sweep.was_up = sm->subnet_up;
	sm->subnet_up = complete;
	sm->wishes.only_refused = sm->last.sets_failed &&
				  (!sm->last.failed_devices || silent_is_all(sm)) &&
				  !mkey_mismatches(sm) && self_is_linked(sm->sweep.f);
	sm->wishes.only_silent = all_active && !sm->last.sets_failed && silent_is_all(sm);
	note_asked(sm);
	if (!sweep_is(sm)->by_copy)
		sm->clients.successor_of = 0;	/* a port that still has the other's LID was away */
	remember_doubts(sm);
	look_at_trained(sm);
	forget_nodes(sm);
	if (sweep_is(sm)->whole)
		sm->known.blind_all = false;
	count_inherited(sm);
	if (sweep_is(sm)->reads_tables)
		sm->wishes.full = sm->known.another_was = false;
	log_limited(&ended_log, LOG_LEVEL_INFO, "sweep", "%s: %u nodes, %u switches, %u of %u ports "
		    "active, %" PRIu64 " SMPs (%" PRIu64 " Sets), %.3f s%s%s", sm->sweep.reason,
		    sm->sweep.f->n_nodes, sm->sweep.f->n_switches, sm->last.ports_active,
		    sm->last.ports_linked, sm->last.smps, sm->last.sets, seconds, complete ? "" : "; incomplete: ",
		    complete ? "" : what_is_missing(sm));
	return RESULT_DONE;
}

enum step_result sweep_tell(struct sm *sm)
{
	bool complete = sm->subnet_up;

	settle_state(sm);
	implausible_look(sm);
	tell_written(sm, complete, sm->sweep.was_up);
	sweep_record(sm, complete ? NULL : what_is_missing(sm));
	congestion_after_sweep(sm);
	fixed_routes_swept(sm);
	flapping_swept(sm);
	withdrawn_swept(sm);
	return RESULT_DONE;
}

enum step_result sweep_end(struct sm *sm)
{
	sweep_cleanup(sm, true);
	multicast_after_sweep(sm);
	refused_swept(sm);
	sm_sweep_ended(sm, sm->subnet_up);
	return RESULT_OVER;
}
