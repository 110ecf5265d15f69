/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compiling match rules to the bitmaps of matcher.h.
 *
 * Ports are put into classes first: ports that are in the same groups, as far
 * as rules name these, are told apart by no rule and share a row.  For values,
 * the ranges of all rules are swept from 0 up, and each place where any of
 * them begins or ends starts a step with a row of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "qos/guids.h"
#include "qos/intern.h"
#include "qos/matcher.h"

struct build {
	struct matcher *m;
	const struct fabric *f;
	const struct group_sets *g;
	struct guid_index guids;
	struct intern chunks, rows;
	VEC(uint64_t) summaries;
};

/* The number of the row with these chunks. */
static uint32_t put_row(struct build *b, const uint32_t *chunks)
{
	size_t known = b->rows.n;
	uint32_t row = intern_put(&b->rows, chunks);

	if (row < known)
		return row;
	for (size_t i = 0; i < b->m->n_summaries; i++)
		*vec_push(&b->summaries) = 0;
	uint64_t *summary = &b->summaries.v[row * b->m->n_summaries];

	for (size_t w = 0; w < b->m->n_chunks * CHUNK_WORDS; w++) {
		const struct chunk *c = b->chunks.items;

		if (c[chunks[w / CHUNK_WORDS]].word[w % CHUNK_WORDS])
			summary[w / 64] |= 1ull << (w % 64);
	}
	return row;
}

static bool has_criterion(const struct policy_rule *r, enum criterion c)
{
	switch (c) {
	case CRIT_SOURCE:
		return r->sources.n;
	case CRIT_DESTINATION:
		return r->destinations.n || r->dest_guids.n;
	case CRIT_EITHER:
		return r->either.n;
	case CRIT_SERVICE_ID:
		return r->service_ids.n;
	case CRIT_QOS_CLASS:
		return r->qos_classes.n;
	case CRIT_TCLASS:
		return r->tclasses.n;
	case CRIT_PKEY:
		return r->pkeys.n;
	default:
		return r->sls.n;
	}
}

static bool is_used(const struct policy *p, enum criterion c)
{
	for (size_t i = 0; i < p->n_rules; i++)
		if (has_criterion(&p->rules[i], c))
			return true;
	return false;
}

/* --- values --- */

static const struct u64_ranges *ranges_of(const struct policy_rule *r, enum criterion c)
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

/* A place where a range of a rule begins (+1), or the one behind its end (-1). */
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

/* The rules that the sweep is within. */
struct front {
	struct chunk *now;
	uint32_t *chunks;	/* their numbers, right where not stale */
	bool *stale;
	int *depth;		/* per rule: ranges that hold the place, which may overlap */
};

static void front_set(struct front *s, uint32_t rule, bool on)
{
	uint64_t *w = &s->now[rule / CHUNK_RULES].word[rule % CHUNK_RULES / 64];
	uint64_t bit = 1ull << (rule % 64);

	*w = on ? *w | bit : *w & ~bit;
	s->stale[rule / CHUNK_RULES] = true;
}

static uint32_t front_row(struct build *b, struct front *s)
{
	for (size_t i = 0; i < b->m->n_chunks; i++) {
		if (s->stale[i])
			s->chunks[i] = intern_put(&b->chunks, &s->now[i]);
		s->stale[i] = false;
	}
	return put_row(b, s->chunks);
}

static void sweep(struct build *b, struct front *s, const struct edges *e, struct steps *out)
{
	size_t i = 0;
	uint64_t at = 0;

	do {
		for (; i < e->n && e->v[i].at == at; i++) {
			int *depth = &s->depth[e->v[i].rule];

			*depth += e->v[i].change;
			front_set(s, e->v[i].rule, *depth > 0);
		}
		steps_add(out, at, front_row(b, s));
		if (i < e->n)
			at = e->v[i].at;
	} while (i < e->n);
}

/* The rows of all values of a criterion, and that of its absence. */
static void build_steps(struct build *b, enum criterion c, struct steps *out)
{
	const struct policy *p = b->m->p;
	struct edges e = { 0 };
	struct front s = {
		.now = xcalloc(b->m->n_chunks, sizeof(*s.now)),
		.chunks = xcalloc(b->m->n_chunks, sizeof(*s.chunks)),
		.stale = xmalloc(b->m->n_chunks),
		.depth = xcalloc(p->n_rules, sizeof(*s.depth)),
	};

	memset(s.stale, true, b->m->n_chunks);
	for (uint32_t i = 0; i < p->n_rules; i++) {
		if (has_criterion(&p->rules[i], c))
			add_edges(&e, i, ranges_of(&p->rules[i], c));
		else
			front_set(&s, i, true);
	}
	qsort(e.v, e.n, sizeof(*e.v), compare_edges);
	b->m->absent[c] = front_row(b, &s);
	sweep(b, &s, &e, out);
	vec_free(&e);
	free(s.now);
	free(s.chunks);
	free(s.stale);
	free(s.depth);
}

static void build_table(struct build *b, enum criterion c, uint32_t n_values)
{
	struct steps s = { 0 };

	build_steps(b, c, &s);
	b->m->by_value[c] = xcalloc(n_values, sizeof(uint32_t));
	for (size_t i = 0; i < s.start.n; i++) {
		uint64_t end = i + 1 < s.start.n ? s.start.v[i + 1] : n_values;

		for (uint64_t v = s.start.v[i]; v < end && v < n_values; v++)
			b->m->by_value[c][v] = s.row.v[i];
	}
	steps_free(&s);
}

/* --- ports --- */

/* A partition of the end ports, refined set by set. */
struct classes {
	uint32_t *of_port;
	VEC(uint32_t) size;	/* per class: its ports */
	VEC(uint32_t) split;	/* per class: where its ports in the present set go */
	VEC(uint32_t) touched;	/* the classes that have such */
	VEC(uint32_t) empty;	/* classes to be used again */
	uint32_t n;		/* once numbered: those that are not empty */
	uint32_t *port;		/* per class: one of its ports … */
	uint64_t *ports;	/* … and these as a set */
};

#define NO_SPLIT UINT32_MAX

static uint32_t new_class(struct classes *c)
{
	if (c->empty.n)
		return c->empty.v[--c->empty.n];
	*vec_push(&c->size) = 0;
	*vec_push(&c->split) = NO_SPLIT;
	return (uint32_t)c->size.n - 1;
}

static void move_port(struct classes *c, uint32_t port)
{
	uint32_t old = c->of_port[port];

	if (c->split.v[old] == NO_SPLIT) {
		uint32_t fresh = new_class(c);	/* may move the arrays */

		c->split.v[old] = fresh;
		*vec_push(&c->touched) = old;
	}
	c->of_port[port] = c->split.v[old];
	c->size.v[c->of_port[port]]++;
	c->size.v[old]--;
}

/* Afterwards each class is wholly inside the set or outside. */
static void refine(struct classes *c, const struct group_sets *g, const uint64_t *set)
{
	const uint64_t *end_ports = group_set(g, g->n_groups - 1);

	for (uint32_t i = 0; i < g->words; i++)
		for (uint64_t w = set[i] & end_ports[i]; w; w &= w - 1)
			move_port(c, i * 64 + (uint32_t)__builtin_ctzll(w));
	for (size_t i = 0; i < c->touched.n; i++) {
		uint32_t old = c->touched.v[i];

		c->split.v[old] = NO_SPLIT;
		if (!c->size.v[old])
			*vec_push(&c->empty) = old;
	}
	c->touched.n = 0;
}

static const struct policy_names *names_of(const struct policy_rule *r, enum criterion c)
{
	return c == CRIT_SOURCE ? &r->sources : c == CRIT_DESTINATION ? &r->destinations
								      : &r->either;
}

/* The ports which a rule that has both target-guid and groups leaves. */
static void and_guids(const struct build *b, const struct policy_rule *r, bool groups,
		      uint64_t *set, uint64_t *scratch)
{
	memset(scratch, 0, b->g->words * sizeof(*scratch));
	for (size_t i = 0; i < r->dest_guids.n; i++)
		guids_add_range(&b->guids, &r->dest_guids.v[i], scratch);
	for (uint32_t i = 0; i < b->g->words; i++)
		set[i] = groups ? set[i] & scratch[i] : scratch[i];
}

/* The ports that satisfy a rule's criterion, which it has. */
static void rule_ports(const struct build *b, const struct policy_rule *r, enum criterion c,
		       uint64_t *set, uint64_t *scratch)
{
	const struct policy_names *names = names_of(r, c);

	memset(set, 0, b->g->words * sizeof(*set));
	for (size_t i = 0; i < names->n; i++) {
		uint32_t group = groups_find(b->g, b->m->p, names->v[i].s);

		if (group == UINT32_MAX)
			continue;
		for (uint32_t w = 0; w < b->g->words; w++)
			set[w] |= group_set(b->g, group)[w];
	}
	if (c == CRIT_DESTINATION && r->dest_guids.n)
		and_guids(b, r, names->n, set, scratch);
}

/* Refines by every group that rules name, once, and by every rule's target GUIDs. */
static void find_classes(struct build *b, enum criterion c, struct classes *cl)
{
	const struct policy *p = b->m->p;
	bool *done = xcalloc(b->g->n_groups, sizeof(*done));
	uint64_t *set = xcalloc(b->g->words, sizeof(*set));

	cl->of_port = xcalloc(b->f->n_ports, sizeof(*cl->of_port));
	uint32_t first = new_class(cl);

	cl->size.v[first] = (uint32_t)b->guids.n;
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct policy_names *names = names_of(&p->rules[i], c);

		for (size_t k = 0; k < names->n; k++) {
			uint32_t group = groups_find(b->g, p, names->v[k].s);

			if (group == UINT32_MAX || done[group])
				continue;
			done[group] = true;
			refine(cl, b->g, group_set(b->g, group));
		}
		if (c == CRIT_DESTINATION && p->rules[i].dest_guids.n) {
			and_guids(b, &p->rules[i], false, set, set);
			refine(cl, b->g, set);
		}
	}
	free(done);
	free(set);
}

/* Numbers the classes 0 .. n - 1 and picks a port of each. */
static void number_classes(struct build *b, struct classes *cl)
{
	uint32_t *number = xmalloc(cl->size.n * sizeof(*number));

	for (size_t i = 0; i < cl->size.n; i++)
		number[i] = UINT32_MAX;
	cl->port = xcalloc(cl->size.n, sizeof(*cl->port));
	cl->ports = xcalloc(b->g->words, sizeof(*cl->ports));
	for (size_t i = 0; i < b->guids.n; i++) {
		uint32_t port = b->guids.v[i].port;
		uint32_t *c = &number[cl->of_port[port]];

		if (*c == UINT32_MAX) {
			*c = cl->n++;
			cl->port[*c] = port;
			cl->ports[port >> 6] |= 1ull << (port & 63);
		}
		cl->of_port[port] = *c;
	}
	free(number);
}

static void classes_free(struct classes *cl)
{
	free(cl->of_port);
	free(cl->port);
	free(cl->ports);
	vec_free(&cl->size);
	vec_free(&cl->split);
	vec_free(&cl->touched);
	vec_free(&cl->empty);
}

/* One chunk of rules for all classes: out[class]. */
static void fill_chunk(struct build *b, enum criterion c, const struct classes *cl,
		       size_t chunk, struct chunk *out, uint64_t *set, uint64_t *scratch)
{
	const struct policy *p = b->m->p;
	struct chunk without = { { 0 } };
	size_t first = chunk * CHUNK_RULES, end = first + CHUNK_RULES;

	if (end > p->n_rules)
		end = p->n_rules;
	for (size_t i = first; i < end; i++)
		if (!has_criterion(&p->rules[i], c))
			without.word[(i - first) / 64] |= 1ull << (i % 64);
	for (uint32_t k = 0; k < cl->n; k++)
		out[k] = without;
	for (size_t i = first; i < end; i++) {
		if (!has_criterion(&p->rules[i], c))
			continue;
		rule_ports(b, &p->rules[i], c, set, scratch);
		for (uint32_t w = 0; w < b->g->words; w++)
			for (uint64_t s = set[w] & cl->ports[w]; s; s &= s - 1) {
				uint32_t port = w * 64 + (uint32_t)__builtin_ctzll(s);

				out[cl->of_port[port]].word[(i - first) / 64] |= 1ull << (i % 64);
			}
	}
}

/* The row of every class, in an array of the caller's to free. */
static uint32_t *class_rows(struct build *b, enum criterion c, const struct classes *cl)
{
	size_t n_chunks = b->m->n_chunks;
	struct chunk *content = xcalloc(cl->n, sizeof(*content));
	uint32_t *chunks = xcalloc(cl->n * n_chunks, sizeof(*chunks));
	uint32_t *rows = xcalloc(cl->n, sizeof(*rows));
	uint64_t *set = xcalloc(b->g->words, sizeof(*set));
	uint64_t *scratch = xcalloc(b->g->words, sizeof(*scratch));

	for (size_t i = 0; i < n_chunks; i++) {
		fill_chunk(b, c, cl, i, content, set, scratch);
		for (uint32_t k = 0; k < cl->n; k++)
			chunks[k * n_chunks + i] = intern_put(&b->chunks, &content[k]);
	}
	for (uint32_t k = 0; k < cl->n; k++)
		rows[k] = put_row(b, &chunks[k * n_chunks]);
	free(content);
	free(chunks);
	free(set);
	free(scratch);
	return rows;
}

static uint32_t *port_row(struct port_rows *p, enum criterion c)
{
	return c == CRIT_SOURCE ? &p->source : c == CRIT_DESTINATION ? &p->destination
								     : &p->either;
}

static void build_ports(struct build *b, enum criterion c)
{
	struct classes cl = { 0 };

	find_classes(b, c, &cl);
	number_classes(b, &cl);
	uint32_t *rows = class_rows(b, c, &cl);

	for (size_t i = 0; i < b->guids.n; i++) {
		uint32_t port = b->guids.v[i].port;

		*port_row(&b->m->ports[port], c) = rows[cl.of_port[port]];
	}
	free(rows);
	classes_free(&cl);
}

/* --- all of it --- */

static void build_criterion(struct build *b, enum criterion c)
{
	static const uint32_t n_values[CRITERION_COUNT] = {
		[CRIT_QOS_CLASS] = 4096, [CRIT_TCLASS] = 256, [CRIT_PKEY] = 0x8000,
		[CRIT_SL] = IB_SL_COUNT,
	};

	b->m->used |= 1u << c;
	if (c == CRIT_SERVICE_ID) {
		build_steps(b, c, &b->m->service_ids);
		steps_index(&b->m->service_ids);
	} else if (n_values[c]) {
		build_table(b, c, n_values[c]);
	} else {
		build_ports(b, c);
	}
}

struct matcher *matcher_build(const struct policy *p, const struct fabric *f,
			      const struct group_sets *g)
{
	struct matcher *m = xcalloc(1, sizeof(*m));
	struct build b = { .m = m, .f = f, .g = g, .chunks.size = sizeof(struct chunk) };

	m->p = p;
	m->n_chunks = (p->n_rules + CHUNK_RULES - 1) / CHUNK_RULES;
	m->n_summaries = (m->n_chunks * CHUNK_WORDS + 63) / 64;
	m->ports = xcalloc(f->n_ports, sizeof(*m->ports));
	b.rows.size = m->n_chunks * sizeof(*m->rows);
	guids_build(&b.guids, f);
	for (int c = 0; c < CRITERION_COUNT; c++)
		if (is_used(p, (enum criterion)c))
			build_criterion(&b, (enum criterion)c);
	m->chunks = intern_take(&b.chunks);
	m->rows = intern_take(&b.rows);
	m->summaries = b.summaries.v;
	guids_free(&b.guids);
	return m;
}

void matcher_free(struct matcher *m)
{
	if (!m)
		return;
	for (int c = 0; c < CRITERION_COUNT; c++)
		free(m->by_value[c]);
	steps_free(&m->service_ids);
	free(m->chunks);
	free(m->rows);
	free(m->summaries);
	free(m->ports);
	free(m);
}
