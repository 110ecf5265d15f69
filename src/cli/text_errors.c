/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints `errors` and `errors clear` as text: a port, and a line for each of its counters. */
#include "text.h"

/* "35 s", "12 min", "3.5 h", "2.0 d" */
static const char *span(double s, char text[24])
{
	if (s < 120)
		snprintf(text, 24, "%.0f s", s);
	else if (s < 7200)
		snprintf(text, 24, "%.0f min", s / 60);
	else if (s < 172800)
		snprintf(text, 24, "%.1f h", s / 3600);
	else
		snprintf(text, 24, "%.1f d", s / 86400);
	return text;
}

static void errors_head(const json_t *answer)
{
	const json_t *r = json_object_get(answer, "result");
	char text[24];

	printf("%lld port%s with errors; ", num(r, "count"), num(r, "count") == 1 ? "" : "s");
	if (!has(r, "read-ago")) {
		printf("counters have not been read yet\n");
		return;
	}
	printf("%lld port%s read %s ago, %lld over a limit", num(r, "read"), PLURAL(num(r, "read"), " was", "s were"),
	       span(real(r, "read-ago"), text), num(r, "over"));
	if (num(r, "silent"))
		printf(", %lld without an answer", num(r, "silent"));
	putchar('\n');
}

static bool errors_row(const json_t *o)
{
	const json_t *list = json_object_get(o, "counters"), *x;
	char text[24];
	size_t i;

	printf("\n%s", str(o, "port"));
	if (has(o, "peer"))
		printf(" to %s", str(o, "peer"));
	printf(", watched for %s\n", span(real(o, "watched"), text));
	json_array_foreach(list, i, x) {
		printf("  %-27s %s%lld, %lld in the last hour", str(x, "iba-name"),
		       json_is_true(json_object_get(x, "stopped")) ? ">=" : "", num(x, "total"),
		       num(x, "last-hour"));
		if (num(x, "seen"))
			printf(", %.3g per hour", real(x, "per-hour"));
		if (has(x, "over-for"))
			printf(": OVER the limit of %lld for %s", num(x, "limit"),
			       span(real(x, "over-for"), text));
		putchar('\n');
	}
	return true;
}

static bool cleared_row(const json_t *o)
{
	printf("%lld port%s cleared\n", num(o, "cleared"), num(o, "cleared") == 1 ? "" : "s");
	if (num(o, "unanswered"))
		printf("%lld did not confirm\n", num(o, "unanswered"));
	return true;
}

const struct output text_errors = { .head = errors_head, .row = errors_row };
const struct output text_errors_clear = { .row = cleared_row };
