/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Prepares the fabric for walks, with the ways out of each switch and each hop's SLs and VLs.
 *
 * A hop is a way through a switch: in port and out port.  All SLs are handled at once: a set of SLs
 * is a mask of 16 bits, and a row of SL2VL is a number whose nibble n is the VL of SL n.
 */
#ifndef QOSD_SIM_CHECK_CHECK_NET_H
#define QOSD_SIM_CHECK_CHECK_NET_H

#include "sim/check/check_internal.h"

/* Values of gate.sw where no switch is behind the port. */
#define GATE_END	(SIM_NONE - 1)	/* an end port: a CA's, a router's, or port 0 itself */
#define GATE_SHUT	SIM_NONE	/* data cannot leave by the port */

/* A port of a switch: a way out, and a place where senders come in. */
struct gate {
	uint64_t row;		/* if uniform: the SL2VL row of senders that leave here */
	uint32_t sw;		/* switch behind the port, or GATE_… */
	uint16_t pass;		/* if uniform: SLs with which senders can leave here */
	uint16_t lets_in;	/* SLs with which the sender behind the port can send */
	uint8_t in;		/* number of the far port at the switch behind */
	bool sender;		/* an end sends in by this port */
	bool uniform;		/* all senders of this switch meet the same row and SLs here */
	bool used;		/* senders of this switch leave here on the way to some LID */
};

struct hop {
	uint64_t row;		/* VLs on the link behind the out port */
	uint64_t last_row;	/* last row entered into dep with all SLs */
	uint32_t dep;		/* index in net.deps plus 1; 0: none */
	uint16_t pass;		/* SLs that can pass */
	uint16_t sls;		/* SLs that take the hop on routes between ends; ALL_SLS: all in use */
};

/* Dependencies of a hop that joins two links between switches. */
struct dep {
	uint16_t came[16];	/* [SL]: VLs on which packets with that SL come in */
};

struct stage {			/* a switch */
	uint32_t port0;
	uint32_t n_senders;
	size_t hop0;		/* index of hop (0, 0); rows have nports + 1 entries */
	uint8_t nports;
};

struct net {
	const struct sim_fabric *f;
	struct stage *stages;	/* [switch] */
	struct gate *gates;	/* [port]; unused for ports of CAs and routers */
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

/* The VLs that a row maps a set of SLs to. */
static inline uint16_t row_vls(uint64_t row, uint16_t sls)
{
	uint16_t vls = 0;

	for (unsigned sl = 0; sl < 16; sl++)
		vls |= (sls >> sl & 1u) << row_vl(row, sl);
	return vls;
}

/* Packets with these SLs that came in by `row` depend on the link that the hop leads to. */
void net_depend(struct net *n, struct hop *h, uint64_t row, uint16_t sls);

/* The SL2VL row of a CA's or router's port, or of a switch's (in, out). */
uint64_t sl2vl_row(const struct sim_fabric *f, uint32_t node, unsigned in, unsigned out);
/* The SLs of a row that pass on a link with `vls` data VLs. */
uint16_t row_passes(uint64_t row, unsigned vls);

#endif
