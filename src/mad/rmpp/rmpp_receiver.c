/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Receives a request of several segments by RMPP (13.6.4).
 *
 * The segments may come in any order within the window.
 *
 * The receiver acknowledges what IBA requires: the first segment, the end of each window, the last
 * segment, and repeats.  When a segment is missing, it also acknowledges, once for each gap, the
 * segments before it, so that a sender that listens need not wait.
 *
 * Invariants: acked <= have <= window <= have + WINDOW; stored data is below RMPP_MESSAGE_MAX.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "mad/rmpp/rmpp.h"

#define WINDOW		64u	/* segments: the bits of `ahead` */
#define IDLE_US		10000000	/* limit of the time without a new segment */
#define LINGER_US	10000000	/* time that a complete message is remembered */
#define CAP_FIRST	512u

uint8_t rmpp_data_check(const uint8_t *mad)
{
	uint32_t segment = get_be32(mad + RMPP_OFF_SEGMENT);
	uint32_t length = get_be32(mad + RMPP_OFF_LENGTH);
	bool first = mad[RMPP_OFF_FLAGS] & RMPP_FIRST, last = mad[RMPP_OFF_FLAGS] & RMPP_LAST;

	if (mad[RMPP_OFF_STATUS])
		return RMPP_BAD_STATUS;
	if (segment == 0 || first != (segment == 1))
		return RMPP_BAD_FIRST;
	if (last && (length < RMPP_SA_LEN || length > RMPP_SA_LEN + RMPP_DATA_LEN))
		return RMPP_BAD_LENGTH;
	return RMPP_OK;
}

void rmpp_recv_begin(struct rmpp_recv *r, int64_t now_us)
{
	*r = (struct rmpp_recv){ .window = 1, .due_us = now_us + IDLE_US };
}

void rmpp_recv_end(struct rmpp_recv *r)
{
	free(r->message);
	r->message = NULL;
	r->cap = 0;
}

static bool store(struct rmpp_recv *r, const uint8_t *mad, uint32_t segment)
{
	size_t at = RMPP_HEAD + (size_t)(segment - 1) * RMPP_DATA_LEN, end = at + RMPP_DATA_LEN;
	size_t cap = r->cap ? r->cap : CAP_FIRST;

	if (end > RMPP_MESSAGE_MAX)
		return false;
	while (cap < end)
		cap *= 2;
	if (cap > r->cap) {
		r->message = xrealloc(r->message, cap, 1);
		r->cap = cap;
	}
	memcpy(r->message + at, mad + RMPP_HEAD, RMPP_DATA_LEN);
	if (segment == 1)
		memcpy(r->message, mad, RMPP_HEAD);
	return true;
}

static void advance(struct rmpp_recv *r, uint32_t segment)
{
	r->ahead |= UINT64_C(1) << (segment - r->have - 1);
	while (r->ahead & 1) {
		r->ahead >>= 1;
		r->have++;
	}
}

static enum rmpp_took completed(struct rmpp_recv *r, int64_t now_us)
{
	r->complete = true;
	r->len = RMPP_HEAD + (size_t)(r->last - 1) * RMPP_DATA_LEN + r->last_len - RMPP_SA_LEN;
	r->due_us = now_us + LINGER_US;
	return RMPP_TOOK_ALL;
}

/* Adds a new segment that is after `have` and within the window. */
static enum rmpp_took add(struct rmpp_recv *r, const uint8_t *mad, uint32_t segment,
			  int64_t now_us)
{
	advance(r, segment);
	r->due_us = now_us + IDLE_US;
	if (mad[RMPP_OFF_FLAGS] & RMPP_LAST) {
		r->last = segment;
		r->last_len = get_be32(mad + RMPP_OFF_LENGTH);
	}
	if (r->last && r->have == r->last)
		return completed(r, now_us);
	if (r->have == r->window) {
		r->window += WINDOW;
		return RMPP_TOOK_ACK;
	}
	return segment > r->have && r->have > r->acked ? RMPP_TOOK_ACK : RMPP_TOOK;
}

/* Whether the segment contradicts where the message ends. */
static bool beyond_end(const struct rmpp_recv *r, const uint8_t *mad, uint32_t segment)
{
	bool last = mad[RMPP_OFF_FLAGS] & RMPP_LAST;

	if (r->last)
		return segment > r->last || last != (segment == r->last);
	return last && (segment <= r->have || r->ahead >> (segment - r->have - 1) > 1);
}

enum rmpp_took rmpp_recv_take(struct rmpp_recv *r, const uint8_t *mad, int64_t now_us,
			      uint8_t *status)
{
	uint32_t segment = get_be32(mad + RMPP_OFF_SEGMENT);

	if (segment > r->window || beyond_end(r, mad, segment)) {
		*status = RMPP_SEGMENT_TOO_BIG;
		return r->complete ? RMPP_TOOK : RMPP_TOOK_ABORT;
	}
	if (segment <= r->acked)	/* of a complete message, acknowledge each repeat */
		return RMPP_TOOK_ACK;
	if (segment <= r->have || r->ahead >> (segment - r->have - 1) & 1)
		return RMPP_TOOK;
	if (!store(r, mad, segment)) {
		*status = RMPP_NO_RESOURCES;
		return RMPP_TOOK_STOP;
	}
	return add(r, mad, segment, now_us);
}

void rmpp_recv_ack(struct rmpp_recv *r, uint8_t reply[RMPP_MAD], const uint8_t *mad)
{
	r->acked = r->have;
	rmpp_make_reply(reply, mad, RMPP_ACK, RMPP_OK, r->have, r->window);
}
