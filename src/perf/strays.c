/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps which SLs and VLs carried data though no level has them, by port, as last measured.
 *
 * The list is sorted, so that those who show it can go through the ports of an SL in one pass.
 */
#include "perf/perf_internal.h"

#include <stdlib.h>

#include "lib/base/clock.h"

#define WORD 4			/* bytes */

static int compare(const void *pa, const void *pb)
{
	const struct perf_stray *a = pa, *b = pb;

	if (a->by_vl != b->by_vl)
		return a->by_vl - b->by_vl;
	if (a->lane != b->lane)
		return a->lane - b->lane;
	if (a->guid != b->guid)
		return a->guid < b->guid ? -1 : 1;
	return a->num - b->num;
}

static struct perf_stray *find(const struct strays *x, const struct perf_stray *key)
{
	return x->n ? bsearch(key, x->v, x->n, sizeof(*x->v), compare) : NULL;
}

static void drop(struct strays *x, struct perf_stray *old)
{
	free(old->port);
	for (struct perf_stray *next = old + 1; next < x->v + x->n; next++)
		next[-1] = *next;
	x->n--;
}

static void enter(struct strays *x, const struct subnet_state *s, uint32_t port, struct perf_stray stray)
{
	struct perf_stray *old = find(x, &stray);
	char name[FABRIC_NAME_MAX];

	if (!old && x->n >= PERF_FINDINGS_MAX)
		return;
	stray.port = xstrdup(fabric_port_name(s->f, port, name, sizeof(name)));
	stray.when_us = clock_real_us();
	stray.looked_at = true;
	if (old) {
		free(old->port);
		*old = stray;
		return;
	}
	*vec_push(x) = stray;
	qsort(x->v, x->n, sizeof(*x->v), compare);
}

static void take(struct strays *x, const struct subnet_state *s, const struct perf_port *p, bool by_vl,
		 unsigned lane)
{
	const struct fabric_port *at = &s->f->ports[p->port];
	struct pma_growth words = by_vl ? p->vls[lane].words : p->sl[lane];
	struct perf_stray stray = {
		.guid = at->guid, .num = at->num, .by_vl = by_vl, .lane = (uint8_t)lane,
		.bytes = words.n * WORD,
	};
	struct perf_stray *old;

	if ((by_vl ? p->stray_vls : p->stray_sls) >> lane & 1)
		enter(x, s, p->port, stray);
	else if ((old = find(x, &stray)) && words.is == GROWTH_KNOWN)
		drop(x, old);
	else if (old)
		old->looked_at = true;		/* unknown this time */
}

void strays_take(struct strays *x, const struct subnet_state *s, const struct perf_port *p)
{
	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
		take(x, s, p, false, sl);
	for (unsigned vl = 0; vl < ARB_VLS; vl++)
		take(x, s, p, true, vl);
}

void strays_begin(struct strays *x)
{
	for (size_t i = 0; i < x->n; i++)
		x->v[i].looked_at = false;
}

void strays_end(struct strays *x)
{
	for (size_t i = x->n; i-- > 0; )
		if (!x->v[i].looked_at)
			drop(x, &x->v[i]);
}

void strays_clear(struct strays *x)
{
	for (size_t i = 0; i < x->n; i++)
		free(x->v[i].port);
	vec_free(x);
}

void strays_sum(struct perf_summary *sum, const struct perf_port *p)
{
	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
		if (p->stray_sls >> sl & 1) {
			sum->stray_sls[sl].bytes += p->sl[sl].n * WORD;
			sum->stray_sls[sl].ports++;
		}
	for (unsigned vl = 0; vl < ARB_VLS; vl++)
		if (p->stray_vls >> vl & 1) {
			sum->stray_vls[vl].bytes += p->vls[vl].words.n * WORD;
			sum->stray_vls[vl].ports++;
		}
}
