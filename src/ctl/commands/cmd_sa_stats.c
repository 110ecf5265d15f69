/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `sa-stats`: requests to the SA, its answers and response times, and the busiest clients.
 */
#include <stdlib.h>

#include "ctl/command.h"
#include "lib/base/clock.h"

#define CLIENTS_SHOWN 10

/* By slot, in the order of statuses[] in sa/sa_stats.c. */
static const char *const status_names[SA_STATUS_SLOTS] = {
	"ok", "busy", "bad-version", "bad-method", "bad-method-attribute", "bad-value",
	"no-resources", "request-invalid", "no-records", "too-many-records", "invalid-gid",
	"insufficient-components", "request-denied", "priority-suggested",
};

const char *sa_status_name(unsigned slot)
{
	return status_names[slot];
}

const struct sa_stats *sa_sums(const struct ctl_env *env)
{
	if (env->sa_stats)
		return env->sa_stats(env->arg);
	return env->sa ? env->sa->stats : NULL;
}

static json_t *json_statuses(const struct sa_attr_stats *a)
{
	json_t *o = json_object();

	for (unsigned i = 0; i < SA_STATUS_SLOTS; i++)
		if (a->status[i])
			json_object_set_new(o, status_names[i], json_integer((json_int_t)a->status[i]));
	return o;
}

static json_t *json_times(const struct sa_attr_stats *a)
{
	if (!a->timed)
		return json_null();
	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "timed", (json_int_t)a->timed,
			 "p50", (json_int_t)sa_time_percentile(a, 50),
			 "p99", (json_int_t)sa_time_percentile(a, 99),
			 "p99.9", (json_int_t)sa_time_percentile(a, 99.9),
			 "max", (json_int_t)sa_time_percentile(a, 100));
}

static json_t *json_by_attr(const struct sa_stats *st)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < ARRAY_SIZE(st->by_attr); i++) {
		const struct sa_attr_stats *a = &st->by_attr[i];

		if (a->requests)
			json_array_append_new(list, json_pack("{s:o, s:I, s:o, s:o}",
				"attribute", json_sa_attr(sa_attr_of_slot(i)), "answered", (json_int_t)a->requests,
				"statuses", json_statuses(a), "us", json_times(a)));
	}
	return list;
}

/* --- the busiest clients of the last complete window --- */

struct client {
	uint32_t lid, requests;
};

static void insert(struct client *top, unsigned *n, struct client c)
{
	unsigned i = *n < CLIENTS_SHOWN ? (*n)++ : CLIENTS_SHOWN - 1;

	if (i == CLIENTS_SHOWN - 1 && *n == CLIENTS_SHOWN && top[i].requests >= c.requests)
		return;
	for (; i > 0 && top[i - 1].requests < c.requests; i--)
		top[i] = top[i - 1];
	top[i] = c;
}

static json_t *json_clients(const struct ctl_call *c, const struct sa_stats *st)
{
	const uint32_t *asked = st->clients[!st->now];
	struct client top[CLIENTS_SHOWN] = { { 0, 0 } };
	json_t *list = json_array();
	unsigned n = 0;

	for (uint32_t lid = 0; lid < SA_LIDS; lid++)
		if (asked[lid])
			insert(top, &n, (struct client){ lid, asked[lid] });
	for (unsigned i = 0; i < n; i++) {
		uint32_t port = c->state ? c->state->plan->port_by_lid[top[i].lid] : FABRIC_NONE;

		json_array_append_new(list, json_pack("{s:i, s:o, s:i}", "lid", (int)top[i].lid,
			"client", port != FABRIC_NONE ? json_port(c->state, port) : json_null(),
			"requests", (int)top[i].requests));
	}
	return list;
}

void cmd_sa_stats(const struct ctl_call *c, struct reply *r)
{
	const struct sa_stats *st = sa_sums(c->env);

	if (!st) {
		reply_error(r, NULL, "this daemon has no subnet administrator");
		return;
	}
	reply_result(r, json_pack("{s:I, s:I, s:I, s:I, s:I, s:i, s:o, s:i, s:o}",
		"requests", (json_int_t)st->requests, "answered", (json_int_t)st->answered,
		"dropped", (json_int_t)st->dropped, "abandoned", (json_int_t)st->abandoned,
		"busy", (json_int_t)st->busy,
		"watchers", (int)sa_trace_watchers(c->env->trace),
		"attributes", json_by_attr(st),
		"seconds", SA_CLIENTS_SECONDS, "clients", json_clients(c, st)));
}
