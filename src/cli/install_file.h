/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Replaces a file atomically (install_file.c).  At any moment, and after a power failure, either
 * the old or the new file is there.  The old one is kept next to it as NAME.before.  Errors are
 * printed to stderr.
 */
#ifndef QOSD_CLI_INSTALL_FILE_H
#define QOSD_CLI_INSTALL_FILE_H

#include <stdbool.h>

#include "lib/base/buf.h"

struct install {
	char *path;		/* path of the file, with links followed */
	char *before;		/* name of the old file; NULL: there was none */
};

/* Replaces the file at path by the text; keeps the old file's mode and owner. */
bool install_file(struct install *x, const char *path, const struct buf *text);
/* Restores the old file, or removes the new one if there was none. */
bool install_undo(const struct install *x);
void install_free(struct install *x);

#endif
