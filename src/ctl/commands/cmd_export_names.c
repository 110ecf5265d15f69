/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `export node-name-map`: the names of all nodes as infiniband-diags and OpenSM read them (fabric/name_map.h),
 * in order of discovery.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "ctl/command.h"
#include "lib/base/alloc.h"
#include "lib/base/clean.h"

#define NODES_PIECE 256

struct names {
	const struct fabric *f;
	uint32_t next;
};

/* These programs end a name at a quote or a #, and read at most 255 bytes of a line. */
static void put_name(const struct fabric *f, uint32_t node, struct buf *out)
{
	const struct fabric_node *n = &f->nodes[node];
	char name[NODE_NAME_MAX + 1];

	snprintf(name, sizeof(name), "%s", fabric_node_desc(f, n));
	clean_text(name);
	for (char *c = name; *c; c++)
		if (*c == '"' || *c == '#')
			*c = ' ';
	if (*name)
		buf_printf(out, "0x%016" PRIx64 " \"%s\"\n", n->guid, name);
}

static bool next_piece(void *rows, struct file_piece *piece)
{
	struct names *x = rows;
	uint32_t end = x->next + NODES_PIECE;

	if (x->next >= x->f->n_nodes)
		return false;
	piece->file = "ib-node-name-map";
	for (; x->next < x->f->n_nodes && x->next < end; x->next++)
		put_name(x->f, x->next, &piece->text);
	return true;
}

void cmd_export_node_name_map(const struct ctl_call *c, struct reply *r)
{
	struct names *x = xcalloc(1, sizeof(*x));

	x->f = c->state->f;
	reply_result(r, NULL);
	reply_files(c, r, next_piece, free, x);
}
