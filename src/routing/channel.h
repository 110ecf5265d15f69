/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Indexes the graph's links by switch and out port, and marks those that are dead (internal to routing/).
 *
 * A channel here is one link of the graph, seen from the switch that sends on it.  route_repair.c,
 * update_rounds.c and other code that follows forwarding-table entries use it.
 */
#ifndef QOSD_ROUTING_CHANNEL_H
#define QOSD_ROUTING_CHANNEL_H

#include "routing/change/route_repair.h"
#include "routing/graph.h"
#include "routing/updn/order.h"

struct channel {
	uint32_t link;		/* FABRIC_NONE: the port does not lead to another switch */
	uint32_t to;		/* vertex; FABRIC_NONE like link */
};

struct channels {
	const struct graph *g;
	struct graph *own;	/* g again if this struct owns it, else NULL */
	uint32_t *vertex;	/* [switch] */
	uint32_t *first;	/* [vertex]: index of its port 0 in `at` */
	struct channel *at;	/* [first[v] + port] */
	uint32_t *to;		/* [link]: vertex that the link leads to */
	uint32_t *back;		/* [link]: the same link in the other direction */
	uint32_t *trunk;	/* [link]: its trunk */
	uint32_t *from;		/* [trunk]: vertex that the trunk leads away from */
	uint32_t home;		/* vertex of the SM's switch; FABRIC_NONE if there is none */
};

/*
 * The channel behind an out port of v; link FABRIC_NONE if the entry drops, delivers to an end port or is
 * invalid.
 */
static inline struct channel channel_by_port(const struct channels *c, uint32_t v, uint8_t port)
{
	uint32_t at = c->first[v] + port;

	return at < c->first[v + 1] ? c->at[at] : (struct channel){ FABRIC_NONE, FABRIC_NONE };
}

/* The channel that v's entry for a LID leads to. */
static inline struct channel channel_by_lid(const struct channels *c, const struct lfts *l, uint32_t v,
					    uint16_t lid)
{
	return channel_by_port(c, v, lft_get(l, c->g->sw[v], lid));
}

/* The trunk that v's entry for a LID leads to, or FABRIC_NONE. */
static inline uint32_t trunk_by_lid(const struct channels *c, const struct lfts *l, uint32_t v, uint16_t lid)
{
	struct channel ch = channel_by_lid(c, l, v, lid);

	return ch.link == FABRIC_NONE ? FABRIC_NONE : c->trunk[ch.link];
}

/* The trunk with the same links in the other direction. */
static inline uint32_t channels_trunk_back(const struct channels *c, uint32_t t)
{
	return c->trunk[c->back[c->g->trunks[t].link0]];
}

/*
 * Numbers all turns from 0: trunk by trunk, each from one trunk into a trunk that leaves the vertex where
 * the first ends.  Returns [trunk]: the number of the trunk's first turn, which the caller frees;
 * *n_turns: the number of turns.
 */
size_t *channels_number_turns(const struct channels *c, size_t *n_turns);

/* The number of the turn from trunk `in` into trunk `out`. */
static inline size_t turn_number(const struct channels *c, const size_t *turn0, uint32_t in, uint32_t out)
{
	return turn0[in] + (out - c->g->trunk0[c->g->trunks[in].v]);
}

/* Which links and vertices a set of failures leaves alive. */
struct living {
	bool *dead;		/* [link]: failed */
	bool *gone;		/* [link]: dead, and not open */
	/* [link]: dead but for LIDs of the vertex that it leads to and its hosts (living_open()) */
	bool *away;
	bool *here;		/* [vertex]: reachable from the SM over live links */
	uint32_t *cut;		/* vertices with links that died, and are `here`, in rising order */
	uint32_t n_cut;
};

/*
 * A link is dead if either of its ends is in ends[0 .. n - 1]; a switch is dead if all its links are.
 * Ends that are not links of the graph are ignored.  If the SM is on no switch, every vertex is `here`.
 */
void living_init(struct living *l, const struct channels *c, const struct link_end *ends,
		 uint32_t n);
/*
 * The same, where the links of `gone`, none of which is open or away, are dead, too; but a vertex is not
 * `cut` because of them.
 */
void living_init_without(struct living *l, const struct channels *c, const struct link_end *gone,
			 uint32_t n_gone, const struct link_end *ends, uint32_t n);
void living_free(struct living *l);
/*
 * Makes links to v that are dead for LIDs of others living, for LIDs of v, or dead again.
 */
void living_open(struct living *l, const struct channels *c, uint32_t v, bool open);

/* The vertex that v's entry for a LID leads to over a live link, or FABRIC_NONE. */
static inline uint32_t living_step(const struct living *l, const struct channels *c,
				   const struct lfts *t, uint32_t v, uint16_t lid)
{
	struct channel ch = channel_by_lid(c, t, v, lid);

	return ch.link == FABRIC_NONE || l->dead[ch.link] ? FABRIC_NONE : ch.to;
}

#endif
