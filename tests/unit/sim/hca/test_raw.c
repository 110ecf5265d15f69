/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests how bytes of the link become packets and bytes again, and which bytes are refused.
 *
 * promise: V9
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "lib/base/bytes.h"
#include "sim/hca/raw.h"
#include "unit/run.h"

static uint8_t raw[FRAME_MAX], again[FRAME_MAX];
static struct packet p;

/* What is wrong with the packet; "" if nothing is. */
static const char *read_raw(const void *bytes, size_t n)
{
	void *exact = xmemdup(bytes, n);	/* so that a sanitizer sees reads beyond its end */
	const char *wrong = raw_read(exact, n, &p);

	free(exact);
	return wrong ? wrong : "";
}

static void read_good(const struct raw_spec *r)
{
	unsigned n = make_raw(r, raw);

	ck_assert_str_eq(read_raw(raw, n), "");
	ck_assert_uint_eq(p.slid, r->slid);
	ck_assert_uint_eq(p.dlid, r->dlid);
	ck_assert_uint_eq(p.sl, r->sl);
	ck_assert_uint_eq(p.pkey, r->pkey ? r->pkey : 0xffff);
	ck_assert_uint_eq(p.dqpn, r->dqpn);
	ck_assert_uint_eq(p.sqpn, r->sqpn);
	ck_assert_uint_eq(p.qkey, r->qkey);
	ck_assert_uint_eq(p.grh, r->grh);
}

/* Writes p on a VL, and expects the bytes that were read, but for the VL. */
static void expect_same(unsigned vl, unsigned want_vl)
{
	unsigned n = 4 * (get_be16(raw + 4) & 0x7ff) - 4;

	ck_assert_uint_eq(raw_write(&p, (uint8_t)vl, again), n);
	ck_assert_uint_eq(again[0], want_vl << 4);
	ck_assert_mem_eq(again + 1, raw + 1, n - 1);
}

START_TEST(mads)
{
	uint8_t mad[SIM_MAD_SIZE];

	make_mad(mad, CLASS_PM, METHOD_GET, 0x12, 7);
	for (unsigned grh = 0; grh < 2; grh++)
		for (unsigned qpn = 0; qpn < 2; qpn++) {
			const struct raw_spec r = {
				.slid = 0x12, .dlid = 0x34, .sl = 5, .pkey = 0x8003, .dqpn = qpn,
				.sqpn = 0x10 + qpn, .qkey = GSI_QKEY, .grh = grh, .n = sizeof(mad),
				.payload = mad,
			};

			read_good(&r);
			ck_assert_ptr_null(p.bytes);
			ck_assert_mem_eq(p.mad, mad, sizeof(mad));
			expect_same(3, qpn ? 3 : 15);
		}
}
END_TEST

START_TEST(fields_of_grh)
{
	read_good(&(struct raw_spec){ .slid = 1, .dlid = 0x40, .dqpn = 1, .grh = true, .n = 256 });
	ck_assert_uint_eq(p.traffic_class, 0x12);
	ck_assert_uint_eq(p.flow_label, 0x34567);
	ck_assert_uint_eq(p.hop_limit, 63);
	ck_assert_uint_eq(p.sgid[15], 1 + 15);
	ck_assert_uint_eq(p.dgid[15], 0x40 + 15);
}
END_TEST

/* The packet keeps its bytes, of which so many count towards the MTU. */
static void expect_bytes(const struct raw_spec *r, unsigned payload)
{
	read_good(r);
	ck_assert_ptr_nonnull(p.bytes);
	ck_assert_uint_eq(p.bytes->payload, payload);
	expect_same(2, r->dqpn ? 2 : 15);
	packet_bytes_free(p.bytes);
}

START_TEST(datagrams)
{
	expect_bytes(&(struct raw_spec){ .slid = 1, .dlid = 2, .dqpn = 0x123456, .sqpn = 0xfedcba,
					 .qkey = 0xb1b, .n = 256 }, 256);
	expect_bytes(&(struct raw_spec){ .slid = 1, .dlid = 2, .dqpn = 2, .n = 0 }, 0);
	expect_bytes(&(struct raw_spec){ .slid = 1, .dlid = 0xc001, .dqpn = 0xffffff, .n = 4096,
					 .grh = true }, 4096);
	/* not the length of a MAD */
	expect_bytes(&(struct raw_spec){ .slid = 1, .dlid = 2, .dqpn = 1, .n = 252 }, 252);
	expect_bytes(&(struct raw_spec){ .slid = 1, .dlid = 2, .dqpn = 0, .n = 260 }, 260);
}
END_TEST

START_TEST(datagram_with_immediate_data)
{
	unsigned n = make_raw(&(struct raw_spec){ .dqpn = 1, .n = 4 + 256 }, raw);

	raw[8] = 0x65;
	ck_assert_str_eq(read_raw(raw, n), "");
	ck_assert_ptr_nonnull(p.bytes);
	ck_assert_uint_eq(p.bytes->payload, 256);
	packet_bytes_free(p.bytes);
}
END_TEST

START_TEST(padded_datagram_is_no_mad)
{
	unsigned n = make_raw(&(struct raw_spec){ .dqpn = 1, .n = 256 }, raw);

	raw[8 + 1] |= 3 << 4;
	ck_assert_str_eq(read_raw(raw, n), "");
	ck_assert_ptr_nonnull(p.bytes);
	packet_bytes_free(p.bytes);
}
END_TEST

START_TEST(headers_by_operation)
{
	static const struct { uint8_t opcode, headers; } operations[] = {
		{ 0x04, 0 }, { 0x05, 4 }, { 0x06, 16 }, { 0x07, 0 }, { 0x0a, 16 }, { 0x0b, 20 },
		{ 0x0c, 16 }, { 0x0d, 4 }, { 0x0e, 0 }, { 0x10, 4 }, { 0x11, 4 }, { 0x12, 12 },
		{ 0x13, 28 }, { 0x17, 4 }, { 0x24, 0 }, { 0x2a, 16 },	/* UC */
		{ 0x44, 12 }, { 0xa4, 4 },				/* RD, XRC */
	};

	for (size_t i = 0; i < ARRAY_SIZE(operations); i++)
		expect_bytes(&(struct raw_spec){ .slid = 1, .dlid = 2, .dqpn = 77, .n = 128,
						 .opcode = operations[i].opcode },
			     128u - operations[i].headers);
	/* shorter than its headers */
	expect_bytes(&(struct raw_spec){ .slid = 1, .dlid = 2, .dqpn = 77, .opcode = 0x13, .n = 8 }, 0);
}
END_TEST

START_TEST(each_bad_value)
{
	static const struct { unsigned at; uint8_t xor; } bad[] = {
		{ 0, 0x01 },	/* LVer */
		{ 1, 0x02 }, { 1, 0x03 },	/* LNH: raw, IPv6 */
		{ 5, 0x01 }, { 5, 0x02 }, { 4, 0x01 },	/* PktLen */
		{ 8, 0x10 },	/* IPVer */
		{ 8 + 5, 0x01 }, { 8 + 4, 0x10 },	/* PayLen */
		{ 8 + 6, 0x01 },	/* NxtHdr */
		{ 48 + 1, 0x01 },	/* TVer */
	};
	const struct raw_spec r = { .slid = 1, .dlid = 2, .dqpn = 5, .grh = true, .n = 64 };
	unsigned n = make_raw(&r, raw);

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		raw[bad[i].at] ^= bad[i].xor;
		ck_assert_msg(*read_raw(raw, n), "byte %u", bad[i].at);
		ck_assert_ptr_null(p.bytes);
		raw[bad[i].at] ^= bad[i].xor;
	}
	ck_assert_str_eq(read_raw(raw, n), "");
	packet_bytes_free(p.bytes);
}
END_TEST

START_TEST(each_shorter_length)
{
	for (unsigned grh = 0; grh < 2; grh++) {
		unsigned n = make_raw(&(struct raw_spec){ .dqpn = 5, .grh = grh, .n = 32 }, raw);

		for (unsigned less = 0; less < n; less++) {
			if (less >= 8)		/* PktLen fits, as far as it can */
				put_be16(raw + 4, (uint16_t)((less + 4) / 4));
			ck_assert_msg(*read_raw(raw, less) || (!grh && less >= 28 && less % 4 == 0),
				      "%u of %u bytes", less, n);
			packet_bytes_free(p.bytes);
			p.bytes = NULL;
		}
	}
}
END_TEST

START_TEST(only_datagrams_to_management_are_mads)
{
	for (unsigned qpn = 0; qpn < 2; qpn++) {
		expect_bytes(&(struct raw_spec){ .slid = 1, .dlid = 2, .dqpn = qpn, .opcode = 4, .n = 256 }, 256);
		expect_bytes(&(struct raw_spec){ .slid = 1, .dlid = 2, .dqpn = qpn, .opcode = 4, .grh = true,
						 .n = 0 }, 0);
	}
}
END_TEST

START_TEST(which_packets_are_datagrams)
{
	for (unsigned grh = 0; grh < 2; grh++)
		for (unsigned opcode = 1; opcode < 256; opcode++) {
			make_raw(&(struct raw_spec){ .dqpn = 5, .opcode = (uint8_t)opcode, .grh = grh, .n = 64 }, raw);
			ck_assert_int_eq(raw_is_datagram(raw), opcode == 0x64 || opcode == 0x65);
		}
}
END_TEST

START_TEST(longest)
{
	expect_bytes(&(struct raw_spec){ .slid = 1, .dlid = 2, .dqpn = 5, .n = RAW_MAX - 28 },
		     RAW_MAX - 28);
	make_raw(&(struct raw_spec){ .dqpn = 5, .n = RAW_MAX - 24 }, raw);
	ck_assert_str_ne(read_raw(raw, RAW_MAX + 4), "");
}
END_TEST

START_TEST(start_of_a_packet)
{
	unsigned n = make_raw(&(struct raw_spec){ .slid = 3, .dlid = 4, .dqpn = 5, .sqpn = 6,
						  .qkey = 7, .grh = true, .n = 1000 }, raw);

	ck_assert_uint_gt(n, 68);
	ck_assert_ptr_null(raw_read_headers(raw, 68, &p));
	ck_assert_uint_eq(p.qkey, 7);
	ck_assert_uint_eq(p.sqpn, 6);
	ck_assert_uint_eq(p.slid, 3);
	ck_assert_ptr_null(p.bytes);
	ck_assert_ptr_nonnull(raw_read_headers(raw, 67, &p));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("raw");
	TCase *t = tcase_create("raw");

	tcase_add_test(t, mads);
	tcase_add_test(t, fields_of_grh);
	tcase_add_test(t, datagrams);
	tcase_add_test(t, datagram_with_immediate_data);
	tcase_add_test(t, padded_datagram_is_no_mad);
	tcase_add_test(t, headers_by_operation);
	tcase_add_test(t, each_bad_value);
	tcase_add_test(t, each_shorter_length);
	tcase_add_test(t, only_datagrams_to_management_are_mads);
	tcase_add_test(t, which_packets_are_datagrams);
	tcase_add_test(t, longest);
	tcase_add_test(t, start_of_a_packet);
	suite_add_tcase(s, t);
	return run_suite(s);
}
