/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compares a fabric with the topology that it is expected to have: miscabled, missing and surplus
 * links, missing and unknown nodes.
 *
 * A node is found by its GUID or, if the fabric has no such GUID, by its NodeDescription, if that
 * is unique on both sides among the nodes without a match: files of some formats have no GUIDs, and
 * a device that replaces another often has its name.  Links of a node that is missing or unknown
 * are not reported: the node is.
 */
#ifndef QOSD_FABRIC_EXPECTED_H
#define QOSD_FABRIC_EXPECTED_H

#include "fabric/fabric.h"
#include "lib/base/alloc.h"

struct dump;

struct expected_node {
	uint64_t guid;
	uint8_t type;		/* enum ib_node_type */
	char desc[65];		/* without control characters */
};

struct expected_link {
	uint32_t a, b;		/* indexes of nodes */
	uint8_t num_a, num_b;
};

/* Immutable once it is made. */
struct expected {
	unsigned refs;
	VEC(struct expected_node) nodes;
	VEC(struct expected_link) links;
};

/* With one reference each. */
struct expected *expected_of_dump(const struct dump *d);
struct expected *expected_of_fabric(const struct fabric *f);
struct expected *expected_new(void);	/* nothing, to be filled by expected_line() */
void expected_unref(struct expected *x);	/* NULL is fine */
/* As lines of text, to be kept on disk; a line is added to x (arg).  False: it is invalid. */
void expected_print(const struct expected *x, struct buf *b);
bool expected_line(void *arg, const char *line);

enum expected_kind {
	EXPECTED_NODE_MISSING, EXPECTED_NODE_UNKNOWN,
	EXPECTED_MISCABLED,	/* an end of an expected link is linked to another port */
	EXPECTED_LINK_MISSING, EXPECTED_LINK_SURPLUS,
	EXPECTED_KINDS
};
/* "node-missing", "node-unknown", "miscabled", "link-missing", "link-surplus" */
const char *expected_kind_name(enum expected_kind k);

struct expected_finding {
	enum expected_kind kind;
	uint32_t expected;	/* index of the expected node or link; FABRIC_NONE: none */
	/*
	 * in the fabric: the unknown node; the two ends of a surplus link; the ports that the ends of
	 * a miscabled or missing link name.  FABRIC_NONE: none.
	 */
	uint32_t node, port_a, port_b;
	/*
	 * Of a missing link: the surplus links between the same two switches, or of the same host, one of which may be
	 * its cable, moved at both ends; and the missing links, this one included, that these may be.  If there
	 * is one of each: an end of the surplus link in the fabric, else FABRIC_NONE.
	 */
	uint32_t n_surplus, n_missing, moved;
};

struct expected_findings {
	VEC(struct expected_finding) v;
	size_t count[EXPECTED_KINDS];
};

/*
 * Appends to a zeroed struct, which the caller ends with vec_free(&out->v).  In O(nodes + ports), and sorts
 * differences.
 */
void expected_compare(const struct expected *x, const struct fabric *f, struct expected_findings *out);
/* For expected_compare(): fills in what missing links have of surplus ones (expected_moves.c). */
void expected_find_moves(const struct fabric *f, struct expected_findings *out);
/*
 * Says what is wrong; the ends of a miscabled link with where they were found.  f: the fabric that
 * was compared.
 */
void expected_text(const struct expected *x, const struct fabric *f, const struct expected_finding *y,
		   struct buf *out);

#endif
