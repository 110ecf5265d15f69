/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts the mistakes between two names; spelling.h has the contract. */
#include "lib/base/spelling.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define NONE (SPELLING_MAX + 1)

static int at(const char *s, size_t i)
{
	return tolower((unsigned char)s[i]);
}

static bool only_digits_differ(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if (at(a, 0) != at(b, 0) && !(isdigit((unsigned char)*a) && isdigit((unsigned char)*b)))
			return false;
	return !*a && !*b;
}

/* Tries each mistake at the first difference, with at most `left` of them. */
static unsigned mistakes(const char *a, const char *b, unsigned left)
{
	unsigned best = NONE, n;

	while (*a && at(a, 0) == at(b, 0))
		a++, b++;
	if (!*a && !*b)
		return 0;
	if (!left)
		return NONE;
	for (unsigned i = 0; i < 4; i++) {
		if (i == 3 ? !(*a && *b && a[1] && at(a, 0) == at(b, 1) && at(a, 1) == at(b, 0)) :
			     (i != 0 && !*a) || (i != 1 && !*b))
			continue;
		/* b has one more; a has one more; one is replaced; two are exchanged */
		n = 1 + mistakes(a + (i == 3 ? 2 : i != 0), b + (i == 3 ? 2 : i != 1), left - 1);
		best = n < best ? n : best;
	}
	return best;
}

unsigned spelling_mistakes(const char *a, const char *b)
{
	size_t n = strlen(a), most = n / 3 < SPELLING_MAX ? n / 3 : SPELLING_MAX;
	unsigned found;

	if (only_digits_differ(a, b))
		return NONE;
	found = mistakes(a, b, (unsigned)most);
	return found > most ? NONE : found;
}
