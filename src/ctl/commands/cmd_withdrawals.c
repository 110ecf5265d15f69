/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `drain`, `release` and `withdrawn`: what is withdrawn from service
 * (sm/devices/withdrawals.h), and what it still carries.  cmd_isolate.c has what is isolated.
 */
#include "ctl/commands/cmd_withdrawals.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/commands/withdraw_later.h"
#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "qosd/ctl.h"
#include "sm/traps/flap_table.h"

#define HOSTS_SHOWN 3

_Static_assert(WITHDRAWAL_BEHALF_MAX > CTL_BEHALF_MAX, "any name fits");

/* --- what a place still carries --- */

static bool has_hosts(const struct fabric *f, const struct fabric_node *n)
{
	for (uint32_t i = n->port0 + 1; i <= n->port0 + n->nports; i++)
		if (f->ports[i].peer != FABRIC_NONE && port_is_host(f, f->ports[i].peer))
			return true;
	return false;
}

/*
 * Packets of hosts to the LID cross the switch.  left: how many more switches to follow, because entries that
 * devices keep whatever is written may form a loop.
 */
static bool carries_hosts(const struct subnet_state *s, uint32_t node, uint16_t lid, uint32_t left)
{
	const struct fabric *f = s->f;
	const struct fabric_node *n = &f->nodes[node];

	if (has_hosts(f, n))
		return true;
	for (uint32_t i = n->port0 + 1; left && i <= n->port0 + n->nports; i++) {
		const struct fabric_node *from;

		if (!link_joins_switches(f, i))
			continue;
		from = port_node(f, f->ports[i].peer);
		if (lft_get(s->plan->lfts, from->sw, lid) == f->ports[f->ports[i].peer].num &&
		    carries_hosts(s, f->ports[f->ports[i].peer].node, lid, left - 1))
			return true;
	}
	return false;
}

/*
 * LIDs of hosts to which packets of other hosts leave a switch by one of its ports; but: LIDs of hosts
 * at this node do not count.  A switch that can be reached by no other legal route keeps that one.
 */
static uint32_t lids_by(const struct subnet_state *s, uint32_t port, uint32_t but)
{
	const struct plan *p = s->plan;
	uint32_t node = s->f->ports[port].node, sw = s->f->nodes[node].sw, n = 0;

	for (uint32_t lid = 1; lid <= p->lid_top && lid <= p->lfts->top; lid++) {
		uint32_t to = p->port_by_lid[lid];

		if (to == FABRIC_NONE || node_is_switch(port_node(s->f, to)) ||
		    lft_get(p->lfts, sw, (uint16_t)lid) != s->f->ports[port].num)
			continue;
		to = fabric_switch_of(s->f, to);
		n += (but == FABRIC_NONE || to != s->f->nodes[but].sw) &&
		     carries_hosts(s, node, (uint16_t)lid, s->f->n_switches);
	}
	return n;
}

struct carried {
	uint32_t lids, trees;
};

/* What the links between switches that the entry covers carry for others, but for multicast. */
static uint32_t lids_over(const struct subnet_state *s, const struct withdrawal *x)
{
	struct withdrawal_place p = withdrawal_place(x, s->f);
	uint32_t n = 0;

	for (uint32_t i = p.first; p.node != FABRIC_NONE && i <= p.last; i++) {
		if (!link_joins_switches(s->f, i))
			continue;
		n += lids_by(s, s->f->ports[i].peer, x->port ? FABRIC_NONE : p.node);
		if (x->port)
			n += lids_by(s, i, FABRIC_NONE);
	}
	return n;
}

static uint32_t trees_by(const struct ctl_call *c, uint32_t port)
{
	if (!c->env->mft_trees)
		return 0;
	return c->env->mft_trees(c->env->sm, c->state, port_node(c->state->f, port)->sw,
				 c->state->f->ports[port].num);
}

/* The same for multicast, by one port of the place. */
static uint32_t trees_over(const struct ctl_call *c, const struct withdrawal *x, uint32_t port)
{
	if (!link_joins_switches(c->state->f, port))
		return 0;
	return trees_by(c, c->state->f->ports[port].peer) + (x->port ? trees_by(c, port) : 0);
}

/* The first hosts at a drained switch. */
static json_t *json_hosts(const struct fabric *f, const struct withdrawal *x)
{
	struct withdrawal_place p = withdrawal_place(x, f);
	json_t *list = json_array();
	char name[FABRIC_NAME_MAX];

	for (uint32_t i = p.first; !x->port && p.node != FABRIC_NONE && i <= p.last; i++) {
		uint32_t peer = f->ports[i].peer;

		if (peer != FABRIC_NONE && port_is_host(f, peer) && json_array_size(list) < HOSTS_SHOWN)
			json_array_append_new(list, json_text(fabric_port_name(f, peer, name, sizeof(name))));
	}
	return list;
}

/* Whether devices hold routes by the list; unknown until the first sweep after a takeover has read them. */
enum devices { DEVICES_UNKNOWN, DEVICES_BEHIND, DEVICES_FOLLOW };

/* f: the published fabric, or a forecast of it, of which carried is NULL. */
static const char *state_of(const struct drain_left *left, const struct carried *carried, enum devices is)
{
	if (!left->links)
		return "absent";
	if (is == DEVICES_UNKNOWN)
		return "unknown";
	if (left->done && (!carried || (!carried->lids && !carried->trees)))
		return "drained";
	return is == DEVICES_FOLLOW ? "in-part" : "draining";
}

json_t *json_withdrawal(const struct withdrawal *x)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o}",
			 "kind", withdrawal_kind_name(x->kind), "name", json_text(x->name),
			 "node", json_guid(x->guid), "port", x->port ? json_integer(x->port) : json_null(),
			 "uid", json_uid(x->uid), "on-behalf-of", json_behalf(x->behalf),
			 "by-rule", x->uid == WITHDRAWN_BY_RULE, "since", json_time(x->since_s * 1000000),
			 "reason", json_text(x->reason));
}

static json_t *json_entry(const struct withdrawal *x, const struct fabric *f, const struct carried *carried,
			  enum devices is)
{
	struct drain_left left = withdrawal_left(x, f);
	json_t *row = json_withdrawal(x), *more;

	more = json_pack("{s:s, s:I, s:I, s:I, s:o}", "state", state_of(&left, carried, is),
			 "links", (json_int_t)left.links, "links-used", (json_int_t)left.used,
			 "hosts", (json_int_t)left.hosts, "first-hosts", json_hosts(f, x));
	json_object_update(row, more);
	json_decref(more);
	if (carried) {
		more = json_pack("{s:I, s:I}", "lids", (json_int_t)carried->lids,
				 "trees", (json_int_t)carried->trees);
		json_object_update(row, more);
		json_decref(more);
	}
	return row;
}

/* --- the list --- */

/*
 * LIDs are counted in a job: by all forwarding tables, that takes long in a large fabric.  Multicast
 * tables are sm/'s, in the loop's thread: they are counted by a few links in a turn.
 */
#define LINKS_IN_TURN 16

struct rows {
	struct ctl_call c;		/* without arguments */
	struct subnet_state *state;	/* a reference */
	struct jobs *jobs;
	struct withdrawals *list;
	struct carried *carried;	/* [list->v.n] */
	struct isolation_cuts cuts;	/* a copy */
	uint64_t change, in_force;
	bool unverified;
	size_t next;			/* place: for trees, then for rows */
	uint32_t port;			/* of the place, counted from its first */
	struct timer *turn;
	void (*done)(void *job);
	void *job;
};

static void on_turn(void *arg)
{
	struct rows *rows = arg;

	for (unsigned n = 0; n < LINKS_IN_TURN && rows->next < rows->list->v.n; n++) {
		const struct withdrawal *x = &rows->list->v.v[rows->next];
		struct withdrawal_place p = withdrawal_place(x, rows->c.state->f);
		uint32_t port = p.first + rows->port++;

		if (p.node != FABRIC_NONE && port <= p.last) {
			rows->carried[rows->next].trees += trees_over(&rows->c, x, port);
			continue;
		}
		rows->next++;
		rows->port = 0;
	}
	if (rows->next < rows->list->v.n) {
		timer_set(rows->turn, 0, 0);
		return;
	}
	rows->next = 0;
	rows->done(rows->job);
}

static json_t *isolated_row(const struct rows *rows, const struct withdrawal *x)
{
	const struct ctl_env *env = rows->c.env;
	int64_t until_s = env->isolated_until ? env->isolated_until(env->arg, x) : 0;
	json_t *row = json_isolated(x, rows->c.state->f, &rows->cuts, rows->change == rows->in_force);

	json_object_set_new(row, "until", until_s ? json_time(until_s * 1000000) : json_null());
	return row;
}

static json_t *next_row(void *arg)
{
	struct rows *rows = arg;
	const struct withdrawal *x;
	size_t i = rows->next;

	if (i == rows->list->v.n)
		return NULL;
	rows->next++;
	x = &rows->list->v.v[i];
	if (x->kind == WITHDRAWAL_ISOLATED)
		return isolated_row(rows, x);
	return json_entry(x, rows->c.state->f, &rows->carried[i],
			  rows->unverified ? DEVICES_UNKNOWN :
			  rows->change == rows->in_force ? DEVICES_FOLLOW : DEVICES_BEHIND);
}

static void release_rows(void *arg)
{
	struct rows *rows = arg;

	if (!rows)
		return;
	timer_free(rows->turn);
	withdrawals_free(rows->list);
	state_unref(rows->state);
	free(rows->carried);
	isolation_cuts_free(&rows->cuts);
	free(rows);
}

/* What the job has until it is answered. */
struct counting {
	struct rows *rows;
};

static void count_lids(void *arg)
{
	const struct counting *x = arg;
	const struct withdrawals *w = x->rows->list;

	for (size_t i = 0; i < w->v.n; i++)
		x->rows->carried[i].lids = lids_over(x->rows->c.state, &w->v.v[i]);
}

static void count_trees(void *arg, void (*done)(void *job), void *job)
{
	struct rows *rows = ((struct counting *)arg)->rows;

	rows->done = done;
	rows->job = job;
	rows->turn = timer_new(jobs_loop(rows->jobs), on_turn, rows);
	timer_set(rows->turn, 0, 0);
}

static void answer_counted(void *arg, struct reply *r)
{
	struct counting *x = arg;

	reply_result(r, json_pack("{s:I, s:I}", "change", (json_int_t)x->rows->change,
				  "change-in-force", (json_int_t)x->rows->in_force));
	reply_rows(r, "places", next_row, release_rows, x->rows);
	x->rows = NULL;
}

static void release_counting(void *arg)
{
	struct counting *x = arg;

	release_rows(x->rows);
	free(x);
}

void cmd_withdrawn(const struct ctl_call *c, struct reply *r)
{
	static const struct job_ops ops = { count_lids, count_trees, answer_counted, release_counting };
	const struct withdrawals *w = c->env->withdrawals ? c->env->withdrawals(c->env->arg) : NULL;
	struct counting *x = xcalloc(1, sizeof(*x));

	x->rows = xcalloc(1, sizeof(*x->rows));
	*x->rows = (struct rows){
		.c = { .env = c->env, .state = c->state }, .state = state_ref(c->view->state),
		.jobs = c->view->jobs,
		.list = w ? withdrawals_copy(w) : withdrawals_new(),
		.change = c->view->sm.withdrawals_change, .in_force = c->view->sm.withdrawals_in_force,
		.unverified = c->view->sm.withdrawals_unverified,
	};
	x->rows->carried = xcalloc(x->rows->list->v.n + 1, sizeof(*x->rows->carried));
	if (c->view->sm.cuts)
		isolation_cuts_copy(&x->rows->cuts, c->view->sm.cuts);
	reply_later(r, c->view->jobs, &ops, x);
}

/* --- changing it --- */

bool withdrawal_find_place(const struct ctl_call *c, const char *text, struct withdrawal *x, struct reply *r)
{
	const struct fabric *f = c->state->f;
	bool several;
	uint32_t node = fabric_find_node(f, text, &several), port = FABRIC_NONE;
	const char *why = NULL;

	if (node == FABRIC_NONE) {
		port = find_port(c, text, &why);
		if (why) {
			refuse_port(c, text, why, r);
			return false;
		}
		node = f->ports[port].node;
		/* by its LID or GUID, the switch itself is meant */
		if (!f->ports[port].num && strrchr(text, '/')) {
			reply_error(r, NULL, "%s: port 0 of a switch has no link: name the switch for all of its "
				    "links, or a port from 1 to %u", text, f->nodes[node].nports);
			return false;
		}
	}
	x->guid = f->nodes[node].guid;
	x->port = port == FABRIC_NONE ? 0 : f->ports[port].num;
	if (x->port)
		fabric_port_name(f, port, x->name, sizeof(x->name));
	else
		fabric_node_name(f, node, x->name, sizeof(x->name));
	return true;
}

/* An entry for the other end of the same link stands for the link, too. */
static void take_other_end(const struct withdrawals *w, const struct fabric *f, struct withdrawal *x)
{
	struct withdrawal_place p = withdrawal_place(x, f);
	uint32_t peer = x->port && p.node != FABRIC_NONE ? f->ports[p.first].peer : FABRIC_NONE;
	const struct withdrawal *other;

	if (peer == FABRIC_NONE || withdrawals_find(w, x->guid, x->port))
		return;
	other = withdrawals_find(w, port_node(f, peer)->guid, f->ports[peer].num);
	if (other) {
		x->guid = other->guid;
		x->port = other->port;
		memcpy(x->name, other->name, sizeof(x->name));
	}
}

/* Whether routes can leave the place at all. */
static bool can_drain(const struct ctl_call *c, const struct withdrawal *x, struct reply *r)
{
	const struct fabric *f = c->state->f;
	struct withdrawal_place p = withdrawal_place(x, f);

	if (withdrawal_left(x, f).links)
		return true;
	if (!node_is_switch(&f->nodes[p.node]))
		reply_error(r, NULL, "%s: a host has no other way than its own link: nothing can be drained",
			    x->name);
	else if (x->port && f->ports[p.first].peer == FABRIC_NONE)
		reply_error(r, NULL, "%s: the port has no link", x->name);
	else if (x->port)
		reply_error(r, NULL, "%s: the link leads to a host, which has no other way: nothing can be "
			    "drained", x->name);
	else
		reply_error(r, NULL, "%s: the switch has no link to another switch: nothing can be drained",
			    x->name);
	return false;
}

void withdrawals_replace(const struct withdrawals_change *x, struct withdrawals *w, json_t *changed, struct reply *r)
{
	struct buf err = { 0 };
	uint64_t change = x->env->withdrawals_set(x->env->arg, w, x->who, &err);

	if (change)
		reply_result(r, json_pack("{s:I, s:b, s:O}", "change", (json_int_t)change,
					  "lossless", x->state->plan->layers == NULL, "places", changed));
	else
		reply_error(r, NULL, "%s", err.s);
	buf_free(&err);
	json_decref(changed);
}

bool withdrawals_are_ours(const struct ctl_env *env, const struct sm_status *sm, struct reply *r)
{
	if (env->withdrawals && env->withdrawals_set && sm->state == SM_MASTER)
		return true;
	reply_error(r, NULL, "this subnet manager is not the master: give the command to the master");
	return false;
}

struct withdrawals *withdrawals_begin(const struct ctl_call *c, struct reply *r)
{
	return withdrawals_are_ours(c->env, &c->view->sm, r) ?
		       withdrawals_copy(c->env->withdrawals(c->env->arg)) :
		       NULL;
}

/* Makes rows for the places of the command as they will be with the list. */
static void forecast(struct withdrawing *x)
{
	struct flaps *none = flaps_new(&(struct flap_rules){ .window_us = 1, .hold_us = 1 });
	struct fabric *f = fabric_clone(x->state->f);

	x->rows = json_array();
	flaps_set_withdrawals(none, x->list);
	flaps_hold(none, f);
	for (size_t i = 0; i < x->places->v.n; i++)
		json_array_append_new(x->rows, json_entry(&x->places->v.v[i], f, NULL, DEVICES_FOLLOW));
	flaps_free(none);
	fabric_free(f);
}

bool withdrawal_begin(const struct ctl_call *c, enum withdrawal_kind k, struct withdrawal *x, struct reply *r)
{
	const struct asker *who = &c->view->peer.who;
	const char *reason = arg_text(c, "reason");

	*x = (struct withdrawal){ .kind = (uint8_t)k, .uid = who->uid, .since_s = clock_real_us() / 1000000 };
	snprintf(x->behalf, sizeof(x->behalf), "%s", who->behalf ? who->behalf : "");
	if (strlen(reason ? reason : "") >= sizeof(x->reason)) {
		reply_error(r, NULL, "reason: at most %zu bytes", sizeof(x->reason) - 1);
		return false;
	}
	if (reason)
		memcpy(x->reason, reason, strlen(reason));
	return true;
}

bool withdrawals_add(struct withdrawals *w, struct withdrawals *places, const struct withdrawal *x,
		     struct reply *r)
{
	if (withdrawals_put(w, x) && (!places || withdrawals_put(places, x)))
		return true;
	reply_error(r, NULL, "%s: the list is full: %u places are withdrawn", x->name, WITHDRAWALS_MAX);
	return false;
}

bool withdrawal_is_isolated(const struct withdrawals *w, const struct isolation_cuts *cuts, const struct withdrawal *x,
			    struct reply *r)
{
	if (x->kind == WITHDRAWAL_ISOLATED ||
	    (!isolation_covers(w, x->guid, x->port) &&
	     !(x->port && cuts && isolation_cuts_find(cuts, x->guid, x->port))))
		return false;
	reply_error(r, NULL, "%s: it is isolated, and carries nothing; 'qosd-ctl release' ends that", x->name);
	return true;
}

void cmd_drain(const struct ctl_call *c, struct reply *r)
{
	static const struct withdrawing_ops ops = { forecast, NULL };
	struct withdrawals *w = withdrawals_begin(c, r), *places = withdrawals_new();
	const char *text;
	struct withdrawal x;
	bool good = w && withdrawal_begin(c, WITHDRAWAL_DRAINED, &x, r);

	for (size_t i = 0; good && (text = arg_text_at(c, "what", i)); i++) {
		good = withdrawal_find_place(c, text, &x, r) && !withdrawal_is_isolated(w, c->view->sm.cuts, &x, r) &&
		       can_drain(c, &x, r);
		if (!good)
			break;
		take_other_end(w, c->state->f, &x);
		good = withdrawals_add(w, places, &x, r);
	}
	if (good) {
		withdraw_later(c, w, places, &ops, r);
		return;
	}
	withdrawals_free(w);
	withdrawals_free(places);
}

/* The text is the name of the entry, "host01 mlx5_0/P1 (0x...)", or the GUID in it. */
static bool is_named(const struct withdrawal *x, const char *text)
{
	const char *guid = strstr(x->name, " (0x");
	size_t n = strlen(text);

	return !strcmp(text, x->name) || (guid && !strncmp(guid + 2, text, n) && !strcmp(guid + 2 + n, ")"));
}

/* The only entry of a node that the fabric does not have whose name begins with these words; NULL: none or several. */
static const struct withdrawal *find_absent(const struct fabric *f, const struct withdrawals *w, const char *text)
{
	const struct withdrawal *found = NULL;
	size_t n = strlen(text);

	for (size_t i = 0; n && i < w->v.n; i++) {
		const struct withdrawal *x = &w->v.v[i];

		if (strncmp(x->name, text, n) != 0 || !strchr(" /", x->name[n]) ||
		    map64_get(&f->node_by_guid, x->guid) != MAP64_NONE)
			continue;
		if (found)
			return NULL;
		found = x;
	}
	return found;
}

/* The entry at the other end of an isolated link. */
static const struct withdrawal *find_by_cut(const struct ctl_call *c, const struct withdrawals *w,
					    const struct withdrawal *x)
{
	const struct isolation_cut *cut = c->view->sm.cuts && x->port ?
					  isolation_cuts_find(c->view->sm.cuts, x->guid, x->port) : NULL;
	unsigned other = cut && cut->guid[0] == x->guid && cut->num[0] == x->port;

	return cut ? withdrawals_find(w, cut->guid[other], cut->num[other]) : NULL;
}

/*
 * The entry that a text means: a place of the fabric, or the name, the GUID or 0xGUID/Pn of one that
 * is not there any more, as an isolated host.
 */
static const struct withdrawal *find_entry(const struct ctl_call *c, const struct withdrawals *w,
					   const char *text, struct reply *r)
{
	struct withdrawal x = { 0 };
	const struct withdrawal *found;
	char by_guid[WITHDRAWAL_ID_MAX];

	for (size_t i = 0; i < w->v.n; i++) {
		found = &w->v.v[i];
		withdrawal_id(found, by_guid);
		if (!strcmp(text, by_guid) || is_named(found, text))
			return found;
	}
	found = find_absent(c->state->f, w, text);
	if (found)
		return found;
	if (!withdrawal_find_place(c, text, &x, r))
		return NULL;
	take_other_end(w, c->state->f, &x);
	found = withdrawals_find(w, x.guid, x.port);
	if (!found)
		found = find_by_cut(c, w, &x);
	if (!found)
		reply_error(r, NULL, "%s: it is not withdrawn, see 'qosd-ctl withdrawn'", x.name);
	return found;
}

/* The entry of w that isolates a link of a released place all the same, by its other end or by the node. */
static const struct withdrawal *still_isolated(const struct ctl_call *c, const struct withdrawals *w,
					       const struct withdrawal *released)
{
	const struct isolation_cuts *cuts = c->view->sm.cuts;
	const struct isolation_cut *x;
	unsigned num = 0;

	while (cuts && (x = isolation_cuts_of(cuts, released, &num))) {
		const struct withdrawal *by = isolation_of_cut(w, x);

		if (by)
			return by;
	}
	return NULL;
}

/* Rows for the places of `released`, which w has no more. */
static json_t *json_released(const struct ctl_call *c, const struct withdrawals *w,
			     const struct withdrawals *released)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < released->v.n; i++) {
		const struct withdrawal *by = still_isolated(c, w, &released->v.v[i]);
		json_t *row = json_withdrawal(&released->v.v[i]);

		json_object_set_new(row, "isolated-by", by ? json_text(by->name) : json_null());
		json_array_append_new(rows, row);
	}
	return rows;
}

void cmd_release(const struct ctl_call *c, struct reply *r)
{
	struct withdrawals *w = withdrawals_begin(c, r), *released = withdrawals_new();
	const char *text;

	for (size_t i = 0; w && (text = arg_text_at(c, "what", i)); i++) {
		const struct withdrawal *x = find_entry(c, w, text, r);

		if (!x) {
			withdrawals_free(w);
			withdrawals_free(released);
			return;
		}
		withdrawals_put(released, x);
		withdrawals_remove(w, x->guid, x->port);
	}
	if (w)
		withdrawals_replace(&(struct withdrawals_change){ c->env, c->state, c->view->peer.who }, w,
				    json_released(c, w, released), r);
	withdrawals_free(released);
}
