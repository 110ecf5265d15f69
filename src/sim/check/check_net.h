/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The fabric as those who follow routes want it: the ways out of each switch,
 * and each way through it (a hop: in port, out port) with its SLs and VLs.
 *
 * All SLs are handled at once: sets of SLs are masks of 16 bits, and a row of
 * SL2VL is the number whose nibble n is the VL of SL n.
 */
#ifndef QOSD_SIM_CHECK_CHECK_NET_H
#define QOSD_SIM_CHECK_CHECK_NET_H

#include "sim/check/check_internal.h"

/* gate.sw where there is no switch behind. */
#define GATE_END	(SIM_NONE - 1)	/* an end port: a CA's, a router's, or port 0 itself */
#define GATE_SHUT	SIM_NONE	/* nothing that data can pass to */

/* A port of a switch, as a way out and as a place where senders come in. */
struct gate {
	uint64_t row;		/* uniform: by which senders leave here */
	uint32_t sw;		/* the switch behind, or GATE_… */
	uint16_t pass;		/* uniform: SLs by which senders leave here */
	uint16_t lets_in;	/* SLs that the sender behind sends out itself */
	uint8_t in;		/* port number at the switch behind */
	bool sender;		/* an end sends in by this port */
	bool uniform;		/* all senders of this switch meet the same row and SLs here */
	bool used;		/* by senders of this switch, on the way to some LID */
};

struct hop {
	uint64_t row;		/* VLs on the link behind the out port */
	uint64_t last_row;	/* what dep was last told with all SLs */
	uint32_t dep;		/* place in net.deps plus 1, 0: none */
	uint16_t pass;		/* SLs that pass */
	uint16_t sls;		/* that take it on routes between ends; ALL_SLS: all in use */
};

/* Of a hop between two links between switches. */
struct dep {
	uint16_t came[16];	/* [SL]: VLs on which packets with that SL come in */
};

struct stage {			/* a switch */
	uint32_t port0;
	uint32_t n_senders;
	size_t hop0;		/* of (0, 0); rows of nports + 1 */
	uint8_t nports;
};

struct net {
	const struct sim_fabric *f;
	struct stage *stages;	/* [switch] */
	struct gate *gates;	/* [port]; those of CAs and routers are not used */
	struct hop *hops;
	VEC(struct dep) deps;
};

void net_init(struct net *n, const struct run *r);
void net_free(struct net *n);

static inline struct hop *hop_at(const struct net *n, uint32_t sw, unsigned in, unsigned out)
{
	const struct stage *s = &n->stages[sw];

	return &n->hops[s->hop0 + in * (s->nports + 1u) + out];
}

static inline bool leads_to_switch(const struct gate *g)
{
	return g->sw < GATE_END;
}

static inline unsigned row_vl(uint64_t row, unsigned sl)
{
	return row >> 4 * sl & 15;
}

/* VLs that a set of SLs takes by a row. */
static inline uint16_t row_vls(uint64_t row, uint16_t sls)
{
	uint16_t vls = 0;

	for (unsigned sl = 0; sl < 16; sl++)
		vls |= (sls >> sl & 1u) << row_vl(row, sl);
	return vls;
}

/* Packets with these SLs that came in by a row wait for what the hop leads to. */
void net_depend(struct net *n, struct hop *h, uint64_t row, uint16_t sls);

/* SL2VL of a CA's or router's port, or of a switch's (in, out), as a row. */
uint64_t sl2vl_row(const struct sim_fabric *f, uint32_t node, unsigned in, unsigned out);
/* The SLs of a row that pass on a link with so many VLs. */
uint16_t row_passes(uint64_t row, unsigned vls);

#endif
