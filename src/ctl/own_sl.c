/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tells what becomes of packets that a program sends on an SL of its own choice, without asking the
 * SA, as many MPI libraries do: the VL at each hop, its share of the link, and why.
 */
#include <string.h>

#include "ctl/commands/cmd_explain.h"

/* Appends the weight of a VL in one table, and the sum of all; nothing if it has none. */
static bool put_weight(struct buf *b, const struct vlarb_entry *e, unsigned n, unsigned vl,
		       const char *table)
{
	unsigned own = 0, all = 0;

	for (unsigned i = 0; i < n; i++) {
		all += e[i].weight;
		own += e[i].vl == vl ? e[i].weight : 0;
	}
	if (own)
		buf_printf(b, ", weight %u of %u in the table of %s priority", own, all, table);
	return own > 0;
}

static void put_sharers(struct buf *b, const struct subnet_state *s, uint16_t sls)
{
	json_t *levels = json_levels(s->plan->policy, sl_plan_levels(&s->plan->sls, sls));

	if (!json_array_size(levels))
		buf_puts(b, "; no level uses this VL");
	for (size_t i = 0; i < json_array_size(levels); i++)
		buf_printf(b, "%s %s", i ? "," : "; of the levels",
			   json_string_value(json_array_get(levels, i)));
	json_decref(levels);
}

static void put_vl(struct buf *b, const struct subnet_state *s, const struct path_hop *hop,
		   unsigned vl, const struct port_shares *p)
{
	buf_printf(b, hop->map == TABLE_NONE ? "the port has one VL" : "SL2VL maps it to VL %u", vl);
	if (p->arb) {
		bool high = put_weight(b, p->arb->high, p->arb->n_high, vl, "high");
		bool low = put_weight(b, p->arb->low, p->arb->n_low, vl, "low");

		if (!high && !low)
			buf_puts(b, ", which is in no arbitration table: nothing is sent");
	}
	put_sharers(b, s, p->sls[vl]);
}

/* Says why the SL gets its VL and share at a hop; NULL: the packet has arrived. */
static json_t *hop_why(const struct subnet_state *s, const struct path_hop *hop, unsigned sl,
		       const struct port_shares *p)
{
	int vl = hop_vl(s, hop, sl);
	struct buf b = { 0 };
	json_t *text;

	if (vl < 0 || !p->known)
		buf_puts(&b, "qosd does not manage the tables: the device decides");
	else if (vl != IB_VL_DROP)
		put_vl(&b, s, hop, (unsigned)vl, p);
	else if (hop->map != TABLE_NONE && s->plan->tables->maps[hop->map].vl[sl] != IB_VL_DROP)
		buf_printf(&b, "SL2VL maps it to VL %u, which the link does not have: it is dropped",
			   s->plan->tables->maps[hop->map].vl[sl]);
	else
		buf_puts(&b, "SL2VL maps it to VL 15: it is dropped");
	text = json_text(b.s);
	buf_free(&b);
	return text;
}

json_t *json_own_sl(const struct subnet_state *s, uint32_t src, uint32_t dst, uint16_t dlid,
		    unsigned sl)
{
	json_t *hops = json_hops(s, src, dst, dlid, sl);
	struct path_hop route[PATH_HOPS_MAX];
	bool there, dropped = false;
	unsigned n = paths_follow(s->f, s->plan->lfts, s->plan->tables, src, dlid, dst, route,
				  PATH_HOPS_MAX, &there);

	for (unsigned i = 0; i < n; i++) {
		json_t *hop = json_array_get(hops, i);
		uint32_t port = hop_port(s->f, &route[i]);
		int vl = hop_vl(s, &route[i], sl);
		struct port_shares shares;

		json_object_set_new(hop, "why", json_null());
		if (port == FABRIC_NONE)
			continue;
		port_shares_with(s, port, vl < 0 ? ARB_VLS : (unsigned)vl, &shares);
		json_add_share(hop, &shares, vl < 0 ? 0 : (unsigned)vl);
		json_object_set_new(hop, "why", hop_why(s, &route[i], sl, &shares));
		dropped |= vl == IB_VL_DROP;
	}
	return json_pack("{s:i, s:o, s:b, s:o}", "sl", (int)sl,
			 "levels", json_levels(s->plan->policy,
					       sl_plan_levels(&s->plan->sls, (uint16_t)(1u << sl))),
			 "dropped", dropped || !there, "hops", hops);
}
