/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A topology as a file describes it, in plain records: nodes, their ports, and the cables
 * between them.  Both programs read topologies here: --check makes a struct fabric of the
 * records (fabric/load_dump.c), the simulator its devices (sim/topo/load_topology.c).  The
 * layer knows files, and nothing of what a subnet manager or a device does.
 *
 * The format is told by the lines themselves:
 *  - what ibnetdiscover(8) prints, also the simpler form that stock ibsim takes: nodes by any
 *    name in quotes, without GUIDs, which then are those that ibsim makes up; modules, files
 *    that are included, aliases of ports;
 *  - subnet lists of OpenSM, qosd-ctl and ibdiagnet;
 *  - the report of ibnetdiscover -p, which has no node GUIDs;
 *  - ibdm's .topo files and the IBNL files of their types of systems (fabric/ibdm/ibdm.h), with
 *    GUIDs that are made up likewise.
 *
 * Invariants of what dump_read() returns:
 *  - there is a node; names and GUIDs of nodes are distinct, as are GUIDs of end ports: of ports
 *    of adapters and routers, and of ports 0 of switches;
 *  - node i owns ports[port0 .. port0 + nports], by number; port 0 is a switch's own;
 *  - peer is symmetric, and so is speed; no port 0 and no port alone has a cable to itself.
 */
#ifndef QOSD_FABRIC_DUMP_DUMP_H
#define QOSD_FABRIC_DUMP_DUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric/dump/cable_speed.h"
#include "lib/base/alloc.h"
#include "lib/base/findings.h"
#include "lib/base/map64.h"

#define DUMP_NONE UINT32_MAX
#define DUMP_DESC_MAX 64		/* bytes of a NodeDescription */
#define DUMP_NODE_PORTS_MAX 254
#define DUMP_PORTS_MAX (1u << 20)	/* of all nodes: a wrong number eats no memory */

/* NodeInfo.NodeType (14.2.5.3) */
enum dump_type { DUMP_CA = 1, DUMP_SWITCH, DUMP_ROUTER, DUMP_TYPES };

/* Where something was said. */
struct dump_pos {
	uint32_t file;		/* index of files */
	uint32_t line;		/* 0: the file as a whole */
};

struct dump_node {
	struct dump_pos pos;
	char *name;		/* owned; what stands in quotes, "S-0002c90200417670" */
	char desc[DUMP_DESC_MAX + 1];
	uint64_t guid, sysimg_guid;	/* sysimg_guid 0: a dump that says none */
	uint32_t vendor;	/* 0: not said */
	uint32_t port0;
	uint16_t device;
	uint16_t lid;		/* of a switch's port 0, as its lmc; 0: not said */
	uint8_t type, nports, lmc;
	bool enhanced_port0, base_port0;	/* of a switch; neither: not said */
};

struct dump_port {
	uint64_t guid;		/* of an end port; made up where the file does not say it */
	uint32_t node;
	uint32_t peer;		/* DUMP_NONE: no cable */
	struct cable_speed speed;	/* of the cable: the lower of what both ends say */
	uint16_t lid;		/* of an adapter's or router's port, as its lmc; 0: not said */
	uint8_t num, lmc;
};

struct dump {
	VEC(char *) files;	/* the one that was named, and all that it led to */
	VEC(struct dump_node) nodes;	/* in the order of the file */
	struct dump_port *ports;
	uint32_t n_ports;
	struct map64 node_by_guid;
};

struct dump_source {
	const char *path;
	const char *ibnl;	/* a directory where IBNL files are looked for first, or NULL */
	bool pipes;		/* a FIFO is read as well, however long its writer takes */
};

/*
 * NULL with errors, at most the first 20: broken syntax, ends that contradict each other, a port used
 * twice, links to nowhere, duplicate GUIDs.  What can be made sense of is a warning: links that
 * only one end lists, ends that disagree on the speed, descriptions that are too long, LIDs
 * that cannot be, words that nobody knows behind a line, commands of ibsim, and lines that
 * programs wrote to standard error (the first, and how many).
 */
struct dump *dump_read(const struct dump_source *from, struct findings *out);
void dump_release(struct dump *d);

#endif
