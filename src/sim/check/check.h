/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The auditor: what the tables in the devices mean, all told, by nothing but
 * the tables.  Independent of how a daemon computes them.
 */
#ifndef QOSD_SIM_CHECK_CHECK_H
#define QOSD_SIM_CHECK_CHECK_H

#include "sim/check/path_sls.h"
#include "sim/net/model.h"

/*
 * What counts as one finding is said with each.  A path that an SL's mapping
 * cuts short is an AUDIT_VL15 where it happens, not AUDIT_UNREACHABLE at each
 * of its ends; audit.pairs and .connected tell how much is lost in all.
 *
 * Findings are faults, which lose or stop packets or may do so, and notes: what
 * is odd and costs nobody a packet, as managers that are sound leave behind.
 */
enum audit_kind {
	AUDIT_UNREACHABLE,	/* a place where the way to one LID ends; an end that cannot send */
	AUDIT_LOOP,		/* forwarding of one LID that comes back */
	AUDIT_VL15,		/* a hop in use that loses SLs in use: VL15, or no such VL */
	AUDIT_CREDIT_LOOP,	/* channels (link and VL) that all wait for each other */
	AUDIT_LINK,		/* a link whose ends disagree: state, VLs, MTU, width, speed; note:
				   VLHighLimit */
	AUDIT_LID,		/* an end port: LID missing, doubled or out of range, SM LID */
	AUDIT_TABLE,		/* a port: VLArb starves a VL in use, P_Key missing; notes: VLArb of
				   VLs that are not operational, SL2VL to such where no route goes */
	AUDIT_MCAST,		/* an MLID: not connected, loops, or leads nowhere at a port */
	AUDIT_KINDS
};
const char *audit_kind_name(enum audit_kind k);	/* "unreachable", "credit-loop" … */

struct audit_options {
	/*
	 * Bit n: SL n is in use.  0: as the tables have it, that is, each SL that
	 * connects more than half of the pairs that have a route, and the SLs by
	 * which the ends reach the subnet manager (MasterSMSL).  So one that most
	 * paths drop, since nobody meant it to be used, is not at fault; one that
	 * passes nearly everywhere and is dropped there is.
	 */
	uint16_t sls;
	/*
	 * NULL: every pair uses every SL in use.  Else every pair uses just its own, none if it has
	 * none, and sls are those of multicast; 0: all that some pair uses.
	 */
	const struct path_sls *path_sls;
	unsigned findings_max;	/* of each kind, and notes, told in words; all are counted */
	bool switches;		/* port 0 of switches as ends, too */
};

/*
 * Ends are the end ports whose link is up and that have a LID; each is a
 * source towards every LID (LMC ranges included) of all the others.
 */
struct audit {
	uint64_t count[AUDIT_KINDS];	/* faults */
	uint64_t notes;
	VEC(struct audit_finding { enum audit_kind kind; bool note; char *text; }) findings;
	uint32_t end_ports, links, links_active;	/* links: those that are up */
	uint64_t pairs;			/* (source, LID of another end), times the SLs it uses */
	uint64_t connected;		/* … that get through, end to end */
	unsigned hops_max;		/* switches on a path */
	double hops_mean;
	bool by_pair;			/* judged by path_sls */
	uint64_t pairs_without_sl;	/* by path_sls */
	uint16_t sls;			/* in use by pairs: as told, or as found */
	uint16_t sls_mcast;		/* in use by multicast */
	uint16_t sls_connected;		/* SLs by which every pair (that uses it) is connected */
	uint16_t sls_partial;		/* not in use, but some pairs are connected by them */
	uint16_t vls_used;		/* data VLs that SLs in use take on routes between ends */
	uint32_t mcast_groups;		/* MLIDs that some switch forwards */
	uint64_t mcast_members;		/* end ports that they are forwarded to */
};

void audit_run(const struct sim_fabric *f, const struct audit_options *o, struct audit *out);
void audit_free(struct audit *a);
/* No faults. */
bool audit_clean(const struct audit *a);
void audit_print(const struct audit *a, struct buf *out);

/* One path: each link that a packet passes, with the VL. */
struct audit_hop {
	uint32_t from, to;	/* ports */
	uint8_t vl;
};
struct audit_path {
	VEC(struct audit_hop) hops;
	char *lost;	/* where it ends early, and why; NULL: it arrives */
};
/* bytes: of payload, which no NeighborMTU on the way may be smaller than; 0: of no matter. */
void audit_path(const struct sim_fabric *f, uint32_t src, uint32_t dst_lid, unsigned sl,
		unsigned bytes, struct audit_path *out);
void audit_path_free(struct audit_path *p);
/* "NAME/P1 -> NAME/P2 VL 3" lines; the reason if it ends early. */
void audit_path_print(const struct sim_fabric *f, const struct audit_path *p, struct buf *out);

#endif
