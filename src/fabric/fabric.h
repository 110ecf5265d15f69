/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The subnet as plain data: the nodes, ports and links that discovery found.
 *
 * References are indexes into three arrays, which keeps a fabric compact, copyable and printable.  A
 * node with n ports owns n + 1 consecutive port slots, port0 .. port0 + n; slot 0 is a switch's
 * port 0 (its management port) and unused on CAs and routers.
 *
 * Invariants after fabric_finish():
 *  - peer is symmetric: ports[ports[p].peer].peer == p;
 *  - node 0 is the node that the SM runs on, and self its port;
 *  - by_guid maps the GUID of every end port (CA and router ports, and port 0 of switches) to its
 *    port index; if several end ports share a GUID, to the one that owns it (fabric_owns_guid());
 *  - `aggregation` is set on channel adapters that are SHARP aggregation nodes;
 *  - the switches are nodes[switches[0 .. n_switches - 1]], and a switch node's `sw` is its index
 *    there.
 *
 * From then on only the sweep that brought the fabric up writes to it: it stores each PortInfo that
 * a device returns (fabric_port_store).
 */
#ifndef QOSD_FABRIC_FABRIC_H
#define QOSD_FABRIC_FABRIC_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "fabric/name_map.h"
#include "lib/base/map64.h"
#include "lib/iba/iba.h"

#define FABRIC_NONE UINT32_MAX

struct fabric_port {
	uint64_t guid;		/* port GUID; a switch's ports all have the switch's */
	uint32_t node;
	uint32_t peer;		/* port at the other end of the link, or FABRIC_NONE */
	uint32_t capmask;
	/* From here to op_vls: decoded from info by fabric_port_store(). */
	uint16_t lid, sm_lid;
	uint8_t num;
	bool present;		/* PortInfo was read */
	uint8_t lmc;
	uint8_t state, phys_state;	/* enum ib_port_state, IB_PHYS_LINK_UP … */
	uint8_t mtu_cap, neighbor_mtu;	/* MTU codes */
	uint8_t vl_cap, op_vls;		/* VL codes 1..5 */
	uint8_t vlarb_high_cap, vlarb_low_cap;	/* entries */
	uint8_t rate;			/* active rate code of the link */
	bool rate_guessed;	/* rate is a lower bound: the width or speed code is unknown */
	bool fdr10;			/* see fabric_set_fdr10() */
	/* FDR10 is known to be enabled, or not to be supported */
	bool fdr10_enabled;
	/* link between switches that routes must not use; set at both ends */
	bool held;
	/*
	 * DRAINED_LINK, at both ends: held because the link is drained.  DRAINED_AWAY: the switch at the
	 * other end is drained, so routes do not leave by this port but to that switch and its hosts.
	 */
	enum { DRAINED_NOT, DRAINED_LINK, DRAINED_AWAY } drained;
	/*
	 * The port, or the far end of its cable, is isolated (sm/devices/isolations.h): it has no peer here,
	 * whatever is plugged in, and stays below Armed.
	 */
	bool isolated;
	bool plain;		/* info was read without SMSupportExtendedSpeeds (14.2.5.6) */
	/* info may be outdated: the device was asked again and did not answer */
	bool unsure;
	uint8_t info[64];	/* the device's latest PortInfo */
};

struct fabric_node {
	uint64_t guid, sysimg_guid;
	uint32_t port0;		/* slot of port number 0 */
	uint32_t sw;		/* index of switches, or FABRIC_NONE */
	uint32_t route;		/* directed route: fabric->routes[route .. route + hops - 1] */
	uint8_t hops;
	uint8_t type;		/* enum ib_node_type */
	bool aggregation;	/* a SHARP aggregation node, not a host (port_is_host()) */
	bool silent;		/* did not answer recently: directed routes avoid it if possible */
	uint8_t nports;
	uint8_t local_port;	/* port at which discovery reached the node */
	uint16_t partition_cap;
	uint8_t info[40];	/* NodeInfo */
	char desc[65];		/* NodeDescription, NUL-terminated */
};

/* Decoded SwitchInfo (14.2.5.4). */
struct fabric_switch {
	uint32_t node;
	uint16_t lft_cap, lft_top, mcast_top, enforce_cap;
	uint16_t mcast_cap;	/* at most IB_MLIDS, whatever the device reports */
	uint8_t lifetime;
	bool enhanced_port0, port_change, optimized_sl2vl;
	bool enforces_in, enforces_out;	/* can enforce partitions on inbound, outbound packets */
	bool top_stays;		/* LinearFDBTop cannot be changed: the switch drops LIDs above lft_top */
	bool unread;		/* all of info is 0: the switch did not answer SwitchInfo */
	uint8_t info[20];
};

/* A block of a switch's linear forwarding table that cannot be changed. */
struct lft_fixed {
	uint32_t sw;
	uint32_t block;
	uint8_t entries[64];	/* the switch's current entries */
};

struct fabric {
	struct fabric_node *nodes;
	struct fabric_port *ports;
	struct fabric_switch *switches;
	uint8_t *routes;
	uint32_t n_nodes, n_ports, n_switches, n_routes;
	uint32_t self;			/* port index of the SM's own port */
	uint32_t unanswered;		/* links that are up but whose far end did not answer */
	uint32_t n_nameless;		/* end ports that have no GUID or share another port's */
	struct lft_fixed *fixed;		/* by switch, then block; see fabric_keep_blocks() */
	uint32_t n_fixed;
	struct map64 by_guid;		/* end port GUID -> port index */
	struct map64 node_by_guid;	/* node GUID -> node index */
	struct name_map *names;		/* of nodes, or NULL; see fabric_node_desc() */
	/* allocated sizes, for the builder only */
	uint32_t cap_nodes, cap_ports, cap_switches, cap_routes;
};

/* --- building, in this order: new, add nodes, set ports and links, finish --- */

struct fabric *fabric_new(void);
void fabric_free(struct fabric *f);

/*
 * Adds a node.  node_info: 40 bytes of NodeInfo (type, ports and GUIDs are are taken from it).
 * desc: up to 64 bytes, need not be terminated.  switch_info: 20 bytes for a switch, zeros if it did
 * not answer; else NULL.
 * route: the egress port numbers, beginning with the SM's port.  Returns the node's index, or
 * FABRIC_NONE if NodeInfo is invalid (type, number of ports, GUID 0), a switch has no SwitchInfo,
 * the route is longer than IB_DR_HOPS_MAX or the fabric already has the GUID.
 */
uint32_t fabric_add_node(struct fabric *f, const uint8_t *node_info,
			 const char *desc, const uint8_t *switch_info,
			 const uint8_t *route, unsigned hops);
/*
 * Stores a NodeInfo (40 bytes) with the same GUID, type and number of ports.  The fields from
 * LocalPortNum on are ignored, as they depend on the answer's route.  Returns false if nothing
 * changed.
 */
bool fabric_node_store(struct fabric *f, uint32_t node, const uint8_t *node_info);
/*
 * Stores the PortInfo (64 bytes) of a port; guid is the port's GUID.  Returns false if there is no
 * such port.
 */
bool fabric_set_port(struct fabric *f, uint32_t node, unsigned num, uint64_t guid,
		     const uint8_t *port_info);
/*
 * Links two ports.  Returns false, and does nothing, if either port is unknown or already linked to
 * another, or if both are the same port.
 */
bool fabric_link(struct fabric *f, uint32_t node_a, unsigned num_a,
		 uint32_t node_b, unsigned num_b);
/*
 * Indexes the fabric.  self_node/self_num: the port that the SM runs on; self_node must be 0.
 * Links that have an end without PortInfo are cut, and counted as unanswered.  Errors (no own port,
 * no port GUID, duplicate port GUID: the later port is not indexed by GUID) are appended to err,
 * one per line; returns false only if the fabric is unusable.
 */
bool fabric_finish(struct fabric *f, uint32_t self_node, unsigned self_num, struct buf *err);
/*
 * Settles which of several end ports of the finished fabric f owns a port GUID: the port that owned
 * it in `before`, found by its node GUID and port number.  So a newcomer cannot take over the GUID
 * of an existing port, whichever discovery meets first.
 */
void fabric_keep_owners(struct fabric *f, const struct fabric *before);
/*
 * Gives each switch of f that did not answer SwitchInfo the one that it had in `before`.  Without
 * it the switch would have a table for no LID at all, and no route would use it.
 */
void fabric_keep_switch_info(struct fabric *f, const struct fabric *before);

/*
 * Stores a PortInfo that the device returned, and decodes it.  An undefined PortState becomes 0.
 * Invalid capabilities become the minimum (one VL, MTU 256); an invalid NeighborMTU or
 * OperationalVLs becomes 0, and so does the rate of a port that is down.  A link that is up has at
 * least a lower bound as its rate.  Clears plain: a caller that read PortInfo without
 * SMSupportExtendedSpeeds sets it afterwards.
 */
void fabric_port_store(struct fabric_port *p, const uint8_t *port_info);
/*
 * Marks both ends of a port's link as running at FDR10, or at the speed in PortInfo, where FDR10
 * looks like QDR.
 */
void fabric_set_fdr10(struct fabric *f, uint32_t port, bool fdr10);
/* Stores a SwitchInfo (20 bytes) that the switch returned, or zeros, and decodes it. */
void fabric_switch_store(struct fabric_switch *s, const uint8_t *switch_info);
/* Counts the switches that did not answer SwitchInfo. */
uint32_t fabric_count_unread(const struct fabric *f);
/*
 * The number of MLIDs, from 0xc000 on, that a switch currently forwards: its table's size, or fewer
 * if MulticastFDBTop says so (14.2.5.4: 0 is ignored, 0xbfff means none).
 */
unsigned fabric_switch_mlids(const struct fabric *f, uint32_t sw);
/* True if the switch has MulticastFDBTop and drops packets to MLIDs above it. */
bool fabric_has_mcast_top(const struct fabric *f, uint32_t sw);

/*
 * Takes ownership of a sorted list, without duplicates, of forwarding table blocks that switches do
 * not let the subnet manager change; NULL and 0 for none.  fabric_clone() copies the list,
 * fabric_settle() drops it.
 */
void fabric_keep_blocks(struct fabric *f, struct lft_fixed *list, uint32_t n);
/* True if the switch has any such block. */
bool fabric_keeps_any(const struct fabric *f, uint32_t sw);
/* The 64 entries of such a block; NULL if the block is writable as far as is known. */
const uint8_t *fabric_fixed_block(const struct fabric *f, uint32_t sw, uint32_t block);

/*
 * Returns a deep copy of a finished fabric, to be edited while others read the original.  Nodes and
 * links may be added to it and cut (fabric/edit.h).
 */
struct fabric *fabric_clone(const struct fabric *f);

/*
 * Gives nodes the names of a map, of which it takes a reference of its own; NULL: none.  Copies have them, too; a
 * fabric that others read must not be changed so.
 */
void fabric_set_names(struct fabric *f, struct name_map *names);

/* --- looking --- */

/*
 * What people call the node: its name in the map, or else its NodeDescription.  For output, and to find what people
 * name; policies, records and files have the NodeDescription.
 */
const char *fabric_node_desc(const struct fabric *f, const struct fabric_node *n);
/*
 * The node with this GUID, else with this name, else with this NodeDescription.  FABRIC_NONE: there is none, or
 * *several is set as there are several.
 */
uint32_t fabric_find_node(const struct fabric *f, const char *name, bool *several);

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

/* True for a port with LIDs of its own: a CA or router port, or port 0 of a switch. */
static inline bool port_is_end(const struct fabric *f, uint32_t port)
{
	const struct fabric_port *p = &f->ports[port];
	return p->present && (node_is_switch(&f->nodes[p->node]) ? p->num == 0 : p->num != 0);
}

/* The MTU code that both ends of the port's link support; its own if it has no peer. */
static inline uint8_t port_link_mtu(const struct fabric *f, uint32_t port)
{
	const struct fabric_port *p = &f->ports[port];

	return p->peer == FABRIC_NONE || p->mtu_cap < f->ports[p->peer].mtu_cap ?
	       p->mtu_cap : f->ports[p->peer].mtu_cap;
}

/*
 * True for an end port of a host: a channel adapter or router, except aggregation nodes, on which
 * nothing runs.  Code that counts or numbers hosts, or judges their service, uses this; code that
 * programs a device or makes it reachable uses port_is_end().
 */
static inline bool port_is_host(const struct fabric *f, uint32_t port)
{
	const struct fabric_node *n = port_node(f, port);

	return !node_is_switch(n) && !n->aggregation && port_is_end(f, port);
}

/*
 * True if the port's link leads to an aggregation node inside its switch; the port must be linked.
 */
static inline bool link_is_inner(const struct fabric *f, uint32_t port)
{
	return port_node(f, port)->aggregation || port_node(f, f->ports[port].peer)->aggregation;
}

/* True if the port is an end of a link between switches. */
static inline bool link_joins_switches(const struct fabric *f, uint32_t port)
{
	const struct fabric_port *p = &f->ports[port];

	return p->num && p->peer != FABRIC_NONE && node_is_switch(port_node(f, port)) &&
	       node_is_switch(port_node(f, p->peer));
}

/*
 * Whether no cable is in the port, as far as the fabric tells: one that is isolated, or whose far end is
 * silent, has one.  False for FABRIC_NONE.
 */
static inline bool port_is_empty(const struct fabric *f, uint32_t port)
{
	const struct fabric_port *p = port == FABRIC_NONE ? NULL : &f->ports[port];

	return p && p->peer == FABRIC_NONE && p->state < IB_PORT_INIT_S && !p->isolated;
}

/*
 * For loops over all ports in rising order that look at far ends, which are in no order in memory: has the far end of a
 * port some places further on fetched.
 */
static inline void fabric_fetch_peer(const struct fabric *f, uint32_t port)
{
	uint32_t ahead = port + 12;

	if (ahead < f->n_ports && f->ports[ahead].peer != FABRIC_NONE)
		__builtin_prefetch(&f->ports[f->ports[ahead].peer]);
}

/*
 * Index (among the switches) of the switch that an end port belongs to or is linked to, or
 * FABRIC_NONE.
 */
uint32_t fabric_switch_of(const struct fabric *f, uint32_t port);
/* The node of f with n's GUID, type and number of ports, or FABRIC_NONE. */
uint32_t fabric_same_node(const struct fabric *f, const struct fabric_node *n);
/*
 * The port of `to` that is the port of `from`, or FABRIC_NONE.  map[node of from]: that node of `to`, or
 * FABRIC_NONE.
 */
static inline uint32_t fabric_port_by_map(const struct fabric *from, const struct fabric *to, const uint32_t *map,
					  uint32_t port)
{
	const struct fabric_port *p = &from->ports[port];

	return map[p->node] == FABRIC_NONE ? FABRIC_NONE : to->nodes[map[p->node]].port0 + p->num;
}

/* Finds an end port by its GUID; FABRIC_NONE if unknown. */
uint32_t fabric_find_port(const struct fabric *f, uint64_t guid);
/*
 * True if fabric_find_port() finds this port by its GUID.  An end port that does not own its GUID
 * has LIDs of its own, but no part in what is kept or granted by port GUID.
 */
static inline bool fabric_owns_guid(const struct fabric *f, uint32_t port)
{
	return !f->n_nameless || fabric_find_port(f, f->ports[port].guid) == port;
}
/*
 * Finds a port by "NodeDescription/Pn", its GUID in hex, "0xGUID/Pn" for a port of a switch, or a
 * decimal LID.  Returns FABRIC_NONE if unknown; sets *ambiguous if several match.
 */
uint32_t fabric_find_port_by_text(const struct fabric *f, const char *text, bool *ambiguous);

/* The node's type as a word: "ca", "switch", "router", "aggregation". */
const char *fabric_type_name(const struct fabric_node *n);
/* Writes the port's standard name, "NodeDescription/Pn (0xguid)"; returns out. */
char *fabric_port_name(const struct fabric *f, uint32_t port, char *out, unsigned n);
char *fabric_node_name(const struct fabric *f, uint32_t node, char *out, unsigned n);
#define FABRIC_NAME_MAX 128
/* The same, in memory of the block in which the expression stands. */
#define PORT_NAME(f, port) fabric_port_name(f, port, (char[FABRIC_NAME_MAX]){ "" }, FABRIC_NAME_MAX)
#define NODE_NAME(f, node) fabric_node_name(f, node, (char[FABRIC_NAME_MAX]){ "" }, FABRIC_NAME_MAX)

/* --- from a topology file (fabric/load_dump.c) --- */

struct dump;
struct device_kinds;
struct findings;

/*
 * Returns the fabric that discovery would find in the subnet that a file describes
 * (fabric/dump/dump.h).  The devices have what their kinds state (fabric/device_kinds.h, or NULL), else
 * stock ibsim's values (8 VLs, arbitration caps 8/8, MTU 2048); a link whose width or speed the file does not
 * give is 4x or SDR.  The SM runs at the first linked port of the node with GUID sm_guid or, if that is 0, of
 * the first CA that is not an aggregation node.  As in discovery, nodes that no directed route from there
 * reaches are left out.  LIDs are taken from the file only if keep_lids.  Returns NULL with an error if there is
 * no such node, or if two ports share a GUID.
 */
struct fabric *fabric_of_dump(const struct dump *d, uint64_t sm_guid, bool keep_lids,
			      const struct device_kinds *kinds, struct findings *out);

#endif
