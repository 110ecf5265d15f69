/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Topology files as plain records: nodes, their ports, and the cables between them.
 *
 * Both programs read topologies here: --check makes a struct fabric of the records
 * (fabric/load_dump.c), the simulator makes its devices of them (sim/topo/load_topology.c).  This
 * layer knows files only, not how a subnet manager or a device behaves.
 *
 * The reader recognizes the format by the lines themselves:
 *  - what ibnetdiscover(8) prints, and the simpler form that stock ibsim accepts: nodes with any
 *    name in quotes and no GUIDs, which are then made up as ibsim does; modules, included files,
 *    port aliases;
 *  - subnet lists of OpenSM, qosd-ctl and ibdiagnet;
 *  - the report of ibnetdiscover -p, which has no node GUIDs;
 *  - ibdm's .topo files and the IBNL files of their system types (fabric/ibdm/ibdm.h), again with
 *    made-up GUIDs.
 *
 * Invariants of what dump_read() returns:
 *  - there is at least one node; node names, node GUIDs and GUIDs of end ports (ports of adapters
 *    and routers, port 0 of switches) are unique;
 *  - node i owns ports[port0 .. port0 + nports], by number; port 0 is a switch's own;
 *  - peer and speed are the same at both ends of a cable; no port 0 has a cable, and no cable joins
 *    a port to itself.
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
#define DUMP_PORTS_MAX (1u << 20)	/* of all nodes: limits the memory that a wrong number can cost */

/* NodeInfo.NodeType (14.2.5.3) */
enum dump_type { DUMP_CA = 1, DUMP_SWITCH, DUMP_ROUTER, DUMP_TYPES };

/* A place in an input file. */
struct dump_pos {
	uint32_t file;		/* index of files */
	uint32_t line;		/* 0: the whole file */
};

struct dump_node {
	struct dump_pos pos;
	char *name;		/* owned; the name in quotes, "S-0002c90200417670" */
	char desc[DUMP_DESC_MAX + 1];
	uint64_t guid, sysimg_guid;	/* sysimg_guid 0: not in the dump */
	uint32_t vendor;	/* 0: unknown */
	uint32_t port0;
	uint16_t device;
	uint16_t lid;		/* of a switch's port 0, as is lmc; 0: unknown */
	uint8_t type, nports, lmc;
	bool enhanced_port0, base_port0;	/* of a switch; neither: unknown */
};

struct dump_port {
	uint64_t guid;		/* of an end port; made up if the file does not give it */
	uint32_t node;
	uint32_t peer;		/* DUMP_NONE: no cable */
	struct cable_speed speed;	/* of the cable: the lower of what the two ends say */
	uint16_t lid;		/* of an adapter's or router's port, as is lmc; 0: unknown */
	uint8_t num, lmc;
};

struct dump {
	VEC(char *) files;	/* the file named by the caller, and every file it led to */
	VEC(struct dump_node) nodes;	/* in the order of the file */
	struct dump_port *ports;
	uint32_t n_ports;
	struct map64 node_by_guid;
};

struct dump_source {
	const char *path;
	const char *ibnl;	/* directory searched first for IBNL files, or NULL */
	bool pipes;		/* also read a FIFO, however long its writer takes */
};

/*
 * Returns NULL with errors, at most the first 20: broken syntax, ends that contradict each other, a
 * port used twice, links to unknown nodes, duplicate GUIDs.  What can be tolerated is a warning:
 * links listed at one end only, ends that disagree on the speed, descriptions that are too long,
 * impossible LIDs, unknown words after a line, ibsim commands, and lines that programs wrote to
 * standard error (the first one, and how many).
 */
struct dump *dump_read(const struct dump_source *from, struct findings *out);
void dump_release(struct dump *d);

#endif
