/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads ibdm's .topo files, which the layer ibdm makes nodes and links of.  GUIDs are those
 * that ibsim would make up, in the order of the nodes; those of a chassis share the system image
 * GUID of the first.
 */
#include <string.h>

#include "fabric/dump/read_dump.h"
#include "fabric/ibdm/ibdm.h"

/* Only the first error counts. */
static void take_error(void *arg, const char *file, uint32_t line, const char *text)
{
	struct dump *d = arg;

	if (d->err->n)
		return;
	buf_printf(d->err, "%s:", file ? file : d->path);
	if (line)
		buf_printf(d->err, "%u:", line);
	buf_printf(d->err, " %s", text);
}

static bool read_line(struct dump *d, char *s)
{
	if (!d->systems) {
		struct ibdm_files files = { d->path, d->ibnl, IBDM_INSTALLED };

		d->systems = ibdm_new(&files, take_error, d);
	}
	ibdm_read_line(d->systems, d->pos.line, s);
	return !d->err->n;
}

static bool add_node(struct dump *d, const struct ibdm_node *from)
{
	uint8_t type = from->is_switch ? IB_NODE_SWITCH_T : IB_NODE_CA_T;
	struct dump_node n = {
		.guid = dump_make_guid(d, type, from->nports), .pos = { .line = from->line },
		.index = FABRIC_NONE, .type = type, .nports = from->nports,
		.vendor = from->device ? IB_VENDOR_MELLANOX : 0, .device = from->device,
	};

	n.sysimg_guid = from->first < d->nodes.n ? d->nodes.v[from->first].guid : n.guid;
	dump_set_desc(&n, from->name, strlen(from->name));
	return dump_add_node(d, &n, from->name);
}

static bool add_link(struct dump *d, const struct ibdm_link *l)
{
	struct link_speed speed;

	d->pos.line = l->line;
	if (!dump_parse_lanes(l->speed.width, l->speed.gbps, &speed))
		return fail(d, "unknown width or speed '%s', '%s'", l->speed.width, l->speed.gbps);
	for (size_t end = 0; end < 2; end++) {
		struct dump_port p = {
			.pos = d->pos, .node = l->node[end], .num = l->num[end],
			.remote_node = l->node[!end], .remote_num = l->num[!end], .speed = speed,
		};

		if (!dump_add_port(d, &p))
			return false;
	}
	return true;
}

static bool end(struct dump *d)
{
	const struct ibdm_net *net = d->systems ? ibdm_build(d->systems) : NULL;

	for (size_t i = 0; net && i < net->n_nodes; i++)
		if (!add_node(d, &net->nodes[i]))
			return false;
	for (size_t i = 0; net && i < net->n_links; i++)
		if (!add_link(d, &net->links[i]))
			return false;
	return net;
}

const struct dump_format dump_systems = { ibdm_is_cable, read_line, end };
