/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Isolates links between switches by rule; see isolation_rules.h.
 *
 * Errors are looked at after each reading of the counters, outages each second; either costs nothing while
 * there is no rule.  One walk over the fabric decides about all bad links, until one of them is isolated.
 */
#include "daemon/isolation_rules.h"

#include <inttypes.h>
#include <stdlib.h>

#include "daemon/daemon.h"
#include "daemon/isolation_terms.h"
#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/search.h"
#include "sm/devices/isolation_loss.h"
#include "sm/devices/isolations.h"

#define LOOK_US		1000000
#define IN_A_LOOK	4	/* links isolated in one turn of the loop: each costs a walk over the fabric */
#define HOUR_US		(3600 * INT64_C(1000000))
#define PARDONS_MAX	(2 * WITHDRAWALS_MAX)	/* both ends of each link */

static struct log_ratelimit refused_log = LOG_RATELIMIT, kept_log = LOG_RATELIMIT;

/* Errors that a released port had before: they were the reason once. */
struct pardon {
	uint64_t guid, seen[PORT_ERRORS];
	uint8_t num;
	int64_t since_us;
};

/* A link that a rule would isolate. */
struct bad_link {
	uint32_t port;
	const char *what;		/* counter, or "link-downs" */
	uint64_t n, limit;
};

/* A link that could not be isolated, and its figure then: it is judged again when that has grown. */
struct stayed_link {
	uint64_t guid, n;
	uint8_t num;
};

struct isolation_rules {
	struct qosd *q;
	struct timer *timer;
	int64_t read_us;		/* the reading of errors that was looked at */
	VEC(struct pardon) pardons;	/* at most PARDONS_MAX */
	VEC(struct stayed_link) stayed;	/* the same */
	struct isolation_terms terms;
	/* in a look: */
	VEC(struct bad_link) bad;
	struct isolation_ways *ways;	/* by the present list; NULL: not known yet */
};

static const struct isolate_when *rules(const struct isolation_rules *x)
{
	return &x->q->settings->isolate_when;
}

static bool any_rule(const struct isolation_rules *x)
{
	for (enum port_error e = 0; e < PORT_ERRORS; e++)
		if (rules(x)->errors[e] != PORT_ERRORS_ANY)
			return true;
	return rules(x)->link_downs;
}

/* --- one link --- */

static bool has_stayed(struct isolation_rules *x, const struct withdrawal *w, const struct bad_link *b)
{
	for (size_t i = 0; i < x->stayed.n; i++)
		if (x->stayed.v[i].guid == w->guid && x->stayed.v[i].num == w->port)
			return x->stayed.v[i].n >= b->n;
	return false;
}

static void note_stays(struct isolation_rules *x, const struct withdrawal *w, const struct bad_link *b)
{
	for (size_t i = 0; i < x->stayed.n; i++)
		if (x->stayed.v[i].guid == w->guid && x->stayed.v[i].num == w->port) {
			x->stayed.v[i].n = b->n;
			return;
		}
	if (x->stayed.n == WITHDRAWALS_MAX)
		x->stayed.n = 0;
	*vec_push(&x->stayed) = (struct stayed_link){ w->guid, b->n, w->port };
}

/* Whether a link may be isolated by rule: that cuts off nobody. */
static bool harms_nobody(struct isolation_rules *x, const struct withdrawal *w, const struct bad_link *b,
			 const struct fabric *f)
{
	struct isolation_loss loss;

	if (!x->ways)
		x->ways = isolation_ways_new(x->q->withdrawals, f);
	loss = isolation_ways_loss(x->ways, b->port);
	if (!loss.hosts && !loss.switches)
		return true;
	note_stays(x, w, b);
	log_limited(&refused_log, LOG_LEVEL_WARNING, "isolate-when", "%s: not isolated for its %s (%" PRIu64
		    " in the last hour): this would cut off %" PRIu32 " hosts and %" PRIu32 " switches", w->name,
		    b->what, b->n, loss.hosts, loss.switches);
	return false;
}

static bool has_room(struct isolation_rules *x, const struct withdrawal *w, const struct bad_link *b)
{
	size_t n = 0;

	for (size_t i = 0; i < x->q->withdrawals->v.n; i++)
		n += x->q->withdrawals->v.v[i].uid == WITHDRAWN_BY_RULE;
	if (n < rules(x)->at_most)
		return true;
	note_stays(x, w, b);
	log_limited(&refused_log, LOG_LEVEL_WARNING, "isolate-when", "%s: not isolated for its %s (%" PRIu64
		    " in the last hour): %zu places are isolated by rule already, as many as at-most allows",
		    w->name, b->what, b->n, n);
	return false;
}

static void forget_ways(struct isolation_rules *x)
{
	isolation_ways_free(x->ways);
	x->ways = NULL;
}

/* True: the link was isolated. */
static bool consider(struct isolation_rules *x, const struct fabric *f, const struct bad_link *b)
{
	struct withdrawal w = { .guid = port_node(f, b->port)->guid, .port = f->ports[b->port].num,
				.kind = WITHDRAWAL_ISOLATED, .uid = WITHDRAWN_BY_RULE,
				.since_s = clock_real_us() / 1000000 };
	const struct fabric_port *p = &f->ports[b->port];
	struct buf err = { 0 };
	struct withdrawals *list;
	struct isolation_cut link = { .guid = { w.guid, w.guid }, .num = { w.port, w.port } };
	char id[WITHDRAWAL_ID_MAX];
	bool done;

	if (p->peer != FABRIC_NONE) {
		link.guid[1] = port_node(f, p->peer)->guid;
		link.num[1] = f->ports[p->peer].num;
	}
	if (isolation_covers_cut(x->q->withdrawals, &link))
		return false;
	fabric_port_name(f, b->port, w.name, sizeof(w.name));
	snprintf(w.reason, sizeof(w.reason), "by rule: %s %" PRIu64 " in the last hour, more than %" PRIu64, b->what,
		 b->n, b->limit);
	if (has_stayed(x, &w, b) || !has_room(x, &w, b) || !harms_nobody(x, &w, b, f))
		return false;
	list = withdrawals_copy(x->q->withdrawals);
	if (!withdrawals_put(list, &w)) {
		withdrawals_free(list);
		return false;
	}
	log_warn("isolate-when", "%s: isolated %s; 'qosd-ctl release %s' gives it back", w.name, w.reason,
		 withdrawal_id(&w, id));
	done = set_withdrawals(x->q, list, (struct asker){ WITHDRAWN_BY_RULE, NULL }, &err);
	if (done)
		isolation_terms_begin(&x->terms, &link, rules(x)->for_s, w.since_s);
	else
		log_error("isolate-when", "%s: not isolated: %s", w.name, err.s);
	buf_free(&err);
	forget_ways(x);
	return done;
}

/* --- terms --- */

int64_t isolation_rules_until(const struct isolation_rules *x, const struct withdrawal *w)
{
	return isolation_terms_until(&x->terms, w, rules(x)->for_s);
}

static bool is_over(const struct isolation_rules *x, const struct withdrawal *w, int64_t now_s)
{
	int64_t until = isolation_rules_until(x, w);

	return until && until <= now_s;
}

/* The isolated link of an entry. */
static struct isolation_cut link_of(const struct isolation_rules *x, const struct withdrawal *w)
{
	const struct isolation_cut *cut;
	struct sm_status sm;

	sm_get_status(x->q->sm, &sm);
	cut = isolation_cuts_find(sm.cuts, w->guid, w->port);
	return cut ? *cut : (struct isolation_cut){ .guid = { w->guid, w->guid }, .num = { w->port, w->port } };
}

/* Gives back the links whose term is over; they are judged anew. */
static void give_back(struct isolation_rules *x)
{
	const struct withdrawals *now = x->q->withdrawals;
	int64_t now_s = clock_real_us() / 1000000;
	struct withdrawals *list = NULL;
	struct buf err = { 0 };

	for (size_t i = 0; i < now->v.n; i++) {
		const struct withdrawal *w = &now->v.v[i];
		struct isolation_cut link;

		if (!is_over(x, w, now_s))
			continue;
		if (!list)
			list = withdrawals_copy(now);
		link = link_of(x, w);
		isolation_terms_end(&x->terms, &link, now_s);
		withdrawals_remove(list, w->guid, w->port);
		log_info("isolate-when", "%s: given back, as its time is over", w->name);
	}
	if (list && !set_withdrawals(x->q, list, (struct asker){ WITHDRAWN_BY_RULE, NULL }, &err))
		log_limited(&kept_log, LOG_LEVEL_ERROR, "isolate-when", "links stay isolated: %s", err.s);
	buf_free(&err);
}

/* --- looking --- */

static int worst_first(const void *va, const void *vb)
{
	const struct bad_link *a = va, *b = vb;
	double x = (double)a->n / (double)(a->limit + 1), y = (double)b->n / (double)(b->limit + 1);

	return ORDER(y, x) ?: ORDER(a->port, b->port);
}

/* What the counter grew by in the last hour, and since the port was released. */
static uint64_t growth(const struct isolation_rules *x, const struct error_port *p, uint64_t guid, unsigned num,
		       enum port_error e, int64_t now)
{
	uint64_t n = error_last_hour(p, e, now), since;

	for (const struct pardon *y = x->pardons.v; y < vec_end(&x->pardons); y++) {
		if (y->guid != guid || y->num != num || y->since_us + HOUR_US < now)
			continue;
		since = error_seen(p, e) - y->seen[e];
		n = n < since ? n : since;
	}
	return n;
}

static void look_at_errors(struct isolation_rules *x, const struct subnet_state *s, int64_t now)
{
	const struct fabric *f = s->f;

	for (uint32_t i = 0; i < f->n_ports; i++) {
		const struct error_port *p = link_joins_switches(f, i) ? error_watch_port(x->q->errors, s, i) : NULL;

		for (enum port_error e = 0; p && e < PORT_ERRORS; e++) {
			struct bad_link b = { i, port_error_name(e), 0, rules(x)->errors[e] };

			if (b.limit == PORT_ERRORS_ANY || !(p->known >> e & 1))
				continue;
			b.n = growth(x, p, port_node(f, i)->guid, f->ports[i].num, e, now);
			if (b.n > b.limit)
				*vec_push(&x->bad) = b;
		}
	}
}

static void look_at_outages(struct isolation_rules *x, const struct fabric *f, int64_t now)
{
	const struct outages *o = operator_events_rule_outages(x->q->operator_events);
	struct outage out;

	for (size_t i = 0; rules(x)->link_downs && outages_next(o, &i, now, &out);) {
		uint32_t a = map64_get(&f->node_by_guid, out.guid), b = map64_get(&f->node_by_guid, out.far_guid);

		if (out.kind != OUTAGE_LINK || a == MAP64_NONE || b == MAP64_NONE || !node_is_switch(&f->nodes[a]) ||
		    !node_is_switch(&f->nodes[b]) || !out.port || out.port > f->nodes[a].nports)
			continue;
		*vec_push(&x->bad) = (struct bad_link){ f->nodes[a].port0 + out.port, "link-downs", out.times,
							rules(x)->link_downs };
	}
}

static void look(void *arg)
{
	struct isolation_rules *x = arg;
	struct subnet_state *s = x->q->sa.state;
	int64_t now = clock_mono_us();
	struct sm_status sm;
	unsigned n = 0;

	sm_get_status(x->q->sm, &sm);
	if (sm.state != SM_MASTER || !s)
		return;
	state_ref(s);		/* an event may lead to another one */
	give_back(x);
	x->bad.n = 0;
	if (error_watch_last(x->q->errors)->when_us != x->read_us) {
		x->read_us = error_watch_last(x->q->errors)->when_us;
		look_at_errors(x, s, now);
	}
	look_at_outages(x, s->f, now);
	if (x->bad.n)
		qsort(x->bad.v, x->bad.n, sizeof(*x->bad.v), worst_first);
	for (size_t i = 0; i < x->bad.n && n < IN_A_LOOK; i++)
		n += consider(x, s->f, &x->bad.v[i]);
	if (n == IN_A_LOOK)
		x->read_us = 0;		/* there may be more */
	forget_ways(x);
	state_unref(s);
}

/* The errors of this port that are known do not count any more. */
static void pardon(struct isolation_rules *x, uint64_t guid, unsigned num)
{
	const struct error_port *p = error_find(error_watch_book(x->q->errors), guid, num);
	struct pardon y = { .guid = guid, .num = (uint8_t)num, .since_us = clock_mono_us() };
	size_t kept = 0;

	if (!p)
		return;
	for (enum port_error e = 0; e < PORT_ERRORS; e++)
		y.seen[e] = error_seen(p, e);
	for (size_t i = 0; i < x->pardons.n; i++)
		if (x->pardons.v[i].since_us + HOUR_US > y.since_us &&
		    (x->pardons.v[i].guid != y.guid || x->pardons.v[i].num != y.num))
			x->pardons.v[kept++] = x->pardons.v[i];
	x->pardons.n = kept;
	if (kept < PARDONS_MAX)
		*vec_push(&x->pardons) = y;
}

void isolation_rules_released(struct isolation_rules *x, const struct withdrawal *w)
{
	const struct isolation_cut *cut;
	struct sm_status sm;

	x->stayed.n = 0;	/* there is room, or another way, now */
	isolation_terms_forget(&x->terms, w);
	if (!w->port)
		return;
	sm_get_status(x->q->sm, &sm);
	cut = isolation_cuts_find(sm.cuts, w->guid, w->port);
	for (unsigned end = 0; cut && end < 2; end++)
		pardon(x, cut->guid[end], cut->num[end]);
	if (!cut)
		pardon(x, w->guid, w->port);
}

void isolation_rules_changed(struct isolation_rules *x)
{
	x->read_us = 0;
	x->stayed.n = 0;
	if (any_rule(x) || rules(x)->for_s)
		timer_set(x->timer, LOOK_US, LOOK_US);
	else
		timer_stop(x->timer);
}

struct isolation_rules *isolation_rules_new(struct qosd *q)
{
	struct isolation_rules *x = xcalloc(1, sizeof(*x));

	x->q = q;
	x->timer = timer_new(q->loop, look, x);
	isolation_rules_changed(x);
	return x;
}

void isolation_rules_free(struct isolation_rules *x)
{
	if (!x)
		return;
	timer_free(x->timer);
	isolation_terms_free(&x->terms);
	vec_free(&x->pardons);
	vec_free(&x->stayed);
	vec_free(&x->bad);
	free(x);
}
