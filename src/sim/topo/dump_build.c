/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a dump as read to a fabric: names are resolved, the two ends of each link
 * held against each other, port GUIDs gathered from both, and only if all of it
 * makes sense, nodes and cables are made, in the order of the file.
 *
 * A "slot" is a port's place when the ports of all nodes are numbered through,
 * each node's from its port 0.
 */
#include "sim/topo/dump.h"

#include <stdlib.h>
#include <string.h>

struct builder {
	struct dump *d;
	uint32_t *slot0;	/* of each node */
	uint32_t *line_of;	/* [slot]: the port's line in d->ports, or SIM_NONE */
	uint32_t *peer_of;	/* [line]: the slot of the far end, or SIM_NONE */
	uint32_t *taken_by;	/* [slot]: the far end's line, where the port has none itself */
	uint64_t *guid;		/* [slot]: of CA and router ports, and of ports 0 */
	uint32_t *made;		/* [node]: its index in the fabric */
};

static uint32_t *none_array(size_t n)
{
	uint32_t *a = xmalloc(n * sizeof(*a) + 1);

	memset(a, 0xff, n * sizeof(*a));	/* SIM_NONE */
	return a;
}

static void builder_start(struct builder *b, struct dump *d)
{
	uint32_t slot = 0;

	b->d = d;
	b->slot0 = xcalloc(d->nodes.n, sizeof(*b->slot0));
	for (size_t i = 0; i < d->nodes.n; i++) {
		b->slot0[i] = slot;
		slot += d->nodes.v[i].nports + 1;
	}
	b->line_of = none_array(slot);
	b->taken_by = none_array(slot);
	b->peer_of = none_array(d->ports.n);
	b->made = none_array(d->nodes.n);
	b->guid = xcalloc(slot, sizeof(*b->guid));
}

static void builder_end(struct builder *b)
{
	free(b->slot0);
	free(b->line_of);
	free(b->taken_by);
	free(b->peer_of);
	free(b->made);
	free(b->guid);
}

static uint32_t slot_of(const struct builder *b, const struct dump_port *p)
{
	return b->slot0[p->node] + p->num;
}

static const char *node_name(const struct builder *b, uint32_t node)
{
	return b->d->names.v[b->d->nodes.v[node].name].text;
}

/* --- both ends of links --- */

static void index_ports(struct builder *b)
{
	struct dump *d = b->d;
	char place[DUMP_PLACE_MAX];

	for (uint32_t i = 0; i < d->ports.n; i++) {
		const struct dump_port *p = &d->ports.v[i];
		uint32_t *line = &b->line_of[slot_of(b, p)];

		if (*line == SIM_NONE)
			*line = i;
		else
			dump_error(d, p->pos, "port %u of \"%s\" is there twice, first at %s",
				   p->num, node_name(b, p->node),
				   dump_place(d, d->ports.v[*line].pos, p->pos, place,
					      sizeof(place)));
	}
}

/* The slot that a line's far end names, or SIM_NONE with an error. */
static uint32_t resolve(struct builder *b, const struct dump_port *p)
{
	const struct dump_name *name = &b->d->names.v[p->peer_name];
	unsigned num = name->port ? name->port : p->peer_num;

	if (name->node == SIM_NONE) {
		dump_error(b->d, p->pos, "there is no \"%s\" in the dump", name->text);
		return SIM_NONE;
	}
	if (num > b->d->nodes.v[name->node].nports) {
		dump_error(b->d, p->pos, "\"%s\" has no port %u, it has %u", name->text, num,
			   b->d->nodes.v[name->node].nports);
		return SIM_NONE;
	}
	if (b->slot0[name->node] + num == slot_of(b, p)) {
		dump_error(b->d, p->pos, "port %u of \"%s\" is connected to itself", p->num,
			   node_name(b, p->node));
		return SIM_NONE;
	}
	return b->slot0[name->node] + num;
}

/* The far end has no line of its own: it is believed, if only one claims it. */
static void check_one_sided(struct builder *b, uint32_t line)
{
	struct dump *d = b->d;
	const struct dump_port *p = &d->ports.v[line];
	const struct dump_name *peer = &d->names.v[p->peer_name];
	uint32_t *taken = &b->taken_by[b->peer_of[line]];
	char place[DUMP_PLACE_MAX];

	if (*taken != SIM_NONE) {
		dump_error(d, p->pos, "port %u of \"%s\" is connected already, by %s",
			   peer->port ? peer->port : p->peer_num, peer->text,
			   dump_place(d, d->ports.v[*taken].pos, p->pos, place, sizeof(place)));
		return;
	}
	*taken = line;
	if (!peer->port && !p->one_end)	/* an alias has one end by its nature */
		dump_warn(d, p->pos, "only this end lists the link: \"%s\" does not list port %u",
			  peer->text, p->peer_num);
}

static void check_two_sided(struct builder *b, uint32_t line, uint32_t back)
{
	struct dump *d = b->d;
	const struct dump_port *p = &d->ports.v[line], *q = &d->ports.v[back];
	char place[DUMP_PLACE_MAX], one[16], other[16];

	if (b->peer_of[back] != slot_of(b, p)) {
		dump_error(d, p->pos, "port %u of \"%s\" is connected to \"%s\"[%u] by %s", q->num,
			   node_name(b, q->node), d->names.v[q->peer_name].text, q->peer_num,
			   dump_place(d, q->pos, p->pos, place, sizeof(place)));
		return;
	}
	if (line < back && link_speed_contradict(p->speed, q->speed))
		dump_warn(d, p->pos, "%s by this end, %s by %s: the slower is taken",
			  link_speed_name(p->speed, one, sizeof(one)),
			  link_speed_name(q->speed, other, sizeof(other)),
			  dump_place(d, q->pos, p->pos, place, sizeof(place)));
}

static void check_links(struct builder *b)
{
	for (uint32_t i = 0; i < b->d->ports.n; i++)
		b->peer_of[i] = resolve(b, &b->d->ports.v[i]);
	for (uint32_t i = 0; i < b->d->ports.n; i++) {
		uint32_t back;

		if (b->peer_of[i] == SIM_NONE)
			continue;
		back = b->line_of[b->peer_of[i]];
		if (back == SIM_NONE)
			check_one_sided(b, i);
		else if (b->peer_of[back] != SIM_NONE)
			check_two_sided(b, i, back);
	}
}

/* --- GUIDs of end ports --- */

/* What both ends of links say about the GUIDs of CA and router ports. */
static void gather_guids(struct builder *b)
{
	struct dump *d = b->d;

	for (uint32_t i = 0; i < d->nodes.n; i++)
		if (d->nodes.v[i].type == SIM_SWITCH)
			b->guid[b->slot0[i]] = d->nodes.v[i].port0_guid;
	for (uint32_t i = 0; i < d->ports.n; i++)
		if (d->nodes.v[d->ports.v[i].node].type != SIM_SWITCH)
			b->guid[slot_of(b, &d->ports.v[i])] = d->ports.v[i].guid;
	for (uint32_t i = 0; i < d->ports.n; i++) {
		const struct dump_port *p = &d->ports.v[i];
		const struct dump_node *peer = &d->nodes.v[d->names.v[p->peer_name].node];
		uint64_t *guid;

		if (b->peer_of[i] == SIM_NONE || !p->peer_guid || peer->type == SIM_SWITCH)
			continue;
		guid = &b->guid[b->peer_of[i]];
		if (*guid && *guid != p->peer_guid)
			dump_error(d, p->pos, "port %u of \"%s\" has GUID 0x%llx by its own line",
				   p->peer_num, d->names.v[p->peer_name].text,
				   (unsigned long long)*guid);
		*guid = p->peer_guid;
	}
}

/* Two ports must not share a GUID; a node and its port may. */
static void check_guids(struct builder *b, struct map64 *owner)
{
	struct dump *d = b->d;

	for (uint32_t i = 0; i < d->nodes.n; i++) {
		const struct dump_node *n = &d->nodes.v[i];

		for (unsigned num = 0; num <= n->nports; num++) {
			uint64_t guid = b->guid[b->slot0[i] + num];
			uint32_t other = guid ? map64_put(owner, guid, i) : MAP64_NONE;

			if (other != MAP64_NONE)
				dump_error(d, n->pos, "port %u of \"%s\" has GUID 0x%llx, and so "
					   "has a port of \"%s\"", num, node_name(b, i),
					   (unsigned long long)guid, node_name(b, other));
		}
	}
}

/* Ports that the dump is silent about: GUIDs that follow the node's, if nobody has them. */
static void make_up_guids(struct builder *b, struct map64 *owner)
{
	for (uint32_t i = 0; i < b->d->nodes.n; i++) {
		const struct dump_node *n = &b->d->nodes.v[i];
		unsigned first = n->type == SIM_SWITCH ? 0 : 1;
		unsigned last = n->type == SIM_SWITCH ? 0 : n->nports;

		for (unsigned num = first; num <= last; num++) {
			uint64_t *guid = &b->guid[b->slot0[i] + num];

			if (*guid)
				continue;
			*guid = n->guid + num;
			while (!*guid || map64_get(owner, *guid) != MAP64_NONE)
				*guid += 1ULL << 56;
			map64_put(owner, *guid, i);
		}
	}
}

static void settle_guids(struct builder *b)
{
	struct map64 owner;

	map64_init(&owner, b->d->slots);
	gather_guids(b);
	check_guids(b, &owner);
	make_up_guids(b, &owner);
	map64_free(&owner);
}

/* --- making it --- */

/* CA and router ports have LIDs each; a node's spec has room for one. */
static void keep_lids(const struct builder *b, struct sim_fabric *f)
{
	for (uint32_t i = 0; i < b->d->ports.n; i++) {
		const struct dump_port *p = &b->d->ports.v[i];
		uint32_t port = f->nodes[b->made[p->node]].port0 + p->num;

		if (b->d->nodes.v[p->node].type != SIM_SWITCH) {
			f->ports[port].lid = p->lid;
			f->ports[port].lmc = p->lmc;
		}
	}
}

static bool make_node(struct builder *b, uint32_t i, struct sim_fabric *f)
{
	const struct dump_node *n = &b->d->nodes.v[i];
	struct buf why = { 0 };
	struct sim_node_spec s = {
		.type = n->type, .nports = n->nports, .guid = n->guid,
		.sysimg_guid = n->sysimg_guid, .vendor_id = n->vendor_id,
		.device_id = n->device_id, .id = node_name(b, i), .desc = n->desc,
		.enhanced_port0 = n->enhanced_port0, .base_port0 = n->base_port0,
		.lid = n->lid, .lmc = n->lmc,
	};

	for (unsigned num = 0; num <= n->nports && num < ARRAY_SIZE(s.port_guid); num++)
		s.port_guid[num] = b->guid[b->slot0[i] + num];
	b->made[i] = simfab_add_node(f, &s, &why);
	if (b->made[i] == SIM_NONE)
		dump_error(b->d, n->pos, "%s", why.s);
	buf_free(&why);
	return b->made[i] != SIM_NONE;
}

static bool make_link(struct builder *b, uint32_t line, struct sim_fabric *f)
{
	const struct dump_port *p = &b->d->ports.v[line];
	uint32_t peer = b->peer_of[line], back = b->line_of[peer];
	uint32_t peer_node = b->d->names.v[p->peer_name].node;
	uint32_t from = f->nodes[b->made[p->node]].port0 + p->num;
	uint32_t to = f->nodes[b->made[peer_node]].port0 + (peer - b->slot0[peer_node]);
	struct link_speed speed = p->speed;
	struct buf why = { 0 };
	bool ok;

	if (back != SIM_NONE && back < line)
		return true;
	if (back != SIM_NONE)
		speed = link_speed_slower(speed, b->d->ports.v[back].speed);
	ok = simfab_connect(f, from, to, &why);
	if (ok)
		link_speed_apply(f, from, speed);
	else
		dump_error(b->d, p->pos, "%s", why.s);
	buf_free(&why);
	return ok;
}

static bool make(struct builder *b, struct sim_fabric *f)
{
	bool ok = true;

	for (uint32_t i = 0; ok && i < b->d->nodes.n; i++)
		ok = make_node(b, i, f);
	if (ok)
		keep_lids(b, f);
	for (uint32_t i = 0; ok && i < b->d->ports.n; i++)
		ok = make_link(b, i, f);
	return ok;
}

bool dump_build(struct dump *d, struct sim_fabric *f)
{
	struct builder b;
	bool ok;

	builder_start(&b, d);
	index_ports(&b);
	check_links(&b);
	if (!d->n_err)
		settle_guids(&b);
	ok = !d->n_err && make(&b, f);
	builder_end(&b);
	return ok;
}
