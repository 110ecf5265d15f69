/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See lft_caps.h. */
#include "plan/lft_caps.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "route/order.h"

static const struct src_pos nowhere;

static int compare_caps(const void *a, const void *b)
{
	return *(const uint16_t *)a - *(const uint16_t *)b;
}

/* The different capacities that are too small, ascending; *n: how many. */
static uint16_t *small_caps(struct plan *p, uint32_t *n)
{
	const struct fabric *f = p->f;
	uint16_t *caps = xcalloc(f->n_switches + 1, sizeof(*caps));
	uint32_t distinct = 0;

	p->short_switches = 0;
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		if (f->switches[sw].lft_cap <= p->lid_top)
			caps[p->short_switches++] = f->switches[sw].lft_cap;
	qsort(caps, p->short_switches, sizeof(*caps), compare_caps);
	for (uint32_t i = 0; i < p->short_switches; i++)
		if (!distinct || caps[i] != caps[distinct - 1])
			caps[distinct++] = caps[i];
	*n = distinct;
	return caps;
}

/* A copy of the fabric in which no route leads over switches that hold cap entries or fewer. */
static struct fabric *without_smaller(const struct fabric *f, uint16_t cap)
{
	struct fabric *copy = fabric_clone(f);

	for (uint32_t sw = 0; sw < f->n_switches; sw++) {
		const struct fabric_node *n = &f->nodes[f->switches[sw].node];

		for (unsigned num = 1; f->switches[sw].lft_cap <= cap && num <= n->nports; num++) {
			uint32_t peer = f->ports[n->port0 + num].peer;

			if (peer == FABRIC_NONE || !node_is_switch(port_node(f, peer)))
				continue;
			copy->ports[n->port0 + num].held = true;
			copy->ports[peer].held = true;
		}
	}
	return copy;
}

/* The order stays, so that old and new routes together make no circle. */
static struct updn_order *same_order(const struct plan *p, const struct fabric *f)
{
	uint32_t *same = xmalloc((f->n_switches + 1) * sizeof(*same));
	struct updn_order *o;

	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		same[sw] = sw;
	o = updn_order_on(p->order, f, same);
	free(same);
	return o;
}

/* Routes anew to the LIDs from `first`, which switches with so many entries do not hold, to last. */
static void reroute(struct plan *p, uint16_t first, uint16_t last)
{
	const struct route_engine *e = route_engine_find(p->engine);
	struct fabric *f = without_smaller(p->f, first);
	struct updn_order *order = same_order(p, f);
	struct route_request r = { .f = f, .lid = p->lid, .lmc = p->lmc, .lid_top = p->lid_top,
				   .order = order };
	struct lfts *out = lfts_new(f->n_switches, p->lfts->top);
	struct buf why = { 0 };
	bool did = e && e->run(&r, out, &why);
	size_t n = last - first + 1u;

	for (uint32_t sw = 0; sw < f->n_switches; sw++) {
		uint8_t *row = p->lfts->entries + (size_t)sw * p->lfts->stride + first;

		if (did && f->switches[sw].lft_cap > first)
			memcpy(row, out->entries + (size_t)sw * out->stride + first, n);
		else
			memset(row, LFT_DROP, n);
	}
	buf_free(&why);
	lfts_free(out);
	updn_order_free(order);
	fabric_free(f);
}

/* --- what is told --- */

__attribute__((format(printf, 3, 4)))
static void tell(struct plan *p, enum severity severity, const char *fmt, ...)
{
	struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	findings_add(&p->findings, severity, "", nowhere, "%s", text.s);
	findings_add(&p->short_findings, severity, "", nowhere, "%s", text.s);
	buf_free(&text);
}

/* The switches on which packets begin: those with a CA or router. */
static uint32_t *switches_with_hosts(const struct fabric *f, uint32_t *n)
{
	uint32_t *list = xcalloc(f->n_switches + 1, sizeof(*list));

	*n = 0;
	for (uint32_t sw = 0; sw < f->n_switches; sw++) {
		const struct fabric_node *node = &f->nodes[f->switches[sw].node];
		bool any = false;

		for (unsigned num = 1; num <= node->nports && !any; num++) {
			uint32_t peer = f->ports[node->port0 + num].peer;

			any = peer != FABRIC_NONE && !node_is_switch(port_node(f, peer));
		}
		if (any)
			list[(*n)++] = sw;
	}
	return list;
}

struct starts {
	uint32_t *sw, n;
};

/* Whether somebody has a LID, and packets for it are dropped where they begin. */
static bool is_cut(const struct plan *p, const struct starts *from, uint32_t lid)
{
	if (p->port_by_lid[lid] == FABRIC_NONE)
		return false;
	for (uint32_t i = 0; i < from->n; i++)
		if (lft_get(p->lfts, from->sw[i], (uint16_t)lid) == LFT_DROP)
			return true;
	return false;
}

#define RANGES_MAX 8

static void tell_cut_lids(struct plan *p, uint16_t first)
{
	struct buf text = { 0 };
	uint32_t ranges = 0, n = 0;
	struct starts from;

	from.sw = switches_with_hosts(p->f, &from.n);
	for (uint32_t lid = first, end; lid <= p->lid_top; lid = end + 1) {
		end = lid;
		if (!is_cut(p, &from, lid))
			continue;
		while (end < p->lid_top && is_cut(p, &from, end + 1))
			end++;
		n += end - lid + 1;
		if (ranges++ >= RANGES_MAX)
			continue;
		buf_printf(&text, ranges > 1 ? ", %u" : "%u", lid);
		if (end > lid)
			buf_printf(&text, " to %u", end);
	}
	if (n)
		tell(p, SEV_ERROR, "%u LID%s cannot be reached from every port, as switches on the "
		     "way do not hold %s: %s%s", n, n == 1 ? "" : "s", n == 1 ? "it" : "them",
		     text.s, ranges > RANGES_MAX ? ", …" : "");
	buf_free(&text);
	free(from.sw);
}

static void tell_switches(struct plan *p)
{
	char name[FABRIC_NAME_MAX];

	for (uint32_t sw = 0; sw < p->f->n_switches; sw++) {
		const struct fabric_switch *s = &p->f->switches[sw];

		if (s->lft_cap <= p->lid_top)
			tell(p, SEV_WARNING, "%s forwards to %u LIDs at most (LinearFDBCap), and "
			     "the subnet has LIDs up to %u: no route to LID %u or above leads "
			     "over it", fabric_node_name(p->f, s->node, name, sizeof(name)),
			     s->lft_cap ? s->lft_cap - 1u : 0u, p->lid_top,
			     s->lft_cap ? s->lft_cap : 1u);
	}
}

void routes_fit(struct plan *p)
{
	uint32_t n;
	uint16_t *caps = small_caps(p, &n);

	for (uint32_t i = 0; i < n; i++)
		reroute(p, caps[i], i + 1 < n ? (uint16_t)(caps[i + 1] - 1) : p->lid_top);
	if (n) {
		tell_switches(p);
		tell_cut_lids(p, caps[0] ? caps[0] : 1);
	}
	free(caps);
}
