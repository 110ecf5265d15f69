/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* promise: Q3 */
/* Tests requests for registers, and answers, byte by byte as mstflint lays them out. */
#include <check.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/iba/access_register.h"
#include "unit/run.h"

static uint8_t data[64];

/* 28 bytes of page 3 of module 5, from byte 176 on. */
static const uint8_t wire[64] = {
	/* type 1, 4 words; register, method 1, class 1; transaction */
	0x08, 0x04, 0x00, 0x00, 0x90, 0x14, 0x01, 0x01, 0, 0, 0, 0, 0, 0, 0, 0,
	/* type 3, 12 words */
	0x18, 0x0c, 0x00, 0x00,
	/* module; address, page, byte; size */
	0x00, 0x05, 0x00, 0x00, 0x50, 0x03, 0x00, 0xb0, 0x00, 0x00, 0x00, 0x1c, 0, 0, 0, 0,
};
static const struct mcia some = { .module = 5, .page = 3, .offset = 176, .size = 28 };

static void make_request(void)
{
	uint8_t reg[REGISTER_SMP_ROOM];

	memset(data, 0xee, sizeof(data));
	mcia_request(reg, &some);
	register_request(data, REGISTER_MCIA, reg, sizeof(reg));
}

static enum register_result result(unsigned mad_status)
{
	return register_answer(data, mad_status, REGISTER_MCIA, REGISTER_SMP_ROOM);
}

START_TEST(request)
{
	make_request();
	ck_assert_mem_eq(data, wire, sizeof(wire));
}
END_TEST

START_TEST(answer)
{
	static const struct { unsigned status; enum register_result is; } statuses[] = {
		{ 1, REGISTER_BUSY }, { 2, REGISTER_REFUSED }, { 4, REGISTER_REFUSED }, { 7, REGISTER_REFUSED },
		{ 0x24, REGISTER_REFUSED }, { 0x70, REGISTER_REFUSED },
	};

	make_request();
	ck_assert_int_eq(result(0), REGISTER_READ);
	data[6] |= 0x80;		/* the bit that says it is an answer */
	ck_assert_int_eq(result(0), REGISTER_READ);
	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++) {
		data[2] = (uint8_t)statuses[i].status;
		ck_assert_int_eq(result(0), statuses[i].is);
	}
	make_request();
	ck_assert_int_eq(result(0x0c), REGISTER_REFUSED);
	ck_assert_int_eq(result(0x1c), REGISTER_REFUSED);
	ck_assert_int_eq(result(0x01), REGISTER_BUSY);
}
END_TEST

/* What is not the answer, or has less of the register than was asked for. */
START_TEST(nonsense)
{
	static const struct { uint8_t at, value; } changes[] = {
		{ 0, 0x10 }, { 1, 3 }, { 4, 0x50 }, { 5, 0x15 }, { 16, 0x10 }, { 17, 11 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		make_request();
		data[changes[i].at] = changes[i].value;
		ck_assert_msg(result(0) == REGISTER_MALFORMED, "byte %u", changes[i].at);
	}
}
END_TEST

START_TEST(memory_of_a_module)
{
	uint8_t *reg = data + REGISTER_TLVS;

	make_request();
	ck_assert_int_eq(mcia_answer(reg, &some), MCIA_GOOD);
	reg[3] = MCIA_NOT_CONNECTED;
	ck_assert_int_eq(mcia_answer(reg, &some), MCIA_NOT_CONNECTED);
	reg[3] = MCIA_GOOD;
	reg[11] = 27;			/* it has fewer bytes */
	ck_assert_int_eq(mcia_answer(reg, &some), MCIA_I2C_ERROR);
	reg[11] = 28;
	reg[1] = 6;			/* another module, page, byte */
	ck_assert_int_lt(mcia_answer(reg, &some), 0);
	reg[1] = 5;
	reg[5] = 2;
	ck_assert_int_lt(mcia_answer(reg, &some), 0);
	reg[5] = 3;
	reg[7]++;
	ck_assert_int_lt(mcia_answer(reg, &some), 0);
}
END_TEST

START_TEST(ports)
{
	uint8_t reg[PMLP_SIZE];
	struct port_lanes lanes;

	plib_request(reg, 0x123);
	ck_assert_uint_eq(get_be32(reg), 0x00231000);
	reg[3] = 7;
	ck_assert_uint_eq(plib_answer(reg, 0x123), 7);
	ck_assert_uint_eq(plib_answer(reg, 0x23), 0);
	reg[2] |= 3;			/* no port of IBA */
	ck_assert_uint_eq(plib_answer(reg, 0x123), 0);

	pmlp_request(reg, 9);
	ck_assert_uint_eq(get_be32(reg), 0x00090000);
	ck_assert(pmlp_answer(reg, 9, &lanes));
	ck_assert_uint_eq(lanes.lanes, 0);
	/* the upper two lanes of a split module */
	reg[3] = 2;
	put_be32(reg + 4, 0x02020004);
	put_be32(reg + 8, 0x03030004);
	ck_assert(pmlp_answer(reg, 9, &lanes));
	ck_assert_uint_eq(lanes.module, 4);
	ck_assert_uint_eq(lanes.slot, 0);
	ck_assert_uint_eq(lanes.lanes, 0x0c);
	put_be32(reg + 8, 0x03030005);
	ck_assert(!pmlp_answer(reg, 9, &lanes));
	ck_assert(!pmlp_answer(reg, 10, &lanes));
	reg[3] = 9;
	ck_assert(!pmlp_answer(reg, 9, &lanes));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("access-register");
	TCase *tc = tcase_create("access-register");

	tcase_add_test(tc, request);
	tcase_add_test(tc, answer);
	tcase_add_test(tc, nonsense);
	tcase_add_test(tc, memory_of_a_module);
	tcase_add_test(tc, ports);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
