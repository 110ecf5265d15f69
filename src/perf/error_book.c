/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The errors of ports over time; see error_book.h. */
#include "perf/error_book.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/map64.h"

#define HOUR_US	(ERROR_SLICES * ERROR_SLICE_US)

struct error_book {
	uint32_t limits[PORT_ERRORS];
	uint64_t sums[PORT_ERRORS];
	VEC(struct error_node *) nodes;
	struct map64 by_guid;		/* index into nodes */
};

/* --- nodes and ports --- */

struct error_book *error_book_new(const uint32_t limits[PORT_ERRORS])
{
	struct error_book *b = xcalloc(1, sizeof(*b));

	error_book_set_limits(b, limits);
	map64_init(&b->by_guid, 0);
	return b;
}

void error_book_set_limits(struct error_book *b, const uint32_t limits[PORT_ERRORS])
{
	memcpy(b->limits, limits, sizeof(b->limits));
}

uint32_t error_limit(const struct error_book *b, enum port_error e)
{
	return b->limits[e];
}

static void forget_histories(struct error_port *p)
{
	for (enum port_error e = 0; e < PORT_ERRORS; e++) {
		free(p->history[e]);
		p->history[e] = NULL;
	}
}

static void drop_ports(struct error_node *n)
{
	for (unsigned num = 0; num <= n->nports; num++)
		if (n->ports[num]) {
			forget_histories(n->ports[num]);
			free(n->ports[num]);
		}
	free(n->ports);
}

void error_book_clear(struct error_book *b)
{
	for (size_t i = 0; i < b->nodes.n; i++) {
		drop_ports(b->nodes.v[i]);
		free(b->nodes.v[i]);
	}
	vec_free(&b->nodes);
	map64_clear(&b->by_guid);
}

void error_book_free(struct error_book *b)
{
	if (!b)
		return;
	error_book_clear(b);
	map64_free(&b->by_guid);
	free(b);
}

static void node_begin(struct error_node *n, uint64_t guid, unsigned nports)
{
	*n = (struct error_node){ .guid = guid, .nports = (uint8_t)nports };
	n->ports = xcalloc(nports + 1u, sizeof(struct error_port *));
}

struct error_node *error_node(struct error_book *b, uint64_t guid, unsigned nports)
{
	uint32_t i = map64_get(&b->by_guid, guid);
	struct error_node *n;

	if (i != MAP64_NONE) {
		n = b->nodes.v[i];
		if (n->nports != nports) {
			drop_ports(n);
			node_begin(n, guid, nports);
		}
		return n;
	}
	n = xcalloc(1, sizeof(*n));
	node_begin(n, guid, nports);
	map64_put(&b->by_guid, guid, (uint32_t)b->nodes.n);
	*vec_push(&b->nodes) = n;
	return n;
}

const struct error_port *error_find(const struct error_book *b, uint64_t guid, unsigned num)
{
	uint32_t i = map64_get(&b->by_guid, guid);

	return i != MAP64_NONE && num <= b->nodes.v[i]->nports ? b->nodes.v[i]->ports[num] : NULL;
}

struct error_port *error_port(struct error_node *n, unsigned num)
{
	if (!n->ports[num])
		n->ports[num] = xcalloc(1, sizeof(*n->ports[num]));
	return n->ports[num];
}

void error_book_unmark(struct error_book *b)
{
	for (size_t i = 0; i < b->nodes.n; i++)
		b->nodes.v[i]->seen = false;
}

static bool is_old(const struct error_node *n, int64_t now_us)
{
	for (unsigned num = 0; num <= n->nports; num++)
		if (n->ports[num] && n->ports[num]->read_us > now_us - HOUR_US)
			return false;
	return true;
}

void error_book_prune(struct error_book *b, int64_t now_us)
{
	size_t absent = 0, n = 0;

	for (size_t i = 0; i < b->nodes.n; i++)
		absent += !b->nodes.v[i]->seen;
	if (!absent)
		return;
	for (size_t i = 0; i < b->nodes.n; i++) {
		struct error_node *x = b->nodes.v[i];

		if (x->seen || (absent <= ERROR_ABSENT_MAX && !is_old(x, now_us))) {
			b->nodes.v[n++] = x;
			continue;
		}
		drop_ports(x);
		free(x);
		absent--;
	}
	b->nodes.n = n;
	map64_clear(&b->by_guid);
	for (size_t i = 0; i < n; i++)
		map64_put(&b->by_guid, b->nodes.v[i]->guid, (uint32_t)i);
}

void error_each(struct error_book *b, void (*fn)(void *arg, const struct error_node *n, unsigned num,
						 struct error_port *p), void *arg)
{
	for (size_t i = 0; i < b->nodes.n; i++)
		for (unsigned num = 0; num <= b->nodes.v[i]->nports; num++)
			if (b->nodes.v[i]->ports[num])
				fn(arg, b->nodes.v[i], num, b->nodes.v[i]->ports[num]);
}

/* --- growth --- */

static uint64_t most(struct pma_errors_of of, enum port_error e)
{
	unsigned bits = pma_error_bits(of.attr, e);

	return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

static struct error_history *history(struct error_port *p, enum port_error e)
{
	if (!p->history[e])
		p->history[e] = xcalloc(1, sizeof(*p->history[e]));
	return p->history[e];
}

/* Empties the slices that have passed since the newest one. */
static void turn(struct error_history *h, int64_t number)
{
	if (number >= h->newest + ERROR_SLICES)
		memset(h->slice, 0, sizeof(h->slice));
	else
		for (int64_t i = h->newest + 1; i <= number; i++)
			h->slice[i % ERROR_SLICES] = 0;
	h->newest = number > h->newest ? number : h->newest;
}

static void grow(struct error_book *b, struct error_port *p, enum port_error e, uint64_t growth,
		 int64_t now_us)
{
	struct error_history *h = history(p, e);
	int64_t number = now_us / ERROR_SLICE_US;
	uint32_t *slice = &h->slice[number % ERROR_SLICES];

	turn(h, number);
	*slice = growth > UINT32_MAX - *slice ? UINT32_MAX : *slice + (uint32_t)growth;
	h->seen += growth;
	b->sums[e] += growth;
}

static void take_counter(struct error_book *b, struct error_port *p, enum port_error e, uint64_t now,
			 int64_t now_us)
{
	uint64_t was = p->now[e];

	p->now[e] = now;
	if (p->since_us && now < was) {
		history(p, e)->before += was;
		p->stuck &= (uint16_t)~(1u << e);	/* it can be reset after all */
		was = 0;
	}
	if (p->since_us && now > was)
		grow(b, p, e, now - was, now_us);
}

void error_age(const struct error_book *b, struct error_port *p, int64_t now_us)
{
	p->over = 0;
	for (enum port_error e = 0; e < PORT_ERRORS; e++) {
		struct error_history *h = p->history[e];

		if (!h)
			continue;
		if (b->limits[e] == PORT_ERRORS_ANY || error_last_hour(p, e, now_us) <= b->limits[e]) {
			h->over_since_us = 0;
			continue;
		}
		if (!h->over_since_us)
			h->over_since_us = now_us;
		p->over |= (uint16_t)(1u << e);
	}
}

/* Makes the counters of another attribute those that growth is counted from. */
static void change_attr(struct error_port *p, enum pma_attr attr, const struct pma_errors *read)
{
	p->attr = attr;
	for (enum port_error e = 0; e < PORT_ERRORS; e++)
		if (p->history[e])
			p->history[e]->before = 0;
	memcpy(p->now, read->n, sizeof(p->now));
}

void error_take(struct error_book *b, struct error_port *p, struct pma_errors_of of,
		const struct pma_errors *read, int64_t now_us)
{
	if (p->attr != of.attr)
		change_attr(p, of.attr, read);
	p->stopped = 0;
	for (enum port_error e = 0; e < PORT_ERRORS; e++) {
		if (!(read->known >> e & 1))
			continue;
		take_counter(b, p, e, read->n[e], now_us);
		if (read->n[e] == most(of, e))
			p->stopped |= (uint16_t)(1u << e);
	}
	p->known = read->known;
	p->read_us = now_us;
	if (!p->since_us)
		p->since_us = now_us;
	error_age(b, p, now_us);
}

/* --- resets --- */

uint16_t error_nearly_full(const struct error_port *p, struct pma_errors_of of)
{
	uint16_t full = 0;

	for (enum port_error e = 0; e < PORT_ERRORS; e++)
		if (p->known >> e & 1 && p->now[e] >= most(of, e) - most(of, e) / 4)
			full |= (uint16_t)(1u << e);
	return full & (uint16_t)~p->stuck;
}

unsigned error_take_reset(struct error_book *b, struct error_port *p, struct pma_errors_of of,
			  const struct pma_errors *read, uint16_t which, int64_t now_us)
{
	uint16_t stuck = 0;

	which &= read->known & p->known;
	for (enum port_error e = 0; e < PORT_ERRORS; e++)
		if (which >> e & 1 && read->n[e] >= p->now[e])
			stuck |= (uint16_t)(1u << e);
	error_take(b, p, of, read, now_us);
	p->stuck |= stuck;
	return (unsigned)__builtin_popcount(which & (unsigned)~stuck);
}

void error_was_cleared(struct error_port *p)
{
	struct port_rates rates = p->rates;

	forget_histories(p);
	*p = (struct error_port){ .rates = rates };
}

/* --- looking --- */

uint64_t error_total(const struct error_port *p, enum port_error e)
{
	return p->now[e] + (p->history[e] ? p->history[e]->before : 0);
}

uint64_t error_seen(const struct error_port *p, enum port_error e)
{
	return p->history[e] ? p->history[e]->seen : 0;
}

/* The growth in the last slices, at most ERROR_SLICES, of which the present one has just begun. */
static uint64_t last_slices(const struct error_port *p, enum port_error e, int64_t now_us, unsigned slices)
{
	const struct error_history *h = p->history[e];
	int64_t number = now_us / ERROR_SLICE_US;
	uint64_t sum = 0;

	if (!h)
		return 0;
	for (int64_t i = number - slices + 1; i <= h->newest; i++)
		if (i > h->newest - ERROR_SLICES && i >= 0)
			sum += h->slice[i % ERROR_SLICES];
	return sum;
}

uint64_t error_last_hour(const struct error_port *p, enum port_error e, int64_t now_us)
{
	return last_slices(p, e, now_us, ERROR_SLICES);
}

uint64_t error_lately(const struct error_port *p, enum port_error e, int64_t now_us)
{
	return last_slices(p, e, now_us, 2);
}

double error_per_hour(const struct error_port *p, enum port_error e, int64_t now_us)
{
	int64_t us = now_us - p->since_us;

	return (double)error_seen(p, e) * (double)HOUR_US / (double)(us > HOUR_US ? us : HOUR_US);
}

double error_excess(const struct error_book *b, const struct error_port *p, int64_t now_us)
{
	double worst = 0;

	for (enum port_error e = 0; e < PORT_ERRORS; e++) {
		double x = 0;

		if (p->history[e] && b->limits[e] != PORT_ERRORS_ANY)
			x = (double)error_last_hour(p, e, now_us) / (b->limits[e] ? b->limits[e] : 0.5);
		if (x > worst)
			worst = x;
	}
	return worst;
}

uint64_t error_sum(const struct error_book *b, enum port_error e)
{
	return b->sums[e];
}
