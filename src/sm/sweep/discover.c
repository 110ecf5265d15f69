/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Determines the fabric for a sweep: by a discovery, which runs in a process of its own, or from
 * the result of a probe.
 *
 * A discovery that leaves more ports unanswered than the one before is repeated, up to
 * DISCOVERY_TRIES times; so is one that has met devices that must be excluded (exclusions.c).
 */
#include <stdlib.h>

#include "fabric/edit.h"
#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "sm/devices/exclusions.h"
#include "sm/keys/mkey.h"
#include "sm/sm_internal.h"
#include "sm/sweep/announce.h"

#define DISCOVERY_TRIES 3
#define FRUITLESS_MAX 1024

static void disco_over(struct sm *sm)
{
	sm->sweep.disco = NULL;
	state_unref(sm->sweep.disco_known);
	sm->sweep.disco_known = NULL;
}

void sweep_discovery_stop(struct sm *sm)
{
	disco_cancel(sm->sweep.disco);
	disco_over(sm);
	fabric_free(sm->sweep.found);
	sm->sweep.found = NULL;
}

/*
 * Counts links that are up but whose far end does not answer, and ports of switches that do not.  Isolated
 * ports have no far end on purpose.
 */
uint32_t sweep_count_unanswered(const struct fabric *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n_ports; i++) {
		const struct fabric_port *p = &f->ports[i];

		if (!p->present)
			n += node_is_switch(port_node(f, i));
		else if (!p->isolated && p->num && p->state >= IB_PORT_INIT_S && p->peer == FABRIC_NONE)
			n++;
	}
	return n;
}

/* Counts unanswered links that have an excluded device behind them. */
static uint32_t count_excluded(const struct sm *sm, const struct fabric *f)
{
	const struct disco_excluded *x;
	uint32_t n = 0;

	for (size_t i = 0; (x = exclusions_at(sm, i)); i++) {
		uint32_t node = map64_get(&f->node_by_guid, x->near_guid);

		n += node != MAP64_NONE && x->near_port <= f->nodes[node].nports &&
		     f->ports[f->nodes[node].port0 + x->near_port].peer == FABRIC_NONE;
	}
	return n;
}

/* The sweep goes on with this fabric, of which it takes ownership. */
struct node_work *sweep_new_work(const struct fabric *f)
{
	struct node_work *work = xmalloc(f->n_nodes * sizeof(*work));

	/* unlike xcalloc(), whose pages come when they are used */
	for (uint32_t i = 0; i < f->n_nodes; i++)
		work[i] = (struct node_work){ 0 };
	return work;
}

void sweep_take_fabric(struct sm *sm, struct fabric *f, struct node_work *work)
{
	if (sm->published)
		fabric_keep_owners(f, sm->published->f);
	fabric_set_names(f, sm->names);
	sm->sweep.f = f;
	sm->sweep.work = work;
	/* a repair waits for no device; a new policy is a reason to try silent ones */
	for (uint32_t i = 0; i < f->n_nodes && sweep_is(sm)->brief; i++) {
		sm->sweep.work[i].failed = f->nodes[i].silent;
		sm->last.failed_devices += f->nodes[i].silent;
	}
}

static enum step_result discovery_failed(struct sm *sm, const struct disco_result *res)
{
	struct buf why = { 0 };

	if (res->own_port)
		mkey_scan_failed(sm);
	if (sm->sweep.discovery_tries < DISCOVERY_TRIES - 1 + mkey_count(sm)) {
		log_warn("discovery", "%s; trying again", res->error);
		return RESULT_DISCOVER;
	}
	mkey_scan_given_up(sm);
	buf_puts(&why, res->error);
	if (res->own_port)
		buf_puts(&why, " (does it have another M_Key than m-key of qosd.yaml?)");
	/* no light sweep would ask for them */
	if (!sm->published)
		exclusions_forget(sm);
	sweep_fails(sm, why.s);
	buf_free(&why);
	return RESULT_FAIL;
}

static void discovery_done(void *arg, const struct disco_result *res)
{
	struct sm *sm = arg;

	disco_over(sm);
	sm->last.discovery_smps += res->mads;
	sm->last.discovery_lost += res->learned.lost;
	if (exclusions_scanned(sm, res)) {
		log_info("discovery", "%s: repeating discovery without them", res->error ? res->error :
			 "found devices with implausible answers");
		fabric_free(res->f);
		sm->sweep.discovery_tries--;
		sweep_step_done(sm, STEP_DISCOVER, RESULT_DISCOVER);
		return;
	}
	if (!res->f) {
		sweep_step_done(sm, STEP_DISCOVER, discovery_failed(sm, res));
		return;
	}
	mad_learn(sm->mad, &res->learned);
	log_debug("discovery", "%u nodes, %u switches, %u SMPs", res->f->n_nodes,
		  res->f->n_switches, res->mads);
	sm->sweep.found = res->f;
	sweep_step_done(sm, STEP_DISCOVER, RESULT_DONE);
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
 * Another SM was master meanwhile, of a part of the subnet at least, and may be gone again: a port
 * that had our LID as its MasterSMLID has another one.
 *
 * touched: marks nodes that have changed; NULL: any may have.
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

/* Makes this a full sweep: nothing that devices were known to hold is relied on. */
static void read_everything(struct sm *sm)
{
	log_info("sweep", "reading all tables: another subnet manager was active");
	sm->known.another_was = true;
	sm->wishes.full = true;
	sm->sweep.kind = SWEEP_FULL;
}

/*
 * The library reports a partial fabric as success: true if more is missing than before.  Ports that
 * are excluded do not count.
 */
static bool is_partial(const struct sm *sm, const struct fabric *f)
{
	const struct fabric *before = sm->published ? sm->published->f : NULL;
	uint32_t known = before ? before->unanswered : 0, left = count_excluded(sm, f);
	uint32_t unread = fabric_count_unread(f);

	if (f->unanswered > (known > left ? known : left)) {
		log_warn("discovery", "%u ports or their far ends do not answer; querying them again",
			 f->unanswered);
		return true;
	}
	if (unread <= (before ? fabric_count_unread(before) : 0))
		return false;
	log_warn("discovery", "no SwitchInfo of %u switch%s; querying again", unread, unread == 1 ? "" : "es");
	return true;
}

/* Takes f, and returns it without what is isolated, and without what only that leads to. */
static struct fabric *without_isolated(struct sm *sm, struct fabric *f)
{
	struct buf err = { 0 };
	struct fabric *settled;

	isolated_begin(&sm->withdrawn.isolated);
	if (!isolated_cut(sm, f, NULL, NULL))
		return f;
	settled = fabric_settle(f, &err);
	if (settled)
		fabric_free(f);
	else
		log_warn("discovery", "what is isolated cannot be cut off: %s", err.s ? err.s : "unusable");
	buf_free(&err);
	return settled ? settled : f;
}

enum step_result sweep_accept(struct sm *sm)
{
	struct fabric *f = without_isolated(sm, sm->sweep.found);

	sm->sweep.found = NULL;
	if (sm->published)
		fabric_keep_switch_info(f, sm->published->f);
	f->unanswered = sweep_count_unanswered(f);
	if (sm->sweep.discovery_tries < DISCOVERY_TRIES && is_partial(sm, f)) {
		fabric_free(f);
		return RESULT_DISCOVER;
	}
	if (sweep_is(sm)->whole && another_was_master(sm, f, NULL))
		read_everything(sm);
	sweep_take_fabric(sm, f, sweep_new_work(f));
	return RESULT_DONE;
}

static enum disco_sandbox sandbox_of(const struct settings *s)
{
	return s->sandbox == SANDBOX_OFF ? DISCO_OPEN :
	       s->sandbox == SANDBOX_ON ? DISCO_SANDBOX : DISCO_STRICT;
}

enum step_result sweep_discover(struct sm *sm)
{
	const struct mad_port_info *info = mad_info(sm->mad);
	const struct smp_window_learned learned = mad_learned(sm->mad);
	struct disco_request r = {
		.ca = info->ca, .port = info->port, .window = sm->settings->discovery_window,
		.timeout_ms = sm->settings->smp_timeout_ms, .retries = sm->settings->smp_retries,
		.m_key = mkey_of_discovery(sm), .sandbox = sandbox_of(sm->settings),
		.known_window = learned.lossy ? learned.window : 0,
		.ports_max = exclusions_ports_max(sm),
	};
	struct disco_excluded *out = xcalloc(EXCLUDED_MAX, sizeof(*out));
	struct buf err = { 0 };

	r.out = out;
	r.n_out = exclusions_list(sm, out);
	for (size_t i = 0; i < r.n_out; i++)
		r.without_library |= out[i].why == EXCLUDED_KILLS || out[i].why == EXCLUDED_HANGS;
	if (sm->published) {
		sm->sweep.disco_known = state_ref(sm->published);
		r.known = sm->sweep.disco_known->f;
	}
	sm->sweep.discovery_tries++;
	sm->sweep.disco = disco_start(sm->loop, &r, discovery_done, sm, &err);
	free(out);
	if (!sm->sweep.disco) {
		disco_over(sm);
		sweep_fails(sm, err.s);
	}
	buf_free(&err);
	return sm->sweep.disco ? RESULT_WAIT : RESULT_FAIL;
}

/* --- a local sweep: suspects instead of everything --- */

/* A port that changed says IsSM, or said so before. */
bool sweep_sms_changed(const struct sm *sm)
{
	const struct fabric *old = sm->published->f;

	for (uint32_t i = 0; i < sm->sweep.f->n_ports; i++) {
		const struct fabric_port *p = &sm->sweep.f->ports[i];
		uint32_t before;

		if (!sm->sweep.touched[p->node] || !port_is_end(sm->sweep.f, i))
			continue;
		before = fabric_find_port(old, p->guid);
		if (((before == FABRIC_NONE ? 0 : old->ports[before].capmask) ^ p->capmask) &
		    IB_CAP_IS_SM)
			return true;
	}
	return false;
}

/*
 * Nothing was found.  True: that was so too often.  A device that keeps reporting changes has a
 * reason that was not found, unless it is flooding us with traps.
 */
static bool has_looked_too_often(struct sm *sm)
{
	struct trap_flood flood;

	if (sm->wishes.election || sm->sweep.unasked || sm_flood_at(sm, 0, &flood))
		return false;
	return ++sm->wishes.fruitless > sm->wishes.fruitless_max;
}

enum step_result sweep_discover_again(struct sm *sm)
{
	sweep_free_work(sm);
	fabric_free(sm->sweep.f);
	sm->sweep.f = NULL;
	sm->sweep.discovery_tries = 0;	/* a new discovery gets its full number of tries */
	sm->wishes.psc_seen = false;
	sm->last.failed_devices = sm->last.sets_failed = 0;
	return RESULT_DISCOVER;
}

enum step_result sweep_probed(struct sm *sm, struct fabric *f, uint8_t *touched, struct node_work *work, bool all)
{
	if (!f && !all && has_looked_too_often(sm)) {
		log_info("sweep", "discovering the whole fabric: %u reported changes were not "
			 "found", sm->wishes.fruitless);
		sm->wishes.fruitless = 0;
		sm->wishes.fruitless_max = sm->wishes.fruitless_max < FRUITLESS_MAX ?
					   2 * sm->wishes.fruitless_max : FRUITLESS_MAX;
		all = true;
	} else if (f) {
		sm->wishes.fruitless = 0;
		sm->wishes.fruitless_max = FRUITLESS_FIRST;
	}
	if (f && another_was_master(sm, f, touched)) {
		read_everything(sm);
		fabric_free(f);
		free(touched);
		free(work);
		return sweep_discover_again(sm);
	}
	if (all || (!f && sm->wishes.psc_seen))
		return sweep_discover_again(sm);
	if (!f && sm->wishes.election) {
		sm->sweep.only_election = true;
		f = fabric_clone(sm->published->f);
		announce_correct(sm, f);
		f->unanswered = sweep_count_unanswered(f);
		touched = xcalloc(f->n_nodes, 1);
		work = sweep_new_work(f);
	}
	if (!f)
		return RESULT_NOTHING;
	sm->last.failed_devices = sm->last.sets_failed = 0;
	sm->wishes.psc_seen = false;
	sweep_take_fabric(sm, f, work);
	sm->sweep.touched = touched;
	return RESULT_DONE;
}
