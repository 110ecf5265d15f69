/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a check of a file (alone, or against a fabric) found: a list of
 * (severity, file, line, column, text), printed as
 * `file:line:column: severity: text`.
 *
 * All findings of a run are collected; nobody stops at the first.
 */
#ifndef QOSD_LIB_BASE_FINDINGS_H
#define QOSD_LIB_BASE_FINDINGS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"

enum severity { SEV_ERROR, SEV_WARNING, SEV_INFO };

/* A place in a text file; lines and columns count from 1, 0 = unknown. */
struct src_pos {
	uint32_t line, col;
};

struct finding {
	enum severity severity;
	struct src_pos pos;
	char *file;		/* owned */
	char *text;		/* owned */
};

struct findings {
	struct finding *v;
	size_t n, cap;
	size_t count[3];	/* by severity; count beyond `max` goes on */
	size_t max;		/* entries kept, 0 = FINDINGS_MAX */
};

/* Beyond this a file gets "too many" and the rest is only counted. */
#define FINDINGS_MAX 1000

void findings_add(struct findings *f, enum severity severity, const char *file,
		  struct src_pos pos, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* Moves all of src behind dst; src is empty afterwards. */
void findings_move(struct findings *dst, struct findings *src);
void findings_copy(struct findings *dst, const struct findings *src);
/* Orders by file and position; equal ones keep their order. */
void findings_sort(struct findings *f);
void findings_format(const struct finding *f, struct buf *out);
/* Each as a line of the log, at most FINDINGS_LOGGED; module as log_at() has it. */
void findings_log(const struct findings *f, const char *module);
#define FINDINGS_LOGGED 40
void findings_free(struct findings *f);
const char *severity_name(enum severity s);

#endif
