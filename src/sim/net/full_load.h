/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An analytical model of data traffic under full load.
 *
 * Hosts always have packets to send, links arbitrate by the tables in the devices, and buffers fill
 * up.  The only results are the ports' counters; no packet is sent.
 *
 * Time advances in packet times.  All packets have one size and all links one speed, and a link
 * carries at most one packet in each packet time.  A packet waits while the buffer of its VL behind
 * the link is full.  So shares and waits are those of lossless links with VL arbitration (7.6.9,
 * 7.9.4); speeds are not modelled.
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
	uint32_t packets;		/* number of packet times, from 1 */
	uint32_t bytes;			/* packet size, from 4; counted in units of 4 */
	uint32_t times;			/* number of packets that each one stands for, from 1 */
};

/*
 * Runs the model. n is at most LOAD_FLOWS_MAX.  If a flow has no route, returns false with the
 * reason in err, and counts nothing.  A tick of XmitWait lasts `times` packets, so that 16-bit
 * counters do not saturate at once.
 */
bool load_run(struct sim *s, const struct load_flow *flows, unsigned n, const struct load *l,
	      struct buf *err);

#endif
