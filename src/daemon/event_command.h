/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs the operator's command for each event, one process at a time.
 *
 * The command gets the event in its environment and as a line of JSON on its standard input,
 * which is a file, so that the daemon does not wait for it to read.  It has only the first three
 * descriptors, is not run by a shell, and is killed with its process group after HOOK_SECONDS.
 * Waiting events are in the ring: a command that is too slow loses the oldest events, and is
 * told their number.
 *
 * Executing a file on a disk that hangs may take for ever.  So the daemon starts itself again
 * under the name HOOK_ARGV0, and that process executes the command, within the same
 * HOOK_SECONDS.
 */
#ifndef QOSD_DAEMON_EVENT_COMMAND_H
#define QOSD_DAEMON_EVENT_COMMAND_H

#include <stdint.h>

#include "events/event.h"
#include "lib/loop/loop.h"

#define HOOK_SECONDS 30
#define HOOK_ARGV0 "qosd-event"

struct hook;

struct hook_counts {
	uint64_t started;	/* number of processes */
	uint64_t failed;	/* could not run the command, or ended with a non-zero status */
	uint64_t killed, lost;
};

/*
 * Runs the command for events of these kinds, beginning with the first event in the ring.  argv
 * is NULL-terminated; argv, l and es must outlive the hook.
 */
struct hook *hook_new(struct loop *l, struct events *es, char *const *argv, uint64_t kinds);
/* Leaves out the events that have happened. */
void hook_skip(struct hook *h);
/* Another command and other kinds from the next event on; a running command is left to end.  kinds 0: no event. */
void hook_change(struct hook *h, char *const *argv, uint64_t kinds);
/* Kills a running process. */
void hook_free(struct hook *h);		/* NULL is fine */
const struct hook_counts *hook_counts(const struct hook *h);
/*
 * The process that becomes the command: main() calls this if argv[0] is HOOK_ARGV0.  Returns an
 * exit status only if the command cannot be executed.
 */
int hook_helper_main(int argc, char **argv);
/* Replaces HOOK_SECONDS, for tests. */
void hook_set_limit(struct hook *h, int64_t us);

#endif
