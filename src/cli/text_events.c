/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints `events` as text, one line each, with the user who asked for what happened. */
#include "terminal.h"
#include "text.h"

static bool put_event(const json_t *row)
{
	if (has(row, "lost-before"))
		printf("(%lld more)\n", num(row, "lost-before"));
	printf("%s %lld ", str(row, "time"), num(row, "id"));
	put_word(str(row, "severity"), 7);
	printf(" %-18s %s", str(row, "kind"), str(row, "text"));
	fputs(has(json_object_get(row, "data"), "uid") ? ";" : "", stdout);
	put_user(json_object_get(row, "data"));
	printf("\n");
	return fflush(stdout) == 0;
}

const struct output text_events = { .row = put_event };
