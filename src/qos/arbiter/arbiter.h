/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The VL arbiter of an output port (IBA 7.6.9), run in thought: who gets how
 * much of a link on which several VLs have packets waiting all the time.
 *
 * The arbiter as IBA has it, and as it is modelled here:
 *  - Each of the two tables has a current entry and what is left of that entry's
 *    weight.  A packet of the entry's VL may be sent while anything is left; it
 *    is deducted, and what it took too much is forgotten.  Otherwise the next
 *    entry is looked at, with its full weight.  Entries of weight 0, and of VLs
 *    that have nothing to send, are passed by.
 *  - The high table is served until the limit is used up (counted as weights
 *    are: a packet may be sent while anything is left; limit 0 is one packet,
 *    255 never ends) or it has nothing to send.  Then the limit starts anew
 *    and one packet of the low table is sent.
 *
 * So each of the tables goes its own way: the high one from one low packet to
 * the next, which is a round, and the low one by a packet a round.  Both come
 * back to where they were after some rounds, which is why the shares are exact
 * and no simulation of the joint cycle is needed, however long it is.
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
#define ARB_LIMIT_UNIT 4096	/* bytes */
#define ARB_LIMIT_UNBOUNDED 255

/* What waits at the port. */
struct arb_load {
	uint16_t active;		/* bit v: VL v always has a packet (is backlogged) */
	uint16_t packet[ARB_VLS];	/* bytes of each VL's packets on the wire; 0: it has none */
};

/* The same size of packets on all VLs, active or not. */
struct arb_load arbiter_load(uint16_t active, uint16_t packet);

/*
 * Over one joint cycle of both tables, which is the same wherever they begin.
 * Exact.  Where only one table sends, over one turn of it.
 */
struct arb_cycle {
	uint64_t packets[ARB_VLS];
	uint64_t bytes[ARB_VLS];
	uint64_t total_packets, total_bytes;	/* 0: nothing is ever sent */
	double share[ARB_VLS];		/* bytes / total_bytes; the sum is 1 or 0 */
	uint16_t starved;		/* active VLs that never send */
};

/* Takes microseconds; a millisecond or more where full tables and small, odd packets meet. */
void arbiter_run(const struct vlarb *arb, const struct arb_load *load, struct arb_cycle *out);

/*
 * An upper bound of the bytes that leave the port between the moment a packet
 * comes to the head of VL vl's queue, which was empty, and the moment its first
 * bit is sent, with every other VL of the load backlogged (vl itself need not be
 * active in it): the packet in transmission, the entries that come before, and
 * the low packets in between.  For a VL of either table, and whatever vl sent
 * before, but that none of its own packets is in transmission: then that comes
 * on top.  UINT64_MAX if vl is in no table, or may starve.  Credits are not
 * considered: the next device always takes what it is sent.
 */
uint64_t arbiter_wait_bytes(const struct vlarb *arb, const struct arb_load *load, unsigned vl);

/* VLs that have a weight in the high table, in the low table: bit v. */
uint16_t arbiter_high_vls(const struct vlarb *arb);
uint16_t arbiter_low_vls(const struct vlarb *arb);

/*
 * What was measured on hardware for one VL of high and one of low priority at
 * an MTU of 2048 bytes, limit q, high weight h, low weight l, all as in the
 * tables, h and l not 0, q below 255: high:low = (h/l) * max(1, floor(2*q*l/h)).
 * It differs from arbiter_run(): that hardware serves whole weights within the
 * limit.  The 1 counts where the limit is less than the weight (2*q*l < h).
 */
double arbiter_measured_ratio(unsigned q, unsigned h, unsigned l);

#endif
