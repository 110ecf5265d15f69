/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The two files from disk. */
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

struct policy *conf_load_policy(const char *path, struct findings *out)
{
	struct policy *p = NULL;
	struct buf text = { 0 };

	if (conf_read_file(path, &text, out))
		p = conf_parse_policy(path, text.n ? text.s : "", text.n, out);
	buf_free(&text);
	return p;
}

struct settings *conf_load_settings(const char *path, struct findings *out)
{
	struct settings *s = NULL;
	struct buf text = { 0 };

	if (conf_read_file(path, &text, out))
		s = conf_parse_settings(path, text.n ? text.s : "", text.n, out);
	buf_free(&text);
	return s;
}
