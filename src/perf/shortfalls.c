/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps which VLs measurements found short, and the sums by level of the last full measurement.
 *
 * It reports when a VL becomes short and when that ends, as events.
 */
#include "perf/perf_internal.h"

#include <stdlib.h>

#include "lib/base/clock.h"

struct perf_book {
	struct perf_hooks hooks;
	VEC(struct perf_finding) findings;
	struct strays strays;
	struct port_gots *gots;
	struct perf_summary last;
};

struct perf_book *book_new(const struct perf_hooks *hooks)
{
	struct perf_book *b = xcalloc(1, sizeof(*b));

	b->hooks = *hooks;
	b->gots = gots_new();
	return b;
}

static void finding_free(struct perf_finding *x)
{
	free(x->port);
	free(x->levels);
}

static void summary_free(struct perf_summary *x)
{
	for (size_t i = 0; i < x->levels.n; i++)
		free(x->levels.v[i].name);
	vec_free(&x->levels);
	*x = (struct perf_summary){ 0 };
}

void book_clear(struct perf_book *b)
{
	for (size_t i = 0; i < b->findings.n; i++)
		finding_free(&b->findings.v[i]);
	vec_free(&b->findings);
	strays_clear(&b->strays);
	gots_clear(b->gots);
	summary_free(&b->last);
}

void book_free(struct perf_book *b)
{
	book_clear(b);
	gots_free(b->gots);
	free(b);
}

const struct perf_finding *book_findings(const struct perf_book *b, size_t *n)
{
	*n = b->findings.n;
	return b->findings.v;
}

const struct perf_stray *book_strays(const struct perf_book *b, size_t *n)
{
	*n = b->strays.n;
	return b->strays.v;
}

const struct perf_summary *book_last(const struct perf_book *b)
{
	return &b->last;
}

const struct perf_got *book_got(const struct perf_book *b, uint64_t guid, unsigned num)
{
	return gots_find(b->gots, guid, num);
}

/* --- findings --- */

static void tell(const struct perf_book *b, enum event_kind kind, const struct perf_finding *x)
{
	struct event e;

	if (kind == EVENT_SHARE_MISSED)
		event_make(&e, kind, "%s: level %s got %.0f %% of %.0f %% promised while waiting",
			   x->port, x->levels, x->got * 100, x->promised * 100);
	else
		event_make(&e, kind, "%s: level %s is no longer found to get less than promised",
			   x->port, x->levels);
	event_guid(&e, "guid", x->guid);
	event_number(&e, "port", x->num);
	event_number(&e, "vl", x->vl);
	event_text(&e, "level", "%s", x->levels);
	if (kind == EVENT_SHARE_MISSED) {
		event_number(&e, "got-percent", (int64_t)(x->got * 100 + 0.5));
		event_number(&e, "promised-percent", (int64_t)(x->promised * 100 + 0.5));
	}
	b->hooks.event(b->hooks.arg, &e);
}

static struct perf_finding *find(struct perf_book *b, uint64_t guid, unsigned num, unsigned vl)
{
	for (size_t i = 0; i < b->findings.n; i++) {
		struct perf_finding *x = &b->findings.v[i];

		if (x->guid == guid && x->num == num && x->vl == vl)
			return x;
	}
	return NULL;
}

static void drop(struct perf_book *b, struct perf_finding *x)
{
	tell(b, EVENT_SHARE_MET, x);
	finding_free(x);
	*x = b->findings.v[--b->findings.n];
}

static void add(struct perf_book *b, const struct subnet_state *s, const struct perf_port *p,
		unsigned vl)
{
	const struct fabric_port *at = &s->f->ports[p->port];
	struct perf_finding *x = find(b, at->guid, at->num, vl);
	bool is_new = !x;
	struct buf levels = { 0 };
	char name[FABRIC_NAME_MAX];

	if (is_new && b->findings.n >= PERF_FINDINGS_MAX)
		return;
	if (is_new)
		x = vec_push(&b->findings);
	else
		finding_free(x);
	perf_level_names(s->plan, p->sls[vl], &levels);
	*x = (struct perf_finding){
		.guid = at->guid, .num = at->num, .vl = (uint8_t)vl,
		.port = xstrdup(fabric_port_name(s->f, p->port, name, sizeof(name))),
		.levels = xstrdup(levels.s ? levels.s : "?"), .got = p->vls[vl].got,
		.promised = p->vls[vl].promised, .when_us = clock_real_us(), .looked_at = true,
	};
	buf_free(&levels);
	if (is_new)
		tell(b, EVENT_SHARE_MISSED, x);
}

void book_begin(struct perf_book *b)
{
	for (size_t i = 0; i < b->findings.n; i++)
		b->findings.v[i].looked_at = false;
	strays_begin(&b->strays);
	gots_begin(b->gots, clock_real_us());
}

void book_take(struct perf_book *b, const struct subnet_state *s, const struct perf_port *p)
{
	const struct fabric_port *at = &s->f->ports[p->port];

	for (unsigned vl = 0; vl < ARB_VLS; vl++) {
		struct perf_finding *x = find(b, at->guid, at->num, vl);

		if (x)
			x->looked_at = true;
		if (p->vls[vl].verdict == VERDICT_SHORT)
			add(b, s, p, vl);
		else if (x && p->vls[vl].verdict != VERDICT_UNKNOWN)
			drop(b, x);
	}
	strays_take(&b->strays, s, p);
	gots_take(b->gots, s, p, clock_real_us());
}

/* --- sums by level --- */

static void sum_level(struct perf_level *sum, const struct policy_level *l,
		      const struct sl_plan *sls, const struct perf_port *p)
{
	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
		if (sls->base[sl] == l->sl && growth_is_some(p->sl[sl]))
			sum->bytes += p->sl[sl].n * 4;
	for (unsigned vl = 0; vl < ARB_VLS; vl++) {
		const struct vl_use *x = &p->vls[vl];

		if (!(sl_plan_levels(sls, p->sls[vl]) >> l->sl & 1) || x->verdict == VERDICT_NONE ||
		    x->verdict == VERDICT_UNKNOWN)
			continue;
		sum->judged++;
		if (x->verdict != VERDICT_SHORT)
			continue;
		sum->short_of++;
		if (x->promised - x->got > sum->promised - sum->got) {
			sum->got = x->got;
			sum->promised = x->promised;
		}
	}
}

static bool is_silent(const struct perf_port *p)
{
	for (unsigned a = 0; a < PMA_ATTRS; a++) {
		enum pma_result r = p->after[a].result;

		if (a != PMA_VL_RCV && r != PMA_SILENT && r != PMA_UNASKED)
			return false;
	}
	return true;
}

static void sum_up(struct perf_book *b, const struct perf_report *r)
{
	const struct policy *pol = r->state->plan->policy;
	unsigned measured = 0;
	double us = 0;

	summary_free(&b->last);
	b->last.when_us = clock_real_us();
	b->last.ports = r->n;
	for (size_t l = 0; l < pol->n_levels; l++) {
		struct perf_level sum = { .name = xstrdup(pol->levels[l].name) };

		for (uint32_t i = 0; i < r->n; i++)
			sum_level(&sum, &pol->levels[l], &r->state->plan->sls, &r->ports[i]);
		*vec_push(&b->last.levels) = sum;
	}
	for (uint32_t i = 0; i < r->n; i++) {
		strays_sum(&b->last, &r->ports[i]);
		b->last.silent += is_silent(&r->ports[i]);
		b->last.lacking += !is_silent(&r->ports[i]) && r->ports[i].by == PMA_ATTRS;
		measured += r->ports[i].us > 0;
		us += (double)r->ports[i].us;
	}
	b->last.seconds = measured ? us * 1e-6 / measured : 0;
}

void book_end(struct perf_book *b, const struct perf_report *r, bool all)
{
	if (!all)
		return;
	/* a measurement of all ports drops findings of ports that no longer exist */
	for (size_t i = b->findings.n; i-- > 0; )
		if (!b->findings.v[i].looked_at)
			drop(b, &b->findings.v[i]);
	strays_end(&b->strays);
	gots_end(b->gots);
	sum_up(b, r);
}

void perf_level_names(const struct plan *p, uint16_t sls, struct buf *out)
{
	const struct policy *pol = p->policy;
	uint16_t own = sl_plan_levels(&p->sls, sls);

	for (size_t i = 0; i < pol->n_levels; i++)
		if (own >> pol->levels[i].sl & 1)
			buf_printf(out, "%s%s", out->n ? ", " : "", pol->levels[i].name);
}
