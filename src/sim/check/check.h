/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The auditor, which checks what the tables in the devices do to packets.
 *
 * It reads nothing but the tables, and is independent of how a daemon computes them.
 */
#ifndef QOSD_SIM_CHECK_CHECK_H
#define QOSD_SIM_CHECK_CHECK_H

#include "sim/check/path_sls.h"
#include "sim/net/model.h"

/*
 * Kinds of findings; each comment says what counts as one finding.  A path that an SL's mapping
 * cuts short is an AUDIT_VL15 at that hop, not an AUDIT_UNREACHABLE at each of its ends;
 * audit.pairs and .connected tell the total loss.
 *
 * Findings are faults or notes.  A fault loses or stops packets, or may do so.  A note is an oddity
 * that costs no packet, as a sound manager may leave behind.
 */
enum audit_kind {
	AUDIT_UNREACHABLE,	/* a place where the route to a LID ends, or an end that cannot send */
	AUDIT_LOOP,		/* a forwarding loop of one LID */
	AUDIT_VL15,		/* a hop in use that drops SLs in use: mapped to VL15, or to a VL that
				 * does not exist */
	AUDIT_CREDIT_LOOP,	/* channels (link and VL) that all wait for each other */
	AUDIT_LINK,		/* a link whose ends disagree: state, VLs, MTU, width, speed; note:
				 * VLHighLimit */
	AUDIT_LID,		/* an end port: LID missing, duplicate or out of range, or wrong SM LID */
	AUDIT_TABLE,		/* a port: VLArb starves a VL in use, or a P_Key is missing; notes: VLArb
				 * entries of VLs that are not operational, SL2VL entries to such VLs
				 * where no route goes */
	AUDIT_MCAST,		/* an MLID: its tree is not connected, has a loop, or leads nowhere at a
				 * port */
	AUDIT_KINDS
};
const char *audit_kind_name(enum audit_kind k);	/* "unreachable", "credit-loop" and so on */

struct audit_options {
	/*
	 * Bit n: SL n is in use. 0: the auditor derives the set from the tables: each SL that
	 * connects more than half of the pairs with a route, and the SLs by which the ends reach
	 * the subnet manager (MasterSMSL).  So it is no fault that most paths drop an SL which was
	 * never meant to be used; it is one that a single hop drops an SL which passes nearly
	 * everywhere.
	 */
	uint16_t sls;
	/*
	 * NULL: every pair uses every SL in use.  Otherwise each pair uses only the SLs that
	 * path_sls gives it, perhaps none, and `sls` are those of multicast; 0 then means all that
	 * some pair uses.
	 */
	const struct path_sls *path_sls;
	unsigned findings_max;	/* findings of each kind, and notes, that get a text; all are counted */
	bool switches;		/* also treat port 0 of switches as ends */
};

/*
 * Result of an audit.  Ends are the end ports whose link is up and that have a LID.  Each is a
 * source towards every LID (LMC ranges included) of all the others.
 */
struct audit {
	uint64_t count[AUDIT_KINDS];	/* number of faults */
	uint64_t notes;
	VEC(struct audit_finding { enum audit_kind kind; bool note; char *text; }) findings;
	uint32_t end_ports, links, links_active;	/* links: those that are up */
	uint64_t pairs;			/* pairs (source, LID of another end), times the SLs that each uses */
	uint64_t connected;		/* pairs, counted likewise, that are connected end to end */
	unsigned hops_max;		/* switches on the longest path */
	double hops_mean;
	bool by_pair;			/* path_sls was given */
	uint64_t pairs_without_sl;	/* pairs without an SL in path_sls */
	uint16_t sls;			/* in use by pairs: as given, or as derived */
	uint16_t sls_mcast;		/* in use by multicast */
	uint16_t sls_connected;		/* SLs that connect every pair (that uses them) */
	uint16_t sls_partial;		/* SLs not in use that connect some pairs */
	uint16_t vls_used;		/* data VLs that SLs in use take on routes between ends */
	uint32_t mcast_groups;		/* MLIDs that at least one switch forwards */
	uint64_t mcast_members;		/* end ports that these MLIDs are forwarded to */
};

void audit_run(const struct sim_fabric *f, const struct audit_options *o, struct audit *out);
void audit_free(struct audit *a);
/* Whether there are no faults. */
bool audit_clean(const struct audit *a);
void audit_print(const struct audit *a, struct buf *out);

/* One path: each link that a packet crosses, with its VL. */
struct audit_hop {
	uint32_t from, to;	/* ports at both ends of the link */
	uint8_t vl;
};
struct audit_path {
	VEC(struct audit_hop) hops;
	char *lost;	/* where and why the path ends early; NULL: the packet arrives */
};
/*
 * Follows the path from src to dst_lid.  `bytes`: payload size, which no NeighborMTU on the way may
 * be below; 0 ignores MTUs.
 */
void audit_path(const struct sim_fabric *f, uint32_t src, uint32_t dst_lid, unsigned sl,
		unsigned bytes, struct audit_path *out);
void audit_path_free(struct audit_path *p);
/* Prints lines "NAME/P1 -> NAME/P2 VL 3", and the reason if the path ends early. */
void audit_path_print(const struct sim_fabric *f, const struct audit_path *p, struct buf *out);

#endif
