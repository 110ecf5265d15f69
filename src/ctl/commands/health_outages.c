/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names the nodes and links that go away too often; see health_judges.h and health_outages.h. */
#include "ctl/commands/health_outages.h"

#include <stdlib.h>
#include <string.h>

#include "ctl/commands/health_judges.h"

struct unsteady { VEC(struct outage) list; };

/* Switches, links, then other nodes; the most frequent ones of each first. */
static int by_weight(const void *a, const void *b)
{
	const struct outage *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->times != y->times)
		return x->times > y->times ? -1 : 1;
	return strcmp(x->name, y->name);
}

static bool is_drained(const struct withdrawals *w, const struct outage *x)
{
	if (!w)
		return false;
	if (withdrawals_find(w, x->guid, 0))
		return true;
	return x->kind == OUTAGE_LINK && (withdrawals_find(w, x->guid, x->port) ||
					  withdrawals_find(w, x->far_guid, 0) ||
					  withdrawals_find(w, x->far_guid, x->far_port));
}

static void find_unsteady(const struct outages *o, const struct withdrawals *w, int64_t now_us,
			  struct unsteady *found)
{
	struct outage x;
	size_t i = 0;

	while (outages_next(o, &i, now_us, &x))
		if (!is_drained(w, &x))
			*vec_push(&found->list) = x;
	if (found->list.n)
		qsort(found->list.v, found->list.n, sizeof(*found->list.v), by_weight);
}

static void put_outage(const struct outage *x, struct health *h)
{
	const char *least = x->times > OUTAGE_LIMIT_MAX ? "at least " : "";
	struct buf text = { 0 };

	if (x->kind == OUTAGE_LINK) {
		buf_printf(&text, "link %s to %s went down %s%u times in the last hour", x->name,
			   x->far_name, least, x->times);
		health_take(h, FOUND_LINK_UNSTEADY, text.s);
		return;
	}
	buf_printf(&text, "%s went away %s%u times in the last hour", x->name, least, x->times);
	health_take(h, FOUND_NODE_UNSTEADY, text.s);
}

void health_outages(const struct health_input *in, struct health *h)
{
	struct unsteady found = { 0 };

	if (!in->outages)
		return;
	find_unsteady(in->outages, in->sm->withdrawals, in->now_mono_us, &found);
	for (size_t i = 0; i < found.list.n && i < HEALTH_EACH; i++)
		put_outage(&found.list.v[i], h);
	health_rest(h, FOUND_MORE_UNSTEADY, found.list.n);
	vec_free(&found.list);
}

void metrics_outages(struct prom *p, const struct outages *o, const struct withdrawals *w,
		     int64_t now_us)
{
	struct unsteady found = { 0 };
	size_t links = 0;

	find_unsteady(o, w, now_us, &found);
	for (size_t i = 0; i < found.list.n; i++)
		links += found.list.v[i].kind == OUTAGE_LINK;
	prom_metric(p, "qosd_fabric_unsteady", PROM_GAUGE,
		    "Nodes and links that went away more than outage-limit times in the last hour.");
	prom_sample(p, (double)(found.list.n - links), "kind", "node", NULL);
	prom_sample(p, (double)links, "kind", "link", NULL);
	vec_free(&found.list);
}
