/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the services that clients registered: order, limits, leases.
 *
 * promise: N2
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "changes.h"
#include "sa/registry/holdings.h"
#include "sa/registry/services.h"
#include "unit/run.h"

#define SECOND 1000000ll

static struct services *db;

static void setup(void)
{
	changes = 0;
	db = services_new(on_change, NULL);
}

static void teardown(void)
{
	services_free(db);
}

static struct service service(uint64_t id, uint8_t last, uint16_t pkey)
{
	struct service s = { .key = { .id = id, .pkey = pkey }, .source = 0x10,
			     .ends_us = SERVICE_NEVER };

	s.key.gid[15] = last;
	return s;
}

START_TEST(in_order_of_keys)
{
	static const struct { uint64_t id; uint8_t gid; uint16_t pkey; } in[] = {
		{ 2, 0, 0 }, { 1, 2, 9 }, { 1, 2, 7 }, { 1, 1, 9 }, { 0x8000000000000000ULL, 0, 0 },
	}, out[] = {
		{ 1, 1, 9 }, { 1, 2, 7 }, { 1, 2, 9 }, { 2, 0, 0 }, { 0x8000000000000000ULL, 0, 0 },
	};
	struct service_key first = { 0 };
	const struct service *s;
	unsigned n = 0;

	for (unsigned i = 0; i < 5; i++) {
		struct service x = service(in[i].id, in[i].gid, in[i].pkey);

		ck_assert(services_put(db, &x));
	}
	for (s = services_from(db, &first, false); s; s = services_from(db, &s->key, true), n++) {
		ck_assert_uint_eq(s->key.id, out[n].id);
		ck_assert_uint_eq(s->key.gid[15], out[n].gid);
		ck_assert_uint_eq(s->key.pkey, out[n].pkey);
		ck_assert_ptr_eq(services_find(db, &s->key), s);
	}
	ck_assert_uint_eq(n, 5);
	ck_assert_uint_eq(changes, 5);
	first.id = 1;
	ck_assert_ptr_null(services_find(db, &first));
}
END_TEST

START_TEST(the_same_key_is_replaced)
{
	struct service s = service(1, 1, 1);

	services_put(db, &s);
	strcpy((char *)s.name, "new");
	ck_assert(services_put(db, &s));
	ck_assert_uint_eq(services_count(db), 1);
	ck_assert_str_eq((const char *)services_find(db, &s.key)->name, "new");
	services_remove(db, &s.key);
	services_remove(db, &s.key);
	ck_assert_uint_eq(services_count(db), 0);
	ck_assert_uint_eq(changes, 3);
}
END_TEST

START_TEST(sources_hold_services)
{
	struct service s = service(0, 0, 0), of_other;
	struct holdings *h = holdings_new();

	services_put(db, &s);
	services_hold(db, h);
	holdings_set_bound(h, HOLD_SERVICES, (struct hold_bound){ 100, 3 });
	for (s.key.id = 1; s.key.id < 3; s.key.id++) {
		ck_assert(services_room(db, &s));
		services_put(db, &s);
	}
	ck_assert(!services_room(db, &s));
	ck_assert_uint_eq(holdings_refused(h, HOLD_SERVICES), 1);
	ck_assert_msg(services_put(db, &s), "bounds are for requests, not for what was there before");
	ck_assert_uint_eq(holdings_of(h, HOLD_SERVICES, 0x10), 4);
	s.key.id = 1;
	ck_assert_msg(services_room(db, &s), "an update is always possible");
	/* a service that another port takes over counts for that port */
	of_other = s;
	of_other.source = 0x11;
	ck_assert(services_room(db, &of_other));
	services_put(db, &of_other);
	ck_assert_uint_eq(holdings_of(h, HOLD_SERVICES, 0x10), 3);
	ck_assert_uint_eq(holdings_of(h, HOLD_SERVICES, 0x11), 1);
	services_remove(db, &of_other.key);
	ck_assert_uint_eq(holdings_total(h, HOLD_SERVICES), 3);
	s.key.id = 2;
	s.ends_us = 1;
	services_put(db, &s);
	services_expire(db, 2);
	ck_assert_uint_eq(holdings_total(h, HOLD_SERVICES), 2);
	services_hold(db, NULL);
	holdings_free(h);
}
END_TEST

START_TEST(leases_end)
{
	struct service s = service(1, 0, 0);

	s.ends_us = 10 * SECOND;
	services_put(db, &s);
	ck_assert_uint_eq(service_lease(&s, 0), 10);
	ck_assert_uint_eq(service_lease(&s, 1), 10);
	ck_assert_uint_eq(service_lease(&s, 9 * SECOND + 1), 1);
	ck_assert_uint_eq(service_lease(&s, 10 * SECOND), 0);
	ck_assert_uint_eq(service_lease(&s, 99 * SECOND), 0);
	s.key.id = 2;
	s.ends_us = 5 * SECOND;
	services_put(db, &s);
	s.key.id = 3;
	s.ends_us = SERVICE_NEVER;
	services_put(db, &s);
	ck_assert_uint_eq(service_lease(&s, 99 * SECOND), SERVICE_FOREVER);
	ck_assert_int_eq(services_next_end(db), 5 * SECOND);
	ck_assert_uint_eq(services_expire(db, 5 * SECOND - 1), 0);
	ck_assert_uint_eq(changes, 3);
	ck_assert_uint_eq(services_expire(db, 5 * SECOND), 1);
	ck_assert_int_eq(services_next_end(db), 10 * SECOND);
	ck_assert_uint_eq(services_expire(db, 100 * SECOND), 1);
	ck_assert_int_eq(services_next_end(db), SERVICE_NEVER);
	ck_assert_uint_eq(services_count(db), 1);
	ck_assert_uint_eq(changes, 5);
}
END_TEST

START_TEST(none_is_empty)
{
	struct service s = service(1, 0, 0);

	ck_assert(!services_put(NULL, &s));
	ck_assert_uint_eq(services_count(NULL), 0);
	ck_assert_ptr_null(services_find(NULL, &s.key));
	ck_assert_uint_eq(services_expire(NULL, 0), 0);
	ck_assert_int_eq(services_next_end(NULL), SERVICE_NEVER);
	services_remove(NULL, &s.key);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("services");
	TCase *t = tcase_create("services");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, in_order_of_keys);
	tcase_add_test(t, the_same_key_is_replaced);
	tcase_add_test(t, sources_hold_services);
	tcase_add_test(t, leases_end);
	tcase_add_test(t, none_is_empty);
	suite_add_tcase(s, t);
	return run_suite(s);
}
