/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files and their lines.  The first line that only one format has tells the format of the
 * file; the lines before it wait until then.  Messages that programs wrote to standard error
 * are passed over, wherever they are.
 */
#include "sim/topo/dump_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/ibdm/ibdm.h"
#include "lib/base/clean.h"

#define LINE_BYTES_MAX 2048
#define WAITING_MAX 1000	/* lines; no format begins with as many that could be anything */

static const struct reader_format *const formats[] = {
	&format_net, &format_list, &format_report, &format_systems,
};

/* --- which format --- */

static bool says_nothing(const char *line)
{
	take_space(&line);
	return !*line || *line == '#';
}

static const struct reader_format *recognise(const char *line)
{
	take_space(&line);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (formats[i]->recognise(line))
			return formats[i];
	return NULL;
}

static void not_recognised(struct reader *r)
{
	const struct waiting_line *first = NULL;

	for (size_t i = 0; i < r->waiting.n && !first; i++)
		if (!says_nothing(r->waiting.v[i].text))
			first = &r->waiting.v[i];
	if (first)
		dump_error(r->d, first->pos, "this is no topology in a format that is read: "
			   "\"%.24s\"", first->text);
	r->stop = true;
}

static void read_waiting(struct reader *r)
{
	struct dump_pos here = r->pos;

	for (size_t i = 0; i < r->waiting.n; i++) {
		r->pos = r->waiting.v[i].pos;
		r->format->read(r, r->waiting.v[i].text);
	}
	r->pos = here;
}

/* False: the line waits until the format is known. */
static bool format_is_known(struct reader *r, const char *line)
{
	if (r->format)
		return true;
	r->format = recognise(line);
	if (r->format) {
		read_waiting(r);
		return true;
	}
	*vec_push(&r->waiting) = (struct waiting_line){ xstrdup(line), r->pos };
	if (r->waiting.n > WAITING_MAX)
		not_recognised(r);
	return false;
}

static void read_line(struct reader *r, const char *line)
{
	if (reader_is_stray(line)) {
		if (!r->n_stray++) {
			r->stray_pos = r->pos;
			snprintf(r->stray, sizeof(r->stray), "%.80s", line);
			clean_text(r->stray);
		}
	} else if (format_is_known(r, line)) {
		r->format->read(r, line);
	}
}

/* --- lines and files --- */

/*
 * The next line without its end; false at the end of the file.  *n is its full
 * length, which may be more than fits; bytes that no text has stop the reader.
 */
static bool next_line(struct reader *r, FILE *in, char line[LINE_BYTES_MAX], size_t *n)
{
	int c;

	for (*n = 0; (c = getc_unlocked(in)) != EOF && c != '\n'; ++*n) {
		if ((c < ' ' && c != '\t' && c != '\r') || c == 0x7f) {
			r->pos.line++;
			fail(r, "byte 0x%02x: this is no text file", (unsigned)c);
			r->stop = true;
			return false;
		}
		if (*n < LINE_BYTES_MAX - 1)
			line[*n] = (char)c;
	}
	if (c == EOF && *n == 0)
		return false;
	r->pos.line++;
	if (*n && *n < LINE_BYTES_MAX && line[*n - 1] == '\r')
		--*n;
	line[*n < LINE_BYTES_MAX ? *n : LINE_BYTES_MAX - 1] = 0;
	return true;
}

static void read_lines(struct reader *r, FILE *in)
{
	char line[LINE_BYTES_MAX];
	size_t n;

	while (!r->stop && !dump_hopeless(r->d) && next_line(r, in, line, &n)) {
		if (n >= LINE_BYTES_MAX)
			fail(r, "the line is longer than %u bytes", LINE_BYTES_MAX - 1);
		else
			read_line(r, line);
	}
}

void reader_read_file(struct reader *r, char *path, struct dump_pos from)
{
	struct dump_pos pos = { (uint32_t)r->d->files.n, 0 };
	FILE *in = fopen(path, "re");

	*vec_push(&r->d->files) = path;
	if (!in && from.line)
		dump_error(r->d, from, "%s: %s", path, strerror(errno));
	else if (!in)
		dump_error(r->d, pos, "%s", strerror(errno));
	if (!in)
		return;
	r->pos = pos;
	reader_no_node(r);
	read_lines(r, in);
	if (ferror(in))
		dump_error(r->d, pos, "%s", strerror(errno));
	fclose(in);
}

static void reader_start(struct reader *r, struct dump *d)
{
	*r = (struct reader){
		.d = d, .node = SIM_NONE,
		.guid_base = {
			[SIM_CA] = 0x100000, [SIM_SWITCH] = 0x200000, [SIM_ROUTER] = 0x300000,
		},
	};
	memcpy(r->guid_next, r->guid_base, sizeof(r->guid_next));
	map64_init(&r->places, 64);
}

static void reader_end(struct reader *r)
{
	for (size_t i = 0; i < r->waiting.n; i++)
		free(r->waiting.v[i].text);
	vec_free(&r->waiting);
	map64_free(&r->places);
	ibdm_free(r->systems);
}

static void say_stray(struct reader *r)
{
	if (r->n_stray == 1)
		dump_warn(r->d, r->stray_pos, "a program's message, which is ignored: %s",
			  r->stray);
	else if (r->n_stray)
		dump_warn(r->d, r->stray_pos, "the first of %u messages of programs, which are "
			  "ignored: %s", r->n_stray, r->stray);
}

void dump_read(struct dump *d, const char *path)
{
	struct reader r;

	reader_start(&r, d);
	reader_read_file(&r, xstrdup(path), (struct dump_pos){ 0 });
	if (!r.format && !d->n_err)
		not_recognised(&r);
	if (r.format && r.format->end && !d->n_err)
		r.format->end(&r);
	say_stray(&r);
	if (!d->n_err && d->nodes.n == 0)
		dump_error(d, (struct dump_pos){ 0 }, "no nodes in it");
	reader_end(&r);
}
