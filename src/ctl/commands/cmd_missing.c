/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `missing` and `forget`: what the subnet had and lacks now (events/missing.h), and what an
 * operator says is gone for good.
 */
#include "ctl/commands/cmd_missing.h"

#include <stdlib.h>
#include <string.h>

#include "events/missing_move.h"
#include "lib/base/alloc.h"

json_t *json_missing_counts(const struct missing *m)
{
	size_t n[MISSING_KINDS];
	json_t *counts;

	if (!m)
		return json_null();
	missing_count(m, n);
	counts = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
			   "switch", (json_int_t)n[MISSING_SWITCH], "host", (json_int_t)n[MISSING_HOST],
			   "manager", (json_int_t)n[MISSING_MANAGER], "link", (json_int_t)n[MISSING_LINK],
			   "host-link", (json_int_t)n[MISSING_HOST_LINK],
			   "rate", (json_int_t)n[MISSING_RATE],
			   "dropped", (json_int_t)missing_dropped(m));
	return counts;
}

/* --- missing --- */

struct missing_rows {
	const struct fabric *f;		/* the published one, or NULL */
	struct missing_moves *moves;
	struct missing_item **v;
	size_t n, i;
};

static void release_rows(void *arg)
{
	struct missing_rows *rows = arg;

	missing_moves_free(rows->moves);
	missing_list_free(rows->v, rows->n);
	free(rows);
}

static json_t *json_end_name(const struct missing_end *e, bool is_node)
{
	struct missing_end end = *e;
	char text[MISSING_END_TEXT];

	if (!e->guid)
		return json_null();
	if (is_node)
		end.num = 0;
	return json_text(missing_end_text(&end, text, sizeof(text)));
}

static json_t *guid_or_null(uint64_t guid)
{
	return guid ? json_guid(guid) : json_null();
}

static json_t *number_or_null(unsigned n)
{
	return n ? json_integer(n) : json_null();
}

static json_t *text_or_null(const char *text)
{
	return *text ? json_text(text) : json_null();
}

static json_t *json_port_name(const struct fabric *f, uint32_t port)
{
	char name[FABRIC_NAME_MAX];

	return port == FABRIC_NONE ? json_null() : json_text(fabric_port_name(f, port, name, sizeof(name)));
}

static json_t *next_missing(void *arg)
{
	struct missing_rows *rows = arg;
	const struct missing_item *x;
	struct missing_move move;

	if (rows->i == rows->n)
		return NULL;
	x = rows->v[rows->i++];
	move = missing_moves_of(rows->moves, x);
	return json_pack("{s:s, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I}",
			 "kind", missing_kind_name(x->kind), "since", json_time(x->since_us),
			 "watched", !x->unwatched, "node", json_guid(x->a.guid),
			 "port-guid", guid_or_null(x->a.port_guid), "port", number_or_null(x->a.num),
			 "name", json_end_name(&x->a, x->kind == MISSING_SWITCH || x->kind == MISSING_HOST),
			 "far-node", guid_or_null(x->b.guid), "far-port", number_or_null(x->b.num),
			 "far-name", json_end_name(&x->b, false), "was", text_or_null(x->was),
			 "is", text_or_null(x->is),
			 "linked-to", json_port_name(rows->f, missing_linked_to(x, &x->a, rows->f)),
			 "far-linked-to", json_port_name(rows->f, missing_linked_to(x, &x->b, rows->f)),
			 "moved-to", json_port_name(rows->f, move.port),
			 "far-moved-to", json_port_name(rows->f, move.port == FABRIC_NONE ? FABRIC_NONE :
							rows->f->ports[move.port].peer),
			 "moved-since", move.port == FABRIC_NONE ? json_null() : json_time(move.since_us),
			 "new-links", (json_int_t)move.n_new);
}

void cmd_missing(const struct ctl_call *c, struct reply *r)
{
	const char *kind = arg_text(c, "kind");
	struct missing_rows *rows;
	size_t n = 0;

	if (!arg_is_one_of(c, "kind", MISSING_KIND_WORDS, r))
		return;
	rows = xcalloc(1, sizeof(*rows));
	rows->f = c->state ? c->state->f : NULL;
	if (c->env->missing)
		rows->v = missing_list(c->env->missing, &rows->n);
	rows->moves = missing_moves_new(c->env->missing, rows->f);
	/* those of another kind go to the end, and are not shown */
	for (size_t i = 0; kind && i < rows->n; i++)
		if (strcmp(missing_kind_name(rows->v[i]->kind), kind) == 0) {
			struct missing_item *x = rows->v[i];

			rows->v[i] = rows->v[n];
			rows->v[n++] = x;
		}
	if (kind) {
		for (size_t i = n; i < rows->n; i++)
			missing_item_free(rows->v[i]);
		rows->n = n;
	}
	if (arg_flag(c, "count")) {
		reply_result(r, json_pack("{s:I}", "count", (json_int_t)rows->n));
		release_rows(rows);
		return;
	}
	reply_result(r, NULL);
	reply_rows(r, "", next_missing, release_rows, rows);
}

/* --- forget --- */

void cmd_forget(const struct ctl_call *c, struct reply *r)
{
	const char *what = arg_text(c, "what");
	bool all = arg_flag(c, "all");
	size_t n;

	if (!what == !all) {
		reply_error(r, NULL, all ? "forget: say what to forget, or --all, not both" :
			    "forget: say what to forget, or --all; 'qosd-ctl missing' lists what is missing");
		return;
	}
	if (!c->env->missing_forget) {
		reply_error(r, NULL, "forget: this daemon does not remember what is missing");
		return;
	}
	n = c->env->missing_forget(c->env->arg, what, c->view->peer.who);
	if (!n && what)
		reply_error(r, NULL, "%s: nothing that is missing has this name: give a node, NodeDescription/Pn, "
			    "a host, a pattern with * and ?, or a GUID, see 'qosd-ctl missing'", what);
	else
		reply_result(r, json_pack("{s:I}", "forgotten", (json_int_t)n));
}
