/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes, watches and removes the control socket's file; socket_file.h has the contracts.  A thread
 * uses only its own struct look.
 */
#include "ctl/socket_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"

#define SECOND_US	1000000
#define LOOK_US		(2 * SECOND_US)
#define HANGS_LOOKS	5	/* missed looks after which the running one counts as hung */
#define END_US		(SECOND_US / 2)
#define FRESH_US	(SECOND_US / 10)	/* longest time that a client waits for a look */

/* A thread's task and its result. */
struct look {
	struct socket_file *file;	/* for the loop's thread only */
	struct sockaddr_un addr;
	mode_t mode;
	bool ends;		/* remove the file */
	struct stat made;	/* the file as made; st_ino 0: not made yet */
	bool gone;		/* nothing was at the path */
	bool ours;		/* the file at the path is the one we made */
	int fd;			/* new listening socket, if the file was gone; or -1 */
	struct buf err;		/* why there is none */
};

struct socket_file {
	struct loop *loop;
	struct look *seen;		/* the last completed look */
	struct look *look;		/* the running look */
	struct work *work;
	struct timer *timer;
	unsigned late;			/* looks that came due meanwhile */
	bool slow;			/* a client waited for it in vain */
	bool lost;			/* the file is gone, and a message said so */
	void (*renewed)(void *arg, int fd);
	void *arg;
};

static const char *path_of(const struct look *k)
{
	return k->addr.sun_path;
}

static struct look *look_new(struct socket_file *s)
{
	struct look *k = xcalloc(1, sizeof(*k));

	k->file = s;
	k->fd = -1;
	return k;
}

/* Makes the next look, from what the last one saw. */
static struct look *look_next(struct socket_file *s)
{
	struct look *k = look_new(s);

	k->addr = s->seen->addr;
	k->mode = s->seen->mode;
	k->made = s->seen->made;
	return k;
}

static void look_free(void *arg)
{
	struct look *k = arg;

	if (!k)
		return;
	if (k->fd >= 0)
		close(k->fd);
	buf_free(&k->err);
	free(k);
}

/* --- in a thread, and at the start --- */

/* Removes a socket file that no process listens on. */
static bool remove_stale(struct look *k)
{
	const char *path = path_of(k);
	struct stat st;
	int fd, failed;

	if (lstat(path, &st) == 0 && !S_ISSOCK(st.st_mode)) {
		buf_printf(&k->err, "%s: exists and is not a socket", path);
		return false;
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	failed = connect(fd, (const struct sockaddr *)&k->addr, sizeof(k->addr)) < 0 ? errno : 0;
	close(fd);
	if (failed == 0 || failed == EAGAIN) {	/* EAGAIN: its backlog is full */
		buf_printf(&k->err, "another qosd answers on %s", path);
		return false;
	}
	if (failed == ECONNREFUSED && unlink(path) == 0)
		return true;
	if (failed == ENOENT)
		return true;
	buf_printf(&k->err, "%s: %s", path, strerror(failed == ECONNREFUSED ? errno : failed));
	return false;
}

/*
 * Sets the mode between bind and listen: nobody can connect before listen, so that no umask lets
 * anyone in.
 */
static bool bind_and_listen(struct look *k)
{
	const struct sockaddr *sa = (const struct sockaddr *)&k->addr;
	bool bound = bind(k->fd, sa, sizeof(k->addr)) == 0;

	if (!bound && errno == EADDRINUSE) {
		if (!remove_stale(k))
			return false;
		bound = bind(k->fd, sa, sizeof(k->addr)) == 0;
	}
	if (bound && stat(path_of(k), &k->made) == 0 && chmod(path_of(k), k->mode) == 0 &&
	    listen(k->fd, SOMAXCONN) == 0)
		return true;
	buf_printf(&k->err, "%s: %s", path_of(k), strerror(errno));
	return false;
}

static bool make_socket(struct look *k)
{
	k->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (k->fd < 0)
		buf_printf(&k->err, "%s: %s", path_of(k), strerror(errno));
	else if (bind_and_listen(k))
		k->ours = true;
	else
		close(k->fd);
	if (!k->ours)
		k->fd = -1;
	return k->ours;
}

/* Makes the last folder of the path, which a cleanup may have removed. */
static void make_folder(struct look *k)
{
	char *folder = xstrdup(path_of(k)), *slash = strrchr(folder, '/');

	if (slash && slash != folder) {
		*slash = '\0';
		if (mkdir(folder, 0755) < 0 && errno != EEXIST)
			buf_printf(&k->err, "%s: %s; ", folder, strerror(errno));
	}
	free(folder);
}

/* Leaves anything else at the path alone, as it is not ours. */
static void look_at_file(void *arg)
{
	struct look *k = arg;
	struct stat st;

	if (stat(path_of(k), &st) == 0) {
		k->ours = k->made.st_ino && st.st_ino == k->made.st_ino &&
			  st.st_dev == k->made.st_dev;
		if (k->ours)
			k->made = st;		/* its group may have changed */
		if (k->ours && k->ends)
			unlink(path_of(k));
		return;
	}
	k->gone = (errno == ENOENT || errno == ENOTDIR) && lstat(path_of(k), &st) < 0;
	if (k->gone && !k->ends) {
		make_folder(k);
		make_socket(k);
	}
}

/* --- in the loop's thread --- */

static void tell_lost(struct socket_file *s, const struct look *k)
{
	if (k->gone && !s->lost)
		log_warn("ctl", "%s was removed: clients cannot connect", path_of(k));
	if (k->gone && k->fd >= 0)
		log_warn("ctl", "created %s again", path_of(k));
	else if (k->gone)
		log_debug("ctl", "%s", k->err.s);
	s->lost = k->gone && k->fd < 0;
}

static void take_look(struct socket_file *s)
{
	look_free(s->seen);
	s->seen = s->look;
	s->look = NULL;
	s->work = NULL;
}

static void on_looked(void *arg)
{
	struct socket_file *s = ((struct look *)arg)->file;
	int fd;

	work_end(s->work);
	take_look(s);
	if (s->late >= HANGS_LOOKS)
		log_warn("ctl", "%s: the disk or file server answers again", path_of(s->seen));
	s->late = 0;
	s->slow = false;
	tell_lost(s, s->seen);
	fd = s->seen->fd;
	s->seen->fd = -1;
	if (fd >= 0)
		s->renewed(s->arg, fd);
}

/* Returns false if no thread can be started. */
static bool look(struct socket_file *s, bool ends)
{
	s->look = look_next(s);
	s->look->ends = ends;
	s->work = work_start(s->loop, look_at_file, on_looked, s->look);
	if (s->work)
		return true;
	log_debug("ctl", "cannot check %s: %s", path_of(s->look), strerror(errno));
	look_free(s->look);
	s->look = NULL;
	return false;
}

static void on_timer(void *arg)
{
	struct socket_file *s = arg;

	if (!s->work)
		look(s, false);
	else if (++s->late == HANGS_LOOKS)
		log_warn("ctl", "%s: the disk or file server does not answer", path_of(s->seen));
}

struct socket_file *socket_file_new(struct loop *l, const char *path, mode_t mode, int *fd,
				    void (*renewed)(void *arg, int fd), void *arg, struct buf *err)
{
	struct socket_file *s;
	struct look *k;

	if (strlen(path) >= sizeof(k->addr.sun_path)) {
		buf_printf(err, "%s: a socket's name can have at most %zu characters", path,
			   sizeof(k->addr.sun_path) - 1);
		return NULL;
	}
	s = xcalloc(1, sizeof(*s));
	k = look_new(s);
	k->addr.sun_family = AF_UNIX;
	strcpy(k->addr.sun_path, path);
	k->mode = mode;
	if (!make_socket(k)) {
		buf_puts(err, k->err.s);
		look_free(k);
		free(s);
		return NULL;
	}
	*fd = k->fd;
	k->fd = -1;
	s->loop = l;
	s->seen = k;
	s->renewed = renewed;
	s->arg = arg;
	s->timer = timer_new(l, on_timer, s);
	timer_set(s->timer, LOOK_US, LOOK_US);
	return s;
}

bool socket_file_group(struct socket_file *s, gid_t *gid)
{
	const struct look *k = s->seen;

	if (!s->work)
		look(s, false);
	if (s->work && !s->slow) {
		s->slow = !work_wait(s->work, FRESH_US);
		k = s->slow ? s->seen : s->look;
	}
	*gid = k->made.st_gid;
	return k->ours;
}

void socket_file_free(struct socket_file *s)
{
	if (!s)
		return;
	timer_free(s->timer);
	if (!s->work || work_leave(s->work, END_US, look_free)) {
		if (s->work)
			take_look(s);
		if (look(s, true) && work_leave(s->work, END_US, look_free))
			take_look(s);
	}
	look_free(s->seen);
	free(s);
}
