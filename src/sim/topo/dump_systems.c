/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibdm's .topo files, which the layer ibdm makes nodes and links of.  GUIDs are those that ibsim
 * would make up, in the order of the nodes; those of a chassis share the system image GUID of the
 * first.
 */
#include "sim/topo/dump_reader.h"

#include <string.h>

#include "fabric/ibdm/ibdm.h"

#define VENDOR_MELLANOX 0x2c9

/* IBNL files come to the files that messages name. */
static uint32_t index_of_file(struct dump *d, const char *path)
{
	for (size_t i = 0; i < d->files.n; i++)
		if (!strcmp(d->files.v[i], path))
			return (uint32_t)i;
	*vec_push(&d->files) = xstrdup(path);
	return (uint32_t)d->files.n - 1;
}

static void take_error(void *arg, const char *file, uint32_t line, const char *text)
{
	struct reader *r = arg;
	struct dump_pos pos = { r->systems_file, line };

	if (file)
		pos.file = index_of_file(r->d, file);
	dump_error(r->d, pos, "%s", text);
}

static void read_line(struct reader *r, const char *p)
{
	if (!r->systems) {
		struct ibdm_files files = { r->d->files.v[r->pos.file], r->d->ibnl, IBDM_INSTALLED };

		r->systems_file = r->pos.file;
		r->systems = ibdm_new(&files, take_error, r);
	}
	ibdm_read_line(r->systems, r->pos.line, p);
}

static bool add_node(struct reader *r, const struct ibdm_node *from)
{
	uint32_t index = (uint32_t)r->d->nodes.n;
	unsigned type = from->is_switch ? SIM_SWITCH : SIM_CA;
	uint64_t guid = reader_make_guid(r, type, from->nports);
	struct dump_node n = {
		.pos = r->pos, .type = (uint8_t)type, .nports = from->nports,
		.vendor_id = from->device ? VENDOR_MELLANOX : 0, .device_id = from->device,
	};

	n.pos.line = from->line;
	n.sysimg_guid = from->first < index ? r->d->nodes.v[from->first].guid : guid;
	reader_set_desc(r, &n, from->name, strlen(from->name));
	return reader_push_node(r, &n) && reader_name_node(r, index, from->name, guid);
}

static void add_link(struct reader *r, const struct ibdm_link *l)
{
	struct dump_port port = {
		.pos = r->pos, .node = l->node[0], .num = l->num[0],
		.peer_name = r->d->nodes.v[l->node[1]].name, .peer_num = l->num[1],
		.one_end = true,
	};
	const struct ibdm_speed *s = &l->speed;

	port.pos.line = r->pos.line = l->line;
	if (!link_speed_of_lanes(s->width, strlen(s->width), s->gbps, strlen(s->gbps), &port.speed))
		fail(r, "unknown width or speed \"%s\", \"%s\"", s->width, s->gbps);
	else
		reader_add_port(r, &port);
}

static void end(struct reader *r)
{
	const struct ibdm_net *net = r->systems ? ibdm_build(r->systems) : NULL;

	r->pos.file = r->systems_file;
	for (size_t i = 0; net && i < net->n_nodes; i++)
		if (!add_node(r, &net->nodes[i]))
			return;
	for (size_t i = 0; net && i < net->n_links; i++)
		add_link(r, &net->links[i]);
}

const struct reader_format format_systems = { ibdm_is_cable, read_line, end };
