/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Models a device's VL15 buffers and the time that its SMI takes for each SMP.
 *
 * VL15 has no flow control (7.6.4): a port without room drops an SMP and counts it in VL15Dropped
 * (16.1.3.5).  One SMI serves all ports of a node in the order of arrival.  It handles directed
 * route SMPs that it forwards, and SMPs for its own agent; the switch forwards LID-routed SMPs for
 * others without it.
 */
#include "sim/net/transit.h"

/* Whether the SMI at the port has to handle the SMP. */
static bool smi_handles(const struct sim_fabric *f, const struct transit *t)
{
	const struct sim_node *n = node_of(f, t->port);

	return !is_switch(n) || t->p.mad[MAD_CLASS] == CLASS_SM_DR ||
	       t->p.dlid == f->ports[n->port0].lid;
}

static bool is_for_agent(const struct transit *t)
{
	const uint8_t *mad = t->p.mad;

	if (mad[MAD_METHOD] & MAD_METHOD_RESPONSE)
		return false;
	return mad[MAD_CLASS] != CLASS_SM_DR || mad[MAD_DR_HOP_PTR] >= mad[MAD_DR_HOP_CNT];
}

static void served(struct sim *s, void *arg)
{
	struct transit *t = arg;

	s->f->ports[t->port].smps_waiting--;
	queue_put(s->queue, t);
}

bool vl15_let_pass(struct sim *s, struct transit *t)
{
	struct sim_port *port = &s->f->ports[t->port];
	struct sim_node *n = node_of(s->f, t->port);
	const struct sim_profile *pr = n->profile;
	int64_t time_us;

	t->smi_met = true;
	if ((!pr->smp_time_us && !pr->smp_forward_us) || !smi_handles(s->f, t))
		return true;
	time_us = is_for_agent(t) ? pr->smp_time_us : pr->smp_forward_us;
	if (pr->smp_queue && port->smps_waiting >= pr->smp_queue)
		return transit_drop(s, t, DROP_VL15_FULL);
	if (n->smi_free_us < sim_now(s))
		n->smi_free_us = sim_now(s);
	n->smi_free_us += time_us;
	port->smps_waiting++;
	sim_after(s, n->smi_free_us - sim_now(s), served, t);
	return false;
}
