/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the two state machines of RMPP: what they send when, the effects of loss,
 * repetition and disorder, and refusals with their statuses.  The clock is the test's.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/base/map64.h"
#include "mad/rmpp/rmpp.h"
#include "unit/run.h"

#define MS 1000ll

static struct rmpp_send tx;
static struct rmpp_recv rx;
static int64_t now;
static uint64_t seed;

static uint32_t rnd(uint32_t below)
{
	return (uint32_t)(hash64(++seed) % below);
}

static uint8_t byte_at(size_t i)
{
	return (uint8_t)(i * 7 + i / 200);
}

/* A sender of n bytes, which the test gives as the sender asks for them. */
static size_t given, length;
static void feed(void)
{
	uint8_t data[RMPP_DATA_LEN];

	while (rmpp_send_wants(&tx) && (given < length || !tx.made)) {
		size_t n = length - given < sizeof(data) ? length - given : sizeof(data);

		for (size_t i = 0; i < n; i++)
			data[i] = byte_at(given + i);
		given += n;
		rmpp_send_add(&tx, data, n, given == length);
	}
}

static void start(size_t n)
{
	now = 1000 * MS;
	given = 0;
	length = n;
	rmpp_send_begin(&tx, 0, now);
	feed();
}

static uint32_t segment_of(const uint8_t *mad) { return get_be32(mad + RMPP_OFF_SEGMENT); }
static uint32_t length_of(const uint8_t *mad) { return get_be32(mad + RMPP_OFF_LENGTH); }

static bool next(uint8_t mad[RMPP_MAD])
{
	memset(mad, 0, RMPP_MAD);
	feed();
	return rmpp_send_next(&tx, mad, now);
}

static uint8_t ack_status(uint32_t segment, uint32_t window, uint8_t status)
{
	uint8_t mad[RMPP_MAD] = { 0 };

	mad[RMPP_OFF_FLAGS] = 0x1f << 3 | RMPP_ACTIVE;
	mad[RMPP_OFF_STATUS] = status;
	put_be32(mad + RMPP_OFF_SEGMENT, segment);
	put_be32(mad + RMPP_OFF_LENGTH, window);
	return rmpp_send_acked(&tx, mad, now);
}
static uint8_t ack(uint32_t segment, uint32_t window) { return ack_status(segment, window, 0); }

/* Sends the segments that may go now, which must be in order from `first`; returns how many. */
static unsigned goes(uint32_t first)
{
	uint8_t mad[RMPP_MAD];
	unsigned n = 0;

	for (; next(mad); n++)
		ck_assert_uint_eq(segment_of(mad), first + n);
	return n;
}

/* The same with any first segment, up to one that does not follow its predecessor. */
static unsigned some_go(uint32_t first)
{
	uint8_t mad[RMPP_MAD];
	unsigned n = 0;

	while (tx.sent + 1 == first + n && !tx.probe && next(mad))
		ck_assert_uint_eq(segment_of(mad), first + n++);
	return n;
}

/* Returns the one segment that may go now; 0: none. */
static uint32_t one_goes(void)
{
	uint8_t mad[RMPP_MAD];

	return next(mad) ? segment_of(mad) : 0;
}

/* --- the sender --- */

START_TEST(window_opens_with_acks)
{
	start(1000 * RMPP_DATA_LEN);
	ck_assert_uint_eq(goes(1), 1);
	ck_assert_uint_eq(tx.made, 1);		/* and no more segments are made than may be sent */
	ck_assert_uint_eq(ack(1, 65), RMPP_OK);
	ck_assert_uint_eq(goes(2), 64);
	ck_assert_uint_eq(goes(0), 0);
	ck_assert_uint_eq(ack(65, 129), RMPP_OK);
	ck_assert_uint_eq(ack(1, 65), RMPP_OK);	/* an old one */
	ck_assert_uint_eq(goes(66), 64);
	/* the sender keeps so much, whatever window the receiver grants */
	ck_assert_uint_eq(ack(129, 100000), RMPP_OK);
	ck_assert_uint_eq(some_go(130), RMPP_SEND_KEEP - 1);
	ck_assert_uint_eq(tx.cap, RMPP_SEND_KEEP);
	/* the receiver sends no ACK for these by itself */
	ck_assert_uint_eq(goes(129), 1);
	ck_assert_uint_eq(ack(129 + RMPP_SEND_KEEP - 1, 100000), RMPP_OK);
	ck_assert_uint_eq(some_go(129 + RMPP_SEND_KEEP), RMPP_SEND_KEEP - 1);
	ck_assert_uint_eq(goes(129 + RMPP_SEND_KEEP - 1), 1);
	ck_assert(!rmpp_send_done(&tx));
	rmpp_send_end(&tx);
}
END_TEST

START_TEST(headers_as_iba_has_them)
{
	static const struct { size_t n; uint32_t segments, first, last; } cases[] = {
		{ 0, 1, 20, 20 }, { 8, 1, 28, 28 }, { 200, 1, 220, 220 },
		{ 208, 2, 2 * 20 + 208, 28 }, { 400, 2, 440, 220 }, { 64 * 100, 32, 32 * 220, 220 },
	};

	for (size_t k = 0; k < 2 * ARRAY_SIZE(cases); k++) {
		size_t i = k / 2;
		bool known = k % 2;	/* the whole length, in the first one */
		uint8_t mad[RMPP_MAD];
		uint32_t segment = 0;

		start(cases[i].n);
		tx.total = known ? cases[i].n : 0;
		while (next(mad)) {
			bool last = ++segment == cases[i].segments;

			ck_assert_uint_eq(mad[RMPP_OFF_VERSION], 1);
			ck_assert_uint_eq(mad[RMPP_OFF_TYPE], RMPP_DATA);
			ck_assert_uint_eq(mad[RMPP_OFF_STATUS], 0);
			ck_assert_uint_eq(mad[RMPP_OFF_FLAGS] & 7, RMPP_ACTIVE |
					  (segment == 1 ? RMPP_FIRST : 0) | (last ? RMPP_LAST : 0));
			ck_assert_uint_eq(segment_of(mad), segment);
			ck_assert_uint_eq(length_of(mad), last ? cases[i].last :
					  segment == 1 && known ? cases[i].first : 0);
			ck_assert_uint_eq(ack(segment, segment + 1), RMPP_OK);
		}
		ck_assert_uint_eq(segment, cases[i].segments);
		ck_assert(rmpp_send_done(&tx));
		rmpp_send_end(&tx);
	}
}
END_TEST

/* The sender first probes the receiver, then adds the next segment to the probe, then repeats all. */
START_TEST(silence_repeats_and_ends)
{
	unsigned tries = 0;
	int64_t begin, before = 0;

	start(10 * RMPP_DATA_LEN);
	goes(1);
	now += MS;
	ack(1, 65);
	ck_assert_uint_eq(goes(2), 9);
	begin = now;
	while (true) {
		uint8_t status;

		now = tx.due_us - 1;
		if (now - begin < 8000 * MS) {
			ck_assert_uint_eq(rmpp_send_late(&tx, now), RMPP_OK);
			ck_assert_uint_eq(goes(0), 0);		/* not yet */
		}
		now++;
		status = rmpp_send_late(&tx, now);
		if (status) {
			ck_assert_uint_eq(status, RMPP_TOO_MANY_RETRIES);
			break;
		}
		tries++;
		for (uint32_t i = 2; i <= (tries == 1 ? 1 : tries == 2 ? 2 : 10); i++)
			ck_assert_uint_eq(one_goes(), i);
		ck_assert_uint_eq(one_goes(), 1);
		ck_assert_uint_eq(one_goes(), 0);
		ck_assert_int_ge(tx.due_us - now, before);
		before = tx.due_us - now < 2000 * MS ? tx.due_us - now : before;
		ck_assert_uint_lt(tries, 20);
	}
	ck_assert_uint_gt(tries, 3);
	ck_assert_int_ge(now - begin, 8000 * MS);
	ck_assert_int_le(now - begin, 11000 * MS);
	rmpp_send_end(&tx);
}
END_TEST

/* Sends n windows that take window_us each, unknown to the sender; returns the number of segments sent. */
static unsigned slow_receiver(unsigned windows, int64_t window_us)
{
	unsigned sent = 0;
	uint32_t have = 1;

	start((size_t)(1 + 64 * windows) * RMPP_DATA_LEN);
	sent += one_goes() == 1;
	now += MS;
	ack(1, 65);
	while (!rmpp_send_done(&tx)) {
		int64_t acked_us;

		while (one_goes())
			sent++;
		have += 64;
		for (acked_us = now + window_us; tx.due_us < acked_us;) {
			now = tx.due_us;
			ck_assert_uint_eq(rmpp_send_late(&tx, now), RMPP_OK);
			while (one_goes())
				sent++;
		}
		now = acked_us;
		ck_assert_uint_eq(ack(have, have + 64), RMPP_OK);
	}
	rmpp_send_end(&tx);
	return sent;
}

/* Linux on a slow machine takes 50 ms for 64 segments; the first segment's ACK says nothing about that. */
START_TEST(a_slow_receiver_gets_nothing_twice)
{
	ck_assert_uint_eq(slow_receiver(100, 50 * MS), 1 + 64 * 100);
	ck_assert_uint_eq(slow_receiver(100, 150 * MS), 1 + 64 * 100);
	/* an extremely slow receiver: some probes, until the back-off is long enough */
	ck_assert_uint_le(slow_receiver(100, 500 * MS), 1 + 64 * 100 + 10);
}
END_TEST

/* An ACK may be of the segment or of its repetition: it says nothing about the round trip. */
START_TEST(karn)
{
	int64_t wait;

	start(1000 * RMPP_DATA_LEN);
	goes(1);
	now += MS;
	ack(1, 65);
	goes(2);
	now += 20 * MS;
	ack(65, 129);
	goes(66);
	ck_assert_int_eq(tx.due_us - now, 60 * MS + 3);
	now = tx.due_us;
	ck_assert_uint_eq(rmpp_send_late(&tx, now), RMPP_OK);
	ck_assert_uint_eq(one_goes(), 65);
	wait = tx.wait_us;
	ck_assert_int_eq(wait, 120 * MS + 6);
	now += MS;
	ack(129, 193);
	ck_assert_int_eq(tx.wait_us, wait);		/* backed off still */
	ck_assert_uint_eq(goes(130), 64);
	now += 21 * MS;
	ack(193, 257);
	ck_assert_int_eq(tx.wait_us, 63 * MS + 3);	/* a clean one */
	rmpp_send_end(&tx);

	/* the time that a receiver took for a window is known for the next answer to it */
	now = 1000 * MS;
	rmpp_send_begin(&tx, 20 * MS, now);
	ck_assert_int_eq(tx.wait_us, 60 * MS);
	rmpp_send_end(&tx);
}
END_TEST

/* A receiver that seldom acknowledges a segment, or closes the window, cannot prolong a transfer forever. */
START_TEST(the_whole_has_an_end)
{
	uint8_t status = 0;
	uint32_t n = 0;

	start(1000 * RMPP_DATA_LEN);
	while (!status) {
		while (one_goes())
			;
		now += 5000 * MS;
		status = rmpp_send_late(&tx, now);
		if (!status)
			ack(n + 1, n + 2), n++;
	}
	ck_assert_uint_eq(status, RMPP_TOO_LONG);
	ck_assert_uint_lt(n, 20);
	rmpp_send_end(&tx);

	start(1000 * RMPP_DATA_LEN);
	goes(1);
	ack(1, 1);
	for (unsigned i = 0; i < 20 && !(status = rmpp_send_late(&tx, now)); i++) {
		ck_assert_uint_le(one_goes(), 1);	/* it may have opened the window meanwhile */
		ck_assert_uint_eq(one_goes(), 0);
		now = tx.due_us;
	}
	ck_assert_uint_eq(status, RMPP_TOO_MANY_RETRIES);
	rmpp_send_end(&tx);
}
END_TEST

/* A message that is produced slowly does not count as silence. */
START_TEST(a_slow_message_is_no_silence)
{
	now = 1000 * MS;
	rmpp_send_begin(&tx, 0, now);
	for (unsigned i = 0; i < 20; i++) {
		now += 1000 * MS;
		ck_assert_uint_eq(rmpp_send_late(&tx, now), RMPP_OK);
	}
	rmpp_send_add(&tx, (uint8_t[RMPP_DATA_LEN]){ 1 }, 8, true);
	length = given = 8;
	ck_assert_uint_eq(goes(1), 1);
	ck_assert_uint_eq(rmpp_send_late(&tx, now), RMPP_OK);
	ck_assert_uint_eq(ack(1, 2), RMPP_OK);
	ck_assert(rmpp_send_done(&tx));
	rmpp_send_end(&tx);
}
END_TEST

/* The sender repeats only the segment that the answer to a probe lacks; each gap takes a probe. */
START_TEST(a_gap_is_found_and_filled)
{
	start(300 * RMPP_DATA_LEN);
	goes(1);
	ack(1, 65);
	ck_assert_uint_eq(goes(2), 64);
	now = tx.due_us;
	ck_assert_uint_eq(rmpp_send_late(&tx, now), RMPP_OK);
	ck_assert_uint_eq(one_goes(), 1);
	ck_assert_uint_eq(one_goes(), 0);
	now += MS;
	ck_assert_uint_eq(ack(10, 65), RMPP_OK);	/* 11 is missing */
	ck_assert_uint_eq(one_goes(), 11);
	ck_assert_uint_eq(one_goes(), 10);
	ck_assert_uint_eq(one_goes(), 0);
	ck_assert_uint_eq(ack(10, 65), RMPP_OK);	/* a repeated ACK changes nothing */
	ck_assert_uint_eq(one_goes(), 0);
	ck_assert_uint_eq(ack(30, 65), RMPP_OK);	/* and 31 */
	ck_assert_uint_eq(one_goes(), 31);
	ck_assert_uint_eq(one_goes(), 30);
	now += MS;
	ck_assert_uint_eq(ack(65, 129), RMPP_OK);
	ck_assert_uint_eq(some_go(66), 64);
	ck_assert_uint_eq(one_goes(), 65);		/* there may be more losses: probed at once */
	ck_assert_uint_eq(ack(65, 129), RMPP_OK);	/* of the probe for segments after 31 */
	ck_assert_uint_eq(one_goes(), 0);
	ck_assert_uint_eq(ack(129, 193), RMPP_OK);
	rmpp_send_end(&tx);
}
END_TEST

/* A receiver that sends an ACK within a window unasked has a gap, or acknowledges each segment. */
START_TEST(an_ack_amid_the_window)
{
	unsigned more = 0;

	start(200 * RMPP_DATA_LEN);
	goes(1);
	ack(1, 65);
	ck_assert_uint_eq(goes(2), 64);
	ck_assert_uint_eq(ack(10, 65), RMPP_OK);
	ck_assert_uint_eq(one_goes(), 10);
	ck_assert_uint_eq(one_goes(), 0);
	for (uint32_t i = 11; i < 65; i++) {
		ck_assert_uint_eq(ack(i, 65), RMPP_OK);
		while (one_goes())
			more++;
	}
	ck_assert_uint_le(more, 2 * 54);
	ck_assert_uint_eq(ack(65, 129), RMPP_OK);
	ck_assert_uint_eq(some_go(66), 64);
	rmpp_send_end(&tx);
}
END_TEST

/* promise: S5 */
START_TEST(bad_acks)
{
	start(1000 * RMPP_DATA_LEN);
	goes(1);
	ck_assert_uint_eq(ack_status(1, 65, RMPP_UNSPECIFIED), RMPP_BAD_STATUS);
	ck_assert_uint_eq(ack(2, 1), RMPP_WINDOW_TOO_SMALL);
	ck_assert_uint_eq(ack(1, 0x80000000), RMPP_WINDOW_TOO_SMALL);
	ck_assert_uint_eq(ack(2, 65), RMPP_SEGMENT_TOO_BIG);	/* never sent */
	ck_assert_uint_eq(ack(0, 1), RMPP_OK);
	ck_assert_uint_eq(goes(0), 0);
	/* the direction turns: an ACK of segment 0 opens the window */
	ck_assert_uint_eq(ack(0, 8), RMPP_OK);
	ck_assert_uint_eq(goes(2), 7);
	now = tx.due_us;
	ck_assert_uint_eq(rmpp_send_late(&tx, now), RMPP_OK);
	ck_assert_uint_eq(ack(8, 72), RMPP_OK);
	tx.probe = false;
	ck_assert_uint_eq(goes(9), 64);
	rmpp_send_end(&tx);
}
END_TEST

/* --- the receiver --- */

static void make_segment(uint8_t mad[RMPP_MAD], uint32_t segment, uint32_t last, uint32_t last_len)
{
	memset(mad, 0, RMPP_MAD);
	mad[0] = 1;
	mad[3] = 0x14;
	mad[RMPP_OFF_VERSION] = 1;
	mad[RMPP_OFF_TYPE] = RMPP_DATA;
	mad[RMPP_OFF_FLAGS] = (uint8_t)(RMPP_ACTIVE | (segment == 1 ? RMPP_FIRST : 0) |
					(segment == last ? RMPP_LAST : 0));
	put_be32(mad + RMPP_OFF_SEGMENT, segment);
	put_be32(mad + RMPP_OFF_LENGTH, segment == last ? last_len : 0);
	for (unsigned i = 0; i < RMPP_DATA_LEN; i++)
		mad[RMPP_HEAD + i] = byte_at((segment - 1) * RMPP_DATA_LEN + i);
}

static enum rmpp_took take(uint32_t segment, uint32_t last, uint32_t last_len)
{
	uint8_t mad[RMPP_MAD], reply[RMPP_MAD], status = 0;
	enum rmpp_took took;

	make_segment(mad, segment, last, last_len);
	took = rmpp_recv_take(&rx, mad, now, &status);
	if (took == RMPP_TOOK_ACK || took == RMPP_TOOK_ALL) {
		rmpp_recv_ack(&rx, reply, mad);
		ck_assert_uint_eq(reply[3], 0x94);
		ck_assert_uint_eq(reply[RMPP_OFF_TYPE], RMPP_ACK);
		ck_assert_uint_eq(segment_of(reply), rx.have);
		ck_assert_uint_ge(length_of(reply), segment_of(reply));
	}
	if (took == RMPP_TOOK_STOP)
		ck_assert_uint_eq(status, RMPP_NO_RESOURCES);
	if (took == RMPP_TOOK_ABORT)
		ck_assert_uint_eq(status, RMPP_SEGMENT_TOO_BIG);
	return took;
}

START_TEST(segments_in_any_order)
{
	rmpp_recv_begin(&rx, now);
	ck_assert_int_eq(take(2, 20, 28), RMPP_TOOK_ABORT);	/* beyond the window */
	ck_assert_int_eq(take(1, 20, 28), RMPP_TOOK_ACK);
	ck_assert_uint_eq(rx.window, 65);
	ck_assert_int_eq(take(1, 20, 28), RMPP_TOOK_ACK);	/* our ACK was lost */
	for (uint32_t i = 20; i > 2; i--) {
		ck_assert_int_eq(take(i, 20, 28), RMPP_TOOK);
		ck_assert_int_eq(take(i, 20, 28), RMPP_TOOK);
	}
	ck_assert_int_eq(take(2, 20, 28), RMPP_TOOK_ALL);
	ck_assert_uint_eq(rx.len, RMPP_HEAD + 19 * RMPP_DATA_LEN + 8);
	for (size_t i = 0; i < rx.len - RMPP_HEAD; i++)
		ck_assert_uint_eq(rx.message[RMPP_HEAD + i], byte_at(i));
	ck_assert_uint_eq(rx.message[3], 0x14);
	rmpp_recv_end(&rx);
	ck_assert_int_eq(take(20, 20, 28), RMPP_TOOK_ACK);	/* and so was the last */
	ck_assert_int_eq(take(21, 30, 28), RMPP_TOOK);
	rmpp_recv_end(&rx);
}
END_TEST

START_TEST(a_gap_is_told_once)
{
	rmpp_recv_begin(&rx, now);
	take(1, 0, 0);
	ck_assert_int_eq(take(2, 0, 0), RMPP_TOOK);
	ck_assert_int_eq(take(4, 0, 0), RMPP_TOOK_ACK);
	ck_assert_int_eq(take(5, 0, 0), RMPP_TOOK);
	ck_assert_int_eq(take(3, 0, 0), RMPP_TOOK);
	ck_assert_uint_eq(rx.have, 5);
	for (uint32_t i = 6; i < 65; i++)
		ck_assert_int_eq(take(i, 0, 0), RMPP_TOOK);
	ck_assert_int_eq(take(65, 0, 0), RMPP_TOOK_ACK);	/* the end of a window */
	ck_assert_uint_eq(rx.window, 129);
	rmpp_recv_end(&rx);
}
END_TEST

START_TEST(messages_have_a_bound)
{
	enum rmpp_took took = RMPP_TOOK_ACK;
	uint32_t i = 0;

	rmpp_recv_begin(&rx, now);
	while (took == RMPP_TOOK || took == RMPP_TOOK_ACK)
		took = take(++i, 0, 0);
	ck_assert_int_eq(took, RMPP_TOOK_STOP);
	ck_assert_uint_eq(i, (RMPP_MESSAGE_MAX - RMPP_HEAD) / RMPP_DATA_LEN + 1);
	ck_assert_uint_le(rx.cap, RMPP_MESSAGE_MAX);
	rmpp_recv_end(&rx);
}
END_TEST

START_TEST(ends_that_contradict)
{
	rmpp_recv_begin(&rx, now);
	take(1, 0, 0);
	take(3, 3, 220);
	ck_assert_int_eq(take(4, 0, 0), RMPP_TOOK_ABORT);	/* behind the last */
	rmpp_recv_end(&rx);

	rmpp_recv_begin(&rx, now);
	take(1, 0, 0);
	take(3, 3, 220);
	ck_assert_int_eq(take(2, 2, 220), RMPP_TOOK_ABORT);	/* another last */
	rmpp_recv_end(&rx);

	rmpp_recv_begin(&rx, now);
	take(1, 0, 0);
	take(5, 0, 0);
	ck_assert_int_eq(take(4, 4, 220), RMPP_TOOK_ABORT);	/* one segment follows */
	rmpp_recv_end(&rx);
}
END_TEST

/* promise: S5 */
START_TEST(broken_headers)
{
	static const struct {
		uint32_t segment; uint8_t flags, status; uint32_t length; uint8_t want;
	} cases[] = {
		{ 1, RMPP_FIRST, 0, 0, RMPP_OK },
		{ 1, RMPP_FIRST | RMPP_LAST, 0, 20, RMPP_OK },
		{ 1, RMPP_FIRST | RMPP_LAST, 0, 220, RMPP_OK },
		{ 1, RMPP_FIRST | RMPP_LAST, 0, 19, RMPP_BAD_LENGTH },
		{ 7, RMPP_LAST, 0, 221, RMPP_BAD_LENGTH },
		{ 7, 0, 0, 9999, RMPP_OK },
		{ 1, 0, 0, 0, RMPP_BAD_FIRST },
		{ 2, RMPP_FIRST, 0, 0, RMPP_BAD_FIRST },
		{ 0, 0, 0, 0, RMPP_BAD_FIRST },
		{ 0, RMPP_FIRST, 0, 0, RMPP_BAD_FIRST },
		{ 1, RMPP_FIRST, 1, 0, RMPP_BAD_STATUS },
		{ 1, RMPP_FIRST, 127, 0, RMPP_BAD_STATUS },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t mad[RMPP_MAD] = { 0 };

		mad[RMPP_OFF_FLAGS] = RMPP_ACTIVE | cases[i].flags;
		mad[RMPP_OFF_STATUS] = cases[i].status;
		put_be32(mad + RMPP_OFF_SEGMENT, cases[i].segment);
		put_be32(mad + RMPP_OFF_LENGTH, cases[i].length);
		ck_assert_msg(rmpp_data_check(mad) == cases[i].want, "case %zu", i);
	}
}
END_TEST

/* --- both, over a wire that loses, repeats and mixes --- */

#define WIRE_MAX 4096
struct wire {
	uint8_t mad[WIRE_MAX][RMPP_MAD];
	unsigned n;
};
static struct wire there, back;
static unsigned loss, doubled;	/* in 1,000 */

static void put(struct wire *w, const uint8_t *mad)
{
	for (unsigned copies = 1 + (rnd(1000) < doubled); copies && w->n < WIRE_MAX; copies--)
		if (rnd(1000) >= loss)
			memcpy(w->mad[w->n++], mad, RMPP_MAD);
}

static bool get(struct wire *w, uint8_t *mad)
{
	unsigned i;

	if (!w->n)
		return false;
	i = rnd(w->n < 4 ? w->n : 4);	/* one of the first, not the first */
	memcpy(mad, w->mad[i], RMPP_MAD);
	memmove(w->mad[i], w->mad[i + 1], (size_t)(--w->n - i) * RMPP_MAD);
	return true;
}

static void transfer(size_t n)
{
	uint8_t mad[RMPP_MAD], reply[RMPP_MAD], status;
	bool all = false;

	there.n = back.n = 0;
	start(n);
	rmpp_recv_begin(&rx, now);
	for (unsigned rounds = 0; !rmpp_send_done(&tx); rounds++) {
		ck_assert_uint_lt(rounds, 100000);
		while (next(mad)) {
			mad[3] = 0x92;
			put(&there, mad);
		}
		while (get(&there, mad)) {
			enum rmpp_took took;

			ck_assert_uint_eq(rmpp_data_check(mad), RMPP_OK);
			took = rmpp_recv_take(&rx, mad, now, &status);
			ck_assert_int_lt(took, RMPP_TOOK_STOP);
			ck_assert(took != RMPP_TOOK_ALL || !all);	/* once */
			all |= took == RMPP_TOOK_ALL;
			if (took != RMPP_TOOK) {
				rmpp_recv_ack(&rx, reply, mad);
				put(&back, reply);
			}
		}
		while (get(&back, reply))
			ck_assert_uint_eq(rmpp_send_acked(&tx, reply, now), RMPP_OK);
		now += 50;
		if (!rmpp_send_done(&tx) && !rmpp_send_wants(&tx) && tx.sent == tx.made)
			now = tx.due_us > now ? tx.due_us : now;
		ck_assert_uint_eq(rmpp_send_late(&tx, now), RMPP_OK);
	}
	ck_assert(all);
	ck_assert_uint_eq(rx.len, RMPP_HEAD + n);
	size_t wrong = 0;
	for (size_t i = 0; i < n; i++)
		wrong += rx.message[RMPP_HEAD + i] != byte_at(i);
	ck_assert_uint_eq(wrong, 0);
	rmpp_send_end(&tx);
	rmpp_recv_end(&rx);
}

/* promise: S5 */
START_TEST(both_ends_on_a_bad_wire)
{
	static const unsigned losses[] = { 0, 10, 100, 150 };

	seed = (uint64_t)_i * 1000000;
	loss = losses[_i % 4];
	doubled = _i / 4 ? 200 : 0;
	for (unsigned i = 0; i < 100; i++)
		transfer(rnd(RMPP_MESSAGE_MAX - 2 * RMPP_DATA_LEN) / 8 * 8);
	transfer(0);
	transfer(RMPP_DATA_LEN);
	transfer(64 * RMPP_DATA_LEN);
}
END_TEST

START_TEST(replies)
{
	uint8_t mad[RMPP_MAD], reply[RMPP_MAD];

	make_segment(mad, 3, 0, 0);
	mad[9] = 0x42;
	rmpp_make_reply(reply, mad, RMPP_ABORT, RMPP_BAD_VERSION, 0, 0);
	ck_assert_uint_eq(reply[3], 0x94);
	ck_assert_uint_eq(reply[9], 0x42);
	ck_assert_uint_eq(reply[RMPP_OFF_VERSION], 1);
	ck_assert_uint_eq(reply[RMPP_OFF_TYPE], RMPP_ABORT);
	ck_assert_uint_eq(reply[RMPP_OFF_FLAGS] & 7, RMPP_ACTIVE);
	ck_assert_uint_eq(reply[RMPP_OFF_STATUS], 125);
	for (unsigned i = RMPP_OFF_SEGMENT; i < 36; i++)
		ck_assert_uint_eq(reply[i], 0);
	for (unsigned i = RMPP_HEAD; i < RMPP_MAD; i++)
		ck_assert_uint_eq(reply[i], 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rmpp");
	TCase *c = tcase_create("rmpp");

	tcase_add_test(c, window_opens_with_acks);
	tcase_add_test(c, headers_as_iba_has_them);
	tcase_add_test(c, silence_repeats_and_ends);
	tcase_add_test(c, the_whole_has_an_end);
	tcase_add_test(c, a_slow_message_is_no_silence);
	tcase_add_test(c, a_gap_is_found_and_filled);
	tcase_add_test(c, an_ack_amid_the_window);
	tcase_add_test(c, a_slow_receiver_gets_nothing_twice);
	tcase_add_test(c, karn);
	tcase_add_test(c, bad_acks);
	tcase_add_test(c, segments_in_any_order);
	tcase_add_test(c, a_gap_is_told_once);
	tcase_add_test(c, messages_have_a_bound);
	tcase_add_test(c, ends_that_contradict);
	tcase_add_test(c, broken_headers);
	tcase_add_test(c, replies);
	tcase_add_loop_test(c, both_ends_on_a_bad_wire, 0, 8);
	suite_add_tcase(s, c);
	return run_suite(s);
}
