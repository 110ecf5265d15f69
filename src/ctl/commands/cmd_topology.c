/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Answers `topology` and `accept`. */
#include "ctl/commands/cmd_topology.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"

void topology_check_unref(struct topology_check *c)
{
	if (!c || --c->refs)
		return;
	expected_unref(c->expected);
	state_unref(c->state);
	vec_free(&c->findings.v);
	free(c);
}

json_t *json_topology(const struct ctl_topology *t)
{
	const size_t *n;
	json_t *o;

	if (!t || (!t->file && !t->expected))
		return json_null();
	o = json_pack("{s:o, s:o, s:o, s:o, s:b}", "file", t->file ? json_text(t->file) : json_null(),
		      "since", t->since_us ? json_time(t->since_us) : json_null(), "uid", json_uid(t->uid),
		      "on-behalf-of", json_behalf(t->behalf),
		      "compared", t->check != NULL);
	if (!t->check)
		return o;
	n = t->check->findings.count;
	json_object_set_new(o, "differences", json_pack("{s:I, s:I, s:I, s:I, s:I}",
		"node-missing", (json_int_t)n[EXPECTED_NODE_MISSING],
		"node-unknown", (json_int_t)n[EXPECTED_NODE_UNKNOWN],
		"miscabled", (json_int_t)n[EXPECTED_MISCABLED],
		"link-missing", (json_int_t)n[EXPECTED_LINK_MISSING],
		"link-surplus", (json_int_t)n[EXPECTED_LINK_SURPLUS]));
	return o;
}

/* --- the list --- */

struct topology_rows {
	struct topology_check *check;	/* a reference; NULL: no rows */
	const char *kind;		/* points into the names of kinds; NULL: all */
	size_t i;
};

static void release_rows(void *arg)
{
	struct topology_rows *rows = arg;

	topology_check_unref(rows->check);
	free(rows);
}

char *topology_finding_text(const struct topology_check *c, const struct expected_finding *y)
{
	struct buf b = { 0 };

	expected_text(c->expected, c->state->f, y, &b);
	return b.s;
}

static json_t *next_difference(void *arg)
{
	struct topology_rows *rows = arg;
	const struct topology_check *c = rows->check;
	const struct expected_finding *y;
	json_t *row;
	char *text;

	while (c && rows->i < c->findings.v.n && rows->kind &&
	       rows->kind != expected_kind_name(c->findings.v.v[rows->i].kind))
		rows->i++;
	if (!c || rows->i == c->findings.v.n)
		return NULL;
	y = &c->findings.v.v[rows->i++];
	text = topology_finding_text(c, y);
	row = json_pack("{s:s, s:o}", "kind", expected_kind_name(y->kind), "text", json_text(text));
	free(text);
	return row;
}

static size_t count(const struct topology_check *c, const char *kind)
{
	size_t n = 0;

	for (unsigned k = 0; c && k < EXPECTED_KINDS; k++)
		if (!kind || kind == expected_kind_name((enum expected_kind)k))
			n += c->findings.count[k];
	return n;
}

void cmd_topology(const struct ctl_call *c, struct reply *r)
{
	const struct ctl_topology *t = c->env->topology;
	struct topology_rows *rows;
	const char *kind = NULL;

	if (!arg_is_one_of(c, "kind", TOPOLOGY_KINDS, r))
		return;
	if (!t || (!t->file && !t->expected)) {
		reply_error(r, NULL, "topology: none is expected: see expected-topology in qosd.yaml(5), and 'qosd-ctl "
			    "accept'");
		return;
	}
	if (!t->check) {
		if (t->errors.n)
			reply_error(r, NULL, "topology: %s: %s", t->file, t->errors.v[0].text);
		else
			reply_error(r, NULL, "topology: not compared yet: try again in a moment");
		return;
	}
	for (unsigned k = 0; arg_text(c, "kind") && k < EXPECTED_KINDS; k++)
		if (!strcmp(expected_kind_name((enum expected_kind)k), arg_text(c, "kind")))
			kind = expected_kind_name((enum expected_kind)k);
	if (arg_flag(c, "count")) {
		reply_result(r, json_pack("{s:I}", "count", (json_int_t)count(t->check, kind)));
		return;
	}
	rows = xcalloc(1, sizeof(*rows));
	rows->check = t->check;
	rows->check->refs++;
	rows->kind = kind;
	reply_result(r, NULL);
	reply_rows(r, "", next_difference, release_rows, rows);
}

/* --- accepting --- */

/* A thread makes the topology of the fabric, and its text for the disk. */
struct accepting {
	const struct ctl_env *env;
	struct subnet_state *state;	/* a reference; NULL: no topology is to be expected */
	struct expected *x;
	struct buf lines;
	struct kept_asker who;
};

static void make_topology(void *arg)
{
	struct accepting *a = arg;

	if (!a->state)
		return;
	a->x = expected_of_fabric(a->state->f);
	expected_print(a->x, &a->lines);
}

static void accept_topology(void *arg, struct reply *r)
{
	struct accepting *a = arg;
	struct buf err = { 0 };

	if (a->env->topology_accept(a->env->arg, a->x, &a->lines, asker_kept(&a->who), &err))
		reply_result(r, NULL);
	else
		reply_error(r, NULL, "accept: %s", err.s);
	a->x = NULL;
	buf_free(&err);
}

static void accepting_free(void *arg)
{
	struct accepting *a = arg;

	expected_unref(a->x);
	buf_free(&a->lines);
	state_unref(a->state);
	kept_asker_free(&a->who);
	free(a);
}

void cmd_accept(const struct ctl_call *c, struct reply *r)
{
	static const struct job_ops ops = { make_topology, NULL, accept_topology, accepting_free };
	struct accepting *a;

	if (!c->env->topology_accept) {
		reply_error(r, NULL, "accept: this daemon expects no topology");
		return;
	}
	a = xcalloc(1, sizeof(*a));
	a->env = c->env;
	a->state = arg_flag(c, "none") ? NULL : state_ref(c->view->state);
	a->who = asker_keep(c->view->peer.who);
	reply_change_later(r, c->view->jobs, &ops, a);
}
