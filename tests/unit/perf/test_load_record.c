/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the hourly record of loads: the mean, the worst ends by name, once each, and that nothing is told of hours in
 * which nothing was measured.
 *
 * promise: W5
 */
#include <check.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "perf/load_record.h"
#include "unit/plan/net.h"
#include "unit/run.h"

#define S	INT64_C(1000000)
#define HOSTS	6
#define START	(100 * S)

static struct subnet_state state;
static uint32_t hosts[HOSTS];
static float load[HOSTS];		/* in bytes per second, of each host's port; negative: not known */

static float rate(const void *arg, const struct subnet_state *s, uint32_t port, enum port_rate r)
{
	ck_assert_ptr_eq(arg, load);
	for (unsigned i = 0; i < HOSTS; i++)
		if (s->f->nodes[hosts[i]].port0 + 1 == port)
			return r == RATE_SENT ? load[i] : 7;
	return RATE_UNKNOWN;
}

static void setup(void)
{
	uint32_t sw;

	state.f = fabric_new();
	for (unsigned i = 0; i < HOSTS; i++)
		hosts[i] = net_ca(state.f, 0x100 * (i + 1), 1);
	sw = net_switch(state.f, 0x10000, HOSTS, false);
	for (unsigned i = 0; i < HOSTS; i++) {
		ck_assert(fabric_link(state.f, sw, i + 1, hosts[i], 1));
		load[i] = RATE_UNKNOWN;
	}
	net_finish(state.f);
}

static void teardown(void)
{
	fabric_free(state.f);
}

static bool take(struct load_record *x, int64_t now_us, struct event *e)
{
	/* in parts, of which the last is not full */
	while (!load_record_take(x, &state, 3, rate, load))
		;
	return load_record_end(x, &state, now_us, e);
}

static const struct event_member *member(const struct event *e, const char *name)
{
	for (unsigned i = 0; i < e->n_members; i++)
		if (strcmp(e->members[i].name, name) == 0)
			return &e->members[i];
	return NULL;
}

static bool names(const struct event *e, const char *name, unsigned host)
{
	char port[FABRIC_NAME_MAX];

	fabric_port_name(state.f, state.f->nodes[hosts[host]].port0 + 1, port, sizeof(port));
	return member(e, name) && strstr(member(e, name)->text, port);
}

START_TEST(an_hour)
{
	struct load_record x = { 0 };
	struct event e;

	for (unsigned i = 0; i < HOSTS; i++)
		load[i] = 1e6f * (float)i;
	ck_assert(!take(&x, START, &e));
	load[0] = 9e6f;
	load[5] = 1e6f;			/* it had more before */
	ck_assert(!take(&x, START + 1800 * S, &e));
	load[0] = RATE_UNKNOWN;
	ck_assert(take(&x, START + 3600 * S, &e));
	ck_assert_int_eq(e.kind, EVENT_LOADS);
	ck_assert_int_eq(member(&e, "ends")->number, HOSTS - 1);
	ck_assert_int_eq(member(&e, "readings")->number, 3);
	ck_assert(names(&e, "worst", 0) && names(&e, "second", 5) && names(&e, "third", 4));
	ck_assert_ptr_nonnull(strstr(member(&e, "worst")->text, "7 ticks/s"));
	/* the next hour has nothing of this one */
	load[1] = 3e6f;
	ck_assert(take(&x, START + 7200 * S, &e));
	ck_assert_int_eq(member(&e, "readings")->number, 1);
	ck_assert(names(&e, "worst", 4));
}
END_TEST

START_TEST(nothing_measured)
{
	struct load_record x = { 0 };
	struct event e;

	ck_assert(!take(&x, START, &e));
	ck_assert(!take(&x, START + 3600 * S, &e));
	load[2] = 0;
	ck_assert(!take(&x, START + 3700 * S, &e));
	ck_assert(take(&x, START + 7200 * S, &e));
	ck_assert_int_eq(member(&e, "mean-permille")->number, 0);
	ck_assert_ptr_null(member(&e, "worst"));	/* all were idle */
}
END_TEST

int main(void)
{
	Suite *s = suite_create("load_record");
	TCase *k = tcase_create("load_record");

	tcase_add_checked_fixture(k, setup, teardown);
	tcase_add_test(k, an_hour);
	tcase_add_test(k, nothing_measured);
	suite_add_tcase(s, k);
	return run_suite(s);
}
