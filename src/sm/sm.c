/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Holds the subnet manager's state, creates and frees it, and fills in what `status` shows.
 */
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad_sm.h>

#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "sm/devices/exclusions.h"
#include "sm/devices/implausible.h"
#include "sm/devices/silent.h"
#include "sm/devices/node_names.h"
#include "sm/devices/scrub.h"
#include "sm/election/election.h"
#include "sm/keys/callers.h"
#include "sm/keys/mkey.h"
#include "sm/multicast/multicast_sweeps.h"
#include "sm/sm_internal.h"
#include "sm/sweep/congestion.h"
#include "sm/write/fixed_routes.h"
#include "sm/write/refused_sets.h"
#include "sm/write/stale_tables.h"

#define FORKED_US	60000000	/* in this time another master has asked the ports that were ours */

const char *sm_state_name(enum sm_state s)
{
	static const char *const names[] = { "not-active", "discovering", "standby", "master" };
	return (unsigned)s < ARRAY_SIZE(names) ? names[s] : "unknown";
}

static void unpublish(struct sm *sm)
{
	struct subnet_state *old = sm->published;

	if (!old)
		return;
	sm->published = NULL;
	light_stop(sm);
	watch_stop(sm);
	implausible_stop(sm);
	names_stop(sm);
	silent_stop(sm);
	multicast_stop(sm);
	guidinfo_stop(sm);
	mkey_stop(sm);
	shared_policy_unref(sm->in_force);
	sm->in_force = NULL;
	sm->change_in_force = 0;
	sm->hooks.published(sm->hooks.arg, NULL);
	state_unref(old);
}

void sm_tell(struct sm *sm, const struct event *e)
{
	if (sm->hooks.event)
		sm->hooks.event(sm->hooks.arg, e);
}

static void tell_state(struct sm *sm, enum sm_state s)
{
	struct event e;

	event_make(&e, EVENT_SM_STATE, "the subnet manager is %s (was %s)", sm_state_name(s),
		   sm_state_name(sm->state));
	event_text(&e, "state", "%s", sm_state_name(s));
	event_text(&e, "was", "%s", sm_state_name(sm->state));
	if (s != SM_MASTER && sm->standby.master_guid)
		event_guid(&e, "master", sm->standby.master_guid);
	sm_tell(sm, &e);
}

void sm_set_state(struct sm *sm, enum sm_state s)
{
	if (sm->state == s)
		return;
	tell_state(sm, s);
	log_info("sm", "%s (was %s)", sm_state_name(s), sm_state_name(sm->state));
	sm->known.another_was |= sm->state == SM_STANDBY && s == SM_MASTER && !sm->clients.successor_of;
	sm->state = s;
	if (s != SM_MASTER) {
		sm->subnet_up = false;
		timer_stop(sm->light.timer);
		sm->light.owed = false;
		unpublish(sm);
	}
}

void sm_set_policy(struct sm *sm, struct shared_policy *p)
{
	shared_policy_ref(p);
	shared_policy_unref(sm->policy);
	sm->policy = p;
	findings_free(&sm->said.rejected);
	sm->said.has_rejected = false;
	sm_want_sweep(sm, sm->published ? SWEEP_POLICY : SWEEP_CHANGE, "new policy");
}

void sm_policy_rejected(struct sm *sm, struct findings *f)
{
	findings_free(&sm->said.rejected);
	findings_move(&sm->said.rejected, f);
	sm->said.has_rejected = true;
}

/* --- beginning and end --- */

struct sm *sm_new(struct loop *l, struct mad_port *m, const struct settings *settings,
		  struct shared_policy *policy, struct store *store, const struct sm_hooks *hooks)
{
	struct sm *sm = xcalloc(1, sizeof(*sm));

	sm->loop = l;
	sm->mad = m;
	sm->settings = settings;
	sm->hooks = *hooks;
	sm->store = store;
	sm->state = SM_DISCOVERING;
	sm->policy = shared_policy_ref(policy);
	if (store)
		map64_clone(&sm->known.guids, &store_lids(store)->by_guid);
	map64_init(&sm->known.not_adaptive, 16);
	map64_init(&sm->known.no_ext_port_info, 16);
	map64_init(&sm->known.doubtful, 16);
	map64_init(&sm->known.blind, 16);
	map64_init(&sm->known.spared, 16);
	map64_init(&sm->clients.asked, 16);
	map64_init(&sm->seen.maps_by_guid, 16);
	map64_init(&sm->seen.arbs_by_guid, 16);
	sm->known.blind_all = true;
	sm->known.stale_tables = stale_tables_new();
	mkey_new(sm);
	election_new(sm);
	callers_new(sm);
	sm->standby.poll = timer_new(l, election_on_poll, sm);
	light_new(sm);
	wishes_new(sm);
	traps_new(sm);
	sm->devices.scrub = scrub_new(sm);
	sm->devices.own_scrub = scrub_new_own(sm);
	refused_new(sm);
	implausible_new(sm);
	names_new(sm);
	congestion_new(sm);
	fixed_routes_new(sm);
	silent_new(sm);
	sm->devices.exclusions = exclusions_new();
	sm->turn_timer = timer_new(l, sweep_turned, sm);
	return sm;
}

void sm_set_names(struct sm *sm, struct name_map *names)
{
	name_map_unref(sm->names);
	sm->names = names;
}

void sm_free(struct sm *sm)
{
	if (!sm)
		return;
	name_map_unref(sm->names);
	scrub_free(sm->devices.scrub);
	scrub_free(sm->devices.own_scrub);
	sweep_cleanup(sm, false);
	light_free(sm);
	/* saves joins and leaves that were answered a moment ago and are in no tree yet */
	if (sm->published && sm->mcast)
		store_end_groups(sm->store, sm->mcast);
	unpublish(sm);
	multicast_stop(sm);
	guidinfo_free(sm);
	callers_free(sm);
	election_free(sm);
	mkey_free(sm);
	takeover_forget(sm);
	timer_free(sm->standby.poll);
	wishes_free(sm);
	traps_free(sm);
	refused_free(sm);
	implausible_free(sm);
	names_free(sm);
	congestion_free(sm);
	fixed_routes_free(sm);
	silent_free(sm);
	exclusions_free(sm->devices.exclusions);
	isolated_free(&sm->withdrawn.isolated);
	timer_free(sm->turn_timer);
	shared_policy_unref(sm->policy);
	shared_policy_unref(sm->in_force);
	findings_free(&sm->said.findings);
	findings_free(&sm->said.rejected);
	map64_free(&sm->known.guids);
	map64_free(&sm->known.not_adaptive);
	map64_free(&sm->known.no_ext_port_info);
	map64_free(&sm->known.doubtful);
	map64_free(&sm->known.blind);
	map64_free(&sm->known.spared);
	map64_free(&sm->clients.asked);
	map64_free(&sm->seen.maps_by_guid);
	vec_free(&sm->seen.maps);
	map64_free(&sm->seen.arbs_by_guid);
	vec_free(&sm->seen.arbs);
	stale_tables_free(sm->known.stale_tables);
	vec_free(&sm->clients.to_register);
	vec_free(&sm->answers);
	free(sm);
}

static void start(struct sm *sm)
{
	struct buf err = { 0 };

	sm->own_port_checked = true;
	if (!mad_set_issm(sm->mad, true, &err))
		sm->hooks.fatal(sm->hooks.arg, err.s);
	else
		sm_want_sweep(sm, SWEEP_FULL, "start");
	buf_free(&err);
}

static void on_own_port(void *arg, const struct smp *s, int status)
{
	struct sm *sm = arg;
	uint8_t data[64];

	memcpy(data, s->data, sizeof(data));
	if (status == 0 && mad_get_field(data, 0, IB_SMINFO_STATE_F) != SM_NOT_ACTIVE)
		sm->hooks.fatal(sm->hooks.arg, "another subnet manager runs on this port");
	else
		start(sm);
}

void sm_start(struct sm *sm)
{
	/*
	 * Asks our own port for SMInfo: the kernel lets only one SM register, so the question comes
	 * back to us, who are not active yet; ibsim lets any number register.
	 */
	static const uint8_t here[1];
	struct smp s = { .method = SMP_GET, .attr = UMAD_SM_ATTR_SM_INFO, .route = here,
			 .once = true };

	smp_send(sm->mad, &s, on_own_port, sm);
}

void sm_get_status(const struct sm *sm, struct sm_status *out)
{
	const struct mad_port_info *info = mad_info(sm->mad);
	const struct subnet_state *p = sm->published;
	const char *call;
	enum disco_filter filter = disco_filter(&call);

	mad_hold(sm->mad);
	*out = (struct sm_status){
		.state = sm->state, .subnet_up = sm->subnet_up,
		.no_m_key = !mkey_ours(sm),
		.m_key_readable = mkey_ours(sm) && !sm->settings->m_key_protect,
		.sm_key_known = sm->settings->sm_key <= SM_KEY_KNOWN,
		.key_mismatches = mkey_mismatches(sm), .m_key_violations = mkey_violations(sm),
		.sweeping = sweep_runs(sm), .phase = phase_name(sm->sweep.phase),
		.guid = info->guid, .lid = p ? state_own_lid(p) : info->lid,
		.master_guid = sm->state == SM_MASTER ? info->guid : sm->standby.master_guid,
		.master_priority = sm->state == SM_MASTER ? election_priority(sm) :
			sm->standby.master_priority,
		.priority = election_priority(sm), .other_managers = election_other_managers(sm),
		.registrations_held = sm->state == SM_STANDBY && !sm->clients.lost,
		.nodes = p ? p->f->n_nodes : 0, .switches = p ? p->f->n_switches : 0,
		.ports_active = p ? sm->last.ports_active : 0,
		.ports_linked = p ? sm->last.ports_linked : 0,
		.sweeps = sm->last.sweeps, .last_sweep_seconds = sm->last.seconds,
		.last_smps = sm->last.smps, .last_sets = sm->last.sets,
		.failed_devices = sm->last.failed_devices, .sets_failed = sm->last.sets_failed,
		.unanswered = p ? p->f->unanswered : 0,
		.discovery_smps = sm->last.discovery_smps,
		.discovery_lost = sm->last.discovery_lost,
		.refused = refusals_by_value(store_refusals(sm->store)),
		.traps_dropped = trap_gate_dropped(sm->traps.gate),
		.adaptive_ended = sm->last.overrides_ended[OVERRIDE_ADAPTIVE],
		.adaptive_stays = sm->last.overrides_stay[OVERRIDE_ADAPTIVE],
		.private_ended = sm->last.overrides_ended[OVERRIDE_PRIVATE],
		.private_stays = sm->last.overrides_stay[OVERRIDE_PRIVATE],
		.tables_replaced = sm->last.inherited, .congestion = congestion_sum(sm),
		.discovery_filter = filter, .discovery_call = call,
		.scrub = scrub_counts(sm->devices.scrub),
		.engine = p ? p->plan->engine : NULL,
		.policy = p ? p->policy : sm->policy, .in_force = sm->in_force,
		.change_in_force = sm->change_in_force, .findings = &sm->said.findings,
		.rejected = sm->said.has_rejected ? &sm->said.rejected : NULL,
	};
	mad_release(sm->mad);
	multicast_status(sm, out);
	withdrawn_status(sm, out);
}

bool sm_excluded(const struct sm *sm, size_t i, struct sm_exclusion *out)
{
	const struct fabric *f = sm->published ? sm->published->f : NULL;
	const struct disco_excluded *x = exclusions_at(sm, i);
	uint32_t node;

	if (!x)
		return false;
	node = f ? map64_get(&f->node_by_guid, x->near_guid) : MAP64_NONE;
	out->near = node == MAP64_NONE || x->near_port > f->nodes[node].nports ? FABRIC_NONE :
		    f->nodes[node].port0 + x->near_port;
	out->guid = exclusions_culprit(sm, x);
	out->is_switch = x->why == EXCLUDED_SWITCH;
	out->known_as = x->why == EXCLUDED_TWIN ? x->known_as : 0;
	exclusions_text(sm, f, x, &out->text);
	return true;
}

static void insert_lossy(struct sm_lossy *out, unsigned *n, unsigned max, struct sm_lossy x)
{
	unsigned at = *n < max ? (*n)++ : max;

	for (; at && out[at - 1].lost < x.lost; at--)
		if (at < max)
			out[at] = out[at - 1];
	if (at < max)
		out[at] = x;
}

unsigned sm_lossy(const struct sm *sm, struct sm_lossy *out, unsigned max)
{
	const struct fabric *f = sm->published ? sm->published->f : NULL;
	unsigned n = 0;

	if (!f || !mad_counts(sm->mad)->lost)
		return 0;
	for (uint32_t i = 0; i < f->n_ports; i++) {
		struct sm_lossy x = { .port = i };
		struct smp s = { 0 };

		if (port_is_end(f, i) && want_route(f, f->ports[i].node, f->ports[i].num, &s) &&
		    mad_losses(sm->mad, &s, &x.lost, &x.window))
			insert_lossy(out, &n, max, x);
	}
	return n;
}

static int by_port(const void *a, const void *b)
{
	const struct port_answer *x = a, *y = b;

	return (x->port > y->port) - (x->port < y->port);
}

void sm_knowledge_take(const struct sm *sm, struct sm_knowledge *out)
{
	map64_clone(&out->doubtful, &sm->known.doubtful);
	mad_hold(sm->mad);	/* a job of a sweep adds refusals */
	out->refused = refusals_copy(store_refusals(sm->store));
	map64_clone(&out->asked, &sm->clients.asked);
	out->n_answers = sm->answers.n;
	out->answers = sm->answers.n ?
		       xmemdup(sm->answers.v, sm->answers.n * sizeof(*out->answers)) : NULL;
	mad_release(sm->mad);
	out->reregister = sm->clients.reregister;
	out->m_key = mkey_ours(sm);
	if (out->n_answers)
		qsort(out->answers, out->n_answers, sizeof(*out->answers), by_port);
}

void sm_knowledge_free(struct sm_knowledge *k)
{
	map64_free(&k->doubtful);
	map64_free(&k->asked);
	refusals_free(k->refused);
	k->refused = NULL;
	free(k->answers);
	k->answers = NULL;
	k->n_answers = 0;
}

void sm_registrations_lost(struct sm *sm)
{
	sm->clients.lost = sm->clients.reregister = true;
	sm->clients.successor_of = 0;
	mad_hold(sm->mad);	/* a job of a sweep adds to `asked` */
	map64_clear(&sm->clients.asked);
	mad_release(sm->mad);
}

void sm_registrations_coming(struct sm *sm)
{
	sm_registrations_lost(sm);
	sm->clients.unknown = false;
	sm->clients.coming = true;
}

void sm_registrations_not_to_be_had(struct sm *sm)
{
	sm_registrations_lost(sm);
	sm->clients.coming = sm->clients.unknown = false;
}

void sm_registrations_held(struct sm *sm, uint16_t master_lid)
{
	/* the copy lacks what clients registered here while the other was master, too */
	bool lacks_ours = sm->clients.forked_us && clock_mono_us() - sm->clients.forked_us < FORKED_US;

	sm->clients.coming = sm->clients.unknown = false;
	sm->clients.lost = sm->clients.reregister = lacks_ours;
	sm->clients.successor_of = master_lid;
}

void sm_set_mcast(struct sm *sm, struct mcast_db *db)
{
	sm->mcast = db;
	sm->clients.lost = sm->clients.reregister = !store_load_groups(sm->store, db);
}
