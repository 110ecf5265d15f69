/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Private to the transfers of a port: what they are, and who does which part.
 *
 *   rmpp_transfers.c         all of them: which is whose, their bounds, the queue, the timer
 *   rmpp_answers.c    answers: made while they are sent, or kept till they are acknowledged
 *   rmpp_requests.c    requests in segments, and those complete of which an ACK may be lost
 *
 * All of it is of the loop's thread.
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
	struct transfer *next;		/* in its bucket */
	struct transfer *next_ready;
	bool ready;			/* in the queue */
	bool gone;			/* over; freed when its turn comes */
	enum kind kind;
	uint64_t holder;		/* who answers for it (struct mad_hooks) */
	struct ib_user_mad peer;
	uint8_t head[RMPP_HEAD];	/* of what we send, or of the request */
	/* STREAM, SMALL */
	struct rmpp_send send;
	struct mad_source *source;	/* NULL: all of it was read */
	size_t held;
	bool begun, plain;		/* the head is there; it is not by RMPP */
	/* RECEIVE, KEPT */
	struct rmpp_recv recv;
	uint32_t answer_window;		/* granted by the turn of the direction */
};

struct transfers {
	struct mad_port *m;
	void (*message)(void *arg, const struct ib_user_mad *u, uint8_t *mad, size_t len);
	void *arg;
	struct timer *timer;
	int64_t timer_us;		/* when it is due; 0: it is not set */
	unsigned max[KINDS], each[KINDS], n[KINDS];
	size_t held;
	bool somebody_acks;
	uint32_t pace[PACES];		/* transfers_pace(), by LID % PACES */
	struct transfer *bucket[BUCKETS];
	struct transfer *ready, **ready_end;
};

/* rmpp_transfers.c */
/* Those of a source are in one list. */
struct transfer **transfer_bucket(struct transfers *ts, const struct ib_user_mad *u);
/*
 * A method as transactions are told apart: GetTableResp answers GetTraceTable, too, so that the
 * two are one.
 */
uint8_t transfer_method(uint8_t method);
bool transfer_same_peer(const struct ib_user_mad *a, const struct ib_user_mad *b);
/*
 * How long the receiver of that address took for a window, us; 0: not known.  Two whose LIDs
 * collide have one: the wait of the one that is slower is too short until it is learnt again.
 */
uint32_t *transfers_pace(struct transfers *ts, const struct ib_user_mad *u);
/* Whether one more is within the bounds, of all and of one source. */
bool transfer_room(struct transfers *ts, const struct ib_user_mad *u, enum kind kind);
/* The same of the port that answers for the source; a refusal is counted there. */
bool transfer_may_begin(struct transfers *ts, const struct ib_user_mad *u, enum kind kind);
/* Becomes one of another kind. */
void transfer_turns(struct transfers *ts, struct transfer *t, enum kind kind);
/* The answer that goes (or the request that comes) where the MAD comes from. */
struct transfer *transfer_find(struct transfers *ts, const struct ib_user_mad *u,
			       const uint8_t *mad, bool sending);
struct transfer *transfer_add(struct transfers *ts, const struct ib_user_mad *u,
			      const uint8_t *head, enum kind kind);
void transfer_drop_source(struct transfers *ts, struct transfer *t);
/* Without a word to the other end. */
void transfer_end(struct transfers *ts, struct transfer *t);
/* Into the queue of those that have something to send. */
void transfer_make_ready(struct transfers *ts, struct transfer *t);
/* The next of the queue that is not over, out of it. */
struct transfer *transfers_take_ready(struct transfers *ts);
/* Then at the latest the timer looks at all of them. */
void transfers_wake_at(struct transfers *ts, int64_t due_us);
bool transfers_transmit(struct transfers *ts, const struct ib_user_mad *to,
			const uint8_t mad[RMPP_MAD]);
/* A STOP or ABORT to who sent the MAD. */
void transfers_send_back(struct transfers *ts, const struct ib_user_mad *u, const uint8_t *mad,
			 uint8_t type, uint8_t status);

/* rmpp_answers.c */
void transfer_take_ack(struct transfers *ts, const struct ib_user_mad *u, const uint8_t *mad);
/* No ACK came in time. */
void transfer_late_answer(struct transfers *ts, struct transfer *t, int64_t now_us);

/* We give up what we send. */
void transfer_abort(struct transfers *ts, struct transfer *t, uint8_t status);

/* rmpp_requests.c */
void transfer_take_data(struct transfers *ts, const struct ib_user_mad *u, const uint8_t *mad);

#endif
