/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Implements the engine "minhop", shortest paths with each destination by the least loaded port.
 *
 * It does not prevent credit loops; route_verify() reports them.
 */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "routing/graph.h"

static bool minhop_run(const struct route_request *r, struct lfts *out,
		       struct route_layers **layers, struct buf *why)
{
	struct graph *g = graph_new(r->f, graph_by_guid(r->f));
	uint16_t *dist = xcalloc(g->n, sizeof(*dist));
	uint32_t *queue = xcalloc(g->n, sizeof(*queue));
	uint32_t *load = xcalloc(g->n_links, sizeof(*load));
	struct dest dests[DESTS_MAX];

	(void)layers;
	(void)why;
	for (uint32_t d = 0; d < g->n; d++) {
		unsigned n = graph_dests(g, r, out->top, d, dests);
		struct choice c;

		graph_bfs(g, d, dist, queue);
		for (uint32_t v = 0; v < g->n; v++) {
			uint8_t *row = graph_row(g, out, v);

			if (v == d || dist[v] == FAR)
				continue;
			choice_find(&c, g, g->trunk0[v], g->trunk0[v + 1], dist,
				    (uint16_t)(dist[v] - 1));
			for (unsigned i = 0; i < n; i++)
				choice_spread(&c, g, load, row + dests[i].lid, dests[i].n_lids,
					      dests[i].weight);
		}
		graph_deliver(g, out, d, dests, n);
	}
	free(load);
	free(queue);
	free(dist);
	graph_free(g);
	return true;
}

const struct route_engine route_minhop = { "minhop", minhop_run };
