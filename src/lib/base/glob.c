/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Matches patterns; see glob.h. */
#include "lib/base/glob.h"

#include <string.h>

bool glob_match(const char *pattern, size_t n, const char *s)
{
	const char *end = pattern + n, *star = NULL, *retry = NULL;

	while (*s) {
		if (pattern < end && *pattern == '*') {
			star = ++pattern;
			retry = s;
		} else if (pattern < end && (*pattern == '?' || *pattern == *s)) {
			pattern++;
			s++;
		} else if (star) {
			pattern = star;
			s = ++retry;
		} else {
			return false;
		}
	}
	while (pattern < end && *pattern == '*')
		pattern++;
	return pattern == end;
}

bool glob_is_pattern(const char *text)
{
	return strpbrk(text, "*?") != NULL;
}
