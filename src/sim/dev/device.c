/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs devices: start, reset, power and external events; passes packets to their agents. */
#include <stdio.h>
#include <stdlib.h>

#include "sim/dev/dev_internal.h"
#include "sim/dev/module.h"

/* LIDs of the topology, which the decoded fields hold until there is a PortInfo. */
struct given_lid {
	uint16_t lid;
	uint8_t lmc;
};

static void read_given_lids(const struct sim_fabric *f, const struct sim_node *n,
			    struct given_lid *given)
{
	for (unsigned i = 0; i <= n->nports; i++) {
		const struct sim_port *p = &f->ports[n->port0 + i];

		given[i] = (struct given_lid) { p->lid, p->lmc };
	}
}

static void keep_lid(struct sim *s, uint32_t port, struct given_lid given)
{
	struct sim_port *p = &s->f->ports[port];

	if (!is_end_port(s->f, port))
		return;
	put_be16(p->info + PI_LID, given.lid);
	p->info[PI_MKEY_PROTECT_LMC] |= given.lmc & 0x07;
	port_sync(s, port);
}

static void start_node(struct sim *s, uint32_t node, bool keep_lids)
{
	const struct sim_node *n = &s->f->nodes[node];
	struct given_lid given[SIM_PORTS_MAX + 1];

	read_given_lids(s->f, n, given);
	node_power_on_values(s, node);
	if (n->profile->ibsim)		/* ibsim reads no LIDs of routers */
		keep_lids = n->type != SIM_ROUTER;
	for (unsigned i = 0; keep_lids && i <= n->nports; i++)
		keep_lid(s, n->port0 + i, given[i]);
}

void devices_start(struct sim *s, bool keep_lids)
{
	struct devices *d = xcalloc(1, sizeof(*d));

	d->ports = xcalloc(s->f->n_ports, sizeof(*d->ports));
	d->memories = xcalloc(s->f->n_nodes, sizeof(struct memory *));
	s->devices = d;
	for (uint32_t node = 0; node < s->f->n_nodes; node++)
		start_node(s, node, keep_lids);
	for (uint32_t port = 0; port < s->f->n_ports; port++)
		link_up_now(s, port);
	for (uint32_t node = 0; node < s->f->n_nodes; node++)	/* nobody can receive them yet */
		notices_drop(s, s->f->nodes[node].port0);
}

void devices_stop(struct sim *s)
{
	struct devices *d = devices_of(s);

	for (uint32_t port = 0; port < s->f->n_ports; port++) {
		notices_drop(s, port);
		congestion_forget(s, port);
		module_forget(s, port);
		sim_cancel(s, d->ports[port].train_timer);
		sim_cancel(s, d->ports[port].command_timer);
	}
	for (uint32_t node = 0; node < s->f->n_nodes; node++)
		lies_forget(s, node);
	free(d->memories);
	free(d->ports);
	free(d);
	s->devices = NULL;
}

static void links_down(struct sim *s, uint32_t node)
{
	const struct sim_node *n = &s->f->nodes[node];

	for (uint32_t port = n->port0 + 1; port <= n->port0 + n->nports; port++)
		link_down(s, port, true);
}

void device_reset(struct sim *s, uint32_t node)
{
	const struct sim_node *n = &s->f->nodes[node];

	links_down(s, node);
	node_power_on_values(s, node);
	for (uint32_t port = n->port0 + 1; port <= n->port0 + n->nports; port++)
		link_train(s, port);
}

static void power_as_due(struct sim *s, uint32_t node)
{
	struct sim_node *n = &s->f->nodes[node];
	bool on = !n->switched_off && (!n->driven || n->started);

	if (n->off == !on)
		return;
	n->off = !on;
	if (on)
		device_reset(s, node);
	else
		links_down(s, node);
}

void device_power(struct sim *s, uint32_t node, bool on)
{
	s->f->nodes[node].switched_off = !on;
	power_as_due(s, node);
}

void device_drive(struct sim *s, uint32_t node, bool driven)
{
	struct sim_node *n = &s->f->nodes[node];

	node_forget_host(s, node);
	n->started = false;
	n->switched_off = !driven;
	n->driven = driven;
	power_as_due(s, node);
}

void device_start(struct sim *s, uint32_t node, bool on)
{
	struct sim_node *n = &s->f->nodes[node];

	if (on)
		node_forget_host(s, node);
	n->started = on;
	if (on && !n->off)
		device_reset(s, node);
	else
		power_as_due(s, node);
}

void device_set_silent(struct sim *s, uint32_t node, bool silent, bool hangs)
{
	s->f->nodes[node].silent = silent;
	s->f->nodes[node].hangs = silent && hangs;
}

void device_set_lies(struct sim *s, uint32_t node, unsigned lies)
{
	s->f->nodes[node].lies = lies;
}

void device_set_refuses(struct sim *s, uint32_t node, unsigned refuses, uint16_t status,
			uint32_t times)
{
	s->f->nodes[node].refuses = refuses;
	s->f->nodes[node].refuses_status = status;
	s->f->nodes[node].refuses_times = times;
}

void device_rename(struct sim *s, uint32_t node, const char *desc)
{
	struct sim_node *n = &s->f->nodes[node];
	char padded[sizeof(n->desc)] = "";	/* desc may be n->desc itself */

	snprintf(padded, sizeof(padded), "%s", desc);
	memcpy(n->desc, padded, sizeof(padded));
	for (uint32_t port = first_port(n); port <= n->port0 + n->nports; port++)
		if (is_end_port(s->f, port))
			trap_local_change(s, port, CHANGE_NODE_DESCRIPTION);
}

void device_set_issm(struct sim *s, uint32_t port, bool on)
{
	device_set_capabilities(s, port, on ? CAP_IS_SM : 0, on ? 0 : CAP_IS_SM);
}

void device_set_capabilities(struct sim *s, uint32_t port, uint32_t set, uint32_t clear)
{
	uint8_t *capmask = s->f->ports[port].info + PI_CAPMASK;
	uint32_t old = get_be32(capmask);
	uint32_t new = (old | (set & CAP_OF_HOST)) & ~(clear & CAP_OF_HOST);

	if (new == old)
		return;
	put_be32(capmask, new);
	trap_local_change(s, port, 0);
}

/* --- incoming packets --- */

static bool is_request_to_device(const struct packet *p)
{
	uint8_t method = p->mad[MAD_METHOD];

	switch (p->mad[MAD_CLASS]) {
	case CLASS_SM_LID:
	case CLASS_SM_DR:
		return sma_wants(p);
	case CLASS_PM:
	case CLASS_DM:
	case CLASS_CC:
	case CLASS_VENDOR_A:
		return !(method & MAD_METHOD_RESPONSE);
	default:
		return false;
	}
}

static void send_answer(struct sim *s, uint32_t port, const struct packet *p)
{
	const struct sim_profile *pr = node_of(s->f, port)->profile;
	int64_t delay = pr->response_us;

	if (pr->jitter_us)
		delay += (int64_t)sim_random(s, 2 * pr->jitter_us + 1) - pr->jitter_us;
	if (delay > 0)
		wire_send_after(s, port, p, delay);
	else
		wire_send(s, port, p);
}

enum device_verdict device_ask(struct sim *s, uint32_t port, struct packet *p, bool trusted)
{
	const struct sim_node *n = node_of(s->f, port);
	bool answer = true;

	if (!is_request_to_device(p))
		return DEVICE_NOT_MINE;
	if (n->silent || n->profile->silent ||
	    (n->profile->no_lid_smps && p->mad[MAD_CLASS] == CLASS_SM_LID)) {
		wire_drop(s, port, p, DROP_SILENT);
		return DEVICE_CONSUMED;
	}
	if (sma_receive(s, port, p, trusted, &answer) || pma_receive(s, port, p) ||
	    dm_receive(s, port, p) || registers_receive(s, port, p) || cc_receive(s, port, p, &answer))
		return answer ? DEVICE_ANSWERED : DEVICE_CONSUMED;
	return DEVICE_NOT_MINE;
}

void devices_receive(struct sim *s, uint32_t port, struct packet *p)
{
	switch (device_ask(s, port, p, false)) {
	case DEVICE_NOT_MINE:
		s->hooks.host(s, port, p);
		break;
	case DEVICE_ANSWERED:
		send_answer(s, port, p);
		break;
	case DEVICE_CONSUMED:
		break;
	}
}
