/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes the page of `report`, which the daemon makes.  The file gets its name when it is complete.  On a
 * terminal a line says how far it is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "newfile.h"
#include "output.h"
#include "terminal.h"
#include "text.h"

static char *file_name;
static struct new_file file;
static uint64_t written;	/* bytes */

void page_output_begin(const char *name)
{
	file_name = xstrdup(name);
}

static bool row(const json_t *piece)
{
	const char *text = json_string_value(json_object_get(piece, "text"));

	if (!text) {
		errno = EBADMSG;
		return complain("the answer");
	}
	if (!file.f && !new_file_open(&file, file_name))
		return false;
	written += strlen(text);
	put_progress(file_name, has(piece, "done") ? real(piece, "done") : -1, written);
	return fputs(text, file.f) != EOF || complain(file_name);
}

static bool end(bool complete)
{
	bool ok = !file.f || new_file_close(&file, complete);

	end_progress();
	free(file_name);
	return ok;
}

const struct output text_report = { .row = row, .end = end, .raw_rows = true };
