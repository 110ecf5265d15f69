/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What devices answer to discovery, and the plan that is made of it (libFuzzer's
 * interface).  There are some devices that make sense; each record of the input puts bytes
 * into what one of them answers: which answer, where, how many, and the bytes.  An answer
 * of a port beyond those that are there comes after the plan, which is then made again.
 */
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>

#include "fuzz.h"
#include "lib/base/alloc.h"
#include "subnet.h"

enum { NODES = 6, PORTS = 5, LINKS = 6, INFO = 64 };
enum { NODE_INFO, SWITCH_INFO = NODE_INFO + NODES, PORT_INFO = SWITCH_INFO + NODES,
       LINK = PORT_INFO + NODES * PORTS, LATER = LINK + LINKS, ANSWERS = LATER + 4 };

static const struct {
	unsigned type, ports;
	uint64_t guid;
} nodes[NODES] = {
	{ IB_NODE_CA_T, 1, 0x10 }, { IB_NODE_SWITCH_T, 4, 0x20 }, { IB_NODE_SWITCH_T, 4, 0x30 },
	{ IB_NODE_CA_T, 2, 0x40 }, { IB_NODE_ROUTER_T, 1, 0x50 }, { IB_NODE_CA_T, 1, 0x60 },
};
static const uint8_t links[LINKS][4] = {
	{ 0, 1, 1, 1 }, { 1, 3, 2, 3 }, { 1, 4, 2, 4 }, { 3, 1, 1, 2 }, { 4, 1, 2, 1 },
	{ 5, 1, 2, 2 },
};

static void fill(uint8_t answers[ANSWERS][INFO])
{
	memset(answers, 0, ANSWERS * INFO);
	for (unsigned n = 0; n < NODES; n++) {
		uint8_t *info = answers[NODE_INFO + n];

		mad_set_field(info, 0, IB_NODE_TYPE_F, nodes[n].type);
		mad_set_field(info, 0, IB_NODE_NPORTS_F, nodes[n].ports);
		mad_set_field64(info, 0, IB_NODE_GUID_F, nodes[n].guid);
		mad_set_field(answers[SWITCH_INFO + n], 0, IB_SW_LINEAR_FDB_CAP_F, 0xc000);
		mad_set_field(answers[SWITCH_INFO + n], 0, IB_SW_MCAST_FDB_CAP_F, 16);
	}
	for (unsigned i = PORT_INFO; i < LINK; i++) {
		mad_set_field(answers[i], 0, IB_PORT_LINK_WIDTH_ACTIVE_F, 2);
		mad_set_field(answers[i], 0, IB_PORT_LINK_SPEED_ACTIVE_F, 4);
		mad_set_field(answers[i], 0, IB_PORT_MTU_CAP_F, 4);
		mad_set_field(answers[i], 0, IB_PORT_VL_CAP_F, 4);
		mad_set_field(answers[i], 0, IB_PORT_CAPMASK_F, IB_CAP_SL_MAP);
	}
	for (unsigned i = 0; i < LINKS; i++)
		memcpy(answers[LINK + i], links[i], sizeof(links[i]));
}

static void overlay(uint8_t answers[ANSWERS][INFO], const uint8_t *data, size_t size)
{
	while (size > 3) {
		uint8_t *answer = answers[data[0] % ANSWERS];
		size_t at = data[1] % INFO, n = data[2] % INFO;

		data += 3;
		size -= 3;
		n = n < size ? n : size;
		memcpy(answer + at, data, n < INFO - at ? n : INFO - at);
		data += n;
		size -= n;
	}
}

static struct fabric *discover(uint8_t answers[ANSWERS][INFO])
{
	struct fabric *f = fabric_new();
	struct buf err = { 0 };
	bool good;

	for (unsigned n = 0; n < NODES; n++) {
		bool is_switch = mad_get_field(answers[NODE_INFO + n], 0, IB_NODE_TYPE_F) ==
				 IB_NODE_SWITCH_T;
		uint32_t node = fabric_add_node(f, answers[NODE_INFO + n],
						(const char *)answers[PORT_INFO + n],
						is_switch ? answers[SWITCH_INFO + n] : NULL,
						answers[LINK], n);

		for (unsigned num = 0; node != FABRIC_NONE && num < PORTS; num++)
			fabric_set_port(f, node, num, f->nodes[node].guid + num,
					answers[PORT_INFO + n * PORTS + num]);
	}
	for (unsigned i = LINK; i < LATER; i++)
		fabric_link(f, answers[i][0], answers[i][1], answers[i][2], answers[i][3]);
	good = fabric_finish(f, 0, 1, &err);
	buf_free(&err);
	if (good)
		return f;
	fabric_free(f);
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t answers[ANSWERS][INFO];
	struct fabric *f;

	fill(answers);
	overlay(answers, data, size);
	f = discover(answers);
	if (!f)
		return 0;
	check_plan(f, 1);
	for (unsigned i = LATER; i < ANSWERS; i++)
		fabric_port_store(&f->ports[answers[i][INFO - 1] % f->n_ports], answers[i]);
	check_plan(f, 1);
	fabric_free(f);
	return 0;
}
