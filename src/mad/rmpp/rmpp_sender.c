/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends an RMPP transfer (13.6.3) whose message is produced while it is sent.
 *
 * Only segments that are not acknowledged yet are kept, and the one before them.
 *
 * The sender detects losses instead of guessing them.  A receiver acknowledges the first segment,
 * the last one and the end of each window; that of Linux does not report a gap, but keeps the
 * segments after one.  Any receiver answers a segment that it has acknowledged before with an ACK
 * of all that it has in a row (13.6.4).  So the sender *probes*: it repeats the segment that was
 * acknowledged last.  Packets of a path stay in order, so the answer covers all segments sent
 * before the probe.  If it ends in the middle of the window, the next segment was lost.  The sender
 * repeats only that one, followed by a probe for the next gap.
 *
 * Between two repeats for the same gap the sender always waits, so that duplicate ACKs do not
 * multiply.
 *
 * The sender probes when no ACK came in time.  While segments get lost, it also probes at the end
 * of each window, and it does so, too, when a receiver grants a window larger than what is kept
 * here.
 *
 * The wait is three times what the ACK of a whole window took.  A receiver may need long for a
 * window, so the ACK of the first segment, which is a window of its own, says little.  Only ACKs
 * with a single possible cause are measured (Karn's rule), and each wait in vain doubles the wait
 * until the next measurement.  The sender gives up when nothing new is acknowledged for GIVE_UP_US,
 * like a kernel, or when the transfer takes too long for its length.
 *
 * Invariants: acked <= sent <= made; made - acked < cap <= RMPP_SEND_KEEP.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "mad/rmpp/rmpp.h"

#define GIVE_UP_US	8000000		/* limit without progress: 4 tries of a kernel's 2 s */
#define TOTAL_US	60000000	/* limit of a transaction's time */
#define SEGMENT_US	1000		/* added to TOTAL_US for each segment that arrived */
#define WAIT_FIRST_US	200000		/* least wait until the first ACK of a whole window */
#define WAIT_MIN_US	4000
#define WAIT_MAX_US	2000000
#define UNASKED_MAX	4		/* ACKs within a window that a probe follows, at most */
#define LOSSY_WINDOWS	16		/* windows after a loss that end with a probe */
#define NO_RESP_TIME	0x1fu

void rmpp_make_reply(uint8_t reply[RMPP_MAD], const uint8_t *mad, uint8_t type, uint8_t status,
		uint32_t segment, uint32_t window)
{
	memset(reply, 0, RMPP_MAD);
	memcpy(reply, mad, RMPP_HEAD);
	reply[3] ^= 0x80;		/* the method of the other direction */
	reply[RMPP_OFF_VERSION] = 1;
	reply[RMPP_OFF_TYPE] = type;
	reply[RMPP_OFF_FLAGS] = NO_RESP_TIME << 3 | RMPP_ACTIVE;
	reply[RMPP_OFF_STATUS] = status;
	put_be32(reply + RMPP_OFF_SEGMENT, segment);
	put_be32(reply + RMPP_OFF_LENGTH, window);
}

static void set_wait(struct rmpp_send *r)
{
	int64_t least = r->whole_window ? WAIT_MIN_US : WAIT_FIRST_US, wait = 3 * r->round_trip_us;

	r->wait_us = wait < least ? least : wait > WAIT_MAX_US ? WAIT_MAX_US : wait;
}

/* Longer round trips count at once; shorter ones of whole windows count gradually. */
static void learn(struct rmpp_send *r, int64_t seen_us, bool whole_window)
{
	int64_t known = r->round_trip_us;

	if (whole_window)
		known = r->whole_window ? known * 7 / 8 : 0;
	r->whole_window |= whole_window;
	r->round_trip_us = seen_us > known ? seen_us : known;
	set_wait(r);
}

void rmpp_send_begin(struct rmpp_send *r, int64_t round_trip_us, int64_t now_us)
{
	*r = (struct rmpp_send){
		.window = 1, .begun_us = now_us, .progress_us = now_us,
		.round_trip_us = round_trip_us, .whole_window = round_trip_us,
	};
	set_wait(r);
	r->due_us = now_us + r->wait_us;
}

void rmpp_send_end(struct rmpp_send *r)
{
	free(r->ring);
	r->ring = NULL;
}

/* --- the message --- */

/* The last segment that may be in flight. */
static uint32_t window_end(const struct rmpp_send *r)
{
	return r->window - r->acked < RMPP_SEND_KEEP ? r->window : r->acked + RMPP_SEND_KEEP - 1;
}

bool rmpp_send_wants(const struct rmpp_send *r)
{
	return !r->last && r->made < window_end(r);
}

static struct rmpp_segment *segment_at(const struct rmpp_send *r, uint32_t segment)
{
	return &r->ring[segment & (r->cap - 1)];
}

/* Makes room for one more segment; small, since most answers never need more than a few. */
static void grow(struct rmpp_send *r)
{
	struct rmpp_send old = *r;

	if (r->made - r->acked + 1 < r->cap)
		return;
	r->cap = old.cap ? 2 * old.cap : 2;
	r->ring = xcalloc(r->cap, sizeof(*r->ring));
	for (uint32_t i = r->acked; old.cap && i <= r->made; i++)
		*segment_at(r, i) = *segment_at(&old, i);
	free(old.ring);
}

void rmpp_send_add(struct rmpp_send *r, const uint8_t *data, size_t n, bool last)
{
	struct rmpp_segment *s;

	grow(r);
	s = segment_at(r, ++r->made);
	s->sent_us = 0;
	memcpy(s->data, data, n);
	memset(s->data + n, 0, RMPP_DATA_LEN - n);
	if (last) {
		r->last = r->made;
		r->last_len = (uint32_t)n;
	}
}

/* --- sending --- */

/*
 * PayloadLength (13.6.2.1): of the last segment its own, of the first that of the whole message, or
 * 0 if not known.
 */
static uint32_t payload_length(const struct rmpp_send *r, uint32_t segment)
{
	if (segment == r->last)
		return RMPP_SA_LEN + r->last_len;
	if (segment > 1 || !r->total)
		return 0;
	return (uint32_t)((r->total + RMPP_DATA_LEN - 1) / RMPP_DATA_LEN * RMPP_SA_LEN + r->total);
}

static void put_segment(struct rmpp_send *r, uint8_t mad[RMPP_MAD], uint32_t segment,
			int64_t now_us)
{
	mad[RMPP_OFF_VERSION] = 1;
	mad[RMPP_OFF_TYPE] = RMPP_DATA;
	mad[RMPP_OFF_FLAGS] = (uint8_t)(NO_RESP_TIME << 3 | RMPP_ACTIVE |
		(segment == 1 ? RMPP_FIRST : 0) | (segment == r->last ? RMPP_LAST : 0));
	mad[RMPP_OFF_STATUS] = 0;
	put_be32(mad + RMPP_OFF_SEGMENT, segment);
	put_be32(mad + RMPP_OFF_LENGTH, payload_length(r, segment));
	memcpy(mad + RMPP_HEAD, segment_at(r, segment)->data, RMPP_DATA_LEN);
	r->due_us = now_us + r->wait_us + r->peer_us;
}

static void want_probe(struct rmpp_send *r)
{
	r->probe = r->acked > 0;
}

/* Whether the segments sent now bring no ACK by themselves, or their ACK is likely to get lost. */
static bool needs_probe(const struct rmpp_send *r)
{
	if (r->sent == r->window || r->sent == r->last)
		return r->lossy;
	return r->sent == window_end(r);
}

/* The next segment to repeat; 0 if none. */
static uint32_t next_again(struct rmpp_send *r, int64_t now_us)
{
	if (r->again <= r->acked)
		r->again = r->acked + 1;
	if (r->again <= r->again_end)
		return r->again++;
	if (!r->probe)
		return 0;
	r->probe = false;
	r->probe_us = r->probed ? 0 : now_us;	/* the answers of two probes cannot be told apart */
	r->probed = r->sent;
	return r->acked;
}

bool rmpp_send_next(struct rmpp_send *r, uint8_t mad[RMPP_MAD], int64_t now_us)
{
	uint32_t segment = next_again(r, now_us);

	if (!segment) {
		if (r->sent == r->made || r->sent + 1 > window_end(r))
			return false;
		if (r->sent == r->acked && !r->silent)
			r->progress_us = now_us;	/* the sender waited for data, not for the receiver */
		segment = ++r->sent;
		segment_at(r, segment)->sent_us = now_us;
		if (needs_probe(r))
			want_probe(r);
	}
	put_segment(r, mad, segment, now_us);
	return true;
}

/* --- replies --- */

/* RRespTime: 4.096 us * 2^n; 0 if none is given. */
static int64_t response_time_us(const uint8_t *mad)
{
	unsigned n = mad[RMPP_OFF_FLAGS] >> 3;
	int64_t us = (INT64_C(4096) << n) / 1000;

	return n == NO_RESP_TIME ? 0 : us < WAIT_MAX_US ? us : WAIT_MAX_US;
}

/* More segments have arrived.  `moved`: the window moved, too. */
static void progress(struct rmpp_send *r, uint32_t segment, bool moved, int64_t now_us)
{
	if (r->acked >= r->tainted)	/* nothing that it acknowledges was sent twice */
		learn(r, now_us - segment_at(r, segment)->sent_us + 1, segment > 1);
	r->acked = segment;
	r->progress_us = now_us;
	r->silent = 0;
	if (moved) {
		r->unasked = 0;
		r->lossy -= r->lossy > 0;
	}
	if (r->probed && segment >= r->probed) {
		r->probed = 0;
		r->stray = true;	/* the answer to the probe itself is still to come */
	}
	r->due_us = now_us + r->wait_us + r->peer_us;	/* also with the window shut */
}

/* The receiver lacks the segment after the last acknowledged one. */
static void fill_gap(struct rmpp_send *r, int64_t now_us)
{
	/* only a probe makes a receiver acknowledge in the middle of a window */
	if (r->probe_us)
		learn(r, now_us - r->probe_us + 1, true);
	r->probed = 0;
	r->silent = 0;
	r->lossy = LOSSY_WINDOWS;
	r->tainted = r->sent;
	r->filled = r->again = r->again_end = r->acked + 1;
	want_probe(r);
}

uint8_t rmpp_send_acked(struct rmpp_send *r, const uint8_t *ack, int64_t now_us)
{
	uint32_t segment = get_be32(ack + RMPP_OFF_SEGMENT);
	uint32_t window = get_be32(ack + RMPP_OFF_LENGTH);
	bool news = segment > r->acked, moved = window != r->window;

	if (ack[RMPP_OFF_STATUS])
		return RMPP_BAD_STATUS;
	if (window < segment || window > INT32_MAX)
		return RMPP_WINDOW_TOO_SMALL;
	if (segment > r->sent)
		return RMPP_SEGMENT_TOO_BIG;
	if (window < r->window || segment < r->acked)
		return RMPP_OK;		/* an outdated ACK */
	r->window = window;
	r->peer_us = response_time_us(ack);
	if (news)
		progress(r, segment, moved, now_us);
	if (moved || segment == r->sent || !segment)
		return RMPP_OK;
	if (!news && r->stray) {
		r->stray = false;
	} else if (r->probed && r->filled != segment + 1) {
		fill_gap(r, now_us);
	} else if (news && !r->probe && r->unasked < UNASKED_MAX) {
		r->unasked++;		/* unrequested: find out whether it shows a gap or the receiver
					 * acknowledges each segment */
		want_probe(r);
	}
	return RMPP_OK;
}

bool rmpp_send_done(const struct rmpp_send *r)
{
	return r->last && r->acked == r->last;
}

uint8_t rmpp_send_late(struct rmpp_send *r, int64_t now_us)
{
	if (now_us - r->begun_us >= TOTAL_US + (int64_t)r->acked * SEGMENT_US)
		return RMPP_TOO_LONG;
	if (r->sent == r->acked && r->made < window_end(r) && !r->silent) {
		/* the sender waits for data, not for the receiver */
		r->progress_us = now_us;
		r->due_us = now_us + r->wait_us;
	}
	if (now_us - r->progress_us >= GIVE_UP_US)
		return RMPP_TOO_MANY_RETRIES;
	if (now_us < r->due_us)
		return RMPP_OK;
	r->silent += r->silent < UINT8_MAX;
	r->tainted = r->sent;
	r->filled = 0;
	/* first a probe; next also the segment that is probably missing; then all */
	if (r->silent > 1 || !r->acked) {
		r->again = r->acked + 1;
		r->again_end = r->silent > 2 || r->sent < r->again ? r->sent : r->again;
	}
	want_probe(r);
	r->stray = false;
	r->wait_us = 2 * r->wait_us < WAIT_MAX_US ? 2 * r->wait_us : WAIT_MAX_US;
	r->due_us = now_us + r->wait_us + r->peer_us;
	return RMPP_OK;
}
