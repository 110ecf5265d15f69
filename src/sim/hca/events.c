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

static bool learn(void *known, const void *now, size_t n)
{
	if (!n || !memcmp(known, now, n))
		return false;
	memcpy(known, now, n);
	return true;
}

static bool learn_lid(const struct sim_port *p, struct seen *seen)
{
	bool lid = learn(&seen->lid, &p->lid, sizeof(p->lid));
	bool lmc = learn(&seen->lmc, &p->lmc, sizeof(p->lmc));

	return lid || lmc;
}

static bool learn_sm(const struct sim_port *p, struct seen *seen)
{
	uint8_t now = p->info[PI_MTU_SM_SL] & 15;
	bool lid = learn(&seen->sm_lid, &p->sm_lid, sizeof(p->sm_lid));
	bool sl = learn(&seen->sm_sl, &now, sizeof(now));

	return lid || sl;
}

static bool learn_gids(const struct sim_port *p, struct seen *seen)
{
	bool prefix = learn(seen->gid_prefix, p->info + PI_GID_PREFIX, sizeof(seen->gid_prefix));
	bool guids = learn(seen->guids, p->guids, p->n_guids * sizeof(*p->guids));

	return prefix || guids;
}

/* Brings seen up to date; returns enum simhca_event bits. */
static unsigned compare(const struct sim_port *p, struct seen *seen)
{
	unsigned changed = 0;

	if (learn(&seen->state, &p->state, sizeof(p->state)))
		changed |= SIMHCA_STATE_CHANGED;
	if (learn_lid(p, seen))
		changed |= SIMHCA_LID_CHANGED;
	if (learn_sm(p, seen))
		changed |= SIMHCA_SM_CHANGED;
	if (learn(seen->pkeys, p->pkeys, p->n_pkeys * sizeof(*p->pkeys)))
		changed |= SIMHCA_PKEYS_CHANGED;
	if (learn_gids(p, seen))
		changed |= SIMHCA_GIDS_CHANGED;
	if (learn(&seen->reregisters, &p->reregisters, sizeof(p->reregisters)))
		changed |= SIMHCA_REREGISTER;
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
