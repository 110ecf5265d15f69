/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sender of an RMPP transfer (13.6.3), whose message is made while it is
 * sent: only what is not acknowledged yet is kept.
 *
 * It repeats from the first segment that is not acknowledged (what a kernel's
 * receiver holds beyond a gap it keeps): when no ACK came in time, or when one says that
 * the receiver waits in the middle of its window.  The time to wait grows from
 * what round trips took; it gives up when nothing new is acknowledged for
 * GIVE_UP_US, as a kernel does, or the whole takes too long for its length.
 *
 * Invariants: acked <= sent <= highest <= made; made - acked <= cap <= RMPP_SEND_KEEP.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "mad/rmpp.h"

#define GIVE_UP_US	8000000		/* without progress: 4 tries of a kernel's 2 s */
#define TOTAL_US	60000000	/* of a transaction … */
#define SEGMENT_US	1000		/* … and for each segment that arrived */
#define WAIT_FIRST_US	200000		/* while no round trip was seen */
#define WAIT_MIN_US	10000
#define WAIT_MAX_US	2000000
#define STEPS_BACK_MAX	4		/* a window; an ACK may come for each segment */
#define NO_RESP_TIME	0x1fu

void rmpp_make_reply(uint8_t reply[RMPP_MAD], const uint8_t *mad, uint8_t type, uint8_t status,
		uint32_t segment, uint32_t window)
{
	memset(reply, 0, RMPP_MAD);
	memcpy(reply, mad, RMPP_HEAD);
	reply[3] ^= 0x80;		/* the other direction's method */
	reply[RMPP_OFF_VERSION] = 1;
	reply[RMPP_OFF_TYPE] = type;
	reply[RMPP_OFF_FLAGS] = NO_RESP_TIME << 3 | RMPP_ACTIVE;
	reply[RMPP_OFF_STATUS] = status;
	put_be32(reply + RMPP_OFF_SEGMENT, segment);
	put_be32(reply + RMPP_OFF_LENGTH, window);
}

static void restart_wait(struct rmpp_send *r, int64_t now_us)
{
	int64_t wait = r->round_trip_us ? 2 * r->round_trip_us : WAIT_FIRST_US;

	r->wait_us = wait < WAIT_MIN_US ? WAIT_MIN_US : wait > WAIT_MAX_US ? WAIT_MAX_US : wait;
	r->progress_us = now_us;
	r->repeated = false;
}

void rmpp_send_begin(struct rmpp_send *r, int64_t now_us)
{
	*r = (struct rmpp_send){ .window = 1, .begun_us = now_us };
	restart_wait(r, now_us);
	r->due_us = now_us + r->wait_us;
}

void rmpp_send_end(struct rmpp_send *r)
{
	free(r->ring);
	r->ring = NULL;
}

/* --- the message --- */

/* The last segment that may be on its way. */
static uint32_t window_end(const struct rmpp_send *r)
{
	return r->window - r->acked < RMPP_SEND_KEEP ? r->window : r->acked + RMPP_SEND_KEEP;
}

bool rmpp_send_wants(const struct rmpp_send *r)
{
	return !r->last && r->made < window_end(r);
}

static uint8_t *segment_data(const struct rmpp_send *r, uint32_t segment)
{
	return r->ring + (size_t)(segment & (r->cap - 1)) * RMPP_DATA_LEN;
}

/* Room for one more: most answers never have more than the few of a small one. */
static void grow(struct rmpp_send *r)
{
	struct rmpp_send old = *r;

	if (r->made - r->acked < r->cap)
		return;
	r->cap = old.cap ? 2 * old.cap : 1;
	r->ring = xmalloc((size_t)r->cap * RMPP_DATA_LEN);
	for (uint32_t i = r->acked + 1; i <= r->made; i++)
		memcpy(segment_data(r, i), segment_data(&old, i), RMPP_DATA_LEN);
	free(old.ring);
}

void rmpp_send_add(struct rmpp_send *r, const uint8_t *data, size_t n, bool last)
{
	grow(r);
	r->made++;
	memcpy(segment_data(r, r->made), data, n);
	memset(segment_data(r, r->made) + n, 0, RMPP_DATA_LEN - n);
	if (last) {
		r->last = r->made;
		r->last_len = (uint32_t)n;
	}
}

/* --- sending --- */

/* Of the last segment its own, of the first that of all, or 0: not known (13.6.2.1). */
static uint32_t payload_length(const struct rmpp_send *r, uint32_t segment)
{
	if (segment == r->last)
		return RMPP_SA_LEN + r->last_len;
	if (segment > 1 || !r->total)
		return 0;
	return (uint32_t)((r->total + RMPP_DATA_LEN - 1) / RMPP_DATA_LEN * RMPP_SA_LEN + r->total);
}

bool rmpp_send_next(struct rmpp_send *r, uint8_t mad[RMPP_MAD], int64_t now_us)
{
	uint32_t segment = r->sent + 1;

	if (r->sent == r->made || segment > window_end(r))
		return false;
	if (r->sent == r->acked && !r->repeated)
		r->progress_us = now_us;	/* what was waited for was the message, not the peer */
	r->sent = segment;
	if (segment > r->highest)
		r->highest = segment;
	mad[RMPP_OFF_VERSION] = 1;
	mad[RMPP_OFF_TYPE] = RMPP_DATA;
	mad[RMPP_OFF_FLAGS] = (uint8_t)(NO_RESP_TIME << 3 | RMPP_ACTIVE |
		(segment == 1 ? RMPP_FIRST : 0) | (segment == r->last ? RMPP_LAST : 0));
	mad[RMPP_OFF_STATUS] = 0;
	put_be32(mad + RMPP_OFF_SEGMENT, segment);
	put_be32(mad + RMPP_OFF_LENGTH, payload_length(r, segment));
	memcpy(mad + RMPP_HEAD, segment_data(r, segment), RMPP_DATA_LEN);
	r->due_us = now_us + r->wait_us + r->peer_us;
	return true;
}

/* --- what comes back --- */

/* RRespTime: 4.096 us * 2^n, or none given. */
static int64_t response_time_us(const uint8_t *mad)
{
	unsigned n = mad[RMPP_OFF_FLAGS] >> 3;
	int64_t us = (INT64_C(4096) << n) / 1000;

	return n == NO_RESP_TIME ? 0 : us < WAIT_MAX_US ? us : WAIT_MAX_US;
}

/* Longer round trips count at once, shorter ones little by little. */
static void learn_round_trip(struct rmpp_send *r, int64_t now_us)
{
	int64_t seen = now_us - r->progress_us + 1, known = r->round_trip_us * 7 / 8;

	if (!r->repeated)
		r->round_trip_us = seen > known ? seen : known;
}

static void progress(struct rmpp_send *r, uint32_t segment, bool same_window, int64_t now_us)
{
	bool gap = same_window && segment < r->sent;

	learn_round_trip(r, now_us);
	restart_wait(r, now_us);
	r->acked = segment;
	if (!same_window)
		r->steps_back = 0;
	if (r->sent < segment)
		r->sent = segment;
	if (gap && r->steps_back < STEPS_BACK_MAX) {
		r->steps_back++;
		r->sent = segment;
	}
	r->due_us = now_us + r->wait_us + r->peer_us;	/* with the window shut, too */
}

uint8_t rmpp_send_acked(struct rmpp_send *r, const uint8_t *ack, int64_t now_us)
{
	uint32_t segment = get_be32(ack + RMPP_OFF_SEGMENT);
	uint32_t window = get_be32(ack + RMPP_OFF_LENGTH);
	bool same_window = window == r->window;

	if (ack[RMPP_OFF_STATUS])
		return RMPP_BAD_STATUS;
	if (window < segment || window > INT32_MAX)
		return RMPP_WINDOW_TOO_SMALL;
	if (segment > r->highest)
		return RMPP_SEGMENT_TOO_BIG;
	if (window < r->window || segment < r->acked)
		return RMPP_OK;		/* an old one */
	r->window = window;
	r->peer_us = response_time_us(ack);
	if (segment > r->acked)
		progress(r, segment, same_window, now_us);
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
	if (r->sent == r->acked && r->made < window_end(r) && !r->repeated) {
		/* the message is what is waited for, not the receiver */
		r->progress_us = now_us;
		r->due_us = now_us + r->wait_us;
	}
	if (now_us - r->progress_us >= GIVE_UP_US)
		return RMPP_TOO_MANY_RETRIES;
	if (now_us < r->due_us)
		return RMPP_OK;
	r->sent = r->acked;
	r->repeated = true;
	r->wait_us = 2 * r->wait_us < WAIT_MAX_US ? 2 * r->wait_us : WAIT_MAX_US;
	r->due_us = now_us + r->wait_us + r->peer_us;
	return RMPP_OK;
}
