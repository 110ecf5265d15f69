/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading the two YAML files (the only user of libyaml).
 *
 * Strict: an unknown or duplicate key, a wrong type, a value out of range or a
 * name that is not defined is an error with line and column, and all errors
 * of a file are reported in one run.  Anything else than a policy that is free
 * of errors returns NULL.
 */
#ifndef QOSD_CONFIG_CONF_H
#define QOSD_CONFIG_CONF_H

#include "lib/base/buf.h"
#include "lib/base/findings.h"
#include "plan/settings.h"
#include "qos/policy.h"

/* Files larger than this are refused: no policy is that long. */
#define CONF_FILE_MAX (16u << 20)

/*
 * The bytes of a file, added to text; false with an error without position in out, and errno.  See
 * file_read(): it takes FILE_SECONDS at most, and only regular files are read.
 */
bool conf_read_file(const char *path, struct buf *text, struct findings *out);
/*
 * From the bytes of a file, which findings call `name`.  NULL, with at least one error in out, if it
 * can't be used.  The caller frees with policy_free() and settings_free().
 */
struct policy *conf_parse_policy(const char *name, const char *text, size_t n,
				 struct findings *out);
/* Asks the system nothing, as a directory service may not answer: groups that have a name are unknown. */
struct settings *conf_read_settings(const char *name, const char *text, size_t n,
				    struct findings *out);
/*
 * Looks up the groups that are unknown, each for GROUP_SECONDS at most.  One that can't be looked up
 * stays unknown, with a warning; false, with an error: there is no such group.
 */
bool conf_find_groups(struct settings *s, struct findings *out);
/* Normal form: YAML that parses to the same policy, and prints as itself. */
void conf_print_policy(const struct policy *p, struct buf *out);

#endif
