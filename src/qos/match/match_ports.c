/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Builds the rows of ports in the bitmaps of match rules.
 *
 * Ports in the same groups, as far as rules name these, are equal to every rule: they form a class, which
 * has one row.
 */
#include <stdlib.h>
#include <string.h>

#include "qos/match/match_build.h"

/* A partition of the end ports into classes, refined set by set. */
struct classes {
	uint32_t *of_port;
	size_t n_ports;
	VEC(uint32_t) size;	/* [class]: number of its ports */
	VEC(uint32_t) split;	/* [class]: class that its ports in the current set move to */
	VEC(uint32_t) touched;	/* classes with ports in the current set */
	VEC(uint32_t) empty;	/* class numbers free for reuse */
	uint32_t n;		/* number of classes that are not empty */
	uint64_t *ports;	/* bits: one port of each class */
};

#define NO_SPLIT UINT32_MAX

static uint32_t new_class(struct classes *c)
{
	c->n++;
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

/* Splits classes so that each is entirely inside the set or outside. */
static void refine(struct classes *c, const struct group_sets *g, const uint64_t *set)
{
	const uint64_t *end_ports = group_set(g, g->n_groups - 1);

	if (c->n == c->n_ports)
		return;		/* every port is alone already */
	for (uint32_t i = 0; i < g->words; i++)
		for (uint64_t w = set[i] & end_ports[i]; w; w &= w - 1)
			move_port(c, i * 64 + (uint32_t)__builtin_ctzll(w));
	for (size_t i = 0; i < c->touched.n; i++) {
		uint32_t old = c->touched.v[i];

		c->split.v[old] = NO_SPLIT;
		if (c->size.v[old])
			continue;
		*vec_push(&c->empty) = old;
		c->n--;
	}
	c->touched.n = 0;
}

static void guid_ports(const struct build *b, const struct policy_rule *r, uint64_t *set)
{
	memset(set, 0, b->g->words * sizeof(*set));
	for (size_t i = 0; i < r->dest_guids.n; i++)
		guids_add_range(&b->guids, &r->dest_guids.v[i], set);
}

/* Collects the ports that satisfy a rule's criterion; the rule must have it. */
static void rule_ports(const struct build *b, const struct policy_rule *r, enum criterion c,
		       uint64_t *set, uint64_t *scratch)
{
	const struct policy_names *names = names_of(r, c);
	bool by_guid = c == CRIT_DESTINATION && r->dest_guids.n;

	memset(set, 0, b->g->words * sizeof(*set));
	for (size_t i = 0; i < names->n; i++) {
		uint32_t group = groups_find(b->g, b->p, names->v[i].s);

		if (group == UINT32_MAX)
			continue;
		for (uint32_t w = 0; w < b->g->words; w++)
			set[w] |= group_set(b->g, group)[w];
	}
	if (!by_guid)
		return;
	guid_ports(b, r, scratch);
	for (uint32_t w = 0; w < b->g->words; w++)
		set[w] = names->n ? set[w] & scratch[w] : scratch[w];
}

/* Refines the classes by every group that rules name, once, and by every rule's target GUIDs. */
static void find_classes(struct build *b, enum criterion c, struct classes *cl)
{
	bool *done = xcalloc(b->g->n_groups, sizeof(*done));
	uint64_t *set = xcalloc(b->g->words, sizeof(*set));
	uint32_t first = new_class(cl);

	cl->of_port = xcalloc(b->f->n_ports, sizeof(*cl->of_port));
	cl->n_ports = b->guids.n;
	cl->size.v[first] = (uint32_t)b->guids.n;
	for (uint32_t i = 0; i < b->n_rules; i++) {
		const struct policy_rule *r = &b->p->rules[i];
		const struct policy_names *names = names_of(r, c);

		for (size_t k = 0; k < names->n; k++) {
			uint32_t group = groups_find(b->g, b->p, names->v[k].s);

			if (group == UINT32_MAX || done[group])
				continue;
			done[group] = true;
			refine(cl, b->g, group_set(b->g, group));
		}
		if (c == CRIT_DESTINATION && r->dest_guids.n) {
			guid_ports(b, r, set);
			refine(cl, b->g, set);
		}
	}
	free(done);
	free(set);
}

/* Numbers the classes 0 .. n - 1 and picks one port of each. */
static void number_classes(struct build *b, struct classes *cl)
{
	uint32_t *number = xmalloc(cl->size.n * sizeof(*number)), n = 0;

	for (size_t i = 0; i < cl->size.n; i++)
		number[i] = UINT32_MAX;
	cl->ports = xcalloc(b->g->words, sizeof(*cl->ports));
	for (size_t i = 0; i < b->guids.n; i++) {
		uint32_t port = b->guids.v[i].port;
		uint32_t *c = &number[cl->of_port[port]];

		if (*c == UINT32_MAX) {
			*c = n++;
			cl->ports[port >> 6] |= 1ull << (port & 63);
		}
		cl->of_port[port] = *c;
	}
	free(number);
}

static void set_slot(struct chunk *c, uint32_t slot)
{
	c->word[slot / 64] |= 1ull << (slot % 64);
}

/* Sets a rule's slot in the chunk of each class that satisfies it. */
static void fill_slot(const struct classes *cl, uint32_t words, const uint64_t *set,
		      uint32_t slot, struct chunk *out)
{
	for (uint32_t w = 0; w < words; w++)
		for (uint64_t s = set[w] & cl->ports[w]; s; s &= s - 1)
			set_slot(&out[cl->of_port[w * 64 + (uint32_t)__builtin_ctzll(s)]], slot);
}

/* Fills in one chunk of the rows of all classes: out[class]. */
static void fill_chunk(const struct row_build *r, const struct classes *cl, uint32_t chunk,
		       struct chunk *out, uint64_t *set, uint64_t *scratch)
{
	const struct build *b = r->b;
	const uint32_t *rule_at = &r->rule_at[chunk * CHUNK_SLOTS];

	memset(out, 0, cl->n * sizeof(*out));
	for (uint32_t slot = 0; slot < CHUNK_SLOTS; slot++) {
		if (rule_at[slot] == NO_PLACE)
			continue;
		const struct policy_rule *rule = &b->p->rules[rule_at[slot]];

		if (has_criterion(rule, r->criterion)) {
			rule_ports(b, rule, r->criterion, set, scratch);
			fill_slot(cl, b->g->words, set, slot, out);
		} else {
			fill_slot(cl, b->g->words, cl->ports, slot, out);
		}
	}
}

/* [class]: its row; the caller frees the array. */
static uint32_t *class_rows(struct row_build *r, const struct classes *cl)
{
	struct build *b = r->b;
	uint32_t n_chunks = b->m->rows[r->criterion].n_chunks;
	struct chunk *content = xcalloc(cl->n, sizeof(*content));
	uint32_t *chunks = xcalloc((size_t)cl->n * n_chunks, sizeof(*chunks));
	uint32_t *rows = xcalloc(cl->n, sizeof(*rows));
	uint64_t *set = xcalloc(b->g->words, sizeof(*set));
	uint64_t *scratch = xcalloc(b->g->words, sizeof(*scratch));

	for (uint32_t i = 0; i < n_chunks; i++) {
		fill_chunk(r, cl, i, content, set, scratch);
		for (uint32_t k = 0; k < cl->n; k++)
			chunks[(size_t)k * n_chunks + i] = intern_put(&b->chunks, &content[k]);
	}
	for (uint32_t k = 0; k < cl->n; k++)
		rows[k] = put_row(r, &chunks[(size_t)k * n_chunks]);
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

void build_ports(struct row_build *r)
{
	struct build *b = r->b;
	struct classes cl = { 0 };

	find_classes(b, r->criterion, &cl);
	number_classes(b, &cl);
	uint32_t *rows = class_rows(r, &cl);

	for (size_t i = 0; i < b->guids.n; i++) {
		uint32_t port = b->guids.v[i].port;

		*port_row(&b->m->ports[port], r->criterion) = rows[cl.of_port[port]];
	}
	free(rows);
	free(cl.of_port);
	free(cl.ports);
	vec_free(&cl.size);
	vec_free(&cl.split);
	vec_free(&cl.touched);
	vec_free(&cl.empty);
}
