/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Collects the findings of checks, each with severity, place and text.
 *
 * A check looks at a file alone or against a fabric. findings_format() prints a finding as
 * `file:line:column: severity: text`.  A check collects all findings and does not stop at the
 * first.
 */
#ifndef QOSD_LIB_BASE_FINDINGS_H
#define QOSD_LIB_BASE_FINDINGS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"

enum severity { SEV_ERROR, SEV_WARNING, SEV_INFO };

/* A place in a text file.  Lines and columns count from 1; 0 means unknown. */
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
	size_t count[3];	/* findings by severity, including those dropped beyond `max` */
	size_t max;		/* limit of entries kept; 0 means FINDINGS_MAX */
};

/* Beyond this number findings_add() only counts findings. */
#define FINDINGS_MAX 1000

void findings_add(struct findings *f, enum severity severity, const char *file,
		  struct src_pos pos, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* Appends all of src to dst and empties src. */
void findings_move(struct findings *dst, struct findings *src);
void findings_copy(struct findings *dst, const struct findings *src);
/* Sorts by file and position; findings at the same place keep their order. */
void findings_sort(struct findings *f);
/* The first error; NULL: there is none. */
const struct finding *findings_first_error(const struct findings *f);
void findings_format(const struct finding *f, struct buf *out);
/* Logs each finding on a line of its own, up to FINDINGS_LOGGED lines; module is that of log_at(). */
void findings_log(const struct findings *f, const char *module);
#define FINDINGS_LOGGED 40
void findings_free(struct findings *f);
const char *severity_name(enum severity s);

#endif
