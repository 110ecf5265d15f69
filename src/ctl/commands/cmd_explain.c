/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `explain`: what the SA answers to a path query, and why.  The answer comes from the SA's
 * own search (path_search_next), so that it is what a client would get; the reasons are derived
 * from it.
 */
#include "ctl/commands/cmd_explain.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/hostlist.h"
#include "lib/iba/sa_records.h"
#include "lib/iba/units.h"

#define ENDS_MAX 255	/* sources, and destinations: the most that a MultiPathRecord can hold */

/* --- rule and level --- */

/*
 * The partition that decides the level when no rule matches; NULL: the policy's default level.  *by_group:
 * it is the level of its IPoIB group.
 */
static const struct policy_partition *level_partition(const struct subnet_state *s,
						      const struct path_answer *a, bool *by_group)
{
	const struct policy *p = s->plan->policy;
	uint32_t k = partition_of_pkey(s->plan->partitions, a->pkey);
	const struct policy_partition *x = k == UINT32_MAX ? NULL : &p->partitions[k];

	*by_group = x && a->level != x->level_index;
	return *by_group || (x && x->level.s && *x->level.s) ? x : NULL;
}

void json_add_level(json_t *o, const struct subnet_state *s, const struct path_answer *a)
{
	const struct policy *p = s->plan->policy;
	bool by_group = false;
	const struct policy_partition *part =
		a->rule == MATCH_NO_RULE ? level_partition(s, a, &by_group) : NULL;

	json_object_set_new(o, "rule", a->rule == MATCH_NO_RULE ? json_null() :
							json_rule(p, a->rule));
	json_object_set_new(o, "level", json_text(p->levels[a->level].name));
	json_object_set_new(o, "level-by", json_string(a->rule != MATCH_NO_RULE ? "rule" :
						       by_group ? "ipoib" :
						       part ? "partition" : "default"));
	json_object_set_new(o, "partition", part ? json_text(part->name) : json_null());
}

/* --- a path --- */

json_t *json_path(const struct path_answer *a)
{
	return json_pack("{s:i, s:i, s:i, s:i, s:f, s:f, s:i, s:i, s:b, s:i}",
			 "slid", a->slid, "dlid", a->dlid, "sl", a->sl,
			 "mtu", (int)mtu_bytes(a->mtu), "rate", rate_tenths(a->rate) / 10.0,
			 "lifetime", lifetime_seconds(a->life), "tclass", a->tclass,
			 "pkey", a->pkey, "reversible", a->reversible,
			 "preference", a->preference);
}

/* --- reasons --- */

void route_limits(const struct subnet_state *s, uint32_t src, uint32_t dst, uint16_t dlid,
		  struct route_limits *out)
{
	out->n = paths_walk(s->f, s->plan->lfts, s->plan->tables, src, dlid, dst, out->hops,
			    PATH_HOPS_MAX);
	out->mtu_hop = out->rate_hop = out->n;
	out->mtu = out->rate = 0;
	for (unsigned i = 0; i < out->n; i++) {
		uint32_t port = hop_port(s->f, &out->hops[i]);
		struct path_info link;

		if (port == FABRIC_NONE)
			continue;
		link = paths_of_port(s->f, port);
		if (out->mtu_hop == out->n || link.mtu < out->mtu) {
			out->mtu = link.mtu;
			out->mtu_hop = i;
		}
		if (out->rate_hop == out->n || rate_compare(link.rate, out->rate) < 0) {
			out->rate = link.rate;
			out->rate_hop = i;
		}
	}
}

void put_hop_name(struct buf *b, const struct subnet_state *s, const struct route_limits *l,
		  unsigned hop)
{
	char name[FABRIC_NAME_MAX];
	uint32_t port = hop < l->n ? hop_port(s->f, &l->hops[hop]) : FABRIC_NONE;

	if (port == FABRIC_NONE)
		buf_puts(b, "an end port");
	else
		buf_printf(b, "hop %u, %s", hop,
			   fabric_port_name(s->f, port, name, sizeof(name)));
}

static void add_why(json_t *why, const char *field, struct buf *b)
{
	json_object_set_new(why, field, json_text(b->s));
	buf_free(b);
}

/* Appends the origin of an MTU or rate. */
static void put_limit(struct buf *b, const struct subnet_state *s, const struct route_limits *l,
		      const char *level, bool by_level, bool by_link, unsigned hop)
{
	if (by_level)
		buf_printf(b, "limit of level %s", level);
	else if (by_link)
		put_hop_name(b, s, l, hop);
	else
		buf_puts(b, hop < l->n ? "chosen by the query" : "the port itself");
}

static void why_limits(json_t *why, const struct subnet_state *s, const struct path_query *q,
		       const struct path_answer *a)
{
	const struct policy_level *l = &s->plan->policy->levels[a->level];
	struct route_limits route;
	struct buf b = { 0 };

	route_limits(s, q->src, q->dst, a->dlid, &route);
	put_limit(&b, s, &route, l->name, a->mtu == l->mtu_limit && a->mtu != route.mtu,
		  a->mtu == route.mtu, route.mtu_hop);
	add_why(why, "mtu", &b);
	put_limit(&b, s, &route, l->name,
		  a->rate == l->rate_limit && rate_compare(a->rate, route.rate) != 0,
		  rate_compare(a->rate, route.rate) == 0, route.rate_hop);
	add_why(why, "rate", &b);
}

static const char *why_lifetime(const struct subnet_state *s, const struct path_query *q,
				const struct path_answer *a)
{
	const struct policy_level *l = &s->plan->policy->levels[a->level];
	int usual = l->packet_lifetime >= 0 ? l->packet_lifetime :
					      s->plan->settings->subnet_timeout;

	if (q->src == q->dst)
		return "packets do not leave the port";
	if (a->life != usual)
		return "chosen by the query";
	return l->packet_lifetime >= 0 ? "of the level" : "subnet-timeout of qosd.yaml";
}

static const char *why_pkey(const struct path_query *q)
{
	return q->has & PR_RAW && q->raw ? "raw traffic has none" :
	       q->has & PR_PKEY ? "requested, and both ends have it" :
				  "the first that both ends have";
}

static const char *why_tclass(const struct subnet_state *s, const struct path_query *q,
			      const struct path_answer *a)
{
	return s->plan->policy->levels[a->level].tclass >= 0 ? "of the level" :
	       q->has & PR_TCLASS ? "as asked" : "the level has none";
}

static json_t *path_why(const struct subnet_state *s, const struct path_query *q,
			const struct path_answer *a)
{
	const struct policy_level *l = &s->plan->policy->levels[a->level];
	json_t *why = json_object();

	json_object_set_new(why, "sl", json_string(q->has & PR_SL ? "of the level, and requested" :
								    "of the level"));
	json_object_set_new(why, "pkey", json_string(why_pkey(q)));
	json_object_set_new(why, "lids", json_string(l->path_bits >= 0 ?
			    "by the level's path bits" : q->has & (PR_SLID | PR_DLID) ?
			    "as asked" : "equal path bits first"));
	why_limits(why, s, q, a);
	json_object_set_new(why, "lifetime", json_string(why_lifetime(s, q, a)));
	json_object_set_new(why, "tclass", json_string(why_tclass(s, q, a)));
	json_object_set_new(why, "reversible", json_string(a->reversible ?
			    "the way back carries the SL" : "the way back drops the SL"));
	return why;
}

/* --- the rules tried --- */

struct tried {
	const struct subnet_state *s;
	struct match_query query;
	uint32_t rule, n_rules;		/* next rule to show; number of rules tried */
};

static json_t *next_tried(void *rows)
{
	struct tried *t = rows;
	const struct plan *plan = t->s->plan;
	const char *fails;
	json_t *row;

	if (t->rule == t->n_rules)
		return NULL;
	fails = match_rule_fails(plan->policy, t->s->f, plan->groups, t->rule, &t->query);
	row = json_rule(plan->policy, t->rule++);
	json_object_set_new(row, "fails", fails ? json_string(fails) : json_null());
	return row;
}

static void rows_of_rules(struct reply *r, const struct subnet_state *s,
			  const struct path_query *q, uint32_t rule)
{
	struct tried *t = xcalloc(1, sizeof(*t));

	t->s = s;
	t->query = path_match_query(q);
	t->n_rules = rule == MATCH_NO_RULE ? (uint32_t)s->plan->policy->n_rules : rule + 1;
	reply_rows(r, "tried", next_tried, free, t);
}

/* --- two ends --- */

/* The first pair of LIDs tried, and all paths. */
struct found {
	struct path_answer first;	/* first pair tried */
	unsigned faults;		/* of the first pair */
	struct path_answer best;
	json_t *paths;			/* array */
};

static void find_paths(const struct subnet_state *s, struct path_query *q, struct found *f)
{
	struct path_search x;
	struct path_answer a;
	unsigned faults;
	bool any = false;

	f->paths = json_array();
	path_search_begin(&x, s, q, &q->src, 1, &q->dst, 1, query_max_paths(q), SA_SEARCH_MAX);
	while (path_search_try(&x, &a, &faults)) {
		if (!any) {
			f->first = a;
			f->faults = faults;
			any = true;
		}
		if (faults)
			continue;
		if (json_array_size(f->paths) == 0)
			f->best = a;
		json_array_append_new(f->paths, json_path(&a));
	}
}

static json_t *full_path(const struct subnet_state *s, const struct path_query *q,
			 const struct path_answer *a)
{
	json_t *o = json_path(a);

	json_object_set_new(o, "why", path_why(s, q, a));
	json_object_set_new(o, "hops", json_hops(s, q->src, q->dst, a->dlid, a->sl));
	return o;
}

static void explain_pair(const struct ctl_call *c, struct path_query *q, struct reply *r)
{
	const struct subnet_state *s = c->state;
	struct found f = { 0 };
	bool any;
	json_t *o;

	find_paths(s, q, &f);
	any = json_array_size(f.paths) > 0;
	o = json_pack("{s:o, s:o}", "source", json_port(s, q->src),
		      "destination", json_port(s, q->dst));
	json_add_level(o, s, &f.first);
	json_object_set_new(o, "path", any ? full_path(s, q, &f.best) : json_null());
	json_object_set_new(o, "paths", f.paths);
	json_object_set_new(o, "no-path", any ? json_null() :
					  json_text(path_fault_text(f.faults)));
	/* hops even without a path: where the route leads, and what the level's SL becomes on it */
	json_object_set_new(o, "hops", any || f.faults & FAULT_LID ? json_null() :
			    json_hops(s, q->src, q->dst, f.first.dlid, f.first.sl));
	json_object_set_new(o, "service-id", q->has & PR_SERVICE_ID_LSB ? json_guid(q->service_id) :
							    json_null());
	json_object_set_new(o, "own-sl", q->has & PR_SL && !(f.faults & FAULT_LID) ?
			    json_own_sl(s, q->src, q->dst, any ? f.best.dlid : f.first.dlid, q->sl) :
			    json_null());
	reply_result(r, o);
	rows_of_rules(r, s, q, f.first.rule);
}

/* --- several ends --- */

struct multi {
	struct path_search search;
	uint32_t ends[2][ENDS_MAX];	/* sources, destinations */
	unsigned n[2];
	/* current pair of ports, and whether a path of it was reported */
	uint32_t src, dst;
	struct path_answer first;
	unsigned faults;
	bool told;
	json_t *held;			/* a path of the next pair, kept while this pair is reported */
	bool done;
	struct path_found chosen[2];	/* for migration: the paths that the SA selects */
	uint32_t n_chosen, at;
};

static json_t *multi_row(const struct subnet_state *s, uint32_t src, uint32_t dst,
			 const struct path_answer *a)
{
	json_t *row = json_pack("{s:o, s:o}", "source", json_port(s, src),
				"destination", json_port(s, dst));

	json_add_level(row, s, a);
	return row;
}

static json_t *path_row(const struct subnet_state *s, const struct path_query *q,
			const struct path_answer *a)
{
	json_t *row = multi_row(s, q->src, q->dst, a);
	json_t *path = json_path(a);

	json_object_set_new(path, "hops", json_hops(s, q->src, q->dst, a->dlid, a->sl));
	json_object_set_new(row, "path", path);
	json_object_set_new(row, "no-path", json_null());
	return row;
}

/* Ends a pair of ports: returns NULL if it had a path, else what blocked its first try. */
static json_t *leave_pair(struct multi *m)
{
	json_t *row;

	if (m->told || m->src == FABRIC_NONE)
		return NULL;
	row = multi_row(m->search.s, m->src, m->dst, &m->first);
	json_object_set_new(row, "path", json_null());
	json_object_set_new(row, "no-path", json_text(path_fault_text(m->faults)));
	return row;
}

/* Records a try; returns the row that is due now, or NULL. */
static json_t *note_try(struct multi *m, const struct path_answer *a, unsigned faults)
{
	bool changed = m->search.q.src != m->src || m->search.q.dst != m->dst ||
		       m->search.pair == 1;
	json_t *left = changed ? leave_pair(m) : NULL;
	json_t *path = faults || m->n_chosen ? NULL : path_row(m->search.s, &m->search.q, a);

	if (changed) {
		m->src = m->search.q.src;
		m->dst = m->search.q.dst;
		m->first = *a;
		m->faults = faults;
		m->told = false;
	}
	m->told = m->told || !faults;
	if (left)
		m->held = path;
	return left ? left : path;
}

static json_t *next_multi(void *rows)
{
	struct multi *m = rows;
	struct path_answer a;
	unsigned faults;
	json_t *row = m->held;

	if (m->at < m->n_chosen) {
		const struct path_found *f = &m->chosen[m->at++];

		return path_row(m->search.s, &f->q, &f->a);
	}
	m->held = NULL;
	while (!row && path_search_try(&m->search, &a, &faults))
		row = note_try(m, &a, faults);
	if (row || m->done)
		return row;
	m->done = true;
	return leave_pair(m);
}

static void free_multi(void *rows)
{
	struct multi *m = rows;

	json_decref(m->held);
	free(m);
}

/* Splits a list of ends; the name of one port may have the characters of a list. */
static bool split_ends(const struct ctl_call *c, const char *text, struct hostlist *words,
		       struct buf *err)
{
	const char *why;

	if (find_end_port(c, text, &why) == FABRIC_NONE)
		return hostlist_parse(text, ENDS_MAX, words, err);
	*vec_push(words) = xstrdup(text);
	return true;
}

/* Reads the ends of a list "a,b"; false with an error in the reply. */
static bool read_ends(const struct ctl_call *c, const char *name, uint32_t *ends, unsigned *n,
		      struct reply *r)
{
	struct hostlist words = { 0 };
	struct buf err = { 0 };
	bool good = split_ends(c, arg_text(c, name), &words, &err);

	if (!good)
		reply_error(r, NULL, "%s: %s", name, err.s);
	for (size_t k = 0; good && k < words.n; k++) {
		unsigned i = 0;

		ends[*n] = end_port(c, words.v[k], r);
		good = ends[*n] != FABRIC_NONE;
		while (ends[i] != ends[*n])	/* a duplicate counts once */
			i++;
		*n += i == *n;
	}
	hostlist_free(&words);
	buf_free(&err);
	return good;
}

static json_t *json_ends(const struct subnet_state *s, const uint32_t *ends, unsigned n)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < n; i++)
		json_array_append_new(list, json_port(s, ends[i]));
	return list;
}

static bool begin_pair(const void *arg, unsigned pair, uint32_t max, uint32_t budget,
		       struct path_search *x)
{
	const struct multi *m = arg;
	struct path_query q = m->search.q;

	q.src = m->ends[0][pair / m->n[1]];
	q.dst = m->ends[1][pair % m->n[1]];
	path_search_begin_pair(x, m->search.s, &q, max, budget);
	return true;
}

/* Selects the SA's paths for migration; the search then goes on for pairs without any. */
static void choose_for_migration(struct multi *m, const struct path_query *q)
{
	uint32_t budget = SA_SEARCH_MAX;

	if (!path_is_for_migration(q, m->n[0], m->n[1]))
		return;
	m->n_chosen = path_find_independent(m->search.s, m, 4, begin_pair, 2, &budget, m->chosen);
	m->search.left = UINT32_MAX;
}

static void explain_multi(const struct ctl_call *c, const struct path_query *q, struct reply *r)
{
	struct multi *m;

	if (q->has & (PR_SLID | PR_DLID)) {
		reply_error(r, NULL, "slid and dlid cannot be combined with multipath: a MultiPathRecord "
				"has no LIDs");
		return;
	}
	m = xcalloc(1, sizeof(*m));
	m->src = FABRIC_NONE;
	if (!read_ends(c, "src", m->ends[0], &m->n[0], r) ||
	    !read_ends(c, "dst", m->ends[1], &m->n[1], r)) {
		free_multi(m);
		return;
	}
	path_search_begin(&m->search, c->state, q, m->ends[0], m->n[0], m->ends[1], m->n[1],
			  query_max_paths(q), SA_SEARCH_MAX);
	choose_for_migration(m, q);
	reply_result(r, json_pack("{s:o, s:o}",
				  "sources", json_ends(c->state, m->ends[0], m->n[0]),
				  "destinations", json_ends(c->state, m->ends[1], m->n[1])));
	reply_rows(r, "answers", next_multi, free_multi, m);
}

/* --- the command --- */

static void explain_why_not(const struct ctl_call *c, const struct path_query *q,
			    struct reply *r)
{
	struct asked_ends ends;

	ends.port[0] = find_end_port(c, arg_text(c, "src"), &ends.unknown[0]);
	ends.port[1] = find_end_port(c, arg_text(c, "dst"), &ends.unknown[1]);
	why_not(c, &ends, q, r);
}

void cmd_explain(const struct ctl_call *c, struct reply *r)
{
	struct path_query q;

	if (arg_flag(c, "why-not") && arg_flag(c, "multipath")) {
		reply_error(r, NULL, "why-not cannot be combined with multipath: it takes two ends");
		return;
	}
	if (!query_from_args(c, &q, r))
		return;
	if (arg_flag(c, "multipath"))
		explain_multi(c, &q, r);
	else if (arg_flag(c, "why-not"))
		explain_why_not(c, &q, r);
	else if ((q.src = arg_end_port(c, "src", r)) != FABRIC_NONE &&
		 (q.dst = arg_end_port(c, "dst", r)) != FABRIC_NONE)
		explain_pair(c, &q, r);
}
