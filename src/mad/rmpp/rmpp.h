/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * RMPP of the SA class (13.6) as two state machines, sender and receiver.
 *
 * They take bytes and times, and return bytes.  They know no port, no clock and no thread: the
 * caller passes the time with each call (us, of one clock), and calls again at due_us.
 */
#ifndef QOSD_MAD_RMPP_RMPP_H
#define QOSD_MAD_RMPP_RMPP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RMPP_MAD	256u
#define RMPP_HEAD	56u			/* bytes of MAD, RMPP and SA header, in each segment */
#define RMPP_DATA_LEN	(RMPP_MAD - RMPP_HEAD)	/* bytes of the message in a segment */
#define RMPP_SA_LEN	20u			/* bytes of the SA header, which PayloadLength includes */

enum { RMPP_DATA = 1, RMPP_ACK = 2, RMPP_STOP = 3, RMPP_ABORT = 4 };
enum { RMPP_ACTIVE = 1, RMPP_FIRST = 2, RMPP_LAST = 4 };
/* RMPPStatus (13.6.2.1, table 109) */
enum {
	RMPP_OK = 0,
	RMPP_NO_RESOURCES = 1,		/* status of a STOP */
	RMPP_TOO_LONG = 118,		/* the transaction exceeded its total time */
	RMPP_BAD_LENGTH, RMPP_BAD_FIRST, RMPP_BAD_TYPE, RMPP_WINDOW_TOO_SMALL,
	RMPP_SEGMENT_TOO_BIG, RMPP_BAD_STATUS, RMPP_BAD_VERSION, RMPP_TOO_MANY_RETRIES,
	RMPP_UNSPECIFIED,
};

/* Offsets of the RMPP header. */
enum {
	RMPP_OFF_VERSION = 24, RMPP_OFF_TYPE, RMPP_OFF_FLAGS, RMPP_OFF_STATUS,
	RMPP_OFF_SEGMENT = 28, RMPP_OFF_LENGTH = 32,	/* NewWindowLast in an ACK */
};

/* Whether a whole MAD of the SA class uses RMPP. */
static inline bool rmpp_is_active(const uint8_t *mad)
{
	return mad[RMPP_OFF_FLAGS] & RMPP_ACTIVE;
}

/* Makes the reply to a MAD: an ACK, or a STOP or ABORT with a status. */
void rmpp_make_reply(uint8_t reply[RMPP_MAD], const uint8_t *mad, uint8_t type, uint8_t status,
		uint32_t segment, uint32_t window);

/* --- sender (rmpp_sender.c) --- */

#define RMPP_SEND_KEEP 256u	/* segments kept at most, whatever window the receiver grants */

struct rmpp_segment {
	int64_t sent_us;		/* time of the first transmission; 0: not sent yet */
	uint8_t data[RMPP_DATA_LEN];
};

struct rmpp_send {
	struct rmpp_segment *ring;	/* segments acked .. made, at index number % cap */
	uint32_t cap;			/* capacity of ring, a power of 2 */
	uint32_t made;			/* number of segments made so far */
	uint32_t last, last_len;	/* number and data bytes of the last segment; 0: not made yet */
	size_t total;			/* data bytes of all segments, if known from the beginning, or 0 */
	uint32_t acked, sent;		/* last segment acknowledged, last segment sent */
	uint32_t window;		/* last segment that the receiver permits */
	uint32_t again, again_end;	/* range of segments to repeat before any other */
	uint32_t probed;		/* value of `sent` at the unanswered probe; 0: no probe is out */
	uint32_t filled;		/* gap repeated last since a wait in vain */
	uint32_t tainted;		/* an ACK up to this segment may be for a repeat */
	int64_t begun_us, progress_us;	/* start; last ACK that acknowledged new segments */
	int64_t due_us;			/* end of the wait for an ACK */
	int64_t round_trip_us, wait_us, peer_us;
	int64_t probe_us;		/* time of the probe, if its answer can be told from others */
	bool whole_window;		/* round_trip_us is that of a whole window or a probe, not of a
					 * single segment */
	bool probe;			/* a probe is to be sent */
	bool stray;			/* an ACK that says nothing new is still to come */
	uint8_t silent;			/* waits in vain since the last answer */
	uint8_t unasked;		/* ACKs within this window that a probe followed */
	uint8_t lossy;			/* windows left that are to end with a probe */
};

/*
 * Begins a transfer. round_trip_us: the time that this receiver took to acknowledge a whole window
 * before; 0: not known.
 */
void rmpp_send_begin(struct rmpp_send *r, int64_t round_trip_us, int64_t now_us);
void rmpp_send_end(struct rmpp_send *r);
/* Whether the sender needs the next segment's data now, and has room for it. */
bool rmpp_send_wants(const struct rmpp_send *r);
/* Adds the next segment's data: RMPP_DATA_LEN bytes; the last may have fewer. */
void rmpp_send_add(struct rmpp_send *r, const uint8_t *data, size_t n, bool last);
/*
 * Writes the next segment to send into a MAD whose other headers are set.  False: nothing to send
 * now, because data or window is lacking, or all segments are acknowledged.
 */
bool rmpp_send_next(struct rmpp_send *r, uint8_t mad[RMPP_MAD], int64_t now_us);
/* Takes an ACK.  Returns RMPP_OK, or the status to abort with. */
uint8_t rmpp_send_acked(struct rmpp_send *r, const uint8_t *ack, int64_t now_us);
bool rmpp_send_done(const struct rmpp_send *r);
/* Call at due_us.  Returns RMPP_OK to go on with rmpp_send_next(), else the status to abort with. */
uint8_t rmpp_send_late(struct rmpp_send *r, int64_t now_us);

/* --- receiver (rmpp_receiver.c) --- */

#define RMPP_MESSAGE_MAX (16u << 10)	/* limit of a request; the longest meaningful one has 4 KiB */

struct rmpp_recv {
	uint8_t *message;		/* headers of the first segment, then the data */
	size_t len, cap;		/* len: bytes of the complete message; cap: bytes allocated */
	uint32_t have;			/* all segments up to this one have arrived */
	uint64_t ahead;			/* bit n: segment have + 1 + n has arrived */
	uint32_t window, acked;		/* window end and segment of the last ACK */
	uint32_t last, last_len;	/* number and PayloadLength of the last segment; 0: not seen yet */
	bool complete;
	int64_t due_us;			/* when to give up for want of new segments, or to forget a
					 * complete message */
};

/* What the caller is to do after a segment. */
enum rmpp_took { RMPP_TOOK, RMPP_TOOK_ACK, RMPP_TOOK_ALL, RMPP_TOOK_STOP, RMPP_TOOK_ABORT };

/* Checks a DATA segment by itself: RMPP_OK, or the status to abort with. */
uint8_t rmpp_data_check(const uint8_t *mad);
void rmpp_recv_begin(struct rmpp_recv *r, int64_t now_us);
/* Frees the message; repeated segments are still acknowledged. */
void rmpp_recv_end(struct rmpp_recv *r);
/*
 * Takes a segment that passed the check. _ACK, _ALL: send rmpp_recv_ack(); _ALL: the message is
 * complete. _STOP, _ABORT: send it with *status; the transfer is over.
 */
enum rmpp_took rmpp_recv_take(struct rmpp_recv *r, const uint8_t *mad, int64_t now_us,
			      uint8_t *status);
void rmpp_recv_ack(struct rmpp_recv *r, uint8_t reply[RMPP_MAD], const uint8_t *mad);

#endif
