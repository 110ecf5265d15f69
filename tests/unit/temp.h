/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes temporary files and directories in $TMPDIR, else /tmp.  The caller removes them and
 * frees the names.
 */
#ifndef QOSD_TEST_TEMP_H
#define QOSD_TEST_TEMP_H

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/base/alloc.h"

/* A template for mkstemp() and mkdtemp(). */
static inline char *temp_template(void)
{
	const char *dir = getenv("TMPDIR");

	return xasprintf("%s/qosd-XXXXXX", dir ? dir : "/tmp");
}

/* Makes a file with these bytes; the caller unlinks it. */
static inline char *temp_file(const void *bytes, size_t n)
{
	char *path = temp_template();
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, n), (ssize_t)n);
	close(fd);
	return path;
}

/* Makes a directory; end it with temp_directory_remove(), or rmdir() to assert that it is empty. */
static inline char *temp_directory(void)
{
	char *path = temp_template();

	ck_assert_ptr_nonnull(mkdtemp(path));
	return path;
}

static inline int temp_remove_one(const char *path, const struct stat *s, int type,
				  struct FTW *where)
{
	(void)s;
	(void)type;
	(void)where;
	return remove(path);
}

/* Removes the directory with its contents and frees the name. */
static inline void temp_directory_remove(char *path)
{
	ck_assert_int_eq(nftw(path, temp_remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
	free(path);
}

#endif
