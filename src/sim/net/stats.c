/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts MADs by kind: a table for all, and one for each client. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/bytes.h"
#include "sim/net/iba.h"
#include "sim/net/stats.h"

struct sim_stats *stats_new(void)
{
	return xcalloc(1, sizeof(struct sim_stats));
}

static void table_free(struct stat_table *t)
{
	vec_free(&t->rows);
	free(t);
}

void stats_free(struct sim_stats *st)
{
	for (size_t i = 0; i < st->clients.n; i++)
		table_free(st->clients.v[i]);
	vec_free(&st->clients);
	vec_free(&st->all.rows);
	free(st);
}

static void table_reset(struct stat_table *t)
{
	t->rows.n = 0;
	t->n = 0;
	t->last_us = 0;
	t->recent = 0;
}

void stats_reset(struct sim_stats *st)
{
	table_reset(&st->all);
	for (size_t i = 0; i < st->clients.n; i++)
		table_reset(st->clients.v[i]);
}

static struct stat_row kind_of(const uint8_t *mad)
{
	uint8_t class = mad[MAD_CLASS];

	return (struct stat_row){
		.mgmt_class = class == CLASS_SM_DR ? CLASS_SM_LID : class,
		.method = mad[MAD_METHOD],
		.attr = get_be16(mad + MAD_ATTR),
	};
}

static bool same_kind(const struct stat_row *a, const struct stat_row *b)
{
	return a->mgmt_class == b->mgmt_class && a->method == b->method && a->attr == b->attr;
}

/* The row of a kind; NULL if there is none. */
static struct stat_row *find_row(struct stat_table *t, const struct stat_row *kind)
{
	if (t->recent < t->rows.n && same_kind(&t->rows.v[t->recent], kind))
		return &t->rows.v[t->recent];
	for (size_t i = 0; i < t->rows.n; i++) {
		if (same_kind(&t->rows.v[i], kind)) {
			t->recent = i;
			return &t->rows.v[i];
		}
	}
	return NULL;
}

static struct stat_row *make_row(struct stat_table *t, struct stat_row kind, int64_t now_us)
{
	struct stat_row *row;

	if (t->rows.n >= STAT_ROWS_MAX)
		return &t->rows.v[STAT_ROWS_MAX - 1];
	if (t->rows.n == STAT_ROWS_MAX - 1)
		kind = (struct stat_row){ 0 };
	kind.first_us = now_us;
	row = vec_push(&t->rows);
	*row = kind;
	return row;
}

static void table_count(struct stat_table *t, const struct stat_row *kind, int64_t now_us)
{
	struct stat_row *row = find_row(t, kind);

	if (!row)
		row = make_row(t, *kind, now_us);
	row->n++;
	row->last_us = now_us;
	t->n++;
	t->last_us = now_us;
}

static struct stat_table *find_client(struct sim_stats *st, uint32_t client)
{
	if (st->recent < st->clients.n && st->clients.v[st->recent]->client == client)
		return st->clients.v[st->recent];
	for (size_t i = 0; i < st->clients.n; i++) {
		if (st->clients.v[i]->client == client) {
			st->recent = i;
			return st->clients.v[i];
		}
	}
	return NULL;
}

static void forget_the_most_silent(struct sim_stats *st)
{
	size_t worst = 0;

	for (size_t i = 1; i < st->clients.n; i++)
		if (st->clients.v[i]->last_us < st->clients.v[worst]->last_us)
			worst = i;
	table_free(st->clients.v[worst]);
	st->clients.v[worst] = st->clients.v[--st->clients.n];
}

static struct stat_table *get_client(struct sim_stats *st, uint32_t client)
{
	struct stat_table *t = find_client(st, client);

	if (t)
		return t;
	if (st->clients.n >= STAT_CLIENTS_MAX)
		forget_the_most_silent(st);
	t = xcalloc(1, sizeof(*t));
	t->client = client;
	t->last_us = st->all.last_us;	/* a new client must not count as silent */
	st->recent = st->clients.n;
	*vec_push(&st->clients) = t;
	return t;
}

/* ACK, STOP and ABORT carry the method and attribute of the transfer, but no data. */
static bool only_steers(const uint8_t *mad)
{
	return rmpp_is_active(mad) && mad[RMPP_TYPE] != RMPP_DATA;
}

void stats_sent(struct sim_stats *st, uint32_t client, const uint8_t *mad, int64_t now_us)
{
	struct stat_row kind = kind_of(mad);

	if (only_steers(mad))
		return;
	table_count(&st->all, &kind, now_us);
	table_count(get_client(st, client), &kind, now_us);
}

static void table_count_idle(struct stat_table *t, const struct stat_row *kind)
{
	struct stat_row *row = t ? find_row(t, kind) : NULL;

	if (row)
		row->idle++;
}

void stats_idle_set(struct sim_stats *st, uint32_t client, const uint8_t *mad)
{
	struct stat_row kind = kind_of(mad);

	table_count_idle(&st->all, &kind);
	table_count_idle(find_client(st, client), &kind);
}

void stats_client(struct sim_stats *st, uint32_t client, const char *name)
{
	struct stat_table *t = get_client(st, client);

	snprintf(t->name, sizeof(t->name), "%s", name);
}
