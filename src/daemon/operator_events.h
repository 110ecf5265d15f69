/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What operators are told of the daemon: what happens here and there becomes
 * an event in the ring, and goes to their command.  All of it is of the loop's thread.
 */
#ifndef QOSD_DAEMON_OPERATOR_EVENTS_H
#define QOSD_DAEMON_OPERATOR_EVENTS_H

#include "ctl/policy_trials.h"
#include "events/event.h"
#include "lib/loop/loop.h"
#include "mad/mad.h"
#include "plan/published_state.h"
#include "plan/settings.h"
#include "sa/registry/dynamic_partitions.h"

struct operator_events;

/*
 * Begins with the event that the daemon started.  Settings outlive it.  runs: the command
 * that they name is run; not by a daemon that ends at once, and it with it.
 */
struct operator_events *operator_events_new(struct loop *l, const struct settings *s, bool runs);
void operator_events_free(struct operator_events *x);		/* NULL is fine */
struct events *operator_events_ring(struct operator_events *x);

/* An event as it is; arg: struct operator_events. */
void operator_events_add(void *arg, const struct event *e);
/* The published state changed; both may be NULL.  c: SMPs so far. */
void operator_events_published(struct operator_events *x, const struct subnet_state *old,
			       const struct subnet_state *now, const struct mad_counts *c);
void operator_events_policy(struct operator_events *x, const struct policy_change *c);
void operator_events_partitions(struct operator_events *x, const struct dynamic_partitions *r, int64_t uid);
/* Tells of a port that sends too many MADs, if there is one that nobody was told of. */
void operator_events_flood(struct operator_events *x, struct mad_port *m, const struct subnet_state *s);
/* A subscriber that answers no Reports; arg: struct operator_events. */
void operator_events_dropped(void *arg, uint64_t guid, uint32_t qpn);

#endif
