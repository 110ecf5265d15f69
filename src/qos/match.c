/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The matcher's query, and the slow reference.  How the bitmaps come about is
 * in match_build.c, what they are in matcher.h.
 */
#include <stdlib.h>

#include "qos/matcher.h"

/* The row of each criterion for one query. */
struct view {
	uint32_t row[CRITERION_COUNT + 1];	/* all that must hold */
	unsigned n;
	bool either;				/* and one of these two */
	uint32_t either_src, either_dst;
};

static inline void add_table_row(struct view *v, const struct matcher *m, enum criterion c,
				 bool carried, unsigned value)
{
	if (m->used & 1u << c)
		v->row[v->n++] = carried ? m->by_value[c][value] : m->absent[c];
}

static inline void look_up(struct view *v, const struct matcher *m, const struct match_query *q)
{
	v->n = 0;
	if (m->used & 1u << CRIT_SOURCE)
		v->row[v->n++] = m->ports[q->src].source;
	if (m->used & 1u << CRIT_DESTINATION)
		v->row[v->n++] = m->ports[q->dst].destination;
	if (m->used & 1u << CRIT_SERVICE_ID)
		v->row[v->n++] = q->has & MATCH_SERVICE_ID
				 ? steps_find(&m->service_ids, q->service_id)
				 : m->absent[CRIT_SERVICE_ID];
	add_table_row(v, m, CRIT_QOS_CLASS, q->has & MATCH_QOS_CLASS, q->qos_class & 0xfff);
	add_table_row(v, m, CRIT_TCLASS, q->has & MATCH_TCLASS, q->tclass);
	add_table_row(v, m, CRIT_PKEY, q->has & MATCH_PKEY, q->pkey & 0x7fff);
	add_table_row(v, m, CRIT_SL, q->has & MATCH_SL, q->sl & 0xf);
	v->either = m->used & 1u << CRIT_EITHER;
	if (v->either) {
		v->either_src = m->ports[q->src].either;
		v->either_dst = m->ports[q->dst].either;
	}
}

/* Which of the 64 words 64 * i ... have any rule for every criterion, for all we know. */
static inline uint64_t candidates(const struct view *v, const struct matcher *m, uint32_t i)
{
	uint64_t c = ~0ull;

	for (unsigned k = 0; k < v->n; k++)
		c &= m->summaries[v->row[k] * m->n_summaries + i];
	if (v->either)
		c &= m->summaries[v->either_src * m->n_summaries + i] |
		     m->summaries[v->either_dst * m->n_summaries + i];
	return c;
}

static inline uint64_t row_word(const struct matcher *m, uint32_t row, uint32_t w)
{
	uint32_t chunk = m->rows[row * m->n_chunks + w / CHUNK_WORDS];

	return m->chunks[chunk].word[w % CHUNK_WORDS];
}

static inline uint64_t matching_rules(const struct view *v, const struct matcher *m, uint32_t w)
{
	uint64_t r = ~0ull;

	for (unsigned k = 0; k < v->n; k++)
		r &= row_word(m, v->row[k], w);
	if (v->either)
		r &= row_word(m, v->either_src, w) | row_word(m, v->either_dst, w);
	return r;
}

uint32_t matcher_first(const struct matcher *m, const struct match_query *q)
{
	struct view v;

	if (!m->used)
		return m->p->n_rules ? 0 : MATCH_NO_RULE;
	look_up(&v, m, q);
	for (uint32_t i = 0; i < m->n_summaries; i++) {
		uint64_t c = candidates(&v, m, i);

		for (; c; c &= c - 1) {
			uint32_t w = i * 64 + (uint32_t)__builtin_ctzll(c);
			uint64_t r = matching_rules(&v, m, w);

			if (r)
				return w * 64 + (uint32_t)__builtin_ctzll(r);
		}
	}
	return MATCH_NO_RULE;
}

uint32_t matcher_level(const struct matcher *m, const struct match_query *q, uint32_t *rule)
{
	*rule = matcher_first(m, q);
	return *rule == MATCH_NO_RULE ? m->p->default_level : m->p->rules[*rule].level;
}

/* --- the slow way --- */

static bool in_ranges(const struct u64_ranges *r, uint64_t value)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].lo <= value && value <= r->v[i].hi)
			return true;
	return false;
}

static bool in_groups(const struct policy *p, const struct group_sets *g,
		      const struct policy_names *names, uint32_t port)
{
	for (size_t i = 0; i < names->n; i++) {
		uint32_t group = groups_index(p, names->v[i].s);

		if (group != UINT32_MAX && group_has(g, group, port))
			return true;
	}
	return false;
}

/* Given but not met; never so when the rule has no such criterion. */
static bool value_fails(const struct u64_ranges *r, bool carried, uint64_t value)
{
	return r->n && !(carried && in_ranges(r, value));
}

const char *match_rule_fails(const struct policy *p, const struct fabric *f,
			     const struct group_sets *g, uint32_t rule,
			     const struct match_query *q)
{
	const struct policy_rule *r = &p->rules[rule];

	if (r->sources.n && !in_groups(p, g, &r->sources, q->src))
		return "source";
	if (r->destinations.n && !in_groups(p, g, &r->destinations, q->dst))
		return "destination";
	if (r->either.n && !in_groups(p, g, &r->either, q->src) &&
	    !in_groups(p, g, &r->either, q->dst))
		return "either";
	if (value_fails(&r->service_ids, q->has & MATCH_SERVICE_ID, q->service_id))
		return "service-id";
	if (value_fails(&r->qos_classes, q->has & MATCH_QOS_CLASS, q->qos_class & 0xfff))
		return "qos-class";
	if (value_fails(&r->tclasses, q->has & MATCH_TCLASS, q->tclass))
		return "tclass";
	if (value_fails(&r->pkeys, q->has & MATCH_PKEY, q->pkey & 0x7fff))
		return "pkey";
	if (value_fails(&r->sls, q->has & MATCH_SL, q->sl & 0xf))
		return "sl";
	if (value_fails(&r->dest_guids, true, f->ports[q->dst].guid))
		return "target-guid";
	return NULL;
}
