/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What was received and waits for the loop's thread.  The receivers' threads put it in, the loop's
 * takes it out; a lock of its own guards all of it.
 *
 * There is a queue for each class, bounded in all and of each source, in which sources have turns.
 * So no sender fills the memory, and none waits behind another's thousand MADs.  What has no room
 * goes: of traps and other SMPs the latest that waits is replaced by the new one, so that the
 * last word of a source is heard; of the rest the new one is turned away.
 */
#ifndef QOSD_MAD_INTAKE_H
#define QOSD_MAD_INTAKE_H

#include <infiniband/umad.h>

#include "mad/fair_queue.h"
#include "mad/mad.h"

#define MAD_SIZE	256

/* One received MAD with its umad header. */
struct rx_slot {
	uint8_t raw[sizeof(struct ib_user_mad) + MAD_SIZE];
	int len;		/* of the MAD */
	int64_t arrived_us;	/* monotonic; of a request to the SA, else 0 */
};

struct rx_item {
	struct fair_item item;	/* first */
	struct rx_slot slot;
};

enum intake_class {
	INTAKE_ANSWER,		/* to a request of ours to another's QP */
	INTAKE_SMP,		/* traps, SMInfo */
	INTAKE_RMPP,		/* of the SA class: segments, and what receivers say to them */
	INTAKE_REQUEST,		/* of the SA class, in one MAD */
	INTAKE_CLASSES
};

/* SMPs of one source and kind that may wait; also how many of them in all, and the like of RMPP */
#define INTAKE_SMPS	4096u
#define INTAKE_SMPS_EACH	4u
#define INTAKE_RMPP_MAX	4096u
#define INTAKE_RMPP_EACH	256u
#define INTAKE_ANSWERS	2048u
#define INTAKE_BUSY_BURST	4096u	/* answers of BUSY at once, of all senders together, */
#define INTAKE_BUSY_EACH_US	200	/* and one more each so often */

struct intake;
/* requests, requests_each: bounds of INTAKE_REQUEST, in all and of a source. */
struct intake *intake_new(unsigned requests, unsigned requests_each);
void intake_free(struct intake *in);	/* with all that waits; NULL is fine */

/* For the receivers' threads: one to receive into, the caller's until it is put in or given back. */
struct rx_item *intake_item(struct intake *in);
void intake_give_back(struct intake *in, struct rx_item *i);

/*
 * Takes the item over.  What had to go instead, which may be the item itself or its memory with
 * another MAD in it, is the caller's again; NULL: nothing had to.
 */
struct rx_item *intake_put(struct intake *in, enum intake_class c, uint64_t source,
			   struct rx_item *i);
/*
 * These are for the loop's thread.  few: only items of senders that are not greedy (fair_queue.h).  The intake
 * takes several items from its queues at a time, so that the loop's thread seldom waits for the lock
 * while a receiver's thread that holds it is not running.
 */
/* The next one, which goes back by intake_done(); NULL: none waits. */
struct rx_item *intake_take(struct intake *in, enum intake_class c, bool few);
void intake_done(struct intake *in, struct rx_item *i);
/* True: something of the class waits. */
bool intake_any(struct intake *in, enum intake_class c, bool few);

/* mad/flood.h under the same lock. */
void intake_note(struct intake *in, uint64_t source, uint16_t lid, enum mad_kind kind,
		 bool dropped, int64_t now_us);
/* A request of the SA class that is turned away.  True: it may be answered BUSY. */
bool intake_turned_away(struct intake *in, uint64_t source, uint16_t lid, int64_t now_us);
bool intake_tell(struct intake *in, int64_t now_us, struct mad_flood *out);
bool intake_flood(struct intake *in, unsigned i, int64_t now_us, struct mad_flood *out);

#endif
