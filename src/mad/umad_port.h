/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Private to mad/: the opened port, and how a received MAD finds its way.
 */
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
 * Open umad ports.  The kernel keeps a list of received MADs for each, so that what comes by one
 * does not wait behind what comes by another.  Nobody can flood those of answers: the kernel drops
 * answers that it can't match to what was sent there, but for those of the SA class with RMPP.
 */
enum port_file {
	FILE_SMP_ANSWERS,	/* to our own SMPs */
	FILE_SMPS,		/* what others send to QP0 */
	FILE_GMP_ANSWERS,	/* to our own requests to others' QP1 */
	FILE_GMPS,		/* requests to the SA */
	PORT_FILES
};

/* Agents, each at one of the files. */
enum port_agent {
	AGENT_SMI, AGENT_ASK_DR, AGENT_DR, AGENT_ASK_SA, AGENT_SA, AGENT_PERF,
	AGENT_CC,		/* -1: the kernel has none for the class */
	PORT_AGENTS
};

/* Of one receiver thread. */
struct rx_end {
	struct mad_port *m;
	int fd;
	pthread_t thread;
	bool started;
	struct fair *at_once;		/* struct rx_item */
	unsigned handed_over;		/* since the loop was woken */
};

struct txn_table;
struct sa_side;
struct request_table;

struct mad_port {
	struct loop *loop;
	struct mad_port_info info;
	/*
	 * Umad port ids, -1: none.  A file of answers is that of requests where the device can't be
	 * opened twice.
	 */
	int file[PORT_FILES];
	bool no_qp;		/* registering failed, as the device lacks the queue pair */
	int agent[PORT_AGENTS];	/* -1: not registered */
	int issm_fd;
	struct mad_counts counts;	/* under the engine's lock */
	struct mad_counts shown;	/* a copy for those who ask */

	struct mad_hooks hooks;

	struct rx_end end[PORT_FILES];	/* receiver threads, one for each file that is no other's */
	atomic_bool stop, dead;
	/* counted by any thread */
	atomic_ullong sa_received, sa_sent, send_errors;
	atomic_ullong smps, traps, unknown, malformed, unasked;
	atomic_ullong dropped[INTAKE_CLASSES];
	struct wake *wake;
	struct intake *intake;
	unsigned sa_queue_max, sa_queue_each;
	struct sa_side *sa;		/* of the loop's thread, as the counts of RMPP */
	struct { uint64_t streams, segments, repeated, aborted, refused; } rmpp;

	pthread_mutex_t engine;		/* guards txns, and is held in the callbacks of a job */
	struct txn_table *txns;
	struct request_table *requests;	/* of the loop's thread */
};

/* umad_port.c */
/*
 * Sends a MAD of len bytes, at most MAD_SIZE (the kernel fills it up), to the LID, QP,
 * SL and P_Key index of addr by an agent of the file; timeout_ms 0: no answer is
 * expected.  False: the kernel did not take it, which is counted.
 */
bool port_send(struct mad_port *m, enum port_file file, uint32_t agent, const ib_mad_addr_t *addr,
	       const uint8_t *mad, size_t len, unsigned timeout_ms);

/* True: the file is an open umad port, and none of those before it is the same one. */
bool port_file_is_own(const struct mad_port *m, unsigned file);

/* receive.c */
bool rx_start(struct mad_port *m, struct buf *err);
void rx_stop(struct mad_port *m);

/* The MAD that came, as hooks see it; good as long as the slot. */
struct mad_in slot_in(const struct rx_slot *s);
/* Says BUSY to a request of the SA class that is not served, and counts it. */
void rx_turn_away(struct mad_port *m, const struct rx_slot *s);

/*
 * The sender whose share of a queue a MAD takes: the port, by its LID.  With shares for queue pairs a
 * host could have as many shares as it has queue pairs.
 */
static inline uint64_t umad_sender(const struct ib_user_mad *u)
{
	return be16toh(u->addr.lid);
}

/* Who is to be answered. */
static inline uint64_t umad_source(const struct ib_user_mad *u)
{
	return (uint64_t)u->addr.qpn << 16 | u->addr.lid;
}

/* sa_requests.c: requests of the SA class in the loop's thread, in turn; answers by RMPP */
struct sa_side *sa_side_new(struct mad_port *m, const struct mad_settings *s);
void sa_side_free(struct sa_side *s);
/* Serves what waits, in the intake and here, for a while. */
void sa_side_turn(struct sa_side *s);
/* An RMPP answer that is one MAD of 256 bytes. */
void sa_side_reply(struct sa_side *s, const struct ib_user_mad *to, const uint8_t *mad);

/* transactions.c */
struct txn_table *txn_table_new(struct mad_port *m, const struct mad_settings *s);
void txn_table_free(struct txn_table *t);
/* An answer, or a send that the kernel gave up (umad_status != 0). */
void txn_complete(struct txn_table *t, uint32_t tid, int umad_status,
		  const struct umad_smp *smp, size_t len);
/* Sends what the windows allow; called once after a batch was taken in. */
void txn_pump(struct txn_table *t);
/* What the window is, and was; of c only that is written.  The caller has the lock. */
void txn_counts(const struct txn_table *t, struct mad_counts *c);
/* In the loop's thread: tells who is to be told, and goes on. Takes the lock. */
void txn_tell(struct txn_table *t);

/* mad_request.c */
struct request_table *request_table_new(struct mad_port *m);
void request_table_free(struct request_table *t);
/*
 * Whether somebody waits for this answer, by its TID; from any thread.  slid: where it comes from, which
 * must be where the request went, or 0 for what our own node may loop back.
 */
bool request_is_awaited(const struct request_table *t, const uint8_t *mad, uint16_t slid);
/* The same for a request of ours that the kernel gives back, as it was not sent or not answered. */
bool request_is_under_way(const struct request_table *t, const uint8_t *mad);
/* An answer to a request of ours, or a send that the kernel gave up (umad_status != 0). */
void request_complete(struct request_table *t, int umad_status, const uint8_t *mad, size_t len);

#endif
