/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests RMPP transfers between two hosts: they are complete and in order despite losses
 * and despite the other end's behavior.  In some tests, the other end is a client that
 * makes its own segments.
 *
 * promise: V3
 */
#include <errno.h>
#include <stdlib.h>

#include "pair.h"

/* The header's fields, on purpose not those of the code under test. */
enum { VERSION = 24, TYPE = 25, FLAGS = 26, STATUS = 27, SEGMENT = 28, LENGTH = 32 };
enum { DATA = 1, ACK = 2, STOP = 3, ABORT = 4 };
enum { ACTIVE = 1, FIRST = 2, LAST = 4 };
#define GET_TABLE 0x12
#define GET_MULTI 0x14

static struct client l, r;	/* who asks; who answers */

static struct {
	unsigned data, ack, stop, abort;
	uint8_t status;			/* of the last STOP or ABORT */
	uint32_t lost;			/* the last segment that a test lost */
} seen;

static bool is_rmpp(const struct packet *p)
{
	return p->dqpn == 1 && p->mad[FLAGS] & ACTIVE;
}

static bool count(uint32_t port, struct packet *p)
{
	(void)port;
	if (!is_rmpp(p))
		return true;
	switch (p->mad[TYPE]) {
	case DATA:
		seen.data++;
		break;
	case ACK:
		seen.ack++;
		break;
	case STOP:
		seen.stop++;
		seen.status = p->mad[STATUS];
		break;
	case ABORT:
		seen.abort++;
		seen.status = p->mad[STATUS];
		break;
	}
	return true;
}

static void open_two(uint8_t mgmt_class, int method, bool raw_left, bool raw_right)
{
	memset(&seen, 0, sizeof(seen));
	client_open(&l, left, 1);
	client_open(&r, right, 2);
	ck_assert_int_eq(client_register_rmpp(&l, mgmt_class, -1, raw_left), 0);
	ck_assert_int_eq(client_register_rmpp(&r, mgmt_class, method, raw_right), 0);
	look = count;
}

static void close_two(void)
{
	client_close(&l);
	client_close(&r);
}

static struct message request(uint8_t mgmt_class, uint64_t tid)
{
	struct message m = message_new(256, 0, 0x20, mgmt_class, GET_TABLE, tid);

	m.mad[37] = 0x00;	/* the OUI, of vendor classes */
	m.mad[38] = 0x14;
	m.mad[39] = 0x05;
	m.head->timeout_ms = 60000;
	return m;
}

static void ask(uint8_t mgmt_class, uint64_t tid)
{
	ck_assert_int_eq(message_send(&l, request(mgmt_class, tid)), 0);
	run_us(0);
}

static uint8_t pattern(size_t i)
{
	return (uint8_t)(i ^ i >> 8 ^ i >> 16);
}

/* Answers request i of r with n bytes in all; offset: where the class's data begin. */
static int answer(size_t i, size_t n, size_t offset, uint32_t retries)
{
	struct message m = message_answer(&r, i, n);

	m.mad[FLAGS] = ACTIVE;
	memcpy(m.mad + 36, got_mad(&r, i) + 36, 4);
	for (size_t j = offset; j < n; j++)
		m.mad[j] = pattern(j);
	m.head->retries = retries;
	return message_send(&r, m);
}

static void check_message(const struct client *c, size_t i, size_t n, size_t offset)
{
	const uint8_t *mad = got_mad(c, i);

	ck_assert_uint_eq(got_length(c, i), n);
	ck_assert_uint_eq(got_head(c, i)->status, 0);
	for (size_t j = offset; j < n; j++)
		if (mad[j] != pattern(j))
			ck_abort_msg("byte %zu of %zu", j, n);
}

START_TEST(all_lengths)
{
	static const struct {
		uint8_t mgmt_class;
		size_t offset;
	} classes[] = {
		{ CLASS_SA, 56 }, { CLASS_DM, 64 }, { 0x10, 64 }, { 0x12, 64 }, { 0x30, 40 },
		{ 0x4f, 40 },
	};

	for (size_t c = 0; c < ARRAY_SIZE(classes); c++) {
		size_t offset = classes[c].offset, size = 256 - offset;
		size_t lengths[] = { 0, 1, size - 1, size, size + 1, 2 * size, 3 * size + 7,
				     65 * size, 66 * size, 129 * size, 130 * size + 1 };

		open_two(classes[c].mgmt_class, GET_TABLE, false, false);
		for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
			ask(classes[c].mgmt_class, i);
			ck_assert_uint_eq(r.got.n, i + 1);
			ck_assert_int_eq(answer(i, offset + lengths[i], offset, 0), 0);
			run_us(0);
			ck_assert_uint_eq(l.got.n, i + 1);
			check_message(&l, i, offset + lengths[i], offset);
			ck_assert_uint_eq(got_mad(&l, i)[FLAGS] & 3, 3);
			ck_assert_uint_eq(got_mad(&l, i)[TYPE], DATA);
		}
		close_two();
	}
}
END_TEST

static uint32_t payloads[4];
static uint8_t flags[4];

static bool note_lengths(uint32_t port, struct packet *p)
{
	uint32_t n = get_be32(p->mad + SEGMENT);

	if (port == left && p->mad[TYPE] == DATA && n < 4) {
		payloads[n] = get_be32(p->mad + LENGTH);
		flags[n] = p->mad[FLAGS];
	}
	return true;
}

START_TEST(lengths_on_the_wire)
{
	open_two(CLASS_SA, GET_TABLE, false, false);
	look = note_lengths;
	ask(CLASS_SA, 1);
	ck_assert_int_eq(answer(0, 56 + 450, 56, 0), 0);
	run_us(0);
	/* Each segment has 20 bytes of SA header that count, too. */
	ck_assert_uint_eq(payloads[1], 450 + 3 * 20);
	ck_assert_uint_eq(payloads[2], 0);
	ck_assert_uint_eq(payloads[3], 50 + 20);
	ck_assert_uint_eq(flags[1], ACTIVE | FIRST);
	ck_assert_uint_eq(flags[2], ACTIVE);
	ck_assert_uint_eq(flags[3], ACTIVE | LAST);
	ask(CLASS_SA, 2);
	ck_assert_int_eq(answer(1, 56, 56, 0), 0);
	run_us(0);
	ck_assert_uint_eq(payloads[1], 20);
	ck_assert_uint_eq(flags[1], ACTIVE | FIRST | LAST);
	close_two();
}
END_TEST

START_TEST(acks_as_the_kernel_sends_them)
{
	open_two(CLASS_SA, GET_TABLE, false, false);
	ask(CLASS_SA, 1);
	ck_assert_int_eq(answer(0, 56 + 200 * (1 + 64 + 64 + 10), 56, 0), 0);
	run_us(0);
	ck_assert_uint_eq(seen.data, 139);
	ck_assert_uint_eq(seen.ack, 4);		/* first, two windows, last */
	/* ACKs do not count as sent messages. */
	for (size_t i = 0; i < s->stats->clients.n; i++) {
		static const uint64_t want[] = { 0, 1, 139 };
		const struct stat_table *st = s->stats->clients.v[i];

		ck_assert_uint_eq(st->n, want[st->client]);
	}
	close_two();
}
END_TEST

START_TEST(plain_mads_pass)
{
	open_two(CLASS_SA, GET_TABLE, false, false);
	ask(CLASS_SA, 1);
	ck_assert_uint_eq(got_length(&r, 0), 256);
	struct message m = message_answer(&r, 0, 256);
	ck_assert_int_eq(message_send(&r, m), 0);
	run_us(0);
	ck_assert_uint_eq(got_length(&l, 0), 256);
	ck_assert_uint_eq(seen.ack, 0);
	close_two();
}
END_TEST

static void add_fault(enum fault_effect effect, double chance, int64_t delay_us)
{
	struct fault_rule rule = {
		.effect = effect, .chance = chance, .left = UINT32_MAX, .delay_us = delay_us,
		.mgmt_class = CLASS_SA, .node = SIM_NONE, .port = SIM_NONE,
	};

	fault_add(s, &rule);
}

/* A table of thousands of segments under the faults; how long it took. */
static int64_t transfer(size_t n, uint32_t retries)
{
	int64_t start;

	for (uint64_t tid = 0; r.got.n == 0; tid++) {
		ask(CLASS_SA, tid);
		run_us(1000);
	}
	start = sim_now(s);
	ck_assert_int_eq(answer(0, n, 56, retries), 0);
	for (int i = 0; i < 600000 && l.got.n == 0; i++)
		run_us(1000);
	ck_assert_uint_eq(l.got.n, 1);
	check_message(&l, 0, n, 56);
	return sim_now(s) - start;
}

/* What it took to bring n segments over: in packets, all of both ends, and in time. */
static void check_cost(unsigned n, int64_t took_us, double packets_each, int64_t us_each)
{
	double packets = seen.data + seen.ack;

	ck_assert_msg(packets < packets_each * n, "%.0f packets", packets);
	ck_assert_msg(took_us < us_each * n, "%lld us", (long long)took_us);
	ck_assert_uint_eq(seen.stop + seen.abort, 0);
}

START_TEST(complete_with_loss)
{
	open_two(CLASS_SA, GET_TABLE, false, false);
	add_fault(FAULT_DROP, 0.05, 0);
	check_cost(8000, transfer(56 + 200 * 8000, 3), 1.5, 100);
	ck_assert_uint_gt(drops(DROP_FAULT), 300);
	/* Its sender knows that it was received: the same message may be sent again. */
	fault_remove(s, 0);
	run_us(10000000);
	ck_assert_uint_eq(r.got.n, 1);
	close_two();
}
END_TEST

START_TEST(complete_with_much_loss)
{
	open_two(CLASS_SA, GET_TABLE, false, false);
	add_fault(FAULT_DROP, 0.3, 0);
	check_cost(3000, transfer(56 + 200 * 3000, 3), 5, 1500);
	close_two();
}
END_TEST

START_TEST(complete_in_any_order)
{
	open_two(CLASS_SA, GET_TABLE, false, false);
	add_fault(FAULT_REORDER, 0.3, 3000);
	add_fault(FAULT_DUPLICATE, 0.3, 0);
	check_cost(2000, transfer(56 + 200 * 2000 + 3, 3), 10, 1000);
	close_two();
}
END_TEST

/* Each copy of a segment brings an ACK, as from Linux, and none of these a segment. */
START_TEST(what_comes_twice_does_not_multiply)
{
	open_two(CLASS_SA, GET_TABLE, false, false);
	add_fault(FAULT_DUPLICATE, 1, 0);
	check_cost(2000, transfer(56 + 200 * 2000, 3), 4.1, 1);
	close_two();
}
END_TEST

START_TEST(complete_with_delay)
{
	open_two(CLASS_SA, GET_TABLE, false, false);
	add_fault(FAULT_DELAY, 1, 150000);
	transfer(56 + 200 * 500, 3);
	close_two();
}
END_TEST

static bool lose_one_of_ten_once(uint32_t port, struct packet *p)
{
	uint32_t segment = get_be32(p->mad + SEGMENT);

	count(port, p);
	if (!is_rmpp(p) || p->mad[TYPE] != DATA || segment % 10 || segment <= seen.lost)
		return true;
	seen.lost = segment;
	return false;
}

/* … each of which costs itself and a request for the next gap. */
START_TEST(gaps_are_filled_one_by_one)
{
	open_two(CLASS_SA, GET_TABLE, false, false);
	ask(CLASS_SA, 1);
	look = lose_one_of_ten_once;
	ck_assert_int_eq(answer(0, 56 + 200 * 64, 56, 3), 0);
	run_us(100000);
	ck_assert_uint_eq(l.got.n, 1);
	check_message(&l, 0, 56 + 200 * 64, 56);
	ck_assert_uint_eq(seen.lost, 60);
	ck_assert_uint_le(seen.data, 64 + 1 + 2 * 6);
	close_two();
}
END_TEST

START_TEST(sixty_four_megabytes)
{
	size_t n = 56 + (64u << 20);

	open_two(CLASS_SA, GET_TABLE, false, false);
	look = NULL;
	transfer(n, 3);
	close_two();
}
END_TEST

START_TEST(too_much_is_refused)
{
	struct message m;
	size_t n = 56 + HOST_MESSAGE_MAX;

	open_two(CLASS_SA, GET_TABLE, false, false);
	ask(CLASS_SA, 1);
	m = message_answer(&r, 0, 256);
	m.mad[FLAGS] = ACTIVE;
	m.head = realloc(m.head, HEAD + n);
	m.mad = (uint8_t *)m.head + HEAD;
	memset(m.mad + 256, 0, n - 256);
	m.n = n;
	ck_assert_int_eq(message_write(&r, &m), -ENOMEM);
	/* Several that exceed the limit together: the port's share is twice the largest. */
	m.n = HOST_MESSAGE_MAX;
	s->frozen = true;
	for (uint64_t tid = 0; tid < 3; tid++) {
		put_be64(m.mad + MAD_TID, tid);
		ck_assert_int_eq(message_write(&r, &m), tid < 2 ? 0 : -ENOMEM);
	}
	client_close(&r);
	client_open(&r, right, 2);
	ck_assert_int_eq(client_register_rmpp(&r, CLASS_SA, GET_TABLE, false), 0);
	ck_assert_int_eq(message_send(&r, m), 0);
	close_two();
}
END_TEST

static bool lose_acks(uint32_t port, struct packet *p)
{
	count(port, p);
	return !(is_rmpp(p) && p->mad[TYPE] == ACK && get_be32(p->mad + SEGMENT) > 1);
}

START_TEST(who_does_not_acknowledge_is_given_up)
{
	struct client other;

	open_two(CLASS_SA, GET_TABLE, false, false);
	client_open(&other, left, 3);
	ck_assert_int_eq(client_register_rmpp(&other, CLASS_SA, -1, false), 0);
	look = lose_acks;
	ask(CLASS_SA, 1);
	ck_assert_int_eq(answer(0, 56 + 200 * 100, 56, 2), 0);
	run_us(5900000);
	ck_assert_uint_eq(r.got.n, 1);
	ck_assert_uint_lt(seen.data, 64 * 20);
	run_us(200000);
	ck_assert_uint_eq(r.got.n, 2);
	ck_assert_uint_eq(got_head(&r, 1)->status, ETIMEDOUT);
	ck_assert_uint_eq(got_length(&r, 1), 24);
	ck_assert_uint_eq(seen.abort, 1);
	ck_assert_uint_eq(seen.status, 126);
	client_close(&other);
	close_two();
}
END_TEST

START_TEST(one_that_is_stuck_does_not_block_others)
{
	struct client other;

	open_two(CLASS_SA, GET_TABLE, false, false);
	client_open(&other, left, 3);
	ck_assert_int_eq(client_register_rmpp(&other, CLASS_SA, -1, true), 0);
	struct message m = request(CLASS_SA, 1);
	ck_assert_int_eq(message_send(&other, m), 0);	/* it never acknowledges */
	run_us(0);
	ck_assert_int_eq(answer(0, 56 + 200 * 1000, 56, 3), 0);
	run_us(0);
	for (size_t i = 1; i <= 20; i++) {
		ask(CLASS_SA, i);
		ck_assert_int_eq(answer(i, 56 + 200 * 1000, 56, 3), 0);
		run_us(0);
		ck_assert_uint_eq(l.got.n, i);
	}
	ck_assert_uint_ge(other.got.n, 1);
	client_close(&other);
	run_us(20000000);
	close_two();
}
END_TEST

START_TEST(many_at_once)
{
	enum { N = 50 };

	open_two(CLASS_SA, GET_TABLE, false, false);
	for (size_t i = 0; i < N; i++)
		ask(CLASS_SA, i);
	add_fault(FAULT_DROP, 0.02, 0);
	for (size_t i = 0; i < N; i++)
		ck_assert_int_eq(answer(i, 56 + 200 * 300 + i, 56, 3), 0);
	for (int i = 0; i < 60000 && l.got.n < N; i++)
		run_us(1000);
	ck_assert_uint_eq(l.got.n, N);
	for (size_t i = 0; i < N; i++) {
		uint64_t tid = get_be64(got_mad(&l, i) + MAD_TID) & UINT32_MAX;

		check_message(&l, i, 56 + 200 * 300 + tid, 56);
	}
	close_two();
}
END_TEST

START_TEST(thousands_of_short_ones)
{
	enum { N = 3000 };

	open_two(CLASS_SA, GET_TABLE, false, false);
	for (size_t i = 0; i < N; i++) {
		ask(CLASS_SA, i);
		ck_assert_int_eq(answer(i, 56 + i % 200, 56, 3), 0);
	}
	run_us(0);
	ck_assert_uint_eq(l.got.n, N);
	for (size_t i = 0; i < N; i++)
		check_message(&l, i, 56 + i % 200, 56);
	close_two();
}
END_TEST

START_TEST(an_answer_is_not_sent_twice_at_once)
{
	open_two(CLASS_SA, GET_TABLE, false, false);
	ask(CLASS_SA, 1);
	ck_assert_int_eq(answer(0, 56 + 2000, 56, 0), 0);
	ck_assert_int_eq(answer(0, 56 + 2000, 56, 0), -EINVAL);
	run_us(0);
	ck_assert_int_eq(answer(0, 56 + 2000, 56, 0), 0);
	run_us(10000000);
	/* The second is acknowledged, and no client waits for it any more. */
	ck_assert_uint_eq(l.got.n, 1);
	ck_assert_uint_eq(r.got.n, 1);
	close_two();
}
END_TEST

/* --- against a client that makes its segments itself --- */

/* One of r's own in answer to its first request. */
static void raw(uint8_t type, uint8_t fl, uint8_t status, uint32_t segment, uint32_t length)
{
	struct message m = message_answer(&r, 0, 256);

	m.mad[VERSION] = 1;
	m.mad[TYPE] = type;
	m.mad[FLAGS] = fl;
	m.mad[STATUS] = status;
	put_be32(m.mad + SEGMENT, segment);
	put_be32(m.mad + LENGTH, length);
	for (size_t i = 56; i < 256; i++)
		m.mad[i] = pattern((segment - 1) * 200 + i);
	ck_assert_int_eq(message_send(&r, m), 0);
	run_us(0);
}

START_TEST(raw_segments_are_reassembled)
{
	open_two(CLASS_SA, GET_TABLE, false, true);
	ask(CLASS_SA, 1);
	raw(DATA, ACTIVE | FIRST, 0, 1, 0);
	ck_assert_uint_eq(r.got.n, 2);		/* the ACK, raw, too */
	ck_assert_uint_eq(got_mad(&r, 1)[TYPE], ACK);
	ck_assert_uint_eq(got_mad(&r, 1)[MAD_METHOD], GET_TABLE);
	ck_assert_uint_eq(get_be32(got_mad(&r, 1) + SEGMENT), 1);
	ck_assert_uint_eq(get_be32(got_mad(&r, 1) + LENGTH), 65);
	raw(DATA, ACTIVE | LAST, 0, 3, 120);
	ck_assert_uint_eq(l.got.n, 0);
	raw(DATA, ACTIVE, 0, 2, 0);
	ck_assert_uint_eq(l.got.n, 1);
	check_message(&l, 0, 56 + 200 + 200 + 100, 56);
	/* The ACK was lost: whatever comes again brings one. */
	raw(DATA, ACTIVE, 0, 2, 0);
	ck_assert_uint_eq(r.got.n, 4);
	ck_assert_uint_eq(get_be32(got_mad(&r, 3) + SEGMENT), 3);
	raw(DATA, ACTIVE | LAST, 0, 3, 120);
	ck_assert_uint_eq(r.got.n, 5);
	ck_assert_uint_eq(l.got.n, 1);
	close_two();
}
END_TEST

/* What the last ACK, of n that r got, says to be there. */
static void check_acks(size_t n, uint32_t segment)
{
	ck_assert_uint_eq(r.got.n, 1 + n);
	ck_assert_uint_eq(get_be32(got_mad(&r, n) + SEGMENT), segment);
	ck_assert_uint_eq(get_be32(got_mad(&r, n) + LENGTH), 65);
}

START_TEST(a_gap_is_not_told_unless_asked)
{
	open_two(CLASS_SA, GET_TABLE, false, true);
	ask(CLASS_SA, 1);
	for (uint32_t i = 1; i <= 4; i++)
		raw(DATA, ACTIVE | (i == 1 ? FIRST : 0), 0, i, 0);
	check_acks(1, 1);
	raw(DATA, ACTIVE, 0, 6, 0);
	raw(DATA, ACTIVE, 0, 7, 0);
	raw(DATA, ACTIVE, 0, 9, 0);
	/* received segments without an ACK are not requested again */
	raw(DATA, ACTIVE, 0, 9, 0);
	raw(DATA, ACTIVE, 0, 3, 0);
	check_acks(1, 1);
	raw(DATA, ACTIVE | FIRST, 0, 1, 0);
	check_acks(2, 4);
	raw(DATA, ACTIVE, 0, 5, 0);
	check_acks(2, 4);
	raw(DATA, ACTIVE, 0, 4, 0);
	check_acks(3, 7);
	raw(DATA, ACTIVE, 0, 8, 0);
	raw(DATA, ACTIVE | LAST, 0, 10, 220);
	ck_assert_uint_eq(l.got.n, 1);
	check_message(&l, 0, 56 + 200 * 10, 56);
	close_two();
}
END_TEST

START_TEST(the_whole_has_40_seconds)
{
	open_two(CLASS_SA, GET_TABLE, false, true);
	ask(CLASS_SA, 1);
	for (uint32_t i = 1; i <= 39; i++) {
		raw(DATA, ACTIVE | (i == 1 ? FIRST : 0), 0, i, 0);
		run_us(1000000);
	}
	ck_assert_uint_eq(seen.abort, 0);
	run_us(1000000);
	ck_assert_uint_eq(seen.abort, 1);
	ck_assert_uint_eq(seen.status, 118);
	close_two();
}
END_TEST

START_TEST(segments_that_make_no_sense)
{
	static const struct {
		uint8_t type, flags, status;
		uint32_t segment, length;
		uint8_t want;		/* status of the ABORT */
	} rows[] = {
		{ DATA, ACTIVE, 0, 1, 0, 120 },		{ DATA, ACTIVE | FIRST, 0, 2, 0, 120 },
		{ DATA, ACTIVE | FIRST, 0, 0, 0, 120 },	{ DATA, ACTIVE | FIRST, 5, 1, 0, 124 },
		{ DATA, ACTIVE | FIRST | LAST, 0, 1, 221, 119 },
		{ DATA, ACTIVE | FIRST | LAST, 0, 1, UINT32_MAX, 119 },
		{ DATA, ACTIVE | FIRST | LAST, 0, 1, 19, 119 },
		{ 0, ACTIVE, 0, 1, 0, 121 },		{ 5, ACTIVE, 0, 1, 0, 121 },
		{ 255, ACTIVE, 0, 1, 0, 121 },		{ ACK, ACTIVE, 9, 1, 1, 124 },
		{ ACK, ACTIVE, 0, 5, 4, 122 },		{ ACK, ACTIVE, 0, 0, UINT32_MAX, 122 },
		{ STOP, ACTIVE, 0, 0, 0, 124 },		{ STOP, ACTIVE, 118, 0, 0, 124 },
		{ ABORT, ACTIVE, 1, 0, 0, 124 },	{ ABORT, ACTIVE, 128, 0, 0, 124 },
	};

	open_two(CLASS_SA, GET_TABLE, false, true);
	ask(CLASS_SA, 1);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned before = seen.abort;

		raw(rows[i].type, rows[i].flags, rows[i].status, rows[i].segment, rows[i].length);
		before += rows[i].type == ABORT;
		ck_assert_msg(seen.abort == before + 1, "row %zu: %u ABORTs", i,
			      seen.abort - before);
		ck_assert_msg(seen.status == rows[i].want, "row %zu: status %u", i, seen.status);
	}
	/* Not an answer to any request: it is ignored. */
	raw(ABORT, ACTIVE, 127, 0, 0);
	raw(STOP, ACTIVE, 1, 0, 0);
	raw(ACK, ACTIVE, 0, 3, 3);
	raw(DATA, ACTIVE, 0, 0, 0);
	raw(DATA, ACTIVE, 0, UINT32_MAX, 0);
	raw(DATA, ACTIVE | LAST, 0, 7, 100);
	ck_assert_uint_eq(l.got.n, 0);
	/* And still the real answer is taken. */
	raw(DATA, ACTIVE | FIRST | LAST, 0, 1, 220);
	ck_assert_uint_eq(l.got.n, 1);
	close_two();
}
END_TEST

START_TEST(another_version)
{
	open_two(CLASS_SA, GET_TABLE, false, true);
	ask(CLASS_SA, 1);
	struct message m = message_answer(&r, 0, 256);
	m.mad[VERSION] = 2;
	m.mad[TYPE] = DATA;
	m.mad[FLAGS] = ACTIVE | FIRST | LAST;
	ck_assert_int_eq(message_send(&r, m), 0);
	run_us(0);
	ck_assert_uint_eq(seen.abort, 1);
	ck_assert_uint_eq(seen.status, 125);
	close_two();
}
END_TEST

START_TEST(beyond_the_window)
{
	open_two(CLASS_SA, GET_TABLE, false, true);
	ask(CLASS_SA, 1);
	raw(DATA, ACTIVE | FIRST, 0, 1, 0);
	raw(DATA, ACTIVE | LAST, 0, 66, 220);	/* lost: the window ends at 65 */
	for (uint32_t i = 65; i >= 2; i--)
		raw(DATA, ACTIVE, 0, i, 0);
	ck_assert_uint_eq(l.got.n, 0);
	ck_assert_uint_eq(seen.ack, 2);
	raw(DATA, ACTIVE | LAST, 0, 66, 220);
	ck_assert_uint_eq(l.got.n, 1);
	check_message(&l, 0, 56 + 66 * 200, 56);
	close_two();
}
END_TEST

START_TEST(a_sender_that_falls_silent)
{
	open_two(CLASS_SA, GET_TABLE, false, true);
	ask(CLASS_SA, 1);
	raw(DATA, ACTIVE | FIRST, 0, 1, 0);
	run_us(39000000);
	ck_assert_uint_eq(seen.abort, 0);
	run_us(2000000);
	ck_assert_uint_eq(seen.abort, 1);
	ck_assert_uint_eq(seen.status, 118);
	close_two();
}
END_TEST

START_TEST(a_sender_that_gives_up)
{
	open_two(CLASS_SA, GET_TABLE, false, true);
	ask(CLASS_SA, 1);
	raw(DATA, ACTIVE | FIRST, 0, 1, 0);
	raw(ABORT, ACTIVE, 126, 0, 0);
	raw(DATA, ACTIVE, 0, 2, 0);
	raw(DATA, ACTIVE | LAST, 0, 3, 220);
	ck_assert_uint_eq(l.got.n, 0);
	/* It may begin again. */
	raw(DATA, ACTIVE | FIRST | LAST, 0, 1, 220);
	ck_assert_uint_eq(l.got.n, 1);
	close_two();
}
END_TEST

/* r asks and acknowledges by itself; the table comes from l's side. */
static void table_for_raw(size_t segments)
{
	open_two(CLASS_SA, -1, true, false);
	client_close(&r);
	client_open(&r, right, 2);
	ck_assert_int_eq(client_register_rmpp(&r, CLASS_SA, GET_TABLE, false), 0);
	ask(CLASS_SA, 1);
	ck_assert_int_eq(answer(0, 56 + 200 * segments, 56, 1), 0);
	run_us(0);
}

static void raw_ack(uint8_t type, uint8_t status, uint8_t rtime, uint32_t segment, uint32_t window)
{
	struct message m = message_answer(&l, 0, 256);

	m.mad[MAD_METHOD] = GET_TABLE;
	m.mad[VERSION] = 1;
	m.mad[TYPE] = type;
	m.mad[FLAGS] = (uint8_t)(ACTIVE | rtime << 3);
	m.mad[STATUS] = status;
	put_be32(m.mad + SEGMENT, segment);
	put_be32(m.mad + LENGTH, window);
	/* A request gets the agent's own id, which is the one of the first request. */
	ck_assert_int_eq(message_send(&l, m), 0);
	run_us(0);
}

START_TEST(windows_that_a_client_grants)
{
	table_for_raw(300);
	ck_assert_uint_eq(l.got.n, 1);		/* the first window is 1 */
	raw_ack(ACK, 0, 0, 1, 10);
	ck_assert_uint_eq(l.got.n, 10);
	raw_ack(ACK, 0, 0, 1, 5);		/* does not shrink */
	raw_ack(ACK, 0, 0, 10, INT32_MAX);
	ck_assert_uint_eq(l.got.n, 300);
	for (size_t i = 0; i < 300; i++)
		ck_assert_uint_eq(get_be32(got_mad(&l, i) + SEGMENT), i + 1);
	raw_ack(ACK, 0, 0, 300, INT32_MAX);
	run_us(60000000);
	ck_assert_uint_eq(l.got.n, 300);
	ck_assert_uint_eq(r.got.n, 1);
	close_two();
}
END_TEST

/* After the first `before` messages l got these segments, and nothing else. */
static void check_segments(size_t before, uint32_t first, uint32_t last)
{
	ck_assert_uint_eq(l.got.n - before, last + 1 - first);
	for (uint32_t i = first; i <= last; i++)
		ck_assert_uint_eq(get_be32(got_mad(&l, before + i - first) + SEGMENT), i);
}

START_TEST(what_is_repeated_is_what_the_receiver_lacks)
{
	table_for_raw(300);
	raw_ack(ACK, 0, 0, 1, 10);
	raw_ack(ACK, 0, 0, 7, 10);	/* in the window: is 8 missing, or still on its way? */
	ck_assert_uint_eq(l.got.n, 10);
	for (int i = 0; i < 1000 && l.got.n == 10; i++)
		run_us(100);
	check_segments(10, 7, 7);	/* a question */
	raw_ack(ACK, 0, 0, 7, 10);
	ck_assert_uint_eq(l.got.n, 13);
	ck_assert_uint_eq(get_be32(got_mad(&l, 11) + SEGMENT), 8);
	ck_assert_uint_eq(get_be32(got_mad(&l, 12) + SEGMENT), 7);
	raw_ack(ACK, 0, 0, 7, 10);	/* the same again */
	ck_assert_uint_eq(l.got.n, 13);
	got_forget(&l);
	run_us(5000000);
	ck_assert_uint_le(l.got.n, 3 * 20);
	ck_assert_uint_eq(r.got.n, 2);
	ck_assert_uint_eq(got_head(&r, 1)->status, ETIMEDOUT);
	close_two();
}
END_TEST

/* A receiver that acknowledges each segment has no gaps. */
START_TEST(each_segment_acknowledged)
{
	table_for_raw(300);
	raw_ack(ACK, 0, 0, 1, 100);
	for (uint32_t i = 2; i < 100; i++)
		raw_ack(ACK, 0, 0, i, 100);
	ck_assert_uint_eq(l.got.n, 100);
	raw_ack(ACK, 0, 0, 100, 200);
	check_segments(100, 101, 200);
	close_two();
}
END_TEST

START_TEST(a_slow_receiver_says_so)
{
	table_for_raw(300);
	raw_ack(ACK, 0, 16, 1, 10);	/* 268 ms */
	got_forget(&l);
	run_us(260000);
	ck_assert_uint_eq(l.got.n, 0);
	run_us(40000);
	check_segments(0, 1, 1);
	close_two();
}
END_TEST

START_TEST(a_receiver_that_wants_no_more)
{
	static const struct {
		uint8_t type, status;
		uint32_t segment, window;
		uint8_t want;			/* status of our ABORT, 0: none */
	} rows[] = {
		{ STOP, 1, 0, 0, 0 },	{ ABORT, 118, 0, 0, 0 },	{ ABORT, 3, 0, 0, 124 },
		{ ACK, 0, 2, 66, 123 },	{ ACK, 0, 5, 3, 122 },	{ ACK, 1, 1, 66, 124 },
		{ 77, 0, 1, 66, 121 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		table_for_raw(300);
		raw_ack(rows[i].type, rows[i].status, 0, rows[i].segment, rows[i].window);
		ck_assert_uint_eq(l.got.n, rows[i].want ? 2 : 1);
		if (rows[i].want) {
			ck_assert_uint_eq(got_mad(&l, 1)[TYPE], ABORT);
			ck_assert_uint_eq(got_mad(&l, 1)[STATUS], rows[i].want);
		}
		got_forget(&l);
		run_us(60000000);
		ck_assert_msg(l.got.n == 0, "row %zu", i);
		ck_assert_uint_eq(r.got.n, 1);
		close_two();
	}
}
END_TEST

START_TEST(without_an_rmpp_version_segments_are_raw)
{
	memset(&seen, 0, sizeof(seen));
	look = count;
	client_open(&l, left, 1);
	client_open(&r, right, 2);
	ck_assert_int_eq(client_register(&l, CLASS_SA, -1), 0);
	ck_assert_int_eq(client_register(&r, CLASS_SA, GET_TABLE), 0);
	ask(CLASS_SA, 1);
	raw(DATA, ACTIVE | FIRST, 0, 1, 0);
	raw(DATA, ACTIVE, 0, 2, 0);
	ck_assert_uint_eq(seen.ack, 0);
	ck_assert_uint_eq(l.got.n, 2);
	ck_assert_uint_eq(got_length(&l, 1), 256);
	close_two();
}
END_TEST

/* --- a request by RMPP, and its answer --- */

static void ask_multi(size_t n, uint32_t timeout_ms)
{
	struct message m = message_new(n, 0, 0x20, CLASS_SA, GET_MULTI, 9);

	m.mad[FLAGS] = ACTIVE;
	for (size_t i = 56; i < n; i++)
		m.mad[i] = pattern(i);
	m.head->timeout_ms = timeout_ms;
	m.head->retries = 3;
	ck_assert_int_eq(message_send(&l, m), 0);
	run_us(0);
}

START_TEST(both_ways)
{
	open_two(CLASS_SA, GET_MULTI, false, false);
	ask_multi(56 + 1000, 1000);
	ck_assert_uint_eq(r.got.n, 1);
	check_message(&r, 0, 56 + 1000, 56);
	ck_assert_uint_eq(seen.ack, 3);		/* first, last, and the one that turns it round */
	run_us(500000);
	ck_assert_int_eq(answer(0, 56 + 5000, 56, 3), 0);
	run_us(0);
	ck_assert_uint_eq(l.got.n, 1);
	check_message(&l, 0, 56 + 5000, 56);
	run_us(100000000);
	ck_assert_uint_eq(l.got.n, 1);
	ck_assert_uint_eq(r.got.n, 1);
	close_two();
}
END_TEST

/* Part of a request that l makes itself. */
static void raw_request(uint8_t type, uint8_t fl, uint32_t segment, uint32_t length)
{
	struct message m = message_new(256, 0, 0x20, CLASS_SA, GET_MULTI, 9);

	m.mad[VERSION] = 1;
	m.mad[TYPE] = type;
	m.mad[FLAGS] = fl;
	put_be32(m.mad + SEGMENT, segment);
	put_be32(m.mad + LENGTH, length);
	ck_assert_int_eq(message_send(&l, m), 0);
	run_us(0);
}

START_TEST(who_turns_it_round_says_the_window)
{
	open_two(CLASS_SA, GET_MULTI, true, false);
	raw_request(DATA, ACTIVE | FIRST | LAST, 1, 220);
	ck_assert_uint_eq(r.got.n, 1);
	ck_assert_uint_eq(l.got.n, 1);		/* the ACK */
	ck_assert_uint_eq(got_mad(&l, 0)[MAD_METHOD], GET_MULTI | 0x80);
	raw_request(ACK, ACTIVE, 0, 5);
	ck_assert_int_eq(answer(0, 56 + 200 * 10, 56, 3), 0);
	run_us(0);
	ck_assert_uint_eq(l.got.n, 1 + 5);
	ck_assert_uint_eq(get_be32(got_mad(&l, 5) + SEGMENT), 5);
	close_two();
}
END_TEST

/* Each end has sent all of a transfer with one transaction id, and hears an ACK of the other's. */
START_TEST(acks_do_not_answer_each_other)
{
	struct message m;

	open_two(CLASS_SA, GET_MULTI, false, false);
	ask_multi(56 + 100, 1000);
	m = message_answer(&r, 0, 56 + 100);
	m.mad[FLAGS] = ACTIVE;
	m.head->timeout_ms = 60000;	/* as if the answer expected a reply */
	ck_assert_int_eq(message_send(&r, m), 0);
	run_us(0);
	ck_assert_uint_eq(l.got.n, 1);
	ask_multi(56 + 100, 1000);
	run_us(1000);
	ck_assert_uint_lt(seen.ack, 20);
	close_two();
}
END_TEST

START_TEST(both_ways_with_loss)
{
	open_two(CLASS_SA, GET_MULTI, false, false);
	add_fault(FAULT_DROP, 0.1, 0);
	ask_multi(56 + 20000, 30000);
	for (int i = 0; i < 30000 && r.got.n == 0; i++)
		run_us(1000);
	check_message(&r, 0, 56 + 20000, 56);
	ck_assert_int_eq(answer(0, 56 + 50000, 56, 3), 0);
	for (int i = 0; i < 30000 && l.got.n == 0; i++)
		run_us(1000);
	check_message(&l, 0, 56 + 50000, 56);
	close_two();
}
END_TEST

START_TEST(a_request_by_rmpp_that_is_not_answered)
{
	open_two(CLASS_SA, GET_MULTI, false, false);
	ask_multi(56 + 1000, 1000);
	run_us(990000);
	ck_assert_uint_eq(l.got.n, 0);
	run_us(20000);
	ck_assert_uint_eq(l.got.n, 1);
	ck_assert_uint_eq(got_head(&l, 0)->status, ETIMEDOUT);
	ck_assert_uint_eq(r.got.n, 1);
	close_two();
}
END_TEST

START_TEST(closing_in_the_middle)
{
	open_two(CLASS_SA, GET_TABLE, false, false);
	ask(CLASS_SA, 1);
	add_fault(FAULT_DELAY, 1, 1000);
	ck_assert_int_eq(answer(0, 56 + 200 * 500, 56, 3), 0);
	run_us(3500);
	client_close(&l);
	run_us(10000000);
	ck_assert_uint_eq(r.got.n, 2);
	ck_assert_uint_eq(got_head(&r, 1)->status, ETIMEDOUT);
	client_open(&l, left, 1);
	ck_assert_int_eq(client_register_rmpp(&l, CLASS_SA, -1, false), 0);
	got_forget(&r);
	ask(CLASS_SA, 1);
	run_us(1001);
	ck_assert_int_eq(answer(0, 56 + 200 * 500, 56, 3), 0);
	run_us(3500);
	client_close(&r);
	run_us(100000000);
	ck_assert_uint_eq(l.got.n, 1);
	ck_assert_uint_eq(got_head(&l, 0)->status, ETIMEDOUT);
	client_close(&l);
}
END_TEST

/* Whatever a client writes: no crash, no message that nobody sent. */
START_TEST(garbage)
{
	open_two(CLASS_SA, GET_TABLE, false, true);
	ask(CLASS_SA, 1);
	for (int i = 0; i < 50000; i++) {
		struct message m = message_answer(&r, 0, 256);

		m.mad[VERSION] = sim_random(s, 20) != 0;
		m.mad[TYPE] = (uint8_t)sim_random(s, 6);
		m.mad[FLAGS] = (uint8_t)sim_random(s, 256);
		m.mad[STATUS] = sim_random(s, 20) ? 0 : (uint8_t)sim_random(s, 256);
		put_be32(m.mad + SEGMENT, sim_random(s, 10) ? sim_random(s, 80) : UINT32_MAX);
		put_be32(m.mad + LENGTH, sim_random(s, 10) ? sim_random(s, 230) : UINT32_MAX);
		if (sim_random(s, 4) == 0)
			m.mad[MAD_METHOD] = GET_TABLE;
		if (sim_random(s, 4) == 0)
			put_be32(m.mad + MAD_TID + 4, sim_random(s, 5));
		message_send(&r, m);
		run_us(sim_random(s, 1000));
		if (r.got.n > 1000)
			for (; r.got.n > 1; r.got.n--)
				free(r.got.v[r.got.n - 1].umad);
	}
	ck_assert_uint_le(l.got.n, 1);
	close_two();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		all_lengths, lengths_on_the_wire, acks_as_the_kernel_sends_them, plain_mads_pass,
		complete_with_loss, complete_with_much_loss, complete_in_any_order,
		what_comes_twice_does_not_multiply, complete_with_delay, gaps_are_filled_one_by_one,
		sixty_four_megabytes, too_much_is_refused,
		who_does_not_acknowledge_is_given_up, one_that_is_stuck_does_not_block_others,
		many_at_once, thousands_of_short_ones, an_answer_is_not_sent_twice_at_once,
		raw_segments_are_reassembled, a_gap_is_not_told_unless_asked, the_whole_has_40_seconds,
		segments_that_make_no_sense, another_version,
		beyond_the_window, a_sender_that_falls_silent, a_sender_that_gives_up,
		windows_that_a_client_grants, what_is_repeated_is_what_the_receiver_lacks,
		each_segment_acknowledged,
		a_slow_receiver_says_so, a_receiver_that_wants_no_more,
		without_an_rmpp_version_segments_are_raw, both_ways, acks_do_not_answer_each_other,
		who_turns_it_round_says_the_window, both_ways_with_loss,
		a_request_by_rmpp_that_is_not_answered, closing_in_the_middle, garbage,
	};

	return run_cases("rmpp", tests, ARRAY_SIZE(tests));
}
