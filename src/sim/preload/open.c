/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Overrides open() and its relatives, for files that umad programs open themselves.
 *
 * These are issm devices, whose path comes from umad_get_issm_path(), and files of sysfs.  All
 * other calls go on to the C library.
 */
#undef _FORTIFY_SOURCE		/* its inline functions have the names of those defined here */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "next.h"
#include "preload.h"

#define ISSM		UMAD_DIR "/issm"
#define SCSI_HOSTS	"/sys/class/scsi_host"
#define NOT_OURS	(-2)

/* Allows one holder at a time; returns EAGAIN otherwise, as for a non-blocking open() of the device. */
static int open_issm(const char *number, int flags)
{
	struct sim_answer a;
	unsigned ca, port, n;
	char *end;
	int fd;

	n = (unsigned)strtoul(number, &end, 10);
	if (*number < '0' || *number > '9' || *end || !umad_by_number(n, &ca, &port))
		fd = -ENOENT;
	else
		fd = sim_connect(SIM_ISSM, ca, port, &a);
	if (fd < 0) {
		errno = -fd;
		return -1;
	}
	if (!(flags & O_CLOEXEC))
		fcntl(fd, F_SETFD, 0);
	return fd;
}

static bool starts(const char *path, const char *with)
{
	return !strncmp(path, with, strlen(with));
}

/* A descriptor, -1 with errno, or NOT_OURS. */
static int open_ours(const char *path, int flags)
{
	if (!path || path[0] != '/' || !sim_wanted())
		return NOT_OURS;
	if (starts(path, ISSM))
		return open_issm(path + strlen(ISSM), flags);
	if (starts(path, SYS_INFINIBAND "/") || starts(path, SYS_INFINIBAND_MAD "/"))
		return sysfs_open(path);
	return NOT_OURS;
}

typedef int openat_fn(int dir, const char *path, int flags, ...);
typedef DIR *opendir_fn(const char *path);

/* The C library's openat(), which can replace all other variants. */
static int next_openat(int dir, const char *path, int flags, mode_t mode)
{
	NEXT_FUNCTION(openat_fn, next, "openat")

	return next(dir, path, flags, mode);
}

static int open_any(int dir, const char *path, int flags, mode_t mode)
{
	int fd = open_ours(path, flags);

	return fd == NOT_OURS ? next_openat(dir, path, flags, mode) : fd;
}

#define TAKES_MODE(flags) (((flags) & O_CREAT) || ((flags) & O_TMPFILE) == O_TMPFILE)
#define GET_MODE(mode, flags) \
	do { \
		va_list ap; \
		va_start(ap, flags); \
		mode = TAKES_MODE(flags) ? va_arg(ap, mode_t) : 0; \
		va_end(ap); \
	} while (0)

int open(const char *path, int flags, ...)
{
	mode_t mode;

	GET_MODE(mode, flags);
	return open_any(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	mode_t mode;

	GET_MODE(mode, flags);
	return open_any(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
	mode_t mode;

	GET_MODE(mode, flags);
	return open_any(dir, path, flags, mode);
}

int openat64(int dir, const char *path, int flags, ...)
{
	mode_t mode;

	GET_MODE(mode, flags);
	return open_any(dir, path, flags | O_LARGEFILE, mode);
}

/* open() is called this way in a program built with _FORTIFY_SOURCE. */
int __open_2(const char *path, int flags);
int __open_2(const char *path, int flags)
{
	return open_any(AT_FDCWD, path, flags, 0);
}

int __open64_2(const char *path, int flags);
int __open64_2(const char *path, int flags)
{
	return open_any(AT_FDCWD, path, flags | O_LARGEFILE, 0);
}

/* srp_daemon looks in this directory for its targets; those of this machine are not on the fabric. */
static DIR *no_scsi_hosts(void)
{
	char path[] = "/tmp/qosd-sim.XXXXXX";
	int fd;

	if (!mkdtemp(path))
		return NULL;
	fd = next_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	rmdir(path);
	return fd < 0 ? NULL : fdopendir(fd);
}

DIR *opendir(const char *path)
{
	NEXT_FUNCTION(opendir_fn, next, "opendir")

	return starts(path, SCSI_HOSTS) && sim_wanted() ? no_scsi_hosts() : next(path);
}
