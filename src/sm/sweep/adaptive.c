/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ends forwarding by other tables than the linear one, which another subnet manager left switched
 * on.
 *
 * Switches from Mellanox (SwitchX and later) have two such modes, set by vendor-specific
 * attributes: adaptive routing (AdaptiveRoutingInfo), by tables of groups of ports, and private
 * linear tables (PrivateLFTInfo), one for each port and SL.  While either is on, the switch ignores
 * the linear forwarding table, so our routes are not in force.  A Set of a linear table ends
 * adaptive routing or, if NoFallback is set, is refused.
 *
 * So a full sweep asks each such switch once.  A switch that lacks the attribute, as its status or
 * its silence shows, is never asked for it again.  Private tables are asked for only where a switch
 * is not certain to be as we left it.  A mode that is on is switched off right before the linear
 * table is written, all of it, as what is read from it need not be in force.  A switch that refuses
 * this is asked again after the linear table, which may have ended the mode nevertheless.
 */
#include <string.h>

#include "lib/base/bytes.h"
#include "lib/base/log.h"
#include "sm/sm_internal.h"
#include "sm/sweep/reading.h"

#define DEVICE_AT 30	/* bytes of NodeInfo (14.2.5.3) */
#define VENDOR_AT 36	/* LocalPortNum, then 3 bytes of VendorID */

/* The first word of the attribute. */
static const struct {
	uint16_t attr;
	uint32_t on;		/* bits that are 0 when the mode is off */
	uint32_t clear;		/* bits to clear to switch the mode off */
	const char *what;
} overrides[OVERRIDES] = {
	/* Enabled; NoFallback */
	[OVERRIDE_ADAPTIVE] = { IB_ATTR_ADAPTIVE_ROUTING, 0x1, 0x1 | 1u << 24, "adaptive routing" },
	/* ActiveMode, its last byte */
	[OVERRIDE_PRIVATE] = { IB_ATTR_PRIVATE_LFT, 0xff, 0xff, "forwarding by private linear tables" },
};

/* SwitchX to Quantum-3. */
static const struct device_range kinds[] = {
	{ 0xc738, 0xc73b }, { 0xc839, 0xc839 }, { 0xcb20, 0xcb21 }, { 0xcf08, 0xcf09 },
	{ 0xd2f0, 0xd2f9 },
};

bool node_is_one_of(const struct fabric_node *n, const struct device_range *ranges, size_t count)
{
	unsigned device = get_be16(n->info + DEVICE_AT);

	if ((get_be32(n->info + VENDOR_AT) & 0xffffff) != IB_VENDOR_MELLANOX)
		return false;
	for (size_t i = 0; i < count; i++)
		if (device >= ranges[i].first && device <= ranges[i].last)
			return true;
	return false;
}

bool adaptive_is_known(const struct fabric_node *n)
{
	return node_is_switch(n) && node_is_one_of(n, kinds, ARRAY_SIZE(kinds));
}

static bool lacks(const struct sm *sm, uint64_t guid, unsigned kind)
{
	uint32_t lacking = map64_get(&sm->known.not_adaptive, guid);

	return lacking != MAP64_NONE && lacking >> kind & 1;
}

static void note_lack(struct sm *sm, uint64_t guid, unsigned kind)
{
	uint32_t lacking = map64_get(&sm->known.not_adaptive, guid);

	map64_put(&sm->known.not_adaptive, guid,
		  (lacking == MAP64_NONE ? 0 : lacking) | 1u << kind);
}

/* The refusal is remembered like any other, also over restarts. */
static bool refuses_to_end(const struct sm *sm, uint64_t guid, unsigned kind)
{
	const struct refused_kind *k = refusals_kind(store_refusals(sm->store), guid,
						     overrides[kind].attr);

	return k && k->by_status;
}

static bool is_to_ask(const struct sm *sm, uint32_t node, unsigned kind)
{
	const struct fabric_node *n = &sm->sweep.f->nodes[node];

	/* all of these kinds have a system image GUID; ibsim uses their device ids without one */
	if (!adaptive_is_known(n) ||
	    !(sm->sweep.f->ports[n->port0].capmask & IB_CAP_SYSTEM_IMAGE) ||
	    lacks(sm, n->guid, kind))
		return false;
	if (kind == OVERRIDE_PRIVATE && !inherited_is_possible(sm, node) &&
	    !refuses_to_end(sm, n->guid, kind))
		return false;
	/* a switch that is new since the last sweep may have been elsewhere, under another manager */
	return sweep_is(sm)->reads_tables || !sm->published ||
	       fabric_same_node(sm->published->f, n) == FABRIC_NONE;
}

static bool next(void *arg, uint32_t node, struct smp *s, uint64_t *cookie)
{
	struct sm *sm = arg;
	struct node_work *w = &sm->sweep.work[node];

	while (w->cursor < OVERRIDES && !w->failed && sweep_touches(sm, node)) {
		unsigned kind = w->cursor++;

		if (!is_to_ask(sm, node, kind) || !want_route(sm->sweep.f, node, 0, s))
			continue;
		sweep_fill_smp(sm, s, SMP_GET, overrides[kind].attr, 0);
		*cookie = kind;
		return true;
	}
	return false;
}

static void done(void *arg, uint32_t node, const struct smp *s, uint64_t cookie, int status)
{
	struct sm *sm = arg;
	struct node_work *w = &sm->sweep.work[node];
	struct override *o = &w->overrides[cookie];

	/* silence after all tries from a device that answers everything else: it lacks the attribute */
	if (status >= 0)
		sweep_heard(sm, node);
	if (status) {
		note_lack(sm, sm->sweep.f->nodes[node].guid, (unsigned)cookie);
	} else if (get_be32(s->data) & overrides[cookie].on) {
		o->state = OVERRIDE_ON;
		memcpy(o->info, s->data, sizeof(o->info));
	} else {
		store_taken(sm->store, sm->sweep.f->nodes[node].guid, overrides[cookie].attr, 0);
	}
}

enum step_result adaptive_start(struct sm *sm)
{
	static const struct smp_job_ops ops = { next, done, sweep_job_over };

	sm->sweep.job = smp_job_start(sm->mad, sm->sweep.f->n_nodes, &ops, sm);
	return RESULT_WAIT;
}

bool adaptive_is(const struct node_work *w, enum override_state state)
{
	for (unsigned kind = 0; kind < OVERRIDES; kind++)
		if (w->overrides[kind].state == state)
			return true;
	return false;
}

bool adaptive_next(struct sm *sm, uint32_t node, struct smp *s)
{
	for (unsigned kind = 0; kind < OVERRIDES; kind++) {
		struct override *o = &sm->sweep.work[node].overrides[kind];

		if (o->state != OVERRIDE_ON || !want_route(sm->sweep.f, node, 0, s))
			continue;
		o->state = OVERRIDE_ASKED;
		sweep_fill_set(sm, node, s, overrides[kind].attr, 0);
		memcpy(s->data, o->info, sizeof(o->info));
		put_be32(s->data, get_be32(s->data) & ~overrides[kind].clear);
		return true;
	}
	return false;
}

bool adaptive_again(struct sm *sm, uint32_t node, struct smp *s)
{
	for (unsigned kind = 0; kind < OVERRIDES; kind++) {
		struct override *o = &sm->sweep.work[node].overrides[kind];

		if (o->state != OVERRIDE_REFUSED)
			continue;
		o->state = OVERRIDE_STAYS;
		if (!want_route(sm->sweep.f, node, 0, s))
			continue;
		sweep_fill_smp(sm, s, SMP_GET, overrides[kind].attr, 0);
		return true;
	}
	return false;
}

static void remember(struct sm *sm, uint32_t node, unsigned kind)
{
	const struct override *o = &sm->sweep.work[node].overrides[kind];
	uint64_t guid = sm->sweep.f->nodes[node].guid;

	if (o->state == OVERRIDE_ENDED)
		store_taken(sm->store, guid, overrides[kind].attr, 0);
	else if (o->state == OVERRIDE_STAYS)
		store_refused_by_status(sm->store, guid, overrides[kind].attr, 0, 0, o->status);
}

static void say(const struct sm *sm, uint32_t node, unsigned kind)
{
	const struct override *o = &sm->sweep.work[node].overrides[kind];
	const char *name = NODE_NAME(sm->sweep.f, node);

	if (o->state == OVERRIDE_ENDED)
		log_info("sweep", "%s: switched off %s of another subnet manager", name,
			 overrides[kind].what);
	else if (o->state == OVERRIDE_STAYS)
		log_warn("sweep", "%s: %s of another subnet manager stays on (status 0x%04x): packets "
			 "through the switch do not follow our routes", name, overrides[kind].what, o->status);
}

void adaptive_done(struct sm *sm, uint32_t node, const struct smp *s, int status)
{
	struct node_work *w = &sm->sweep.work[node];
	unsigned kind = 0;
	struct override *o;
	bool off;

	while (kind < OVERRIDES - 1u && overrides[kind].attr != s->attr)
		kind++;
	o = &w->overrides[kind];
	off = !status && !(get_be32(s->data) & overrides[kind].on);
	if (status >= 0)
		sweep_heard(sm, node);
	if (s->method == SMP_GET) {
		if (off)
			o->state = OVERRIDE_ENDED;
	} else if (status < 0) {
		o->state = sweep_smp_lost(sm, node, "switching off adaptive routing") ?
			   OVERRIDE_ON : OVERRIDE_STAYS;
	} else {
		o->state = off ? OVERRIDE_ENDED : OVERRIDE_REFUSED;
		o->status = (uint16_t)status;
	}
	remember(sm, node, kind);
	say(sm, node, kind);
}
