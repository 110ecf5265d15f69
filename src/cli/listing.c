/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Selects, sorts and counts rows between the daemon and an output; see listing.h.
 *
 * Rows that are only selected are passed on as they arrive; those that are sorted are kept until the end, and those
 * that are counted are not kept.
 */
#include "listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_line.h"
#include "lib/base/alloc.h"
#include "lib/base/glob.h"
#include "members.h"

static struct {
	const struct output *under;
	char *key, *pattern;	/* of --where; NULL: all rows */
	char *sort;		/* NULL: in the daemon's order */
	bool reverse, count;
	size_t n;		/* rows so far */
	VEC(json_t *) rows;	/* to be sorted */
} now;

/* --- which rows --- */

/* Numbers in decimal and, as P_Keys are written, in hexadecimal. */
static bool number_matches(long long n, const char *pattern)
{
	char text[32], hex[32];

	snprintf(text, sizeof(text), "%lld", n);
	snprintf(hex, sizeof(hex), "0x%04llx", n);
	return glob_match(pattern, strlen(pattern), text) || glob_match(pattern, strlen(pattern), hex);
}

/* A list matches if one of its elements does; what a row lacks is "-". */
static bool matches(const json_t *value, const char *pattern)
{
	const json_t *element;
	char text[64];
	size_t i;

	if (json_is_string(value))
		return glob_match(pattern, strlen(pattern), json_string_value(value));
	json_array_foreach(value, i, element)
		if (matches(element, pattern))
			return true;
	if (json_is_integer(value))
		return number_matches(json_integer_value(value), pattern);
	if (json_is_real(value))
		snprintf(text, sizeof(text), "%g", json_real_value(value));
	else if (json_is_boolean(value))
		snprintf(text, sizeof(text), "%s", json_is_true(value) ? "true" : "false");
	else if (!value || json_is_null(value))
		snprintf(text, sizeof(text), "-");
	else
		return false;
	return glob_match(pattern, strlen(pattern), text);
}

/* Texts by their characters, numbers by their size, and what a row lacks last. */
static int compare(const json_t *a, const json_t *b)
{
	bool no_a = !a || json_is_null(a), no_b = !b || json_is_null(b);

	if (no_a || no_b)
		return no_a - no_b;
	if (json_is_string(a) && json_is_string(b))
		return strcmp(json_string_value(a), json_string_value(b));
	if (json_is_number(a) && json_is_number(b))
		return (json_number_value(a) > json_number_value(b)) - (json_number_value(a) < json_number_value(b));
	return json_is_true(a) - json_is_true(b);
}

struct place {
	json_t *row;
	size_t i;
};

static int by_key(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int order = compare(json_object_get(x->row, now.sort), json_object_get(y->row, now.sort));

	if (now.reverse)
		order = -order;
	return order ? order : x->i < y->i ? -1 : 1;
}

/* --- the output --- */

static void head(const json_t *answer)
{
	if (now.count)
		return;
	if (now.under->says)
		puts(now.under->says);
	if (now.under->head)
		now.under->head(answer);
}

static bool row(const json_t *value)
{
	if (now.key && !matches(json_object_get(value, now.key), now.pattern))
		return true;
	now.n++;
	if (now.count)
		return true;
	if (!now.sort)
		return now.under->row(value);
	*vec_push(&now.rows) = json_deep_copy(value);
	return true;
}

static bool put_sorted(void)
{
	struct place *v = xcalloc(now.rows.n + 1, sizeof(*v));
	bool ok = true;

	for (size_t i = 0; i < now.rows.n; i++)
		v[i] = (struct place){ now.rows.v[i], i };
	qsort(v, now.rows.n, sizeof(*v), by_key);
	for (size_t i = 0; i < now.rows.n; i++) {
		ok = ok && now.under->row(v[i].row);
		json_decref(v[i].row);
	}
	free(v);
	vec_free(&now.rows);
	return ok;
}

static bool end(bool complete)
{
	bool ok = put_sorted();

	if (now.count && complete)
		printf(options.json ? "{\"count\": %zu}\n" : "%zu\n", now.n);
	else if (!now.count && now.under->end)
		ok = now.under->end(complete) && ok;
	free(now.key);
	free(now.pattern);
	free(now.sort);
	return ok;
}

static struct output listing = { .head = head, .row = row, .end = end };

/* --- the arguments --- */

/* The members of the command's rows, separated by blanks; NULL: it is no list. */
static const char *keys_of(const struct ctl_command *c)
{
	bool lists = false;

	for (const struct ctl_arg *a = c->args; a->name; a++)
		lists |= strcmp(a->name, "where") == 0;
	for (const struct ctl_arg *a = c->args; lists && a->name; a++)
		if (strcmp(a->name, "sort") == 0)
			return a->choices;
	return NULL;
}

static bool is_key(const char *keys, const char *key, size_t n)
{
	for (const char *k = keys; *k; k += strspn(k, " ")) {
		size_t length = strcspn(k, " ");

		if (length == n && memcmp(k, key, n) == 0)
			return true;
		k += length;
	}
	return false;
}

static bool take_where(const struct ctl_command *c, const char *keys, const char *text)
{
	const char *equals = text ? strchr(text, '=') : NULL;

	if (!text)
		return true;
	if (!equals || !is_key(keys, text, (size_t)(equals - text))) {
		fprintf(stderr, "qosd-ctl: %s: where: '%s' is not KEY=PATTERN with a KEY of: %s\n", c->name, text,
			keys);
		return false;
	}
	now.key = xstrndup(text, (size_t)(equals - text));
	now.pattern = xstrdup(equals + 1);
	return true;
}

static bool take_sort(const struct ctl_command *c, const char *keys, const char *key)
{
	if (!key)
		return true;
	if (!is_key(keys, key, strlen(key))) {
		fprintf(stderr, "qosd-ctl: %s: sort: '%s' is none of: %s\n", c->name, key, keys);
		return false;
	}
	now.sort = xstrdup(key);
	return true;
}

const struct output *listing_output(const struct ctl_command *c, json_t *args, const struct output *under)
{
	static const char *const names[] = { "where", "sort", "reverse", "count" };
	const char *keys = keys_of(c);

	if (!keys)
		return under;
	now.under = under;
	now.reverse = json_is_true(json_object_get(args, "reverse"));
	now.count = json_is_true(json_object_get(args, "count"));
	if (!take_where(c, keys, json_string_value(json_object_get(args, "where"))) ||
	    !take_sort(c, keys, json_string_value(json_object_get(args, "sort"))))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		json_object_del(args, names[i]);
	if (!now.key && !now.sort && !now.count)
		return under;
	listing.raw_head = under->raw_head;
	listing.raw_rows = under->raw_rows;
	return &listing;
}
