/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A command of the operator's that is run for each event, one at a time.
 *
 * It gets the event in its environment and as a line of JSON on its standard input,
 * which is a file, so that nobody waits for it to read.  It has no descriptor but
 * the first three, no shell between, and HOOK_SECONDS: then it is killed with all of its
 * process group.  Those that are yet to be told are the ring of events itself: who is
 * that slow loses the oldest, and is told how many.
 */
#ifndef QOSD_HOOK_HOOK_H
#define QOSD_HOOK_HOOK_H

#include <stdint.h>

#include "events/event.h"
#include "loop/loop.h"

#define HOOK_SECONDS 30

struct hook;

struct hook_counts {
	uint64_t started, failed, killed, lost;
};

/*
 * From the first event in the ring on, for those of the kinds.  argv is NULL-terminated
 * and outlives it, as do the others.
 */
struct hook *hook_new(struct loop *l, struct events *es, char *const *argv, uint64_t kinds);
/* Kills one that is running. */
void hook_free(struct hook *h);		/* NULL is fine */
const struct hook_counts *hook_counts(const struct hook *h);
/* Instead of HOOK_SECONDS, for tests. */
void hook_set_limit(struct hook *h, int64_t us);

#endif
