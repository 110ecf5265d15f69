/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Precomputes the ways through the fabric for the walks of routes.
 *
 * It works out once, for all senders at a switch together, what the walk of a LID needs there.
 * They nearly always meet the same tables, so the walk costs a step for each switch, not for each
 * pair.
 */
#include <stdlib.h>

#include "sim/check/check_net.h"

uint64_t sl2vl_row(const struct sim_fabric *f, uint32_t node, unsigned in, unsigned out)
{
	uint64_t row = 0;

	for (unsigned sl = 0; sl < 16; sl++)
		row |= (uint64_t)(sl2vl_get(f, node, in, out, sl) & 15) << 4 * sl;
	return row;
}

uint16_t row_passes(uint64_t row, unsigned vls)
{
	uint16_t sls = 0;

	for (unsigned sl = 0; sl < 16; sl++)
		sls |= (unsigned)(row_vl(row, sl) < vls) << sl;
	return sls;
}

/* Whether an end sends in by this port of a switch, and with which SLs. */
static bool sender_behind(const struct run *r, uint32_t port, uint16_t *lets_in)
{
	const struct sim_port *p = &r->f->ports[port];

	if (p->num == 0) {
		*lets_in = ALL_SLS;
		return is_end(r, port);
	}
	if (!link_is_up(r->f, port) || !link_carries(r->f, p->peer) || !is_end(r, p->peer))
		return false;
	const struct sim_port *ca = &r->f->ports[p->peer];

	*lets_in = row_passes(sl2vl_row(r->f, ca->node, 0, ca->num), link_vls(r->f, port));
	return true;
}

static void init_gate(struct net *n, const struct run *r, struct stage *s, unsigned num)
{
	uint32_t port = s->port0 + num;
	struct gate *g = &n->gates[port];

	g->sender = sender_behind(r, port, &g->lets_in);
	s->n_senders += g->sender;
	g->sw = num == 0 ? GATE_END : GATE_SHUT;
	if (num == 0 || !link_carries(r->f, port))
		return;
	uint32_t peer = r->f->ports[port].peer;

	g->sw = is_switch(node_of(r->f, peer)) ? node_of(r->f, peer)->sw : GATE_END;
	g->in = r->f->ports[peer].num;
}

static void init_hops(struct net *n, uint32_t sw)
{
	const struct stage *s = &n->stages[sw];
	uint32_t node = n->f->switches[sw].node;

	for (unsigned in = 0; in <= s->nports; in++) {
		for (unsigned out = 0; out <= s->nports; out++) {
			struct hop *h = hop_at(n, sw, in, out);

			/* port 0 consumes what comes: no VL queues behind it */
			h->pass = ALL_SLS;
			if (out == 0)
				continue;
			h->row = sl2vl_row(n->f, node, in, out);
			h->pass = row_passes(h->row, link_vls(n->f, s->port0 + out));
		}
	}
}

/* Computes what the senders of a switch meet on the way out by one of its ports. */
static void init_senders(struct net *n, uint32_t sw, unsigned out)
{
	const struct stage *s = &n->stages[sw];
	struct gate *g = &n->gates[s->port0 + out];
	bool first = true;

	g->uniform = true;
	for (unsigned in = 0; in <= s->nports; in++) {
		const struct gate *from = &n->gates[s->port0 + in];
		const struct hop *h = hop_at(n, sw, in, out);
		uint16_t pass = from->lets_in & h->pass;

		if (!from->sender || in == out)
			continue;
		if (!first && (pass != g->pass || h->row != g->row))
			g->uniform = false;
		g->pass = pass;
		g->row = h->row;
		first = false;
	}
}

void net_init(struct net *n, const struct run *r)
{
	const struct sim_fabric *f = r->f;
	size_t hops = 0;

	*n = (struct net){ .f = f };
	n->stages = xcalloc(f->n_switches + 1u, sizeof(*n->stages));
	n->gates = xcalloc(f->n_ports + 1u, sizeof(*n->gates));
	for (uint32_t sw = 0; sw < f->n_switches; sw++) {
		const struct sim_node *node = &f->nodes[f->switches[sw].node];
		struct stage *s = &n->stages[sw];

		*s = (struct stage){ .port0 = node->port0, .hop0 = hops, .nports = node->nports };
		hops += (node->nports + 1u) * (node->nports + 1u);
		for (unsigned num = 0; num <= s->nports; num++)
			init_gate(n, r, s, num);
	}
	n->hops = xcalloc(hops + 1, sizeof(*n->hops));
	for (uint32_t sw = 0; sw < f->n_switches; sw++) {
		init_hops(n, sw);
		for (unsigned out = 0; out <= n->stages[sw].nports; out++)
			init_senders(n, sw, out);
	}
}

void net_free(struct net *n)
{
	free(n->stages);
	free(n->gates);
	free(n->hops);
	vec_free(&n->deps);
}

void net_depend(struct net *n, struct hop *h, uint64_t row, uint16_t sls)
{
	if (h->dep && h->last_row == row && sls == ALL_SLS)
		return;
	if (!h->dep) {
		*vec_push(&n->deps) = (struct dep){ 0 };
		h->dep = (uint32_t)n->deps.n;
		h->last_row = UINT64_MAX;	/* a row that drops everything, by which no packet can
						 * have come in */
	}
	if (sls == ALL_SLS)
		h->last_row = row;
	struct dep *d = &n->deps.v[h->dep - 1];

	for (unsigned left = sls; left; left &= left - 1) {
		unsigned sl = (unsigned)__builtin_ctz(left);

		d->came[sl] |= 1u << row_vl(row, sl);
	}
}
