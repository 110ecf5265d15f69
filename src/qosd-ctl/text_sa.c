/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Text output of `sa-trace`: a line for each request. */
#include <inttypes.h>
#include <string.h>

#include "text.h"

static void put_member(const char *name, const json_t *value)
{
	if (json_is_integer(value))
		printf(" %s=%" JSON_INTEGER_FORMAT, name, json_integer_value(value));
	else if (json_is_string(value))
		printf(" %s=%s", name, json_string_value(value));
}

static void put_members(const json_t *o)
{
	const char *name;
	json_t *value;

	/* the object is not changed */
	json_object_foreach((json_t *)(uintptr_t)o, name, value)
		put_member(name, value);
}

static void put_outcome(const json_t *row)
{
	if (json_is_true(json_object_get(row, "dropped")))
		printf(": dropped");
	else if (num(row, "status"))
		printf(": status 0x%04llx", num(row, "status"));
	else if (has(row, "answered"))
		put_members(json_object_get(row, "answered"));
	if (num(row, "records") != 1 && !num(row, "status"))
		printf(" (%lld records)", num(row, "records"));
	if (has(row, "us"))
		printf(", %lld us", num(row, "us"));
}

static bool put_event(const json_t *row)
{
	if (has(row, "lost-before"))
		printf("(%lld more)\n", num(row, "lost-before"));
	printf("%s ", str(row, "time"));
	if (has(row, "client"))
		printf("%s ", str(row, "client"));
	printf("LID %lld: %s %s", num(row, "lid"), str(row, "method"), str(row, "attribute"));
	if (has(row, "asked"))
		put_members(json_object_get(row, "asked"));
	else
		printf(" mask=%s", str(row, "mask"));
	printf(" ->");
	put_outcome(row);
	printf("\n");
	return fflush(stdout) == 0;
}

static void no_head(const json_t *answer)
{
	(void)answer;
}

const struct output text_sa_trace = { .head = no_head, .row = put_event };
