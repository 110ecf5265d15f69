/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lines that the diagnostics write to standard error, and that are in a file because somebody
 * sent both to it.
 */
#include "sim/topo/dump_reader.h"

#include <string.h>

/* "ibwarn: [1234] …" */
static bool is_ibwarn(const char *p)
{
	static const char *const words[] = { "ibwarn", "ibpanic", "ibdebug" };
	uint64_t pid;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (take_word(&p, words[i]))
			return take_char(&p, ':') && take_char(&p, ' ') && take_char(&p, '[') &&
			       take_number(&p, UINT64_MAX, &pid) && take_char(&p, ']');
	return false;
}

/* "FILE.c:225; …": source files have no space and no quotes in their names. */
static bool is_source_line(const char *p)
{
	size_t n = strcspn(p, " \t\":");
	uint64_t number;

	if (n < 3 || memcmp(p + n - 2, ".c", 2) != 0)
		return false;
	p += n;
	return take_char(&p, ':') && take_number(&p, UINT64_MAX, &number) &&
	       (*p == ';' || *p == ':');
}

/* "NAME: …", or with folders in front of the name */
static bool is_named(const char *p)
{
	static const char *const names[] = {
		"libibnetdisc", "libibmad", "libibumad", "mad_rpc", "mad_rpc_rmpp",
		"mad_rpc_open_port", "_do_madrpc", "_do_mad_rpc",
	};
	size_t n = strcspn(p, " \t\":"), start = n;

	if (p[n] != ':')
		return false;
	while (start && p[start - 1] != '/')
		start--;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == n - start && memcmp(p + start, names[i], n - start) == 0)
			return true;
	return false;
}

bool reader_is_stray(const char *line)
{
	return is_ibwarn(line) || is_source_line(line) || is_named(line);
}
