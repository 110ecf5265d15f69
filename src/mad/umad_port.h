/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The opened umad port, and how a received MAD finds its way (private to mad/). */
#ifndef QOSD_MAD_UMAD_PORT_H
#define QOSD_MAD_UMAD_PORT_H

#include <pthread.h>
#include <stdatomic.h>

#include <infiniband/umad.h>
#include <infiniband/umad_sm.h>

#include "mad/fair_queue.h"
#include "mad/intake.h"
#include "mad/mad.h"

#define CLASS_CONGESTION	0x21	/* annex A10 */

/*
 * Open umad ports.  The kernel keeps a list of received MADs for each file, so that MADs of one
 * file do not wait behind those of another.  Nobody can flood the files for answers: the kernel
 * drops answers that match no request sent there, except RMPP answers of the SA class.
 */
enum port_file {
	FILE_SMP_ANSWERS,	/* answers to qosd's SMPs */
	FILE_SMPS,		/* SMPs from others, to QP0 */
	FILE_GMP_ANSWERS,	/* answers to qosd's requests to other ports' QP1 */
	FILE_GMPS,		/* requests to the SA */
	PORT_FILES
};

/* Agents; each uses one of the files. */
enum port_agent {
	AGENT_SMI, AGENT_ASK_DR, AGENT_DR, AGENT_ASK_SA, AGENT_SA, AGENT_PERF,
	AGENT_CC,		/* -1: the kernel has no agent for the class */
	PORT_AGENTS
};

/* State of one receiver thread. */
struct rx_end {
	struct mad_port *m;
	int fd;
	pthread_t thread;
	bool started;
	atomic_bool ended;		/* the thread takes no more MADs */
	struct fair *at_once;		/* queue of struct rx_item */
	unsigned handed_over;		/* MADs handed over since the last wake-up of the loop */
};

struct txn_table;
struct sa_side;
struct request_table;

struct mad_port {
	struct loop *loop;
	struct mad_port_info info;
	/*
	 * Umad port ids; -1: none.  Where the device cannot be opened twice, the file for answers
	 * is the one for requests.
	 */
	int file[PORT_FILES];
	bool no_qp;		/* registration failed because the device lacks the queue pair */
	int agent[PORT_AGENTS];	/* -1: not registered */
	int issm_fd;
	struct mad_counts counts;	/* under the engine's lock */
	struct mad_counts shown;	/* copy that mad_counts() returns */

	struct mad_hooks hooks;

	struct rx_end end[PORT_FILES];	/* receiver threads, one for each distinct file */
	atomic_bool stop, dead;
	/* counters for any thread */
	atomic_ullong sa_received, sa_sent, send_errors;
	atomic_ullong smps, traps, unknown, malformed, unasked;
	atomic_ullong dropped[INTAKE_CLASSES];
	struct wake *wake;
	struct intake *intake;
	unsigned sa_queue_max, sa_queue_each;
	bool closed_soon;		/* see struct mad_settings */
	struct sa_side *sa;		/* belongs to the loop's thread, like the RMPP counters */
	struct { uint64_t streams, segments, repeated, aborted, refused; } rmpp;

	pthread_mutex_t engine;		/* guards txns; held during the callbacks of a job */
	struct txn_table *txns;
	struct request_table *requests;	/* belongs to the loop's thread */
};

/* umad_port.c */
/*
 * Sends a MAD of len bytes, at most MAD_SIZE (the kernel pads it), to the LID, QP, SL and P_Key
 * index of addr by an agent of the file. timeout_ms 0: no answer is expected.  False: the kernel
 * refused it; this is counted.
 */
bool port_send(struct mad_port *m, enum port_file file, uint32_t agent, const ib_mad_addr_t *addr,
	       const uint8_t *mad, size_t len, unsigned timeout_ms);

/* Whether the file is an open umad port that no earlier file shares. */
bool port_file_is_own(const struct mad_port *m, unsigned file);

/* receive.c */
bool rx_start(struct mad_port *m, struct buf *err);
void rx_stop(struct mad_port *m);

/* The received MAD as hooks get it; valid as long as the slot. */
struct mad_in slot_in(const struct rx_slot *s);

/*
 * Identifies the sender that a MAD's queue share is charged to: its LID.  With a share for each
 * queue pair, a host could get as many shares as it has queue pairs.
 */
static inline uint64_t umad_sender(const struct ib_user_mad *u)
{
	return be16toh(u->addr.lid);
}

/* Identifies the address to answer to: QP and LID. */
static inline uint64_t umad_source(const struct ib_user_mad *u)
{
	return (uint64_t)u->addr.qpn << 16 | u->addr.lid;
}

/* sa_requests.c: serves SA requests in the loop's thread; RMPP answers */
struct sa_side *sa_side_new(struct mad_port *m, const struct mad_settings *s);
void sa_side_free(struct sa_side *s);
/* Serves waiting requests, of the intake and its own, for a bounded time. */
void sa_side_turn(struct sa_side *s);
/* Sends an RMPP answer that is a single MAD of 256 bytes. */
void sa_side_reply(struct sa_side *s, const struct ib_user_mad *to, const uint8_t *mad);

/* transactions.c */
struct txn_table *txn_table_new(struct mad_port *m, const struct mad_settings *s);
void txn_table_free(struct txn_table *t);
/* Takes an answer, or a send that the kernel gave up (umad_status != 0). */
void txn_complete(struct txn_table *t, uint32_t tid, int umad_status,
		  const struct umad_smp *smp, size_t len);
/* Sends what the windows allow; call it once after a batch of MADs. */
void txn_pump(struct txn_table *t);
/* Writes the current and former window into c, and nothing else.  Call with the lock held. */
void txn_counts(const struct txn_table *t, struct mad_counts *c);
/* In the loop's thread: calls the pending callbacks and sends more.  Takes the lock. */
void txn_tell(struct txn_table *t);

/* mad_request.c */
struct request_table *request_table_new(struct mad_port *m);
void request_table_free(struct request_table *t);
/*
 * Whether a request waits for this answer, by its TID.  From any thread. slid: the sender's LID,
 * which must be where the request went, or 0, since the kernel may loop back what this node sends
 * itself.
 */
bool request_is_awaited(const struct request_table *t, const uint8_t *mad, uint16_t slid);
/* The same for an own request that the kernel returns because it was not sent or not answered. */
bool request_is_under_way(const struct request_table *t, const uint8_t *mad);
/* Takes an answer to an own request, or a send that the kernel gave up (umad_status != 0). */
void request_complete(struct request_table *t, int umad_status, const uint8_t *mad, size_t len);

#endif
