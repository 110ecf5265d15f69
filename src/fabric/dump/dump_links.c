/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Turns port lines into ports.  It resolves names, compares the two ends of each link, and collects
 * port GUIDs from both.
 */
#include <stdlib.h>
#include <string.h>

#include "fabric/dump/reader.h"

struct links {
	struct reader *r;
	struct dump *d;
	uint32_t *line_of;	/* [port]: its line, or DUMP_NONE */
	uint32_t *peer_of;	/* [line]: the port at the far end, or DUMP_NONE */
	uint32_t *taken_by;	/* [port]: the far end's line, if the port has no line of its own */
};

static uint32_t *none_array(size_t n)
{
	uint32_t *a = xmalloc(n * sizeof(*a) + 1);

	memset(a, 0xff, n * sizeof(*a));	/* DUMP_NONE */
	return a;
}

static void number_ports(struct dump *d, uint32_t n_ports)
{
	d->ports = xcalloc(n_ports, sizeof(*d->ports));
	for (uint32_t i = 0; i < d->nodes.n; i++) {
		d->nodes.v[i].port0 = d->n_ports;
		for (unsigned num = 0; num <= d->nodes.v[i].nports; num++)
			d->ports[d->n_ports++] = (struct dump_port){
				.node = i, .num = (uint8_t)num, .peer = DUMP_NONE,
			};
	}
}

static uint32_t port_of(const struct links *l, const struct dump_line *line)
{
	return l->d->nodes.v[line->node].port0 + line->num;
}

static const char *name_of(const struct links *l, uint32_t port)
{
	return l->d->nodes.v[l->d->ports[port].node].name;
}

/* --- both ends of links --- */

static void index_lines(struct links *l)
{
	for (uint32_t i = 0; i < l->r->lines.n; i++) {
		const struct dump_line *p = &l->r->lines.v[i];
		uint32_t port = port_of(l, p), *line = &l->line_of[port];

		if (*line == DUMP_NONE)
			*line = i;
		else
			reader_error(l->r, p->pos, "port %u of \"%s\" is there twice, first at %s",
				     p->num, name_of(l, port),
				     DUMP_PLACE(l->d, l->r->lines.v[*line].pos, p->pos));
	}
}

/* The name of a line's far end, or NULL if the line gives the node itself. */
static const struct dump_name *peer_name(const struct links *l, const struct dump_line *p)
{
	return p->peer_name == DUMP_NONE ? NULL : &l->r->names.v[p->peer_name];
}

/* The port that a line's far end names, or DUMP_NONE with an error. */
static uint32_t resolve(struct links *l, const struct dump_line *p)
{
	const struct dump_name *name = peer_name(l, p);
	uint32_t node = name ? name->node : p->peer_node;
	unsigned num = name && name->port ? name->port : p->peer_num;
	const struct dump_node *n;

	if (node == DUMP_NONE) {
		reader_error(l->r, p->pos, "there is no \"%s\" in the dump", name->text);
		return DUMP_NONE;
	}
	n = &l->d->nodes.v[node];
	if (num > n->nports)
		reader_error(l->r, p->pos, "\"%s\" has no port %u, it has %u", n->name, num,
			     n->nports);
	else if (n->port0 + num == port_of(l, p))
		reader_error(l->r, p->pos, "port %u of \"%s\" is connected to itself", p->num,
			     n->name);
	else
		return n->port0 + num;
	return DUMP_NONE;
}

/* Accepts a far end that has no line of its own, provided that only one line claims it. */
static void check_one_sided(struct links *l, uint32_t line)
{
	const struct dump_line *p = &l->r->lines.v[line];
	const struct dump_name *name = peer_name(l, p);
	uint32_t port = l->peer_of[line], *taken = &l->taken_by[port];

	if (*taken != DUMP_NONE)
		reader_error(l->r, p->pos, "port %u of \"%s\" is connected already, by %s",
			     l->d->ports[port].num, name_of(l, port),
			     DUMP_PLACE(l->d, l->r->lines.v[*taken].pos, p->pos));
	else if (!(name && name->port) && !p->one_end)	/* an alias has only one end */
		reader_warn(l->r, p->pos, "only this end lists the link: \"%s\" does not list "
			    "port %u", name_of(l, port), p->peer_num);
	*taken = line;
}

static void check_two_sided(struct links *l, uint32_t line, uint32_t back)
{
	const struct dump_line *p = &l->r->lines.v[line], *q = &l->r->lines.v[back];
	char place[DUMP_PLACE_MAX], one[CABLE_SPEED_MAX], other[CABLE_SPEED_MAX];

	dump_place(l->d, q->pos, p->pos, place);
	if (l->peer_of[back] != port_of(l, p))
		reader_error(l->r, p->pos, "port %u of \"%s\" is connected to \"%s\"[%u] by %s",
			     q->num, name_of(l, port_of(l, q)), name_of(l, l->peer_of[back]),
			     l->d->ports[l->peer_of[back]].num, place);
	else if (line < back && cable_speed_contradict(p->speed, q->speed))
		reader_warn(l->r, p->pos, "%s by this end, %s by %s: the slower is taken",
			    cable_speed_name(p->speed, one), cable_speed_name(q->speed, other),
			    place);
}

static void check_links(struct links *l)
{
	for (uint32_t i = 0; i < l->r->lines.n; i++)
		l->peer_of[i] = resolve(l, &l->r->lines.v[i]);
	for (uint32_t i = 0; i < l->r->lines.n; i++) {
		uint32_t back = l->peer_of[i] == DUMP_NONE ? DUMP_NONE : l->line_of[l->peer_of[i]];

		if (l->peer_of[i] == DUMP_NONE)
			continue;
		if (back == DUMP_NONE)
			check_one_sided(l, i);
		else if (l->peer_of[back] != DUMP_NONE)
			check_two_sided(l, i, back);
	}
}

static void connect(struct links *l)
{
	for (uint32_t i = 0; i < l->r->lines.n; i++) {
		const struct dump_line *p = &l->r->lines.v[i];
		struct dump_port *a = &l->d->ports[port_of(l, p)], *b = &l->d->ports[l->peer_of[i]];

		a->peer = l->peer_of[i];
		b->peer = port_of(l, p);
		a->speed = b->speed = cable_speed_slower(a->speed, p->speed);
		a->lid = p->lid;
		a->lmc = p->lmc;
	}
}

/* --- GUIDs of end ports --- */

/* Collects the GUIDs that both ends of links give for CA and router ports. */
static void gather_guids(struct links *l)
{
	struct dump *d = l->d;

	for (uint32_t i = 0; i < l->r->lines.n; i++)
		if (d->nodes.v[l->r->lines.v[i].node].type != DUMP_SWITCH)
			d->ports[port_of(l, &l->r->lines.v[i])].guid = l->r->lines.v[i].guid;
	for (uint32_t i = 0; i < l->r->lines.n; i++) {
		const struct dump_line *p = &l->r->lines.v[i];
		struct dump_port *far = &d->ports[l->peer_of[i]];

		if (!p->peer_guid || d->nodes.v[far->node].type == DUMP_SWITCH)
			continue;
		if (far->guid && far->guid != p->peer_guid)
			reader_error(l->r, p->pos, "port %u of \"%s\" has GUID 0x%llx by its own "
				     "line", far->num, name_of(l, l->peer_of[i]),
				     (unsigned long long)far->guid);
		far->guid = p->peer_guid;
	}
}

/* Two ports must not share a GUID; a node and its port may. */
static void check_guids(struct links *l, struct map64 *owner)
{
	for (uint32_t i = 0; i < l->d->n_ports; i++) {
		const struct dump_port *p = &l->d->ports[i];
		uint32_t other = p->guid ? map64_put(owner, p->guid, i) : MAP64_NONE;

		if (other != MAP64_NONE)
			reader_error(l->r, l->d->nodes.v[p->node].pos, "port %u of \"%s\" has GUID "
				     "0x%llx, and so has a port of \"%s\"", p->num, name_of(l, i),
				     (unsigned long long)p->guid, name_of(l, other));
	}
}

/* Gives each port without a GUID one that follows its node's, unless another port has that GUID. */
static void make_up_guids(struct links *l, struct map64 *owner)
{
	for (uint32_t i = 0; i < l->d->n_ports; i++) {
		struct dump_port *p = &l->d->ports[i];
		const struct dump_node *n = &l->d->nodes.v[p->node];

		if (p->guid || n->type == DUMP_SWITCH || !p->num)
			continue;
		p->guid = n->guid + p->num;
		while (!p->guid || map64_get(owner, p->guid) != MAP64_NONE)
			p->guid += 1ULL << 56;
		map64_put(owner, p->guid, i);
	}
}

static void settle_guids(struct links *l)
{
	struct map64 owner = { 0 };

	for (uint32_t i = 0; i < l->d->nodes.n; i++)
		if (l->d->nodes.v[i].type == DUMP_SWITCH)
			l->d->ports[l->d->nodes.v[i].port0].guid = l->d->nodes.v[i].guid;
	gather_guids(l);
	check_guids(l, &owner);
	make_up_guids(l, &owner);
	map64_free(&owner);
}

void reader_make_ports(struct reader *r)
{
	struct links l = {
		.r = r, .d = r->d, .line_of = none_array(r->slots),
		.taken_by = none_array(r->slots), .peer_of = none_array(r->lines.n),
	};

	number_ports(r->d, r->slots);
	index_lines(&l);
	check_links(&l);
	if (!r->n_err) {
		connect(&l);
		settle_guids(&l);
	}
	free(l.line_of);
	free(l.taken_by);
	free(l.peer_of);
}
