/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints the standbys of a master, for `standbys` and `status`. */
#include "text.h"

/* An age in seconds, or "-". */
static const char *age(const json_t *o, const char *member, char *text, size_t n)
{
	if (!has(o, member))
		return "-";
	snprintf(text, n, "%.1f s", real(o, member));
	return text;
}

static const char *policy(const json_t *o)
{
	if (!has(o, "same-policy"))
		return "unknown";
	return json_is_true(json_object_get(o, "same-policy")) ? "same" : "another";
}

static void print_standbys(const json_t *answer)
{
	const json_t *list = json_object_get(json_object_get(answer, "result"), "standbys"), *x;
	char text[32];
	size_t i;

	puts("STATE        PRIORITY  POLICY   COPY AGE  PORT");
	json_array_foreach(list, i, x)
		printf("%-11s  %8lld  %-7s  %8s  %s\n", str(x, "state"), num(x, "priority"), policy(x),
		       age(x, "copy-age", text, sizeof(text)), has(x, "name") ? str(x, "name") : str(x, "guid"));
}

void put_standbys(const json_t *list)
{
	const json_t *x;
	char text[32];
	size_t i;

	json_array_foreach(list, i, x)
		printf(LABEL "%s, priority %lld, %s, policy: %s, age of the copy: %s\n", i ? "" : "standbys",
		       has(x, "name") ? str(x, "name") : str(x, "guid"), num(x, "priority"), str(x, "state"),
		       policy(x), age(x, "copy-age", text, sizeof(text)));
}

const struct output text_standbys = { .head = print_standbys };
