/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Replaces a file atomically; install_file.h has the contracts. */
#include "install_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "newfile.h"

#define MODE 0644	/* of a new file */

static bool write_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t r = write(fd, p, n);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return false;
		p += r;
		n -= (size_t)r;
	}
	return true;
}

static bool sync_folder_of(const char *path)
{
	char *copy = xstrdup(path);
	int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool ok = fd >= 0 && fsync(fd) == 0;

	if (fd >= 0)
		close(fd);
	free(copy);
	return ok;
}

/*
 * Writes the text to disk in a temporary file next to path; returns its name, or NULL with errno.
 */
static char *write_beside(const char *path, const struct stat *old, const struct buf *text)
{
	char *name = xasprintf("%s.XXXXXX", path);
	int fd = mkostemp(name, O_CLOEXEC), why;
	bool ok = fd >= 0;

	/* set the owner first, as changing it may clear mode bits */
	if (ok && old && fchown(fd, old->st_uid, old->st_gid) < 0 && errno != EPERM)
		ok = false;
	ok = ok && fchmod(fd, old ? old->st_mode & 07777 : MODE) == 0 &&
	     write_all(fd, text->n ? text->s : "", text->n) && fsync(fd) == 0;
	why = errno;
	if (fd >= 0 && close(fd) < 0 && ok) {
		ok = false;
		why = errno;
	}
	if (ok)
		return name;
	if (fd >= 0)
		unlink(name);
	free(name);
	errno = why;
	return NULL;
}

/* Gives the file at path a second name, which replaces any file of that name. */
static bool keep_before(const char *path, const char *before)
{
	char *other = xasprintf("%s.XXXXXX", before);
	int fd = mkostemp(other, O_CLOEXEC), why;
	bool ok = fd >= 0;

	if (ok) {
		close(fd);
		unlink(other);
		ok = link(path, other) == 0 && rename(other, before) == 0;
		why = errno;
		unlink(other);
		errno = why;
	}
	free(other);
	return ok;
}

bool install_file(struct install *x, const char *path, const struct buf *text)
{
	struct stat st, *old = &st;
	char *new;
	bool ok;

	*x = (struct install){ .path = realpath(path, NULL) };
	if (!x->path && errno == ENOENT)
		x->path = xstrdup(path);
	if (!x->path)
		return complain(path);
	if (stat(x->path, old) < 0) {
		if (errno != ENOENT)
			return complain(x->path);
		old = NULL;
	} else if (!S_ISREG(old->st_mode)) {
		errno = EINVAL;
		return complain(x->path);
	}
	new = write_beside(x->path, old, text);
	if (!new)
		return complain(x->path);
	if (old)
		x->before = xasprintf("%s.before", x->path);
	ok = (!old || keep_before(x->path, x->before) || complain(x->before)) &&
	     (rename(new, x->path) == 0 || complain(x->path));
	if (!ok)
		unlink(new);
	else if (!sync_folder_of(x->path))
		complain(x->path);	/* the new file is in place, but may not survive a power failure */
	free(new);
	return ok;
}

bool install_undo(const struct install *x)
{
	bool ok = x->before ? keep_before(x->before, x->path) : unlink(x->path) == 0;

	return (ok && sync_folder_of(x->path)) || complain(x->path);
}

void install_free(struct install *x)
{
	free(x->path);
	free(x->before);
	*x = (struct install){ NULL, NULL };
}
