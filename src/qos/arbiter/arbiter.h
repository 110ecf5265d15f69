/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Computes the shares that the VL arbiter of an output port (IBA 7.6.9) gives to backlogged VLs.
 *
 * The arbiter as IBA has it, and as it is modelled here:
 *
 *  - Each of the two tables has a current entry and the rest of that entry's weight.  A packet of the
 *    entry's VL may be sent while any weight is left; its size is deducted, and a deficit is forgotten.
 *    Otherwise the next entry becomes current, with its full weight.  Entries of weight 0, and of VLs that
 *    have nothing to send, are skipped.
 *  - The high table is served until the limit is used up (counted like weights: a packet may be sent while
 *    any of it is left; limit 0 is one packet, 255 never ends) or the table has nothing to send.  Then the
 *    limit starts anew and one packet of the low table is sent.
 *
 * So the two tables advance independently: the high one from one low packet to the next, which is a round,
 * and the low one by a packet per round.  Both return to an earlier state after some rounds.  Therefore
 * the shares are exact, and no simulation of the joint cycle is needed, however long it is.
 *
 * Pure; nothing here knows ports or policies.
 */
#ifndef QOSD_QOS_ARBITER_ARBITER_H
#define QOSD_QOS_ARBITER_ARBITER_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/iba/iba.h"

#define ARB_VLS 15		/* data VLs 0..14 */
#define ARB_WEIGHT_UNIT 64	/* bytes */
#define ARB_WEIGHT_MAX 255u
#define ARB_LIMIT_UNIT 4096	/* bytes */
#define ARB_LIMIT_UNBOUNDED 255

/* The packets waiting at the port. */
struct arb_load {
	uint16_t active;		/* bit v: VL v always has a packet (is backlogged) */
	uint16_t packet[ARB_VLS];	/* bytes of each VL's packets on the wire; 0: no packets */
};

/* A load with packets of one size on all VLs, active or not. */
struct arb_load arbiter_load(uint16_t active, uint16_t packet);

/*
 * Counts over one joint cycle of both tables, which do not depend on where the tables begin.  Exact.  If
 * only one table sends, the counts are of one turn of it.
 */
struct arb_cycle {
	uint64_t packets[ARB_VLS];
	uint64_t bytes[ARB_VLS];
	uint64_t total_packets, total_bytes;	/* 0: nothing is ever sent */
	double share[ARB_VLS];		/* bytes / total_bytes; the sum is 1 or 0 */
	uint16_t starved;		/* active VLs that never send */
};

/*
 * Computes the shares.  Takes microseconds; a millisecond or more for full tables with small packets of
 * odd sizes.
 */
void arbiter_run(const struct vlarb *arb, const struct arb_load *load, struct arb_cycle *out);

/*
 * An upper bound of the bytes that leave the port from the moment a packet comes to the head of VL vl's
 * queue, which was empty, until its first bit is sent, with every other VL of the load backlogged (vl
 * itself need not be active in it).  It covers the packet in transmission, the entries that come before,
 * and the low packets in between.  It holds for a VL of either table, whatever vl sent before, unless one
 * of vl's own packets is in transmission: then that packet must be added.  UINT64_MAX if vl is in no
 * table, or may starve.  Credits are not considered: the next device is taken to accept everything at
 * once.
 */
uint64_t arbiter_wait_bytes(const struct vlarb *arb, const struct arb_load *load, unsigned vl);

/* Bit v: VL v has a weight in the high table; in the low table. */
uint16_t arbiter_high_vls(const struct vlarb *arb);
uint16_t arbiter_low_vls(const struct vlarb *arb);

/*
 * The ratio high:low that was measured on hardware for one VL of high and one of low priority at an MTU of
 * 2048 bytes, with limit q, high weight h and low weight l as in the tables, h and l not 0, q below 255:
 * (h/l) * max(1, floor(2*q*l/h)).  It differs from arbiter_run(): that hardware serves whole weights
 * within the limit.  The 1 applies where the limit is less than the weight (2*q*l < h).
 */
double arbiter_measured_ratio(unsigned q, unsigned h, unsigned l);

/* What predicts shares: the arbiter of IBA's text (arbiter_run()), or the study of hardware. */
enum arb_model { ARB_MODEL_IBA, ARB_MODEL_MEASURED };
/* The MTU of the study, in bytes. */
#define ARB_MEASURED_MTU 2048

/*
 * Sets the share, 0..1, that each VL has by arbiter_measured_ratio(): the VLs of a table divide the
 * table's part in proportion to their weights there, and h and l are the sums of the weights of active VLs.
 * The study had one VL in each table; that several add up is our reading of it.
 *
 * False if the study does not cover the port, and share is not set then: no active VL in one of the
 * tables, a limit of 255, or packets of another size than ARB_MEASURED_MTU on an active VL.
 */
bool arbiter_measured(const struct vlarb *arb, const struct arb_load *load, double share[ARB_VLS]);

/* Whether two shares of one VL, 0..1, differ by more than a tenth of the greater. */
bool arbiter_shares_differ(double a, double b);

#endif
