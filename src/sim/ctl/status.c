/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Commands `status`, `drops` and `stats`, which summarize the fabric, lost packets and MADs, and `pass`,
 * which lets simulated time pass.
 */
#include "sim/ctl/command.h"

#include <stdlib.h>

#include "sim/net/fault.h"

static json_t *json_client(const struct stat_table *t)
{
	if (t->client == 0)
		return json_string("devices");
	return *t->name ? json_text(t->name) : json_sprintf("client %u", t->client);
}

static json_t *count_nodes(const struct sim_fabric *f)
{
	int by_type[SIM_ROUTER + 1] = { 0 }, off = 0, silent = 0, driven = 0;

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		by_type[f->nodes[i].type]++;
		off += f->nodes[i].off;
		silent += f->nodes[i].silent;
		driven += f->nodes[i].driven;
	}
	return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i}", "switches", by_type[SIM_SWITCH], "cas",
			 by_type[SIM_CA], "routers", by_type[SIM_ROUTER], "off", off, "silent",
			 silent, "virtual-machines", driven);
}

/* Counts external ports with a cable. */
static json_t *count_ports(const struct sim_fabric *f)
{
	int by_state[SIM_PORT_ACTIVE + 1] = { 0 }, unplugged = 0;
	json_int_t taken_down = 0;

	for (uint32_t i = 0; i < f->n_ports; i++) {
		const struct sim_port *p = &f->ports[i];

		if (p->peer == SIM_NONE)
			continue;
		by_state[p->state <= SIM_PORT_ACTIVE ? p->state : SIM_PORT_NOP]++;
		unplugged += p->unplugged;
		taken_down += p->taken_down;
	}
	return json_pack("{s:i, s:i, s:i, s:i, s:i, s:I}", "active", by_state[SIM_PORT_ACTIVE], "armed",
			 by_state[SIM_PORT_ARMED], "init", by_state[SIM_PORT_INIT], "down",
			 by_state[SIM_PORT_DOWN], "unplugged", unplugged, "taken-down", taken_down);
}

static json_t *clients(const struct sim_stats *st)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < st->clients.n; i++) {
		const struct stat_table *t = st->clients.v[i];

		json_array_append_new(rows, json_pack("{s:I, s:o}", "mads", (json_int_t)t->n,
						      "client", json_client(t)));
	}
	return rows;
}

bool cmd_status(struct call *c)
{
	const struct sim *s = c->s;

	c->result = json_pack("{s:o, s:b, s:o, s:o, s:I, s:I, s:I, s:o}",
			      "time", json_seconds(sim_now(s)),
			      "frozen", s->frozen,
			      "nodes", count_nodes(s->f),
			      "ports", count_ports(s->f),
			      "mads", (json_int_t)s->stats->all.n,
			      "drops", (json_int_t)s->drops->n,
			      "faults", (json_int_t)s->faults->rules.n,
			      "clients", clients(s->stats));
	return true;
}

bool cmd_pass(struct call *c)
{
	const char *why = "nobody here lets time pass";
	int64_t us;

	if (!get_time(c, "a time", c->word[0], &us))
		return false;
	if (c->s->hooks.pass)
		why = c->s->hooks.pass(c->s, us);
	return !why || refuse(c, "%s", why);
}

/* --- drops --- */

/* DROP_NONE, the first, is no reason that a user may name. */
static const char *reason_by_number(unsigned i)
{
	return i + 1 < DROP_REASONS ? drop_reason_name((enum drop_reason)(i + 1)) : NULL;
}

static json_t *drop_counts(const struct sim_drops *d, enum drop_reason only)
{
	json_t *rows = json_array();

	for (int r = DROP_NONE + 1; r < DROP_REASONS; r++)
		if (d->by_reason[r] && (only == DROP_NONE || only == (enum drop_reason)r))
			json_array_append_new(rows, json_pack(
				"{s:s, s:I}", "reason", drop_reason_name((enum drop_reason)r),
				"count", (json_int_t)d->by_reason[r]));
	return rows;
}

/* Class 0 means that the packet was no MAD, but data of a virtual machine. */
static json_t *drop_row(const struct sim_fabric *f, const struct drop *d)
{
	bool mad = d->mgmt_class != 0;

	return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:i, s:i, s:i, s:o, s:o}",
			 "time", json_seconds(d->when_us),
			 "reason", drop_reason_name(d->reason),
			 "class", mad ? json_class(d->mgmt_class) : json_null(),
			 "method", mad ? json_method(d->method) : json_null(),
			 "attribute", mad ? json_attr(d->mgmt_class, d->attr) : json_null(),
			 "modifier", mad ? json_sprintf("0x%08x", d->mod) : json_null(),
			 "slid", d->slid, "dlid", d->dlid, "sl", d->sl,
			 "from", json_port(f, d->from),
			 "at", json_port(f, d->port));
}

/* The newest `max` recorded drops with that reason, oldest first. */
static json_t *last_drops(const struct sim *s, enum drop_reason only, uint64_t max)
{
	const struct sim_drops *d = s->drops;
	uint64_t oldest = d->n > DROPS_KEPT ? d->n - DROPS_KEPT : 0;
	json_t *rows = json_array();

	for (uint64_t i = d->n; i-- > oldest && json_array_size(rows) < max; ) {
		const struct drop *drop = &d->last[i % DROPS_KEPT];

		if (only == DROP_NONE || drop->reason == only)
			json_array_insert_new(rows, 0, drop_row(s->f, drop));
	}
	return rows;
}

bool cmd_drops(struct call *c)
{
	const char *text = option(c, "--reason");
	enum drop_reason only;
	uint64_t max = 20;
	unsigned reason = 0;

	if (!get_number(c, "--last", option(c, "--last"), 0, DROPS_KEPT, &max) ||
	    (text && !get_word(c, "reason", text, reason_by_number, &reason)))
		return false;
	only = text ? (enum drop_reason)(reason + 1) : DROP_NONE;
	c->result = json_pack("{s:I, s:o, s:o}", "total", (json_int_t)c->s->drops->n, "reasons",
			      drop_counts(c->s->drops, only), "last",
			      last_drops(c->s, only, max));
	if (option(c, "--reset"))
		*c->s->drops = (struct sim_drops){ .n = 0 };
	return true;
}

/* --- statistics --- */

static int by_name(const void *left, const void *right)
{
	const struct stat_row *a = *(const struct stat_row *const *)left;
	const struct stat_row *b = *(const struct stat_row *const *)right;

	if (a->mgmt_class != b->mgmt_class)
		return a->mgmt_class - b->mgmt_class;
	if (a->attr != b->attr)
		return a->attr - b->attr;
	return a->method - b->method;
}

/* Row of class 0: the sum of all kinds for which the table had no row left. */
static json_t *stat_json(const struct stat_table *t, const struct stat_row *r, bool client)
{
	json_t *o = json_object();

	if (client)
		json_object_set_new(o, "client", json_client(t));
	json_object_set_new(o, "class", r->mgmt_class ? json_class(r->mgmt_class) :
							   json_string("other"));
	json_object_set_new(o, "attribute", json_attr(r->mgmt_class, r->attr));
	json_object_set_new(o, "method", json_method(r->method));
	json_object_set_new(o, "count", json_integer((json_int_t)r->n));
	json_object_set_new(o, "unchanged", json_integer((json_int_t)r->idle));
	json_object_set_new(o, "first", json_seconds(r->first_us));
	json_object_set_new(o, "last", json_seconds(r->last_us));
	return o;
}

static void add_table(json_t *rows, const struct stat_table *t, bool client)
{
	const struct stat_row **sorted;

	if (t->rows.n == 0)
		return;
	sorted = xcalloc(t->rows.n, sizeof(const struct stat_row *));
	for (size_t i = 0; i < t->rows.n; i++)
		sorted[i] = &t->rows.v[i];
	qsort(sorted, t->rows.n, sizeof(const struct stat_row *), by_name);
	for (size_t i = 0; i < t->rows.n; i++)
		json_array_append_new(rows, stat_json(t, sorted[i], client));
	free(sorted);
}

bool cmd_stats(struct call *c)
{
	struct sim_stats *st = c->s->stats;
	json_t *rows = json_array();

	if (option(c, "--client")) {
		for (size_t i = 0; i < st->clients.n; i++)
			add_table(rows, st->clients.v[i], true);
	} else {
		add_table(rows, &st->all, false);
	}
	c->result = json_pack("{s:I, s:o}", "total", (json_int_t)st->all.n, "mads", rows);
	if (option(c, "--reset"))
		stats_reset(st);
	return true;
}
