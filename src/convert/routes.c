/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * OpenSM's prefix-routes.conf: which router serves which subnet prefix.  The
 * policy has nothing of the kind, so that each line is only told.
 */
#include <inttypes.h>
#include <string.h>

#include "convert/text.h"

/* 64 bits in hexadecimal, "0x" or not, or "*". */
static bool parse_hex(const char *s, uint64_t *v)
{
	size_t n;

	if (!strncmp(s, "0x", 2) || !strncmp(s, "0X", 2))
		s += 2;
	n = strspn(s, "0123456789abcdefABCDEF");
	*v = 0;
	for (size_t i = 0; i < n; i++)
		*v = *v << 4 | (unsigned)(s[i] <= '9' ? s[i] - '0' : (s[i] | 0x20) - 'a' + 10);
	return n >= 1 && n <= 16 && !s[n];
}

static void read_route(struct converted *c, struct cursor *at)
{
	struct place place = at->at;
	const char *prefix = take_word(c, at, "#"), *guid = take_word(c, at, "#");
	uint64_t v;

	if ((strcmp(prefix, "*") && !parse_hex(prefix, &v)) ||
	    (strcmp(guid, "*") && !parse_hex(guid, &v)) ||
	    (at->s < at->end && *at->s != '\n' && *at->s != '#')) {
		say_error(c, place, "expected a prefix and the GUID of a router's port, each in "
			  "hexadecimal or '*'");
		return;
	}
	say(c, NULL, SEV_INFO, place,
	    "no equivalent: paths to %s%s go through %s%s; it matters only where subnets are "
	    "joined by routers",
	    strcmp(prefix, "*") ? "the subnet prefix " : "any other subnet",
	    strcmp(prefix, "*") ? prefix : "",
	    strcmp(guid, "*") ? "the router's port " : "the first router that is there",
	    strcmp(guid, "*") ? guid : "");
}

void read_prefix_routes(struct converted *c, const struct convert_input *in)
{
	struct cursor at = cursor_of(in);

	while (at.s < at.end) {
		cursor_skip_blanks(&at);
		if (at.s < at.end && !strchr("\n#", *at.s))
			read_route(c, &at);
		cursor_skip_line(&at);
	}
}
