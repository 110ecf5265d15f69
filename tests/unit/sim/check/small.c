/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "small.h"

#define LFT_CAP 4096
#define MFT_CAP 64

static uint32_t add_node(struct sim_fabric *f, uint8_t type, unsigned nports)
{
	char desc[32];
	unsigned nth = type == SIM_SWITCH ? f->n_switches : f->n_nodes - f->n_switches;
	struct sim_node_spec spec = { .type = type, .nports = (uint8_t)nports, .desc = desc };
	struct buf err = { 0 };

	snprintf(desc, sizeof(desc), "%c%u", type == SIM_SWITCH ? 'S' : 'H', nth + 1);
	spec.guid = (f->n_nodes + 1ULL) << 16;
	uint32_t node = simfab_add_node(f, &spec, &err);

	ck_assert_msg(node != SIM_NONE, "%s", err.s);
	return node;
}

uint32_t add_switch(struct sim_fabric *f, unsigned nports)
{
	return add_node(f, SIM_SWITCH, nports);
}

void cable(struct sim_fabric *f, uint32_t node_a, unsigned num_a, uint32_t node_b, unsigned num_b)
{
	struct buf err = { 0 };

	ck_assert_msg(simfab_connect(f, f->nodes[node_a].port0 + num_a,
				     f->nodes[node_b].port0 + num_b, &err), "%s", err.s);
}

uint32_t add_free_host(struct sim_fabric *f)
{
	return add_node(f, SIM_CA, 1);
}

void add_host(struct sim_fabric *f, uint32_t node, unsigned num)
{
	cable(f, add_free_host(f), 1, node, num);
}

struct sim_fabric *make_ring(unsigned switches, unsigned hosts)
{
	struct sim_fabric *f = simfab_new();

	for (unsigned i = 0; i < switches; i++)
		add_switch(f, 2 + hosts);
	for (unsigned i = 0; i < switches; i++)
		cable(f, i, 1, (i + 1) % switches, 2);
	for (unsigned i = 0; i < switches; i++)
		for (unsigned k = 0; k < hosts; k++)
			add_host(f, i, 3 + k);
	return f;
}

struct sim_fabric *make_tree(unsigned leaves, unsigned hosts, unsigned spines)
{
	struct sim_fabric *f = simfab_new();

	for (unsigned i = 0; i < leaves; i++)
		add_switch(f, hosts + spines);
	for (unsigned k = 0; k < spines; k++) {
		add_switch(f, leaves);
		for (unsigned i = 0; i < leaves; i++)
			cable(f, leaves + k, 1 + i, i, hosts + 1 + k);
	}
	for (unsigned i = 0; i < leaves; i++)
		for (unsigned k = 0; k < hosts; k++)
			add_host(f, i, 1 + k);
	return f;
}

/* --- tables --- */

static void give_lids(struct sim_fabric *f, unsigned lmc)
{
	uint16_t next = 1, sm = 0;

	for (unsigned hosts = 0; hosts < 2; hosts++) {
		if (hosts)
			next = (uint16_t)((next + (1u << lmc) - 1) >> lmc << lmc);
		for (uint32_t i = 0; i < f->n_ports; i++) {
			if (!is_end_port(f, i) || (node_of(f, i)->type != SIM_SWITCH) != hosts)
				continue;
			f->ports[i].lid = next;
			f->ports[i].lmc = hosts ? (uint8_t)lmc : 0;
			next = (uint16_t)(next + (1u << f->ports[i].lmc));
			sm = f->ports[i].lid;
		}
	}
	ck_assert_uint_lt(next, LFT_CAP);
	for (uint32_t i = 0; i < f->n_ports; i++)
		f->ports[i].sm_lid = sm;
}

static void put_vl(uint8_t *table, unsigned sl, uint8_t vl)
{
	uint8_t *b = &table[sl / 2];

	*b = sl % 2 ? (uint8_t)((*b & 0xf0) | vl) : (uint8_t)((*b & 0x0f) | vl << 4);
}

static void fill_port(struct sim_fabric *f, struct sim_port *p, unsigned vls)
{
	bool sw = is_switch(&f->nodes[p->node]);

	p->state = link_is_up(f, f->nodes[p->node].port0 + p->num) || p->num == 0 ?
		   SIM_PORT_ACTIVE : SIM_PORT_DOWN;
	p->op_vls = (uint8_t)vls;
	p->mtu = 4;
	p->info[31] = SIM_WIDTH_4X;
	p->info[35] = SIM_SPEED_QDR << 4 | 7;
	p->info[39] = p->info[40] = 16;
	for (unsigned vl = 0; vl < vls; vl++) {
		p->arb_low[2 * vl] = (uint8_t)vl;
		p->arb_low[2 * vl + 1] = 10;
	}
	if (sw && p->num != 0)
		return;
	p->n_pkeys = 2;
	p->pkeys = xcalloc(2, sizeof(*p->pkeys));
	p->pkeys[1] = 0x7fff;
	if (sw)
		return;
	p->sl2vl = xcalloc(8, 1);
	for (unsigned sl = 0; sl < 16; sl++)
		put_vl(p->sl2vl, sl, (uint8_t)(sl % vls));
}

static void fill_switch(struct sim_fabric *f, uint32_t sw, unsigned vls)
{
	struct sim_switch *s = &f->switches[sw];
	unsigned n = f->nodes[s->node].nports + 1u;

	s->lft_top = LFT_CAP - 1;
	s->lft = xmalloc(LFT_CAP);
	memset(s->lft, SIM_LFT_DROP, LFT_CAP);
	s->sl2vl = xcalloc(n * n, 8);
	for (unsigned i = 0; i < n * n * 16; i++)
		put_vl(s->sl2vl + i / 16 * 8, i % 16, (uint8_t)(i % 16 % vls));
}

/*
 * way[] by switch: its port towards `from`, SIM_NONE if there is none.  tree, if
 * given, is such a way, too: over its links only.
 */
static void search(const struct sim_fabric *f, uint32_t from, const uint32_t *tree,
		   uint32_t *way)
{
	uint32_t *queue = xcalloc(f->n_switches, sizeof(*queue)), n = 0;

	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		way[sw] = SIM_NONE;
	queue[n++] = from;
	for (uint32_t i = 0; i < n; i++) {
		const struct sim_node *node = &f->nodes[f->switches[queue[i]].node];

		for (unsigned num = 1; num <= node->nports; num++) {
			uint32_t port = node->port0 + num, peer = f->ports[port].peer;
			uint32_t sw = peer == SIM_NONE ? SIM_NONE : node_of(f, peer)->sw;

			if (sw == SIM_NONE || sw == from || way[sw] != SIM_NONE ||
			    (tree && tree[sw] != peer && tree[queue[i]] != port))
				continue;
			way[sw] = peer;
			queue[n++] = sw;
		}
	}
	free(queue);
}

static void route(struct sim_fabric *f, enum routes how)
{
	uint32_t *tree = xcalloc(f->n_switches, sizeof(*tree));
	uint32_t *way = xcalloc(f->n_switches, sizeof(*way));

	if (f->n_switches)
		search(f, 0, NULL, tree);
	for (uint32_t i = 0; i < f->n_ports; i++) {
		const struct sim_port *p = &f->ports[i];
		uint32_t entry = p->num == 0 ? i : p->peer;

		if (!is_end_port(f, i) || !is_switch(node_of(f, entry)))
			continue;
		search(f, node_of(f, entry)->sw, how == ALONG_TREE ? tree : NULL, way);
		way[node_of(f, entry)->sw] = entry;
		for (uint32_t sw = 0; sw < f->n_switches; sw++)
			for (unsigned k = 0; k < 1u << p->lmc && way[sw] != SIM_NONE; k++)
				f->switches[sw].lft[p->lid + k] = f->ports[way[sw]].num;
	}
	free(tree);
	free(way);
}

void bring_up(struct sim_fabric *f, unsigned vls, unsigned lmc, enum routes way)
{
	struct sim_profile *profile = xcalloc(1, sizeof(*profile));

	profile->name = xstrdup("small");
	profile->lft_cap = LFT_CAP;
	profile->mft_cap = MFT_CAP;
	*vec_push(&f->profiles) = profile;
	give_lids(f, lmc);
	for (uint32_t i = 0; i < f->n_nodes; i++)
		f->nodes[i].profile = profile;
	for (uint32_t i = 0; i < f->n_ports; i++)
		if (is_switch(node_of(f, i)) || f->ports[i].num != 0)
			fill_port(f, &f->ports[i], vls);
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		fill_switch(f, sw, vls);
	route(f, way);
}

/* --- by name --- */

uint32_t port_named(const struct sim_fabric *f, const char *name)
{
	char text[SIM_NAME_MAX];

	for (uint32_t i = 0; i < f->n_ports; i++)
		if (!strcmp(sim_port_name(f, i, text, sizeof(text)), name))
			return i;
	ck_abort_msg("no port %s", name);
}

uint16_t lid_of(const struct sim_fabric *f, const char *name)
{
	return f->ports[port_named(f, name)].lid;
}

void set_lft(struct sim_fabric *f, const char *sw, uint16_t lid, uint8_t num)
{
	f->switches[node_of(f, port_named(f, sw))->sw].lft[lid] = num;
}

void set_sl2vl(struct sim_fabric *f, uint32_t sw, unsigned in, unsigned out, unsigned sl,
	       uint8_t vl)
{
	const struct sim_switch *s = &f->switches[sw];

	put_vl(s->sl2vl + (in * (f->nodes[s->node].nports + 1u) + out) * 8, sl, vl);
}

void set_host_sl2vl(struct sim_fabric *f, const char *host, unsigned sl, uint8_t vl)
{
	put_vl(f->ports[port_named(f, host)].sl2vl, sl, vl);
}

void set_mft(struct sim_fabric *f, const char *port, uint32_t mlid, bool on)
{
	const struct sim_port *p = &f->ports[port_named(f, port)];
	struct sim_switch *s = &f->switches[f->nodes[p->node].sw];

	if (!s->mft)
		s->mft = xcalloc(MFT_CAP, sizeof(*s->mft));
	uint64_t *word = &s->mft[mlid - SIM_LID_MCAST][p->num / 64];

	if (on)
		*word |= 1ULL << p->num % 64;
	else
		*word &= ~(1ULL << p->num % 64);
}
