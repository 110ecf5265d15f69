/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Putting a file in another's place as a whole (install_file.c): at any moment, and after a power
 * failure, the old one or the new one is there.  The one before is kept beside it, as NAME.before.
 * Errors are told on stderr.
 */
#ifndef QOSD_CLI_INSTALL_FILE_H
#define QOSD_CLI_INSTALL_FILE_H

#include <stdbool.h>

#include "lib/base/buf.h"

struct install {
	char *path;		/* of the file, links followed */
	char *before;		/* of the one before; NULL: there was none */
};

/* The text becomes the file at path, with the mode and the owner of what is there. */
bool install_file(struct install *x, const char *path, const struct buf *text);
/* The one before is back in its place; or nothing, if there was none. */
bool install_undo(const struct install *x);
void install_free(struct install *x);

#endif
