/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Splits lines of a dump into words, and recognizes lines that other programs wrote into it. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fabric/dump/reader.h"

void take_space(char **p)
{
	while (isspace((unsigned char)**p))
		++*p;
}

bool take_text(char **p, const char *text)
{
	size_t n = strlen(text);

	take_space(p);
	if (strncmp(*p, text, n))
		return false;
	*p += n;
	return true;
}

bool take_char(char **p, char c)
{
	return take_text(p, (const char[]){ c, '\0' });
}

bool take_word(char **p, const char *word)
{
	char *s = *p;

	if (!take_text(&s, word) || isalnum((unsigned char)*s))
		return false;
	*p = s;
	return true;
}

bool take_token(char **p, char **word)
{
	take_space(p);
	*word = *p;
	while (**p && !isspace((unsigned char)**p))
		++*p;
	if (*p == *word)
		return false;
	if (**p)
		*(*p)++ = '\0';
	return true;
}

bool take_number(char **p, int base, uint64_t max, uint64_t *out)
{
	char *end;

	take_space(p);
	if (!isxdigit((unsigned char)**p))	/* strtoull() would accept a sign */
		return false;
	errno = 0;
	*out = strtoull(*p, &end, base);
	if (end == *p || errno || *out > max)
		return false;
	*p = end;
	return true;
}

bool take_c_number(char **p, uint64_t max, uint64_t *out)
{
	take_space(p);
	return take_number(p, strncasecmp(*p, "0x", 2) ? 10 : 16, max, out);
}

bool take_quoted(char **p, char **s)
{
	char *end;

	take_space(p);
	if (**p != '"' || !(end = strchr(*p + 1, '"')))
		return false;
	*s = *p + 1;
	*end = '\0';
	*p = end + 1;
	return true;
}

bool take_type(char **p, const struct type_word *words, size_t n, uint8_t *type)
{
	for (size_t i = 0; i < n; i++) {
		*type = words[i].type;
		if (take_word(p, words[i].word))
			return true;
	}
	return false;
}

/* --- messages that somebody sent to the same file as the dump --- */

/* "ibwarn: [4711] …", from libibmad and libibumad. */
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

/* "src/query_smp.c:225; …": the source location that libibnetdisc prints. */
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

bool is_stray(const char *line)
{
	return is_ibwarn(line) || is_place_in_source(line) || is_of_library(line);
}
