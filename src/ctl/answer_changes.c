/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Compares what two policies answer to path queries; answer_changes.h has the contracts. */
#include "ctl/answer_changes.h"

#include <stdlib.h>
#include <string.h>

#include "ctl/port_kinds.h"
#include "lib/iba/sa_records.h"

#define QUERIES_MAX	4096		/* for each two kinds of port */
#define BUDGET		2000000		/* limit of path searches per policy */

/* --- kinds of query --- */

enum field { F_SERVICE_ID, F_QOS_CLASS, F_TCLASS, F_PKEY, F_SL, FIELDS };

static const struct {
	uint64_t bits;		/* component mask bits of the query */
	uint64_t least, most;
} fields[FIELDS] = {
	[F_SERVICE_ID] = { PR_SERVICE_ID_MSB | PR_SERVICE_ID_LSB, 0, UINT64_MAX },
	[F_QOS_CLASS] = { PR_QOS_CLASS, 0, 4095 },
	[F_TCLASS] = { PR_TCLASS, 0, 255 },
	[F_PKEY] = { PR_PKEY, 1, IB_PKEY_DEFAULT },
	[F_SL] = { PR_SL, 0, 15 },
};

static const struct u64_ranges *ranges_of(const struct policy_rule *r, enum field f)
{
	switch (f) {
	case F_SERVICE_ID:
		return &r->service_ids;
	case F_QOS_CLASS:
		return &r->qos_classes;
	case F_TCLASS:
		return &r->tclasses;
	case F_PKEY:
		return &r->pkeys;
	default:
		return &r->sls;
	}
}

/* A value at which the set of rules that match it changes. */
struct edge {
	uint64_t value, add;
};

struct queries {
	VEC(struct edge) edges;
	VEC(uint64_t) values[FIELDS];	/* [field]: one value of each kind */
	VEC(struct path_query) list;
	bool all;
};

static void add_range(struct queries *q, enum field f, uint64_t lo, uint64_t hi, uint64_t hash)
{
	lo = lo < fields[f].least ? fields[f].least : lo;
	*vec_push(&q->edges) = (struct edge){ lo, hash };
	if (hi < fields[f].most)
		*vec_push(&q->edges) = (struct edge){ hi + 1, -hash };
}

static void add_ranges(struct queries *q, enum field f, const struct u64_ranges *r, uint64_t hash)
{
	for (size_t i = 0; i < r->n; i++)
		add_range(q, f, r->v[i].lo, r->v[i].hi, hash);
}

/* A query for such a partition gets another level if it names the SL of the IPoIB group. */
static bool has_own_group_level(const struct policy_partition *part)
{
	return part->ipoib && part->ipoib_level_index != part->level_index;
}

static void add_edges(struct queries *q, enum field f, const struct policy *p, unsigned number)
{
	uint64_t key = 0;

	for (size_t i = 0; i < p->n_rules; i++)
		add_ranges(q, f, ranges_of(&p->rules[i], f), key_hash(number, key++));
	for (size_t i = 0; f == F_PKEY && i < p->n_levels; i++)
		add_ranges(q, f, &p->levels[i].pkeys, key_hash(number, key++));
	for (size_t i = 0; f == F_PKEY && i < p->n_partitions; i++)
		add_range(q, f, p->partitions[i].pkey, p->partitions[i].pkey,
			  key_hash(number, key++));
	for (size_t i = 0; f == F_SL && i < p->n_partitions; i++)
		if (has_own_group_level(&p->partitions[i]))
			add_range(q, f, p->levels[p->partitions[i].ipoib_level_index].sl,
				  p->levels[p->partitions[i].ipoib_level_index].sl,
				  key_hash(number, key++));
}

static int compare_edges(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return x->value < y->value ? -1 : x->value > y->value;
}

/*
 * Finds one value of each kind, including one that no rule matches, for a field that any rule
 * tests.
 */
static void find_values(struct queries *q, enum field f)
{
	struct map64 seen;
	uint64_t sum = 0;
	size_t i = 0;

	if (!q->edges.n)
		return;
	*vec_push(&q->edges) = (struct edge){ fields[f].least, 0 };
	qsort(q->edges.v, q->edges.n, sizeof(*q->edges.v), compare_edges);
	map64_init(&seen, 64);
	while (i < q->edges.n) {
		uint64_t value = q->edges.v[i].value;

		for (; i < q->edges.n && q->edges.v[i].value == value; i++)
			sum += q->edges.v[i].add;
		if (map64_put(&seen, sum, 1) == MAP64_NONE)
			*vec_push(&q->values[f]) = value;
	}
	map64_free(&seen);
}

static void set_field(struct path_query *q, enum field f, uint64_t value)
{
	q->has |= fields[f].bits;
	switch (f) {
	case F_SERVICE_ID:
		q->service_id = value;
		break;
	case F_QOS_CLASS:
		q->qos_class = (uint16_t)value;
		break;
	case F_TCLASS:
		q->tclass = (uint8_t)value;
		break;
	case F_PKEY:
		q->pkey = (uint16_t)(value | IB_PKEY_FULL);
		break;
	default:
		q->sl = (uint8_t)value;
	}
}

/* Adds every combination of values, each field also omitted. */
static void all_queries(struct queries *q, enum field f, const struct path_query *so_far)
{
	struct path_query next;

	if (f == FIELDS) {
		*vec_push(&q->list) = *so_far;
		return;
	}
	all_queries(q, f + 1, so_far);
	for (size_t i = 0; i < q->values[f].n; i++) {
		next = *so_far;
		set_field(&next, f, q->values[f].v[i]);
		all_queries(q, f + 1, &next);
	}
}

/* Adds the query that sets only the fields that one rule tests. */
static void rule_query(struct queries *q, const struct policy_rule *r)
{
	struct path_query *x = vec_push(&q->list);

	*x = (struct path_query){ .has = 0 };
	for (enum field f = 0; f < FIELDS; f++) {
		const struct u64_ranges *ranges = ranges_of(r, f);

		if (ranges->n)
			set_field(x, f, ranges->v[0].lo);
	}
}

static void rules_queries(struct queries *q, const struct policy *p, size_t most)
{
	size_t step = p->n_rules / most + 1;

	for (size_t i = 0; i < p->n_rules; i += step)
		rule_query(q, &p->rules[i]);
}

static void find_queries(struct queries *q, const struct policy *old, const struct policy *new)
{
	const struct path_query plain = { .has = 0 };
	uint64_t product = 1;

	for (enum field f = 0; f < FIELDS; f++) {
		q->edges.n = 0;
		add_edges(q, f, old, 0);
		add_edges(q, f, new, 1);
		find_values(q, f);
		if (product <= QUERIES_MAX)
			product *= 1 + q->values[f].n;
	}
	q->all = product <= QUERIES_MAX;
	if (q->all) {
		all_queries(q, 0, &plain);
		return;
	}
	*vec_push(&q->list) = plain;
	rules_queries(q, old, QUERIES_MAX / 2);
	rules_queries(q, new, QUERIES_MAX / 2);
}

static void queries_free(struct queries *q)
{
	vec_free(&q->edges);
	for (enum field f = 0; f < FIELDS; f++)
		vec_free(&q->values[f]);
	vec_free(&q->list);
}

/* --- querying both policies --- */

struct asking {
	const struct subnet_state *old, *new;
	struct answers *out;
	struct map64 by_move;	/* hash of old and new rule and level -> its change */
	struct map64 moves_beyond;
};

/* Resolves a query, with the LIDs that its level selects. */
static struct answer_side resolve(const struct subnet_state *s, const struct path_query *asked)
{
	struct path_query q = *asked;
	struct answer_side r;
	int bits;

	q.slid = s->plan->lid[q.src];
	q.dlid = s->plan->lid[q.dst];
	r.why = path_resolve(s, &q, &r.a);
	bits = s->policy->p->levels[r.a.level].path_bits;
	if (bits > 0) {
		q.slid = path_lid_by_bits(s->plan, q.src, (unsigned)bits);
		q.dlid = path_lid_by_bits(s->plan, q.dst, (unsigned)bits);
		r.why = path_resolve(s, &q, &r.a);
	}
	return r;
}

static bool same_answer(const struct answer_side *x, const struct answer_side *y)
{
	const struct path_answer *a = &x->a, *b = &y->a;

	if (x->why || y->why)
		return x->why && y->why;	/* a client does not see the reason */
	return a->slid == b->slid && a->dlid == b->dlid && a->pkey == b->pkey && a->sl == b->sl &&
	       a->mtu == b->mtu && a->rate == b->rate && a->life == b->life &&
	       a->tclass == b->tclass;
}

/* Finds or adds the change for this pair of rules and levels; NULL: there are too many. */
static struct answer_change *change_for(struct asking *k, const struct path_answer *old,
					const struct path_answer *new)
{
	uint64_t key = hash64(hash64((uint64_t)old->rule << 32 | new->rule) +
			      ((uint64_t)old->level << 32 | new->level));
	uint32_t i = map64_get(&k->by_move, key);

	if (i != MAP64_NONE)
		return &k->out->changes.v[i];
	if (k->out->changes.n == ANSWER_CHANGES_MAX) {
		if (k->moves_beyond.n < ANSWER_CHANGES_MAX)
			k->out->more += map64_put(&k->moves_beyond, key, 1) == MAP64_NONE;
		return NULL;
	}
	map64_put(&k->by_move, key, (uint32_t)k->out->changes.n);
	*vec_push(&k->out->changes) = (struct answer_change){
		.old_rule = old->rule, .new_rule = new->rule,
		.old_level = old->level, .new_level = new->level,
		.seen = xcalloc(k->out->queries / 64 + 1, sizeof(uint64_t)),
		.last_pair = UINT64_MAX,
	};
	return &k->out->changes.v[k->out->changes.n - 1];
}

/* Counts each query once per change, with one example. */
static void count_change(struct answer_change *c, uint32_t query, const struct answer_example *e)
{
	uint64_t bit = 1ull << (query & 63);

	if (c->seen[query / 64] & bit)
		return;
	c->seen[query / 64] |= bit;
	c->queries++;
	if (c->n_examples < ANSWER_EXAMPLES)
		c->examples[c->n_examples++] = *e;
}

/*
 * Queries both policies for a pair of ports; returns the change that the answers belong to, or
 * NULL.
 */
static struct answer_change *ask(struct asking *k, const struct path_query *query, uint32_t number,
				 uint32_t src, uint32_t dst, bool *differs)
{
	struct answer_example e = { .q = *query };
	struct answer_change *c;

	e.q.src = src;
	e.q.dst = dst;
	e.old = resolve(k->old, &e.q);
	e.new = resolve(k->new, &e.q);
	*differs = !same_answer(&e.old, &e.new);
	c = *differs ? change_for(k, &e.old.a, &e.new.a) : NULL;
	if (c)
		count_change(c, number, &e);
	return c;
}

/* Picks up to four pairs of ports of two kinds, from the first and last port of each. */
static unsigned some_pairs(const struct port_kind *a, const struct port_kind *b, uint32_t pairs[4][2])
{
	const uint32_t from[2] = { a->first, a->last }, to[2] = { b->last, b->first };
	unsigned n = 0;

	for (unsigned i = 0; i < (a->n > 1 ? 2u : 1u); i++)
		for (unsigned j = 0; j < (b->n > 1 ? 2u : 1u); j++)
			if (from[i] != to[j]) {
				pairs[n][0] = from[i];
				pairs[n++][1] = to[j];
			}
	return n;
}

static uint64_t pairs_of(const struct port_kind *a, const struct port_kind *b)
{
	return (uint64_t)a->n * (a == b ? b->n - 1 : b->n);
}

/*
 * Queries up to `most` pairs of ports of two kinds.  Sets *concerned if any answer differs; each
 * change counts the pair of kinds, `number`, once.
 */
static void ask_kinds(struct asking *k, const struct queries *q, const struct port_kind *a,
		      const struct port_kind *b, uint64_t number, unsigned most, bool *concerned)
{
	uint32_t pairs[4][2];
	unsigned n = some_pairs(a, b, pairs);

	for (uint32_t i = 0; i < q->list.n; i++)
		for (unsigned s = 0; s < n && s < most; s++) {
			bool differs;
			struct answer_change *c = ask(k, &q->list.v[i], i, pairs[s][0],
						      pairs[s][1], &differs);

			*concerned |= differs;
			if (c && c->last_pair != number) {
				c->last_pair = number;
				c->pairs += pairs_of(a, b);
			}
		}
}

static int most_pairs_first(const void *a, const void *b)
{
	const struct answer_change *x = a, *y = b;

	if (x->pairs != y->pairs)
		return x->pairs > y->pairs ? -1 : 1;
	if (x->old_rule != y->old_rule)
		return x->old_rule < y->old_rule ? -1 : 1;
	return x->new_rule < y->new_rule ? -1 : x->new_rule > y->new_rule;
}

/* Queries all pairs of kinds or, if that exceeds BUDGET, a sample of one pair out of `step`. */
static void ask_all(struct asking *k, const struct port_kinds *kinds, const struct queries *q)
{
	uint64_t n = kinds->list.n, total = n * n, ports = 0;
	unsigned most = total * q->list.n * 4 <= BUDGET ? 4 : 1;
	uint64_t step = total * q->list.n * most / BUDGET + 1;

	for (size_t i = 0; i < n; i++)
		ports += kinds->list.v[i].n;
	k->out->pairs = ports ? ports * (ports - 1) : 0;
	k->out->all_kinds = step == 1;
	for (uint64_t i = 0; i < total; i += step) {
		uint64_t at = i + hash64(i) % step;
		const struct port_kind *a, *b;
		bool concerned = false;

		if (at >= total)
			break;
		a = &kinds->list.v[at / n];
		b = &kinds->list.v[at % n];
		ask_kinds(k, q, a, b, at, most, &concerned);
		if (concerned)
			k->out->pairs_changed += pairs_of(a, b);
	}
}

void answers_compare(const struct subnet_state *old, const struct subnet_state *new,
		     struct answers *out)
{
	struct asking k = { .old = old, .new = new, .out = out };
	struct port_kinds kinds;
	struct queries queries = { .all = false };

	memset(out, 0, sizeof(*out));
	map64_init(&k.by_move, 64);
	map64_init(&k.moves_beyond, 64);
	port_kinds_find(&kinds, (const struct plan *[]){ old->plan, new->plan }, 2, false);
	find_queries(&queries, old->policy->p, new->policy->p);
	out->kinds = (uint32_t)kinds.list.n;
	out->queries = (uint32_t)queries.list.n;
	out->all_queries = queries.all;
	ask_all(&k, &kinds, &queries);
	if (out->changes.n)
		qsort(out->changes.v, out->changes.n, sizeof(*out->changes.v), most_pairs_first);
	queries_free(&queries);
	port_kinds_free(&kinds);
	map64_free(&k.by_move);
	map64_free(&k.moves_beyond);
}

void answers_free(struct answers *a)
{
	for (size_t i = 0; i < a->changes.n; i++)
		free(a->changes.v[i].seen);
	vec_free(&a->changes);
}
