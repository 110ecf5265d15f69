/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests MTU, rate and lifetime codes against the tables of IBA 14.2.5.6 and 15.2.5.16. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/iba/iba.h"
#include "lib/iba/units.h"
#include "unit/run.h"

/* PathRecord.Rate by code, in Gb/s, as the specification lists them */
static const double gbps[26] = {
	0, 0, 2.5, 10, 30, 5, 20, 40, 60, 80, 120, 14, 56, 112, 168, 25, 100, 200, 300, 28, 50,
	400, 600, 800, 1200, 1600,
};

START_TEST(mtu_codes)
{
	static const unsigned bytes[] = { 0, 256, 512, 1024, 2048, 4096, 0, 0 };

	for (unsigned code = 0; code < ARRAY_SIZE(bytes); code++) {
		ck_assert_uint_eq(mtu_bytes(code), bytes[code]);
		if (bytes[code])
			ck_assert_uint_eq(mtu_code(bytes[code]), code);
	}
	ck_assert_uint_eq(mtu_bytes(UINT32_MAX), 0);
	ck_assert_uint_eq(mtu_code(0), 0);
	ck_assert_uint_eq(mtu_code(1500), 0);
}
END_TEST

START_TEST(rate_codes)
{
	for (unsigned code = 0; code < ARRAY_SIZE(gbps); code++) {
		unsigned tenths = (unsigned)(gbps[code] * 10);

		ck_assert_uint_eq(rate_tenths(code), tenths);
		if (tenths) {
			ck_assert_uint_eq(rate_code(tenths), code);
			ck_assert_uint_eq(rate_code_at_most(tenths), code);
			ck_assert_uint_eq(rate_code(tenths + 1), 0);
			ck_assert_uint_eq(rate_code_at_most(tenths + 1), code);
		}
	}
	ck_assert_uint_eq(rate_tenths(26), 0);
	ck_assert_uint_eq(rate_tenths(UINT32_MAX), 0);
	ck_assert_uint_eq(rate_code(0), 0);
	ck_assert_uint_eq(rate_code_at_most(24), 0);
	ck_assert_uint_eq(rate_code_at_most(UINT32_MAX), 25);
}
END_TEST

START_TEST(rates_in_order)
{
	unsigned steps = 0, code;

	for (code = 2; rate_faster(code); code = rate_faster(code), steps++) {
		ck_assert_int_lt(rate_compare(code, rate_faster(code)), 0);
		ck_assert_int_gt(rate_compare(rate_faster(code), code), 0);
		ck_assert_uint_eq(rate_slower(rate_faster(code)), code);
	}
	ck_assert_uint_eq(steps, 23);	/* all 24 rates, each once */
	ck_assert_uint_eq(code, 25);
	ck_assert_int_eq(rate_compare(7, 7), 0);
	ck_assert_int_lt(rate_compare(11, 7), 0);	/* 14 Gb/s has the higher code */
	ck_assert_uint_eq(rate_slower(2), 0);
	ck_assert_uint_eq(rate_slower(99), 0);
	ck_assert_uint_eq(rate_faster(0), 0);
}
END_TEST

static const struct {
	const char *name;
	unsigned speed, ext;
	bool fdr10;
	double lane;
} speeds[] = {
	{ "SDR", 1, 0, false, 2.5 }, { "DDR", 2, 0, false, 5 }, { "QDR", 4, 0, false, 10 },
	{ "FDR10", 4, 0, true, 10 }, { "FDR", 4, 1, false, 14 }, { "EDR", 4, 2, false, 25 },
	{ "HDR", 4, 4, false, 50 }, { "NDR", 4, 8, false, 100 },
	{ "XDR", 4, 32, false, 200 },
};
static const struct { unsigned code, lanes; } widths[] = {
	{ 1, 1 }, { 16, 2 }, { 2, 4 }, { 4, 8 }, { 8, 12 },
};

START_TEST(every_width_and_speed)
{
	for (size_t w = 0; w < ARRAY_SIZE(widths); w++)
		for (size_t s = 0; s < ARRAY_SIZE(speeds); s++) {
			char word[16], text[16];
			struct link_speed l;
			unsigned code = rate_from_link(widths[w].code, speeds[s].speed,
						       speeds[s].ext, speeds[s].fdr10);

			/* 12xXDR has no code */
			ck_assert_double_eq(rate_tenths(code) / 10.0,
					    fmin(widths[w].lanes * speeds[s].lane, 1600));
			snprintf(word, sizeof(word), "%ux%s", widths[w].lanes, speeds[s].name);
			ck_assert_uint_eq(rate_parse_link(word), code);
			ck_assert_str_eq(link_text(widths[w].code, speeds[s].speed, speeds[s].ext,
						   speeds[s].fdr10, text, sizeof(text)), word);
			ck_assert(link_parse(word, &l));
			ck_assert_uint_eq(l.width, widths[w].code);
			ck_assert_uint_eq(l.speed, speeds[s].speed);
			ck_assert_uint_eq(l.speed_ext, speeds[s].ext);
			ck_assert_int_eq(l.fdr10, speeds[s].fdr10);
		}
}
END_TEST

START_TEST(link_nonsense)
{
	static const char *const words[] = {
		"", "x", "4x", "QDR", "4QDR", "3xQDR", "4xQ", "4xQDRR", "4x QDR", " 4xQDR",
		"16xSDR", "4xYDR", "-4xQDR", "4xFDR1",
	};
	char text[32];

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		ck_assert_msg(rate_parse_link(words[i]) == 0, "%s", words[i]);
	ck_assert_uint_eq(rate_parse_link("4xqdr"), 7);
	ck_assert_uint_eq(rate_parse_link("12XeDr"), 18);
	/* no width, several, reserved bits; likewise speeds */
	ck_assert_uint_eq(rate_from_link(0, 4, 0, false), 0);
	ck_assert_uint_eq(rate_from_link(3, 4, 0, false), 0);
	ck_assert_uint_eq(rate_from_link(32, 4, 0, false), 0);
	ck_assert_uint_eq(rate_from_link(2, 0, 0, false), 0);
	ck_assert_uint_eq(rate_from_link(2, 7, 0, false), 0);
	ck_assert_uint_eq(rate_from_link(2, 4, 3, false), 0);
	ck_assert_uint_eq(rate_from_link(2, 4, 255, true), 0);
	/* FDR10 modifies QDR only: slower and extended speeds keep their rate */
	ck_assert_uint_eq(rate_from_link(2, 1, 0, true), 3);
	ck_assert_uint_eq(rate_from_link(2, 4, 2, true), 16);
	ck_assert_str_eq(link_text(0, 0, 0, false, text, sizeof(text)), "unknown speed");
}
END_TEST

/* A link that is up has a rate, whatever its codes; the rate is never more than the link surely has. */
/* promise: D30 */
START_TEST(rates_of_unknown_links)
{
	static const struct { unsigned width, speed, ext; double gbps; } links[] = {
		{ 2, 4, 32, 800 }, { 16, 0, 32, 400 },		/* known: as they are */
		{ 2, 4, 64, 800 }, { 2, 4, 96, 800 }, { 2, 0, 16, 800 },	/* newer than XDR */
		{ 2, 4, 3, 56 }, { 2, 4, 12, 200 },		/* several: the least */
		{ 2, 0, 0, 10 }, { 2, 8, 0, 40 }, { 2, 6, 0, 20 },
		{ 0, 4, 0, 10 }, { 64, 4, 2, 25 }, { 10, 4, 4, 200 }, { 255, 4, 8, 100 },
		{ 0, 0, 0, 2.5 },
	};
	char text[32];

	for (size_t i = 0; i < ARRAY_SIZE(links); i++)
		ck_assert_double_eq(rate_tenths(rate_at_least(links[i].width, links[i].speed,
							      links[i].ext, false)) / 10.0,
				    links[i].gbps);
	for (unsigned width = 0; width < 256; width++)
		for (unsigned code = 0; code < 16 * 128; code++)
			ck_assert_uint_ne(rate_at_least(width, code % 16, code / 16, code & 1), 0);
	ck_assert_str_eq(link_text(2, 4, 64, false, text, sizeof(text)), "4x?");
	ck_assert_str_eq(link_text(32, 4, 4, false, text, sizeof(text)), "?xHDR");
}
END_TEST

START_TEST(rates_as_text)
{
	static const char *const bad[] = {
		"", "2.", ".5", "2.51", "40Gb", "-40", "+40", " 40", "40 ", "41", "0", "1e2",
		"0x28", "99999999999", "40.05", "nan", "inf",
	};
	char text[32];

	for (unsigned code = 2; code < ARRAY_SIZE(gbps); code++) {
		snprintf(text, sizeof(text), "%g", gbps[code]);
		ck_assert_uint_eq(rate_parse_gbps(text), code);
	}
	ck_assert_uint_eq(rate_parse_gbps("2.50"), 2);
	ck_assert_uint_eq(rate_parse_gbps("40.0"), 7);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(rate_parse_gbps(bad[i]) == 0, "%s", bad[i]);
	ck_assert_str_eq(rate_text(7, text, sizeof(text)), "40 Gb/s");
	ck_assert_str_eq(rate_text(2, text, sizeof(text)), "2.5 Gb/s");
	ck_assert_str_eq(rate_text(63, text, sizeof(text)), "unknown rate");
	ck_assert_str_eq(rate_text(24, text, 5), "1200");	/* cut, not overrun */
}
END_TEST

START_TEST(data_rates)
{
	static const struct { const char *link; double gbps; } rates[] = {
		{ "1xSDR", 2 }, { "4xSDR", 8 }, { "4xDDR", 16 }, { "4xQDR", 32 }, { "12xQDR", 96 },
		{ "4xFDR", 54.5454 }, { "2xFDR", 27.2727 }, { "12xFDR", 163.6363 },
		{ "1xEDR", 25 }, { "4xEDR", 100 }, { "4xHDR", 200 }, { "4xNDR", 400 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rates); i++)
		ck_assert_double_eq_tol(data_rate_gbps(rate_parse_link(rates[i].link)),
					rates[i].gbps, 1e-3);
	ck_assert_double_eq(data_rate_gbps(0), 0);
	ck_assert_double_eq(data_rate_gbps(63), 0);
	ck_assert_double_eq_tol(link_data_gbps(rate_parse_link("4xQDR"), false), 32, 1e-9);
	ck_assert_double_eq_tol(link_data_gbps(rate_parse_link("4xQDR"), true), 40, 1e-9);
}
END_TEST

START_TEST(lifetimes)
{
	for (unsigned code = 0; code < 32; code++) {
		double t = lifetime_seconds(code);

		ck_assert_double_eq_tol(t, 4.096e-6 * pow(2, code), t * 1e-12);
		ck_assert_uint_eq(lifetime_code(t), code);
		ck_assert_uint_eq(lifetime_code(t * 1.01), code + 1);
	}
	ck_assert_uint_eq(lifetime_code(1), 18);	/* 1.07 s */
	ck_assert_uint_eq(lifetime_code(16.384e-6), 2);
	ck_assert_uint_eq(lifetime_code(0), 0);
	ck_assert_uint_eq(lifetime_code(-1), 0);
	ck_assert_uint_eq(lifetime_code(8796.2), 32);
	ck_assert_uint_eq(lifetime_code(INFINITY), 32);
	ck_assert_uint_eq(lifetime_code(NAN), 32);
}
END_TEST

START_TEST(vl_codes)
{
	static const unsigned vls[] = { 0, 1, 2, 4, 8, 15, 0 };

	for (unsigned code = 0; code < ARRAY_SIZE(vls); code++)
		ck_assert_uint_eq(ib_vls_from_code(code), vls[code]);
	for (unsigned n = 0; n <= 15; n++) {
		unsigned code = ib_vls_to_code(n);

		ck_assert_uint_ge(ib_vls_from_code(code), n);
		ck_assert(code == 1 || ib_vls_from_code(code - 1) < n);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("units");
	TCase *tc = tcase_create("units");

	tcase_add_test(tc, mtu_codes);
	tcase_add_test(tc, rate_codes);
	tcase_add_test(tc, rates_in_order);
	tcase_add_test(tc, every_width_and_speed);
	tcase_add_test(tc, link_nonsense);
	tcase_add_test(tc, rates_of_unknown_links);
	tcase_add_test(tc, rates_as_text);
	tcase_add_test(tc, data_rates);
	tcase_add_test(tc, lifetimes);
	tcase_add_test(tc, vl_codes);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
