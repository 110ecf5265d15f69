/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The lanes of a graph as channels: found by switch and out port, seen from
 * both ends, and which of them live at the moment (internal to routing/).
 *
 * For those who follow entries of forwarding tables, route_repair.c and update_rounds.c.
 */
#ifndef QOSD_ROUTING_CHANNEL_H
#define QOSD_ROUTING_CHANNEL_H

#include "routing/change/route_repair.h"
#include "routing/graph.h"
#include "routing/updn/order.h"

struct channel {
	uint32_t lane;		/* FABRIC_NONE: the port is no channel */
	uint32_t to;		/* vertex, FABRIC_NONE likewise */
};

struct channels {
	const struct graph *g;
	struct graph *own;	/* the same, if it is ours */
	uint32_t *vertex;	/* [switch] */
	uint32_t *first;	/* [vertex]: place of its port 0 in `at` */
	struct channel *at;	/* [first[v] + port] */
	uint32_t *to;		/* [lane]: vertex that it leads to */
	uint32_t *back;		/* [lane]: the same link from its other end */
	uint32_t *trunk;	/* [lane]: the trunk that it is of */
	uint32_t *from;		/* [trunk]: vertex that it leads away from */
	uint32_t home;		/* vertex that the SM is on, FABRIC_NONE if there is none */
};

/* What an entry of v's row leads to; no channel if it drops or delivers, or is rubbish. */
static inline struct channel channel_by_port(const struct channels *c, uint32_t v, uint8_t port)
{
	uint32_t at = c->first[v] + port;

	return at < c->first[v + 1] ? c->at[at] : (struct channel){ FABRIC_NONE, FABRIC_NONE };
}

/* The same of its entry for a LID. */
static inline struct channel channel_by_lid(const struct channels *c, const struct lfts *l, uint32_t v,
					    uint16_t lid)
{
	return channel_by_port(c, v, lft_get(l, c->g->sw[v], lid));
}

/* The trunk of that channel, or FABRIC_NONE. */
static inline uint32_t trunk_by_lid(const struct channels *c, const struct lfts *l, uint32_t v, uint16_t lid)
{
	struct channel ch = channel_by_lid(c, l, v, lid);

	return ch.lane == FABRIC_NONE ? FABRIC_NONE : c->trunk[ch.lane];
}

/* The same cables as trunk t's in the other direction. */
static inline uint32_t channels_trunk_back(const struct channels *c, uint32_t t)
{
	return c->trunk[c->back[c->g->trunks[t].lane0]];
}

/*
 * Numbers the turns from each trunk into those that lead away from its end, from 0 on.  Returns, to be freed,
 * [trunk]: the number of the first that it has; *n_turns: how many there are.
 */
size_t *channels_number_turns(const struct channels *c, size_t *n_turns);

/* The number of the turn from trunk `in` into trunk `out`. */
static inline size_t turn_number(const struct channels *c, const size_t *turn0, uint32_t in, uint32_t out)
{
	return turn0[in] + (out - c->g->trunk0[c->g->trunks[in].v]);
}

/* Which channels are dead. */
struct living {
	bool *dead;		/* [lane] */
	bool *here;		/* [vertex]: the SM gets there by living links */
	uint32_t *cut;		/* the vertices here with dead lanes, rising */
	uint32_t n_cut;
};

/*
 * A link is dead if either end of it is among the ends; a dead switch is one
 * all of whose links are.  Ports that are no channel are of no account.
 * Without a switch that the SM is on, all vertices are here.
 */
void living_init(struct living *l, const struct channels *c, const struct link_end *ends,
		 uint32_t n);
void living_free(struct living *l);

/* The vertex to which v's entry for a LID leads by a living link, or FABRIC_NONE. */
static inline uint32_t living_step(const struct living *l, const struct channels *c,
				   const struct lfts *t, uint32_t v, uint16_t lid)
{
	struct channel ch = channel_by_lid(c, t, v, lid);

	return ch.lane == FABRIC_NONE || l->dead[ch.lane] ? FABRIC_NONE : ch.to;
}

#endif
