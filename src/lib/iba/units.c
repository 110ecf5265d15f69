/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Converts MTU, rate and lifetime codes; see units.h.
 *
 * Each generation of links added rate codes, so that their order says nothing about speed: every
 * comparison goes through rate_tenths().
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "lib/iba/iba.h"
#include "lib/iba/units.h"

unsigned mtu_bytes(unsigned code)
{
	return code >= 1 && code <= 5 ? 128u << code : 0;
}

unsigned mtu_code(unsigned bytes)
{
	for (unsigned code = 1; code <= 5; code++)
		if (mtu_bytes(code) == bytes)
			return code;
	return 0;
}

/* PathRecord.Rate (15.2.5.16), in 0.1 Gb/s */
static const uint16_t rates[] = {
	[2] = 25, [3] = 100, [4] = 300, [5] = 50, [6] = 200, [7] = 400,
	[8] = 600, [9] = 800, [10] = 1200, [11] = 140, [12] = 560,
	[13] = 1120, [14] = 1680, [15] = 250, [16] = 1000, [17] = 2000,
	[18] = 3000, [19] = 280, [20] = 500, [21] = 4000, [22] = 6000,
	[23] = 8000, [24] = 12000, [25] = 16000,
};

unsigned rate_tenths(unsigned code)
{
	return code < ARRAY_SIZE(rates) ? rates[code] : 0;
}

unsigned rate_code_at_most(unsigned tenths)
{
	unsigned best = 0;

	for (unsigned code = 0; code < ARRAY_SIZE(rates); code++)
		if (rates[code] <= tenths && rates[code] > rate_tenths(best))
			best = code;
	return best;
}

unsigned rate_code(unsigned tenths)
{
	unsigned code = rate_code_at_most(tenths);

	return rate_tenths(code) == tenths ? code : 0;
}

int rate_compare(unsigned a, unsigned b)
{
	return (int)rate_tenths(a) - (int)rate_tenths(b);
}

unsigned rate_slower(unsigned code)
{
	unsigned tenths = rate_tenths(code);

	return tenths ? rate_code_at_most(tenths - 1) : 0;
}

unsigned rate_faster(unsigned code)
{
	unsigned tenths = rate_tenths(code), best = 0;

	if (!tenths)
		return 0;
	for (unsigned c = 0; c < ARRAY_SIZE(rates); c++)
		if (rates[c] > tenths && (!best || rates[c] < rates[best]))
			best = c;
	return best;
}

/* Whether lanes of SDR, DDR or QDR make this rate. */
static bool rate_is_8b10b(unsigned tenths)
{
	static const uint16_t coded[] = { 25, 50, 100, 200, 300, 400, 600, 800, 1200 };

	for (size_t i = 0; i < ARRAY_SIZE(coded); i++)
		if (coded[i] == tenths)
			return true;
	return false;
}

double data_rate_gbps(unsigned rate_code)
{
	unsigned tenths = rate_tenths(rate_code);
	double nominal = tenths * 0.1;

	if (rate_is_8b10b(tenths))
		return nominal * 0.8;
	/* rates of 1, 2, 4, 8 and 12 lanes of FDR */
	if (tenths == 140 || tenths == 280 || tenths == 560 || tenths == 1120 || tenths == 1680)
		return nominal / 14 * 14.0625 * 64 / 66;
	return nominal;
}

double link_data_gbps(unsigned rate_code, bool fdr10)
{
	return fdr10 ? rate_tenths(rate_code) * 0.1 : data_rate_gbps(rate_code);
}

/* The speed of one lane.  At the extended speeds LinkSpeedActive is QDR. */
static const struct lane {
	const char *name;
	uint8_t speed, speed_ext;
	bool fdr10;
	uint16_t tenths;
} lanes[] = {
	{ "SDR",   1, 0, false, 25 },
	{ "DDR",   2, 0, false, 50 },
	{ "QDR",   4, 0, false, 100 },
	{ "FDR10", 4, 0, true,  100 },
	{ "FDR",   4, IB_EXT_FDR, false, 140 },
	{ "EDR",   4, IB_EXT_EDR, false, 250 },
	{ "HDR",   4, IB_EXT_HDR, false, 500 },
	{ "NDR",   4, IB_EXT_NDR, false, 1000 },
	{ "XDR",   4, IB_EXT_XDR, false, 2000 },
};

static const struct lane *lane_find(unsigned speed, unsigned speed_ext, bool fdr10)
{
	for (size_t i = 0; i < ARRAY_SIZE(lanes); i++) {
		const struct lane *l = &lanes[i];

		if (speed_ext ? l->speed_ext == speed_ext
			      : l->speed == speed && l->fdr10 == (fdr10 && speed == 4))
			return l;
	}
	return NULL;
}

static const struct width {
	uint8_t code, lanes;
	const char *name;
} widths[] = {
	{ 1, 1, "1x" }, { 2, 4, "4x" }, { 4, 8, "8x" }, { 8, 12, "12x" }, { 16, 2, "2x" },
};

/* The width with this code; NULL unless exactly one known bit is set. */
static const struct width *width_find(unsigned code)
{
	for (size_t i = 0; i < ARRAY_SIZE(widths); i++)
		if (widths[i].code == code)
			return &widths[i];
	return NULL;
}

unsigned rate_from_link(unsigned width, unsigned speed, unsigned speed_ext, bool fdr10)
{
	const struct lane *l = lane_find(speed, speed_ext, fdr10);
	const struct width *w = width_find(width);

	return l && w ? rate_code_at_most(w->lanes * l->tenths) : 0;
}

/* The least known bit; `newest` if there are only unknown bits. */
static unsigned least_of(unsigned bits, unsigned known, unsigned newest)
{
	return bits & known ? (bits & known) & -(bits & known) : newest;
}

unsigned rate_at_least(unsigned width, unsigned speed, unsigned speed_ext, bool fdr10)
{
	unsigned exact = rate_from_link(width, speed, speed_ext, fdr10), n = 0;

	if (exact)
		return exact;
	for (size_t i = 0; i < ARRAY_SIZE(widths); i++)
		if (width & widths[i].code && (!n || widths[i].lanes < n))
			n = widths[i].lanes;
	if (speed_ext)
		speed_ext = least_of(speed_ext, IB_EXT_FDR | IB_EXT_EDR | IB_EXT_HDR | IB_EXT_NDR |
				     IB_EXT_XDR, speed_ext > IB_EXT_NDR ? IB_EXT_XDR : IB_EXT_FDR);
	else
		speed = least_of(speed, 7, speed ? 4 : 1);
	return rate_code_at_most((n ? n : 1u) * lane_find(speed, speed_ext, fdr10)->tenths);
}

bool link_parse(const char *word, struct link_speed *out)
{
	for (size_t w = 0; w < ARRAY_SIZE(widths); w++) {
		size_t n = strlen(widths[w].name);

		if (strncasecmp(word, widths[w].name, n))
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(lanes); i++) {
			const struct lane *l = &lanes[i];

			if (strcasecmp(word + n, l->name))
				continue;
			*out = (struct link_speed){
				widths[w].code, l->speed, l->speed_ext, l->fdr10,
			};
			return true;
		}
	}
	return false;
}

unsigned rate_parse_link(const char *word)
{
	struct link_speed l;

	return link_parse(word, &l) ? rate_from_link(l.width, l.speed, l.speed_ext, l.fdr10) : 0;
}

unsigned rate_parse_gbps(const char *word)
{
	size_t n = strspn(word, "0123456789");
	unsigned tenths;

	if (n < 1 || n > 4)
		return 0;
	tenths = (unsigned)atoi(word) * 10;
	word += n;
	if (*word == '.') {
		if (word[1] < '0' || word[1] > '9')
			return 0;
		tenths += (unsigned)(word[1] - '0');
		word += 2;
		word += strspn(word, "0");
	}
	return *word ? 0 : rate_code(tenths);
}

char *rate_text(unsigned code, char *buf, unsigned n)
{
	unsigned tenths = rate_tenths(code);

	if (!tenths)
		snprintf(buf, n, "unknown rate");
	else if (tenths % 10)
		snprintf(buf, n, "%u.%u Gb/s", tenths / 10, tenths % 10);
	else
		snprintf(buf, n, "%u Gb/s", tenths / 10);
	return buf;
}

char *link_text(unsigned width, unsigned speed, unsigned speed_ext, bool fdr10,
		char *buf, unsigned n)
{
	const struct lane *l = lane_find(speed, speed_ext, fdr10);
	const struct width *w = width_find(width);

	if (l || w)
		snprintf(buf, n, "%s%s", w ? w->name : "?x", l ? l->name : "?");
	else
		snprintf(buf, n, "unknown speed");
	return buf;
}

double lifetime_seconds(unsigned code)
{
	return ldexp(4.096e-6, (int)code);
}

unsigned lifetime_code(double seconds)
{
	unsigned code = 0;

	/* rounding to decimal text may have made an exact code's time slightly larger */
	seconds *= 1 - 1e-9;
	while (code < 32 && !(lifetime_seconds(code) >= seconds))
		code++;
	return code;
}
