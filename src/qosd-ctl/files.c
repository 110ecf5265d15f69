/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files of `dump`.  Each row names its file and carries a piece of it; a
 * file's pieces come one after the other.  A file gets its name when it is
 * complete, so that none is ever seen in part.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "output.h"

static char *directory;
static FILE *file;		/* NULL: none open */
static char *path, *new_path;	/* of the open file, when it is complete and now */

static bool complain(const char *what)
{
	fprintf(stderr, "qosd-ctl: %s: %s\n", what, strerror(errno));
	return false;
}

bool file_output_begin(const char *dir)
{
	directory = xstrdup(dir);
	return mkdir(dir, 0777) == 0 || errno == EEXIST || complain(dir);
}

/* Puts the open file in its place, or removes it if it is not complete. */
static bool finish_file(bool complete)
{
	bool ok = true;

	if (!file)
		return true;
	if (fclose(file) != 0 || (complete && rename(new_path, path) != 0)) {
		ok = complain(path);
		complete = false;
	}
	if (!complete)
		unlink(new_path);
	file = NULL;
	free(path);
	free(new_path);
	return ok;
}

static bool open_file(const char *name)
{
	path = xasprintf("%s/%s", directory, name);
	new_path = xasprintf("%s.new", path);
	file = fopen(new_path, "w");
	if (file)
		return true;
	complain(new_path);
	free(path);
	free(new_path);
	return false;
}

static void head(const json_t *answer)
{
	(void)answer;
}

static bool row(const json_t *piece)
{
	const char *name = json_string_value(json_object_get(piece, "file"));
	const char *text = json_string_value(json_object_get(piece, "text"));

	if (!name || !text || strchr(name, '/')) {
		errno = EBADMSG;
		return complain("dump");
	}
	if (!file || strcmp(path + strlen(directory) + 1, name) != 0)
		if (!finish_file(true) || !open_file(name))
			return false;
	return fputs(text, file) != EOF || complain(new_path);
}

const struct output file_output = {
	.head = head, .row = row, .end = finish_file, .raw_rows = true,
};
