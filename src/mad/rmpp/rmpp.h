/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * RMPP of the SA class, 13.6, as two state machines: bytes and times in, bytes
 * out.  They know no port, no clock and no thread; whoever drives them gives the
 * time with each call (us, of any one clock) and asks when they want to be called again.
 */
#ifndef QOSD_MAD_RMPP_RMPP_H
#define QOSD_MAD_RMPP_RMPP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RMPP_MAD	256u
#define RMPP_HEAD	56u			/* MAD, RMPP and SA header: in each segment */
#define RMPP_DATA_LEN	(RMPP_MAD - RMPP_HEAD)	/* what a segment carries of the message */
#define RMPP_SA_LEN	20u			/* of the SA header, which PayloadLength counts */

enum { RMPP_DATA = 1, RMPP_ACK = 2, RMPP_STOP = 3, RMPP_ABORT = 4 };
enum { RMPP_ACTIVE = 1, RMPP_FIRST = 2, RMPP_LAST = 4 };
/* RMPPStatus (13.6.2.1, table 109) */
enum {
	RMPP_OK = 0,
	RMPP_NO_RESOURCES = 1,		/* in a STOP */
	RMPP_TOO_LONG = 118,		/* the total time of the transaction */
	RMPP_BAD_LENGTH, RMPP_BAD_FIRST, RMPP_BAD_TYPE, RMPP_WINDOW_TOO_SMALL,
	RMPP_SEGMENT_TOO_BIG, RMPP_BAD_STATUS, RMPP_BAD_VERSION, RMPP_TOO_MANY_RETRIES,
	RMPP_UNSPECIFIED,
};

/* Offsets of the RMPP header. */
enum {
	RMPP_OFF_VERSION = 24, RMPP_OFF_TYPE, RMPP_OFF_FLAGS, RMPP_OFF_STATUS,
	RMPP_OFF_SEGMENT = 28, RMPP_OFF_LENGTH = 32,	/* or NewWindowLast, in an ACK */
};

/* Of a whole MAD of the SA class: is it RMPP's? */
static inline bool rmpp_is_active(const uint8_t *mad)
{
	return mad[RMPP_OFF_FLAGS] & RMPP_ACTIVE;
}

/* What goes back for a MAD: an ACK, or a STOP or ABORT with a status. */
void rmpp_make_reply(uint8_t reply[RMPP_MAD], const uint8_t *mad, uint8_t type, uint8_t status,
		uint32_t segment, uint32_t window);

/* --- the sender, rmpp_sender.c --- */

#define RMPP_SEND_KEEP 256u	/* segments that are kept, whatever window is granted */

struct rmpp_segment {
	int64_t sent_us;		/* for the first time; 0: not yet */
	uint8_t data[RMPP_DATA_LEN];
};

struct rmpp_send {
	struct rmpp_segment *ring;	/* acked .. made, by number % cap */
	uint32_t cap;			/* a power of 2 */
	uint32_t made;			/* segments there have been so far */
	uint32_t last, last_len;	/* number and data of the last one; 0: not made yet */
	size_t total;			/* data of all, if it is known from the beginning, or 0 */
	uint32_t acked, sent;		/* the last segment that was acknowledged, or sent */
	uint32_t window;		/* may be sent, says the receiver */
	uint32_t again, again_end;	/* segments to be repeated before any other */
	uint32_t probed;		/* `sent` when the probe went that has no answer yet; 0: none is out */
	uint32_t filled;		/* the gap that was repeated last since a wait in vain */
	uint32_t tainted;		/* ACKs up to here may be of what was sent twice */
	int64_t begun_us, progress_us;	/* the last ACK that said something new */
	int64_t due_us;			/* when waiting for an ACK is over */
	int64_t round_trip_us, wait_us, peer_us;
	int64_t probe_us;		/* when it went, if its answer can be told from others */
	bool whole_window;		/* round_trip_us is of one, or of a probe, not of one segment */
	bool probe;			/* one is to be sent */
	bool stray;			/* an ACK is on its way that says nothing new */
	uint8_t silent;			/* waits in vain since the last answer */
	uint8_t unasked;		/* ACKs amid this window that were followed by a probe */
	uint8_t lossy;			/* windows that are to end with a probe */
};

/* round_trip_us: what an ACK of a whole window took that receiver before; 0: not known. */
void rmpp_send_begin(struct rmpp_send *r, int64_t round_trip_us, int64_t now_us);
void rmpp_send_end(struct rmpp_send *r);
/* Whether the next segment's data can be taken and are of use now. */
bool rmpp_send_wants(const struct rmpp_send *r);
/* Its data: RMPP_DATA_LEN bytes, or as many or less if it is the last. */
void rmpp_send_add(struct rmpp_send *r, const uint8_t *data, size_t n, bool last);
/*
 * The next segment to be sent now, into a MAD whose other headers are there.
 * False: there is none, for want of data, of window, or since all are acknowledged.
 */
bool rmpp_send_next(struct rmpp_send *r, uint8_t mad[RMPP_MAD], int64_t now_us);
/* An ACK: RMPP_OK, or the status to abort with. */
uint8_t rmpp_send_acked(struct rmpp_send *r, const uint8_t *ack, int64_t now_us);
bool rmpp_send_done(const struct rmpp_send *r);
/* At due_us: RMPP_OK to go on with rmpp_send_next(), else the status to abort with. */
uint8_t rmpp_send_late(struct rmpp_send *r, int64_t now_us);

/* --- the receiver, rmpp_receiver.c --- */

#define RMPP_MESSAGE_MAX (16u << 10)	/* of a request; the longest that means anything is 4 KiB */

struct rmpp_recv {
	uint8_t *message;		/* headers of the first segment, and the data */
	size_t len, cap;		/* len: of the whole message, when it is complete */
	uint32_t have;			/* all segments up to here */
	uint64_t ahead;			/* bit n: segment have + 1 + n, too */
	uint32_t window, acked;		/* as the last ACK said */
	uint32_t last, last_len;	/* number and PayloadLength of the last one; 0: not seen */
	bool complete;
	int64_t due_us;			/* when nothing new came for too long, or since long enough */
};

/* What is to be done after a segment. */
enum rmpp_took { RMPP_TOOK, RMPP_TOOK_ACK, RMPP_TOOK_ALL, RMPP_TOOK_STOP, RMPP_TOOK_ABORT };

/* What is wrong with a DATA segment whatever went before: RMPP_OK, or the status to abort with. */
uint8_t rmpp_data_check(const uint8_t *mad);
void rmpp_recv_begin(struct rmpp_recv *r, int64_t now_us);
void rmpp_recv_end(struct rmpp_recv *r);
/*
 * A segment that passed the check.  _ACK, _ALL: rmpp_recv_ack() goes back;  _ALL: the message
 * is there; _STOP, _ABORT: with *status, and it is over.
 */
enum rmpp_took rmpp_recv_take(struct rmpp_recv *r, const uint8_t *mad, int64_t now_us,
			      uint8_t *status);
void rmpp_recv_ack(struct rmpp_recv *r, uint8_t reply[RMPP_MAD], const uint8_t *mad);
/* The message is not needed any more; what comes again of it is still acknowledged. */
void rmpp_recv_drop_message(struct rmpp_recv *r);

#endif
