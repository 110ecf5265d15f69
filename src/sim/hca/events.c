/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tells a driver what has changed at its ports.
 *
 * Each turn compares the ports with what the driver knows, whoever changed them: a subnet manager, a
 * fault or a cable.  Changes that find the ring full stay due, and are told together.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/net/fields.h"
#include "sim/hca/hca_internal.h"

static const struct sim_port *port_of_seen(const struct hca *h, const struct seen *seen)
{
	return &h->s->f->ports[hca_port(h, (unsigned)(seen - h->seen) + 1)];
}

void events_init(struct hca *h)
{
	for (unsigned i = 0; i < hca_node(h)->nports; i++) {
		const struct sim_port *p = port_of_seen(h, &h->seen[i]);

		h->seen[i].pkeys = xcalloc(p->n_pkeys, sizeof(*p->pkeys));
		h->seen[i].guids = xcalloc(p->n_guids, sizeof(*p->guids));
	}
}

void events_free(struct hca *h)
{
	for (unsigned i = 0; i < hca_node(h)->nports; i++) {
		free(h->seen[i].pkeys);
		free(h->seen[i].guids);
	}
}

/* Brings seen up to date; returns enum simhca_event bits. */
static unsigned compare(const struct sim_port *p, struct seen *seen)
{
	const uint8_t sm_sl = (uint8_t)low4(p->info + PI_MTU_SM_SL);
	const struct {
		void *known;
		const void *now;
		size_t n;
		unsigned event;
	} facts[] = {
		{ &seen->state, &p->state, sizeof(p->state), SIMHCA_STATE_CHANGED },
		{ &seen->lid, &p->lid, sizeof(p->lid), SIMHCA_LID_CHANGED },
		{ &seen->lmc, &p->lmc, sizeof(p->lmc), SIMHCA_LID_CHANGED },
		{ &seen->sm_lid, &p->sm_lid, sizeof(p->sm_lid), SIMHCA_SM_CHANGED },
		{ &seen->sm_sl, &sm_sl, sizeof(sm_sl), SIMHCA_SM_CHANGED },
		{ seen->pkeys, p->pkeys, p->n_pkeys * sizeof(*p->pkeys), SIMHCA_PKEYS_CHANGED },
		{ seen->gid_prefix, p->info + PI_GID_PREFIX, sizeof(seen->gid_prefix),
		  SIMHCA_GIDS_CHANGED },
		{ seen->guids, p->guids, p->n_guids * sizeof(*p->guids), SIMHCA_GIDS_CHANGED },
		{ &seen->reregisters, &p->reregisters, sizeof(p->reregisters), SIMHCA_REREGISTER },
	};
	unsigned changed = 0;

	for (size_t i = 0; i < ARRAY_SIZE(facts); i++) {
		if (!facts[i].n || !memcmp(facts[i].known, facts[i].now, facts[i].n))
			continue;
		memcpy(facts[i].known, facts[i].now, facts[i].n);
		changed |= facts[i].event;
	}
	return changed;
}

void events_reset(struct hca *h)
{
	for (unsigned i = 0; i < hca_node(h)->nports; i++) {
		compare(port_of_seen(h, &h->seen[i]), &h->seen[i]);
		h->seen[i].due = 0;
	}
}

static void tell(struct hca *h, struct seen *seen)
{
	struct frame *f = &h->frame;

	f->kind = SIMHCA_EVENT;
	f->port = port_of_seen(h, seen)->num;
	f->flags = seen->due;
	f->id = 0;
	f->length = seen->due & SIMHCA_STATE_CHANGED ? 1 : 0;
	f->data[0] = seen->state;
	if (hca_write(h))
		seen->due = 0;
}

void events_tell(struct hca *h)
{
	if (!hca_node(h)->started)
		return;
	for (unsigned i = 0; i < hca_node(h)->nports; i++) {
		struct seen *seen = &h->seen[i];

		seen->due |= (uint16_t)compare(port_of_seen(h, seen), seen);
		if (seen->due && !h->waiting)
			tell(h, seen);
	}
}
