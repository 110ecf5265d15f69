/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Converts words to values; see yaml_value.h. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/format/yaml_value.h"

static int digit_of(char c, unsigned base)
{
	int d = c >= '0' && c <= '9' ? c - '0' :
		c >= 'a' && c <= 'f' ? c - 'a' + 10 :
		c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;

	return d < (int)base ? d : -1;
}

/* Parses a number at *s and moves *s past it. */
static bool take_u64(const char **s, uint64_t *v)
{
	const char *p = *s;
	unsigned base = 10;
	uint64_t x = 0;
	int d;

	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
		base = 16;
		p += 2;
	} else if (p[0] == '0' && digit_of(p[1], 10) >= 0) {
		return false;	/* ambiguous: octal or decimal */
	}
	if (digit_of(*p, base) < 0)
		return false;
	for (; (d = digit_of(*p, base)) >= 0; p++)
		if (__builtin_mul_overflow(x, base, &x) ||
		    __builtin_add_overflow(x, (uint64_t)d, &x))
			return false;
	*s = p;
	*v = x;
	return true;
}

bool value_u64(const char *s, uint64_t *v)
{
	uint64_t x;

	if (!take_u64(&s, &x) || *s)
		return false;
	*v = x;
	return true;
}

bool value_range(const char *s, uint64_t *a, uint64_t *b)
{
	uint64_t lo, hi;

	if (!take_u64(&s, &lo))
		return false;
	hi = lo;
	if (*s == '-') {
		s++;
		if (!take_u64(&s, &hi))
			return false;
	}
	if (*s)
		return false;
	*a = lo;
	*b = hi;
	return true;
}

bool value_iba(const char *s, uint64_t *code)
{
	return !strncmp(s, "iba:", 4) && value_u64(s + 4, code);
}

bool value_bytes(const char *s, uint64_t *bytes)
{
	static const struct { const char *unit; uint64_t bytes; } units[] = {
		{ "B", 1 }, { "KiB", 1024 }, { "MiB", 1024 * 1024 },
	};
	uint64_t v;

	if (!take_u64(&s, &v))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(s, units[i].unit))
			return !__builtin_mul_overflow(v, units[i].bytes, bytes);
	return false;
}

#define WORD_MAX 32

/* Edit distance of a and b, ignoring case. */
static unsigned distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	unsigned row[WORD_MAX + 1];

	if (n > WORD_MAX || m > WORD_MAX)
		return WORD_MAX;
	for (size_t j = 0; j <= m; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			bool same = tolower((unsigned char)a[i - 1]) ==
				    tolower((unsigned char)b[j - 1]);
			unsigned best = diagonal + !same;

			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[m];
}

const char *value_nearest(const char *word, const char *const *words, size_t n)
{
	const char *best = NULL;
	unsigned least = strlen(word) < 4 ? 2 : 3;	/* exclusive bound of the distance */

	for (size_t i = 0; i < n; i++) {
		unsigned d = distance(word, words[i]);

		if (d < least && d < strlen(words[i])) {
			least = d;
			best = words[i];
		}
	}
	return best;
}

const char *excerpt(struct excerpt *e, const char *word)
{
	size_t n = strlen(word), max = sizeof(e->text) - 4;
	bool cut = n > max;

	if (cut)	/* do not cut within a UTF-8 sequence */
		for (n = max; n > 0 && ((unsigned char)word[n] & 0xc0) == 0x80; n--)
			;
	snprintf(e->text, sizeof(e->text), "%.*s%s", (int)n, word, cut ? "..." : "");
	for (char *p = e->text; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	return e->text;
}
