/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the tests of the two readers share. */
#ifndef CONF_TEST_H
#define CONF_TEST_H

#include "config/conf.h"

/* A path below the source tree: QOSD_SRCDIR, or the current directory.  Freed by the caller. */
char *source_path(const char *below);
/* The whole file; NULL if there is none.  Freed by the caller, n may be NULL. */
char *slurp(const char *path, size_t *n);

/* All findings, a line each, as --check prints them. */
void findings_text(const struct findings *f, struct buf *out);
/* The policy or settings in a text named "t"; findings go to `found`, which is emptied first. */
struct policy *parse_policy(const char *text, struct findings *found);
struct settings *parse_settings(const char *text, struct findings *found);
/* Settings with the groups that they name; `name` stands for the file in findings. */
struct settings *whole_settings(const char *name, const char *text, size_t n, struct findings *found);
/* The same of a policy that has no errors. */
struct policy *good_policy(const char *text);

#endif
