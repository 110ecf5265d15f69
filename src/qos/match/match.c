/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers queries from the bitmaps, and tests single rules for reference.
 *
 * matcher.h describes the bitmaps; match_order.c and match_build.c build them.
 */

#include "qos/match/matcher.h"

/* The row that a query selects for one criterion. */
struct row {
	const uint64_t *summaries;
	const uint32_t *chunks;
};

/* [criterion], if any rule has it; CRIT_EITHER: the row of the source */
struct view {
	struct row row[CRITERION_COUNT + 1];
};
#define EITHER_DST CRITERION_COUNT	/* index of the row of the destination */

static inline struct row row_at(const struct matcher *m, enum criterion c, uint32_t row)
{
	const struct rows *r = &m->rows[c];

	return (struct row){
		r->summaries + (size_t)row * r->n_summaries, r->chunks + (size_t)row * r->n_chunks,
	};
}

static inline void look_up_value(struct view *v, const struct matcher *m, enum criterion c,
				 bool carried, unsigned value)
{
	if (m->used & 1u << c)
		v->row[c] = row_at(m, c, carried ? m->by_value[c][value] : m->absent[c]);
}

static inline void look_up(struct view *v, const struct matcher *m, const struct match_query *q)
{
	const struct port_rows *src = &m->ports[q->src], *dst = &m->ports[q->dst];

	if (m->used & 1u << CRIT_SOURCE)
		v->row[CRIT_SOURCE] = row_at(m, CRIT_SOURCE, src->source);
	if (m->used & 1u << CRIT_DESTINATION)
		v->row[CRIT_DESTINATION] = row_at(m, CRIT_DESTINATION, dst->destination);
	if (m->used & 1u << CRIT_EITHER) {
		v->row[CRIT_EITHER] = row_at(m, CRIT_EITHER, src->either);
		v->row[EITHER_DST] = row_at(m, CRIT_EITHER, dst->either);
	}
	if (m->used & 1u << CRIT_SERVICE_ID)
		v->row[CRIT_SERVICE_ID] =
			row_at(m, CRIT_SERVICE_ID, q->has & MATCH_SERVICE_ID
						   ? steps_find(&m->service_ids, q->service_id)
						   : m->absent[CRIT_SERVICE_ID]);
	look_up_value(v, m, CRIT_QOS_CLASS, q->has & MATCH_QOS_CLASS, q->qos_class & 0xfff);
	look_up_value(v, m, CRIT_TCLASS, q->has & MATCH_TCLASS, q->tclass);
	look_up_value(v, m, CRIT_PKEY, q->has & MATCH_PKEY, q->pkey & 0x7fff);
	look_up_value(v, m, CRIT_SL, q->has & MATCH_SL, q->sl & 0xf);
}

/* Bit k: word 64 * i + k of the group may have a rule that satisfies every criterion. */
static inline uint64_t candidates(const struct view *v, const struct rule_group *g, uint32_t i)
{
	uint64_t c = ~0ull;

	for (unsigned k = 0; k < g->n_parts; k++)
		c &= v->row[g->part[k].criterion].summaries[g->part[k].summary + i];
	if (g->has_either)
		c &= v->row[CRIT_EITHER].summaries[g->either.summary + i] |
		     v->row[EITHER_DST].summaries[g->either.summary + i];
	return c;
}

static inline uint64_t row_word(const struct matcher *m, const struct row *r, uint32_t part,
				uint32_t w)
{
	return m->chunks[r->chunks[part + w / CHUNK_WORDS]].word[w % CHUNK_WORDS];
}

static inline uint64_t met(const struct matcher *m, const struct view *v,
			   const struct rule_group *g, uint32_t w)
{
	uint64_t r = ~0ull;

	for (unsigned k = 0; k < g->n_parts; k++)
		r &= row_word(m, &v->row[g->part[k].criterion], g->part[k].chunk, w);
	if (g->has_either)
		r &= row_word(m, &v->row[CRIT_EITHER], g->either.chunk, w) |
		     row_word(m, &v->row[EITHER_DST], g->either.chunk, w);
	return r;
}

/* The lowest matching rule of the group, or best if that is lower. */
static inline uint32_t lowest_met(const struct matcher *m, const struct view *v,
				  const struct rule_group *g, uint32_t best)
{
	for (uint32_t i = 0; i < g->n_summaries; i++) {
		for (uint64_t c = candidates(v, g, i); c; c &= c - 1) {
			uint32_t w = i * 64 + (uint32_t)__builtin_ctzll(c);

			if (g->words[w].lowest >= best)
				continue;
			for (uint64_t r = met(m, v, g, w); r; r &= r - 1) {
				uint32_t rule = g->rules[w * 64 + (uint32_t)__builtin_ctzll(r)];

				if (rule < best)
					best = rule;
				if (g->words[w].ascending)
					break;
			}
		}
	}
	return best;
}

uint32_t matcher_first(const struct matcher *m, const struct match_query *q)
{
	uint32_t best = m->otherwise;
	struct view v;

	if (!m->n_groups)
		return best;
	look_up(&v, m, q);
	for (uint32_t i = 0; i < m->n_groups && m->groups[i].lowest < best; i++)
		best = lowest_met(m, &v, &m->groups[i], best);
	return best;
}

uint32_t matcher_level(const struct matcher *m, const struct match_query *q, uint32_t *rule)
{
	*rule = matcher_first(m, q);
	return *rule == MATCH_NO_RULE ? m->p->default_level : m->p->rules[*rule].level;
}

/* --- single rules, without bitmaps --- */

/* Whether the rule has the criterion and the value does not satisfy it. */
static bool value_fails(const struct u64_ranges *r, bool carried, uint64_t value)
{
	return r->n && !(carried && u64_ranges_have(r, value));
}

const char *match_rule_fails(const struct policy *p, const struct fabric *f,
			     const struct group_sets *g, uint32_t rule,
			     const struct match_query *q)
{
	const struct policy_rule *r = &p->rules[rule];

	if (r->sources.n && !groups_any_has(g, p, &r->sources, q->src))
		return "source";
	if (r->destinations.n && !groups_any_has(g, p, &r->destinations, q->dst))
		return "destination";
	if (r->either.n && !groups_any_has(g, p, &r->either, q->src) &&
	    !groups_any_has(g, p, &r->either, q->dst))
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
