/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A library to be preloaded: a disk that fails, for the files in one folder, and a clock
 * that jumps.  What changes something on disk, or is to make sure that it is there, is
 * numbered from 1 on: opening to write or to sync, write, fsync, rename, unlink, mkdir.
 *
 *   FAULTY_FOLDER	the folder, as the program names it
 *   FAULTY_AT		which of them fails; 0 or unset: none
 *   FAULTY_TIMES	… and so many in all from there on, default 1
 *   FAULTY_HOW		with which errno (a number), or that the program is killed there:
 *	kill	what was done before is there
 *	power	nothing is there that was not synced: no bytes, no names
 *	torn	names are there, of unsynced bytes one half, the rest are zeros
 *   FAULTY_LOG		a file to which each is appended: NUMBER CALL PATH
 *   FAULTY_WHILE	a file: as long as it is there all of them fail, with the errno in it
 *   FAULTY_HANG	a file: as long as it is there nothing that is to be synced is
 *   FAULTY_READ	a file or folder: nothing is to be learned of it, nor read, as long as
 *   FAULTY_READ_WHILE	… this file is there; if there is an errno in it, that is said at once
 *   FAULTY_GROUP	a group of the system that is not to be found as long as
 *   FAULTY_GROUP_WHILE	… this file is there
 *   FAULTY_CLOCK	a file: seconds by which CLOCK_REALTIME is wrong
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FDS = 1024, FILES = 64, UNDOS = 256, PATH_LEN = 512 };

static const char *folder, *how, *log_path, *while_path, *hang_path, *clock_path;
static const char *read_path, *read_while_path, *group, *group_while_path;
static unsigned long at, times, n_calls;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A written file, by its present name. */
static struct file {
	char path[PATH_LEN];
	off_t size, synced;
} files[FILES];

/* Undone when the power fails before the folder is synced, the last one first. */
static struct undo {
	char path[PATH_LEN], backup[PATH_LEN];	/* to be removed, to be put in its place; or "" */
} undos[UNDOS];
static unsigned n_undos, n_backups;

static char *open_paths[FDS];		/* of descriptors in the folder */

static void *next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

static int real_open(const char *path, int flags, mode_t mode)
{
	static int (*fn)(const char *, int, ...);

	if (!fn)
		fn = (int (*)(const char *, int, ...))next("open");
	return fn(path, flags, mode);
}

#define REAL(type, name, ...) \
	static type (*fn_##name)(__VA_ARGS__); \
	if (!fn_##name) \
		fn_##name = (type (*)(__VA_ARGS__))next(#name)

static ssize_t real_write(int fd, const void *p, size_t n)
{
	REAL(ssize_t, write, int, const void *, size_t);
	return fn_write(fd, p, n);
}

static int real_rename(const char *from, const char *to)
{
	REAL(int, rename, const char *, const char *);
	return fn_rename(from, to);
}

static int real_unlink(const char *path)
{
	REAL(int, unlink, const char *);
	return fn_unlink(path);
}

__attribute__((constructor))
static void begin(void)
{
	const char *text;

	folder = getenv("FAULTY_FOLDER");
	how = getenv("FAULTY_HOW");
	log_path = getenv("FAULTY_LOG");
	while_path = getenv("FAULTY_WHILE");
	hang_path = getenv("FAULTY_HANG");
	clock_path = getenv("FAULTY_CLOCK");
	read_path = getenv("FAULTY_READ");
	read_while_path = getenv("FAULTY_READ_WHILE");
	group = getenv("FAULTY_GROUP");
	group_while_path = getenv("FAULTY_GROUP_WHILE");
	text = getenv("FAULTY_AT");
	at = text ? strtoul(text, NULL, 10) : 0;
	text = getenv("FAULTY_TIMES");
	times = text ? strtoul(text, NULL, 10) : 1;
}

static bool concerns(const char *path)
{
	size_t n = folder ? strlen(folder) : 0;

	return n && !strncmp(path, folder, n) && (!path[n] || path[n] == '/');
}

/* --- what is on disk --- */

static struct file *find_file(const char *path)
{
	for (unsigned i = 0; i < FILES; i++)
		if (!strcmp(files[i].path, path))
			return &files[i];
	return NULL;
}

static struct file *get_file(const char *path)
{
	struct file *f = find_file(path);

	if (!f && (f = find_file("")))
		snprintf(f->path, sizeof(f->path), "%s", path);
	if (!f)
		abort();
	return f;
}

static void forget_file(const char *path)
{
	struct file *f = find_file(path);

	if (f)
		*f = (struct file){ .path = "" };
}

static struct undo *add_undo(void)
{
	if (n_undos == UNDOS)
		abort();
	undos[n_undos] = (struct undo){ .path = "" };
	return &undos[n_undos++];
}

/* Before the name goes to something else. */
static void keep(const char *path, struct undo *u)
{
	snprintf(u->path, sizeof(u->path), "%s", path);
	if (access(path, F_OK))
		return;
	snprintf(u->backup, sizeof(u->backup), "%s.undo.%u", folder, n_backups++);
	if (link(path, u->backup))
		u->backup[0] = '\0';
}

static void names_are_synced(void)
{
	while (n_undos)
		if (*undos[--n_undos].backup)
			real_unlink(undos[n_undos].backup);
}

static void undo_names(void)
{
	while (n_undos) {
		struct undo *u = &undos[--n_undos];

		if (*u->backup)
			real_rename(u->backup, u->path);
		else
			real_unlink(u->path);
	}
}

static void damage(const struct file *f, bool torn)
{
	off_t kept = f->synced + (torn ? (f->size - f->synced) / 2 : 0);

	if (f->size == f->synced || truncate(f->path, kept))
		return;
	if (torn && truncate(f->path, f->size))
		abort();
}

static void power_fails(bool torn)
{
	for (unsigned i = 0; i < FILES; i++)
		if (*files[i].path)
			damage(&files[i], torn);
	if (!torn)
		undo_names();
}

/* --- the calls --- */

static int errno_in(const char *path)
{
	char text[16] = "";
	int fd = path ? real_open(path, O_RDONLY | O_CLOEXEC, 0) : -1;

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		abort();
	close(fd);
	return atoi(text);
}

static void say(const char *call, const char *path)
{
	char line[PATH_LEN + 64];
	int fd, n;

	if (!log_path)
		return;
	n = snprintf(line, sizeof(line), "%lu %s %s\n", n_calls, call, path);
	fd = real_open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0 || real_write(fd, line, (size_t)n) != n)
		abort();
	close(fd);
}

/* Under the lock.  False: it fails, with errno. */
static bool may(const char *call, const char *path)
{
	int why = errno_in(while_path);

	n_calls++;
	say(call, path);
	if (at && n_calls >= at && n_calls - at < times) {
		why = atoi(how);
		if (!why) {
			if (strcmp(how, "kill"))
				power_fails(!strcmp(how, "torn"));
			names_are_synced();
			raise(SIGKILL);
		}
	}
	errno = why;
	return !why;
}

static int open_in_folder(const char *path, int flags, mode_t mode)
{
	bool creates = (flags & O_CREAT) && access(path, F_OK);
	int fd;

	if (!may(flags & O_DIRECTORY ? "opendir" : "open", path))
		return -1;
	if (creates)
		keep(path, add_undo());
	fd = real_open(path, flags, mode);
	if (fd < 0 && creates)
		n_undos--;
	if (fd >= 0 && fd < FDS) {
		free(open_paths[fd]);
		open_paths[fd] = strdup(path);
	}
	return fd;
}

/* False: it fails, with errno. */
static bool may_read(const char *path)
{
	int why;

	if (!read_path || !read_while_path || strcmp(path, read_path) != 0)
		return true;
	while (!access(read_while_path, F_OK)) {
		why = errno_in(read_while_path);
		if (why) {
			errno = why;
			return false;
		}
		usleep(10000);
	}
	return true;
}

int stat(const char *restrict path, struct stat *restrict st)
{
	REAL(int, stat, const char *, struct stat *);
	return may_read(path) ? fn_stat(path, st) : -1;
}

int lstat(const char *restrict path, struct stat *restrict st)
{
	REAL(int, lstat, const char *, struct stat *);
	return may_read(path) ? fn_lstat(path, st) : -1;
}

int getgrnam_r(const char *restrict name, struct group *restrict g, char *restrict room, size_t n,
	       struct group **restrict found)
{
	REAL(int, getgrnam_r, const char *, struct group *, char *, size_t, struct group **);
	while (group && group_while_path && !strcmp(name, group) && !access(group_while_path, F_OK))
		usleep(10000);
	return fn_getgrnam_r(name, g, room, n, found);
}

int open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;
	int fd;

	va_start(ap, flags);
	if (flags & O_CREAT)
		mode = va_arg(ap, mode_t);
	va_end(ap);
	if (!may_read(path))
		return -1;
	if (!concerns(path) || (!(flags & (O_WRONLY | O_RDWR | O_CREAT | O_DIRECTORY))))
		return real_open(path, flags, mode);
	pthread_mutex_lock(&lock);
	fd = open_in_folder(path, flags, mode);
	pthread_mutex_unlock(&lock);
	return fd;
}

static const char *path_of(int fd)
{
	return fd >= 0 && fd < FDS ? open_paths[fd] : NULL;
}

ssize_t write(int fd, const void *p, size_t n)
{
	const char *path;
	ssize_t r = -1;

	pthread_mutex_lock(&lock);
	path = path_of(fd);
	if (!path) {		/* it may be a pipe and block forever */
		pthread_mutex_unlock(&lock);
		return real_write(fd, p, n);
	}
	if (may("write", path))
		r = real_write(fd, p, n);
	if (r > 0)
		get_file(path)->size += r;
	pthread_mutex_unlock(&lock);
	return r;
}

/* Also of a descriptor that a library opened by another call than open(), such as SQLite. */
static bool is_in_folder(int fd)
{
	char link[40], path[PATH_LEN];
	ssize_t n;

	if (path_of(fd) || !folder)
		return path_of(fd);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return false;
	path[n] = '\0';
	return strncmp(path, folder, strlen(folder)) == 0 && path[strlen(folder)] == '/';
}

static int sync_with(int fd, const char *name)
{
	int (*fn)(int) = (int (*)(int))next(name), r = -1;
	const char *path;

	while (hang_path && !access(hang_path, F_OK) && is_in_folder(fd))
		usleep(10000);
	pthread_mutex_lock(&lock);
	path = path_of(fd);
	if (!path || may(name, path))
		r = fn(fd);
	if (path && !r && strcmp(path, folder))
		get_file(path)->synced = get_file(path)->size;
	else if (path && !r)
		names_are_synced();
	pthread_mutex_unlock(&lock);
	return r;
}

int fsync(int fd)
{
	return sync_with(fd, "fsync");
}

int fdatasync(int fd)
{
	return sync_with(fd, "fdatasync");
}

int close(int fd)
{
	REAL(int, close, int);
	/* few of a process's many closed descriptors are ours */
	if (path_of(fd)) {
		free(open_paths[fd]);
		open_paths[fd] = NULL;
	}
	return fn_close(fd);
}

static int rename_in_folder(const char *from, const char *to)
{
	struct file *f;
	int r;

	if (!may("rename", to))
		return -1;
	keep(to, add_undo());
	keep(from, add_undo());
	r = real_rename(from, to);
	if (r)
		return r;
	forget_file(to);
	f = find_file(from);
	if (f)
		snprintf(f->path, sizeof(f->path), "%s", to);
	return 0;
}

int rename(const char *from, const char *to)
{
	int r;

	if (!concerns(to))
		return real_rename(from, to);
	pthread_mutex_lock(&lock);
	r = rename_in_folder(from, to);
	pthread_mutex_unlock(&lock);
	return r;
}

int unlink(const char *path)
{
	int r = -1;

	if (!concerns(path) || access(path, F_OK))
		return real_unlink(path);
	pthread_mutex_lock(&lock);
	if (may("unlink", path)) {
		keep(path, add_undo());
		r = real_unlink(path);
		forget_file(path);
	}
	pthread_mutex_unlock(&lock);
	return r;
}

int mkdir(const char *path, mode_t mode)
{
	REAL(int, mkdir, const char *, mode_t);
	bool ok = true;

	if (concerns(path)) {
		pthread_mutex_lock(&lock);
		ok = may("mkdir", path);
		pthread_mutex_unlock(&lock);
	}
	return ok ? fn_mkdir(path, mode) : -1;
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	REAL(int, clock_gettime, clockid_t, struct timespec *);
	int r = fn_clock_gettime(id, ts), fd;
	char text[32] = "";

	if (r || id != CLOCK_REALTIME || !clock_path)
		return r;
	fd = real_open(clock_path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return r;
	if (read(fd, text, sizeof(text) - 1) > 0)
		ts->tv_sec += atoll(text);
	REAL(int, close, int);
	fn_close(fd);
	return r;
}
