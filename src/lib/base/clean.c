/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See clean.h. */
#include "lib/base/clean.h"

#include <string.h>

/* Decodes the character at s and returns its length in bytes; 0 if it is not UTF-8. */
static size_t decode(const unsigned char *s, uint32_t *c)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xf8 ? 0 : s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 :
		   s[0] >= 0xc0 ? 2 : 0;

	*c = n > 1 ? s[0] & (0x7fu >> n) : s[0];
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)	/* also stops at the NUL */
			return 0;
		*c = *c << 6 | (s[i] & 0x3f);
	}
	return n && *c >= least[n] && *c <= 0x10ffff && !(*c >= 0xd800 && *c <= 0xdfff) ? n : 0;
}

size_t clean_next(const char *s, uint32_t *c, bool *obeyed)
{
	size_t n = decode((const unsigned char *)s, c);

	*obeyed = !n || *c < 0x20 || (*c >= 0x7f && *c < 0xa0) ||
		  (*c >= 0x2028 && *c <= 0x202e) || (*c >= 0x2066 && *c <= 0x2069);
	return n ? n : 1;
}

bool clean_text(char *s)
{
	bool changed = false, obeyed;
	uint32_t c;

	while (*s) {
		size_t n = clean_next(s, &c, &obeyed);

		if (obeyed)
			memset(s, '?', n);
		changed = changed || obeyed;
		s += n;
	}
	return changed;
}
