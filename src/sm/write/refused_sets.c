/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decides when a device that answers Sets with an error refuses them for good.
 *
 * A status need not mean anything: a device may be busy, or wrong now and then.  So a Set that was
 * answered with an error is tried again, after a while and for that node only, TRIES times in all.
 * Then the refusal is for good: it goes to the store (store/refused_values.h), no further Set is
 * sent, and the sweep counts as complete without it.  If a device has taken no value of an
 * attribute since its last refusal for good, its refusal of another value counts at once.
 *
 * A refusal for good is tried once more in a full sweep (for example one requested by hand).  It is
 * forgotten when the device restarts, takes the value or turns out to have it, or is gone; when
 * another device may have answered in its name; and when its answers, which were impossible, have
 * become plausible again.
 *
 * tried: how often in a row each Set was refused, by a digest of device, attribute and modifier.
 * Jobs of a sweep write it, in the receiver's thread; all others between mad_hold() and
 * mad_release().
 */
#include <string.h>

#include <infiniband/umad_sm.h>

#include "lib/base/backoff.h"
#include "lib/base/log.h"
#include "lib/iba/iba_names.h"
#include "sm/devices/implausible.h"
#include "sm/sm_internal.h"
#include "sm/write/fixed_routes.h"
#include "sm/write/refused_sets.h"

#define TRIES		3
#define RETRY_US	1000000ll
#define RETRY_MAX_US	60000000ll
#define TRIED_MAX	65536

static struct log_ratelimit refused_log = LOG_RATELIMIT;

struct refused {
	struct map64 tried;
	struct map64 again;		/* GUIDs of nodes to be tried again */
	struct timer *timer;
	int64_t wait_us;
};

/* --- texts --- */

struct attribute_words {
	uint16_t attr;
	const char *on_switch, *elsewhere;
};

static const struct attribute_words *words_of(uint16_t attr)
{
	static const struct attribute_words words[] = {
		{ UMAD_SM_ATTR_SWITCH_INFO,
		  "it drops packets to LIDs above its LinearFDBTop; routes to them avoid it", "" },
		{ UMAD_SM_ATTR_GUID_INFO, "its alias GUIDs are not in force",
		  "its alias GUIDs are not in force" },
		{ UMAD_SM_ATTR_PORT_INFO,
		  "its ports keep their state; those that are not Active carry no traffic",
		  "its ports keep their state; those that are not Active carry no traffic" },
		{ UMAD_SM_ATTR_PKEY_TABLE, "it does not enforce partitions",
		  "it may lack partitions that it is a member of" },
		{ UMAD_SM_ATTR_SLVL_TABLE, "no path through it uses an SL that it drops",
		  "none of its paths uses an SL that it drops" },
		{ UMAD_SM_ATTR_VL_ARB_TABLE,
		  "the shares of its links differ from the policy; no path uses an SL that it never sends",
		  "the shares of what it sends differ from the policy; none of its paths uses an SL that "
		  "it never sends" },
		{ UMAD_SM_ATTR_LINEAR_FT, "routes avoid its wrong entries; the switch itself may be "
				"unreachable", "" },
		{ UMAD_SM_ATTR_MCAST_FT, "multicast trees avoid its wrong entries; members on it may be "
				"cut off", "" },
		{ IB_ATTR_ADAPTIVE_ROUTING, "it forwards by adaptive routing instead of our routes", "" },
		{ IB_ATTR_PRIVATE_LFT, "it forwards by private tables instead of our routes", "" },
	};
	static const struct attribute_words other = { 0, "", "" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i].attr == attr)
			return &words[i];
	return &other;
}

void sm_refused_text(const struct fabric *f, const struct sm_refused *x, struct buf *out)
{
	const struct refused_kind *k = &x->kind;
	const struct attribute_words *w = words_of(k->attr);
	bool own = k->attr == UMAD_SM_ATTR_PKEY_TABLE && !k->of_ports;	/* of port 0 of a switch */
	const char *then = node_is_switch(&f->nodes[x->node]) && !own ? w->on_switch : w->elsewhere;

	buf_printf(out, "%s refuses Sets of %s with status 0x%04x (%s)",
		   NODE_NAME(f, x->node), ib_attr_name(k->attr),
		   k->status, ib_status_text(k->status));
	if (k->by_status > 1)
		buf_printf(out, ", %u of them", k->by_status);
	if (*then)
		buf_printf(out, ": %s", then);
}

bool sm_refused_at(const struct sm *sm, const struct fabric *f, size_t *i, struct sm_refused *out)
{
	const struct refused_kind *k;
	bool found = false;

	mad_hold(sm->mad);	/* a job of a sweep adds refusals */
	while (!found && (k = refusals_kind_at(store_refusals(sm->store), (*i)++))) {
		out->node = k->by_status ? map64_get(&f->node_by_guid, k->guid) : MAP64_NONE;
		out->kind = *k;
		found = out->node != MAP64_NONE;
	}
	mad_release(sm->mad);
	return found;
}

/* --- refusals --- */

static uint64_t tried_key(uint64_t guid, uint16_t attr, uint32_t mod)
{
	return hash64(guid ^ hash64((uint64_t)attr << 32 | mod));
}

/* Counts one more refusal in a row; true: the refusal is for good. */
static bool tried_enough(struct refused *r, uint64_t guid, uint16_t attr, uint32_t mod)
{
	uint64_t key = tried_key(guid, attr, mod);
	uint32_t n = map64_get(&r->tried, key);

	n = n == MAP64_NONE ? 1 : n + 1;
	if (r->tried.n >= TRIED_MAX)
		map64_clear(&r->tried);
	map64_put(&r->tried, key, n < TRIES ? n : 0);
	return n >= TRIES;
}

bool refused_for_good(struct sm *sm, uint64_t guid, uint16_t attr, uint32_t mod, uint64_t want,
		      unsigned status)
{
	const struct refusals *all = store_refusals(sm->store);
	const struct refused_kind *k = refusals_kind(all, guid, attr);

	if (!tried_enough(sm->refused, guid, attr, mod) && !(k && k->firm) &&
	    !refusals_know_status(all, guid, attr, mod, want))
		return false;
	store_refused_by_status(sm->store, guid, attr, mod, want, (uint16_t)status);
	return true;
}

static void try_again_soon(struct sm *sm, uint32_t node)
{
	sm->last.sets_failed++;
	sm->sweep.work[node].doubtful = true;
	map64_put(&sm->refused->again, sm->sweep.f->nodes[node].guid, 1);
}

bool refused_field(struct sm *sm, uint32_t node, uint16_t attr, uint32_t mod)
{
	if (tried_enough(sm->refused, sm->sweep.f->nodes[node].guid, attr, mod))
		return true;
	try_again_soon(sm, node);
	return false;
}

void refused_note(struct sm *sm, uint32_t node, uint16_t attr, uint32_t mod, uint64_t want,
		  unsigned status)
{
	uint64_t guid = sm->sweep.f->nodes[node].guid;
	bool good = refused_for_good(sm, guid, attr, mod, want, status);

	log_limited(&refused_log, LOG_LEVEL_WARNING, "sweep",
		    "%s: Set of %s, modifier 0x%08x, refused with status 0x%04x (%s)%s",
		    NODE_NAME(sm->sweep.f, node), ib_attr_name(attr),
			    mod,
		    status, ib_status_text(status), good ? ": the device keeps its value" : "");
	sm->sweep.work[node].refused = true;
	if (good) {
		fixed_routes_changed(sm, guid, attr, mod, true);
		return;
	}
	try_again_soon(sm, node);
}

void refused_taken(struct sm *sm, uint64_t guid, uint16_t attr, uint32_t mod)
{
	struct map64 *tried = &sm->refused->tried;
	uint64_t key = tried->n ? tried_key(guid, attr, mod) : 0;

	if (tried->n && map64_get(tried, key) != MAP64_NONE)
		map64_put(tried, key, 0);
	if (refusals_find(store_refusals(sm->store), guid, attr, mod))
		fixed_routes_changed(sm, guid, attr, mod, false);
	store_taken(sm->store, guid, attr, mod);
}

/* --- when refused Sets are tried again, and forgotten --- */

static void on_retry(void *arg)
{
	struct sm *sm = arg;
	struct map64 *m = &sm->refused->again;

	for (uint32_t i = 0; m->n && i <= m->mask; i++)
		if (m->slots[i].value != MAP64_NONE)
			sm_suspect(sm, &(struct suspect){ .guid = m->slots[i].key, .changed = true,
							  .unasked = true });
	sm_want_sweep(sm, SWEEP_LOCAL, "trying refused Sets again");
}

/* Forgets everything that a node refused.  False: there was nothing. */
static bool forget_refused(struct sm *sm, uint64_t guid)
{
	const struct refused_kind *k;
	bool any = false;

	mad_hold(sm->mad);	/* a job of multicast or alias GUIDs may add refusals */
	for (size_t i = 0; !any && (k = refusals_kind_at(store_refusals(sm->store), i)); i++)
		any = k->guid == guid && k->by_status;
	if (any) {
		map64_put(&sm->known.doubtful, guid, 1);
		store_forget_refused(sm->store, guid);
	}
	mad_release(sm->mad);
	return any;
}

/*
 * For nodes whose answers have become plausible again.  While such a node echoed Sets or answered
 * everything with errors, its refusals meant nothing, so they are forgotten.
 */
static void try_those_right(struct sm *sm)
{
	bool any = false;
	uint64_t guid;

	while ((guid = implausible_next_right(sm))) {
		if (!forget_refused(sm, guid))
			continue;
		sm_suspect(sm, &(struct suspect){ .guid = guid, .changed = true, .unasked = true });
		any = true;
	}
	if (any)
		sm_want_sweep(sm, SWEEP_LOCAL, "trying again the Sets that a device with implausible "
				"answers refused");
}

void refused_swept(struct sm *sm)
{
	struct refused *r = sm->refused;

	try_those_right(sm);
	if (!r->again.n) {
		r->wait_us = 0;
		timer_stop(r->timer);
	} else if (!timer_active(r->timer)) {
		r->wait_us = backoff_next(r->wait_us, RETRY_US, RETRY_MAX_US);
		timer_set(r->timer, r->wait_us, 0);
	}
}

/* The port came up since the last sweep: its state, or that of the far end, is lower than before. */
static bool came_up(const struct fabric *old, uint32_t old_port, const struct fabric *f,
		    uint32_t port)
{
	const struct fabric_port *p = &f->ports[port], *q = &old->ports[old_port];

	return q->peer == FABRIC_NONE || p->state < q->state ||
	       f->ports[p->peer].state < old->ports[q->peer].state;
}

/* The node has links, and all of them lead to other ports than in the published fabric. */
static bool is_elsewhere(const struct fabric *old, uint32_t before, const struct fabric *f,
			 const struct fabric_node *n)
{
	bool any = false;

	for (unsigned num = 1; num <= n->nports && num <= old->nodes[before].nports; num++) {
		uint32_t was = old->ports[old->nodes[before].port0 + num].peer;
		uint32_t is = f->ports[n->port0 + num].peer;

		if (is == FABRIC_NONE)
			continue;
		if (was != FABRIC_NONE && old->ports[was].num == f->ports[is].num &&
		    port_node(old, was)->guid == port_node(f, is)->guid)
			return false;
		any = true;
	}
	return any;
}

/*
 * PartitionCap, DeviceID and Revision in NodeInfo (14.2.5.3): if they differ, it is another device
 * or has other firmware.
 */
#define NODE_KIND_AT	28
#define NODE_KIND_LEN	8

/*
 * The link by which the node was asked is up and now leads to another or an unknown device, which
 * may have answered in the node's name.
 */
static bool another_was_asked(const struct fabric *old, uint32_t before, const struct fabric *f,
			      const struct fabric_node *n)
{
	const struct fabric_node *was = &old->nodes[before];
	uint32_t near = was->hops ? old->ports[was->port0 + was->local_port].peer : FABRIC_NONE;
	uint32_t node = near == FABRIC_NONE ? FABRIC_NONE : fabric_same_node(f, port_node(old, near));
	const struct fabric_port *p;

	if (node == FABRIC_NONE || f->nodes[node].nports < old->ports[near].num)
		return false;
	p = &f->ports[f->nodes[node].port0 + old->ports[near].num];
	return p->state >= IB_PORT_INIT_S &&
	       (p->peer == FABRIC_NONE || port_node(f, p->peer)->guid != n->guid);
}

/*
 * The node restarted or was replaced: all of its links are new, or it is a device of another kind.
 * If all links lead elsewhere, a device that claimed its GUIDs may have been asked in its place.
 */
bool refused_starts_anew(const struct fabric *old, const struct fabric *f, uint32_t node)
{
	const struct fabric_node *n = &f->nodes[node];
	uint32_t before = fabric_same_node(old, n);
	bool any = false;

	if (before == FABRIC_NONE ||
	    memcmp(n->info + NODE_KIND_AT, old->nodes[before].info + NODE_KIND_AT, NODE_KIND_LEN) ||
	    is_elsewhere(old, before, f, n) || another_was_asked(old, before, f, n))
		return true;
	for (unsigned num = 1; num <= n->nports; num++) {
		if (!port_is_linked(f, n->port0 + num))
			continue;
		if (f->ports[n->port0 + num].state > IB_PORT_INIT_S ||
		    !came_up(old, old->nodes[before].port0 + num, f, n->port0 + num))
			return false;
		any = true;
	}
	return any;
}

static bool is_there(void *arg, uint64_t guid)
{
	const struct fabric *f = arg;

	return map64_get(&f->node_by_guid, guid) != MAP64_NONE;
}

void refused_begin(struct sm *sm)
{
	const struct fabric *old = sm->published ? sm->published->f : NULL;
	const struct refused_kind *k;

	mad_hold(sm->mad);	/* a job of multicast or alias GUIDs may add refusals */
	store_probe_refused(sm->store, sweep_is(sm)->reads_tables);
	for (size_t i = 0; (k = refusals_kind_at(store_refusals(sm->store), i)); i++) {
		uint32_t node = map64_get(&sm->sweep.f->node_by_guid, k->guid);
		uint64_t guid = k->guid;

		if (node == MAP64_NONE || !k->by_status || !old ||
		    !refused_starts_anew(old, sm->sweep.f, node))
			continue;
		map64_put(&sm->known.doubtful, guid, 1);
		store_forget_refused(sm->store, guid);
	}
	if (sweep_is(sm)->whole)
		store_prune_refused(sm->store, is_there, sm->sweep.f);
	map64_clear(&sm->refused->again);	/* nodes that still refuse are added again */
	mad_release(sm->mad);
}

void refused_end(struct sm *sm)
{
	store_probe_refused(sm->store, false);
}

bool refused_clearing(const struct sm *sm, uint64_t guid)
{
	const struct refused_kind *k = refusals_kind(store_refusals(sm->store), guid,
						     UMAD_SM_ATTR_SWITCH_INFO);

	return k && k->by_status;
}

void refused_new(struct sm *sm)
{
	sm->refused = xcalloc(1, sizeof(*sm->refused));
	map64_init(&sm->refused->tried, 16);
	map64_init(&sm->refused->again, 16);
	sm->refused->timer = timer_new(sm->loop, on_retry, sm);
}

void refused_free(struct sm *sm)
{
	map64_free(&sm->refused->tried);
	map64_free(&sm->refused->again);
	timer_free(sm->refused->timer);
	free(sm->refused);
}
