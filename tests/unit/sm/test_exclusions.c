/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests which devices discovery excludes, which of two, for how long, and when it takes them back. */
#include <check.h>
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad_sm.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "sm/devices/exclusions.h"
#include "sm/devices/node_names.h"
#include "sm/sm_internal.h"
#include "unit/plan/net.h"
#include "unit/run.h"

#define LEAF 0x9000
#define HOST(i) (0x1000u + 0x10u * (i))

static struct sm sm;
static struct subnet_state now;

/* Makes a switch with host i on port i + 1; the SM is on host 0.  Ports 5 to 8 have no far end. */
static void setup(void)
{
	uint32_t self, leaf;

	memset(&sm, 0, sizeof(sm));
	sm.devices.exclusions = exclusions_new();
	names_new(&sm);
	now = (struct subnet_state){ .refs = 1, .f = fabric_new() };
	self = net_ca(now.f, HOST(0), 1);
	leaf = net_switch(now.f, LEAF, 8, false);
	ck_assert(fabric_link(now.f, self, 1, leaf, 1));
	for (unsigned i = 1; i < 4; i++)
		ck_assert(fabric_link(now.f, net_ca(now.f, HOST(i), 1), 1, leaf, i + 1));
	net_finish(now.f);
	sm.published = &now;
}

static void teardown(void)
{
	names_free(&sm);
	exclusions_free(sm.devices.exclusions);
	vec_free(&sm.wishes.suspects);
	fabric_free(now.f);
}

static void node_info(uint8_t *info, unsigned type, unsigned ports, uint64_t guid, unsigned local)
{
	memset(info, 0, 40);
	info[NI_TYPE] = (uint8_t)type;
	info[NI_PORTS] = (uint8_t)ports;
	info[NI_LOCAL_PORT] = (uint8_t)local;
	put_be64(info + NI_GUID, guid);
	put_be64(info + NI_PORT_GUID, guid + 1);
}

static struct disco_excluded left_at(unsigned port, enum excluded_why why, const uint8_t *info)
{
	struct disco_excluded x = { .near_guid = LEAF, .near_port = (uint8_t)port, .why = (uint8_t)why };

	excluded_describe(&x, info);
	return x;
}

static void set_state(uint64_t guid, unsigned port, unsigned state)
{
	fabric_port(now.f, map64_get(&now.f->node_by_guid, guid), port)->state = (uint8_t)state;
}

/* A scan left these devices out; repeated: whether it must be repeated. */
static void scanned(struct disco_excluded *left, size_t n, bool repeated)
{
	struct fabric *f = fabric_clone(now.f);
	struct disco_result res = { .f = f, .left = left, .n_left = n };

	ck_assert(exclusions_scanned(&sm, &res) == repeated);
	fabric_free(f);
}

/* The device has another GUID in each answer, which is known after two scans. */
static void changes(struct disco_excluded *x)
{
	struct disco_excluded before = *x;

	before.guid ^= 0x800;
	scanned(&before, 1, true);
	scanned(x, 1, true);
}

static size_t count(void)
{
	size_t n = 0;

	while (exclusions_at(&sm, n))
		n++;
	return n;
}

/* Makes a light sweep in which the i-th queried device answers info[i], or not if that is NULL. */
static enum exclusions_end light(const uint8_t *const *info, size_t n)
{
	ck_assert(exclusions_begin(&sm));
	ck_assert_uint_eq(exclusions_asked(&sm), n);
	for (size_t i = 0; i < n; i++) {
		struct smp s = { 0 };

		if (info[i])
			memcpy(s.data, info[i], 40);
		exclusions_answered(&sm, i, &s, info[i] ? 0 : -1);
	}
	return exclusions_end(&sm);
}

static enum exclusions_end light_one(const uint8_t *info)
{
	return light(&info, 1);
}

START_TEST(an_impossible_one_until_it_is_possible)
{
	uint8_t odd[40], good[40];
	struct disco_excluded x;

	node_info(odd, IB_NODE_CA_T, 1, HOST(9), 254);
	node_info(good, IB_NODE_CA_T, 1, HOST(9), 1);
	x = left_at(5, EXCLUDED_LOCAL_PORT, odd);
	scanned(&x, 1, false);
	ck_assert_uint_eq(count(), 1);
	ck_assert(exclusions_holds(&sm, LEAF, 5, odd));
	ck_assert(!exclusions_holds(&sm, LEAF, 5, good));
	ck_assert(exclusions_is_behind(&sm, LEAF, 5));
	ck_assert(!exclusions_is_behind(&sm, LEAF, 6));
	for (unsigned i = 0; i < 10; i++)
		ck_assert_int_eq(light_one(odd), EXCLUSIONS_SAME);
	ck_assert_int_eq(light_one(NULL), EXCLUSIONS_SAME);
	ck_assert_uint_eq(sm.wishes.suspects.n, 0);
	ck_assert_int_eq(light_one(good), EXCLUSIONS_BACK);
	ck_assert_uint_eq(sm.wishes.suspects.n, 1);
	ck_assert_uint_eq(sm.wishes.suspects.v[0].guid, LEAF);
	ck_assert_uint_eq(count(), 0);
	ck_assert(!exclusions_begin(&sm));
}
END_TEST

/* A local sweep for another reason has read host 1, which is linked again. */
START_TEST(one_that_is_linked_already)
{
	uint8_t odd[40], good[40];
	struct disco_excluded x;

	node_info(odd, IB_NODE_CA_T, 0, HOST(1), 1);
	node_info(good, IB_NODE_CA_T, 1, HOST(1), 1);
	x = left_at(2, EXCLUDED_PORTS, odd);
	scanned(&x, 1, false);
	ck_assert_int_eq(light_one(odd), EXCLUSIONS_SAME);
	node_info(odd, IB_NODE_CA_T, 1, HOST(2), 1);		/* which is linked elsewhere */
	ck_assert_int_eq(light_one(odd), EXCLUSIONS_RENAMED);
	ck_assert_int_eq(light_one(odd), EXCLUSIONS_SAME);
	ck_assert_int_eq(light_one(good), EXCLUSIONS_BACK);
	ck_assert_uint_eq(count(), 0);
}
END_TEST

/* Both links of a switch are in doubt, but no other device has its GUID. */
START_TEST(an_impostor_of_nobody_is_honest)
{
	uint8_t info[40];
	struct disco_excluded x;

	node_info(info, IB_NODE_SWITCH_T, 8, 0x9009, 1);
	x = left_at(5, EXCLUDED_IMPOSTOR, info);
	scanned(&x, 1, true);		/* to find the other device with its GUID */
	scanned(&x, 1, true);		/* nobody has */
	ck_assert_uint_eq(count(), 0);
	scanned(&x, 1, false);
	ck_assert_uint_eq(count(), 0);
}
END_TEST

/* The repeated scan does not find the known host 2, but the intruder must not get its GUID. */
START_TEST(an_impostor_of_one_that_is_not_met_stays_out)
{
	uint8_t info[40];
	struct disco_excluded x;
	struct disco_result res = { .left = &x, .n_left = 1 };
	uint32_t leaf, self;

	node_info(info, IB_NODE_CA_T, 1, HOST(2), 1);
	x = left_at(3, EXCLUDED_TWO_PLACES, info);
	x.other_guid = LEAF;
	x.other_port = 6;
	scanned(&x, 1, true);
	x = left_at(6, EXCLUDED_IMPOSTOR, info);	/* the device is on the list */
	res.f = fabric_new();
	self = net_ca(res.f, HOST(0), 1);
	leaf = net_switch(res.f, LEAF, 8, false);
	ck_assert(fabric_link(res.f, self, 1, leaf, 1));
	net_finish(res.f);
	ck_assert(!exclusions_scanned(&sm, &res));
	ck_assert_uint_eq(count(), 1);
	fabric_free(res.f);
}
END_TEST

/* A device that was found honest in one sweep may claim another's GUID in the next. */
START_TEST(honest_for_one_sweep)
{
	uint8_t info[40];
	struct disco_excluded x;

	node_info(info, IB_NODE_SWITCH_T, 8, 0x9009, 1);
	x = left_at(5, EXCLUDED_IMPOSTOR, info);
	scanned(&x, 1, true);
	scanned(&x, 1, true);
	ck_assert_uint_eq(count(), 0);
	exclusions_sweep(&sm);
	scanned(&x, 1, true);
	ck_assert_uint_eq(count(), 1);
}
END_TEST

/* The switch whose GUID it has was there, and may be starting again. */
START_TEST(an_impostor_of_a_switch_that_goes_stays_out)
{
	uint8_t info[40];
	struct disco_excluded x;

	node_info(info, IB_NODE_SWITCH_T, 8, 0x9009, 1);
	x = left_at(5, EXCLUDED_IMPOSTOR, info);
	scanned(&x, 1, true);
	exclusions_sweep(&sm);
	scanned(&x, 1, false);
	ck_assert_uint_eq(count(), 1);
}
END_TEST

START_TEST(a_scan_that_does_not_meet_it_forgets_it)
{
	uint8_t odd[40];
	struct disco_excluded x[2];

	node_info(odd, IB_NODE_CA_T, 0, HOST(9), 1);
	x[0] = left_at(5, EXCLUDED_PORTS, odd);
	x[1] = left_at(6, EXCLUDED_PORTS, odd);
	scanned(x, 2, false);
	ck_assert_uint_eq(count(), 2);
	scanned(x + 1, 1, false);
	ck_assert_uint_eq(count(), 1);
	ck_assert_uint_eq(exclusions_at(&sm, 0)->near_port, 6);
}
END_TEST

/* In a full list, entries are found after others are removed, and no entry is there twice. */
START_TEST(a_full_list)
{
	static struct disco_excluded x[EXCLUDED_MAX + 1];
	uint8_t info[40];
	unsigned n_back = 0;

	node_info(info, IB_NODE_CA_T, 0, HOST(9), 1);
	for (unsigned i = 0; i <= EXCLUDED_MAX; i++) {
		x[i] = left_at(i % 8, EXCLUDED_PORTS, info);
		x[i].near_guid = LEAF + i / 8;
	}
	/* places whose digests are the same, as a device may choose its GUID */
	x[100].near_guid = x[101].near_guid ^ (uint64_t)(x[101].near_port + 1) << 48 ^
			   (uint64_t)(x[100].near_port + 1) << 48;
	scanned(x, EXCLUDED_MAX + 1, false);
	for (unsigned round = 0; round < 3; round++) {
		scanned(x, EXCLUDED_MAX, false);
		ck_assert_uint_eq(count(), EXCLUDED_MAX);
	}
	/* every second one of the queried devices becomes correct */
	ck_assert(exclusions_begin(&sm));
	for (unsigned i = 0; i < exclusions_asked(&sm); i++) {
		struct smp s = { 0 };

		node_info(s.data, IB_NODE_CA_T, i % 2, HOST(1000 + i), 1);
		exclusions_answered(&sm, i, &s, 0);
		n_back += i % 2;
	}
	ck_assert_int_eq(exclusions_end(&sm), EXCLUSIONS_BACK);
	ck_assert_uint_eq(count(), EXCLUDED_MAX - n_back);
	for (unsigned i = 0; i < EXCLUDED_MAX; i++)
		ck_assert_int_eq(exclusions_holds(&sm, x[i].near_guid, x[i].near_port, info),
				 i >= 2 * n_back || i % 2 == 0);
	scanned(x + EXCLUDED_MAX / 2, EXCLUDED_MAX / 2, false);
	ck_assert_uint_eq(count(), EXCLUDED_MAX / 2);
	for (unsigned i = 0; i < EXCLUDED_MAX; i++)
		ck_assert_int_eq(exclusions_holds(&sm, x[i].near_guid, x[i].near_port, info),
				 i >= EXCLUDED_MAX / 2);
}
END_TEST

START_TEST(a_guid_that_changes_has_to_be_the_same_twice)
{
	uint8_t info[40];
	struct disco_excluded x;

	node_info(info, IB_NODE_CA_T, 1, 0x7001, 1);
	x = left_at(5, EXCLUDED_GUID_CHANGES, info);
	changes(&x);
	for (unsigned i = 2; i < 10; i++) {
		node_info(info, IB_NODE_CA_T, 1, 0x7000 + i, 1);
		ck_assert_int_eq(light_one(info), EXCLUSIONS_SAME);
	}
	ck_assert_int_eq(light_one(info), EXCLUSIONS_BACK);
}
END_TEST

START_TEST(a_guid_that_two_scans_hear_does_not_change)
{
	static struct disco_excluded list[EXCLUDED_MAX];
	uint8_t info[40];
	struct disco_excluded x;

	node_info(info, IB_NODE_SWITCH_T, 8, 0x7001, 1);
	x = left_at(5, EXCLUDED_GUID_CHANGES, info);
	scanned(&x, 1, true);
	ck_assert_uint_eq(exclusions_list(&sm, list), 0);
	/* behind another port: two devices with the same claim may have swapped places */
	x = left_at(6, EXCLUDED_GUID_CHANGES, info);
	scanned(&x, 1, true);
	ck_assert_uint_eq(count(), 0);
	ck_assert_uint_eq(exclusions_list(&sm, list), 1);
	ck_assert_int_eq(list[0].why, EXCLUDED_NOT);
	ck_assert_uint_eq(list[0].guid, 0x7001);
	scanned(NULL, 0, false);
	exclusions_sweep(&sm);
	ck_assert_uint_eq(exclusions_list(&sm, list), 0);
}
END_TEST

/* promise: A110 */
START_TEST(a_false_adapter_is_treated_as_a_switch)
{
	uint8_t says[40], truth[40], got[40];
	const uint8_t *info[1] = { says };
	struct disco_excluded x, list[EXCLUDED_MAX];
	uint32_t leaf = now.f->nodes[map64_get(&now.f->node_by_guid, LEAF)].port0;

	node_info(says, IB_NODE_CA_T, 8, 0x7000, 1);
	node_info(truth, IB_NODE_SWITCH_T, 8, 0x7000, 1);
	x = left_at(5, EXCLUDED_SWITCH, says);
	ck_assert(exclusions_put(&sm, now.f, &x));
	ck_assert(!exclusions_put(&sm, now.f, &x));
	ck_assert_uint_eq(exclusions_list(&sm, list), 1);
	ck_assert(!exclusions_holds(&sm, LEAF, 5, says));
	/* light sweeps do not find it when its link is up and it was silent */
	ck_assert(!exclusions_is_behind(&sm, LEAF, 5));
	/* over another of its links as well */
	for (unsigned port = 5; port < 7; port++) {
		memcpy(got, says, sizeof(got));
		got[NI_LOCAL_PORT] = (uint8_t)port;
		put_be64(got + NI_PORT_GUID, 0x7000 + port);
		ck_assert_int_eq(light_one(got), EXCLUSIONS_SAME);
		exclusions_rename(&sm, now.f, leaf + port, got);
		ck_assert_uint_eq(got[NI_TYPE], IB_NODE_SWITCH_T);
		ck_assert_uint_eq(get_be64(got + NI_PORT_GUID), 0x7001);
	}
	node_info(got, IB_NODE_CA_T, 8, 0x7001, 1);
	exclusions_rename(&sm, now.f, leaf + 5, got);
	ck_assert_uint_eq(got[NI_TYPE], IB_NODE_CA_T);
	/* each scan finds it */
	scanned(&x, 1, false);
	ck_assert_int_eq(light(info, 1), EXCLUSIONS_SAME);
	ck_assert_uint_eq(count(), 1);
	info[0] = truth;
	ck_assert_int_eq(light(info, 1), EXCLUSIONS_BACK);
	ck_assert_uint_eq(count(), 0);
	ck_assert_uint_eq(sm.wishes.suspects.v[0].guid, LEAF);
}
END_TEST

/* A scan finds the device again although its entry was corrected, which must not cause endless scans. */
/* promise: A110 */
START_TEST(a_false_adapter_that_says_something_else_each_time)
{
	unsigned repeated = 0;

	for (unsigned sweep = 0; sweep < 2; sweep++) {
		exclusions_sweep(&sm);
		for (unsigned i = 0; i < 50; i++) {
			uint8_t says[40];
			struct disco_excluded x;

			node_info(says, IB_NODE_CA_T, 8 + i, 0x7000, 1);
			x = left_at(5, EXCLUDED_SWITCH, says);
			repeated += exclusions_correct(&sm, now.f, &x);
			ck_assert_uint_eq(count(), 1);
			scanned(NULL, 0, false);
			ck_assert_uint_eq(count(), 0);
		}
		ck_assert_uint_eq(repeated, sweep + 1);
	}
	for (repeated = 0; repeated < 1000 && exclusions_may_repeat(&sm);)
		repeated++;
	ck_assert_uint_gt(repeated, 8);
	ck_assert_uint_lt(repeated, 100);
}
END_TEST

/* A device behind port 5 with the NodeInfo of host 2, to which the scan gives another GUID. */
static struct disco_excluded twin(const uint8_t *info)
{
	struct disco_excluded x = left_at(5, EXCLUDED_TWIN, info);

	x.other_guid = LEAF;
	x.other_port = 3;
	x.known_as = excluded_stand_in(HOST(2), LEAF, 5);
	scanned(&x, 1, true);
	exclusions_sweep(&sm);
	scanned(&x, 1, false);
	ck_assert_uint_eq(count(), 1);
	return x;
}

START_TEST(a_twin_is_known_by_another_guid_until_it_says_one)
{
	uint8_t same[40], own[40], got[40];
	const uint8_t *both[2] = { same, same };
	struct disco_excluded x;
	uint32_t port;

	node_info(same, IB_NODE_CA_T, 1, HOST(2), 1);
	node_info(own, IB_NODE_CA_T, 1, HOST(9), 1);
	x = twin(same);
	ck_assert(!exclusions_holds(&sm, LEAF, 5, same));
	port = fabric_port(now.f, map64_get(&now.f->node_by_guid, LEAF), 5) - now.f->ports;
	memcpy(got, same, sizeof(got));
	exclusions_rename(&sm, now.f, port, got);
	ck_assert_uint_eq(get_be64(got + NI_GUID), x.known_as);
	ck_assert_uint_eq(get_be64(got + NI_PORT_GUID), x.known_as + 1);
	memcpy(got, own, sizeof(got));
	exclusions_rename(&sm, now.f, port, got);
	ck_assert_mem_eq(got, own, sizeof(got));
	memcpy(got, same, sizeof(got));
	exclusions_rename(&sm, now.f, port - 2, got);		/* host 2 itself */
	ck_assert_mem_eq(got, same, sizeof(got));
	for (unsigned i = 0; i < 10; i++)
		ck_assert_int_eq(light(both, 2), EXCLUSIONS_SAME);
	both[0] = own;
	ck_assert_int_eq(light(both, 2), EXCLUSIONS_RENAMED);
	ck_assert_uint_eq(count(), 0);
}
END_TEST

START_TEST(a_twin_gets_the_name_that_is_free)
{
	uint8_t same[40], own[40];
	const uint8_t *both[2] = { same, own };

	node_info(same, IB_NODE_CA_T, 1, HOST(2), 1);
	node_info(own, IB_NODE_CA_T, 1, HOST(9), 1);
	twin(same);
	ck_assert_int_eq(light(both, 2), EXCLUSIONS_RENAMED);
	ck_assert_uint_eq(count(), 0);
}
END_TEST

/* The other device may be restarting, and its GUID must stay free for it. */
START_TEST(a_twin_stays_one_while_the_other_is_away)
{
	uint8_t same[40];
	const uint8_t *one[2] = { same, NULL };

	node_info(same, IB_NODE_CA_T, 1, HOST(2), 1);
	twin(same);
	for (unsigned i = 0; i < 10; i++)
		ck_assert_int_eq(light(one, 2), EXCLUSIONS_SAME);
	ck_assert_uint_eq(count(), 1);
}
END_TEST

/* A new adapter with the GUIDs of a known one, which the scan finds first. */
START_TEST(a_twin_that_is_new_takes_no_name)
{
	uint8_t same[40];
	struct disco_excluded x;

	node_info(same, IB_NODE_CA_T, 1, HOST(2), 1);
	x = left_at(3, EXCLUDED_TWIN, same);
	x.other_guid = LEAF;
	x.other_port = 5;
	x.known_as = excluded_stand_in(HOST(2), LEAF, 3);
	scanned(&x, 1, true);
	ck_assert_uint_eq(count(), 1);
	ck_assert_int_eq(exclusions_at(&sm, 0)->why, EXCLUDED_TWIN);
	ck_assert_uint_eq(exclusions_at(&sm, 0)->near_port, 5);
	ck_assert_uint_eq(exclusions_at(&sm, 0)->other_port, 3);
	ck_assert_uint_eq(exclusions_at(&sm, 0)->known_as, excluded_stand_in(HOST(2), LEAF, 5));
}
END_TEST

START_TEST(one_that_is_no_twin_after_all)
{
	uint8_t same[40];
	struct disco_excluded x;

	node_info(same, IB_NODE_CA_T, 1, HOST(2), 1);
	x = twin(same);
	x.known_as = 0;
	scanned(&x, 1, true);
	ck_assert_uint_eq(count(), 0);
}
END_TEST

START_TEST(one_with_the_port_guid_of_another_stays_out)
{
	uint8_t info[40];
	struct disco_excluded x;

	node_info(info, IB_NODE_SWITCH_T, 8, 0x7000, 1);
	put_be64(info + NI_PORT_GUID, HOST(1) + 1);
	x = left_at(5, EXCLUDED_PORT_GUID, info);
	scanned(&x, 1, false);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(light_one(info), EXCLUSIONS_SAME);
		put_be64(info + NI_GUID, 0x7001 + i);	/* whatever its node GUID is */
	}
	put_be64(info + NI_PORT_GUID, 0x7000);
	ck_assert_int_eq(light_one(info), EXCLUSIONS_BACK);
}
END_TEST

START_TEST(one_that_kills_discovery_is_tried_ever_more_rarely)
{
	uint8_t info[40];
	struct disco_excluded x, list[EXCLUDED_MAX];
	unsigned waited = 0, before = 0;

	node_info(info, IB_NODE_CA_T, 1, HOST(9), 1);
	x = left_at(5, EXCLUDED_KILLS, info);
	for (unsigned i = 0; i < 6; i++) {
		scanned(&x, 1, true);
		ck_assert_uint_eq(exclusions_list(&sm, list), 1);
		for (waited = 1; light_one(info) == EXCLUSIONS_SAME; waited++)
			ck_assert_uint_lt(waited, 400);
		ck_assert_uint_gt(waited, before);
		ck_assert_uint_eq(exclusions_list(&sm, list), 0);
		before = waited;
	}
	scanned(&x, 1, true);
	info[28] ^= 1;	/* its claim changed, so it may be harmless */
	ck_assert_int_eq(light_one(info), EXCLUSIONS_BACK);
}
END_TEST

/* Of two devices with one GUID, the one at its former place is believed. */
START_TEST(one_that_is_unplugged_is_forgotten)
{
	uint8_t odd[40];
	struct disco_excluded x[3];

	node_info(odd, IB_NODE_CA_T, 0, HOST(9), 1);
	x[0] = left_at(5, EXCLUDED_PORTS, odd);
	x[1] = left_at(6, EXCLUDED_PORTS, odd);
	x[2] = left_at(1, EXCLUDED_PORTS, odd);
	x[2].near_guid = LEAF + 1;		/* which is gone */
	scanned(x, 3, false);
	ck_assert_int_eq(light((const uint8_t *const[]){ NULL, NULL, NULL }, 3), EXCLUSIONS_SAME);
	ck_assert_uint_eq(count(), 2);
	/* an answer of the port proves more than its earlier state Down */
	set_state(LEAF, 5, IB_PORT_DOWN_S);
	ck_assert_int_eq(light((const uint8_t *const[]){ odd, odd }, 2), EXCLUSIONS_SAME);
	ck_assert_uint_eq(count(), 2);
	ck_assert_int_eq(light((const uint8_t *const[]){ NULL, NULL }, 2), EXCLUSIONS_SAME);
	ck_assert_uint_eq(count(), 1);
	ck_assert_uint_eq(exclusions_at(&sm, 0)->near_port, 6);
	ck_assert_uint_eq(sm.wishes.suspects.n, 0);
}
END_TEST

/* For how many light sweeps the device at port 5 stays excluded while its link is down. */
static unsigned stays_unplugged(enum excluded_why why, const uint8_t *info, unsigned other_port)
{
	struct disco_excluded x = left_at(5, why, info);
	unsigned n = 0;

	exclusions_forget(&sm);
	set_state(LEAF, 5, IB_PORT_DOWN_S);
	x.other_guid = other_port ? LEAF : 0;
	x.other_port = (uint8_t)other_port;
	if (why == EXCLUDED_GUID_CHANGES)
		changes(&x);
	else
		scanned(&x, 1, true);
	while (count() && ++n < 1000)
		ck_assert_int_eq(light_one(NULL), EXCLUSIONS_SAME);
	return n;
}

START_TEST(one_that_unplugs_itself_gains_nothing)
{
	uint8_t info[40];

	node_info(info, IB_NODE_CA_T, 1, HOST(9), 1);
	ck_assert_uint_eq(stays_unplugged(EXCLUDED_GUID_CHANGES, info, 0), 1);
	ck_assert_uint_ge(stays_unplugged(EXCLUDED_KILLS, info, 0), 2);
	/* the device with the GUID is there, at port 3; it is starting again, at port 8 */
	ck_assert_uint_eq(stays_unplugged(EXCLUDED_IMPOSTOR, info, 3), 1);
	ck_assert_uint_gt(stays_unplugged(EXCLUDED_IMPOSTOR, info, 8), 300);
}
END_TEST

START_TEST(the_one_that_was_there_before_is_believed)
{
	uint8_t info[40];
	struct disco_excluded x, list[EXCLUDED_MAX];

	node_info(info, IB_NODE_CA_T, 1, HOST(2), 1);
	x = left_at(3, EXCLUDED_TWO_PLACES, info);		/* where host 2 has been */
	x.other_guid = LEAF;
	x.other_port = 6;				/* the scan found the intruder first */
	scanned(&x, 1, true);
	ck_assert_uint_eq(exclusions_list(&sm, list), 1);
	ck_assert_uint_eq(list[0].near_port, 6);
	ck_assert_int_eq(list[0].why, EXCLUDED_IMPOSTOR);

	exclusions_forget(&sm);
	x = left_at(6, EXCLUDED_TWO_PLACES, info);		/* the scan found host 2 first */
	x.other_guid = LEAF;
	x.other_port = 3;
	scanned(&x, 1, false);
	ck_assert_uint_eq(count(), 1);
	ck_assert_uint_eq(exclusions_at(&sm, 0)->near_port, 6);
}
END_TEST

/* A new device claims the node GUID of host 2, with a port GUID nearer to it than that of host 2. */
/* promise: A65 */
START_TEST(a_port_guid_that_was_chosen_takes_no_place)
{
	uint8_t info[40];
	struct disco_excluded x, list[EXCLUDED_MAX];

	node_info(info, IB_NODE_CA_T, 1, HOST(2), 1);
	x = left_at(3, EXCLUDED_CLAIMS, info);		/* where host 2 has been */
	x.other_guid = LEAF;
	x.other_port = 6;
	scanned(&x, 1, true);
	ck_assert_uint_eq(exclusions_list(&sm, list), 1);
	ck_assert_uint_eq(list[0].near_port, 6);
	ck_assert_int_eq(list[0].why, EXCLUDED_IMPOSTOR);
	/* if neither was there before, as at a cold start, the port GUID decides */
	exclusions_forget(&sm);
	x.near_port = 5;
	x.other_port = 6;
	scanned(&x, 1, true);
	ck_assert_uint_eq(exclusions_list(&sm, list), 1);
	ck_assert_uint_eq(list[0].near_port, 5);
}
END_TEST

/* A switch claims the GUID of host 2, and has more neighboring switches than host 2 has links. */
START_TEST(a_known_host_is_no_impostor)
{
	uint8_t info[40], implausible[40];
	struct disco_excluded x[3];

	node_info(info, IB_NODE_CA_T, 1, HOST(2), 1);
	node_info(implausible, IB_NODE_SWITCH_T, 8, HOST(2), 1);
	x[0] = left_at(6, EXCLUDED_TWO_KINDS, implausible);
	x[1] = left_at(7, EXCLUDED_TWO_KINDS, implausible);
	x[0].other_guid = x[1].other_guid = LEAF;
	x[0].other_port = x[1].other_port = 3;
	x[2] = left_at(3, EXCLUDED_IMPOSTOR, info);
	scanned(x, 3, false);
	/* neither another link of it nor an earlier exclusion makes it one */
	x[2].other_guid = LEAF;
	x[2].other_port = 5;
	x[2].why = EXCLUDED_TWO_PLACES;
	exclusions_put(&sm, now.f, &x[2]);
	ck_assert_uint_eq(count(), 3);
	x[2].why = EXCLUDED_IMPOSTOR;
	scanned(x, 3, false);
	ck_assert_uint_eq(count(), 2);
	for (unsigned i = 0; i < 2; i++)
		ck_assert_uint_ne(exclusions_at(&sm, i)->near_port, 3);
	/* elsewhere it is one, as is another kind of device */
	x[2] = left_at(5, EXCLUDED_IMPOSTOR, info);
	scanned(x, 3, true);
	exclusions_forget(&sm);
	x[2] = left_at(3, EXCLUDED_IMPOSTOR, implausible);
	scanned(x, 3, true);
}
END_TEST

/* A host claims the GUID of a known switch with one link, at a port that has none. */
START_TEST(a_known_switch_is_no_impostor)
{
	uint8_t info[40];
	struct disco_excluded x, list[EXCLUDED_MAX];

	node_info(info, IB_NODE_SWITCH_T, 8, LEAF, 1);
	x = left_at(1, EXCLUDED_IMPOSTOR, info);
	x.near_guid = HOST(0);
	x.other_guid = LEAF;
	x.other_port = 6;		/* a loop that would contain the host */
	scanned(&x, 1, true);
	ck_assert_uint_eq(exclusions_list(&sm, list), 1);
	ck_assert_uint_eq(list[0].near_guid, LEAF);
	ck_assert_uint_eq(list[0].near_port, 6);
	ck_assert_int_eq(list[0].why, EXCLUDED_IMPOSTOR);
	/* it is not taken back for a port of the switch that is down, as the switch says */
	node_info(info, IB_NODE_SWITCH_T, 8, LEAF, 7);
	set_state(LEAF, 7, IB_PORT_DOWN_S);
	ck_assert_int_eq(light_one(info), EXCLUSIONS_SAME);
	set_state(LEAF, 7, IB_PORT_INIT_S);
	ck_assert_int_eq(light_one(info), EXCLUSIONS_BACK);
}
END_TEST

/* If an excluded device repeats its claim, that does not make the other device an impostor. */
START_TEST(one_on_the_list_says_nothing_of_others)
{
	uint8_t info[40];
	struct disco_excluded x, list[EXCLUDED_MAX];

	node_info(info, IB_NODE_CA_T, 1, HOST(2), 1);
	x = left_at(4, EXCLUDED_IMPOSTOR, info);		/* where host 3 is */
	x.other_guid = LEAF;
	x.other_port = 3;
	scanned(&x, 1, true);
	node_info(info, IB_NODE_CA_T, 1, HOST(3), 1);
	excluded_describe(&x, info);
	scanned(&x, 1, false);
	ck_assert_uint_eq(exclusions_list(&sm, list), 1);
	ck_assert_uint_eq(list[0].near_port, 4);
}
END_TEST

START_TEST(all_is_discovered_when_the_one_that_was_believed_is_renamed)
{
	uint8_t same[40], other[40];
	const uint8_t *answers[2] = { same, same };
	struct disco_excluded x;

	node_info(same, IB_NODE_CA_T, 1, 0x7000, 1);
	node_info(other, IB_NODE_CA_T, 1, 0x7100, 1);
	x = left_at(5, EXCLUDED_TWO_PLACES, same);
	x.other_guid = LEAF;
	x.other_port = 6;
	/* the GUID has a port in the fabric that is linked, so that it is not free */
	put_be64(x.data + NI_GUID, HOST(1));
	put_be64(same + NI_GUID, HOST(1));
	x.guid = HOST(1);
	scanned(&x, 1, false);
	ck_assert_int_eq(light(answers, 2), EXCLUSIONS_SAME);
	answers[1] = other;
	ck_assert_int_eq(light(answers, 2), EXCLUSIONS_RENAMED);
}
END_TEST

/*
 * A switch numbers its ports falsely, so that another device seems to be linked to a wrong port: behind
 * that port is the switch, or a third device, in every discovery.
 */
START_TEST(one_that_never_had_the_guid_is_not_renamed)
{
	uint8_t same[40], other[40];
	const uint8_t *answers[2] = { same, other };
	struct disco_excluded x;

	node_info(same, IB_NODE_CA_T, 1, HOST(1), 1);
	x = left_at(5, EXCLUDED_TWO_PLACES, same);
	x.other_guid = LEAF;
	x.other_port = 3;
	node_info(other, IB_NODE_CA_T, 1, HOST(2), 1);		/* as published */
	for (unsigned i = 0; i < 3; i++) {
		scanned(&x, 1, false);
		ck_assert_int_eq(light(answers, 2), EXCLUSIONS_SAME);
	}
	node_info(other, IB_NODE_SWITCH_T, 8, 0x7100, 1);
	ck_assert_int_eq(light(answers, 2), EXCLUSIONS_RENAMED);
	for (unsigned i = 0; i < 3; i++) {
		/* either place may be the excluded one */
		x.near_port ^= 3;
		scanned(&x, 1, false);
		ck_assert_int_eq(light(answers, 2), EXCLUSIONS_SAME);
	}
	node_info(other, IB_NODE_CA_T, 1, HOST(2), 1);
	ck_assert_int_eq(light(answers, 2), EXCLUSIONS_SAME);
}
END_TEST

/*
 * A switch claims a false port at both ends: host 9 is excluded because the switch's port already
 * has another link. While it has, probing behind that port is useless; when the claim ends, qosd
 * discovers the whole fabric.
 */
START_TEST(one_whose_place_is_taken)
{
	uint8_t host[40], end[40];
	const uint8_t *answers[2] = { host, end };
	struct disco_excluded x;

	node_info(host, IB_NODE_CA_T, 1, HOST(9), 1);
	x = left_at(3, EXCLUDED_TWO_PLACES, host);		/* which is linked with host 2 */
	x.other_guid = HOST(2);
	x.other_port = 1;
	scanned(&x, 1, false);
	node_info(end, IB_NODE_SWITCH_T, 8, LEAF, 3);
	ck_assert_int_eq(light(answers, 2), EXCLUSIONS_SAME);
	ck_assert_int_eq(light(answers, 2), EXCLUSIONS_SAME);
	ck_assert_uint_eq(count(), 1);
	node_info(end, IB_NODE_SWITCH_T, 8, LEAF, 5);
	ck_assert_int_eq(light(answers, 2), EXCLUSIONS_RENAMED);
	ck_assert_int_eq(light(answers, 2), EXCLUSIONS_SAME);
}
END_TEST

START_TEST(one_that_is_renamed_each_time_is_told_of_when_it_ends)
{
	uint8_t same[40], other[40];
	const uint8_t *answers[2] = { same, other };
	unsigned told = 0;
	struct disco_excluded x;

	node_info(same, IB_NODE_CA_T, 1, HOST(1), 1);
	x = left_at(5, EXCLUDED_TWO_PLACES, same);
	x.other_guid = LEAF;
	x.other_port = 3;
	scanned(&x, 1, false);
	for (unsigned i = 0; i < 20; i++) {
		node_info(other, IB_NODE_CA_T, 1, 0x7000 + i, 1);
		told += light(answers, 2) == EXCLUSIONS_RENAMED;
	}
	ck_assert_uint_ge(told, 1);
	ck_assert_uint_le(told, 2);
	ck_assert_int_eq(light(answers, 2), EXCLUSIONS_RENAMED);
	ck_assert_int_eq(light(answers, 2), EXCLUSIONS_SAME);
}
END_TEST

/* A device changes its claim from one host's GUID to another's: its own, which that host took, or a third. */
/* promise: A107 */
START_TEST(one_that_says_a_third_ones_guid)
{
	uint8_t first[40], third[40];
	unsigned told = 0;
	struct disco_excluded x;

	node_info(first, IB_NODE_SWITCH_T, 8, HOST(1), 1);
	x = left_at(5, EXCLUDED_IMPOSTOR, first);
	x.other_guid = LEAF;
	x.other_port = 2;
	scanned(&x, 1, true);
	ck_assert_int_eq(light_one(first), EXCLUSIONS_SAME);
	node_info(third, IB_NODE_SWITCH_T, 8, HOST(2), 1);
	ck_assert_int_eq(light_one(third), EXCLUSIONS_RENAMED);
	ck_assert_uint_eq(count(), 0);
	/* discovery finds the GUID at both, and the trusted device does not change */
	x = left_at(5, EXCLUDED_IMPOSTOR, third);
	scanned(&x, 1, true);
	for (unsigned i = 0; i < 10; i++)
		ck_assert_int_eq(light_one(third), EXCLUSIONS_SAME);
	/* a name for each light sweep */
	for (unsigned i = 0; i < 20; i++) {
		node_info(third, IB_NODE_SWITCH_T, 8, HOST(1 + i % 3), 1);
		if (light_one(third) == EXCLUSIONS_RENAMED) {
			told++;
			scanned(&x, 1, true);
		}
	}
	ck_assert_uint_ge(told, 1);
	ck_assert_uint_le(told, 2);
}
END_TEST

START_TEST(scans_are_not_repeated_for_ever)
{
	uint8_t info[40];
	unsigned repeated = 0;

	for (unsigned i = 0; i < 100; i++) {
		struct fabric *f = fabric_clone(now.f);
		struct disco_excluded x;
		struct disco_result res = { .f = f, .left = &x, .n_left = 1 };

		node_info(info, IB_NODE_CA_T, 1, 0x7000 + i, 1);
		x = left_at(5, EXCLUDED_KILLS, info);
		x.near_guid = 0x9900 + i;
		repeated += exclusions_scanned(&sm, &res);
		fabric_free(f);
	}
	ck_assert_uint_ge(repeated, 8);
	ck_assert_uint_le(repeated, 32);
	exclusions_sweep(&sm);		/* the next sweep may do so again */
	node_info(info, IB_NODE_CA_T, 1, 0x7777, 1);
	struct disco_excluded x = left_at(6, EXCLUDED_KILLS, info);
	scanned(&x, 1, true);
}
END_TEST

static struct disco_excluded two_places(uint64_t near, unsigned port, uint64_t guid, unsigned local)
{
	uint8_t info[40];
	struct disco_excluded x;

	node_info(info, IB_NODE_SWITCH_T, 8, guid, local);
	x = left_at(port, EXCLUDED_TWO_PLACES, info);
	x.near_guid = near;
	x.other_guid = 0x9999;
	x.other_port = 1;
	return x;
}

/* The device contradicts all its neighbours, and only it contradicts them. */
/* promise: A62 */
START_TEST(a_switch_with_false_port_numbers_is_to_blame_at_both_ends)
{
	struct disco_excluded x[] = {
		two_places(0x9001, 3, LEAF, 5),		/* the neighbours, of the leaf */
		two_places(0x9002, 4, LEAF, 6),
		two_places(LEAF, 5, 0x9003, 7),		/* the reported neighbour of the leaf */
		two_places(0x9004, 5, 0x9005, 7),	/* two other devices: either may be it */
	};
	struct buf text = { 0 };

	scanned(x, 4, false);
	for (unsigned i = 0; i < 3; i++)
		ck_assert_uint_eq(exclusions_culprit(&sm, &x[i]), LEAF);
	ck_assert_uint_eq(exclusions_culprit(&sm, &x[3]), 0);
	exclusions_text(&sm, now.f, &x[2], &text);
	ck_assert_msg(strstr(text.s, "the device that has n9000/P5") == text.s, "%s", text.s);
	buf_free(&text);
	exclusions_text(&sm, now.f, &x[3], &text);
	ck_assert_msg(strstr(text.s, "the device at port 5 of 0x0000000000009004 claims") == text.s, "%s",
		      text.s);
	buf_free(&text);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("exclusions");
	TCase *t = tcase_create("exclusions");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, an_impossible_one_until_it_is_possible);
	tcase_add_test(t, one_that_is_linked_already);
	tcase_add_test(t, an_impostor_of_nobody_is_honest);
	tcase_add_test(t, an_impostor_of_one_that_is_not_met_stays_out);
	tcase_add_test(t, honest_for_one_sweep);
	tcase_add_test(t, an_impostor_of_a_switch_that_goes_stays_out);
	tcase_add_test(t, a_scan_that_does_not_meet_it_forgets_it);
	tcase_add_test(t, a_full_list);
	tcase_add_test(t, a_guid_that_changes_has_to_be_the_same_twice);
	tcase_add_test(t, a_guid_that_two_scans_hear_does_not_change);
	tcase_add_test(t, a_false_adapter_is_treated_as_a_switch);
	tcase_add_test(t, a_false_adapter_that_says_something_else_each_time);
	tcase_add_test(t, a_twin_is_known_by_another_guid_until_it_says_one);
	tcase_add_test(t, a_twin_gets_the_name_that_is_free);
	tcase_add_test(t, a_twin_stays_one_while_the_other_is_away);
	tcase_add_test(t, a_twin_that_is_new_takes_no_name);
	tcase_add_test(t, one_that_is_no_twin_after_all);
	tcase_add_test(t, one_with_the_port_guid_of_another_stays_out);
	tcase_add_test(t, one_that_kills_discovery_is_tried_ever_more_rarely);
	tcase_add_test(t, one_that_is_unplugged_is_forgotten);
	tcase_add_test(t, one_that_unplugs_itself_gains_nothing);
	tcase_add_test(t, the_one_that_was_there_before_is_believed);
	tcase_add_test(t, a_port_guid_that_was_chosen_takes_no_place);
	tcase_add_test(t, a_known_host_is_no_impostor);
	tcase_add_test(t, a_known_switch_is_no_impostor);
	tcase_add_test(t, one_on_the_list_says_nothing_of_others);
	tcase_add_test(t, all_is_discovered_when_the_one_that_was_believed_is_renamed);
	tcase_add_test(t, one_that_never_had_the_guid_is_not_renamed);
	tcase_add_test(t, one_whose_place_is_taken);
	tcase_add_test(t, one_that_is_renamed_each_time_is_told_of_when_it_ends);
	tcase_add_test(t, a_switch_with_false_port_numbers_is_to_blame_at_both_ends);
	tcase_add_test(t, one_that_says_a_third_ones_guid);
	tcase_add_test(t, scans_are_not_repeated_for_ever);
	suite_add_tcase(s, t);
	return run_suite(s);
}
