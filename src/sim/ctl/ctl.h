/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The commands of `qosd-sim ctl`, and scripts of such commands with times.
 *
 * They inject faults, inspect the fabric, print statistics and run the auditor.
 */
#ifndef QOSD_SIM_CTL_CTL_H
#define QOSD_SIM_CTL_CTL_H

#include "sim/net/engine.h"

/*
 * Runs one command (words and options as the shell passed them).  Appends text, or JSON if json is
 * set, to out.  Returns the exit status: 0 for success; 1 if the command failed or, for `check`, if
 * there are faults (out holds the reason).
 */
int ctl_run(struct sim *s, int argc, char **argv, bool json, struct buf *out);
/* The list of commands, as text. */
extern const char ctl_help[];

/*
 * A script consists of lines "TIME COMMAND …".  TIME is in seconds from the start, or "+S" after
 * the previous line; "every S" repeats; # begins a comment. script_parse() returns NULL with
 * "path:line: text" lines in err, also for commands that do not exist or lack words.  After
 * script_start() the commands run at their times, and their output goes to the log; the script must
 * then outlive the sim.
 */
struct script;
struct script *script_parse(const char *path, const char *text, size_t n, struct buf *err);
void script_start(struct script *sc, struct sim *s);
void script_free(struct script *sc);

#endif
