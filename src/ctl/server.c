/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The control socket: connections, framing, limits.
 *
 * A client is in one of five states.  Waiting: its input is read, and it has
 * CTL_REQUEST_SECONDS for a whole line.  Sending: the file that belongs to the
 * line is read, for CTL_BODY_SECONDS in all; memory for it follows what has
 * come, not what was announced, and CTL_BODIES_MAX clients are in this state at
 * a time.  Held: a job works on the answer (job.c), nothing is read or sent.
 * Answered: a reply is active, nothing is read, and the next piece of the answer
 * is produced only when the socket has taken the last; a client that takes
 * nothing for CTL_STALL_SECONDS is dropped.  Following: all there is of an
 * answer that follows what happens was taken; what the client sends now ends it,
 * as it cannot end otherwise.  One event of a client costs at most
 * one request or one piece, so that clients and the fabric take turns.
 *
 * What a client may is decided when it connects, by what the kernel says of it then, and
 * held against each command by commands.c.  A stranger, who may nothing, has
 * CTL_STRANGER_SECONDS for a request, one answer, and CTL_STRANGERS_MAX places.  Whoever
 * may not change anything leaves CTL_ADMIN_PLACES to those who may.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "ctl/follow.h"
#include "ctl/metrics.h"
#include "qosd/ctl.h"

#define PIECE		(16u << 10)	/* output gathered before it is sent */
#define ACCEPTS		16		/* connections taken in one event */
#define SECOND_US	1000000
#define LOOK_US		(2 * SECOND_US)

struct client {
	struct ctl *ctl;
	int fd;
	struct io *io;
	struct timer *timer;
	struct buf in, out;
	struct reply reply;
	enum { CLIENT_WAITS, CLIENT_SENDS, CLIENT_HELD, CLIENT_ANSWERED, CLIENT_FOLLOWS } state;
	struct buf line, file;	/* SENDS: the request, and what there is of its file */
	size_t file_size;	/* … as announced */
	bool last;		/* close when it is answered */
	struct ctl_peer peer;
};

struct ctl {
	struct loop *loop;
	struct ctl_env env;
	char *path;
	int fd;
	struct stat made;	/* the socket file when it was made; st_ino 0: not yet */
	struct io *io;
	struct timer *pause;	/* accepting again after descriptors ran out */
	struct timer *look;	/* … whether the socket file is there */
	bool lost;		/* it is not, and that was said */
	struct client *clients[CTL_CLIENTS_MAX];
	unsigned files;		/* clients in state SENDS */
	unsigned strangers;
	unsigned others;	/* who are no administrators, strangers among them */
	struct jobs *jobs;
	struct follower *tracers;	/* replies that follow the SA's trace */
	struct wake *traced;
	struct follower *watchers;	/* … that follow events */
	struct log_ratelimit rl, denied;
};

/* --- clients --- */

static bool is_stranger(const struct client *c)
{
	return c->peer.right == CTL_NOTHING;
}

static bool is_admin(const struct client *c)
{
	return c->peer.right == CTL_ADMIN;
}

static void client_free(struct client *c)
{
	for (unsigned i = 0; i < CTL_CLIENTS_MAX; i++)
		if (c->ctl->clients[i] == c)
			c->ctl->clients[i] = NULL;
	c->ctl->files -= c->state == CLIENT_SENDS;
	c->ctl->strangers -= is_stranger(c);
	c->ctl->others -= !is_admin(c);
	io_free(c->io);
	timer_free(c->timer);
	close(c->fd);
	reply_free(&c->reply);
	buf_free(&c->in);
	buf_free(&c->out);
	buf_free(&c->line);
	buf_free(&c->file);
	free(c);
}

static void client_wait(struct client *c)
{
	int64_t seconds = is_stranger(c) ? CTL_STRANGER_SECONDS : CTL_REQUEST_SECONDS;

	reply_free(&c->reply);
	c->state = CLIENT_WAITS;
	timer_set(c->timer, seconds * SECOND_US, 0);
	io_set(c->io, LOOP_READ);
}

/* The reply's head is there. */
static void client_answer(void *arg)
{
	struct client *c = arg;

	c->state = CLIENT_ANSWERED;
	timer_set(c->timer, (int64_t)CTL_STALL_SECONDS * SECOND_US, 0);
	io_set(c->io, LOOP_WRITE);
}

/* A job ends by itself, so that there is no deadline. */
static void client_hold(struct client *c)
{
	c->state = CLIENT_HELD;
	timer_stop(c->timer);
	io_set(c->io, 0);
}

/* Until there are more rows. */
static void client_follow(struct client *c)
{
	c->state = CLIENT_FOLLOWS;
	timer_stop(c->timer);
	io_set(c->io, LOOP_READ);
}

static struct ctl_view current_view(const struct ctl_env *env)
{
	struct ctl_view v = { .state = env->sa ? env->sa->state : NULL,
			      .mad = env->mad ? mad_counts(env->mad) : NULL };

	if (env->sm)
		sm_get_status(env->sm, &v.sm);
	return v;
}

static void log_denied(struct client *c)
{
	if (c->reply.denied)
		log_limited(&c->ctl->denied, LOG_LEVEL_WARNING, "ctl", "%s",
			    json_string_value(json_object_get(c->reply.head, "error")));
}

static void client_start(struct client *c, const char *line, size_t n, struct buf *file)
{
	struct ctl_view view = current_view(&c->ctl->env);

	view.peer = c->peer;
	view.file = file;
	view.jobs = c->ctl->jobs;
	view.tracers = &c->ctl->tracers;
	view.watchers = &c->ctl->watchers;
	command_start(&c->ctl->env, &view, line, n, &c->reply);
	log_denied(c);
	c->last = is_stranger(c);
	c->reply.ready = client_answer;
	c->reply.ready_arg = c;
	if (c->reply.stage == REPLY_WAITING)
		client_hold(c);
	else
		client_answer(c);
}

/* Nothing more is read: what comes may be the file that was refused. */
static void client_refused(struct client *c)
{
	c->ctl->files -= c->state == CLIENT_SENDS;
	c->last = true;
	client_answer(c);
}

static void client_refuse(struct client *c, const char *why)
{
	reply_refuse(&c->reply, "%s", why);
	client_refused(c);
}

/* What came behind the line is the file's beginning. */
static void client_expect_file(struct client *c, const char *line, size_t n, size_t size)
{
	if (c->ctl->files >= CTL_BODIES_MAX) {
		client_refuse(c, "others are sending files: try again later");
		return;
	}
	c->ctl->files++;
	c->state = CLIENT_SENDS;
	buf_add(&c->line, line, n);
	c->file_size = size;
	timer_set(c->timer, (int64_t)CTL_BODY_SECONDS * SECOND_US, 0);
}

/* Takes a line out of the input and starts its answer.  False: there is no whole line. */
static bool client_request(struct client *c)
{
	const char *newline = c->in.n ? memchr(c->in.s, '\n', c->in.n) : NULL;
	size_t n, size = 0;

	if (!newline)
		return false;
	n = (size_t)(newline - c->in.s);
	switch (command_body(&c->ctl->env, &c->peer, c->in.s, n, &size, &c->reply)) {
	case BODY_REFUSED:
		log_denied(c);
		client_refused(c);
		break;
	case BODY_FOLLOWS:
		client_expect_file(c, c->in.s, n, size);
		break;
	case BODY_NONE:
		client_start(c, c->in.s, n, NULL);
		break;
	}
	buf_consume(&c->in, n + 1);
	return true;
}

/* Moves input to the file; starts the answer when it is complete. */
static void client_fill(struct client *c)
{
	size_t missing = c->file_size - c->file.n;
	size_t n = c->in.n < missing ? c->in.n : missing;
	struct buf line = c->line, file;

	buf_add(&c->file, c->in.n ? c->in.s : "", n);
	buf_consume(&c->in, n);
	if (n < missing)
		return;
	file = c->file;
	c->line = c->file = (struct buf){ 0 };
	c->ctl->files--;
	client_start(c, line.s, line.n, &file);
	buf_free(&line);
	buf_free(&file);	/* unless the handler took it */
}

static void client_read(struct client *c)
{
	char data[16384];
	size_t room = CTL_REQUEST_MAX - c->in.n;	/* never 0 while waiting or sending */
	ssize_t n = recv(c->fd, data, room < sizeof(data) ? room : sizeof(data), 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		client_free(c);
		return;
	}
	buf_add(&c->in, data, (size_t)n);
	if (c->state == CLIENT_WAITS && !client_request(c) && c->in.n >= CTL_REQUEST_MAX)
		client_refuse(c, "the request is too long");
	if (c->state == CLIENT_SENDS)
		client_fill(c);
}

/* Whether the connection lives on. */
static bool client_send(struct client *c)
{
	ssize_t n = send(c->fd, c->out.s, c->out.n, MSG_NOSIGNAL);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	buf_consume(&c->out, (size_t)n);
	timer_set(c->timer, (int64_t)CTL_STALL_SECONDS * SECOND_US, 0);
	return true;
}

static void client_write(struct client *c)
{
	bool more = true;

	if (c->out.n == 0)
		while (more && c->out.n < PIECE)
			more = reply_pull(&c->reply, &c->out);
	if (c->out.n > 0) {
		if (!client_send(c))
			client_free(c);
		return;
	}
	if (c->last) {
		client_free(c);
		return;
	}
	if (c->reply.stage == REPLY_FOLLOWING) {
		client_follow(c);
		return;
	}
	client_wait(c);
	if (client_request(c) && c->state == CLIENT_SENDS)
		client_fill(c);
}

static void on_client(void *arg, int events)
{
	struct client *c = arg;

	if (c->state == CLIENT_ANSWERED && (events & LOOP_WRITE))
		client_write(c);
	else if ((c->state == CLIENT_WAITS || c->state == CLIENT_SENDS) && (events & LOOP_READ))
		client_read(c);
	else if (c->state == CLIENT_FOLLOWS)
		client_free(c);
}

static void on_deadline(void *arg)
{
	struct client *c = arg;

	if (c->state == CLIENT_SENDS) {
		client_refuse(c, "the file did not end in time");
		return;
	}
	if (c->state == CLIENT_WAITS && c->in.n > 0) {
		client_refuse(c, "the request did not end in time");
		return;
	}
	if (c->state == CLIENT_ANSWERED)
		log_limited(&c->ctl->rl, LOG_LEVEL_WARNING, "ctl",
			    "a client took nothing of its answer for %d s: dropped",
			    CTL_STALL_SECONDS);
	client_free(c);
}

/* --- new connections --- */

/* One of its groups, of which there may be 65536. */
static bool peer_has_group(int fd, const struct ucred *peer, gid_t group)
{
	gid_t *groups = NULL;
	socklen_t size = 0;
	bool found = peer->gid == group;
	size_t n = 0;

	if (found)
		return true;
	/* ERANGE, and how large it has to be; it never changes */
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &size) < 0 && errno == ERANGE) {
		groups = xmalloc(size);
		if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) == 0)
			n = size / sizeof(*groups);
	}
	for (size_t i = 0; i < n && !found; i++)
		found = groups[i] == group;
	free(groups);
	return found;
}

/* Whether the settings name who may what, rather than the socket file. */
static bool has_groups(const struct ctl_env *env)
{
	return env->read_group.name || env->admin_group.name;
}

/* What is at the path may be somebody else's by now: false, then. */
static bool stat_socket(const struct ctl *ctl, struct stat *st)
{
	return ctl->made.st_ino && stat(ctl->path, st) == 0 && st->st_ino == ctl->made.st_ino &&
	       st->st_dev == ctl->made.st_dev;
}

static enum ctl_right peer_right(const struct ctl *ctl, int fd, const struct ucred *peer)
{
	const struct ctl_group *reads = &ctl->env.read_group, *admin = &ctl->env.admin_group;
	struct stat st;

	if (peer->uid == 0 || peer->uid == geteuid())
		return CTL_ADMIN;
	if (!has_groups(&ctl->env))
		/* An administrator may have changed the socket's group: ask again. */
		return stat_socket(ctl, &st) && peer_has_group(fd, peer, st.st_gid) ?
		       CTL_ADMIN : CTL_READ;
	if (admin->name && peer_has_group(fd, peer, admin->gid))
		return CTL_ADMIN;
	return reads->name && peer_has_group(fd, peer, reads->gid) ? CTL_READ : CTL_NOTHING;
}

static struct ctl_peer get_peer(const struct ctl *ctl, int fd)
{
	struct ucred cred;
	socklen_t n = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &n) < 0)
		return (struct ctl_peer){ CTL_NOTHING, -1, -1 };
	return (struct ctl_peer){ peer_right(ctl, fd, &cred), cred.uid, cred.gid };
}

/* NULL: there is none for one with the right. */
static struct client **free_place(struct ctl *ctl, enum ctl_right right)
{
	if ((right == CTL_NOTHING && ctl->strangers >= CTL_STRANGERS_MAX) ||
	    (right != CTL_ADMIN && ctl->others >= CTL_CLIENTS_MAX - CTL_ADMIN_PLACES))
		return NULL;
	for (unsigned i = 0; i < CTL_CLIENTS_MAX; i++)
		if (!ctl->clients[i])
			return &ctl->clients[i];
	return NULL;
}

static void turn_away(struct ctl *ctl, int fd)
{
	static const char text[] = "{\"ok\":false,\"error\":\"too many clients\"}\n";

	/* A new connection has room for a line; if it is gone already, so be it. */
	if (send(fd, text, sizeof(text) - 1, MSG_NOSIGNAL) < 0)
		log_debug("ctl", "turning a client away: %s", strerror(errno));
	close(fd);
	log_limited(&ctl->rl, LOG_LEVEL_WARNING, "ctl", "more than %d clients, %d who are no "
		    "administrators, or %d who may nothing: turned one away", CTL_CLIENTS_MAX,
		    CTL_CLIENTS_MAX - CTL_ADMIN_PLACES, CTL_STRANGERS_MAX);
}

static void client_new(struct ctl *ctl, int fd)
{
	struct ctl_peer peer = get_peer(ctl, fd);
	struct client **place = free_place(ctl, peer.right), *c;

	if (!place) {
		turn_away(ctl, fd);
		return;
	}
	*place = c = xcalloc(1, sizeof(*c));
	c->ctl = ctl;
	c->fd = fd;
	c->peer = peer;
	ctl->strangers += is_stranger(c);
	ctl->others += !is_admin(c);
	c->io = io_new(ctl->loop, fd, on_client, c);
	c->timer = timer_new(ctl->loop, on_deadline, c);
	client_wait(c);
}

static void on_pause_over(void *arg)
{
	struct ctl *ctl = arg;

	io_set(ctl->io, LOOP_READ);
}

static void on_connect(void *arg, int events)
{
	struct ctl *ctl = arg;

	(void)events;
	for (unsigned i = 0; i < ACCEPTS; i++) {
		int fd = accept4(ctl->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			client_new(ctl, fd);
			continue;
		}
		if (errno == EINTR || errno == ECONNABORTED)
			continue;
		if (errno != EAGAIN) {
			/* Out of descriptors: the socket stays readable, don't spin on it. */
			log_limited(&ctl->rl, LOG_LEVEL_ERROR, "ctl", "accept: %s",
				    strerror(errno));
			io_set(ctl->io, 0);
			timer_set(ctl->pause, SECOND_US, 0);
		}
		return;
	}
}

/* --- what replies follow --- */

static void on_traced(void *arg)
{
	struct ctl *ctl = arg;

	follow_tell(ctl->tracers);
}

/* In any thread. */
static void wake_tracers(void *arg)
{
	loop_wake(arg);
}

/* --- the socket file --- */

static bool make_address(const char *path, struct sockaddr_un *addr, struct buf *err)
{
	memset(addr, 0, sizeof(*addr));
	addr->sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(addr->sun_path)) {
		buf_printf(err, "%s: longer than a socket's name can be (%zu)", path,
			   sizeof(addr->sun_path) - 1);
		return false;
	}
	strcpy(addr->sun_path, path);
	return true;
}

/* Removes a socket file that no process listens on. */
static bool remove_stale(const struct sockaddr_un *addr, struct buf *err)
{
	const char *path = addr->sun_path;
	struct stat st;
	int fd, failed;

	if (lstat(path, &st) == 0 && !S_ISSOCK(st.st_mode)) {
		buf_printf(err, "%s: is there and no socket", path);
		return false;
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	failed = connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) < 0 ? errno : 0;
	close(fd);
	if (failed == 0 || failed == EAGAIN) {	/* EAGAIN: its backlog is full */
		buf_printf(err, "another qosd answers on %s", path);
		return false;
	}
	if (failed == ECONNREFUSED && unlink(path) == 0)
		return true;
	if (failed == ENOENT)
		return true;
	buf_printf(err, "%s: %s", path, strerror(failed == ECONNREFUSED ? errno : failed));
	return false;
}

/*
 * The mode is set between bind and listen: before listen nobody can connect,
 * so that no umask lets anyone in.
 */
static bool bind_and_listen(struct ctl *ctl, const struct sockaddr_un *addr, struct buf *err)
{
	const struct sockaddr *sa = (const struct sockaddr *)addr;
	mode_t mode = has_groups(&ctl->env) ? 0666 : 0660;
	bool bound = bind(ctl->fd, sa, sizeof(*addr)) == 0;

	if (!bound && errno == EADDRINUSE) {
		if (!remove_stale(addr, err))
			return false;
		bound = bind(ctl->fd, sa, sizeof(*addr)) == 0;
	}
	if (bound && stat(ctl->path, &ctl->made) == 0 && chmod(ctl->path, mode) == 0 &&
	    listen(ctl->fd, SOMAXCONN) == 0)
		return true;
	buf_printf(err, "%s: %s", ctl->path, strerror(errno));
	return false;
}

/* The last folder of the path, which something that cleans up may have removed. */
static void make_folder(const char *path)
{
	char *folder = xstrdup(path), *slash = strrchr(folder, '/');

	if (slash && slash != folder) {
		*slash = '\0';
		if (mkdir(folder, 0755) < 0 && errno != EEXIST)
			log_debug("ctl", "%s: %s", folder, strerror(errno));
	}
	free(folder);
}

/* In place of the socket whose file is gone; connections that there are stay. */
static bool listen_again(struct ctl *ctl, struct buf *err)
{
	struct sockaddr_un addr;
	int before = ctl->fd;

	if (!make_address(ctl->path, &addr, err))
		return false;
	make_folder(ctl->path);
	ctl->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (ctl->fd < 0 || !bind_and_listen(ctl, &addr, err)) {
		if (ctl->fd < 0)
			buf_printf(err, "%s: %s", ctl->path, strerror(errno));
		else
			close(ctl->fd);
		ctl->fd = before;
		return false;
	}
	io_free(ctl->io);
	close(before);
	ctl->io = io_new(ctl->loop, ctl->fd, on_connect, ctl);
	io_set(ctl->io, LOOP_READ);
	return true;
}

/* Makes the socket anew where there is nothing at its path; what else is there is not ours. */
static void on_look(void *arg)
{
	struct ctl *ctl = arg;
	struct buf err = { 0 };
	struct stat st;

	if (lstat(ctl->path, &st) == 0 || (errno != ENOENT && errno != ENOTDIR)) {
		ctl->lost = false;
		return;
	}
	if (!ctl->lost)
		log_warn("ctl", "%s is gone: nobody can connect", ctl->path);
	ctl->lost = true;
	if (listen_again(ctl, &err)) {
		log_warn("ctl", "%s is there again", ctl->path);
		ctl->lost = false;
	} else {
		log_debug("ctl", "%s", err.s);
	}
	buf_free(&err);
}

void ctl_metrics(struct ctl *ctl, struct buf *out)
{
	struct ctl_view view = current_view(&ctl->env);

	metrics_print(&ctl->env, &view, out);
}

static void on_happened(void *arg)
{
	const struct ctl *ctl = arg;

	follow_tell(ctl->watchers);
}

struct ctl *ctl_new(struct loop *l, const char *path, const struct ctl_env *env, struct buf *err)
{
	struct sockaddr_un addr;
	struct ctl *ctl;

	if (!make_address(path, &addr, err))
		return NULL;
	json_set_alloc_funcs(xmalloc, free);
	ctl = xcalloc(1, sizeof(*ctl));
	ctl->loop = l;
	ctl->env = *env;
	ctl->path = xstrdup(path);
	ctl->rl = ctl->denied = (struct log_ratelimit)LOG_RATELIMIT;
	ctl->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (ctl->fd < 0 || !bind_and_listen(ctl, &addr, err)) {
		if (ctl->fd < 0)
			buf_printf(err, "%s: %s", path, strerror(errno));
		ctl_free(ctl);
		return NULL;
	}
	ctl->jobs = jobs_new(l);
	ctl->io = io_new(l, ctl->fd, on_connect, ctl);
	ctl->pause = timer_new(l, on_pause_over, ctl);
	ctl->look = timer_new(l, on_look, ctl);
	timer_set(ctl->look, LOOK_US, LOOK_US);
	ctl->traced = wake_new(l, on_traced, ctl);
	if (ctl->env.trace)
		sa_trace_on_new(ctl->env.trace, wake_tracers, ctl->traced);
	if (ctl->env.events)
		events_watch(ctl->env.events, on_happened, ctl);
	io_set(ctl->io, LOOP_READ);
	return ctl;
}

static void remove_socket(const struct ctl *ctl)
{
	struct stat st;

	if (stat_socket(ctl, &st))
		unlink(ctl->path);
}

void ctl_free(struct ctl *ctl)
{
	if (!ctl)
		return;
	for (unsigned i = 0; i < CTL_CLIENTS_MAX; i++)
		if (ctl->clients[i])
			client_free(ctl->clients[i]);
	jobs_free(ctl->jobs);
	if (ctl->env.trace)
		sa_trace_on_new(ctl->env.trace, NULL, NULL);
	if (ctl->env.events)
		events_unwatch(ctl->env.events, on_happened, ctl);
	wake_free(ctl->traced);
	io_free(ctl->io);
	timer_free(ctl->pause);
	timer_free(ctl->look);
	remove_socket(ctl);
	if (ctl->fd >= 0)
		close(ctl->fd);
	free(ctl->path);
	free(ctl);
}
