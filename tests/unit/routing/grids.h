/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes grids of switches of given lengths, with random GUIDs, ports and faults. */
#ifndef QOSD_TESTS_ROUTE_GRIDS_H
#define QOSD_TESTS_ROUTE_GRIDS_H

#include "routing/grid/grid.h"
#include "topo.h"

/* A grid to be made.  kind of a dimension: 'p' path, 'r' ring, 'c' complete. */
struct grid_plan {
	unsigned n_dims, length[GRID_DIMS_MAX];
	char kind[GRID_DIMS_MAX + 1];
	unsigned cables;	/* between two switches */
	unsigned every, hosts;	/* one of so many switches has so many hosts */
	unsigned links_gone, switches_gone;
	uint64_t seed;		/* of faults, GUIDs and the order of cables */
};

struct made_grid {
	struct topo t;
	struct graph *g;
};

/* Parses a plan like "6r6r4p". */
static inline struct grid_plan grid_plan_of(const char *s)
{
	struct grid_plan p = { .cables = 1, .every = 1, .hosts = 1 };

	while (*s) {
		char *end;

		p.length[p.n_dims] = (unsigned)strtoul(s, &end, 10);
		p.kind[p.n_dims++] = *end;
		s = end + 1;
	}
	return p;
}

static inline unsigned places(const struct grid_plan *p)
{
	unsigned n = 1;

	for (unsigned d = 0; d < p->n_dims; d++)
		n *= p->length[d];
	return n;
}

static inline bool beside(const struct grid_plan *p, unsigned d, unsigned a, unsigned b)
{
	unsigned far = a > b ? a - b : b - a;

	if (p->kind[d] == 'c')
		return far > 0;
	return far == 1 || (p->kind[d] == 'r' && far > 0 && far == p->length[d] - 1);
}

struct link {
	unsigned a, b;
};

static inline unsigned list_links(const struct grid_plan *p, const bool *gone, struct link **links)
{
	unsigned n = places(p), n_links = 0;
	VEC(struct link) list = { 0 };

	for (unsigned i = 0; i < n; i++) {
		unsigned stride = 1;

		for (unsigned d = 0; d < p->n_dims; stride *= p->length[d++]) {
			unsigned at = i / stride % p->length[d];

			for (unsigned x = at + 1; x < p->length[d]; x++) {
				unsigned j = i + (x - at) * stride;

				if (beside(p, d, at, x) && !gone[i] && !gone[j])
					*vec_push(&list) = (struct link){ i, j };
			}
		}
	}
	n_links = (unsigned)list.n;
	*links = list.v;
	return n_links;
}

/* Shuffles numbers 0 .. n - 1. */
static inline unsigned *shuffled(unsigned n, uint64_t seed)
{
	unsigned *x = xmalloc(n * sizeof(*x));

	for (unsigned i = 0; i < n; i++)
		x[i] = i;
	for (unsigned i = n; seed && i > 1; i--) {
		unsigned k = (unsigned)(hash64(seed * 1000003 + i) % i), y = x[k];

		x[k] = x[i - 1];
		x[i - 1] = y;
	}
	return x;
}

static inline void make_grid(struct made_grid *m, const struct grid_plan *p)
{
	unsigned n = places(p), n_links, *order = shuffled(n, p->seed), *cables;
	uint32_t *sw = xcalloc(n, sizeof(*sw));
	unsigned *next = xcalloc(n, sizeof(*next));
	bool *gone = xcalloc(n, sizeof(*gone));
	struct fabric *f = topo_begin();
	struct link *links;

	for (unsigned i = 0; i < p->switches_gone; i++)
		gone[order[i]] = true;
	n_links = list_links(p, gone, &links);
	cables = shuffled(n_links, p->seed + 1);
	for (unsigned i = 0; i < n; i++)
		if (!gone[order[i]])
			sw[order[i]] = topo_switch(f, 1 + i, 250);
	for (unsigned i = p->links_gone; i < n_links; i++)
		for (unsigned k = 0; k < p->cables; k++) {
			const struct link *l = &links[cables[i]];

			fabric_link(f, sw[l->a], ++next[l->a], sw[l->b], ++next[l->b]);
		}
	for (unsigned i = p->switches_gone; i < n; i++)
		for (unsigned j = 0; j < p->hosts && (i - p->switches_gone) % p->every == 0; j++)
			topo_host(f, sw[order[i]], ++next[order[i]]);
	topo_finish(&m->t, f, 0);
	m->g = graph_new(f, graph_by_guid(f));
	free(links);
	free(cables);
	free(order);
	free(gone);
	free(next);
	free(sw);
}

static inline void made_grid_free(struct made_grid *m)
{
	graph_free(m->g);
	topo_free(&m->t);
}

#endif
