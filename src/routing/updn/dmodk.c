/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers hosts and switches of a layered fabric by the ports that they are plugged into; see dmodk.h. */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "routing/updn/dmodk.h"

/* How often each value 1..255 occurred. */
struct histogram {
	uint32_t seen[256];
	uint32_t n;
};

static void histogram_add(struct histogram *h, uint32_t value)
{
	if (!value)
		return;
	h->seen[value < 256 ? value : 255]++;
	h->n++;
}

/* The median, the greater of the two middle values; at least 1. */
static uint32_t usual(const struct histogram *h)
{
	uint32_t value = 255, sum = h->seen[255];

	if (!h->n)
		return 1;
	while (2 * sum < h->n)
		sum += h->seen[--value];
	return value;
}

/* For switches of one kind: how many things are plugged into each, and into which ports. */
struct plugs {
	struct histogram number;
	uint32_t used[256];	/* [port]: switches that use it */
};

static void plugs_add(struct plugs *p, const bool used[256])
{
	uint32_t n = 0;

	for (unsigned port = 0; port < 256; port++) {
		n += used[port];
		p->used[port] += used[port];
	}
	histogram_add(&p->number, n);
}

/*
 * Number of places to reserve: as many as are usual, plus those that are missing here and there, because a
 * gap keeps the digits of the others.  A port that no switch uses is no gap.
 */
static uint32_t plugs_room(const struct plugs *p)
{
	uint32_t n = usual(&p->number), ports = 0;

	for (unsigned port = 0; port < 256; port++)
		ports += 2 * p->used[port] > p->number.n;
	return ports > n && (ports - n) * 8 <= n + 7 ? ports : n;
}

/*
 * Gives what is plugged into the used ports places 0 .. room - 1: the port number mod room, or consecutive
 * places if two would clash.
 */
static void give_places(const bool used[256], uint32_t room, uint32_t place[256])
{
	bool taken[256] = { false }, clash = false;
	uint32_t next = 0;

	for (unsigned port = 0; port < 256; port++) {
		if (!used[port])
			continue;
		clash |= taken[port % room];
		taken[port % room] = true;
		place[port] = port % room;
	}
	for (unsigned port = 0; clash && port < 256; port++)
		if (used[port])
			place[port] = next++;
}

/* The first trunk of v to a higher rank, or FABRIC_NONE. */
static uint32_t parent_trunk(const struct updn_order *o, uint32_t v)
{
	const struct graph *g = o->g;

	for (uint32_t t = g->up0[v]; t < g->trunk0[v + 1]; t++)
		if (o->rank[g->trunks[t].v] > o->rank[v])
			return t;
	return FABRIC_NONE;
}

/* [rank]: usual number of neighbours above. */
static uint32_t *usual_up(const struct updn_order *o)
{
	const struct graph *g = o->g;
	struct histogram *seen = xcalloc(o->n_ranks, sizeof(*seen));
	uint32_t *up = xcalloc(o->n_ranks, sizeof(*up));

	for (uint32_t v = 0; v < g->n; v++)
		histogram_add(&seen[o->rank[v]], g->trunk0[v + 1] - g->up0[v]);
	for (unsigned r = 0; r < o->n_ranks; r++)
		up[r] = usual(&seen[r]);
	free(seen);
	return up;
}

/* The parent that counts a vertex as its child, and the parent's port to it; 0 without a parent. */
struct child {
	uint32_t parent;
	uint8_t port;
};

static struct child *find_children(const struct updn_order *o)
{
	const struct graph *g = o->g;
	struct child *child = xcalloc(g->n, sizeof(*child));

	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t t = parent_trunk(o, v);

		child[v].parent = FABRIC_NONE;
		if (t == FABRIC_NONE)
			continue;
		const struct fabric_port *p = graph_port(g, v, g->links[g->trunks[t].link0]);

		child[v] = (struct child){ g->trunks[t].v, g->f->ports[p->peer].num };
	}
	return child;
}

static void mark_hosts(const struct graph *g, uint32_t v, bool used[256])
{
	for (uint32_t i = g->end0[v]; i < g->inner0[v]; i++)
		used[g->f->ports[g->f->ports[g->ends[i]].peer].num] = true;
}

static void mark_children(const struct graph *g, const struct child *child, uint32_t parent,
			  bool used[256])
{
	for (uint32_t t = g->trunk0[parent]; t < g->up0[parent]; t++)
		if (child[g->trunks[t].v].parent == parent)
			used[child[g->trunks[t].v].port] = true;
}

/* [rank]: places for the children of a parent. */
static uint32_t *room_for_children(const struct updn_order *o, const struct child *child)
{
	struct plugs *seen = xcalloc(o->n_ranks, sizeof(*seen));
	uint32_t *room = xcalloc(o->n_ranks, sizeof(*room));

	for (uint32_t v = 0; v < o->g->n; v++) {
		bool used[256] = { false };

		mark_children(o->g, child, v, used);
		plugs_add(&seen[o->rank[v]], used);
	}
	for (unsigned r = 0; r < o->n_ranks; r++)
		room[r] = plugs_room(&seen[r]);
	free(seen);
	return room;
}

/* Works from the top down, so that a parent has its number before its children. */
static void number_vertices(struct dmodk *k, const struct updn_order *o)
{
	struct child *child = find_children(o);
	uint32_t *rooms = room_for_children(o, child);
	uint64_t roots = 0;

	for (uint32_t v = 0; v < o->g->n; v++)
		if (child[v].parent == FABRIC_NONE)
			k->leaf[v] = roots++;
	for (uint32_t v = o->g->n; v-- > 0;) {
		bool used[256] = { false };
		uint32_t place[256], room = rooms[o->rank[v]];

		mark_children(o->g, child, v, used);
		give_places(used, room, place);
		for (uint32_t t = o->g->trunk0[v]; t < o->g->up0[v]; t++) {
			uint32_t c = o->g->trunks[t].v;

			if (child[c].parent == v)
				k->leaf[c] = k->leaf[v] * room + place[child[c].port];
		}
	}
	free(rooms);
	free(child);
}

struct dmodk *dmodk_new(const struct updn_order *o)
{
	struct dmodk *k = xcalloc(1, sizeof(*k));
	struct plugs hosts = { .number = { .n = 0 } };

	k->radix = usual_up(o);
	k->leaf = xcalloc(o->g->n, sizeof(*k->leaf));
	for (uint32_t v = 0; v < o->g->n; v++) {
		bool used[256] = { false };

		if (o->rank[v] || !graph_hosts(o->g, v))
			continue;
		mark_hosts(o->g, v, used);
		plugs_add(&hosts, used);
	}
	k->hosts = plugs_room(&hosts);
	number_vertices(k, o);
	return k;
}

void dmodk_free(struct dmodk *k)
{
	if (!k)
		return;
	free(k->radix);
	free(k->leaf);
	free(k);
}

void dmodk_hosts(const struct dmodk *k, const struct graph *g, uint32_t v, uint64_t number[256])
{
	bool used[256] = { false };
	uint32_t place[256];

	mark_hosts(g, v, used);
	give_places(used, k->hosts, place);
	for (unsigned port = 0; port < 256; port++)
		if (used[port])
			number[port] = k->leaf[v] * k->hosts + place[port];
}
