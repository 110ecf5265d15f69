/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The standbys of this master, which of its dynamic partitions each has, and who waits until they have them.
 *
 * A standby is one that asks the master for its registrations (daemon/replication/estate.h).
 *
 * A standby is known by its port, and for as long as it asks: only who has the SM_Key is
 * answered, and comes to be here.  There is a bound to how many are kept, to how long
 * anybody waits, and none waits where nobody stands by.
 *
 * Whoever was frozen may be master no more without knowing it.  So nobody is told anything
 * while the election asks who is.
 */
#ifndef QOSD_DAEMON_REPLICATION_STANDBYS_H
#define QOSD_DAEMON_REPLICATION_STANDBYS_H

#include <stdbool.h>
#include <stdint.h>

#include "ctl/ctl.h"

struct qosd;
struct standbys;

struct standbys *standbys_new(struct qosd *q);
void standbys_free(struct standbys *x);		/* NULL is fine */
/* The standby at the port of that GUID asks: it has the partitions as of this change, or others. */
void standbys_heard(struct standbys *x, uint64_t guid, bool has, uint64_t change);
/* We are master no more. */
void standbys_deposed(struct standbys *x);
/* ctl's hooks; arg is the struct qosd. */
void standbys_await(void *arg, void (*told)(void *who, const struct ctl_standbys *s), void *who);
void standbys_forget(void *arg, void *who);

#endif
