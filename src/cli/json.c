/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Prints JSON output: one value per command.  Rows are printed as they arrive, as elements of their
 * array; rows of an endless answer are values of their own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clean.h"
#include "output.h"

#define REALS JSON_REAL_PRECISION(10)

static const char *array_name;	/* NULL: no rows; "": the rows are the whole answer */
static bool any_row;

/*
 * Escapes control characters that JSON does not: it escapes those below 0x20, and all others are
 * inside strings.  They are below U+10000, as the text is UTF-8.
 */
static void put_escaped(const char *text, size_t n)
{
	for (size_t i = 0, size; i < n; i += size) {
		uint32_t c;
		bool obeyed;

		size = clean_next(text + i, &c, &obeyed);
		if (obeyed && c >= 0x7f)
			printf("\\u%04x", c);
		else
			fwrite(text + i, size, 1, stdout);
	}
}

void put_json(const json_t *value, size_t flags)
{
	char *text = json_dumps(value, flags);

	put_escaped(text, strlen(text));
	free(text);
}

/* Prints an object without its closing brace, and opens the array of rows. */
static void open_object(const json_t *object, const char *rows)
{
	char *text = json_dumps(object, JSON_INDENT(2) | REALS);
	size_t n = strlen(text);

	/* remove only the object's own "\n}": its last member may be an object, too */
	if (n > 0)
		n--;
	while (n > 0 && text[n - 1] == '\n')
		n--;
	put_escaped(text, n);
	printf(",\n  \"%s\": [", rows);
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
		put_json(result, JSON_INDENT(2) | REALS);
		printf("\n");
	} else {
		printf("{}\n");
	}
}

static bool row(const json_t *value)
{
	printf(any_row ? ",\n    " : "\n    ");
	any_row = true;
	put_json(value, REALS);
	return true;
}

static bool end(bool complete)
{
	if (complete && array_name)
		printf("\n%s", *array_name ? "  ]\n}\n" : "]\n");
	return true;
}

/* --- rows only, one per line, as they arrive --- */

static bool line(const json_t *value)
{
	put_json(value, JSON_COMPACT | REALS);
	printf("\n");
	return fflush(stdout) == 0;
}

const struct output json_lines_output = { .row = line };
const struct output json_output = { .head = head, .row = row, .end = end };
