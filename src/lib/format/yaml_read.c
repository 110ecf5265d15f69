/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Readers of maps, lists and plain values; see yaml_read.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/buf.h"
#include "lib/base/time_parse.h"
#include "lib/format/yaml_read.h"

#define NAME_MAX_LEN 128	/* bytes; a NodeDescription has 64, a glob for it a few more */

const char *hint(struct hint *h, const char *word, const char *const *words, size_t n)
{
	const char *nearest = value_nearest(word, words, n);

	if (nearest)
		snprintf(h->text, sizeof(h->text), ": did you mean '%s'?",
			 EXCERPT(nearest));
	return h->text;
}

static void wrong_type(struct reader *r, const struct node *n, const char *what)
{
	if (n->kind != NODE_BAD)
		read_error(r, n->pos, "expected %s, found %s", what, n->kind == NODE_LIST ? "a list"
			   : n->kind == NODE_MAP ? "a map" : n->null ? "nothing" : "a word");
}

const struct node *node_get(const struct node *map, const char *name)
{
	if (map->kind == NODE_MAP)
		for (const struct node *k = map->child; k; k = k->next)
			if (!strcmp(k->text, name))
				return k->value;
	return NULL;
}

const struct node *node_items(const struct node *n, size_t *count)
{
	bool list = n->kind == NODE_LIST, nothing = n->kind == NODE_SCALAR && n->null;

	*count = list ? n->n : nothing ? 0 : 1;
	return list ? n->child : nothing ? NULL : n;
}

bool read_is_map(struct reader *r, const struct node *n)
{
	if (n->kind == NODE_MAP || (n->kind == NODE_SCALAR && n->null))
		return true;
	wrong_type(r, n, "a map");
	return false;
}

static const struct key *find_key(const struct key *keys, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(keys[i].name, name))
			return &keys[i];
	return NULL;
}

static void unknown_key(struct reader *r, const struct node *k, const struct key *keys, size_t n)
{
	const char **names = xcalloc(n, sizeof(*names));

	for (size_t i = 0; i < n; i++)
		names[i] = keys[i].name;
	read_error(r, k->pos, "unknown key '%s'%s", EXCERPT(k->text), HINT(k->text, names, n));
	free(names);
}

bool read_map(struct reader *r, const struct node *n, const struct key *keys, size_t n_keys,
	      void *obj)
{
	if (!read_is_map(r, n))
		return false;
	for (const struct node *k = n->child; k; k = k->next) {
		const struct key *key = find_key(keys, n_keys, k->text);

		if (key)
			key->read(r, k->value, key, (char *)obj + key->offset);
		else
			unknown_key(r, k, keys, n_keys);
	}
	for (size_t i = 0; i < n_keys; i++)
		if (keys[i].required && !node_get(n, keys[i].name))
			read_error(r, n->pos, "'%s' is missing", keys[i].name);
	return true;
}

const char *read_word(struct reader *r, const struct node *n, const char *what)
{
	if (n->kind == NODE_SCALAR && !n->null)
		return n->text;
	wrong_type(r, n, what);
	return NULL;
}

/* Gives the bounds in the base (decimal or hexadecimal) that the word is written in. */
static void out_of_range(struct reader *r, const struct node *n, uint64_t min, uint64_t max)
{
	bool hex = strncasecmp(n->text, "0x", 2) == 0;

	read_error(r, n->pos, hex ? "%s is out of range (0x%llx to 0x%llx)"
				  : "%s is out of range (%llu to %llu)",
		   EXCERPT(n->text), (unsigned long long)min, (unsigned long long)max);
}

/* Whether s has only digits, after an optional minus; such a number may not fit in 64 bits. */
static bool looks_numeric(const char *s)
{
	const char *digits = "0123456789";

	s += *s == '-';
	if (!strncasecmp(s, "0x", 2)) {
		digits = "0123456789abcdefABCDEF";
		s += 2;
	} else if (*s == '0' && s[1]) {
		return false;
	}
	return *s && strspn(s, digits) == strlen(s);
}

bool read_number(struct reader *r, const struct node *n, uint64_t min, uint64_t max, uint64_t *v)
{
	const char *word = read_word(r, n, "a number");
	uint64_t x;

	if (!word)
		return false;
	if (!value_u64(word, &x)) {
		if (looks_numeric(word))
			out_of_range(r, n, min, max);
		else
			read_error(r, n->pos, "'%s' is not a number (decimal, or hex after 0x)",
				   EXCERPT(word));
		return false;
	}
	if (x < min || x > max) {
		out_of_range(r, n, min, max);
		return false;
	}
	*v = x;
	return true;
}

void read_store(void *at, size_t size, uint64_t v)
{
	switch (size) {
	case 1: *(uint8_t *)at = (uint8_t)v; break;
	case 2: *(uint16_t *)at = (uint16_t)v; break;
	case 4: *(uint32_t *)at = (uint32_t)v; break;
	default: *(uint64_t *)at = v; break;
	}
}

void read_uint(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	uint64_t v;

	if (read_number(r, n, k->min, k->max, &v))
		read_store(at, k->size, v);
}

void read_bool(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	const char *word = read_word(r, n, "true or false");

	(void)k;
	if (!word)
		return;
	if (!strcmp(word, "true") || !strcmp(word, "false"))
		*(bool *)at = word[0] == 't';
	else
		read_error(r, n->pos, "'%s' is neither true nor false", EXCERPT(word));
}

void read_choice(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	const char *word = read_word(r, n, "a word");
	struct buf list = { 0 };
	size_t i;

	if (!word)
		return;
	for (i = 0; k->words[i] && strcmp(k->words[i], word); i++)
		buf_printf(&list, "%s%s", i ? ", " : "", k->words[i]);
	if (k->words[i])
		read_store(at, k->size, i);
	else
		read_error(r, n->pos, "'%s' is not one of: %s", EXCERPT(word), list.s);
	buf_free(&list);
}

void read_time(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	const char *word = read_word(r, n, "a time");
	double seconds;
	uint64_t v;

	if (!word)
		return;
	if (!time_span_parse(word, &seconds)) {
		if (value_u64(word, &v) || looks_numeric(word))
			read_uint(r, n, k, at);
		else
			read_error(r, n->pos, "'%s' is not a time: a number with a unit, " TIME_UNITS ", such as "
				   "500ms or 10m", EXCERPT(word));
		return;
	}
	double units = seconds / k->unit;

	if (units < (double)k->min - 0.5 || units > (double)k->max + 0.5)
		read_error(r, n->pos, "%s is out of range (%gs to %gs)", EXCERPT(word),
			   (double)k->min * k->unit, (double)k->max * k->unit);
	else if (fabs(units - round(units)) > 1e-6)
		read_error(r, n->pos, "%s is not a multiple of %gs", EXCERPT(word), k->unit);
	else
		read_store(at, k->size, (uint64_t)round(units));
}

/*
 * Whether s has characters that would forge lines or control a terminal, or that YAML does not
 * allow: C0 and C1 controls, U+2028, U+2029, U+FEFF, U+FFFE, U+FFFF.
 */
static bool has_bad_char(const char *s, const char *allowed)
{
	for (const unsigned char *p = (const unsigned char *)s; *p; p++) {
		if ((*p < 0x20 && !strchr(allowed, *p)) || *p == 0x7f)
			return true;
		if (*p == 0xc2 && p[1] < 0xa0)
			return true;
		if (*p == 0xe2 && p[1] == 0x80 && (p[2] == 0xa8 || p[2] == 0xa9))
			return true;
		if (*p == 0xef && ((p[1] == 0xbb && p[2] == 0xbf) ||
				   (p[1] == 0xbf && p[2] >= 0xbe)))
			return true;
	}
	return false;
}

void read_text(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	const char *word = read_word(r, n, "a text");

	(void)k;
	if (!word)
		return;
	if (has_bad_char(word, "\n\t")) {
		read_error(r, n->pos, "the text contains control characters");
		return;
	}
	free(*(char **)at);
	*(char **)at = xstrdup(word);
}

bool read_name_ok(struct reader *r, const struct node *n)
{
	size_t len = strlen(n->text);

	if (len >= 1 && len <= NAME_MAX_LEN && !has_bad_char(n->text, ""))
		return true;
	if (len == 0)
		read_error(r, n->pos, "a name must not be empty");
	else if (len > NAME_MAX_LEN)
		read_error(r, n->pos, "a name must not be longer than %d bytes", NAME_MAX_LEN);
	else
		read_error(r, n->pos, "the name contains control characters");
	return false;
}

const struct node *read_items(struct reader *r, const struct node *n, const char *what)
{
	size_t count;
	const struct node *first = node_items(n, &count);

	if (count == 0)
		read_error(r, n->pos, "expected %s, found %s", what,
			   n->kind == NODE_LIST ? "an empty list" : "nothing");
	return first;
}

bool read_range(struct reader *r, const struct node *n, uint64_t min, uint64_t max,
		uint64_t *lo, uint64_t *hi)
{
	const char *word = read_word(r, n, "a number or a range a-b");
	uint64_t a, b;

	if (!word)
		return false;
	if (!value_range(word, &a, &b)) {
		if (looks_numeric(word))
			out_of_range(r, n, min, max);
		else
			read_error(r, n->pos, "'%s' is neither a number nor a range a-b",
				   EXCERPT(word));
		return false;
	}
	if (a < min || b < min || a > max || b > max) {
		out_of_range(r, n, min, max);
		return false;
	}
	if (a > b) {
		read_error(r, n->pos, "the range %s is reversed", EXCERPT(word));
		return false;
	}
	*lo = a;
	*hi = b;
	return true;
}
