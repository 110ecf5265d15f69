/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who wants to hear of which events (InformInfo, 13.4.8.3): subscribers, each a QP
 * of a port, in order of port GUID and QP number, with what each has subscribed
 * to.  A subscriber without a subscription is none.
 *
 * As members of groups they are port GUIDs, which outlive LIDs; how many there
 * may be is bounded, in all and of a port (sa/registry/holdings.h).
 *
 * A database that is NULL is empty, and takes nothing.
 */
#ifndef QOSD_SA_REGISTRY_SUBSCRIPTIONS_H
#define QOSD_SA_REGISTRY_SUBSCRIPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/alloc.h"

#define SUBSCRIPTION_ANY	UINT16_MAX	/* SubscriberEnum: the lowest that is free */

#define INFORM_ALL_LIDS		0xffff		/* LIDRangeBegin */
#define INFORM_ALL_TYPES	0xffff
#define INFORM_ALL_TRAPS	0xffff
#define INFORM_ALL_PRODUCERS	0xffffff

/* Which notices: what does not count in one is as all others have it. */
struct inform {
	uint8_t gid[16];		/* of the issuer; zeros: by its LID */
	uint16_t lid_first, lid_last;	/* INFORM_ALL_LIDS and 0: all, or by GID */
	bool generic;
	uint16_t type;
	uint16_t number;		/* of the trap; of a vendor's: DeviceID */
	uint32_t producer;		/* ProducerType; of a vendor's: VendorID */
};

struct subscription {
	struct inform what;
	uint16_t number;		/* SubscriberEnum: its own among those of the port */
	uint16_t pkey;			/* that the request came with; 0: not known */
	uint8_t resp_time;		/* RespTimeValue */
	bool trusted;			/* came with the SM_Key */
};

struct subscriber {
	uint64_t guid;			/* port GUID */
	uint32_t qpn;
	VEC(struct subscription) list;	/* never empty */
	/* of who sends the Reports (sa/reports.c) */
	uint64_t seen;			/* the events up to this one are done with */
	unsigned unanswered;		/* Reports in a row */
	int64_t silent_us;		/* realtime: when the first of them was given up */
	unsigned waiting;		/* for the answer to one: its id, and 1; 0: for none */
};

struct subscriptions;
struct holdings;

/* changed(), which may be NULL, is called after each change. */
struct subscriptions *subscriptions_new(void (*changed)(void *arg), void *arg);
void subscriptions_free(struct subscriptions *db);	/* NULL is fine */
/* Ports hold what is there, and what comes from now on, by h, which must outlive db. */
void subscriptions_hold(struct subscriptions *db, struct holdings *h);

size_t subscriptions_count(const struct subscriptions *db);	/* all of all subscribers */
/*
 * Events are numbered, and a new subscriber has seen all up to now: how many there
 * were, and one more.
 */
uint64_t subscriptions_events(const struct subscriptions *db);
uint64_t subscriptions_event(struct subscriptions *db);
/* The subscriber, or NULL; it is good until the next change. */
struct subscriber *subscriber_find(const struct subscriptions *db, uint64_t guid, uint32_t qpn);
/* The first that is not below (or, with beyond, is above) the given one; NULL: there is none. */
struct subscriber *subscriber_from(const struct subscriptions *db, uint64_t guid, uint32_t qpn,
				   bool beyond);
/* The one of these wishes, or NULL. */
const struct subscription *subscription_find(const struct subscriber *s, const struct inform *what);

/* Whether the port may have this one, which it may have already. */
bool subscriptions_room(struct subscriptions *db, uint64_t guid, uint32_t qpn,
			const struct inform *what);
/*
 * Adds one, whatever subscriptions_room() says.  The same once more only takes over resp_time and pkey, and the trust, if
 * it has any.  False: the number is taken, or db is NULL.
 */
bool subscriptions_add(struct subscriptions *db, uint64_t guid, uint32_t qpn,
		       const struct subscription *s);
/* False: there is none such. */
bool subscriptions_remove(struct subscriptions *db, uint64_t guid, uint32_t qpn,
			  const struct inform *what);
/* All of a subscriber. */
void subscriptions_drop(struct subscriptions *db, uint64_t guid, uint32_t qpn);

/*
 * Subscribers that do not answer Reports: those that are still there, and the last
 * SUBSCRIPTIONS_SILENT of those that were dropped for it since then and have not come back.
 */
#define SUBSCRIPTIONS_SILENT 64u
struct silent_subscriber {
	uint64_t guid;
	uint32_t qpn;
	bool dropped;
	int64_t since_us;		/* realtime */
};
void subscriptions_drop_silent(struct subscriptions *db, uint64_t guid, uint32_t qpn);
/* The next one, *i counts up from 0; false: there are no more. */
bool subscriptions_silent_at(const struct subscriptions *db, size_t *i,
			     struct silent_subscriber *out);

#endif
