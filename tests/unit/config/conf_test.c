/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf_test.h"
#include "lib/base/alloc.h"

char *source_path(const char *below)
{
	const char *dir = getenv("QOSD_SRCDIR");

	return xasprintf("%s/%s", dir ? dir : ".", below);
}

char *slurp(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	struct buf b = { 0 };
	char chunk[4096];
	size_t got;

	if (!f)
		return NULL;
	buf_puts(&b, "");
	while ((got = fread(chunk, 1, sizeof(chunk), f)) > 0)
		buf_add(&b, chunk, got);
	fclose(f);
	if (n)
		*n = b.n;
	return b.s;
}

void findings_text(const struct findings *f, struct buf *out)
{
	buf_puts(out, "");
	for (size_t i = 0; i < f->n; i++) {
		struct buf line = { 0 };

		findings_format(&f->v[i], &line);
		buf_printf(out, "%s\n", line.s);
		buf_free(&line);
	}
}

struct policy *parse_policy(const char *text, struct findings *found)
{
	findings_free(found);
	return conf_parse_policy("t", text, strlen(text), found);
}

struct settings *whole_settings(const char *name, const char *text, size_t n, struct findings *found)
{
	struct settings *s = conf_read_settings(name, text, n, found);

	if (s && !conf_find_groups(s, found)) {
		settings_free(s);
		s = NULL;
	}
	return s;
}

struct settings *parse_settings(const char *text, struct findings *found)
{
	findings_free(found);
	return whole_settings("t", text, strlen(text), found);
}

struct policy *good_policy(const char *text)
{
	struct findings found = { 0 };
	struct policy *p = parse_policy(text, &found);
	struct buf b = { 0 };

	findings_text(&found, &b);
	ck_assert_msg(p != NULL, "%s: %s", text, b.s);
	ck_assert_uint_eq(found.count[SEV_ERROR], 0);
	buf_free(&b);
	findings_free(&found);
	return p;
}
