/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibdm's topologies: a .topo file has systems and the cables between them,
 *
 *	MTS9600 chassis CFG: leaf3=R
 *		L1/P1 -4x-5G-> MT23108 host1 P1
 *		L1/P2 -> MT23108 host2 P1
 *
 * and an IBNL file for each type of system says which boards, switches and adapters it is made
 * of (ibnl.h).  Both programs read these files by this layer: it makes nodes and links of them,
 * and each program adds what only it knows, such as GUIDs.
 *
 * The IBNL file of a type is looked for in the directory that the user names, then in that of
 * the .topo file, then, for a type that is not known without (ibnl_library.c), where ibdm installs
 * them.
 */
#ifndef QOSD_FABRIC_IBDM_IBDM_H
#define QOSD_FABRIC_IBDM_IBDM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IBDM_NAME_MAX 64	/* a node's name becomes its NodeDescription */
#define IBDM_NODES_MAX 49151	/* a subnet has no more unicast LIDs */
/* Patterns of directories, separated by colons. */
#define IBDM_INSTALLED \
	"/usr/share/ibdm*/ibnl:/usr/lib/ibdm*/ibnl:/usr/lib64/ibdm*/ibnl:/usr/lib/*/ibdm*/ibnl:" \
	"/usr/local/share/ibdm*/ibnl:/usr/local/lib/ibdm*/ibnl"

struct ibdm_files {
	const char *topo;	/* the .topo file, for its directory */
	const char *ibnl;	/* a directory of IBNL files that the user names, or NULL */
	const char *installed;	/* IBDM_INSTALLED, or NULL: none of these */
};

/* An error: file is NULL for the .topo file itself; line is 0 for a file as a whole. */
typedef void ibdm_error_fn(void *arg, const char *file, uint32_t line, const char *text);

/*
 * A switch or adapter.  The name is the system's if the system is that one node, else as ibdm
 * has it: "chassis/leaf1/U4".
 */
struct ibdm_node {
	char *name;
	uint32_t line;		/* of the .topo file, where the system is first named */
	uint32_t first;		/* the first node of the same system */
	uint16_t device;	/* 0: not known; else the vendor is Mellanox */
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
	uint32_t line;		/* of the cable; inside a system, of the line that first names it */
	struct ibdm_speed speed;
};

struct ibdm_net {
	struct ibdm_node *nodes;	/* system by system, in the order they are first named */
	size_t n_nodes;
	struct ibdm_link *links;	/* each once, no port twice */
	size_t n_links;
};

struct ibdm;

/* The line is a cable's; any two words could be a system. */
bool ibdm_is_cable(const char *line);

struct ibdm *ibdm_new(const struct ibdm_files *files, ibdm_error_fn *error, void *arg);
/* The next line that is no other program's, without its end. */
void ibdm_read_line(struct ibdm *t, uint32_t number, const char *line);
/*
 * When all lines are read: the nodes and links.  NULL if there was an error, now or before.  They
 * live as long as t.
 */
const struct ibdm_net *ibdm_build(struct ibdm *t);
void ibdm_free(struct ibdm *t);

#endif
