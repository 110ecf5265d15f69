/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Compares a fabric with its expected topology; expected.h has the contracts. */
#include "fabric/expected.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/dump/dump.h"
#include "lib/base/clean.h"

static const char *const kind_names[EXPECTED_KINDS] = {
	[EXPECTED_NODE_MISSING] = "node-missing", [EXPECTED_NODE_UNKNOWN] = "node-unknown",
	[EXPECTED_MISCABLED] = "miscabled", [EXPECTED_LINK_MISSING] = "link-missing",
	[EXPECTED_LINK_SURPLUS] = "link-surplus",
};

const char *expected_kind_name(enum expected_kind k)
{
	return kind_names[k];
}

/* --- making --- */

struct expected *expected_new(void)
{
	struct expected *x = xcalloc(1, sizeof(*x));

	x->refs = 1;
	return x;
}

void expected_unref(struct expected *x)
{
	if (!x || --x->refs)
		return;
	vec_free(&x->nodes);
	vec_free(&x->links);
	free(x);
}

static void add_node(struct expected *x, uint64_t guid, uint8_t type, const char *desc)
{
	struct expected_node *n = vec_push(&x->nodes);

	*n = (struct expected_node){ .guid = guid, .type = type };
	snprintf(n->desc, sizeof(n->desc), "%s", desc);
	clean_text(n->desc);
}

struct expected *expected_of_dump(const struct dump *d)
{
	struct expected *x = expected_new();

	for (size_t i = 0; i < d->nodes.n; i++)
		add_node(x, d->nodes.v[i].guid, d->nodes.v[i].type, d->nodes.v[i].desc);
	for (uint32_t i = 0; i < d->n_ports; i++) {
		const struct dump_port *p = &d->ports[i];

		if (p->peer != DUMP_NONE && p->peer > i)
			*vec_push(&x->links) = (struct expected_link){ p->node, d->ports[p->peer].node, p->num,
								       d->ports[p->peer].num };
	}
	return x;
}

struct expected *expected_of_fabric(const struct fabric *f)
{
	struct expected *x = expected_new();

	for (uint32_t i = 0; i < f->n_nodes; i++)
		add_node(x, f->nodes[i].guid, f->nodes[i].type, f->nodes[i].desc);
	for (uint32_t i = 0; i < f->n_ports; i++) {
		const struct fabric_port *p = &f->ports[i];

		if (p->peer != FABRIC_NONE && p->peer > i)
			*vec_push(&x->links) = (struct expected_link){ p->node, f->ports[p->peer].node, p->num,
								       f->ports[p->peer].num };
	}
	return x;
}

/* --- as text --- */

void expected_print(const struct expected *x, struct buf *b)
{
	for (size_t i = 0; i < x->nodes.n; i++)
		buf_printf(b, "node 0x%016" PRIx64 " %u %s\n", x->nodes.v[i].guid, x->nodes.v[i].type,
			   x->nodes.v[i].desc);
	for (size_t i = 0; i < x->links.n; i++)
		buf_printf(b, "link %" PRIu32 " %u %" PRIu32 " %u\n", x->links.v[i].a, x->links.v[i].num_a,
			   x->links.v[i].b, x->links.v[i].num_b);
}

bool expected_line(void *arg, const char *line)
{
	struct expected *x = arg;
	unsigned type, num_a, num_b;
	uint32_t a, b;
	uint64_t guid;
	int end = 0;

	if (sscanf(line, "node 0x%16" SCNx64 " %1u%n", &guid, &type, &end) == 2 && line[end] == ' ') {
		const char *desc = line + end + 1;

		if (!guid || type < IB_NODE_CA_T || type > IB_NODE_ROUTER_T ||
		    strlen(desc) >= sizeof(x->nodes.v->desc))
			return false;
		add_node(x, guid, (uint8_t)type, desc);
		return true;
	}
	if (sscanf(line, "link %" SCNu32 " %3u %" SCNu32 " %3u%n", &a, &num_a, &b, &num_b, &end) != 4 ||
	    line[end] || a >= x->nodes.n || b >= x->nodes.n || num_a > IB_PORT_NUM_MAX ||
	    num_b > IB_PORT_NUM_MAX)
		return false;
	*vec_push(&x->links) = (struct expected_link){ a, b, (uint8_t)num_a, (uint8_t)num_b };
	return true;
}

/* --- comparing --- */

struct comparison {
	const struct expected *x;
	const struct fabric *f;
	struct expected_findings *out;
	uint32_t *node;		/* [expected node]: node of f, or FABRIC_NONE */
	uint32_t *known;	/* [node of f]: expected node, or FABRIC_NONE */
	uint8_t *wanted;	/* [port of f]: an expected link names it */
};

static void find(struct comparison *c, struct expected_finding y)
{
	*vec_push(&c->out->v) = y;
	c->out->count[y.kind]++;
}

static void match(struct comparison *c, uint32_t expected, uint32_t node)
{
	c->node[expected] = node;
	c->known[node] = expected;
}

static void match_guids(struct comparison *c)
{
	for (uint32_t i = 0; i < c->x->nodes.n; i++) {
		uint32_t node = map64_get(&c->f->node_by_guid, c->x->nodes.v[i].guid);

		if (node != MAP64_NONE && c->known[node] == FABRIC_NONE)
			match(c, i, node);
	}
}

static uint64_t digest_of(const char *desc, uint8_t type)
{
	return hash_bytes(desc, strlen(desc), type);
}

#define TWICE (MAP64_NONE - 1)

/* Enters a name; one that is there twice names nobody. */
static void enter(struct map64 *m, const char *desc, uint8_t type, uint32_t i)
{
	uint64_t key = digest_of(desc, type);

	if (*desc)
		map64_put(m, key, map64_get(m, key) == MAP64_NONE ? i : TWICE);
}

/* A NodeDescription as it is in expected nodes. */
static const char *clean_desc(const struct fabric_node *n, char out[65])
{
	snprintf(out, 65, "%s", n->desc);
	clean_text(out);
	return out;
}

static void match_names(struct comparison *c)
{
	struct map64 wanted, there;
	char desc[65];

	map64_init(&wanted, 64);
	map64_init(&there, 64);
	for (uint32_t i = 0; i < c->x->nodes.n; i++)
		if (c->node[i] == FABRIC_NONE)
			enter(&wanted, c->x->nodes.v[i].desc, c->x->nodes.v[i].type, i);
	for (uint32_t i = 0; i < c->f->n_nodes; i++)
		if (c->known[i] == FABRIC_NONE)
			enter(&there, clean_desc(&c->f->nodes[i], desc), c->f->nodes[i].type, i);
	for (uint32_t i = 0; i < c->x->nodes.n; i++) {
		const struct expected_node *n = &c->x->nodes.v[i];
		uint32_t node;

		if (c->node[i] != FABRIC_NONE || map64_get(&wanted, digest_of(n->desc, n->type)) != i)
			continue;
		node = map64_get(&there, digest_of(n->desc, n->type));
		if (node < TWICE && strcmp(n->desc, clean_desc(&c->f->nodes[node], desc)) == 0)
			match(c, i, node);
	}
	map64_free(&wanted);
	map64_free(&there);
}

static void judge_nodes(struct comparison *c)
{
	for (uint32_t i = 0; i < c->x->nodes.n; i++)
		if (c->node[i] == FABRIC_NONE)
			find(c, (struct expected_finding){ .kind = EXPECTED_NODE_MISSING, .expected = i,
							   .node = FABRIC_NONE, .port_a = FABRIC_NONE,
							   .port_b = FABRIC_NONE });
	for (uint32_t i = 0; i < c->f->n_nodes; i++)
		if (c->known[i] == FABRIC_NONE)
			find(c, (struct expected_finding){ .kind = EXPECTED_NODE_UNKNOWN, .expected = FABRIC_NONE,
							   .node = i, .port_a = FABRIC_NONE,
							   .port_b = FABRIC_NONE });
}

/* The port of f that an end of an expected link names, or FABRIC_NONE. */
static uint32_t slot_of(const struct comparison *c, uint32_t expected, unsigned num)
{
	uint32_t node = c->node[expected];

	if (node == FABRIC_NONE || num > c->f->nodes[node].nports)
		return FABRIC_NONE;
	return c->f->nodes[node].port0 + num;
}

static uint32_t peer_of(const struct fabric *f, uint32_t port)
{
	return port == FABRIC_NONE ? FABRIC_NONE : f->ports[port].peer;
}

static void judge_link(struct comparison *c, uint32_t link)
{
	const struct expected_link *x = &c->x->links.v[link];
	uint32_t a = slot_of(c, x->a, x->num_a), b = slot_of(c, x->b, x->num_b);
	struct expected_finding y = { .kind = EXPECTED_LINK_MISSING, .expected = link, .node = FABRIC_NONE,
				      .port_a = a, .port_b = b };

	if (a != FABRIC_NONE)
		c->wanted[a] = 1;
	if (b != FABRIC_NONE)
		c->wanted[b] = 1;
	if (a != FABRIC_NONE && c->f->ports[a].peer == b && b != FABRIC_NONE)
		return;
	if (peer_of(c->f, a) != FABRIC_NONE || peer_of(c->f, b) != FABRIC_NONE)
		y.kind = EXPECTED_MISCABLED;
	else if (c->node[x->a] == FABRIC_NONE || c->node[x->b] == FABRIC_NONE)
		return;		/* the node is what is missing */
	find(c, y);
}

/* Links that the expected topology has neither end of; others are miscabled. */
static void judge_surplus(struct comparison *c)
{
	const struct fabric *f = c->f;

	for (uint32_t i = 0; i < f->n_ports; i++) {
		uint32_t peer = f->ports[i].peer;

		if (peer != FABRIC_NONE && peer > i && !c->wanted[i] && !c->wanted[peer] &&
		    c->known[f->ports[i].node] != FABRIC_NONE && c->known[f->ports[peer].node] != FABRIC_NONE)
			find(c, (struct expected_finding){ .kind = EXPECTED_LINK_SURPLUS, .expected = FABRIC_NONE,
							   .node = FABRIC_NONE, .port_a = i, .port_b = peer });
	}
}

void expected_compare(const struct expected *x, const struct fabric *f, struct expected_findings *out)
{
	struct comparison c = {
		.x = x, .f = f, .out = out, .node = xmalloc((x->nodes.n + 1) * sizeof(*c.node)),
		.known = xmalloc((f->n_nodes + 1) * sizeof(*c.known)), .wanted = xcalloc(f->n_ports + 1, 1),
	};

	memset(c.node, 0xff, (x->nodes.n + 1) * sizeof(*c.node));	/* FABRIC_NONE */
	memset(c.known, 0xff, (f->n_nodes + 1) * sizeof(*c.known));
	match_guids(&c);
	match_names(&c);
	judge_nodes(&c);
	for (uint32_t i = 0; i < x->links.n; i++)
		judge_link(&c, i);
	judge_surplus(&c);
	expected_find_moves(f, out);
	free(c.node);
	free(c.known);
	free(c.wanted);
}

/* --- saying --- */

static void put_expected_end(const struct expected_node *n, unsigned num, struct buf *out)
{
	if (num)
		buf_printf(out, "%s/P%u (0x%016" PRIx64 ")", n->desc, num, n->guid);
	else
		buf_printf(out, "%s (0x%016" PRIx64 ")", n->desc, n->guid);
}

static void put_port(const struct fabric *f, uint32_t port, struct buf *out)
{
	buf_puts(out, PORT_NAME(f, port));
}

/* "; X is linked to Y", of the port that an end of the expected link names. */
static void put_found(const struct fabric *f, uint32_t port, struct buf *out)
{
	if (peer_of(f, port) == FABRIC_NONE)
		return;
	buf_puts(out, "; ");
	put_port(f, port, out);
	buf_puts(out, " is linked to ");
	put_port(f, f->ports[port].peer, out);
}

/* Which link may be the cable of a missing one. */
static void put_moved(const struct fabric *f, const struct expected_finding *y, struct buf *out)
{
	if (!y->n_surplus)
		return;
	if (y->moved != FABRIC_NONE) {
		put_found(f, y->moved, out);
		buf_puts(out, ", which is not expected: was the cable moved?");
		return;
	}
	buf_printf(out, "; %" PRIu32 " such link%s missing there, and %" PRIu32 " not expected: %s moved?",
		   y->n_missing, y->n_missing == 1 ? " is" : "s are", y->n_surplus,
		   y->n_missing == 1 || y->n_surplus == 1 ? "was a cable" : "were cables");
}

void expected_text(const struct expected *x, const struct fabric *f, const struct expected_finding *y,
		   struct buf *out)
{
	const struct expected_link *l;

	switch (y->kind) {
	case EXPECTED_NODE_MISSING:
		put_expected_end(&x->nodes.v[y->expected], 0, out);
		buf_puts(out, " is expected and not there");
		break;
	case EXPECTED_NODE_UNKNOWN:
		buf_printf(out, "%s is not expected", NODE_NAME(f, y->node));
		break;
	case EXPECTED_LINK_SURPLUS:
		put_port(f, y->port_a, out);
		buf_puts(out, " is linked to ");
		put_port(f, y->port_b, out);
		buf_puts(out, ", and neither port is expected to have a link");
		break;
	default:
		l = &x->links.v[y->expected];
		put_expected_end(&x->nodes.v[l->a], l->num_a, out);
		buf_puts(out, " is expected to be linked to ");
		put_expected_end(&x->nodes.v[l->b], l->num_b, out);
		if (y->kind == EXPECTED_LINK_MISSING)
			buf_puts(out, ", and neither port has a link");
		put_found(f, y->port_a, out);
		put_found(f, y->port_b, out);
		put_moved(f, y, out);
	}
}
