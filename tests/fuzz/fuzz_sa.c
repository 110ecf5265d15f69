/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Feeds the SA with arbitrary requests (libFuzzer's interface).  The first byte
 * is the requester's LID, the rest the MAD as it would have been received; two
 * hosts and a router on a switch are there to be asked about.
 */
#include <stdio.h>
#include <stdlib.h>

#include <infiniband/mad.h>

#include "base/alloc.h"
#include "fuzz.h"
#include "registry/mcast.h"
#include "registry/services.h"
#include "registry/subscriptions.h"
#include "sa/sa.h"

static void add_port(struct fabric *f, uint32_t node, unsigned num, uint64_t guid)
{
	uint8_t info[64] = { 0 };

	mad_set_field(info, 0, IB_PORT_LINK_WIDTH_ACTIVE_F, 2);
	mad_set_field(info, 0, IB_PORT_LINK_SPEED_ACTIVE_F, 4);
	mad_set_field(info, 0, IB_PORT_MTU_CAP_F, 4);
	mad_set_field(info, 0, IB_PORT_VL_CAP_F, 4);
	mad_set_field(info, 0, IB_PORT_CAPMASK_F, IB_CAP_SL_MAP);
	fabric_set_port(f, node, num, guid, info);
}

static uint32_t add_node(struct fabric *f, unsigned type, uint64_t guid, unsigned nports)
{
	uint8_t info[40] = { 0 }, switch_info[20] = { 0 };

	mad_set_field(info, 0, IB_NODE_TYPE_F, type);
	mad_set_field(info, 0, IB_NODE_NPORTS_F, nports);
	mad_set_field64(info, 0, IB_NODE_GUID_F, guid);
	mad_set_field(switch_info, 0, IB_SW_LINEAR_FDB_CAP_F, 0xc000);
	mad_set_field(switch_info, 0, IB_SW_MCAST_FDB_CAP_F, 16);
	uint32_t node = fabric_add_node(f, info, "node", switch_info, NULL, 0);

	for (unsigned num = type == IB_NODE_SWITCH_T ? 0 : 1; num <= nports; num++)
		add_port(f, node, num, type == IB_NODE_SWITCH_T ? guid : guid + num);
	return node;
}

static struct subnet_state *make_state(void)
{
	struct subnet_state *s = xcalloc(1, sizeof(*s));
	struct fabric *f = s->f = fabric_new();
	struct settings *settings = settings_default();
	uint32_t a = add_node(f, IB_NODE_CA_T, 0x10, 1);
	uint32_t b = add_node(f, IB_NODE_CA_T, 0x20, 1);
	uint32_t sw = add_node(f, IB_NODE_SWITCH_T, 0x30, 4);
	uint32_t router = add_node(f, IB_NODE_ROUTER_T, 0x40, 1);
	struct buf err = { 0 };

	fabric_link(f, a, 1, sw, 1);
	fabric_link(f, b, 1, sw, 2);
	fabric_link(f, router, 1, sw, 3);
	if (!fabric_finish(f, a, 1, &err))
		abort();
	settings->lmc = 1;
	*vec_push(&settings->prefix_routes) = (struct prefix_route){ .prefix = 0 };
	s->refs = 1;
	s->policy = shared_policy_new(policy_builtin());
	s->plan = plan_compute(f, s->policy->p, settings, NULL, NULL, NULL);
	return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct subnet_state *state;
	struct sa sa = { .sm_key = 1 };
	struct buf out = { 0 };

	if (size < 1)
		return 0;
	if (!state)
		state = make_state();
	sa.state = state;
	sa.mcast = mcast_new(NULL, NULL);
	mcast_sync(sa.mcast, state);
	if (mcast_count(sa.mcast))
		mcast_join(sa.mcast, mcast_find(sa.mcast, mcast_at(sa.mcast, 0)->mgid),
			   mcast_own_gid(0x21), JOIN_FULL, false);
	sa.services = services_new(NULL, NULL);
	sa.subscriptions = subscriptions_new(NULL, NULL);
	struct sa_request req = { .mad = data + 1, .len = size - 1, .slid = data[0] };

	if (sa_answer(&sa, &req, &out) && out.n < 56)
		abort();
	/* again, with what the first one may have changed */
	sa_answer(&sa, &req, &out);
	sa_answer_busy(&sa, &req, &out);
	buf_free(&out);
	mcast_free(sa.mcast);
	services_free(sa.services);
	subscriptions_free(sa.subscriptions);
	return 0;
}
