/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests how members of a request become ports: host names, Slurm host lists, and members that the
 * fabric does not have.
 *
 * promise: N2
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "sa/registry/present_members.h"
#include "unit/plan/net.h"
#include "unit/run.h"

static struct fabric *f;
static struct policy *p;
static struct dynamic_partitions *x;
static struct findings found;
static char *said;	/* the members, each followed by a space and a bar */

static void node(uint64_t guid, unsigned ports, const char *desc)
{
	uint32_t i = net_ca(f, guid, ports);

	strcpy(f->nodes[i].desc, desc);
}

static void setup(void)
{
	uint32_t sw;

	f = fabric_new();
	node(0x10, 1, "login1 HCA-1");
	node(0x20, 1, "gpu01 mlx5_0");
	node(0x30, 1, "gpu01 mlx5_1");
	node(0x40, 2, "gpu02 mlx5_0");
	node(0x50, 1, "gpu03");
	sw = net_switch(f, 0x100, 4, false);
	strcpy(f->nodes[sw].desc, "gpu04 switch");
	net_finish(f);
	p = policy_builtin();
	p->groups = xrealloc(p->groups, 1, sizeof(*p->groups));
	p->groups[p->n_groups++] = (struct policy_group){ .name = xstrdup("storage") };
	x = dynamic_new();
	said = NULL;
}

static void teardown(void)
{
	dynamic_free(x);
	policy_free(p);
	fabric_free(f);
	findings_free(&found);
	free(said);
}

/* Resolves one member of a change of the partition "job"; returns the members that it becomes. */
static const char *resolve(bool remove, const char *who, bool absent_ok)
{
	struct dynamic_change c = { .kind = remove ? DYNAMIC_REMOVE : DYNAMIC_ADD, .name = "job", .n_members = 1 };
	struct hostlist names = { 0 };
	struct buf text = { 0 };

	c.members = xcalloc(1, sizeof(*c.members));
	c.members[0] = (struct dynamic_who){ .who = who, .membership = MEMBER_LIMITED };
	findings_free(&found);
	dynamic_resolve(x, p, f, &c, 1, absent_ok, &names, &found);
	for (size_t i = 0; i < c.n_members; i++) {
		ck_assert(remove || c.members[i].membership == MEMBER_LIMITED);
		buf_printf(&text, "%s|", c.members[i].who);
	}
	free(c.members);
	hostlist_free(&names);
	free(said);
	said = text.s;
	return said ? said : "";
}

static void becomes(const char *who, const char *members)
{
	ck_assert_str_eq(resolve(false, who, false), members);
	ck_assert_msg(!found.n, "%s: %s", who, found.n ? found.v[0].text : "");
}

static void refused(const char *who, const char *why)
{
	resolve(false, who, false);
	ck_assert_msg(found.count[SEV_ERROR], "accepted: %s", who);
	ck_assert_msg(strstr(found.v[0].text, why) != NULL, "%s: %s", who, found.v[0].text);
}

static void add(const char *who)
{
	struct dynamic_who w = { .who = who, .membership = MEMBER_FULL };
	struct dynamic_change c = { .name = "job", .pkey = 5, .members = &w, .n_members = 1 };
	struct findings none = { 0 };

	dynamic_apply(x, p, 0x10, 0x20, &c, 1, &none);
	ck_assert_uint_eq(none.n, 0);
}

START_TEST(hosts_become_their_ports)
{
	becomes("login1", "login1 HCA-1/P1|");
	becomes("gpu01", "gpu01 mlx5_0/P1|gpu01 mlx5_1/P1|");
	becomes("gpu02", "gpu02 mlx5_0/P1|gpu02 mlx5_0/P2|");
	becomes("gpu03", "gpu03/P1|");
	becomes("gpu[02-03],login1", "gpu02 mlx5_0/P1|gpu02 mlx5_0/P2|gpu03/P1|login1 HCA-1/P1|");
	becomes("gpu[01-02] mlx5_0/P1", "gpu01 mlx5_0/P1|gpu02 mlx5_0/P1|");
}
END_TEST

/* promise: N24 */
START_TEST(guids_as_orchestrators_write_them)
{
	becomes("0000000000000011", "0x0000000000000011|");
	becomes("00:00:00:00:00:00:00:11", "0x0000000000000011|");
	becomes("0x0000000000000011", "0x0000000000000011|");
	becomes("0X11", "0X11|");
	becomes("0000000000000011,login1", "0x0000000000000011|login1 HCA-1/P1|");
	refused("00000000000000ff", "no port with the GUID \"0x00000000000000ff\"");
	refused("000000000000001", "no host");
	refused("00000000000000111", "no host");
	refused("000000000000001g", "no host");
	ck_assert_str_eq(resolve(true, "00:00:00:00:00:00:00:11", false), "0x0000000000000011|");
	/* a host may have such a name */
	strcpy(f->nodes[0].desc, "0000000000000011 HCA-1");
	becomes("0000000000000011", "0000000000000011 HCA-1/P1|");
}
END_TEST

START_TEST(other_forms_stay)
{
	becomes("storage", "storage|");
	becomes("group:any", "group:any|");
	becomes("all", "all|");
	becomes("self", "self|");
	becomes("type:router", "type:router|");
	becomes("0x11", "0x11|");
	becomes("0x12-0x30", "0x12-0x30|");
	becomes("gpu0? mlx5*/P1", "gpu0? mlx5*/P1|");
	becomes("gpu04 switch/P3", "gpu04 switch/P3|");
	becomes("storage,login1", "storage|login1 HCA-1/P1|");
	/* dynamic_apply() says what is wrong with them */
	becomes("0x1z", "0x1z|");
	becomes("type:host", "type:host|");
}
END_TEST

START_TEST(what_is_not_there_is_refused)
{
	refused("logn1", "no host and the policy no group \"logn1\" (did you mean \"login1\"?)");
	refused("gpu05", "no host and the policy no group \"gpu05\": --absent-ok");
	refused("gpu[01-05]", "\"gpu04\"");	/* a switch is no host */
	refused("gpu04 mlx5_0/P1", "the fabric has no port \"gpu04 mlx5_0/P1\": --absent-ok");
	refused("gpu01 mlx5/P1", "no port \"gpu01 mlx5/P1\" (did you mean \"gpu01 mlx5_0/P1\"?)");
	refused("gpu9*/P1", "no port \"gpu9*/P1\": --absent-ok");
	refused("0x77", "no port with the GUID \"0x77\": --absent-ok");
	refused("0x10", "(it is the GUID of the node login1 HCA-1 (0x0000000000000010), not of a port)");
	refused("0x77-0x99", "no port with a GUID of \"0x77-0x99\"");
	refused("gpu[1-", "the host list \"gpu[1-\" is invalid: a bracket is not closed");
	refused("gpu[4-1]", "the range 4-1 runs backwards");
	refused("gpu[1-300000]", "more than");
	resolve(false, "n[1-30]", false);
	ck_assert_uint_eq(found.n, ABSENT_TOLD + 1);
	ck_assert_str_eq(found.v[ABSENT_TOLD].text, "10 more members are not in the fabric");
}
END_TEST

START_TEST(absent_members_on_request)
{
	ck_assert_str_eq(resolve(false, "gpu[05-06]", true),
			 "gpu05/P*|gpu05 */P*|gpu06/P*|gpu06 */P*|");
	ck_assert_str_eq(resolve(false, "0x77", true), "0x77|");
	ck_assert_uint_eq(found.n, 0);
	resolve(false, "gpu[1-", true);
	ck_assert_uint_eq(found.count[SEV_ERROR], 1);
}
END_TEST

/* Repeating a request is no error, even if the members have left the fabric since. */
START_TEST(members_stay_members)
{
	add("0x77");
	add("gpu08 */P*");
	add("odd[1 HCA/P1");
	becomes("0x77", "0x77|");
	becomes("gpu08", "gpu08/P*|gpu08 */P*|");
	becomes("odd[1 HCA/P1", "odd[1 HCA/P1|");
	refused("gpu09", "gpu09");
}
END_TEST

START_TEST(removing_a_host_removes_its_ports)
{
	add("gpu01 mlx5_0/P1");
	add("gpu01 */P*");
	add("gpu012 mlx5_0/P1");
	add("0x21");
	ck_assert_str_eq(resolve(true, "gpu01", false), "gpu01 mlx5_0/P1|gpu01 */P*|");
	ck_assert_str_eq(resolve(true, "gpu[012,44],0x21", false), "gpu012 mlx5_0/P1|gpu44|0x21|");
	ck_assert_str_eq(resolve(true, "0x99", false), "0x99|");
	ck_assert_uint_eq(found.n, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("members that are present");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, hosts_become_their_ports);
	tcase_add_test(t, guids_as_orchestrators_write_them);
	tcase_add_test(t, other_forms_stay);
	tcase_add_test(t, what_is_not_there_is_refused);
	tcase_add_test(t, absent_members_on_request);
	tcase_add_test(t, members_stay_members);
	tcase_add_test(t, removing_a_host_removes_its_ports);
	suite_add_tcase(s, t);
	return run_suite(s);
}
