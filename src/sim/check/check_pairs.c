/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds which SLs take which hop on the routes to a LID, where each pair has SLs of its own.
 *
 * The routes to a LID form a tree.  From its leaves to its root, each switch hands on the SLs of
 * everything that comes in, so that a LID costs a step for each port on the tree, not a walk for
 * each source.
 */
#include "sim/check/walk.h"

/* The end behind a port of a switch. */
static uint32_t sender_at(const struct walk *w, uint32_t port)
{
	const struct sim_port *p = &w->r->f->ports[port];

	return p->num == 0 ? port : p->peer;
}

/* Counts a pair; `pass` are the SLs that connect it. */
static void count_pair(struct walk *w, uint32_t src, uint16_t sls, uint16_t pass)
{
	w->without_sl += sls == 0;
	w->r->sent[src] |= sls;
	for (unsigned left = sls; left; left &= left - 1) {
		unsigned sl = (unsigned)__builtin_ctz(left);

		w->sent[sl]++;
		w->got[sl] += pass >> sl & 1;
	}
}

/*
 * Counts the pair of the sender behind a port.  Returns the SLs that the switch has to hand on for
 * it.
 */
static uint16_t count_sender(struct walk *w, uint32_t sw, unsigned in)
{
	const struct at *a = &w->at[sw];
	uint32_t port = w->n->stages[sw].port0 + in, src = sender_at(w, port);
	uint16_t sls = path_sls_of(w->r->o->path_sls, src, w->lid), pass = 0;
	bool arrives = a->togo < LOST && a->out != port;

	if (src == w->dst)
		return 0;
	if (arrives)
		pass = w->n->gates[port].lets_in & a->reach &
		       hop_at(w->n, sw, in, w->r->f->ports[a->out].num)->pass;
	count_pair(w, src, sls, pass);
	return arrives ? sls : 0;
}

/* Hands on the SLs that came in by a port, and adds their dependency on the hop at the next switch. */
static void pass_on(struct walk *w, uint32_t sw, unsigned in, uint16_t sls)
{
	const struct sim_port *ports = w->r->f->ports;
	uint32_t out = w->at[sw].out;
	const struct gate *g = &w->n->gates[out];
	struct hop *h = hop_at(w->n, sw, in, ports[out].num);

	h->sls |= sls;
	if (!leads_to_switch(g))
		return;
	uint32_t then = w->at[g->sw].out;

	w->comes[w->n->stages[g->sw].port0 + g->in] |= sls;
	if (leads_to_switch(&w->n->gates[then]))
		net_depend(w->n, hop_at(w->n, g->sw, g->in, ports[then].num), h->row, sls);
}

static void pass_switch(struct walk *w, uint32_t sw)
{
	const struct stage *s = &w->n->stages[sw];

	for (unsigned in = 0; in <= s->nports; in++) {
		uint16_t sls = w->comes[s->port0 + in];

		w->comes[s->port0 + in] = 0;
		if (w->n->gates[s->port0 + in].sender)
			sls |= count_sender(w, sw, in);
		if (sls)
			pass_on(w, sw, in, sls);
	}
}

/* Counts the senders at a switch whose way to the LID ends early or loops. */
static void count_lost(struct walk *w, uint32_t sw)
{
	const struct stage *s = &w->n->stages[sw];

	for (unsigned in = 0; in <= s->nports && s->n_senders; in++)
		if (w->n->gates[s->port0 + in].sender)
			count_sender(w, sw, in);
}

void pairs_of_lid(struct walk *w)
{
	for (uint32_t i = w->n_order; i-- > 0; )
		pass_switch(w, w->order[i]);
	for (uint32_t sw = 0; sw < w->r->f->n_switches; sw++)
		if (w->at[sw].togo >= LOST)
			count_lost(w, sw);
}

void pairs_of_lone_end(struct walk *w, uint32_t port)
{
	const struct sim_fabric *f = w->r->f;
	const struct sim_port *p = &f->ports[port];
	uint16_t pass = 0;

	if (link_carries(f, port))
		pass = row_passes(sl2vl_row(f, p->node, 0, p->num), link_vls(f, port));
	for (uint32_t lid = 1; lid < SIM_LID_MCAST; lid++)
		if (w->owner[lid] != SIM_NONE && w->owner[lid] != port)
			count_pair(w, port, path_sls_of(w->r->o->path_sls, port, lid),
				   w->owner[lid] == p->peer ? pass : 0);
}
