/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events of the subnet and the daemon for operators, about what appeared, disappeared, failed
 * or changed.
 *
 * The last EVENTS_MAX events are kept in a ring.  Each reader has its own position in it, so
 * that a slow reader holds up nobody and loses the oldest events.
 *
 * Ids count from 1 in each run of the daemon; `boot` identifies the run.  Names come from the
 * fabric and may contain anything: control characters become '?' when an event is made.  An
 * event has no pointers to anything that may be freed.  For one thread only.
 */
#ifndef QOSD_EVENTS_EVENT_H
#define QOSD_EVENTS_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/findings.h"

#define EVENTS_MAX	2048	/* capacity of the ring */
#define EVENT_TEXT	384	/* bytes, including the NUL; longer text is cut */
#define EVENT_VALUE	128
#define EVENT_MEMBERS	8

enum event_kind {
	EVENT_STARTED,			/* the daemon started */
	EVENT_SM_STATE, EVENT_SM_SEEN, EVENT_SM_GONE,
	EVENT_NODE_CAME, EVENT_NODE_WENT, EVENT_NODE_MOVED, EVENT_SWITCH_CAME, EVENT_SWITCH_WENT,
	EVENT_LINK_UP, EVENT_LINK_DOWN, EVENT_LINK_CHANGED, EVENT_LINK_FLAPPING,
	EVENT_LINK_STEADY, EVENT_LINK_ERRORS, EVENT_LINK_CLEAN, EVENT_OPTICS_ALARM, EVENT_OPTICS_CLEAR,
	EVENT_MORE_CHANGES,
	EVENT_DUPLICATE_GUID, EVENT_TRAP_FLOOD, EVENT_MAD_FLOOD,
	EVENT_TABLE_OVERWRITTEN,
	EVENT_DEVICE_SILENT, EVENT_DEVICE_REFUSES, EVENT_DEVICE_KEEPS, EVENT_DEVICE_KEY_MISMATCH,
	EVENT_DEVICE_RECOVERED, EVENT_M_KEY_VIOLATION,
	EVENT_ROUTING, EVENT_SUBNET_UP, EVENT_SWEEP_INCOMPLETE,
	EVENT_POLICY_LOADED, EVENT_POLICY_TRIAL, EVENT_POLICY_CONFIRMED, EVENT_POLICY_REVERTED,
	EVENT_POLICY_REFUSED, EVENT_POLICY_IN_FORCE,
	EVENT_PARTITIONS_CHANGED, EVENT_SUBSCRIBER_DROPPED, EVENT_SHARE_MISSED, EVENT_SHARE_MET,
	EVENT_REGISTRATIONS_REMOVED, EVENT_REGISTRATIONS_FORGOTTEN,
	EVENT_MISSING_FORGOTTEN, EVENT_TOPOLOGY_DIFFERS, EVENT_TOPOLOGY_ACCEPTED,
	EVENT_DRAINED, EVENT_ISOLATED, EVENT_RELEASED, EVENT_OPERATOR_COMMAND, EVENT_SWEEP_DONE, EVENT_LOADS,
	EVENT_PAGE_FAILED, EVENT_PAGE_SERVED,
	EVENT_KINDS
};

/* "link-down" etc.; the first word of some, such as "link", stands for several kinds. */
const char *event_kind_name(enum event_kind k);

/* A set of kinds: bit k for kind k. */
#define EVENT_ALL_KINDS ((1ull << EVENT_KINDS) - 1)
/* Kinds that are records for the history: nothing changed. */
#define EVENT_RECORDS (1ull << EVENT_SWEEP_DONE | 1ull << EVENT_LOADS)
/*
 * Adds the kinds that a word names: a kind, the first word of several ("link", "sm"), or "all".
 * False: no kind has that name.
 */
bool event_kinds_add(uint64_t *kinds, const char *word);

struct event_member {
	const char *name;		/* static string of a-z and '-' */
	bool is_text;
	int64_t number;
	char text[EVENT_VALUE];
};

struct event {
	uint64_t id;
	int64_t when_us;		/* realtime */
	enum event_kind kind;
	enum severity severity;		/* event_make() sets that of the kind */
	char text[EVENT_TEXT];		/* for people, in one line */
	unsigned n_members;
	struct event_member members[EVENT_MEMBERS];
};

/* Makes an event without members, id and time. */
void event_make(struct event *e, enum event_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Add a member; an event has at most EVENT_MEMBERS, further ones are left out. */
void event_text(struct event *e, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void event_number(struct event *e, const char *name, int64_t number);
void event_guid(struct event *e, const char *name, uint64_t guid);
/* Who asked for what has happened. */
struct asker {
	int64_t uid;			/* the user; negative: none, or not known */
	const char *behalf;		/* whom that user asked for; NULL: nobody else */
};
/* A copy, for what goes on when the request is over. */
struct kept_asker {
	int64_t uid;
	char *behalf;			/* owned */
};
struct kept_asker asker_keep(struct asker who);
struct asker asker_kept(const struct kept_asker *k);	/* valid as long as k */
void kept_asker_free(struct kept_asker *k);
/* Adds those of the two that are known. */
void event_asker(struct event *e, struct asker who);
/* Appends "; user N, on behalf of NAME", as logs say it. */
void asker_text(struct asker who, struct buf *out);

struct events;
/* boot: must differ in each run. */
struct events *events_new(uint64_t boot);
void events_free(struct events *es);		/* NULL is fine */
uint64_t events_boot(const struct events *es);
/* Adds a copy of e with the next id and time now_us (realtime, in µs). */
void events_add(struct events *es, const struct event *e, int64_t now_us);
/*
 * Calls fn after each added event; fn must not add any.  There are at most EVENT_WATCHERS
 * watchers.  events_unwatch() takes the arguments of events_watch().
 */
#define EVENT_WATCHERS 2
void events_watch(struct events *es, void (*fn)(void *arg), void *arg);
void events_unwatch(struct events *es, void (*fn)(void *arg), void *arg);

/* The ids of the next event, and of the oldest one still in the ring. */
uint64_t events_next_id(const struct events *es);
uint64_t events_oldest_id(const struct events *es);
/*
 * The first event of these kinds whose id is *next or later, valid until the next events_add().
 * Sets *next to the id after it.  Adds to *lost the number of overwritten events, of any kind.
 * NULL if there is no such event yet.
 */
const struct event *events_get(const struct events *es, uint64_t *next, uint64_t kinds,
			       uint64_t *lost);
/*
 * Sets *next to the event after "ID" or "BOOT:ID", as events state it; or to the oldest event
 * if that one was in another run.  False if the text is neither.
 */
bool events_since(const struct events *es, const char *text, uint64_t *next);

#endif
