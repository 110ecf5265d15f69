/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests the assignment of LIDs: fresh, after a restart, with conflicts, with LMC, and when they run out. */
#include <check.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "net.h"
#include "plan/plan.h"
#include "unit/run.h"

#define SW	0x1000		/* GUIDs of switches: SW, SW + 1, … */
#define CA(i)	(0x100000 + (uint64_t)(i) * 16)

/* A plan with LIDs only. */
struct net {
	struct fabric *f;
	struct settings *settings;
	struct plan p;
	struct lid_map known;
};

/* Makes n_switches in a row with per_switch hosts on each; the SM is host 0. */
static void net_row(struct net *n, unsigned n_switches, unsigned per_switch)
{
	uint32_t previous = FABRIC_NONE;

	*n = (struct net){ .f = fabric_new(), .settings = settings_default() };
	uint32_t ca = net_ca(n->f, CA(0), 1);
	for (unsigned s = 0, host = 0; s < n_switches; s++) {
		uint32_t sw = net_switch(n->f, SW + s, per_switch + 2, false);

		for (unsigned i = 1; i <= per_switch; i++, host++) {
			if (host)
				ca = net_ca(n->f, CA(host), 1);
			ck_assert(fabric_link(n->f, sw, i, ca, 1));
		}
		if (s)
			ck_assert(fabric_link(n->f, previous, per_switch + 1, sw, per_switch + 2));
		previous = sw;
	}
	net_finish(n->f);
}

static void drop_lids(struct net *n)
{
	free(n->p.lid);
	free(n->p.lmc);
	free(n->p.port_by_lid);
	findings_free(&n->p.findings);
	n->p = (struct plan){ 0 };
}

static void net_end(struct net *n)
{
	drop_lids(n);
	map64_free(&n->known.by_guid);
	map64_free(&n->known.lmc_by_guid);
	settings_free(n->settings);
	fabric_free(n->f);
}

static uint32_t port_of(const struct net *n, uint64_t guid)
{
	uint32_t port = fabric_find_port(n->f, guid);

	ck_assert_uint_ne(port, FABRIC_NONE);
	return port;
}

static uint32_t host(const struct net *n, unsigned i)
{
	return port_of(n, CA(i) + 1);
}

static void remember(struct net *n, uint64_t guid, uint32_t lid, uint32_t lmc)
{
	map64_put(&n->known.by_guid, guid, lid);
	map64_put(&n->known.lmc_by_guid, guid, lmc);
}

/* Checks what must hold for any assignment, whatever LIDs there were before. */
static void check_sound(const struct net *n)
{
	const struct plan *p = &n->p;
	uint32_t owned = 0;
	uint16_t top = 0;

	for (uint32_t port = 0; port < n->f->n_ports; port++) {
		unsigned count = 1u << p->lmc[port], lid = p->lid[port];

		if (!lid)
			continue;
		ck_assert(port_is_end(n->f, port));
		ck_assert_uint_eq(lid % count, 0);
		ck_assert_uint_le(lid + count - 1, IB_LID_UCAST_MAX);
		for (unsigned i = 0; i < count; i++)
			ck_assert_uint_eq(p->port_by_lid[lid + i], port);
		owned += count;
		if (lid + count - 1 > top)
			top = (uint16_t)(lid + count - 1);
	}
	for (uint32_t lid = 0; lid <= IB_LID_UCAST_MAX; lid++)
		owned -= p->port_by_lid[lid] != FABRIC_NONE;
	ck_assert_uint_eq(owned, 0);
	ck_assert_uint_eq(p->lid_top, top);
}

static bool assign(struct net *n)
{
	drop_lids(n);
	n->p.f = n->f;
	n->p.settings = n->settings;
	bool all = plan_assign_lids(&n->p, &n->known, NULL);

	check_sound(n);
	ck_assert_uint_eq(n->p.findings.count[SEV_ERROR], !all);
	return all;
}

START_TEST(fresh_subnet_goes_leaf_by_leaf)
{
	struct net n;

	net_row(&n, 3, 4);
	ck_assert(assign(&n));
	ck_assert_uint_eq(n.p.lid[n.f->self], 1);
	ck_assert_uint_eq(n.p.lid_top, 3 * 5);
	for (unsigned s = 0; s < 3; s++) {
		unsigned first = n.p.lid[port_of(&n, SW + s)];

		for (unsigned i = s ? 0 : 1; i < 4; i++) {
			unsigned lid = n.p.lid[host(&n, s * 4 + i)];

			ck_assert_uint_gt(lid, first);
			ck_assert_uint_le(lid, first + 4);
		}
	}
	net_end(&n);
}
END_TEST

START_TEST(unlinked_port_gets_none)
{
	struct net n = { .f = fabric_new(), .settings = settings_default() };
	uint32_t ca = net_ca(n.f, CA(0), 2), sw = net_switch(n.f, SW, 4, false);

	fabric_link(n.f, ca, 1, sw, 1);
	net_finish(n.f);
	ck_assert(assign(&n));
	ck_assert_uint_eq(n.p.lid[port_of(&n, CA(0) + 2)], 0);
	ck_assert_uint_eq(n.p.lid_top, 2);
	net_end(&n);
}
END_TEST

START_TEST(what_ports_have_is_kept)
{
	struct net n;

	net_row(&n, 2, 3);
	n.f->ports[host(&n, 4)].lid = 1;
	n.f->ports[host(&n, 2)].lid = 1000;
	n.f->ports[port_of(&n, SW + 1)].lid = 77;
	ck_assert(assign(&n));
	ck_assert_uint_eq(n.p.lid[host(&n, 4)], 1);
	ck_assert_uint_eq(n.p.lid[host(&n, 2)], 1000);
	ck_assert_uint_eq(n.p.lid[port_of(&n, SW + 1)], 77);
	ck_assert_uint_eq(n.p.lid_top, 1000);
	ck_assert_uint_eq(n.p.lid[n.f->self], 2);
	net_end(&n);
}
END_TEST

/* A high LID would make all switches' tables longer. */
/* promise: D5 D50 */
START_TEST(lid_far_beyond_the_rest_is_not_kept)
{
	struct net n;

	net_row(&n, 2, 3);
	n.f->ports[host(&n, 1)].lid = 0xbfff;
	n.f->ports[host(&n, 2)].lid = 30000;
	n.f->ports[host(&n, 3)].lid = 1024;
	n.f->ports[host(&n, 4)].lid = 2000;
	ck_assert(assign(&n));
	ck_assert_uint_eq(n.p.lid[host(&n, 3)], 1024);
	ck_assert_uint_eq(n.p.lid[host(&n, 4)], 2000);
	ck_assert_uint_eq(n.p.lid_top, 2000);
	/* by now, qosd itself has assigned it */
	remember(&n, CA(2) + 1, 30000, 0);
	ck_assert(assign(&n));
	ck_assert_uint_eq(n.p.lid[host(&n, 2)], 30000);
	net_end(&n);
}
END_TEST

/* Renumbering all ports would cost more than the unused entries below them. */
/* promise: D5 D50 */
START_TEST(many_far_lids_are_kept)
{
	struct net n;

	net_row(&n, 2, 24);
	for (unsigned i = 0; i < 48; i++)
		n.f->ports[host(&n, i)].lid = (uint16_t)(3000 + i);
	ck_assert(assign(&n));
	for (unsigned i = 0; i < 48; i++)
		ck_assert_uint_eq(n.p.lid[host(&n, i)], 3000 + i);
	/* half of the ports are away, but remembered */
	for (unsigned i = 24; i < 48; i++) {
		remember(&n, 0x900000 + i, 3000 + i, 0);
		n.f->ports[host(&n, i)].lid = 0;
	}
	ck_assert(assign(&n));
	for (unsigned i = 0; i < 24; i++)
		ck_assert_uint_eq(n.p.lid[host(&n, i)], 3000 + i);
	net_end(&n);
}
END_TEST

static void set_cap(struct net *n, unsigned sw, uint16_t cap)
{
	n->f->switches[port_node(n->f, port_of(n, SW + sw))->sw].lft_cap = cap;
}

/* promise: D5 D50 */
START_TEST(lids_stay_within_the_least_table)
{
	struct net n;

	net_row(&n, 2, 3);
	set_cap(&n, 1, 64);
	n.f->ports[host(&n, 1)].lid = 63;
	n.f->ports[host(&n, 2)].lid = 64;
	remember(&n, CA(2) + 1, 64, 0);
	remember(&n, CA(3) + 1, 700, 0);
	ck_assert(assign(&n));
	ck_assert_uint_eq(n.p.lid[host(&n, 1)], 63);
	ck_assert_uint_eq(n.p.lid_top, 63);
	ck_assert_uint_eq(n.p.lid_limit, 63);
	net_end(&n);
}
END_TEST

/* 20 ports and a switch with 9 entries: ports on that switch get the LIDs that fit. */
START_TEST(switch_too_small_does_not_bound_the_others)
{
	struct net n;

	net_row(&n, 4, 4);
	set_cap(&n, 3, 10);
	n.f->ports[host(&n, 12)].lid = 33;
	n.f->ports[host(&n, 1)].lid = 34;
	n.f->ports[host(&n, 2)].lid = 9;
	ck_assert(assign(&n));
	ck_assert_uint_lt(n.p.lid[host(&n, 12)], 10);
	ck_assert_uint_eq(n.p.lid[host(&n, 1)], 34);
	ck_assert_uint_eq(n.p.lid[host(&n, 2)], 9);
	ck_assert_uint_eq(n.p.lid_limit, 0xbfff);
	net_end(&n);
}
END_TEST

START_TEST(no_unicast_lid_is_no_claim)
{
	static const uint16_t bad[] = { 0xc000, 0xfffe, 0xffff };
	struct net n;

	net_row(&n, 1, 4);
	for (unsigned i = 0; i < 3; i++)
		n.f->ports[host(&n, i)].lid = bad[i];
	ck_assert(assign(&n));
	ck_assert_uint_eq(n.p.lid_top, 5);
	net_end(&n);
}
END_TEST

START_TEST(conflict_goes_to_the_remembered_one)
{
	struct net n;

	net_row(&n, 1, 4);
	for (unsigned i = 1; i < 4; i++)
		n.f->ports[host(&n, i)].lid = 9;
	remember(&n, CA(2) + 1, 9, 0);
	ck_assert(assign(&n));
	ck_assert_uint_eq(n.p.lid[host(&n, 2)], 9);
	net_end(&n);
}
END_TEST

START_TEST(conflict_goes_to_the_lowest_guid)
{
	struct net n;

	net_row(&n, 1, 4);
	for (unsigned i = 1; i < 4; i++)
		n.f->ports[host(&n, i)].lid = 9;
	ck_assert(assign(&n));
	ck_assert_uint_eq(n.p.lid[host(&n, 1)], 9);
	net_end(&n);
}
END_TEST

/* The LID that a running port uses now takes precedence over one that another port once had. */
START_TEST(running_port_beats_memory)
{
	struct net n;

	net_row(&n, 1, 4);
	n.f->ports[host(&n, 3)].lid = 20;
	remember(&n, CA(1) + 1, 20, 0);
	ck_assert(assign(&n));
	ck_assert_uint_eq(n.p.lid[host(&n, 3)], 20);
	ck_assert_uint_ne(n.p.lid[host(&n, 1)], 20);
	net_end(&n);
}
END_TEST

/* Two hosts claim each other's LIDs: the plan in force counts, if there is one. */
/* promise: A59 */
START_TEST(given_lid_beats_what_a_port_says)
{
	struct net n;
	uint16_t first, second;
	struct plan before;

	net_row(&n, 2, 2);
	ck_assert(assign(&n));
	before = n.p;
	first = n.p.lid[host(&n, 0)];
	second = n.p.lid[host(&n, 1)];
	n.f->ports[host(&n, 0)].lid = second;
	n.f->ports[host(&n, 1)].lid = first;
	n.p = (struct plan){ .f = n.f, .settings = n.settings };
	ck_assert(plan_assign_lids(&n.p, &n.known, &before));
	check_sound(&n);
	ck_assert_uint_eq(n.p.lid[host(&n, 0)], first);
	ck_assert_uint_eq(n.p.lid[host(&n, 1)], second);
	free(before.lid);
	free(before.lmc);
	free(before.port_by_lid);
	net_end(&n);
}
END_TEST

START_TEST(restart_with_reset_devices_gives_the_same)
{
	uint16_t before[64];
	struct net n;

	net_row(&n, 3, 4);
	n.settings->lmc = 2;
	ck_assert(assign(&n));
	ck_assert_uint_lt(n.f->n_ports, 64);
	for (uint32_t port = 0; port < n.f->n_ports; port++) {
		before[port] = n.p.lid[port];
		if (n.p.lid[port])	/* moved, so that only memory can tell */
			remember(&n, n.f->ports[port].guid, before[port] + 400u, n.p.lmc[port]);
	}
	ck_assert(assign(&n));
	for (uint32_t port = 0; port < n.f->n_ports; port++)
		ck_assert_uint_eq(n.p.lid[port], before[port] ? before[port] + 400 : 0);
	net_end(&n);
}
END_TEST

START_TEST(absent_ports_keep_theirs_as_long_as_there_are_others)
{
	struct net n;

	net_row(&n, 1, 4);
	remember(&n, 0xabcdef, 1, 2);		/* 1 .. 4, aligned or not */
	remember(&n, 0xabcdf0, 6, 0);
	ck_assert(assign(&n));
	for (uint32_t port = 0; port < n.f->n_ports; port++) {
		ck_assert(n.p.lid[port] == 0 || n.p.lid[port] > 4);
		ck_assert_uint_ne(n.p.lid[port], 6);
	}
	/* if all others are remembered, remembered LIDs are used */
	for (uint32_t lid = 1; lid <= IB_LID_UCAST_MAX; lid++)
		remember(&n, 0x5000000 + lid, lid, 0);
	ck_assert(assign(&n));
	ck_assert_uint_eq(n.p.lid_top, 5);
	net_end(&n);
}
END_TEST

START_TEST(lmc_aligns_hosts_but_not_switches)
{
	struct net n;

	net_row(&n, 2, 3);
	n.settings->lmc = 3;
	ck_assert(assign(&n));
	for (unsigned i = 0; i < 6; i++)
		ck_assert_uint_eq(n.p.lmc[host(&n, i)], 3);
	ck_assert_uint_eq(n.p.lmc[port_of(&n, SW)], 0);
	/* the switches get LIDs from the gaps of alignment */
	ck_assert_uint_lt(n.p.lid[port_of(&n, SW + 1)], 8);
	ck_assert_uint_eq(n.p.lid_top, 6 * 8 + 7);
	net_end(&n);
}
END_TEST

START_TEST(lmc_of_port0_is_for_enhanced_ones_that_are_asked_to)
{
	struct net n = { .f = fabric_new(), .settings = settings_default() };
	uint32_t ca = net_ca(n.f, CA(0), 1), a = net_switch(n.f, SW, 4, true);
	uint32_t b = net_switch(n.f, SW + 1, 4, false);

	fabric_link(n.f, ca, 1, a, 1);
	fabric_link(n.f, a, 2, b, 2);
	net_finish(n.f);
	n.settings->lmc = 2;
	ck_assert(assign(&n));
	ck_assert_uint_eq(n.p.lmc[port_of(&n, SW)], 0);
	n.settings->lmc_enhanced_port0 = true;
	ck_assert(assign(&n));
	ck_assert_uint_eq(n.p.lmc[port_of(&n, SW)], 2);
	ck_assert_uint_eq(n.p.lmc[port_of(&n, SW + 1)], 0);
	net_end(&n);
}
END_TEST

START_TEST(raised_lmc_moves_what_is_not_aligned)
{
	struct net n;

	net_row(&n, 1, 4);
	ck_assert(assign(&n));
	for (uint32_t port = 0; port < n.f->n_ports; port++)
		n.f->ports[port].lid = n.p.lid[port];
	n.settings->lmc = 1;
	ck_assert(assign(&n));
	for (unsigned i = 0; i < 4; i++) {
		unsigned had = n.f->ports[host(&n, i)].lid;

		ck_assert_uint_eq(n.p.lid[host(&n, i)] % 2, 0);
		if (had == 4)	/* aligned, and 5 was a host that had to move */
			ck_assert_uint_eq(n.p.lid[host(&n, i)], 4);
	}
	net_end(&n);
}
END_TEST

START_TEST(every_lid_can_be_used)
{
	unsigned n_switches = 194, hosts = IB_LID_UCAST_MAX - 194;
	struct net n = { .f = fabric_new(), .settings = settings_default() };
	uint32_t ca = net_ca(n.f, CA(0), 1), sw = FABRIC_NONE;

	for (unsigned i = 0; i < hosts; i++) {
		if (i % 253 == 0)
			sw = net_switch(n.f, SW + i, 254, false);
		if (i)
			ca = net_ca(n.f, CA(i), 1);
		ck_assert(fabric_link(n.f, sw, 1 + i % 253, ca, 1));
	}
	ck_assert_uint_eq(1 + (hosts - 1) / 253, n_switches);
	net_finish(n.f);
	ck_assert(assign(&n));
	ck_assert_uint_eq(n.p.lid_top, IB_LID_UCAST_MAX);
	net_end(&n);
}
END_TEST

START_TEST(too_many_ports_are_reported_and_the_sm_has_a_lid)
{
	struct net n;

	net_row(&n, 4, 100);
	n.settings->lmc = 7;
	ck_assert(!assign(&n));
	unsigned served = 0;

	for (unsigned i = 0; i < 400; i++)
		served += n.p.lid[host(&n, i)] != 0;
	ck_assert_uint_eq(served, 383);		/* 0xc000 / 128, less the range of LID 0 */
	ck_assert_uint_ne(n.p.lid[n.f->self], 0);
	ck_assert_ptr_nonnull(strstr(n.p.findings.v[0].text, "17 ports"));
	net_end(&n);
}
END_TEST

/* With arbitrary LIDs on the devices and in the file, the assignment is sound. */
START_TEST(any_past_gives_a_sound_assignment)
{
	uint64_t seed = 1 + (uint64_t)_i;
	struct net n;

	net_row(&n, 3, 5);
	for (unsigned round = 0; round < 40; round++) {
		n.settings->lmc = net_random(&seed) % 8;
		for (uint32_t port = 0; port < n.f->n_ports; port++) {
			uint64_t guid = n.f->ports[port].guid;
			uint32_t bits = net_random(&seed);

			n.f->ports[port].lid = bits & 1 ? (uint16_t)(bits >> 8) :
							  (uint16_t)(bits >> 8 & 0xf);
			if (bits & 2)
				map64_put(&n.known.by_guid, guid,
					  bits & 4 ? net_random(&seed) : bits >> 8 & 0x1f);
			if (bits & 8)
				map64_put(&n.known.lmc_by_guid, guid, net_random(&seed) % 12);
			if (bits & 16)
				remember(&n, guid ^ 0x999999, net_random(&seed), bits & 0xff);
		}
		ck_assert(assign(&n));
	}
	net_end(&n);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lids");
	TCase *c = tcase_create("lids");

	tcase_add_test(c, fresh_subnet_goes_leaf_by_leaf);
	tcase_add_test(c, unlinked_port_gets_none);
	tcase_add_test(c, what_ports_have_is_kept);
	tcase_add_test(c, lid_far_beyond_the_rest_is_not_kept);
	tcase_add_test(c, many_far_lids_are_kept);
	tcase_add_test(c, lids_stay_within_the_least_table);
	tcase_add_test(c, switch_too_small_does_not_bound_the_others);
	tcase_add_test(c, no_unicast_lid_is_no_claim);
	tcase_add_test(c, conflict_goes_to_the_remembered_one);
	tcase_add_test(c, conflict_goes_to_the_lowest_guid);
	tcase_add_test(c, running_port_beats_memory);
	tcase_add_test(c, given_lid_beats_what_a_port_says);
	tcase_add_test(c, restart_with_reset_devices_gives_the_same);
	tcase_add_test(c, absent_ports_keep_theirs_as_long_as_there_are_others);
	tcase_add_test(c, lmc_aligns_hosts_but_not_switches);
	tcase_add_test(c, lmc_of_port0_is_for_enhanced_ones_that_are_asked_to);
	tcase_add_test(c, raised_lmc_moves_what_is_not_aligned);
	tcase_add_test(c, every_lid_can_be_used);
	tcase_add_test(c, too_many_ports_are_reported_and_the_sm_has_a_lid);
	tcase_add_loop_test(c, any_past_gives_a_sound_assignment, 0, 5);
	suite_add_tcase(s, c);
	return run_suite(s);
}
