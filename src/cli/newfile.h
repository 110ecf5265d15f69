/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A file that gets its name when it is complete (newfile.c), so that what was
 * there before stays until then.  What is there and no regular file (a device,
 * a link) is written as it is.  Errors are told on stderr.
 */
#ifndef QOSD_CLI_NEWFILE_H
#define QOSD_CLI_NEWFILE_H

#include <stdbool.h>
#include <stdio.h>

struct new_file {
	FILE *f;		/* NULL: not open */
	char *name, *now;	/* when it is complete, and until then; now is NULL if it is name */
};

/* False, with nothing open, if the file can't be made. */
bool new_file_open(struct new_file *n, const char *name);
/* Whether the file is there, all of it; one that is not complete is removed.  False if not. */
bool new_file_close(struct new_file *n, bool complete);
/* Says what errno is of a file; false. */
bool complain(const char *name);

#endif
