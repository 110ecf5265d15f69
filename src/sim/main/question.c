/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers programs' questions about their devices.
 *
 * They ask which devices there are, what sysfs would show of a port, and for agents of an open umad
 * port.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "server.h"
#include "sim/hca/hca.h"
#include "sim/net/fields.h"

#define MELLANOX 0x0002c9
#define CAP_ROCE CAP_COMM_MGMT	/* communication management: the bit that an Ethernet port has */

void answer_error(struct sim_answer *a, int error, const char *fmt, ...)
{
	va_list ap;

	a->error = error;
	va_start(ap, fmt);
	vsnprintf(a->text, sizeof(a->text), fmt, ap);
	va_end(ap);
}

/* --- nodes and ports of a client --- */

static void add_device(struct client *c, uint32_t node, enum host_view view,
		       struct sim_answer *a)
{
	if (c->n_nodes == SIM_CAS_MAX) {
		answer_error(a, ENODEV, "a program can have %d devices at most", SIM_CAS_MAX);
		return;
	}
	c->views[c->n_nodes] = (uint8_t)view;
	c->nodes[c->n_nodes++] = node;
}

static void add_devices(struct client *c, uint32_t node, struct sim_answer *a)
{
	const struct sim_profile *pr = c->server->sim->f->nodes[node].profile;
	bool no_smi = pr->smi_apart || pr->smi_disabled || pr->ethernet;

	add_device(c, node, no_smi ? VIEW_GSI : VIEW_WHOLE, a);
	if (pr->smi_apart && !a->error)
		add_device(c, node, VIEW_SMI, a);
}

/* A program and a virtual machine cannot share a node: there is one host with one SMI. */
static void add_free_node(struct client *c, uint32_t node, struct sim_answer *a)
{
	const struct sim_node *n = &c->server->sim->f->nodes[node];

	if (n->driven)
		answer_error(a, EBUSY, "%s belongs to a virtual machine", n->given_desc);
	else
		add_devices(c, node, a);
}

static bool add_node(struct client *c, const char *name, struct sim_answer *a)
{
	struct buf err = { 0 };
	uint32_t node = find_node_by_text(c->server->sim->f, name, &err);

	if (node == SIM_NONE)
		answer_error(a, ENODEV, "%s", err.s ? err.s : name);
	else
		add_free_node(c, node, a);
	buf_free(&err);
	return !a->error;
}

/* The first CA that has a link and can run programs; else the first node. */
static uint32_t default_node(const struct sim_fabric *f)
{
	for (uint32_t i = 0; i < f->n_ports; i++)
		if (f->ports[i].peer != SIM_NONE && node_of(f, i)->type == SIM_CA &&
		    node_of(f, i)->device_id != SIM_AGGREGATION_NODE)
			return f->ports[i].node;
	return 0;
}

bool find_nodes(struct client *c, const char *nodes, struct sim_answer *a)
{
	char *copy = xstrdup(nodes), *save, *name;

	c->n_nodes = 0;
	for (name = strtok_r(copy, ";", &save); name && !a->error; name = strtok_r(NULL, ";", &save))
		add_node(c, name, a);
	free(copy);
	if (!a->error && !c->n_nodes)
		add_free_node(c, default_node(c->server->sim->f), a);
	return !a->error;
}

/* A client that has a port of the node open. */
static const struct client *user_of(const struct server *sv, uint32_t node)
{
	for (const struct client *o = sv->clients; o; o = o->next)
		if ((o->host || o->purpose == SIM_ISSM) && sv->sim->f->ports[o->port].node == node)
			return o;
	return NULL;
}

bool may_be_driven(const struct client *c, uint32_t node, struct sim_answer *a)
{
	const struct server *sv = c->server;
	const struct client *user = user_of(sv, node);
	struct buf err = { 0 };

	if (passing_stands(sv))
		answer_error(a, EINVAL, "time stands on this fabric, and a virtual machine has a "
			     "clock of its own");
	else if (user)
		answer_error(a, EBUSY, "%s is in use by %s", sv->sim->f->nodes[node].desc, user->name);
	else if (!hca_possible(sv->sim, node, &err))
		answer_error(a, EINVAL, "%s", err.s);
	buf_free(&err);
	return !a->error;
}

static unsigned last_port(const struct sim_node *n)
{
	return is_switch(n) ? 0 : n->nports;
}

/* SIM_NONE, with the reason, if the client has no such port. */
static uint32_t port_of(const struct client *c, uint32_t ca, uint32_t port, struct sim_answer *a)
{
	const struct sim_fabric *f = c->server->sim->f;
	const struct sim_node *n;

	if (ca >= c->n_nodes) {
		answer_error(a, ENODEV, "%s: there is no sim%u", c->name, ca);
		return SIM_NONE;
	}
	n = &f->nodes[c->nodes[ca]];
	if (port < !is_switch(n) || port > last_port(n)) {
		answer_error(a, EINVAL, "%s: sim%u (%s) has no port %u", c->name, ca, n->desc, port);
		return SIM_NONE;
	}
	return n->port0 + port;
}

uint32_t hello_port(struct client *c, const struct sim_hello *h, struct sim_answer *a)
{
	uint32_t port = port_of(c, h->ca, h->port, a);

	if (port == SIM_NONE)
		return SIM_NONE;
	c->view = c->views[h->ca];
	if (h->purpose != SIM_ISSM || c->view != VIEW_GSI)
		return port;
	answer_error(a, ENOENT, "%s: sim%u has no subnet management", c->name, h->ca);
	return SIM_NONE;
}

static void describe_ca(const struct client *c, uint32_t ca, struct sim_answer *a)
{
	const struct sim_node *n;

	if (ca >= c->n_nodes) {
		a->error = ENOENT;
		return;
	}
	n = &c->server->sim->f->nodes[c->nodes[ca]];
	a->ca.node_guid = n->guid;
	a->ca.system_guid = n->sysimg_guid;
	a->ca.node_type = n->type;
	a->ca.first_port = !is_switch(n);
	a->ca.last_port = last_port(n);
	snprintf(a->ca.fw_ver, sizeof(a->ca.fw_ver), "%s", QOSD_VERSION);
	snprintf(a->ca.hw_ver, sizeof(a->ca.hw_ver), "%x", n->profile->revision);
	snprintf(a->ca.ca_type, sizeof(a->ca.ca_type), "%s%u",
		 n->vendor_id == MELLANOX ? "MT" : "", n->device_id);
}

/* The rate in Gb/s by active width and speed, without the fraction, as readers of sysfs take it. */
static uint32_t rate_of(const uint8_t *info)
{
	static const unsigned by_ext[] = { 0, 140, 250, 0, 500, 0, 0, 0, 1000 };
	static const unsigned by_speed[] = { 25, 25, 50, 25, 100 };
	static const unsigned lanes[] = { 1, 1, 4, 1, 8, 1, 1, 1, 12, 1, 1, 1, 1, 1, 1, 1, 2 };
	unsigned ext = ext_active(info), width = info[PI_WIDTH_ACTIVE];
	unsigned speed = high4(info + PI_SPEED_ACTIVE_ENABLED);
	unsigned lane = ext >> SIM_EXT_GROUP_2 ? 2000 : ext < ARRAY_SIZE(by_ext) ? by_ext[ext] : 0;

	if (!lane)
		lane = by_speed[speed < ARRAY_SIZE(by_speed) ? speed : 0];
	return lane * lanes[width < ARRAY_SIZE(lanes) ? width : 0] / 10;
}

static void describe_port(const struct client *c, const struct sim_ask *q, struct sim_answer *a)
{
	const struct sim_port *p;
	uint32_t port = port_of(c, q->ca, q->port, a);

	if (port == SIM_NONE)
		return;
	p = &c->server->sim->f->ports[port];
	a->port.port_guid = p->guid;
	a->port.gid_prefix = get_be64(p->info + PI_GID_PREFIX);
	a->port.base_lid = p->lid;
	a->port.lmc = p->lmc;
	a->port.sm_lid = p->sm_lid;
	a->port.sm_sl = low4(p->info + PI_MTU_SM_SL);
	a->port.state = p->state;
	a->port.phys_state = p->phys_state;
	a->port.capmask = get_be32(p->info + PI_CAPMASK);
	if (c->views[q->ca] == VIEW_GSI)
		a->port.capmask |= CAP_SM_DISABLED;
	if (node_of(c->server->sim->f, port)->profile->ethernet) {
		a->port.ethernet = 1;
		a->port.capmask = CAP_ROCE;
		a->port.state = SIM_PORT_ACTIVE;
		a->port.phys_state = SIM_PHYS_LINK_UP;
	}
	a->port.rate = rate_of(p->info);
	a->port.reregisters = p->reregisters;
	a->port.n_pkeys = p->n_pkeys < ARRAY_SIZE(a->port.pkeys) ? p->n_pkeys
								: ARRAY_SIZE(a->port.pkeys);
	if (p->pkeys)
		memcpy(a->port.pkeys, p->pkeys, a->port.n_pkeys * sizeof(a->port.pkeys[0]));
}

/* --- agents --- */

/* The connection that owns the open umad port of the question. */
static const struct client *owner_of(const struct client *c, uint32_t file)
{
	for (const struct client *o = c->server->clients; o; o = o->next)
		if (o->host && o->file == file)
			return o;
	return NULL;
}

/* Whether the device of the open port has the QP of that class. */
static bool has_qp(const struct client *owner, uint8_t mgmt_class)
{
	return owner->view != (class_is_smp(mgmt_class) ? VIEW_GSI : VIEW_SMI);
}

static void register_agent(const struct client *c, const struct sim_ask *q, struct sim_answer *a)
{
	const struct host_agent_request r = {
		.mgmt_class = q->mgmt_class, .class_version = q->class_version,
		.rmpp_version = q->rmpp_version, .user_rmpp = q->user_rmpp, .oui = q->oui,
		.method_mask = { q->method_mask[0], q->method_mask[1] },
	};
	const struct client *o = owner_of(c, q->file);
	int agent;

	if (!o)
		agent = -EBADF;
	else if (!has_qp(o, q->mgmt_class))
		agent = -EPROTONOSUPPORT;	/* the kernel's error */
	else
		agent = host_register(o->host, &r);
	if (agent < 0)
		a->error = -agent;
	else
		a->agent = (uint32_t)agent;
}

static void unregister_agent(const struct client *c, const struct sim_ask *q, struct sim_answer *a)
{
	const struct client *o = owner_of(c, q->file);

	a->error = o ? -host_unregister(o->host, q->agent) : EBADF;
}

void answer_question(struct client *c, const struct sim_ask *q, struct sim_answer *a)
{
	switch (q->question) {
	case SIM_ASK_CAS: a->n_cas = c->n_nodes; break;
	case SIM_ASK_CA: describe_ca(c, q->ca, a); break;
	case SIM_ASK_PORT: describe_port(c, q, a); break;
	case SIM_ASK_REGISTER: register_agent(c, q, a); break;
	case SIM_ASK_UNREGISTER: unregister_agent(c, q, a); break;
	default: answer_error(a, EINVAL, "there is no question %u", q->question);
	}
}
