/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * JSON output: one value per command.  Rows are printed as they come, as
 * elements of the array that they belong to; those of an answer that has no end
 * as values of their own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"

#define REALS JSON_REAL_PRECISION(10)

static const char *array_name;	/* NULL: no rows; "": the rows are all */
static bool any_row;

/* An object without its closing brace, and the array's opening. */
static void open_object(const json_t *object, const char *rows)
{
	char *text = json_dumps(object, JSON_INDENT(2) | REALS);
	size_t n = strlen(text);

	/* "\n}" of the object itself: a last member may be an object, too */
	if (n > 0)
		n--;
	while (n > 0 && text[n - 1] == '\n')
		n--;
	printf("%.*s,\n  \"%s\": [", (int)n, text, rows);
	free(text);
}

static void head(const json_t *answer)
{
	const json_t *result = json_object_get(answer, "result");

	array_name = json_string_value(json_object_get(answer, "rows"));
	if (array_name && *array_name) {
		open_object(result, array_name);
	} else if (array_name) {
		printf("[");
	} else if (result) {
		json_dumpf(result, stdout, JSON_INDENT(2) | REALS);
		printf("\n");
	} else {
		printf("{}\n");
	}
}

static bool row(const json_t *value)
{
	printf(any_row ? ",\n    " : "\n    ");
	any_row = true;
	json_dumpf(value, stdout, REALS);
	return true;
}

static bool end(bool complete)
{
	if (complete && array_name)
		printf("\n%s", *array_name ? "  ]\n}\n" : "]\n");
	return true;
}

/* --- rows alone, each in a line, as they come --- */

static void no_head(const json_t *answer)
{
	(void)answer;
}

static bool line(const json_t *value)
{
	json_dumpf(value, stdout, JSON_COMPACT | REALS);
	printf("\n");
	return fflush(stdout) == 0;
}

static bool no_end(bool complete)
{
	(void)complete;
	return true;
}

const struct output json_lines_output = { .head = no_head, .row = line, .end = no_end };
const struct output json_output = { .head = head, .row = row, .end = end };
