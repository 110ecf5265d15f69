/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests statistics: by kind and by client, Sets without effect, and a limit to their growth.
 *
 * promise: V1
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/bytes.h"
#include "rig.h"
#include "unit/run.h"

static struct sim_stats *st;

static void setup(void)
{
	st = stats_new();
}

static void teardown(void)
{
	stats_free(st);
}

static const uint8_t *mad(uint8_t mgmt_class, uint8_t method, uint16_t attr)
{
	static uint8_t m[SIM_MAD_SIZE];

	m[MAD_CLASS] = mgmt_class;
	m[MAD_METHOD] = method;
	put_be16(m + MAD_ATTR, attr);
	return m;
}

static const struct stat_table *client(uint32_t n)
{
	for (size_t i = 0; i < st->clients.n; i++)
		if (st->clients.v[i]->client == n)
			return st->clients.v[i];
	return NULL;
}

static const struct stat_row *row(const struct stat_table *t, uint8_t mgmt_class, uint8_t method,
				  uint16_t attr)
{
	for (size_t i = 0; i < t->rows.n; i++) {
		const struct stat_row *r = &t->rows.v[i];

		if (r->mgmt_class == mgmt_class && r->method == method && r->attr == attr)
			return r;
	}
	ck_abort_msg("there is no such row");
}

START_TEST(by_kind_and_client)
{
	stats_client(st, 3, "opensm[1] at H0");
	stats_sent(st, 3, mad(CLASS_SM_DR, METHOD_GET, 0x11), 100);
	stats_sent(st, 3, mad(CLASS_SM_LID, METHOD_GET, 0x11), 200);
	stats_sent(st, 3, mad(CLASS_SM_DR, METHOD_SET, 0x15), 250);
	stats_sent(st, 0, mad(CLASS_SM_DR, METHOD_GET_RESP, 0x11), 300);
	stats_sent(st, 4, mad(CLASS_SA, METHOD_GET, 0x11), 400);

	ck_assert_uint_eq(st->all.n, 5);
	ck_assert_uint_eq(st->all.rows.n, 4);
	ck_assert_uint_eq(st->clients.n, 3);
	ck_assert_str_eq(client(3)->name, "opensm[1] at H0");
	ck_assert_uint_eq(client(3)->n, 3);
	ck_assert_uint_eq(client(3)->rows.n, 2);

	const struct stat_row *r = row(client(3), CLASS_SM_LID, METHOD_GET, 0x11);

	ck_assert_uint_eq(r->n, 2);
	ck_assert_int_eq(r->first_us, 100);
	ck_assert_int_eq(r->last_us, 200);
	ck_assert_uint_eq(row(&st->all, CLASS_SM_LID, METHOD_GET, 0x11)->n, 2);
	ck_assert_uint_eq(row(&st->all, CLASS_SA, METHOD_GET, 0x11)->n, 1);
	ck_assert_str_eq(client(4)->name, "");
}
END_TEST

START_TEST(what_steers_rmpp_is_not_counted)
{
	uint8_t m[SIM_MAD_SIZE] = { 0 };

	memcpy(m, mad(CLASS_SA, 0x12, 0x35), MAD_MOD);
	stats_sent(st, 3, m, 0);		/* the request */
	m[26] = 1;
	for (m[25] = 1; m[25] <= 4; m[25]++)	/* DATA, ACK, STOP, ABORT */
		stats_sent(st, 3, m, 0);
	ck_assert_uint_eq(st->all.n, 2);
	ck_assert_uint_eq(row(client(3), CLASS_SA, 0x12, 0x35)->n, 2);
	/* Other classes have data there. */
	m[25] = 2;
	m[MAD_CLASS] = CLASS_PM;
	stats_sent(st, 3, m, 0);
	ck_assert_uint_eq(st->all.n, 3);
}
END_TEST

START_TEST(idle_sets)
{
	const uint8_t *m = mad(CLASS_SM_DR, METHOD_SET, 0x15);

	stats_idle_set(st, 3, m);		/* was never sent: nothing happens */
	for (unsigned i = 0; i < 5; i++)
		stats_sent(st, 3, m, 0);
	stats_sent(st, 4, m, 0);
	stats_idle_set(st, 3, m);
	stats_idle_set(st, 3, m);
	ck_assert_uint_eq(row(client(3), CLASS_SM_LID, METHOD_SET, 0x15)->idle, 2);
	ck_assert_uint_eq(row(client(4), CLASS_SM_LID, METHOD_SET, 0x15)->idle, 0);
	ck_assert_uint_eq(row(&st->all, CLASS_SM_LID, METHOD_SET, 0x15)->idle, 2);
}
END_TEST

START_TEST(reset)
{
	stats_client(st, 3, "qosd");
	stats_sent(st, 3, mad(CLASS_SA, METHOD_GET, 1), 5);
	stats_reset(st);
	ck_assert_uint_eq(st->all.n, 0);
	ck_assert_uint_eq(st->all.rows.n, 0);
	ck_assert_str_eq(client(3)->name, "qosd");
	ck_assert_uint_eq(client(3)->rows.n, 0);
	stats_sent(st, 3, mad(CLASS_SA, METHOD_GET, 1), 7);
	ck_assert_uint_eq(client(3)->n, 1);
	ck_assert_int_eq(row(client(3), CLASS_SA, METHOD_GET, 1)->first_us, 7);
}
END_TEST

START_TEST(kinds_have_an_end)
{
	for (unsigned i = 0; i < 3000; i++)
		stats_sent(st, 1, mad(0x30, 1, (uint16_t)i), 0);
	stats_sent(st, 1, mad(0x30, 1, 5), 0);
	ck_assert_uint_eq(st->all.rows.n, STAT_ROWS_MAX);
	ck_assert_uint_eq(st->all.n, 3001);
	ck_assert_uint_eq(row(&st->all, 0x30, 1, 5)->n, 2);
	ck_assert_uint_eq(row(&st->all, 0, 0, 0)->n, 3000 - (STAT_ROWS_MAX - 1));
	stats_idle_set(st, 1, mad(0x30, 1, 2999));	/* has no row of its own */
	ck_assert_uint_eq(row(&st->all, 0, 0, 0)->idle, 0);
}
END_TEST

START_TEST(clients_have_an_end)
{
	stats_client(st, 1, "stays");
	stats_client(st, 2, "goes");
	for (uint32_t i = 3; i < 3000; i++) {
		stats_sent(st, 1, mad(CLASS_SA, 1, 1), i);
		stats_client(st, i, "goes");
		stats_sent(st, i - 1, mad(CLASS_SA, 1, 1), i);
	}
	ck_assert_uint_eq(st->clients.n, STAT_CLIENTS_MAX);
	ck_assert_uint_eq(client(1)->n, 2997);
	ck_assert_ptr_null(client(2));
	for (size_t i = 0; i < st->clients.n; i++)
		ck_assert_uint_ne(st->clients.v[i]->name[0], '\0');
}
END_TEST

START_TEST(counted_when_sent)
{
	struct rig *r = rig_line(2);
	struct packet p = rig_smp(HOST_LID(1));

	teardown();
	st = r->s->stats;
	r->answers = true;
	p.client = 9;
	wire_send_after(r->s, r->host[0], &p, 100);
	ck_assert_uint_eq(st->all.n, 0);
	sim_run(r->s, 1000);
	ck_assert_uint_eq(st->all.n, 2);
	ck_assert_uint_eq(client(9)->n, 1);
	ck_assert_int_eq(row(client(9), CLASS_SM_LID, METHOD_GET, 0x11)->first_us, 100);
	ck_assert_uint_eq(row(client(0), CLASS_SM_LID, METHOD_GET_RESP, 0x11)->n, 1);
	rig_free(r);
	setup();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("stats");
	TCase *t = tcase_create("stats");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, by_kind_and_client);
	tcase_add_test(t, what_steers_rmpp_is_not_counted);
	tcase_add_test(t, idle_sets);
	tcase_add_test(t, reset);
	tcase_add_test(t, kinds_have_an_end);
	tcase_add_test(t, clients_have_an_end);
	tcase_add_test(t, counted_when_sent);
	suite_add_tcase(s, t);
	return run_suite(s);
}
