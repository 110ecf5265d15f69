/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Builds the graph of the switches and chooses among equally good links; see graph.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/search.h"
#include "routing/graph.h"

/*
 * The switch behind port p of switch sw; FABRIC_NONE if p has no peer or is held, or if the peer is no
 * switch or is sw.
 */
static uint32_t far_switch(const struct fabric *f, uint32_t sw, const struct fabric_port *p)
{
	if (p->peer == FABRIC_NONE || p->held)
		return FABRIC_NONE;
	uint32_t to = port_node(f, p->peer)->sw;

	return to == sw ? FABRIC_NONE : to;
}

struct link {
	uint32_t v;
	uint8_t port;
};

static int by_neighbour(const void *a, const void *b)
{
	const struct link *x = a, *y = b;

	return ORDER(x->v, y->v) ?: ORDER(x->port, y->port);
}

/*
 * Fills in the links of vertex v that the graph has, sorted by neighbour; returns their number.  tree: see
 * graph_new_of_tree(), or NULL.
 */
static unsigned links_of(const struct graph *g, const uint32_t *vertex, const uint32_t *tree, uint32_t v,
			 struct link *links)
{
	const struct fabric_node *node = &g->f->nodes[g->f->switches[g->sw[v]].node];
	uint32_t sw = g->sw[v];
	unsigned n = 0;

	for (unsigned num = 1; num <= node->nports; num++) {
		uint32_t to = far_switch(g->f, sw, graph_port(g, v, num));

		if (to != FABRIC_NONE && (!tree || tree[sw] == to || tree[to] == sw))
			links[n++] = (struct link){ vertex[to], (uint8_t)num };
	}
	qsort(links, n, sizeof(*links), by_neighbour);
	return n;
}

static uint32_t add_ends_of(struct graph *g, uint32_t v, uint32_t n_ends, bool hosts)
{
	const struct fabric_node *node = &g->f->nodes[g->f->switches[g->sw[v]].node];

	for (unsigned num = 1; num <= node->nports; num++) {
		uint32_t peer = graph_port(g, v, num)->peer;

		if (peer != FABRIC_NONE && port_is_end(g->f, peer) &&
		    port_is_host(g->f, peer) == hosts)
			g->ends[n_ends++] = peer;
	}
	return n_ends;
}

static uint32_t add_ends(struct graph *g, uint32_t v, uint32_t n_ends)
{
	g->end0[v] = n_ends;
	g->inner0[v] = add_ends_of(g, v, n_ends, true);
	g->n_hosts += graph_hosts(g, v);
	return add_ends_of(g, v, g->inner0[v], false);
}

static uint32_t add_trunks(struct graph *g, uint32_t v, uint32_t n_trunks,
			   const struct link *links, unsigned n)
{
	g->trunk0[v] = n_trunks;
	for (unsigned i = 0; i < n; i++) {
		if (i == 0 || links[i].v != links[i - 1].v)
			g->trunks[n_trunks++] = (struct trunk){ links[i].v, g->n_links, 0 };
		g->trunks[n_trunks - 1].n_links++;
		g->links[g->n_links++] = links[i].port;
	}
	g->up0[v] = g->trunk0[v];
	while (g->up0[v] < n_trunks && g->trunks[g->up0[v]].v < v)
		g->up0[v]++;
	return n_trunks;
}

/* Number of switch ports with a peer: an upper bound on links, trunks and hosts. */
static uint32_t count_linked(const struct fabric *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n_switches; i++) {
		const struct fabric_node *node = &f->nodes[f->switches[i].node];

		for (unsigned num = 1; num <= node->nports; num++)
			n += f->ports[node->port0 + num].peer != FABRIC_NONE;
	}
	return n;
}

static struct graph *make(const struct fabric *f, uint32_t *sw, const uint32_t *tree)
{
	struct graph *g = xcalloc(1, sizeof(*g));
	uint32_t n = f->n_switches, linked = count_linked(f);
	uint32_t *vertex = xmalloc(n * sizeof(*vertex));
	uint32_t n_trunks = 0, n_ends = 0;
	struct link links[256];

	*g = (struct graph){ .f = f, .n = n, .sw = sw };
	g->trunk0 = xcalloc(n + 1, sizeof(*g->trunk0));
	g->up0 = xcalloc(n, sizeof(*g->up0));
	g->end0 = xcalloc(n + 1, sizeof(*g->end0));
	g->inner0 = xcalloc(n, sizeof(*g->inner0));
	g->trunks = xcalloc(linked, sizeof(*g->trunks));
	g->links = xcalloc(linked, sizeof(*g->links));
	g->ends = xcalloc(linked, sizeof(*g->ends));
	for (uint32_t v = 0; v < n; v++)
		vertex[sw[v]] = v;
	for (uint32_t v = 0; v < n; v++) {
		n_trunks = add_trunks(g, v, n_trunks, links, links_of(g, vertex, tree, v, links));
		n_ends = add_ends(g, v, n_ends);
	}
	g->trunk0[n] = n_trunks;
	g->end0[n] = n_ends;
	free(vertex);
	return g;
}

struct graph *graph_new(const struct fabric *f, uint32_t *sw)
{
	return make(f, sw, NULL);
}

struct graph *graph_new_of_tree(const struct fabric *f, uint32_t *sw, const uint32_t *tree)
{
	return make(f, sw, tree);
}

void graph_free(struct graph *g)
{
	if (!g)
		return;
	free(g->sw);
	free(g->trunk0);
	free(g->up0);
	free(g->trunks);
	free(g->links);
	free(g->end0);
	free(g->inner0);
	free(g->ends);
	free(g);
}

struct guid_key {
	uint64_t guid;
	uint32_t sw;
};

static int by_guid(const void *a, const void *b)
{
	const struct guid_key *x = a, *y = b;

	return ORDER(x->guid, y->guid) ?: ORDER(x->sw, y->sw);
}

uint32_t *graph_by_guid(const struct fabric *f)
{
	uint32_t n = f->n_switches;
	struct guid_key *keys = xmalloc(n * sizeof(*keys));
	uint32_t *sw = xmalloc(n * sizeof(*sw));

	for (uint32_t i = 0; i < n; i++)
		keys[i] = (struct guid_key){ f->nodes[f->switches[i].node].guid, i };
	qsort(keys, n, sizeof(*keys), by_guid);
	for (uint32_t i = 0; i < n; i++)
		sw[i] = keys[i].sw;
	free(keys);
	return sw;
}

uint32_t graph_trunk(const struct graph *g, uint32_t from, uint32_t to)
{
	uint32_t lo;

	LOWER_BOUND(lo, g->trunk0[from], g->trunk0[from + 1], g->trunks[lo].v < to);
	return lo < g->trunk0[from + 1] && g->trunks[lo].v == to ? lo : FABRIC_NONE;
}

uint32_t graph_common(const struct graph *g, uint32_t a, uint32_t b, uint32_t enough)
{
	uint32_t i = g->trunk0[a], j = g->trunk0[b], n = 0;

	while (i < g->trunk0[a + 1] && j < g->trunk0[b + 1] && n < enough) {
		uint32_t x = g->trunks[i].v, y = g->trunks[j].v;

		n += x == y;
		i += x <= y;
		j += y <= x;
	}
	return n;
}

void graph_put_missing(uint32_t links, uint32_t switches, struct buf *out)
{
	if (links)
		buf_printf(out, ", %" PRIu32 " link%s", links, links == 1 ? "" : "s");
	if (switches)
		buf_printf(out, "%s %" PRIu32 " switch%s", links ? " and" : ",", switches,
			   switches == 1 ? "" : "es");
	if (links || switches)
		buf_puts(out, " missing");
}

void graph_bfs(const struct graph *g, uint32_t from, uint16_t *dist, uint32_t *queue)
{
	uint32_t head = 0, tail = 0;

	for (uint32_t v = 0; v < g->n; v++)
		dist[v] = FAR;
	dist[from] = 0;
	queue[tail++] = from;
	while (head < tail) {
		uint32_t v = queue[head++];

		for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++) {
			uint32_t u = g->trunks[t].v;

			if (dist[u] != FAR)
				continue;
			dist[u] = (uint16_t)(dist[v] + 1);
			queue[tail++] = u;
		}
	}
}

uint32_t *graph_parts(const struct graph *g)
{
	uint32_t *part = xmalloc(g->n * sizeof(*part)), *queue = xcalloc(g->n, sizeof(*queue));
	uint16_t *dist = xcalloc(g->n, sizeof(*dist));

	for (uint32_t v = 0; v < g->n; v++)
		part[v] = FABRIC_NONE;
	for (uint32_t v = 0; v < g->n; v++) {
		if (part[v] != FABRIC_NONE)
			continue;
		graph_bfs(g, v, dist, queue);
		for (uint32_t u = 0; u < g->n; u++)
			if (dist[u] != FAR)
				part[u] = v;
	}
	free(dist);
	free(queue);
	return part;
}

static bool dest_set(struct dest *d, const struct route_request *r, uint16_t top, uint32_t port)
{
	uint16_t lid = r->lid[port];
	uint32_t n = 1u << (r->lmc[port] & 7);

	if (lid == 0 || lid > top)
		return false;
	if (n > top - lid + 1u)
		n = top - lid + 1u;
	*d = (struct dest){ .lid = lid, .n_lids = (uint16_t)n };
	return true;
}

unsigned graph_dests(const struct graph *g, const struct route_request *r, uint16_t top,
		     uint32_t v, struct dest *out)
{
	const struct fabric *f = g->f;
	unsigned n = 0;

	if (dest_set(&out[n], r, top, (uint32_t)(graph_port(g, v, 0) - f->ports)))
		n++;
	for (uint32_t i = g->end0[v]; i < g->end0[v + 1]; i++) {
		if (!dest_set(&out[n], r, top, g->ends[i]))
			continue;
		out[n].port = f->ports[f->ports[g->ends[i]].peer].num;
		out[n++].weight = i < g->inner0[v];
	}
	return n;
}

void graph_deliver(const struct graph *g, struct lfts *l, uint32_t v,
		   const struct dest *dests, unsigned n)
{
	uint8_t *row = graph_row(g, l, v);

	for (unsigned i = 0; i < n; i++)
		memset(row + dests[i].lid, dests[i].port, dests[i].n_lids);
}

void choice_find(struct choice *c, const struct graph *g, uint32_t first, uint32_t end,
		 const uint16_t *dist, uint16_t want)
{
	c->n = 0;
	for (uint32_t t = first; t < end; t++) {
		const struct trunk *trunk = &g->trunks[t];

		if (dist[trunk->v] != want)
			continue;
		for (uint32_t i = 0; i < trunk->n_links; i++) {
			c->link[c->n] = trunk->link0 + i;
			c->v[c->n++] = trunk->v;
		}
	}
}

static unsigned least_loaded(const struct choice *c, const uint32_t *load)
{
	unsigned best = 0;

	for (unsigned i = 1; i < c->n; i++)
		if (load[c->link[i]] < load[c->link[best]])
			best = i;
	return best;
}

unsigned choice_least(const struct choice *c, const uint32_t *load, const uint8_t *used)
{
	unsigned best = 0;

	if (!used)
		return least_loaded(c, load);
	for (unsigned i = 1; i < c->n; i++)
		if (used[i] < used[best] ||
		    (used[i] == used[best] && load[c->link[i]] < load[c->link[best]]))
			best = i;
	return best;
}

void choice_spread(const struct choice *c, const struct graph *g, uint32_t *load,
		   uint8_t *row, unsigned n_lids, uint32_t weight)
{
	uint8_t used[256];

	if (c->n == 1) {
		memset(row, g->links[c->link[0]], n_lids);
		load[c->link[0]] += n_lids * weight;
		return;
	}
	if (n_lids == 1) {
		uint32_t link = c->link[choice_least(c, load, NULL)];

		row[0] = g->links[link];
		load[link] += weight;
		return;
	}
	memset(used, 0, c->n);
	for (unsigned k = 0; k < n_lids; k++) {
		unsigned best = choice_least(c, load, used);

		row[k] = g->links[c->link[best]];
		load[c->link[best]] += weight;
		for (unsigned i = 0; i < c->n; i++)
			if (c->v[i] == c->v[best])
				used[i]++;
	}
}
