/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * State of the walk of one LID, shared by check_routes.c and check_pairs.c.
 *
 * check_routes.c walks the routes to the LID.  Where pairs have SLs of their own, check_pairs.c
 * determines which SLs are sent on them.
 */
#ifndef QOSD_SIM_CHECK_WALK_H
#define QOSD_SIM_CHECK_WALK_H

#include "sim/check/check_net.h"

/* Values of at.togo other than the number of links to the LID. */
enum { UNSEEN = 0, ON_WALK = UINT16_MAX, COMES_BACK = UINT16_MAX - 1, LOST = UINT16_MAX - 2 };

struct at {			/* state of a switch during the walk of one LID */
	uint32_t out;		/* port by which it forwards, if it can */
	uint32_t end;		/* COMES_BACK: a switch of the loop; LOST: the last switch */
	uint16_t togo;
	uint16_t reach;		/* SLs that reach the LID, provided that they reach the far end of `out` */
};

struct walk {
	struct run *r;
	struct net *n;
	uint32_t *owner;	/* [LID]: end that has it, or SIM_NONE */
	uint32_t n_lids;
	/* the current LID */
	uint16_t lid;
	uint32_t dst;
	uint32_t home;		/* switch to which dst is attached as a sender, or SIM_NONE */
	struct at *at;		/* [switch] */
	uint32_t *stack;	/* [switch] */
	uint32_t *order;	/* switches whose way arrives, each after the next one on its way */
	uint32_t n_order;
	uint32_t *cut_off;	/* [switch]: number of sources whose way ends there; all 0 between LIDs */
	uint16_t *comes;	/* [port]: SLs that come in there; all 0 between LIDs */
	/* sums */
	uint64_t *by_sls;	/* [mask]: pairs that exactly these SLs connect */
	uint64_t pairs, arrived, hops;
	/* sums with path_sls */
	uint64_t sent[16], got[16];	/* [SL]: pairs that use it; those of them that are connected */
	uint64_t without_sl;		/* pairs without an SL */
};

/* --- check_pairs.c; only with path_sls --- */

/* After the walk of the current LID: marks hops with the SLs of its senders, and counts pairs by SL. */
void pairs_of_lid(struct walk *w);
/* Counts the pairs of an end that is not attached to a switch, towards all LIDs. */
void pairs_of_lone_end(struct walk *w, uint32_t port);

#endif
