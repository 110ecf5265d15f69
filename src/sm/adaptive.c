/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Adaptive routing that another subnet manager left switched on.
 *
 * Switches from Mellanox (SwitchX and later) have it as AdaptiveRoutingInfo, a vendor-specific
 * attribute.  While it is enabled they forward by tables of its own, of groups of ports, and the
 * linear forwarding table counts for nothing, so that no route of ours is in force.  A Set of
 * a linear table ends it, or, if NoFallback is set, is refused.
 *
 * So a full sweep asks each such switch, once; one that does not have the attribute, by its
 * status or its silence, is never asked again.  Where adaptive routing is on it is switched off right before the
 * linear table, all of which is written then, as what is read from it need not be in force.
 *
 * Private linear tables are not looked at.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/log.h"
#include "sm/internal.h"

#define ATTR_ADAPTIVE_ROUTING_INFO 0xff20
#define ENABLED 1u			/* bit 0 of the first word */
#define WRITABLE_FIRST_WORD (1u << 24 | ENABLED)	/* NoFallback */

#define DEVICE_AT 30	/* bytes of NodeInfo (14.2.5.3) */
#define VENDOR_AT 36	/* LocalPortNum, then 3 bytes of VendorID */

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

static bool is_to_ask(const struct sm *sm, uint32_t node)
{
	const struct fabric_node *n = &sm->f->nodes[node];

	/* all of these kinds have a system image GUID; ibsim, by their device ids, does not */
	if (!adaptive_is_known(n) || !(sm->f->ports[n->port0].capmask & IB_CAP_SYSTEM_IMAGE) ||
	    map64_get(&sm->not_adaptive, n->guid) != MAP64_NONE)
		return false;
	/* what came since the last sweep may have been elsewhere, under another manager */
	return sm->kind == SWEEP_FULL || !sm->published ||
	       fabric_same_node(sm->published->f, n) == FABRIC_NONE;
}

static bool next(void *arg, uint32_t node, struct smp *s, uint64_t *cookie)
{
	struct sm *sm = arg;
	struct node_work *w = &sm->work[node];

	if (w->failed || w->cursor++ || !sweep_touches(sm, node) || !is_to_ask(sm, node) ||
	    !want_route(sm->f, node, 0, s))
		return false;
	sweep_fill_smp(sm, s, SMP_GET, ATTR_ADAPTIVE_ROUTING_INFO, 0);
	*cookie = 0;
	return true;
}

static void done(void *arg, uint32_t node, const struct smp *s, uint64_t cookie, int status)
{
	struct sm *sm = arg;
	struct node_work *w = &sm->work[node];

	(void)cookie;
	/* no answer, after all tries, from a device that answered all else: it has none for this */
	if (status >= 0)
		w->silent = 0;
	if (status) {
		map64_put(&sm->not_adaptive, sm->f->nodes[node].guid, 1);
	} else if (get_be32(s->data) & ENABLED) {
		w->adaptive = ADAPTIVE_ON;
		memcpy(w->adaptive_info, s->data, sizeof(w->adaptive_info));
	}
}

static void finished(void *arg)
{
	struct sm *sm = arg;

	sm->job = NULL;
	for (uint32_t i = 0; i < sm->f->n_nodes; i++)
		sm->work[i].cursor = 0;
	places_start(sm);
}

static const struct smp_job_ops adaptive_ops = { next, done, finished };

void adaptive_start(struct sm *sm)
{
	sm->job = smp_job_start(sm->mad, sm->f->n_nodes, &adaptive_ops, sm);
}

bool adaptive_next(struct sm *sm, uint32_t node, struct smp *s)
{
	struct node_work *w = &sm->work[node];
	uint32_t first;

	if (w->adaptive != ADAPTIVE_ON || !want_route(sm->f, node, 0, s))
		return false;
	w->adaptive = ADAPTIVE_ASKED;
	sweep_fill_smp(sm, s, SMP_SET, ATTR_ADAPTIVE_ROUTING_INFO, 0);
	memcpy(s->data, w->adaptive_info, sizeof(w->adaptive_info));
	first = get_be32(s->data) & ~WRITABLE_FIRST_WORD;
	put_be32(s->data, first);
	return true;
}

void adaptive_done(struct sm *sm, uint32_t node, const struct smp *s, int status)
{
	struct node_work *w = &sm->work[node];
	char name[FABRIC_NAME_MAX];

	if (status < 0) {
		w->adaptive = sweep_smp_lost(sm, node, "switching adaptive routing off") ?
			      ADAPTIVE_ON : ADAPTIVE_STAYS;
		return;
	}
	w->silent = 0;
	w->adaptive = !status && !(get_be32(s->data) & ENABLED) ? ADAPTIVE_ENDED : ADAPTIVE_STAYS;
	fabric_node_name(sm->f, node, name, sizeof(name));
	if (w->adaptive == ADAPTIVE_ENDED)
		log_info("sweep", "%s: adaptive routing of another subnet manager is switched off", name);
	else
		log_warn("sweep", "%s: adaptive routing of another subnet manager stays on "
			 "(status 0x%04x): routes through it are not ours", name, (unsigned)status);
}
