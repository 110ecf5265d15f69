/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `export ibacm`: files that ibacm, the distributed cache of path records, preloads.  It
 * reads two formats: "acm_hosts" (a name and the GID of its port) and "opensm_full_v1" (for each
 * source the SL, MTU and rate to each LID).  The paths are those that the SA would return: same
 * resolver, same state.
 *
 * ibacm recognizes a line by its first word, reads at most 127 characters of it, and takes the LID
 * of every destination from a line that begins a source.  So an end port that is not a wanted
 * source has such a line, with no paths below it.  Aggregation nodes are left out: no host connects
 * to one by way of that cache.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/commands/cmd_explain.h"
#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/base/map64.h"

#define DESC_MAX	32	/* of a description, so that its line stays short enough */
#define PATHS_PIECE	256	/* destinations in one row */
#define NAMES_PIECE	64

struct export {
	const struct subnet_state *s;
	struct path_query q;		/* template of each path; only its ends change */
	uint32_t from;			/* the only source, or FABRIC_NONE: all */
	uint32_t *ports, n_ports;	/* end ports with a LID, in order of base LIDs */
	struct map64 names;		/* hash of a used name -> port */
	unsigned file;			/* index into files */
	bool begun;			/* its header was returned */
	uint32_t port, dst;		/* next source and destination: indexes of ports */
};

/* --- end ports --- */

/* Collects end ports in order of base LIDs. */
static void collect(struct export *e)
{
	const struct plan *p = e->s->plan;

	e->ports = xcalloc(e->s->f->n_ports, sizeof(*e->ports));
	for (uint32_t lid = 1; lid <= p->lid_top; lid++) {
		uint32_t port = p->port_by_lid[lid];

		if (port != FABRIC_NONE && p->lid[port] == lid &&
		    (port == e->from || !port_node(e->s->f, port)->aggregation))
			e->ports[e->n_ports++] = port;
	}
}

static bool is_source(const struct export *e, uint32_t port)
{
	return e->from == FABRIC_NONE ? !node_is_switch(port_node(e->s->f, port)) :
					e->from == port;
}

/* --- names --- */

/*
 * Length of the host name, the first word of the description; 0: none.  A name with a tab or
 * newline is refused: a device could forge lines with other hosts' names.
 */
static size_t name_len(const struct fabric_node *n)
{
	size_t len = n->desc[0] == '#' ? 0 : strcspn(n->desc, " ");

	for (size_t i = 0; i < len; i++)
		if (n->desc[i] < '!' || n->desc[i] > '~')
			return 0;
	return len;
}

/* If several ports, on one node or more, have one name, the lowest LID gets it. */
static bool takes_name(struct export *e, const struct fabric_node *n, uint32_t port)
{
	size_t len = name_len(n);
	uint64_t key = hash_bytes(n->desc, len, 1);
	uint32_t first = map64_get(&e->names, key);

	if (node_is_switch(n) || !len)
		return false;
	if (first == MAP64_NONE)
		map64_put(&e->names, key, port);
	return first == MAP64_NONE;
}

static void put_name(struct export *e, uint32_t port, struct buf *out)
{
	const struct fabric_node *n = port_node(e->s->f, port);
	uint8_t gid[16];
	char text[INET6_ADDRSTRLEN];

	if (!takes_name(e, n, port))
		return;
	put_be64(gid, e->s->plan->settings->subnet_prefix);
	put_be64(gid + 8, e->s->f->ports[port].guid);
	buf_printf(out, "%.*s\t%s\n", (int)name_len(n), n->desc,
		   inet_ntop(AF_INET6, gid, text, sizeof(text)));
}

/* Writes a few names; returns false at the end. */
static bool names_piece(struct export *e, struct buf *out)
{
	for (unsigned i = 0; i < NAMES_PIECE && e->port < e->n_ports; i++)
		put_name(e, e->ports[e->port++], out);
	return e->port < e->n_ports;
}

/* --- paths --- */

static void put_source(struct export *e, uint32_t port, struct buf *out)
{
	const struct fabric_node *n = port_node(e->s->f, port);
	const char *type = node_is_switch(n) ? "Switch" :
			   n->type == IB_NODE_ROUTER_T ? "Router" : "Channel Adapter";

	buf_printf(out, "%s 0x%016" PRIx64 ", base LID %u, LMC %u, port %u # ", type,
		   e->s->f->ports[port].guid, e->s->plan->lid[port], plan_lmc(e->s->plan, port),
		   e->s->f->ports[port].num);
	for (size_t i = 0; n->desc[i] && i < DESC_MAX; i++)
		buf_printf(out, "%c", n->desc[i] >= ' ' && n->desc[i] <= '~' ? n->desc[i] : ' ');
	buf_puts(out, "\n");
}

static void put_path(struct export *e, uint32_t src, uint32_t dst, struct buf *out)
{
	uint16_t slid = e->s->plan->lid[src], dlid = e->s->plan->lid[dst];
	struct path_answer a;

	e->q.src = src;
	e->q.dst = dst;
	e->q.slid = slid;
	e->q.dlid = dlid;
	if (path_resolve(e->s, &e->q, &a))
		buf_printf(out, "0x%04x:UNREACHABLE\n", dlid);
	else
		buf_printf(out, "0x%04x :%u:%u:%u\n", dlid, a.sl, a.mtu, a.rate);
}

/* Writes a source's line, or some of its paths; returns false at the end. */
static bool paths_piece(struct export *e, struct buf *out)
{
	uint32_t src;

	if (e->port == e->n_ports)
		return false;
	src = e->ports[e->port];
	if (e->dst == 0)
		put_source(e, src, out);
	for (unsigned i = 0; i < PATHS_PIECE && is_source(e, src) && e->dst < e->n_ports; i++)
		put_path(e, src, e->ports[e->dst++], out);
	if (!is_source(e, src) || e->dst == e->n_ports) {
		e->port++;
		e->dst = 0;
	}
	return true;
}

/* --- both files --- */

static const struct export_file {
	const char *name, *head;
	bool (*piece)(struct export *e, struct buf *out);
} files[] = {
	{ "ibacm_hosts.data", "# name, GID\n", names_piece },
	{ "ibacm_route.data", "# DLID:SL:MTU:rate, as codes, from each source\n", paths_piece },
};

static bool next_piece(void *rows, struct file_piece *piece)
{
	struct export *e = rows;
	const struct export_file *file;

	if (e->file == ARRAY_SIZE(files))
		return false;
	file = &files[e->file];
	if (!e->begun)
		buf_puts(&piece->text, file->head);
	e->begun = true;
	piece->file = file->name;
	piece->done = e->n_ports ? (double)e->port / e->n_ports : 1;
	if (!file->piece(e, &piece->text)) {
		e->file++;
		e->begun = false;
		e->port = 0;
	}
	return true;
}

static void release_export(void *rows)
{
	struct export *e = rows;

	map64_free(&e->names);
	free(e->ports);
	free(e);
}

void cmd_export_ibacm(const struct ctl_call *c, struct reply *r)
{
	struct path_query q;
	uint32_t from = FABRIC_NONE;
	struct export *e;

	if (arg_text(c, "from")) {
		from = arg_end_port(c, "from", r);
		if (from == FABRIC_NONE)
			return;
	}
	if (!query_from_args(c, &q, r))
		return;
	e = xcalloc(1, sizeof(*e));
	e->s = c->state;
	e->q = q;
	e->from = from;
	map64_init(&e->names, c->state->f->n_nodes);
	collect(e);
	reply_result(r, NULL);
	reply_files(c, r, next_piece, release_export, e);
}
