/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Puts the data of a report together; see report.h.  What other commands answer is taken from their handlers,
 * so that the page shows the same numbers.
 */
#include "ctl/report/report.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "lib/format/deflate.h"

struct report {
	struct subnet_state *s;		/* a reference */
	const struct ctl_env *env;	/* for its constant parts */
	json_t *data;
	struct report_measured *measured;
};

/* The whole answer of a handler that needs no job: its result, with the rows as a member. */
static json_t *answer_of(const struct ctl_call *c, void (*handler)(const struct ctl_call *c, struct reply *r),
			 json_t *args)
{
	struct ctl_call call = *c;
	struct reply r = { 0 };
	json_t *result, *rows = json_array(), *row;
	const char *name;

	call.args = args;
	handler(&call, &r);
	result = json_incref(json_object_get(r.head, "result"));
	name = json_string_value(json_object_get(r.head, "rows"));
	while (r.next && (row = r.next(r.rows)))
		json_array_append_new(rows, row);
	if (!result)
		result = json_object();
	if (name)
		json_object_set(result, *name ? name : "rows", rows);
	json_decref(rows);
	json_decref(args);
	reply_free(&r);
	return result;
}

/* Of the status, what the page shows: neither log nor statistics. */
static json_t *short_status(const struct ctl_call *c)
{
	static const char *const names[] = {
		"state", "subnet-up", "guid", "lid", "priority", "master", "nodes", "switches", "ports-active",
		"ports-linked", "engine", "engine-choice", "policy", "version", "sweeps", "failed-devices",
		"unanswered-links",
	};
	json_t *all = answer_of(c, cmd_status, json_object()), *out = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		json_object_set(out, names[i], json_object_get(all, names[i]));
	json_decref(all);
	return out;
}

struct report *report_new(const struct ctl_call *c)
{
	struct report *r = xcalloc(1, sizeof(*r));

	r->s = state_ref(c->view->state);
	r->env = c->env;
	r->measured = report_measured_new(c);
	r->data = json_pack("{s:i, s:o}", "format", 1, "time", json_time(clock_real_us()));
	json_object_set_new(r->data, "status", short_status(c));
	json_object_set_new(r->data, "health", answer_of(c, cmd_health, json_object()));
	json_object_set_new(r->data, "routes", answer_of(c, cmd_routes, json_object()));
	json_object_set_new(r->data, "events", !c->env->events ? json_object() :
			    answer_of(c, cmd_events, json_pack("{s:i}", "last", REPORT_EVENTS)));
	return r;
}

static int add_text(const char *text, size_t n, void *out)
{
	buf_add(out, text, n);
	return 0;
}

void report_make(struct report *r, struct buf *out)
{
	const struct ctl_call call = { .env = r->env, .state = r->s };
	struct feasibility *own = r->s->plan->feasible ? NULL : feasible_judge(r->s->plan);
	struct buf text = { 0 };

	report_nodes(r->data, r->s);
	report_links(r->data, r->s, own ? own : r->s->plan->feasible);
	report_measured(r->data, r->measured, r->s);
	report_pairs(r->data, r->s);
	json_object_set_new(r->data, "bandwidth", answer_of(&call, cmd_bandwidth, json_object()));
	json_dump_callback(r->data, add_text, &text, JSON_COMPACT | JSON_REAL_PRECISION(6));
	deflate_base64(text.s, text.n, out);
	buf_free(&text);
	feasible_free(own);
}

void report_free(struct report *r)
{
	state_unref(r->s);
	json_decref(r->data);
	report_measured_free(r->measured);
	free(r);
}
