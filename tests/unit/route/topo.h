/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fabrics for the tests and benchmarks of route/, made by the builder of fabric/. */
#ifndef QOSD_TESTS_ROUTE_TOPO_H
#define QOSD_TESTS_ROUTE_TOPO_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>

#include "base/alloc.h"
#include "route/route.h"

/* A fabric with LIDs: everything that an engine needs. */
struct topo {
	struct fabric *f;
	struct route_request r;
	uint16_t *lid;
	uint8_t *lmc;
};

static inline uint32_t topo_node(struct fabric *f, enum ib_node_type type, uint64_t guid,
				 unsigned nports)
{
	uint8_t info[40] = { 0 }, port_info[64] = { 0 }, switch_info[20] = { 0 };
	char desc[32];
	bool is_switch = type == IB_NODE_SWITCH_T;

	mad_set_field(info, 0, IB_NODE_TYPE_F, type);
	mad_set_field(info, 0, IB_NODE_NPORTS_F, nports);
	mad_set_field64(info, 0, IB_NODE_GUID_F, guid);
	mad_set_field(switch_info, 0, IB_SW_MCAST_FDB_CAP_F, 1024);
	snprintf(desc, sizeof(desc), "%s-%llx", is_switch ? "S" : "H", (unsigned long long)guid);
	uint32_t node = fabric_add_node(f, info, desc, is_switch ? switch_info : NULL, NULL, 0);

	for (unsigned num = is_switch ? 0 : 1; num <= nports; num++)
		fabric_set_port(f, node, num, guid + (is_switch ? 0 : num), port_info);
	return node;
}

static inline uint32_t topo_switch(struct fabric *f, uint64_t guid, unsigned nports)
{
	return topo_node(f, IB_NODE_SWITCH_T, guid, nports);
}

/* A fabric whose node 0 is the SM's host: it comes first so that no node moves at the end. */
static inline struct fabric *topo_begin(void)
{
	struct fabric *f = fabric_new();

	topo_node(f, IB_NODE_CA_T, 0x10000000000ULL, 1);
	return f;
}

/* A host on a port of a switch: first the SM's. */
static inline void topo_host(struct fabric *f, uint32_t sw, unsigned num)
{
	uint64_t guid = 0x100000000ULL + f->nodes[sw].guid * 0x1000 + num * 2;

	if (fabric_port(f, 0, 1)->peer == FABRIC_NONE)
		fabric_link(f, 0, 1, sw, num);
	else
		fabric_link(f, topo_node(f, IB_NODE_CA_T, guid, 1), 1, sw, num);
}

/* Ends the building: LIDs with the given LMC for hosts, single ones for switches. */
static inline void topo_finish(struct topo *t, struct fabric *f, unsigned lmc)
{
	struct buf err = { 0 };
	uint32_t next = 1;

	fabric_finish(f, 0, node_is_switch(&f->nodes[0]) ? 0 : 1, &err);
	buf_free(&err);
	t->f = f;
	t->lid = xcalloc(f->n_ports, sizeof(*t->lid));
	t->lmc = xcalloc(f->n_ports, 1);
	for (uint32_t p = 0; p < f->n_ports; p++) {
		if (!port_is_end(f, p))
			continue;
		unsigned own = node_is_switch(port_node(f, p)) ? 0 : lmc;

		next = (next + (1u << own) - 1) >> own << own;
		t->lid[p] = (uint16_t)next;
		t->lmc[p] = (uint8_t)own;
		next += 1u << own;
	}
	t->r = (struct route_request){ f, t->lid, t->lmc, (uint16_t)(next - 1), NULL };
}

static inline void topo_free(struct topo *t)
{
	fabric_free(t->f);
	free(t->lid);
	free(t->lmc);
}

static inline struct lfts *topo_route(const struct topo *t, const struct route_engine *e)
{
	struct lfts *l = lfts_new(t->f->n_switches, t->r.lid_top);
	struct buf why = { 0 };

	if (!e->run(&t->r, l, &why)) {
		lfts_free(l);
		l = NULL;
	}
	buf_free(&why);
	return l;
}

/*
 * A fat tree.  Leaves have hosts on their ports 1 .. hosts and then `width`
 * links to each of `aggs` switches of the pod, in turn; these have `spines`
 * links up to the spines of their plane if there are several pods.
 */
struct fat {
	unsigned pods, leaves, hosts, aggs, width, spines;
	uint64_t scatter;	/* not 0: GUIDs and so the order of switches by chance, from this seed */
	uint32_t *leaf, *agg, *spine;	/* nodes: [pod * leaves + i], [pod * aggs + i], [agg * spines + i] */
};


static inline uint64_t fat_mix(const struct fat *p, uint32_t level, uint32_t i)
{
	uint64_t n = (uint64_t)level << 16 | i;

	return p->scatter ? (hash64(n + p->scatter) & 0xffff) << 20 | n : n;
}

static inline struct fabric *fat_build(struct fat *p)
{
	struct fabric *f = topo_begin();
	unsigned up = p->aggs * p->width, n_leaf = p->pods * p->leaves, n_agg = p->pods * p->aggs;

	p->leaf = xcalloc(n_leaf, sizeof(*p->leaf));
	p->agg = xcalloc(n_agg, sizeof(*p->agg));
	p->spine = xcalloc(p->aggs * p->spines + 1, sizeof(*p->spine));
	for (unsigned i = 0; i < n_leaf; i++)
		p->leaf[i] = topo_switch(f, fat_mix(p, 1, i), p->hosts + up);
	for (unsigned i = 0; i < n_agg; i++)
		p->agg[i] = topo_switch(f, fat_mix(p, 2, i), p->leaves * p->width + p->spines);
	for (unsigned i = 0; i < p->aggs * p->spines; i++)
		p->spine[i] = topo_switch(f, fat_mix(p, 3, i), p->pods);
	for (unsigned i = 0; i < n_leaf; i++)
		for (unsigned j = 0; j < up; j++)
			fabric_link(f, p->leaf[i], p->hosts + 1 + j,
				    p->agg[i / p->leaves * p->aggs + j % p->aggs],
				    1 + i % p->leaves * p->width + j / p->aggs);
	for (unsigned i = 0; i < n_agg; i++)
		for (unsigned j = 0; j < p->spines; j++)
			fabric_link(f, p->agg[i], p->leaves * p->width + 1 + j,
				    p->spine[i % p->aggs * p->spines + j], 1 + i / p->aggs);
	return f;
}

static inline void fat_hosts(const struct fat *p, struct fabric *f)
{
	for (unsigned i = 0; i < p->pods * p->leaves; i++)
		for (unsigned j = 0; j < p->hosts; j++)
			topo_host(f, p->leaf[i], 1 + j);
}

static inline void fat_free(struct fat *p)
{
	free(p->leaf);
	free(p->agg);
	free(p->spine);
}

/* The whole tree with the SM on its first host. */
static inline void fat_topo(struct topo *t, struct fat *p, unsigned lmc)
{
	struct fabric *f = fat_build(p);

	fat_hosts(p, f);
	topo_finish(t, f, lmc);
}

#endif
