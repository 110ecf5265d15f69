/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* promise: Q3 */
/*
 * Tests the decoder of transceivers' memory with bytes of modules, as people published them, and with bytes laid out
 * by the tables of SFF-8636 and CMIS.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/iba/transceiver.h"
#include "unit/run.h"

#define PAGES 0x12
#define ALL_LANES 0xff

/* A module's memory: the lower bytes, and the upper ones of each page at their offset from 128. */
struct memory {
	uint8_t lower[128], upper[PAGES][128];
	bool absent[PAGES];	/* pages that cannot be read */
};
static struct memory m;
static struct transceiver t;

static const uint8_t *bytes_at(const struct transceiver_range *r)
{
	ck_assert_uint_le(r->size, TRANSCEIVER_RANGE);
	ck_assert_uint_lt(r->page, PAGES);
	if (r->offset < 128) {
		ck_assert_uint_le(r->offset + r->size, 128u);
		return m.lower + r->offset;
	}
	ck_assert_uint_le(r->offset + r->size, 256u);
	return m.absent[r->page] ? NULL : m.upper[r->page] + r->offset - 128;
}

/* Reads the module as a caller does; returns the number of ranges. */
static unsigned read_lanes(uint8_t lanes)
{
	struct transceiver_range r;
	unsigned i = 0, n = 0;

	for (; transceiver_next(&t, &i, &r); n++)
		if (transceiver_take(&t, &r, bytes_at(&r)))
			i = 0;
	transceiver_end(&t, lanes);
	return n;
}

static unsigned read_module(void)
{
	return read_lanes(ALL_LANES);
}

static void put_text(uint8_t *to, const char *text, size_t n)
{
	memset(to, ' ', n);
	memcpy(to, text, strlen(text));
}

static void put_limits(uint8_t *to, int high_alarm, int low_alarm, int high_warning, int low_warning)
{
	put_be16(to, (uint16_t)high_alarm);
	put_be16(to + 2, (uint16_t)low_alarm);
	put_be16(to + 4, (uint16_t)high_warning);
	put_be16(to + 6, (uint16_t)low_warning);
}

#define UPPER(page, byte) (m.upper[page] + (byte) - 128)

/* A QSFP28 with optics.  Its lower bytes are those of a real one, as `fboss2 show transceiver eeprom` documents them. */
static void make_qsfp(void)
{
	static const uint8_t lower[64] = {
		0x11, 0x07, 0x00, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0, 0x2a, 0xb6, 0, 0, 0x82, 0x55, 0, 0, 0, 0,
		0, 0, 0x21, 0x7c, 0x26, 0x37, 0x1d, 0xaf, 0x1d, 0x67, 0x5c, 0x21, 0x5c, 0x21, 0x5c, 0x21,
		0x5c, 0x21, 0x1d, 0x73, 0x1c, 0x02, 0x21, 0x80, 0x23, 0xc2,
	};

	memset(&m, 0, sizeof(m));
	memset(&t, 0, sizeof(t));
	memcpy(m.lower, lower, sizeof(lower));
	*UPPER(0, 128) = 0x11;
	*UPPER(0, 130) = 0x0c;			/* MPO */
	*UPPER(0, 147) = 0x00;			/* 850 nm VCSEL */
	put_text(UPPER(0, 148), "Vendor", 16);
	put_text(UPPER(0, 168), "PART-100G-SR4", 16);
	put_text(UPPER(0, 184), "A3", 2);
	put_text(UPPER(0, 196), "SN1234", 16);
	put_text(UPPER(0, 212), "240131", 8);
	*UPPER(0, 220) = 0x3c;			/* measures all */
	put_limits(UPPER(3, 128), 75 << 8, -5 * 256, 70 << 8, 0);
	put_limits(UPPER(3, 144), 36300, 29700, 34650, 31350);
	put_limits(UPPER(3, 176), 21878, 447, 17378, 1122);	/* 3.4, -13.5, 2.4 and -9.5 dBm */
	put_limits(UPPER(3, 184), 5000, 100, 4500, 500);
	put_limits(UPPER(3, 192), 34674, 562, 17378, 1412);
}

static void expect_real(enum quantity q, unsigned lane, double wanted)
{
	double got = quantity_real(q, t.value[q][lane]);

	ck_assert_msg(got > wanted - 1e-4 && got < wanted + 1e-4, "%s of lane %u: want %f, got %f",
		      quantity_name(q), lane, wanted, got);
}

static void expect_calm(void)
{
	for (enum quantity q = 0; q < QUANTITIES; q++)
		for (enum threshold h = 0; h < THRESHOLDS; h++)
			ck_assert_msg(!t.beyond[q][h] && !t.latched[q][h], "%s: %s", quantity_name(q), threshold_name(h));
}

START_TEST(values_of_a_qsfp28)
{
	make_qsfp();
	put_limits(UPPER(3, 184), 50000, 100, 45000, 500);
	ck_assert_uint_eq(read_module(), 8);
	ck_assert_int_eq(t.map, TRANSCEIVER_SFF8636);
	ck_assert(t.identified);
	ck_assert_str_eq(transceiver_identifier(&t), "QSFP28");
	ck_assert_str_eq(t.vendor, "Vendor");
	ck_assert_str_eq(t.part, "PART-100G-SR4");
	ck_assert_str_eq(t.revision, "A3");
	ck_assert_str_eq(t.serial, "SN1234");
	ck_assert_str_eq(t.date, "240131");
	ck_assert_str_eq(transceiver_connector(&t), "MPO 1x12");
	ck_assert_str_eq(transceiver_technology(&t), "850 nm VCSEL");
	ck_assert_uint_eq(t.measured, 0x1f);
	ck_assert_uint_eq(t.limited, 0x1f);
	ck_assert_uint_eq(t.lanes, 4);
	expect_real(TEMPERATURE, 0, 42.7109);
	expect_real(VOLTAGE, 0, 3.3365);
	expect_real(RX_POWER, 0, 0.8572);
	expect_real(RX_POWER, 1, 0.9783);
	expect_real(RX_POWER, 3, 0.7527);
	expect_real(TX_BIAS, 0, 47.17);
	expect_real(TX_BIAS, 3, 47.17);
	expect_real(TX_POWER, 0, 0.7539);
	expect_real(TX_POWER, 3, 0.9154);
	expect_calm();
	/* what the module is, is read once */
	ck_assert_uint_eq(read_module(), 3);
	expect_real(TEMPERATURE, 0, 42.7109);
	ck_assert_str_eq(t.vendor, "Vendor");
}
END_TEST

/* A passive cable whose module measures its temperature and voltage, as ethtool 5.4.1 showed it on netdev. */
START_TEST(values_of_a_cable)
{
	make_qsfp();
	memset(m.lower + 22, 0, 128 - 22);
	put_be16(m.lower + 22, 0x1d0e);
	put_be16(m.lower + 26, 0x8185);
	*UPPER(0, 130) = 0x23;
	*UPPER(0, 146) = 3;
	*UPPER(0, 147) = 0xa0;
	ck_assert_uint_eq(read_module(), 5);
	ck_assert(transceiver_is_passive(&t));
	ck_assert_str_eq(transceiver_connector(&t), "none");
	ck_assert_str_eq(transceiver_technology(&t), "passive copper");
	ck_assert_uint_eq(t.length_dm, 30);
	ck_assert_uint_eq(t.measured, 1u << TEMPERATURE | 1u << VOLTAGE);
	expect_real(TEMPERATURE, 0, 29.0547);
	expect_real(VOLTAGE, 0, 3.3157);
	expect_calm();
	/* most of them measure nothing */
	memset(&t, 0, sizeof(t));
	put_be16(m.lower + 22, 0);
	ck_assert_uint_eq(read_module(), 5);
	ck_assert_uint_eq(t.measured, 0);
}
END_TEST

START_TEST(values_beyond_thresholds)
{
	enum quantity q;

	make_qsfp();
	read_module();
	/* the bias of the real module is above the thresholds of this one, in all lanes */
	ck_assert_uint_eq(t.beyond[TX_BIAS][HIGH_ALARM], 0xf);
	ck_assert_uint_eq(t.beyond[TX_BIAS][HIGH_WARNING], 0xf);
	ck_assert_uint_eq(t.beyond[TX_BIAS][LOW_WARNING], 0);
	ck_assert_int_eq(transceiver_worst(&t, &q), HIGH_ALARM);
	ck_assert_int_eq(q, TX_BIAS);
	/* of a port that has the upper lanes of a split module, the lower ones do not count */
	put_be16(m.lower + 34, 3);
	read_lanes(0x0c);
	ck_assert_uint_eq(t.beyond[RX_POWER][LOW_ALARM], 0);
	ck_assert_uint_eq(t.beyond[TX_BIAS][HIGH_ALARM], 0x0c);
	read_module();
	ck_assert_uint_eq(t.beyond[RX_POWER][LOW_ALARM], 1);
	/* below zero */
	put_be16(m.lower + 22, (uint16_t)(-6 * 256));
	read_module();
	expect_real(TEMPERATURE, 0, -6);
	ck_assert_uint_eq(t.beyond[TEMPERATURE][LOW_ALARM], 1);
	ck_assert_uint_eq(t.beyond[TEMPERATURE][LOW_WARNING], 1);
	ck_assert_uint_eq(t.beyond[TEMPERATURE][HIGH_ALARM], 0);
	put_be16(m.lower + 22, 72 << 8);
	read_module();
	ck_assert_uint_eq(t.beyond[TEMPERATURE][HIGH_WARNING], 1);
	ck_assert_uint_eq(t.beyond[TEMPERATURE][HIGH_ALARM], 0);
	ck_assert_uint_eq(t.beyond[TEMPERATURE][LOW_ALARM], 0);
}
END_TEST

/* SFF-8636, table 6-7 and 6-8: bits 7 to 4 of a byte, high alarm first; lanes 1 and 3 in the upper half. */
START_TEST(flags_of_a_qsfp28)
{
	static const struct { uint8_t byte, bits; enum quantity q; enum threshold h; uint8_t lane; } flags[] = {
		{ 6, 0x80, TEMPERATURE, HIGH_ALARM, 0 }, { 6, 0x40, TEMPERATURE, LOW_ALARM, 0 },
		{ 6, 0x20, TEMPERATURE, HIGH_WARNING, 0 }, { 6, 0x10, TEMPERATURE, LOW_WARNING, 0 },
		{ 7, 0x80, VOLTAGE, HIGH_ALARM, 0 }, { 7, 0x10, VOLTAGE, LOW_WARNING, 0 },
		{ 9, 0x80, RX_POWER, HIGH_ALARM, 0 }, { 9, 0x04, RX_POWER, LOW_ALARM, 1 },
		{ 10, 0x20, RX_POWER, HIGH_WARNING, 2 }, { 10, 0x01, RX_POWER, LOW_WARNING, 3 },
		{ 11, 0x40, TX_BIAS, LOW_ALARM, 0 }, { 12, 0x08, TX_BIAS, HIGH_ALARM, 3 },
		{ 13, 0x01, TX_POWER, LOW_WARNING, 1 }, { 14, 0x40, TX_POWER, LOW_ALARM, 2 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		make_qsfp();
		m.lower[flags[i].byte] = flags[i].bits;
		read_module();
		for (enum quantity q = 0; q < QUANTITIES; q++)
			for (enum threshold h = 0; h < THRESHOLDS; h++)
				ck_assert_msg(t.latched[q][h] == (q == flags[i].q && h == flags[i].h ?
								  1u << flags[i].lane : 0),
					      "byte %u, bits %02x", flags[i].byte, flags[i].bits);
		m.lower[flags[i].byte] = 0;	/* reading cleared it */
		read_module();
		ck_assert_uint_eq(t.latched[flags[i].q][flags[i].h], 0);
	}
}
END_TEST

/* CMIS 5.2: tables 8-7, 8-9, 8-27, 8-40 to 8-46, 8-60, 8-86 and 8-88. */
static void make_cmis(void)
{
	memset(&m, 0, sizeof(m));
	memset(&t, 0, sizeof(t));
	m.lower[0] = 0x19;
	m.lower[1] = 0x50;
	put_be16(m.lower + 14, 55 << 8 | 128);
	put_be16(m.lower + 16, 32900);
	m.lower[85] = 1;
	*UPPER(0, 128) = 0x19;
	put_text(UPPER(0, 129), "VENDOR OF OSFP", 16);
	put_text(UPPER(0, 148), "PART-800G", 16);
	put_text(UPPER(0, 164), "B", 2);
	put_text(UPPER(0, 166), "SERIAL-OF-16-CHA", 16);
	put_text(UPPER(0, 182), "25060701", 8);
	*UPPER(0, 202) = 0x40 | 5;
	*UPPER(0, 203) = 0x0c;
	*UPPER(0, 212) = 6;
	*UPPER(1, 159) = 3;
	*UPPER(1, 160) = 7 | 1 << 3;		/* all, and bias in units of 4 uA */
	put_limits(UPPER(2, 128), 80 << 8, -10 * 256, 75 << 8, 0);
	put_limits(UPPER(2, 136), 34650, 31350, 34300, 31700);
	put_limits(UPPER(2, 176), 40000, 500, 30000, 1000);
	put_limits(UPPER(2, 184), 30000, 1000, 25000, 2000);
	put_limits(UPPER(2, 192), 50000, 300, 40000, 600);
	for (unsigned i = 0; i < 8; i++) {
		put_be16(UPPER(0x11, 154 + 2 * i), (uint16_t)(10000 + i));
		put_be16(UPPER(0x11, 170 + 2 * i), (uint16_t)(20000 + i));
		put_be16(UPPER(0x11, 186 + 2 * i), (uint16_t)(5000 + i));
	}
}

START_TEST(values_of_an_osfp)
{
	make_cmis();
	ck_assert_uint_eq(read_module(), 13);
	ck_assert_int_eq(t.map, TRANSCEIVER_CMIS);
	ck_assert_str_eq(transceiver_identifier(&t), "OSFP");
	ck_assert_str_eq(t.vendor, "VENDOR OF OSFP");
	ck_assert_str_eq(t.part, "PART-800G");
	ck_assert_str_eq(t.revision, "B");
	ck_assert_str_eq(t.serial, "SERIAL-OF-16-CHA");
	ck_assert_str_eq(t.date, "25060701");
	ck_assert_str_eq(transceiver_technology(&t), "1310 nm EML");
	ck_assert_uint_eq(t.length_dm, 50);
	ck_assert_uint_eq(t.measured, 0x1f);
	ck_assert_uint_eq(t.lanes, 8);
	expect_real(TEMPERATURE, 0, 55.5);
	expect_real(VOLTAGE, 0, 3.29);
	expect_real(TX_POWER, 7, 1.0007);
	expect_real(TX_BIAS, 7, 80.028);
	expect_real(RX_POWER, 7, 0.5007);
	ck_assert_int_eq(t.limit[TX_BIAS][HIGH_ALARM], 60000);
	ck_assert_int_eq(t.limit[TEMPERATURE][LOW_ALARM], -10 * 256);
	expect_calm();
	ck_assert_uint_eq(read_module(), 6);
	expect_real(TX_BIAS, 7, 80.028);
}
END_TEST

/* Byte 9: bits 0 to 3 are of the temperature, high alarm first; 4 to 7 of the voltage.  Page 11h: a byte each. */
START_TEST(flags_of_an_osfp)
{
	static const struct { uint8_t byte; enum quantity q; enum threshold h; } flags[] = {
		{ 139, TX_POWER, HIGH_ALARM }, { 140, TX_POWER, LOW_ALARM }, { 142, TX_POWER, LOW_WARNING },
		{ 143, TX_BIAS, HIGH_ALARM }, { 146, TX_BIAS, LOW_WARNING },
		{ 149, RX_POWER, HIGH_ALARM }, { 150, RX_POWER, LOW_ALARM }, { 151, RX_POWER, HIGH_WARNING },
		{ 152, RX_POWER, LOW_WARNING },
	};

	for (unsigned bit = 0; bit < 8; bit++) {
		make_cmis();
		m.lower[9] = (uint8_t)(1u << bit);
		read_module();
		for (enum threshold h = 0; h < THRESHOLDS; h++) {
			ck_assert_uint_eq(t.latched[TEMPERATURE][h], bit == (unsigned)h);
			ck_assert_uint_eq(t.latched[VOLTAGE][h], bit == (unsigned)h + 4);
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		make_cmis();
		*UPPER(0x11, flags[i].byte) = 0x81;
		read_module();
		ck_assert_uint_eq(t.latched[flags[i].q][flags[i].h], 0x81);
	}
}
END_TEST

START_TEST(flat_memory)
{
	make_cmis();
	m.lower[2] = 0x80;
	ck_assert_uint_eq(read_module(), 6);
	ck_assert_uint_eq(t.measured, 1u << TEMPERATURE | 1u << VOLTAGE);
	ck_assert_uint_eq(t.limited, 0);
	make_qsfp();
	m.lower[2] = 0x04;
	ck_assert_uint_eq(read_module(), 6);
	ck_assert_uint_eq(t.limited, 0);
	expect_calm();
}
END_TEST

/* Values are kept although a page cannot be read. */
START_TEST(absent_page)
{
	make_qsfp();
	m.absent[3] = true;
	read_module();
	ck_assert(t.identified);
	ck_assert_uint_eq(t.limited, 0);
	expect_real(RX_POWER, 0, 0.8572);
	expect_calm();
}
END_TEST

START_TEST(another_module)
{
	make_qsfp();
	read_module();
	put_text(UPPER(0, 148), "Other", 16);
	read_module();
	ck_assert_str_eq(t.vendor, "Vendor");	/* it was not read again */
	put_text(UPPER(0, 196), "SN1235", 16);
	ck_assert_uint_eq(read_module(), 2 + 8);
	ck_assert_str_eq(t.vendor, "Other");
	ck_assert_str_eq(t.serial, "SN1235");
	/* of the other map */
	make_cmis();
	ck_assert_uint_eq(read_module(), 13);
	t.serial[0] = 'X';			/* as if it had been another */
	ck_assert_uint_eq(read_module(), 2 + 13);
}
END_TEST

START_TEST(another_map)
{
	make_qsfp();
	m.lower[0] = 0x03;
	ck_assert_uint_eq(read_module(), 1);
	ck_assert_int_eq(t.map, TRANSCEIVER_OTHER);
	ck_assert(!t.identified);
	ck_assert_uint_eq(t.measured, 0);
	ck_assert_str_eq(transceiver_identifier(&t), "SFP");
	m.lower[0] = 0x77;
	read_module();
	ck_assert_str_eq(transceiver_identifier(&t), "unknown");
}
END_TEST

START_TEST(powers)
{
	ck_assert(power_dbm(1) > -1e-9 && power_dbm(1) < 1e-9);
	ck_assert(power_dbm(0.8572) > -0.67 && power_dbm(0.8572) < -0.66);
	ck_assert(power_dbm(0) == -40);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("transceiver");
	TCase *tc = tcase_create("transceiver");

	tcase_add_test(tc, values_of_a_qsfp28);
	tcase_add_test(tc, values_of_a_cable);
	tcase_add_test(tc, values_beyond_thresholds);
	tcase_add_test(tc, flags_of_a_qsfp28);
	tcase_add_test(tc, values_of_an_osfp);
	tcase_add_test(tc, flags_of_an_osfp);
	tcase_add_test(tc, flat_memory);
	tcase_add_test(tc, absent_page);
	tcase_add_test(tc, another_module);
	tcase_add_test(tc, another_map);
	tcase_add_test(tc, powers);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
