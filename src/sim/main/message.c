/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Handles clients' messages by the purpose of their connection.
 *
 * They are hellos, questions, umad messages and commands.  All input is hostile until checked: an
 * invalid message ends the connection and has no other effect.
 */
#include <stdlib.h>

#include <infiniband/umad.h>

#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "server.h"
#include "sim/ctl/ctl.h"
#include "sim/preload/socket.h"

#define MAD_HEADER	24

/* --- messages to an open umad port --- */

static void send_umad(struct client *c, const void *umad, size_t n, size_t length)
{
	struct ib_user_mad *u = client_send(c, umad, n);

	u->length = (uint32_t)length;
}

/* For host_file_ops.deliver; qosd/sim.h explains why a large message begins twice. */
static bool deliver(void *arg, const void *umad, size_t n)
{
	struct client *c = arg;

	client_addressed(c);
	if (outq_full(&c->out) || n < sizeof(struct ib_user_mad))
		return false;
	if (n > SIM_MESSAGE_MAX)
		send_umad(c, umad, SIM_MESSAGE_MAX, n);
	send_umad(c, umad, n, n);
	return true;
}

/* --- hello --- */

/* The client's number in statistics, which a process keeps when it reopens the port. */
static uint32_t stat_number(struct client *c)
{
	struct sim *s = c->server->sim;
	char where[SIM_NAME_MAX], name[sizeof(((struct stat_table *)0)->name)];

	sim_port_name(s->f, c->port, where, sizeof(where));
	snprintf(name, sizeof(name), "%s at %.*s", c->name,
		 (int)(sizeof(name) - sizeof(" at ") - strlen(c->name)), where);
	for (size_t i = 0; i < s->stats->clients.n; i++)
		if (!strcmp(s->stats->clients.v[i]->name, name))
			return s->stats->clients.v[i]->client;
	stats_client(s->stats, c->file, name);
	return c->file;
}

static void open_umad(struct client *c)
{
	const struct host_file_ops ops = { .deliver = deliver, .arg = c };

	c->file = ++c->server->files;
	c->host = host_open(c->server->sim, c->port, stat_number(c), &ops);
}

/* Gives the only node of a hello to the virtual machine behind the socket. */
static void open_hca(struct client *c, int socket, struct sim_answer *a)
{
	if (c->n_nodes != 1 || socket < 0) {
		answer_error(a, EINVAL, "a hello for an adapter names one node, and passes a socket");
		return;
	}
	if (!may_be_driven(c, c->nodes[0], a))
		return;
	int error = ivshmem_open(c->server, c->nodes[0], socket, c->name);

	if (error)
		answer_error(a, error, "cannot connect a virtual machine: %s", strerror(error));
}

static void open_purpose(struct client *c, const struct sim_hello *h, int file, struct sim_answer *a)
{
	if (h->purpose == SIM_CLOCK && !passing_open(c, h->port)) {
		answer_error(a, EINVAL, "there is no slot %u", h->port);
		return;
	}
	if (h->purpose != SIM_CTL && h->purpose != SIM_CLOCK && !find_nodes(c, h->nodes, a))
		return;
	if (h->purpose == SIM_UMAD || h->purpose == SIM_ISSM) {
		c->port = hello_port(c, h, a);
		if (c->port == SIM_NONE)
			return;
	}
	if (h->purpose == SIM_UMAD)
		open_umad(c);
	else if (h->purpose == SIM_ISSM)
		a->error = -host_issm_open(c->server->sim, c->port);
	else if (h->purpose == SIM_HCA)
		open_hca(c, file, a);
	if (!a->error)
		c->purpose = h->purpose;
	a->file = c->file;
}

static void set_name(struct client *c, const struct sim_hello *h)
{
	char program[sizeof(h->program) + 1];
	size_t n = 0;

	for (; n < sizeof(h->program) && h->program[n]; n++)
		program[n] = h->program[n] > ' ' && h->program[n] <= '~' ? h->program[n] : '?';
	program[n] = '\0';
	snprintf(c->name, sizeof(c->name), "%s[%d]", program, (int)h->pid);
}

static const char *take_hello(struct client *c, const struct message *m)
{
	struct sim_answer a = { 0 };
	struct sim_hello h;

	if (m->n != sizeof(h))
		return "did not send a hello";
	memcpy(&h, m->data, sizeof(h));
	h.nodes[sizeof(h.nodes) - 1] = '\0';
	if (h.magic != SIM_MAGIC || h.purpose < SIM_CONTROL || h.purpose > SIM_HCA)
		return "did not send a hello";
	set_name(c, &h);
	if (h.protocol != SIM_PROTOCOL)
		answer_error(&a, EPROTO, "the library speaks protocol %u, the simulator %u: "
		       "they are of different versions", h.protocol, SIM_PROTOCOL);
	else
		open_purpose(c, &h, m->file, &a);
	if (c->purpose == SIM_CLOCK && h.port == SIM_CLOCK_PAGE)
		passing_send_page(c, &a);
	else
		client_send(c, &a, sizeof(a));
	return NULL;
}

/* --- messages after the hello; functions return NULL, or what is wrong --- */

static const char *take_question(struct client *c, const struct message *m)
{
	struct sim_answer a = { 0 };
	struct sim_ask q;

	if (m->n != sizeof(q))
		return "sent a question of the wrong size";
	memcpy(&q, m->data, sizeof(q));
	answer_question(c, &q, &a);
	client_send(c, &a, sizeof(a));
	return NULL;
}

/*
 * Reads the memory file of a large message.  The file must be sealed: then it cannot be another
 * kind of file, whose reads could block, and it cannot change its size.
 */
static char *read_large(const struct message *m, size_t *n)
{
	struct sim_large l;
	size_t done = 0;
	char *data;
	int seals = fcntl(m->file, F_GET_SEALS);

	if (m->n != sizeof(l) || seals < 0 || !(seals & F_SEAL_SHRINK))
		return NULL;
	memcpy(&l, m->data, sizeof(l));
	if (l.magic != SIM_MAGIC || l.length > HOST_MESSAGE_MAX + sizeof(struct ib_user_mad))
		return NULL;
	data = malloc(l.length + 1);	/* the client chooses the size: malloc() may fail */
	while (data && done < l.length) {
		ssize_t r = pread(m->file, data + done, l.length - done, (off_t)done);

		if (r <= 0) {
			free(data);
			return NULL;
		}
		done += (size_t)r;
	}
	*n = l.length;
	return data;
}

/*
 * Reports a message that a write() to the device would have refused.  The client has gone on by
 * now; if it waits for an answer, it gets its MAD's header back with the error.
 */
static void bounce(struct client *c, const char *umad, size_t n, int error)
{
	char back[sizeof(struct ib_user_mad) + MAD_HEADER];
	struct ib_user_mad u;

	log_limited(&c->server->complaints, LOG_LEVEL_WARNING, "client",
		    "%s: sent an invalid MAD: %s", c->name, strerror(error));
	if (n < sizeof(back))
		return;
	memcpy(back, umad, sizeof(back));
	memcpy(&u, back, sizeof(u));
	u.status = (uint32_t)error;
	memcpy(back, &u, sizeof(u));
	if (u.timeout_ms)
		deliver(c, back, sizeof(back));
}

static const char *take_umad(struct client *c, const struct message *m)
{
	char *umad = m->data, *large = NULL;
	size_t n = m->n;
	int r;

	if (m->file >= 0) {
		umad = large = read_large(m, &n);
		if (!large)
			return "sent a large message that cannot be read";
	}
	if (n < sizeof(struct ib_user_mad)) {
		free(large);
		return "sent less than a umad header";
	}
	r = host_write(c->host, umad, n);
	if (r)
		bounce(c, umad, n, -r);
	free(large);
	return NULL;
}

static void send_text(struct client *c, const struct buf *text)
{
	char piece[8192] = { 'o' };

	for (size_t at = 0; at < text->n;) {
		size_t n = text->n - at < sizeof(piece) - 1 ? text->n - at : sizeof(piece) - 1;

		memcpy(piece + 1, text->s + at, n);
		client_send(c, piece, n + 1);
		at += n;
	}
}

static const char *take_command(struct client *c, const struct message *m)
{
	VEC(char *) words = { 0 };
	char end[2] = { 'x' };
	struct buf out = { 0 };
	int json;
	int64_t began;

	if (!m->n || m->data[m->n - 1])
		return "sent no command";
	for (char *w = m->data; w < m->data + m->n; w += strlen(w) + 1)
		*vec_push(&words) = w;
	*vec_push(&words) = NULL;	/* as with main() */
	json = !strcmp(words.v[0], "-j");
	began = clock_mono_us();
	c->server->passing.asking = c;
	end[1] = (char)ctl_run(c->server->sim, (int)words.n - 1 - json, words.v + json, json, &out);
	c->server->passing.asking = NULL;
	if (!passing_stands(c->server))
		server_stand_still(c->server, clock_mono_us() - began);
	send_text(c, &out);
	if (!c->pass_end_ns)
		client_send(c, end, sizeof(end));
	buf_free(&out);
	vec_free(&words);
	return NULL;
}

const char *client_take(struct client *c, const struct message *m)
{
	if (m->n == 0)
		return "";		/* the client has ended */
	if (m->n > SIM_INLINE_MAX)
		return "sent a message that is too long";
	if (c->purpose != SIM_UMAD && outq_full(&c->out))
		return "does not read its answers";
	switch ((int)c->purpose) {
	case 0: return take_hello(c, m);
	case SIM_CONTROL: return take_question(c, m);
	case SIM_UMAD: return take_umad(c, m);
	case SIM_CTL:
		return c->pass_end_ns ? "sent a command before the previous one ended" : take_command(c, m);
	default: return "sent data where none is expected";
	}
}

