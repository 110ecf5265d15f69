/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads OpenSM's prefix-routes.conf, which says which router serves which subnet prefix.  Such
 * routes belong to the fabric, not to a policy, and so to qosd.yaml.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/convert/split_text.h"
#include "lib/base/alloc.h"

/* Parses 64 bits in hexadecimal, with or without "0x". */
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

/* OpenSM takes "*" and 0 for any. */
static bool parse_word(const char *word, uint64_t *v)
{
	*v = 0;
	return !strcmp(word, "*") || parse_hex(word, v);
}

static const char *value(struct converted *c, uint64_t v)
{
	return v ? keepf(c, "0x%016" PRIx64, v) : "any";
}

/* Sorted prefixes that have a route already. */
struct routed {
	VEC(uint64_t) prefixes;
};

static bool is_routed(const struct routed *x, uint64_t prefix)
{
	for (size_t i = 0; i < x->prefixes.n; i++)
		if (!x->prefixes.v[i] || x->prefixes.v[i] == prefix)
			return true;
	return false;
}

static void read_route(struct converted *c, struct cursor *at, struct routed *x)
{
	struct place place = at->at;
	const char *prefix_word = take_word(c, at, "#"), *guid_word = take_word(c, at, "#"), *route;
	uint64_t prefix, guid;

	if (!parse_word(prefix_word, &prefix) || !parse_word(guid_word, &guid) ||
	    (at->s < at->end && *at->s != '\n' && *at->s != '#')) {
		say_error(c, place, "expected a prefix and the GUID of a router's port, each in "
			  "hexadecimal or '*'");
		return;
	}
	if (is_routed(x, prefix)) {
		verdict(c, NULL, VERDICT_NOT_NEEDED, place,
			"omitted: an earlier line has this prefix, and the first match applies");
		return;
	}
	if (prefix >> 56 == 0xff) {
		verdict(c, NULL, VERDICT_NOT_POSSIBLE, place,
			"omitted: 0x%016" PRIx64 " is a multicast prefix", prefix);
		return;
	}
	*vec_push(&x->prefixes) = prefix;
	if (x->prefixes.n == 1)
		add_setting(c, "prefix-routes:", (struct place){ "", { 0, 0 } });
	route = keepf(c, "  - {prefix: %s, router: %s}", value(c, prefix), value(c, guid));
	add_setting(c, route, place);
	if (guid)
		verdict(c, NULL, VERDICT_SAME, place, "prefix-routes in qosd.yaml: %s", route + 4);
	else
		verdict(c, NULL, VERDICT_OTHERWISE, place,
			"prefix-routes in qosd.yaml: %s, where all routers share the load; OpenSM uses "
			"the first", route + 4);
}

void read_prefix_routes(struct converted *c, const struct convert_input *in)
{
	struct cursor at = cursor_of(in);
	struct routed x = { 0 };

	while (at.s < at.end) {
		cursor_skip_blanks(&at);
		if (at.s < at.end && !strchr("\n#", *at.s))
			read_route(c, &at, &x);
		cursor_skip_line(&at);
	}
	vec_free(&x.prefixes);
}
