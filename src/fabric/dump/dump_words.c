/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The words of a line, whatever the format. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fabric/dump/read_dump.h"

void line_skip_space(char **s)
{
	while (isspace((unsigned char)**s))
		++*s;
}

bool line_take_char(char **s, char c)
{
	line_skip_space(s);
	if (**s != c)
		return false;
	++*s;
	return true;
}

bool line_take_text(char **s, const char *text)
{
	size_t n = strlen(text);

	line_skip_space(s);
	if (strncmp(*s, text, n))
		return false;
	*s += n;
	return true;
}

bool line_take_number(char **s, int base, uint64_t max, uint64_t *value)
{
	char *end;

	line_skip_space(s);
	if (!isxdigit((unsigned char)**s))	/* no sign */
		return false;
	errno = 0;
	*value = strtoull(*s, &end, base);
	if (end == *s || errno || *value > max)
		return false;
	*s = end;
	return true;
}

bool line_take_c_number(char **s, uint64_t max, uint64_t *value)
{
	line_skip_space(s);
	return line_take_number(s, !strncasecmp(*s, "0x", 2) ? 16 : 10, max, value);
}

bool line_take_quoted(char **s, char **text)
{
	char *end;

	if (!line_take_char(s, '"') || !(end = strchr(*s, '"')))
		return false;
	*end = '\0';
	*text = *s;
	*s = end + 1;
	return true;
}

bool line_take_word(char **s, char **word)
{
	line_skip_space(s);
	*word = *s;
	while (**s && !isspace((unsigned char)**s))
		++*s;
	if (*s == *word)
		return false;
	if (**s)
		*(*s)++ = '\0';
	return true;
}

/* --- speeds --- */

/*
 * Widths and speeds that ibnetdiscover has no word for are "??" and "???".  What is not
 * said is as when nothing is: 4x, and SDR, the least there is.
 */
static bool parse_unknown(const char *word, struct link_speed *speed)
{
	static const char *const endings[] = { "???", "??" };
	char known[16];
	size_t n = strlen(word);

	if (!strncmp(word, "??", 2)) {
		snprintf(known, sizeof(known), "4x%s", word + 2);
		return !strcmp(word + 2, "???") ? link_parse("4xSDR", speed)
						: link_parse(known, speed);
	}
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		size_t end = strlen(endings[i]);

		if (n <= end || n - end > 3 || strcmp(word + n - end, endings[i]))
			continue;
		snprintf(known, sizeof(known), "%.*sSDR", (int)(n - end), word);
		if (link_parse(known, speed))
			return true;
	}
	return false;
}

bool dump_parse_link(const char *word, struct link_speed *speed)
{
	return link_parse(word, speed) || parse_unknown(word, speed);
}

static bool is_unknown(const char *word)
{
	return !strcmp(word, "??") || !strcmp(word, "?") || !strcmp(word, "UNKNOWN");
}

static const char *lane_of_gbps(const char *gbps)
{
	static const struct { const char *gbps, *name; } lanes[] = {
		{ "2.5", "SDR" }, { "5", "DDR" }, { "10", "QDR" }, { "FDR10", "FDR10" },
		{ "14", "FDR" }, { "25", "EDR" }, { "50", "HDR" }, { "100", "NDR" },
		{ "200", "XDR" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(lanes); i++)
		if (!strcmp(lanes[i].gbps, gbps))
			return lanes[i].name;
	return is_unknown(gbps) ? "???" : "";
}

bool dump_parse_lanes(const char *width, const char *gbps, struct link_speed *speed)
{
	char word[16];
	int n = snprintf(word, sizeof(word), "%s%s", is_unknown(width) ? "??" : width,
			 lane_of_gbps(gbps));

	return n < (int)sizeof(word) && dump_parse_link(word, speed);
}

/* --- messages of programs --- */

/* "ibwarn: [4711] …": of libibmad and libibumad. */
static bool is_ibwarn(const char *line)
{
	static const char *const heads[] = { "ibwarn: [", "ibpanic: [", "ibdebug: [" };

	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		const char *s = line + strlen(heads[i]);

		if (!strncmp(line, heads[i], strlen(heads[i])) && isdigit((unsigned char)*s))
			return s[strspn(s, "0123456789")] == ']';
	}
	return false;
}

/* "src/query_smp.c:225; …", as libibnetdisc says where it is. */
static bool is_place_in_source(const char *line)
{
	const char *place = strstr(line, ".c:");
	size_t digits;

	if (!place || place >= line + strcspn(line, " \t\""))
		return false;
	place += 3;
	digits = strspn(place, "0123456789");
	return digits && (place[digits] == ';' || place[digits] == ':');
}

/* "mad_rpc: …", "./libibnetdisc: …" */
static bool is_of_library(const char *line)
{
	static const char *const names[] = {
		"mad_rpc", "mad_rpc_rmpp", "mad_rpc_open_port", "_do_madrpc", "_do_mad_rpc",
		"libibnetdisc", "libibmad", "libibumad",
	};
	size_t n = strcspn(line, ": \t\"");
	const char *base = line + n;

	if (line[n] != ':')
		return false;
	while (base > line && base[-1] != '/')
		base--;
	n -= (size_t)(base - line);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == n && !strncmp(base, names[i], n))
			return true;
	return false;
}

bool dump_is_stray(const char *line)
{
	return is_ibwarn(line) || is_place_in_source(line) || is_of_library(line);
}
