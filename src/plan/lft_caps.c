/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See lft_caps.h. */
#include "plan/lft_caps.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "route/detour.h"

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

		p->short_switches += is_short;
		p->kept_switches += keeps;
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

static void count_cut(struct plan *p, uint32_t *cut)
{
	for (uint32_t lid = 1; lid <= p->lid_top; lid++) {
		p->cut_pairs += cut[lid];
		if (cut[lid] && is_own(p, lid))
			cut[lid] = 0;
	}
}

static void tell_cut_lids(struct plan *p, const uint32_t *cut)
{
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
		tell(p, p->kept_switches ? &p->cut_findings : &p->short_findings, SEV_ERROR,
		     "%u LID%s cannot be reached from every port, as switches on the way do not %s "
		     "%s: %s%s", n, n == 1 ? "" : "s", p->kept_switches ? "take a route to" : "hold",
		     n == 1 ? "it" : "them", text.s, ranges > RANGES_MAX ? ", …" : "");
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

void routes_fit(struct plan *p)
{
	struct detour_request r = { .f = p->f, .order = p->order, .port_by_lid = p->port_by_lid,
				    .fixed = fixed_entry, .arg = p };
	uint32_t *switches;
	uint32_t *cut;

	p->short_switches = p->kept_switches = 0;
	p->cut_pairs = 0;
	r.switches = switches = switches_with_fixed(p, &r.n_switches);
	if (r.n_switches) {
		r.legal = route_engine_find(p->engine) == &route_updn;
		cut = xcalloc(p->lfts->top + 1u, sizeof(*cut));
		detour(&r, p->lfts, cut);
		keep_unused(p);
		count_cut(p, cut);
		tell_short_switches(p);
		tell_cut_lids(p, cut);
		free(cut);
	}
	free(switches);
}
