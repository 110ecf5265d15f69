/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `errors` and `errors clear`: the error counters of ports, which perf/error_watch.h reads
 * from time to time.
 */
#include <stdlib.h>
#include <string.h>

#include "ctl/commands/cmd_inventory.h"
#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "perf/error_watch.h"

#define ALL ((1u << PORT_ERRORS) - 1)

/* --- which ports --- */

/* select_ports() where error counters are read; else NULL with an error in the reply. */
static bool *select_read(const struct ctl_call *c, struct reply *r)
{
	if (c->env->errors)
		return select_ports(c, r);
	reply_error(r, NULL, "error counters are not read");
	return NULL;
}

/* --- errors --- */

struct listing {
	const struct subnet_state *s;
	const struct error_watch *watch;
	uint16_t counters;		/* bit by counter: those shown */
	bool over;			/* only those over their limit */
	int64_t now_us;
	struct entry {
		uint32_t port;
		double excess, total;
	} *v;
	size_t n, i;
};

/* The counters of a port that the listing shows; waiting alone is no error, unless it was asked for. */
static uint16_t shown(const struct listing *l, const struct error_port *p)
{
	uint16_t some = 0;

	for (enum port_error e = 0; e < PORT_ERRORS; e++)
		if (p->known >> e & 1 && error_total(p, e))
			some |= (uint16_t)(1u << e);
	some &= l->counters;
	if (l->over)
		some &= p->over;
	return some == 1u << ERR_XMIT_WAIT && l->counters == ALL ? 0 : some;
}

static double sum_of(const struct error_port *p, uint16_t counters)
{
	double sum = 0;

	for (enum port_error e = 0; e < PORT_ERRORS; e++)
		if (counters >> e & 1 && (e != ERR_XMIT_WAIT || counters == 1u << e))
			sum += (double)error_total(p, e);
	return sum;
}

static json_t *json_u64(uint64_t n)
{
	return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

static json_t *json_counter(const struct listing *l, const struct error_port *p, enum port_error e)
{
	uint32_t limit = error_limit(error_watch_book(l->watch), e);
	bool over = p->over >> e & 1;

	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:f, s:o, s:b, s:o, s:b}", "counter", port_error_name(e),
			 "iba-name", port_error_iba_name(e), "total", json_u64(error_total(p, e)),
			 "seen", json_u64(error_seen(p, e)),
			 "last-hour", json_u64(error_last_hour(p, e, l->now_us)),
			 "per-hour", error_per_hour(p, e, l->now_us),
			 "limit", limit == PORT_ERRORS_ANY ? json_null() : json_integer(limit),
			 "over", over, "over-for", !over ? json_null() :
			 json_real((double)(l->now_us - p->history[e]->over_since_us) * 1e-6),
			 "stopped", p->stopped >> e & 1);
}

static json_t *next_row(void *rows)
{
	struct listing *l = rows;
	const struct fabric_port *port;
	const struct error_port *p = NULL;
	uint16_t counters;
	json_t *list = json_array(), *row;
	uint32_t i;

	/* a port that was cleared meanwhile may be gone */
	while (l->i < l->n && !(p = error_watch_port(l->watch, l->s, l->v[l->i].port)))
		l->i++;
	if (!p || l->i == l->n) {
		json_decref(list);
		return NULL;
	}
	i = l->v[l->i++].port;
	port = &l->s->f->ports[i];
	counters = shown(l, p);
	for (enum port_error e = 0; e < PORT_ERRORS; e++)
		if (counters >> e & 1)
			json_array_append_new(list, json_counter(l, p, e));
	row = json_pack("{s:o, s:o, s:o, s:f, s:f, s:o}", "port", json_port(l->s, i),
			"peer", port->peer == FABRIC_NONE ? json_null() : json_port(l->s, port->peer),
			"guid", json_guid(port->guid), "watched", (double)(l->now_us - p->since_us) * 1e-6,
			"read-ago", (double)(l->now_us - p->read_us) * 1e-6, "counters", list);
	return row;
}

static void release(void *rows)
{
	struct listing *l = rows;

	free(l->v);
	free(l);
}

static int by_worst(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->excess != y->excess)
		return x->excess > y->excess ? -1 : 1;
	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return x->port < y->port ? -1 : x->port > y->port;
}

static int by_total(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return x->port < y->port ? -1 : x->port > y->port;
}

static int by_name(const void *a, const void *b, void *arg)
{
	const struct fabric *f = arg;
	const struct fabric_port *p = &f->ports[((const struct entry *)a)->port];
	const struct fabric_port *q = &f->ports[((const struct entry *)b)->port];
	int names = strcmp(fabric_node_desc(f, &f->nodes[p->node]), fabric_node_desc(f, &f->nodes[q->node]));

	return names ? names : p->num - q->num;
}

static uint16_t arg_counter(const struct ctl_call *c)
{
	const char *name = arg_text(c, "counter");

	for (enum port_error e = 0; name && e < PORT_ERRORS; e++)
		if (strcmp(name, port_error_name(e)) == 0)
			return (uint16_t)(1u << e);
	return ALL;
}

static void list_ports(struct listing *l, const bool *selected)
{
	const struct fabric *f = l->s->f;

	l->v = xcalloc(f->n_ports, sizeof(*l->v));
	for (uint32_t i = 0; i < f->n_ports; i++) {
		const struct error_port *p = selected[i] ? error_watch_port(l->watch, l->s, i) : NULL;

		if (p && shown(l, p))
			l->v[l->n++] = (struct entry){
				i, error_excess(error_watch_book(l->watch), p, l->now_us), sum_of(p, shown(l, p)),
			};
	}
}

void cmd_errors(const struct ctl_call *c, struct reply *r)
{
	const char *sort = arg_text(c, "sort");
	const struct error_reading *last;
	struct listing *l;
	json_t *head;
	bool *selected;

	if (!arg_is_one_of(c, "counter", ERROR_COUNTERS, r) || !arg_is_one_of(c, "sort", ERROR_ORDERS, r))
		return;
	selected = select_read(c, r);
	if (!selected)
		return;
	l = xcalloc(1, sizeof(*l));
	*l = (struct listing){ .s = c->state, .watch = c->env->errors, .counters = arg_counter(c),
			       .over = arg_flag(c, "over"), .now_us = clock_mono_us() };
	list_ports(l, selected);
	free(selected);
	if (sort && *sort == 'n')
		qsort_r(l->v, l->n, sizeof(*l->v), by_name, c->state->f);
	else
		qsort(l->v, l->n, sizeof(*l->v), sort && *sort == 't' ? by_total : by_worst);
	last = error_watch_last(l->watch);
	head = json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I}",
			 "read-ago", last->when_us ? json_real((double)(l->now_us - last->when_us) * 1e-6) :
						     json_null(),
			 "read", (json_int_t)last->ports, "silent", (json_int_t)last->silent,
			 "wide", (json_int_t)last->wide, "over", (json_int_t)last->over,
			 "resets", (json_int_t)last->resets, "count", (json_int_t)l->n);
	reply_result(r, head);
	if (arg_flag(c, "count"))
		release(l);
	else
		reply_rows(r, "ports", next_row, release, l);
}

/* --- clearing --- */

struct clearing {
	struct error_watch *watch;
	struct reply *reply;
	uint32_t wanted;
	json_t *row;		/* NULL: not done, or taken */
};

static void on_cleared(void *arg, uint32_t done)
{
	struct clearing *x = arg;

	x->row = json_pack("{s:I, s:I}", "cleared", (json_int_t)done, "unanswered",
			   (json_int_t)x->wanted - (json_int_t)done);
	x->reply->follows = false;	/* the reply ends after this row */
	reply_more(x->reply);
}

static json_t *next_cleared(void *rows)
{
	struct clearing *x = rows;
	json_t *row = x->row;

	x->row = NULL;
	return row;
}

static void release_clearing(void *rows)
{
	struct clearing *x = rows;

	error_watch_forget(x->watch, x);
	json_decref(x->row);
	free(x);
}

void cmd_errors_clear(const struct ctl_call *c, struct reply *r)
{
	struct clearing *x;
	struct buf err = { 0 };
	uint32_t *ports, n = 0;
	bool *selected;

	selected = select_read(c, r);
	if (!selected)
		return;
	ports = xcalloc(c->state->f->n_ports, sizeof(*ports));
	for (uint32_t i = 0; i < c->state->f->n_ports; i++)
		if (selected[i] && perf_can_measure(c->state, i))
			ports[n++] = i;
	free(selected);
	x = xcalloc(1, sizeof(*x));
	*x = (struct clearing){ .watch = c->env->errors, .reply = r, .wanted = n };
	if (!n) {
		buf_puts(&err, "no Active link whose counters can be cleared");
	} else if (error_watch_clear(x->watch, c->view->state, ports, n, on_cleared, x, &err)) {
		tell_operator_command(c, "errors clear", "%s, ports: %u",
				      arg_text(c, "node") ? arg_text(c, "node") : "all nodes", n);
		reply_result(r, json_pack("{s:I}", "asked", (json_int_t)n));
		reply_rows(r, "ports", next_cleared, release_clearing, x);
		reply_follow(r);
	}
	free(ports);
	if (!err.n)
		return;
	reply_error(r, NULL, "%s", err.s);
	buf_free(&err);
	free(x);
}
