/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/bytes.h"
#include "rig.h"

static struct rig *rig;		/* for hooks */

static const struct sim_profile profile = { .lft_cap = LFT_CAP, .mft_cap = MFT_CAP };

static void arrive(struct sim *s, uint32_t port, struct packet *p)
{
	*vec_push(&rig->arrived) = (struct arrival){ port, *p, sim_now(s) };
	if (!rig->answers || (p->mad[MAD_METHOD] & MAD_METHOD_RESPONSE))
		return;
	p->mad[MAD_METHOD] |= MAD_METHOD_RESPONSE;
	wire_turn_round(s, port, p);
	wire_send(s, port, p);
}

static void bad_pkey(struct sim *s, uint32_t port, const struct packet *p)
{
	(void)s;
	(void)p;
	*vec_push(&rig->bad_pkeys) = port;
}

static void activate(struct sim *s, uint32_t port)
{
	s->f->ports[port].state = SIM_PORT_ACTIVE;
	*vec_push(&rig->activated) = port;
}

static uint32_t add_node(struct sim_fabric *f, uint8_t type, unsigned nports, uint64_t guid,
			 const char *letter, unsigned i)
{
	struct buf err = { 0 };
	char name[8];

	snprintf(name, sizeof(name), "%s%u", letter, i);
	uint32_t node = simfab_add_node(f, &(struct sim_node_spec){
		.type = type, .nports = (uint8_t)nports, .guid = guid, .id = name, .desc = name,
	}, &err);

	ck_assert_msg(node != SIM_NONE, "%s", err.s);
	return node;
}

static void start_port(struct rig *r, uint32_t port)
{
	struct sim_port *p = &r->f->ports[port];

	p->state = SIM_PORT_ACTIVE;
	p->op_vls = 8;
	rig_pkey(r, port, 0xffff);
}

void rig_cable(struct rig *r, uint32_t a, uint32_t b)
{
	struct buf err = { 0 };

	ck_assert_msg(simfab_connect(r->f, a, b, &err), "%s", err.s);
	start_port(r, a);
	start_port(r, b);
}

static void start_switch(struct rig *r, unsigned i)
{
	struct sim_switch *sw = rig_switch(r, i);
	uint32_t port0 = rig_port(r, i, 0);

	start_port(r, port0);
	r->f->nodes[r->sw[i]].profile = &profile;
	r->f->ports[port0].lid = SW_LID(i);
	sw->lft_top = HOST_LID(r->n) - 1;
	sw->lft = xmalloc(LFT_CAP);
	memset(sw->lft, SIM_LFT_DROP, LFT_CAP);
	for (unsigned j = 0; j < r->n; j++) {
		uint8_t out = j < i ? PORT_PREV : PORT_NEXT;

		sw->lft[SW_LID(j)] = i == j ? 0 : out;
		memset(&sw->lft[HOST_LID(j)], i == j ? PORT_HOST : out, 4);
	}
	sw->sl2vl = xmalloc((RIG_PORTS + 1) * (RIG_PORTS + 1) * 8);
	for (unsigned j = 0; j < (RIG_PORTS + 1) * (RIG_PORTS + 1); j++)
		memcpy(sw->sl2vl + j * 8, "\x01\x23\x45\x67\x89\xab\xcd\xef", 8);
}

static void start_host(struct rig *r, unsigned i)
{
	struct sim_port *p = &r->f->ports[r->host[i]];

	p->lid = HOST_LID(i);
	p->lmc = 1;
	p->sl2vl = xmemdup("\x01\x23\x45\x67\x89\xab\xcd\xef", 8);
	r->f->nodes[p->node].profile = &profile;
}

struct rig *rig_line(unsigned n)
{
	struct rig *r = xcalloc(1, sizeof(*r));

	rig = r;
	r->n = n;
	r->f = simfab_new();
	for (unsigned i = 0; i < n; i++) {
		r->sw[i] = add_node(r->f, SIM_SWITCH, RIG_PORTS, 0x1000 + i, "S", i);
		uint32_t ca = add_node(r->f, SIM_CA, 1, 0x2000 + i * 16, "H", i);

		r->host[i] = r->f->nodes[ca].port0 + 1;
	}
	for (unsigned i = 0; i < n; i++) {
		start_switch(r, i);
		start_host(r, i);
		rig_cable(r, rig_port(r, i, PORT_HOST), r->host[i]);
		if (i)
			rig_cable(r, rig_port(r, i - 1, PORT_NEXT), rig_port(r, i, PORT_PREV));
	}
	r->s = sim_new(r->f, 1);
	r->s->hooks.arrive = arrive;
	r->s->hooks.bad_pkey = bad_pkey;
	r->s->hooks.activate = activate;
	return r;
}

void rig_free(struct rig *r)
{
	sim_free(r->s);
	vec_free(&r->arrived);
	vec_free(&r->bad_pkeys);
	vec_free(&r->activated);
	free(r);
	rig = NULL;
}

uint32_t rig_port(const struct rig *r, unsigned i, unsigned num)
{
	return r->f->nodes[r->sw[i]].port0 + num;
}

struct sim_switch *rig_switch(struct rig *r, unsigned i)
{
	return &r->f->switches[r->f->nodes[r->sw[i]].sw];
}

void rig_sl2vl(struct rig *r, unsigned i, unsigned in, unsigned out, unsigned sl, unsigned vl)
{
	uint8_t *byte = &rig_switch(r, i)->sl2vl[(in * (RIG_PORTS + 1) + out) * 8 + sl / 2];

	*byte = (uint8_t)(sl % 2 ? (*byte & 0xf0) | vl : (*byte & 0x0f) | vl << 4);
}

void rig_pkey(struct rig *r, uint32_t port, uint16_t pkey)
{
	struct sim_port *p = &r->f->ports[port];

	p->pkeys = xrealloc(p->pkeys, p->n_pkeys + 1u, sizeof(*p->pkeys));
	p->pkeys[p->n_pkeys++] = pkey;
}

void rig_mft(struct rig *r, unsigned i, uint16_t mlid, uint64_t ports)
{
	struct sim_switch *sw = rig_switch(r, i);

	if (!sw->mft)
		sw->mft = xcalloc(MFT_CAP, sizeof(*sw->mft));
	sw->mft[mlid - SIM_LID_MCAST][0] = ports;
}

static struct packet get(uint8_t mgmt_class)
{
	struct packet p = { .pkey = 0xffff };

	p.mad[MAD_BASE_VERSION] = 1;
	p.mad[MAD_CLASS] = mgmt_class;
	p.mad[MAD_CLASS_VERSION] = 1;
	p.mad[MAD_METHOD] = METHOD_GET;
	put_be16(p.mad + MAD_ATTR, 0x11);
	return p;
}

struct packet rig_smp(uint16_t dlid)
{
	struct packet p = get(CLASS_SM_LID);

	p.dlid = dlid;
	return p;
}

struct packet rig_gsi(uint16_t dlid, uint8_t sl)
{
	struct packet p = get(CLASS_PM);

	p.dlid = dlid;
	p.sl = sl;
	p.sqpn = p.dqpn = 1;
	p.qkey = 0x80010000;
	return p;
}

struct packet rig_dr(unsigned count, const uint8_t *path)
{
	struct packet p = get(CLASS_SM_DR);

	p.dlid = SIM_LID_PERMISSIVE;
	p.mad[MAD_DR_HOP_CNT] = (uint8_t)count;
	for (unsigned i = 0; i < count; i++)
		p.mad[SMP_INIT_PATH + 1 + i] = path[i];
	put_be16(p.mad + SMP_DR_SLID, SIM_LID_PERMISSIVE);
	put_be16(p.mad + SMP_DR_DLID, SIM_LID_PERMISSIVE);
	return p;
}

void rig_send(struct rig *r, uint32_t from, struct packet p)
{
	if (p.slid == 0)
		p.slid = r->f->ports[from].lid;
	wire_send(r->s, from, &p);
	sim_run(r->s, sim_now(r->s));
}

uint64_t rig_dropped(const struct rig *r, enum drop_reason why)
{
	return r->s->drops->by_reason[why];
}

uint64_t rig_dropped_all(const struct rig *r)
{
	return r->s->drops->n;
}
