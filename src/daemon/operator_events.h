/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes events for operators, keeps their ring, and runs the event command.
 *
 * For the loop's thread only.
 */
#ifndef QOSD_DAEMON_OPERATOR_EVENTS_H
#define QOSD_DAEMON_OPERATOR_EVENTS_H

#include "ctl/policy_trials.h"
#include "events/event.h"
#include "events/history/history.h"
#include "events/outages.h"
#include "lib/loop/loop.h"
#include "mad/mad.h"
#include "plan/published_state.h"
#include "plan/settings.h"
#include "sa/registry/dynamic_partitions.h"
#include "sm/devices/withdrawals.h"

struct operator_events;

/*
 * Begins with the event that the daemon started.  s must outlive the result.  runs: whether to
 * run the command of the settings; false in a daemon that ends at once, which would end the
 * command too.
 */
struct operator_events *operator_events_new(struct loop *l, const struct settings *s, bool runs);
void operator_events_free(struct operator_events *x);		/* NULL is fine */
struct events *operator_events_ring(struct operator_events *x);
/* How often nodes and links went away. */
const struct outages *operator_events_outages(const struct operator_events *x);
/* The same, by the limit of isolate-when. */
const struct outages *operator_events_rule_outages(const struct operator_events *x);
/* Takes outage-limit and isolate-when of the settings, after they changed. */
void operator_events_set_limit(struct operator_events *x, const struct settings *s);
/*
 * Keeps events on disk as the settings say, those in the ring included that no history has got yet;
 * to be called again when the settings have other values.  A history with the same path stays, and
 * one with another path is left to write what it has.
 */
void operator_events_keep(struct operator_events *x, const struct settings *s);
/* The history, or NULL if events are not kept; it lasts until x ends or that next call. */
struct history *operator_events_history(const struct operator_events *x);
/* Runs the command of the settings from the next event on, or none. */
void operator_events_set_command(struct operator_events *x, struct loop *l, const struct settings *s);

/* Adds an event as it is; arg: struct operator_events. */
void operator_events_add(void *arg, const struct event *e);
/* Adds an event of what somebody asked for, with who it was, and logs both; area: of the log's line. */
void operator_events_add_asked(struct operator_events *x, const char *area, struct event *e, struct asker who);
/*
 * Makes events of a change of the published state; old and now may be NULL.  c: SMPs so far.
 * missing (or NULL) learns of every difference, including those that there is no event for.
 */
struct missing;
void operator_events_published(struct operator_events *x, const struct subnet_state *old,
			       const struct subnet_state *now, const struct mad_counts *c,
			       struct missing *missing);
void operator_events_policy(struct operator_events *x, const struct policy_change *c);
void operator_events_partitions(struct operator_events *x, const struct dynamic_partitions *before,
				const struct dynamic_partitions *r, struct asker who);
/* Reports that the place was withdrawn or, if released, that it is in service again, by a user (-1: unknown). */
void operator_events_withdrawal(struct operator_events *x, const struct withdrawal *w, bool released,
				struct asker who);
/* Reports a port that sends too many MADs, if there is one not reported yet. */
void operator_events_flood(struct operator_events *x, struct mad_port *m, const struct subnet_state *s);
/* Reports a subscriber dropped for not answering Reports; arg: struct operator_events. */
void operator_events_dropped(void *arg, uint64_t guid, uint32_t qpn);

#endif
