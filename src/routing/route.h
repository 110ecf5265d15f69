/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Declares the unicast routing engines, forwarding tables and the check of a routing.
 *
 * Pure: an engine reads a const fabric and fills a new result.  Nothing here sends, logs or reads a clock.
 */
#ifndef QOSD_ROUTING_ROUTE_H
#define QOSD_ROUTING_ROUTE_H

#include "fabric/fabric.h"
#include "lib/base/buf.h"

#define LFT_DROP 255		/* LFT entry: packets are dropped */
#define LFT_BLOCK 64		/* entries in one LinearForwardingTable attribute (IBA 14.2.5.10) */

struct updn_order;
struct route_layers;		/* routing/layers.h */

struct route_request {
	const struct fabric *f;
	const uint16_t *lid;	/* per port slot: base LID of end ports, 0: none */
	const uint8_t *lmc;	/* per port slot */
	uint16_t lid_top;	/* highest LID in use, LMC ranges included */
	const struct updn_order *order;	/* up/down order of f, if the caller has one; else NULL */
	/* layers that an engine may use, each with a VL set of its own; 0 counts as 1: one VL */
	unsigned most_layers;
	unsigned most_shared;	/* layers that may share two VL sets (layers.h); 0: none may */
	/*
	 * Tables of f's switches and their layers, made for a similar fabric; engines with layers stay as
	 * near to them as they can.  NULL: none.
	 */
	const struct lfts *near;
	const struct route_layers *near_layers;
	const struct route_layers *layers;	/* layers of the tables to verify; NULL: one layer */
};

/* The linear forwarding tables of all switches. */
struct lfts {
	uint32_t n_switches;
	uint16_t top;		/* last valid entry */
	uint32_t stride;	/* bytes per switch, a multiple of LFT_BLOCK */
	uint8_t *entries;	/* [switch * stride + lid]: out port or LFT_DROP */
};

static inline uint8_t lft_get(const struct lfts *l, uint32_t sw, uint16_t lid)
{
	return l->entries[(size_t)sw * l->stride + lid];
}

/* Creates tables with all entries LFT_DROP. */
struct lfts *lfts_new(uint32_t n_switches, uint16_t top);
struct lfts *lfts_copy(const struct lfts *l);
void lfts_free(struct lfts *l);

struct route_engine {
	const char *name;
	/*
	 * Fills out (all LFT_DROP on entry).  Returns false with a reason in `why` when the engine can't
	 * route this fabric; the contents of out are then undefined.  An engine that needs more than one
	 * layer sets *layers, NULL on entry; the caller then owns it.
	 */
	bool (*run)(const struct route_request *r, struct lfts *out, struct route_layers **layers,
		    struct buf *why);
};

extern const struct route_engine route_updn;	/* "updn": the default, no credit loops */
extern const struct route_engine route_layered;	/* "layered": any shape, no credit loop within a layer */
/* "grid": dimension order on tori, meshes and similar shapes */
extern const struct route_engine route_grid;
extern const struct route_engine route_dragonfly;	/* "dragonfly": shortest paths on two sets of VLs */
extern const struct route_engine route_minhop;	/* "minhop": shortest paths, credit loops possible */
/* NULL if there is no such engine. */
const struct route_engine *route_engine_find(const char *name);
/* NULL-terminated. */
extern const struct route_engine *const route_engines[];

/* --- check of a routing, whichever engine made it (routing/verify.c) --- */

/* Number of pairs of a switch and a LID without a path, with the ports of one example. */
struct route_lost {
	uint64_t n;
	uint32_t src, dst;		/* port indexes, or FABRIC_NONE */
};

struct route_report {
	/* (switch, LID) pairs: switches with host ports, and the SM's own switch */
	uint64_t pairs;
	uint64_t unreachable;		/* pairs without a path */
	uint64_t loops;			/* unreachable pairs whose entries lead in a cycle */
	uint32_t unreachable_src, unreachable_dst;	/* ports of an example: port indexes */
	/* Unreachable pairs by owner of the LID: a host or the SM, an aggregation node, a switch. */
	struct route_lost to_hosts, to_aggregation, to_switches;
	/*
	 * Unreachable pairs from switches without hosts to the SM's LIDs (traps and responses), and from
	 * the SM's switch to switches; to_switches counts the latter as well.
	 */
	struct route_lost of_sm;
	/* From switches without hosts to LIDs of switches: all such pairs, and those without a path. */
	uint64_t inner_pairs;
	struct route_lost inner;
	unsigned max_hops;		/* switches on the longest path among `pairs` */
	unsigned host_hops;		/* switches on the longest path to a LID of a host or of the SM */
	/* a cycle of channel dependencies, with all SLs on one VL per layer */
	bool credit_loop;
	struct buf credit_loop_text;	/* the cycle, as "A/P1 -> B/P2 -> …" */
};

/*
 * Does a host send from that switch? The SM counts as a host even if it runs on the switch itself.
 * Switches and aggregation nodes do not count: they send only to the SM and to their neighbours.
 */
bool route_is_source(const struct fabric *f, uint32_t sw);
/* Checks tables l.  Only paths from hosts to CA and router ports count for credit loops. */
void route_verify(const struct route_request *r, const struct lfts *l, struct route_report *out);
void route_report_free(struct route_report *r);

/* Differences between the tables of a fabric and those of the fabric before a change. */
struct route_changes {
	uint32_t n_switches;
	uint32_t *sw_before;	/* [switch]: its index before the change; FABRIC_NONE: new switch */
	uint32_t *new_switches, n_new;
	uint16_t top;		/* last LID, the same before and after */
	/*
	 * [bit lid].  A LID whose bit is 0 is unchanged: every old switch has the same entry, the entry
	 * leads to the same place, and the same port has the LID, if any port has it.
	 */
	uint64_t *lids;
};
void route_changes_free(struct route_changes *c);	/* NULL is fine */
static inline bool route_changed(const struct route_changes *c, uint32_t lid)
{
	return c->lids[lid / 64] >> lid % 64 & 1;
}

/* Intermediate results of a check, from which the next check starts. */
struct route_proof;
/*
 * Gives the same result as route_verify(), but walks only the LIDs that changed, as long as that suffices.
 * before: the proof of the tables that changes refers to, or both NULL.  *proof is for the next call; the
 * caller frees it by route_proof_free().
 */
void route_verify_next(const struct route_request *r, const struct lfts *l,
		       const struct route_changes *changes, const struct route_proof *before,
		       struct route_report *out, struct route_proof **proof);
void route_proof_free(struct route_proof *p);		/* NULL is fine */

/* An up/down order of a fabric, for routes and for multicast trees (routing/multicast/mcast_tree.h). */
struct updn_order *updn_order_new(const struct fabric *f);
void updn_order_free(struct updn_order *o);

#endif
