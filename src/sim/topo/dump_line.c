/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The words of a line of a dump. */
#include "sim/topo/dump.h"

#include <ctype.h>
#include <string.h>

void take_space(const char **p)
{
	while (**p == ' ' || **p == '\t')
		++*p;
}

bool take_char(const char **p, char c)
{
	if (**p != c)
		return false;
	++*p;
	return true;
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

static bool take_digits(const char **p, unsigned base, uint64_t max, uint64_t *out)
{
	const char *s = *p;
	uint64_t n = 0;
	unsigned digit;

	for (; (digit = (unsigned)digit_value(*s)) < base; s++) {
		if (digit > max || n > (max - digit) / base)
			return false;
		n = n * base + digit;
	}
	if (s == *p)
		return false;
	*p = s;
	*out = n;
	return true;
}

bool take_number(const char **p, uint64_t max, uint64_t *out)
{
	return take_digits(p, 10, max, out);
}

static bool is_0x(const char *s)
{
	return s[0] == '0' && (s[1] | 0x20) == 'x';
}

bool take_hex(const char **p, uint64_t *out)
{
	const char *s = is_0x(*p) ? *p + 2 : *p;

	if (!take_digits(&s, 16, UINT64_MAX, out))
		return false;
	*p = s;
	return true;
}

bool take_c_number(const char **p, uint64_t max, uint64_t *out)
{
	uint64_t n;
	const char *s = *p;

	if (!is_0x(s))
		return take_number(p, max, out);
	if (!take_hex(&s, &n) || n > max)
		return false;
	*p = s;
	*out = n;
	return true;
}

bool take_quoted(const char **p, const char **s, size_t *n)
{
	const char *end;

	if (**p != '"' || !(end = strchr(*p + 1, '"')))
		return false;
	*s = *p + 1;
	*n = (size_t)(end - *s);
	*p = end + 1;
	return true;
}

bool take_word(const char **p, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*p, word, n) != 0 || isalnum((unsigned char)(*p)[n]))
		return false;
	*p += n;
	return true;
}

/* Where a description without quotes ends. */
static const char *end_of_bare(const char *text)
{
	static const char *const behind[] = { " enhanced port ", " base port ", " lid ", " lmc " };
	const char *end = text + strlen(text);

	for (size_t i = 0; i < ARRAY_SIZE(behind); i++) {
		const char *at = strstr(text, behind[i]);

		if (at && at < end)
			end = at;
	}
	return end;
}

/*
 * A NodeDescription may have quotes inside: it goes from the first to the last
 * one.  Old files have none at all.
 */
void dump_remark_split(const char *text, struct dump_remark *out)
{
	const char *first = strchr(text, '"');
	const char *last = strrchr(text, '"');

	out->before = text;
	if (first && last > first) {
		out->desc = first + 1;
		out->n_desc = (size_t)(last - out->desc);
		out->after = last + 1;
		return;
	}
	take_space(&text);
	out->desc = text;
	out->after = end_of_bare(text);
	out->n_desc = (size_t)(out->after - text);
	while (out->n_desc && isspace((unsigned char)text[out->n_desc - 1]))
		out->n_desc--;
	if (!out->n_desc)
		out->desc = NULL;
}

uint64_t remark_number(const char *text, const char *end, const char *word)
{
	uint64_t n = 0;

	while (text < end) {
		take_space(&text);
		if (take_word(&text, word)) {
			take_space(&text);
			return take_number(&text, UINT32_MAX, &n) ? n : 0;
		}
		text += strcspn(text, " \t");
	}
	return 0;
}
