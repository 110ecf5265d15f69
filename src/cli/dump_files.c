/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes the files of `dump` and `export`.  Each row names its file and carries a piece of it; a
 * file's pieces are consecutive.  A file gets its name when it is complete, so that nobody sees
 * part of it.  A large fabric takes a while, so on a terminal a line says how far it is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/alloc.h"
#include "newfile.h"
#include "output.h"
#include "terminal.h"
#include "text.h"

static char *directory;
static struct new_file file;
static char *file_name;		/* name of the open file, without the directory */

static uint64_t written;	/* bytes, of all files */

bool file_output_begin(const char *dir)
{
	directory = xstrdup(dir);
	return mkdir(dir, 0777) == 0 || errno == EEXIST || complain(dir);
}

/* Renames the open file to its final name, or removes it if it is incomplete. */
static bool finish_file(bool complete)
{
	free(file_name);
	file_name = NULL;
	return !file.f || new_file_close(&file, complete);
}

static bool open_file(const char *name)
{
	char *path = xasprintf("%s/%s", directory, name);
	bool ok = new_file_open(&file, path);

	free(path);
	if (ok)
		file_name = xstrdup(name);
	return ok;
}

static bool bytes(const json_t *piece, const char *text, size_t n)
{
	const char *name = json_string_value(json_object_get(piece, "file"));

	if (!name || strchr(name, '/')) {
		errno = EBADMSG;
		return complain("the answer");
	}
	if (!file.f || strcmp(file_name, name) != 0)
		if (!finish_file(true) || !open_file(name))
			return false;
	written += n;
	put_progress(name, has(piece, "done") ? real(piece, "done") : -1, written);
	return fwrite(text, 1, n, file.f) == n || complain(file_name);
}

static bool end(bool complete)
{
	bool ok = finish_file(complete);

	end_progress();
	free(directory);
	return ok;
}

const struct output text_dump = { .bytes = bytes, .end = end, .raw_rows = true };
const struct output text_export_ibacm = { .bytes = bytes, .end = end, .raw_rows = true };
const struct output text_export_node_name_map = { .bytes = bytes, .end = end, .raw_rows = true };
const struct output text_export_slurm = { .bytes = bytes, .end = end, .raw_rows = true };
