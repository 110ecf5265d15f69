/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Link widths and speeds: words, and bits of PortInfo (14.2.5.6). */
#include "sim/topo/speed.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *const rate_names[] = {
	"", "SDR", "DDR", "QDR", "FDR10", "FDR", "EDR", "HDR", "NDR", "XDR",
};

static const struct { uint8_t lanes, bit; } widths_known[] = {
	{ 12, SIM_WIDTH_12X }, { 8, SIM_WIDTH_8X }, { 4, SIM_WIDTH_4X }, { 2, SIM_WIDTH_2X },
	{ 1, SIM_WIDTH_1X },
};

static uint8_t width_bit(unsigned lanes)
{
	for (size_t i = 0; i < ARRAY_SIZE(widths_known); i++)
		if (widths_known[i].lanes == lanes)
			return widths_known[i].bit;
	return 0;
}

static enum link_rate rate_of_word(const char *word, size_t n)
{
	if (n == 0 || (n == 3 && memcmp(word, "???", 3) == 0))
		return RATE_ANY;
	for (unsigned r = RATE_SDR; r < ARRAY_SIZE(rate_names); r++)
		if (strlen(rate_names[r]) == n && memcmp(rate_names[r], word, n) == 0)
			return r;
	return RATE_UNKNOWN;
}

bool link_speed_parse(const char *text, size_t n, struct link_speed *out)
{
	size_t i = 0;
	unsigned lanes = 0;

	if (n >= 2 && memcmp(text, "??", 2) == 0) {
		i = 2;
	} else {
		while (i < n && i < 2 && isdigit((unsigned char)text[i]))
			lanes = lanes * 10 + (unsigned)(text[i++] - '0');
		if (!width_bit(lanes) || i == n || text[i++] != 'x')
			return false;
	}
	out->lanes = lanes;
	out->rate = rate_of_word(text + i, n - i);
	return out->rate != RATE_UNKNOWN;
}

static bool is_not_said(const char *s, size_t n)
{
	return (n <= 2 && memcmp("??", s, n) == 0) || (n == 7 && memcmp("UNKNOWN", s, n) == 0);
}

bool link_speed_of_lanes(const char *width, size_t n_width, const char *gbps, size_t n_gbps,
			 struct link_speed *out)
{
	static const char *const lanes[] = {
		[RATE_SDR] = "2.5", [RATE_DDR] = "5", [RATE_QDR] = "10", [RATE_FDR10] = "FDR10",
		[RATE_FDR] = "14", [RATE_EDR] = "25", [RATE_HDR] = "50", [RATE_NDR] = "100",
		[RATE_XDR] = "200",
	};
	bool any_width = n_width && is_not_said(width, n_width);

	*out = (struct link_speed){ 0 };
	if (!any_width && (!link_speed_parse(width, n_width, out) || out->rate || !out->lanes))
		return false;
	if (n_gbps && is_not_said(gbps, n_gbps))
		return true;
	for (unsigned rate = RATE_SDR; rate < ARRAY_SIZE(lanes); rate++)
		if (strlen(lanes[rate]) == n_gbps && memcmp(lanes[rate], gbps, n_gbps) == 0)
			out->rate = rate;
	return out->rate != RATE_ANY;
}

struct link_speed link_speed_of_masks(unsigned widths, unsigned speeds, unsigned ext_speeds)
{
	struct link_speed s = { 0, RATE_ANY };

	for (size_t i = 0; i < ARRAY_SIZE(widths_known) && !s.lanes; i++)
		if (widths & widths_known[i].bit)
			s.lanes = widths_known[i].lanes;
	for (unsigned bit = 0; bit < 4; bit++)
		if (ext_speeds & 1u << bit)
			s.rate = RATE_FDR + bit;
	for (unsigned bit = 0; bit < 3 && s.rate < RATE_FDR; bit++)
		if (speeds & 1u << bit)
			s.rate = RATE_SDR + bit;
	return s;
}

static uint8_t said_smaller(uint8_t a, uint8_t b)
{
	if (!a || !b)
		return a | b;
	return a < b ? a : b;
}

struct link_speed link_speed_slower(struct link_speed a, struct link_speed b)
{
	return (struct link_speed){ said_smaller(a.lanes, b.lanes), said_smaller(a.rate, b.rate) };
}

bool link_speed_contradict(struct link_speed a, struct link_speed b)
{
	return (a.lanes && b.lanes && a.lanes != b.lanes) ||
	       (a.rate && b.rate && a.rate != b.rate);
}

const char *link_speed_name(struct link_speed s, char *out, size_t n)
{
	if (s.lanes)
		snprintf(out, n, "%ux%s", s.lanes, s.rate ? rate_names[s.rate] : "???");
	else
		snprintf(out, n, "??%s", s.rate ? rate_names[s.rate] : "???");
	return out;
}

/* As in LinkSpeedExt* of both groups; 0: none of these. */
static uint8_t ext_bit(unsigned rate)
{
	static const uint8_t bits[RATE_UNKNOWN] = {
		[RATE_FDR] = SIM_EXT_FDR, [RATE_EDR] = SIM_EXT_EDR, [RATE_HDR] = SIM_EXT_HDR,
		[RATE_NDR] = SIM_EXT_NDR, [RATE_XDR] = SIM_EXT_XDR,
	};

	return bits[rate];
}

static void bound_port(struct sim_port *p, struct link_speed s)
{
	if (s.lanes)
		p->cable_width = width_bit(s.lanes);
	if (!s.rate)
		return;
	p->cable_speed = s.rate <= RATE_QDR ? 1u << (s.rate - RATE_SDR) : SIM_SPEED_QDR;
	p->cable_fdr10 = s.rate == RATE_FDR10;
	p->cable_ext = ext_bit(s.rate);
}

void link_speed_apply(struct sim_fabric *f, uint32_t port, struct link_speed s)
{
	struct sim_port *p = &f->ports[port];

	bound_port(p, s);
	if (p->peer != SIM_NONE)
		bound_port(&f->ports[p->peer], s);
}
