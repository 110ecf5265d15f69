/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Can this fabric do what the policy asks (P7)?  What each level gets on each
 * kind of link when everybody wants all, where that is least, which demands
 * can't be met, where, why, and what comes nearest.
 *
 * Links are judged by kind: out ports whose rate, MTU, VLs, tables and class of
 * port agree are one link kind, and a fabric has few.  Pure data, printable as
 * text here and as JSON in ctl/.
 */
#ifndef QOSD_PLAN_FEASIBLE_FEASIBLE_H
#define QOSD_PLAN_FEASIBLE_FEASIBLE_H

#include "plan/plan.h"
#include "qos/arbiter/arbiter.h"

/* What a level gets on a kind of link. */
struct level_link {
	uint8_t vl;		/* IB_VL_DROP: its packets are dropped there */
	bool high;		/* its VL is in the high table */
	bool starved;		/* gets nothing when all are backlogged */
	bool unknown;		/* several VLs and no tables: the device decides, share is 0 */
	uint16_t shared_with;	/* SLs of other levels on the same VL: bit s */
	double share;		/* of the link, all levels backlogged; the VL's, if shared */
	double asked;		/* … by the traffic classes, of that VL; < 0: nothing */
	double guaranteed;	/* Gb/s: share of the data rate, at most the rate-limit */
	double ceiling;		/* Gb/s when nobody else sends: data rate or rate-limit */
	double wait_us;		/* bound of a packet's wait for other VLs here; < 0: none */
};

struct link_kind {
	enum port_class class;
	uint8_t rate, mtu, vls;	/* code, code, data VLs that operate */
	bool fdr10;		/* its rate is that of QDR, its encoding is not */
	uint16_t arb;		/* index into the plan's arbs, TABLE_NONE */
	uint16_t map;		/* the SL2VL id most of its ports have (in port 0 … any) */
	uint32_t n_ports, example;	/* how many; one of them */
	struct level_link *levels;	/* per policy level */
};

/* A level over the whole fabric. */
struct level_verdict {
	uint32_t worst;		/* the kind with the least guaranteed; UINT32_MAX: none */
	uint64_t unreachable;	/* ordered pairs of end ports that its SL does not connect, */
	uint32_t from, to;	/* … one of them; of pairs that have a route */
	uint64_t pairs;		/* ordered pairs of end ports that have a route */
};

/* A link that runs below what both its ends can, or below most others of its kind. */
struct deviation {
	uint32_t port;		/* the lower of its two port slots */
	uint8_t rate, usual;	/* rate codes */
	uint8_t vls, usual_vls;	/* data VLs that both ends can */
	char why[160];
};

struct feasibility {
	struct link_kind *kinds;	/* the most common first */
	uint32_t n_kinds;
	uint16_t *kind_of_port;		/* per port slot: index into kinds, UINT16_MAX: no link */
	struct level_verdict *levels;	/* per policy level */
	struct deviation *deviations;
	uint32_t n_deviations;
	/*
	 * With the policy's positions: levels starved somewhere, or on a VL that no
	 * arbitration table serves, levels that share a VL here and not there,
	 * shares that the levels' packets spoil, unreachable pairs per level, limits
	 * that no path meets or none exceeds, links that deviate.  What the tables
	 * alone tell (classes that share a VL, shares that no table meets, with
	 * the nearest) qos_tables_build() has said.
	 *
	 * An error is what makes a level useless here: its SL connects nobody, or
	 * no partition has its P_Keys.  What works, but not everywhere or not as
	 * asked, is a warning; what is worth knowing and may well be meant is info.
	 */
	struct findings findings;
};

/*
 * p is complete (plan_complete() was called).  Of each port the base LID counts;
 * packets are of the greatest size that link and level allow.
 */
struct feasibility *feasible_judge(const struct plan *p);
void feasible_free(struct feasibility *v);	/* NULL is fine */
/* A table for people: kinds of link against levels, then the verdict of each level. */
void feasible_print(const struct feasibility *v, const struct plan *p, struct buf *out);

/* The data rate of such a link in Gb/s, as link_data_gbps() has it. */
double feasible_link_gbps(const struct link_kind *k);

#endif
