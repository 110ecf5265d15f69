/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The two files from disk. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/conf.h"

static const struct src_pos nowhere;

bool conf_read_file(const char *path, struct buf *text, struct findings *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool done = false;
	struct stat st;

	if (fd < 0) {
		findings_add(out, SEV_ERROR, path, nowhere, "cannot be opened: %s",
			     strerror(errno));
		return false;
	}
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > (off_t)CONF_FILE_MAX)
		findings_add(out, SEV_ERROR, path, nowhere, "too large: %lld bytes, at most %u "
			     "are read", (long long)st.st_size, CONF_FILE_MAX);
	else if (buf_read(text, fd, CONF_FILE_MAX))	/* it may be a pipe, of any length */
		done = true;
	else if (errno == EFBIG)
		findings_add(out, SEV_ERROR, path, nowhere, "too large: at most %u bytes are read",
			     CONF_FILE_MAX);
	else
		findings_add(out, SEV_ERROR, path, nowhere, "cannot be read: %s",
			     strerror(errno));
	close(fd);
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
