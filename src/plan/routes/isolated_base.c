/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Repairs base tables for isolated links; see isolated_base.h.
 *
 * The fabric of a plan does not say of a link between two switches that are both missing whether it is isolated: one
 * may be isolated, and the other have failed.  An absent switch counts as isolated, with all its links, if all its
 * links to present switches are, or if it has none and links lead from it to a switch that counts.  So a switch that
 * fails next to isolated ones does not change what is isolated.
 */
#include "plan/routes/isolated_base.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"

#define MANY_ENDS 64	/* ends of isolated links from which on they are worth tables of their own */

struct finder {
	const struct fabric *known, *f;
	const uint32_t *map;
	bool *absent;		/* [switch of known]: it counts as isolated */
};

/* The port's link between switches is missing in f, and f says at this end that it is isolated. */
static bool is_marked(const struct finder *x, uint32_t port)
{
	uint32_t now = fabric_port_by_map(x->known, x->f, x->map, port);

	return now != FABRIC_NONE && x->f->ports[now].isolated && x->f->ports[now].peer == FABRIC_NONE;
}

static bool is_absent(const struct finder *x, uint32_t sw)
{
	return x->map[x->known->switches[sw].node] == FABRIC_NONE;
}

/* What the links of an absent switch say of it; INSIDE: none leads to a present one. */
enum standing { ISOLATED, NOT_ISOLATED, INSIDE };

static enum standing judge(const struct finder *x, uint32_t sw)
{
	const struct fabric_node *n = &x->known->nodes[x->known->switches[sw].node];
	bool any = false;

	for (uint32_t i = n->port0 + 1; i <= n->port0 + n->nports; i++) {
		uint32_t peer = x->known->ports[i].peer;

		if (!link_joins_switches(x->known, i) || is_absent(x, port_node(x->known, peer)->sw))
			continue;
		if (!is_marked(x, peer))
			return NOT_ISOLATED;
		any = true;
	}
	return any ? ISOLATED : INSIDE;
}

/* From switches that count as isolated on to those that have no link to a present one. */
static void spread(struct finder *x, uint32_t *queue, uint32_t n)
{
	for (uint32_t head = 0; head < n; head++) {
		const struct fabric_node *node = &x->known->nodes[x->known->switches[queue[head]].node];

		for (uint32_t i = node->port0 + 1; i <= node->port0 + node->nports; i++) {
			uint32_t far = link_joins_switches(x->known, i) ?
					       port_node(x->known, x->known->ports[i].peer)->sw :
					       FABRIC_NONE;

			if (far == FABRIC_NONE || x->absent[far] || !is_absent(x, far) || judge(x, far) != INSIDE)
				continue;
			x->absent[far] = true;
			queue[n++] = far;
		}
	}
}

static void find_absent(struct finder *x)
{
	uint32_t *queue = xcalloc(x->known->n_switches, sizeof(*queue)), n = 0;

	for (uint32_t sw = 0; sw < x->known->n_switches; sw++)
		if (is_absent(x, sw) && judge(x, sw) == ISOLATED) {
			x->absent[sw] = true;
			queue[n++] = sw;
		}
	spread(x, queue, n);
	free(queue);
}

static bool any_isolated(const struct fabric *f)
{
	for (uint32_t i = 0; i < f->n_ports; i++)
		if (f->ports[i].isolated)
			return true;
	return false;
}

bool *isolated_links(const struct fabric *known, const struct fabric *f, const uint32_t *map)
{
	struct finder x = { known, f, map, NULL };
	bool *links;

	if (!any_isolated(f))
		return NULL;
	links = xcalloc(known->n_ports, sizeof(*links));
	x.absent = xcalloc(known->n_switches, sizeof(*x.absent));
	find_absent(&x);
	for (uint32_t i = 0; i < known->n_ports; i++) {
		uint32_t peer = known->ports[i].peer;

		if (link_joins_switches(known, i))
			links[i] = x.absent[port_node(known, i)->sw] || x.absent[port_node(known, peer)->sw] ||
				   is_marked(&x, i) || is_marked(&x, peer);
	}
	free(x.absent);
	return links;
}

/* --- the tables --- */

static bool has_ends(const struct isolated_base *x, const struct link_end *ends, uint32_t n)
{
	if (x->n != n)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (x->ends[i].sw != ends[i].sw || x->ends[i].port != ends[i].port)
			return false;
	return true;
}

struct isolated_base *isolated_base_get(const struct repair *rp, const struct lfts *lfts, const struct link_end *ends,
					uint32_t n, struct isolated_base *before)
{
	struct isolated_base *x;

	if (n < MANY_ENDS)
		return NULL;
	if (before && has_ends(before, ends, n)) {
		atomic_fetch_add(&before->refs, 1);
		return before;
	}
	x = xcalloc(1, sizeof(*x));
	atomic_init(&x->refs, 1);
	x->ends = xmemdup(ends, n * sizeof(*ends));
	x->n = n;
	repair_run(rp, lfts, NULL, 0, x->ends, n, &x->repaired);
	if (x->repaired.ok) {
		x->repair = repair_of(rp, &x->repaired, x->ends, n);
	} else {
		repaired_free(&x->repaired);
		x->repaired = (struct repaired){ 0 };
	}
	return x;
}

void isolated_base_unref(struct isolated_base *x)
{
	if (!x || atomic_fetch_sub(&x->refs, 1) != 1)
		return;
	repair_free(x->repair);
	repaired_free(&x->repaired);
	free(x->ends);
	free(x);
}
