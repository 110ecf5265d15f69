/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Helpers for the tests of the readers of policy.yaml and qosd.yaml. */
#ifndef CONF_TEST_H
#define CONF_TEST_H

#include "config/conf.h"

/* A path below the source tree: QOSD_SRCDIR, or the current directory.  Freed by the caller. */
char *source_path(const char *below);
/* Returns the contents of a file, or NULL if there is none.  The caller frees it; n may be NULL. */
char *slurp(const char *path, size_t *n);

/* Appends all findings, one a line, as --check prints them. */
void findings_text(const struct findings *f, struct buf *out);
/* Parse the policy or settings in a text named "t"; findings go to `found`, which is emptied first. */
struct policy *parse_policy(const char *text, struct findings *found);
struct settings *parse_settings(const char *text, struct findings *found);
/* Parses settings with the groups that they name; `name` is the file name in findings. */
struct settings *whole_settings(const char *name, const char *text, size_t n, struct findings *found);
/* Parses a policy; fails the test if there are errors. */
struct policy *good_policy(const char *text);

#endif
