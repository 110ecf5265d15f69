/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints `missing` and `forget` as text. */
#include <string.h>

#include "text.h"

static void missing_head(const json_t *answer)
{
	const json_t *result = json_object_get(answer, "result");

	if (has(result, "count"))
		printf("%lld\n", num(result, "count"));
	else
		puts("KIND       SINCE                 WAS       WHAT");
}

static bool missing_row(const json_t *o)
{
	const char *kind = str(o, "kind");
	bool is_link = strstr(kind, "link") || strcmp(kind, "rate") == 0;

	printf("%-9s %s%s  %-8s  %s", kind, json_is_true(json_object_get(o, "watched")) ? " " : "<",
	       str(o, "since"), has(o, "was") ? str(o, "was") : "-", str(o, "name"));
	if (has(o, "far-name"))
		printf("%s%s", is_link ? " -> " : ", at ", str(o, "far-name"));
	if (has(o, "is"))
		printf(", now %s", str(o, "is"));
	if (has(o, "linked-to"))
		printf("; %s is linked to %s now", str(o, "name"), str(o, "linked-to"));
	if (has(o, "far-linked-to"))
		printf("; %s is linked to %s now", str(o, "far-name"), str(o, "far-linked-to"));
	if (has(o, "moved-to"))
		printf("; %s is linked to %s since %s", str(o, "moved-to"), str(o, "far-moved-to"),
		       str(o, "moved-since"));
	else if (num(o, "new-links"))
		printf("; %lld new link%s since", num(o, "new-links"), num(o, "new-links") == 1 ? "" : "s");
	putchar('\n');
	return true;
}

static void print_forget(const json_t *answer)
{
	printf("forgotten: %lld\n", num(json_object_get(answer, "result"), "forgotten"));
}

const struct output text_missing = { .head = missing_head, .row = missing_row };
const struct output text_forget = { .head = print_forget };
