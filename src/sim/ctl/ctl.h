/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What `qosd-sim ctl` can say to a running fabric: faults, looks, statistics,
 * the auditor; and scripts of such commands with times.
 */
#ifndef QOSD_SIM_CTL_CTL_H
#define QOSD_SIM_CTL_CTL_H

#include "sim/net/engine.h"

/*
 * Runs one command (words as the shell gave them; options among them).  Text for
 * people, or JSON with json, is appended to out.  Returns the exit status: 0
 * done, 1 it could not be done or, for `check`, faults were found (the reason
 * is in out).
 */
int ctl_run(struct sim *s, int argc, char **argv, bool json, struct buf *out);
/* The list of commands, for people. */
extern const char ctl_help[];

/*
 * A script: lines of "TIME COMMAND …", TIME in seconds from the start (or "+S"
 * after the line before; "every S" repeats); # begins a comment.  NULL with
 * "path:line: text" lines in err, also for commands that do not exist or lack
 * words.  From script_start() on its commands run at their times; what they say
 * goes to the log.  It must outlive the sim then.
 */
struct script;
struct script *script_parse(const char *path, const char *text, size_t n, struct buf *err);
void script_start(struct script *sc, struct sim *s);
void script_free(struct script *sc);

#endif
