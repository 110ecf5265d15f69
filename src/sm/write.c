/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writing the difference, in passes over the fabric, each of which ends
 * before the next begins:
 *
 *  0. M_Keys that are others than ours (mkey.c).
 *  1. ports: SwitchInfo, then PortInfo with OperationalVLs, MTU, LIDs and the
 *     rest, and in the same Set the step from Init to Armed.  OperationalVLs
 *     come before the tables that depend on them, and no data packet passes a
 *     link before pass 3, as both ends are at most Armed (7.2.7).
 *  2. tables: LFT, P_Key, SL2VL, VLArb.
 *  3. Armed to Active, where both ends of a link are Armed at least; and
 *     enforcement of partitions by switch ports that are Active already.
 *
 * Enforcement never runs ahead of the table by which it is done, nor behind it
 * on a link that comes up: what it is to be on a port without traffic is written
 * in pass 1; where traffic passes it ends in pass 1, before the table may go, and
 * begins in pass 3.  In between, with enforcement on, a block of 32 P_Keys changes
 * at once, so that traffic of partitions that stay in theirs passes all the time.
 *
 * A Set that a device answers with success but does not follow is remembered
 * (store.h), so that it is not tried again.
 */
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad_sm.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/map64.h"
#include "sm/internal.h"

static struct log_ratelimit refused_log = LOG_RATELIMIT;

#define COOKIE_SWITCH_INFO UINT64_MAX
#define COOKIE_ADAPTIVE UINT64_MAX
#define COOKIE_ENFORCE 0x100	/* with a port number: not to become Active, but to enforce partitions */

static void set_failed(struct sm *sm, uint32_t node, const struct smp *s, int status)
{
	char name[FABRIC_NAME_MAX];

	sm->sets_failed++;
	sm->work[node].refused++;
	sm->work[node].doubtful = true;
	log_limited(&refused_log, LOG_LEVEL_WARNING, "sweep",
		    "%s: Set of attribute 0x%04x modifier 0x%08x refused with status 0x%04x",
		    fabric_node_name(sm->f, node, name, sizeof(name)), s->attr, s->mod,
		    (unsigned)status);
}

/* Whether an SMP was lost for good, or answered; *again: it is to be sent once more. */
static bool was_lost(struct sm *sm, uint32_t node, const struct smp *s, int status, bool *again)
{
	*again = false;
	if (status >= 0) {
		sm->work[node].silent = 0;
		return false;
	}
	if (s->method == SMP_SET && s->attr == UMAD_SM_ATTR_PORT_INFO)
		sweep_port_unsure(sm, sm->f->nodes[node].port0 + (uint8_t)s->mod);
	*again = sweep_smp_lost(sm, node, "writing");
	return true;
}

static void push_number(uint8_t **list, uint32_t *n, uint64_t number)
{
	*list = xrealloc(*list, *n + 1, 1);
	(*list)[(*n)++] = (uint8_t)number;
}

static void start_job(struct sm *sm, const struct smp_job_ops *ops)
{
	for (uint32_t i = 0; i < sm->f->n_nodes; i++) {
		sm->work[i].cursor = 0;
		memset(sm->work[i].looked, 0, sizeof(sm->work[i].looked));
	}
	sm->job = smp_job_start(sm->mad, sm->f->n_nodes, ops, sm);
}

/*
 * The first data packet makes an Armed port Active by itself, and a Set whose
 * answer was lost is sent again: both ask for the state that the port has,
 * which is an error (14.2.5.6).  So after an error of value, look; once.
 */
static bool look_again(struct sm *sm, uint32_t node, const struct smp *s, uint64_t cookie,
		       int status)
{
	struct node_work *w = &sm->work[node];
	unsigned num = (uint8_t)cookie;

	if (status != IB_STATUS_BAD_VALUE || s->method != SMP_SET ||
	    s->attr != UMAD_SM_ATTR_PORT_INFO || w->looked[num / 64] >> num % 64 & 1)
		return false;
	w->looked[num / 64] |= 1ull << num % 64;
	push_number(&w->look, &w->n_look, cookie);
	return true;
}

/*
 * A port that refuses its PortInfo, and is to change its LMC, may have one LID only: all but
 * the LMC is set then.  True if that is to be tried.
 */
static bool try_without_lmc(struct sm *sm, uint32_t node, const struct smp *s, uint64_t cookie,
			    int status)
{
	struct node_work *w = &sm->work[node];
	unsigned num = (uint8_t)cookie;
	uint32_t port = sm->f->nodes[node].port0 + num;

	if (status != IB_STATUS_BAD_VALUE || s->method != SMP_SET || cookie == COOKIE_SWITCH_INFO ||
	    !port_is_end(sm->f, port) || sm->plan->lmc[port] == sm->f->ports[port].lmc ||
	    w->lmc_stays[num / 64] >> num % 64 & 1)
		return false;
	w->lmc_stays[num / 64] |= 1ull << num % 64;
	push_number(&w->ports, &w->n_ports, num);
	return true;
}

static void fill_port_info(const struct sm *sm, const struct want_env *env, uint32_t port,
			   unsigned state, struct smp *s)
{
	const struct fabric_port *p = &sm->f->ports[port];
	const struct node_work *w = &sm->work[p->node];

	want_port_info(env, port, state, s->data);
	if (p->lmc == sm->plan->lmc[port] || !port_is_end(sm->f, port))
		return;
	if (w->lmc_stays[p->num / 64] >> p->num % 64 & 1 ||
	    !port_info_differs(env, store_refusals(sm->store), port, p->info))
		mad_set_field(s->data, 0, IB_PORT_LMC_F, p->lmc);
}

/* The next PortInfo to look at; false if there is none. */
static bool look_next(struct sm *sm, uint32_t node, struct smp *s, uint64_t *cookie)
{
	struct node_work *w = &sm->work[node];

	while (w->n_look) {
		unsigned num = w->look[--w->n_look];

		if (!want_route(sm->f, node, num, s))
			continue;
		sweep_fill_smp(sm, s, SMP_GET, UMAD_SM_ATTR_PORT_INFO,
			       port_info_modifier(sm->f, node, num));
		*cookie = num;
		return true;
	}
	return false;
}

/* --- pass 1: ports --- */

static void collect_ports(struct sm *sm, const struct want_env *env, uint32_t node)
{
	const struct fabric_node *n = &sm->f->nodes[node];
	struct node_work *w = &sm->work[node];
	uint8_t nums[256];
	uint32_t k = 0;

	w->ports_collected = true;
	if (n->sw != FABRIC_NONE)
		w->switch_info = switch_info_needs_set(env, store_refusals(sm->store), n->sw);
	for (unsigned num = 0; num <= n->nports; num++) {
		if (!port_is_managed(sm->f, n->port0 + num))
			continue;
		/* what a Set would be made from need not be so */
		if (sm->f->ports[n->port0 + num].unsure)
			push_number(&w->look, &w->n_look, num);
		else if (port_needs_set(env, store_refusals(sm->store), n->port0 + num))
			nums[k++] = (uint8_t)num;
	}
	w->n_ports = k;
	w->ports = k ? xmemdup(nums, k) : NULL;
}

/*
 * PortStateChange is about to be cleared, though nobody reads the ports behind that: those that
 * become Active say by their answers what they are then, and others may have changed.
 */
static void note_blind(struct sm *sm, uint32_t node)
{
	const struct fabric_node *n = &sm->f->nodes[node];
	bool active = false;

	for (unsigned num = 1; num <= n->nports; num++)
		active |= sm->f->ports[n->port0 + num].state == IB_PORT_ACTIVE_S;
	if (active && sm->f->switches[n->sw].port_change)
		map64_put(&sm->blind, n->guid, 1);
}

static bool ports_next(void *arg, uint32_t node, struct smp *s, uint64_t *cookie)
{
	struct sm *sm = arg;
	struct node_work *w = &sm->work[node];
	const struct fabric_node *n = &sm->f->nodes[node];
	struct want_env env = sweep_env(sm);

	if (w->failed || takeover_is_hopeless(sm))
		return false;
	if (!w->ports_collected)
		collect_ports(sm, &env, node);
	if (w->switch_info) {
		w->switch_info = false;
		if (!want_route(sm->f, node, 0, s))
			return false;
		note_blind(sm, node);
		sweep_fill_smp(sm, s, SMP_SET, UMAD_SM_ATTR_SWITCH_INFO, 0);
		want_switch_info(&env, store_refusals(sm->store), n->sw, s->data);
		*cookie = COOKIE_SWITCH_INFO;
		return true;
	}
	if (look_next(sm, node, s, cookie))
		return true;
	while (w->cursor < w->n_ports) {
		unsigned num = w->ports[w->cursor++];

		if (!want_route(sm->f, node, num, s))
			continue;
		sweep_fill_smp(sm, s, SMP_SET, UMAD_SM_ATTR_PORT_INFO,
			       port_info_modifier(sm->f, node, num));
		fill_port_info(sm, &env, n->port0 + num, port_next_state(sm->f, n->port0 + num), s);
		*cookie = num;
		return true;
	}
	return false;
}

static void mcast_top_refused(struct sm *sm, uint32_t node, unsigned wanted)
{
	const struct fabric_switch *sw = &sm->f->switches[sm->f->nodes[node].sw];
	char name[FABRIC_NAME_MAX];

	store_refused(sm->store, sm->f->nodes[node].guid, UMAD_SM_ATTR_SWITCH_INFO,
		      REFUSED_MCAST_TOP, wanted, sw->mcast_top);
	log_limited(&refused_log, LOG_LEVEL_WARNING, "sweep",
		    "%s: keeps MulticastFDBTop 0x%04x, and does not take 0x%04x: it forwards %u MLIDs",
		    fabric_node_name(sm->f, node, name, sizeof(name)), sw->mcast_top, wanted,
		    fabric_switch_mlids(sm->f, sm->f->nodes[node].sw));
}

/*
 * A switch refuses SwitchInfo.  If that may be for MulticastFDBTop, which is the field that fewest
 * managers write, the others are sent again without it, and it is not tried again.
 */
static bool retry_without_mcast_top(struct sm *sm, uint32_t node)
{
	struct want_env env = sweep_env(sm);
	uint32_t sw = sm->f->nodes[node].sw;
	unsigned held = sm->f->switches[sw].mcast_top;
	unsigned sent = want_mcast_top(sm->plan, store_refusals(sm->store), sw, held);

	if (sent == held)
		return false;
	mcast_top_refused(sm, node, sent);
	sm->work[node].switch_info = switch_info_needs_set(&env, store_refusals(sm->store), sw);
	return true;
}

static void switch_info_done(struct sm *sm, uint32_t node, const struct smp *s)
{
	const struct refusals *refused = store_refusals(sm->store);
	uint32_t at = sm->f->nodes[node].sw;
	struct fabric_switch *sw = &sm->f->switches[at];
	unsigned mcast_top, top = plan_lft_top(sm->plan, at);
	char name[FABRIC_NAME_MAX];

	fabric_switch_store(sw, s->data);
	mcast_top = want_mcast_top(sm->plan, refused, at, sw->mcast_top);
	if (sw->mcast_top != mcast_top)
		mcast_top_refused(sm, node, mcast_top);
	/* a new change may have come in between: that is no refusal */
	if (sw->lft_top == top && sw->lifetime == sm->settings->packet_lifetime)
		return;
	store_refused(sm->store, sm->f->nodes[node].guid, UMAD_SM_ATTR_SWITCH_INFO, 0,
		      switch_info_digest(top, sm->settings->packet_lifetime),
		      switch_info_digest(sw->lft_top, sw->lifetime));
	log_limited(&refused_log, LOG_LEVEL_WARNING, "sweep",
		    "%s: SwitchInfo keeps LinearFDBTop %u, LifeTimeValue %u",
		    fabric_node_name(sm->f, node, name, sizeof(name)), sw->lft_top, sw->lifetime);
}

static void port_done(struct sm *sm, const struct want_env *env, uint32_t node, unsigned num,
		      const struct smp *s)
{
	const struct fabric_node *n = &sm->f->nodes[node];
	uint32_t port = n->port0 + num;
	uint64_t want, got;
	uint8_t data[64];

	memcpy(data, sm->f->ports[port].info, sizeof(data));
	want_port_fields(env, port, data);
	want = port_info_digest(env, port, data);
	sweep_store_port(sm, port, s->data);
	got = port_info_digest(env, port, s->data);
	if (want != got)
		store_refused(sm->store, n->guid, UMAD_SM_ATTR_PORT_INFO, num, want, got);
}

/* What is still to be changed gets a try, be it one more. */
static void port_looked_at(struct sm *sm, uint32_t node, unsigned num, const struct smp *s)
{
	struct node_work *w = &sm->work[node];
	struct want_env env = sweep_env(sm);
	uint32_t port = sm->f->nodes[node].port0 + num;

	sweep_store_port(sm, port, s->data);
	if (port_needs_set(&env, store_refusals(sm->store), port))
		push_number(&w->ports, &w->n_ports, num);
}

static void ports_done(void *arg, uint32_t node, const struct smp *s, uint64_t cookie, int status)
{
	struct sm *sm = arg;
	struct node_work *w = &sm->work[node];
	struct want_env env = sweep_env(sm);
	bool again;

	if (was_lost(sm, node, s, status, &again)) {
		if (again && cookie == COOKIE_SWITCH_INFO)
			w->switch_info = true;
		else if (again)
			push_number(&w->look, &w->n_look, cookie);
		return;
	}
	if (look_again(sm, node, s, cookie, status) ||
	    try_without_lmc(sm, node, s, cookie, status))
		return;
	if (status && cookie == COOKIE_SWITCH_INFO && retry_without_mcast_top(sm, node))
		return;
	if (status)
		set_failed(sm, node, s, status);
	else if (cookie == COOKIE_SWITCH_INFO)
		switch_info_done(sm, node, s);
	else if (s->method == SMP_GET)
		port_looked_at(sm, node, (uint8_t)cookie, s);
	else
		port_done(sm, &env, node, (uint8_t)cookie, s);
}

/* --- pass 2: tables --- */

static bool tables_next(void *arg, uint32_t node, struct smp *s, uint64_t *cookie)
{
	struct sm *sm = arg;
	struct node_work *w = &sm->work[node];
	struct item_want want;

	if (!w->settled) {
		observe_settle(w);
		w->n = slmap_join(sm->plan, node, w->items, w->n);
	}
	if (!w->failed && adaptive_next(sm, node, s)) {
		*cookie = COOKIE_ADAPTIVE;
		return true;
	}
	while (w->cursor < w->n && !w->failed && w->adaptive != ADAPTIVE_ASKED) {
		item_t it = w->items[w->cursor++];

		if (!want_route(sm->f, node, item_port(it), s))
			continue;
		want_item(sm->plan, node, it, &want);
		sweep_fill_smp(sm, s, it & ITEM_LOOK ? SMP_GET : SMP_SET, want.attr, want.mod);
		if (s->method == SMP_SET)
			memcpy(s->data, want.data, sizeof(s->data));
		w->joined |= ITEM_KIND(it) == ITEM_SL2VL && ITEM_A(it) == ITEM_ALL;
		*cookie = it;
		return true;
	}
	return false;
}

void write_pkeys_differ(struct sm *sm, uint32_t node, item_t item)
{
	if (ITEM_KIND(item) == ITEM_PKEY && ITEM_A(item) && node_is_switch(&sm->f->nodes[node]))
		sm->work[node].pkeys_differ = sm->work[node].doubtful = true;
}

static void table_refused(struct sm *sm, uint32_t node, item_t item, const struct smp *s,
			  int status)
{
	struct node_work *w = &sm->work[node];

	write_pkeys_differ(sm, node, item);
	if (slmap_split(sm->plan, node, w, item))
		return;
	set_failed(sm, node, s, status);
	if (ITEM_KIND(item) == ITEM_SL2VL)
		observe_add(w, ITEM_PLAIN(item) | ITEM_LOOK);
}

static void table_kept(struct sm *sm, uint32_t node, item_t item, const struct item_want *want,
		       const uint8_t *got)
{
	char name[FABRIC_NAME_MAX];

	write_pkeys_differ(sm, node, item);
	if (slmap_split(sm->plan, node, &sm->work[node], item))
		return;
	kept_see(sm, node, item, want, got);
	sm->work[node].keeps += ITEM_KIND(item) != ITEM_SL2VL;
	store_refused(sm->store, sm->f->nodes[node].guid, want->attr, want->mod,
		      hash_bytes(want->data, want->len, 0), hash_bytes(got, want->len, 0));
	log_limited(&refused_log, LOG_LEVEL_WARNING, "sweep",
		    "%s: keeps another value for attribute 0x%04x modifier 0x%08x",
		    fabric_node_name(sm->f, node, name, sizeof(name)), want->attr, want->mod);
}

static void tables_done(void *arg, uint32_t node, const struct smp *s, uint64_t cookie, int status)
{
	struct sm *sm = arg;
	item_t item = (item_t)cookie;
	struct item_want want;
	bool again;

	if (cookie == COOKIE_ADAPTIVE) {
		adaptive_done(sm, node, s, status);
		return;
	}
	if (was_lost(sm, node, s, status, &again)) {
		if (again)
			observe_add(&sm->work[node], item);
		return;
	}
	want_item(sm->plan, node, item, &want);
	if (s->method == SMP_GET) {
		if (!status)	/* else nobody knows: it stays as planned */
			kept_looked(sm, node, item, &want, s->data);
	} else if (status) {
		table_refused(sm, node, item, s, status);
	} else if (memcmp(s->data, want.data, want.len)) {
		table_kept(sm, node, item, &want, s->data);
	} else {
		kept_confirmed(sm, node, item);
	}
}

/* --- pass 3: Active, and enforcement --- */

static bool port_may_activate(const struct fabric *f, uint32_t port)
{
	const struct fabric_port *p = &f->ports[port];

	return port_is_linked(f, port) && p->state == IB_PORT_ARMED_S &&
	       f->ports[p->peer].state >= IB_PORT_ARMED_S;
}

static bool may_begin_to_enforce(const struct sm *sm, const struct want_env *env, uint32_t port)
{
	return !sm->work[sm->f->ports[port].node].pkeys_differ &&
	       port_may_enforce(env, store_refusals(sm->store), port);
}

/* What pass 3 has to do on a port. */
static bool active_set(const struct sm *sm, uint32_t port, struct smp *s, uint64_t *cookie)
{
	const struct fabric_port *p = &sm->f->ports[port];
	struct want_env sweep = sweep_env(sm), env = active_env(&sweep);
	bool activate = port_may_activate(sm->f, port);

	if (!activate && !may_begin_to_enforce(sm, &env, port))
		return false;
	if (!want_route(sm->f, p->node, p->num, s))
		return false;
	sweep_fill_smp(sm, s, SMP_SET, UMAD_SM_ATTR_PORT_INFO,
		       port_info_modifier(sm->f, p->node, p->num));
	fill_port_info(sm, &env, port, activate ? IB_PORT_ACTIVE_S : IB_PORT_NOP, s);
	*cookie = p->num | (activate ? 0 : COOKIE_ENFORCE);
	return true;
}

static bool active_next(void *arg, uint32_t node, struct smp *s, uint64_t *cookie)
{
	struct sm *sm = arg;
	struct node_work *w = &sm->work[node];
	const struct fabric_node *n = &sm->f->nodes[node];

	if (!w->failed && look_next(sm, node, s, cookie))
		return true;
	while (w->cursor <= n->nports && !w->failed)
		if (active_set(sm, n->port0 + w->cursor++, s, cookie))
			return true;
	return false;
}

static void active_done(void *arg, uint32_t node, const struct smp *s, uint64_t cookie, int status)
{
	struct sm *sm = arg;
	struct node_work *w = &sm->work[node];
	uint32_t port = sm->f->nodes[node].port0 + (uint8_t)cookie;
	struct want_env sweep = sweep_env(sm), env = active_env(&sweep);
	bool again;

	if (was_lost(sm, node, s, status, &again)) {
		/* if only the answer was lost, it is an error of value now, and looked at */
		if (again && s->method == SMP_GET)
			push_number(&w->look, &w->n_look, cookie);
		else if (again && w->cursor > (uint8_t)cookie)
			w->cursor = (uint8_t)cookie;
		return;
	}
	if (!(cookie & COOKIE_ENFORCE) && look_again(sm, node, s, cookie, status))
		return;
	if (status)
		set_failed(sm, node, s, status);
	else if (cookie & COOKIE_ENFORCE)
		port_done(sm, &env, node, (uint8_t)cookie, s);
	else
		sweep_store_port(sm, port, s->data);
}

static void active_finished(void *arg)
{
	struct sm *sm = arg;

	sm->job = NULL;
	reroute_start(sm);
}

static const struct smp_job_ops active_ops = { active_next, active_done, active_finished };

static void tables_finished(void *arg)
{
	struct sm *sm = arg;

	sm->job = NULL;
	sweep_tables_written(sm);
}

static const struct smp_job_ops tables_ops = { tables_next, tables_done, tables_finished };

void write_tables(struct sm *sm)
{
	sweep_enter(sm, PHASE_TABLES);
	start_job(sm, &tables_ops);
}

void write_active(struct sm *sm)
{
	sweep_enter(sm, PHASE_ACTIVATION);
	start_job(sm, &active_ops);
}

static void ports_finished(void *arg)
{
	struct sm *sm = arg;

	sm->job = NULL;
	sweep_ports_written(sm);
}

static const struct smp_job_ops ports_ops = { ports_next, ports_done, ports_finished };

static void write_ports(struct sm *sm)
{
	start_job(sm, &ports_ops);
}

void write_start(struct sm *sm)
{
	sweep_enter(sm, PHASE_PORTS);
	if (sm->kind >= SWEEP_CHANGE) {		/* all was read by the discovery */
		map64_clear(&sm->blind);
		map64_clear(&sm->spared);
	}
	if (sm->kind == SWEEP_TAKEOVER)		/* one Set for each port */
		write_ports(sm);
	else
		mkey_change(sm, write_ports);
}
