/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See lft_caps.h. */
#include "plan/routes/lft_caps.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "routing/change/fixed_entries.h"
#include "routing/graph.h"

#define RANGES_MAX 8

static const struct src_pos nowhere;

/* Number of LIDs, from 0 on, that a switch forwards whatever its table holds. */
static uint32_t lids_within(const struct fabric_switch *s)
{
	uint32_t top = s->lft_top + 1u;

	return s->top_stays && top < s->lft_cap ? top : s->lft_cap;
}

static bool fixed_entry(const void *arg, uint32_t sw, uint16_t lid, uint8_t *entry)
{
	const struct plan *p = arg;
	const uint8_t *block;

	*entry = LFT_DROP;
	if (lid >= lids_within(&p->f->switches[sw]))
		return true;
	block = fabric_fixed_block(p->f, sw, lid / LFT_BLOCK);
	if (block)
		*entry = block[lid % LFT_BLOCK];
	return block;
}

static bool keeps_entries(const struct plan *p, uint32_t sw)
{
	const struct fabric *f = p->f;
	bool keeps = f->switches[sw].lft_cap > p->lid_top &&
		     lids_within(&f->switches[sw]) <= p->lid_top;

	return keeps || fabric_keeps_any(f, sw);
}

/* Switches with a fixed entry up to the highest LID, each once; *n: their number. */
static uint32_t *switches_with_fixed(struct plan *p, uint32_t *n)
{
	const struct fabric *f = p->f;
	uint32_t *list = xcalloc(f->n_switches + 1u, sizeof(*list));

	*n = 0;
	for (uint32_t sw = 0; sw < f->n_switches; sw++) {
		bool is_short = f->switches[sw].lft_cap <= p->lid_top, keeps = keeps_entries(p, sw);
		bool silent = f->nodes[f->switches[sw].node].silent;

		p->short_switches += is_short;
		p->fixed_switches += keeps && !silent;
		p->silent_switches += keeps && silent;
		if (keeps || is_short)
			list[(*n)++] = sw;
	}
	return list;
}

/* --- findings --- */

/* also: NULL, or a second list that the finding is put on. */
__attribute__((format(printf, 4, 5)))
static void tell(struct plan *p, struct findings *also, enum severity severity, const char *fmt, ...)
{
	struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	findings_add(&p->findings, severity, "", nowhere, "%s", text.s);
	if (also)
		findings_add(also, severity, "", nowhere, "%s", text.s);
	buf_free(&text);
}

/* The LID is that of a switch that keeps its entries, and so cannot itself be reached: no further news. */
static bool is_own(const struct plan *p, uint32_t lid)
{
	uint32_t port = p->port_by_lid[lid];

	return port != FABRIC_NONE && node_is_switch(port_node(p->f, port)) &&
	       keeps_entries(p, port_node(p->f, port)->sw);
}

/* What switches on the way to cut LIDs do not do; *list: where that is told beside p->findings, or NULL. */
static const char *not_done(struct plan *p, struct findings **list)
{
	*list = &p->cut_findings;
	if (p->fixed_switches)
		return "accept a route to";
	if (p->silent_switches)
		return "answer, and have no route to";
	*list = NULL;
	if (p->short_switches == fabric_count_unread(p->f))
		return "answer SwitchInfo, and take no route to";
	*list = &p->short_findings;
	return "hold";
}

static void tell_cut_lids(struct plan *p, const struct detour_cut *cut)
{
	struct findings *list;
	const char *what = not_done(p, &list);
	struct buf text = { 0 };
	uint32_t ranges = 0, n = 0;

	for (uint32_t lid = 1, end; lid <= p->lid_top; lid = end + 1) {
		end = lid;
		if (!cut[lid].all)
			continue;
		while (end < p->lid_top && cut[end + 1].all)
			end++;
		n += end - lid + 1;
		if (ranges++ >= RANGES_MAX)
			continue;
		buf_printf(&text, ranges > 1 ? ", %u" : "%u", lid);
		if (end > lid)
			buf_printf(&text, " to %u", end);
	}
	if (n)
		tell(p, list, SEV_ERROR, "%u LID%s cannot be reached from every port because switches on the "
		     "way do not %s %s: %s%s", n, n == 1 ? "" : "s", what, n == 1 ? "it" : "them", text.s,
		     ranges > RANGES_MAX ? ", …" : "");
	buf_free(&text);
}

static void tell_short_switches(struct plan *p)
{
	for (uint32_t sw = 0; sw < p->f->n_switches; sw++) {
		const struct fabric_switch *s = &p->f->switches[sw];

		if (s->unread)
			tell(p, NULL, SEV_WARNING, "%s has not answered SwitchInfo: no route uses it "
			     "until it does", NODE_NAME(p->f, s->node));
		else if (s->lft_cap <= p->lid_top)
			tell(p, &p->short_findings, SEV_WARNING, "%s forwards to at most %u LIDs "
			     "(LinearFDBCap), but the subnet has LIDs up to %u: routes to LID %u and above "
			     "avoid it", NODE_NAME(p->f, s->node),
			     s->lft_cap ? s->lft_cap - 1u : 0u, p->lid_top,
			     s->lft_cap ? s->lft_cap : 1u);
	}
}

/* --- detours --- */

static bool forwards_nothing(const struct plan *p, uint32_t sw)
{
	uint8_t entry;

	for (uint32_t lid = 1; lid <= p->lid_top; lid++)
		if (!fixed_entry(p, sw, (uint16_t)lid, &entry) || entry != LFT_DROP)
			return false;
	return true;
}

/* The detours around switches that do not follow the plan, and what stays cut. */
struct fit {
	struct detour_request r;
	struct detour_cut *cut;	/* [LID up to the tables' top] */
	bool *blind;		/* [switch]: forwards nothing */
	bool *apart;		/* [switch]: forwards nothing or does not answer */
	uint64_t cut_rest;	/* pairs that are cut, without switches that are apart */
};

/* Holds the links of these switches in f; false: there are none. */
static bool hold_links(struct fabric *f, const bool *of)
{
	bool any = false;

	for (uint32_t sw = 0; sw < f->n_switches; sw++) {
		const struct fabric_node *n = &f->nodes[f->switches[sw].node];

		for (uint32_t port = n->port0 + 1; of[sw] && port <= n->port0 + n->nports; port++)
			if (f->ports[port].peer != FABRIC_NONE)
				f->ports[port].held = f->ports[f->ports[port].peer].held = true;
		any |= of[sw];
	}
	return any;
}

/*
 * The pairs that no routes of f could connect, counted as in p->cut_pairs.  aside: [switch]: its
 * links are held.  rest: counts only pairs of switches that are not aside.
 */
static uint64_t cut_anyway(const struct plan *p, const struct fabric *f, const bool *aside, bool rest)
{
	struct graph *g = graph_new(f, graph_by_guid(f));
	uint32_t *part = graph_parts(g), *part_of = xcalloc(g->n + 1u, sizeof(*part_of));
	uint32_t *senders = xcalloc(g->n + 1u, sizeof(*senders)), all = 0;	/* [part] */
	uint64_t cut = 0;

	for (uint32_t v = 0; v < g->n; v++) {
		bool sends = detour_sends(g, v);

		all += sends && !(rest && aside[g->sw[v]]);
		senders[part[v]] += sends && !aside[g->sw[v]];
		part_of[g->sw[v]] = part[v];
	}
	for (uint32_t lid = 1; lid <= p->lid_top; lid++) {
		uint32_t sw = p->port_by_lid[lid] == FABRIC_NONE ? FABRIC_NONE :
			      fabric_switch_of(f, p->port_by_lid[lid]);

		if (sw != FABRIC_NONE && !(rest && aside[sw]))
			cut += all - senders[part_of[sw]];
	}
	free(part);
	free(part_of);
	free(senders);
	graph_free(g);
	return cut;
}

static void fit(struct plan *p, struct fit *x)
{
	memset(x->cut, 0, (p->lfts->top + 1u) * sizeof(*x->cut));
	x->r.order = p->order;
	x->r.legal = route_engine_find(p->engine) == &route_updn;
	detour(&x->r, p->lfts, x->cut);
	/* Entries of kept blocks without a LID: the plan takes over the switch's contents. */
	for (uint32_t i = 0; i < p->f->n_fixed; i++) {
		const struct lft_fixed *k = &p->f->fixed[i];
		uint8_t *row = p->lfts->entries + (size_t)k->sw * p->lfts->stride;

		for (uint32_t at = 0; at < LFT_BLOCK; at++) {
			uint32_t lid = k->block * LFT_BLOCK + at;

			if ((!lid || lid > p->lfts->top) && lid < p->lfts->stride &&
			    lid < lids_within(&p->f->switches[k->sw]))
				row[lid] = k->entries[at];
		}
	}
	p->cut_pairs = p->cut_hosts = x->cut_rest = 0;
	for (uint32_t lid = 1; lid <= p->lid_top; lid++) {
		uint32_t port = p->port_by_lid[lid];
		uint32_t sw = port == FABRIC_NONE ? FABRIC_NONE : fabric_switch_of(p->f, port);

		p->cut_pairs += x->cut[lid].all;
		if (sw != FABRIC_NONE && !x->apart[sw])
			x->cut_rest += x->cut[lid].rest;
		if (port != FABRIC_NONE && (port == p->f->self || port_is_host(p->f, port)))
			p->cut_hosts += x->cut[lid].all;
	}
}

/*
 * Routes p's fabric anew with the links of these switches held, if such routes cut fewer pairs than
 * `cut`.
 */
static void fit_without(struct plan *p, struct fit *x, const bool *aside, bool rest, uint64_t cut,
			void (*route)(struct plan *p, const struct fabric *f))
{
	struct fabric *f;

	if (!cut || !x->r.legal)
		return;
	f = fabric_clone(p->f);
	if (hold_links(f, aside) && cut_anyway(p, f, aside, rest) < cut) {
		route(p, f);
		fit(p, x);
	}
	fabric_free(f);
}

void routes_fit(struct plan *p, void (*route)(struct plan *p, const struct fabric *f))
{
	struct fit x = { .r = { .f = p->f, .port_by_lid = p->port_by_lid, .fixed = fixed_entry, .arg = p } };
	uint32_t *switches;

	p->short_switches = p->fixed_switches = p->silent_switches = 0;
	p->cut_pairs = p->cut_hosts = 0;
	x.r.switches = switches = switches_with_fixed(p, &x.r.n_switches);
	if (x.r.n_switches) {
		x.cut = xcalloc(p->lfts->top + 1u, sizeof(*x.cut));
		x.blind = xcalloc(p->f->n_switches + 1u, sizeof(*x.blind));
		x.apart = xcalloc(p->f->n_switches + 1u, sizeof(*x.apart));
		for (uint32_t i = 0; i < x.r.n_switches; i++) {
			uint32_t sw = x.r.switches[i];

			x.blind[sw] = forwards_nothing(p, sw);
			x.apart[sw] = x.blind[sw] || p->f->nodes[p->f->switches[sw].node].silent;
		}
		x.r.apart = x.apart;
		fit(p, &x);
		fit_without(p, &x, x.blind, false, p->cut_pairs, route);
		/* pairs with a route over switches that answer must not depend on others */
		fit_without(p, &x, x.apart, true, x.cut_rest, route);
		for (uint32_t lid = 1; lid <= p->lid_top; lid++)
			if (x.cut[lid].all && is_own(p, lid))
				x.cut[lid].all = 0;
		tell_short_switches(p);
		tell_cut_lids(p, x.cut);
		free(x.cut);
		free(x.blind);
		free(x.apart);
	}
	free(switches);
}
