/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Represents a fabric's switches and the links between them as a graph for the engines (internal to
 * routing/).
 *
 * Vertices are switches, in an order that the caller chooses.  All links between the same two switches are
 * one trunk.  The graph has each link twice, once for each direction; it leaves out links from a switch
 * to itself and held links.
 */
#ifndef QOSD_ROUTING_GRAPH_H
#define QOSD_ROUTING_GRAPH_H

#include "routing/route.h"

#define FAR UINT16_MAX		/* the distance where there is no path */

struct trunk {
	uint32_t v;		/* the neighbour */
	uint32_t link0, n_links;
};

struct graph {
	const struct fabric *f;
	uint32_t n;
	uint32_t *sw;		/* [vertex]: index of the switch */
	/* Trunks of vertex v, by neighbour: trunk0[v] .. trunk0[v + 1] - 1. */
	uint32_t *trunk0;
	uint32_t *up0;		/* [vertex]: its first trunk to a vertex with a greater number */
	struct trunk *trunks;
	uint8_t *links;		/* [link]: out port number, rising within a trunk */
	uint32_t n_links;
	/*
	 * CA and router ports on v, each kind in order of the switch's port: host ports are ends[end0[v]
	 * .. inner0[v] - 1], aggregation nodes ends[inner0[v] .. end0[v + 1] - 1].
	 */
	uint32_t *end0, *inner0;
	uint32_t *ends;		/* port indexes */
	uint32_t n_hosts;	/* host ports on all vertices */
};

static inline uint32_t graph_hosts(const struct graph *g, uint32_t v)
{
	return g->inner0[v] - g->end0[v];
}

static inline struct fabric_port *graph_port(const struct graph *g, uint32_t v, unsigned num)
{
	return fabric_port(g->f, g->f->switches[g->sw[v]].node, num);
}

/* Vertex v becomes switch sw[v].  Takes ownership of sw. */
struct graph *graph_new(const struct fabric *f, uint32_t *sw);
/* As graph_new(), with only those links that join a switch and tree[switch] (FABRIC_NONE: no such link). */
struct graph *graph_new_of_tree(const struct fabric *f, uint32_t *sw, const uint32_t *tree);
/*
 * All switches sorted by GUID, so that results do not depend on the order of discovery.  The caller frees
 * it.
 */
uint32_t *graph_by_guid(const struct fabric *f);
void graph_free(struct graph *g);

/* The trunk between two vertices, FABRIC_NONE if there is none. */
uint32_t graph_trunk(const struct graph *g, uint32_t from, uint32_t to);
/* The number of neighbours that two vertices have in common, at most `enough`. */
uint32_t graph_common(const struct graph *g, uint32_t a, uint32_t b, uint32_t enough);
/* Whether any link of a trunk is alive; dead is indexed by link. */
static inline bool graph_trunk_lives(const struct graph *g, uint32_t trunk, const bool *dead)
{
	const struct trunk *t = &g->trunks[trunk];

	for (uint32_t link = t->link0; link < t->link0 + t->n_links; link++)
		if (!dead[link])
			return true;
	return false;
}

/* Appends ", 2 links and 1 switch missing", or nothing if both are 0. */
void graph_put_missing(uint32_t links, uint32_t switches, struct buf *out);
/* Distances in hops to all vertices, FAR where there is no path; queue: scratch space for n. */
void graph_bfs(const struct graph *g, uint32_t from, uint16_t *dist, uint32_t *queue);

/* [vertex]: a number for its connected component; the caller frees it. */
uint32_t *graph_parts(const struct graph *g);

/* --- destinations: the end ports on a vertex that have LIDs --- */

struct dest {
	uint16_t lid, n_lids;	/* n_lids: 1 << LMC, at least 1 */
	/* out port of its switch that delivers to it; 0 for the switch's own port 0 */
	uint8_t port;
	/*
	 * Load that a route to one of its LIDs adds: 1 for a host.  0 for a switch, which has hardly any
	 * traffic, and for an aggregation node, whose traffic is with neighbouring switches.
	 */
	uint32_t weight;
};
#define DESTS_MAX 256

/*
 * Fills out with the destinations on v: port 0 if it has a LID, then hosts by port number, then
 * aggregation nodes.  Returns their number, at most DESTS_MAX.
 */
unsigned graph_dests(const struct graph *g, const struct route_request *r, uint16_t top,
		     uint32_t v, struct dest *out);
/* Sets the entries of v's own row for the destinations on v. */
void graph_deliver(const struct graph *g, struct lfts *l, uint32_t v,
		   const struct dest *dests, unsigned n);

static inline uint8_t *graph_row(const struct graph *g, struct lfts *l, uint32_t v)
{
	return l->entries + (size_t)g->sw[v] * l->stride;
}

static inline const uint8_t *graph_row_of(const struct graph *g, const struct lfts *l, uint32_t v)
{
	return l->entries + (size_t)g->sw[v] * l->stride;
}

/* --- spreading destinations over links that are equally good --- */

struct choice {
	unsigned n;
	uint32_t link[256];
	uint32_t v[256];	/* the vertex that the link leads to */
};

/* Collects, from trunks first .. end - 1, the links to neighbours at distance `want`. */
void choice_find(struct choice *c, const struct graph *g, uint32_t first, uint32_t end,
		 const uint16_t *dist, uint16_t want);
/*
 * The index in c, n > 0, of the link with the least load.  If used ([index]) is given, only links that the
 * port's other LIDs use least are considered.
 */
unsigned choice_least(const struct choice *c, const uint32_t *load, const uint8_t *used);
/*
 * Sets row[0 .. n_lids - 1], the LIDs of one port, to the links with the least load.  LIDs of the same
 * port go to different neighbours while there are any.  The load of each chosen link grows by weight.
 * c->n > 0, n_lids <= 128.
 */
void choice_spread(const struct choice *c, const struct graph *g, uint32_t *load,
		   uint8_t *row, unsigned n_lids, uint32_t weight);

#endif
