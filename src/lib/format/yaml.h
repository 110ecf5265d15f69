/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A YAML document as a tree of nodes that know their place in the file.
 *
 * Only what a configuration needs: one document of maps, lists and scalars.
 * Anchors, aliases and tags are refused (so a small file stays small), nesting
 * and the number of nodes are bounded, duplicate keys are errors.  Scalars are
 * text; whoever reads them decides what they mean.
 */
#ifndef QOSD_LIB_FORMAT_YAML_H
#define QOSD_LIB_FORMAT_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/findings.h"

enum node_kind {
	NODE_SCALAR, NODE_LIST, NODE_MAP,
	NODE_BAD,		/* an error was reported for it; readers pass over it in silence */
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
 * False with an error in out if the text is no YAML at all.  True else, though
 * there may be errors in out too; *root is NULL for an empty document.
 */
bool yaml_tree_parse(const char *file, const char *text, size_t n, struct node **root,
		     struct findings *out);
/* As yaml_tree_parse(); *ended: the document ends with a line "...", so that all of it is there. */
bool yaml_tree_parse_ended(const char *file, const char *text, size_t n, struct node **root,
			   bool *ended, struct findings *out);
void yaml_tree_free(struct node *root);

#endif
