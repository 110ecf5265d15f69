/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who gets how much of one link: what contends at an out port by the plan, and what
 * the arbiter makes of it.  What is promised to a VL is its share there.
 */
#ifndef QOSD_PLAN_PORT_SHARES_H
#define QOSD_PLAN_PORT_SHARES_H

#include "plan/published_state.h"
#include "qos/arbiter/arbiter.h"

/*
 * An out port with the VLs of all levels, in all layers, backlogged, each with the greatest
 * packets that the link and the levels on it allow.  A switch may map an SL
 * otherwise for each in port: all of them count.
 */
struct port_shares {
	const struct vlarb *arb;	/* NULL: one VL, no tables, or tables that nobody has read */
	bool known;			/* of the shares: not when tables are not managed */
	double gbps;			/* data rate of the link; 0: no link */
	uint8_t mtu, rate;		/* of the link: codes */
	uint16_t sls[ARB_VLS];		/* on each VL: SLs that a level has, in whatever layer */
	uint16_t high, low;		/* VLs of the tables */
	struct arb_load load;
	struct arb_cycle cycle;
};
void port_shares(const struct subnet_state *s, uint32_t port, struct port_shares *out);
/* Of the link; 0..1. */
double vl_share(const struct port_shares *p, unsigned vl);
/* In µs at most, the packet's own time not counted; < 0: no bound. */
double vl_wait_us(const struct port_shares *p, unsigned vl);

#endif
