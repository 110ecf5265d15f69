/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of text output share: members of an object, and findings. */
#ifndef QOSD_CTL_TEXT_H
#define QOSD_CTL_TEXT_H

#include <stdio.h>

#include "output.h"

#define LABEL "%-13s"

/* --- what is missing reads as "" or 0 --- */

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

/* At most so many, each as a line. */
void put_findings(const json_t *findings, size_t most, const char *indent, FILE *out);
/* Where a policy came from, and whether it is on trial (text_policy.c). */
void put_policy(const json_t *policy);

#endif
