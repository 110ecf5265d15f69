/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Data traffic under load, in thought: hosts that have packets to send all the
 * time, links that arbitrate by the tables in the devices, and buffers that
 * fill up.  What comes of it is in the ports' counters, and nowhere else: no packet
 * is sent.
 *
 * Time goes by packet times.  All packets are of one size, all links equally fast,
 * and each link carries a packet in each of them, at most; a packet waits where the
 * buffer of its VL behind the link is full.  So shares and waits are those of lossless
 * links with VL arbitration (7.6.9, 7.9.4); speeds are not modelled.
 */
#ifndef QOSD_SIM_NET_FULL_LOAD_H
#define QOSD_SIM_NET_FULL_LOAD_H

#include "sim/net/engine.h"

#define LOAD_FLOWS_MAX	128
#define LOAD_HOPS_MAX	64

struct load_flow {
	uint32_t from;			/* end port of a CA or router */
	uint16_t dlid;
	uint8_t sl;
};

struct load {
	uint32_t packets;		/* packet times, 1.. */
	uint32_t bytes;			/* of a packet, 4..; counted in units of 4 */
	uint32_t times;			/* 1..: each packet stands for so many */
};

/*
 * False with the reason in err, and nothing is counted, if a flow has no way;
 * n is at most LOAD_FLOWS_MAX.  A tick of XmitWait is as long as `times` packets, so that the
 * counters of 16 bits are not full at once.
 */
bool load_run(struct sim *s, const struct load_flow *flows, unsigned n, const struct load *l,
	      struct buf *err);

#endif
