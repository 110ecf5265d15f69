/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "load.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit/load_fabric.h"
#include "unit/temp.h"

struct fabric *load_bytes(const void *text, size_t n, uint64_t sm, bool keep_lids,
			  struct buf *err)
{
	char *path = temp_file(text, n);
	struct buf raw = { 0 };
	struct fabric *f = fabric_load(path, sm, keep_lids, &raw);

	ck_assert_msg(!f == !!raw.n, "an error says why, and only an error");
	if (raw.n) {
		ck_assert_msg(!strncmp(raw.s, path, strlen(path)), "%s", raw.s);
		buf_printf(err, "F%s", raw.s + strlen(path));
	}
	buf_free(&raw);
	unlink(path);
	free(path);
	return f;
}

struct fabric *load(const char *text, uint64_t sm, bool keep_lids, struct buf *err)
{
	return load_bytes(text, strlen(text), sm, keep_lids, err);
}
