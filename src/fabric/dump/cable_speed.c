/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Converts link widths and speeds between words and PortInfo's bits (14.2.5.6). */
#include "fabric/dump/cable_speed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"

static const struct { const char *name, *gbps; } rates[CABLE_RATES] = {
	[RATE_ANY] = { "???", "?" }, [RATE_SDR] = { "SDR", "2.5" }, [RATE_DDR] = { "DDR", "5" },
	[RATE_QDR] = { "QDR", "10" }, [RATE_FDR10] = { "FDR10", "FDR10" },
	[RATE_FDR] = { "FDR", "14" }, [RATE_EDR] = { "EDR", "25" }, [RATE_HDR] = { "HDR", "50" },
	[RATE_NDR] = { "NDR", "100" }, [RATE_XDR] = { "XDR", "200" },
};

/* Widest first. */
static const struct { uint8_t lanes, bit; } widths[] = {
	{ 12, 8 }, { 8, 4 }, { 4, 2 }, { 2, 16 }, { 1, 1 },
};

uint8_t cable_width_bit(unsigned lanes)
{
	for (size_t i = 0; i < ARRAY_SIZE(widths); i++)
		if (widths[i].lanes == lanes)
			return widths[i].bit;
	return 0;
}

/* Parses "4x", or "??" for an unknown width.  Returns the text after it, or NULL. */
static const char *take_width(const char *word, uint8_t *lanes)
{
	char *end;
	unsigned long n;

	*lanes = 0;
	if (!strncmp(word, "??", 2))
		return word + 2;
	n = strtoul(word, &end, 10);
	*lanes = n <= 12 ? (uint8_t)n : 0;
	if (*word < '1' || *word > '9' || !cable_width_bit(*lanes) || (*end | 0x20) != 'x')
		return NULL;
	return end + 1;
}

bool cable_speed_parse(const char *word, struct cable_speed *out)
{
	word = take_width(word, &out->lanes);
	if (!word)
		return false;
	out->rate = RATE_ANY;
	if (!*word || !strcmp(word, "??") || !strcmp(word, "???"))
		return true;
	for (uint8_t rate = RATE_SDR; rate < CABLE_RATES; rate++)
		if (!strcasecmp(rates[rate].name, word))
			out->rate = rate;
	return out->rate != RATE_ANY;
}

static bool is_not_said(const char *s)
{
	return !strcmp(s, "?") || !strcmp(s, "??") || !strcmp(s, "UNKNOWN");
}

bool cable_speed_of_lanes(const char *width, const char *gbps, struct cable_speed *out)
{
	const char *end;

	*out = (struct cable_speed){ 0 };
	if (!is_not_said(width) && (!(end = take_width(width, &out->lanes)) || *end || !out->lanes))
		return false;
	for (uint8_t rate = RATE_SDR; rate < CABLE_RATES; rate++)
		if (!strcmp(rates[rate].gbps, gbps))
			out->rate = rate;
	return out->rate != RATE_ANY || is_not_said(gbps);
}

/* Highest set bit of the low n bits, or -1. */
static int highest(unsigned mask, int n)
{
	while (n-- && !(mask & 1u << n))
		;
	return n;
}

struct cable_speed cable_speed_of_masks(unsigned width, unsigned speeds, unsigned ext_speeds)
{
	struct cable_speed s = { 0, RATE_ANY };
	int ext = highest(ext_speeds, 4), plain = highest(speeds, 3);

	for (size_t i = 0; i < ARRAY_SIZE(widths) && !s.lanes; i++)
		if (width & widths[i].bit)
			s.lanes = widths[i].lanes;
	if (ext >= 0)
		s.rate = (uint8_t)(RATE_FDR + ext);
	else if (plain >= 0)
		s.rate = (uint8_t)(RATE_SDR + plain);
	return s;
}

static uint8_t said_smaller(uint8_t a, uint8_t b)
{
	if (!a || !b)
		return a | b;
	return a < b ? a : b;
}

struct cable_speed cable_speed_slower(struct cable_speed a, struct cable_speed b)
{
	return (struct cable_speed){ said_smaller(a.lanes, b.lanes), said_smaller(a.rate, b.rate) };
}

bool cable_speed_contradict(struct cable_speed a, struct cable_speed b)
{
	return (a.lanes && b.lanes && a.lanes != b.lanes) ||
	       (a.rate && b.rate && a.rate != b.rate);
}

const char *cable_speed_name(struct cable_speed s, char out[CABLE_SPEED_MAX])
{
	if (s.lanes)
		snprintf(out, CABLE_SPEED_MAX, "%ux%s", s.lanes, rates[s.rate].name);
	else
		snprintf(out, CABLE_SPEED_MAX, "??%s", rates[s.rate].name);
	return out;
}
