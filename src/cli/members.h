/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads members of a JSON object for output; a missing one reads as "" or 0. */
#ifndef QOSD_CLI_MEMBERS_H
#define QOSD_CLI_MEMBERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#define LABEL "%-13s"	/* in text output, before a value */

static inline const char *str(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

static inline long long num(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static inline double real(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

static inline bool has(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return v && !json_is_null(v);
}

/* Prints a number right-aligned, or "-" if there is none. */
static inline void put_num(const json_t *o, const char *key, int width)
{
	if (has(o, key))
		printf("%*lld", width, num(o, key));
	else
		printf("%*s", width, "-");
}

/* Prints an array of names, separated by commas. */
static inline void put_names(const json_t *names)
{
	for (size_t i = 0; i < json_array_size(names); i++)
		printf("%s%s", i ? ", " : "", json_string_value(json_array_get(names, i)));
}

#endif
