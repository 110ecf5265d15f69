/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `matrix`: which level the pairs of hosts of any two port groups get, one row for two groups.
 *
 * A job makes all rows in a thread of its own (group_pairs.h).
 */
#include <stdlib.h>
#include <string.h>

#include "ctl/commands/cmd_explain.h"
#include "ctl/group_pairs.h"
#include "lib/base/alloc.h"

#define GROUPS_MAX	60	/* without --from and --to */
#define KINDS_MAX	300	/* of a group; of more, so many stand for all */

struct matrix {
	struct subnet_state *s;	/* referenced */
	struct path_query q;
	uint32_t from, to;	/* numbers of sets; UINT32_MAX: all */
	uint32_t level;		/* only pairs that get it; LEVEL_ALL: any */
	bool count;
	/* results */
	VEC(struct group_hosts) groups;
	uint32_t more;		/* groups that are not shown */
	bool sampled;
	json_t *rows;
};

/* --- groups --- */

static bool is_shown(const struct matrix *m, uint32_t group)
{
	return (m->from == UINT32_MAX || m->to == UINT32_MAX || group == m->from || group == m->to);
}

static void take_groups(struct matrix *m, const struct group_pairs *pairs)
{
	for (uint32_t i = 0; i < m->s->plan->groups->n_groups; i++) {
		struct group_hosts *g;

		if (!is_shown(m, i))
			continue;
		if (m->groups.n >= GROUPS_MAX && i != m->from && i != m->to) {
			m->more++;
			continue;
		}
		g = vec_push(&m->groups);
		group_pairs_hosts(pairs, i, KINDS_MAX, g);
		m->sampled |= g->sampled;
	}
}

/* --- rows --- */

static void add_row(struct matrix *m, struct group_pairs *x, const struct group_hosts *from,
		    const struct group_hosts *to)
{
	const struct policy *p = m->s->policy->p;
	uint64_t *by_level = xcalloc(p->n_levels + 1, sizeof(*by_level));
	uint64_t pairs = group_pairs_count(x, from, to, by_level);
	json_t *list = json_array();

	for (size_t i = 0; i < p->n_levels; i++)
		if (by_level[i])
			json_array_append_new(list, json_pack("{s:o, s:i, s:I}", "level", json_text(p->levels[i].name),
							      "sl", p->levels[i].sl, "pairs", (json_int_t)by_level[i]));
	if (m->level == LEVEL_ALL || by_level[m->level])
		json_array_append_new(m->rows, json_pack("{s:o, s:o, s:I, s:o, s:I}",
			"from", json_text(group_pairs_name(m->s, from->number)),
			"to", json_text(group_pairs_name(m->s, to->number)), "pairs", (json_int_t)pairs,
			"levels", list, "no-path", (json_int_t)by_level[p->n_levels]));
	else
		json_decref(list);
	free(by_level);
}

static void make_rows(void *arg)
{
	struct matrix *m = arg;
	struct group_pairs *pairs = group_pairs_new(m->s, &m->q);

	take_groups(m, pairs);
	for (size_t i = 0; i < m->groups.n; i++)
		for (size_t k = 0; k < m->groups.n; k++) {
			const struct group_hosts *from = &m->groups.v[i], *to = &m->groups.v[k];

			if ((m->from == UINT32_MAX || from->number == m->from) &&
			    (m->to == UINT32_MAX || to->number == m->to))
				add_row(m, pairs, from, to);
		}
	group_pairs_free(pairs);
}

/* --- the answer --- */

struct row_cursor {
	json_t *rows;
	size_t next;
};

static json_t *next_row(void *rows)
{
	struct row_cursor *c = rows;

	return json_incref(json_array_get(c->rows, c->next++));
}

static void release_rows(void *rows)
{
	struct row_cursor *c = rows;

	json_decref(c->rows);
	free(c);
}

static void answer(void *arg, struct reply *r)
{
	const struct matrix *m = arg;
	json_t *groups = json_array();
	struct row_cursor *c;

	for (size_t i = 0; i < m->groups.n; i++)
		json_array_append_new(groups,
				      json_pack("{s:o, s:I}", "name",
						json_text(group_pairs_name(m->s, m->groups.v[i].number)),
						"hosts", (json_int_t)m->groups.v[i].hosts));
	reply_result(r, json_pack("{s:o, s:I, s:b, s:I}", "groups", groups, "more", (json_int_t)m->more, "sampled",
				  m->sampled, "count", (json_int_t)json_array_size(m->rows)));
	if (m->count)
		return;
	c = xcalloc(1, sizeof(*c));
	c->rows = json_incref(m->rows);
	reply_rows(r, "pairs", next_row, release_rows, c);
}

static void matrix_free(void *arg)
{
	struct matrix *m = arg;

	for (size_t i = 0; i < m->groups.n; i++)
		vec_free(&m->groups.v[i].kinds);
	vec_free(&m->groups);
	json_decref(m->rows);
	state_unref(m->s);
	free(m);
}

static const struct job_ops ops = { .work = make_rows, .answer = answer, .release = matrix_free };

static bool arg_group(const struct ctl_call *c, const char *name, uint32_t *group, struct reply *r)
{
	const char *text = arg_text(c, name);

	*group = text ? groups_find(c->state->plan->groups, c->state->plan->policy, text) : UINT32_MAX;
	if (text && *group == UINT32_MAX)
		reply_error(r, NULL, "%s: %s: the policy has no such port group", name, text);
	return !text || *group != UINT32_MAX;
}

void cmd_matrix(const struct ctl_call *c, struct reply *r)
{
	struct matrix m = { .count = arg_flag(c, "count") }, *x;

	if (!query_from_args(c, &m.q, r) || !arg_level(c, &m.level, r) || !arg_group(c, "from", &m.from, r) ||
	    !arg_group(c, "to", &m.to, r))
		return;
	x = xcalloc(1, sizeof(*x));
	*x = m;
	x->s = state_ref(c->view->state);
	x->rows = json_array();
	reply_later(r, c->view->jobs, &ops, x);
}
