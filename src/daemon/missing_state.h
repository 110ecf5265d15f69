/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps the table of what is missing (events/missing.h) while the daemon runs.
 *
 * It feeds the table with published states and with the subnet managers that are seen, keeps it in
 * the state folder, and gives it to standbys.  The first state of a run is compared with the known
 * fabric (plan/routes/base_routes.h), so that what went away while no daemon ran is missing, too;
 * not in a daemon whose table is a master's, because its known fabric may be older than the table.
 */
#ifndef QOSD_DAEMON_MISSING_STATE_H
#define QOSD_DAEMON_MISSING_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events/event.h"
#include "lib/base/buf.h"

struct qosd;
struct missing;
struct missing_state;
struct subnet_state;

/* Loads the table from the state folder. */
struct missing_state *missing_state_new(struct qosd *q);
/* Saves what is not saved yet; NULL is fine. */
void missing_state_free(struct missing_state *x);
/* NULL if x is. */
struct missing *missing_state_table(const struct missing_state *x);
/*
 * A sweep has ended with this state; before: the state that it replaced, or NULL.  To be called
 * before the differences are handed to the table.
 */
void missing_state_settled(struct missing_state *x, const struct subnet_state *before,
			   const struct subnet_state *now);
/* To be called each second: looks at the subnet managers, and saves. */
void missing_state_check(struct missing_state *x);

/* A hook of ctl/ (ctl_env); arg is the struct qosd.  See missing_forget(). */
size_t missing_state_forget(void *arg, const char *text, struct asker who);

/* --- for replication: the text of missing_print() --- */

uint64_t missing_state_changes(const struct missing_state *x);
void missing_state_print(const struct missing_state *x, struct buf *b);
/* The lowest format (store/store.h) that has it all. */
uint32_t missing_state_format(const struct missing_state *x);
/* Replaces the table by the master's, and modifies the text.  False: it is invalid and ignored. */
bool missing_state_inherit(struct missing_state *x, char *text);

#endif
