/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The RMPP transfers of a port, as the files of rmpp/ share them (private).
 *
 * All of it belongs to the loop's thread.
 */
#ifndef QOSD_MAD_RMPP_RMPP_TRANSFERS_H
#define QOSD_MAD_RMPP_RMPP_TRANSFERS_H

#include "mad/sa_requests.h"

#define BUCKETS		1024u		/* a power of 2 */
#define PACES		4096u		/* a power of 2 */

enum { OFF_METHOD = 3, OFF_TID = 8 };
#define METHOD_RESPONSE	0x80

enum kind { STREAM, SMALL, RECEIVE, KEPT, KINDS };

struct transfer {
	struct transfer *next;		/* next in its bucket */
	struct transfer *next_ready;
	bool ready;			/* in the queue of transfers that have something to send */
	bool gone;			/* over; freed at its turn */
	enum kind kind;
	uint64_t holder;		/* holder that the transfer is charged to (struct mad_hooks) */
	struct ib_user_mad peer;
	uint8_t head[RMPP_HEAD];	/* headers of the answer, or of the request */
	/* for STREAM and SMALL */
	struct rmpp_send send;
	struct mad_source *source;	/* NULL when all of it was read */
	size_t held;
	bool begun, plain;		/* the headers are made; the answer does not use RMPP */
	/* for RECEIVE and KEPT */
	struct rmpp_recv recv;
	uint32_t answer_window;		/* window that the requester granted when the direction turned */
};

struct transfers {
	struct mad_port *m;
	void (*message)(void *arg, const struct ib_user_mad *u, uint8_t *mad, size_t len);
	void *arg;
	struct timer *timer;
	int64_t timer_us;		/* when the timer fires; 0: it is not set */
	unsigned max[KINDS], each[KINDS], n[KINDS];
	size_t held;
	bool somebody_acks;
	uint32_t pace[PACES];		/* for transfers_pace(), by LID % PACES */
	struct transfer *bucket[BUCKETS];
	struct transfer *ready, **ready_end;
};

/* rmpp_transfers.c */
/* The list that holds all transfers of this source. */
struct transfer **transfer_bucket(struct transfers *ts, const struct ib_user_mad *u);
/*
 * The method that identifies a transaction: it maps GetTraceTable to GetTable, since GetTableResp
 * answers both.
 */
uint8_t transfer_method(uint8_t method);
bool transfer_same_peer(const struct ib_user_mad *a, const struct ib_user_mad *b);
/*
 * Time that the receiver at this address took for a window, us; 0: not known.  LIDs that collide
 * share an entry: then the wait for the slower one is too short until it is learnt again.
 */
uint32_t *transfers_pace(struct transfers *ts, const struct ib_user_mad *u);
/* Whether one more transfer is within the bounds, in all and of this source. */
bool transfer_room(struct transfers *ts, const struct ib_user_mad *u, enum kind kind);
/* Whether the holder of the source may have one more; refusals are counted there. */
bool transfer_may_begin(struct transfers *ts, const struct ib_user_mad *u, enum kind kind);
/* Finds the answer that goes to the MAD's sender, or the request that comes from it. */
struct transfer *transfer_find(struct transfers *ts, const struct ib_user_mad *u,
			       const uint8_t *mad, bool sending);
struct transfer *transfer_add(struct transfers *ts, const struct ib_user_mad *u,
			      const uint8_t *head, enum kind kind);
void transfer_drop_source(struct transfers *ts, struct transfer *t);
/* Ends a transfer without notice to the peer. */
void transfer_end(struct transfers *ts, struct transfer *t);
/* Appends to the queue of transfers that have something to send. */
void transfer_make_ready(struct transfers *ts, struct transfer *t);
/* Takes the next transfer that is not over out of the queue. */
struct transfer *transfers_take_ready(struct transfers *ts);
/* Makes the timer check all transfers at due_us at the latest. */
void transfers_wake_at(struct transfers *ts, int64_t due_us);
bool transfers_transmit(struct transfers *ts, const struct ib_user_mad *to,
			const uint8_t mad[RMPP_MAD]);
/* Sends a STOP or ABORT to the sender of the MAD. */
void transfers_send_back(struct transfers *ts, const struct ib_user_mad *u, const uint8_t *mad,
			 uint8_t type, uint8_t status);

/* rmpp_answers.c */
void transfer_take_ack(struct transfers *ts, const struct ib_user_mad *u, const uint8_t *mad);
/* Handles a missing ACK. */
void transfer_late_answer(struct transfers *ts, struct transfer *t, int64_t now_us);

/* Aborts an answer of qosd's. */
void transfer_abort(struct transfers *ts, struct transfer *t, uint8_t status);

#endif
