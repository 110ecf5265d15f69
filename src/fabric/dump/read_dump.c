/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads topology files line by line, recognizes their format, and reports findings on them.  The
 * first line that only one format can have decides the format of the file.  Messages that programs
 * wrote to standard error are skipped, wherever they are.  Nothing in a file is trusted.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fabric/dump/reader.h"
#include "fabric/ibdm/ibdm.h"
#include "lib/base/clean.h"
#include "lib/base/file.h"

#define BYTES_MAX (256u << 20)	/* ten times the size for 100,000 ports */
#define LINE_LOOKED_AT 256	/* leading bytes of a line that recognition looks at */

/* --- messages --- */

static void say(struct reader *r, enum severity severity, unsigned n, struct dump_pos pos,
		const char *fmt, va_list ap)
{
	struct buf text = { 0 };

	if (n > DUMP_ERRORS_MAX)
		return;
	buf_vprintf(&text, fmt, ap);
	clean_text(text.s);
	findings_add(r->out, severity, r->d->files.v[pos.file],
		     (struct src_pos){ pos.line, pos.line ? 1 : 0 }, "%s",
		     n == DUMP_ERRORS_MAX ? "more like these" : text.s);
	buf_free(&text);
}

bool reader_error(struct reader *r, struct dump_pos pos, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(r, SEV_ERROR, r->n_err++, pos, fmt, ap);
	va_end(ap);
	return false;
}

void reader_warn(struct reader *r, struct dump_pos pos, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(r, SEV_WARNING, r->n_warn++, pos, fmt, ap);
	va_end(ap);
}

const char *dump_place(const struct dump *d, struct dump_pos pos, struct dump_pos from,
		       char out[DUMP_PLACE_MAX])
{
	if (pos.file == from.file)
		snprintf(out, DUMP_PLACE_MAX, "line %u", pos.line);
	else
		snprintf(out, DUMP_PLACE_MAX, "%s:%u", d->files.v[pos.file], pos.line);
	return out;
}

/* --- lines, and the format that they are in --- */

static const struct reader_format *const formats[] = {
	&format_net, &format_list, &format_report, &format_systems, &format_tables,
};

static bool says_nothing(const char *line)
{
	line += strspn(line, " \t\r\v\f");
	return !*line || *line == '#' || is_stray(line);
}

static const struct reader_format *format_of(char *line)
{
	take_space(&line);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (formats[i]->recognise(line))
			return formats[i];
	return NULL;
}

/*
 * Decides by the first line that only one format can have.  Returns NULL if no line does, with an
 * error at the first line that is not empty.
 */
static const struct reader_format *recognise(struct reader *r, const struct buf *text)
{
	const char *s = text->s, *stop;
	char head[LINE_LOOKED_AT], first[25] = "";
	struct dump_pos pos = { 0 };
	const struct reader_format *format = NULL;
	size_t n;

	for (size_t left = text->n, line = 1; left && !format; line++, s += n, left -= n) {
		stop = memchr(s, '\n', left);
		n = stop ? (size_t)(stop - s) : left;
		snprintf(head, sizeof(head), "%.*s", (int)n, s);
		n += !!stop;
		if (says_nothing(head))
			continue;
		if (!pos.line) {
			pos.line = (uint32_t)line;
			snprintf(first, sizeof(first), "%.*s", (int)strcspn(head, "\r"), head);
		}
		format = format_of(head);
	}
	if (!format && pos.line)
		reader_error(r, pos, "not a topology in a known format: \"%s\"", first);
	return format;
}

static void read_line(struct reader *r, char *line)
{
	if (!is_stray(line)) {
		r->format->read(r, line);
	} else if (!r->n_stray++) {
		r->stray_pos = r->pos;
		snprintf(r->stray, sizeof(r->stray), "%s", line);
	}
}

/* Ends lines in place. */
static void read_lines(struct reader *r, struct buf *text)
{
	char *line = text->s, *end, *c;

	for (size_t left = text->n; left && !r->stop && !reader_is_hopeless(r);
	     left -= (size_t)(end - line), line = end) {
		r->pos.line++;
		end = memchr(line, '\n', left);
		c = end ? end : line + left;	/* buf keeps room for a NUL at the end */
		end = end ? end + 1 : c;
		while (c > line && isspace((unsigned char)c[-1]))
			c--;
		*c = '\0';
		r->stop = strlen(line) != (size_t)(c - line);
		if (r->stop)
			fail(r, "a NUL byte: not a text file");
		else
			read_line(r, line);
	}
}

/* --- files --- */

static bool read_pipe(const char *path, size_t max, struct buf *text, struct buf *why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool ok = fd >= 0 && buf_read(text, fd, max);

	if (!ok)
		buf_printf(why, "cannot be read: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return ok;
}

/* Adds an error at `pos` if the file cannot be read. */
static bool read_text(struct reader *r, const char *path, struct dump_pos pos, struct buf *text)
{
	struct buf why = { 0 };
	struct stat st;
	bool pipe = r->from->pipes && !stat(path, &st) && S_ISFIFO(st.st_mode);
	bool ok = (pipe ? read_pipe : file_read)(path, BYTES_MAX - r->bytes, text, &why);

	r->bytes += text->n;
	if (!ok)
		reader_error(r, pos, "%s%s%s", pos.line ? path : "", pos.line ? ": " : "", why.s);
	buf_free(&why);
	return ok;
}

uint32_t reader_add_file(struct reader *r, const char *path)
{
	*vec_push(&r->d->files) = xstrdup(path);
	return (uint32_t)r->d->files.n - 1;
}

#define FILES_MAX 1024
#define DEPTH_MAX 8

static char *beside(const char *path, const char *name)
{
	const char *slash = *name == '/' ? NULL : strrchr(path, '/');

	return xasprintf("%.*s%s", slash ? (int)(slash + 1 - path) : 0, path, name);
}

void reader_include(struct reader *r, const char *path)
{
	struct dump_pos here = r->pos;
	struct buf text = { 0 };
	char *full = beside(r->d->files.v[here.file], path);

	if (r->depth == DEPTH_MAX || r->d->files.n == FILES_MAX) {
		fail(r, "more than %d files, or %d within each other, are included", FILES_MAX,
		     DEPTH_MAX);
		r->stop = true;
	} else if (read_text(r, full, here, &text)) {
		r->depth++;
		r->pos = (struct dump_pos){ reader_add_file(r, full), 0 };
		read_lines(r, &text);
		r->depth--;
		r->pos = here;
	}
	free(full);
	buf_free(&text);
}

/* --- all of it --- */

static void say_stray(struct reader *r)
{
	if (r->n_stray == 1)
		reader_warn(r, r->stray_pos, "a program's message, which is ignored: %s", r->stray);
	else if (r->n_stray)
		reader_warn(r, r->stray_pos, "the first of %u messages of programs, which are "
			    "ignored: %s", r->n_stray, r->stray);
}

static void read_all(struct reader *r)
{
	struct buf text = { 0 };

	if (read_text(r, r->from->path, r->pos, &text))
		r->format = recognise(r, &text);
	if (r->format)
		read_lines(r, &text);
	buf_free(&text);
	if (r->format && r->format->end && !r->n_err)
		r->format->end(r);
	say_stray(r);
	if (!r->n_err && !r->d->nodes.n)
		reader_error(r, (struct dump_pos){ 0 }, "no nodes in it");
	if (!r->n_err)
		reader_make_ports(r);
}

static void reader_free(struct reader *r)
{
	for (size_t i = 0; i < r->names.n; i++)
		free(r->names.v[i].text);
	vec_free(&r->names);
	vec_free(&r->lines);
	vec_free(&r->first_guid);
	map64_free(&r->name_by_hash);
	map64_free(&r->node_by_hint);
	ibdm_free(r->systems);
	dump_tables_free(r->tables);
}

struct dump *dump_read(const struct dump_source *from, struct findings *out)
{
	struct dump *d = xcalloc(1, sizeof(*d));
	struct reader r = {
		.d = d, .from = from, .out = out, .node = DUMP_NONE,
		.guid_base = {
			[DUMP_CA] = 0x100000, [DUMP_SWITCH] = 0x200000, [DUMP_ROUTER] = 0x300000,
		},
	};

	memcpy(r.guid_next, r.guid_base, sizeof(r.guid_next));
	reader_add_file(&r, from->path);
	read_all(&r);
	reader_free(&r);
	if (!r.n_err)
		return d;
	dump_release(d);
	return NULL;
}

void dump_release(struct dump *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->files.n; i++)
		free(d->files.v[i]);
	for (size_t i = 0; i < d->nodes.n; i++)
		free(d->nodes.v[i].name);
	vec_free(&d->files);
	vec_free(&d->nodes);
	map64_free(&d->node_by_guid);
	free(d->ports);
	free(d);
}
