/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The internal interface of the program qosd, for command line, configuration files and daemon. */
#ifndef QOSD_DAEMON_QOSD_H
#define QOSD_DAEMON_QOSD_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/findings.h"
#include "plan/published_state.h"
#include "plan/settings.h"

#define DEFAULT_CONFIG	"/etc/qosd/qosd.yaml"
#define DEFAULT_POLICY	"/etc/qosd/policy.yaml"
#define DEFAULT_SOCKET	"/run/qosd/qosd.sock"
#define DEFAULT_STATE	"/var/lib/qosd"

/* Exit statuses. */
enum {
	EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2,
	EXIT_NEWER_STATE = 3,	/* a newer qosd wrote the state folder; known to the systemd units */
};

struct options {
	const char *config, *policy;
	bool config_named, policy_named;	/* named on the command line: must exist */
	const char *socket, *state_dir;
	const char *topology;			/* a dump to check against, or NULL */
	const char *devices;			/* a file on the devices of the dump, or NULL */
	const char *ibnl;			/* directory of IBNL files for the dump, or NULL */
	const char *lfts;			/* file of forwarding tables to evaluate, or NULL */
	uint64_t guid;				/* port GUID; 0: as the settings say */
	bool foreground, once, check, verbose;
};

/* options.c */
/* Returns -1 to go on, otherwise the exit status (after --help or a usage error). */
int options_parse(struct options *o, int argc, char **argv);

/* config_files.c */
/*
 * Loads the settings, or built-in defaults if the file is missing at its default place; NULL:
 * see out.  *from_file: in, whether a missing or empty file is an error; out, whether there is text in it.
 */
struct settings *load_settings(const struct options *o, bool *from_file, struct findings *out);
/*
 * Reads the names of nodes that the settings name a file for; *names is NULL if they name none.  False, with a
 * warning: the file cannot be read.
 */
struct name_map;
bool load_names(const struct settings *s, struct name_map **names, struct findings *out);
/*
 * Loads the policy, as `policy` of the settings says; s may be NULL if the settings are not
 * known.  NULL: see out.
 */
struct shared_policy *load_policy(const struct options *o, const struct settings *s,
				  struct findings *out);
/*
 * As load_policy(), for the start: also applies the rules for a first policy, and logs out.  If the file is
 * refused, or missing though a policy was in force before, out has an error, and the result is the
 * last good policy of the state folder (POLICY_KEPT) or else the built-in one.  NULL only with
 * --once, whose user can correct the file at once, or without settings.
 */
struct shared_policy *load_first_policy(const struct options *o, const struct settings *s,
					struct findings *out);
/* Writes all findings to standard output. */
void print_findings(const struct findings *f);
/* Runs --check, with --topology also on that fabric; returns the exit status. */
int check_files(const struct options *o);

/* daemon.c */
/* Runs the daemon until it is told to end; returns the exit status. */
int daemon_run(const struct options *o);

#endif
