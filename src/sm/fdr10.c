/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which links run at FDR10, as a step of a sweep.
 *
 * PortInfo calls FDR10 QDR; the difference is only in the vendor's own
 * ExtendedPortInfo.  It is asked once a link, at one end, and only where both
 * ends are of a kind that knows the attribute, the link runs at QDR, and it is
 * not the link of the last sweep that stayed up since.
 */
#include <string.h>

#include <infiniband/mad.h>

#include "base/bytes.h"
#include "sm/internal.h"

#define LINK_SPEED_ACTIVE_QDR 4
#define EXT_SPEED_ACTIVE_FDR10 1

/* Devices of the FDR10 generation and later; vendor 0: whoever sold it. */
static const struct {
	uint32_t vendor;
	uint16_t first, last;
} kinds[] = {
	{ 0, 0xc738, 0xc73b }, { 0, 0xc839, 0xc839 }, { 0, 0xcb20, 0xcb20 },
	{ 0, 0xcf08, 0xcf09 }, { 0, 0xd2f0, 0xd2f0 }, { 0, 0x1003, 0x101b },
	{ 0, 0xa2d2, 0xa2d2 }, { 0x119f, 0x1b02, 0x1bf0 },
};

static bool node_knows(const struct fabric_node *n)
{
	void *info = (void *)(uintptr_t)n->info;	/* libibmad only reads */
	uint32_t vendor = mad_get_field(info, 0, IB_NODE_VENDORID_F);
	uint32_t device = mad_get_field(info, 0, IB_NODE_DEVID_F);

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if ((!kinds[i].vendor || kinds[i].vendor == vendor) &&
		    device >= kinds[i].first && device <= kinds[i].last)
			return true;
	return false;
}

static bool runs_at_qdr(const struct fabric_port *p)
{
	void *info = (void *)(uintptr_t)p->info;

	return mad_get_field(info, 0, IB_PORT_LINK_SPEED_ACTIVE_F) == LINK_SPEED_ACTIVE_QDR &&
	       ib_ext_active(p->info) == 0;
}

/* The same port in the fabric of the last sweep, or NULL. */
static const struct fabric_port *port_before(const struct sm *sm, uint32_t port)
{
	const struct fabric *old = sm->published ? sm->published->f : NULL;
	unsigned num = sm->f->ports[port].num;
	uint32_t node;

	if (!old)
		return NULL;
	node = map64_get(&old->node_by_guid, port_node(sm->f, port)->guid);
	if (node == MAP64_NONE || num > old->nodes[node].nports)
		return NULL;
	return fabric_port(old, node, num);
}

/* Takes what the last sweep found, if the link never went down: it would be in Init again. */
static bool take_from_last(struct sm *sm, uint32_t port)
{
	const struct fabric_port *p = &sm->f->ports[port];
	const struct fabric_port *a = port_before(sm, port), *b = port_before(sm, p->peer);

	if (!a || !b || a->peer == FABRIC_NONE ||
	    &sm->published->f->ports[a->peer] != b || a->state != IB_PORT_ACTIVE_S ||
	    b->state != IB_PORT_ACTIVE_S || p->state != IB_PORT_ACTIVE_S ||
	    sm->f->ports[p->peer].state != IB_PORT_ACTIVE_S)
		return false;
	fabric_set_fdr10(sm->f, port, a->fdr10);
	return true;
}

/* Each link is asked at the end that discovery found first. */
static bool is_to_ask(struct sm *sm, uint32_t port)
{
	const struct fabric_port *p = &sm->f->ports[port];

	return p->peer != FABRIC_NONE && p->peer > port && runs_at_qdr(p) &&
	       node_knows(port_node(sm->f, port)) && node_knows(port_node(sm->f, p->peer)) &&
	       !take_from_last(sm, port);
}

static bool next(void *arg, uint32_t node, struct smp *s, uint64_t *cookie)
{
	struct sm *sm = arg;
	struct node_work *w = &sm->work[node];
	const struct fabric_node *n = &sm->f->nodes[node];

	while (!w->failed && sweep_touches(sm, node) && ++w->cursor <= n->nports) {
		if (!is_to_ask(sm, n->port0 + w->cursor) ||
		    !want_route(sm->f, node, w->cursor, s))
			continue;
		sweep_fill_smp(sm, s, SMP_GET, IB_ATTR_MLNX_EXT_PORT_INFO, w->cursor);
		*cookie = n->port0 + w->cursor;
		return true;
	}
	return false;
}

/* A link that nobody tells more of runs at QDR. */
static void done(void *arg, uint32_t node, const struct smp *s, uint64_t cookie, int status)
{
	struct sm *sm = arg;
	struct node_work *w = &sm->work[node];
	void *data = (void *)(uintptr_t)s->data;

	if (status < 0)
		sweep_smp_lost(sm, node, "reading ExtendedPortInfo");
	else
		w->silent = 0;
	if (status == 0 && (mad_get_field(data, 0, IB_MLNX_EXT_PORT_LINK_SPEED_ACTIVE_F) &
			    EXT_SPEED_ACTIVE_FDR10))
		fabric_set_fdr10(sm->f, (uint32_t)cookie, true);
}

static void finished(void *arg)
{
	struct sm *sm = arg;

	sm->job = NULL;
	for (uint32_t i = 0; i < sm->f->n_nodes; i++)
		sm->work[i].cursor = 0;
	adaptive_start(sm);
}

static const struct smp_job_ops fdr10_ops = { next, done, finished };

void fdr10_start(struct sm *sm)
{
	sm->job = smp_job_start(sm->mad, sm->f->n_nodes, &fdr10_ops, sm);
}
