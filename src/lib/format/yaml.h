/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parses a YAML document into a tree of nodes that know their place in the file.
 *
 * It accepts only what a configuration needs: one document of maps, lists and scalars.  It refuses
 * anchors, aliases and tags (so that a small file makes a small tree), bounds nesting and the
 * number of nodes, and reports duplicate keys as errors.  Scalars are text; their readers interpret
 * them.
 */
#ifndef QOSD_LIB_FORMAT_YAML_H
#define QOSD_LIB_FORMAT_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/findings.h"

enum node_kind {
	NODE_SCALAR, NODE_LIST, NODE_MAP,
	NODE_BAD,		/* already reported as an error; readers skip it silently */
};

/*
 * A list's children are its items, a map's children its keys (scalars), each
 * with its value.  No two keys of a map are equal; a value has no `next`.
 */
struct node {
	enum node_kind kind;
	bool null;		/* scalar: unquoted and empty, `~` or `null` */
	struct src_pos pos;
	char *text;		/* scalar: UTF-8 without NUL characters */
	struct node *child, *next, *value;
	uint32_t n;		/* children */
};

#define YAML_DEPTH_MAX 32
#define YAML_NODES_MAX (1u << 20)

/*
 * Returns false, with an error in out, if the text is not YAML.  Returns true otherwise, though out
 * may hold errors then, too; *root is NULL for an empty document.  *ended, unless ended is NULL:
 * whether the document ends with a line "...", which shows that it is complete.
 */
bool yaml_tree_parse(const char *file, const char *text, size_t n, struct node **root, bool *ended,
		     struct findings *out);
void yaml_tree_free(struct node *root);

#endif
