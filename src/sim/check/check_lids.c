/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks that LIDs of end ports are unique and in range, and that all know the same SM.
 *
 * Port 0 of a switch is an end port, too.
 */
#include <stdlib.h>

#include "sim/check/check_internal.h"

struct lids {
	struct run *r;
	uint32_t *owner;	/* [LID]: first port that has it, SIM_NONE */
	uint32_t *sm_votes;	/* [LID]: number of ports whose SM LID it is */
};

/* Enters the port's LIDs that are free.  Returns the first that another port has; SIM_NONE if none. */
static uint32_t take_lids(struct lids *l, uint32_t port)
{
	const struct sim_port *p = &l->r->f->ports[port];
	uint32_t taken = SIM_NONE;

	for (uint32_t lid = p->lid; lid < p->lid + lid_count(p); lid++) {
		if (l->owner[lid] == SIM_NONE)
			l->owner[lid] = port;
		else if (taken == SIM_NONE)
			taken = lid;
	}
	return taken;
}

static void check_doubled(struct lids *l, uint32_t port)
{
	const struct sim_fabric *f = l->r->f;
	const struct sim_port *p = &f->ports[port];
	uint32_t lid = take_lids(l, port);

	if (lid == SIM_NONE)
		return;
	uint32_t other = l->owner[lid];

	if (p->lmc || f->ports[other].lmc)
		report(l->r, AUDIT_LID, "%s (LID %u, LMC %u) overlaps %s (LID %u, LMC %u)",
		       port_text(f, port).s, p->lid, p->lmc, port_text(f, other).s,
		       f->ports[other].lid, f->ports[other].lmc);
	else
		report(l->r, AUDIT_LID, "%s has LID %u, as does %s", port_text(f, port).s, lid,
		       port_text(f, other).s);
}

static void check_port(struct lids *l, uint32_t port)
{
	const struct sim_fabric *f = l->r->f;
	const struct sim_port *p = &f->ports[port];

	l->sm_votes[p->sm_lid]++;
	if (p->lid == 0) {
		report(l->r, AUDIT_LID, "%s has no LID", port_text(f, port).s);
	} else if (p->lid + lid_count(p) > SIM_LID_MCAST) {
		report(l->r, AUDIT_LID, "%s: LID %u, LMC %u is beyond unicast LIDs",
		       port_text(f, port).s, p->lid, p->lmc);
	} else {
		check_doubled(l, port);
		/* the low LMC bits of a base LID must be 0: receivers mask them (4.1.3) */
		if (p->lid & (lid_count(p) - 1))
			report(l->r, AUDIT_LID, "%s: LID %u is not a multiple of 2^LMC, LMC %u",
			       port_text(f, port).s, p->lid, p->lmc);
	}
}

static uint16_t most_votes(const struct lids *l)
{
	uint16_t best = 0;

	for (uint32_t lid = 1; lid <= UINT16_MAX; lid++)
		if (l->sm_votes[lid] > l->sm_votes[best])
			best = (uint16_t)lid;
	return best;
}

static void check_sm_lid(struct lids *l, uint32_t port, uint16_t sm_lid)
{
	const struct sim_port *p = &l->r->f->ports[port];

	if (p->sm_lid != sm_lid)
		report(l->r, AUDIT_LID, "%s has SM LID %u, most have %u",
		       port_text(l->r->f, port).s, p->sm_lid, sm_lid);
}

void check_lids(struct run *r)
{
	const struct sim_fabric *f = r->f;
	struct lids l = { .r = r };
	uint16_t sm_lid;

	l.owner = xmalloc(SIM_LID_MCAST * sizeof(*l.owner));
	for (uint32_t lid = 0; lid < SIM_LID_MCAST; lid++)
		l.owner[lid] = SIM_NONE;
	l.sm_votes = xcalloc(UINT16_MAX + 1u, sizeof(*l.sm_votes));
	for (uint32_t port = 0; port < f->n_ports; port++)
		if (end_port_is_up(f, port))
			check_port(&l, port);
	sm_lid = most_votes(&l);
	for (uint32_t port = 0; port < f->n_ports; port++)
		if (end_port_is_up(f, port))
			check_sm_lid(&l, port, sm_lid);
	if (l.sm_votes[sm_lid] && (sm_lid >= SIM_LID_MCAST || l.owner[sm_lid] == SIM_NONE))
		report(r, AUDIT_LID, "SM LID %u, which most ports have, belongs to no port", sm_lid);
	free(l.owner);
	free(l.sm_votes);
}
