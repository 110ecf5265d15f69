/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes dragonflies of switches with a host each and random GUIDs. */
#ifndef QOSD_TESTS_ROUTE_DRAGONFLIES_H
#define QOSD_TESTS_ROUTE_DRAGONFLIES_H

#include "routing/graph.h"
#include "topo.h"

/* Groups of a switches, each with h cables to other groups, as qosd-sim makes them. */
struct dragonfly_plan {
	unsigned groups, a, h;
	const char *text;
};

struct made_dragonfly {
	struct topo t;
	struct graph *g;
	unsigned *group;	/* [vertex] */
};

static inline uint64_t mixed(uint64_t seed, unsigned i)
{
	return (hash64(seed * 1000003 + i) & 0xffffff) << 16 | i;
}

/* gone: a switch that is missing, or a number beyond all; cut: a link that is. */
static inline void make_dragonfly(struct made_dragonfly *m, const struct dragonfly_plan *p, uint64_t seed, unsigned gone, unsigned cut)
{
	unsigned n = p->groups * p->a, others = p->groups - 1, n_links = 0;
	unsigned links = p->a * p->h / others * others;
	struct fabric *f = topo_begin();
	unsigned *next = xcalloc(n, sizeof(*next));
	uint32_t *sw = xcalloc(n, sizeof(*sw));

#define LINK(x, y) do { \
		if ((x) != gone && (y) != gone && n_links++ != cut) \
			fabric_link(f, sw[x], ++next[x], sw[y], ++next[y]); \
	} while (0)
	for (unsigned i = 0; i < n; i++)
		if (i != gone)
			sw[i] = topo_switch(f, mixed(seed, i), 60);
	for (unsigned g = 0; g < p->groups; g++) {
		for (unsigned i = 0; i < p->a; i++)
			for (unsigned k = i + 1; k < p->a; k++)
				LINK(g * p->a + i, g * p->a + k);
		for (unsigned k = 0; k < links; k++) {
			unsigned peer = (g + 1 + k % others) % p->groups;
			unsigned back = k / others * others + others - 1 - k % others;

			if (g < peer)
				LINK(g * p->a + k / p->h, peer * p->a + back / p->h);
		}
	}
#undef LINK
	for (unsigned i = 0; i < n; i++)
		if (i != gone)
			topo_host(f, sw[i], 60);
	topo_finish(&m->t, f, 0);
	m->g = graph_new(f, graph_by_guid(f));
	m->group = xcalloc(n, sizeof(*m->group));
	for (uint32_t v = 0; v < m->g->n; v++)
		m->group[v] = (f->nodes[f->switches[m->g->sw[v]].node].guid & 0xffff) / p->a;
	free(next);
	free(sw);
}

static inline void made_dragonfly_free(struct made_dragonfly *m)
{
	graph_free(m->g);
	topo_free(&m->t);
	free(m->group);
}

#endif
