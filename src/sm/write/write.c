/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes what differs from the plan, in passes over the fabric, each of which ends before the next
 * begins.
 *
 *  0. M_Keys that are not ours (mkey.c).
 *  1. ports: SwitchInfo, then PortInfo with OperationalVLs, MTU, LIDs and the
 *     rest, and in the same Set the step from Init to Armed.  OperationalVLs
 *     come before the tables that depend on them, and no data packet passes a
 *     link before pass 3, as both ends are at most Armed (7.2.7).
 *     Active links get more OperationalVLs at both ends at once (live_vls.c).
 *  2. tables: LFT, P_Key, SL2VL, VLArb; except for the P_Key tables of ports at
 *     work, which are written when the plan is published (announce.c).
 *  3. Armed to Active, where both ends of a link are at least Armed; and
 *     enforcement of partitions by switch ports that are Active already.  Then
 *     Active links lose OperationalVLs that no table uses any more (live_vls.c).
 *
 * Enforcement never runs ahead of the P_Key table that it uses, nor lags behind it on a link that
 * comes up.  On a port without traffic pass 1 sets it to its planned value.  On a port with traffic
 * it ends in pass 1, before the table may go, and begins in pass 3.  In between, with enforcement
 * on, a block of 32 P_Keys changes at once, so traffic of partitions that keep their block passes
 * all the time.
 *
 * A Set that a device answers with success but ignores is remembered (store.h) and not tried again,
 * and so is one that the device answers with an error each time (refused_sets.c).
 *
 * A PortInfo with a state and other fields that is refused is sent as two Sets, first the fields
 * and then the state with everything else as found: some devices take no step while a field
 * changes, or take the step and refuse a field.
 */
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad_sm.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/base/map64.h"
#include "lib/iba/iba_names.h"
#include "sm/sm_internal.h"
#include "sm/sweep/announce.h"
#include "sm/sweep/reading.h"
#include "sm/write/fixed_routes.h"
#include "sm/write/refused_sets.h"
#include "sm/write/write.h"

static struct log_ratelimit refused_log = LOG_RATELIMIT;

#define COOKIE_SWITCH_INFO UINT64_MAX
#define COOKIE_ADAPTIVE UINT64_MAX
#define COOKIE_ENFORCE	0x100	/* with a port number: enforce partitions rather than become Active */

/* The SMP was lost for good (false: it was answered); *again: it must be sent once more. */
static bool was_lost(struct sm *sm, uint32_t node, const struct smp *s, int status, bool *again)
{
	*again = false;
	if (status >= 0) {
		sweep_heard(sm, node);
		if (s->method == SMP_SET)
			sm->sweep.work[node].sets_lost = 0;
		return false;
	}
	if (s->method == SMP_SET && s->attr == UMAD_SM_ATTR_PORT_INFO)
		sweep_port_unsure(sm, sm->sweep.f->nodes[node].port0 + (uint8_t)s->mod);
	*again = s->method == SMP_SET ? sweep_set_lost(sm, node, "writing") :
					sweep_smp_lost(sm, node, "writing");
	return true;
}

static void push_number(uint8_t **list, uint32_t *n, uint64_t number)
{
	*list = xrealloc(*list, *n + 1, 1);
	(*list)[(*n)++] = (uint8_t)number;
}

static enum step_result start_job(struct sm *sm, const struct smp_job_ops *ops)
{
	for (uint32_t i = 0; i < sm->sweep.f->n_nodes; i++) {
		memset(sm->sweep.work[i].looked, 0, sizeof(sm->sweep.work[i].looked));
		memset(sm->sweep.work[i].halved, 0, sizeof(sm->sweep.work[i].halved));
		memset(sm->sweep.work[i].told, 0, sizeof(sm->sweep.work[i].told));
	}
	sm->sweep.job = smp_job_start(sm->mad, sm->sweep.f->n_nodes, ops, sm);
	return RESULT_WAIT;
}

static bool bit_of(const uint64_t set[4], unsigned num)
{
	return set[num / 64] >> num % 64 & 1;
}

/*
 * The first data packet makes an Armed port Active by itself, and a Set whose answer was lost is
 * sent again: both then ask for the state that the port already has, which is an error (14.2.5.6).
 * Some devices change all fields except the one that they refuse.  So after an error the port is
 * read, once.
 */
static bool look_again(struct sm *sm, uint32_t node, const struct smp *s, uint64_t cookie,
		       int status)
{
	struct node_work *w = &sm->sweep.work[node];
	unsigned num = (uint8_t)cookie;

	if (!status || s->method != SMP_SET || s->attr != UMAD_SM_ATTR_PORT_INFO)
		return false;
	w->status = (uint16_t)status;
	if (bit_of(w->looked, num))
		return false;
	w->looked[num / 64] |= 1ull << num % 64;
	push_number(&w->look, &w->n_look, (uint8_t)cookie);
	return true;
}

/*
 * A port that refuses its PortInfo and should change its LMC may have one LID only: it is then set
 * without the LMC.  True: that must be tried.
 */
static bool try_without_lmc(struct sm *sm, uint32_t node, const struct smp *s, uint64_t cookie,
			    int status)
{
	struct node_work *w = &sm->sweep.work[node];
	unsigned num = (uint8_t)cookie;
	uint32_t port = sm->sweep.f->nodes[node].port0 + num;

	if (status != IB_STATUS_BAD_VALUE || s->method != SMP_SET || cookie == COOKIE_SWITCH_INFO ||
	    !port_is_end(sm->sweep.f, port) ||
	    sm->sweep.plan->lmc[port] == sm->sweep.f->ports[port].lmc ||
	    bit_of(w->lmc_stays, num))
		return false;
	w->lmc_stays[num / 64] |= 1ull << num % 64;
	w->halved[num / 64] &= ~(1ull << num % 64);
	push_number(&w->ports, &w->n_ports, num);
	return true;
}

/* --- one PortInfo Set --- */

/* The parts of a Set; in a cookie with the port number. */
#define SET_FIELDS	0x200
#define SET_STATE	0x400
#define SET_FIRST	0x800	/* fields only: the state follows */

static uint64_t fields_wanted(const struct sm *sm, const struct want_env *env, uint32_t port)
{
	uint8_t data[64];

	memcpy(data, sm->sweep.f->ports[port].info, sizeof(data));
	want_port_fields(env, port, data);
	return port_info_digest(env, port, data);
}

static bool fields_are_refused(const struct sm *sm, const struct want_env *env, uint32_t port)
{
	return refusals_have_status(store_refusals(sm->store), port_node(sm->sweep.f, port)->guid,
				    UMAD_SM_ATTR_PORT_INFO, sm->sweep.f->ports[port].num,
				    fields_wanted(sm, env, port));
}

/*
 * A port that does not take our LMC is sent the LMC that it reports, so that it takes the rest; but
 * not one that excludes the planned LID (14.2.5.6), as no device has that.
 */
static bool lmc_can_stay(const struct sm *sm, uint32_t port)
{
	return !(sm->sweep.plan->lid[port] & ((1u << sm->sweep.f->ports[port].lmc) - 1));
}

/* Fields that a Set leaves alone are sent as found. */
static void fill_port_info(const struct sm *sm, const struct want_env *env, uint32_t port,
			   unsigned state, bool as_found, uint8_t data[64])
{
	const struct fabric_port *p = &sm->sweep.f->ports[port];
	const struct node_work *w = &sm->sweep.work[p->node];
	struct want_env then = *env;

	then.as_found = as_found || fields_are_refused(sm, env, port);
	want_port_info(&then, port, state, data);
	if (p->lmc == sm->sweep.plan->lmc[port] || !port_is_end(sm->sweep.f, port) ||
	    !lmc_can_stay(sm, port))
		return;
	if (bit_of(w->lmc_stays, p->num) ||
	    !port_info_differs(env, store_refusals(sm->store), port, p->info))
		mad_set_field(data, 0, IB_PORT_LMC_F, p->lmc);
}

/* The port answered with an error, not for the first time in this pass. */
static void port_refused(struct sm *sm, const struct want_env *env, uint32_t node, unsigned num,
			 uint64_t what, unsigned status)
{
	uint32_t port = sm->sweep.f->nodes[node].port0 + num;
	unsigned state = port_next_state(sm->sweep.f, port);
	uint64_t want = fields_wanted(sm, env, port);

	if (what & SET_STATE && state != IB_PORT_NOP)
		refused_note(sm, node, UMAD_SM_ATTR_PORT_INFO, port_set_modifier(num, state), state,
			     status);
	if (!(what & SET_FIELDS))
		return;
	refused_note(sm, node, UMAD_SM_ATTR_PORT_INFO, num, want, status);
	if (port_is_to_reregister(env, port) &&
	    refusals_know_status(store_refusals(sm->store), sm->sweep.f->nodes[node].guid,
				 UMAD_SM_ATTR_PORT_INFO, num, want))
		map64_put(&sm->clients.asked, sm->sweep.f->ports[port].guid, 1);
}

/* Fills the next PortInfo Get; false: there is none. */
static bool look_next(struct sm *sm, uint32_t node, struct smp *s, uint64_t *cookie)
{
	struct node_work *w = &sm->sweep.work[node];

	while (w->n_look) {
		unsigned num = w->look[--w->n_look];

		if (!want_route(sm->sweep.f, node, num, s))
			continue;
		sweep_fill_smp(sm, s, SMP_GET, UMAD_SM_ATTR_PORT_INFO,
			       port_info_modifier(sm->sweep.f, node, num));
		s->once |= w->lost >= LOST_MANY;
		*cookie = num;
		return true;
	}
	return false;
}

/* --- pass 1: ports --- */

static void collect_ports(struct sm *sm, const struct want_env *env, uint32_t node)
{
	const struct fabric_node *n = &sm->sweep.f->nodes[node];
	struct node_work *w = &sm->sweep.work[node];
	uint8_t nums[256];
	uint32_t k = 0;

	w->ports_collected = true;
	w->port0_is_new = sm->sweep.f->ports[n->port0].lid != sm->sweep.plan->lid[n->port0];
	if (n->sw != FABRIC_NONE)
		w->switch_info = switch_info_needs_set(env, store_refusals(sm->store), n->sw);
	for (unsigned num = 0; num <= n->nports; num++) {
		if (!port_is_managed(sm->sweep.f, n->port0 + num))
			continue;
		/* the values that a Set would be based on may be out of date */
		if (sm->sweep.f->ports[n->port0 + num].unsure)
			push_number(&w->look, &w->n_look, num);
		else if (port_needs_set(env, store_refusals(sm->store), n->port0 + num))
			nums[k++] = (uint8_t)num;
	}
	w->n_ports = k;
	w->ports = k ? xmemdup(nums, k) : NULL;
}

/*
 * PortStateChange is about to be cleared without the ports being read after that.  Ports that
 * become Active report their state in their answers; others may have changed unseen.
 */
static void note_blind(struct sm *sm, uint32_t node)
{
	const struct fabric_node *n = &sm->sweep.f->nodes[node];
	bool active = false;

	for (unsigned num = 1; num <= n->nports; num++)
		active |= sm->sweep.f->ports[n->port0 + num].state == IB_PORT_ACTIVE_S;
	if (active && sm->sweep.f->switches[n->sw].port_change)
		map64_put(&sm->known.blind, n->guid, 1);
}

/* Fills the next Set for a port; false: there is none. */
static bool port_set(struct sm *sm, const struct want_env *env, uint32_t node, unsigned num,
		     struct smp *s, uint64_t *cookie)
{
	const struct refusals *refused = store_refusals(sm->store);
	struct node_work *w = &sm->sweep.work[node];
	uint32_t port = sm->sweep.f->nodes[node].port0 + num;
	unsigned state = port_set_state(env, refused, port);
	bool fields = port_fields_need_set(env, refused, port), split = bit_of(w->split, num);

	if (split && bit_of(w->halved, num))
		fields = false;		/* the first half was sent */
	if ((!fields && state == IB_PORT_NOP) || !want_route(sm->sweep.f, node, num, s))
		return false;
	*cookie = num | (fields ? SET_FIELDS : 0) | (state != IB_PORT_NOP ? SET_STATE : 0);
	if (split && fields && state != IB_PORT_NOP) {
		w->halved[num / 64] |= 1ull << num % 64;
		*cookie = num | SET_FIELDS | SET_FIRST;
		state = IB_PORT_NOP;
	}
	sweep_fill_set(sm, node, s, UMAD_SM_ATTR_PORT_INFO,
		       port_info_modifier(sm->sweep.f, node, num));
	s->once |= w->sets_lost;
	fill_port_info(sm, env, port, state, split && !fields, s->data);
	if (bit_of(w->told, num))
		mad_set_field(s->data, 0, IB_PORT_CLIENT_REREG_F, 0);
	return true;
}

static bool ports_next(void *arg, uint32_t node, struct smp *s, uint64_t *cookie)
{
	struct sm *sm = arg;
	struct node_work *w = &sm->sweep.work[node];
	const struct fabric_node *n = &sm->sweep.f->nodes[node];
	struct want_env env = sweep_env(sm);

	if (w->failed)
		return false;
	if (!w->ports_collected)
		collect_ports(sm, &env, node);
	if (w->switch_info) {
		w->switch_info = false;
		if (!want_route(sm->sweep.f, node, 0, s))
			return false;
		note_blind(sm, node);
		sweep_fill_set(sm, node, s, UMAD_SM_ATTR_SWITCH_INFO, 0);
		want_switch_info(&env, store_refusals(sm->store), n->sw, s->data);
		if (w->mcast_top_stays)
			mad_set_field(s->data, 0, IB_SW_MCAST_FDB_TOP_F,
				      sm->sweep.f->switches[n->sw].mcast_top);
		*cookie = COOKIE_SWITCH_INFO;
		return true;
	}
	if (look_next(sm, node, s, cookie))
		return true;
	while (w->cursor < w->n_ports)
		if (port_set(sm, &env, node, w->ports[w->cursor++], s, cookie))
			return true;
	return false;
}

static void mcast_top_refused(struct sm *sm, uint32_t node, unsigned wanted)
{
	const struct fabric_switch *sw = &sm->sweep.f->switches[sm->sweep.f->nodes[node].sw];

	store_refused(sm->store, sm->sweep.f->nodes[node].guid, UMAD_SM_ATTR_SWITCH_INFO,
		      REFUSED_MCAST_TOP, wanted, sw->mcast_top);
	log_limited(&refused_log, LOG_LEVEL_WARNING, "sweep",
		    "%s: keeps MulticastFDBTop 0x%04x instead of 0x%04x: it forwards %u MLIDs",
		    NODE_NAME(sm->sweep.f, node), sw->mcast_top, wanted,
		    fabric_switch_mlids(sm->sweep.f, sm->sweep.f->nodes[node].sw));
}

/*
 * The switch refuses SwitchInfo, perhaps because of MulticastFDBTop, the field that fewest managers
 * write.  Then the other fields are sent again without it; with it they are tried again later,
 * until the refusal is for good.
 */
static bool retry_without_mcast_top(struct sm *sm, uint32_t node, unsigned status)
{
	struct want_env env = sweep_env(sm);
	struct node_work *w = &sm->sweep.work[node];
	uint32_t sw = sm->sweep.f->nodes[node].sw;
	unsigned held = sm->sweep.f->switches[sw].mcast_top;
	unsigned sent = want_mcast_top(sm->sweep.plan, store_refusals(sm->store), sw, held);

	if (sent == held || w->mcast_top_stays)
		return false;
	if (refused_field(sm, node, UMAD_SM_ATTR_SWITCH_INFO, REFUSED_MCAST_TOP))
		mcast_top_refused(sm, node, sent);
	else
		log_limited(&refused_log, LOG_LEVEL_WARNING, "sweep",
			    "%s: Set of SwitchInfo refused with status 0x%04x (%s), perhaps because of "
			    "MulticastFDBTop 0x%04x: setting SwitchInfo without it for now",
			    NODE_NAME(sm->sweep.f, node), status,
			    ib_status_text(status), sent);
	w->mcast_top_stays = true;
	w->switch_info = switch_info_rest_needs_set(&env, store_refusals(sm->store), sw);
	return true;
}

/*
 * Stores the answer to a Set of SwitchInfo, except for capabilities: the plan was made with those
 * reported before.  If they have changed, a light sweep finds out (implausible_switch_is_news()).
 */
static void store_switch_info(struct fabric_switch *sw, const uint8_t data[64])
{
	static const enum MAD_FIELDS capabilities[] = {
		IB_SW_LINEAR_FDB_CAP_F, IB_SW_MCAST_FDB_CAP_F, IB_SW_PARTITION_ENFORCE_CAP_F,
	};
	uint8_t info[64];

	memcpy(info, data, sizeof(info));
	for (size_t i = 0; i < ARRAY_SIZE(capabilities); i++)
		mad_set_field(info, 0, capabilities[i], mad_get_field(sw->info, 0, capabilities[i]));
	fabric_switch_store(sw, info);
}

static void switch_info_done(struct sm *sm, uint32_t node, const struct smp *s)
{
	const struct refusals *refused = store_refusals(sm->store);
	uint32_t at = sm->sweep.f->nodes[node].sw;
	struct fabric_switch *sw = &sm->sweep.f->switches[at];
	unsigned mcast_top, top = plan_lft_top(sm->sweep.plan, at);

	store_switch_info(sw, s->data);
	mcast_top = want_mcast_top(sm->sweep.plan, refused, at, sw->mcast_top);
	if (sw->mcast_top == want_mcast_top(sm->sweep.plan, NULL, at, sw->mcast_top))
		refused_taken(sm, sm->sweep.f->nodes[node].guid, UMAD_SM_ATTR_SWITCH_INFO,
			      REFUSED_MCAST_TOP);
	else if (sw->mcast_top != mcast_top && !sm->sweep.work[node].mcast_top_stays)
		mcast_top_refused(sm, node, mcast_top);
	/* PortStateChange may be set by a new change: that is no refusal */
	if (sw->lft_top == top && sw->lifetime == sm->sweep.plan->settings->packet_lifetime) {
		refused_taken(sm, sm->sweep.f->nodes[node].guid, UMAD_SM_ATTR_SWITCH_INFO, 0);
		return;
	}
	store_refused(sm->store, sm->sweep.f->nodes[node].guid, UMAD_SM_ATTR_SWITCH_INFO, 0,
		      switch_info_digest(top, sm->sweep.plan->settings->packet_lifetime),
		      switch_info_digest(sw->lft_top, sw->lifetime));
	fixed_routes_changed(sm, sm->sweep.f->nodes[node].guid, UMAD_SM_ATTR_SWITCH_INFO, 0, true);
	log_limited(&refused_log, LOG_LEVEL_WARNING, "sweep",
		    "%s: SwitchInfo keeps LinearFDBTop %u, LifeTimeValue %u",
		    NODE_NAME(sm->sweep.f, node), sw->lft_top,
			    sw->lifetime);
}

/* Notes that the port's clients were asked to register again. */
static void note_told(struct sm *sm, uint32_t port, bool first)
{
	const struct fabric_port *p = &sm->sweep.f->ports[port];

	if (sm->clients.reregister)
		map64_put(&sm->clients.asked, p->guid, 1);
	if (first)
		sm->sweep.work[p->node].told[p->num / 64] |= 1ull << p->num % 64;
}

/* The port confirmed a state change and did not make it. */
static bool stayed(const struct sm *sm, uint32_t port, unsigned before)
{
	return sm->sweep.f->ports[port].state == before;
}

static void port_done(struct sm *sm, const struct want_env *env, uint32_t node, uint64_t cookie,
		      const struct smp *s)
{
	const struct fabric_node *n = &sm->sweep.f->nodes[node];
	unsigned num = (uint8_t)cookie;
	uint32_t port = n->port0 + num;
	unsigned before = sm->sweep.f->ports[port].state, state =
		port_next_state(sm->sweep.f, port);
	uint64_t want = fields_wanted(sm, env, port), got;

	/* the answer does not count: some devices never show the bit */
	if (port_is_to_reregister(env, port))
		note_told(sm, port, cookie & SET_FIRST);
	sweep_store_port(sm, port, s->data);
	got = port_info_digest(env, port, s->data);
	if (cookie & SET_STATE && stayed(sm, port, before))
		refused_note(sm, node, UMAD_SM_ATTR_PORT_INFO, port_set_modifier(num, state), state, 0);
	else if (cookie & SET_STATE)
		refused_taken(sm, n->guid, UMAD_SM_ATTR_PORT_INFO, port_set_modifier(num, state));
	if (want == got)
		refused_taken(sm, n->guid, UMAD_SM_ATTR_PORT_INFO, num);
	else if (!refusals_know_status(store_refusals(sm->store), n->guid, UMAD_SM_ATTR_PORT_INFO, num,
				       want))
		store_refused(sm->store, n->guid, UMAD_SM_ATTR_PORT_INFO, num, want, got);
}

/* Tries once more what still must be changed; as two Sets, if it is two things. */
static void port_looked_at(struct sm *sm, uint32_t node, unsigned num, const struct smp *s)
{
	struct node_work *w = &sm->sweep.work[node];
	const struct refusals *refused = store_refusals(sm->store);
	struct want_env env = sweep_env(sm);
	uint32_t port = sm->sweep.f->nodes[node].port0 + num;

	sweep_store_port(sm, port, s->data);
	if (!port_needs_set(&env, refused, port))
		return;
	if (bit_of(w->looked, num))
		w->split[num / 64] |= 1ull << num % 64;
	push_number(&w->ports, &w->n_ports, num);
}

static void switch_info_refused(struct sm *sm, uint32_t node, unsigned status)
{
	refused_note(sm, node, UMAD_SM_ATTR_SWITCH_INFO, 0,
		     switch_info_digest(plan_lft_top(sm->sweep.plan, sm->sweep.f->nodes[node].sw),
					sm->sweep.plan->settings->packet_lifetime), status);
}

static void ports_done(void *arg, uint32_t node, const struct smp *s, uint64_t cookie, int status)
{
	struct sm *sm = arg;
	struct node_work *w = &sm->sweep.work[node];
	struct want_env env = sweep_env(sm);
	bool again;

	if (was_lost(sm, node, s, status, &again)) {
		if (again && cookie == COOKIE_SWITCH_INFO)
			w->switch_info = true;
		else if (again)
			push_number(&w->look, &w->n_look, (uint8_t)cookie);
		return;
	}
	if (look_again(sm, node, s, cookie, status) ||
	    try_without_lmc(sm, node, s, cookie, status))
		return;
	if (status && cookie == COOKIE_SWITCH_INFO && retry_without_mcast_top(sm, node, (unsigned)status))
		return;
	if (cookie == COOKIE_SWITCH_INFO && status)
		switch_info_refused(sm, node, (unsigned)status);
	else if (cookie == COOKIE_SWITCH_INFO)
		switch_info_done(sm, node, s);
	else if (s->method == SMP_GET && status)
		sm->sweep.work[node].doubtful = true;
	else if (s->method == SMP_GET)
		port_looked_at(sm, node, (uint8_t)cookie, s);
	else if (status)
		port_refused(sm, &env, node, (uint8_t)cookie, cookie, (unsigned)status);
	else
		port_done(sm, &env, node, cookie, s);
	if (cookie != COOKIE_SWITCH_INFO && cookie & SET_FIRST)
		push_number(&w->ports, &w->n_ports, (uint8_t)cookie);
}

/* --- pass 2: tables --- */

/* The device answers this value with an error each time. */
static bool item_is_refused(struct sm *sm, uint32_t node, item_t it, const struct item_want *want)
{
	return !(it & (ITEM_LOOK | ITEM_PROBE)) &&
	       refusals_have_status(store_refusals(sm->store), sm->sweep.f->nodes[node].guid,
				    want->attr,
				    want->mod, hash_bytes(want->data, want->len, 0));
}

bool write_item(struct sm *sm, uint32_t node, item_t it, struct smp *s)
{
	struct item_want want;

	if (!want_route(sm->sweep.f, node, item_port(it), s))
		return false;
	want_item(sm->sweep.plan, node, it, &want);
	if (item_is_refused(sm, node, it, &want) ||
	    (fixed_routes_holds(sm, node, it) && !(it & ITEM_PROBE)))
		return false;
	if (it & ITEM_LOOK)
		sweep_fill_smp(sm, s, SMP_GET, want.attr, want.mod);
	else
		sweep_fill_set(sm, node, s, want.attr, want.mod);
	s->once |= sm->sweep.work[node].sets_lost;
	if (s->method == SMP_SET)
		memcpy(s->data, want.data, sizeof(s->data));
	sm->sweep.work[node].lft_sent |= ITEM_KIND(it) == ITEM_LFT && s->method == SMP_SET;
	sm->sweep.work[node].joined |= ITEM_KIND(it) == ITEM_SL2VL && ITEM_A(it) == ITEM_ALL;
	return true;
}

static bool tables_next(void *arg, uint32_t node, struct smp *s, uint64_t *cookie)
{
	struct sm *sm = arg;
	struct node_work *w = &sm->sweep.work[node];

	if (!w->settled) {
		observe_settle(w);
		w->n = optimized_sl2vl_join(sm->sweep.plan, node, w->items, w->n);
		fixed_routes_try(sm, node);
	}
	if (!w->failed && adaptive_next(sm, node, s)) {
		*cookie = COOKIE_ADAPTIVE;
		return true;
	}
	while (w->cursor < w->n && !w->failed && !adaptive_is(w, OVERRIDE_ASKED)) {
		item_t it = w->items[w->cursor++];

		if (announce_takes(sm, node, it) || !write_item(sm, node, it, s))
			continue;
		*cookie = it;
		return true;
	}
	if (w->cursor >= w->n && !w->failed && adaptive_again(sm, node, s)) {
		*cookie = COOKIE_ADAPTIVE;
		return true;
	}
	return false;
}

void write_pkeys_differ(struct sm *sm, uint32_t node, item_t item)
{
	if (ITEM_KIND(item) == ITEM_PKEY && ITEM_A(item) &&
	    node_is_switch(&sm->sweep.f->nodes[node]))
		sm->sweep.work[node].pkeys_differ = sm->sweep.work[node].doubtful = true;
}

static void table_refused(struct sm *sm, uint32_t node, item_t item, const struct item_want *want,
			  int status)
{
	struct node_work *w = &sm->sweep.work[node];

	if (fixed_routes_holds(sm, node, item))
		return;		/* still refused */
	if (ITEM_KIND(item) == ITEM_PKEY && ITEM_A(item) &&
	    node_is_switch(&sm->sweep.f->nodes[node]))
		w->pkeys_differ = true;
	if (optimized_sl2vl_split(sm->sweep.plan, node, w, item))
		return;
	refused_note(sm, node, want->attr, want->mod, hash_bytes(want->data, want->len, 0),
		     (unsigned)status);
	if (ITEM_KIND(item) == ITEM_SL2VL || ITEM_KIND(item) == ITEM_VLARB)
		observe_add(w, ITEM_PLAIN(item) | ITEM_LOOK);
}

static void table_kept(struct sm *sm, uint32_t node, item_t item, const struct item_want *want,
		       const uint8_t *got)
{
	if (fixed_routes_holds(sm, node, item))
		return;		/* still ignored, though it no longer refuses the Set */
	write_pkeys_differ(sm, node, item);
	if (optimized_sl2vl_split(sm->sweep.plan, node, &sm->sweep.work[node], item))
		return;
	fixed_see(sm, node, item, want, got);
	sm->sweep.work[node].keeps += ITEM_KIND(item) != ITEM_SL2VL;
	store_refused(sm->store, sm->sweep.f->nodes[node].guid, want->attr, want->mod,
		      hash_bytes(want->data, want->len, 0), hash_bytes(got, want->len, 0));
	fixed_routes_changed(sm, sm->sweep.f->nodes[node].guid, want->attr, want->mod, true);
	log_limited(&refused_log, LOG_LEVEL_WARNING, "sweep",
		    "%s: keeps another value for attribute 0x%04x modifier 0x%08x",
		    NODE_NAME(sm->sweep.f, node), want->attr, want->mod);
}

/*
 * The device took the table.  An SL2VL table counts as taken only once it is read back
 * (fixed_table_log.c), unless the device had refused it by a status.
 */
static void table_taken(struct sm *sm, uint32_t node, item_t item, const struct item_want *want)
{
	if (ITEM_KIND(item) != ITEM_SL2VL ||
	    refusals_know_status(store_refusals(sm->store), sm->sweep.f->nodes[node].guid,
				 want->attr,
				 want->mod, hash_bytes(want->data, want->len, 0)))
		refused_taken(sm, sm->sweep.f->nodes[node].guid, want->attr, want->mod);
	fixed_confirmed(sm, node, item);
}

void write_item_done(struct sm *sm, uint32_t node, item_t item, const struct smp *s, int status)
{
	struct item_want want;

	want_item(sm->sweep.plan, node, item, &want);
	if (s->method == SMP_GET) {
		if (!status)	/* else its contents are unknown, and count as planned */
			fixed_looked(sm, node, item, &want, s->data);
	} else if (status) {
		table_refused(sm, node, item, &want, status);
	} else if (memcmp(s->data, want.data, want.len)) {
		table_kept(sm, node, item, &want, s->data);
	} else {
		table_taken(sm, node, item, &want);
	}
}

static void tables_done(void *arg, uint32_t node, const struct smp *s, uint64_t cookie, int status)
{
	struct sm *sm = arg;
	bool again;

	if (cookie == COOKIE_ADAPTIVE) {
		adaptive_done(sm, node, s, status);
		return;
	}
	if (was_lost(sm, node, s, status, &again)) {
		if (again)
			observe_add(&sm->sweep.work[node], (item_t)cookie);
		return;
	}
	write_item_done(sm, node, (item_t)cookie, s, status);
}

/* --- pass 3: Active, and enforcement --- */

static bool port_may_activate(const struct sm *sm, uint32_t port)
{
	const struct fabric *f = sm->sweep.f;
	const struct fabric_port *p = &f->ports[port];

	return port_is_linked(f, port) && p->state == IB_PORT_ARMED_S &&
	       f->ports[p->peer].state >= IB_PORT_ARMED_S &&
	       !port_state_is_refused(store_refusals(sm->store), f, port);
}

static bool may_begin_to_enforce(const struct sm *sm, const struct want_env *env, uint32_t port)
{
	return !sm->sweep.work[sm->sweep.f->ports[port].node].pkeys_differ &&
	       port_may_enforce(env, store_refusals(sm->store), port);
}

/* Fills the Set of pass 3 for a port; false: there is none. */
static bool active_set(const struct sm *sm, uint32_t port, struct smp *s, uint64_t *cookie)
{
	const struct fabric_port *p = &sm->sweep.f->ports[port];
	struct want_env sweep = sweep_env(sm), env = active_env(&sweep);
	bool activate = port_may_activate(sm, port);

	if (!activate && !may_begin_to_enforce(sm, &env, port))
		return false;
	if (!want_route(sm->sweep.f, p->node, p->num, s))
		return false;
	sweep_fill_set(sm, p->node, s, UMAD_SM_ATTR_PORT_INFO,
		       port_info_modifier(sm->sweep.f, p->node, p->num));
	fill_port_info(sm, &env, port, activate ? IB_PORT_ACTIVE_S : IB_PORT_NOP,
		       activate && bit_of(sm->sweep.work[p->node].split, p->num), s->data);
	*cookie = p->num | (activate ? 0 : COOKIE_ENFORCE);
	return true;
}

static bool active_next(void *arg, uint32_t node, struct smp *s, uint64_t *cookie)
{
	struct sm *sm = arg;
	struct node_work *w = &sm->sweep.work[node];
	const struct fabric_node *n = &sm->sweep.f->nodes[node];

	if (!w->failed && look_next(sm, node, s, cookie))
		return true;
	while (w->n_ports && !w->failed)
		if (active_set(sm, n->port0 + w->ports[--w->n_ports], s, cookie))
			return true;
	while (w->cursor <= n->nports && !w->failed)
		if (active_set(sm, n->port0 + w->cursor++, s, cookie))
			return true;
	return false;
}

/* After an error: the port may have become Active by itself; if not, the step alone is tried. */
static void active_looked_at(struct sm *sm, uint32_t node, unsigned num, const struct smp *s)
{
	struct node_work *w = &sm->sweep.work[node];
	uint32_t port = sm->sweep.f->nodes[node].port0 + num;

	sweep_store_port(sm, port, s->data);
	if (!port_may_activate(sm, port))
		return;
	w->split[num / 64] |= 1ull << num % 64;
	push_number(&w->ports, &w->n_ports, num);
}

static void active_done(void *arg, uint32_t node, const struct smp *s, uint64_t cookie, int status)
{
	struct sm *sm = arg;
	struct node_work *w = &sm->sweep.work[node];
	unsigned num = (uint8_t)cookie;
	uint32_t port = sm->sweep.f->nodes[node].port0 + num;
	struct want_env sweep = sweep_env(sm), env = active_env(&sweep);
	bool again;

	if (was_lost(sm, node, s, status, &again)) {
		/* if only the answer was lost, the Set now gets an error status, and the port is read */
		if (again && s->method == SMP_GET)
			push_number(&w->look, &w->n_look, num);
		else if (again && w->cursor > num)
			w->cursor = (uint8_t)cookie;
		return;
	}
	if (!(cookie & COOKIE_ENFORCE) && look_again(sm, node, s, cookie, status))
		return;
	if (s->method == SMP_GET) {
		if (!status)
			active_looked_at(sm, node, num, s);
		return;
	}
	if (cookie & COOKIE_ENFORCE) {
		if (status)
			port_refused(sm, &env, node, num, SET_FIELDS, (unsigned)status);
		else
			port_done(sm, &env, node, num, s);
		return;
	}
	if (!status)
		sweep_store_port(sm, port, s->data);
	if (status || stayed(sm, port, IB_PORT_ARMED_S))
		refused_note(sm, node, UMAD_SM_ATTR_PORT_INFO,
			     port_set_modifier(num, IB_PORT_ACTIVE_S), IB_PORT_ACTIVE_S,
			     (unsigned)status);
	else
		refused_taken(sm, sm->sweep.f->nodes[node].guid, UMAD_SM_ATTR_PORT_INFO,
			      port_set_modifier(num, IB_PORT_ACTIVE_S));
}

enum step_result write_ports(struct sm *sm)
{
	static const struct smp_job_ops ops = { ports_next, ports_done, sweep_job_over };

	return start_job(sm, &ops);
}

enum step_result write_tables(struct sm *sm)
{
	static const struct smp_job_ops ops = { tables_next, tables_done, sweep_job_over };

	return start_job(sm, &ops);
}

enum step_result write_active(struct sm *sm)
{
	static const struct smp_job_ops ops = { active_next, active_done, sweep_job_over };

	for (uint32_t i = 0; i < sm->sweep.f->n_nodes; i++)
		sm->sweep.work[i].n_ports = 0;	/* from now on: ports to be tried again */
	return start_job(sm, &ops);
}
