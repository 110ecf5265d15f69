/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Implements the list of findings; see findings.h. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/findings.h"
#include "lib/base/log.h"
#include "lib/base/search.h"

const char *severity_name(enum severity s)
{
	static const char *const names[] = { "error", "warning", "info" };
	return names[s];
}

static struct finding *findings_slot(struct findings *f, enum severity severity)
{
	size_t max = f->max ? f->max : FINDINGS_MAX;

	f->count[severity]++;
	if (f->n >= max)
		return NULL;
	return vec_push(f);
}

void findings_add(struct findings *f, enum severity severity, const char *file,
		  struct src_pos pos, const char *fmt, ...)
{
	struct finding *e = findings_slot(f, severity);
	struct buf b = { 0 };
	va_list ap;

	if (!e)
		return;
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	*e = (struct finding){ severity, pos, xstrdup(file ? file : ""), b.s };
}

void findings_copy(struct findings *dst, const struct findings *src)
{
	for (size_t i = 0; i < src->n; i++) {
		const struct finding *s = &src->v[i];
		findings_add(dst, s->severity, s->file, s->pos, "%s", s->text);
	}
	/* add the findings that src counted but did not keep */
	size_t kept[3] = { 0 };
	for (size_t i = 0; i < src->n; i++)
		kept[src->v[i].severity]++;
	for (int s = 0; s < 3; s++)
		dst->count[s] += src->count[s] - kept[s];
}

void findings_move(struct findings *dst, struct findings *src)
{
	findings_copy(dst, src);
	findings_free(src);
}

struct keyed { struct finding f; size_t index; };

static int compare(const void *pa, const void *pb)
{
	const struct keyed *a = pa, *b = pb;

	return strcmp(a->f.file, b->f.file) ?: ORDER(a->f.pos.line, b->f.pos.line) ?:
	       ORDER(a->f.pos.col, b->f.pos.col) ?: ORDER(a->index, b->index);
}

void findings_sort(struct findings *f)
{
	struct keyed *k = xcalloc(f->n, sizeof(*k));

	for (size_t i = 0; i < f->n; i++)
		k[i] = (struct keyed){ f->v[i], i };
	qsort(k, f->n, sizeof(*k), compare);
	for (size_t i = 0; i < f->n; i++)
		f->v[i] = k[i].f;
	free(k);
}

static void format_place(const struct finding *f, struct buf *out)
{
	if (*f->file)
		buf_printf(out, "%s:", f->file);
	if (f->pos.line)
		buf_printf(out, "%u:%u:", f->pos.line, f->pos.col);
	if (*f->file || f->pos.line)
		buf_puts(out, " ");
}

const struct finding *findings_first_error(const struct findings *f)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->v[i].severity == SEV_ERROR)
			return &f->v[i];
	return NULL;
}

void findings_format(const struct finding *f, struct buf *out)
{
	format_place(f, out);
	buf_printf(out, "%s: %s", severity_name(f->severity), f->text);
}

void findings_log(const struct findings *f, const char *module)
{
	static const enum log_level level[] = { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO };

	for (size_t i = 0; i < f->n && i < FINDINGS_LOGGED; i++) {
		struct buf line = { 0 };

		/* the log line shows the severity already */
		format_place(&f->v[i], &line);
		buf_puts(&line, f->v[i].text);
		log_at(level[f->v[i].severity], module, "%s", line.s);
		buf_free(&line);
	}
	if (f->n > FINDINGS_LOGGED)
		log_warn(module, "%zu more findings", f->n - FINDINGS_LOGGED);
}

void findings_free(struct findings *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->v[i].file);
		free(f->v[i].text);
	}
	free(f->v);
	*f = (struct findings){ .max = f->max };
}
