/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parses words and speeds of IBNL and .topo lines, keeps lists of names, and reports errors. */
#include "fabric/ibdm/ibnl.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool ibdm_fail(struct ibdm_report *r, const char *file, uint32_t line, const char *fmt, ...)
{
	struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	r->n++;
	r->error(r->arg, file, line, text.s);
	buf_free(&text);
	return false;
}

bool ibdm_take_word(const char **s, char **word)
{
	size_t n;

	*s += strspn(*s, " \t\r\v\f");
	n = strcspn(*s, " \t\r\v\f");
	if (!n)
		return false;
	*word = xstrndup(*s, n);
	*s += n;
	return true;
}

/* --- speeds --- */

static const char *find_word(const char *const *words, const char *s, size_t n)
{
	for (; *words; words++)
		if (strlen(*words) == n && !strncasecmp(*words, s, n))
			return *words;
	return NULL;
}

bool ibdm_parse_speed(const char *s, size_t n, struct ibdm_speed *speed)
{
	static const char *const widths[] = { "1x", "2x", "4x", "8x", "12x", NULL };
	static const char *const rates[] = {
		"2.5", "5", "10", "FDR10", "14", "25", "50", "100", "200", NULL,
	};
	const char *end = s + n, *stop;

	*speed = (struct ibdm_speed){ "4x", "2.5" };
	if (!n || *s++ != '-')
		return false;
	stop = memchr(s, '-', (size_t)(end - s));
	if (stop && stop > s && tolower((unsigned char)stop[-1]) == 'x') {
		speed->width = find_word(widths, s, (size_t)(stop - s));
		s = stop + 1;
		stop = memchr(s, '-', (size_t)(end - s));
	}
	if (stop && stop > s && stop[-1] == 'G') {
		speed->gbps = find_word(rates, s, (size_t)(stop - s) - 1);
		s = stop + 1;
	}
	return s == end && speed->width && speed->gbps;
}

uint8_t ibdm_port_number(const char *word, unsigned max)
{
	char *end;
	unsigned long v;

	if (!isdigit((unsigned char)*word) || strlen(word) > 3)
		return 0;
	v = strtoul(word, &end, 10);
	return *end || v > max ? 0 : (uint8_t)v;
}

/* --- lists of names --- */

uint32_t ibdm_find_name(const struct ibdm_names *names, const char *name)
{
	uint32_t i = map64_get(&names->by_hash, hash_bytes(name, strlen(name), 0));

	return i != MAP64_NONE && !strcmp(names->v.v[i], name) ? i : MAP64_NONE;
}

uint32_t ibdm_add_name(struct ibdm_names *names, const char *name)
{
	uint64_t hash = hash_bytes(name, strlen(name), 0);
	uint32_t index = (uint32_t)names->v.n;

	if (map64_get(&names->by_hash, hash) != MAP64_NONE)
		return MAP64_NONE;
	map64_put(&names->by_hash, hash, index);
	*vec_push(&names->v) = xstrdup(name);
	return index;
}

void ibdm_free_names(struct ibdm_names *names)
{
	for (size_t i = 0; i < names->v.n; i++)
		free(names->v.v[i]);
	vec_free(&names->v);
	map64_free(&names->by_hash);
}
