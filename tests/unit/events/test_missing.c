/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the table of what is missing (events/missing.h).
 *
 * promise: H1
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>

#include "events/missing.h"
#include "events/missing_move.h"
#include "lib/base/alloc.h"
#include "unit/plan/net.h"
#include "unit/run.h"

/*
 * Two switches with two links between them, and room for two more, and hosts: H1 and H2 at S1, H3 at S2, and room for
 * another link of H1.  Ports of a test's changes: which nodes and links there are, and which link runs at SDR.
 */
enum { H1 = 0x10, H2 = 0x20, H3 = 0x30, S1 = 0x100, S2 = 0x200, WIRES = 8 };
static struct { uint64_t a, b; unsigned pa, pb; bool cut, slow; } wires[WIRES];
static bool absent[0x300];		/* by node GUID */
static struct policy policy = { .file = "" };
static struct shared_policy shared = { .p = &policy };
static struct subnet_state states[2];
static struct missing *m;
static struct buf told;

static void set_speed(struct fabric *f, uint32_t port, unsigned speed)
{
	uint8_t info[64];

	memcpy(info, f->ports[port].info, sizeof(info));
	mad_set_field(info, 0, IB_PORT_LINK_SPEED_ACTIVE_F, speed);
	fabric_port_store(&f->ports[port], info);
}

static struct fabric *make_fabric(void)
{
	static const uint64_t hosts[] = { H1, H2, H3 }, switches[] = { S1, S2 };
	struct fabric *f = fabric_new();

	for (unsigned i = 0; i < 3; i++)
		if (!absent[hosts[i]])
			net_ca(f, hosts[i], 2);
	for (unsigned i = 0; i < 2; i++)
		if (!absent[switches[i]])
			net_switch(f, switches[i], 8, false);
	for (unsigned i = 0; i < WIRES; i++) {
		uint32_t a = map64_get(&f->node_by_guid, wires[i].a), b = map64_get(&f->node_by_guid, wires[i].b);

		if (wires[i].cut || a == MAP64_NONE || b == MAP64_NONE)
			continue;
		ck_assert(fabric_link(f, a, wires[i].pa, b, wires[i].pb));
		if (wires[i].slow) {
			set_speed(f, f->nodes[a].port0 + wires[i].pa, 1);
			set_speed(f, f->nodes[b].port0 + wires[i].pb, 1);
		}
	}
	for (uint32_t i = 0; i < f->n_ports; i++)
		if (f->ports[i].peer == FABRIC_NONE)
			f->ports[i].state = IB_PORT_DOWN_S;
	net_finish(f);
	return f;
}

static void ignore(void *arg, const struct event *e)
{
	(void)arg;
	(void)e;
}

/* The subnet is published as the test has made it. */
static void publish(void)
{
	const struct topology_listener to = { .event = ignore, .differs = missing_differs, .differs_arg = m };

	states[1] = (struct subnet_state){ .f = make_fabric(), .policy = &shared };
	topology_events(&states[0], &states[1], &to);
	fabric_free(states[0].f);
	states[0] = states[1];
}

static void setup(void)
{
	static const uint64_t ends[WIRES][2] = {
		{ H1, S1 }, { H2, S1 }, { H3, S2 }, { S1, S2 }, { S1, S2 }, { S1, S2 }, { S1, S2 }, { H1, S2 },
	};
	static const unsigned ports[WIRES][2] = {
		{ 1, 1 }, { 1, 2 }, { 1, 1 }, { 5, 5 }, { 6, 6 }, { 7, 7 }, { 8, 8 }, { 2, 3 },
	};

	memset(wires, 0, sizeof(wires));
	memset(absent, 0, sizeof(absent));
	for (unsigned i = 0; i < WIRES; i++) {
		wires[i].a = ends[i][0];
		wires[i].b = ends[i][1];
		wires[i].pa = ports[i][0];
		wires[i].pb = ports[i][1];
		wires[i].cut = i >= 5;
	}
	m = missing_new();
	missing_set_time(m, 1000);
	states[0] = (struct subnet_state){ .f = make_fabric(), .policy = &shared };
	publish();
}

static void teardown(void)
{
	fabric_free(states[0].f);
	missing_free(m);
	buf_free(&told);
}

/* What is shown, one line each: kind, ends, and the rates of a link. */
static const char *shown(void)
{
	size_t n;
	struct missing_item **list = missing_list(m, &n);

	told.n = 0;
	buf_puts(&told, "");
	for (size_t i = 0; i < n; i++)
		buf_printf(&told, "%s %" PRIx64 "/%u %" PRIx64 "/%u %s %s\n", missing_kind_name(list[i]->kind),
			   list[i]->a.guid, list[i]->a.num, list[i]->b.guid, list[i]->b.num, list[i]->was,
			   list[i]->is);
	missing_list_free(list, n);
	return told.s;
}

/* The same with where the cables may be: numbers of new and of missing links, and the new link, since when. */
static const char *moves(void)
{
	const struct fabric *f = states[0].f;
	struct missing_moves *v = missing_moves_new(m, f);
	size_t n;
	struct missing_item **list = missing_list(m, &n);

	told.n = 0;
	buf_puts(&told, "");
	for (size_t i = 0; i < n; i++) {
		struct missing_move x = missing_moves_of(v, list[i]);

		buf_printf(&told, "%" PRIx64 "/%u: %u of %u", list[i]->a.guid, list[i]->a.num, x.n_new, x.n_missing);
		if (x.port != FABRIC_NONE)
			buf_printf(&told, ", %" PRIx64 "/%u %" PRIx64 "/%u since %" PRId64 "%s",
				   port_node(f, x.port)->guid, f->ports[x.port].num,
				   port_node(f, f->ports[x.port].peer)->guid, f->ports[f->ports[x.port].peer].num,
				   x.since_us, x.unwatched ? ", unwatched" : "");
		buf_puts(&told, "\n");
	}
	missing_list_free(list, n);
	missing_moves_free(v);
	return told.s;
}

START_TEST(a_link_goes_and_is_back)
{
	ck_assert_str_eq(shown(), "");
	wires[4].cut = true;
	publish();
	ck_assert_str_eq(shown(), "link 100/6 200/6 4xQDR \n");
	wires[4].cut = false;
	publish();
	ck_assert_str_eq(shown(), "");
}
END_TEST

START_TEST(a_cable_in_another_port_is_another_link)
{
	wires[4].pb = 7;
	publish();
	ck_assert_str_eq(shown(), "link 100/6 200/6 4xQDR \n");
}
END_TEST

/* promise: H6 */
START_TEST(a_cable_that_was_moved_at_both_ends)
{
	wires[4].cut = true;
	wires[5].cut = false;
	publish();
	ck_assert_str_eq(moves(), "100/6: 1 of 1, 100/7 200/7 since 1000\n");
	wires[5].cut = true;		/* on its way back */
	publish();
	ck_assert_str_eq(moves(), "100/6: 0 of 0\n100/7: 0 of 0\n");
	wires[4].cut = false;
	publish();
	ck_assert_str_eq(moves(), "100/7: 0 of 0\n");	/* the other link was there before it went */
	missing_forget(m, NULL);
	wires[4].cut = true;
	publish();
	missing_set_time(m, 2000);	/* hours later */
	wires[6].cut = false;
	publish();
	ck_assert_str_eq(moves(), "100/6: 1 of 1, 100/8 200/8 since 2000\n");
	missing_forget(m, NULL);
	ck_assert_str_eq(moves(), "");
}
END_TEST

/* promise: H6 */
START_TEST(a_cable_of_a_host_that_was_moved)
{
	wires[0].cut = true;
	wires[7].cut = false;
	publish();
	ck_assert_str_eq(moves(), "10/1: 1 of 1, 10/2 200/3 since 1000\n");
	wires[7].b = S1;		/* its other end is moved again */
	publish();
	ck_assert_str_eq(moves(), "10/1: 1 of 1, 10/2 100/3 since 1000\n");
}
END_TEST

/* promise: H6 */
START_TEST(several_cables)
{
	wires[3].cut = wires[4].cut = true;
	wires[5].cut = false;
	publish();
	ck_assert_str_eq(moves(), "100/5: 1 of 2\n100/6: 1 of 2\n");
	wires[6].cut = false;
	publish();
	ck_assert_str_eq(moves(), "100/5: 2 of 2\n100/6: 2 of 2\n");
	missing_forget(m, "n100/P5");
	ck_assert_str_eq(moves(), "100/6: 2 of 1\n");
}
END_TEST

/* promise: H6 */
START_TEST(links_that_are_not_new)
{
	wires[5].cut = false;		/* before anything is missing */
	publish();
	wires[3].cut = wires[4].cut = true;
	publish();
	ck_assert_str_eq(moves(), "100/5: 0 of 0\n100/6: 0 of 0\n");
	wires[3].cut = false;		/* it is back */
	publish();
	ck_assert_str_eq(moves(), "100/6: 0 of 0\n");
	wires[6].cut = false;		/* later: wires[3] is missing, and wires[6] was there */
	publish();
	missing_set_time(m, 2000);
	wires[3].cut = true;
	publish();
	ck_assert_str_eq(moves(), "100/5: 0 of 0\n100/6: 1 of 1, 100/8 200/8 since 1000\n");
}
END_TEST

/* promise: H6 */
START_TEST(a_cable_that_was_moved_at_one_end)
{
	wires[4].pb = 7;
	publish();
	ck_assert_str_eq(moves(), "100/6: 0 of 0\n");
	wires[3].cut = true;		/* the new link is that cable, and no other */
	publish();
	ck_assert_str_eq(moves(), "100/5: 0 of 0\n100/6: 0 of 0\n");
}
END_TEST

/* promise: H6 */
START_TEST(moved_while_a_switch_was_off)
{
	absent[S2] = true;
	publish();
	absent[S2] = false;
	wires[4].cut = true;
	wires[5].cut = false;
	publish();
	ck_assert_str_eq(moves(), "100/6: 1 of 1, 100/7 200/7 since 1000\n");
}
END_TEST

/* promise: H6 */
START_TEST(moved_while_nobody_watched)
{
	struct fabric *known = make_fabric();

	wires[4].cut = true;
	wires[5].cut = false;
	fabric_free(states[0].f);
	states[0].f = make_fabric();
	missing_review(m, states[0].f, known, false);
	ck_assert_str_eq(moves(), "100/6: 1 of 1, 100/7 200/7 since 1000, unwatched\n");
	wires[5].cut = true;
	fabric_free(states[0].f);
	states[0].f = make_fabric();
	missing_review(m, states[0].f, NULL, false);	/* that is gone, too */
	ck_assert_str_eq(moves(), "100/6: 0 of 0\n");
	ck_assert(!missing_has_new(m));
	fabric_free(known);
}
END_TEST

/* promise: H5 H6 */
START_TEST(new_links_are_bounded)
{
	char line[200];

	wires[4].cut = true;
	publish();
	for (unsigned i = 0; i < MISSING_NEW_MAX; i++) {
		snprintf(line, sizeof(line), "link\t-ftn\t17\t0x%x\t0x0\t1\t0x%x\t0x0\t1\t0\t\t\ta\tb", 0x10000 + i,
			 0x20000 + i);
		ck_assert(missing_line(m, line));
	}
	wires[5].cut = false;
	publish();
	ck_assert_str_eq(moves(), "100/6: 0 of 0\n");	/* there is no room for one more */
	wires[3].cut = true;
	publish();
	wires[3].cut = false;		/* a link is back: those of which none is missing are given up */
	publish();
	wires[6].cut = false;
	publish();
	ck_assert_str_eq(moves(), "100/6: 1 of 1, 100/8 200/8 since 1000\n");
	ck_assert_ptr_nonnull(missing_at(m, 1));
	ck_assert_ptr_null(missing_at(m, 2));
}
END_TEST

/* The links of a node that is missing are not shown, but one that does not come back with it is. */
START_TEST(a_switch_is_back_without_a_link)
{
	absent[S2] = absent[H3] = true;
	publish();
	ck_assert_str_eq(shown(), "switch 200/5 100/5  \nhost 30/1 200/1  \n");
	absent[S2] = false;
	wires[4].cut = true;
	publish();
	ck_assert_str_eq(shown(), "host 30/1 200/1  \nlink 100/6 200/6 4xQDR \n");
	absent[H3] = false;
	publish();
	ck_assert_str_eq(shown(), "link 100/6 200/6 4xQDR \n");
}
END_TEST

START_TEST(a_host_is_back_at_another_port)
{
	absent[H3] = true;
	publish();
	absent[H3] = false;
	wires[2].b = S1;
	wires[2].pb = 4;
	publish();
	ck_assert_str_eq(shown(), "");
}
END_TEST

START_TEST(a_slower_link)
{
	wires[3].slow = true;
	publish();
	ck_assert_str_eq(shown(), "rate 100/5 200/5 4xQDR 4xSDR\n");
	wires[3].cut = true;
	publish();
	ck_assert_str_eq(shown(), "link 100/5 200/5 4xQDR \n");
	wires[3].cut = false;	/* up again, but still slow */
	publish();
	ck_assert_str_eq(shown(), "rate 100/5 200/5 4xQDR 4xSDR\n");
	wires[3].slow = false;
	publish();
	ck_assert_str_eq(shown(), "");
}
END_TEST

/* promise: H2 */
START_TEST(a_rate_that_was_accepted)
{
	wires[3].slow = true;
	publish();
	ck_assert_uint_eq(missing_forget(m, "0x200/P5"), 1);
	ck_assert_str_eq(shown(), "");
	wires[3].cut = true;
	publish();
	ck_assert_str_eq(shown(), "link 100/5 200/5 4xSDR \n");
	wires[3].cut = false;
	publish();
	ck_assert_str_eq(shown(), "");
}
END_TEST

/* promise: H2 */
START_TEST(what_is_forgotten)
{
	static const struct { const char *text; size_t n; } cases[] = {
		{ "n30", 1 }, { "n30/P1", 0 }, { "n31", 0 }, { "n3?", 1 }, { "n*", 2 }, { "0x30", 1 },
		{ "0x31", 1 },	/* the GUID of its port */
		{ "0x30x", 0 }, { "n100/P6", 1 }, { "n200/P6", 1 }, { "n100/P5", 0 }, { "n100/P6x", 0 },
		{ "n100", 1 }, { "", 0 }, { NULL, 2 },
	};
	absent[H3] = true;
	wires[4].cut = true;
	publish();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct buf b = { 0 }, before = { 0 }, after = { 0 };
		struct missing *other = missing_new();

		missing_print(m, &b);
		missing_print(m, &before);
		for (char *line = strtok(b.s, "\n"); line; line = strtok(NULL, "\n"))
			ck_assert(missing_line(other, line));
		ck_assert_msg(missing_forget(other, cases[i].text) == cases[i].n, "%s", cases[i].text);
		missing_print(other, &after);
		if (!cases[i].n)	/* not even what is not shown, as its node is missing */
			ck_assert_str_eq(after.s, before.s);
		missing_free(other);
		buf_free(&before);
		buf_free(&after);
		buf_free(&b);
	}
	ck_assert_uint_eq(missing_forget(m, NULL), 2);
	absent[H3] = false;
	publish();
	absent[H3] = true;
	publish();
	ck_assert_str_eq(shown(), "host 30/1 200/1  \n");
}
END_TEST

/* promise: H3 */
START_TEST(text_is_read_back)
{
	struct buf first = { 0 }, second = { 0 };
	char *copy;

	absent[H3] = true;
	wires[4].cut = wires[3].slow = true;
	wires[5].cut = false;
	publish();
	missing_manager(m, 0x77, "a\tname\n", true);
	missing_forget(m, "n30");
	missing_print(m, &first);
	missing_clear(m);
	copy = xstrdup(first.s);
	for (char *line = strtok(copy, "\n"); line; line = strtok(NULL, "\n"))
		ck_assert_msg(missing_line(m, line), "%s", line);
	missing_print(m, &second);
	ck_assert_str_eq(first.s, second.s);
	ck_assert(missing_has_new(m));
	missing_manager(m, 0x77, "", false);
	ck_assert_str_eq(shown(), "link 100/6 200/6 4xQDR \nrate 100/5 200/5 4xQDR 4xSDR\n");
	free(copy);
	buf_free(&first);
	buf_free(&second);
}
END_TEST

/* promise: H3 */
START_TEST(bad_lines)
{
	static const char good[] = "switch\t-\t17\t0x1\t0x0\t0\t0x0\t0x0\t0\t0\t\t\tleaf\t";
	static const char *const bad[] = {
		"", "switch", "swatch\t-\t17\t0x1\t0x0\t0\t0x0\t0x0\t0\t0\t\t\tleaf\t",
		"switch\t-fn\t17\t0x1\t0x0\t0\t0x0\t0x0\t0\t0\t\t\tleaf\t",
		"link\t-tn\t17\t0x1\t0x0\t1\t0x2\t0x0\t1\t0\t\t\tleaf\tspine",	/* it would be shown */
		"switch\tx\t17\t0x1\t0x0\t0\t0x0\t0x0\t0\t0\t\t\tleaf\t",
		"switch\t-\t-17\t0x1\t0x0\t0\t0x0\t0x0\t0\t0\t\t\tleaf\t",
		"switch\t-\t17\t0x0\t0x0\t0\t0x0\t0x0\t0\t0\t\t\tleaf\t",
		"switch\t-\t17\t0x1\t0x0\t300\t0x0\t0x0\t0\t0\t\t\tleaf\t",
		"switch\t-\t17\t0x1\t0x0\t0\t0x0\t0x0\t0\t300\t\t\tleaf\t",
		"switch\t-\t17\t0x1\t0x0\t0\t0x0\t0x0\t0\t0\t\t\tleaf\t\t",
		"switch\t-\t17\t0x1\t0\t0\t0\t0\t0\t0\t\t\t01234567890123456789012345678901234567890123456789012345678901234\t",
		"switch\t-\t17\t0x1\t0x0\t0\t0x0\t0x0\t0\t0\t0123456789012345678901234567890123456789\t\tleaf\t",
	};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(!missing_line(m, bad[i]), "%s", bad[i]);
	ck_assert_ptr_null(missing_at(m, 0));
	ck_assert(missing_line(m, good));
	ck_assert_ptr_nonnull(missing_at(m, 0));
}
END_TEST

/* promise: H3 */
START_TEST(what_went_while_nobody_watched)
{
	struct fabric *known = make_fabric(), *now;

	absent[H3] = true;
	wires[4].cut = true;
	now = make_fabric();
	missing_review(m, now, known, true);	/* the first run: nobody misses what it has never seen */
	ck_assert_str_eq(shown(), "");
	missing_review(m, now, known, false);	/* forgotten */
	ck_assert_str_eq(shown(), "");
	missing_clear(m);
	missing_review(m, now, known, false);
	ck_assert_str_eq(shown(), "host 30/1 200/1  \nlink 100/6 200/6 4xQDR \n");
	ck_assert(missing_at(m, 0)->unwatched);
	missing_review(m, known, NULL, false);
	ck_assert_str_eq(shown(), "");
	fabric_free(known);
	fabric_free(now);
}
END_TEST

/* promise: H5 */
START_TEST(the_table_is_bounded)
{
	struct missing_item *const *list;
	size_t n[MISSING_KINDS];

	for (uint64_t guid = 1; guid <= MISSING_MAX + 7; guid++)
		missing_manager(m, guid, "", true);
	ck_assert_uint_eq(missing_count(m, n), MISSING_MAX);
	ck_assert_uint_eq(n[MISSING_MANAGER], MISSING_MAX);
	ck_assert_uint_eq(missing_dropped(m), 7);
	ck_assert_uint_eq(missing_forget(m, "0x1"), 1);
	missing_manager(m, MISSING_MAX + 8, "", true);	/* what was forgotten makes room */
	ck_assert_uint_eq(missing_dropped(m), 7);
	for (uint64_t guid = 1; guid <= MISSING_MAX + 7; guid++)
		missing_manager(m, guid, "", false);
	ck_assert_uint_eq(missing_count(m, n), 1);
	list = missing_list(m, n);
	ck_assert_uint_eq(list[0]->a.guid, MISSING_MAX + 8);
	missing_list_free((struct missing_item **)(uintptr_t)list, n[0]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("missing");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_link_goes_and_is_back);
	tcase_add_test(t, a_cable_in_another_port_is_another_link);
	tcase_add_test(t, a_cable_that_was_moved_at_both_ends);
	tcase_add_test(t, a_cable_of_a_host_that_was_moved);
	tcase_add_test(t, several_cables);
	tcase_add_test(t, links_that_are_not_new);
	tcase_add_test(t, a_cable_that_was_moved_at_one_end);
	tcase_add_test(t, moved_while_a_switch_was_off);
	tcase_add_test(t, moved_while_nobody_watched);
	tcase_add_test(t, new_links_are_bounded);
	tcase_add_test(t, a_switch_is_back_without_a_link);
	tcase_add_test(t, a_host_is_back_at_another_port);
	tcase_add_test(t, a_slower_link);
	tcase_add_test(t, a_rate_that_was_accepted);
	tcase_add_test(t, what_is_forgotten);
	tcase_add_test(t, text_is_read_back);
	tcase_add_test(t, bad_lines);
	tcase_add_test(t, what_went_while_nobody_watched);
	tcase_add_test(t, the_table_is_bounded);
	suite_add_tcase(s, t);
	return run_suite(s);
}
