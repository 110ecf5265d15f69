/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The matrix of levels in a report: which levels path queries without any condition get between two port groups. */
#include <stdlib.h>

#include "ctl/group_pairs.h"
#include "ctl/report/report.h"
#include "lib/base/alloc.h"

#define KINDS_MAX 100	/* of hosts of a group; of more, so many stand for all, which the page says */

/* End ports with a LID, those of switches included. */
static json_int_t size_of(const struct subnet_state *s, uint32_t group)
{
	json_int_t n = 0;

	for (uint32_t port = 0; port < s->f->n_ports; port++)
		n += s->plan->lid[port] && group_has(s->plan->groups, group, port);
	return n;
}

/* The numbers of the levels of any pair; -1: some have no path. */
static json_t *json_cell(struct group_pairs *pairs, const struct group_hosts *from, const struct group_hosts *to,
			 size_t n_levels)
{
	uint64_t *by_level = xcalloc(n_levels + 1, sizeof(*by_level));
	json_t *levels = json_array();

	group_pairs_count(pairs, from, to, by_level);
	for (size_t i = 0; i <= n_levels; i++)
		if (by_level[i])
			json_array_append_new(levels, json_integer(i < n_levels ? (json_int_t)i : -1));
	free(by_level);
	return levels;
}

void report_pairs(json_t *out, const struct subnet_state *s)
{
	const struct path_query any = { 0 };
	uint32_t all = s->plan->groups->n_groups, n = all < REPORT_GROUPS ? all : REPORT_GROUPS;
	struct group_hosts *hosts = xcalloc(n + 1u, sizeof(*hosts));
	struct group_pairs *pairs = group_pairs_new(s, &any);
	json_t *names = json_array(), *sizes = json_array(), *rows = json_array();
	bool sampled = false;

	for (uint32_t i = 0; i < n; i++) {
		group_pairs_hosts(pairs, i, KINDS_MAX, &hosts[i]);
		sampled |= hosts[i].sampled;
		json_array_append_new(names, json_text(group_pairs_name(s, i)));
		json_array_append_new(sizes, json_integer(size_of(s, i)));
	}
	for (uint32_t i = 0; i < n; i++) {
		json_t *row = json_array();

		for (uint32_t k = 0; k < n; k++)
			json_array_append_new(row, json_cell(pairs, &hosts[i], &hosts[k], s->policy->p->n_levels));
		json_array_append_new(rows, row);
	}
	json_object_set_new(out, "pairs", json_pack("{s:o, s:o, s:o, s:I, s:b}", "groups", names, "sizes", sizes,
						    "levels", rows, "all", (json_int_t)all, "sampled", sampled));
	for (uint32_t i = 0; i < n; i++)
		vec_free(&hosts[i].kinds);
	free(hosts);
	group_pairs_free(pairs);
}
