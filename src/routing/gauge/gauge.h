/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How good forwarding tables are, in figures that tables of one fabric can be compared by,
 * whatever made them: connectivity, detours, balance, bandwidth under traffic, and the virtual
 * lanes that freedom from credit loops takes.
 *
 * Pure: a const fabric, its LIDs and its tables come in, a plain value comes out.  No clock and
 * no chance: the same input gives the same figures.
 *
 * What counts is the end port: a port of a channel adapter or router that is linked to a switch
 * and has a LID, but for aggregation nodes (port_is_host()).  A pair is ordered, made of two
 * different end ports, and its route is that to the destination's base LID; LIDs that the LMC
 * adds count for credit loops only.  A pair is connected if its route ends at the destination.
 * A route is measured in switches on it, 1 between ports of one switch.
 *
 * A cable is a link between two different switches, each of its directions counted alone.  The
 * cable between an end port and its switch is an end cable, and said so.  Its capacity is the
 * data rate of the link, the lesser of what its two ends say; one whose rate is not known
 * counts as the slowest that is.
 */
#ifndef QOSD_ROUTING_GAUGE_GAUGE_H
#define QOSD_ROUTING_GAUGE_GAUGE_H

#include <stdatomic.h>

#include "lib/base/buf.h"
#include "routing/route.h"

struct gauge_options {
	unsigned bisections;	/* most random bisections … */
	unsigned shifts;	/* … and most shift patterns, */
	uint64_t flows;		/* … each as far as that many flows suffice */
	uint64_t seed;
	bool layers;		/* whether to count layers, which may be most of the work */
	/* Looked at now and then, or NULL: true ends it soon, and the figures mean nothing. */
	const atomic_bool *stop;
};
extern const struct gauge_options gauge_defaults;	/* 1,000, 1,000, 10 million, 1, true */

struct gauge {
	uint32_t ends;		/* end ports */
	uint64_t pairs, connected;

	/* Detours, over connected pairs: switches on the route against the least possible. */
	double ratio_mean, ratio_most;
	unsigned longer_most;	/* the largest difference, */
	uint32_t longer_from, longer_to;	/* … and an example (ports), or FABRIC_NONE */
	unsigned hops_most;

	/* Edge-forwarding index: routes of connected pairs on one direction of a cable. */
	uint32_t cables;	/* directions of cables, used or not */
	uint64_t efi;
	double efi_mean;	/* over all directions */
	uint32_t hottest;	/* the port that sends into it, or FABRIC_NONE */
	/*
	 * All to all: the largest number of routes over capacity of any cable, end cables too,
	 * divided by a lower bound of that for any tables: each end cable's own routes, the routes
	 * between each switch's end ports and all others over its cables, and the shortest
	 * routes over all cables.  1: no tables are better.  0: no pair is connected.
	 */
	double all_to_all;

	/*
	 * Effective bisection bandwidth as ORCS defines it (pattern "bisect"; Hoefler, Schneider,
	 * Lumsdaine, "Multistage switches are not crossbars", 2008): end ports are paired at
	 * random, the first of each pair sends to the second, and a pair gets the least share
	 * that any cable on its route leaves it.  The share is the cable's capacity divided by
	 * the flows on it, over the capacity of the lesser of the pair's end cables, and 1
	 * at most: where all cables are alike that is 1 over the largest load on the route.
	 * A pair that is not connected gets 0.  With an odd number of end ports one is left out.
	 */
	unsigned bisections;	/* that were looked at */
	double ebb;		/* mean over bisections and pairs */
	double ebb_least;	/* the worst bisection's mean */

	/*
	 * Shift patterns: each of the end ports, in order of LID, sends to the k-th after it.
	 * The largest load is the most flows on any cable, end cables too, so 1 at least.
	 */
	uint32_t shifts, shifts_all;	/* values of k: looked at, at even distances; that there are */
	double shift_mean;		/* of the largest load over k */
	uint32_t shift_worst, shift_worst_k;

	/*
	 * Layers (sets of paths, each on virtual lanes of its own) such that no layer has a credit
	 * loop: paths from switches with end ports to all LIDs of end ports and aggregation
	 * nodes, the ones that route_verify() judges.  1 is exact, and there is no
	 * credit loop.  Anything else is an upper bound: each path goes into the first layer that
	 * it closes no cycle of channels in, as LASH has it (Skeie, Lysne, Theiss, 2002), but
	 * path by path as DFSSSP has it (Domke, Hoefler, Nagel, 2011), whose own way, to take
	 * paths out of cycles again, needs more layers in tori.  0: more than 32, or the fabric is
	 * too large to tell.  Of routes that have layers (routing/layers.h) and no credit loop in any, their
	 * number.
	 */
	unsigned layers;
	/* Of all paths on one virtual lane, or of those of one of the layers; known in any case. */
	bool credit_loop;
	/*
	 * Data VLs that the cables with fewest have at both ends (VLCap), and what is left of them
	 * with one for each layer; below 0, so many are missing.  0 and 0: not known.
	 */
	unsigned vls;
	int vls_left;
	/*
	 * Ports that a switch could choose among on the way to a LID without a credit loop in any layer, as
	 * adaptive routing would, in the mean (routing/choices.h).  0: not known, as there is a credit loop, or the
	 * fabric is too large to tell.
	 */
	double choices;
};

/* l is of r->f. */
void gauge_measure(const struct route_request *r, const struct lfts *l,
		   const struct gauge_options *o, struct gauge *out);
/*
 * Measures other tables for the fabric of r, as a yardstick where the switches form no tree: evenly
 * spread shortest paths that may have credit loops (engine "minhop").  Only pairs and bisections are
 * measured.
 */
void gauge_plain(const struct route_request *r, const struct gauge_options *o, struct gauge *out);
/* The figures for people; f is the fabric. */
void gauge_print(const struct gauge *g, const struct fabric *f, struct buf *out);
/* Prints g beside the figures of gauge_plain(), without a newline: what up/down routes cost here. */
void gauge_print_cost(const struct gauge *g, const struct gauge *plain, struct buf *out);

#endif
