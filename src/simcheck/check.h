/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The auditor: what the tables in the devices mean, all told, by nothing but
 * the tables.  Independent of how a daemon computes them.
 */
#ifndef QOSD_SIMCHECK_CHECK_H
#define QOSD_SIMCHECK_CHECK_H

#include "simnet/model.h"

/*
 * What counts as one finding is said with each.  A path that an SL's mapping
 * cuts short is an AUDIT_VL15 where it happens, not AUDIT_UNREACHABLE at each
 * of its ends; audit.pairs and .connected tell how much is lost in all.
 */
enum audit_kind {
	AUDIT_UNREACHABLE,	/* a place where the way to one LID ends; an end that cannot send */
	AUDIT_LOOP,		/* forwarding of one LID that comes back */
	AUDIT_VL15,		/* a hop in use that loses SLs in use: VL15, or no such VL */
	AUDIT_CREDIT_LOOP,	/* channels (link and VL) that all wait for each other */
	AUDIT_LINK,		/* a link whose ends disagree: state, VLs, MTU, width, speed */
	AUDIT_LID,		/* an end port: LID missing, doubled or out of range, SM LID */
	AUDIT_TABLE,		/* a port: VLArb of a VL that does not exist, P_Key missing … */
	AUDIT_MCAST,		/* an MLID: not connected, loops, or leads nowhere at a port */
	AUDIT_KINDS
};
const char *audit_kind_name(enum audit_kind k);	/* "unreachable", "credit-loop" … */

struct audit_options {
	/*
	 * Bit n: SL n is in use.  0: every SL that connects at least one pair of
	 * ends; so one that the tables drop everywhere is not at fault, one that
	 * passes here and is dropped there is.  (If no SL connects any: SL 0.)
	 */
	uint16_t sls;
	unsigned findings_max;	/* of each kind, told in words; all are counted */
	bool switches;		/* port 0 of switches as ends, too */
};

/*
 * Ends are the end ports whose link is up and that have a LID; each is a
 * source towards every LID (LMC ranges included) of all the others.
 */
struct audit {
	uint64_t count[AUDIT_KINDS];
	VEC(struct audit_finding { enum audit_kind kind; char *text; }) findings;
	uint32_t end_ports, links, links_active;	/* links: those that are up */
	uint64_t pairs;			/* (source, LID of another end), times SLs in use */
	uint64_t connected;		/* … that get through, end to end */
	unsigned hops_max;		/* switches on a path */
	double hops_mean;
	uint16_t sls;			/* in use: as told, or as found */
	uint16_t sls_connected;		/* SLs by which every pair is connected */
	uint16_t vls_used;		/* data VLs that SLs in use take on routes between ends */
	uint32_t mcast_groups;		/* MLIDs that some switch forwards */
};

void audit_run(const struct sim_fabric *f, const struct audit_options *o, struct audit *out);
void audit_free(struct audit *a);
/* Nothing found. */
bool audit_clean(const struct audit *a);
void audit_print(const struct audit *a, struct buf *out);
/*
 * The VL at each hop of one path, from end port src: "NAME/P1 -> NAME/P2 VL 3"
 * lines; the reason if it ends early.
 */
void audit_path(const struct sim_fabric *f, uint32_t src, uint32_t dst_lid, unsigned sl,
		struct buf *out);

#endif
