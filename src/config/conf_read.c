/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the values that a policy consists of; conf_read.h has the contracts. */
#include <stdlib.h>
#include <string.h>

#include "config/conf_read.h"
#include "lib/base/alloc.h"
#include "lib/base/time_parse.h"
#include "lib/iba/units.h"

#define LIFETIME_MAX 31

void read_lifetime(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	const char *word = read_word(r, n, "a time or an exponent");
	double seconds;
	uint64_t v;

	if (!word)
		return;
	if (time_span_parse(word, &seconds)) {
		v = lifetime_code(seconds);
		if (v <= LIFETIME_MAX)
			read_store(at, k->size, v);
		else
			read_error(r, n->pos, "%s is longer than the maximum (%.0fs)",
				   EXCERPT(word), lifetime_seconds(LIFETIME_MAX));
	} else if (value_iba(word, &v) || value_u64(word, &v)) {
		if (v <= LIFETIME_MAX)
			read_store(at, k->size, v);
		else
			read_error(r, n->pos, "%s is out of range (exponent 0 to %d)",
				   EXCERPT(word), LIFETIME_MAX);
	} else {
		read_error(r, n->pos, "'%s' is neither a time (" TIME_UNITS ", such as 500ms or 1s) nor an exponent "
			   "(0 to %d, or iba:N)", EXCERPT(word), LIFETIME_MAX);
	}
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

void read_names(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	struct policy_names *names = at;

	for (const struct node *i = read_items(r, n, "a name"); i; i = i->next) {
		struct policy_name name = { 0 };

		read_name(r, i, k, &name);
		if (name.s)
			*vec_push(names) = name;
	}
}

bool read_u64_range(struct reader *r, const struct node *n, uint64_t min, uint64_t max,
		    struct u64_range *out)
{
	out->pos = n->pos;
	return read_range(r, n, min, max, &out->lo, &out->hi);
}

void read_ranges(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	struct u64_ranges *ranges = at;
	struct u64_range range;

	for (const struct node *i = read_items(r, n, "a number or a range a-b"); i; i = i->next)
		if (read_u64_range(r, i, k->min, k->max, &range))
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
	for (const struct node *i = read_items(r, n, "a P_Key"); i; i = i->next)
		if (read_u64_range(r, i, 0, UINT16_MAX, &range) &&
		    pkey_range_ok(r, &range, i->text))
			*vec_push(ranges) = range;
}

bool read_pkey(struct reader *r, const struct node *n, uint16_t *pkey)
{
	struct u64_range range = { .pos = n->pos };

	if (n->kind == NODE_SCALAR && value_u64(n->text, &range.hi) && range.hi <= UINT16_MAX &&
	    !pkey_range_ok(r, &range, n->text))
		return false;
	if (!read_number(r, n, 1, IB_PKEY_DEFAULT, &range.hi))
		return false;
	*pkey = (uint16_t)range.hi;
	return true;
}

void read_ports(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	struct port_list list = { .pos = n->pos, .given = true };
	struct u64_range range;

	(void)k;
	for (const struct node *i = read_items(r, n, "port numbers or \"*\""); i; i = i->next) {
		if (i->kind == NODE_SCALAR && !strcmp(i->text, "*"))
			list.all = true;
		else if (read_u64_range(r, i, 0, IB_PORT_NUM_MAX, &range))
			for (uint64_t num = range.lo; num <= range.hi; num++)
				list.bits[num >> 3] |= (uint8_t)(1u << (num & 7));
	}
	if (list.all)
		memset(list.bits, 0, sizeof(list.bits));
	*(struct port_list *)at = list;
}

#define LIMIT_UNIT	4096
#define LIMIT_UNLIMITED	255

/* Reads a number of 4096-byte units, a size, or `unlimited`. */
void read_limit(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	const char *word = read_word(r, n, "a limit");
	uint64_t v;

	(void)k;
	if (!word)
		return;
	if (!strcmp(word, "unlimited")) {
		v = LIMIT_UNLIMITED;
	} else if (value_bytes(word, &v)) {
		v = v / LIMIT_UNIT + (v % LIMIT_UNIT != 0);
		if (v >= LIMIT_UNLIMITED) {
			read_error(r, n->pos, "%s is more than the maximum (%dKiB); use 'unlimited' "
				   "instead", EXCERPT(word),
				   (LIMIT_UNLIMITED - 1) * LIMIT_UNIT / 1024);
			return;
		}
	} else if (!value_u64(word, &v)) {
		read_error(r, n->pos, "'%s' is neither a number of 4096-byte units, nor a size (such as "
			   "40KiB), nor 'unlimited'", EXCERPT(word));
		return;
	} else if (!read_number(r, n, 0, UINT8_MAX, &v)) {
		return;
	}
	*(int16_t *)at = (int16_t)v;
}
