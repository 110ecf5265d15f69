/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Joins SL2VL items for optimized SLtoVLMapping programming (14.2.5.8).
 *
 * A switch that reports this capability takes one Set for all in ports of an out port, or for all
 * pairs of ports.  Items of single pairs are joined where all planned pairs in the reach of such a
 * Set should get the same table.
 *
 * Pairs that the plan excludes (in = out, no link) carry nothing, so it does no harm that such a
 * Set writes them, too.
 */

#include "sm/sweep/reading.h"
#include "sm/write/write.h"

#define DIFFERENT (TABLE_NONE - 1)	/* in place of a table: the pairs need several */

/* The planned table of all in ports for an out port; TABLE_NONE: there is no pair. */
static uint16_t wanted_for_out(const struct plan *p, uint32_t node, unsigned out)
{
	const struct fabric_node *n = &p->f->nodes[node];
	uint16_t all = TABLE_NONE;

	for (unsigned in = 0; in <= n->nports; in++) {
		uint16_t id = qos_sl2vl_id(p->tables, p->f, node, in, out);

		if (id == TABLE_NONE)
			continue;
		if (all != TABLE_NONE && all != id)
			return DIFFERENT;
		all = id;
	}
	return all;
}

static uint16_t wanted_for_all(const uint16_t *by_out, unsigned nports)
{
	uint16_t all = TABLE_NONE;

	for (unsigned out = 0; out <= nports; out++) {
		if (by_out[out] == TABLE_NONE)
			continue;
		if (all != TABLE_NONE && all != by_out[out])
			return DIFFERENT;
		all = by_out[out];
	}
	return all;
}

/* The item that is written in place of an SL2VL item; pairs: number of items per out port. */
static item_t joined(item_t it, const uint16_t *by_out, const unsigned *pairs, bool whole)
{
	unsigned out = ITEM_B(it);

	if (whole)
		return ITEM(ITEM_SL2VL, ITEM_ALL, ITEM_ALL);
	if (by_out[out] != DIFFERENT && pairs[out] > 1)
		return ITEM(ITEM_SL2VL, ITEM_ALL, out);
	return it;
}

/* A pair that is merely tried must not cause others to be written. */
static bool is_joinable(item_t it)
{
	return ITEM_KIND(it) == ITEM_SL2VL && !(it & ITEM_PROBE);
}

uint32_t optimized_sl2vl_join(const struct plan *p, uint32_t node, item_t *items, uint32_t count)
{
	const struct fabric_node *n = &p->f->nodes[node];
	uint16_t by_out[256];
	unsigned pairs[256] = { 0 }, outs = 0;
	uint32_t k = 0;
	item_t last = 0;
	bool whole;

	if (n->sw == FABRIC_NONE || !p->f->switches[n->sw].optimized_sl2vl || !p->tables->managed)
		return count;
	for (uint32_t i = 0; i < count; i++)
		if (is_joinable(items[i]))
			outs += pairs[ITEM_B(items[i])]++ == 0;
	if (!outs)
		return count;
	for (unsigned out = 0; out <= n->nports; out++)
		by_out[out] = wanted_for_out(p, node, out);
	whole = outs > 1 && wanted_for_all(by_out, n->nports) != DIFFERENT;

	/* want_items() lists pairs by out port, so those that are joined are adjacent */
	for (uint32_t i = 0; i < count; i++) {
		item_t it = items[i];

		if (is_joinable(it)) {
			it = joined(it, by_out, pairs, whole);
			if (it == last)
				continue;
			last = it;
		}
		items[k++] = it;
	}
	return k;
}

bool optimized_sl2vl_split(const struct plan *p, uint32_t node, struct node_work *w, item_t item)
{
	const struct fabric_node *n = &p->f->nodes[node];

	if (ITEM_KIND(item) != ITEM_SL2VL || ITEM_A(item) != ITEM_ALL)
		return false;
	for (unsigned out = 0; out <= n->nports; out++)
		for (unsigned in = 0; in <= n->nports; in++)
			if ((ITEM_B(item) == ITEM_ALL || ITEM_B(item) == out) &&
			    qos_sl2vl_id(p->tables, p->f, node, in, out) != TABLE_NONE)
				observe_add(w, ITEM(ITEM_SL2VL, in, out));
	return true;
}
