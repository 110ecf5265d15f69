/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Chooses the M_Key for each SMP, gives devices our key, and tracks devices that have another's
 * (14.2.4).
 *
 * The ring (mkey_ring.h) holds all keys that devices may have: ours and earlier ones.  It is on disk
 * before the first device is told of a new key, so that a power cut during a change puts no device
 * out of reach.  An SMP carries the key that the port's PortInfo shows, or ours if it shows none.
 * A device with protection bits 0 shows its key to everybody (so does one whose lease ran out), one
 * with 1 only to a sender that has the key, and one with 2 or 3 is silent to all others.
 *
 * A device that shows protection but no key has another key than the SMP carried.  The keys of the
 * ring are tried (mkey_identify()), then one Set, which passes if the key is 0; otherwise it begins
 * the lease, if there is one.  If that fails, too, the key is unknown, and the device is asked
 * nothing more in that sweep.  A change of key goes ahead of everything else that is written, alone
 * at its device, since an SMP under way with the old key would be a violation.
 *
 * All of it belongs to the loop's thread, except next() and done() of jobs, and mkey_of(), which
 * reads only what mkey_settle() changes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad_sm.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "sm/keys/mkey_ring.h"
#include "sm/keys/mkey.h"
#include "sm/sm_internal.h"

#define CHANGE_TRIES	2	/* Sets without an answer, after which the key counts as unknown */
#define TELL_US		1000000	/* least time between events about violations */
#define REFRESH_US	100000	/* least time between refreshes of ports that reported a violation */
#define LEASE_PARTS	3	/* how often each port is asked within a lease */

static struct log_ratelimit mismatch_log = LOG_RATELIMIT;

/* A port whose key is being identified or changed. */
struct keyed_port {
	uint32_t port;
	uint8_t tries;		/* keys of the ring tried, or Sets sent */
	bool looks;		/* a Set was lost: a Get shows the present key */
	bool waits, over;
};

struct mkeys {
	struct mkey_ring ring;
	unsigned discovery;	/* index of the key that discovery uses */
	bool unsaved;		/* the ring is not on disk yet */
	uint64_t own;		/* for SMPs to our own port */
	VEC(struct keyed_port) ports;		/* of the running job */
	uint32_t hidden;	/* ports with a key that is not in the ring, at the last look */
	bool changing;		/* ports get another key; the published fabric has the old ones */
	struct map64 mismatched;	/* GUIDs of nodes with an unknown key, as of the last sweep */
	uint32_t n_mismatched;

	/* leases */
	struct timer *timer;
	struct smp_job *job;
	struct subnet_state *state;	/* the state whose ports are asked */
	uint8_t *asked;			/* per port of the state; 2: the port is not as it was left */
	int64_t refreshed_us;
	struct subnet_state *refreshing;	/* the state whose route the SMP of refresh() takes */

	/* violations that devices report */
	uint64_t violations, told;
	int64_t told_us;
};

/* --- the ring --- */

static bool key_line(void *arg, const char *text)
{
	return mkey_ring_take_line(arg, text);
}

static bool save(struct sm *sm, const struct mkey_ring *r)
{
	struct buf b = { 0 };
	bool ok;

	mkey_ring_print(r, &b);
	ok = store_save_m_keys(sm->store, b.s);
	buf_free(&b);
	return ok;
}

/*
 * Puts the key of the settings in front once the ring is on disk; until then devices keep the last
 * key.  If there was no key before, nothing can be lost.
 */
void mkey_settle(struct sm *sm)
{
	struct mkeys *k = sm->mkeys;
	uint64_t key = sm->settings->m_key, in_use = k->ring.n ? k->ring.keys[0] : key;
	struct mkey_ring ring = k->ring;
	bool first = !ring.n;

	if (!first && in_use == key && !k->unsaved)
		return;
	mkey_ring_put_first(&ring, key);
	k->unsaved = (!first || key) && !save(sm, &ring);
	if (k->unsaved && in_use != key) {
		log_limited(&mismatch_log, LOG_LEVEL_ERROR, "m-key",
			    "cannot store the new M_Key: devices keep their present one");
		return;
	}
	if (in_use != key)
		log_info("m-key", "setting a new M_Key on all devices; %u earlier ones are "
				"known", ring.n - 1);
	mad_hold(sm->mad);	/* a light sweep may be running */
	k->ring = ring;
	mad_release(sm->mad);
	k->discovery = mkey_ring_find(&ring, in_use);
}

bool mkey_is_late(const struct sm *sm)
{
	return sm->mkeys->unsaved;
}

uint64_t mkey_ours(const struct sm *sm)
{
	return sm->mkeys->ring.keys[0];
}

unsigned mkey_count(const struct sm *sm)
{
	return sm->mkeys->ring.n;
}

uint64_t mkey_nth(const struct sm *sm, unsigned i)
{
	return sm->mkeys->ring.keys[i];
}

bool mkey_is_known(const struct sm *sm, uint64_t key)
{
	return mkey_ring_find(&sm->mkeys->ring, key) < sm->mkeys->ring.n;
}

uint64_t mkey_of_discovery(const struct sm *sm)
{
	return sm->mkeys->ring.keys[sm->mkeys->discovery];
}

void mkey_scan_failed(struct sm *sm)
{
	sm->mkeys->discovery = (sm->mkeys->discovery + 1) % sm->mkeys->ring.n;
}

void mkey_scan_given_up(struct sm *sm)
{
	sm->mkeys->hidden = 1;
}

/* --- keys of ports --- */

static uint64_t shown(const uint8_t *info)
{
	return get_be64(info);
}

static unsigned protection(const uint8_t *info)
{
	/* libibmad takes its buffer without const, but only reads it */
	return mad_get_field((void *)(uintptr_t)info, 0, IB_PORT_MKEY_PROT_BITS_F);
}

static unsigned lease(const uint8_t *info)
{
	return mad_get_field((void *)(uintptr_t)info, 0, IB_PORT_MKEY_LEASE_F);
}

/* The port has a key other than the one that the SMP carried, or its key is 0. */
static bool is_hidden(const struct fabric_port *p)
{
	return p->present && protection(p->info) && !shown(p->info);
}

bool mkey_differs(const uint8_t *a, const uint8_t *b)
{
	return shown(a) != shown(b) || protection(a) != protection(b) || lease(a) != lease(b);
}

uint64_t mkey_of(const struct sm *sm, const struct fabric *f, uint32_t node, unsigned num)
{
	uint64_t key = port_m_key(f, node, num);

	return key ? key : mkey_ours(sm);
}

bool mkey_route(const struct sm *sm, const struct fabric *f, uint32_t node, unsigned num,
		struct smp *s)
{
	if (!want_route(f, node, num, s))
		return false;
	s->m_key = mkey_of(sm, f, node, num);
	return true;
}

uint64_t mkey_of_port(const struct sm *sm, uint32_t port)
{
	const struct fabric *f = sm->published->f;

	return mkey_of(sm, f, f->ports[port].node, f->ports[port].num);
}

uint64_t sm_own_m_key(const struct sm *sm)
{
	return sm->mkeys->own;
}

bool sm_route(const struct sm *sm, const struct fabric *f, uint32_t node, unsigned num, struct smp *s)
{
	return mkey_route(sm, f, node, num, s);
}

uint32_t mkey_mismatches(const struct sm *sm)
{
	return sm->state == SM_MASTER ? sm->mkeys->n_mismatched : sm->mkeys->hidden;
}

bool mkey_is_mismatched(const struct sm *sm, const struct fabric *f, uint32_t node)
{
	return sm->mkeys->n_mismatched &&
	       map64_get(&sm->mkeys->mismatched, f->nodes[node].guid) != MAP64_NONE;
}

bool mkey_is_certain(const struct sm *sm, uint32_t port)
{
	return sm->mkeys->ring.n == 1 || (port != FABRIC_NONE && !sm->mkeys->changing);
}

uint64_t mkey_violations(const struct sm *sm)
{
	return sm->mkeys->violations;
}

static void add_port(struct sm *sm, uint32_t port)
{
	*vec_push(&sm->mkeys->ports) = (struct keyed_port){ .port = port };
}

static void step_done(struct sm *sm)
{
	vec_free(&sm->mkeys->ports);
	sweep_job_over(sm);
}

/* --- finding out which key of the ring a port has --- */

static bool identify_next(void *arg, uint32_t i, struct smp *s, uint64_t *cookie)
{
	struct sm *sm = arg;
	struct keyed_port *x = &sm->mkeys->ports.v[i];
	const struct fabric_port *p = &sm->sweep.f->ports[x->port];

	if (x->waits || x->over || x->tries == sm->mkeys->ring.n ||
	    !want_route(sm->sweep.f, p->node, p->num, s))
		return false;
	sweep_fill_smp(sm, s, SMP_GET, UMAD_SM_ATTR_PORT_INFO,
		       port_info_modifier(sm->sweep.f, p->node, p->num));
	s->m_key = sm->mkeys->ring.keys[x->tries++];
	x->waits = true;
	*cookie = 0;
	return true;
}

static void identify_done(void *arg, uint32_t i, const struct smp *s, uint64_t cookie, int status)
{
	struct sm *sm = arg;
	struct keyed_port *x = &sm->mkeys->ports.v[i];

	(void)cookie;
	x->waits = false;
	x->over = !status && shown(s->data);
	if (x->over)
		fabric_port_store(&sm->sweep.f->ports[x->port], s->data);
}

static void tell_hidden(struct sm *sm)
{
	uint32_t first = FABRIC_NONE;

	sm->mkeys->hidden = 0;
	for (uint32_t i = 0; i < sm->sweep.f->n_ports; i++)
		if (is_hidden(&sm->sweep.f->ports[i]) && port_is_end(sm->sweep.f, i)) {
			sm->mkeys->hidden++;
			first = first == FABRIC_NONE ? i : first;
		}
	if (sm->mkeys->hidden && sm->state != SM_MASTER)
		log_limited(&mismatch_log, LOG_LEVEL_ERROR, "m-key",
			    "%u ports have an M_Key that is neither m-key of qosd.yaml nor an earlier one; "
			    "the first is %s", sm->mkeys->hidden, PORT_NAME(sm->sweep.f, first));
}

static void identified(struct sm *sm)
{
	const struct fabric_port *self = &sm->sweep.f->ports[sm->sweep.f->self];

	sm->mkeys->own = mkey_of(sm, sm->sweep.f, self->node, self->num);
	tell_hidden(sm);
}

static void identify_finished(void *arg)
{
	struct sm *sm = arg;

	identified(sm);
	step_done(sm);
}

static const struct smp_job_ops identify_ops = { identify_next, identify_done, identify_finished };

enum step_result mkey_identify(struct sm *sm)
{
	struct mkeys *k = sm->mkeys;

	vec_free(&k->ports);
	for (uint32_t i = 0; i < sm->sweep.f->n_ports && k->ring.n > 1; i++)
		if (port_is_end(sm->sweep.f, i) && is_hidden(&sm->sweep.f->ports[i]))
			add_port(sm, i);
	if (k->ports.n) {
		sm->sweep.job = smp_job_start(sm->mad, (uint32_t)k->ports.n, &identify_ops, sm);
		return RESULT_WAIT;
	}
	identified(sm);
	return RESULT_DONE;
}

/* --- ports get our key --- */

static bool change_next(void *arg, uint32_t i, struct smp *s, uint64_t *cookie)
{
	struct sm *sm = arg;
	struct keyed_port *x = &sm->mkeys->ports.v[i];
	const struct fabric_port *p = &sm->sweep.f->ports[x->port];
	struct want_env env = sweep_env(sm);

	if (x->waits || x->over || !want_route(sm->sweep.f, p->node, p->num, s))
		return false;
	sweep_fill_smp(sm, s, x->looks ? SMP_GET : SMP_SET, UMAD_SM_ATTR_PORT_INFO,
		       port_info_modifier(sm->sweep.f, p->node, p->num));
	if (x->looks) {
		s->m_key = mkey_ours(sm);
	} else {
		want_port_info(&env, x->port, IB_PORT_NOP, s->data);
		/* only the Set that brings the port up asks for that */
		mad_set_field(s->data, 0, IB_PORT_CLIENT_REREG_F, 0);
	}
	s->once = true;		/* a second try with the old key would be a violation */
	s->brief = false;	/* likewise after a short timeout, if the answer is merely late */
	x->waits = true;
	*cookie = 0;
	return true;
}

/* Stores an answer.  After a Set with the old key the port has the new key, and may not show it. */
static void take_port(struct sm *sm, uint32_t port, const struct smp *s)
{
	uint8_t info[64];

	memcpy(info, s->data, sizeof(info));
	if (s->method == SMP_SET && !shown(info))
		put_be64(info, mkey_ours(sm));
	sweep_store_port(sm, port, info);
}

static void note_mismatch(struct sm *sm, uint32_t port)
{
	const struct fabric_port *p = &sm->sweep.f->ports[port];
	struct node_work *w = &sm->sweep.work[p->node];
	char until[64] = "it never expires";

	if (lease(p->info))
		snprintf(until, sizeof(until), "its lease expires %u s after the last use of the key",
			 lease(p->info));
	w->failed = w->key_mismatch = true;
	log_limited(&mismatch_log, LOG_LEVEL_ERROR, "m-key",
		    "%s has an unknown M_Key (protection bits %u; %s): not configuring it",
		    PORT_NAME(sm->sweep.f, port), protection(p->info),
			    until);
}

static void change_done(void *arg, uint32_t i, const struct smp *s, uint64_t cookie, int status)
{
	struct sm *sm = arg;
	struct keyed_port *x = &sm->mkeys->ports.v[i];

	(void)cookie;
	x->waits = false;
	if (status > 0) {
		x->over = true;		/* not because of the key: left to the pass over all ports */
	} else if (status == 0 && s->method == SMP_SET) {
		take_port(sm, x->port, s);
		x->over = true;
	} else if (status == 0) {
		/* a port with protection that shows no key has another's, even if ours is 0 */
		if (shown(s->data) || !protection(s->data)) {
			take_port(sm, x->port, s);
			x->over = shown(s->data) == mkey_ours(sm);
		}
		x->looks = false;
	} else if (s->method == SMP_SET) {
		sweep_port_unsure(sm, x->port);
		x->tries++;
		x->looks = true;
	} else {
		x->looks = false;
	}
	if (x->over || x->looks || x->tries < CHANGE_TRIES)
		return;
	x->over = true;
	if (is_hidden(&sm->sweep.f->ports[x->port]))
		note_mismatch(sm, x->port);
}

static void change_finished(void *arg)
{
	step_done(arg);
}

static const struct smp_job_ops change_ops = { change_next, change_done, change_finished };

/* The port's key is not ours, or is unknown. */
static bool is_to_change(const struct sm *sm, const struct want_env *env, uint32_t port)
{
	const struct fabric_port *p = &sm->sweep.f->ports[port];

	if (!port_is_end(sm->sweep.f, port) || !port_is_managed(sm->sweep.f, port) ||
	    sm->sweep.work[p->node].failed)
		return false;
	if (is_hidden(p))
		return mkey_ours(sm) || port_needs_set(env, store_refusals(sm->store), port);
	return shown(p->info) && shown(p->info) != mkey_ours(sm);
}

/* The node's key was unknown at the last look, and this sweep has another reason. */
static bool is_still_mismatched(const struct sm *sm, uint32_t node)
{
	return mkey_is_mismatched(sm, sm->sweep.f, node) &&
	       !sweep_is(sm)->whole && !(sm->sweep.touched && sm->sweep.touched[node]);
}

enum step_result mkey_change(struct sm *sm)
{
	struct mkeys *k = sm->mkeys;
	struct want_env env = sweep_env(sm);

	vec_free(&k->ports);
	for (uint32_t i = 0; i < sm->sweep.f->n_nodes; i++)
		if (is_still_mismatched(sm, i))
			sm->sweep.work[i].failed = sm->sweep.work[i].key_mismatch = true;
	for (uint32_t i = 0; i < sm->sweep.f->n_ports; i++)
		if (is_to_change(sm, &env, i))
			add_port(sm, i);
	k->changing = k->ports.n > 0;
	if (!k->ports.n)
		return RESULT_DONE;
	log_info("m-key", "%zu ports have another M_Key than ours, or an unknown one",
		 k->ports.n);
	sm->sweep.job = smp_job_start(sm->mad, (uint32_t)k->ports.n, &change_ops, sm);
	return RESULT_WAIT;
}

static void lease_start(struct sm *sm);

void mkey_swept(struct sm *sm)
{
	struct mkeys *k = sm->mkeys;

	mad_hold(sm->mad);	/* jobs of multicast and alias GUIDs read them */
	map64_clear(&k->mismatched);
	k->n_mismatched = 0;
	for (uint32_t i = 0; i < sm->sweep.f->n_nodes; i++)
		if (sm->sweep.work[i].key_mismatch) {
			map64_put(&k->mismatched, sm->sweep.f->nodes[i].guid, 1);
			k->n_mismatched++;
		}
	mad_release(sm->mad);
	k->discovery = 0;
	k->changing = false;
	k->own = mkey_of(sm, sm->sweep.f, sm->sweep.f->ports[sm->sweep.f->self].node,
			 sm->sweep.f->ports[sm->sweep.f->self].num);
	lease_start(sm);
}

/*
 * --- leases ---
 *
 * A violation begins the lease at a device, and the next SMP with the right key ends it.  Light
 * sweeps ask switches only, so all ports are asked several times within a lease, and a port that
 * reports a violation is asked at once.
 */

static bool lease_next(void *arg, uint32_t node, struct smp *s, uint64_t *cookie)
{
	struct sm *sm = arg;
	struct mkeys *k = sm->mkeys;
	const struct fabric *f = k->state->f;
	const struct fabric_node *n = &f->nodes[node];

	for (unsigned num = 0; num <= n->nports; num++) {
		uint32_t port = n->port0 + num;

		if (k->asked[port] || !port_is_end(f, port) || !port_is_managed(f, port) ||
		    mkey_is_mismatched(sm, f, node) || !want_route(f, node, num, s))
			continue;
		k->asked[port] = 1;
		sweep_fill_smp(sm, s, SMP_GET, UMAD_SM_ATTR_PORT_INFO,
			       port_info_modifier(f, node, num));
		s->once = true;		/* asked again long before the lease ends */
		*cookie = port;
		return true;
	}
	return false;
}

static void lease_done(void *arg, uint32_t node, const struct smp *s, uint64_t cookie, int status)
{
	struct sm *sm = arg;
	struct mkeys *k = sm->mkeys;

	(void)node;
	if (!status && mkey_differs(s->data, k->state->f->ports[cookie].info))
		k->asked[cookie] = 2;
}

static void lease_end(struct mkeys *k)
{
	free(k->asked);
	k->asked = NULL;
	state_unref(k->state);
	k->state = NULL;
	k->job = NULL;
}

static void lease_finished(void *arg)
{
	struct sm *sm = arg;
	struct mkeys *k = sm->mkeys;
	const struct fabric *f = k->state->f;
	bool any = false;

	for (uint32_t i = 0; i < f->n_ports; i++)
		if (k->asked[i] == 2) {
			sm_suspect(sm, &(struct suspect){ .guid = port_node(f, i)->guid });
			any = true;
		}
	lease_end(k);
	if (any)
		sm_want_sweep(sm, SWEEP_LOCAL, "a port does not have the M_Key that was set");
}

static const struct smp_job_ops lease_ops = { lease_next, lease_done, lease_finished };

static void on_lease(void *arg)
{
	struct sm *sm = arg;
	struct mkeys *k = sm->mkeys;

	if (k->job || sweep_runs(sm) || !sm->published || sm->state != SM_MASTER)
		return;
	k->state = state_ref(sm->published);
	k->asked = xcalloc(k->state->f->n_ports, 1);
	k->job = smp_job_start(sm->mad, k->state->f->n_nodes, &lease_ops, sm);
}

static void lease_start(struct sm *sm)
{
	int64_t each_us = sm->settings->m_key_lease * (1000000ll / LEASE_PARTS);

	if (mkey_ours(sm) && each_us && !timer_active(sm->mkeys->timer))
		timer_set(sm->mkeys->timer, each_us, each_us);
}

/* --- violations --- */

static void on_refreshed(void *arg, const struct smp *s, int status)
{
	struct mkeys *k = arg;

	(void)s;
	(void)status;
	state_unref(k->refreshing);
	k->refreshing = NULL;
}

static void refresh(struct sm *sm, uint32_t port)
{
	struct mkeys *k = sm->mkeys;
	struct subnet_state *state = sm->published;
	const struct fabric_port *p = &state->f->ports[port];
	struct smp s = { .once = true };
	int64_t now = clock_mono_us();

	if (!sm->settings->m_key_lease || k->refreshing || now - k->refreshed_us < REFRESH_US ||
	    !want_route(state->f, p->node, p->num, &s))
		return;
	k->refreshed_us = now;
	sweep_fill_smp(sm, &s, SMP_GET, UMAD_SM_ATTR_PORT_INFO,
		       port_info_modifier(state->f, p->node, p->num));
	k->refreshing = state_ref(state);
	smp_send(sm->mad, &s, on_refreshed, k);
}

/* Offsets in the Notice of trap 256 (14.2.5.1), which describe the SMP; its key is not reported. */
enum { NOTICE_FROM = 12, NOTICE_METHOD = 16, NOTICE_ATTR = 18, NOTICE_MOD = 20 };

void mkey_violated(struct sm *sm, uint32_t port, uint16_t lid, const uint8_t *notice)
{
	struct mkeys *k = sm->mkeys;
	int64_t now = clock_mono_us();
	char name[FABRIC_NAME_MAX] = "an unknown port", more[64] = "";
	char by[32] = "a directed route";
	uint16_t from = get_be16(notice + NOTICE_FROM);
	struct event e;

	k->violations++;
	if (port != FABRIC_NONE) {
		fabric_port_name(sm->published->f, port, name, sizeof(name));
		refresh(sm, port);
	}
	if (k->told_us && now - k->told_us < TELL_US)
		return;
	if (k->violations - k->told > 1)
		snprintf(more, sizeof(more), "; %" PRIu64 " more since the last event",
			 k->violations - k->told - 1);
	if (from != IB_LID_PERMISSIVE)
		snprintf(by, sizeof(by), "LID %u", from);
	k->told_us = now;
	k->told = k->violations;
	event_make(&e, EVENT_M_KEY_VIOLATION, "%s (LID %u) received a wrong M_Key from %s: method 0x%02x, "
		   "attribute 0x%04x%s", name, lid, by, notice[NOTICE_METHOD],
		   get_be16(notice + NOTICE_ATTR), more);
	event_number(&e, "lid", lid);
	event_number(&e, "from-lid", from);
	event_number(&e, "method", notice[NOTICE_METHOD]);
	event_number(&e, "attribute", get_be16(notice + NOTICE_ATTR));
	event_number(&e, "violations", (int64_t)k->violations);
	if (port != FABRIC_NONE)
		event_guid(&e, "port", sm->published->f->ports[port].guid);
	sm_tell(sm, &e);
	log_warn("m-key", "%s", e.text);
}

/* --- beginning and end --- */

void mkey_new(struct sm *sm)
{
	struct mkeys *k = xcalloc(1, sizeof(*k));

	sm->mkeys = k;
	map64_init(&k->mismatched, 16);
	k->timer = timer_new(sm->loop, on_lease, sm);
	if (!store_load_m_keys(sm->store, key_line, &k->ring))
		k->ring.n = 0;
	mkey_settle(sm);
	k->own = mkey_of_discovery(sm);
}

void mkey_stop(struct sm *sm)
{
	struct mkeys *k = sm->mkeys;

	timer_stop(k->timer);
	if (!k->job)
		return;
	smp_job_cancel(k->job);
	lease_end(k);
}

void mkey_free(struct sm *sm)
{
	struct mkeys *k = sm->mkeys;

	mkey_stop(sm);
	state_unref(k->refreshing);
	timer_free(k->timer);
	vec_free(&k->ports);
	map64_free(&k->mismatched);
	free(k);
}
