/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * See flap_table.h.  Records are searched one by one: links seldom go down.
 */
#include "sm/traps/flap_table.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/disjoint.h"
#include "lib/base/search.h"
#include "sm/devices/withdrawals.h"

#define DOUBLINGS 5

struct record {
	struct flap_link link;
	int64_t times[FLAP_LIMIT_MAX];	/* ring of the last `limit` times when it went down */
	unsigned downs, recent;		/* in all; since the count for flapping began */
	int64_t since_us, last_us, hold_us;
	bool flaps;
};

struct flaps {
	struct flap_rules rules;
	VEC(struct record) records;
	VEC(struct flap_link) left_short;	/* by compare_links() */
	const struct withdrawals *withdrawals;	/* NULL: none */
};

struct flap_link flap_link_of(const struct fabric *f, uint32_t port)
{
	uint32_t ends[2] = { port, f->ports[port].peer };
	struct flap_link l;
	unsigned first;

	for (unsigned i = 0; i < 2; i++) {
		l.guid[i] = port_node(f, ends[i])->guid;
		l.port[i] = f->ports[ends[i]].num;
	}
	first = l.guid[0] > l.guid[1] || (l.guid[0] == l.guid[1] && l.port[0] > l.port[1]);
	return (struct flap_link){ { l.guid[first], l.guid[!first] },
				   { l.port[first], l.port[!first] } };
}

struct flaps *flaps_new(const struct flap_rules *rules)
{
	struct flaps *t = xcalloc(1, sizeof(*t));

	t->rules = *rules;
	return t;
}

void flaps_free(struct flaps *t)
{
	if (!t)
		return;
	vec_free(&t->records);
	vec_free(&t->left_short);
	free(t);
}

/* Keeps the newest times that fit, the oldest of them first. */
static void resize_ring(struct record *r, unsigned old_limit, unsigned limit)
{
	int64_t times[FLAP_LIMIT_MAX] = { 0 };
	unsigned n = r->recent < old_limit ? r->recent : old_limit;

	if (n > limit)
		n = limit;
	for (unsigned i = 0; i < n; i++)
		times[i] = r->times[(r->recent - n + i) % old_limit];
	memcpy(r->times, times, n * sizeof(*times));
	r->recent = n;
}

void flaps_set_rules(struct flaps *t, const struct flap_rules *rules)
{
	struct flap_rules old = t->rules;

	t->rules = *rules;
	for (struct record *r = t->records.v; r < vec_end(&t->records); r++) {
		if (old.limit && rules->limit != old.limit)
			resize_ring(r, old.limit, rules->limit);
		r->hold_us = r->hold_us / old.hold_us * rules->hold_us;
	}
}

void flaps_set_withdrawals(struct flaps *t, const struct withdrawals *w)
{
	t->withdrawals = w;
}

static int compare_links(const void *va, const void *vb)
{
	const struct flap_link *a = va, *b = vb;

	return ORDER(a->guid[0], b->guid[0]) ?: ORDER(a->port[0], b->port[0]) ?:
	       ORDER(a->guid[1], b->guid[1]) ?: ORDER(a->port[1], b->port[1]);
}

static bool same_link(const struct flap_link *a, const struct flap_link *b)
{
	return compare_links(a, b) == 0;
}

/* The record of a link; NULL: the table is full, and all links in it flap. */
static struct record *record_of(struct flaps *t, const struct flap_link *l)
{
	struct record *oldest = NULL;

	for (struct record *r = t->records.v; r < vec_end(&t->records); r++) {
		if (same_link(&r->link, l))
			return r;
		if (!r->flaps && (!oldest || r->last_us < oldest->last_us))
			oldest = r;
	}
	if (t->records.n < FLAP_LINKS_MAX)
		oldest = vec_push(&t->records);
	if (oldest)
		*oldest = (struct record){ .link = *l };
	return oldest;
}

/* The hold time for the next time that the link flaps. */
static int64_t next_hold(const struct flaps *t, const struct record *r)
{
	int64_t most = t->rules.hold_us << DOUBLINGS;

	if (!r->hold_us)
		return t->rules.hold_us;
	return 2 * r->hold_us < most ? 2 * r->hold_us : most;
}

static struct flap flap_of(const struct record *r)
{
	return (struct flap){ r->link, r->downs, r->since_us, r->last_us + r->hold_us };
}

bool flaps_down(struct flaps *t, const struct flap_link *l, int64_t now_us, struct flap *out)
{
	struct record *r = t->rules.limit ? record_of(t, l) : NULL;
	int64_t *place;
	bool many;

	if (!r)
		return false;
	if (!r->flaps && now_us - r->last_us > t->rules.hold_us << DOUBLINGS)
		r->hold_us = 0;
	r->downs++;
	r->last_us = now_us;
	if (r->flaps)
		return false;
	place = &r->times[r->recent % t->rules.limit];
	many = r->recent >= t->rules.limit && now_us - *place <= t->rules.window_us;
	*place = now_us;
	r->recent++;
	if (!many)
		return false;
	r->hold_us = next_hold(t, r);
	r->flaps = true;
	r->since_us = now_us;
	*out = flap_of(r);
	return true;
}

void flaps_up(struct flaps *t, const struct flap_link *l, int64_t now_us)
{
	for (size_t i = 0; i < t->records.n; i++)
		if (t->records.v[i].flaps && same_link(&t->records.v[i].link, l))
			t->records.v[i].last_us = now_us;
}

bool flaps_at(const struct flaps *t, size_t i, struct flap *out)
{
	for (size_t k = 0; k < t->records.n; k++) {
		if (!t->records.v[k].flaps || i--)
			continue;
		*out = flap_of(&t->records.v[k]);
		return true;
	}
	return false;
}

bool flaps_ended(struct flaps *t, int64_t now_us, struct flap *out)
{
	for (struct record *r = t->records.v; r < vec_end(&t->records); r++) {
		if (!r->flaps || now_us < r->last_us + r->hold_us)
			continue;
		*out = flap_of(r);
		r->flaps = false;
		r->recent = 0;
		return true;
	}
	return false;
}

int64_t flaps_next(const struct flaps *t)
{
	int64_t next = INT64_MAX;
	struct flap x;

	for (size_t i = 0; flaps_at(t, i, &x); i++)
		next = x.until_us < next ? x.until_us : next;
	return next;
}

static bool is_meant(const struct flap_link *l, uint64_t guid, unsigned port)
{
	for (unsigned i = 0; i < 2; i++)
		if (!guid || (l->guid[i] == guid && (!port || l->port[i] == port)))
			return true;
	return false;
}

bool flaps_release(struct flaps *t, uint64_t guid, unsigned port, struct flap *out)
{
	for (size_t i = 0; i < t->records.n; ) {
		struct record *r = &t->records.v[i];
		bool flapped = r->flaps;

		if (!is_meant(&r->link, guid, port)) {
			i++;
			continue;
		}
		*out = flap_of(r);
		*r = t->records.v[--t->records.n];
		if (flapped)
			return true;
	}
	return false;
}

/* --- on a fabric --- */

uint32_t flap_port(const struct fabric *f, const struct flap_link *l, unsigned end)
{
	uint32_t ports[2];

	for (unsigned i = 0; i < 2; i++) {
		uint32_t node = map64_get(&f->node_by_guid, l->guid[i]);

		if (node == MAP64_NONE || l->port[i] > f->nodes[node].nports)
			return FABRIC_NONE;
		ports[i] = f->nodes[node].port0 + l->port[i];
	}
	return f->ports[ports[0]].peer == ports[1] ? ports[end] : FABRIC_NONE;
}

static bool between_switches(const struct fabric *f, uint32_t port)
{
	return f->ports[port].peer != FABRIC_NONE && node_is_switch(port_node(f, port)) &&
	       node_is_switch(port_node(f, f->ports[port].peer));
}

/* Stand for numbers of times down, so that such links come after all that flap. */
#define DOWNS_DRAINED_SWITCH	(UINT_MAX - 2)
#define DOWNS_DRAINED	(UINT_MAX - 1)
#define DOWNS_NO_USE	UINT_MAX	/* carries no traffic */

struct candidate {
	uint32_t port;
	struct flap flap;
};

struct candidates {
	struct candidate *v;
	size_t n, cap;
};

static int least_first(const void *va, const void *vb)
{
	const struct candidate *a = va, *b = vb;

	return ORDER(a->flap.downs, b->flap.downs) ?: compare_links(&a->flap.link, &b->flap.link);
}

/* Joins the two ends in parts, sets of connected switches (lib/base/disjoint.h). */
static bool join_ends(const struct fabric *f, uint32_t *parts, uint32_t port)
{
	return disjoint_join(parts, port_node(f, port)->sw, port_node(f, f->ports[port].peer)->sw);
}

/*
 * One end reports an undefined PortState, or Down although the link has two ends, so no sweep knows
 * what to set the port to.  And the other end shows that the link is not at work.
 */
static bool cannot_come_up(const struct fabric *f, uint32_t port)
{
	unsigned a = f->ports[port].state, b = f->ports[f->ports[port].peer].state;

	return (a < IB_PORT_INIT_S || b < IB_PORT_INIT_S) &&
	       (a < IB_PORT_ACTIVE_S && b < IB_PORT_ACTIVE_S);
}

/* Not merely Armed: an Armed port becomes Active with the first packet from an Active one (14.3.6). */
static bool is_short_of_active(const struct fabric *f, uint32_t port)
{
	unsigned a = f->ports[port].state, b = f->ports[f->ports[port].peer].state;

	return (a < b ? a : b) < IB_PORT_ARMED_S || (a > b ? a : b) < IB_PORT_ACTIVE_S;
}

static bool was_left_short(const struct flaps *t, const struct flap_link *l)
{
	return t->left_short.n && bsearch(l, t->left_short.v, t->left_short.n, sizeof(*l), compare_links);
}

/* Packets sent over the link are lost, and an earlier sweep could not help it either. */
static bool carries_nothing(const struct flaps *t, const struct fabric *f, uint32_t port)
{
	struct flap_link l;

	if (cannot_come_up(f, port))
		return true;
	if (!t->left_short.n || !is_short_of_active(f, port))
		return false;
	l = flap_link_of(f, port);
	return was_left_short(t, &l);
}

/*
 * The port is the first end below Active of a link that is_short_of_active(), one for each link.  Mostly all ports are
 * Active, and their far ends, in no order in memory, need not be looked at.
 */
static bool is_first_short_end(const struct fabric *f, uint32_t port)
{
	uint32_t peer;

	if (f->ports[port].state == IB_PORT_ACTIVE_S || !between_switches(f, port))
		return false;
	peer = f->ports[port].peer;
	return (peer > port || f->ports[peer].state == IB_PORT_ACTIVE_S) && is_short_of_active(f, port);
}

void flaps_left_short(struct flaps *t, const struct fabric *f)
{
	t->left_short.n = 0;
	for (uint32_t i = 0; f && i < f->n_ports; i++)
		if (is_first_short_end(f, i))
			*vec_push(&t->left_short) = flap_link_of(f, i);
	if (t->left_short.n)
		qsort(t->left_short.v, t->left_short.n, sizeof(*t->left_short.v), compare_links);
}

bool flaps_come_up(const struct flaps *t, const struct fabric *f, size_t *i, struct flap_link *out)
{
	while (*i < t->left_short.n) {
		uint32_t port;

		*out = t->left_short.v[(*i)++];
		port = flap_port(f, out, 0);
		if (port != FABRIC_NONE && f->ports[port].held && !is_short_of_active(f, port))
			return true;
	}
	return false;
}

static void hold(struct fabric *f, uint32_t port, bool held)
{
	f->ports[port].held = f->ports[f->ports[port].peer].held = held;
}

/* Holds the link and lists it, unless it is listed or is no link between switches. */
static void propose(struct candidates *list, struct fabric *f, uint32_t port, const struct flap *flap)
{
	if (port == FABRIC_NONE || !between_switches(f, port) || f->ports[port].held)
		return;
	hold(f, port, true);
	*vec_push(list) = (struct candidate){ port, *flap };
}

static void propose_with(struct candidates *list, struct fabric *f, uint32_t port,
				    unsigned downs)
{
	const struct flap flap = { .link = flap_link_of(f, port), .downs = downs };

	propose(list, f, port, &flap);
}

/* Links of drained switches lead to nobody but these.  Those that are held for another reason are not marked. */
static void mark_drained_switches(const struct withdrawals *w, struct fabric *f)
{
	uint32_t next = 0;
	size_t entry = 0;
	struct drained x;

	while (withdrawals_next_drained(w, f, &entry, &next, &x))
		if (x.whole && !f->ports[x.port].held)
			f->ports[f->ports[x.port].peer].drained = DRAINED_AWAY;
}

/*
 * Proposes drained links: if whole, those of drained switches without hosts, so that multicast trees
 * and SMPs of others avoid these, too; else those that are drained as links.
 */
static void propose_drained(struct candidates *list, const struct withdrawals *w, struct fabric *f,
			    bool whole)
{
	uint32_t next = 0;
	size_t entry = 0;
	struct drained x;

	while (withdrawals_next_drained(w, f, &entry, &next, &x))
		if (x.whole == whole && !x.has_hosts)
			propose_with(list, f, x.port, whole ? DOWNS_DRAINED_SWITCH : DOWNS_DRAINED);
}

/* A drained link that flaps counts as drained. */
static void propose_all(struct candidates *list, const struct flaps *t, struct fabric *f)
{
	struct flap flap;

	/* a link whose ends are both Active carries packets, and any other has an end that is not */
	for (uint32_t i = 0; i < f->n_ports; i++)
		if (f->ports[i].state != IB_PORT_ACTIVE_S && between_switches(f, i) && carries_nothing(t, f, i))
			propose_with(list, f, i, DOWNS_NO_USE);
	if (t->withdrawals)
		propose_drained(list, t->withdrawals, f, false);
	for (size_t i = 0; flaps_at(t, i, &flap); i++)
		propose(list, f, flap_port(f, &flap.link, 0), &flap);
	if (!t->withdrawals)
		return;
	mark_drained_switches(t->withdrawals, f);
	propose_drained(list, t->withdrawals, f, true);
}

bool flaps_hold(const struct flaps *t, struct fabric *f)
{
	struct candidates list = { 0 };
	uint32_t *parts = NULL;

	for (uint32_t i = 0; i < f->n_ports; i++)
		if (f->ports[i].held || f->ports[i].drained != DRAINED_NOT)
			f->ports[i].held = false, f->ports[i].drained = DRAINED_NOT;
	propose_all(&list, t, f);
	if (!list.n)
		return false;
	parts = xmalloc(f->n_switches * sizeof(*parts));
	for (uint32_t i = 0; i < f->n_switches; i++)
		parts[i] = i;
	for (uint32_t i = 0; i < f->n_ports; i++)
		if (between_switches(f, i) && !f->ports[i].held)
			join_ends(f, parts, i);
	qsort(list.v, list.n, sizeof(*list.v), least_first);
	for (size_t i = 0; i < list.n; i++) {
		uint32_t port = list.v[i].port;

		if (join_ends(f, parts, port))
			hold(f, port, false);
		else if (list.v[i].flap.downs == DOWNS_DRAINED)
			f->ports[port].drained = f->ports[f->ports[port].peer].drained = DRAINED_LINK;
	}
	free(parts);
	vec_free(&list);
	return true;
}
