/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See subnet.h. */
#include "subnet.h"

#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "sa/registry/alias.h"
#include "sa/registry/groups.h"
#include "sa/registry/services.h"
#include "sa/registry/subscriptions.h"

static void add_port(struct fabric *f, uint32_t node, unsigned num, uint64_t guid)
{
	uint8_t info[64] = { 0 };

	mad_set_field(info, 0, IB_PORT_LINK_WIDTH_ACTIVE_F, 2);
	mad_set_field(info, 0, IB_PORT_LINK_SPEED_ACTIVE_F, 4);
	mad_set_field(info, 0, IB_PORT_MTU_CAP_F, 4);
	mad_set_field(info, 0, IB_PORT_VL_CAP_F, 4);
	mad_set_field(info, 0, IB_PORT_CAPMASK_F, IB_CAP_SL_MAP);
	mad_set_field(info, 0, IB_PORT_GUID_CAP_F, 32);
	fabric_set_port(f, node, num, guid, info);
}

static uint32_t add_node(struct fabric *f, unsigned type, uint64_t guid, unsigned nports,
			 const char *name)
{
	uint8_t info[40] = { 0 }, switch_info[20] = { 0 };
	bool is_switch = type == IB_NODE_SWITCH_T;
	uint32_t node;

	mad_set_field(info, 0, IB_NODE_TYPE_F, type);
	mad_set_field(info, 0, IB_NODE_NPORTS_F, nports);
	mad_set_field64(info, 0, IB_NODE_GUID_F, guid);
	mad_set_field(switch_info, 0, IB_SW_LINEAR_FDB_CAP_F, 0xc000);
	mad_set_field(switch_info, 0, IB_SW_MCAST_FDB_CAP_F, 16);
	node = fabric_add_node(f, info, name, is_switch ? switch_info : NULL, NULL, 0);
	for (unsigned num = is_switch ? 0 : 1; num <= nports; num++)
		add_port(f, node, num, is_switch ? guid : guid + num);
	return node;
}

static struct subnet_state *make(void)
{
	struct subnet_state *s = xcalloc(1, sizeof(*s));
	struct fabric *f = s->f = fabric_new();
	struct settings *settings = settings_default();
	uint32_t a = add_node(f, IB_NODE_CA_T, 0x10, 1, "a");
	uint32_t b = add_node(f, IB_NODE_CA_T, 0x20, 1, "b");
	uint32_t sw = add_node(f, IB_NODE_SWITCH_T, 0x30, 4, "sw");
	uint32_t router = add_node(f, IB_NODE_ROUTER_T, 0x40, 1, "r");
	uint32_t c = add_node(f, IB_NODE_CA_T, 0x50, 2, "c");
	uint32_t far = add_node(f, IB_NODE_SWITCH_T, 0x60, 4, "far");
	struct buf err = { 0 };

	fabric_link(f, a, 1, sw, 1);
	fabric_link(f, b, 1, sw, 2);
	fabric_link(f, router, 1, sw, 3);
	fabric_link(f, sw, 4, far, 4);
	fabric_link(f, c, 1, far, 1);
	fabric_link(f, c, 2, far, 2);
	if (!fabric_finish(f, a, 1, &err))
		abort();
	settings->lmc = 1;
	*vec_push(&settings->prefix_routes) = (struct prefix_route){ .prefix = 0 };
	s->refs = 1;
	s->policy = shared_policy_new(policy_builtin());
	s->plan = plan_compute(f, s->policy->p, settings, NULL, NULL, NULL);
	return s;
}

struct subnet_state *subnet_state(void)
{
	static struct subnet_state *state;

	if (!state)
		state = make();
	return state;
}

static void put_gid(uint8_t gid[16], uint64_t guid)
{
	put_be64(gid, 0xfe80000000000000);
	put_be64(gid + 8, guid);
}

void subnet_register(struct sa *sa)
{
	struct service service = { .key.pkey = 0xffff, .ends_us = SERVICE_NEVER, .name = "some" };
	struct subscription all = { .what = { .lid_first = INFORM_ALL_LIDS, .generic = true,
					      .type = INFORM_ALL_TYPES, .number = INFORM_ALL_TRAPS,
					      .producer = INFORM_ALL_PRODUCERS }, .pkey = 0xffff };
	struct mcast_group other = { .mgid = { 0xff, 0x12, [15] = 9 }, .pkey = 0xffff, .mtu = 4,
				     .rate = 3, .life = 18 };

	sa->mcast = mcast_new(NULL, NULL);
	mcast_sync(sa->mcast, sa->state);
	if (mcast_count(sa->mcast))
		mcast_join(sa->mcast, mcast_find(sa->mcast, mcast_at(sa->mcast, 0)->mgid),
			   mcast_own_gid(0x21),
			   JOIN_FULL, false);
	mcast_join(sa->mcast, mcast_create(sa->mcast, &other, 16), mcast_own_gid(0x51), JOIN_NON, false);
	sa->services = services_new(NULL, NULL);
	sa->subscriptions = subscriptions_new(NULL, NULL);
	sa->alias = alias_new();
	for (uint64_t guid = 0x11; guid <= 0x51; guid += 0x10) {
		if (guid == 0x31)	/* the switch's */
			continue;
		service.key.id = guid << 4;
		service.source = guid;
		put_gid(service.key.gid, guid);
		services_put(sa->services, &service);
		subscriptions_add(sa->subscriptions, guid, 1, &all);
		alias_put(sa->alias, guid, 1, guid + 0x1000);
	}
}

void subnet_forget(struct sa *sa)
{
	mcast_free(sa->mcast);
	services_free(sa->services);
	subscriptions_free(sa->subscriptions);
	alias_free(sa->alias);
}

static void check_lids(const struct plan *p)
{
	for (uint32_t i = 0; i < p->f->n_ports; i++)
		for (unsigned k = 0; p->lid[i] && k < 1u << p->lmc[i]; k++)
			if (p->lid[i] + k > IB_LID_UCAST_MAX || p->port_by_lid[p->lid[i] + k] != i)
				abort();
}

void check_plan(const struct fabric *f, uint8_t lmc)
{
	static struct settings *settings;
	static struct policy *policy;
	struct plan *p;

	if (!settings) {
		settings = settings_default();
		policy = policy_builtin();
	}
	settings->lmc = lmc;
	p = plan_compute(f, policy, settings, NULL, NULL, NULL);
	plan_judge(p, NULL);
	check_lids(p);
	plan_free(p);
}
