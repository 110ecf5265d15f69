/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The subnet as plain data: nodes, ports, links, as discovery saw them.
 *
 * Everything is an index into three arrays, so that the whole is compact,
 * copyable and printable.  A node with n ports owns n + 1 consecutive port
 * slots, port0 .. port0 + n; slot 0 is a switch's port 0 (its management
 * port), unused on CAs and routers.
 *
 * Invariants after fabric_finish():
 *  - peer is symmetric: ports[ports[p].peer].peer == p;
 *  - node 0 is the node that the SM runs on, and self its port;
 *  - by_guid maps the GUID of every end port (CA and router ports, and port 0
 *    of switches) to its port index; of several end ports with one GUID, to the one that owns
 *    it (fabric_owns_guid());
 *  - a channel adapter that is a SHARP aggregation node says so (`aggregation`);
 *  - the switches are nodes[switches[0 .. n_switches - 1]], and a node's `sw`
 *    is its place there.
 *
 * From then on a fabric is read-only for everybody but the one who brought it
 * up, who stores each PortInfo that a device answers (fabric_port_store).
 */
#ifndef QOSD_FABRIC_FABRIC_H
#define QOSD_FABRIC_FABRIC_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/map64.h"
#include "lib/iba/iba.h"

#define FABRIC_NONE UINT32_MAX

struct fabric_port {
	uint64_t guid;		/* port GUID; a switch's ports all have the switch's */
	uint32_t node;
	uint32_t peer;		/* port at the other end of the link, or FABRIC_NONE */
	uint32_t capmask;
	/* From here to op_vls: decoded from info, kept in step by fabric_port_store(). */
	uint16_t lid, sm_lid;
	uint8_t num;
	bool present;		/* PortInfo was read */
	uint8_t lmc;
	uint8_t state, phys_state;	/* enum ib_port_state, IB_PHYS_LINK_UP … */
	uint8_t mtu_cap, neighbor_mtu;	/* MTU codes */
	uint8_t vl_cap, op_vls;		/* VL codes 1..5 */
	uint8_t vlarb_high_cap, vlarb_low_cap;	/* entries */
	uint8_t rate;			/* rate code of the link as it runs */
	bool rate_guessed;	/* rate is a lower bound: width or speed has a value that is not known */
	bool fdr10;			/* see fabric_set_fdr10() */
	bool fdr10_enabled;		/* … is, or is not supported; false: nobody asked */
	bool held;		/* no route is to use the link, between switches; so says the other end, too */
	bool plain;		/* info was read without SMSupportExtendedSpeeds (14.2.5.6) */
	bool unsure;		/* it may be other than info by now: what was asked of it had no answer */
	uint8_t info[64];	/* PortInfo as the device last gave it */
};

struct fabric_node {
	uint64_t guid, sysimg_guid;
	uint32_t port0;		/* slot of port number 0 */
	uint32_t sw;		/* place among the switches, or FABRIC_NONE */
	uint32_t route;		/* directed route: fabric->routes[route .. route + hops - 1] */
	uint8_t hops;
	uint8_t type;		/* enum ib_node_type */
	bool aggregation;	/* it reduces packets inside a switch, and is no host */
	bool silent;		/* it did not answer of late: directed routes go round it if they can */
	uint8_t nports;
	uint8_t local_port;	/* the port by which discovery reached it */
	uint16_t partition_cap;
	uint8_t info[40];	/* NodeInfo */
	char desc[65];		/* NodeDescription, NUL-terminated */
};

/* What SwitchInfo says (14.2.5.4). */
struct fabric_switch {
	uint32_t node;
	uint16_t lft_cap, lft_top, mcast_top, enforce_cap;
	uint16_t mcast_cap;	/* at most IB_MLIDS, whatever the device says */
	uint8_t lifetime;
	bool enhanced_port0, port_change, optimized_sl2vl;
	bool enforces_in, enforces_out;	/* it can enforce partitions on packets that come in, go out */
	bool top_stays;		/* LinearFDBTop can't be changed: the switch drops what is above lft_top */
	uint8_t info[20];
};

/* A block of a switch's linear forwarding table that can't be changed. */
struct lft_fixed {
	uint32_t sw;
	uint32_t block;
	uint8_t entries[64];	/* what the switch holds */
};

struct fabric {
	struct fabric_node *nodes;
	struct fabric_port *ports;
	struct fabric_switch *switches;
	uint8_t *routes;
	uint32_t n_nodes, n_ports, n_switches, n_routes;
	uint32_t self;			/* port index of the SM's own port */
	uint32_t unanswered;		/* links that are up but whose far side did not answer */
	uint32_t n_nameless;		/* end ports without a GUID, or with that of another one */
	struct lft_fixed *fixed;		/* by switch, then block; see fabric_keep_blocks() */
	uint32_t n_fixed;
	struct map64 by_guid;		/* end port GUID -> port index */
	struct map64 node_by_guid;	/* node GUID -> node index */
	/* growth, for the builder only */
	uint32_t cap_nodes, cap_ports, cap_switches, cap_routes;
};

/* --- building, in this order: new, add nodes, set ports and links, finish --- */

struct fabric *fabric_new(void);
void fabric_free(struct fabric *f);

/*
 * Adds a node.  node_info: 40 bytes of NodeInfo (type, ports and GUIDs are
 * taken from it).  desc: up to 64 bytes, need not be terminated.  switch_info:
 * 20 bytes for a switch, else NULL.  route: the port numbers to leave by, from
 * the SM's port on.  Returns the node's index, or FABRIC_NONE if NodeInfo
 * makes no sense (type, number of ports, GUID 0), a switch has no SwitchInfo,
 * the route is longer than IB_DR_HOPS_MAX or the GUID is there already.
 */
uint32_t fabric_add_node(struct fabric *f, const uint8_t *node_info,
			 const char *desc, const uint8_t *switch_info,
			 const uint8_t *route, unsigned hops);
/*
 * Takes a NodeInfo (40 bytes) that has the node's GUID, type and number of ports, but for
 * LocalPortNum, which is that of the way of the answer.  False: it is as it was.
 */
bool fabric_node_store(struct fabric *f, uint32_t node, const uint8_t *node_info);
/*
 * The PortInfo of a port (64 bytes).  guid: the port's.  False if there is no
 * such port.
 */
bool fabric_set_port(struct fabric *f, uint32_t node, unsigned num, uint64_t guid,
		     const uint8_t *port_info);
/*
 * False, and nothing done, if either port is unknown or linked elsewhere
 * already, or both are the same one.
 */
bool fabric_link(struct fabric *f, uint32_t node_a, unsigned num_a,
		 uint32_t node_b, unsigned num_b);
/*
 * Indexes the whole.  self_node/self_num: where the SM runs; self_node is 0.
 * Links that have an end without PortInfo are cut, and counted as unanswered.
 * Errors (no own port, no port GUID, duplicate port GUID: the later one loses
 * its GUID index) are appended to err, a line each; false only if the fabric
 * is of no use.
 */
bool fabric_finish(struct fabric *f, uint32_t self_node, unsigned self_num, struct buf *err);
/*
 * Of several end ports of f, which is finished, with one port GUID, the port that owned it in
 * `before` owns it: the one with that number of the node with that node GUID.  So a newcomer
 * does not take the name of a port that is there, in whatever order discovery meets the two.
 */
void fabric_keep_owners(struct fabric *f, const struct fabric *before);

/*
 * Takes a PortInfo that the device answered: info and what is decoded from it.
 * A PortState that there is not becomes 0.  Capabilities that make no sense become the least there is (one VL, MTU 256),
 * a NeighborMTU or OperationalVLs that makes no sense becomes 0, and so does the rate
 * of a port that is down.  Of a link that is up the rate is at least a lower bound.
 * The port is not plain any more: a caller that read it without the bit says so afterwards.
 */
void fabric_port_store(struct fabric_port *p, const uint8_t *port_info);
/*
 * The link of a port, both ends of it, runs at FDR10, or at what PortInfo says:
 * in PortInfo FDR10 looks like QDR.
 */
void fabric_set_fdr10(struct fabric *f, uint32_t port, bool fdr10);
void fabric_switch_store(struct fabric_switch *s, const uint8_t *switch_info);
/*
 * How many MLIDs a switch forwards as it is now, from 0xc000 on: what its table holds, or
 * fewer where MulticastFDBTop says so (14.2.5.4: 0 is ignored, 0xbfff means none).
 */
unsigned fabric_switch_mlids(const struct fabric *f, uint32_t sw);
/* The switch has MulticastFDBTop, and drops packets to MLIDs above it. */
bool fabric_has_mcast_top(const struct fabric *f, uint32_t sw);

/*
 * Takes over a list, in order and without duplicates, of forwarding table blocks that switches
 * do not let the subnet manager change; NULL and 0: there are none.  A clone has the list, a
 * fabric that fabric_settle() makes has none.
 */
void fabric_keep_blocks(struct fabric *f, struct lft_fixed *list, uint32_t n);
/* The switch has any such block. */
bool fabric_keeps_any(const struct fabric *f, uint32_t sw);
/* The 64 entries of such a block; NULL: the switch takes what it is given, as far as is known. */
const uint8_t *fabric_fixed_block(const struct fabric *f, uint32_t sw, uint32_t block);

/*
 * A copy of its own of a finished fabric, for working on while the original is
 * being read.  Nodes and links may be added to it and cut (fabric/edit.h).
 */
struct fabric *fabric_clone(const struct fabric *f);

/* --- looking --- */

static inline struct fabric_port *fabric_port(const struct fabric *f, uint32_t node, unsigned num)
{
	return &f->ports[f->nodes[node].port0 + num];
}

static inline const struct fabric_node *port_node(const struct fabric *f, uint32_t port)
{
	return &f->nodes[f->ports[port].node];
}

static inline bool node_is_switch(const struct fabric_node *n)
{
	return n->type == IB_NODE_SWITCH_T;
}

/* A port with LIDs of its own: CA or router port, or port 0 of a switch. */
static inline bool port_is_end(const struct fabric *f, uint32_t port)
{
	const struct fabric_port *p = &f->ports[port];
	return p->present && (node_is_switch(&f->nodes[p->node]) ? p->num == 0 : p->num != 0);
}

/*
 * An end port of a host: of a channel adapter or router, but for aggregation nodes, on
 * which nothing runs.  What counts hosts, numbers them or judges what they get asks this;
 * what programs a device or makes it reachable asks port_is_end().
 */
static inline bool port_is_host(const struct fabric *f, uint32_t port)
{
	const struct fabric_node *n = port_node(f, port);

	return !node_is_switch(n) && !n->aggregation && port_is_end(f, port);
}

/* The link of a port that has one leads to an aggregation node inside its switch. */
static inline bool link_is_inner(const struct fabric *f, uint32_t port)
{
	return port_node(f, port)->aggregation || port_node(f, f->ports[port].peer)->aggregation;
}

/* Whether the port is the end of a link between switches. */
static inline bool link_joins_switches(const struct fabric *f, uint32_t port)
{
	const struct fabric_port *p = &f->ports[port];

	return p->num && p->peer != FABRIC_NONE && node_is_switch(port_node(f, port)) &&
	       node_is_switch(port_node(f, p->peer));
}

/* The switch (its place among them) that an end port sits on or is linked to, or FABRIC_NONE. */
uint32_t fabric_switch_of(const struct fabric *f, uint32_t port);
/* The node of f that has n's GUID and is of its kind and size, or FABRIC_NONE. */
uint32_t fabric_same_node(const struct fabric *f, const struct fabric_node *n);
/* By GUID of an end port; FABRIC_NONE if unknown. */
uint32_t fabric_find_port(const struct fabric *f, uint64_t guid);
/*
 * The port is the one that fabric_find_port() finds by its GUID.  An end port that is not has LIDs
 * of its own, and no part in what is kept or granted by port GUID.
 */
static inline bool fabric_owns_guid(const struct fabric *f, uint32_t port)
{
	return !f->n_nameless || fabric_find_port(f, f->ports[port].guid) == port;
}
/*
 * "NodeDescription/Pn", the GUID in hex, or "0xGUID/Pn" for a port of a switch,
 * or a decimal LID.  FABRIC_NONE if unknown, or *ambiguous set if several.
 */
uint32_t fabric_find_port_by_text(const struct fabric *f, const char *text, bool *ambiguous);

/* What kind of node it is, in a word: "ca", "switch", "router", "aggregation". */
const char *fabric_type_name(const struct fabric_node *n);
/* How a port is written everywhere: "NodeDescription/Pn (0xguid)"; returns out. */
char *fabric_port_name(const struct fabric *f, uint32_t port, char *out, unsigned n);
char *fabric_node_name(const struct fabric *f, uint32_t node, char *out, unsigned n);
#define FABRIC_NAME_MAX 128

/* --- from a topology file (fabric/load_dump.c) --- */

struct dump;
struct findings;

/*
 * The fabric that a discovery would find in what a file describes (fabric/dump/dump.h).  The devices
 * have the PortInfo that stock ibsim would give (8 VLs, arbitration caps 8/8, MTU 2048); a link
 * of which the file does not say the width or the speed is 4x, or SDR.  The SM sits on the first
 * CA that is no aggregation node, or the node whose GUID is sm_guid when that is not 0, by
 * its first linked port.  As in a discovery, what directed routes do not reach from there is
 * left out.  LIDs are taken from the file only if keep_lids.  NULL with an error if there is no such
 * node, or two ports with one GUID.
 */
struct fabric *fabric_of_dump(const struct dump *d, uint64_t sm_guid, bool keep_lids,
			      struct findings *out);

#endif
