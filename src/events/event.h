/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events of the subnet and the daemon, for operators: what came, went, failed or was
 * changed.  The last EVENTS_MAX are kept in a ring; who follows them has a place of
 * his own in it, so that nobody is held up by a slow reader, who loses the oldest.
 *
 * Ids go up by one from 1 on, in one run of the daemon; `boot` tells its runs apart.
 * Names come from a fabric and may hold anything: control characters become '?' when
 * an event is added.  Values without pointers to anything that ends; of one thread.
 */
#ifndef QOSD_EVENTS_EVENT_H
#define QOSD_EVENTS_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/findings.h"

#define EVENTS_MAX	2048	/* in the ring */
#define EVENT_TEXT	384	/* bytes, the NUL included; longer text is cut */
#define EVENT_VALUE	128
#define EVENT_MEMBERS	8

enum event_kind {
	EVENT_STARTED,			/* the daemon */
	EVENT_SM_STATE, EVENT_SM_SEEN, EVENT_SM_GONE,
	EVENT_NODE_CAME, EVENT_NODE_WENT, EVENT_NODE_MOVED, EVENT_SWITCH_CAME, EVENT_SWITCH_WENT,
	EVENT_LINK_UP, EVENT_LINK_DOWN, EVENT_LINK_CHANGED, EVENT_LINK_FLAPPING,
	EVENT_LINK_STEADY, EVENT_MORE_CHANGES,
	EVENT_DUPLICATE_GUID, EVENT_TRAP_FLOOD, EVENT_MAD_FLOOD,
	EVENT_TABLE_OVERWRITTEN,
	EVENT_DEVICE_SILENT, EVENT_DEVICE_REFUSES, EVENT_DEVICE_KEEPS, EVENT_DEVICE_KEY_MISMATCH,
	EVENT_DEVICE_RECOVERED, EVENT_M_KEY_VIOLATION,
	EVENT_ROUTING, EVENT_SUBNET_UP, EVENT_SWEEP_INCOMPLETE,
	EVENT_POLICY_LOADED, EVENT_POLICY_TRIAL, EVENT_POLICY_CONFIRMED, EVENT_POLICY_REVERTED,
	EVENT_POLICY_REFUSED, EVENT_POLICY_IN_FORCE,
	EVENT_PARTITIONS_CHANGED, EVENT_SUBSCRIBER_DROPPED, EVENT_SHARE_MISSED, EVENT_SHARE_MET,
	EVENT_REGISTRATIONS_REMOVED, EVENT_REGISTRATIONS_FORGOTTEN,
	EVENT_KINDS
};

/* "link-down" …; the first word of some is one of several kinds: "link". */
const char *event_kind_name(enum event_kind k);

/* Kinds that are wanted: bit k. */
#define EVENT_ALL_KINDS ((1ull << EVENT_KINDS) - 1)
/*
 * Adds what a word says: a kind, the first words of some ("link", "sm") or "all".  False:
 * there is none such.
 */
bool event_kinds_add(uint64_t *kinds, const char *word);

struct event_member {
	const char *name;		/* static: a-z and '-' */
	bool is_text;
	int64_t number;
	char text[EVENT_VALUE];
};

struct event {
	uint64_t id;
	int64_t when_us;		/* realtime */
	enum event_kind kind;
	enum severity severity;		/* event_make(): that of the kind */
	char text[EVENT_TEXT];		/* for people, in one line */
	unsigned n_members;
	struct event_member members[EVENT_MEMBERS];
};

/* Makes an event without members, id and time. */
void event_make(struct event *e, enum event_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Adds a member; beyond EVENT_MEMBERS it is left out. */
void event_text(struct event *e, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void event_number(struct event *e, const char *name, int64_t number);
void event_guid(struct event *e, const char *name, uint64_t guid);

struct events;
/* boot: another one for each run. */
struct events *events_new(uint64_t boot);
void events_free(struct events *es);		/* NULL is fine */
uint64_t events_boot(const struct events *es);
/* A copy of e as of now (realtime, in microseconds), with the next id. */
void events_add(struct events *es, const struct event *e, int64_t now_us);
/*
 * fn is called whenever one was added, and must add none itself; at most EVENT_WATCHERS.
 * events_unwatch() takes what was given to events_watch().
 */
#define EVENT_WATCHERS 2
void events_watch(struct events *es, void (*fn)(void *arg), void *arg);
void events_unwatch(struct events *es, void (*fn)(void *arg), void *arg);

/* The id that the next event will have, and that of the oldest which is still there. */
uint64_t events_next_id(const struct events *es);
uint64_t events_oldest_id(const struct events *es);
/*
 * The first event of these kinds whose id is *next or later; then *next is the one
 * behind it.  *lost grows by those that are no longer there, of whatever kind.  NULL if it
 * has not happened yet.  It is good until the next events_add().
 */
const struct event *events_get(const struct events *es, uint64_t *next, uint64_t kinds,
			       uint64_t *lost);
/*
 * Where to go on: "ID" or "BOOT:ID", as events were told with; those behind that one,
 * or all that there are if it was in another run.  False if the text is neither.
 */
bool events_since(const struct events *es, const char *text, uint64_t *next);

#endif
