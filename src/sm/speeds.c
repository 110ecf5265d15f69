/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Extended speeds that PortInfo did not show, as a step of a sweep.
 *
 * A device may hide all LinkSpeedExt* fields from a Get without SMSupportExtendedSpeeds,
 * and show a link that runs at one of them as QDR.  No libibnetdisc sets that bit.  So a
 * port is read once more where its device claims extended speeds and PortInfo has none:
 * nothing is sent for a device that shows them in any case, nor for a port that was read
 * or set with the bit since it was discovered.
 */
#include <infiniband/mad.h>
#include <infiniband/umad_sm.h>

#include "sm/internal.h"

static bool hides_speeds(const struct fabric *f, uint32_t port)
{
	const struct fabric_port *p = &f->ports[port];
	const struct fabric_port *a = &f->ports[agent_port(f, p->node, p->num)];
	void *info = (void *)(uintptr_t)a->info;	/* libibmad only reads */
	unsigned supported = ib_ext_supported(p->info);

	if (!p->plain || !port_is_linked(f, port) || !(a->capmask & IB_CAP_EXT_SPEEDS))
		return false;
	if (!supported && !ib_ext_active(p->info))
		return true;
	return (a->capmask & IB_CAP_MASK2) && !(supported >> IB_EXT_GROUP_2) &&
	       (mad_get_field(info, 0, IB_PORT_CAPMASK2_F) & IB_CAP2_EXT_SPEEDS_2);
}

static bool next(void *arg, uint32_t node, struct smp *s, uint64_t *cookie)
{
	struct sm *sm = arg;
	struct node_work *w = &sm->work[node];
	const struct fabric_node *n = &sm->f->nodes[node];

	while (!w->failed && sweep_touches(sm, node) && ++w->cursor <= n->nports) {
		unsigned num = w->cursor;

		if (!hides_speeds(sm->f, n->port0 + num) || !want_route(sm->f, node, num, s))
			continue;
		sweep_fill_smp(sm, s, SMP_GET, UMAD_SM_ATTR_PORT_INFO,
			       port_info_modifier(sm->f, node, num));
		*cookie = n->port0 + num;
		return true;
	}
	return false;
}

/* A device that does not answer to the bit is taken at what it showed without. */
static void done(void *arg, uint32_t node, const struct smp *s, uint64_t cookie, int status)
{
	struct sm *sm = arg;

	if (status < 0) {
		sweep_smp_lost(sm, node, "reading extended speeds");
		return;
	}
	sm->work[node].silent = 0;
	if (!status)
		fabric_port_store(&sm->f->ports[cookie], s->data);
}

static void finished(void *arg)
{
	struct sm *sm = arg;

	sm->job = NULL;
	for (uint32_t i = 0; i < sm->f->n_nodes; i++)
		sm->work[i].cursor = 0;
	fdr10_start(sm);
}

static const struct smp_job_ops speeds_ops = { next, done, finished };

void speeds_start(struct sm *sm)
{
	sm->job = smp_job_start(sm->mad, sm->f->n_nodes, &speeds_ops, sm);
}
