/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Follows tables and searches the dependencies of channels for cycles, without knowing the fabric's shape. */
#ifndef QOSD_TESTS_ROUTE_WAITS_H
#define QOSD_TESTS_ROUTE_WAITS_H

#include <check.h>

#include "lib/base/alloc.h"
#include "routing/layers.h"
#include "topo.h"

/* What a VL set of a link waits for, by the port that sends on it. */
struct waits {
	const struct topo *t;
	const struct route_layers *y;
	bool (*on)[512];	/* [2 * port index + VL set]: [2 * port number of the next switch + VL set] */
	uint8_t *state;		/* [2 * port index + VL set] */
};

static inline void waits_init(struct waits *w, const struct topo *t, const struct route_layers *y)
{
	*w = (struct waits){ .t = t, .y = y };
	w->on = xcalloc(2 * (size_t)t->f->n_ports, sizeof(*w->on));
	w->state = xcalloc(2 * (size_t)t->f->n_ports, 1);
}

static inline void waits_free(struct waits *w)
{
	free(w->on);
	free(w->state);
}

static inline uint32_t switch_behind(const struct fabric *f, uint32_t port)
{
	uint32_t peer = f->ports[port].peer;

	return peer == FABRIC_NONE ? FABRIC_NONE : port_node(f, peer)->sw;
}

static inline bool comes_back(struct waits *w, uint32_t channel)
{
	const struct fabric *f = w->t->f;
	uint32_t port0 = port_node(f, f->ports[channel / 2].peer)->port0;

	if (w->state[channel])
		return w->state[channel] == 1;
	w->state[channel] = 1;
	for (unsigned i = 0; i < 512; i++)
		if (w->on[channel][i] && comes_back(w, 2 * port0 + i))
			return true;
	w->state[channel] = 2;
	return false;
}

static inline bool has_cycle(struct waits *w)
{
	for (uint32_t p = 0; p < w->t->f->n_ports; p++)
		for (unsigned set = 0; set < 2 && w->t->f->ports[p].peer != FABRIC_NONE; set++)
			if (comes_back(w, 2 * p + set))
				return true;
	return false;
}

/* by: the port that the packet was sent on before, or FABRIC_NONE. */
static inline unsigned vl_set_on(const struct waits *w, unsigned layer, uint32_t by, uint32_t port)
{
	const struct fabric *f = w->t->f;

	if (!w->y->link)
		return 0;
	return route_vl_set_on(route_link(w->y, port_node(f, port)->sw, f->ports[port].num), by == FABRIC_NONE ?
			     ROUTE_LINK_FIRST : route_link(w->y, port_node(f, by)->sw, f->ports[by].num), layer);
}

/* A packet that was sent on `by`, then on `held`, waits for `next`. */
static inline void wait_for(struct waits *w, unsigned layer, uint32_t by, uint32_t held, uint32_t next)
{
	w->on[2 * held + vl_set_on(w, layer, by, held)]
	     [2 * w->t->f->ports[next].num + vl_set_on(w, layer, held, next)] = true;
}

/* Follows one route; false if it does not arrive. */
static inline bool walk(struct waits *w, const struct lfts *l, uint32_t sw, uint32_t end, uint16_t lid)
{
	const struct fabric *f = w->t->f;
	uint32_t home = fabric_switch_of(f, end), by = FABRIC_NONE, held = FABRIC_NONE;
	unsigned layer = route_layer(w->y, sw, home);

	for (uint32_t hops = 0; hops <= f->n_switches; hops++) {
		const struct fabric_node *node = &f->nodes[f->switches[sw].node];
		uint8_t num = lft_get(l, sw, lid);
		uint32_t out = node->port0 + num;

		if (num > node->nports || f->ports[out].held)
			return false;
		if (out == end || f->ports[out].peer == end)
			return true;
		if (held != FABRIC_NONE)
			wait_for(w, layer, by, held, out);
		by = held;
		held = out;
		sw = switch_behind(f, out);
		if (sw == FABRIC_NONE)
			return false;
	}
	return false;
}

/* Follows all tables, from every switch to every LID; away: switches that nothing leads to or from, or NULL. */
static inline void walk_all(struct waits *w, const struct lfts *l, const bool *away)
{
	const struct topo *t = w->t;

	for (uint32_t p = 0; p < t->f->n_ports; p++)
		for (uint32_t sw = 0; t->lid[p] && sw < t->f->n_switches; sw++)
			if (sw != fabric_switch_of(t->f, p) &&
			    !(away && (away[sw] || away[fabric_switch_of(t->f, p)])))
				ck_assert(walk(w, l, sw, p, t->lid[p]));
}

/* Neither these dependencies nor qosd's verdict may have a cycle; frees w. */
static inline void expect_no_cycle(struct waits *w, const struct lfts *l)
{
	struct route_request r = w->t->r;
	struct route_report report;

	ck_assert(!has_cycle(w));
	r.layers = w->y;
	waits_free(w);
	route_verify(&r, l, &report);
	ck_assert(!report.credit_loop);
	route_report_free(&report);
}

static inline void hold(struct fabric *f, uint32_t port)
{
	f->ports[port].held = f->ports[f->ports[port].peer].held = true;
}

#endif
