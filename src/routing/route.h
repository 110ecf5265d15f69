/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unicast routing: engines turn a fabric and its LIDs into forwarding tables.
 *
 * Pure: an engine reads a const fabric and fills a fresh result.  Nothing here
 * sends, logs or reads a clock.
 */
#ifndef QOSD_ROUTING_ROUTE_H
#define QOSD_ROUTING_ROUTE_H

#include "fabric/fabric.h"
#include "lib/base/buf.h"

#define LFT_DROP 255		/* LFT entry: no route */
#define LFT_BLOCK 64		/* entries in one LinearForwardingTable attribute */

struct updn_order;
struct route_layers;		/* routing/layers.h */

struct route_request {
	const struct fabric *f;
	const uint16_t *lid;	/* per port slot: base LID of end ports, 0 = none */
	const uint8_t *lmc;	/* per port slot */
	uint16_t lid_top;	/* highest LID in use, LMC ranges included */
	const struct updn_order *order;	/* of f, if it is at hand; else NULL */
	unsigned most_layers;	/* that an engine may use, each with a lane of its own; 0 as 1: all is on one virtual lane */
	unsigned most_shared;	/* the same, if all layers share two lanes (layers.h); 0: none */
	/*
	 * Tables of f's switches and their layers, made for a fabric that was much the same: what engines
	 * with layers make stays as near to these as it can.  Or NULL.
	 */
	const struct lfts *near;
	const struct route_layers *near_layers;
	const struct route_layers *layers;	/* of tables that are judged; NULL: one */
};

/* The linear forwarding tables of all switches. */
struct lfts {
	uint32_t n_switches;
	uint16_t top;		/* last entry that counts */
	uint32_t stride;	/* bytes per switch, a multiple of LFT_BLOCK */
	uint8_t *entries;	/* [switch * stride + lid]: out port or LFT_DROP */
};

static inline uint8_t lft_get(const struct lfts *l, uint32_t sw, uint16_t lid)
{
	return l->entries[(size_t)sw * l->stride + lid];
}

/* All entries LFT_DROP. */
struct lfts *lfts_new(uint32_t n_switches, uint16_t top);
struct lfts *lfts_copy(const struct lfts *l);
void lfts_free(struct lfts *l);

struct route_engine {
	const char *name;
	/*
	 * Fills out (all LFT_DROP on entry).  False with a reason in `why` when
	 * the engine can't route this fabric; out is then of no use.  An engine that
	 * needs more than one layer sets *layers, NULL on entry, to what the caller owns then.
	 */
	bool (*run)(const struct route_request *r, struct lfts *out, struct route_layers **layers,
		    struct buf *why);
};

extern const struct route_engine route_updn;	/* "updn": the default, no credit loops */
extern const struct route_engine route_layered;	/* "layered": no credit loops in any layer */
extern const struct route_engine route_grid;	/* "grid": dimension order on tori, meshes, and the like */
extern const struct route_engine route_dragonfly;	/* "dragonfly": shortest ways on two sets of virtual lanes */
extern const struct route_engine route_minhop;	/* "minhop" */
/* NULL if there is no such engine. */
const struct route_engine *route_engine_find(const char *name);
/* NULL-terminated. */
extern const struct route_engine *const route_engines[];

/* --- verdict on any result (routing/verify.c) --- */

/* Pairs of a switch and a LID without a path, with the ports of one such pair. */
struct route_lost {
	uint64_t n;
	uint32_t src, dst;		/* port indexes, or FABRIC_NONE */
};

struct route_report {
	/* (switch, LID) pairs: switches with ports of hosts, and the SM's own */
	uint64_t pairs;
	uint64_t unreachable;		/* of these, without a path */
	uint64_t loops;			/* of the unreachable: the walk came back */
	uint32_t unreachable_src, unreachable_dst;	/* an example: port indexes */
	/* The unreachable, by whose LID it is: a host's or the SM's, an aggregation node's, a switch's. */
	struct route_lost to_hosts, to_aggregation, to_switches;
	/*
	 * From switches without hosts to the SM's LIDs, for traps and answers, and from the SM's switch
	 * to switches; to_switches has the latter as well.
	 */
	struct route_lost of_sm;
	/* From switches without hosts to LIDs of switches: all such pairs, and those without a path. */
	uint64_t inner_pairs;
	struct route_lost inner;
	unsigned max_hops;		/* switches on the longest path of `pairs` */
	unsigned host_hops;		/* the same of those to LIDs of hosts and the SM's */
	bool credit_loop;		/* a cycle of channel dependencies, all SLs on one VL */
	struct buf credit_loop_text;	/* the cycle, "A/P1 -> B/P2 -> …" */
};

/*
 * Does a host send from that switch?  The SM counts even if it is the switch.  A switch itself and
 * its aggregation node do not: they send to the SM and to their neighbours.
 */
bool route_is_source(const struct fabric *f, uint32_t sw);
/* Only paths from hosts to CA and router ports count for credit loops. */
void route_verify(const struct route_request *r, const struct lfts *l, struct route_report *out);
void route_report_free(struct route_report *r);

/* What tables of a fabric have in common with those of one that it was. */
struct route_changes {
	uint32_t n_switches;
	uint32_t *sw_before;	/* [switch]: its place before, or FABRIC_NONE: it is new */
	uint32_t *new_switches, n_new;
	uint16_t top;		/* last LID, before and now */
	/*
	 * Bit lid.  Of one that is not set, all switches that were there have the entry that
	 * they had, it leads where it led, and the same port has the LID, if any.
	 */
	uint64_t *lids;
};
void route_changes_free(struct route_changes *c);	/* NULL is fine */
static inline bool route_changed(const struct route_changes *c, uint32_t lid)
{
	return c->lids[lid / 64] >> lid % 64 & 1;
}

/* What a verdict was found by, to find the next by. */
struct route_proof;
/*
 * As route_verify(), and the same is said; but only the LIDs that changed are walked, as
 * long as that suffices.  before: the proof of the tables that changes are against, or both
 * NULL.  *proof is for the next time, to be freed by route_proof_free().
 */
void route_verify_next(const struct route_request *r, const struct lfts *l,
		       const struct route_changes *changes, const struct route_proof *before,
		       struct route_report *out, struct route_proof **proof);
void route_proof_free(struct route_proof *p);		/* NULL is fine */

/* An up/down order of a fabric, for routes and multicast trees (routing/multicast/mcast_tree.h). */
struct updn_order *updn_order_new(const struct fabric *f);
void updn_order_free(struct updn_order *o);

#endif
