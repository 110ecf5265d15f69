/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Builds and frees policy trees; policy_tree.h has the contracts.  Both readers bound the depth, so
 * that tree_free() may recurse.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/convert/policy_tree.h"

struct tree *tree_add(struct tree *parent, const char *key, struct place at)
{
	struct tree *t = xcalloc(1, sizeof(*t));

	t->key = key;
	t->at = at;
	t->parent = parent;
	if (parent && parent->last)
		parent->last->next = t;
	else if (parent)
		parent->child = t;
	if (parent)
		parent->last = t;
	return t;
}

void tree_free(struct tree *root)
{
	struct tree *next;

	if (!root)
		return;
	for (struct tree *t = root->child; t; t = next) {
		next = t->next;
		tree_free(t);
	}
	free(root);
}

static const struct { const char *key, *parent; } sections[] = {
	{ "port-groups", "" }, { "port-group", "port-groups" },
	{ "qos-setup", "" },
	{ "vlarb-tables", "qos-setup" }, { "vlarb-scope", "vlarb-tables" },
	{ "sl2vl-tables", "qos-setup" }, { "sl2vl-scope", "sl2vl-tables" },
	{ "qos-levels", "" }, { "qos-level", "qos-levels" },
	{ "qos-match-rules", "" }, { "qos-match-rule", "qos-match-rules" },
	{ "qos-ulps", "" },
};

const char *section_parent(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if (!strcmp(sections[i].key, key))
			return sections[i].parent;
	return NULL;
}
