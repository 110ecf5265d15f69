/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes fabrics for the tests and benchmarks of routing/, with the builder of fabric/. */
#ifndef QOSD_TESTS_ROUTE_TOPO_H
#define QOSD_TESTS_ROUTE_TOPO_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>

#include "lib/base/alloc.h"
#include "routing/layers.h"
#include "routing/route.h"
#include "unit/load_fabric.h"

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
	mad_set_field64(info, 0, IB_NODE_SYSTEM_GUID_F, guid);
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

/* Puts a host on a port of a switch; the first one is the SM's. */
static inline void topo_host(struct fabric *f, uint32_t sw, unsigned num)
{
	uint64_t guid = 0x100000000ULL + f->nodes[sw].guid * 0x1000 + num * 2;

	if (fabric_port(f, 0, 1)->peer == FABRIC_NONE)
		fabric_link(f, 0, 1, sw, num);
	else
		fabric_link(f, topo_node(f, IB_NODE_CA_T, guid, 1), 1, sw, num);
}

/* An aggregation node behind the last port of a switch, which has to be free. */
static inline void topo_aggregation(struct fabric *f, uint32_t sw)
{
	uint64_t guid = f->nodes[sw].guid | 1ULL << 60;
	uint8_t info[40] = { 0 }, port_info[64] = { 0 };

	mad_set_field(info, 0, IB_NODE_TYPE_F, IB_NODE_CA_T);
	mad_set_field(info, 0, IB_NODE_NPORTS_F, 1);
	mad_set_field64(info, 0, IB_NODE_GUID_F, guid);
	mad_set_field64(info, 0, IB_NODE_SYSTEM_GUID_F, f->nodes[sw].sysimg_guid);
	mad_set_field(info, 0, IB_NODE_VENDORID_F, IB_VENDOR_MELLANOX);
	mad_set_field(info, 0, IB_NODE_DEVID_F, IB_DEVICE_AGGREGATION);
	uint32_t node = fabric_add_node(f, info, "an", NULL, NULL, 0);

	fabric_set_port(f, node, 1, guid, port_info);
	fabric_link(f, node, 1, sw, f->nodes[sw].nports);
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
	t->r = (struct route_request){ .f = f, .lid = t->lid, .lmc = t->lmc,
				       .lid_top = (uint16_t)(next - 1) };
}

static inline void topo_free(struct topo *t)
{
	fabric_free(t->f);
	free(t->lid);
	free(t->lmc);
}

/* The engines that route any fabric; route_grid has tests of its own. */
static const struct route_engine *const any_engines[] = { &route_updn, &route_layered, &route_minhop, NULL };

static inline struct lfts *topo_route(const struct topo *t, const struct route_engine *e)
{
	struct lfts *l = lfts_new(t->f->n_switches, t->r.lid_top);
	struct route_layers *layers = NULL;
	struct buf why = { 0 };

	if (!e->run(&t->r, l, &layers, &why)) {
		lfts_free(l);
		l = NULL;
	}
	route_layers_free(layers);
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
	bool aggregation;	/* an aggregation node in each switch, behind one port more */
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
	unsigned more = p->aggregation, up = p->aggs * p->width, n_leaf = p->pods * p->leaves, n_agg = p->pods * p->aggs;

	p->leaf = xcalloc(n_leaf, sizeof(*p->leaf));
	p->agg = xcalloc(n_agg, sizeof(*p->agg));
	p->spine = xcalloc(p->aggs * p->spines + 1, sizeof(*p->spine));
	for (unsigned i = 0; i < n_leaf; i++)
		p->leaf[i] = topo_switch(f, fat_mix(p, 1, i), p->hosts + up + more);
	for (unsigned i = 0; i < n_agg; i++)
		p->agg[i] = topo_switch(f, fat_mix(p, 2, i),
					p->leaves * p->width + p->spines + more);
	for (unsigned i = 0; i < p->aggs * p->spines; i++)
		p->spine[i] = topo_switch(f, fat_mix(p, 3, i), p->pods + more);
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
	for (uint32_t i = 0; p->aggregation && i < f->n_switches; i++)
		topo_aggregation(f, f->switches[i].node);
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

/* Takes n links between switches out of a tree, never the last one up of a switch. */
static inline void remove_links(struct fabric *f, unsigned n, uint64_t seed)
{
	for (unsigned tries = 0; n && tries < 10000; tries++) {
		uint32_t p = (uint32_t)(hash64(seed * 7919 + tries) % f->n_ports);
		uint32_t peer = f->ports[p].peer;
		unsigned left[2] = { 0 };

		if (peer == FABRIC_NONE || !node_is_switch(port_node(f, p)) ||
		    !node_is_switch(port_node(f, peer)))
			continue;
		for (unsigned i = 1; i <= port_node(f, p)->nports; i++)
			left[0] += fabric_port(f, f->ports[p].node, i)->peer != FABRIC_NONE;
		for (unsigned i = 1; i <= port_node(f, peer)->nports; i++)
			left[1] += fabric_port(f, f->ports[peer].node, i)->peer != FABRIC_NONE;
		if (left[0] < 3 || left[1] < 3)
			continue;
		f->ports[p].peer = FABRIC_NONE;
		f->ports[peer].peer = FABRIC_NONE;
		n--;
	}
}

/* Two hosts on each switch of a grid that is closed in each direction; d[2] may be 1. */
static inline void torus_topo(struct topo *t, const unsigned d[3])
{
	struct fabric *f = topo_begin();
	unsigned n = d[0] * d[1] * d[2];
	uint32_t sw[64];

	for (unsigned i = 0; i < n; i++)
		sw[i] = topo_switch(f, 1 + i, 8);
	for (unsigned i = 0; i < n; i++) {
		unsigned x = i % d[0], y = i / d[0] % d[1], z = i / d[0] / d[1];

		fabric_link(f, sw[i], 1, sw[i - x + (x + 1) % d[0]], 2);
		fabric_link(f, sw[i], 3, sw[i + ((y + 1) % d[1] - y) * d[0]], 4);
		if (d[2] > 1)
			fabric_link(f, sw[i], 5, sw[i + ((z + 1) % d[2] - z) * d[0] * d[1]], 6);
		topo_host(f, sw[i], 7);
		topo_host(f, sw[i], 8);
	}
	topo_finish(t, f, 0);
}

/* Connected, some switches without hosts, some with many, links doubled at random. */
static inline void random_topo(struct topo *t, uint64_t seed)
{
	struct fabric *f = topo_begin();
	uint64_t x = seed * 0x9e3779b97f4a7c15ULL;
	unsigned n = 2 + (unsigned)(hash64(x) % 23), extra = (unsigned)(hash64(x + 1) % (2 * n));
	uint32_t sw[32];
	bool any = false;
	unsigned next[32];

#define RANDOM(m) ((unsigned)(hash64(x += 0x9e3779b97f4a7c15ULL) % (m)))
	for (unsigned i = 0; i < n; i++) {
		sw[i] = topo_switch(f, hash64(seed * 64 + i + 1) >> 32 | 1ULL << 33, 60);
		next[i] = 1;
	}
	for (unsigned i = 1; i < n + extra; i++) {
		unsigned a = i < n ? i : RANDOM(n), b = i < n ? RANDOM(i) : RANDOM(n);
		unsigned width = RANDOM(4) ? 1 : 3;

		for (unsigned k = 0; a != b && k < width && next[a] < 45 && next[b] < 45; k++)
			fabric_link(f, sw[a], next[a]++, sw[b], next[b]++);
	}
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = RANDOM(3) ? RANDOM(6) : 0; k > 0 || !any; k -= k > 0) {
			topo_host(f, sw[i], next[i]++);
			any = true;
		}
#undef RANDOM
	topo_finish(t, f, (unsigned)(seed % 4));
}

#define RECORDED 2

/* Dump i of a real fabric from $QOSD_FABRICS; false, and said, if it is not there. */
static inline bool recorded_topo(struct topo *t, int i)
{
	static const char *const names[RECORDED] = { "psmn-x5.topo", "two-switch-sdr.topo" };
	const char *dir = getenv("QOSD_FABRICS"), *name = names[i];
	struct buf err = { 0 };
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir ? dir : "", name);
	FILE *file = dir ? fopen(path, "r") : NULL;

	if (!file) {
		printf("skipped: %s: no such fabric (QOSD_FABRICS is %s)\n", name,
		       dir ? dir : "not set");
		return false;
	}
	fclose(file);
	struct fabric *f = fabric_load(path, 0, false, &err);

	if (!f) {
		printf("%s", err.s);
		abort();
	}
	t->f = f;
	t->lid = xcalloc(f->n_ports, sizeof(*t->lid));
	t->lmc = xcalloc(f->n_ports, 1);
	t->r = (struct route_request){ .f = f, .lid = t->lid, .lmc = t->lmc };
	for (uint32_t p = 0; p < f->n_ports; p++)
		if (port_is_end(f, p) && fabric_switch_of(f, p) != FABRIC_NONE)
			t->lid[p] = ++t->r.lid_top;
	buf_free(&err);
	return true;
}

#endif
