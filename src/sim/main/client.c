/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Accepts, reads, writes and closes clients' connections. */
#include <sched.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "server.h"
#include "sim/preload/socket.h"

#define BATCH		64		/* messages read from a client at a time */
#define BATCH_MIN	8		/* the same for a client that always has more, when there are
					 * others */
#define ADDRESSED_MIN	4		/* messages to a client after which its input is read at once */
#define ADDRESSED_ROUNDS	8	/* limit of batches read then */
#define SOCKET_ROOM	(1 << 20)
#define LINGER_US	50		/* how long to wait for more from a client that seems to be the
					 * only one */
#define LINGER_ROUNDS	16		/* how often, before others are looked at */

/* --- sending --- */

void *client_send(struct client *c, const void *data, size_t n)
{
	if (!c->flushing) {
		c->flushing = true;
		c->flush_next = c->server->flush;
		c->server->flush = c;
	}
	return outq_add(&c->out, data, n);
}

static void wait_for(struct client *c, int events)
{
	if (events != c->events)
		io_set(c->io, events);
	c->events = events;
}

void client_flush(struct client *c)
{
	switch (outq_send(&c->out, c->fd)) {
	case OUTQ_EMPTY:
		wait_for(c, c->held ? 0 : LOOP_READ);
		break;
	case OUTQ_BLOCKED:
		wait_for(c, (c->held ? 0 : LOOP_READ) | LOOP_WRITE);
		break;
	case OUTQ_BROKEN:
		client_drop(c);
		break;
	}
}

void client_addressed(struct client *c)
{
	if (c->addressed++)
		return;
	c->addressed_next = c->server->addressed;
	c->server->addressed = c;
}

/* --- receiving --- */

static struct {
	/* one byte more than a message may have, and padding for alignment */
	char data[BATCH][SIM_INLINE_MAX + 8];
	union sock_control control[BATCH];
	struct iovec v[BATCH];
	struct mmsghdr m[BATCH];
} input __attribute__((aligned(8)));

static int receive(const struct client *c)
{
	for (unsigned i = 0; i < c->batch; i++) {
		input.v[i] = (struct iovec){
			.iov_base = input.data[i], .iov_len = SIM_INLINE_MAX + 1,
		};
		input.m[i].msg_hdr = (struct msghdr){
			.msg_iov = &input.v[i], .msg_iovlen = 1,
			.msg_control = &input.control[i],
			.msg_controllen = SOCK_CONTROL_SIZE,
		};
	}
	return recvmmsg(c->fd, input.m, c->batch, MSG_DONTWAIT | MSG_CMSG_CLOEXEC, NULL);
}

/* Returns NULL, "" if the client ended, or what is wrong. */
static const char *take_batch(struct client *c, int n)
{
	const char *wrong = NULL;

	for (int i = 0; i < n; i++) {
		struct message m = {
			.data = input.data[i], .n = input.m[i].msg_len,
			.file = sock_received_file(&input.m[i].msg_hdr),
		};

		if (!wrong)
			wrong = client_take(c, &m);
		if (m.file >= 0)
			close(m.file);
	}
	return wrong;
}

/* False: the client is gone. */
static bool on_input(struct client *c, int n)
{
	struct server *sv = c->server;
	const char *wrong;

	server_catch_up(sv);
	wrong = n < 0 ? "" : take_batch(c, n);
	if (wrong && *wrong)
		log_limited(&sv->complaints, LOG_LEVEL_WARNING, "client", "%s: %s: dropped",
			    c->name, wrong);
	if (wrong)
		client_drop(c);
	server_turn(sv);
	return !wrong;
}

static bool would_block(int n)
{
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

/*
 * Receives the next messages if they come soon.  Otherwise a single client that waits for each
 * answer would pay for waking this process each time, which takes longer than all the rest.
 */
static int receive_soon(struct client *c)
{
	int64_t end = clock_mono_us() + LINGER_US;
	int n;

	do
		n = receive(c);
	while (would_block(n) && sched_yield() == 0 && clock_mono_us() < end);
	return n;
}

/*
 * In a real fabric ports send at the same time; here they take turns.  Ports that flood get short
 * turns, so that others wait little.  This matters for VL15, which has its own buffers on each link
 * and does not wait behind other VLs.
 */
static void set_batch(struct client *c, bool alone, int n)
{
	if (alone || n < (int)c->batch)
		c->batch = BATCH;
	else if (c->batch > BATCH_MIN)
		c->batch /= 2;
}

static struct client *next_addressed(struct server *sv, unsigned *messages)
{
	struct client *c = sv->addressed;

	if (!c)
		return NULL;
	sv->addressed = c->addressed_next;
	*messages = c->addressed;
	c->addressed = 0;
	return c;
}

/*
 * In a real fabric a port that receives from a hundred others could send as much as they all do
 * meanwhile.  Here it would get one turn in a hundred, and its program would wait for room in its
 * socket.  So this reads all that the program has sent, up to a limit.
 */
static void read_addressed(struct server *sv)
{
	const struct client *last = sv->last;	/* only compared: the client may be gone at the end */
	struct client *most = NULL, *c;
	unsigned n = ADDRESSED_MIN - 1, messages;
	int got, rounds = ADDRESSED_ROUNDS;

	while ((c = next_addressed(sv, &messages)))
		if (messages > n) {
			n = messages;
			most = c;
		}
	if (!most)
		return;
	most->batch = BATCH;
	sv->last = most;
	do
		got = receive(most);
	while (!would_block(got) && on_input(most, got) && sv->last == most && got == BATCH &&
	       --rounds);
	sv->last = last;
	while (next_addressed(sv, &messages))
		;
}

static void read_client(struct client *c)
{
	struct server *sv = c->server;
	bool alone = sv->last == c;
	unsigned rounds = alone ? LINGER_ROUNDS : 1;
	int n = receive(c);

	sv->last = c;
	set_batch(c, alone, n);
	while (!would_block(n) && on_input(c, n) && sv->last == c && --rounds)
		n = receive_soon(c);
	read_addressed(sv);
}

void client_read_held(struct client *c)
{
	struct server *sv = c->server;
	unsigned messages;
	int n;

	client_release(c);
	c->batch = BATCH;
	sv->last = c;		/* NULL once the client is gone */
	do
		n = receive(c);
	while (!would_block(n) && on_input(c, n) && sv->last == c);
	while (next_addressed(sv, &messages))
		;
}

void client_release(struct client *c)
{
	c->held = false;
	wait_for(c, c->events | LOOP_READ);
}

static void on_io(void *arg, int events)
{
	struct client *c = arg;

	c->server->passing.events++;
	if (events & LOOP_WRITE) {
		client_flush(c);	/* may free the client */
	} else if (passing_holds(c)) {
		c->held = true;
		wait_for(c, c->events & ~LOOP_READ);
	} else {
		read_client(c);
	}
}

/* --- start and end of connections --- */

void client_new(struct server *sv, int fd)
{
	struct client *c = xcalloc(1, sizeof(*c));
	int room = SOCKET_ROOM;

	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	c->server = sv;
	c->fd = fd;
	c->batch = BATCH;
	c->slot = SIM_CLOCK_SLOTS;
	snprintf(c->name, sizeof(c->name), "somebody");
	c->next = sv->clients;
	if (c->next)
		c->next->prev = c;
	sv->clients = c;
	sv->n_clients++;
	c->io = io_new(sv->loop, fd, on_io, c);
	wait_for(c, LOOP_READ);
}

static void unlist(struct client *c)
{
	struct server *sv = c->server;

	if (c->next)
		c->next->prev = c->prev;
	if (c->prev)
		c->prev->next = c->next;
	else
		sv->clients = c->next;
	for (struct client **a = &sv->addressed; *a && c->addressed; a = &(*a)->addressed_next)
		if (*a == c) {
			*a = c->addressed_next;
			break;
		}
	for (struct client **f = &sv->flush; *f && c->flushing; f = &(*f)->flush_next)
		if (*f == c) {
			*f = c->flush_next;
			break;
		}
	sv->n_clients--;
}

void client_drop(struct client *c)
{
	struct sim *s = c->server->sim;

	if (c->server->last == c)
		c->server->last = NULL;
	unlist(c);
	passing_drop(c);
	if (c->host)
		host_close(c->host);
	if (c->purpose == SIM_ISSM)
		host_issm_close(s, c->port);
	io_free(c->io);
	close(c->fd);
	outq_free(&c->out);
	free(c);
}
