/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Serves the control socket: connections, framing, limits.
 *
 * A client is in one of five states.
 *  - Waiting: the daemon reads its input; the client has CTL_REQUEST_SECONDS for a whole line.
 *  - Sending: the daemon reads the file that belongs to the line, for at most CTL_BODY_SECONDS;
 *    memory grows with what has arrived, not with the announced size, and at most CTL_BODIES_MAX
 *    clients are in this state.
 *  - Held: a job works on the answer (job.c); nothing is read or sent.
 *  - Answered: a reply is active, nothing is read, and the next piece of the answer is produced
 *    only when the socket has taken the last one; a client that takes nothing for CTL_STALL_SECONDS
 *    is dropped.
 *  - Following: the client has taken all there is so far of an answer that follows what happens;
 *    any input ends the answer, which has no other end.
 *
 * One event of a client costs at most one request or one piece, so that clients and the fabric take
 * turns.
 *
 * The daemon decides a client's right when it connects, by its credentials at that time; commands.c
 * checks the right for each command.  A stranger, who has no right, gets CTL_STRANGER_SECONDS for a
 * request, one answer, and CTL_STRANGERS_MAX places.  Clients who are not administrators leave
 * CTL_ADMIN_PLACES for those who are.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ctl/commands/metrics.h"
#include "ctl/follow.h"
#include "ctl/report/report.h"
#include "ctl/socket_file.h"
#include "lib/base/alloc.h"
#include "lib/base/group.h"
#include "lib/base/log.h"
#include "qosd/ctl.h"

#define PIECE		(32u << 10)	/* bytes of output gathered before they are sent */
#define ACCEPTS		16		/* connections accepted in one event */
#define SECOND_US	1000000
#define LOOK_UP_US	(10 * SECOND_US)

struct client {
	struct ctl *ctl;
	int fd;
	struct io *io;
	struct timer *timer;
	struct buf in, out;
	struct reply reply;
	enum { CLIENT_WAITS, CLIENT_SENDS, CLIENT_HELD, CLIENT_ANSWERED, CLIENT_FOLLOWS } state;
	struct buf line, file;	/* SENDS: the request, and its file as far as received */
	size_t file_size;	/* announced size of the file */
	bool last;		/* close after the answer */
	struct ctl_peer peer;
};

struct ctl {
	struct loop *loop;
	struct ctl_env env;
	int fd;
	struct socket_file *file;
	struct io *io;
	struct timer *pause;	/* until accepting again after descriptors ran out */
	struct timer *look_up;	/* until looking up unknown groups again */
	struct looking_up *up;	/* what a thread is looking up, */
	struct work *up_work;	/* and the thread's work, or NULL */
	struct client *clients[CTL_CLIENTS_MAX];
	unsigned files;		/* number of clients in state SENDS */
	unsigned strangers;
	unsigned others;	/* clients who are not administrators, strangers included */
	struct jobs *jobs;
	struct gauges *gauges;
	struct live_report *live_report;
	struct follower *tracers;	/* replies that follow the SA's trace */
	struct wake *traced;
	struct follower *watchers;	/* replies that follow events */
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

/* The reply has its head. */
static void client_answer(void *arg)
{
	struct client *c = arg;

	c->state = CLIENT_ANSWERED;
	timer_set(c->timer, (int64_t)CTL_STALL_SECONDS * SECOND_US, 0);
	io_set(c->io, LOOP_WRITE);
}

/* Waits for a job without a deadline, as jobs end by themselves. */
static void client_hold(struct client *c)
{
	c->state = CLIENT_HELD;
	timer_stop(c->timer);
	io_set(c->io, 0);
}

/* Waits for more rows. */
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
	view.gauges = c->ctl->gauges;
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

/* Reads nothing more: further input may be the refused file. */
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

/* Input after the line is the beginning of the file. */
static void client_expect_file(struct client *c, const char *line, size_t n, size_t size)
{
	if (c->ctl->files >= CTL_BODIES_MAX) {
		client_refuse(c, "too many clients are sending files: try again later");
		return;
	}
	c->ctl->files++;
	c->state = CLIENT_SENDS;
	buf_add(&c->line, line, n);
	c->file_size = size;
	timer_set(c->timer, (int64_t)CTL_BODY_SECONDS * SECOND_US, 0);
}

/* Takes a line out of the input and starts its answer.  Returns false if there is no whole line. */
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
	buf_free(&file);	/* empty if the handler took it */
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

/* Returns false if the connection was closed. */
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
		client_refuse(c, "the file was not sent in time");
		return;
	}
	if (c->state == CLIENT_WAITS && c->in.n > 0) {
		client_refuse(c, "the request was not sent in time");
		return;
	}
	if (c->state == CLIENT_ANSWERED)
		log_limited(&c->ctl->rl, LOG_LEVEL_WARNING, "ctl",
			    "dropped a client that had read nothing of its answer for %d s",
			    CTL_STALL_SECONDS);
	client_free(c);
}

/* --- new connections --- */

/* Checks all groups of the peer, of which there may be 65536. */
static bool peer_has_group(int fd, const struct ucred *peer, gid_t group)
{
	gid_t *groups = NULL;
	socklen_t size = 0;
	bool found = peer->gid == group;
	size_t n = 0;

	if (found)
		return true;
	/* ERANGE returns the size needed, which never changes for a peer */
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

/* True if the settings, not the socket file, say who has which right. */
static bool has_groups(const struct ctl_env *env)
{
	return env->read_group.name || env->admin_group.name;
}

static bool is_in(int fd, const struct ucred *peer, const struct ctl_group *group)
{
	return group->name && !group->unknown && peer_has_group(fd, peer, group->gid);
}

static bool is_owner(const struct ucred *peer)
{
	return peer->uid == 0 || peer->uid == geteuid();
}

static enum ctl_right peer_right(const struct ctl *ctl, int fd, const struct ucred *peer)
{
	gid_t gid;

	if (is_owner(peer))
		return CTL_ADMIN;
	if (!has_groups(&ctl->env))
		return socket_file_group(ctl->file, &gid) && peer_has_group(fd, peer, gid) ?
		       CTL_ADMIN : CTL_READ;
	if (is_in(fd, peer, &ctl->env.admin_group))
		return CTL_ADMIN;
	return is_in(fd, peer, &ctl->env.read_group) ? CTL_READ : CTL_NOTHING;
}

static bool may_ask_for_others(const struct ctl *ctl, int fd, const struct ucred *peer, enum ctl_right right)
{
	if (!ctl->env.gateway_group.name)
		return right == CTL_ADMIN;
	return is_owner(peer) || is_in(fd, peer, &ctl->env.gateway_group);
}

static struct ctl_peer get_peer(const struct ctl *ctl, int fd)
{
	struct ucred cred;
	socklen_t n = sizeof(cred);
	enum ctl_right right;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &n) < 0)
		return (struct ctl_peer){ .right = CTL_NOTHING, .gid = -1, .who.uid = -1 };
	right = peer_right(ctl, fd, &cred);
	return (struct ctl_peer){ .right = right, .gid = cred.gid, .who.uid = cred.uid,
				  .is_gateway = may_ask_for_others(ctl, fd, &cred, right) };
}

/* Returns NULL if no place is left for a client with this right. */
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

	/* A new connection has room for a line; ignore a client that has gone already. */
	if (send(fd, text, sizeof(text) - 1, MSG_NOSIGNAL) < 0)
		log_debug("ctl", "turning a client away: %s", strerror(errno));
	close(fd);
	log_limited(&ctl->rl, LOG_LEVEL_WARNING, "ctl", "refused a client: limits are %d clients, %d "
		    "without administrator rights, %d without any rights", CTL_CLIENTS_MAX,
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
			/*
			 * Out of descriptors: the socket stays readable, so pause instead of
			 * spinning.
			 */
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

/* Called in any thread. */
static void wake_tracers(void *arg)
{
	loop_wake(arg);
}

/* --- groups that the system could not look up at the start --- */

enum { GROUPS = 3 };

/* Groups that a thread looks up by name; name NULL: known already, or not configured. */
struct looking_up {
	struct ctl *ctl;
	struct ctl_group group[GROUPS];
	int error[GROUPS];
};

static struct ctl_group *group_at(struct ctl *ctl, unsigned i)
{
	return (struct ctl_group *[GROUPS]){ &ctl->env.admin_group, &ctl->env.read_group, &ctl->env.gateway_group }[i];
}

static void looking_up_free(void *arg)
{
	struct looking_up *x = arg;

	for (unsigned i = 0; i < GROUPS; i++)
		free(x->group[i].name);
	free(x);
}

static void look_up(void *arg)
{
	struct looking_up *x = arg;

	for (unsigned i = 0; i < GROUPS; i++)
		if (x->group[i].name)
			x->error[i] = group_find(x->group[i].name, &x->group[i].gid);
}

static bool is_unknown(const struct ctl_group *g)
{
	return g->name && g->unknown;
}

static void look_up_later(struct ctl *ctl, int64_t us)
{
	for (unsigned i = 0; i < GROUPS; i++)
		if (is_unknown(group_at(ctl, i)))
			timer_set(ctl->look_up, us, 0);
}

static void on_looked_up(void *arg)
{
	struct looking_up *x = arg;
	struct ctl *ctl = x->ctl;

	work_end(ctl->up_work);
	ctl->up_work = NULL;
	for (unsigned i = 0; i < GROUPS; i++) {
		const struct ctl_group *found = &x->group[i];

		if (!found->name)
			continue;
		if (x->error[i]) {
			log_debug("ctl", "the group %s: %s", found->name, strerror(x->error[i]));
			continue;
		}
		group_at(ctl, i)->gid = found->gid;
		group_at(ctl, i)->unknown = false;
		log_info("ctl", "the group %s is %u", found->name, found->gid);
	}
	looking_up_free(x);
	look_up_later(ctl, LOOK_UP_US);
}

static void on_look_up(void *arg)
{
	struct ctl *ctl = arg;

	ctl->up = xcalloc(1, sizeof(*ctl->up));
	ctl->up->ctl = ctl;
	for (unsigned i = 0; i < GROUPS; i++)
		if (is_unknown(group_at(ctl, i)))
			ctl->up->group[i].name = xstrdup(group_at(ctl, i)->name);
	ctl->up_work = work_start(ctl->loop, look_up, on_looked_up, ctl->up);
	if (!ctl->up_work) {
		looking_up_free(ctl->up);
		look_up_later(ctl, LOOK_UP_US);
	}
}

static void end_look_up(struct ctl *ctl)
{
	timer_free(ctl->look_up);
	if (ctl->up_work && work_leave(ctl->up_work, 0, looking_up_free))
		looking_up_free(ctl->up);
}

/* --- the socket file --- */

/* Replaces the listening socket whose file is gone; existing connections stay. */
static void on_renewed(void *arg, int fd)
{
	struct ctl *ctl = arg;

	io_free(ctl->io);
	close(ctl->fd);
	ctl->fd = fd;
	ctl->io = io_new(ctl->loop, ctl->fd, on_connect, ctl);
	io_set(ctl->io, LOOP_READ);
}

void ctl_set_pkeys(struct ctl *ctl, uint16_t lo, uint16_t hi)
{
	ctl->env.pkey_lo = lo;
	ctl->env.pkey_hi = hi;
}

void ctl_set_history(struct ctl *ctl, struct history *h)
{
	ctl->env.history = h;
}

void ctl_metrics(struct ctl *ctl, struct buf *out)
{
	struct ctl_view view = current_view(&ctl->env);

	view.gauges = ctl->gauges;
	metrics_print(&ctl->env, &view, out);
}

void ctl_report_page(struct buf *out)
{
	const char *head, *tail;
	size_t n_head, n_tail;

	report_page(&head, &n_head, &tail, &n_tail);
	buf_add(out, head, n_head);
	buf_add(out, tail, n_tail);
}

const char *ctl_report_policy(void)
{
	return report_page_policy();
}

bool ctl_report_data(struct ctl *ctl, struct buf *out)
{
	struct ctl_view view = current_view(&ctl->env);
	const struct ctl_call call = { .env = &ctl->env, .view = &view, .state = view.state };

	view.gauges = ctl->gauges;
	view.watchers = &ctl->watchers;
	return view.state && live_report_data(ctl->live_report, &call, out);
}

static void on_happened(void *arg)
{
	const struct ctl *ctl = arg;

	follow_tell(ctl->watchers);
}

struct ctl *ctl_new(struct loop *l, const char *path, const struct ctl_env *env, struct buf *err)
{
	struct ctl *ctl;

	json_set_alloc_funcs(xmalloc, free);
	ctl = xcalloc(1, sizeof(*ctl));
	ctl->loop = l;
	ctl->env = *env;
	ctl->rl = ctl->denied = (struct log_ratelimit)LOG_RATELIMIT;
	ctl->fd = -1;
	ctl->file = socket_file_new(l, path, has_groups(env) ? 0666 : 0660, &ctl->fd, on_renewed,
				    ctl, err);
	if (!ctl->file) {
		ctl_free(ctl);
		return NULL;
	}
	ctl->jobs = jobs_new(l);
	ctl->gauges = gauges_new(l);
	ctl->live_report = live_report_new(l);
	ctl->io = io_new(l, ctl->fd, on_connect, ctl);
	ctl->pause = timer_new(l, on_pause_over, ctl);
	ctl->look_up = timer_new(l, on_look_up, ctl);
	look_up_later(ctl, 0);
	ctl->traced = wake_new(l, on_traced, ctl);
	if (ctl->env.trace)
		sa_trace_on_new(ctl->env.trace, wake_tracers, ctl->traced);
	if (ctl->env.events)
		events_watch(ctl->env.events, on_happened, ctl);
	io_set(ctl->io, LOOP_READ);
	return ctl;
}

void ctl_free(struct ctl *ctl)
{
	if (!ctl)
		return;
	for (unsigned i = 0; i < CTL_CLIENTS_MAX; i++)
		if (ctl->clients[i])
			client_free(ctl->clients[i]);
	if (ctl->gauges)
		gauges_stop(ctl->gauges);
	jobs_free(ctl->jobs);
	gauges_free(ctl->gauges);
	live_report_free(ctl->live_report);
	if (ctl->env.trace)
		sa_trace_on_new(ctl->env.trace, NULL, NULL);
	if (ctl->env.events)
		events_unwatch(ctl->env.events, on_happened, ctl);
	wake_free(ctl->traced);
	io_free(ctl->io);
	timer_free(ctl->pause);
	end_look_up(ctl);
	socket_file_free(ctl->file);
	if (ctl->fd >= 0)
		close(ctl->fd);
	free(ctl);
}
