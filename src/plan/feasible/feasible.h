/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Judges whether this fabric can do what the policy asks (P7).
 *
 * It computes what each level gets on each kind of link when all levels are backlogged, where that
 * is least, which demands cannot be met, where and why, and what comes nearest.
 *
 * Links are judged by kind: out ports whose rate, MTU, VLs, tables and class of port agree are one
 * kind of link, and a fabric has few.  Pure data, printable as text here and as JSON in ctl/.
 */
#ifndef QOSD_PLAN_FEASIBLE_FEASIBLE_H
#define QOSD_PLAN_FEASIBLE_FEASIBLE_H

#include "plan/plan.h"
#include "qos/arbiter/arbiter.h"

/* What a level gets on a kind of link. */
struct level_link {
	uint8_t vl;		/* IB_VL_DROP: the link drops its packets */
	bool high;		/* its VL is in the high table */
	bool starved;		/* it gets nothing when all are backlogged */
	bool unknown;		/* several VLs and no tables: the device decides, share is 0 */
	uint16_t shared_with;	/* SLs of other levels on the same VL, bit s */
	/* of the link, all levels backlogged, by the model of the settings; if shared, the VL's */
	double share;
	double share_iba;	/* the same by IBA's arbiter */
	double share_measured;	/* by the study of hardware; < 0: it does not cover such links */
	double asked;		/* as the traffic class has it in the policy; < 0: none */
	/*
	 * What the VL is to get of the link when all are backlogged, by the classes; < 0: none.  For low
	 * priority that is less than asked, which is of what high priority leaves.
	 */
	double due;
	double share_idle;	/* share of the link while no VL of high priority sends; < 0: it is one */
	double guaranteed;	/* Gb/s: share of the data rate, at most the rate-limit */
	double ceiling;		/* Gb/s when nobody else sends: data rate or rate-limit */
	double wait_us;		/* bound on a packet's wait for other VLs here; < 0: none */
};

/*
 * What packets of an SL get on a kind of link while programs use all SLs, whether or not a level has them:
 * programs may choose an SL by themselves, without asking the subnet administrator.  Packets of an SL that
 * no level has are as long as the link allows.
 */
struct sl_link {
	uint8_t vl;		/* IB_VL_DROP: the link drops its packets */
	bool high;		/* its VL is in the high table */
	bool served;		/* its VL is in either table, or there is no arbitration */
	bool starved;		/* it gets nothing when all are backlogged */
	bool unknown;		/* several VLs and no tables: the device decides, shares are 0 */
	/* of the link, as in struct level_link, but with the VLs of all SLs backlogged */
	double share, share_iba, share_measured;
};

struct link_kind {
	enum port_class class;
	uint8_t rate, mtu, vls;	/* rate code, MTU code, number of operational data VLs */
	bool fdr10;		/* its rate equals QDR's, its encoding does not */
	uint16_t arb;		/* index into the plan's arbs, or TABLE_NONE */
	uint16_t map;		/* the SL2VL id of most of its ports (in port 0: any) */
	uint32_t n_ports, example;	/* number of ports; one of them */
	struct level_link *levels;	/* per policy level */
	struct sl_link sls[IB_SL_COUNT];
};

/* A level in the whole fabric. */
struct level_verdict {
	uint32_t worst;		/* the kind of link with the least guaranteed; UINT32_MAX: none */
	uint64_t unreachable;	/* ordered pairs of end ports with a route that its SL does not connect, */
	uint32_t from, to;	/* one such pair */
	uint64_t pairs;		/* ordered pairs of end ports that have a route */
};

/* A link that runs below what both its ends support, or below most others of its kind. */
struct deviation {
	uint32_t port;		/* the lower of its two port slots */
	uint8_t rate, usual;	/* rate codes */
	uint8_t vls, usual_vls;	/* data VLs that both ends support; the usual number */
	char why[160];
};

struct feasibility {
	struct link_kind *kinds;	/* the most common first */
	uint32_t n_kinds;
	uint16_t *kind_of_port;		/* per port slot: index into kinds, UINT16_MAX: no link */
	struct level_verdict *levels;	/* per policy level */
	uint16_t unnamed;		/* SLs that no level has, in any layer; 0 if tables are not managed */
	/* By SL, for those of levels and the unnamed ones; worst: the kind where it gets least, of all SLs. */
	struct level_verdict sls[IB_SL_COUNT];
	struct deviation *deviations;
	uint32_t n_deviations;
	/*
	 * With positions in the policy.  Findings are about levels starved somewhere or unable to send at
	 * all, levels that share a VL here and not there, shares that the levels' packet sizes spoil, shares
	 * that the study of hardware puts elsewhere, unreachable pairs per level, limits that no path meets
	 * or none exceeds, rules that give no path, links that deviate, nodes that no group names, and SLs
	 * that no level has (feasible_sls.c).  qos_tables_build() has reported what the tables alone show
	 * (classes that share a VL, shares that no table meets, with the nearest).
	 *
	 * A level that is useless here is an error: its SL connects nobody, it can send nothing at a port
	 * whose clients may get it, or no partition has its P_Keys.  What works, but not everywhere or not as
	 * asked, is a warning; what is worth knowing and may be intended is info.
	 */
	struct findings findings;
	/*
	 * Those of them, all errors, on levels that clients may get and that can send nothing at some
	 * ports: reasons to refuse a policy while another is in force.
	 */
	struct findings cut;
	uint8_t *level_cut;	/* per policy level, in its order: how many in cut are on it */
};

/*
 * p must be complete (plan_complete()).  Only the base LID of each port counts; packets have the
 * greatest size that link and level allow.
 */
struct feasibility *feasible_judge(const struct plan *p);
void feasible_free(struct feasibility *v);	/* NULL is fine */
/* Prints a table for people: kinds of link against levels, then the verdict on each level. */
void feasible_print(const struct feasibility *v, const struct plan *p, struct buf *out);

/*
 * The SLs of a set that a kind of link puts on VL vl, which may be IB_VL_DROP: those that it drops.
 */
uint16_t kind_sls_on(const struct link_kind *k, uint16_t sls, unsigned vl);

/* The data rate of a kind of link in Gb/s, from link_data_gbps(). */
double feasible_link_gbps(const struct link_kind *k);

#endif
