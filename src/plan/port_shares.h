/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Computes which share of a link each VL gets, from what contends at the out port under the plan.
 *
 * The share promised to a VL is its share there.
 */
#ifndef QOSD_PLAN_PORT_SHARES_H
#define QOSD_PLAN_PORT_SHARES_H

#include "plan/published_state.h"
#include "qos/arbiter/arbiter.h"

/*
 * An out port with the VLs of all levels, in all layers, backlogged, each with the greatest packets
 * that the link and the levels on it allow.  A switch may map an SL differently for each in port:
 * all of these maps count.
 */
struct port_shares {
	const struct vlarb *arb;	/* NULL: one VL, no tables, or tables that were not read */
	bool known;			/* the shares are known: false if tables are not managed */
	double gbps;			/* data rate of the link; 0: no link */
	uint8_t mtu, rate;		/* codes, of the link */
	uint16_t sls[ARB_VLS];		/* by VL: SLs of levels, in any layer, that use it */
	uint16_t unnamed[ARB_VLS];	/* by VL: SLs that no level has and SL2VL puts there; not in load */
	uint16_t high, low;		/* VLs in the two tables */
	struct arb_load load;
	struct arb_cycle cycle;
	bool by_study;			/* the study of hardware covers the port: `measured` is set */
	double measured[ARB_VLS];	/* by arbiter_measured() */
	enum arb_model model;		/* of the settings */
};
void port_shares(const struct subnet_state *s, uint32_t port, struct port_shares *out);
/* The same with VL vl backlogged, too, even if no level uses it; nothing more if vl is no data VL. */
void port_shares_with(const struct subnet_state *s, uint32_t port, unsigned vl, struct port_shares *out);
/*
 * The VL's share of the link, 0..1, by the model of the settings; by IBA's where the study of hardware does
 * not cover the port.
 */
double vl_share(const struct port_shares *p, unsigned vl);
/* The VL's share by one model, 0..1; < 0: the study of hardware does not cover the port. */
double vl_share_by(const struct port_shares *p, unsigned vl, enum arb_model model);
/*
 * The VL's share of the link, 0..1, while the VLs in the high table have nothing to send; < 0: it is one of
 * them.
 */
double vl_share_idle(const struct port_shares *p, unsigned vl);
/* Upper bound in µs, without the packet's own time; < 0: no bound. */
double vl_wait_us(const struct port_shares *p, unsigned vl);

#endif
