/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The policy as sections, items and values: what OpenSM's qos-policy.conf and
 * the XML of 2006 have in common.  qos_policy_conf.c and policy_xml.c make the tree, build_policy.c
 * reads it.
 */
#ifndef QOSD_CLI_CONVERT_POLICY_TREE_H
#define QOSD_CLI_CONVERT_POLICY_TREE_H

#include "cli/convert/split_text.h"

struct tree {
	const char *key;		/* lower case, with '-' for '_' */
	struct place at;
	struct cursor value;		/* empty in a section */
	bool section;
	struct tree *child, *last, *next, *parent;
};

/* A new last child, or with a NULL parent a root. */
struct tree *tree_add(struct tree *parent, const char *key, struct place at);
void tree_free(struct tree *root);

/* The section that this one belongs into, "" for the policy itself; NULL: no such section. */
const char *section_parent(const char *key);

/* Every section of the tree into c. */
void build_policy(struct converted *c, const struct tree *root, enum convert_format format);
/* One line of qos-ulps. */
void build_ulp(struct converted *c, struct cursor line);

#endif
