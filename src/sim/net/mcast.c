/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Forwards multicast packets by MFTs (18.2.4.3): to all ports in the entry except the in port.
 *
 * A real switch passes a packet on for as long as a loop brings it back.  Here each switch does so
 * once for each packet, and a repeat is lost as DROP_LOOP, so that even a fabric full of loops
 * finishes at once.
 */
#include "sim/net/fields.h"
#include "sim/net/transit.h"

struct fifo {
	struct transit *first, **last;
};

/* The MFT's entry for a multicast LID, as 256 bits; NULL if there is none. */
static const uint64_t *mft_entry(const struct sim_fabric *f, const struct sim_node *n,
				 uint16_t mlid)
{
	const struct sim_switch *sw = &f->switches[n->sw];
	uint16_t top = get_be16(sw->info + SI_MULTICAST_TOP);
	const uint64_t *entry;

	if (!sw->mft || mlid - SIM_LID_MCAST >= n->profile->mft_cap || (top && mlid > top))
		return NULL;
	entry = sw->mft[mlid - SIM_LID_MCAST];
	return (entry[0] | entry[1] | entry[2] | entry[3]) ? entry : NULL;
}

/* Sends one branch as far as the next switch, or its end. */
static void send_branch(struct sim *s, const struct transit *t, uint32_t out, struct fifo *todo)
{
	struct transit *branch = transit_copy(s->queue, t);
	enum drop_reason why = DROP_NONE;

	if (!branch) {
		wire_drop(s, t->port, &t->p, DROP_QUEUE);
		return;
	}
	if (s->f->ports[out].num)
		why = data_blocked(s->f, t->port, out, t->p.sl, &branch->vl);
	if (why) {
		transit_blocked(s, branch, out, why);
		return;
	}
	transit_move(branch, out, s->f->ports[out].num ? PLACE_EXIT : PLACE_END);
	if (!wire_advance(s, branch))
		return;
	branch->next = NULL;
	*todo->last = branch;
	todo->last = &branch->next;
}

static void fan_out(struct sim *s, struct transit *t, struct fifo *todo)
{
	const struct sim_node *n = node_of(s->f, t->port);
	const uint64_t *entry = mft_entry(s->f, n, t->p.dlid);

	if (s->flooded[n->sw] == s->floods || t->hops > s->f->n_switches) {
		transit_drop(s, t, DROP_LOOP);
		return;
	}
	s->flooded[n->sw] = s->floods;
	if (!entry) {
		transit_drop(s, t, DROP_MCAST);
		return;
	}
	for (unsigned i = 0; i <= n->nports; i++)
		if ((entry[i / 64] >> i % 64 & 1) && n->port0 + i != t->port)
			send_branch(s, t, n->port0 + i, todo);
	transit_free(s->queue, t);
}

void mcast_flood(struct sim *s, struct transit *t)
{
	struct fifo todo = { t, &t->next };

	s->floods++;
	t->next = NULL;
	while ((t = todo.first)) {
		todo.first = t->next;
		if (!todo.first)
			todo.last = &todo.first;
		fan_out(s, t, &todo);
	}
}
