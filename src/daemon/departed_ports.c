/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Removes the registrations of departed ports, in passes over all registries; see
 * departed_ports.h.
 *
 * A port whose registrations are to be removed is condemned.  A pass removes the entries charged
 * to condemned ports, and then asks these ports to register again.  A port that is condemned
 * during a pass waits for the next one.
 */
#include "daemon/departed_ports.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/daemon.h"
#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/map64.h"
#include "sa/handler.h"
#include "sa/registry/alias.h"
#include "sa/registry/groups.h"
#include "sa/registry/holdings.h"
#include "sa/registry/services.h"
#include "sa/registry/subscriptions.h"

#define TICK_MAX_US	(60 * 1000000ll)
#define TICK_MIN_US	250000
#define TICKS		8		/* ticks in the time after which a port is forgotten */
#define SAVE_US		(3600 * 1000000ll)	/* interval for saving times that only run on */
#define WARN_US		(60 * 1000000ll)
#define STEPS		1024		/* memberships or other entries examined in one turn */

enum stage { NO_PASS, GROUPS, SERVICES, SUBSCRIPTIONS, ALIASES };

struct departed_ports {
	struct qosd *q;
	struct holdings *holdings;
	struct timer *tick, *work;
	const struct subnet_state *state;	/* the published one, not referenced; NULL: not master */
	bool gone_dirty;
	int64_t saved_us;
	uint64_t changes;
	/*
	 * in a standby: departure times stated by the master, by clock_boot_us()
	 */
	VEC(struct gone { uint64_t guid; int64_t since_us; }) inherited;
	VEC(uint64_t) condemned;		/* ports for the next pass */
	/* state of the pass */
	struct map64 ports;			/* condemned ports, as keys */
	VEC(uint64_t) passing;			/* the same ports */
	enum stage stage;
	bool begun;				/* the stage has examined its first entry */
	uint8_t mgid[16];
	struct service_key service;
	uint64_t guid;
	uint32_t qpn;
	size_t table;				/* index of the aliases' table */
	/* refusals already reported */
	uint64_t refused[HOLD_KINDS];
	int64_t warned_us;
};

/* --- bounds --- */

static void set_bounds(struct holdings *h, const struct settings *s)
{
	const struct hold_bound bounds[HOLD_KINDS] = {
		[HOLD_GROUPS] = { s->groups_max, s->groups_per_port },
		[HOLD_MEMBERSHIPS] = { s->memberships_max, s->memberships_per_port },
		[HOLD_SERVICES] = { s->services_max, s->services_per_port },
		[HOLD_SUBSCRIPTIONS] = { s->subscriptions_max, s->subscriptions_per_port },
		[HOLD_ALIASES] = { s->aliases_max, s->aliases_per_port },
		[HOLD_TRANSFERS] = { s->sa_transfers_max, s->sa_transfers_per_port },
		[HOLD_LONG_REQUESTS] = { s->sa_long_requests_max, s->sa_long_requests_per_port },
		[HOLD_REPORTS] = { s->reports_max, s->reports_per_port },
	};

	for (enum hold_kind k = 0; k < HOLD_KINDS; k++)
		if (k != HOLD_MLIDS)	/* sa/registry/groups.c sets it */
			holdings_set_bound(h, k, bounds[k]);
}

/* --- work in progress --- */

uint64_t departed_holder(void *arg, uint16_t lid)
{
	const struct qosd *q = arg;

	return sa_lid_holder(q->sa.state, lid);
}

static enum hold_kind kind_of(enum mad_under_way what)
{
	return what == MAD_REQUESTS ? HOLD_LONG_REQUESTS : HOLD_TRANSFERS;
}

bool departed_may_hold(void *arg, enum mad_under_way what, uint64_t holder)
{
	const struct qosd *q = arg;

	return holdings_ask(q->sa.holdings, kind_of(what), holder);
}

void departed_has_more(void *arg, enum mad_under_way what, uint64_t holder, int more)
{
	const struct qosd *q = arg;

	holdings_add(q->sa.holdings, kind_of(what), holder, more);
}

/* --- refusals --- */

/* The port that holds most of a kind. */
static uint64_t greatest(const struct holdings *h, enum hold_kind kind)
{
	const struct holding *most = NULL;

	for (size_t i = 0; i < holdings_count(h); i++)
		if (!most || holdings_at(h, i)->n[kind] > most->n[kind])
			most = holdings_at(h, i);
	return most ? most->port : 0;
}

/* Logs at most one line per kind in a minute. */
static void tell_refusals(struct departed_ports *x, int64_t now_us)
{
	char name[HOLDER_NAME_MAX];

	if (x->warned_us && now_us - x->warned_us < WARN_US)
		return;
	for (unsigned k = 0; k < HOLD_KINDS; k++) {
		uint64_t refused = holdings_refused(x->holdings, k);

		if (refused == x->refused[k])
			continue;
		log_warn("sa", "refused %" PRIu64 " requests for %s because ports hold as many as the "
			 "limit allows; %s holds most (see qosd-ctl holdings)", refused - x->refused[k],
			 hold_kind_text(k), holder_name(greatest(x->holdings, k), name));
		x->refused[k] = refused;
		x->warned_us = now_us;
	}
}

/* --- a pass --- */

static bool is_condemned(const struct departed_ports *x, uint64_t guid)
{
	return map64_get(&x->ports, guid) != MAP64_NONE;
}

static void next_stage(struct departed_ports *x, enum stage stage)
{
	x->stage = stage;
	x->begun = false;
	memset(x->mgid, 0, sizeof(x->mgid));
	x->service = (struct service_key){ 0 };
	x->guid = 0;
	x->qpn = 0;
	x->table = 0;
}

static void lock(struct departed_ports *x)
{
	prilock_patient(&x->q->sa_lock);
}

static void unlock(struct departed_ports *x)
{
	prilock_release(&x->q->sa_lock);
}

/*
 * Removes condemned ports from a group, which may end the group; returns the number of members
 * examined.
 */
static unsigned clean_group(struct departed_ports *x, const uint8_t mgid[16])
{
	struct mcast_db *db = x->q->sa.mcast;
	struct mcast_group *g = mcast_find(db, mgid);
	unsigned looked_at = 1;

	for (size_t i = g->members.n; g && i-- > 0; looked_at++) {
		const struct mcast_member m = g->members.v[i];

		if (!is_condemned(x, m.gid.port) && !is_condemned(x, mcast_answers_for(&m)))
			continue;
		lock(x);
		mcast_leave(db, g, m.gid, 0xff);
		unlock(x);
		g = mcast_find(db, mgid);
	}
	return looked_at;
}

static void clean_groups(struct departed_ports *x)
{
	const struct mcast_db *db = x->q->sa.mcast;

	for (unsigned steps = 0; steps < STEPS;) {
		size_t at = mcast_place(db, x->mgid);

		at += x->begun && mcast_find(db, x->mgid);
		if (at >= mcast_count(db)) {
			next_stage(x, SERVICES);
			return;
		}
		memcpy(x->mgid, mcast_at(db, at)->mgid, sizeof(x->mgid));
		x->begun = true;
		steps += clean_group(x, x->mgid);
	}
}

static void clean_services(struct departed_ports *x)
{
	struct services *db = x->q->sa.services;

	for (unsigned steps = 0; steps < STEPS; steps++) {
		const struct service *s = services_from(db, &x->service, x->begun);

		if (!s) {
			next_stage(x, SUBSCRIPTIONS);
			return;
		}
		x->service = s->key;
		x->begun = true;
		if (is_condemned(x, s->source))
			services_remove(db, &x->service);
	}
}

static void clean_subscriptions(struct departed_ports *x)
{
	struct subscriptions *db = x->q->sa.subscriptions;

	for (unsigned steps = 0; steps < STEPS; steps++) {
		const struct subscriber *who = subscriber_from(db, x->guid, x->qpn, x->begun);

		if (!who) {
			next_stage(x, ALIASES);
			return;
		}
		x->guid = who->guid;
		x->qpn = who->qpn;
		x->begun = true;
		if (is_condemned(x, x->guid))
			subscriptions_drop(db, x->guid, x->qpn);
	}
}

static void clean_aliases(struct departed_ports *x)
{
	struct alias_db *db = x->q->sa.alias;
	unsigned blocks;
	uint64_t port;

	for (unsigned steps = 0; steps < STEPS; steps++) {
		if (!alias_port(db, x->table++, &port, &blocks)) {
			next_stage(x, NO_PASS);
			return;
		}
		if (!is_condemned(x, port))
			continue;
		lock(x);
		for (unsigned k = 1; k < blocks * ALIAS_BLOCK; k++)
			alias_put(db, port, k, 0);
		unlock(x);
	}
}

static void begin_pass(struct departed_ports *x)
{
	map64_clear(&x->ports);
	x->passing.n = 0;
	for (size_t i = 0; i < x->condemned.n; i++) {
		map64_put(&x->ports, x->condemned.v[i], 0);
		*vec_push(&x->passing) = x->condemned.v[i];
	}
	x->condemned.n = 0;
	next_stage(x, GROUPS);
}

/*
 * Asks the ports of the pass to register again, so that present ones restore what their clients
 * still use.
 */
static void end_pass(struct departed_ports *x)
{
	x->gone_dirty = true;
	for (size_t i = 0; i < x->passing.n; i++)
		sm_have_register(x->q->sm, x->passing.v[i]);
	x->passing.n = 0;
}

static void on_work(void *arg)
{
	struct departed_ports *x = arg;

	if (x->stage == NO_PASS) {
		if (!x->condemned.n)
			return;
		begin_pass(x);
	}
	switch (x->stage) {
	case GROUPS:
		clean_groups(x);
		break;
	case SERVICES:
		clean_services(x);
		break;
	case SUBSCRIPTIONS:
		clean_subscriptions(x);
		break;
	case ALIASES:
		clean_aliases(x);
		break;
	case NO_PASS:
		break;
	}
	if (x->stage == NO_PASS)
		end_pass(x);
	if (x->stage != NO_PASS || x->condemned.n)
		timer_set(x->work, 0, 0);
	x->changes++;
}

static void condemn(struct departed_ports *x, uint64_t guid)
{
	for (size_t i = 0; i < x->condemned.n; i++)
		if (x->condemned.v[i] == guid)
			return;
	*vec_push(&x->condemned) = guid;
	if (!timer_active(x->work))
		timer_set(x->work, 0, 0);
}

/* --- ports that are gone --- */

static bool is_there(const struct subnet_state *s, uint64_t guid)
{
	uint32_t port = fabric_find_port(s->f, guid);

	return port != FABRIC_NONE && (port == s->f->self || s->plan->lid[port]) &&
	       (port == s->f->self || s->f->ports[port].num == 0 ||
		s->f->ports[port].peer != FABRIC_NONE);
}

static void look_who_is_gone(struct departed_ports *x)
{
	int64_t now_us = clock_boot_us();

	for (size_t i = 0; i < holdings_count(x->holdings); i++) {
		const struct holding *h = holdings_at(x->holdings, i);
		bool gone = !is_there(x->state, h->port);

		/* a LID holds only work in progress */
		if (holding_is_empty(h) || holder_is_lid(h->port) || gone == (h->gone_us != 0))
			continue;
		holdings_set_gone(x->holdings, h->port, gone ? now_us : 0);
		x->gone_dirty = true;
		x->changes++;
	}
}

/* --- departure times for a standby --- */

uint64_t departed_changes(const struct departed_ports *x)
{
	return x->changes;
}

void departed_print(const struct departed_ports *x, struct buf *b)
{
	int64_t now_us = clock_boot_us();

	for (size_t i = 0; i < holdings_count(x->holdings); i++) {
		const struct holding *h = holdings_at(x->holdings, i);

		if (h->gone_us && !holding_is_empty(h))
			buf_printf(b, "gone 0x%016" PRIx64 " %" PRId64 "\n", h->port,
				   (now_us - h->gone_us) / 1000000);
	}
}

bool departed_inherit(struct departed_ports *x, char *text)
{
	int64_t now_us = clock_boot_us();
	size_t had = x->inherited.n;

	for (const char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		struct gone *g = vec_push(&x->inherited);
		int64_t age_s;
		int end = 0;

		if (sscanf(line, "gone 0x%16" SCNx64 " %" SCNd64 "%n", &g->guid, &age_s, &end) != 2 ||
		    line[end] || age_s < 0 || age_s > INT32_MAX) {
			x->inherited.n = had;
			return false;
		}
		g->since_us = now_us - age_s * 1000000;
	}
	memmove(x->inherited.v, x->inherited.v + had, (x->inherited.n - had) * sizeof(*x->inherited.v));
	x->inherited.n -= had;
	return true;
}

/*
 * Called when this daemon becomes master: uses the departure times that the last master stated.
 */
static void use_inherited(struct departed_ports *x)
{
	for (const struct gone *g = x->inherited.v; g < vec_end(&x->inherited); g++)
		if (!is_there(x->state, g->guid))
			holdings_set_gone(x->holdings, g->guid, g->since_us);
	x->gone_dirty |= x->inherited.n > 0;
	x->changes += x->inherited.n > 0;
	x->inherited.n = 0;
}

static void tell_forgotten(const struct departed_ports *x, size_t n, uint64_t first)
{
	struct event e;

	event_make(&e, EVENT_REGISTRATIONS_FORGOTTEN, "%zu port%s gone for %" PRIu32 " s: dropped what %s "
		   "registered; the first is 0x%016" PRIx64, n, n == 1 ? " is" : "s are",
		   x->q->settings->forget_after_s, n == 1 ? "it" : "they", first);
	event_number(&e, "ports", (int64_t)n);
	event_guid(&e, "guid", first);
	log_info("sa", "%s", e.text);
	operator_events_add(x->q->operator_events, &e);
}

static void forget(struct departed_ports *x)
{
	int64_t limit_us = x->q->settings->forget_after_s * 1000000ll, now_us = clock_boot_us();
	uint64_t first = 0;
	size_t n = 0;

	if (!limit_us || !x->state || x->stage != NO_PASS)
		return;
	for (size_t i = 0; i < holdings_count(x->holdings); i++) {
		const struct holding *h = holdings_at(x->holdings, i);

		if (holding_is_empty(h) || !h->gone_us || now_us - h->gone_us < limit_us)
			continue;
		*vec_push(&x->condemned) = h->port;
		first = n++ ? first : h->port;
	}
	if (!n)
		return;
	tell_forgotten(x, n, first);
	timer_set(x->work, 0, 0);
}

static void save(struct departed_ports *x)
{
	int64_t now_us = clock_mono_us();

	if (!x->gone_dirty && now_us - x->saved_us < SAVE_US)
		return;
	store_save_gone(x->q->store, x->holdings);
	x->gone_dirty = false;
	x->saved_us = now_us;
}

static void on_tick(void *arg)
{
	struct departed_ports *x = arg;

	forget(x);
	save(x);
	tell_refusals(x, clock_mono_us());
	if (!x->state)
		return;
	lock(x);
	mcast_make_missing(x->q->sa.mcast, x->state);
	unlock(x);
}

void departed_publish(struct departed_ports *x, const struct subnet_state *s)
{
	if (!x)
		return;
	x->state = s;
	if (s) {
		use_inherited(x);
		look_who_is_gone(x);
		return;
	}
	/*
	 * another SM is master: it knows which ports are present, and may send us its
	 * registrations
	 */
	timer_stop(x->work);
	x->condemned.n = 0;
	x->stage = NO_PASS;
	for (size_t i = 0; i < holdings_count(x->holdings); i++)
		holdings_set_gone(x->holdings, holdings_at(x->holdings, i)->port, 0);
	x->gone_dirty = true;
}

/* --- removal by an administrator --- */

bool departed_remove_port(void *arg, uint64_t guid, struct asker who)
{
	struct qosd *q = arg;
	const struct holding *h = holdings_find(q->departed->holdings, guid);
	char name[HOLDER_NAME_MAX];
	struct event e;

	if (!h || holding_is_empty(h))
		return false;
	event_make(&e, EVENT_REGISTRATIONS_REMOVED,
		   "removed all registrations of %s: %" PRIu32 " groups, %" PRIu32 " memberships, "
		   "%" PRIu32 " services, %" PRIu32 " subscriptions, %" PRIu32 " alias GUIDs",
		   holder_name(guid, name), h->n[HOLD_GROUPS], h->n[HOLD_MEMBERSHIPS], h->n[HOLD_SERVICES],
		   h->n[HOLD_SUBSCRIPTIONS], h->n[HOLD_ALIASES]);
	event_guid(&e, "guid", guid);
	operator_events_add_asked(q->operator_events, "sa", &e, who);
	condemn(q->departed, guid);
	mad_end_under_way(q->mad, guid);
	return true;
}

bool departed_remove_group(void *arg, const uint8_t mgid[16], struct asker who, struct buf *err)
{
	struct qosd *q = arg;
	struct mcast_group *g = mcast_find(q->sa.mcast, mgid);
	struct event e;

	if (!g || g->permanent) {
		buf_puts(err, g ? "the group is part of the policy: change the policy instead" :
				  "no group has this MGID");
		return false;
	}
	event_make(&e, EVENT_REGISTRATIONS_REMOVED, "removed the multicast group with MLID 0x%04x, held by "
		   "0x%016" PRIx64 ", and its %zu members", g->mlid, g->holder,
		   g->members.n);
	event_guid(&e, "guid", g->holder);
	event_number(&e, "mlid", g->mlid);
	operator_events_add_asked(q->operator_events, "sa", &e, who);
	lock(q->departed);
	mcast_delete(q->sa.mcast, g);
	unlock(q->departed);
	return true;
}

/* --- beginning and end --- */

/* Looks often enough for ports to be forgotten in time. */
static void set_tick(struct departed_ports *x)
{
	int64_t tick = x->q->settings->forget_after_s * 1000000ll / TICKS;

	tick = !tick || tick > TICK_MAX_US ? TICK_MAX_US : tick < TICK_MIN_US ? TICK_MIN_US : tick;
	timer_set(x->tick, tick, tick);
}

void departed_settings_changed(struct departed_ports *x)
{
	set_bounds(x->holdings, x->q->settings);
	set_tick(x);
}

struct departed_ports *departed_new(struct qosd *q)
{
	struct departed_ports *x = xcalloc(1, sizeof(*x));

	x->q = q;
	x->holdings = q->sa.holdings = holdings_new();
	map64_init(&x->ports, 16);
	set_bounds(x->holdings, q->settings);
	mcast_hold(q->sa.mcast, x->holdings);
	services_hold(q->sa.services, x->holdings);
	subscriptions_hold(q->sa.subscriptions, x->holdings);
	alias_hold(q->sa.alias, x->holdings);
	clients_hold(q->clients, x->holdings);
	mcast_bound_mlids(q->sa.mcast, (struct hold_bound){ q->settings->mlids_max,
							    q->settings->mlids_per_port });
	store_load_gone(q->store, x->holdings);
	x->saved_us = clock_mono_us();
	x->work = timer_new(q->loop, on_work, x);
	x->tick = timer_new(q->loop, on_tick, x);
	set_tick(x);
	return x;
}

void departed_free(struct departed_ports *x)
{
	if (!x)
		return;
	if (x->gone_dirty)
		store_save_gone(x->q->store, x->holdings);
	timer_free(x->tick);
	timer_free(x->work);
	mcast_hold(x->q->sa.mcast, NULL);
	services_hold(x->q->sa.services, NULL);
	subscriptions_hold(x->q->sa.subscriptions, NULL);
	alias_hold(x->q->sa.alias, NULL);
	clients_hold(x->q->clients, NULL);
	x->q->sa.holdings = NULL;
	holdings_free(x->holdings);
	vec_free(&x->condemned);
	vec_free(&x->passing);
	vec_free(&x->inherited);
	map64_free(&x->ports);
	free(x);
}
