/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the files of sim/host share, and nobody else sees.
 *
 *   host.c       files and the issm device        agent.c      registration, who gets what
 *   write.c      from write() to a packet         txn.c        sends that wait: answers, time-outs
 *   dispatch.c   from a packet to read()          rmpp.c       for which end a packet of RMPP is
 *   rmpp_send.c, rmpp_recv.c                      the two ends of an RMPP transfer
 *
 * Ownership: a file owns its agents; an agent its sends and receives; all die
 * with it.  A port's state lives until hosts_stop().
 */
#ifndef QOSD_SIM_HOST_PARTS_H
#define QOSD_SIM_HOST_PARTS_H

#include <infiniband/umad.h>

#include "lib/base/bytes.h"
#include "sim/host/host.h"
#include "sim/host/table.h"
#include "sim/host/wheel.h"
#include "sim/net/wire.h"

#define UMAD_HEAD	sizeof(struct ib_user_mad)
#define MAD_HEAD	24u		/* the common header */
#define GSI_QKEY	0x80010000u
#define SENDS_MAX	65536u		/* a file's sends that wait */
#define PORT_BYTES_MAX	(2 * (size_t)HOST_MESSAGE_MAX)	/* of RMPP messages under way, a port */

/* --- RMPP (13.6.2) --- */

enum { RMPP_FIRST = 2, RMPP_LAST = 4, RMPP_RTIME_SHIFT = 3 };	/* flags beside RMPP_ACTIVE */
#define RMPP_NO_RTIME	0x1f
/* PayloadLength of a full segment: the class's header counts, too. */
#define RMPP_PAYLOAD	(SIM_MAD_SIZE - RMPP_HEAD)
#define RMPP_WINDOW	64u	/* what the kernel's receiver grants */
/* RMPPStatus (13.6.2) */
enum {
	RMPP_RESX = 1,		/* STOP: resources exhausted */
	RMPP_T2L = 118, RMPP_BAD_LENGTH, RMPP_BAD_SEGMENT, RMPP_BAD_TYPE, RMPP_WINDOW_SMALL,
	RMPP_SEGMENT_BIG, RMPP_BAD_STATUS, RMPP_BAD_VERSION, RMPP_TOO_MANY_RETRIES,
	RMPP_UNSPECIFIED,
	RMPP_ABORT_MIN = RMPP_T2L, RMPP_ABORT_MAX = RMPP_UNSPECIFIED,
};

/* --- who there is --- */

/* Requests of one class and version that come in at a port: who gets which method. */
struct methods {
	uint8_t mgmt_class, version;
	uint32_t oui;
	unsigned n;			/* entries of agent[] in use */
	struct host_agent *agent[128];
};

struct host_port {
	uint32_t port;
	bool issm_open;
	size_t bytes;			/* of RMPP messages under way */
	VEC(struct methods *) methods;
};

struct agent_slot {
	struct host_agent *agent;	/* NULL: free */
	uint32_t uses;
};

struct hosts {
	struct sim *s;
	struct host_port **ports;	/* by port; NULL: nobody was there yet */
	struct link files;
	VEC(struct agent_slot) slots;	/* by the lower half of hi_tid, from 1 */
	struct table sends;		/* struct txn */
	struct table receives;		/* struct rmpp_recv */
	struct wheel wheel;
	struct node *spare;		/* struct txn to be used again */
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
	uint32_t id;			/* place in the file */
	uint32_t hi_tid;		/* upper half of the transaction ids of its requests */
	uint8_t mgmt_class, version;	/* class 0: hears answers only */
	uint8_t qp;			/* 0 or 1 */
	bool rmpp;			/* segments are ours to do */
	uint32_t oui;
	struct link sends;		/* struct txn */
	struct link receives, done;	/* struct rmpp_recv: under way, and complete */
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

/* --- agent.c --- */

void agent_free(struct host_agent *a);
/* To whom a MAD goes that came in at the port; NULL: nobody. */
struct host_agent *agent_for(const struct hosts *hs, uint32_t port, const uint8_t *mad);

/* --- write.c --- */

/* Onto the wire, if its P_Key and the port's state let it (and it is of QP1). */
void file_send(struct host_file *h, const struct packet *p);

/* --- dispatch.c --- */

/* Does the MAD answer a request, so that its transaction id is one of ours? */
bool mad_is_answer(const uint8_t *mad);
/*
 * A complete MAD or message for the agent; the first UMAD_HEAD bytes of umad are
 * filled here.  p: the packet that brought (the first segment of) it.
 */
void agent_complete(struct host_agent *a, const struct packet *p, uint8_t *umad, size_t length);
void agent_deliver(struct host_agent *a, const struct packet *p, const void *umad, size_t n);

/* --- txn.c: sends that wait for an answer, or for the ACKs of their segments --- */

struct rmpp_send {
	uint8_t *data;			/* what follows the headers; NULL: not by RMPP */
	size_t n;
	uint32_t segments;
	uint32_t sent, acked;		/* the last segment that … */
	uint32_t window;		/* … and that may be sent */
	int64_t progress_us;		/* when the last ACK brought something new */
	int64_t round_trip_us;		/* as seen of late, rather too long than too short */
	int64_t wait_us;		/* for the next ACK */
	bool repeated;			/* since progress_us, because no ACK came */
	bool asked;			/* in this window, what the receiver has */
	uint32_t filled;		/* the last segment that was repeated since a wait */
	uint8_t lossy;			/* windows that are to end with that question */
	int64_t peer_us;		/* response time that the receiver told */
	int64_t burst_us;		/* when segments began to go without a pause … */
	uint32_t burst;			/* … and how many they are */
};

struct txn {
	struct node node;		/* hosts.sends */
	struct link of_agent;
	struct wheel_timer timer;
	struct host_agent *agent;
	struct ib_user_mad head;	/* as the client wrote it */
	uint32_t retries_left;
	bool answer;			/* it is one */
	struct rmpp_send rmpp;
	struct packet packet;
};

/* Registered, nothing sent yet; NULL: too many. */
struct txn *txn_new(struct host_agent *a, const struct ib_user_mad *head, const struct packet *p);
void txn_free(struct txn *t);
/* Sends it, and waits for the answer; not by RMPP. */
void txn_start(struct txn *t);
void txn_set_timer(struct txn *t, int64_t delay_us);
/* For the answer to a send that is complete, or has no more segments. */
void txn_await_answer(struct txn *t);
/* Gives it back to the client with status ETIMEDOUT. */
void txn_timed_out(struct txn *t);
/* Is another one under way that cannot be told from it? */
bool txn_duplicate(const struct host_agent *a, const struct packet *p);
/* The send that p answers or acknowledges. */
struct txn *txn_find(const struct host_agent *a, const struct packet *p);

/* --- rmpp.c --- */

/* Where a class's data begin, and how much one segment carries of them. */
unsigned class_data_offset(uint8_t mgmt_class);

static inline unsigned segment_size(uint8_t mgmt_class)
{
	return SIM_MAD_SIZE - class_data_offset(mgmt_class);
}

/* An ACK, STOP or ABORT in answer to p; no doing of a client's, so counted for none. */
void rmpp_reply(struct host_file *h, const struct packet *p, uint8_t type, uint8_t status,
		uint32_t segment, uint32_t window);
/* p makes no sense: its transfer ends, and the other end is told why. */
void rmpp_refuse(struct host_agent *a, const struct packet *p, uint8_t status);
/* An RMPP packet came in for an agent that leaves RMPP to us. */
void rmpp_packet(struct host_agent *a, const struct packet *p);

/* --- rmpp_send.c --- */

/* Begins to send a message; 0, or -ENOMEM if too much is under way. */
int rmpp_send_start(struct txn *t, const uint8_t *mad, size_t n);
void rmpp_send_free(struct txn *t);
void rmpp_send_expired(struct txn *t);
void rmpp_send_ack(struct host_agent *a, const struct packet *p);
/* The receiver gave up, or what it sent makes no sense. */
void rmpp_send_abort(struct host_agent *a, const struct packet *p);

/* --- rmpp_recv.c --- */

struct rmpp_recv;
void rmpp_recv_data(struct host_agent *a, const struct packet *p);
/* The sender gave up. */
void rmpp_recv_abort(struct host_agent *a, const struct packet *p);
/* An ACK of segment 0: the receiver of our answer is ready. */
void rmpp_recv_direction_switch(struct host_agent *a, const struct packet *p, uint32_t window);
/* How many segments of the answer p to a request that came by RMPP may go at once. */
uint32_t rmpp_recv_first_window(const struct host_agent *a, const struct packet *p);
void rmpp_recv_free_all(struct host_agent *a);

#endif
