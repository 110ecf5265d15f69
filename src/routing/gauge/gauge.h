/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Measures how good forwarding tables are, in figures that are comparable between tables of one fabric.
 *
 * It does not matter what made the tables.  The figures cover connectivity, detours, balance, bandwidth
 * under traffic, and the VLs needed to be free of credit loops.
 *
 * Pure: a const fabric, its LIDs and its tables come in, a plain value comes out.  No clock and no
 * source of randomness affects it: the same input and seed give the same figures.
 *
 * An end port is a port of a channel adapter or router that is linked to a switch and has a LID, except
 * aggregation nodes (port_is_host()).  A pair is an ordered pair of two different end ports, and its route
 * is that to the destination's base LID; LIDs that the LMC adds count for credit loops only.  A pair is
 * connected if its route ends at the destination.  The length of a route is the number of switches on it,
 * 1 between ports of one switch.
 *
 * A cable is one direction of a link between two different switches.  The link between an end port and its
 * switch is an end cable; comments say so where they mean one.  The capacity of a cable is the data rate
 * of the link, the lesser of what its two ends report; a link of unknown rate counts as the slowest known
 * one.
 */
#ifndef QOSD_ROUTING_GAUGE_GAUGE_H
#define QOSD_ROUTING_GAUGE_GAUGE_H

#include <stdatomic.h>

#include "lib/base/buf.h"
#include "routing/route.h"

struct gauge_options {
	unsigned bisections;	/* most random bisections */
	unsigned shifts;	/* most shift patterns */
	uint64_t flows;		/* limit on the flows of all bisections, and on those of all shifts */
	uint64_t seed;
	bool layers;		/* count layers, which may be most of the work */
	/* Polled, or NULL; once it is true the measurement ends soon, and the figures are meaningless. */
	const atomic_bool *stop;
};
extern const struct gauge_options gauge_defaults;	/* 1,000, 1,000, 10 million, 1, true */

struct gauge {
	uint32_t ends;		/* number of end ports */
	uint64_t pairs, connected;

	/* Detours, over connected pairs: switches on the route divided by the least possible number. */
	double ratio_mean, ratio_most;
	unsigned longer_most;	/* largest difference, in switches */
	uint32_t longer_from, longer_to;	/* ports of an example, or FABRIC_NONE */
	unsigned hops_most;

	/* Edge-forwarding index: routes of connected pairs on one direction of a cable. */
	uint32_t cables;	/* cables, used or not */
	uint64_t efi;
	double efi_mean;	/* over all cables */
	uint32_t hottest;	/* port that sends into the cable with the most routes, or FABRIC_NONE */
	/*
	 * All to all: the largest ratio of routes to capacity on any cable, including end cables, divided
	 * by a lower bound of that ratio for any tables.  The bound is the greatest of: each end cable's
	 * own routes; the routes between each switch's end ports and all others over the switch's cables;
	 * the shortest routes over all cables.  1: no tables are better.  0: no pair is connected.
	 */
	double all_to_all;

	/*
	 * Effective bisection bandwidth as ORCS defines it (pattern "bisect"; Hoefler, Schneider,
	 * Lumsdaine, "Multistage switches are not crossbars", 2008): end ports are paired at random, the
	 * first of each pair sends to the second, and a pair gets the least share that any cable on its
	 * route leaves it.  The share is the cable's capacity divided by the flows on it, divided by the
	 * capacity of the lesser of the pair's end cables, and 1 at most.  Where all cables are alike,
	 * that is 1 over the largest load on the route.  A pair that is not connected gets 0.  With an odd
	 * number of end ports one is left out.
	 */
	unsigned bisections;	/* bisections measured */
	double ebb;		/* mean over bisections and pairs */
	double ebb_least;	/* the worst bisection's mean */

	/*
	 * Shift patterns: each end port, in order of LID, sends to the k-th after it.  The largest load is
	 * the greatest number of flows on any cable, including end cables, so at least 1.
	 */
	uint32_t shifts, shifts_all;	/* values of k: measured, at even distances; possible */
	double shift_mean;		/* mean over k of the largest load */
	uint32_t shift_worst, shift_worst_k;

	/*
	 * Layers (sets of paths, each on VLs of its own) such that no layer has a credit loop.  The paths
	 * are those from switches with end ports to all LIDs of end ports and aggregation nodes, which
	 * route_verify() judges.  1 is exact: there is no credit loop.  A greater number is an upper
	 * bound: each path goes into the first layer where it closes no cycle of channels, as in LASH
	 * (Skeie, Lysne, Theiss, 2002), but path by path as in DFSSSP (Domke, Hoefler, Nagel, 2011).
	 * DFSSSP's own method, to take paths out of cycles again, needs more layers in tori.  0: more than
	 * 32, or the fabric is too large to tell.  For routes that have layers (routing/layers.h) without
	 * a credit loop, it is their number.
	 */
	unsigned layers;
	/* Among all paths on one VL, or within one of the layers; known in any case. */
	bool credit_loop;
	/*
	 * Data VLs of the cables with the fewest at both ends (VLCap), and how many remain with one for
	 * each layer (negative: that many are missing).  0 and 0: unknown.
	 */
	unsigned vls;
	int vls_left;
	/*
	 * Mean number of ports that a switch could choose among on the way to a LID, as adaptive routing
	 * would, without a credit loop in any layer (routing/choices.h).  0: unknown, because there is a
	 * credit loop or the fabric is too large to tell.
	 */
	double choices;
};

/* l is of r->f. */
void gauge_measure(const struct route_request *r, const struct lfts *l,
		   const struct gauge_options *o, struct gauge *out);
/*
 * Measures other tables for the fabric of r, for comparison where the switches form no tree: evenly spread
 * shortest paths that may have credit loops (engine "minhop").  Measures only pairs and bisections.
 */
void gauge_plain(const struct route_request *r, const struct gauge_options *o, struct gauge *out);
/*
 * Counts the routes of connected pairs that each port sends into its link; routes: [port slot of r->f],
 * zeroed by the caller.  Includes the links of end ports.
 */
void gauge_loads(const struct route_request *r, const struct lfts *l, uint32_t *routes);
/* Prints the figures for people; f is the fabric. */
void gauge_print(const struct gauge *g, const struct fabric *f, struct buf *out);
/* Prints g next to the figures of gauge_plain(), without a newline: the cost of up/down routes here. */
void gauge_print_cost(const struct gauge *g, const struct gauge *plain, struct buf *out);

#endif
