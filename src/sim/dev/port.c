/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs a port's state machine (7.2.7), and keeps struct sim_port in step with PortInfo.
 *
 * Port 0 of a switch has no link: it is always Active.
 */
#include "sim/dev/dev_internal.h"

/* External ports have the LID of port 0. */
static void copy_lid_to_external_ports(struct sim_fabric *f, uint32_t port0)
{
	const struct sim_port *p0 = &f->ports[port0];

	for (uint32_t i = 1; i <= node_of(f, port0)->nports; i++) {
		f->ports[port0 + i].lid = p0->lid;
		f->ports[port0 + i].lmc = p0->lmc;
	}
}

static void decode_end_port(struct sim *s, uint32_t port)
{
	struct sim_port *p = &s->f->ports[port];
	uint16_t lid = p->lid;
	uint8_t lmc = p->lmc;

	p->lid = get_be16(p->info + PI_LID);
	p->lmc = p->info[PI_MKEY_PROTECT_LMC] & 0x07;
	p->sm_lid = get_be16(p->info + PI_SM_LID);
	if ((p->lid != lid || p->lmc != lmc) && is_switch(node_of(s->f, port)))
		copy_lid_to_external_ports(s->f, port);
}

void port_sync(struct sim *s, uint32_t port)
{
	struct sim_port *p = &s->f->ports[port];
	const uint8_t *info = p->info;

	p->state = (uint8_t)low4(info + PI_SPEED_SUP_STATE);
	p->phys_state = (uint8_t)high4(info + PI_PHYS_STATE_DOWN_DEFAULT);
	p->op_vls = (uint8_t)vls_of_code(high4(info + PI_OP_VLS_ENFORCE));
	p->mtu = (uint8_t)high4(info + PI_MTU_SM_SL);
	p->pkey_in = (info[PI_OP_VLS_ENFORCE] & PI_ENFORCE_IN) != 0;
	p->pkey_out = (info[PI_OP_VLS_ENFORCE] & PI_ENFORCE_OUT) != 0;
	p->mkey_violations = get_be16(info + PI_MKEY_VIOLATIONS);
	p->pkey_violations = get_be16(info + PI_PKEY_VIOLATIONS);
	p->qkey_violations = get_be16(info + PI_QKEY_VIOLATIONS);
	if (is_end_port(s->f, port))
		decode_end_port(s, port);
}

void port_set_state(struct sim *s, uint32_t port, uint8_t state, uint8_t phys_state)
{
	struct sim_port *p = &s->f->ports[port];

	set_low4(p->info + PI_SPEED_SUP_STATE, state);
	set_high4(p->info + PI_PHYS_STATE_DOWN_DEFAULT, phys_state);
	p->state = state;
	p->phys_state = phys_state;
}

bool port_state_allowed(const struct sim_port *p, unsigned state)
{
	switch (state) {
	case SIM_PORT_NOP:
	case SIM_PORT_DOWN:
		return true;
	case SIM_PORT_ARMED:
		return p->state == SIM_PORT_INIT;
	case SIM_PORT_ACTIVE:
		return p->state == SIM_PORT_ARMED;
	default:
		return false;
	}
}

static void command_phys_state(struct sim *s, uint32_t port, unsigned phys_state)
{
	struct sim_port *p = &s->f->ports[port];

	p->disabled = phys_state == SIM_PHYS_DISABLED;
	link_down(s, port, true);
	port_set_state(s, port, SIM_PORT_DOWN, (uint8_t)phys_state);
	link_train(s, port);
}

void port_command(struct sim *s, uint32_t port, unsigned state, unsigned phys_state)
{
	const struct sim_port *p = &s->f->ports[port];

	if (phys_state != SIM_PHYS_NOP) {
		command_phys_state(s, port, phys_state);
	} else if (state == SIM_PORT_DOWN) {
		link_down(s, port, true);
		if (node_of(s->f, port)->profile->ibsim)	/* ibsim does not train links */
			link_up_now(s, port);
		else
			link_train(s, port);
	} else if (state != SIM_PORT_NOP) {
		port_set_state(s, port, (uint8_t)state, p->phys_state);
	}
}

static void command_due(struct sim *s, void *arg)
{
	struct device_port *d = arg;

	d->command_timer = 0;
	port_command(s, device_port_index(s, d), d->due_state, d->due_phys_state);
}

/* The answer of a driven device goes through the host's kernel, in an emulated processor. */
#define DRIVEN_ANSWER_US 200000

static int64_t answer_time_us(const struct sim_node *n)
{
	if (n->driven)
		return DRIVEN_ANSWER_US;
	return (int64_t)n->profile->response_us + n->profile->jitter_us + 1;
}

void port_command_later(struct sim *s, uint32_t port, unsigned state, unsigned phys_state)
{
	struct device_port *d = device_port(s, port);

	d->due_state = (uint8_t)state;
	d->due_phys_state = (uint8_t)phys_state;
	sim_cancel(s, d->command_timer);
	d->command_timer = sim_after(s, answer_time_us(node_of(s->f, port)), command_due, d);
}

void device_activate(struct sim *s, uint32_t port)
{
	const struct sim_port *p = &s->f->ports[port];

	if (p->state == SIM_PORT_ARMED)
		port_set_state(s, port, SIM_PORT_ACTIVE, p->phys_state);
}
