/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Implements net.h. */
#include <check.h>
#include <stdio.h>

#include <infiniband/mad.h>

#include "net.h"

static void set_port(struct fabric *f, uint32_t node, unsigned num, uint64_t guid)
{
	uint8_t info[64] = { 0 };

	mad_set_field(info, 0, IB_PORT_LOCAL_PORT_F, num);
	mad_set_field(info, 0, IB_PORT_STATE_F, IB_PORT_INIT_S);
	mad_set_field(info, 0, IB_PORT_PHYS_STATE_F, IB_PHYS_LINK_UP);
	mad_set_field(info, 0, IB_PORT_LINK_WIDTH_ACTIVE_F, 2);
	mad_set_field(info, 0, IB_PORT_LINK_SPEED_ACTIVE_F, 4);
	mad_set_field(info, 0, IB_PORT_MTU_CAP_F, 4);
	mad_set_field(info, 0, IB_PORT_VL_CAP_F, 4);
	mad_set_field(info, 0, IB_PORT_OPER_VLS_F, 4);
	mad_set_field(info, 0, IB_PORT_CAPMASK_F, IB_CAP_SL_MAP);
	ck_assert(fabric_set_port(f, node, num, guid, info));
}

static uint32_t add_node(struct fabric *f, unsigned type, uint64_t guid, unsigned nports,
			 const uint8_t *switch_info)
{
	uint8_t info[40] = { 0 };
	char desc[64];

	mad_set_field(info, 0, IB_NODE_TYPE_F, type);
	mad_set_field(info, 0, IB_NODE_NPORTS_F, nports);
	mad_set_field64(info, 0, IB_NODE_GUID_F, guid);
	snprintf(desc, sizeof(desc), "n%llx", (unsigned long long)guid);
	uint32_t node = fabric_add_node(f, info, desc, switch_info, NULL, 0);
	ck_assert_uint_ne(node, FABRIC_NONE);
	return node;
}

uint32_t net_ca(struct fabric *f, uint64_t guid, unsigned nports)
{
	uint32_t node = add_node(f, IB_NODE_CA_T, guid, nports, NULL);

	for (unsigned num = 1; num <= nports; num++)
		set_port(f, node, num, guid + num);
	return node;
}

uint32_t net_switch(struct fabric *f, uint64_t guid, unsigned nports, bool enhanced_port0)
{
	uint8_t info[20] = { 0 };

	mad_set_field(info, 0, IB_SW_LINEAR_FDB_CAP_F, 0xc000);
	mad_set_field(info, 0, IB_SW_MCAST_FDB_CAP_F, 1024);
	mad_set_field(info, 0, IB_SW_ENHANCED_PORT0_F, enhanced_port0);
	uint32_t node = add_node(f, IB_NODE_SWITCH_T, guid, nports, info);

	for (unsigned num = 0; num <= nports; num++)
		set_port(f, node, num, guid);
	return node;
}

void net_finish(struct fabric *f)
{
	struct buf err = { 0 };

	ck_assert_msg(fabric_finish(f, 0, 1, &err), "%s", err.s);
	buf_free(&err);
}

struct fabric *net_leaves_and_spines(uint64_t host, uint64_t leaf, uint64_t spine)
{
	struct fabric *f = fabric_new();

	for (unsigned i = 0; i < 3; i++)
		net_ca(f, host + 0x10 * i, 1);
	for (unsigned i = 0; i < 2; i++)
		net_switch(f, leaf + i, 4, false);
	for (unsigned i = 0; i < 2; i++)
		net_switch(f, spine + i, 4, false);
	for (unsigned k = 0; k < 2; k++) {
		fabric_link(f, k, 1, 3 + k, 1);
		for (unsigned i = 0; i < 2; i++)
			fabric_link(f, 3 + k, 2 + i, 5 + i, 1 + k);
	}
	fabric_link(f, 2, 1, 6, 4);
	net_finish(f);
	return f;
}

uint32_t net_random(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return (uint32_t)(*s >> 16);
}
