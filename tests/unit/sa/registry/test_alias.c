/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests alias GUIDs against a simple model: their indexes, which port has which, assigned ones. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "sa/registry/alias.h"
#include "sa/registry/holdings.h"
#include "unit/run.h"

static struct alias_db *db;
static struct alias_change last;
static unsigned changes;

static void on_change(void *arg, const struct alias_change *c)
{
	(void)arg;
	last = *c;
	changes++;
}

static void setup(void)
{
	changes = 0;
	db = alias_new();
	alias_watch(db, on_change, NULL);
}

static void teardown(void)
{
	alias_free(db);
}

/* Hosts that come with another GUID each time, and take their aliases with them. */
/* promise: D111 */
START_TEST(ports_that_are_gone_leave_nothing)
{
	size_t tables = 0;
	unsigned blocks;
	uint64_t port;

	ck_assert(alias_put(db, 0x10, 9, 0x100));
	for (uint64_t guid = 0x1000; guid < 0x1000 + 50000; guid++) {
		ck_assert(alias_put(db, guid, 1, guid << 16));
		ck_assert(alias_put(db, guid, 1, 0));
		ck_assert_uint_eq(alias_owner(db, guid << 16), 0);
	}
	while (alias_port(db, tables, &port, &blocks))
		tables++;
	ck_assert_uint_lt(tables, 5000);
	ck_assert_uint_eq(alias_count(db), 1);
	ck_assert_uint_eq(alias_owner(db, 0x100), 0x10);
	ck_assert_uint_eq(alias_at(db, 0x10, 9), 0x100);
	ck_assert(alias_put(db, 0x10, 9, 0));
	ck_assert_uint_eq(alias_count(db), 0);
}
END_TEST

START_TEST(put_moved_and_freed)
{
	ck_assert_uint_eq(alias_owner(db, 5), 0);
	ck_assert(alias_put(db, 0x10, 1, 0x100));
	ck_assert(last.port == 0x10 && last.place == 1 && last.from == 0 && last.to == 0x100);
	ck_assert_uint_eq(alias_owner(db, 0x100), 0x10);
	ck_assert_uint_eq(alias_at(db, 0x10, 1), 0x100);
	ck_assert_uint_eq(alias_at(db, 0x10, 2), 0);
	ck_assert_uint_eq(alias_at(db, 0x10, 255), 0);
	ck_assert_uint_eq(alias_at(db, 0x11, 1), 0);
	/* another's, or the same port's in another place: not given */
	ck_assert(!alias_put(db, 0x11, 1, 0x100));
	ck_assert(!alias_put(db, 0x10, 2, 0x100));
	ck_assert_uint_eq(changes, 1);
	ck_assert(alias_put(db, 0x10, 1, 0x100));	/* the present value: no change */
	ck_assert_uint_eq(changes, 1);
	ck_assert(alias_put(db, 0x10, 1, 0x101));
	ck_assert(last.from == 0x100 && last.to == 0x101);
	ck_assert_uint_eq(alias_owner(db, 0x100), 0);
	ck_assert(alias_put(db, 0x11, 255, 0x100));
	ck_assert_uint_eq(alias_owner(db, 0x100), 0x11);
	ck_assert_uint_eq(alias_count(db), 2);
	ck_assert(alias_put(db, 0x10, 1, 0));
	ck_assert(last.from == 0x101 && last.to == 0);
	ck_assert_uint_eq(alias_owner(db, 0x101), 0);
	ck_assert_uint_eq(alias_count(db), 1);
}
END_TEST

START_TEST(the_first_place_and_those_beyond)
{
	ck_assert(!alias_put(db, 0x10, 0, 0x100));
	ck_assert(!alias_put(db, 0x10, 256, 0x100));
	ck_assert_uint_eq(alias_count(db), 0);
	ck_assert_uint_eq(alias_owner(NULL, 1), 0);
	ck_assert_uint_eq(alias_at(NULL, 1, 1), 0);
	ck_assert_uint_eq(alias_count(NULL), 0);
}
END_TEST

START_TEST(ports_and_their_blocks)
{
	unsigned blocks;
	uint64_t port;

	ck_assert(!alias_port(db, 0, &port, &blocks));
	ck_assert(!alias_port(NULL, 0, &port, &blocks));
	alias_put(db, 0x10, 7, 0x100);
	alias_put(db, 0x11, 8, 0x101);
	ck_assert(alias_port(db, 0, &port, &blocks));
	ck_assert(port == 0x10 && blocks == 1);
	ck_assert(alias_port(db, 1, &port, &blocks));
	ck_assert(port == 0x11 && blocks == 2);
	ck_assert(!alias_port(db, 2, &port, &blocks));
	/* its former entry is checked as well */
	alias_put(db, 0x11, 8, 0);
	ck_assert(alias_port(db, 1, &port, &blocks));
	ck_assert_uint_eq(blocks, 2);
}
END_TEST

START_TEST(ports_hold_aliases)
{
	struct holdings *h = holdings_new();

	alias_put(db, 0x10, 1, 1);
	alias_put(db, 0x10, 9, 2);
	alias_hold(db, h);
	holdings_set_bound(h, HOLD_ALIASES, (struct hold_bound){ 100, 3 });
	ck_assert(alias_room(db, 0x10, 2));
	alias_put(db, 0x10, 2, 3);
	ck_assert(!alias_room(db, 0x10, 3));
	ck_assert_msg(alias_room(db, 0x10, 2), "in place of another");
	alias_put(db, 0x10, 2, 4);
	ck_assert_uint_eq(holdings_of(h, HOLD_ALIASES, 0x10), 3);
	alias_put(db, 0x10, 9, 0);
	ck_assert(alias_room(db, 0x10, 3));
	ck_assert_uint_eq(holdings_total(h, HOLD_ALIASES), 2);
	alias_hold(db, NULL);
	holdings_free(h);
}
END_TEST

START_TEST(assigned)
{
	uint64_t first = alias_assign(db), second = alias_assign(db);

	ck_assert_uint_eq(first >> 40, 0x001405);
	ck_assert(first && second && first != second);
	ck_assert_uint_eq(alias_assigned(db), 2);
	alias_put(db, 0x10, 1, second + 1);	/* taken by a port that requested it */
	ck_assert_uint_eq(alias_assign(db), second + 2);
	alias_set_assigned(db, UINT32_MAX - 1);
	ck_assert_uint_ne(alias_assign(db), 0);
	ck_assert_uint_eq(alias_assign(db), 0);
	ck_assert_uint_eq(alias_assign(db), 0);
}
END_TEST

/* Few ports, few GUIDs, many changes: removed entries must not come back. */
START_TEST(as_the_model)
{
	enum { PORTS = 3, PLACES = 12, GUIDS = 30 };
	uint64_t model[PORTS][PLACES] = { { 0 } };

	srand(7);
	for (unsigned n = 0; n < 40000; n++) {
		unsigned port = (unsigned)rand() % PORTS;
		unsigned place = 1 + (unsigned)rand() % (PLACES - 1);
		uint64_t guid = (uint64_t)rand() % GUIDS + (n % 5 ? 0 : n), owner = 0;
		bool taken = false;

		for (unsigned p = 0; p < PORTS; p++)
			for (unsigned i = 1; i < PLACES; i++)
				if (guid && model[p][i] == guid) {
					taken |= p != port || i != place;
					owner = p + 1;
				}
		ck_assert_uint_eq(guid ? alias_owner(db, guid) : 0, owner);
		ck_assert_uint_eq(alias_put(db, port + 1, place, guid), !taken);
		if (!taken)
			model[port][place] = guid;
		ck_assert_uint_eq(alias_at(db, port + 1, place), model[port][place]);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("alias");
	TCase *t = tcase_create("aliases");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, ports_that_are_gone_leave_nothing);
	tcase_add_test(t, put_moved_and_freed);
	tcase_add_test(t, the_first_place_and_those_beyond);
	tcase_add_test(t, ports_and_their_blocks);
	tcase_add_test(t, ports_hold_aliases);
	tcase_add_test(t, assigned);
	tcase_add_test(t, as_the_model);
	suite_add_tcase(s, t);
	return run_suite(s);
}
