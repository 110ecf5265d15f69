/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The matrix of levels in a report: which level a path query without any condition gets between two port
 * groups of the policy.  A few members stand for each group, as all pairs would be too many.
 */
#include <stdlib.h>

#include "ctl/report/report.h"
#include "lib/base/alloc.h"

#define MEMBERS 3	/* of a group that are asked about */

struct sample {
	uint32_t port[MEMBERS];
	unsigned n;
	json_int_t size;	/* end ports with a LID, of the whole group */
};

static void take_sample(const struct subnet_state *s, uint32_t group, struct sample *out)
{
	*out = (struct sample){ 0 };
	for (uint32_t port = 0; port < s->f->n_ports; port++) {
		if (!s->plan->lid[port] || !group_has(s->plan->groups, group, port))
			continue;
		if (out->n < MEMBERS && port_is_host(s->f, port))
			out->port[out->n++] = port;
		out->size++;
	}
}

static bool has_level(const json_t *levels, json_int_t level)
{
	const json_t *x;
	size_t i;

	json_array_foreach(levels, i, x)
		if (json_integer_value(x) == level)
			return true;
	return false;
}

/* Adds the number of the level between two ports, -1 if they have no path, unless it is there. */
static void add_level(json_t *levels, const struct subnet_state *s, uint32_t from, uint32_t to)
{
	const struct path_query q = {
		.src = from, .dst = to, .slid = s->plan->lid[from], .dlid = s->plan->lid[to],
	};
	struct path_answer a;
	json_int_t level = path_resolve(s, &q, &a) ? -1 : (json_int_t)a.level;

	if (!has_level(levels, level))
		json_array_append_new(levels, json_integer(level));
}

static json_t *json_cell(const struct subnet_state *s, const struct sample *from, const struct sample *to)
{
	json_t *levels = json_array();

	for (unsigned i = 0; i < from->n; i++)
		for (unsigned k = 0; k < to->n; k++)
			if (from->port[i] != to->port[k])
				add_level(levels, s, from->port[i], to->port[k]);
	return levels;
}

/* The policy's groups come first, `all` last. */
static const char *group_name(const struct subnet_state *s, uint32_t group)
{
	const struct policy *p = s->plan->policy;

	return group < p->n_groups ? p->groups[group].name : "all";
}

void report_pairs(json_t *out, const struct subnet_state *s)
{
	uint32_t all = s->plan->groups->n_groups, n = all < REPORT_GROUPS ? all : REPORT_GROUPS;
	struct sample *samples = xcalloc(n + 1u, sizeof(*samples));
	json_t *names = json_array(), *sizes = json_array(), *rows = json_array();

	for (uint32_t i = 0; i < n; i++) {
		take_sample(s, i, &samples[i]);
		json_array_append_new(names, json_text(group_name(s, i)));
		json_array_append_new(sizes, json_integer(samples[i].size));
	}
	for (uint32_t i = 0; i < n; i++) {
		json_t *row = json_array();

		for (uint32_t k = 0; k < n; k++)
			json_array_append_new(row, json_cell(s, &samples[i], &samples[k]));
		json_array_append_new(rows, row);
	}
	json_object_set_new(out, "pairs", json_pack("{s:o, s:o, s:o, s:I}", "groups", names, "sizes", sizes,
						    "levels", rows, "all", (json_int_t)all));
	free(samples);
}
