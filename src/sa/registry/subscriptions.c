/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Keeps the subscribers (subscriptions.h) in a sorted array of pointers. */
#include "sa/registry/holdings.h"
#include "sa/registry/subscriptions.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/search.h"

struct subscriptions {
	VEC(struct subscriber *) list;
	size_t n;			/* number of subscriptions */
	uint64_t events;
	struct silent_subscriber silent[SUBSCRIPTIONS_SILENT];	/* ring of dropped ones */
	size_t n_silent;		/* silent subscribers ever dropped */
	struct holdings *holdings;	/* or NULL */
	void (*changed)(void *arg);
	void *arg;
};

struct subscriptions *subscriptions_new(void (*changed)(void *arg), void *arg)
{
	struct subscriptions *db = xcalloc(1, sizeof(*db));

	db->changed = changed;
	db->arg = arg;
	return db;
}

static void free_subscriber(struct subscriber *s)
{
	vec_free(&s->list);
	free(s);
}

/* Adds to the number of a port's subscriptions; more < 0: subtracts. */
static void count(struct subscriptions *db, uint64_t guid, int more)
{
	db->n += (size_t)more;
	holdings_add(db->holdings, HOLD_SUBSCRIPTIONS, guid, more);
}

void subscriptions_free(struct subscriptions *db)
{
	if (!db)
		return;
	for (size_t i = 0; i < db->list.n; i++) {
		count(db, db->list.v[i]->guid, -(int)db->list.v[i]->list.n);
		free_subscriber(db->list.v[i]);
	}
	vec_free(&db->list);
	free(db);
}

static void tell(struct subscriptions *db)
{
	if (db->changed)
		db->changed(db->arg);
}

void subscriptions_hold(struct subscriptions *db, struct holdings *h)
{
	db->holdings = h;
	for (size_t i = 0; i < db->list.n; i++)
		holdings_add(h, HOLD_SUBSCRIPTIONS, db->list.v[i]->guid,
			     (int)db->list.v[i]->list.n);
}

size_t subscriptions_count(const struct subscriptions *db)
{
	return db ? db->n : 0;
}

uint64_t subscriptions_events(const struct subscriptions *db)
{
	return db ? db->events : 0;
}

uint64_t subscriptions_event(struct subscriptions *db)
{
	return ++db->events;
}

/* --- searching --- */

static bool is(const struct subscriber *s, uint64_t guid, uint32_t qpn)
{
	return s->guid == guid && s->qpn == qpn;
}

/* The index where the subscriber is or belongs. */
static size_t place_of(const struct subscriptions *db, uint64_t guid, uint32_t qpn)
{
	struct subscriber *const *s = db ? db->list.v : NULL;
	size_t i;

	LOWER_BOUND(i, 0, db ? db->list.n : 0,
		    s[i]->guid < guid || (s[i]->guid == guid && s[i]->qpn < qpn));
	return i;
}

static struct subscriber *at(const struct subscriptions *db, size_t i)
{
	return db && i < db->list.n ? db->list.v[i] : NULL;
}

struct subscriber *subscriber_from(const struct subscriptions *db, uint64_t guid, uint32_t qpn,
				   bool beyond)
{
	size_t i = place_of(db, guid, qpn);
	struct subscriber *s = at(db, i);

	return s && beyond && is(s, guid, qpn) ? at(db, i + 1) : s;
}

struct subscriber *subscriber_find(const struct subscriptions *db, uint64_t guid, uint32_t qpn)
{
	struct subscriber *s = subscriber_from(db, guid, qpn, false);

	return s && is(s, guid, qpn) ? s : NULL;
}

static bool same_wish(const struct inform *a, const struct inform *b)
{
	return !memcmp(a->gid, b->gid, sizeof(a->gid)) && a->lid_first == b->lid_first &&
	       a->lid_last == b->lid_last && a->generic == b->generic && a->type == b->type &&
	       a->number == b->number && a->producer == b->producer;
}

static struct subscription *find_wish(const struct subscriber *s, const struct inform *what)
{
	for (size_t i = 0; s && i < s->list.n; i++)
		if (same_wish(&s->list.v[i].what, what))
			return &s->list.v[i];
	return NULL;
}

const struct subscription *subscription_find(const struct subscriber *s, const struct inform *what)
{
	return find_wish(s, what);
}

/* --- changes --- */

#define NUMBERS		SUBSCRIPTION_ANY	/* number of SubscriberEnums, from 0 */
#define WORDS		((NUMBERS + 63) / 64)

/* Sets the bits of the SubscriberEnums that a port uses. */
static void numbers_of_port(const struct subscriptions *db, uint64_t guid, uint64_t used[WORDS])
{
	memset(used, 0, WORDS * sizeof(*used));
	for (size_t i = place_of(db, guid, 0); at(db, i) && at(db, i)->guid == guid; i++)
		for (size_t k = 0; k < at(db, i)->list.n; k++) {
			unsigned number = at(db, i)->list.v[k].number;

			used[number / 64] |= UINT64_C(1) << number % 64;
		}
}

/* The SubscriberEnum of a new subscription; SUBSCRIPTION_ANY: `wanted` is taken, or all are. */
static uint16_t take_number(const struct subscriptions *db, uint64_t guid, uint16_t wanted)
{
	uint64_t used[WORDS];

	numbers_of_port(db, guid, used);
	if (wanted == SUBSCRIPTION_ANY)
		for (wanted = 0; wanted < NUMBERS && used[wanted / 64] >> wanted % 64 & 1; wanted++)
			;
	return wanted < NUMBERS && !(used[wanted / 64] >> wanted % 64 & 1) ? wanted :
									     SUBSCRIPTION_ANY;
}

static struct subscriber *insert(struct subscriptions *db, uint64_t guid, uint32_t qpn)
{
	size_t i = place_of(db, guid, qpn);
	struct subscriber *s = xcalloc(1, sizeof(*s));

	s->guid = guid;
	s->qpn = qpn;
	s->seen = db->events;
	vec_push(&db->list);
	memmove(&db->list.v[i + 1], &db->list.v[i], (db->list.n - 1 - i) * sizeof(*db->list.v));
	db->list.v[i] = s;
	return s;
}

bool subscriptions_room(struct subscriptions *db, uint64_t guid, uint32_t qpn,
			const struct inform *what)
{
	return db && (find_wish(subscriber_find(db, guid, qpn), what) ||
		      holdings_ask(db->holdings, HOLD_SUBSCRIPTIONS, guid));
}

bool subscriptions_add(struct subscriptions *db, uint64_t guid, uint32_t qpn,
		       const struct subscription *want)
{
	struct subscriber *s = subscriber_find(db, guid, qpn);
	struct subscription *old = find_wish(s, &want->what);
	uint16_t number;

	if (old) {
		bool same = old->resp_time == want->resp_time && old->pkey == want->pkey &&
			    old->trusted >= want->trusted;

		old->resp_time = want->resp_time;
		old->pkey = want->pkey;
		old->trusted |= want->trusted;
		s->unanswered = 0;
		if (!same)
			tell(db);
		return true;
	}
	if (!db || (number = take_number(db, guid, want->number)) == SUBSCRIPTION_ANY)
		return false;
	if (!s)
		s = insert(db, guid, qpn);
	*vec_push(&s->list) = *want;
	s->list.v[s->list.n - 1].number = number;
	s->unanswered = 0;
	count(db, guid, 1);
	tell(db);
	return true;
}

void subscriptions_drop(struct subscriptions *db, uint64_t guid, uint32_t qpn)
{
	size_t i = place_of(db, guid, qpn);
	struct subscriber *s = at(db, i);

	if (!s || !is(s, guid, qpn))
		return;
	count(db, guid, -(int)s->list.n);
	free_subscriber(s);
	db->list.n--;
	memmove(&db->list.v[i], &db->list.v[i + 1], (db->list.n - i) * sizeof(*db->list.v));
	tell(db);
}

bool subscriptions_remove(struct subscriptions *db, uint64_t guid, uint32_t qpn,
			  const struct inform *what)
{
	struct subscriber *s = subscriber_find(db, guid, qpn);
	struct subscription *old = find_wish(s, what);

	if (!old)
		return false;
	if (s->list.n == 1) {
		subscriptions_drop(db, guid, qpn);
		return true;
	}
	memmove(old, old + 1, (size_t)(s->list.v + s->list.n - (old + 1)) * sizeof(*old));
	s->list.n--;
	count(db, guid, -1);
	tell(db);
	return true;
}

void subscriptions_drop_silent(struct subscriptions *db, uint64_t guid, uint32_t qpn)
{
	const struct subscriber *s = subscriber_find(db, guid, qpn);

	if (!s)
		return;
	db->silent[db->n_silent++ % SUBSCRIPTIONS_SILENT] = (struct silent_subscriber){
		.guid = guid, .qpn = qpn, .dropped = true, .since_us = s->silent_us,
	};
	subscriptions_drop(db, guid, qpn);
}

/* Whether the subscriber has subscribed again or was dropped once more later. */
static bool is_outdated(const struct subscriptions *db, const struct silent_subscriber *x)
{
	size_t n = db->n_silent < SUBSCRIPTIONS_SILENT ? db->n_silent : SUBSCRIPTIONS_SILENT;

	for (size_t i = 0; i < n; i++)
		if (db->silent[i].guid == x->guid && db->silent[i].qpn == x->qpn &&
		    db->silent[i].since_us > x->since_us)
			return true;
	return subscriber_find(db, x->guid, x->qpn) != NULL;
}

bool subscriptions_silent_at(const struct subscriptions *db, size_t *i,
			     struct silent_subscriber *out)
{
	size_t kept = !db ? 0 : db->n_silent < SUBSCRIPTIONS_SILENT ? db->n_silent :
								      SUBSCRIPTIONS_SILENT;

	for (; db && *i < db->list.n; ++*i) {
		const struct subscriber *s = db->list.v[*i];

		if (!s->unanswered)
			continue;
		*out = (struct silent_subscriber){ s->guid, s->qpn, false, s->silent_us };
		++*i;
		return true;
	}
	for (; db && *i < db->list.n + kept; ++*i) {
		*out = db->silent[*i - db->list.n];
		if (is_outdated(db, out))
			continue;
		++*i;
		return true;
	}
	return false;
}
