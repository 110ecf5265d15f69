/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Implements gs_test.h. */
#include <check.h>
#include <string.h>

#include "gs_test.h"

struct sim *gs_sim;
struct sim_fabric *gs_fabric;
uint32_t gs_switch, gs_ca;

static uint32_t add_node(uint8_t type, uint8_t nports, uint64_t guid, const char *desc)
{
	struct sim_node_spec spec = { .type = type, .nports = nports, .guid = guid, .desc = desc };
	struct buf err = { 0 };
	uint32_t node = simfab_add_node(gs_fabric, &spec, &err);

	ck_assert_uint_ne(node, SIM_NONE);
	return node;
}

/* As far as the agents need a device that is on. */
static void power_on(uint32_t port, uint16_t lid)
{
	struct sim_port *p = &gs_fabric->ports[port];

	p->lid = lid;
	p->n_pkeys = 1;
	p->pkeys = xcalloc(1, sizeof(*p->pkeys));
	p->pkeys[0] = 0xffff;
}

void gs_setup(const char *profiles)
{
	struct findings found = { 0 };
	struct profile_set *ps = profiles_load("p", profiles, strlen(profiles), &found);
	uint32_t sw, ca;

	ck_assert_ptr_nonnull(ps);
	gs_fabric = simfab_new();
	sw = add_node(SIM_SWITCH, 4, 0x0002c90000000100, "switch");
	ca = add_node(SIM_CA, 2, 0x0002c90000000200, "target one");
	gs_switch = gs_fabric->nodes[sw].port0;
	gs_ca = gs_fabric->nodes[ca].port0 + 2;
	power_on(gs_switch, 7);
	power_on(gs_ca, 8);
	profiles_apply(ps, gs_fabric);
	profiles_free(ps);
	gs_sim = sim_new(gs_fabric, 1);
}

void gs_teardown(void)
{
	sim_free(gs_sim);
}

struct packet gs_request(uint8_t mgmt_class, uint8_t method, uint16_t attr, uint32_t mod)
{
	struct packet p = { .slid = 3, .dlid = 8, .sqpn = 1, .dqpn = 1, .qkey = 0x80010000,
			    .pkey = 0xffff };

	p.mad[MAD_BASE_VERSION] = 1;
	p.mad[MAD_CLASS] = mgmt_class;
	p.mad[MAD_CLASS_VERSION] = 1;
	p.mad[MAD_METHOD] = method;
	put_be64(p.mad + MAD_TID, 0x1234567890);
	put_be16(p.mad + MAD_ATTR, attr);
	put_be32(p.mad + MAD_MOD, mod);
	return p;
}

unsigned gs_ask(bool (*agent)(struct sim *, uint32_t, struct packet *), uint32_t port,
		struct packet *p)
{
	struct packet before = *p;

	ck_assert(agent(gs_sim, port, p));
	ck_assert_uint_eq(p->slid, before.dlid);
	ck_assert_uint_eq(p->dlid, before.slid);
	ck_assert_uint_eq(p->mad[MAD_METHOD], METHOD_GET_RESP);
	ck_assert_mem_eq(p->mad + MAD_TID, before.mad + MAD_TID, 16);
	ck_assert_uint_eq(p->mad[MAD_CLASS], before.mad[MAD_CLASS]);
	return get_be16(p->mad + MAD_STATUS);
}
