/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Queues received MADs between the receiver threads and the loop's thread.
 *
 * A lock of its own guards the intake.  Each class has a queue, bounded in all and for each source,
 * and the sources take turns.  So no sender can fill the memory, and none waits behind another's
 * thousand MADs.  When there is no room, the new MAD is turned away, except that a new trap or
 * other SMP replaces the latest one that waits from its source, so that the source's last word is
 * heard.
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
	int len;		/* length of the MAD, bytes */
	int64_t arrived_us;	/* time of arrival, monotonic, for SA requests; else 0 */
};

struct rx_item {
	struct fair_item item;	/* must be the first member */
	struct rx_slot slot;
};

enum intake_class {
	INTAKE_ANSWER,		/* answers to qosd's requests to other ports' QPs */
	INTAKE_SMP,		/* SMPs from others: traps, SMInfo */
	INTAKE_RMPP,		/* RMPP MADs of the SA class: segments, ACKs, STOPs and ABORTs */
	INTAKE_REQUEST,		/* SA requests of one MAD */
	INTAKE_CLASSES
};

/* Bounds of SMPs, in all and of one source and kind; then of RMPP MADs, in all and of one source. */
#define INTAKE_SMPS	4096u
#define INTAKE_SMPS_EACH	4u
#define INTAKE_RMPP_MAX	4096u
#define INTAKE_RMPP_EACH	256u
#define INTAKE_ANSWERS	2048u
#define INTAKE_BUSY_BURST	4096u	/* BUSY answers that may be sent at once, to all senders together */
#define INTAKE_BUSY_EACH_US	200	/* time after which one more may be sent */

struct intake;
/* Makes an intake.  `requests` and requests_each bound INTAKE_REQUEST, in all and of one source. */
struct intake *intake_new(unsigned requests, unsigned requests_each);
void intake_free(struct intake *in);	/* also frees everything that waits; NULL is fine */

/*
 * For receiver threads: an item to receive into.  The caller owns it until intake_put() or
 * intake_give_back().
 */
struct rx_item *intake_item(struct intake *in);
void intake_give_back(struct intake *in, struct rx_item *i);

/*
 * Takes the item over.  If there was no room, returns an item to the caller: another source's
 * oldest, or `i` itself if it was turned away or its MAD was copied over the latest one of its
 * source.  NULL if nothing had to go.
 */
struct rx_item *intake_put(struct intake *in, enum intake_class c, uint64_t source,
			   struct rx_item *i);
/*
 * The following are for the loop's thread.  `few` restricts them to senders that are not greedy
 * (fair_queue.h).  The intake moves several items at a time out of its queues, so that the loop's
 * thread seldom waits for a receiver thread that holds the lock but is not running.
 */
/* Takes the next item, which intake_done() gives back; NULL if none waits. */
struct rx_item *intake_take(struct intake *in, enum intake_class c, bool few);
void intake_done(struct intake *in, struct rx_item *i);
/* Whether anything of the class waits. */
bool intake_any(struct intake *in, enum intake_class c, bool few);

/* flood_note() under the intake's lock. */
void intake_note(struct intake *in, uint64_t source, uint16_t lid, enum mad_kind kind,
		 bool dropped, int64_t now_us);
/* Counts an SA request that is turned away.  True: it may be answered with BUSY. */
bool intake_turned_away(struct intake *in, uint64_t source, uint16_t lid, int64_t now_us);

#endif
