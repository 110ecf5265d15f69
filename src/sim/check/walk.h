/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walk of one LID: the routes to it (check_routes.c) and, where pairs have SLs of their own, which
 * SLs are sent on them (check_pairs.c).
 */
#ifndef QOSD_SIM_CHECK_WALK_H
#define QOSD_SIM_CHECK_WALK_H

#include "sim/check/check_net.h"

/* at.togo: links between here and the LID, or: */
enum { UNSEEN = 0, ON_WALK = UINT16_MAX, COMES_BACK = UINT16_MAX - 1, LOST = UINT16_MAX - 2 };

struct at {			/* a switch, while one LID is walked */
	uint32_t out;		/* port by which it forwards, if it can */
	uint32_t end;		/* COMES_BACK: a switch of the cycle; LOST: the last switch */
	uint16_t togo;
	uint16_t reach;		/* SLs that get to the LID, if they get to the far end of out */
};

struct walk {
	struct run *r;
	struct net *n;
	uint32_t *owner;	/* [LID]: the end, SIM_NONE */
	uint32_t n_lids;
	/* The LID at hand. */
	uint16_t lid;
	uint32_t dst;
	uint32_t home;		/* switch where dst is a sender itself, or SIM_NONE */
	struct at *at;		/* [switch] */
	uint32_t *stack;	/* [switch] */
	uint32_t *order;	/* switches whose way arrives, each behind the next on it */
	uint32_t n_order;
	uint32_t *cut_off;	/* [switch]: sources whose way ends there; all 0 between LIDs */
	uint16_t *comes;	/* [port]: SLs that come in there; all 0 between LIDs */
	/* Sums. */
	uint64_t *by_sls;	/* [mask]: pairs that just these SLs connect */
	uint64_t pairs, arrived, hops;
	/* Sums with path_sls. */
	uint64_t sent[16], got[16];	/* [SL]: pairs that use it; of them, connected */
	uint64_t without_sl;		/* pairs */
};

/* --- check_pairs.c; only with path_sls --- */

/* Once the LID at hand was walked: marks hops with the SLs of its senders, counts pairs by SL. */
void pairs_of_lid(struct walk *w);
/* Counts the pairs of an end that is not at a switch, towards all LIDs. */
void pairs_of_lone_end(struct walk *w, uint32_t port);

#endif
