/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the rings: frames go round the end, and whatever a guest writes is checked.
 *
 * promise: V9
 */
#include <check.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "sim/hca/rings.h"
#include "unit/run.h"

static void *memory;
static struct ring_reader in;
static struct ring_writer out;
static struct frame frame;
static const char *wrong;

static void setup(void)
{
	ck_assert_int_eq(posix_memalign(&memory, 4096, SIMHCA_MEMORY), 0);
	memset(memory, 0, SIMHCA_MEMORY);
	rings_open(memory, &in, &out);
}

static void teardown(void)
{
	free(memory);
}

/* Lets the reader read what the writer writes, as if the guest echoed all frames. */
static void join(void)
{
	in.ring = out.ring;
}

/* Starts both ends of the ring at a count, as after so many bytes. */
static void start_at(uint32_t count)
{
	join();
	in.read = in.end = out.written = count;
	in.ring->read = in.ring->written = htole32(count);
}

static void fill(struct frame *f, uint32_t length, unsigned seed)
{
	f->length = length;
	f->kind = (uint8_t)seed;
	f->port = (uint8_t)(seed + 1);
	f->flags = (uint16_t)(seed * 257);
	f->id = 0x0102030405060708u * (seed + 1);
	for (uint32_t i = 0; i < length; i++)
		f->data[i] = (uint8_t)(i * 7 + seed);
}

static void expect_frame(uint32_t length, unsigned seed)
{
	static struct frame want;

	fill(&want, length, seed);
	ck_assert(ring_take(&in, &frame, &wrong));
	ck_assert_uint_eq(frame.length, want.length);
	ck_assert_uint_eq(frame.kind, want.kind);
	ck_assert_uint_eq(frame.port, want.port);
	ck_assert_uint_eq(frame.flags, want.flags);
	ck_assert(frame.id == want.id);
	ck_assert_mem_eq(frame.data, want.data, length);
}

START_TEST(frames_go_round_the_end)
{
	/* beginnings at each distance from the end, in header and data, and at the end of the counts */
	for (uint32_t before = 0; before <= 64; before += 8)
		for (uint32_t length = 0; length < 40; length++) {
			start_at(0u - before);
			fill(&frame, length, length);
			ck_assert_int_eq(ring_put(&out, &frame), RING_PUT);
			ck_assert_uint_eq(ring_look(&in, &wrong), 16 + (length + 7) / 8 * 8);
			expect_frame(length, length);
			ck_assert(!ring_take(&in, &frame, &wrong));
			ck_assert_ptr_null(wrong);
			ck_assert_uint_eq(le32toh(in.ring->read), out.written);
		}
}
END_TEST

START_TEST(full_ring_takes_no_more)
{
	unsigned n = 0;

	join();
	fill(&frame, 1000, 1);
	while (ring_put(&out, &frame) == RING_PUT)
		n++;
	ck_assert_uint_eq(n, SIMHCA_RING_SIZE / (16 + 1000));
	ck_assert_int_eq(ring_put(&out, &frame), RING_FULL);
	ck_assert_uint_eq(ring_look(&in, &wrong), n * (16 + 1000));
	expect_frame(1000, 1);
	fill(&frame, 1000, 1);
	ck_assert_int_eq(ring_put(&out, &frame), RING_PUT);
}
END_TEST

START_TEST(look_bounds_a_turn)
{
	join();
	fill(&frame, 8, 1);
	ring_put(&out, &frame);
	ring_look(&in, &wrong);
	ring_put(&out, &frame);
	expect_frame(8, 1);
	ck_assert(!ring_take(&in, &frame, &wrong));
	ck_assert_uint_eq(ring_look(&in, &wrong), 24);
}
END_TEST

static void expect_bad_count(uint32_t written)
{
	start_at(4096);
	in.ring->written = htole32(written);
	ck_assert_uint_eq(ring_look(&in, &wrong), 0);
	ck_assert_ptr_nonnull(wrong);
	ck_assert(!ring_take(&in, &frame, &wrong));
}

START_TEST(bad_counts_of_written_bytes)
{
	expect_bad_count(4096 + SIMHCA_RING_SIZE + 8);
	expect_bad_count(4096 - 8);
	expect_bad_count(4096 + 4);
	expect_bad_count(4097);
	expect_bad_count(4096 + 0x80000000u);
	/* a full ring is none */
	start_at(4096);
	in.ring->written = htole32(4096 + SIMHCA_RING_SIZE);
	ck_assert_uint_eq(ring_look(&in, &wrong), SIMHCA_RING_SIZE);
	ck_assert_ptr_null(wrong);
}
END_TEST

/* A frame of this length where the ring has that many bytes. */
static bool takes(uint32_t length, uint32_t bytes)
{
	struct simhca_frame head = { .length = htole32(length) };

	start_at(0);
	memcpy(in.ring->data, &head, sizeof(head));
	in.ring->written = htole32(bytes);
	ck_assert_uint_eq(ring_look(&in, &wrong), bytes);
	return ring_take(&in, &frame, &wrong);
}

START_TEST(bad_lengths)
{
	ck_assert(takes(FRAME_MAX, 16 + FRAME_MAX));
	ck_assert(takes(9, 32));
	ck_assert(takes(0, 16));
	static const struct { uint32_t length, bytes; } bad[] = {
		{ FRAME_MAX + 1, SIMHCA_RING_SIZE }, { 0x7fffffff, SIMHCA_RING_SIZE },
		{ 0xffffffff, SIMHCA_RING_SIZE }, { 0xfffffff0, SIMHCA_RING_SIZE },
		{ 9, 24 }, { 1, 16 }, { 0, 8 },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_msg(!takes(bad[i].length, bad[i].bytes), "%u in %u", bad[i].length,
			      bad[i].bytes);
		ck_assert_ptr_nonnull(wrong);
		ck_assert_uint_eq(le32toh(in.ring->read), 0);
	}
}
END_TEST

START_TEST(bad_counts_of_read_bytes)
{
	start_at(4096);
	fill(&frame, 8, 1);
	out.ring->read = htole32(4096 + 8);		/* more than was written */
	ck_assert_int_eq(ring_put(&out, &frame), RING_WRONG);
	out.ring->read = htole32(4096 - SIMHCA_RING_SIZE - 8);
	ck_assert_int_eq(ring_put(&out, &frame), RING_WRONG);
	out.ring->read = htole32(4096 - 4);
	ck_assert_int_eq(ring_put(&out, &frame), RING_WRONG);
	out.ring->read = htole32(4096 - SIMHCA_RING_SIZE);
	ck_assert_int_eq(ring_put(&out, &frame), RING_FULL);
}
END_TEST

START_TEST(skip_finds_the_next_frame)
{
	join();
	in.ring->written = htole32(SIMHCA_RING_SIZE + 123);
	ring_skip(&in);
	out.written = (SIMHCA_RING_SIZE + 123) & ~7u;
	ck_assert_uint_eq(le32toh(in.ring->read), out.written);
	fill(&frame, 20, 3);
	ck_assert_int_eq(ring_put(&out, &frame), RING_PUT);
	ck_assert_uint_eq(ring_look(&in, &wrong), 40);
	expect_frame(20, 3);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rings");
	TCase *t = tcase_create("rings");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, frames_go_round_the_end);
	tcase_add_test(t, full_ring_takes_no_more);
	tcase_add_test(t, look_bounds_a_turn);
	tcase_add_test(t, bad_counts_of_written_bytes);
	tcase_add_test(t, bad_lengths);
	tcase_add_test(t, bad_counts_of_read_bytes);
	tcase_add_test(t, skip_finds_the_next_frame);
	suite_add_tcase(s, t);
	return run_suite(s);
}
