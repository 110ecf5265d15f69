/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes P_Key tables from lists of P_Keys and the indexes that these had, and stores equal tables
 * once.
 *
 * The tables of enforcing switch ports follow from those of the end ports that they face.  This
 * file owns the remembered indexes (pkey_places).
 *
 * A P_Key keeps its index as long as the port holds it, in whatever form.  If a port is both a full
 * and a limited member, the full entry comes first: adapters that keep one entry per partition
 * (qosd-hardware(7)) keep the first.  A port that already has both entries in the other order keeps
 * that order.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "plan/partitions/pkey_parts.h"

#define NO_TABLE 0u

/* --- indexes --- */

static bool had_there(const struct pkey_row *had, uint32_t place, uint16_t key)
{
	return had && place < had->n && had->keys[place] == key;
}

/*
 * Exchanges the two entries of a partition if the limited one comes first, unless the port had
 * exactly these two entries: queue pairs may use them.
 */
static void full_before_limited(struct builder *b, const struct pkey_row *had, uint16_t *row,
				uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint16_t full = row[i] | IB_PKEY_FULL;
		uint32_t first = b->at[full] - 1u;	/* index of the limited entry */

		if (row[i] && row[i] != full) {
			b->at[full] = i + 1;
		} else if (row[i] && b->at[full] &&
			   !(had_there(had, i, full) && had_there(had, first, row[first]))) {
			row[i] = row[first];
			row[first] = full;
		}
	}
	for (uint32_t i = 0; i < n; i++)
		b->at[row[i] | IB_PKEY_FULL] = 0;
}

/*
 * Another subnet manager gave index 0 to another P_Key, which the port still holds, and a later
 * index to the default partition's P_Key (indx0 of OpenSM).
 */
static bool default_is_elsewhere(const struct builder *b, const struct pkey_row *had,
				 uint32_t n_had)
{
	if (!n_had || !had->keys[0] || (had->keys[0] & IB_PKEY_DEFAULT) == IB_PKEY_DEFAULT ||
	    (!b->at[had->keys[0]] && !b->at[had->keys[0] ^ IB_PKEY_FULL]))
		return false;
	for (uint32_t i = 1; i < n_had; i++)
		if ((had->keys[i] & IB_PKEY_DEFAULT) == IB_PKEY_DEFAULT)
			return true;
	return false;
}

/*
 * The next free index.  Indexes that had another P_Key until now are used last: a queue pair that
 * still uses such an index would be moved to the other partition.
 */
static uint32_t next_hole(const struct pkey_row *had, uint32_t n_had, uint32_t cap,
			  const uint16_t *row, uint32_t hole)
{
	while (hole < n_had && hole < cap && (row[hole] || had->keys[hole]))
		hole++;
	while (hole < cap && row[hole])
		hole++;
	for (hole %= cap; row[hole]; hole++)
		;
	return hole;
}

/*
 * Puts each of a port's keys at its index in row, which has room for them and for all indexes that
 * they may have had; returns the number of entries.
 */
static uint32_t place_keys(struct builder *b, const struct holding *h, const struct pkey_row *had,
			   uint32_t cap, bool self, uint16_t *row)
{
	const uint16_t *keys = h->keys.v;
	uint32_t n = (uint32_t)h->keys.n;
	uint32_t n_had = had ? (had->n < cap ? had->n : cap) : 0, hole = 0, last = 0;

	for (uint32_t i = 0; i < n; i++)
		b->at[keys[i]] = i + 1;
	/* the default partition's keys are the first of the list */
	if (h->first) {
		row[0] = h->first;
		b->at[h->first] = 0;
	} else if (n && (keys[0] & IB_PKEY_DEFAULT) == IB_PKEY_DEFAULT &&
	    (self || !default_is_elsewhere(b, had, n_had))) {
		row[0] = keys[0];
		b->at[keys[0]] = 0;
	}
	/* first in their previous form, then in the other: a full member may be limited now */
	for (uint16_t other = 0;; other = IB_PKEY_FULL) {
		for (uint32_t i = 0; i < n_had; i++) {
			uint16_t key = had->keys[i] ^ other;

			if (!had->keys[i] || row[i] || !b->at[key])
				continue;
			row[i] = key;
			b->at[key] = 0;
		}
		if (other)
			break;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!b->at[keys[i]])
			continue;
		hole = next_hole(had, n_had, cap, row, hole);
		row[hole] = keys[i];
		b->at[keys[i]] = 0;
	}
	for (uint32_t i = 0; i < n_had + n; i++)
		if (row[i])
			last = i + 1;
	full_before_limited(b, had, row, last);
	return last;
}

void pkey_places_put(struct pkey_places *x, uint64_t guid, const uint16_t *keys, uint32_t n)
{
	uint32_t i = map64_get(&x->by_guid, guid);

	if (i == MAP64_NONE) {
		i = (uint32_t)x->rows.n;
		*vec_push(&x->rows) = (struct pkey_row){ .guid = guid };
		map64_put(&x->by_guid, guid, i);
	}
	free(x->rows.v[i].keys);
	x->rows.v[i].keys = n ? xmemdup(keys, n * sizeof(*keys)) : NULL;
	x->rows.v[i].n = n;
}

static const struct pkey_row *places_of(const struct pkey_places *x, uint64_t guid)
{
	uint32_t i = x ? map64_get(&x->by_guid, guid) : MAP64_NONE;

	return i == MAP64_NONE ? NULL : &x->rows.v[i];
}

/* The table that a port without remembered indexes gets. */
static bool is_plain(const struct pkey_table *t)
{
	return !t->n || (t->n == 1 && (t->keys[0] & IB_PKEY_DEFAULT) == IB_PKEY_DEFAULT);
}

static bool holds_in_any_form(const uint16_t *keys, uint32_t n, uint16_t key)
{
	for (uint32_t i = 0; i < n; i++)
		if ((keys[i] & IB_PKEY_DEFAULT) == (key & IB_PKEY_DEFAULT))
			return true;
	return false;
}

bool pkey_places_found(struct pkey_places *x, uint64_t guid, const uint16_t *keys, uint32_t n)
{
	const struct pkey_row *had = places_of(x, guid);
	uint32_t n_had = had ? had->n : 0;
	uint16_t *row = xcalloc((size_t)n + n_had + 1, sizeof(*row));
	bool news = false;

	for (uint32_t i = 0; i < n; i++)
		if (keys[i] & IB_PKEY_DEFAULT)
			row[i] = keys[i];
	while (n && !row[n - 1])
		n--;
	if (n > 1 || (n && (row[0] & IB_PKEY_DEFAULT) != IB_PKEY_DEFAULT)) {
		uint32_t n_found = n;

		for (uint32_t i = 0; i < n_had; i++)
			if (had->keys[i] && !row[i] &&
			    !holds_in_any_form(row, n_found, had->keys[i])) {
				row[i] = had->keys[i];
				n = i < n ? n : i + 1;
			}
		news = n != n_had || memcmp(row, had->keys, n * sizeof(*row));
		if (news)
			pkey_places_put(x, guid, row, n);
	}
	free(row);
	return news;
}

bool pkey_places_learn(struct pkey_places *x, const struct fabric *f, const struct partitions *p)
{
	bool news = false;

	for (uint32_t port = 0; port < p->n_ports; port++) {
		const struct pkey_table *t = port_pkeys(p, port);
		const struct pkey_row *had;

		if (!port_is_end(f, port) || !f->ports[port].guid || !fabric_owns_guid(f, port))
			continue;
		had = places_of(x, f->ports[port].guid);
		if (had ? had->n == t->n && (!t->n || !memcmp(had->keys, t->keys,
							      t->n * sizeof(*t->keys))) :
			  is_plain(t))
			continue;
		pkey_places_put(x, f->ports[port].guid, t->keys, t->n);
		news = true;
	}
	return news;
}

void pkey_places_free(struct pkey_places *x)
{
	for (size_t i = 0; i < x->rows.n; i++)
		free(x->rows.v[i].keys);
	vec_free(&x->rows);
	map64_free(&x->by_guid);
}

/* --- tables --- */

static int compare_numbers(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return (a > b) - (a < b);
}

static void fill_words(const struct partitions *p, struct pkey_table *t)
{
	uint32_t *held = xcalloc(t->n, sizeof(*held)), n = 0;	/* partition * 2 + full */

	for (uint32_t i = 0; i < t->n; i++)
		if (t->keys[i])
			held[n++] = partition_of_pkey(p, t->keys[i]) << 1 | t->keys[i] >> 15;
	qsort(held, n, sizeof(*held), compare_numbers);
	t->words = xcalloc(n, sizeof(*t->words));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = held[i] >> 1;
		struct pkey_word *w = t->n_words ? &t->words[t->n_words - 1] : NULL;

		if (!w || w->at != k / 64) {
			w = &t->words[t->n_words++];
			w->at = k / 64;
		}
		*(held[i] & 1 ? &w->full : &w->limited) |= 1ull << (k & 63);
	}
	t->words = xrealloc(t->words, t->n_words, sizeof(*t->words));
	free(held);
}

/* The index of the table with these keys, which is added if it is new. */
static uint32_t table_of(struct builder *b, const uint16_t *keys, size_t n)
{
	struct partitions *p = b->p;

	if (!n)
		return NO_TABLE;
	for (uint64_t seed = 0;; seed++) {
		uint64_t h = hash_bytes(keys, n * sizeof(*keys), seed);
		uint32_t i = map64_get(&b->by_hash, h);

		if (i == MAP64_NONE) {
			i = p->n_tables++;
			if (!(i & (i - 1)))
				p->tables = xrealloc(p->tables, 2 * (size_t)i, sizeof(*p->tables));
			p->tables[i] = (struct pkey_table){
				.keys = xmemdup(keys, n * sizeof(*keys)), .n = (uint32_t)n,
			};
			map64_put(&b->by_hash, h, i);
			return i;
		}
		if (p->tables[i].n == n && !memcmp(p->tables[i].keys, keys, n * sizeof(*keys)))
			return i;
	}
}

void make_pkey_tables(struct builder *b)
{
	struct partitions *p = b->p;

	p->tables = xcalloc(1, sizeof(*p->tables));
	p->n_tables = 1;
	for (uint32_t port = 0; port < p->n_ports; port++) {
		const struct holding *h = &b->holding[port];
		const struct pkey_row *had = places_of(b->known, b->f->ports[port].guid);
		uint32_t n = (uint32_t)h->keys.n;
		uint16_t *row;

		if (!n)
			continue;
		row = xcalloc(n + (had ? had->n : 0), sizeof(*row));
		n = place_keys(b, h, had, port_pkey_cap(b->f, port), port == b->f->self, row);
		p->table[port] = table_of(b, row, n);
		free(row);
	}
	for (uint32_t i = 1; i < p->n_tables; i++)
		fill_words(p, &p->tables[i]);
}

/* --- enforcement by switches --- */

/* The switch port has a CA or router at the other end of its link. */
static bool faces_end_port(const struct fabric *f, uint32_t port)
{
	const struct fabric_port *fp = &f->ports[port];

	return fp->present && fp->num && node_is_switch(port_node(f, port)) &&
	       fp->peer != FABRIC_NONE && f->ports[fp->peer].present &&
	       !node_is_switch(port_node(f, fp->peer));
}

static bool all_full(const struct pkey_table *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->keys[i] && !(t->keys[i] & IB_PKEY_FULL))
			return false;
	return true;
}

/* The tables have the same memberships, at whatever indexes. */
static bool same_members(const struct pkey_table *a, const struct pkey_table *b)
{
	if (a->n_words != b->n_words)
		return false;
	for (uint32_t i = 0; i < a->n_words; i++)
		if (a->words[i].at != b->words[i].at || a->words[i].full != b->words[i].full ||
		    a->words[i].limited != b->words[i].limited)
			return false;
	return true;
}

bool pkeys_restrict(const struct partitions *p, const struct fabric *f)
{
	uint32_t common = FABRIC_NONE;

	for (uint32_t port = 0; port < p->n_ports; port++) {
		if (!port_is_host(f, port))
			continue;
		if (common == FABRIC_NONE)
			common = p->table[port];
		if (p->table[port] != common &&
		    !same_members(&p->tables[p->table[port]], &p->tables[common]))
			return true;
	}
	return common != FABRIC_NONE && !all_full(&p->tables[common]);
}

/*
 * The P_Keys that a switch port lets through to and from an end port: each of its partitions once,
 * with the full-membership bit.  With a limited member's own P_Key, a switch that compares as end
 * ports do (10.9.3) would drop what that member sends, since both are limited.
 *
 * Holes are where the end port has them, so that one partition more or less changes one block here,
 * too; a table that is too short for that has none.
 */
static uint32_t table_of_switch_port(struct builder *b, uint32_t peer, uint32_t cap, uint32_t *n)
{
	const struct pkey_table *t = port_pkeys(b->p, peer);
	uint16_t *keys = xcalloc(t->n, sizeof(*keys));
	uint32_t table, held = 0;

	*n = 0;
	for (uint32_t i = 0; i < t->n; i++) {
		uint16_t key = t->keys[i] ? t->keys[i] | IB_PKEY_FULL : 0;

		if (key && b->at[key])
			continue;
		keys[(*n)++] = key;
		if (key)
			b->at[key] = 1, held++;
	}
	while (*n && !keys[*n - 1])	/* the last was a repeated partition */
		(*n)--;
	for (uint32_t i = 0; i < t->n; i++)
		b->at[t->keys[i] | IB_PKEY_FULL] = 0;
	if (*n > cap) {
		uint32_t k = 0;

		for (uint32_t i = 0; i < *n; i++)
			if (keys[i])
				keys[k++] = keys[i];
		*n = held;
	}
	table = table_of(b, keys, *n);
	free(keys);
	return table;
}

void enforce_pkeys(struct builder *b, enum partition_enforcement directions)
{
	struct tally cannot = { 0 }, too_short = { 0 };

	for (uint32_t port = 0; port < b->p->n_ports; port++) {
		if (!faces_end_port(b->f, port))
			continue;
		const struct fabric_switch *s = &b->f->switches[port_node(b->f, port)->sw];
		uint32_t cap = port_pkey_cap(b->f, port);
		uint32_t n, table = table_of_switch_port(b, b->f->ports[port].peer, cap, &n);

		bool in = s->enforces_in && (directions & ENFORCE_IN);
		bool out = s->enforces_out && (directions & ENFORCE_OUT);

		if (!cap || !(in || out)) {
			count(&cannot, port);
		} else if (n > cap) {
			count(&too_short, port);
		} else {
			b->p->enforce[port] = true;
			b->p->table[port] = table;
		}
	}
	if (cannot.n)
		findings_add(b->out, SEV_WARNING, b->policy->file, b->policy->partitions[0].pos,
			     "partitions are not enforced at %u port%s whose switch does not support it, "
			     "for example %s", cannot.n, cannot.n == 1 ? "" : "s",
			     PORT_NAME(b->f, cannot.example));
	if (too_short.n)
		findings_add(b->out, SEV_WARNING, b->policy->file, b->policy->partitions[0].pos,
			     "partitions are not enforced at %u port%s whose P_Key table is too "
			     "short, for example %s with room for %u", too_short.n,
			     too_short.n == 1 ? "" : "s", PORT_NAME(b->f, too_short.example),
			     port_pkey_cap(b->f, too_short.example));
}
