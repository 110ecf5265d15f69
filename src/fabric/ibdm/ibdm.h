/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads ibdm's topologies into nodes and links.  A .topo file has systems and the cables between
 * them,
 *
 *	MTS9600 chassis CFG: leaf3=R
 *		L1/P1 -4x-5G-> MT23108 host1 P1
 *		L1/P2 -> MT23108 host2 P1
 *
 * and an IBNL file for each type of system says which boards, switches and adapters it consists of
 * (ibnl.h).  fabric/dump adds what these files do not give, such as GUIDs.
 *
 * The library looks for the IBNL file of a type in the directory that the user names, then in that
 * of the .topo file, then, for types that are not built in (ibnl_library.c), where ibdm installs
 * them.
 */
#ifndef QOSD_FABRIC_IBDM_IBDM_H
#define QOSD_FABRIC_IBDM_IBDM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IBDM_NAME_MAX 64	/* a node's name becomes its NodeDescription */
#define IBDM_NODES_MAX 49151	/* a subnet has no more unicast LIDs */
/* Directory patterns, separated by colons. */
#define IBDM_INSTALLED \
	"/usr/share/ibdm*/ibnl:/usr/lib/ibdm*/ibnl:/usr/lib64/ibdm*/ibnl:/usr/lib/*/ibdm*/ibnl:" \
	"/usr/local/share/ibdm*/ibnl:/usr/local/lib/ibdm*/ibnl"

struct ibdm_files {
	const char *topo;	/* path of the .topo file, used for its directory */
	const char *ibnl;	/* a directory of IBNL files that the user names, or NULL */
	const char *installed;	/* IBDM_INSTALLED, or NULL for none */
};

/* Reports an error: file is NULL for the .topo file itself; line is 0 for a file as a whole. */
typedef void ibdm_error_fn(void *arg, const char *file, uint32_t line, const char *text);

/*
 * A switch or adapter.  It has the system's name if the system is a single node, else ibdm's name
 * for it: "chassis/leaf1/U4".
 */
struct ibdm_node {
	char *name;
	uint32_t line;		/* line of the .topo file that first names the system */
	uint32_t first;		/* the first node of the same system */
	uint16_t device;	/* device id; 0: unknown; else the vendor is Mellanox */
	uint8_t nports;
	bool is_switch;
};

struct ibdm_speed {
	const char *width;	/* "4x" */
	const char *gbps;	/* of a lane: "2.5", "14", "FDR10" */
};

struct ibdm_link {
	uint32_t node[2];
	uint8_t num[2];
	/* line of the cable; inside a system, of the .topo line that first names it */
	uint32_t line;
	struct ibdm_speed speed;
};

struct ibdm_net {
	struct ibdm_node *nodes;	/* system by system, in the order of their first mention */
	size_t n_nodes;
	struct ibdm_link *links;	/* each link once, no port twice */
	size_t n_links;
};

struct ibdm;

/* True if the line is a cable's; a system's line cannot be told from any two words. */
bool ibdm_is_cable(const char *line);

struct ibdm *ibdm_new(const struct ibdm_files *files, ibdm_error_fn *error, void *arg);
/* Reads the next line, without its line end; the caller has dropped messages of other programs. */
void ibdm_read_line(struct ibdm *t, uint32_t number, const char *line);
/*
 * Makes the nodes and links when all lines are read.  Returns NULL if this or an earlier call
 * reported an error.  The result lives as long as t.
 */
const struct ibdm_net *ibdm_build(struct ibdm *t);
void ibdm_free(struct ibdm *t);

#endif
