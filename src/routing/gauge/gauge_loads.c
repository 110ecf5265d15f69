/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts the routes on each link, those of end ports included; see gauge_loads(). */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "routing/gauge/gauge_net.h"

struct loads {
	struct gauge_net n;
	struct gauge_tree tree;
	uint32_t *sources, n_sources;	/* switches with end ports */
	uint64_t *flow, *load;		/* of gauge_tree_load() */
	uint32_t *sent;			/* [switch]: LIDs that each end port on it reaches */
	uint32_t *routes;		/* the result, [port slot] */
};

static void loads_init(struct loads *x, const struct route_request *r, const struct lfts *l, uint32_t *routes)
{
	*x = (struct loads){ .routes = routes };
	gauge_net_init(&x->n, r, l);
	gauge_tree_init(&x->tree, &x->n);
	x->sources = xcalloc(x->n.n + 1u, sizeof(*x->sources));
	x->flow = xcalloc(x->n.n + 1u, sizeof(*x->flow));
	x->sent = xcalloc(x->n.n + 1u, sizeof(*x->sent));
	x->load = xcalloc(x->n.first[x->n.n] + 1u, sizeof(*x->load));
	for (uint32_t sw = 0; sw < x->n.n; sw++)
		if (x->n.at[sw])
			x->sources[x->n_sources++] = sw;
}

static void loads_free(struct loads *x)
{
	gauge_tree_free(&x->tree);
	gauge_net_free(&x->n);
	free(x->sources);
	free(x->flow);
	free(x->sent);
	free(x->load);
}

/* Counts the routes to one end port; the switch's port to it carries all of them. */
static void count_to(struct loads *x, const struct gauge_end *to)
{
	uint32_t received = 0;

	gauge_tree_walk(&x->tree, &x->n, to->sw, to->num, to->lid, x->sources, x->n_sources);
	for (uint32_t i = 0; i < x->n_sources; i++) {
		uint32_t sw = x->sources[i];

		if (!x->tree.hops[sw])
			continue;
		x->sent[sw]++;
		received += x->n.at[sw] - (sw == to->sw);
	}
	x->routes[x->n.f->ports[to->port].peer] = received;
	/* it sends nothing to itself */
	if (x->tree.hops[to->sw])
		x->routes[to->port]--;
	gauge_tree_load(&x->tree, &x->n, x->flow, x->load);
}

void gauge_loads(const struct route_request *r, const struct lfts *l, uint32_t *routes)
{
	struct loads x;

	loads_init(&x, r, l, routes);
	for (uint32_t i = 0; i < x.n.n_ends; i++)
		count_to(&x, &x.n.ends[i]);
	for (uint32_t i = 0; i < x.n.n_ends; i++)
		routes[x.n.ends[i].port] += x.sent[x.n.ends[i].sw];
	for (uint32_t sw = 0; sw < x.n.n; sw++)
		for (uint32_t place = x.n.first[sw]; place < x.n.first[sw + 1]; place++)
			if (x.n.next[place] != FABRIC_NONE)
				routes[gauge_port(&x.n, sw, place)] = (uint32_t)x.load[place];
	loads_free(&x);
}
