/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See file.h. */
#include "lib/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/base/bounded.h"

struct reading {
	char *path;
	size_t max;
	struct buf text, why;
	bool done;
	int error;
};

static const char *kind_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR: return "a directory";
	case S_IFIFO: return "a FIFO";
	case S_IFSOCK: return "a socket";
	default: return "a device";
	}
}

static void failed(struct reading *r, const char *what)
{
	r->error = errno;
	buf_printf(&r->why, "%s: %s", what, strerror(errno));
}

static void too_large(struct reading *r, long long size)
{
	r->error = EFBIG;
	if (size)
		buf_printf(&r->why, "too large: %lld bytes, at most %zu are read", size, r->max);
	else
		buf_printf(&r->why, "too large: at most %zu bytes are read", r->max);
}

/* Whether the file may be read.  Its size is only a hint: it may be wrong, as in /proc. */
static bool is_good(struct reading *r, const struct stat *st)
{
	/* /dev/null stands for an empty file, and reading it takes no time */
	if (S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3))
		return true;
	if (!S_ISREG(st->st_mode)) {
		r->error = S_ISDIR(st->st_mode) ? EISDIR : EINVAL;
		buf_printf(&r->why, "cannot be read: it is %s, not a regular file",
			   kind_of(st->st_mode));
		return false;
	}
	if (st->st_size > 0 && (size_t)st->st_size > r->max) {
		too_large(r, (long long)st->st_size);
		return false;
	}
	return true;
}

static void read_it(struct reading *r, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		failed(r, "cannot be read");
	else if (!is_good(r, &st))
		return;
	else if (buf_read(&r->text, fd, r->max))
		r->done = true;
	else if (errno == EFBIG)
		too_large(r, 0);
	else
		failed(r, "cannot be read");
}

static void run(void *arg)
{
	struct reading *r = arg;
	struct stat st;
	int fd;

	/* before open(), which alone triggers an action in some devices */
	if (stat(r->path, &st) < 0) {
		failed(r, "cannot be opened");
		return;
	}
	if (!is_good(r, &st))
		return;
	/* the path may name another file by now */
	fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		failed(r, "cannot be opened");
		return;
	}
	read_it(r, fd);
	close(fd);
}

static void drop(void *arg)
{
	struct reading *r = arg;

	free(r->path);
	buf_free(&r->text);
	buf_free(&r->why);
	free(r);
}

bool file_read(const char *path, size_t max, struct buf *text, struct buf *why)
{
	struct reading *r = xcalloc(1, sizeof(*r));
	bool done;
	int error;

	r->path = xstrdup(path);
	r->max = max;
	if (!bounded_run(run, drop, r, FILE_SECONDS * INT64_C(1000000))) {
		error = errno;
		if (error == ETIMEDOUT)
			buf_printf(why,
				   "cannot be read: the disk or file server did not answer for %d s",
				   FILE_SECONDS);
		else if (error == EBUSY)
			buf_printf(why,
				   "not reading it: %u earlier reads still wait for a disk or file server "
				   "that does not answer", BOUNDED_LEFT_MAX);
		else if (error == ECANCELED)
			buf_puts(why, "not reading it: the process is ending");
		else
			buf_printf(why, "cannot be read: cannot start a thread: %s", strerror(error));
		errno = error;
		return false;
	}
	done = r->done;
	error = r->error;
	if (!done)
		buf_puts(why, r->why.s);
	else if (r->text.n)
		buf_add(text, r->text.s, r->text.n);
	drop(r);
	errno = error;
	return done;
}

/* --- stamps --- */

struct looking {
	char *path;
	struct file_stamp stamp;
};

static int64_t in_us(const struct timespec *t)
{
	return t->tv_sec * INT64_C(1000000) + t->tv_nsec / 1000;
}

static void look(void *arg)
{
	struct looking *l = arg;
	struct stat st;

	if (stat(l->path, &st) == 0)
		l->stamp = (struct file_stamp){ true, st.st_dev, st.st_ino, st.st_size,
						in_us(&st.st_mtim), in_us(&st.st_ctim) };
}

static void drop_looking(void *arg)
{
	struct looking *l = arg;

	free(l->path);
	free(l);
}

bool file_stamp(const char *path, struct file_stamp *out)
{
	struct looking *l = xcalloc(1, sizeof(*l));

	l->path = xstrdup(path);
	if (!bounded_run(look, drop_looking, l, FILE_SECONDS * INT64_C(1000000)))
		return false;
	*out = l->stamp;
	drop_looking(l);
	return true;
}

bool file_stamp_same(const struct file_stamp *a, const struct file_stamp *b)
{
	return a->there == b->there && a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       a->mtime_us == b->mtime_us && a->ctime_us == b->ctime_us;
}
