/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The switches of a fabric as a graph, for the routing engines (internal to
 * routing/).
 *
 * Vertices are switches, in an order that the caller chooses.  All links
 * between the same two switches are one trunk; a lane is one link of it, seen
 * from one side.  Cables from a switch to itself are left out, and so are links that are held.
 */
#ifndef QOSD_ROUTING_GRAPH_H
#define QOSD_ROUTING_GRAPH_H

#include "routing/route.h"

#define FAR UINT16_MAX		/* a distance: no path */

struct trunk {
	uint32_t v;		/* the neighbour */
	uint32_t lane0, n_lanes;
};

struct graph {
	const struct fabric *f;
	uint32_t n;
	uint32_t *sw;		/* [vertex]: index of the switch */
	/* Trunks of vertex v, by neighbour: trunk0[v] .. trunk0[v + 1] - 1. */
	uint32_t *trunk0;
	uint32_t *up0;		/* [vertex]: the first of its trunks to a greater vertex */
	struct trunk *trunks;
	uint8_t *lanes;		/* out port number of each lane, rising within a trunk */
	uint32_t n_lanes;
	/*
	 * CA and router ports on v, each kind by port of the switch: those of hosts are
	 * ends[end0[v] .. inner0[v] - 1], aggregation nodes those up to ends[end0[v + 1] - 1].
	 */
	uint32_t *end0, *inner0;
	uint32_t *ends;		/* port indexes */
	uint32_t n_hosts;	/* ports, on all vertices */
};

static inline uint32_t graph_hosts(const struct graph *g, uint32_t v)
{
	return g->inner0[v] - g->end0[v];
}

static inline struct fabric_port *graph_port(const struct graph *g, uint32_t v, unsigned num)
{
	return fabric_port(g->f, g->f->switches[g->sw[v]].node, num);
}

/* Vertex v is switch sw[v]; takes over sw. */
struct graph *graph_new(const struct fabric *f, uint32_t *sw);
/* The same, only with links between a switch and the one that tree[switch] says, if any (FABRIC_NONE). */
struct graph *graph_new_of_tree(const struct fabric *f, uint32_t *sw, const uint32_t *tree);
/* The switches by GUID, so that nothing depends on the order of discovery. */
uint32_t *graph_by_guid(const struct fabric *f);
void graph_free(struct graph *g);

/* The trunk between two vertices, FABRIC_NONE if there is none. */
uint32_t graph_trunk(const struct graph *g, uint32_t from, uint32_t to);
/* Whether any lane of a trunk is alive; dead: [lane]. */
static inline bool graph_trunk_lives(const struct graph *g, uint32_t trunk, const bool *dead)
{
	const struct trunk *t = &g->trunks[trunk];

	for (uint32_t lane = t->lane0; lane < t->lane0 + t->n_lanes; lane++)
		if (!dead[lane])
			return true;
	return false;
}

/* Appends ", 2 links and 1 switch missing", or nothing if neither is. */
void graph_put_missing(uint32_t links, uint32_t switches, struct buf *out);
/* Distances to all vertices, FAR where there is no path; queue: room for n. */
void graph_bfs(const struct graph *g, uint32_t from, uint16_t *dist, uint32_t *queue);

/* [vertex]: a number for the part of the fabric that it is in; released by the caller. */
uint32_t *graph_parts(const struct graph *g);

/* --- destinations: the end ports on a vertex that have LIDs --- */

struct dest {
	uint16_t lid, n_lids;	/* n_lids: 1 << LMC, at least 1 */
	uint8_t port;		/* how the switch itself delivers to it: 0 for its own port 0 */
	/*
	 * Of its LIDs as load: 1 for a host.  0 for a switch, which has hardly any traffic,
	 * and for an aggregation node, whose traffic is with neighbouring switches.
	 */
	uint32_t weight;
};
#define DESTS_MAX 256

/*
 * Port 0 first, if it has a LID, then hosts by port number, then aggregation nodes.  Returns
 * their number.
 */
unsigned graph_dests(const struct graph *g, const struct route_request *r, uint16_t top,
		     uint32_t v, struct dest *out);
/* The vertex's own row delivers to them. */
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

/* --- spreading destinations over lanes that are equally good --- */

struct choice {
	unsigned n;
	uint32_t lane[256];
	uint32_t v[256];	/* where it leads */
};

/* Of the trunks first .. end - 1, the lanes to neighbours at distance `want`. */
void choice_find(struct choice *c, const struct graph *g, uint32_t first, uint32_t end,
		 const uint16_t *dist, uint16_t want);
/*
 * The place in c, n > 0, of the lane with the least load; of those that the
 * port's other LIDs use least, if used ([place]) is given.
 */
unsigned choice_least(const struct choice *c, const uint32_t *load, const uint8_t *used);
/*
 * Sets row[0 .. n_lids - 1], the LIDs of one port, to the lanes with the least
 * load; LIDs of the same port go to different neighbours as far as there are
 * any.  The load of each lane taken grows by weight.  c->n > 0, n_lids <= 128.
 */
void choice_spread(const struct choice *c, const struct graph *g, uint32_t *load,
		   uint8_t *row, unsigned n_lids, uint32_t weight);

#endif
