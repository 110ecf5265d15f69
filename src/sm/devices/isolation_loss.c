/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks the links that isolation leaves; see isolation_loss.h.
 *
 * One depth-first walk (Tarjan 1974) shows for every link whom it alone would cut off: the link by which the walk
 * came to a switch is the only way to it, and to all that the walk found from there, if no link leads from these back
 * to an earlier switch.
 */
#include "sm/devices/isolation_loss.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "sm/devices/isolations.h"

/* Marks the ports at both ends of links that the list isolates. */
static uint8_t *barred_ports(const struct withdrawals *w, const struct fabric *f)
{
	uint8_t *barred = xcalloc(f->n_ports, 1);

	for (size_t k = 0; w && k < w->v.n; k++) {
		struct withdrawal_place at = withdrawal_place(&w->v.v[k], f);

		for (uint32_t i = at.first;
		     withdrawal_isolates(&w->v.v[k]) && at.node != FABRIC_NONE && i <= at.last; i++) {
			if (link_is_own(f, i))
				continue;
			barred[i] = 1;
			if (f->ports[i].peer != FABRIC_NONE)
				barred[f->ports[i].peer] = 1;
		}
	}
	return barred;
}

static uint8_t *reached_nodes(const struct fabric *f, const uint8_t *barred)
{
	uint8_t *reached = xcalloc(f->n_nodes, 1);
	uint32_t *queue = xcalloc(f->n_nodes, sizeof(*queue)), n = 1;

	queue[0] = f->ports[f->self].node;
	reached[queue[0]] = 1;
	for (uint32_t i = 0; i < n; i++) {
		const struct fabric_node *node = &f->nodes[queue[i]];

		for (uint32_t k = node->port0 + 1; k <= node->port0 + node->nports; k++) {
			uint32_t peer = f->ports[k].peer;

			/* adapters pass nothing on, and the manager speaks by its own port */
			if (peer == FABRIC_NONE || barred[k] || reached[f->ports[peer].node] ||
			    (!node_is_switch(node) && k != f->self))
				continue;
			reached[f->ports[peer].node] = 1;
			queue[n++] = f->ports[peer].node;
		}
	}
	free(queue);
	return reached;
}

/* The host, or just its own link, is what the user wants to be rid of. */
static bool is_meant(const struct withdrawals *w, const struct fabric *f, uint32_t port)
{
	uint32_t peer = f->ports[port].peer;

	return isolation_covers(w, port_node(f, port)->guid, f->ports[port].num) ||
	       withdrawal_isolates(withdrawals_find(w, port_node(f, peer)->guid, f->ports[peer].num));
}

struct isolation_loss isolations_loss(const struct withdrawals *w, const struct withdrawals *before,
				      const struct fabric *f)
{
	struct isolation_loss loss = { 0 };
	uint8_t *barred = barred_ports(w, f), *was_barred = barred_ports(before, f);
	uint8_t *reached = reached_nodes(f, barred), *was_reached = reached_nodes(f, was_barred);

	for (uint32_t i = 0; i < f->n_nodes; i++)
		loss.switches += node_is_switch(&f->nodes[i]) && was_reached[i] && !reached[i] &&
				 !withdrawal_isolates(withdrawals_find(w, f->nodes[i].guid, 0));
	for (uint32_t i = 0; i < f->n_ports; i++) {
		uint32_t peer = f->ports[i].peer;

		if (peer == FABRIC_NONE || !port_is_host(f, i) || !was_reached[f->ports[peer].node] || was_barred[i] ||
		    (reached[f->ports[peer].node] && !barred[i]) || is_meant(w, f, i))
			continue;
		if (loss.hosts < ISOLATION_SHOWN)
			loss.first[loss.hosts] = i;
		loss.hosts++;
	}
	free(barred);
	free(was_barred);
	free(reached);
	free(was_reached);
	return loss;
}

/* --- one link more --- */

struct isolation_ways {
	uint32_t *behind;	/* [n_ports]: the first switch that only the port's link leads to; FABRIC_NONE: none */
	struct way {
		uint32_t enter;			/* the switch's port that the walk came by */
		uint32_t order, least;		/* when it came; the first switch that a link leads back to */
		uint32_t next;			/* port to look at, from 1 */
		uint32_t hosts, switches;	/* here, and where the walk went from here */
	} *at;			/* [n_nodes] */
};

struct walk {
	const struct fabric *f;
	const struct withdrawals *w;
	struct isolation_ways *x;
	const uint8_t *barred;
	uint32_t *path, depth;	/* switches from the first to the present one */
	uint32_t count;
};

static void enter(struct walk *k, uint32_t node, uint32_t by)
{
	k->x->at[node] = (struct way){
		.enter = by, .order = ++k->count, .least = k->count, .next = 1,
		.switches = !withdrawal_isolates(withdrawals_find(k->w, k->f->nodes[node].guid, 0)),
	};
	k->path[k->depth++] = node;
}

/* Looks along the next link of the switch that the walk is at. */
static void take_link(struct walk *k, uint32_t node)
{
	struct way *here = &k->x->at[node];
	uint32_t port = k->f->nodes[node].port0 + here->next++, peer = k->f->ports[port].peer, to;

	if (peer == FABRIC_NONE || k->barred[port] || port == here->enter)
		return;
	to = k->f->ports[peer].node;
	if (!node_is_switch(&k->f->nodes[to]))
		here->hosts += port_is_host(k->f, peer);
	else if (!k->x->at[to].order)
		enter(k, to, peer);
	else if (k->x->at[to].order < here->least)
		here->least = k->x->at[to].order;
}

static void leave(struct walk *k, uint32_t node)
{
	struct way *here = &k->x->at[node], *from;
	uint32_t peer;

	if (!--k->depth)
		return;
	from = &k->x->at[k->path[k->depth - 1]];
	from->hosts += here->hosts;
	from->switches += here->switches;
	if (here->least < from->least)
		from->least = here->least;
	if (here->least <= from->order)
		return;
	peer = k->f->ports[here->enter].peer;
	k->x->behind[here->enter] = k->x->behind[peer] = node;
}

/* The switch that the manager's packets come to first; FABRIC_NONE: it has no link. */
static uint32_t first_switch(const struct fabric *f)
{
	uint32_t node = f->ports[f->self].node, peer = f->ports[f->self].peer;

	if (node_is_switch(&f->nodes[node]))
		return node;
	return peer != FABRIC_NONE && node_is_switch(port_node(f, peer)) ? f->ports[peer].node : FABRIC_NONE;
}

struct isolation_ways *isolation_ways_new(const struct withdrawals *w, const struct fabric *f)
{
	struct isolation_ways *x = xcalloc(1, sizeof(*x));
	uint8_t *barred = barred_ports(w, f);
	uint32_t first = first_switch(f);
	struct walk k = { .f = f, .w = w, .x = x, .barred = barred };

	x->behind = xcalloc(f->n_ports, sizeof(*x->behind));
	x->at = xcalloc(f->n_nodes, sizeof(*x->at));
	k.path = xcalloc(f->n_switches + 1, sizeof(*k.path));
	for (uint32_t i = 0; i < f->n_ports; i++)
		x->behind[i] = FABRIC_NONE;
	if (first != FABRIC_NONE)
		enter(&k, first, FABRIC_NONE);
	while (k.depth) {
		uint32_t node = k.path[k.depth - 1];

		if (x->at[node].next <= f->nodes[node].nports)
			take_link(&k, node);
		else
			leave(&k, node);
	}
	free(k.path);
	free(barred);
	return x;
}

void isolation_ways_free(struct isolation_ways *x)
{
	if (!x)
		return;
	free(x->behind);
	free(x->at);
	free(x);
}

struct isolation_loss isolation_ways_loss(const struct isolation_ways *x, uint32_t port)
{
	uint32_t node = x->behind[port];

	if (node == FABRIC_NONE)
		return (struct isolation_loss){ 0 };
	return (struct isolation_loss){ .hosts = x->at[node].hosts, .switches = x->at[node].switches };
}
