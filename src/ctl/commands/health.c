/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Judges the subnet's health, one subject after the other; health.h has the contracts. */
#include "ctl/commands/health.h"

#include <stdlib.h>
#include <string.h>

#include "ctl/commands/health_judges.h"

/* In the order in which findings of the same severity are told. */
static const struct {
	health_judge_fn *judge;
	bool of_state;		/* asked only if a state is published */
} judges[] = {
	{ health_role, false }, { health_keys, false }, { health_up, false }, { health_devices, true },
	{ health_far_ends, true }, { health_ports, true }, { health_routes, true },
	{ health_shape, true }, { health_unread_switches, true }, { health_table_sizes, true },
	{ health_fixed_routes, true }, { health_inherited, true }, { health_congestion, true },
	{ health_lmc, true }, { health_mlids, true }, { health_mlids_in_use, true },
	{ health_links, true }, { health_groups, true }, { health_broadcasts, true },
	{ health_shares, true }, { health_strays, true }, { health_missing, true },
	{ health_topology, true }, { health_errors, true }, { health_optics, true },
	{ health_discovery, false }, { health_excluded, false }, { health_floods, false },
	{ health_mad_floods, false }, { health_implausible, false }, { health_flaps, false },
	{ health_withdrawn, false }, { health_outages, false }, { health_store, false },
	{ health_history, false }, { health_listening, false }, { health_policy, false },
	{ health_sa, false }, { health_registries, false }, { health_subscribers, false },
};

static int by_severity(const void *a, const void *b)
{
	const struct problem *x = *(const struct problem *const *)a, *y = *(const struct problem *const *)b;

	if (x->severity != y->severity)
		return x->severity < y->severity ? -1 : 1;
	return x < y ? -1 : x > y;	/* keep the order in which they were found */
}

static void sort(struct health *h)
{
	const struct problem **order = xcalloc(h->v.n + 1, sizeof(const struct problem *));
	struct problem *sorted = xcalloc(h->v.n + 1, sizeof(*sorted));

	for (size_t i = 0; i < h->v.n; i++)
		order[i] = &h->v.v[i];
	qsort(order, h->v.n, sizeof(*order), by_severity);
	for (size_t i = 0; i < h->v.n; i++)
		sorted[i] = *order[i];
	if (h->v.n)
		memcpy(h->v.v, sorted, h->v.n * sizeof(*sorted));
	free(order);
	free(sorted);
}

void health_judge(const struct health_input *in, struct health *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(judges); i++)
		if (in->state || !judges[i].of_state)
			judges[i].judge(in, out);
	sort(out);
}

void health_free(struct health *h)
{
	for (size_t i = 0; i < h->v.n; i++)
		free(h->v.v[i].text);
	vec_free(&h->v);
}
