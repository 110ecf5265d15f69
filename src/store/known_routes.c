/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stores the known fabric (plan/routes/base_routes.h) as far as routes need it.
 *
 * The file has nodes, GUIDs of end ports, and links.  With it, a daemon that starts while
 * something is away computes the same routes as the run before, and finds them on the devices.
 *
 *	node GUID TYPE PORTS		the SM's own first
 *	port NUMBER GUID		of the node before: an end port
 *	self NUMBER			the SM's
 *	link GUID NUMBER GUID NUMBER
 */
#include <inttypes.h>
#include <stdio.h>

#include <infiniband/mad.h>

#include "store/store_internal.h"

const struct store_file known_file = {
	"fabric", "qosd: the fabric that is known, ", STORE_KNOWN_FORMAT,
};

struct reading {
	struct fabric *f;
	uint32_t node;		/* index of the last node */
	unsigned self;
};

static bool node_line(struct reading *r, uint64_t guid, unsigned type, unsigned nports)
{
	uint8_t info[40] = { 0 }, switch_info[20] = { 0 }, port[64] = { 0 };

	if (type > UINT8_MAX || nports > IB_PORT_NUM_MAX)
		return false;
	mad_set_field(info, 0, IB_NODE_TYPE_F, type);
	mad_set_field(info, 0, IB_NODE_NPORTS_F, nports);
	mad_set_field64(info, 0, IB_NODE_GUID_F, guid);
	r->node = fabric_add_node(r->f, info, "", switch_info, NULL, 0);
	if (r->node == FABRIC_NONE)
		return false;
	if (node_is_switch(&r->f->nodes[r->node]))
		for (unsigned num = 1; num <= nports; num++)
			fabric_set_port(r->f, r->node, num, guid, port);
	return true;
}

static bool port_line(struct reading *r, unsigned num, uint64_t guid)
{
	uint8_t info[64] = { 0 };

	return r->node != FABRIC_NONE && num <= r->f->nodes[r->node].nports &&
	       fabric_set_port(r->f, r->node, num, guid, info);
}

static bool link_line(struct reading *r, uint64_t guid_a, unsigned num_a, uint64_t guid_b,
		      unsigned num_b)
{
	uint32_t a = map64_get(&r->f->node_by_guid, guid_a);
	uint32_t b = map64_get(&r->f->node_by_guid, guid_b);

	return a != MAP64_NONE && b != MAP64_NONE && fabric_link(r->f, a, num_a, b, num_b);
}

static bool line(void *arg, const char *text)
{
	struct reading *r = arg;
	uint64_t a, b;
	unsigned x, y;
	int end = 0;

	if (sscanf(text, "node 0x%" SCNx64 " %u %u%n", &a, &x, &y, &end) == 3 && !text[end])
		return node_line(r, a, x, y);
	if (sscanf(text, "port %u 0x%" SCNx64 "%n", &x, &a, &end) == 2 && !text[end])
		return port_line(r, x, a);
	if (sscanf(text, "link 0x%" SCNx64 " %u 0x%" SCNx64 " %u%n", &a, &x, &b, &y, &end) == 4 &&
	    !text[end])
		return link_line(r, a, x, b, y);
	return sscanf(text, "self %u%n", &r->self, &end) == 1 && !text[end];
}

struct fabric *store_load_known(struct store *s)
{
	struct reading r = { .f = fabric_new(), .node = FABRIC_NONE };
	struct buf err = { 0 };
	bool good = store_load_lines(s, &known_file, line, &r, NULL) &&
		    fabric_finish(r.f, 0, r.self, &err);

	buf_free(&err);
	if (good)
		return r.f;
	fabric_free(r.f);
	return NULL;
}

void store_save_known(struct store *s, const struct fabric *f)
{
	struct buf b = { 0 };

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		const struct fabric_node *n = &f->nodes[i];

		buf_printf(&b, "node 0x%016" PRIx64 " %u %u\n", n->guid, n->type, n->nports);
		for (unsigned num = 0; num <= n->nports; num++)
			if (port_is_end(f, n->port0 + num))
				buf_printf(&b, "port %u 0x%016" PRIx64 "\n", num,
					   f->ports[n->port0 + num].guid);
	}
	buf_printf(&b, "self %u\n", f->ports[f->self].num);
	for (uint32_t i = 0; i < f->n_ports; i++) {
		uint32_t peer = f->ports[i].peer;

		if (peer != FABRIC_NONE && peer > i)
			buf_printf(&b, "link 0x%016" PRIx64 " %u 0x%016" PRIx64 " %u\n",
				   port_node(f, i)->guid, f->ports[i].num,
				   port_node(f, peer)->guid, f->ports[peer].num);
	}
	store_save_lines(s, &known_file, b.s);
	buf_free(&b);
}
