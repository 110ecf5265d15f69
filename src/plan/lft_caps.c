/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See lft_caps.h. */
#include "plan/lft_caps.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "route/detour.h"
#include "route/graph.h"

#define RANGES_MAX 8

static const struct src_pos nowhere;

/* How many LIDs, from 0 on, a switch forwards whatever its table holds. */
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
	block = fabric_kept_block(p->f, sw, lid / LFT_BLOCK);
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

/* Switches with a fixed entry up to the highest LID, each once; *n: how many. */
static uint32_t *switches_with_fixed(struct plan *p, uint32_t *n)
{
	const struct fabric *f = p->f;
	uint32_t *list = xcalloc(f->n_switches + 1u, sizeof(*list));

	*n = 0;
	for (uint32_t sw = 0; sw < f->n_switches; sw++) {
		bool is_short = f->switches[sw].lft_cap <= p->lid_top, keeps = keeps_entries(p, sw);
		bool mute = f->nodes[f->switches[sw].node].mute;

		p->short_switches += is_short;
		p->kept_switches += keeps && !mute;
		p->mute_switches += keeps && mute;
		if (keeps || is_short)
			list[(*n)++] = sw;
	}
	return list;
}

/* Entries of kept blocks for which there is no LID: the block is to be as the switch has it. */
static void keep_unused(struct plan *p)
{
	for (uint32_t i = 0; i < p->f->n_kept; i++) {
		const struct lft_kept *k = &p->f->kept[i];
		uint8_t *row = p->lfts->entries + (size_t)k->sw * p->lfts->stride;

		for (uint32_t at = 0; at < LFT_BLOCK; at++) {
			uint32_t lid = k->block * LFT_BLOCK + at;

			if ((!lid || lid > p->lfts->top) && lid < p->lfts->stride &&
			    lid < lids_within(&p->f->switches[k->sw]))
				row[lid] = k->entries[at];
		}
	}
}

/* --- what is told --- */

__attribute__((format(printf, 4, 5)))
static void tell(struct plan *p, struct findings *also, enum severity severity, const char *fmt, ...)
{
	struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	findings_add(&p->findings, severity, "", nowhere, "%s", text.s);
	findings_add(also, severity, "", nowhere, "%s", text.s);
	buf_free(&text);
}

/* A switch that can't be reached itself, as it keeps its own entries: that says no more. */
static bool is_own(const struct plan *p, uint32_t lid)
{
	uint32_t port = p->port_by_lid[lid];

	return port != FABRIC_NONE && node_is_switch(port_node(p->f, port)) &&
	       keeps_entries(p, port_node(p->f, port)->sw);
}

static void leave_out_own(const struct plan *p, uint32_t *cut)
{
	for (uint32_t lid = 1; lid <= p->lid_top; lid++)
		if (cut[lid] && is_own(p, lid))
			cut[lid] = 0;
}

static void tell_cut_lids(struct plan *p, const uint32_t *cut)
{
	bool by_switch = p->kept_switches || p->mute_switches;
	struct buf text = { 0 };
	uint32_t ranges = 0, n = 0;

	for (uint32_t lid = 1, end; lid <= p->lid_top; lid = end + 1) {
		end = lid;
		if (!cut[lid])
			continue;
		while (end < p->lid_top && cut[end + 1])
			end++;
		n += end - lid + 1;
		if (ranges++ >= RANGES_MAX)
			continue;
		buf_printf(&text, ranges > 1 ? ", %u" : "%u", lid);
		if (end > lid)
			buf_printf(&text, " to %u", end);
	}
	if (n)
		tell(p, by_switch ? &p->cut_findings : &p->short_findings, SEV_ERROR,
		     "%u LID%s cannot be reached from every port, as switches on the way do not %s "
		     "%s: %s%s", n, n == 1 ? "" : "s",
		     p->kept_switches ? "take a route to" : by_switch ? "answer, and have no route to" :
		     "hold", n == 1 ? "it" : "them", text.s, ranges > RANGES_MAX ? ", …" : "");
	buf_free(&text);
}

static void tell_short_switches(struct plan *p)
{
	char name[FABRIC_NAME_MAX];

	for (uint32_t sw = 0; sw < p->f->n_switches; sw++) {
		const struct fabric_switch *s = &p->f->switches[sw];

		if (s->lft_cap <= p->lid_top)
			tell(p, &p->short_findings, SEV_WARNING, "%s forwards to %u LIDs at most "
			     "(LinearFDBCap), and the subnet has LIDs up to %u: no route to LID %u or "
			     "above leads over it", fabric_node_name(p->f, s->node, name, sizeof(name)),
			     s->lft_cap ? s->lft_cap - 1u : 0u, p->lid_top,
			     s->lft_cap ? s->lft_cap : 1u);
	}
}

/* --- ways round --- */

static bool forwards_nothing(const struct plan *p, uint32_t sw)
{
	uint8_t entry;

	for (uint32_t lid = 1; lid <= p->lid_top; lid++)
		if (!fixed_entry(p, sw, (uint16_t)lid, &entry) || entry != LFT_DROP)
			return false;
	return true;
}

/* The links of those of the switches that forward nothing are held in f; returns how many do. */
static uint32_t hold_links(const struct plan *p, struct fabric *f, const struct detour_request *r,
			   bool *blind)
{
	uint32_t n_blind = 0;

	for (uint32_t i = 0; i < r->n_switches; i++) {
		const struct fabric_node *n = &f->nodes[f->switches[r->switches[i]].node];

		if (!forwards_nothing(p, r->switches[i]))
			continue;
		n_blind++;
		blind[r->switches[i]] = true;
		for (uint32_t port = n->port0 + 1; port <= n->port0 + n->nports; port++) {
			if (f->ports[port].peer == FABRIC_NONE)
				continue;
			f->ports[port].held = f->ports[f->ports[port].peer].held = true;
		}
	}
	return n_blind;
}

/* Pairs that no routes of f connect, counted as in p->cut_pairs; blind: [switch] forwards nothing. */
static uint64_t cut_anyway(const struct plan *p, const struct fabric *f, const bool *blind)
{
	struct graph *g = graph_new(f, graph_by_guid(f));
	uint32_t *part = graph_parts(g), *part_of = xcalloc(g->n + 1u, sizeof(*part_of));
	uint32_t *senders = xcalloc(g->n + 1u, sizeof(*senders)), all = 0;	/* [part] */
	uint64_t cut = 0;

	for (uint32_t v = 0; v < g->n; v++) {
		bool sends = detour_sends(g, v);

		all += sends;
		senders[part[v]] += sends && !blind[g->sw[v]];
		part_of[g->sw[v]] = part[v];
	}
	for (uint32_t lid = 1; lid <= p->lid_top; lid++) {
		uint32_t sw = p->port_by_lid[lid] == FABRIC_NONE ? FABRIC_NONE :
			      fabric_switch_of(f, p->port_by_lid[lid]);

		if (sw != FABRIC_NONE)
			cut += all - senders[part_of[sw]];
	}
	free(part);
	free(part_of);
	free(senders);
	graph_free(g);
	return cut;
}

/*
 * p's fabric with the links held of all switches that forward nothing, if routes that are made for it
 * connect more than p's do; NULL: they don't.
 */
static struct fabric *way_round(const struct plan *p, const struct detour_request *r)
{
	struct fabric *f;
	bool *blind;

	if (!p->cut_pairs || !r->legal)
		return NULL;
	f = fabric_clone(p->f);
	blind = xcalloc(f->n_switches, sizeof(*blind));
	if (!hold_links(p, f, r, blind) || cut_anyway(p, f, blind) >= p->cut_pairs) {
		fabric_free(f);
		f = NULL;
	}
	free(blind);
	return f;
}

/* cut: [LID up to the tables' top], as detour() has it. */
static void fit(struct plan *p, struct detour_request *r, uint32_t *cut)
{
	r->order = p->order;
	r->legal = route_engine_find(p->engine) == &route_updn;
	detour(r, p->lfts, cut);
	keep_unused(p);
	p->cut_pairs = p->cut_hosts = 0;
	for (uint32_t lid = 1; lid <= p->lid_top; lid++) {
		uint32_t port = p->port_by_lid[lid];

		p->cut_pairs += cut[lid];
		if (port != FABRIC_NONE && (port == p->f->self || port_is_host(p->f, port)))
			p->cut_hosts += cut[lid];
	}
}

void routes_fit(struct plan *p, void (*route)(struct plan *p, const struct fabric *f))
{
	struct detour_request r = { .f = p->f, .port_by_lid = p->port_by_lid,
				    .fixed = fixed_entry, .arg = p };
	uint32_t *switches, *cut;
	struct fabric *round;

	p->short_switches = p->kept_switches = p->mute_switches = 0;
	p->cut_pairs = p->cut_hosts = 0;
	r.switches = switches = switches_with_fixed(p, &r.n_switches);
	if (r.n_switches) {
		cut = xcalloc(p->lfts->top + 1u, sizeof(*cut));
		fit(p, &r, cut);
		round = way_round(p, &r);
		if (round) {
			route(p, round);
			memset(cut, 0, (p->lfts->top + 1u) * sizeof(*cut));
			fit(p, &r, cut);
			fabric_free(round);
		}
		leave_out_own(p, cut);
		tell_short_switches(p);
		tell_cut_lids(p, cut);
		free(cut);
	}
	free(switches);
}
