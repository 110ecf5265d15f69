/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints `events` as text, one line each. */
#include "text.h"

static bool put_event(const json_t *row)
{
	if (has(row, "lost-before"))
		printf("(%lld more)\n", num(row, "lost-before"));
	printf("%s %lld %-7s %-18s %s\n", str(row, "time"), num(row, "id"), str(row, "severity"),
	       str(row, "kind"), str(row, "text"));
	return fflush(stdout) == 0;
}

const struct output text_events = { .row = put_event };
