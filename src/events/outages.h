/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts how often nodes and links went away within an hour, by the events that tell so.
 *
 * A host that reboots again and again goes and comes too slowly to be a flapping link
 * (sm/traps/flap_table.h), and each time is an event of its own; this table counts them.
 * What is released after a drain starts anew: somebody worked on it.  The changes of one sweep
 * that have no event of their own (EVENT_MORE_CHANGES) are not counted.
 *
 * Times are monotonic microseconds, given by the caller.  No side effects.
 */
#ifndef QOSD_EVENTS_OUTAGES_H
#define QOSD_EVENTS_OUTAGES_H

#include "events/event.h"

#define OUTAGES_MAX	4096	/* nodes and links; the one that went longest ago is forgotten */
#define OUTAGE_LIMIT_MAX 31
#define OUTAGE_HOUR_US	(3600 * INT64_C(1000000))

struct outages;
struct outages *outages_new(void);
void outages_free(struct outages *o);	/* NULL is fine */
/* limit: times in an hour that are tolerated, up to OUTAGE_LIMIT_MAX; 0, as at first: any number. */
void outages_set_limit(struct outages *o, unsigned limit);
/* Counts a node that went or a link that went down; forgets what the event says is released. */
void outages_note(struct outages *o, const struct event *e, int64_t now_us);

enum outage_kind { OUTAGE_SWITCH, OUTAGE_LINK, OUTAGE_NODE };

/* A node or link that went away more often than the limit. */
struct outage {
	enum outage_kind kind;
	unsigned times;			/* in the last hour; OUTAGE_LIMIT_MAX + 1: at least */
	uint64_t guid, far_guid;	/* of the nodes; far_guid only of a link */
	unsigned port, far_port;	/* of a link */
	const char *name, *far_name;	/* valid until the next outages_note(); far_name only of a link */
};
/* The next one, *i from 0 on; false: no more. */
bool outages_next(const struct outages *o, size_t *i, int64_t now_us, struct outage *out);

#endif
