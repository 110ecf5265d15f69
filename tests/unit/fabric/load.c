/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "load.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit/temp.h"

static void put_without_path(struct buf *out, const char *path, const struct buf *text)
{
	if (!text->n)
		return;
	ck_assert_msg(!strncmp(text->s, path, strlen(path)), "%s", text->s);
	buf_printf(out, "F%s", text->s + strlen(path));
}

struct fabric *load_warned(const void *text, size_t n, uint64_t sm, bool keep_lids,
			   struct buf *err, struct buf *warn)
{
	char *path = temp_file(text, n);
	struct buf raw = { 0 }, said = { 0 };
	struct fabric *f = fabric_load(path, sm, keep_lids, &raw, &said);

	ck_assert_msg(!f == !!raw.n, "an error says why, and only an error");
	if (!f)
		put_without_path(err, path, &raw);
	if (warn)
		put_without_path(warn, path, &said);
	ck_assert_msg(warn || !said.n, "%s", said.s);
	buf_free(&raw);
	buf_free(&said);
	unlink(path);
	free(path);
	return f;
}

struct fabric *load_bytes(const void *text, size_t n, uint64_t sm, bool keep_lids,
			  struct buf *err)
{
	return load_warned(text, n, sm, keep_lids, err, NULL);
}

struct fabric *load(const char *text, uint64_t sm, bool keep_lids, struct buf *err)
{
	return load_bytes(text, strlen(text), sm, keep_lids, err);
}
