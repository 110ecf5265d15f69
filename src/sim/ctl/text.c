/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Formats a JSON answer as text.
 *
 *   array of objects    a table: names of members above, a row each
 *   object              "name  value" lines; then its arrays of objects, as tables
 *   other arrays        "1,2,3"
 *   objects in a line   "name value, name value"
 *
 * Control characters, which names from a dump may have, become '?'.
 */
#include "sim/ctl/command.h"

#include <stdlib.h>

#include "lib/base/alloc.h"

static bool is_table(const json_t *v)
{
	return json_is_array(v) && json_is_object(json_array_get(v, 0));
}

static bool is_control(char c)
{
	return (unsigned char)c < 0x20 || c == 0x7f;
}

void text_clean(const char *s, struct buf *out)
{
	for (; *s; s++)
		buf_add(out, is_control(*s) && *s != '\n' ? "?" : s, 1);
}

static void put_string(const char *s, struct buf *out)
{
	for (; *s; s++)
		buf_add(out, is_control(*s) ? "?" : s, 1);
}

static void put_value(json_t *v, struct buf *out);

static void put_elements(json_t *array, struct buf *out)
{
	size_t i;
	json_t *v;

	json_array_foreach(array, i, v) {
		if (i)
			buf_puts(out, ",");
		put_value(v, out);
	}
}

static void put_members(json_t *object, struct buf *out)
{
	const char *name, *between = "";
	json_t *v;

	json_object_foreach(object, name, v) {
		buf_printf(out, "%s%s ", between, name);
		put_value(v, out);
		between = ", ";
	}
}

static void put_value(json_t *v, struct buf *out)
{
	size_t before = out->n;

	switch (json_typeof(v)) {
	case JSON_STRING:
		put_string(json_string_value(v), out);
		break;
	case JSON_INTEGER:
		buf_printf(out, "%lld", (long long)json_integer_value(v));
		break;
	case JSON_REAL:
		buf_printf(out, "%.6f", json_real_value(v));
		break;
	case JSON_TRUE:
		buf_puts(out, "yes");
		break;
	case JSON_FALSE:
		buf_puts(out, "no");
		break;
	case JSON_ARRAY:
		put_elements(v, out);
		break;
	case JSON_OBJECT:
		put_members(v, out);
		break;
	case JSON_NULL:
		break;
	}
	if (out->n == before)
		buf_puts(out, "-");
}

/* --- columns --- */

/* Columns that a text takes on a terminal: its bytes, without continuation bytes of UTF-8. */
static size_t columns(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

static void pad(struct buf *out, size_t from, size_t to)
{
	for (; from < to; from++)
		buf_puts(out, " ");
}

/* The text of a cell, in a buffer that the next call overwrites. */
static const char *cell(json_t *v, struct buf *scratch)
{
	scratch->n = 0;
	put_value(v, scratch);
	return scratch->s;
}

/* Width of each column: that of its name or of its widest cell. */
static void measure(json_t *rows, size_t *widths, struct buf *scratch)
{
	size_t i, k = 0;
	json_t *row, *v;
	const char *name;

	json_object_foreach(json_array_get(rows, 0), name, v)
		widths[k++] = columns(name);
	json_array_foreach(rows, i, row) {
		k = 0;
		json_object_foreach(row, name, v) {
			size_t w = columns(cell(v, scratch));

			if (w > widths[k])
				widths[k] = w;
			k++;
		}
	}
}

/* Aligns numbers right and other values left; does not pad the last column. */
static void put_cell(const char *text, bool number, size_t width, bool last, struct buf *out)
{
	size_t n = columns(text);

	if (number)
		pad(out, n, width);
	buf_puts(out, text);
	if (!number && !last)
		pad(out, n, width);
	buf_puts(out, last ? "\n" : "  ");
}

/* All rows have the members of the first one. */
static void put_table(json_t *rows, struct buf *out)
{
	struct buf scratch = { 0 };
	size_t n = json_object_size(json_array_get(rows, 0)), i, k = 0;
	size_t *widths = xcalloc(n, sizeof(*widths));
	json_t *row, *v;
	const char *name;

	measure(rows, widths, &scratch);
	json_object_foreach(json_array_get(rows, 0), name, v) {
		put_cell(name, json_is_number(v), widths[k], k + 1 == n, out);
		k++;
	}
	json_array_foreach(rows, i, row) {
		k = 0;
		json_object_foreach(row, name, v) {
			put_cell(cell(v, &scratch), json_is_number(v), widths[k], k + 1 == n, out);
			k++;
		}
	}
	free(widths);
	buf_free(&scratch);
}

static void put_object(json_t *object, struct buf *out)
{
	size_t width = 0;
	const char *name;
	json_t *v;

	json_object_foreach(object, name, v) {
		if (!is_table(v) && columns(name) > width)
			width = columns(name);
	}
	json_object_foreach(object, name, v) {
		if (is_table(v))
			continue;
		put_cell(name, false, width, false, out);
		put_value(v, out);
		buf_puts(out, "\n");
	}
	json_object_foreach(object, name, v) {
		if (!is_table(v))
			continue;
		buf_printf(out, "\n%s:\n", name);
		put_table(v, out);
	}
}

void text_view(json_t *result, struct buf *out)
{
	if (is_table(result)) {
		put_table(result, out);
	} else if (json_is_object(result)) {
		put_object(result, out);
	} else if (json_array_size(result) == 0) {
		buf_puts(out, "none\n");
	}
}
