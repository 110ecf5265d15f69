/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the two YAML configuration files (the only user of libyaml).
 *
 * Strict: an unknown or duplicate key, a wrong type, a value out of range or a name that is not
 * defined is an error with line and column, and all errors of a file are reported in one run.  The
 * parsers return NULL unless the file is free of errors.
 */
#ifndef QOSD_CONFIG_CONF_H
#define QOSD_CONFIG_CONF_H

#include "fabric/device_kinds.h"
#include "lib/base/buf.h"
#include "lib/base/findings.h"
#include "plan/settings.h"
#include "qos/policy.h"

/* Files larger than this are refused: no policy is that long. */
#define CONF_FILE_MAX (16u << 20)

/*
 * Appends the bytes of a file to text.  On error returns false, with a finding without position in
 * out, and errno.  Takes at most FILE_SECONDS, and reads only regular files; see file_read().
 */
bool conf_read_file(const char *path, struct buf *text, struct findings *out);
/* The checksum of a policy file with these bytes, as struct policy has it. */
uint64_t conf_checksum(const char *text, size_t n);
/*
 * Parses the bytes of a file, which findings call `name`.  Returns NULL, with at least one error in
 * out, if it cannot be used.  The caller frees the result with policy_free() or settings_free().
 */
struct policy *conf_parse_policy(const char *name, const char *text, size_t n,
				 struct findings *out);
/* Does not look up groups by name, as a directory service may not answer: they stay unknown. */
struct settings *conf_read_settings(const char *name, const char *text, size_t n,
				    struct findings *out);
/*
 * Calls differs() for each setting whose values differ.  live: it may change while the daemon runs;
 * any other needs a restart.  Groups differ if their names do.
 */
void conf_compare_settings(const struct settings *a, const struct settings *b,
			   void (*differs)(void *arg, const char *name, bool live), void *arg);
/* Exchanges the values of the live settings that differ. */
void conf_swap_live_settings(struct settings *a, struct settings *b);
/* Copies those values to a copy for a plan (settings_for_plan()). */
void conf_copy_live_settings(const struct settings *from, struct settings *to);
/* The file of --devices; the caller frees the result with device_kinds_free(). */
struct device_kinds *conf_read_devices(const char *name, const char *text, size_t n,
				       struct findings *out);
/*
 * Looks up the unknown groups, each for at most GROUP_SECONDS.  A group whose lookup fails stays
 * unknown, with a warning; returns false, with an error, if a group does not exist.
 */
bool conf_find_groups(struct settings *s, struct findings *out);
/*
 * The Service-ID of a ULP's path queries: with its usual port, the first if it has several, or with
 * the given one (0..65535; -1: the usual).  ULP_NONE: any RDMA CM client over TCP ports.  Returns false
 * if it has no Service-ID of its own (ipoib, srp, or no port for ULP_NONE).
 */
bool conf_ulp_service_id(enum policy_ulp ulp, int port, uint64_t *service_id);
/* Prints the normal form: YAML that parses to the same policy, and prints as itself. */
void conf_print_policy(const struct policy *p, struct buf *out);

#endif
