/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stores the subscribers to events and their subscriptions (InformInfo, 13.4.8.3).
 *
 * A subscriber is a QP of a port with at least one subscription; subscribers are
 * sorted by port GUID and QP number.  The database knows ports by GUID, which
 * outlives LIDs.  The number of subscriptions is bounded, in all and for each port
 * (sa/registry/holdings.h).
 *
 * A database that is NULL is empty and refuses every subscription.
 */
#ifndef QOSD_SA_REGISTRY_SUBSCRIPTIONS_H
#define QOSD_SA_REGISTRY_SUBSCRIPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/alloc.h"

#define SUBSCRIPTION_ANY	UINT16_MAX	/* SubscriberEnum: the lowest free one */

#define INFORM_ALL_LIDS		0xffff		/* LIDRangeBegin */
#define INFORM_ALL_TYPES	0xffff
#define INFORM_ALL_TRAPS	0xffff
#define INFORM_ALL_PRODUCERS	0xffffff

/* Which notices a subscription selects; fields that do not matter have one common value, for comparison. */
struct inform {
	uint8_t gid[16];		/* GID of the issuer; zeros: lid_first and lid_last select it */
	uint16_t lid_first, lid_last;	/* LIDs of the issuer; INFORM_ALL_LIDS and 0: any, or by `gid` */
	bool generic;
	uint16_t type;
	uint16_t number;		/* trap number; of a vendor's notice: DeviceID */
	uint32_t producer;		/* ProducerType; of a vendor's notice: VendorID */
};

struct subscription {
	struct inform what;
	uint16_t number;		/* SubscriberEnum, unique within the port */
	uint16_t pkey;			/* P_Key of the request; 0: not known */
	uint8_t resp_time;		/* RespTimeValue */
	bool trusted;			/* the request came with the SM_Key */
};

struct subscriber {
	uint64_t guid;			/* port GUID */
	uint32_t qpn;
	VEC(struct subscription) list;	/* never empty */
	/* state of the sender of Reports (sa/reports.c) */
	uint64_t seen;			/* number of the last event that was reported or skipped */
	unsigned unanswered;		/* Reports in a row without an answer */
	int64_t silent_us;		/* realtime: when the first of them timed out */
	unsigned waiting;		/* id + 1 of the Report whose answer is awaited; 0: none */
};

struct subscriptions;
struct holdings;

/* The database calls changed(), which may be NULL, after each change. */
struct subscriptions *subscriptions_new(void (*changed)(void *arg), void *arg);
void subscriptions_free(struct subscriptions *db);	/* NULL is fine */
/* Counts the present and all future subscriptions of each port in h, which must outlive db. */
void subscriptions_hold(struct subscriptions *db, struct holdings *h);

size_t subscriptions_count(const struct subscriptions *db);	/* subscriptions of all subscribers */
/*
 * The number of the last event; subscriptions_event() gives the next event its number.
 * A new subscriber starts after the last event.
 */
uint64_t subscriptions_events(const struct subscriptions *db);
uint64_t subscriptions_event(struct subscriptions *db);
/* The subscriber, or NULL; the pointer is valid until the next change. */
struct subscriber *subscriber_find(const struct subscriptions *db, uint64_t guid, uint32_t qpn);
/* The first subscriber not below (or, with beyond, above) the given one; NULL: none. */
struct subscriber *subscriber_from(const struct subscriptions *db, uint64_t guid, uint32_t qpn,
				   bool beyond);
/* The subscription to exactly these notices, or NULL. */
const struct subscription *subscription_find(const struct subscriber *s, const struct inform *what);

/* Whether the port has this subscription already or may have one more. */
bool subscriptions_room(struct subscriptions *db, uint64_t guid, uint32_t qpn,
			const struct inform *what);
/*
 * Adds a subscription, whatever subscriptions_room() says.  If it is there already, only takes over
 * resp_time and pkey, and sets `trusted` if s has it.  False: the number is taken, or db is NULL.
 */
bool subscriptions_add(struct subscriptions *db, uint64_t guid, uint32_t qpn,
		       const struct subscription *s);
/* False: there is no such subscription. */
bool subscriptions_remove(struct subscriptions *db, uint64_t guid, uint32_t qpn,
			  const struct inform *what);
/* Removes a subscriber with all its subscriptions. */
void subscriptions_drop(struct subscriptions *db, uint64_t guid, uint32_t qpn);

/*
 * Silent subscribers, which do not answer Reports: those in the database, and those of the last
 * SUBSCRIPTIONS_SILENT dropped ones that have not subscribed again.
 */
#define SUBSCRIPTIONS_SILENT 64u
struct silent_subscriber {
	uint64_t guid;
	uint32_t qpn;
	bool dropped;
	int64_t since_us;		/* realtime: when its first Report timed out */
};
void subscriptions_drop_silent(struct subscriptions *db, uint64_t guid, uint32_t qpn);
/* The next silent subscriber; *i starts at 0 and the function advances it.  False: no more. */
bool subscriptions_silent_at(const struct subscriptions *db, size_t *i,
			     struct silent_subscriber *out);

#endif
