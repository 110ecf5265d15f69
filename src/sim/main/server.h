/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fabric on a socket.  One thread: clients' messages are taken in batches, the
 * fabric moves on once per batch, then everybody gets what there is for them.
 */
#ifndef QOSD_SIM_MAIN_SERVER_H
#define QOSD_SIM_MAIN_SERVER_H

#include <sys/resource.h>

#include "lib/base/log.h"
#include "lib/loop/loop.h"
#include "outq.h"
#include "program.h"
#include "sim/clock/clock_page.h"
#include "sim/clock/rest.h"
#include "sim/host/host.h"

struct server;

/* What a device of a host has of a node: subnet management, general services, or both. */
enum host_view { VIEW_WHOLE, VIEW_GSI, VIEW_SMI };

struct client {
	struct server *server;
	struct client *prev, *next;
	int fd;
	unsigned batch;			/* messages that are taken at a time */
	struct io *io;
	int events;			/* that io waits for */
	enum sim_purpose purpose;	/* 0: it has not said hello */
	char name[48];			/* "ibstat[123]" */
	/* Its devices: a node each, or the part of a node that host_view says. */
	uint32_t nodes[SIM_CAS_MAX], n_nodes;
	uint8_t views[SIM_CAS_MAX];
	enum host_view view;		/* SIM_UMAD: of the open port */
	uint32_t port;			/* SIM_UMAD, SIM_ISSM: end port */
	uint32_t file;			/* SIM_UMAD: its number */
	struct host_file *host;
	struct outq out;
	bool flushing;			/* in server's flush list */
	struct client *flush_next;
	unsigned addressed;		/* messages for it since it was read; > 0: in the list of these */
	struct client *addressed_next;
	int64_t pass_end_ns;		/* SIM_CTL: its command is done at that time; 0: none waits */
	uint32_t slot;			/* SIM_CLOCK: whose thread it wakes; SIM_CLOCK_SLOTS: none's */
};

/* Simulated time, as everybody has it; see passing.c. */
struct passing {
	struct sim_clock *page;
	int memory;			/* the file that the page is in; -1: none */
	bool stands;			/* between one pass and the next, too */
	unsigned n;			/* commands that wait for time to pass */
	struct client *asking;		/* whose command runs now */
	struct client *wakers[SIM_CLOCK_SLOTS];
	int64_t woken[SIM_CLOCK_SLOTS];	/* end of the wait that the slot's thread was woken for last */
	struct look looks[2];
	unsigned look;			/* the next one */
	uint64_t events, looked_events;	/* of the server, by now and when it looked last */
	int64_t moved_us;		/* by the machine's clock: when time moved last */
};

struct server {
	struct loop *loop;
	struct sim *sim;
	struct passing passing;
	int64_t start_us;		/* on the fabric's clock: when the time of its engine was 0 */
	int64_t due_us;			/* of the engine: its next timer, -1: none */
	char *path;
	int listener, timer, spare;	/* spare: a descriptor to give up when there are no more */
	struct io *listener_io, *timer_io;
	int64_t timer_us;		/* simulated time that the timer is set to, -1: not */
	struct client *clients;
	struct client *flush;		/* those with something new to be sent */
	struct client *addressed;	/* those to whom others sent something */
	const struct client *last;	/* who sent something last; NULL: it is gone */
	uint32_t n_clients, files;	/* files: opened so far */
	struct rlimit files_before;	/* RLIMIT_NOFILE, which is raised */
	struct log_ratelimit complaints;
};

/* --- server.c --- */

/* Listens on path (kept).  stands: time passes by commands only.  False: it was said why. */
bool server_start(struct server *sv, struct loop *l, struct sim *s, const char *path, bool stands);
/* Drops all clients, removes the socket; the fabric is the caller's. */
void server_stop(struct server *sv);
/* Before something from outside reaches the fabric: lets it come to the present. */
void server_catch_up(struct server *sv);
/* After it: lets the fabric move, and sends what that brought. */
void server_turn(struct server *sv);
/* Time has passed in which the fabric could not move: it did not pass there. */
void server_stand_still(struct server *sv, int64_t us);
/* The timer goes off in so many microseconds, by the machine's clock, and then once. */
void server_arm(struct server *sv, int64_t us);

/* --- passing.c --- */

/* False: there is no memory for the page; it was said. */
bool passing_start(struct server *sv, bool stands);
void passing_stop(struct server *sv);
/* Microseconds of the fabric's clock. */
int64_t passing_now_us(const struct server *sv);
bool passing_stands(const struct server *sv);
/* While time stands, the server's timer has gone off: looks whether it can move on. */
void passing_look(struct server *sv);
/* A connection that wakes a slot's thread, or asks for the page; false: there is no such slot. */
bool passing_open(struct client *c, uint32_t slot);
/* Sends the answer to hello, and behind it the page. */
void passing_send_page(struct client *c, const struct sim_answer *a);
/* The client is gone. */
void passing_drop(struct client *c);

/* --- client.c --- */

void client_new(struct server *sv, int fd);
void client_drop(struct client *c);
/* One message to the client, queued; the copy, which may be changed until the next call. */
void *client_send(struct client *c, const void *data, size_t n);
/* A message for an open port of it has come, whether there is room for it or not. */
void client_addressed(struct client *c);
/* Sends what is queued; drops the client if it is gone. */
void client_flush(struct client *c);

/* --- message.c --- */

struct message {
	char *data;
	size_t n;
	int file;		/* that came with it, -1: none */
};
/* NULL, or what is wrong with it, for the log ("": nothing, but the client is gone). */
const char *client_take(struct client *c, const struct message *m);

/* --- question.c --- */

/* Finds the nodes of a hello. False with the reason in a. */
bool find_nodes(struct client *c, const char *nodes, struct sim_answer *a);
/* The end port of a hello; SIM_NONE with the reason in a. */
uint32_t hello_port(struct client *c, const struct sim_hello *h, struct sim_answer *a);
void answer_question(struct client *c, const struct sim_ask *q, struct sim_answer *a);
void answer_error(struct sim_answer *a, int error, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
