/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The readers that both files share; see read.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "conf/read.h"
#include "ib/units.h"

#define NAME_MAX_LEN 128	/* a NodeDescription has 64, its globs a few more */

const char *hint(struct hint *h, const char *word, const char *const *words, size_t n)
{
	const char *nearest = value_nearest(word, words, n);

	if (nearest)
		snprintf(h->text, sizeof(h->text), ": did you mean '%s'?",
			 EXCERPT(nearest));
	return h->text;
}

static const char *kind_name(const struct node *n)
{
	return n->kind == NODE_LIST ? "a list" : n->kind == NODE_MAP ? "a map" :
	       n->null ? "nothing" : "a word";
}

static void wrong_type(struct reader *r, const struct node *n, const char *what)
{
	if (n->kind != NODE_BAD)
		read_error(r, n->pos, "expected %s, found %s", what, kind_name(n));
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

/* Bounds are said in the base that the word was written in. */
static void out_of_range(struct reader *r, const struct node *n, uint64_t min, uint64_t max)
{
	bool hex = strncasecmp(n->text, "0x", 2) == 0;

	read_error(r, n->pos, hex ? "%s is out of range (0x%llx to 0x%llx)"
				  : "%s is out of range (%llu to %llu)",
		   EXCERPT(n->text), (unsigned long long)min, (unsigned long long)max);
}

/* Digits only, but more of them than 64 bits hold, or a minus before them. */
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

static void store(void *at, size_t size, uint64_t v)
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
		store(at, k->size, v);
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
		store(at, k->size, i);
	else
		read_error(r, n->pos, "'%s' is none of: %s", EXCERPT(word), list.s);
	buf_free(&list);
}

void read_time(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	const char *word = read_word(r, n, "a time");
	double seconds;
	uint64_t v;

	if (!word)
		return;
	if (!value_time(word, &seconds)) {
		if (value_u64(word, &v) || looks_numeric(word))
			read_uint(r, n, k, at);
		else
			read_error(r, n->pos, "'%s' is not a time (as 500ms or 10s)",
				   EXCERPT(word));
		return;
	}
	double units = seconds / k->unit;

	if (units < (double)k->min - 0.5 || units > (double)k->max + 0.5)
		read_error(r, n->pos, "%s is out of range (%gs to %gs)", EXCERPT(word),
			   (double)k->min * k->unit, (double)k->max * k->unit);
	else if (fabs(units - round(units)) > 1e-6)
		read_error(r, n->pos, "%s is not a multiple of %gs", EXCERPT(word), k->unit);
	else
		store(at, k->size, (uint64_t)round(units));
}

#define LIFETIME_MAX 31

void read_lifetime(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	const char *word = read_word(r, n, "a time or an exponent");
	double seconds;
	uint64_t v;

	if (!word)
		return;
	if (value_time(word, &seconds)) {
		v = lifetime_code(seconds);
		if (v <= LIFETIME_MAX)
			store(at, k->size, v);
		else
			read_error(r, n->pos, "%s is longer than the greatest time (%.0fs)",
				   EXCERPT(word), lifetime_seconds(LIFETIME_MAX));
	} else if (value_iba(word, &v) || value_u64(word, &v)) {
		if (v <= LIFETIME_MAX)
			store(at, k->size, v);
		else
			read_error(r, n->pos, "%s is out of range (exponent 0 to %d)",
				   EXCERPT(word), LIFETIME_MAX);
	} else {
		read_error(r, n->pos, "'%s' is neither a time (as 500ms or 1s) nor an "
			   "exponent (0 to %d, or iba:N)", EXCERPT(word), LIFETIME_MAX);
	}
}

/*
 * Characters that would forge lines or drive a terminal, or that YAML itself
 * does not carry: C0 and C1 controls, U+2028, U+2029, U+FEFF, U+FFFE, U+FFFF.
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
		read_error(r, n->pos, "the text has control characters in it");
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
		read_error(r, n->pos, "the name has control characters in it");
	return false;
}

void read_name(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	struct policy_name *name = at;
	const char *word = read_word(r, n, "a name");

	(void)k;
	if (!word || !read_name_ok(r, n))
		return;
	free(name->s);
	*name = (struct policy_name){ xstrdup(word), n->pos };
}

/* Lists that name what to apply to: an empty one would apply to nothing, unseen. */
static const struct node *nonempty_items(struct reader *r, const struct node *n, const char *what)
{
	size_t count;
	const struct node *first = node_items(n, &count);

	if (count == 0)
		read_error(r, n->pos, "expected %s, found %s", what,
			   n->kind == NODE_LIST ? "an empty list" : "nothing");
	return first;
}

void read_names(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	struct policy_names *names = at;

	for (const struct node *i = nonempty_items(r, n, "a name"); i; i = i->next) {
		struct policy_name name = { 0 };

		read_name(r, i, k, &name);
		if (name.s)
			*vec_push(names) = name;
	}
}

/* One value or range within min..max. */
static bool read_range(struct reader *r, const struct node *n, uint64_t min, uint64_t max,
		       struct u64_range *out)
{
	const char *word = read_word(r, n, "a number or a range a-b");
	uint64_t lo, hi;

	if (!word)
		return false;
	if (!value_range(word, &lo, &hi)) {
		if (looks_numeric(word))
			out_of_range(r, n, min, max);
		else
			read_error(r, n->pos, "'%s' is neither a number nor a range a-b",
				   EXCERPT(word));
		return false;
	}
	if (lo < min || hi < min || lo > max || hi > max) {
		out_of_range(r, n, min, max);
		return false;
	}
	if (lo > hi) {
		read_error(r, n->pos, "the range %s is reversed", EXCERPT(word));
		return false;
	}
	*out = (struct u64_range){ lo, hi, n->pos };
	return true;
}

void read_ranges(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	struct u64_ranges *ranges = at;
	struct u64_range range;

	for (const struct node *i = nonempty_items(r, n, "a number or a range a-b"); i; i = i->next)
		if (read_range(r, i, k->min, k->max, &range))
			*vec_push(ranges) = range;
}

static bool pkey_range_ok(struct reader *r, const struct u64_range *range, const char *word)
{
	if (range->hi <= IB_PKEY_DEFAULT)
		return true;
	read_error(r, range->pos, "%s has the membership bit 0x8000 set: a P_Key is written "
		   "without it, 0x0 to 0x7fff (so 0xffff is 0x7fff)", EXCERPT(word));
	return false;
}

void read_pkeys(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	struct u64_ranges *ranges = at;
	struct u64_range range;

	(void)k;
	for (const struct node *i = nonempty_items(r, n, "a P_Key"); i; i = i->next)
		if (read_range(r, i, 0, UINT16_MAX, &range) && pkey_range_ok(r, &range, i->text))
			*vec_push(ranges) = range;
}

bool read_pkey(struct reader *r, const struct node *n, uint16_t *pkey)
{
	struct u64_range range = { .pos = n->pos };

	if (!read_number(r, n, 0, UINT16_MAX, &range.hi) || !pkey_range_ok(r, &range, n->text))
		return false;
	*pkey = (uint16_t)range.hi;
	return true;
}

void read_ports(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	struct port_list list = { .pos = n->pos, .given = true };
	struct u64_range range;

	(void)k;
	for (const struct node *i = nonempty_items(r, n, "port numbers or \"*\""); i; i = i->next) {
		if (i->kind == NODE_SCALAR && !strcmp(i->text, "*"))
			list.all = true;
		else if (read_range(r, i, 0, IB_PORT_NUM_MAX, &range))
			for (uint64_t num = range.lo; num <= range.hi; num++)
				list.bits[num >> 3] |= (uint8_t)(1u << (num & 7));
	}
	if (list.all)
		memset(list.bits, 0, sizeof(list.bits));
	*(struct port_list *)at = list;
}
