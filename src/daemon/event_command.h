/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A command of the operator's that is run for each event, one at a time.
 *
 * It gets the event in its environment and as a line of JSON on its standard input,
 * which is a file, so that nobody waits for it to read.  It has no descriptor but
 * the first three, no shell between, and HOOK_SECONDS: then it is killed with all of its
 * process group.  Those that are yet to be told are the ring of events itself: who is
 * that slow loses the oldest, and is told how many.
 *
 * Executing a file of a disk that hangs may take for ever.  So the daemon starts itself again under
 * the name HOOK_ARGV0, and that process executes the command, within the same HOOK_SECONDS.
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
	uint64_t started;	/* processes */
	uint64_t failed;	/* that could not run the command, or ended with a status but 0 */
	uint64_t killed, lost;
};

/*
 * From the first event in the ring on, for those of the kinds.  argv is NULL-terminated
 * and outlives it, as do the others.
 */
struct hook *hook_new(struct loop *l, struct events *es, char *const *argv, uint64_t kinds);
/* Kills one that is running. */
void hook_free(struct hook *h);		/* NULL is fine */
const struct hook_counts *hook_counts(const struct hook *h);
/*
 * The process that becomes the command: main() calls this when argv[0] is HOOK_ARGV0.  Returns when
 * the command can't be executed, with the exit status.
 */
int hook_helper_main(int argc, char **argv);
/* Instead of HOOK_SECONDS, for tests. */
void hook_set_limit(struct hook *h, int64_t us);

#endif
