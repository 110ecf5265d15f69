/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints what is missing as lines of text, and reads them again; missing.h has the contracts. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events/missing.h"
#include "lib/base/alloc.h"
#include "lib/base/clean.h"

/*
 *	KIND FLAGS TIME GUID PORT-GUID NUMBER GUID PORT-GUID NUMBER RATE WAS IS NAME NAME
 *
 * with tabs between; the times are realtime in µs, the rate is a code.  FLAGS are - and letters: forgotten, unwatched,
 * trunk, new (from format 2 on).
 */
static void put_end(struct buf *b, const struct missing_end *e)
{
	buf_printf(b, "\t0x%" PRIx64 "\t0x%" PRIx64 "\t%u", e->guid, e->port_guid, e->num);
}

void missing_print(const struct missing *m, struct buf *b)
{
	const struct missing_item *x;

	for (size_t i = 0; (x = missing_at(m, i)); i++) {
		buf_printf(b, "%s\t-%s%s%s%s\t%" PRId64, missing_kind_name(x->kind), x->forgotten ? "f" : "",
			   x->unwatched ? "u" : "", x->trunk ? "t" : "", x->is_new ? "n" : "", x->since_us);
		put_end(b, &x->a);
		put_end(b, &x->b);
		buf_printf(b, "\t%u\t%s\t%s\t%s\t%s\n", x->rate, x->was, x->is, x->a.name, x->b.name);
	}
}

#define FIELDS 14

/* Splits a line at its tabs; false: it has more or fewer fields. */
static bool split(char *line, char *field[FIELDS])
{
	for (size_t n = 0; n < FIELDS; n++) {
		char *tab = strchr(line, '\t');

		field[n] = line;
		if (!tab != (n == FIELDS - 1))
			return false;
		if (tab) {
			*tab = '\0';
			line = tab + 1;
		}
	}
	return true;
}

static bool get_number(const char *text, int base, uint64_t max, uint64_t *v)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	*v = strtoull(text, &end, base);
	return !*end && *v <= max;
}

static bool get_end(char *const field[3], const char *name, struct missing_end *e)
{
	uint64_t num;

	if (!get_number(field[0], 16, UINT64_MAX, &e->guid) ||
	    !get_number(field[1], 16, UINT64_MAX, &e->port_guid) ||
	    !get_number(field[2], 10, IB_PORT_NUM_MAX, &num) || strlen(name) >= sizeof(e->name))
		return false;
	e->num = (uint8_t)num;
	snprintf(e->name, sizeof(e->name), "%s", name);
	clean_text(e->name);
	return true;
}

static bool get_link_text(const char *text, char out[LINK_TEXT])
{
	if (strlen(text) >= LINK_TEXT)
		return false;
	strcpy(out, text);	/* it fits */
	clean_text(out);
	return true;
}

static bool get_item(char *field[FIELDS], struct missing_item *x)
{
	uint64_t since, rate;

	while (x->kind < MISSING_KINDS && strcmp(missing_kind_name(x->kind), field[0]))
		x->kind++;
	if (x->kind == MISSING_KINDS || field[1][0] != '-' || strspn(field[1], "-futn") != strlen(field[1]))
		return false;
	x->forgotten = strchr(field[1], 'f');
	x->unwatched = strchr(field[1], 'u');
	x->trunk = strchr(field[1], 't');
	x->is_new = strchr(field[1], 'n');
	if (x->is_new && (!missing_is_link(x) || !x->forgotten))
		return false;
	if (!get_number(field[2], 10, INT64_MAX, &since) || !get_number(field[9], 10, UINT8_MAX, &rate))
		return false;
	x->since_us = (int64_t)since;
	x->rate = (uint8_t)rate;
	return get_end(field + 3, field[12], &x->a) && get_end(field + 6, field[13], &x->b) && x->a.guid &&
	       get_link_text(field[10], x->was) && get_link_text(field[11], x->is);
}

bool missing_line(void *arg, const char *line)
{
	struct missing *m = arg;
	struct missing_item x = { 0 };
	char *copy = xstrdup(line), *field[FIELDS];
	bool good = split(copy, field) && get_item(field, &x);

	if (good)
		missing_put(m, &x);
	free(copy);
	return good;
}

char *missing_end_text(const struct missing_end *e, char *out, size_t n)
{
	char port[8] = "";

	if (e->num)
		snprintf(port, sizeof(port), "/P%u", e->num);
	if (*e->name)
		snprintf(out, n, "%s%s (0x%016" PRIx64 ")", e->name, port, e->guid);
	else
		snprintf(out, n, "0x%016" PRIx64 "%s", e->guid, port);
	return out;
}
