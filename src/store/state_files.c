/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads and writes whole files of the state folder, and sets bad ones aside.
 *
 *  - A file is written beside its place, synced and renamed, and the folder is synced: at any
 *    moment the old or the new file is there, also after a power failure.
 *  - A file that cannot be written is kept in memory. folder_retry(), or a later text for the
 *    file, tries again until it is on disk: later and later, and at once when the disk accepts
 *    a write again.
 *  - A read-only or missing folder does not stop the daemon, which uses the folder as soon as
 *    it can. Files found in it then, which nobody has read, are set aside.
 *  - Each file has at most one problem of each kind. A problem is logged when it begins, when it
 *    changes, and when it is over.  A file that waits has a problem until it is on disk; while
 *    only the folder is to blame, the folder's problem stands for those of the files.
 *
 * At the start one thread opens the folder and reads the files; after that only the writer's
 * thread (writer_thread.c) uses it.  Any thread may ask for problems, and the lock protects only
 * those: no other thread waits for the disk.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/base/backoff.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "store/store_internal.h"

/* More than the registries fill with the highest bounds that qosd.yaml accepts. */
#define FILE_MAX	(256u << 20)
#define RETRY_US	1000000
#define RETRY_MAX_US	(64 * 1000000ll)
#define ASIDE_MAX	9	/* names for a file set aside */
#define LOCK		"lock"
#define LOCK_FLAGS	(O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)

struct problem {
	enum folder_kind kind;
	char *name, *text;
	int64_t since_us;	/* realtime */
	bool covered;		/* not logged, and not reported while the folder has a problem */
};

/* A file that could not be written yet. */
struct late {
	char *name;
	struct buf text;
};

struct folder {
	char *dir;
	pthread_mutex_t lock;
	int lock_fd;		/* < 0: the folder cannot be used */
	bool unread;		/* the folder was missing when the daemon read its state */
	bool sync_late;		/* names in the folder may not be on disk yet */
	VEC(struct problem) problems;
	VEC(struct late) late;
	int64_t retry_at_us, retry_us;	/* retry_us 0: the disk has just accepted a write again */
	bool failing;		/* a file began to fail, and no write has succeeded since */
	uint64_t recoveries;	/* see folder_recoveries() */
	struct log_ratelimit said;
};

static char *folder_path(const struct folder *f, const char *name, const char *suffix)
{
	return xasprintf("%s/%s%s", f->dir, name, suffix);
}

/* --- problems --- */

/* The caller holds the lock. */
static struct problem *find_problem(struct folder *f, enum folder_kind kind, const char *name)
{
	for (size_t i = 0; i < f->problems.n; i++)
		if (f->problems.v[i].kind == kind && !strcmp(f->problems.v[i].name, name))
			return &f->problems.v[i];
	return NULL;
}

/* The caller holds the lock, and sets the text. */
static struct problem *add_problem(struct folder *f, enum folder_kind kind, const char *name)
{
	struct problem *p = vec_push(&f->problems);

	*p = (struct problem){ .kind = kind, .name = xstrdup(name), .since_us = clock_real_us() };
	f->failing |= kind == FOLDER_USE || kind == FOLDER_WRITE;
	return p;
}

__attribute__((format(printf, 4, 5)))
static void trouble(struct folder *f, enum folder_kind kind, const char *name, const char *fmt, ...)
{
	struct buf text = { 0 };
	struct problem *p;
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&f->lock);
	p = find_problem(f, kind, name);
	if (p && !strcmp(p->text, text.s)) {
		buf_free(&text);
		goto out;
	}
	if (!p)
		p = add_problem(f, kind, name);
	free(p->text);
	p->text = text.s;
	p->covered = false;
	log_limited(&f->said, LOG_LEVEL_ERROR, "store", "%s%s%s: %s", f->dir, *name ? "/" : "",
		    name, p->text);
out:
	pthread_mutex_unlock(&f->lock);
}

/* The file waits, perhaps only for the folder, whose problem is reported as long as there is one. */
static void note_waiting(struct folder *f, const char *name)
{
	struct problem *p;

	pthread_mutex_lock(&f->lock);
	if (!find_problem(f, FOLDER_WRITE, name)) {
		p = add_problem(f, FOLDER_WRITE, name);
		p->text = xstrdup("not written yet; trying again");
		p->covered = true;
	}
	pthread_mutex_unlock(&f->lock);
}

static void problem_clear(struct problem *p)
{
	free(p->name);
	free(p->text);
}

/* True: there was a problem, which is over. */
static bool fine(struct folder *f, enum folder_kind kind, const char *name)
{
	struct problem *p;

	pthread_mutex_lock(&f->lock);
	p = find_problem(f, kind, name);
	if (p) {
		if (!p->covered)
			log_limited(&f->said, LOG_LEVEL_WARNING, "store",
				    "%s%s%s: can be written again", f->dir, *name ? "/" : "", name);
		problem_clear(p);
		*p = f->problems.v[--f->problems.n];
	}
	pthread_mutex_unlock(&f->lock);
	return p;
}

void folder_problems(struct folder *f, void (*fn)(void *arg, const struct store_problem *p),
		     void *arg)
{
	bool unusable;

	pthread_mutex_lock(&f->lock);
	unusable = find_problem(f, FOLDER_USE, "");
	for (const struct problem *p = f->problems.v; p < vec_end(&f->problems); p++)
		if (!p->covered || !unusable)
			fn(arg, &(struct store_problem){ p->name, p->text, p->since_us });
	pthread_mutex_unlock(&f->lock);
}

/* --- the folder itself --- */

static int sync_dir(const struct folder *f)
{
	int fd = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), why = 0;

	if (fd < 0)
		return errno;
	if (fsync(fd) < 0)
		why = errno;
	close(fd);
	return why;
}

/*
 * Syncs the folder.  The file is in place, but its name may be lost in a power failure until
 * this succeeds.
 */
static void sync_names(struct folder *f)
{
	int why = sync_dir(f);

	f->sync_late = why != 0;
	if (why)
		trouble(f, FOLDER_SYNC, "", "cannot sync: %s", strerror(why));
	else
		fine(f, FOLDER_SYNC, "");
}

/* Renames a file to the first name available for a file set aside; out: that name. */
static bool move_aside(const struct folder *f, const char *name, const char *suffix, char **out)
{
	char *path = folder_path(f, name, ""), *aside = folder_path(f, name, suffix);
	bool ok = rename(path, aside) == 0;

	/* rename() fails where a folder has that name */
	for (unsigned i = 1; !ok && i <= ASIDE_MAX; i++) {
		if (errno != EISDIR && errno != ENOTDIR && errno != ENOTEMPTY && errno != EEXIST)
			break;
		free(aside);
		aside = xasprintf("%s%s.%u", path, suffix, i);
		ok = rename(path, aside) == 0;
	}
	free(path);
	*out = aside;
	return ok;
}

static void set_aside(struct folder *f, const char *name, const char *why, const char *suffix)
{
	char *aside;

	if (move_aside(f, name, suffix, &aside))
		trouble(f, FOLDER_READ, name, "%s; set aside as %s", why, aside);
	else
		trouble(f, FOLDER_READ, name, "%s, and cannot be set aside: %s", why,
			strerror(errno));
	free(aside);
}

void folder_set_aside(struct folder *f, const char *name, const char *why)
{
	set_aside(f, name, why, ".damaged");
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), k = strlen(end);

	return n >= k && !strcmp(s + n - k, end);
}

/* Sets aside the files that this run did not read, so that it does not overwrite them. */
static void set_unread_aside(struct folder *f)
{
	DIR *d = opendir(f->dir);
	VEC(char *) names = { 0 };
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (*e->d_name != '.' && strcmp(e->d_name, LOCK) && !strstr(e->d_name, ".damaged") &&
		    !strstr(e->d_name, ".unread") && !ends_with(e->d_name, ".new"))
			*vec_push(&names) = xstrdup(e->d_name);
	if (d)
		closedir(d);
	for (size_t i = 0; i < names.n; i++) {
		set_aside(f, names.v[i], "was not readable when qosd started", ".unread");
		free(names.v[i]);
	}
	vec_free(&names);
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Opens the lock file or, if there can be none, the folder itself; < 0: see errno. */
static int open_lock(struct folder *f)
{
	char *path = folder_path(f, LOCK, "");
	int fd = open(path, LOCK_FLAGS, 0600);

	if (fd < 0 && (errno == EISDIR || errno == ELOOP)) {
		set_aside(f, LOCK, "is not a regular file", ".damaged");
		fd = open(path, LOCK_FLAGS, 0600);
	}
	free(path);
	if (fd >= 0)
		return fd;
	trouble(f, FOLDER_USE, "", "cannot be written: %s; state is not stored until it can",
		strerror(errno));
	return open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/*
 * Makes and locks the folder, unless done.  Returns 0 or an errno, EWOULDBLOCK: another qosd has
 * it.
 */
static int take(struct folder *f)
{
	int why;

	if (f->lock_fd >= 0)
		return 0;
	if (mkdir(f->dir, 0700) < 0 && errno != EEXIST) {
		why = errno;
		if (!is_folder(f->dir))
			return why;
	}
	f->lock_fd = open_lock(f);
	if (f->lock_fd < 0)
		return errno;
	/* on a file system without locks, do without */
	if (flock(f->lock_fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
		close(f->lock_fd);
		f->lock_fd = -1;
		return EWOULDBLOCK;
	}
	if (f->unread)
		set_unread_aside(f);
	f->unread = false;
	return 0;
}

/* --- writing --- */

static bool write_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t r = write(fd, p, n);

		if (r < 0 && errno == EINTR)
			continue;
		if (r == 0)
			errno = EIO;
		if (r <= 0)
			return false;
		p += r;
		n -= (size_t)r;
	}
	return true;
}

/* Opens a new file of that name in place of an existing one. */
static int open_new(struct folder *f, const char *name)
{
	char *path = folder_path(f, name, "");
	int fd;

	if (unlink(path) < 0 && errno == EISDIR)
		set_aside(f, name, "is a folder", ".damaged");
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	free(path);
	return fd;
}

/* Returns NULL, or what failed, with errno. */
static const char *write_beside(struct folder *f, const char *name, const char *text, size_t n)
{
	int fd = open_new(f, name), why;
	const char *failed = NULL;

	if (fd < 0)
		return "open";
	if (!write_all(fd, text, n))
		failed = "write";
	else if (fsync(fd) < 0)
		failed = "sync";
	why = errno;
	if (close(fd) < 0 && !failed) {
		failed = "close";
		why = errno;
	}
	errno = why;
	return failed;
}

static const char *put_in_place(struct folder *f, const char *name, const char *new_path)
{
	char *path = folder_path(f, name, "");
	bool ok = rename(new_path, path) == 0;

	if (!ok && errno == EISDIR) {
		set_aside(f, name, "is a folder", ".damaged");
		ok = rename(new_path, path) == 0;
	}
	free(path);
	return ok ? NULL : "rename";
}

/* If somebody removed the folder, gives up its lock, so that it is made again. */
static void drop_if_gone(struct folder *f)
{
	if (is_folder(f->dir))
		return;
	close(f->lock_fd);
	f->lock_fd = -1;
}

/*
 * A write has succeeded.  mended: it ended a problem.  Files that wait need not wait any longer if
 * the disk did not accept such a write before.
 */
static void disk_accepts(struct folder *f, bool mended)
{
	if (!mended && !f->failing)
		return;
	f->failing = false;
	f->recoveries++;
	f->retry_us = 0;
	f->retry_at_us = f->late.n ? clock_mono_us() : f->retry_at_us;
}

uint64_t folder_recoveries(const struct folder *f)
{
	return f->recoveries;
}

static bool write_now(struct folder *f, const char *name, const char *text, size_t n)
{
	char *new_name, *new_path;
	const char *failed;
	int why = take(f);
	bool mended;

	if (why) {
		trouble(f, FOLDER_USE, "", "cannot be used: %s; state is not stored until it can",
			why == EWOULDBLOCK ? "another qosd uses it" : strerror(why));
		return false;
	}
	new_name = xasprintf("%s.new", name);
	new_path = folder_path(f, new_name, "");
	failed = write_beside(f, new_name, text, n);
	if (!failed)
		failed = put_in_place(f, name, new_path);
	if (failed) {
		why = errno;
		unlink(new_path);	/* free its space */
		if (why == ENOENT)
			drop_if_gone(f);
		trouble(f, FOLDER_WRITE, name, "cannot %s: %s; trying again", failed,
			strerror(why));
	} else {
		sync_names(f);
		mended = fine(f, FOLDER_WRITE, name);
		mended |= fine(f, FOLDER_USE, "");
		disk_accepts(f, mended);
	}
	free(new_name);
	free(new_path);
	return !failed;
}

static void late_remove(struct folder *f, size_t i)
{
	free(f->late.v[i].name);
	buf_free(&f->late.v[i].text);
	f->late.v[i] = f->late.v[--f->late.n];
}

static void late_put(struct folder *f, const char *name, const char *text, size_t n)
{
	struct late *x = NULL;

	for (size_t i = 0; i < f->late.n; i++)
		if (!strcmp(f->late.v[i].name, name))
			x = &f->late.v[i];
	if (!x) {
		x = vec_push(&f->late);
		*x = (struct late){ .name = xstrdup(name) };
	}
	x->text.n = 0;
	buf_add(&x->text, text, n);
	if (!f->retry_at_us) {
		f->retry_us = RETRY_US;
		f->retry_at_us = clock_mono_us() + f->retry_us;
	}
}

bool folder_write(struct folder *f, const char *name, const char *text, size_t n,
		  enum folder_again again)
{
	bool ok = write_now(f, name, text, n);

	for (size_t i = f->late.n; ok && i-- > 0;)
		if (!strcmp(f->late.v[i].name, name))
			late_remove(f, i);
	if (!ok && again != FOLDER_ONCE)
		note_waiting(f, name);
	if (!ok && again == FOLDER_RETRY)
		late_put(f, name, text, n);
	return ok;
}

static void write_late(struct folder *f)
{
	for (size_t i = f->late.n; i-- > 0;)
		if (write_now(f, f->late.v[i].name, f->late.v[i].text.s, f->late.v[i].text.n))
			late_remove(f, i);
	if (f->sync_late)
		sync_names(f);
	if (f->late.n || f->sync_late) {
		f->retry_us = backoff_next(f->retry_us, RETRY_US, RETRY_MAX_US);
		f->retry_at_us = clock_mono_us() + f->retry_us;
	} else {
		f->retry_at_us = 0;
	}
}

int64_t folder_retry(struct folder *f)
{
	if (f->sync_late && !f->retry_at_us)
		f->retry_at_us = clock_mono_us() + (f->retry_us = RETRY_US);
	if (f->retry_at_us && f->retry_at_us <= clock_mono_us())
		write_late(f);
	return f->retry_at_us;
}

/* --- appending --- */

int folder_append_new(struct folder *f, const char *name)
{
	int fd = -1, why = take(f);

	if (!why) {
		fd = open_new(f, name);
		why = errno;
	}
	if (fd < 0) {
		trouble(f, FOLDER_WRITE, name, "cannot open: %s", strerror(why));
		return fd;
	}
	sync_names(f);
	fine(f, FOLDER_WRITE, name);
	return fd;
}

bool folder_append(struct folder *f, const char *name, int fd, const char *text, size_t n)
{
	bool written = write_all(fd, text, n);

	if (written && fdatasync(fd) == 0) {
		disk_accepts(f, false);
		return true;
	}
	trouble(f, FOLDER_WRITE, name, "cannot %s: %s", written ? "sync" : "write",
		strerror(errno));
	return false;
}

/* --- reading --- */

static int open_to_read(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
}

static bool read_file(const char *path, struct buf *b)
{
	int fd = open_to_read(path);
	struct stat st;
	bool ok = false;
	int why;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0) {
		if (!S_ISREG(st.st_mode))
			errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
		else if (st.st_size > FILE_MAX)
			errno = EFBIG;
		else
			ok = buf_read(b, fd, FILE_MAX);
	}
	why = errno;
	close(fd);
	errno = why;
	return ok;
}

bool folder_read(struct folder *f, const char *name, struct buf *b, bool *there)
{
	char *path = folder_path(f, name, ""), *why;
	bool ok = read_file(path, b);

	*there = ok || (errno != ENOENT && errno != ENOTDIR);
	if (!ok && *there) {
		why = xasprintf("cannot be read: %s", strerror(errno));
		folder_set_aside(f, name, why);
		free(why);
	}
	free(path);
	return ok;
}

bool folder_first_line(const struct folder *f, const char *name, char *line, size_t n)
{
	char *path = folder_path(f, name, ""), *end = NULL;
	int fd = open_to_read(path);
	ssize_t got = fd < 0 ? -1 : read(fd, line, n);

	if (got > 0)
		end = memchr(line, '\n', (size_t)got);
	if (end)
		*end = '\0';
	if (fd >= 0)
		close(fd);
	free(path);
	return end;
}

const char *folder_dir(const struct folder *f)
{
	return f->dir;
}

/* --- beginning and end --- */

struct folder *folder_open(const char *dir, struct buf *err)
{
	struct folder *f = xcalloc(1, sizeof(*f));
	int why;

	f->dir = xstrdup(dir);
	f->lock_fd = -1;
	f->said = (struct log_ratelimit){ .burst = 32, .per_second = 1, .tokens = 32 };
	pthread_mutex_init(&f->lock, NULL);
	f->unread = !is_folder(dir);
	if (f->unread && access(dir, F_OK) == 0)
		why = ENOTDIR;
	else
		why = take(f);
	if (why == EWOULDBLOCK || why == ENOTDIR) {
		buf_printf(err, "%s: %s", dir, why == EWOULDBLOCK ?
			   "another qosd uses this state folder" : "is not a folder");
		folder_close(f);
		return NULL;
	}
	if (why)
		trouble(f, FOLDER_USE, "", "cannot be used: %s; state is not stored until it can",
			strerror(why));
	return f;
}

void folder_last_try(struct folder *f)
{
	if (f->late.n)
		write_late(f);
}

void folder_close(struct folder *f)
{
	while (f->late.n) {
		log_error("store", "%s/%s: not written before qosd ended; its latest content is lost",
			  f->dir, f->late.v[0].name);
		late_remove(f, 0);
	}
	vec_free(&f->late);
	for (size_t i = 0; i < f->problems.n; i++)
		problem_clear(&f->problems.v[i]);
	vec_free(&f->problems);
	if (f->lock_fd >= 0)
		close(f->lock_fd);
	pthread_mutex_destroy(&f->lock);
	free(f->dir);
	free(f);
}
