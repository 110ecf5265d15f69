/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests port groups on a fabric: every kind of member, and findings on members that do not exist. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "helper.h"
#include "qos/groups/port_groups.h"
#include "unit/run.h"

#define CA		0x0002c90300000000ULL
#define SWITCH		0x0002c90200000000ULL
#define ROUTER		0x0002c90400000000ULL

static struct fabric *f;
static struct policy *p;
static struct findings findings;
static struct group_sets *g;

/* 0, 1: CAs "login01", "login02"; 2: CA "gpu/a" with two ports; 3: switch; 4: router. */
static void setup(void)
{
	f = fabric_new();
	add_node(f, IB_NODE_CA_T, 1, CA + 0x10, "login01 mlx5_0");
	add_node(f, IB_NODE_CA_T, 1, CA + 0x20, "login02 mlx5_0");
	add_node(f, IB_NODE_CA_T, 2, CA + 0x30, "gpu/a");
	add_node(f, IB_NODE_SWITCH_T, 12, SWITCH, "leaf");
	add_node(f, IB_NODE_ROUTER_T, 1, ROUTER, "router");
	add_link(f, 0, 1, 3, 1);
	finish(f);
	p = new_policy();
}

static void teardown(void)
{
	groups_free(g);
	g = NULL;
	policy_free(p);
	fabric_free(f);
	findings_free(&findings);
}

static void resolve(void)
{
	g = groups_resolve(p, f, &findings);
}

static bool in(const char *group, uint32_t node, unsigned num)
{
	return group_has(g, groups_find(g, p, group), port_at(f, node, num));
}

static unsigned count(const char *group)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < f->n_ports; i++)
		n += group_has(g, groups_find(g, p, group), i);
	return n;
}

START_TEST(all_is_every_end_port)
{
	resolve();
	ck_assert_uint_eq(count("all"), 6);
	ck_assert(in("all", 3, 0));
	ck_assert(!in("all", 3, 1));
	ck_assert(!in("all", 0, 0));
	ck_assert_uint_eq(groups_find(g, p, "none"), UINT32_MAX);
	ck_assert_uint_eq(groups_find(g, p, "all"), 0);
	ck_assert_uint_eq(findings.n, 0);
}
END_TEST

START_TEST(guids)
{
	struct policy_group *x = add_group(p, "x");

	add_range(&x->port_guids, CA + 0x11, CA + 0x11);
	add_range(&x->port_guids, CA + 0x22, CA + 0x31);
	resolve();
	ck_assert(in("x", 0, 1));
	ck_assert(in("x", 2, 1));
	ck_assert_uint_eq(count("x"), 2);
	ck_assert_uint_eq(findings.n, 0);
}
END_TEST

/* login02 claims the port GUID of login01: that GUID does not make it a member, but the group `all` has it. */
/* promise: A65 */
START_TEST(guid_of_another)
{
	add_range(&add_group(p, "x")->port_guids, CA + 0x11, CA + 0x11);
	f->ports[port_at(f, 1, 1)].guid = CA + 0x11;
	f->n_nameless = 1;
	resolve();
	ck_assert(in("x", 0, 1));
	ck_assert_uint_eq(count("x"), 1);
	ck_assert_uint_eq(count("all"), 6);
}
END_TEST

/* The GUID of a switch means its port 0, which stands for the switch. */
START_TEST(guid_of_a_switch)
{
	add_range(&add_group(p, "x")->port_guids, SWITCH, SWITCH);
	resolve();
	ck_assert(in("x", 3, 0));
	ck_assert_uint_eq(count("x"), 1);
}
END_TEST

START_TEST(huge_ranges_cost_nothing)
{
	struct policy_group *x = add_group(p, "x");

	for (int i = 0; i < 1000; i++)
		add_range(&x->port_guids, 0, UINT64_MAX);
	clock_t before = clock();

	resolve();
	ck_assert_uint_eq(count("x"), 6);
	ck_assert_int_lt(clock() - before, CLOCKS_PER_SEC);
}
END_TEST

START_TEST(absent_guids_are_reported_where_they_stand)
{
	struct policy_group *x = add_group(p, "x");

	add_range(&x->port_guids, CA + 0x11, CA + 0x11);
	add_range(&x->port_guids, 0x77, 0x77);
	struct src_pos single = last_pos();

	add_range(&x->port_guids, 0x80, 0x90);
	struct src_pos range = last_pos();

	resolve();
	const struct finding *a = find(&findings, SEV_WARNING, "0x0000000000000077", "not in");
	const struct finding *b = find(&findings, SEV_WARNING, "0x0000000000000080", "0090");

	ck_assert_ptr_nonnull(a);
	ck_assert_ptr_nonnull(b);
	ck_assert_uint_eq(a->pos.line, single.line);
	ck_assert_uint_eq(a->pos.col, single.col);
	ck_assert_uint_eq(b->pos.line, range.line);
	ck_assert_str_eq(a->file, "test.yaml");
	ck_assert_uint_eq(findings.n, 2);
}
END_TEST

static const struct {
	const char *pattern;
	unsigned n, node, num;
} names[] = {
	{ "login01 mlx5_0/P1", 1, 0, 1 },
	{ "login*/P1", 2, 1, 1 },
	{ "login0? mlx5_0/P1", 2, 0, 1 },
	{ "*/P1", 5, 3, 1 },
	{ "*02*/P*", 1, 1, 1 },
	{ "gpu/a/P2", 1, 2, 2 },		/* a description with a slash */
	{ "gpu*/P?", 2, 2, 1 },
	{ "leaf/P5", 1, 3, 5 },			/* an external port of a switch */
	{ "leaf/P1?", 3, 3, 12 },
	{ "leaf/P0", 1, 3, 0 },
	{ "leaf/*", 13, 3, 0 },
	{ "***f/P12", 1, 3, 12 },
	{ "l*af/P12", 1, 3, 12 },
	{ "login01 mlx5_0/P2", 0, 0, 0 },	/* no such port */
	{ "login01 mlx5_0/P0", 0, 0, 0 },	/* CAs have none */
	{ "login01/P1", 0, 0, 0 },		/* not the whole description */
	{ "Login01 mlx5_0/P1", 0, 0, 0 },
	{ "login?/P1", 0, 0, 0 },
	{ "login01 mlx5_0", 0, 0, 0 },		/* no port */
	{ "", 0, 0, 0 },
	{ "/", 0, 0, 0 },
};

START_TEST(port_names)
{
	add_word(&add_group(p, "x")->port_names, names[_i].pattern);
	resolve();
	ck_assert_uint_eq(count("x"), names[_i].n);
	if (names[_i].n) {
		ck_assert(in("x", names[_i].node, names[_i].num));
		ck_assert_uint_eq(findings.n, 0);
	} else {
		ck_assert_uint_eq(findings.count[SEV_WARNING], 2);	/* the name, the group */
	}
}
END_TEST

START_TEST(absent_names_are_reported)
{
	struct policy_group *x = add_group(p, "x");

	add_word(&x->port_names, "login01 mlx5_0/P1");
	add_word(&x->port_names, "login03 mlx5_0/P1");
	struct src_pos pos = last_pos();

	add_word(&x->port_names, "cpu*/P1");
	resolve();
	const struct finding *a = find(&findings, SEV_WARNING, "\"login03 mlx5_0/P1\"", "not in");

	ck_assert_ptr_nonnull(a);
	ck_assert_uint_eq(a->pos.line, pos.line);
	ck_assert_ptr_nonnull(find(&findings, SEV_WARNING, "matches", "\"cpu*/P1\""));
	ck_assert_uint_eq(findings.n, 2);
}
END_TEST

/* A pattern that is slow with a backtracking matcher. */
START_TEST(nasty_glob)
{
	struct policy_group *x = add_group(p, "x");
	clock_t before = clock();

	for (int i = 0; i < 1000; i++)
		add_word(&x->port_names, "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b/P1");
	resolve();
	ck_assert_uint_eq(count("x"), 0);
	ck_assert_int_lt(clock() - before, CLOCKS_PER_SEC);
}
END_TEST

START_TEST(node_types)
{
	add_group(p, "cas")->node_types = NT_CA;
	add_group(p, "switches")->node_types = NT_SWITCH;
	add_group(p, "routers")->node_types = NT_ROUTER;
	add_group(p, "any")->node_types = NT_ALL;
	add_group(p, "me")->node_types = NT_SELF;
	add_group(p, "both")->node_types = NT_SELF | NT_ROUTER;
	resolve();
	ck_assert_uint_eq(count("cas"), 4);
	ck_assert_uint_eq(count("switches"), 1);
	ck_assert(in("switches", 3, 0));
	ck_assert_uint_eq(count("routers"), 1);
	ck_assert_uint_eq(count("any"), 6);
	ck_assert_uint_eq(count("me"), 1);
	ck_assert(in("me", 0, 1));
	ck_assert_uint_eq(count("both"), 2);
}
END_TEST

/* The aggregation node of a switch is not in the group of CAs, but in the group of all. */
/* promise: D10 */
START_TEST(aggregation_nodes)
{
	uint32_t node;

	fabric_free(f);
	f = fabric_new();
	add_node(f, IB_NODE_CA_T, 1, CA + 0x10, "login01 mlx5_0");
	add_node(f, IB_NODE_SWITCH_T, 37, SWITCH, "leaf");
	node = add_node(f, IB_NODE_CA_T, 1, SWITCH + 8, "Mellanox Technologies Aggregation Node");
	f->nodes[node].sysimg_guid = f->nodes[1].sysimg_guid = SWITCH;
	add_link(f, 0, 1, 1, 1);
	add_link(f, node, 1, 1, 37);
	finish(f);
	add_group(p, "cas")->node_types = NT_CA;
	add_group(p, "inner")->node_types = NT_AGGREGATION;
	add_group(p, "any")->node_types = NT_ALL;
	resolve();
	ck_assert_uint_eq(count("cas"), 1);
	ck_assert(in("cas", 0, 1));
	ck_assert_uint_eq(count("inner"), 1);
	ck_assert(in("inner", node, 1));
	ck_assert_uint_eq(count("any"), 3);
	ck_assert_uint_eq(count("all"), 3);
}
END_TEST

START_TEST(partitions)
{
	add_word(&add_group(p, "by-name")->partitions, "Default");
	add_range(&add_group(p, "by-pkey")->pkeys, 0x7ff0, 0x7fff);
	struct policy_group *x = add_group(p, "x");

	add_word(&x->partitions, "blue");
	add_range(&x->pkeys, 0x12, 0x12);
	resolve();
	ck_assert_uint_eq(count("by-name"), 6);
	ck_assert_uint_eq(count("by-pkey"), 6);
	ck_assert_uint_eq(count("x"), 0);
	ck_assert_ptr_nonnull(find(&findings, SEV_WARNING, "\"blue\"", "partition"));
	ck_assert_ptr_nonnull(find(&findings, SEV_WARNING, "0x0012", "P_Key"));
}
END_TEST

/* Groups of partitions whose members are groups, alternating, in any order. */
START_TEST(members_of_partitions)
{
	add_word(&add_group(p, "of-red")->partitions, "red");
	add_range(&add_group(p, "of-both")->pkeys, 1, 2);
	add_word(&add_group(p, "of-neither")->partitions, "Default");
	add_range(&add_group(p, "login01")->port_guids, CA + 0x11, CA + 0x11);

	struct policy_partition *blue = add_partition(p, "blue", 1);

	add_member(blue, "of-red", 0, 0);
	add_member(blue, NULL, ROUTER, ROUTER + 8);
	add_member(blue, NULL, 5, 5);		/* told by plan/partitions/pkey_members.c */
	struct policy_partition *red = add_partition(p, "red", 2);

	add_member(red, "login01", 0, 0);
	add_member(red, NULL, CA + 0x31, CA + 0x31);
	add_partition(p, "empty", 3);
	resolve();
	ck_assert_uint_eq(count("of-red"), 2);
	ck_assert(in("of-red", 0, 1));
	ck_assert(in("of-red", 2, 1));
	ck_assert_uint_eq(count("of-both"), 3);
	ck_assert(in("of-both", 0, 1));
	ck_assert(in("of-both", 2, 1));
	ck_assert(in("of-both", 4, 1));
	ck_assert_uint_eq(count("of-neither"), 6);
	ck_assert_uint_eq(count("login01"), 1);
	ck_assert_uint_eq(findings.n, 0);
}
END_TEST

/* Every range of P_Keys and every pair of ranges; external port n is in partition n. */
START_TEST(ranges_of_pkeys)
{
	enum { N = 12 };
	char name[32];

	for (unsigned i = 0; i < N; i++) {
		unsigned port = i * 5 % N + 1;		/* in no order */

		snprintf(name, sizeof(name), "leaf/P%u", port);
		struct policy_group *group = add_group(p, name);

		add_word(&group->port_names, name);
		add_member(add_partition(p, name, (uint16_t)port), name, 0, 0);
	}
	for (unsigned lo = 1; lo <= N; lo++)
		for (unsigned hi = lo; hi <= N; hi++) {
			snprintf(name, sizeof(name), "%u-%u", lo, hi);
			struct policy_group *group = add_group(p, name);

			add_range(&group->pkeys, lo, hi);
			add_range(&group->pkeys, hi, hi / 2 + 5);
			snprintf(name, sizeof(name), "leaf/P%u", hi);
			add_word(&group->partitions, name);
			add_word(&group->groups, name);
		}
	struct policy_group *apart = add_group(p, "apart"), *next = add_group(p, "next to all");

	add_range(&apart->pkeys, 3, 3);
	add_range(&apart->pkeys, 1, 1);
	add_range(&next->pkeys, 1, 1);
	add_word(&next->groups, "all");
	resolve();
	ck_assert_uint_eq(count("apart"), 2);
	ck_assert(in("apart", 3, 1) && in("apart", 3, 3));
	ck_assert_uint_eq(count("next to all"), 7);
	ck_assert(in("next to all", 3, 1));
	for (unsigned lo = 1; lo <= N; lo++)
		for (unsigned hi = lo; hi <= N; hi++) {
			snprintf(name, sizeof(name), "%u-%u", lo, hi);
			for (unsigned n = 1; n <= N; n++)
				ck_assert_msg(in(name, 3, n) == ((n >= lo && n <= hi) ||
								 (n >= hi && n <= hi / 2 + 5)),
					      "port %u in %s", n, name);
			ck_assert(!in(name, 0, 1));
		}
}
END_TEST

/* A partition in many ranges costs no more than in one. */
START_TEST(many_ranges_of_pkeys)
{
	char name[32];

	for (unsigned i = 1; i <= 5000; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		add_member(add_partition(p, name, (uint16_t)i), "all", 0, 0);
	}
	for (unsigned i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "g%u", i);
		struct policy_group *group = add_group(p, name);

		for (unsigned k = 0; k < 500; k++)
			add_range(&group->pkeys, 0, 0x7ffe);
	}
	resolve();
	ck_assert_uint_eq(count("g0"), 6);
	ck_assert_uint_eq(count("g999"), 6);
	ck_assert_uint_eq(findings.n, 0);
}
END_TEST

START_TEST(the_sm_is_in_its_partitions)
{
	add_word(&add_group(p, "of-default")->partitions, "Default");
	add_word(&add_group(p, "of-other")->partitions, "other");
	free(p->partitions[0].members[0].group.s);
	p->partitions[0].n_members = 0;
	add_member(add_partition(p, "other", 1), "self", 0, 0);
	resolve();
	ck_assert_uint_eq(count("of-default"), 1);	/* whatever the policy says */
	ck_assert(in("of-default", 0, 1));
	ck_assert_uint_eq(count("of-other"), 1);
	ck_assert(in("of-other", 0, 1));
}
END_TEST

/* Each layer of groups contains the one below twice: 2^layers paths in all. */
START_TEST(no_way_is_walked_twice)
{
	enum { LAYERS = 300 };
	char name[2][32];

	for (int i = 0; i < LAYERS; i++)
		for (int k = 0; k < 2; k++) {
			snprintf(name[k], sizeof(name[k]), "g%d-%d", i, k);
			struct policy_group *group = add_group(p, name[k]);

			if (i == LAYERS - 1)
				group->node_types = NT_SELF;
			else
				add_range(&group->pkeys, (unsigned)i + 1, (unsigned)i + 1);
		}
	for (int i = 0; i < LAYERS - 1; i++) {
		snprintf(name[0], sizeof(name[0]), "p%d", i);
		struct policy_partition *part = add_partition(p, name[0], (uint16_t)(i + 1));

		for (int k = 0; k < 2; k++) {
			snprintf(name[k], sizeof(name[k]), "g%d-%d", i + 1, k);
			add_member(part, name[k], 0, 0);
		}
	}
	resolve();
	ck_assert_uint_eq(count("g0-0"), 1);
	ck_assert_uint_eq(findings.n, 0);
}
END_TEST

/* Inner groups may come later in the file, and be used by several. */
START_TEST(groups_of_groups)
{
	add_word(&add_group(p, "outer")->groups, "middle");
	struct policy_group *middle = add_group(p, "middle");

	add_word(&middle->groups, "inner");
	middle->node_types = NT_ROUTER;
	add_range(&add_group(p, "inner")->port_guids, CA + 0x11, CA + 0x11);
	struct policy_group *second = add_group(p, "second");

	add_word(&second->groups, "inner");
	add_word(&second->groups, "all");
	resolve();
	ck_assert_uint_eq(count("outer"), 2);
	ck_assert(in("outer", 0, 1));
	ck_assert(in("outer", 4, 1));
	ck_assert_uint_eq(count("middle"), 2);
	ck_assert_uint_eq(count("inner"), 1);
	ck_assert_uint_eq(count("second"), 6);
	ck_assert_uint_eq(findings.n, 0);
}
END_TEST

START_TEST(deep_nesting)
{
	char name[16], inner[16];

	for (int i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "g%d", i);
		snprintf(inner, sizeof(inner), "g%d", i + 1);
		add_word(&add_group(p, name)->groups, inner);
	}
	add_group(p, "g20000")->node_types = NT_SELF;
	resolve();
	ck_assert_uint_eq(count("g0"), 1);
}
END_TEST

START_TEST(empty_groups_are_reported)
{
	add_group(p, "gateways")->node_types = NT_ROUTER;
	add_group(p, "nobody");
	struct src_pos pos = last_pos();

	resolve();
	const struct finding *e = find(&findings, SEV_WARNING, "\"nobody\"", "no port");

	ck_assert_uint_eq(findings.n, 1);
	ck_assert_ptr_nonnull(e);
	ck_assert_uint_eq(e->pos.line, pos.line);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("groups");
	TCase *t = tcase_create("groups");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, all_is_every_end_port);
	tcase_add_test(t, guids);
	tcase_add_test(t, guid_of_another);
	tcase_add_test(t, guid_of_a_switch);
	tcase_add_test(t, huge_ranges_cost_nothing);
	tcase_add_test(t, absent_guids_are_reported_where_they_stand);
	tcase_add_loop_test(t, port_names, 0, sizeof(names) / sizeof(*names));
	tcase_add_test(t, absent_names_are_reported);
	tcase_add_test(t, nasty_glob);
	tcase_add_test(t, node_types);
	tcase_add_test(t, aggregation_nodes);
	tcase_add_test(t, partitions);
	tcase_add_test(t, members_of_partitions);
	tcase_add_test(t, ranges_of_pkeys);
	tcase_add_test(t, many_ranges_of_pkeys);
	tcase_add_test(t, the_sm_is_in_its_partitions);
	tcase_add_test(t, no_way_is_walked_twice);
	tcase_add_test(t, groups_of_groups);
	tcase_add_test(t, deep_nesting);
	tcase_add_test(t, empty_groups_are_reported);
	suite_add_tcase(s, t);
	return run_suite(s);
}
