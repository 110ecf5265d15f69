/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The policy as sections, items and values, as in both OpenSM's qos-policy.conf and the XML of
 * 2006.  qos_policy_conf.c and policy_xml.c make the tree, build_policy.c reads it.
 */
#ifndef QOSD_CLI_CONVERT_POLICY_TREE_H
#define QOSD_CLI_CONVERT_POLICY_TREE_H

#include "cli/convert/split_text.h"

struct tree {
	const char *key;		/* lower case, with '-' for '_' */
	struct place at;
	struct cursor value;		/* empty for a section */
	bool section;
	struct tree *child, *last, *next, *parent;
};

/* Adds a last child or, with a NULL parent, makes a root. */
struct tree *tree_add(struct tree *parent, const char *key, struct place at);
void tree_free(struct tree *root);

/* The section that may contain this one, "" for the policy itself; NULL: no such section. */
const char *section_parent(const char *key);

/* Adds every section of the tree to c. */
void build_policy(struct converted *c, const struct tree *root, enum convert_format format);
/* Adds one line of qos-ulps to c. */
void build_ulp(struct converted *c, struct cursor line);

#endif
