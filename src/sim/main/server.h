/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Serves a fabric on a socket, in one thread.
 *
 * It reads clients' messages in batches, lets the fabric run once per batch, and then sends each
 * client its messages.
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

/* The part of a node that a host's device shows: all, general services, or subnet management. */
enum host_view { VIEW_WHOLE, VIEW_GSI, VIEW_SMI };

struct client {
	struct server *server;
	struct client *prev, *next;
	int fd;
	unsigned batch;			/* messages to read at a time */
	struct io *io;
	int events;			/* events that io waits for */
	bool held;			/* its input is read when all threads rest */
	enum sim_purpose purpose;	/* 0: before the hello */
	char name[48];			/* name for logs, like "ibstat[123]" */
	/* its devices: each a node, or the part of one that host_view says */
	uint32_t nodes[SIM_CAS_MAX], n_nodes;
	uint8_t views[SIM_CAS_MAX];
	enum host_view view;		/* SIM_UMAD: view of the open port */
	uint32_t port;			/* SIM_UMAD, SIM_ISSM: end port */
	uint32_t file;			/* SIM_UMAD: number of the open port */
	struct host_file *host;
	struct outq out;
	bool flushing;			/* in the server's flush list */
	struct client *flush_next;
	unsigned addressed;		/* messages to it since it was last read; > 0: in the list of these */
	struct client *addressed_next;
	int64_t pass_end_ns;		/* SIM_CTL: time at which its command is done; 0: none waits */
	uint32_t slot;			/* SIM_CLOCK: slot whose thread it wakes; SIM_CLOCK_SLOTS: none */
};

/* State of simulated time; see passing.c. */
struct passing {
	struct sim_clock *page;
	int memory;			/* file of the page; -1: none */
	bool stands;			/* time also stands between passes */
	unsigned n;			/* number of commands that wait for time to pass */
	struct client *asking;		/* client whose command is running */
	struct client *wakers[SIM_CLOCK_SLOTS];
	int64_t woken[SIM_CLOCK_SLOTS];	/* end of the wait for which the slot's thread was woken last */
	struct look looks[2];		/* the last one that found all asleep, and the next one */
	unsigned look;			/* index of the next look */
	bool asleep;			/* what the last look found */
	uint64_t events, looked_events;	/* events of the server: so far, and when all were asleep */
	int64_t moved_us;		/* by the machine's clock: when time last moved */
};

struct server {
	struct loop *loop;
	struct sim *sim;
	struct passing passing;
	int64_t start_us;		/* time on the fabric's clock at which the engine's time was 0 */
	int64_t due_us;			/* time of the engine's next timer; -1: none */
	char *path;
	int listener, timer, spare;	/* spare: a descriptor to close when no other is left */
	struct io *listener_io, *timer_io;
	int64_t timer_us;		/* simulated time that the timer is set to; -1: not set */
	struct client *clients;
	struct client *flush;		/* clients with new messages to send */
	struct client *addressed;	/* clients that received something from others */
	const struct client *last;	/* last client that sent something; NULL: it is gone */
	uint32_t n_clients, files;	/* files: number of ports opened so far */
	struct rlimit files_before;	/* RLIMIT_NOFILE before it was raised */
	struct log_ratelimit complaints;
	struct ivshmem *ivshmems;	/* HCAs of virtual machines */
};

/* --- server.c --- */

/*
 * Listens on path, which must stay valid. Options tell whether and from when time stands.  False: the
 * error was printed.
 */
bool server_start(struct server *sv, struct loop *l, struct sim *s, const char *path,
		  const struct options *o);
/* Drops all clients and removes the socket; the caller keeps the fabric. */
void server_stop(struct server *sv);
/* Call before an outside event reaches the fabric: runs the fabric up to the present. */
void server_catch_up(struct server *sv);
/* Call after an outside event: runs the fabric and sends the results. */
void server_turn(struct server *sv);
/* Sends what is queued for the client at this place of the list, and takes it off the list. */
void server_flush(struct client **flush);
/* Excludes a period in which the fabric could not run from its time. */
void server_stand_still(struct server *sv, int64_t us);
/*
 * Makes a file of zeros in memory that others may map, with these seals, and maps it.  NULL with errno and
 * *file -1, or to be closed.
 */
void *shared_memory(const char *name, size_t size, int seals, int *file);
/* Closes the file unless it is -1. */
void close_fd(int fd);
/* Sets the timer to fire once, in `us` microseconds of the machine's clock. */
void server_arm(struct server *sv, int64_t us);

/* --- passing.c --- */

/* False: there is no memory for the page; the error was printed. */
bool passing_start(struct server *sv, const struct options *o);
void passing_stop(struct server *sv);
/* The fabric's clock, in microseconds. */
int64_t passing_now_us(const struct server *sv);
bool passing_stands(const struct server *sv);
/* Whether the client's MADs, both ways, wait until all threads rest. */
bool passing_holds(const struct client *c);
/* Call when the server's timer fires while time is stopped: checks whether time can move on. */
void passing_look(struct server *sv);
/*
 * Opens a connection that wakes a slot's thread, or that asks for the page; false if there is no
 * such slot.
 */
bool passing_open(struct client *c, uint32_t slot);
/* Sends the answer to the hello, followed by the page. */
void passing_send_page(struct client *c, const struct sim_answer *a);
/* Forgets a client that is gone. */
void passing_drop(struct client *c);

/* --- ivshmem.c --- */

/*
 * Gives a node for which hca_possible() holds to a virtual machine, until the other end of the socket
 * closes; duplicates the socket.  who: name for statistics.  Returns 0 or an errno.
 */
int ivshmem_open(struct server *sv, uint32_t node, int socket, const char *who);
/* Takes all nodes back. */
void ivshmem_stop(struct server *sv);

/* --- client.c --- */

void client_new(struct server *sv, int fd);
void client_drop(struct client *c);
/* Queues one message to the client.  Returns the copy, which may be changed until the next call. */
void *client_send(struct client *c, const void *data, size_t n);
/*
 * Records that a message for one of the client's open ports came, whether or not there is room for
 * it.
 */
void client_addressed(struct client *c);
/* Sends queued messages; drops the client if it is gone. */
void client_flush(struct client *c);
/* Reads all input of a client whose input is held; may free the client. */
void client_read_held(struct client *c);
/* Ends the holding of a client's input. */
void client_release(struct client *c);

/* --- message.c --- */

struct message {
	char *data;
	size_t n;
	int file;		/* file passed with it; -1: none */
};
/* Handles a message.  Returns NULL, or what is wrong with it, for the log ("": the client has gone). */
const char *client_take(struct client *c, const struct message *m);

/* --- question.c --- */

/* Finds the nodes of a hello, none of them a virtual machine's.  False, with the reason in a. */
bool find_nodes(struct client *c, const char *nodes, struct sim_answer *a);
/* The end port of a hello; SIM_NONE, with the reason in a. */
uint32_t hello_port(struct client *c, const struct sim_hello *h, struct sim_answer *a);
/* Whether the node can become a virtual machine's.  False, with the reason in a. */
bool may_be_driven(const struct client *c, uint32_t node, struct sim_answer *a);
void answer_question(struct client *c, const struct sim_ask *q, struct sim_answer *a);
void answer_error(struct sim_answer *a, int error, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
