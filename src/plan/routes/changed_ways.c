/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See changed_ways.h. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "plan/routes/changed_ways.h"

#define PORTS 256

struct finder {
	const struct plan *now, *before;
	const struct hops *hops, *hops_before;
	uint32_t *node_before;		/* [node]: index in before->f, or FABRIC_NONE */
	struct route_changes *c;
};

static uint32_t port_before(const struct finder *x, uint32_t port)
{
	const struct fabric_port *p = &x->now->f->ports[port];
	uint32_t node = x->node_before[p->node];

	return node == FABRIC_NONE ? FABRIC_NONE : x->before->f->nodes[node].port0 + p->num;
}

/* The port of `now` is the port of `before`; FABRIC_NONE equals only itself. */
static bool same_port(const struct finder *x, uint32_t before, uint32_t now)
{
	if (before == FABRIC_NONE || now == FABRIC_NONE)
		return before == now;
	return port_before(x, now) == before;
}

/* The next switch need not be compared: it is the peer's. */
static bool same_hop(const struct finder *x, const struct hop *a, const struct hop *b)
{
	return a->in == b->in && a->mtu == b->mtu && a->rate == b->rate &&
	       a->one_map == b->one_map && a->out_mask == b->out_mask &&
	       same_port(x, a->peer, b->peer);
}

/* The SL2VL tables towards a port are unchanged for everything that comes from switches. */
static bool same_maps(const struct finder *x, uint32_t old, uint32_t sw, unsigned out)
{
	const struct switch_maps *a = &x->before->tables->sw[old], *b = &x->now->tables->sw[sw];
	const struct hop *was = &x->hops_before->v[x->hops_before->first[old]];
	const struct hop *now = &x->hops->v[x->hops->first[sw]];
	unsigned n = x->hops->nports[sw] + 1u;

	if (!a->ids || !b->ids)
		return !a->ids && !b->ids && a->uniform == b->uniform;
	/* if another switch is at the in port now, that switch's own port differs */
	for (unsigned in = 0; in < n; in++)
		if (a->ids[in * n + out] != b->ids[in * n + out] &&
		    now[in].next != FABRIC_NONE && same_port(x, was[in].peer, now[in].peer))
			return false;
	return true;
}

/* Packets that leave by a port are mapped to VLs as before. */
static bool same_vls(const struct finder *x, uint32_t old, uint32_t sw, unsigned out)
{
	const struct qos_tables *s = x->before->tables, *t = x->now->tables;
	uint32_t was = x->before->f->nodes[x->before->f->switches[old].node].port0 + out;
	uint32_t now = x->now->f->nodes[x->now->f->switches[sw].node].port0 + out;

	return !t->managed || (s->op_vls[was] == t->op_vls[now] && same_maps(x, old, sw, out));
}

/* Fills differs; false: no port differs. */
static bool find_ports(const struct finder *x, uint32_t old, uint32_t sw, bool differs[PORTS])
{
	const struct hop *a = &x->hops_before->v[x->hops_before->first[old]];
	const struct hop *b = &x->hops->v[x->hops->first[sw]];
	bool any = false;

	memset(differs, 0, PORTS * sizeof(*differs));
	for (unsigned num = 0; num <= x->hops->nports[sw]; num++) {
		differs[num] = !same_hop(x, &a[num], &b[num]) || !same_vls(x, old, sw, num);
		any |= differs[num];
	}
	return any;
}

static void mark(struct route_changes *c, uint32_t lid)
{
	c->lids[lid / 64] |= 1ULL << lid % 64;
}

static void mark_lids_of(struct finder *x, uint32_t old, uint32_t sw)
{
	const struct lfts *l = x->now->lfts, *m = x->before->lfts;
	const uint8_t *now = l->entries + (size_t)sw * l->stride;
	const uint8_t *before = m->entries + (size_t)old * m->stride;
	bool differs[PORTS], any = find_ports(x, old, sw, differs);

	for (uint32_t first = 0; first <= x->c->top; first += LFT_BLOCK) {
		uint32_t end = first + LFT_BLOCK <= x->c->top ? first + LFT_BLOCK : x->c->top + 1u;

		/* rows are whole blocks */
		if (!any && !memcmp(before + first, now + first, LFT_BLOCK))
			continue;
		for (uint32_t lid = first; lid < end; lid++)
			if (before[lid] != now[lid] || differs[now[lid]])
				mark(x->c, lid);
	}
}

static bool find_switches(struct finder *x)
{
	const struct fabric *f = x->now->f, *g = x->before->f;
	struct route_changes *c = x->c;

	for (uint32_t sw = 0; sw < f->n_switches; sw++) {
		uint32_t node = x->node_before[f->switches[sw].node];

		c->sw_before[sw] = node == FABRIC_NONE ? FABRIC_NONE : g->nodes[node].sw;
		if (c->sw_before[sw] == FABRIC_NONE)
			c->new_switches[c->n_new++] = sw;
	}
	return c->n_new < f->n_switches / 2;
}

static bool tables_alike(const struct qos_tables *a, const struct qos_tables *b)
{
	return a->managed == b->managed && !a->fixed && !b->fixed && a->n_maps == b->n_maps &&
	       (!a->n_maps || !memcmp(a->maps, b->maps, a->n_maps * sizeof(*a->maps)));
}

struct route_changes *changes_find(const struct plan *now, const struct hops *hops,
				   const struct plan *before)
{
	struct finder x = { .now = now, .before = before, .hops = hops };
	struct route_changes *c;
	const struct fabric *f;

	if (!before || !before->paths || !now->f->n_switches || !before->f->n_switches ||
	    now->lfts->top != before->lfts->top || now->lid_top != before->lid_top ||
	    now->lid_top > now->lfts->top || !tables_alike(before->tables, now->tables))
		return NULL;
	x.hops_before = before->paths->hops;
	x.c = c = xcalloc(1, sizeof(*c));
	c->n_switches = now->f->n_switches;
	c->top = now->lid_top;
	c->sw_before = xmalloc(c->n_switches * sizeof(*c->sw_before));
	c->new_switches = xmalloc(c->n_switches * sizeof(*c->new_switches));
	c->lids = xcalloc(c->top / 64 + 1u, sizeof(*c->lids));
	f = x.now->f;
	x.node_before = xmalloc(f->n_nodes * sizeof(*x.node_before));
	for (uint32_t i = 0; i < f->n_nodes; i++)
		x.node_before[i] = fabric_same_node(x.before->f, &f->nodes[i]);
	if (!find_switches(&x)) {
		free(x.node_before);
		route_changes_free(c);
		return NULL;
	}
	for (uint32_t sw = 0; sw < c->n_switches; sw++)
		if (c->sw_before[sw] != FABRIC_NONE)
			mark_lids_of(&x, c->sw_before[sw], sw);
	for (uint32_t lid = 0; lid <= c->top; lid++)
		if (!same_port(&x, before->port_by_lid[lid], now->port_by_lid[lid]))
			mark(c, lid);
	free(x.node_before);
	return c;
}
