/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests when registrations of clients are written (daemon/client_leases.c), with fake registries, store and
 * timer.
 *
 * promise: N2
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/client_leases.h"
#include "mad/mad.h"
#include "sa/registry/alias.h"
#include "sa/registry/groups.h"
#include "sa/registry/services.h"
#include "sa/registry/subscriptions.h"
#include "sa/reports.h"
#include "unit/run.h"

static struct sa sa;
static struct clients *c;
static unsigned steps_left;		/* of printing the subscriptions */
static unsigned service_steps_left;	/* … the services; 0: one */
static struct { unsigned services, aliases, subscriptions; } saved;

/* --- what clients.c calls --- */

int64_t __wrap_clock_mono_us(void);
int64_t __wrap_clock_mono_us(void)
{
	return 1000000000;
}

struct timer {
	void (*fn)(void *arg);
	void *arg;
	bool active;
};
static struct timer timers[4];
static unsigned n_timers;
#define SAVE	(&timers[0])		/* the first one that is made */

struct timer *timer_new(struct loop *l, void (*fn)(void *arg), void *arg)
{
	struct timer *t = &timers[n_timers++];

	(void)l;
	*t = (struct timer){ .fn = fn, .arg = arg };
	return t;
}

void timer_set(struct timer *t, int64_t delay_us, int64_t repeat_us)
{
	(void)delay_us;
	(void)repeat_us;
	t->active = true;
}

void timer_stop(struct timer *t)
{
	t->active = false;
}

bool timer_active(struct timer *t)
{
	return t->active;
}

void timer_free(struct timer *t)
{
	(void)t;
}

static void (*services_changed)(void *arg), (*subscriptions_changed)(void *arg);
static void *changed_arg;

struct services *services_new(void (*changed)(void *arg), void *arg)
{
	services_changed = changed;
	changed_arg = arg;
	return NULL;
}

void services_free(struct services *db)
{
	(void)db;
}

int64_t services_next_end(const struct services *db)
{
	(void)db;
	return SERVICE_NEVER;
}

size_t services_expire(struct services *db, int64_t now_us)
{
	(void)db;
	(void)now_us;
	return 0;
}

struct subscriptions *subscriptions_new(void (*changed)(void *arg), void *arg)
{
	(void)arg;
	subscriptions_changed = changed;
	return NULL;
}

void subscriptions_free(struct subscriptions *db)
{
	(void)db;
}

void mcast_watch(struct mcast_db *db, void (*fn)(void *arg, const struct mcast_group *g, bool made),
		 void *arg)
{
	(void)db;
	(void)fn;
	(void)arg;
}

bool store_load_services(struct store *s, struct services *db)
{
	(void)s;
	(void)db;
	return true;
}

bool store_load_subscriptions(struct store *s, struct subscriptions *db)
{
	(void)s;
	(void)db;
	return true;
}

bool store_load_aliases(struct store *s, struct alias_db *db)
{
	(void)s;
	(void)db;
	return true;
}

void store_save_services(struct store *s, const struct services *db)
{
	(void)s;
	(void)db;
	saved.services++;
}

void store_save_aliases(struct store *s, const struct alias_db *db)
{
	(void)s;
	(void)db;
	saved.aliases++;
}

void store_save_subscriptions(struct store *s, const struct subscriptions *db)
{
	(void)s;
	(void)db;
	saved.subscriptions++;
}

bool store_print_some_subscriptions(const struct subscriptions *db, struct subscriber_place *at,
				    size_t most, struct buf *b)
{
	(void)db;
	(void)at;
	(void)most;
	(void)b;
	return --steps_left;
}

void store_begin_services(const struct services *db, struct buf *text)
{
	(void)db;
	(void)text;
}

void store_begin_subscriptions(const struct subscriptions *db, struct buf *text)
{
	(void)db;
	(void)text;
}

bool store_print_some_services(const struct services *db, struct service_place *at, size_t n,
			       struct buf *b)
{
	(void)db;
	(void)at;
	(void)n;
	(void)b;
	return service_steps_left && --service_steps_left;
}

void store_save_printed_services(struct store *s, struct buf *text)
{
	(void)s;
	(void)text;
	saved.services++;
}

void store_save_printed_subscriptions(struct store *s, struct buf *text)
{
	(void)s;
	(void)text;
	saved.subscriptions++;
}

struct reports *reports_new(struct subscriptions *db, const struct reports_hooks *hooks)
{
	(void)db;
	(void)hooks;
	return NULL;
}

void reports_free(struct reports *r)
{
	(void)r;
}

void reports_hold(struct reports *r, struct holdings *h)
{
	(void)r;
	(void)h;
}

void reports_publish(struct reports *r, struct subnet_state *s)
{
	(void)r;
	(void)s;
}

void reports_group(struct reports *r, const uint8_t mgid[16], uint16_t pkey, bool created)
{
	(void)r;
	(void)mgid;
	(void)pkey;
	(void)created;
}

void reports_alias(struct reports *r, uint64_t port, uint64_t alias, bool came)
{
	(void)r;
	(void)port;
	(void)alias;
	(void)came;
}

void reports_trap(struct reports *r, const uint8_t smp_data[NOTICE_SMP_LEN], uint16_t slid)
{
	(void)r;
	(void)smp_data;
	(void)slid;
}

void reports_work(struct reports *r)
{
	(void)r;
}

bool reports_tick(struct reports *r)
{
	(void)r;
	return false;
}

void reports_answered(struct reports *r, unsigned id, bool answered)
{
	(void)r;
	(void)id;
	(void)answered;
}

bool mad_request(struct mad_port *m, const struct mad_address *to, const uint8_t mad[256],
		 unsigned timeout_ms, unsigned tries,
		 void (*fn)(void *arg, const uint8_t *mad, size_t len), void *arg)
{
	(void)m;
	(void)to;
	(void)mad;
	(void)timeout_ms;
	(void)tries;
	(void)fn;
	(void)arg;
	return false;
}

void mad_sender(const struct mad_in *in, struct mad_address *from)
{
	(void)in;
	memset(from, 0, sizeof(*from));
}

/* --- what happens --- */

static void services_change(void)
{
	services_changed(changed_arg);
}

static void subscriptions_change(void)
{
	subscriptions_changed(changed_arg);
}

static void aliases_change(void)
{
	clients_alias(c, &(struct alias_change){ 0 });
}

static void time_is_up(void)
{
	ck_assert(SAVE->active);
	SAVE->active = false;
	SAVE->fn(SAVE->arg);
}

static void setup(void)
{
	const struct clients_hooks hooks = { 0 };
	bool lost;

	n_timers = 0;
	steps_left = service_steps_left = 0;
	memset(&saved, 0, sizeof(saved));
	c = clients_new(NULL, NULL, NULL, &sa, &hooks, &lost);
	ck_assert(!lost && !SAVE->active);
}

static void teardown(void)
{
	clients_free(c);
}

/* --- tests --- */

START_TEST(what_changes_is_written_once)
{
	services_change();
	services_change();
	aliases_change();
	subscriptions_change();
	steps_left = 1;
	time_is_up();
	time_is_up();
	ck_assert_uint_eq(saved.services, 1);
	ck_assert_uint_eq(saved.aliases, 1);
	ck_assert_uint_eq(saved.subscriptions, 1);
	ck_assert(!SAVE->active);
}
END_TEST

/* Printing subscriptions takes many steps; other registries that change meanwhile are not printed in each. */
START_TEST(changes_while_subscriptions_are_printed)
{
	subscriptions_change();
	for (steps_left = 100; steps_left;) {
		services_change();
		aliases_change();
		time_is_up();
	}
	ck_assert_uint_eq(saved.subscriptions, 1);
	ck_assert_uint_eq(saved.services, 1);
	ck_assert_uint_eq(saved.aliases, 1);
	time_is_up();
	ck_assert_uint_eq(saved.services, 2);
	ck_assert_uint_eq(saved.aliases, 2);
	ck_assert_uint_eq(saved.subscriptions, 1);
	ck_assert(!SAVE->active);
}
END_TEST

/* Services are also printed in steps, and subscriptions after them. */
START_TEST(services_are_printed_in_steps)
{
	services_change();
	subscriptions_change();
	service_steps_left = 3;
	steps_left = 2;
	for (unsigned step = 1; step <= 5; step++) {
		time_is_up();
		ck_assert_uint_eq(saved.services, step >= 3);
		ck_assert_uint_eq(saved.subscriptions, step >= 5);
	}
	ck_assert(!SAVE->active);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("clients");
	TCase *t = tcase_create("clients");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, what_changes_is_written_once);
	tcase_add_test(t, changes_while_subscriptions_are_printed);
	tcase_add_test(t, services_are_printed_in_steps);
	suite_add_tcase(s, t);
	return run_suite(s);
}
