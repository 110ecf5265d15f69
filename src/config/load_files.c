/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads a configuration file from disk. */
#include <errno.h>

#include "config/conf.h"
#include "lib/base/file.h"

static const struct src_pos nowhere;

bool conf_read_file(const char *path, struct buf *text, struct findings *out)
{
	struct buf why = { 0 };
	bool done = file_read(path, CONF_FILE_MAX, text, &why);
	int error = errno;

	if (!done)
		findings_add(out, SEV_ERROR, path, nowhere, "%s", why.s);
	buf_free(&why);
	errno = error;
	return done;
}
