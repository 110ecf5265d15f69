/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Types and functions that the files of sim/host share (private).
 *
 *   host.c       files and the issm device        agent.c      registration, who gets what
 *   write.c      from write() to a packet         txn.c        pending sends: answers, time-outs
 *   dispatch.c   from a packet to read()          rmpp.c       which end of a transfer a packet is for
 *   rmpp_send.c, rmpp_recv.c                      the two ends of an RMPP transfer
 *
 * Ownership: a file owns its agents, and an agent owns its sends and receives; they end with their
 * owner.  A port's state lives until hosts_stop().
 */
#ifndef QOSD_SIM_HOST_PARTS_H
#define QOSD_SIM_HOST_PARTS_H

#include <infiniband/umad.h>

#include "lib/base/bytes.h"
#include "sim/host/host.h"
#include "sim/host/table.h"
#include "sim/net/wire.h"

#define UMAD_HEAD	sizeof(struct ib_user_mad)
#define MAD_HEAD	24u		/* bytes of the common header */
#define SENDS_MAX	65536u		/* limit of a file's pending sends */
#define PORT_BYTES_MAX	(2 * (size_t)HOST_MESSAGE_MAX)	/* limit of RMPP messages under way at a port,
							 * bytes */

/* --- RMPP (13.6.2) --- */

enum { RMPP_FIRST = 2, RMPP_LAST = 4, RMPP_RTIME_SHIFT = 3 };	/* flags besides RMPP_ACTIVE */
#define RMPP_NO_RTIME	0x1f
/* PayloadLength of a full segment, which includes the class's header. */
#define RMPP_PAYLOAD	(SIM_MAD_SIZE - RMPP_HEAD)
#define RMPP_WINDOW	64u	/* window that the kernel's receiver grants */
/* RMPPStatus (13.6.2) */
enum {
	RMPP_RESX = 1,		/* STOP: resources exhausted */
	RMPP_T2L = 118, RMPP_BAD_LENGTH, RMPP_BAD_SEGMENT, RMPP_BAD_TYPE, RMPP_WINDOW_SMALL,
	RMPP_SEGMENT_BIG, RMPP_BAD_STATUS, RMPP_BAD_VERSION, RMPP_TOO_MANY_RETRIES,
	RMPP_UNSPECIFIED,
	RMPP_ABORT_MIN = RMPP_T2L, RMPP_ABORT_MAX = RMPP_UNSPECIFIED,
};

/* --- ports, files and agents --- */

/* Agents by method, for requests of one class and version that come in at a port. */
struct methods {
	uint8_t mgmt_class, version;
	uint32_t oui;
	unsigned n;			/* used entries of agent[] */
	struct host_agent *agent[128];
};

struct host_port {
	uint32_t port;
	bool issm_open;
	size_t bytes;			/* bytes of RMPP messages under way */
	VEC(struct methods *) methods;
};

struct agent_slot {
	struct host_agent *agent;	/* NULL: free */
	uint32_t uses;
};

struct hosts {
	struct sim *s;
	struct host_port **ports;	/* by port; NULL: not used yet */
	struct link files;
	VEC(struct agent_slot) slots;	/* by the lower half of hi_tid, from 1 */
	struct table sends;		/* of struct txn */
	struct table receives;		/* of struct rmpp_recv */
	struct node *spare;		/* free list of struct txn */
};

struct host_file {
	struct link link;
	struct hosts *hosts;
	struct host_port *port;
	uint32_t client;
	struct host_file_ops ops;
	uint32_t n_sends;
	struct host_agent *agents[HOST_AGENTS_MAX];
};

struct host_agent {
	struct host_file *file;
	uint32_t id;			/* index in the file */
	uint32_t hi_tid;		/* upper half of the transaction ids of its requests */
	uint8_t mgmt_class, version;	/* class 0: only receives answers */
	uint8_t qp;			/* 0 or 1 */
	bool rmpp;			/* sim/host does RMPP for the client */
	uint32_t oui;
	struct link sends;		/* list of struct txn */
	struct link receives, done;	/* lists of struct rmpp_recv: under way, and complete */
	uint32_t n_done;
};

static inline struct hosts *hosts_of(const struct sim *s)
{
	return s->hosts;
}

static inline struct sim_port *sim_port_of(const struct host_file *h)
{
	return &h->hosts->s->f->ports[h->port->port];
}

/* --- host.c --- */

/*
 * Calls fn(s, arg) after the delay, at a whole millisecond as a kernel does; replaces the setting that
 * *timer is the handle of.
 */
void host_set_timer(const struct hosts *hs, uint64_t *timer, int64_t delay_us,
		    void (*fn)(struct sim *s, void *arg), void *arg);

/* --- agent.c --- */

void agent_free(struct host_agent *a);
/* The agent that gets a MAD which came in at the port; NULL if there is none. */
struct host_agent *agent_for(const struct hosts *hs, uint32_t port, const uint8_t *mad);

/* --- write.c --- */

/* Puts a packet on the wire if its P_Key and the port's state allow that (QP1 only). */
void file_send(struct host_file *h, const struct packet *p);

/* --- dispatch.c --- */

/* Whether the MAD is an answer, so that its transaction id may be that of a request. */
bool mad_is_answer(const uint8_t *mad);
/*
 * Delivers a complete MAD or message to the agent, after filling the first UMAD_HEAD bytes of umad.
 * p: the (first) packet of the message.
 */
void agent_complete(struct host_agent *a, const struct packet *p, uint8_t *umad, size_t length);
void agent_deliver(struct host_agent *a, const struct packet *p, const void *umad, size_t n);

/* --- txn.c: sends that wait for an answer, or for ACKs of their segments --- */

struct rmpp_send {
	uint8_t *data;			/* data after the headers; NULL: the send does not use RMPP */
	size_t n;
	uint32_t segments;
	uint32_t sent, acked;		/* last segment sent, last one acknowledged */
	uint32_t window;		/* last segment that may be sent */
	int64_t progress_us;		/* time of the last ACK of new segments */
	int64_t round_trip_us;		/* recent estimate, long rather than short */
	int64_t wait_us;		/* how long to wait for the next ACK */
	bool repeated;			/* segments were repeated since progress_us, because no ACK came */
	bool asked;			/* a probe went out in this window */
	uint32_t filled;		/* last gap that was repeated since a wait */
	uint8_t lossy;			/* windows left that are to end with a probe */
	int64_t peer_us;		/* response time that the receiver stated */
	int64_t burst_us;		/* start of the current burst of segments */
	uint32_t burst;			/* segments in the current burst */
};

struct txn {
	struct node node;		/* in hosts.sends */
	struct link of_agent;
	uint64_t timer;			/* of host_set_timer() */
	struct host_agent *agent;
	struct ib_user_mad head;	/* header as the client wrote it */
	uint32_t retries_left;
	bool answer;			/* the MAD is an answer */
	struct rmpp_send rmpp;
	struct packet packet;
};

/* Registers a send, but sends nothing yet; NULL if there are too many. */
struct txn *txn_new(struct host_agent *a, const struct ib_user_mad *head, const struct packet *p);
void txn_free(struct txn *t);
/* Sends a MAD without RMPP and waits for its answer. */
void txn_start(struct txn *t);
void txn_set_timer(struct txn *t, int64_t delay_us);
/* Sets the timer for the answer to a completely sent request. */
void txn_await_answer(struct txn *t);
/* Returns the send to the client with status ETIMEDOUT. */
void txn_timed_out(struct txn *t);
/* Whether a send that cannot be told apart from it is under way. */
bool txn_duplicate(const struct host_agent *a, const struct packet *p);
/* The send that p answers or acknowledges. */
struct txn *txn_find(const struct host_agent *a, const struct packet *p);

/* --- rmpp.c --- */

/* Offset of a class's data, and bytes of data in a segment. */
unsigned class_data_offset(uint8_t mgmt_class);

static inline unsigned segment_size(uint8_t mgmt_class)
{
	return SIM_MAD_SIZE - class_data_offset(mgmt_class);
}

/*
 * Answers p with an ACK, STOP or ABORT.  The reply is not a client's, so statistics count it for
 * none.
 */
void rmpp_reply(struct host_file *h, const struct packet *p, uint8_t type, uint8_t status,
		uint32_t segment, uint32_t window);
/* Ends the transfer of an invalid packet, and tells the other end why. */
void rmpp_refuse(struct host_agent *a, const struct packet *p, uint8_t status);
/* Takes an RMPP packet for an agent that leaves RMPP to sim/host. */
void rmpp_packet(struct host_agent *a, const struct packet *p);

/* --- rmpp_send.c --- */

/* Begins to send a message.  Returns 0, or -ENOMEM if too much is under way. */
int rmpp_send_start(struct txn *t, const uint8_t *mad, size_t n);
void rmpp_send_free(struct txn *t);
void rmpp_send_expired(struct txn *t);
void rmpp_send_ack(struct host_agent *a, const struct packet *p);
/* Handles a STOP or ABORT from the receiver, or an invalid packet from it. */
void rmpp_send_abort(struct host_agent *a, const struct packet *p);

/* --- rmpp_recv.c --- */

struct rmpp_recv;
void rmpp_recv_data(struct host_agent *a, const struct packet *p);
/* Handles an ABORT from the sender. */
void rmpp_recv_abort(struct host_agent *a, const struct packet *p);
/* Handles an ACK of segment 0: the requester is ready for the answer. */
void rmpp_recv_direction_switch(struct host_agent *a, const struct packet *p, uint32_t window);
/* Number of segments of the answer p that may go at once, if its request came by RMPP. */
uint32_t rmpp_recv_first_window(const struct host_agent *a, const struct packet *p);
void rmpp_recv_free_all(struct host_agent *a);

#endif
