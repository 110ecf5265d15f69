/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `optics` and `optics read`: the transceivers and cables that perf/optics_watch.h reads.
 *
 * Both have the same rows; `optics read` has them when its reading has ended.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/commands/cmd_inventory.h"
#include "lib/base/alloc.h"
#include "lib/base/clean.h"
#include "lib/base/clock.h"
#include "perf/optics_watch.h"

struct listing {
	const struct subnet_state *s;
	const struct optics_watch *watch;
	struct optics_watch *reads;	/* `optics read`: the watch that calls on_read() */
	struct reply *reply;		/* … and its reply, which waits for that */
	bool alarms;			/* only ports with a value beyond a threshold */
	bool ready;
	int64_t now_us;
	uint32_t *ports, n, i;
};

/* What a port shows in place of a module's data. */
static const char *state_of(const struct listing *l, uint32_t port, const struct optics_port *p)
{
	bool silent;

	if (!optics_has_registers(l->s->f, l->s->f->ports[port].node))
		return "unsupported";
	if (optics_watch_refuses(l->watch, l->s, l->s->f->ports[port].node, &silent))
		return silent ? "silent" : "refused";
	return p ? optics_result_name(p->result) : "unread";
}

/* Texts of modules are theirs. */
static json_t *json_clean(const char *text)
{
	char clean[sizeof(((struct transceiver *)0)->serial)];

	snprintf(clean, sizeof(clean), "%s", text);
	clean_text(clean);
	return json_string(clean);
}

static double shown(enum quantity q, int32_t value)
{
	double v = quantity_real(q, value);

	return q == RX_POWER || q == TX_POWER ? power_dbm(v) : v;
}

static json_t *json_lanes(const struct optics_port *p, enum quantity q)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < p->t.lanes; i++)
		if (p->at.lanes >> i & 1)
			json_array_append_new(list, json_real(shown(q, p->t.value[q][i])));
	return list;
}

/* The lane whose value is the least, or the greatest, of the port's. */
static json_t *json_extreme(const struct optics_port *p, enum quantity q, bool greatest)
{
	bool any = false;
	int32_t v = 0;

	for (unsigned i = 0; i < p->t.lanes; i++) {
		if (!(p->at.lanes >> i & 1))
			continue;
		if (!any || (greatest ? p->t.value[q][i] > v : p->t.value[q][i] < v))
			v = p->t.value[q][i];
		any = true;
	}
	return any ? json_real(shown(q, v)) : json_null();
}

static json_t *json_lane_numbers(uint8_t bits)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < TRANSCEIVER_LANES; i++)
		if (bits >> i & 1)
			json_array_append_new(list, json_integer(i + 1));
	return list;
}

/* Which quantities are in such a table, of what is beyond thresholds or of latched flags. */
static json_t *json_flags(const struct optics_port *p, const uint8_t table[QUANTITIES][THRESHOLDS])
{
	json_t *list = json_array();

	for (enum quantity q = 0; q < QUANTITIES; q++)
		for (enum threshold h = 0; h < THRESHOLDS; h++)
			if (table[q][h])
				json_array_append_new(list, json_pack(
					"{s:s, s:s, s:o, s:o}", "quantity", quantity_name(q), "threshold",
					threshold_name(h), "lanes",
					json_lane_numbers(quantity_has_lanes(q) ? table[q][h] : 0),
					"limit", p->t.limited >> q & 1 ? json_real(shown(q, p->t.limit[q][h])) :
									 json_null()));
	return list;
}

static void add_measured(json_t *row, const struct optics_port *p)
{
	static const struct { enum quantity q; const char *extreme; bool greatest; } of_lanes[] = {
		{ RX_POWER, "rx-least", false }, { TX_POWER, "tx-least", false }, { TX_BIAS, "bias-most", true },
	};

	for (enum quantity q = TEMPERATURE; q <= VOLTAGE; q++)
		json_object_set_new(row, quantity_name(q), p->t.measured >> q & 1 ?
				    json_real(quantity_real(q, p->t.value[q][0])) : json_null());
	for (size_t i = 0; i < ARRAY_SIZE(of_lanes); i++) {
		bool measured = p->t.measured >> of_lanes[i].q & 1;

		json_object_set_new(row, quantity_name(of_lanes[i].q),
				    measured ? json_lanes(p, of_lanes[i].q) : json_null());
		json_object_set_new(row, of_lanes[i].extreme,
				    measured ? json_extreme(p, of_lanes[i].q, of_lanes[i].greatest) : json_null());
	}
}

static void add_module(json_t *row, const struct optics_port *p)
{
	enum quantity q;
	enum threshold worst = transceiver_worst(&p->t, &q);

	json_object_set_new(row, "kind", json_string(transceiver_identifier(&p->t)));
	json_object_set_new(row, "vendor", json_clean(p->t.vendor));
	json_object_set_new(row, "part", json_clean(p->t.part));
	json_object_set_new(row, "revision", json_clean(p->t.revision));
	json_object_set_new(row, "serial", json_clean(p->t.serial));
	json_object_set_new(row, "date", json_clean(p->t.date));
	json_object_set_new(row, "technology", json_string(transceiver_technology(&p->t)));
	json_object_set_new(row, "connector", json_string(transceiver_connector(&p->t)));
	json_object_set_new(row, "length", p->t.length_dm ? json_real(p->t.length_dm / 10.0) : json_null());
	json_object_set_new(row, "lanes", json_lane_numbers(p->at.lanes));
	add_measured(row, p);
	json_object_set_new(row, "worst", worst < THRESHOLDS ? json_string(threshold_name(worst)) : json_null());
	json_object_set_new(row, "beyond", json_flags(p, p->t.beyond));
	json_object_set_new(row, "latched", json_flags(p, p->t.latched));
}

static json_t *json_row(const struct listing *l, uint32_t port)
{
	const struct optics_port *p = optics_watch_port(l->watch, l->s, port);
	const struct fabric_port *at = &l->s->f->ports[port];
	const char *state = state_of(l, port, p);
	json_t *row = json_pack("{s:o, s:o, s:o, s:s, s:o}", "port", json_port(l->s, port), "peer",
				at->peer == FABRIC_NONE ? json_null() : json_port(l->s, at->peer),
				"guid", json_guid(l->s->f->nodes[at->node].guid), "state", state, "read-ago",
				p ? json_real((double)(l->now_us - p->read_us) * 1e-6) : json_null());

	if (p && p->result == OPTICS_READ)
		add_module(row, p);
	return row;
}

static bool is_listed(const struct listing *l, uint32_t port)
{
	const struct optics_port *p = optics_watch_port(l->watch, l->s, port);

	return !l->alarms || (p && optics_is_warned(p));
}

static json_t *next_row(void *rows)
{
	struct listing *l = rows;

	if (!l->ready)
		return NULL;
	while (l->i < l->n && !is_listed(l, l->ports[l->i]))
		l->i++;
	return l->i < l->n ? json_row(l, l->ports[l->i++]) : NULL;
}

static void release(void *rows)
{
	struct listing *l = rows;

	if (l->reads)
		optics_watch_forget(l->reads, l);
	free(l->ports);
	free(l);
}

/* The selected ports with a link; NULL with an error in the reply. */
static struct listing *listing_new(const struct ctl_call *c, struct reply *r)
{
	const struct fabric *f = c->state->f;
	struct listing *l;
	bool *selected;

	if (!c->env->optics) {
		reply_error(r, NULL, "transceivers are not read");
		return NULL;
	}
	selected = select_ports(c, r);
	if (!selected)
		return NULL;
	l = xcalloc(1, sizeof(*l));
	*l = (struct listing){ .s = c->state, .watch = c->env->optics, .alarms = arg_flag(c, "alarms"),
			       .now_us = clock_mono_us() };
	l->ports = xcalloc(f->n_ports, sizeof(*l->ports));
	for (uint32_t i = 0; i < f->n_ports; i++)
		if (selected[i] && f->ports[i].peer != FABRIC_NONE)
			l->ports[l->n++] = i;
	free(selected);
	return l;
}

void cmd_optics(const struct ctl_call *c, struct reply *r)
{
	const struct optics_reading *last;
	struct listing *l = listing_new(c, r);

	if (!l)
		return;
	l->ready = true;
	last = optics_watch_last(l->watch);
	reply_result(r, json_pack("{s:o}", "read-ago", last->when_us ?
				  json_real((double)(l->now_us - last->when_us) * 1e-6) : json_null()));
	reply_rows(r, "ports", next_row, release, l);
}

static void on_read(void *arg, const struct optics_reading *reading)
{
	struct listing *l = arg;

	(void)reading;
	l->reads = NULL;
	l->ready = true;
	l->now_us = clock_mono_us();
	l->reply->follows = false;	/* the reply ends after the rows */
	reply_more(l->reply);
}

void cmd_optics_read(const struct ctl_call *c, struct reply *r)
{
	struct buf err = { 0 };
	struct listing *l = listing_new(c, r);

	if (!l)
		return;
	l->reply = r;
	if (!optics_watch_read(c->env->optics, c->view->state, l->ports, l->n, arg_text(c, "node") != NULL, on_read, l,
			       &err)) {
		reply_error(r, NULL, "%s", err.s);
		buf_free(&err);
		release(l);
		return;
	}
	l->reads = c->env->optics;
	reply_result(r, json_pack("{s:f}", "read-ago", 0.0));
	reply_rows(r, "ports", next_row, release, l);
	reply_follow(r);
}
