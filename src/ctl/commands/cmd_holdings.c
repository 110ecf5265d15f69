/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `holdings`, `holdings remove` and `mcast remove`.  `holdings` shows how much of the
 * registries each port holds, those nearest to a bound first; `holdings remove` removes all that a
 * port registered; `mcast remove` removes a group.
 */
#include "ctl/command.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "sa/handler.h"
#include "sa/registry/holdings.h"

struct row {
	struct holding h;
	double share;		/* largest fraction of any per-port bound */
};

struct rows {
	const struct subnet_state *s;
	int64_t now_us;
	size_t n, next;
	struct row v[];
};

/* --- who holds how much --- */

/* Fraction of the per-port bound of one kind or, for HOLD_KINDS, the largest of all kinds. */
static double share_of(const struct holdings *all, const struct holding *h, enum hold_kind by)
{
	double most = 0;

	for (unsigned k = 0; k < HOLD_KINDS; k++) {
		struct hold_bound b = holdings_bound(all, k);
		double share = b.each ? (double)h->n[k] / b.each : 0;

		if ((by == HOLD_KINDS || by == k) && share > most)
			most = share;
	}
	return most;
}

static int by_share(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	return x->h.port < y->h.port ? -1 : x->h.port > y->h.port;
}

static json_t *json_kinds(const struct holdings *all)
{
	json_t *list = json_array();

	for (unsigned k = 0; k < HOLD_KINDS; k++) {
		struct hold_bound b = holdings_bound(all, k);

		json_array_append_new(list, json_pack("{s:s, s:I, s:I, s:I, s:I}",
			"kind", hold_kind_name(k), "held", (json_int_t)holdings_total(all, k),
			"max", (json_int_t)b.max, "per-port", (json_int_t)b.each,
			"refused", (json_int_t)holdings_refused(all, k)));
	}
	return list;
}

static json_t *json_holder(uint64_t holder)
{
	return holder_is_lid(holder) ? json_null() : json_guid(holder);
}

/* The port's name; null: not in the fabric. */
static json_t *json_holder_port(const struct subnet_state *s, uint64_t holder)
{
	uint32_t port = fabric_find_port(s->f, holder);
	char name[HOLDER_NAME_MAX];

	if (holder_is_lid(holder))
		return json_string(holder_name(holder, name));
	return port == FABRIC_NONE ? json_null() : json_port(s, port);
}

static void add_kinds(json_t *row, const struct holding *h)
{
	for (unsigned k = 0; k < HOLD_KINDS; k++)
		json_object_set_new(row, hold_kind_name(k), json_integer(h->n[k]));
}

static json_t *next_port(void *arg)
{
	struct rows *rows = arg;
	const struct row *x;
	json_t *row;

	if (rows->next == rows->n)
		return NULL;
	x = &rows->v[rows->next++];
	row = json_pack("{s:o, s:o, s:f}", "guid", json_holder(x->h.port),
			"port", json_holder_port(rows->s, x->h.port), "share", x->share);
	add_kinds(row, &x->h);
	json_object_set_new(row, "gone-for", x->h.gone_us ?
			    json_integer((rows->now_us - x->h.gone_us) / 1000000) : json_null());
	return row;
}

static enum hold_kind find_kind(const char *name)
{
	unsigned k = 0;

	while (k < HOLD_KINDS && strcmp(hold_kind_name(k), name))
		k++;
	return k;
}

void cmd_holdings(const struct ctl_call *c, struct reply *r)
{
	const struct holdings *all = c->env->sa ? c->env->sa->holdings : NULL;
	const char *by = arg_text(c, "by");
	enum hold_kind kind = by ? find_kind(by) : HOLD_KINDS;
	struct rows *rows;

	if (by && kind == HOLD_KINDS) {
		reply_error(r, NULL, "%s: no such kind; kinds are groups, mlids, memberships, services, "
			    "subscriptions, aliases, transfers, long-requests and reports", by);
		return;
	}
	rows = xmalloc(sizeof(*rows) + holdings_count(all) * sizeof(*rows->v));
	*rows = (struct rows){ .s = c->state, .now_us = clock_boot_us() };
	for (size_t i = 0; i < holdings_count(all); i++) {
		const struct holding *h = holdings_at(all, i);

		if (!holding_is_empty(h))
			rows->v[rows->n++] = (struct row){ *h, share_of(all, h, kind) };
	}
	qsort(rows->v, rows->n, sizeof(*rows->v), by_share);
	reply_result(r, json_pack("{s:o}", "kinds", json_kinds(all)));
	reply_rows(r, "ports", next_port, free, rows);
}

/* --- removing --- */

/*
 * Finds a holder by a port of the fabric, the GUID of a port that is gone, or a LID that holds
 * something.
 */
static uint64_t find_holder(const struct ctl_call *c, struct reply *r)
{
	const char *text = arg_text(c, "port");
	const struct holdings *all = c->env->sa ? c->env->sa->holdings : NULL;
	unsigned long lid;
	uint64_t guid;
	uint32_t port;
	char *end;

	if (!strncmp(text, "0x", 2)) {
		guid = strtoull(text, &end, 16);
		if (!*end && holdings_find(all, guid))
			return guid;
	}
	lid = strtoul(text, &end, 10);
	if (!*end && lid <= UINT16_MAX && holdings_find(all, holder_of_lid((uint16_t)lid)))
		return holder_of_lid((uint16_t)lid);
	port = arg_port(c, "port", r);
	return port == FABRIC_NONE ? 0 : sa_port_holder(c->state, port);
}

void cmd_holdings_remove(const struct ctl_call *c, struct reply *r)
{
	uint64_t holder = find_holder(c, r);
	const struct holding *h;
	json_t *taken;

	if (!holder)
		return;
	h = holdings_find(c->env->sa ? c->env->sa->holdings : NULL, holder);
	if (!h || holding_is_empty(h)) {
		reply_error(r, NULL, "%s: the port holds nothing", arg_text(c, "port"));
		return;
	}
	taken = json_pack("{s:o, s:o}", "guid", json_holder(holder),
			  "port", json_holder_port(c->state, holder));
	add_kinds(taken, h);
	if (c->env->holdings_remove &&
	    c->env->holdings_remove(c->env->arg, holder, c->view->peer.who)) {
		reply_result(r, taken);
		return;
	}
	json_decref(taken);
	reply_error(r, NULL, "%s: this daemon cannot remove registrations", arg_text(c, "port"));
}

void cmd_mcast_remove(const struct ctl_call *c, struct reply *r)
{
	const char *text = arg_text(c, "group");
	struct buf err = { 0 };
	uint8_t mgid[16];

	if (inet_pton(AF_INET6, text, mgid) != 1)
		reply_error(r, NULL, "%s: not an MGID", text);
	else if (c->env->group_remove &&
		 c->env->group_remove(c->env->arg, mgid, c->view->peer.who, &err))
		reply_result(r, NULL);
	else
		reply_error(r, NULL, "%s: %s", text, err.n ? err.s : "this daemon cannot remove groups");
	buf_free(&err);
}
