/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See rest_fields.h. */
#include "cli/rest/api/rest_fields.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define PKEY_MAX 0x7fffu	/* without the membership bit */

static bool is_known(const char *name, const char *known)
{
	size_t n = strlen(name);

	for (const char *w = known; *w; w += strspn(w, " ")) {
		size_t length = strcspn(w, " ");

		if (length == n && !memcmp(w, name, n))
			return true;
		w += length;
	}
	return false;
}

bool rest_good_query(const struct rest_route *route, const json_t *query, struct rest_answer *a)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)query, name, value) {
		if (!is_known(name, route->query))
			return rest_refuse(a, REST_BAD, *route->query ? "unknown query \"%.60s\"; queries are: %s" :
					   "unknown query \"%.60s\"; there are none here%s", name, route->query);
		if (!json_is_string(value))
			return rest_refuse(a, REST_BAD, "%s: the value is not UTF-8", name);
	}
	return true;
}

bool rest_only_fields(const struct rest_call *c, const char *known, struct rest_answer *a)
{
	const char *name;
	json_t *value;

	if (!json_is_object(c->body))
		return rest_refuse(a, REST_BAD, "the body must be a JSON object with some of: %s", known);
	json_object_foreach(c->body, name, value)
		if (!is_known(name, known))
			return rest_refuse(a, REST_BAD, "unknown field \"%.60s\"; fields are: %s", name, known);
	return true;
}

bool rest_read_pkey(const char *text, uint16_t *pkey, struct rest_answer *a)
{
	const char *digits = text && !strncasecmp(text, "0x", 2) ? text + 2 : text;
	size_t n = digits ? strspn(digits, "0123456789abcdefABCDEF") : 0;
	unsigned long v = n && n <= 4 && !digits[n] ? strtoul(digits, NULL, 16) & PKEY_MAX : 0;

	if (!v)
		return rest_refuse(a, REST_BAD, "pkey: \"%.20s\" is not a P_Key from 0x1 to 0x7fff", text ? text : "");
	*pkey = (uint16_t)v;
	return true;
}

bool rest_body_pkey(const struct rest_call *c, uint16_t *pkey, struct rest_answer *a)
{
	const json_t *v = json_object_get(c->body, "pkey");

	if (!v)
		return rest_refuse(a, REST_BAD, "pkey is missing");
	if (!json_is_string(v))
		return rest_refuse(a, REST_BAD, "pkey must be a string such as \"0x1a\"");
	return rest_read_pkey(json_string_value(v), pkey, a);
}

/* Any length up to 16 digits is a number; GUIDs are never written shorter, so that a slip is seen. */
bool rest_parse_guid(const char *text, uint64_t *guid)
{
	unsigned digits = 0;
	uint64_t v = 0;

	if (!strncasecmp(text, "0x", 2))
		text += 2;
	for (; *text; text++) {
		if (*text == ':' && digits && text[1])
			continue;
		if (!isxdigit((unsigned char)*text) || ++digits > 16)
			return false;
		v = v << 4 | (uint64_t)(isdigit((unsigned char)*text) ? *text - '0' :
					tolower((unsigned char)*text) - 'a' + 10);
	}
	*guid = v;
	return digits == 16 && v;
}

static bool add_guid(const char *text, struct rest_guids *out, struct rest_answer *a)
{
	uint64_t guid;

	if (!rest_parse_guid(text, &guid))
		return rest_refuse(a, REST_BAD, "guids: \"%.40s\" is not a GUID of 16 hexadecimal digits", text);
	if (out->n >= REST_GUIDS_MAX)
		return rest_refuse(a, REST_TOO_LARGE, "guids: more than %d in one request", REST_GUIDS_MAX);
	*vec_push(out) = guid;
	return true;
}

bool rest_read_guids(const char *list, struct rest_guids *out, struct rest_answer *a)
{
	bool good = true;

	while (good) {
		size_t n = strcspn(list, ",");
		char *one = xstrndup(list, n);

		good = add_guid(one, out, a);
		free(one);
		if (!list[n])
			break;
		list += n + 1;
	}
	return good;
}

bool rest_body_guids(const struct rest_call *c, struct rest_guids *out, struct rest_answer *a)
{
	const json_t *list = json_object_get(c->body, "guids"), *x;
	size_t i;

	if (!json_is_array(list) || !json_array_size(list))
		return rest_refuse(a, REST_BAD, "guids must be an array of GUIDs, at least one");
	json_array_foreach(list, i, x) {
		if (!json_is_string(x))
			return rest_refuse(a, REST_BAD, "guids: entry %zu is not a string", i + 1);
		if (!add_guid(json_string_value(x), out, a))
			return false;
	}
	return true;
}

bool rest_body_flag(const struct rest_call *c, const char *name, int missing, int *value, struct rest_answer *a)
{
	const json_t *v = json_object_get(c->body, name);
	const char *word = json_string_value(v);
	/* the client for Slurm sends what its configuration has, as a string */
	bool yes = json_is_true(v) || (word && !strcasecmp(word, "true"));
	bool no = json_is_false(v) || (word && !strcasecmp(word, "false"));

	if (v && !yes && !no)
		return rest_refuse(a, REST_BAD, "%s must be true or false", name);
	*value = v ? yes : missing;
	return true;
}

const char *rest_query_text(const struct rest_call *c, const char *name)
{
	return json_string_value(json_object_get(c->query, name));
}

bool rest_query_flag(const struct rest_call *c, const char *name)
{
	const char *text = rest_query_text(c, name);

	return text && !strcasecmp(text, "true");
}
