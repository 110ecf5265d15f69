/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compiles match rules into the rows of matcher.h.
 *
 * For rows of values, the ranges of all rules are swept from 0 up; each value where a range begins or ends
 * starts a step with a row of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "qos/match/match_build.h"

/* --- criteria of a rule --- */

const struct u64_ranges *ranges_of(const struct policy_rule *r, enum criterion c)
{
	switch (c) {
	case CRIT_SERVICE_ID:
		return &r->service_ids;
	case CRIT_QOS_CLASS:
		return &r->qos_classes;
	case CRIT_TCLASS:
		return &r->tclasses;
	case CRIT_PKEY:
		return &r->pkeys;
	default:
		return &r->sls;
	}
}

const struct policy_names *names_of(const struct policy_rule *r, enum criterion c)
{
	return c == CRIT_SOURCE ? &r->sources : c == CRIT_DESTINATION ? &r->destinations
								      : &r->either;
}

bool has_criterion(const struct policy_rule *r, enum criterion c)
{
	if (c == CRIT_DESTINATION && r->dest_guids.n)
		return true;
	return c <= CRIT_EITHER ? names_of(r, c)->n : ranges_of(r, c)->n;
}

uint32_t value_count(enum criterion c)
{
	static const uint32_t n[CRITERION_COUNT] = {
		[CRIT_QOS_CLASS] = 4096, [CRIT_TCLASS] = 256, [CRIT_PKEY] = 0x8000,
		[CRIT_SL] = IB_SL_COUNT,
	};

	return n[c];
}

static bool has_any_criterion(const struct policy_rule *r)
{
	for (int c = 0; c < CRITERION_COUNT; c++)
		if (has_criterion(r, (enum criterion)c))
			return true;
	return false;
}

/* --- rows --- */

static const struct row_part *part_of(const struct rule_group *g, enum criterion c)
{
	if (c == CRIT_EITHER)
		return g->has_either ? &g->either : NULL;
	for (unsigned i = 0; i < g->n_parts; i++)
		if (g->part[i].criterion == c)
			return &g->part[i];
	return NULL;
}

static void summarize(const struct row_build *r, const uint32_t *chunks, uint64_t *summary)
{
	const struct matcher *m = r->b->m;
	const struct chunk *content = r->b->chunks.items;

	for (uint32_t i = 0; i < m->n_groups; i++) {
		const struct row_part *part = part_of(&m->groups[i], r->criterion);

		if (!part)
			continue;
		for (uint32_t w = 0; w < m->groups[i].n_chunks * CHUNK_WORDS; w++) {
			uint32_t chunk = chunks[part->chunk + w / CHUNK_WORDS];

			if (content[chunk].word[w % CHUNK_WORDS])
				summary[part->summary + w / 64] |= 1ull << (w % 64);
		}
	}
}

uint32_t put_row(struct row_build *r, const uint32_t *chunks)
{
	uint32_t n_summaries = r->b->m->rows[r->criterion].n_summaries;
	size_t known = r->rows.n;
	uint32_t row = intern_put(&r->rows, chunks);

	if (row < known)
		return row;
	for (uint32_t i = 0; i < n_summaries; i++)
		*vec_push(&r->summaries) = 0;
	summarize(r, chunks, &r->summaries.v[(size_t)row * n_summaries]);
	return row;
}

/* --- values --- */

/* A value where a rule's range begins (+1), or the value after its end (-1). */
struct edge {
	uint64_t at;
	uint32_t rule;
	int change;
};
struct edges {
	struct edge *v;
	size_t n, cap;
};

static int compare_edges(const void *pa, const void *pb)
{
	const struct edge *a = pa, *b = pb;

	return a->at < b->at ? -1 : a->at > b->at;
}

static void add_edges(struct edges *e, uint32_t rule, const struct u64_ranges *r)
{
	for (size_t i = 0; i < r->n; i++) {
		*vec_push(e) = (struct edge){ r->v[i].lo, rule, 1 };
		if (r->v[i].hi != UINT64_MAX)
			*vec_push(e) = (struct edge){ r->v[i].hi + 1, rule, -1 };
	}
}

/* State of the sweep at its current value. */
struct front {
	struct chunk *now;
	uint32_t *chunks;	/* numbers of the chunks in `now`; valid where not stale */
	bool *stale;
	int *depth;		/* [rule]: number of its ranges that contain the value; ranges may overlap */
};

static void front_set(struct front *s, uint32_t place, bool on)
{
	uint64_t *w = &s->now[place / CHUNK_SLOTS].word[place % CHUNK_SLOTS / 64];
	uint64_t bit = 1ull << (place % 64);

	*w = on ? *w | bit : *w & ~bit;
	s->stale[place / CHUNK_SLOTS] = true;
}

static uint32_t front_row(struct row_build *r, struct front *s)
{
	for (uint32_t i = 0; i < r->b->m->rows[r->criterion].n_chunks; i++) {
		if (s->stale[i])
			s->chunks[i] = intern_put(&r->b->chunks, &s->now[i]);
		s->stale[i] = false;
	}
	return put_row(r, s->chunks);
}

static void sweep(struct row_build *r, struct front *s, const struct edges *e, struct steps *out)
{
	size_t i = 0;
	uint64_t at = 0;

	do {
		for (; i < e->n && e->v[i].at == at; i++) {
			int *depth = &s->depth[e->v[i].rule];

			*depth += e->v[i].change;
			front_set(s, r->place[e->v[i].rule], *depth > 0);
		}
		steps_add(out, at, front_row(r, s));
		if (i < e->n)
			at = e->v[i].at;
	} while (i < e->n);
}

/* Starts with the rules that lack the criterion; their row is also the one for a query without the field. */
static void build_steps(struct row_build *r, struct steps *out)
{
	const struct build *b = r->b;
	uint32_t n_chunks = b->m->rows[r->criterion].n_chunks;
	struct edges e = { 0 };
	struct front s = {
		.now = xcalloc(n_chunks, sizeof(*s.now)),
		.chunks = xcalloc(n_chunks, sizeof(*s.chunks)),
		.stale = xmalloc(n_chunks),
		.depth = xcalloc(b->n_rules, sizeof(*s.depth)),
	};

	memset(s.stale, true, n_chunks);
	for (uint32_t i = 0; i < b->n_rules; i++) {
		if (has_criterion(&b->p->rules[i], r->criterion))
			add_edges(&e, i, ranges_of(&b->p->rules[i], r->criterion));
		else if (r->place[i] != NO_PLACE)
			front_set(&s, r->place[i], true);
	}
	qsort(e.v, e.n, sizeof(*e.v), compare_edges);
	b->m->absent[r->criterion] = front_row(r, &s);
	sweep(r, &s, &e, out);
	vec_free(&e);
	free(s.now);
	free(s.chunks);
	free(s.stale);
	free(s.depth);
}

static uint32_t *build_table(struct row_build *r, uint32_t n_values)
{
	uint32_t *table = xcalloc(n_values, sizeof(*table));
	struct steps s = { 0 };

	build_steps(r, &s);
	for (size_t i = 0; i < s.start.n; i++) {
		uint64_t end = i + 1 < s.start.n ? s.start.v[i + 1] : n_values;

		for (uint64_t v = s.start.v[i]; v < end && v < n_values; v++)
			table[v] = s.row.v[i];
	}
	steps_free(&s);
	return table;
}

/* --- build --- */

static uint32_t *no_places(size_t n)
{
	uint32_t *v = xmalloc(n * sizeof(*v));

	for (size_t i = 0; i < n; i++)
		v[i] = NO_PLACE;
	return v;
}

/* Maps rules to bits in the rows of the criterion and back. */
static void find_places(struct row_build *r)
{
	const struct matcher *m = r->b->m;

	r->place = no_places(r->b->n_rules);
	r->rule_at = no_places((size_t)m->rows[r->criterion].n_chunks * CHUNK_SLOTS);
	for (uint32_t i = 0; i < m->n_groups; i++) {
		const struct rule_group *g = &m->groups[i];
		const struct row_part *part = part_of(g, r->criterion);

		for (uint32_t slot = 0; part && slot < g->n_rules; slot++) {
			uint32_t place = part->chunk * CHUNK_SLOTS + slot;

			r->place[g->rules[slot]] = place;
			r->rule_at[place] = g->rules[slot];
		}
	}
}

static void build_criterion(struct build *b, enum criterion c)
{
	struct rows *rows = &b->m->rows[c];
	struct row_build r = {
		.b = b, .criterion = c, .rows.size = rows->n_chunks * sizeof(*rows->chunks),
	};

	find_places(&r);
	if (c == CRIT_SERVICE_ID) {
		build_steps(&r, &b->m->service_ids);
		steps_index(&b->m->service_ids);
	} else if (value_count(c)) {
		b->m->by_value[c] = build_table(&r, value_count(c));
	} else {
		build_ports(&r);
	}
	rows->chunks = intern_take(&r.rows);
	rows->summaries = r.summaries.v;
	free(r.place);
	free(r.rule_at);
}

struct matcher *matcher_build(const struct policy *p, const struct fabric *f,
			      const struct group_sets *g)
{
	struct matcher *m = xcalloc(1, sizeof(*m));
	struct build b = { .m = m, .p = p, .f = f, .g = g, .chunks.size = sizeof(struct chunk) };

	m->p = p;
	m->otherwise = MATCH_NO_RULE;
	m->ports = xcalloc(f->n_ports, sizeof(*m->ports));
	while (b.n_rules < p->n_rules && has_any_criterion(&p->rules[b.n_rules]))
		b.n_rules++;
	if (b.n_rules < p->n_rules)
		m->otherwise = b.n_rules;
	guids_build(&b.guids, f);
	order_rules(&b);
	for (int c = 0; c < CRITERION_COUNT; c++)
		if (m->used & 1u << c)
			build_criterion(&b, (enum criterion)c);
	m->chunks = intern_take(&b.chunks);
	guids_free(&b.guids);
	return m;
}

void matcher_free(struct matcher *m)
{
	if (!m)
		return;
	for (int c = 0; c < CRITERION_COUNT; c++) {
		free(m->by_value[c]);
		free(m->rows[c].chunks);
		free(m->rows[c].summaries);
	}
	for (uint32_t i = 0; i < m->n_groups; i++) {
		free(m->groups[i].rules);
		free(m->groups[i].words);
	}
	steps_free(&m->service_ids);
	free(m->groups);
	free(m->chunks);
	free(m->ports);
	free(m);
}
