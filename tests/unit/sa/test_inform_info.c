/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests InformInfo and InformInfoRecord: which client may subscribe to what, and who may see subscriptions. */
#include <check.h>

#include "rig.h"
#include "unit/run.h"

enum { GET = 0x01, SET = 0x02, TABLE = 0x12, DELETE = 0x15 };
enum { INFORM = 0x03, INFORM_RECORD = 0xf3 };

static struct rig r;

static void setup(void)
{
	rig_init(&r);
	r.arrived_us = 1;
}

static void teardown(void)
{
	rig_end(&r);
}

/* Makes a request for trap 64 from any port. */
static struct sa_inform_info *wish(bool subscribe)
{
	struct sa_inform_info *i = rig_request(&r, SET, INFORM, 0);

	put_be16(i->lid_first, 0xffff);
	i->generic = 1;
	i->subscribe = subscribe;
	put_be16(i->type, 0xffff);
	put_be16(i->number, 64);
	put_be32(i->producer, 0xffffff);
	put_be32(i->qpn_resp_time, 18);
	return i;
}

static void trust(void)
{
	put_be64(r.mad + 36, SM_KEY);
}

static unsigned records(uint64_t mask, const struct sa_inform_info_record *want)
{
	struct sa_inform_info_record *q = rig_request(&r, TABLE, INFORM_RECORD, mask);

	if (want)
		*q = *want;
	ck_assert_uint_eq(rig_ask(&r), 0);
	return rig_records(&r, 60);
}

START_TEST(subscribed_and_no_longer)
{
	struct sa_inform_info i;

	rig_start(&r);
	i = *wish(true);
	ck_assert_uint_eq(rig_ask(&r), 0);
	/* the answer is a copy of the request */
	ck_assert_int_eq(memcmp(r.out.s + SA_HDR_LEN, &i, sizeof(i)), 0);
	ck_assert_uint_eq(subscriptions_count(r.sa.subscriptions), 1);
	wish(true);
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(subscriptions_count(r.sa.subscriptions), 1);
	const struct subscriber *who = subscriber_find(r.sa.subscriptions, HOST_GUID(H1), 1);

	ck_assert_uint_eq(who->list.v[0].resp_time, 18);
	/* of another QP of the port, it is a different subscription */
	wish(true);
	r.qpn = 0x400;
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(subscriptions_count(r.sa.subscriptions), 2);
	/* a QP may end the subscription of another QP of its port, which it names */
	put_be32(wish(false)->qpn_resp_time, 0x400 << 8);
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_ptr_nonnull(subscriber_find(r.sa.subscriptions, HOST_GUID(H1), 1));
	put_be32(wish(false)->qpn_resp_time, 0);
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(subscriptions_count(r.sa.subscriptions), 0);
	wish(false);
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	/* subscriptions to unpath and repath are accepted, although these traps never occur */
	put_be16(wish(true)->number, 68);
	ck_assert_uint_eq(rig_ask(&r), 0);
	put_be16(wish(true)->number, 69);
	ck_assert_uint_eq(rig_ask(&r), 0);
}
END_TEST

START_TEST(what_makes_no_sense)
{
	static const struct { uint16_t first, last, status; } lids[] = {
		{ 0, 0, 0 }, { 0, 5, 0 }, { 1, 0, 0 }, { 1, 1, 0 }, { 2, 1, 0x0200 },
		{ 1, 0xbfff, 0 }, { 1, 0xc000, 0x0200 }, { 0xc000, 0, 0x0200 },
		{ 0xffff, 1, 0 }, { 0xfffe, 0xffff, 0x0200 },
	};

	rig_start(&r);
	for (unsigned i = 0; i < sizeof(lids) / sizeof(*lids); i++) {
		struct sa_inform_info *w = wish(true);

		put_be16(w->lid_first, lids[i].first);
		put_be16(w->lid_last, lids[i].last);
		ck_assert_msg(rig_ask(&r) == lids[i].status, "LIDs %u to %u", lids[i].first,
			      lids[i].last);
		/* the answer to a refused client says that it is not subscribed */
		ck_assert_uint_eq(r.out.s[SA_HDR_LEN + 23], !lids[i].status);
	}
	/* one LID may be said as one or as a range of one; all LIDs with any end */
	ck_assert_uint_eq(subscriptions_count(r.sa.subscriptions), 5);
	/* who subscribed without a range ends it likewise */
	put_be16(wish(false)->lid_first, 0);
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	ck_assert_uint_eq(subscriptions_count(r.sa.subscriptions), 4);
	wish(true)->subscribe = 2;
	ck_assert_uint_eq(rig_ask(&r), 0x001c);
	wish(true)->generic = 2;
	ck_assert_uint_eq(rig_ask(&r), 0x001c);
	rig_gid(0x999, wish(true)->gid);
	ck_assert_uint_eq(rig_ask(&r), 0x0500);
	/* beside a GID no LID counts */
	rig_gid(HOST_GUID(H2), wish(true)->gid);
	put_be16(r.mad + SA_HDR_LEN + 16, 0);
	ck_assert_uint_eq(rig_ask(&r), 0);
	/* only a Set */
	rig_request(&r, GET, INFORM, 0);
	ck_assert_uint_eq(rig_ask(&r), 0x000c);
	wish(true);
	r.len = SA_HDR_LEN + 35;
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
}
END_TEST

START_TEST(security_traps_need_trust)
{
	rig_start(&r);
	for (uint16_t trap = 255; trap <= 260; trap++) {
		bool secret = trap >= 256 && trap <= 259;

		put_be16(wish(true)->number, trap);
		ck_assert_uint_eq(rig_ask(&r), secret ? 0x0700 : 0);
		put_be16(wish(true)->number, trap);
		trust();
		ck_assert_uint_eq(rig_ask(&r), 0);
	}
	/* a device of that number is none of them */
	put_be16(wish(true)->number, 256);
	((struct sa_inform_info *)(void *)(r.mad + SA_HDR_LEN))->generic = 0;
	ck_assert_uint_eq(rig_ask(&r), 0);
	/* to all of them: without those that are secret, see reports */
	put_be16(wish(true)->number, 0xffff);
	ck_assert_uint_eq(rig_ask(&r), 0);
}
END_TEST

/* Adds a partition of h3 and h4; h1 is in the default partition with all others, but limited. */
static void part_hosts(void)
{
	struct policy_partition *part = rig_partition(&r, 0x20);

	r.policy->partitions[0].members[0].membership = MEMBER_LIMITED;
	part = &r.policy->partitions[r.policy->n_partitions - 1];
	rig_member(part, H3, MEMBER_FULL);
	rig_member(part, H4, MEMBER_FULL);
	rig_start(&r);
}

/* promise: D42 */
START_TEST(of_those_only_whom_one_may_talk_to)
{
	part_hosts();
	ck_assert(!shared_pkey(r.state->plan->partitions, rig_host(&r, H2), rig_host(&r, H3), 0));
	rig_gid(HOST_GUID(H3), wish(true)->gid);
	r.slid = rig_lid(&r, H2);
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	rig_gid(HOST_GUID(H3), wish(true)->gid);
	r.slid = rig_lid(&r, H4);
	ck_assert_uint_eq(rig_ask(&r), 0);
	put_be16(wish(true)->lid_first, rig_lid(&r, H3));
	r.slid = rig_lid(&r, H2);
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	put_be16(wish(true)->lid_first, 1);
	put_be16(r.mad + SA_HDR_LEN + 18, 40);
	r.slid = rig_lid(&r, H2);
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	/* with very many, access is checked when an event occurs */
	for (unsigned on = 2; on-- > 0;) {
		put_be16(wish(on)->lid_first, 1);
		put_be16(r.mad + SA_HDR_LEN + 18, 0xbfff);
		r.slid = rig_lid(&r, H2);
		ck_assert_uint_eq(rig_ask(&r), 0);
	}
	put_be16(wish(true)->lid_first, 0xffff);
	r.slid = rig_lid(&r, H2);
	ck_assert_uint_eq(rig_ask(&r), 0);
	/* only ports that may communicate with a subscriber see its subscriptions */
	ck_assert_uint_eq(records(0, NULL), 2);	/* the SM's host, a full member */
	rig_request(&r, TABLE, INFORM_RECORD, 0);
	r.slid = rig_lid(&r, H2);
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(rig_records(&r, 60), 1);
}
END_TEST

START_TEST(records_of_subscriptions)
{
	struct sa_inform_info_record want = { .number = { 0 } }, got;

	rig_start(&r);
	wish(true);
	r.qpn = 0x1234;
	ck_assert_uint_eq(rig_ask(&r), 0);
	put_be16(wish(true)->number, 65);
	ck_assert_uint_eq(rig_ask(&r), 0);
	wish(true);
	r.slid = rig_lid(&r, H2);
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(records(0, NULL), 3);
	rig_gid(HOST_GUID(H1), want.gid);
	put_be16(want.number, 1);
	put_be16(want.info.number, 64);
	put_be16(want.info.lid_first, 0xffff);
	want.info.generic = 1;
	want.info.subscribe = 1;
	put_be16(want.info.type, 0xffff);
	put_be32(want.info.producer, 0xffffff);
	put_be32(want.info.qpn_resp_time, 18);
	/* bit of the mask: how many of the three have it */
	static const unsigned n[16] = { 2, 1, 3, 3, 3, 3, 3, 3, 3, 3, 2, 3, 3, 3, 3, 3 };
	static const uint8_t byte[16] = {
		15, 17, 18, 39, 41, 43, 45, 46, 47, 49, 51, 54, 55, 55, 56, 59,
	};
	for (unsigned bit = 0; bit < 16; bit++) {
		struct sa_inform_info_record other = want;

		ck_assert_msg(records(1ull << bit, &want) == n[bit], "bit %u", bit);
		((uint8_t *)&other)[byte[bit]] ^= 4;
		/* reserved ones do not count */
		bool reserved = bit == 2 || bit == 6 || bit == 12 || bit == 14;

		ck_assert_msg(records(1ull << bit, &other) == (reserved ? 3 : 0), "bit %u", bit);
	}
	ck_assert_uint_eq(records(3, &want), 1);
	got = *(const struct sa_inform_info_record *)rig_record(&r, 0);
	ck_assert_uint_eq(get_be32(got.info.qpn_resp_time), 18);	/* no QPN */
	put_be16(want.number, 0);
	*(struct sa_inform_info_record *)rig_request(&r, GET, INFORM_RECORD, 3) = want;
	trust();
	ck_assert_uint_eq(rig_ask(&r), 0);
	got = *(const struct sa_inform_info_record *)rig_record(&r, 0);
	ck_assert_uint_eq(get_be16(got.number), 0);
	ck_assert_uint_eq(get_be32(got.info.qpn_resp_time), 0x1234 << 8 | 18);
	rig_request(&r, GET, INFORM_RECORD, 0);
	ck_assert_uint_eq(rig_ask(&r), 0x0400);
	put_be16(want.number, 9);
	*(struct sa_inform_info_record *)rig_request(&r, GET, INFORM_RECORD, 3) = want;
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
}
END_TEST

START_TEST(no_more_than_the_bound)
{
	enum { BOUND = 20 };

	rig_start(&r);
	holdings_set_bound(r.sa.holdings, HOLD_SUBSCRIPTIONS,
			   (struct hold_bound){ 1000, BOUND });
	for (unsigned i = 0; i <= BOUND; i++) {
		put_be16(wish(true)->number, (uint16_t)(1000 + i));
		r.qpn = 1 + i % 7;
		ck_assert_uint_eq(rig_ask(&r), i < BOUND ? 0 : 0x0100);
	}
	ck_assert_uint_eq(records(0, NULL), BOUND);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("inform");
	TCase *t = tcase_create("inform");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, subscribed_and_no_longer);
	tcase_add_test(t, what_makes_no_sense);
	tcase_add_test(t, security_traps_need_trust);
	tcase_add_test(t, of_those_only_whom_one_may_talk_to);
	tcase_add_test(t, records_of_subscriptions);
	tcase_add_test(t, no_more_than_the_bound);
	suite_add_tcase(s, t);
	return run_suite(s);
}
