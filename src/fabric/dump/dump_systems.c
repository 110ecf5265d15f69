/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads ibdm's .topo files, whose nodes and links the layer fabric/ibdm makes.  GUIDs are those
 * that ibsim would make up, in the order of the nodes; the nodes of a chassis share the system
 * image GUID of its first node.
 */
#include <string.h>

#include "fabric/dump/reader.h"
#include "fabric/ibdm/ibdm.h"

#define VENDOR_MELLANOX 0x2c9

/* Adds an IBNL file to the files that messages can name. */
static uint32_t index_of_file(struct reader *r, const char *path)
{
	for (size_t i = 0; i < r->d->files.n; i++)
		if (!strcmp(r->d->files.v[i], path))
			return (uint32_t)i;
	return reader_add_file(r, path);
}

static void take_error(void *arg, const char *file, uint32_t line, const char *text)
{
	struct reader *r = arg;

	reader_error(r, (struct dump_pos){ file ? index_of_file(r, file) : 0, line }, "%s", text);
}

static void read_line(struct reader *r, char *p)
{
	if (!r->systems) {
		struct ibdm_files files = { r->from->path, r->from->ibnl, IBDM_INSTALLED };

		r->systems = ibdm_new(&files, take_error, r);
	}
	ibdm_read_line(r->systems, r->pos.line, p);
}

static bool add_node(struct reader *r, const struct ibdm_node *from)
{
	uint32_t index = (uint32_t)r->d->nodes.n;
	uint8_t type = from->is_switch ? DUMP_SWITCH : DUMP_CA;
	uint64_t guid = reader_make_guid(r, type, from->nports);
	struct dump_node n = {
		.type = type, .nports = from->nports,
		.vendor = from->device ? VENDOR_MELLANOX : 0, .device = from->device,
		.sysimg_guid = from->first < index ? r->d->nodes.v[from->first].guid : guid,
	};

	r->pos.line = from->line;
	return reader_push_node(r, &n, from->name) && reader_name_node(r, index, from->name, guid);
}

static void add_link(struct reader *r, const struct ibdm_link *l)
{
	struct dump_line line = {
		.node = l->node[0], .num = l->num[0], .peer_name = DUMP_NONE,
		.peer_node = l->node[1], .peer_num = l->num[1], .one_end = true,
	};

	r->pos.line = l->line;
	if (cable_speed_of_lanes(l->speed.width, l->speed.gbps, &line.speed))
		reader_add_line(r, &line);
	else
		fail(r, "unknown width or speed \"%s\", \"%s\"", l->speed.width, l->speed.gbps);
}

static void end(struct reader *r)
{
	const struct ibdm_net *net = r->systems ? ibdm_build(r->systems) : NULL;

	for (size_t i = 0; net && i < net->n_nodes; i++)
		if (!add_node(r, &net->nodes[i]))
			return;
	for (size_t i = 0; net && i < net->n_links; i++)
		add_link(r, &net->links[i]);
}

static bool recognise(char *line)
{
	return ibdm_is_cable(line);
}

const struct reader_format format_systems = { recognise, read_line, end };
