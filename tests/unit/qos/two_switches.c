/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Implements two_switches.h. */
#include "two_switches.h"

#include <check.h>

struct port_caps node_caps[NODES];
struct fabric *f;
struct policy *p;
struct findings findings;
struct group_sets *g;
struct qos_tables *t;

void two_switches_begin(void)
{
	for (int i = 0; i < NODES; i++)
		node_caps[i] = CAPS_DEFAULT;
	p = new_policy();
	add_group(p, "hosts")->node_types = NT_CA;
	add_range(&add_group(p, "host0")->port_guids, HOSTS + 1, HOSTS + 1);
	add_range(&add_group(p, "leaf")->port_guids, LEAF_G, LEAF_G);
	add_word(&add_group(p, "leaf-p5")->port_names, "leaf/P5");
}

void two_switches_end(void)
{
	qos_tables_free(t);
	t = NULL;
	groups_free(g);
	g = NULL;
	policy_free(p);
	fabric_free(f);
	f = NULL;
	findings_free(&findings);
}

void node(int i, enum ib_node_type type, unsigned nports, uint64_t guid, const char *desc)
{
	caps = node_caps[i];
	ck_assert_uint_eq(add_node(f, type, nports, guid, desc), i);
}

void two_switches(void)
{
	f = fabric_new();
	node(HOST0, IB_NODE_CA_T, 1, HOSTS, "host0");
	node(HOST1, IB_NODE_CA_T, 1, HOSTS + 16, "host1");
	node(LEAF, IB_NODE_SWITCH_T, 8, LEAF_G, "leaf");
	node(SPINE, IB_NODE_SWITCH_T, 8, SPINE_G, "spine");
	add_link(f, HOST0, 1, LEAF, 1);
	add_link(f, HOST1, 1, LEAF, 2);
	add_link(f, LEAF, 5, SPINE, 1);
	add_link(f, LEAF, 6, SPINE, 2);
}

unsigned op_vls(uint32_t n, unsigned num)
{
	return t->op_vls[port_at(f, n, num)];
}
