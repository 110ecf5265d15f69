/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A file that gets its name when it is complete (newfile.c), so that the previous file stays until
 * then.  Anything that is not a regular file (a device, a link) is written directly.  Errors are
 * printed to stderr.
 */
#ifndef QOSD_CLI_NEWFILE_H
#define QOSD_CLI_NEWFILE_H

#include <stdbool.h>
#include <stdio.h>

struct new_file {
	FILE *f;		/* NULL: not open */
	char *name, *now;	/* final name, and name until complete; now is NULL if both are the same */
};

/* Returns false, with nothing open, if the file cannot be created. */
bool new_file_open(struct new_file *n, const char *name);
/* Puts a complete file in place, or removes an incomplete one.  Returns false on errors. */
bool new_file_close(struct new_file *n, bool complete);
/* Prints errno's text for a file; returns false. */
bool complain(const char *name);

#endif
