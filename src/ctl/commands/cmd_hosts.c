/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `hosts --over PORT`: whose traffic a link carries, in both directions: how many routes from which
 * hosts and to which, and which levels these pairs get.
 *
 * A route is a host port and a LID of another.  It is followed from the tables of the plan, which a job reads in a
 * thread of its own, as a link near the top of a large tree carries millions.
 */
#include <stdlib.h>
#include <string.h>

#include "ctl/commands/cmd_explain.h"
#include "ctl/pair_levels.h"
#include "lib/base/alloc.h"

#define DIRECTIONS 2

/* What one direction carries. */
struct carried {
	uint32_t port;			/* by which packets leave */
	uint32_t *from, *to;		/* [port]: routes of a source, and of a destination */
	uint64_t *levels;		/* [level]: routes that get it */
	uint64_t routes, no_path;	/* all, and those without a path by policy */
};

struct row {
	uint32_t port, routes;
	uint8_t direction;
	bool is_source;
};

struct source {
	uint32_t port, sw;		/* its switch, or FABRIC_NONE */
};

struct listing {
	struct subnet_state *s;		/* referenced */
	struct path_query q;
	uint32_t level;			/* only routes of this level; LEVEL_ALL: all */
	bool count;
	struct pair_levels *pairs;
	VEC(struct source) sources;	/* all hosts */
	struct carried carried[DIRECTIONS];
	VEC(struct row) rows;
	size_t next;
};

/* --- following routes --- */

enum leads { LEADS_UNKNOWN, LEADS_NO, LEADS_OVER, LEADS_WALKED };

/* The switch that a switch sends a LID to; FABRIC_NONE: it is no switch, or none. */
static uint32_t next_switch(const struct subnet_state *s, uint32_t sw, uint16_t lid)
{
	const struct fabric_node *n = &s->f->nodes[s->f->switches[sw].node];
	unsigned out = lft_get(s->plan->lfts, sw, lid);
	uint32_t peer = out && out <= n->nports ? s->f->ports[n->port0 + out].peer : FABRIC_NONE;

	return peer == FABRIC_NONE || !node_is_switch(port_node(s->f, peer)) ? FABRIC_NONE :
									      port_node(s->f, peer)->sw;
}

/* Whether packets to a LID come from a switch to the one with leads[] LEADS_OVER. */
static bool leads_over(const struct subnet_state *s, uint32_t sw, uint16_t lid, uint8_t *leads)
{
	uint32_t end = sw;
	uint8_t verdict;

	while (end != FABRIC_NONE && leads[end] == LEADS_UNKNOWN) {
		leads[end] = LEADS_WALKED;
		end = next_switch(s, end, lid);
	}
	verdict = end != FABRIC_NONE && leads[end] == LEADS_OVER ? LEADS_OVER : LEADS_NO;
	for (; sw != FABRIC_NONE && leads[sw] == LEADS_WALKED; sw = next_switch(s, sw, lid))
		leads[sw] = verdict;
	return verdict == LEADS_OVER;
}

static void add_route(struct listing *l, struct carried *c, uint32_t src, uint32_t dst)
{
	uint16_t level = pair_level(l->pairs, src, dst);

	if (l->level != LEVEL_ALL && level != l->level)
		return;
	c->routes++;
	c->from[src]++;
	c->to[dst]++;
	if (level == PAIR_NO_PATH)
		c->no_path++;
	else
		c->levels[level]++;
}

static void find_sources(struct listing *l)
{
	const struct fabric *f = l->s->f;

	for (uint32_t port = 0; port < f->n_ports; port++)
		if (l->s->plan->lid[port] && port_is_host(f, port))
			*vec_push(&l->sources) = (struct source){ port, fabric_switch_of(f, port) };
}

/* Adds the routes to a LID of dst from all hosts whose switches send it over the port of a switch. */
static void add_routes_to(struct listing *l, struct carried *c, uint32_t dst, uint16_t lid, uint8_t *leads)
{
	const struct subnet_state *s = l->s;

	memset(leads, LEADS_UNKNOWN, s->f->n_switches);
	leads[port_node(s->f, c->port)->sw] = LEADS_OVER;
	for (size_t i = 0; i < l->sources.n; i++) {
		const struct source *x = &l->sources.v[i];

		if (x->port != dst && x->sw != FABRIC_NONE && leads_over(s, x->sw, lid, leads))
			add_route(l, c, x->port, dst);
	}
}

static void follow(struct listing *l, struct carried *c)
{
	const struct subnet_state *s = l->s;
	const struct fabric_node *owner = port_node(s->f, c->port);
	uint8_t *leads = xcalloc(s->f->n_switches + 1u, sizeof(*leads));

	for (uint32_t lid = 1; lid <= s->plan->lid_top; lid++) {
		uint32_t dst = s->plan->port_by_lid[lid];

		if (dst == FABRIC_NONE || !port_is_host(s->f, dst))
			continue;
		if (!node_is_switch(owner)) {		/* everything that a host sends takes its link */
			if (c->port != dst && s->plan->lid[c->port] && port_is_host(s->f, c->port))
				add_route(l, c, c->port, dst);
		} else if (lft_get(s->plan->lfts, owner->sw, (uint16_t)lid) == s->f->ports[c->port].num) {
			add_routes_to(l, c, dst, (uint16_t)lid, leads);
		}
	}
	free(leads);
}

/* --- rows --- */

static int by_routes(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->direction != y->direction)
		return x->direction - y->direction;
	if (x->is_source != y->is_source)
		return x->is_source ? -1 : 1;
	if (x->routes != y->routes)
		return x->routes > y->routes ? -1 : 1;
	return x->port < y->port ? -1 : x->port > y->port;
}

static void add_rows(struct listing *l, uint8_t direction, const uint32_t *routes, bool is_source)
{
	for (uint32_t port = 0; port < l->s->f->n_ports; port++)
		if (routes[port])
			*vec_push(&l->rows) = (struct row){ port, routes[port], direction, is_source };
}

static void find_routes(void *arg)
{
	struct listing *l = arg;

	l->pairs = pair_levels_new(l->s, &l->q);
	find_sources(l);
	for (uint8_t i = 0; i < DIRECTIONS; i++) {
		struct carried *c = &l->carried[i];

		c->from = xcalloc(l->s->f->n_ports + 1u, sizeof(*c->from));
		c->to = xcalloc(l->s->f->n_ports + 1u, sizeof(*c->to));
		c->levels = xcalloc(l->s->policy->p->n_levels + 1u, sizeof(*c->levels));
		follow(l, c);
		add_rows(l, i, c->from, true);
		add_rows(l, i, c->to, false);
	}
	if (l->rows.n)
		qsort(l->rows.v, l->rows.n, sizeof(*l->rows.v), by_routes);
}

static json_t *next_row(void *rows)
{
	struct listing *l = rows;
	const struct row *x;

	if (l->next >= l->rows.n)
		return NULL;
	x = &l->rows.v[l->next++];
	return json_pack("{s:o, s:s, s:o, s:I}", "over", json_port(l->s, l->carried[x->direction].port), "as",
			 x->is_source ? "source" : "destination", "port", json_port(l->s, x->port),
			 "routes", (json_int_t)x->routes);
}

/* --- the answer --- */

static json_int_t count_rows(const struct listing *l, unsigned direction, bool is_source)
{
	json_int_t n = 0;

	for (size_t i = 0; i < l->rows.n; i++)
		n += l->rows.v[i].direction == direction && l->rows.v[i].is_source == is_source;
	return n;
}

static json_t *json_direction(const struct listing *l, unsigned direction)
{
	const struct carried *c = &l->carried[direction];
	const struct policy *p = l->s->policy->p;
	json_t *levels = json_array();

	for (size_t i = 0; i < p->n_levels; i++)
		if (c->levels[i])
			json_array_append_new(levels, json_pack("{s:o, s:i, s:I}", "level",
				json_text(p->levels[i].name), "sl", p->levels[i].sl, "routes",
				(json_int_t)c->levels[i]));
	return json_pack("{s:o, s:o, s:I, s:I, s:I, s:o, s:I}", "port", json_port(l->s, c->port), "peer",
			 json_port(l->s, l->s->f->ports[c->port].peer), "routes", (json_int_t)c->routes,
			 "sources", count_rows(l, direction, true), "destinations", count_rows(l, direction, false),
			 "levels", levels, "no-path", (json_int_t)c->no_path);
}

static void listing_free(void *rows)
{
	struct listing *l = rows;

	for (unsigned i = 0; i < DIRECTIONS; i++) {
		free(l->carried[i].from);
		free(l->carried[i].to);
		free(l->carried[i].levels);
	}
	pair_levels_free(l->pairs);
	vec_free(&l->rows);
	vec_free(&l->sources);
	state_unref(l->s);
	free(l);
}

/* The rows of an answer outlive its job. */
struct job_of_listing {
	struct listing *l;
};

static void job_work(void *arg)
{
	find_routes(((struct job_of_listing *)arg)->l);
}

static void job_answer(void *arg, struct reply *r)
{
	struct job_of_listing *j = arg;

	reply_result(r, json_pack("{s:[o, o]}", "links", json_direction(j->l, 0), json_direction(j->l, 1)));
	if (j->l->count)
		return;
	reply_rows(r, "hosts", next_row, listing_free, j->l);
	j->l = NULL;
}

static void job_release(void *arg)
{
	struct job_of_listing *j = arg;

	if (j->l)
		listing_free(j->l);
	free(j);
}

static const struct job_ops ops = { .work = job_work, .answer = job_answer, .release = job_release };

void cmd_hosts(const struct ctl_call *c, struct reply *r)
{
	const struct subnet_state *s = c->state;
	uint32_t port = arg_port(c, "over", r), level;
	struct job_of_listing *j;
	struct path_query q;

	if (port == FABRIC_NONE || !query_from_args(c, &q, r) || !arg_level(c, &level, r))
		return;
	if (!s->plan->lfts) {
		reply_error(r, NULL, "this daemon has no routes");
		return;
	}
	if (s->f->ports[port].peer == FABRIC_NONE) {
		reply_error(r, NULL, "%s: the port has no link", arg_text(c, "over"));
		return;
	}
	j = xcalloc(1, sizeof(*j));
	j->l = xcalloc(1, sizeof(*j->l));
	*j->l = (struct listing){
		.s = state_ref(c->view->state), .q = q, .level = level, .count = arg_flag(c, "count"),
		.carried = { { .port = port }, { .port = s->f->ports[port].peer } },
	};
	reply_later(r, c->view->jobs, &ops, j);
}
