/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Private to qosd/: the command line, the two files, and the daemon. */
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
	EXIT_NEWER_STATE = 3,	/* the state folder is of a newer qosd; the systemd units know it */
};

struct options {
	const char *config, *policy;
	bool config_named, policy_named;	/* on the command line: must exist */
	const char *socket, *state_dir;
	const char *topology;			/* a dump to check against, or NULL */
	const char *ibnl;			/* a directory of IBNL files for it, or NULL */
	const char *lfts;			/* forwarding tables of that fabric to measure, or NULL */
	uint64_t guid;				/* 0: as the settings say */
	bool foreground, once, check, verbose;
};

/* options.c */
/* Returns -1 to go on, else the exit status (after --help, or a bad line). */
int options_parse(struct options *o, int argc, char **argv);

/* config_files.c */
/* The file, or the built-in defaults if it is missing at its default place; NULL: see out. */
struct settings *load_settings(const struct options *o, struct findings *out);
/* As `policy` of the settings says, which may be NULL if they are not known. */
struct shared_policy *load_policy(const struct options *o, const struct settings *s,
				  struct findings *out);
/* The same at the start, with what holds for a policy then. */
struct shared_policy *load_first_policy(const struct options *o, const struct settings *s,
					struct findings *out);
/* Writes all findings to standard output. */
void print_findings(const struct findings *f);
/* --check, with --topology on that fabric too: returns the exit status. */
int check_files(const struct options *o);

/* daemon.c */
/* Runs until told to end; returns the exit status. */
int daemon_run(const struct options *o);

#endif
