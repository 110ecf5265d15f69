/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of nodes by GUID; see name_map.h. */
#include "fabric/name_map.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/clean.h"
#include "lib/base/map64.h"

#define BLANKS " \t\r\v\f"

struct name_map {
	atomic_uint refs;
	struct map64 by_guid;	/* -> index of names */
	VEC(char *) names;
};

/* Takes the name at the beginning of text: what is in quotes, or all before a comment. */
static char *take_name(const char *text)
{
	size_t n;

	if (*text == '"')
		return xstrndup(text + 1, strcspn(text + 1, "\""));
	n = strcspn(text, "\"#");
	while (n && strchr(BLANKS, text[n - 1]))
		n--;
	return xstrndup(text, n);
}

/* Takes a line that is neither empty nor a comment; returns why it does not. */
static const char *take_line(struct name_map *m, const char *line)
{
	char *end, *name;
	uint64_t guid = strtoull(line, &end, 0);

	if (*line < '0' || *line > '9' || (*end && *end != '#' && !strchr(BLANKS, *end)) || !guid)
		return "it begins with no GUID: a line is a GUID and a name in double quotes";
	name = take_name(end + strspn(end, BLANKS));
	if (!*name || strlen(name) > NODE_NAME_MAX || map64_get(&m->by_guid, guid) != MAP64_NONE) {
		const char *why = !*name ? "it has no name" : strlen(name) > NODE_NAME_MAX ?
				  "the name has more than 64 bytes" : "the GUID has a name already";

		free(name);
		return why;
	}
	clean_text(name);
	map64_put(&m->by_guid, guid, (uint32_t)m->names.n);
	*vec_push(&m->names) = name;
	return NULL;
}

struct name_map *name_map_parse(const char *text, size_t n, const char *file, struct findings *out)
{
	struct name_map *m = xcalloc(1, sizeof(*m));
	struct src_pos pos = { .line = 1 };

	atomic_init(&m->refs, 1);
	map64_init(&m->by_guid, 64);
	for (size_t at = 0; at < n; pos.line++) {
		const char *feed = memchr(text + at, '\n', n - at);
		size_t length = feed ? (size_t)(feed - text) - at : n - at;
		char *line = xstrndup(text + at, length);
		size_t blanks = strspn(line, BLANKS);
		const char *why = NULL;

		pos.col = (uint32_t)blanks + 1;
		if (strlen(line) < length)
			why = "it has a NUL";
		else if (line[blanks] && line[blanks] != '#')
			why = take_line(m, line + blanks);
		if (why)
			findings_add(out, SEV_WARNING, file, pos, "the line is left out: %s", why);
		free(line);
		at += length + 1;
	}
	return m;
}

struct name_map *name_map_ref(struct name_map *m)
{
	if (m)
		atomic_fetch_add(&m->refs, 1);
	return m;
}

void name_map_unref(struct name_map *m)
{
	if (!m || atomic_fetch_sub(&m->refs, 1) > 1)
		return;
	for (size_t i = 0; i < m->names.n; i++)
		free(m->names.v[i]);
	vec_free(&m->names);
	map64_free(&m->by_guid);
	free(m);
}

size_t name_map_count(const struct name_map *m)
{
	return m ? m->names.n : 0;
}

const char *name_map_get(const struct name_map *m, uint64_t guid)
{
	uint32_t i = m ? map64_get(&m->by_guid, guid) : MAP64_NONE;

	return i == MAP64_NONE ? NULL : m->names.v[i];
}
