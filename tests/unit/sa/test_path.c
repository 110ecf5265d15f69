/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests PathRecord: ends, policy, limits, selectors, SLs, the return path, LMC, tables, groups.
 *
 * promise: N1
 */
#include <check.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "rig.h"
#include "unit/run.h"

#define GET		0x01
#define GET_TABLE	0x12
#define PR		0x35
#define ENDS		(PR_SGID | PR_DGID)
#define SERVICE_ID	(PR_SERVICE_ID_MSB | PR_SERVICE_ID_LSB)

static struct rig r;

static void setup(void)
{
	rig_init(&r);
}

static void teardown(void)
{
	rig_end(&r);
}

/* A Get from host to host by GIDs, with more components to be filled in. */
static struct sa_path_record *query(enum host src, enum host dst, uint64_t more)
{
	if (!r.state)
		rig_start(&r);
	struct sa_path_record *q = rig_request(&r, GET, PR, ENDS | more);

	rig_gid(HOST_GUID(src), q->sgid);
	rig_gid(HOST_GUID(dst), q->dgid);
	return q;
}

static const struct sa_path_record *answer(void)
{
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(rig_records(&r, 64), 1);
	return rig_record(&r, 0);
}

static unsigned sl_of(const struct sa_path_record *p)
{
	return p->qos_class_sl[1] & 0xf;
}

/* SL2VL of all switches: one SL is dropped. */
static void drop_sl(unsigned sl)
{
	struct policy_class_default *d = &r.policy->defaults[CLASS_SWITCH];

	r.policy->has_fabric_setup = true;
	d->given = d->has_sl2vl = true;
	for (unsigned i = 0; i < IB_SL_COUNT; i++)
		d->sl2vl.vl[i] = i == sl ? IB_VL_DROP : (uint8_t)(i % 8);
}

/* --- ends --- */

START_TEST(plain_path)
{
	query(H1, H2, PR_NUMB_PATH)->num_path = 1;
	const struct sa_path_record *p = answer();

	ck_assert_uint_eq(get_be64(p->sgid), PREFIX);
	ck_assert_uint_eq(get_be64(p->sgid + 8), HOST_GUID(H1));
	ck_assert_uint_eq(get_be64(p->dgid + 8), HOST_GUID(H2));
	ck_assert_uint_eq(get_be16(p->slid), rig_lid(&r, H1));
	ck_assert_uint_eq(get_be16(p->dlid), rig_lid(&r, H2));
	ck_assert_uint_eq(p->num_path, 0x81);
	ck_assert_uint_eq(get_be16(p->pkey), 0xffff);
	ck_assert_uint_eq(get_be16(p->qos_class_sl), 0);
	ck_assert_uint_eq(p->mtu, 2 << 6 | 4);
	ck_assert_uint_eq(p->rate, 2 << 6 | 7);
	ck_assert_uint_eq(p->life, 2 << 6 | 18);
	ck_assert_uint_eq(p->preference, 0);
	ck_assert_uint_eq(p->tclass, 0);
	ck_assert_uint_eq(get_be32(p->hop_flow_raw), 0);
	ck_assert_uint_eq(get_be64(p->service_id), 0);
}
END_TEST

START_TEST(slowest_link_and_least_mtu_count)
{
	query(H1, H3, 0);
	ck_assert_uint_eq(answer()->rate & 0x3f, 3);
	query(H1, H4, 0);
	ck_assert_uint_eq(answer()->rate & 0x3f, 2);
	ck_assert_uint_eq(answer()->mtu & 0x3f, 3);
	query(H4, H2, 0);
	ck_assert_uint_eq(answer()->mtu & 0x3f, 3);
}
END_TEST

START_TEST(to_itself)
{
	query(H4, H4, 0);
	ck_assert_uint_eq(answer()->mtu & 0x3f, 3);
	ck_assert_uint_eq(answer()->rate & 0x3f, 2);
	ck_assert_uint_eq(answer()->life, 2 << 6);
	ck_assert_uint_eq(get_be16(answer()->dlid), rig_lid(&r, H4));
}
END_TEST

START_TEST(to_and_from_a_switch)
{
	struct sa_path_record *q = query(H3, H1, 0);

	rig_gid(SWITCH_GUID(1), q->dgid);
	ck_assert_uint_eq(answer()->rate & 0x3f, 3);
	rig_gid(SWITCH_GUID(0), q->sgid);
	ck_assert_uint_eq(answer()->num_path >> 7, 1);
}
END_TEST

START_TEST(which_ends_are_needed)
{
	static const struct { uint8_t method; uint64_t mask; uint16_t status; } t[] = {
		{ GET, 0, 0x0600 }, { GET, PR_SGID, 0x0600 }, { GET, PR_DGID, 0x0600 },
		{ GET, PR_SLID, 0x0600 }, { GET, PR_DLID, 0x0600 },
		{ GET, PR_SGID | PR_SLID, 0x0600 }, { GET, PR_SGID | PR_DGID, 0 },
		{ GET, PR_SLID | PR_DGID, 0 }, { GET, PR_SGID | PR_DLID, 0 },
		{ GET, PR_SLID | PR_DLID, 0 }, { GET, ENDS | PR_SLID | PR_DLID, 0 },
		{ GET_TABLE, 0, 0 }, { GET_TABLE, PR_SGID, 0 }, { GET_TABLE, PR_DLID, 0 },
		{ GET_TABLE, PR_NUMB_PATH, 0 }, { GET_TABLE, ENDS, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct sa_path_record *q = query(H2, H3, 0);

		put_be16(q->slid, rig_lid(&r, H2));
		put_be16(q->dlid, rig_lid(&r, H3));
		r.mad[3] = t[i].method;
		rig_set_mask(&r, t[i].mask);
		ck_assert_uint_eq(rig_ask(&r), t[i].status);
	}
}
END_TEST

START_TEST(unknown_ends)
{
	struct sa_path_record *q = query(H1, H2, 0);

	q->dgid[15] ^= 1;
	ck_assert_uint_eq(rig_ask(&r), 0x0500);
	q = query(H1, H2, 0);
	q->sgid[15] ^= 1;
	ck_assert_uint_eq(rig_ask(&r), 0x0500);
	q = query(H1, H2, 0);
	q->dgid[3] = 9;				/* another subnet */
	ck_assert_uint_eq(rig_ask(&r), 0x0500);
	q = query(H1, H2, 0);
	q->sgid[0] = 0xff;			/* a group sends nothing */
	ck_assert_uint_eq(rig_ask(&r), 0x0500);
	static const uint16_t lids[] = { 0, 0x7777, 0xc000, 0xffff };
	for (size_t i = 0; i < ARRAY_SIZE(lids); i++) {
		q = query(H1, H2, PR_DLID);
		rig_set_mask(&r, PR_SGID | PR_DLID);
		put_be16(q->dlid, lids[i]);
		ck_assert_uint_eq(rig_ask(&r), 0x0300);
		r.mad[3] = GET_TABLE;
		ck_assert_uint_eq(rig_ask(&r), 0);
		ck_assert_uint_eq(rig_records(&r, 64), 0);
	}
}
END_TEST

START_TEST(gid_and_lid_contradict)
{
	struct sa_path_record *q = query(H1, H2, PR_SLID);

	put_be16(q->slid, rig_lid(&r, H3));
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	q = query(H1, H2, PR_DLID);
	put_be16(q->dlid, rig_lid(&r, H3));
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
}
END_TEST

START_TEST(link_local_prefix_is_always_known)
{
	r.settings->subnet_prefix = 0xfec0000000000001ULL;
	query(H1, H2, 0);
	ck_assert_uint_eq(get_be64(answer()->dgid), 0xfec0000000000001ULL);
	put_be64(query(H1, H2, 0)->dgid, 0xfec0000000000001ULL);
	ck_assert_uint_eq(rig_ask(&r), 0);
	put_be64(query(H1, H2, 0)->dgid, 0xfec0000000000002ULL);
	ck_assert_uint_eq(rig_ask(&r), 0x0500);
}
END_TEST

/* --- policy --- */

START_TEST(rules_by_each_field)
{
	drop_sl(15);
	for (uint8_t sl = 1; sl <= 5; sl++) {
		char name[2] = { (char)('0' + sl), 0 };
		rig_level(&r, name, sl);
	}
	rig_range(&rig_rule(&r, "1")->service_ids, 0x1000, 0x1fff);
	rig_range(&rig_rule(&r, "2")->qos_classes, 7, 9);
	rig_range(&rig_rule(&r, "3")->tclasses, 0x60, 0x60);
	rig_range(&rig_rule(&r, "4")->sls, 4, 4);
	rig_range(&rig_rule(&r, "5")->dest_guids, HOST_GUID(H4), HOST_GUID(H4));

	query(H1, H2, 0);
	ck_assert_uint_eq(sl_of(answer()), 0);
	put_be64(query(H1, H2, SERVICE_ID)->service_id, 0x1234);
	ck_assert_uint_eq(sl_of(answer()), 1);
	ck_assert_uint_eq(get_be64(answer()->service_id), 0x1234);
	put_be64(query(H1, H2, SERVICE_ID)->service_id, 0x2000);
	ck_assert_uint_eq(sl_of(answer()), 0);
	put_be64(query(H1, H2, 0)->service_id, 0x1234);		/* not in the mask */
	ck_assert_uint_eq(sl_of(answer()), 0);
	put_be16(query(H1, H2, PR_QOS_CLASS)->qos_class_sl, 8 << 4);
	ck_assert_uint_eq(sl_of(answer()), 2);
	ck_assert_uint_eq(get_be16(answer()->qos_class_sl), 8 << 4 | 2);
	query(H1, H2, PR_TCLASS)->tclass = 0x60;
	ck_assert_uint_eq(sl_of(answer()), 3);
	ck_assert_uint_eq(answer()->tclass, 0x60);
	query(H1, H2, PR_SL)->qos_class_sl[1] = 4;
	ck_assert_uint_eq(sl_of(answer()), 4);
	query(H1, H4, 0);
	ck_assert_uint_eq(sl_of(answer()), 5);
	query(H4, H1, 0);
	ck_assert_uint_eq(sl_of(answer()), 0);
}
END_TEST

START_TEST(half_a_service_id)
{
	query(H1, H2, PR_SERVICE_ID_MSB);
	ck_assert_uint_eq(rig_ask(&r), 0x0600);
	query(H1, H2, PR_SERVICE_ID_LSB);
	ck_assert_uint_eq(rig_ask(&r), 0x0600);
}
END_TEST

START_TEST(another_sl_than_the_levels_is_not_given)
{
	drop_sl(15);
	rig_level(&r, "fast", 3);
	rig_range(&rig_rule(&r, "fast")->service_ids, 1, 1);
	struct sa_path_record *q = query(H1, H2, PR_SL | SERVICE_ID);
	put_be64(q->service_id, 1);
	q->qos_class_sl[1] = 3;
	ck_assert_uint_eq(sl_of(answer()), 3);
	q->qos_class_sl[1] = 2;
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	put_be64(q->service_id, 2);			/* default level: SL 0 */
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
}
END_TEST

START_TEST(level_limits)
{
	struct policy_level *l = rig_level(&r, "slow", 0);

	l->mtu_limit = 3;
	l->rate_limit = 5;		/* 5 Gb/s: a higher code than 10 Gb/s */
	l->packet_lifetime = 12;
	l->tclass = 0x55;
	l = rig_level(&r, "wide", 0);
	l->mtu_limit = 5;
	l->rate_limit = 10;
	rig_range(&rig_rule(&r, "slow")->service_ids, 1, 1);
	rig_range(&rig_rule(&r, "wide")->service_ids, 2, 2);
	struct sa_path_record *q = query(H1, H3, SERVICE_ID | PR_TCLASS);
	put_be64(q->service_id, 1);
	q->tclass = 7;
	ck_assert_uint_eq(answer()->mtu & 0x3f, 3);
	ck_assert_uint_eq(answer()->rate & 0x3f, 5);
	ck_assert_uint_eq(answer()->life & 0x3f, 12);
	ck_assert_uint_eq(answer()->tclass, 0x55);
	put_be64(q->service_id, 2);		/* limits do not raise values */
	ck_assert_uint_eq(answer()->mtu & 0x3f, 4);
	ck_assert_uint_eq(answer()->rate & 0x3f, 3);
	ck_assert_uint_eq(answer()->life & 0x3f, 18);
	ck_assert_uint_eq(answer()->tclass, 7);
}
END_TEST

/* 14 Gb/s (11) needs extended speeds, 28 Gb/s (19) width 2x: a client without them gets 10 Gb/s (3). */
START_TEST(rates_that_an_end_does_not_know)
{
	static const struct {
		bool extended, x2;	/* of h1, of h2; the other end has it */
		uint8_t limit, got;
	} t[] = {
		{ true, true, 11, 11 }, { false, true, 11, 3 }, { true, true, 19, 19 },
		{ true, false, 19, 15 }, { false, false, 19, 6 }, { false, false, 6, 6 },
	};
	uint32_t ends[] = { rig_host(&r, H1), rig_host(&r, H2) };
	struct policy_level *l = rig_level(&r, "limited", 0);

	rig_range(&rig_rule(&r, "limited")->service_ids, 1, 1);
	put_be64(query(H1, H2, SERVICE_ID)->service_id, 1);
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		l->rate_limit = t[i].limit;
		for (int e = 0; e < 2; e++) {
			struct fabric_port *p = &r.f->ports[ends[e]];

			p->capmask = IB_CAP_MASK2 | (e || t[i].extended ? IB_CAP_EXT_SPEEDS : 0);
			put_be16(p->info + 60, !e || t[i].x2 ? IB_CAP2_2X : 0);
		}
		ck_assert_uint_eq(answer()->rate & 0x3f, t[i].got);
	}
}
END_TEST

START_TEST(sl_that_is_dropped_on_the_route)
{
	drop_sl(5);
	rig_level(&r, "five", 5);
	rig_level(&r, "six", 6);
	rig_range(&rig_rule(&r, "five")->service_ids, 5, 5);
	rig_range(&rig_rule(&r, "six")->service_ids, 6, 6);
	put_be64(query(H1, H3, SERVICE_ID)->service_id, 5);
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	put_be64(query(H1, H3, SERVICE_ID)->service_id, 6);
	ck_assert_uint_eq(sl_of(answer()), 6);
	put_be64(query(H1, H1, SERVICE_ID)->service_id, 5);	/* no switch on the way */
	ck_assert_uint_eq(sl_of(answer()), 5);
}
END_TEST

START_TEST(pkeys)
{
	static const struct { uint16_t pkey, status; } t[] = {
		{ 0xffff, 0 }, { 0x7fff, 0 }, { 0x8001, 0x0300 }, { 0x0001, 0x0300 }, { 0, 0x0300 },
	};
	struct policy_level *l = rig_level(&r, "elsewhere", 0);

	rig_range(&l->pkeys, 0x10, 0x20);
	rig_range(&rig_rule(&r, "elsewhere")->service_ids, 1, 1);
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		put_be16(query(H1, H2, PR_PKEY)->pkey, t[i].pkey);
		ck_assert_uint_eq(rig_ask(&r), t[i].status);
		if (!t[i].status)
			ck_assert_uint_eq(get_be16(answer()->pkey), t[i].pkey);
	}
	put_be64(query(H1, H2, SERVICE_ID)->service_id, 1);
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	query(H1, H2, PR_RAW)->hop_flow_raw[0] = 0x80;
	ck_assert_uint_eq(get_be16(answer()->pkey), 0);
	ck_assert_uint_eq(answer()->hop_flow_raw[0], 0x80);
}
END_TEST

/*
 * Everybody is a limited member of the default partition (SL 0); 1: h2 and h3 are
 * full, h4 limited (SL 1); 2: h2 full, h4 both (SL 2); 3: h3 and h4, limited.
 */
static void partitions(void)
{
	static const struct { uint16_t pkey; enum host who; enum membership m; } members[] = {
		{ 1, H2, MEMBER_FULL }, { 1, H3, MEMBER_FULL }, { 1, H4, MEMBER_LIMITED },
		{ 2, H2, MEMBER_FULL }, { 2, H4, MEMBER_BOTH },
		{ 3, H3, MEMBER_LIMITED }, { 3, H4, MEMBER_LIMITED },
	};

	r.policy->partitions[0].members[0].membership = MEMBER_LIMITED;
	for (uint16_t k = 1; k <= 3; k++) {
		char name[] = { 'l', (char)('0' + k), '\0' };

		rig_level(&r, name, (uint8_t)k);
		rig_partition(&r, k)->level_index = policy_find_level(r.policy, name);
	}
	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		rig_member(&r.policy->partitions[members[i].pkey], members[i].who, members[i].m);
}

static const struct {
	enum host src, dst;
	int asked;			/* -1: not */
	uint16_t status, pkey;
	uint8_t sl;
} by_pkey[] = {
	{ H1, H2, -1, 0, 0xffff, 0 }, { H2, H1, -1, 0, 0x7fff, 0 },
	{ H2, H3, -1, 0, 0x8001, 1 }, { H3, H2, -1, 0, 0x8001, 1 },
	{ H4, H3, -1, 0, 0x0001, 1 }, { H3, H4, -1, 0, 0x8001, 1 },
	{ H2, H4, 0x0002, 0, 0x0002, 2 }, { H4, H2, 0x8002, 0, 0x8002, 2 },
	{ H4, H2, 0x8001, 0, 0x8001, 1 },
	{ H3, H4, 0x0003, 0x0300, 0, 0 },	/* both limited */
	{ H2, H3, 0x7fff, 0x0300, 0, 0 }, { H2, H3, 0x0002, 0x0300, 0, 0 },
	{ H1, H2, 0x0001, 0x0300, 0, 0 }, { H1, H2, 0x0004, 0x0300, 0, 0 },
	{ H1, H2, 0, 0x0300, 0, 0 }, { H2, H2, 0x0002, 0, 0x0002, 2 },
};

START_TEST(pkey_of_two_ends)
{
	partitions();
	struct sa_path_record *q = query(by_pkey[_i].src, by_pkey[_i].dst,
					 by_pkey[_i].asked < 0 ? 0 : PR_PKEY);

	put_be16(q->pkey, (uint16_t)(by_pkey[_i].asked < 0 ? 0x1234 : by_pkey[_i].asked));
	ck_assert_uint_eq(rig_ask(&r), by_pkey[_i].status);
	if (by_pkey[_i].status)
		return;
	ck_assert_uint_eq(get_be16(answer()->pkey), by_pkey[_i].pkey);
	ck_assert_uint_eq(sl_of(answer()), by_pkey[_i].sl);
}
END_TEST

START_TEST(nothing_shared)
{
	r.policy->partitions[0].members[0].membership = MEMBER_LIMITED;
	query(H2, H3, 0);
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	query(H2, H2, 0);
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	query(H2, H1, 0);
	ck_assert_uint_eq(get_be16(answer()->pkey), 0x7fff);
	/* what has no P_Key goes anywhere */
	query(H2, H3, PR_RAW)->hop_flow_raw[0] = 0x80;
	ck_assert_uint_eq(get_be16(answer()->pkey), 0);
}
END_TEST

/* The level of a rule overrides the partition's, and selects P_Keys by its own list. */
START_TEST(level_by_rule_and_by_partition)
{
	partitions();
	rig_level(&r, "six", 6);
	rig_range(&rig_level(&r, "for-2", 7)->pkeys, 2, 2);
	rig_range(&rig_rule(&r, "six")->service_ids, 6, 6);
	rig_range(&rig_rule(&r, "for-2")->service_ids, 7, 7);
	put_be64(query(H2, H3, SERVICE_ID)->service_id, 6);
	ck_assert_uint_eq(sl_of(answer()), 6);
	ck_assert_uint_eq(get_be16(answer()->pkey), 0x8001);
	put_be64(query(H2, H3, SERVICE_ID)->service_id, 5);
	ck_assert_uint_eq(sl_of(answer()), 1);
	put_be64(query(H4, H2, SERVICE_ID)->service_id, 7);
	ck_assert_uint_eq(sl_of(answer()), 7);
	ck_assert_uint_eq(get_be16(answer()->pkey), 0x8002);
	put_be64(query(H2, H3, SERVICE_ID)->service_id, 7);	/* they share 1 only */
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	struct sa_path_record *q = query(H2, H4, SERVICE_ID | PR_PKEY);
	put_be64(q->service_id, 7);
	q->pkey[1] = 1;
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	/* a partition whose own level excludes it is skipped */
	rig_range(&r.policy->levels[policy_find_level(r.policy, "l1")].pkeys, 9, 9);
	rig_start(&r);
	query(H2, H4, 0);
	ck_assert_uint_eq(sl_of(answer()), 2);
	ck_assert_uint_eq(get_be16(answer()->pkey), 0x8002);
	query(H2, H3, 0);
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
}
END_TEST

/* The query of a client of IPoIB that names its group's SL, beside those of others. */
/* promise: D43 */
START_TEST(level_by_the_ipoib_group)
{
	struct policy_partition *part;

	partitions();
	rig_level(&r, "ip", 5);
	rig_level(&r, "six", 6);
	rig_range(&rig_rule(&r, "six")->qos_classes, 6, 6);
	part = &r.policy->partitions[1];
	part->ipoib = true;
	part->ipoib_level_index = policy_find_level(r.policy, "ip");
	rig_start(&r);
	struct sa_path_record *q = query(H2, H3, PR_SL | PR_PKEY);

	put_be16(q->pkey, 0x8001);
	put_be16(q->qos_class_sl, 5);			/* the group's */
	ck_assert_uint_eq(sl_of(answer()), 5);
	ck_assert_uint_eq(get_be16(answer()->pkey), 0x8001);
	put_be16(q->qos_class_sl, 1);			/* the partition's */
	ck_assert_uint_eq(sl_of(answer()), 1);
	put_be16(q->qos_class_sl, 2);			/* neither */
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	q = query(H2, H3, PR_SL | PR_PKEY | PR_QOS_CLASS);
	put_be16(q->pkey, 0x8001);
	put_be16(q->qos_class_sl, 7 << 4 | 5);
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	put_be16(q->qos_class_sl, 6 << 4 | 6);		/* a rule comes first */
	ck_assert_uint_eq(sl_of(answer()), 6);
	q = query(H2, H3, PR_SL | PR_PKEY | SERVICE_ID);
	put_be16(q->pkey, 0x8001);
	put_be16(q->qos_class_sl, 5);
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	put_be16(query(H2, H3, PR_SL)->qos_class_sl, 5);	/* no P_Key */
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	/* as Linux asks */
	put_be16(query(H2, H3, PR_PKEY | PR_TCLASS | PR_NUMB_PATH)->pkey, 0x8001);
	ck_assert_uint_eq(sl_of(answer()), 1);
	part->ipoib = false;
	rig_start(&r);
	q = query(H2, H3, PR_SL | PR_PKEY);
	put_be16(q->pkey, 0x8001);
	put_be16(q->qos_class_sl, 5);
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
}
END_TEST

/* --- selectors --- */

enum { MTU, RATE, LIFE };
#define NONE 0xff

/* From h1 to h3: MTU code 4, rate code 3 (10 Gb/s), lifetime 18. */
static const struct {
	uint8_t what, selector, asked, got;
} selectors[] = {
	{ MTU, SEL_GREATER, 3, 4 }, { MTU, SEL_GREATER, 4, NONE }, { MTU, SEL_GREATER, 5, NONE },
	{ MTU, SEL_LESS, 5, 4 }, { MTU, SEL_LESS, 4, 3 }, { MTU, SEL_LESS, 2, 1 },
	{ MTU, SEL_LESS, 1, NONE },
	{ MTU, SEL_EXACT, 4, 4 }, { MTU, SEL_EXACT, 2, 2 }, { MTU, SEL_EXACT, 5, NONE },
	{ MTU, SEL_BEST, 1, 4 }, { MTU, SEL_BEST, 5, 4 },
	/* codes 5 (5 Gb/s) and 11 (14 Gb/s) are not in order of rates */
	{ RATE, SEL_GREATER, 2, 3 }, { RATE, SEL_GREATER, 5, 3 }, { RATE, SEL_GREATER, 3, NONE },
	{ RATE, SEL_GREATER, 11, NONE },
	{ RATE, SEL_LESS, 11, 3 }, { RATE, SEL_LESS, 3, 5 }, { RATE, SEL_LESS, 5, 2 },
	{ RATE, SEL_LESS, 2, NONE },
	{ RATE, SEL_EXACT, 3, 3 }, { RATE, SEL_EXACT, 5, 5 }, { RATE, SEL_EXACT, 11, NONE },
	{ RATE, SEL_BEST, 7, 3 },
	{ LIFE, SEL_GREATER, 17, 18 }, { LIFE, SEL_GREATER, 18, NONE },
	{ LIFE, SEL_LESS, 19, 18 }, { LIFE, SEL_LESS, 10, 9 }, { LIFE, SEL_LESS, 0, NONE },
	{ LIFE, SEL_EXACT, 18, 18 }, { LIFE, SEL_EXACT, 10, 10 }, { LIFE, SEL_EXACT, 20, NONE },
	{ LIFE, SEL_BEST, 3, 18 },
};

static uint8_t *select_field(struct sa_path_record *q, unsigned what)
{
	return what == MTU ? &q->mtu : what == RATE ? &q->rate : &q->life;
}

START_TEST(selector)
{
	static const uint64_t both[] = {
		PR_MTU_SEL | PR_MTU, PR_RATE_SEL | PR_RATE, PR_LIFE_SEL | PR_LIFE,
	};
	unsigned what = selectors[_i].what, got = selectors[_i].got;
	struct sa_path_record *q = query(H1, H3, both[what]), copy;
	uint8_t byte = (uint8_t)(selectors[_i].selector << 6 | selectors[_i].asked);

	*select_field(q, what) = byte;
	if (got == NONE) {
		ck_assert_uint_eq(rig_ask(&r), 0x0300);
	} else {
		copy = *answer();
		ck_assert_uint_eq(*select_field(&copy, what), SEL_EXACT << 6 | got);
	}
	/* the value alone, or the selector alone, asks for nothing */
	q = query(H1, H3, both[what] & (PR_MTU | PR_RATE | PR_LIFE));
	*select_field(q, what) = byte;
	copy = *answer();
	ck_assert_uint_eq(*select_field(&copy, what) & 0x3f,
			  what == MTU ? 4 : what == RATE ? 3 : 18);
}
END_TEST

START_TEST(codes_that_do_not_exist)
{
	query(H1, H2, PR_MTU_SEL | PR_MTU)->mtu = 6;
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	query(H1, H2, PR_MTU_SEL | PR_MTU)->mtu = 0;
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	query(H1, H2, PR_RATE_SEL | PR_RATE)->rate = 63;
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	query(H1, H2, PR_RATE_SEL | PR_RATE)->rate = 1;
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	query(H1, H2, PR_LIFE_SEL | PR_LIFE)->life = 32;
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	query(H1, H2, PR_MTU)->mtu = 6;		/* without a selector it is ignored */
	ck_assert_uint_eq(rig_ask(&r), 0);
}
END_TEST

/* --- the way back --- */

START_TEST(no_way_back)
{
	rig_start(&r);
	struct plan *p = r.state->plan;
	uint32_t leaf1 = fabric_switch_of(r.f, rig_host(&r, H1));

	p->lfts->entries[(size_t)leaf1 * p->lfts->stride + rig_lid(&r, H1)] = LFT_DROP;
	paths_free(p->paths);
	p->paths = paths_compute(r.f, p->lfts, p->lid_top, p->port_by_lid, p->tables);

	query(H1, H3, 0);
	ck_assert_uint_eq(answer()->num_path >> 7, 0);
	query(H1, H3, PR_REVERSIBLE);			/* a 0 asks for nothing */
	ck_assert_uint_eq(answer()->num_path >> 7, 0);
	query(H1, H3, PR_REVERSIBLE)->num_path = 0x80;
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	query(H3, H1, 0);
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	query(H2, H3, PR_REVERSIBLE)->num_path = 0x80;
	ck_assert_uint_eq(answer()->num_path >> 7, 1);
}
END_TEST

START_TEST(way_back_on_another_sl_is_none)
{
	drop_sl(15);
	rig_level(&r, "two", 2);
	rig_range(&rig_rule(&r, "two")->service_ids, 2, 2);
	rig_start(&r);
	/* h3 drops SL 2 when it sends */
	struct qos_tables *t = r.state->plan->tables;
	uint16_t *map = &t->ca_map[rig_host(&r, H3)];
	struct sl2vl bad = t->maps[*map];

	bad.vl[2] = IB_VL_DROP;
	t->maps = xrealloc(t->maps, t->n_maps + 1, sizeof(*t->maps));
	t->maps[t->n_maps] = bad;
	*map = (uint16_t)t->n_maps++;

	struct sa_path_record *q = query(H1, H3, SERVICE_ID | PR_REVERSIBLE);
	put_be64(q->service_id, 2);
	ck_assert_uint_eq(answer()->num_path >> 7, 0);
	q->num_path = 0x80;
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	put_be64(q->service_id, 3);
	ck_assert_uint_eq(answer()->num_path >> 7, 1);
}
END_TEST

/* --- LMC and tables --- */

START_TEST(lid_pairs_equal_path_bits_first)
{
	bool seen[4][4] = { { false } };

	r.settings->lmc = 2;
	query(H1, H3, 0);
	ck_assert_uint_eq(get_be16(answer()->slid), rig_lid(&r, H1));
	ck_assert_uint_eq(get_be16(answer()->dlid), rig_lid(&r, H3));
	r.mad[3] = GET_TABLE;
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(rig_records(&r, 64), 16);
	for (unsigned i = 0; i < 16; i++) {
		const struct sa_path_record *p = rig_record(&r, i);
		unsigned s = get_be16(p->slid) - rig_lid(&r, H1);
		unsigned d = get_be16(p->dlid) - rig_lid(&r, H3);

		ck_assert_uint_lt(s, 4);
		ck_assert_uint_lt(d, 4);
		ck_assert(!seen[s][d]);
		seen[s][d] = true;
		ck_assert_int_eq(i < 4, s == d);
		ck_assert_int_eq(i < 4, p->preference == 0);
	}
}
END_TEST

START_TEST(one_end_with_lmc)
{
	struct sa_path_record *q;

	r.settings->lmc = 3;
	q = query(H1, H2, 0);
	rig_gid(SWITCH_GUID(1), q->dgid);	/* one LID only */
	r.mad[3] = GET_TABLE;
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(rig_records(&r, 64), 8);
	rig_gid(SWITCH_GUID(1), q->sgid);
	rig_gid(HOST_GUID(H1), q->dgid);
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(rig_records(&r, 64), 8);
}
END_TEST

START_TEST(lids_that_are_asked_for)
{
	r.settings->lmc = 2;
	struct sa_path_record *q = query(H1, H3, PR_SLID | PR_DLID);
	put_be16(q->slid, rig_lid(&r, H1) + 3);
	put_be16(q->dlid, rig_lid(&r, H3) + 1);
	r.mad[3] = GET_TABLE;
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(rig_records(&r, 64), 1);
	const struct sa_path_record *p = rig_record(&r, 0);
	ck_assert_uint_eq(get_be16(p->slid), rig_lid(&r, H1) + 3);
	ck_assert_uint_eq(get_be16(p->dlid), rig_lid(&r, H3) + 1);
}
END_TEST

START_TEST(path_bits_of_the_level)
{
	r.settings->lmc = 2;
	rig_level(&r, "bits", 0)->path_bits = 6;	/* 2, in ranges of four */
	rig_range(&rig_rule(&r, "bits")->service_ids, 1, 1);
	struct sa_path_record *q = query(H1, H3, SERVICE_ID);
	put_be64(q->service_id, 1);
	ck_assert_uint_eq(get_be16(answer()->slid), rig_lid(&r, H1) + 2);
	ck_assert_uint_eq(get_be16(answer()->dlid), rig_lid(&r, H3) + 2);
	r.mad[3] = GET_TABLE;
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(rig_records(&r, 64), 1);
	rig_set_mask(&r, ENDS | SERVICE_ID | PR_DLID);
	put_be16(q->dlid, rig_lid(&r, H3) + 2);
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(rig_records(&r, 64), 1);
	put_be16(q->dlid, rig_lid(&r, H3));
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(rig_records(&r, 64), 0);
}
END_TEST

START_TEST(numb_path)
{
	static const struct { uint8_t asked; unsigned got; } t[] = {
		{ 0, 0 }, { 1, 1 }, { 5, 5 }, { 127, 16 },
	};

	r.settings->lmc = 2;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		query(H1, H3, PR_NUMB_PATH)->num_path = t[i].asked;
		r.mad[3] = GET_TABLE;
		ck_assert_uint_eq(rig_ask(&r), 0);
		ck_assert_uint_eq(rig_records(&r, 64), t[i].got);
	}
	query(H1, H3, PR_NUMB_PATH)->num_path = 9;
	answer();					/* a Get has one */
	r.settings->lmc = 7;
	rig_start(&r);
	query(H1, H3, 0);
	r.mad[3] = GET_TABLE;
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(rig_records(&r, 64), 16384);
	query(H1, H3, PR_NUMB_PATH)->num_path = 127;
	r.mad[3] = GET_TABLE;
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(rig_records(&r, 64), 127);
}
END_TEST

START_TEST(one_end_open)
{
	bool seen[64] = { false };

	query(H2, H1, 0);
	rig_set_mask(&r, PR_SGID);
	r.mad[3] = GET_TABLE;
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(rig_records(&r, 64), 7);	/* four hosts, three switches */
	for (unsigned i = 0; i < 7; i++) {
		const struct sa_path_record *p = rig_record(&r, i);

		ck_assert_uint_eq(get_be64(p->sgid + 8), HOST_GUID(H2));
		ck_assert(!seen[get_be16(p->dlid)]);
		seen[get_be16(p->dlid)] = true;
	}
	put_be16(query(H2, H1, 0)->dlid, rig_lid(&r, H4));
	rig_set_mask(&r, PR_DLID);
	r.mad[3] = GET_TABLE;
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(rig_records(&r, 64), 7);
	for (unsigned i = 0; i < 7; i++) {
		const struct sa_path_record *p = rig_record(&r, i);

		ck_assert_uint_eq(get_be16(p->dlid), rig_lid(&r, H4));
	}
}
END_TEST

/* A query without ends, as `saquery -p` asks it. */
static unsigned world(uint64_t mask)
{
	if (!r.state)
		rig_start(&r);
	rig_request(&r, GET_TABLE, PR, mask);
	ck_assert_uint_eq(rig_ask(&r), 0);
	return rig_records(&r, 64);
}

START_TEST(both_ends_open)
{
	static bool seen[64][64];

	r.settings->lmc = 1;
	/* 2 LIDs of each of 4 hosts, 1 of each of 3 switches; to themselves, too */
	ck_assert_uint_eq(world(0), 11 * 11);
	for (unsigned i = 0; i < 11 * 11; i++) {
		const struct sa_path_record *p = rig_record(&r, i);
		uint16_t slid = get_be16(p->slid), dlid = get_be16(p->dlid);

		ck_assert(!seen[slid][dlid]);
		seen[slid][dlid] = true;
		if (get_be64(p->sgid + 8) == get_be64(p->dgid + 8))
			ck_assert_uint_eq(p->life, 2 << 6);
	}
	/* NumbPath is of each pair; components select */
	struct sa_path_record *q = rig_request(&r, GET_TABLE, PR, PR_NUMB_PATH);
	q->num_path = 1;
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(rig_records(&r, 64), 7 * 7);
	q->num_path = 0;
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(rig_records(&r, 64), 0);
	q = rig_request(&r, GET_TABLE, PR, PR_NUMB_PATH | PR_RATE_SEL | PR_RATE);
	q->num_path = 1;
	q->rate = SEL_LESS << 6 | 3;		/* every path can be had at a lower rate */
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(rig_records(&r, 64), 7 * 7);
	q->rate = SEL_GREATER << 6 | 3;		/* h1 and h2; a switch's port 0 is slow */
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(rig_records(&r, 64), 2 * 2);
}
END_TEST

/* 15.4.1.1: a requester that shares no P_Key with an end does not get its paths. */
START_TEST(paths_of_others)
{
	free(r.policy->partitions[0].members[0].group.s);
	r.policy->partitions[0].n_members = 0;		/* h1 stays in it: the SM is there */
	rig_partition(&r, 1);
	for (enum host h = H1; h <= H4; h++)
		rig_member(&r.policy->partitions[1], h, h < H3 ? MEMBER_FULL : MEMBER_LIMITED);
	rig_partition(&r, 2);
	rig_member(&r.policy->partitions[2], H2, MEMBER_FULL);
	rig_member(&r.policy->partitions[2], H4, MEMBER_FULL);
	query(H2, H4, 0);
	answer();				/* asked by h1 */
	r.slid = rig_lid(&r, H3);		/* does not talk to h4, limited as it is */
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	query(H4, H2, 0);
	r.slid = rig_lid(&r, H3);
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	r.slid = rig_lid(&r, H4);
	answer();
	/* raw packets have no P_Key, so the P_Keys of others do not matter */
	query(H3, H4, PR_RAW)->hop_flow_raw[0] = 0x80;
	r.slid = rig_lid(&r, H3);
	ck_assert_uint_eq(rig_ask(&r), 0x0300);

	/* h3 sees h1 and h2 and itself, to whom it can't send; h1 and h2 see all hosts */
	static const unsigned seen[] = { 4 * 4 - 3, 4 * 4 - 3, 2 * 2 + 4, 2 * 2 + 5 };
	for (enum host h = H1; h <= H4; h++) {
		rig_request(&r, GET_TABLE, PR, 0);
		r.slid = rig_lid(&r, h);
		ck_assert_uint_eq(rig_ask(&r), 0);
		ck_assert_uint_eq(rig_records(&r, 64), seen[h]);
	}
}
END_TEST

/* --- what a header of the network layer would hold --- */

START_TEST(flow_label_and_hop_limit)
{
	put_be32(query(H1, H3, PR_FLOW | PR_HOP)->hop_flow_raw, 0x12345 << 8 | 9);
	ck_assert_uint_eq(get_be32(answer()->hop_flow_raw), 0x12345 << 8 | 9);
	put_be32(query(H1, H3, PR_FLOW)->hop_flow_raw, 0x7fffffff);	/* reserved bits, too */
	ck_assert_uint_eq(get_be32(answer()->hop_flow_raw), 0xfffff00);
	put_be32(query(H1, H3, PR_HOP)->hop_flow_raw, 0x0fffff00);
	ck_assert_uint_eq(get_be32(answer()->hop_flow_raw), 0);
	put_be32(query(H1, H3, PR_RAW)->hop_flow_raw, 0x7fffffff);
	ck_assert_uint_eq(get_be32(answer()->hop_flow_raw), 0);
}
END_TEST

START_TEST(what_is_no_criterion)
{
	struct sa_path_record *q = query(H1, H3, 1ull << 7 | 1ull << 22 | 1ull << 63);

	q->preference = 77;
	q->hop_flow_raw[0] = 0x70;
	memset(q->reserved, 0xff, sizeof(q->reserved));
	ck_assert_uint_eq(answer()->preference, 0);
	/* a value without its selector, a selector without its value */
	q = query(H1, H3, PR_MTU | PR_RATE | PR_LIFE);
	q->mtu = q->rate = q->life = SEL_GREATER << 6 | 31;
	answer();
	q = query(H1, H3, PR_MTU_SEL | PR_RATE_SEL | PR_LIFE_SEL);
	q->mtu = q->rate = q->life = SEL_LESS << 6 | 1;
	ck_assert_uint_eq(answer()->mtu & 0x3f, 4);
	ck_assert_uint_eq(answer()->life & 0x3f, 18);
	/* the selector "best" needs no valid value */
	q = query(H1, H3, PR_MTU_SEL | PR_RATE_SEL | PR_LIFE_SEL | PR_MTU | PR_RATE | PR_LIFE);
	q->mtu = q->rate = q->life = SEL_BEST << 6 | 63;
	ck_assert_uint_eq(answer()->rate & 0x3f, 3);
	q->mtu = SEL_EXACT << 6 | 63;
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
}
END_TEST

/* --- to other subnets --- */

#define ELSEWHERE 0xfec0000000000007ULL

/* h3 and h4 are routers. */
static void two_routers(void)
{
	r.f->nodes[r.f->ports[rig_host(&r, H3)].node].type = IB_NODE_ROUTER_T;
	r.f->nodes[r.f->ports[rig_host(&r, H4)].node].type = IB_NODE_ROUTER_T;
}

static struct prefix_route *prefix_route(uint64_t prefix, uint64_t router)
{
	struct prefix_route *route = vec_push(&r.settings->prefix_routes);

	*route = (struct prefix_route){ .prefix = prefix };
	if (router)
		*vec_push(&route->routers) = router;
	return route;
}

static struct sa_path_record *remote_query(uint64_t prefix, uint64_t guid, uint64_t more)
{
	struct sa_path_record *q = query(H1, H2, more);

	put_be64(q->dgid, prefix);
	put_be64(q->dgid + 8, guid);
	return q;
}

START_TEST(by_a_router)
{
	two_routers();
	prefix_route(ELSEWHERE, HOST_GUID(H3));
	prefix_route(ELSEWHERE, HOST_GUID(H4));		/* the first holds */
	prefix_route(ELSEWHERE + 1, HOST_GUID(H2));	/* no router */
	prefix_route(ELSEWHERE + 2, 0xdead);		/* nobody */
	remote_query(ELSEWHERE, 0x1234, PR_FLOW)->hop_flow_raw[2] = 5;
	const struct sa_path_record *p = answer();

	ck_assert_uint_eq(get_be64(p->dgid), ELSEWHERE);
	ck_assert_uint_eq(get_be64(p->dgid + 8), 0x1234);
	ck_assert_uint_eq(get_be16(p->dlid), rig_lid(&r, H3));
	ck_assert_uint_eq(get_be32(p->hop_flow_raw), 5 << 8 | 255);
	ck_assert_uint_eq(p->rate & 0x3f, 3);
	remote_query(ELSEWHERE, 0x1234, PR_HOP)->hop_flow_raw[3] = 2;
	ck_assert_uint_eq(answer()->hop_flow_raw[3], 2);
	remote_query(ELSEWHERE, 0x1234, PR_HOP)->hop_flow_raw[3] = 1;
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	put_be16(remote_query(ELSEWHERE, 0x1234, PR_DLID)->dlid, rig_lid(&r, H3));
	answer();
	put_be16(remote_query(ELSEWHERE, 0x1234, PR_DLID)->dlid, rig_lid(&r, H4));
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	put_be16(remote_query(ELSEWHERE, 0x1234, PR_DLID)->dlid, 0x7777);
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	remote_query(ELSEWHERE + 1, 0x1234, 0);
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	remote_query(ELSEWHERE + 2, 0x1234, 0);
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	remote_query(ELSEWHERE + 3, 0x1234, 0);
	ck_assert_uint_eq(rig_ask(&r), 0x0500);
	put_be64(query(H1, H2, 0)->sgid, ELSEWHERE);
	ck_assert_uint_eq(rig_ask(&r), 0x0500);
	/* from everybody; the router itself, too */
	remote_query(ELSEWHERE, 0x1234, 0);
	rig_set_mask(&r, PR_DGID);
	r.mad[3] = GET_TABLE;
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(rig_records(&r, 64), 7);
}
END_TEST

START_TEST(routers_share)
{
	unsigned served[2] = { 0 };
	uint16_t before[200];

	two_routers();
	prefix_route(0, 0);				/* any prefix, any router */
	for (unsigned i = 0; i < 200; i++) {
		remote_query(ELSEWHERE + i, 0x1234 + i, 0);
		before[i] = get_be16(answer()->dlid);
		ck_assert(before[i] == rig_lid(&r, H3) || before[i] == rig_lid(&r, H4));
		served[before[i] == rig_lid(&r, H4)]++;
	}
	ck_assert_uint_gt(served[0], 60);
	ck_assert_uint_gt(served[1], 60);
	put_be64(query(H1, H2, 0)->dgid, 0);		/* the loopback GID is no other subnet's */
	ck_assert_uint_eq(rig_ask(&r), 0x0500);

	/* h4 no longer shares a P_Key with h1: its pairs move, the others stay */
	r.policy->partitions[0].members[0].membership = MEMBER_LIMITED;
	free(r.policy->partitions[0].members[0].group.s);
	r.policy->partitions[0].n_members = 0;
	for (enum host h = H1; h <= H3; h++)
		rig_member(&r.policy->partitions[0], h, MEMBER_FULL);
	rig_start(&r);
	for (unsigned i = 0; i < 200; i++) {
		remote_query(ELSEWHERE + i, 0x1234 + i, 0);
		ck_assert_uint_eq(get_be16(answer()->dlid), rig_lid(&r, H3));
	}
}
END_TEST

/* --- to a group --- */

static void join(enum host h)
{
	static const uint8_t broadcast[16] = {
		0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff,
	};

	mcast_sync(r.sa.mcast, r.state);
	mcast_join(r.sa.mcast, mcast_find(r.sa.mcast, broadcast), mcast_own_gid(HOST_GUID(h)),
		   JOIN_FULL, false);
}

static struct sa_path_record *group_query(uint64_t more)
{
	static const uint8_t broadcast[16] = {
		0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff,
	};
	struct sa_path_record *q = query(H2, H3, more);

	memcpy(q->dgid, broadcast, 16);
	return q;
}

START_TEST(path_to_a_group)
{
	r.policy->levels[0].packet_lifetime = 15;
	group_query(0);
	ck_assert_uint_eq(rig_ask(&r), 0x0300);		/* not a member */
	join(H2);
	const struct sa_path_record *p = answer();
	ck_assert_uint_eq(p->dgid[0], 0xff);
	ck_assert_uint_eq(get_be16(p->dlid), 0xc000);
	ck_assert_uint_eq(get_be16(p->slid), rig_lid(&r, H2));
	ck_assert_uint_eq(get_be16(p->pkey), 0xffff);
	ck_assert_uint_eq(p->mtu, 2 << 6 | 4);
	ck_assert_uint_eq(p->rate, 2 << 6 | 3);
	ck_assert_uint_eq(p->life, 2 << 6 | 15);
	ck_assert_uint_eq(p->num_path, 1);

	put_be16(group_query(PR_DLID)->dlid, 0xc000);
	answer();
	put_be16(group_query(PR_DLID)->dlid, 0xc001);
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	put_be16(group_query(PR_PKEY)->pkey, 0x7fff);
	answer();
	put_be16(group_query(PR_PKEY)->pkey, 0x8001);
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	put_be16(group_query(PR_PKEY)->pkey, 0x7fff);
	ck_assert_uint_eq(get_be16(answer()->pkey), 0x7fff);
	group_query(PR_SL)->qos_class_sl[1] = 1;
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	group_query(PR_TCLASS)->tclass = 1;
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	group_query(PR_FLOW)->hop_flow_raw[2] = 1;
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	group_query(PR_HOP)->hop_flow_raw[3] = 1;
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	group_query(PR_RAW)->hop_flow_raw[0] = 0x80;
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	group_query(PR_RATE_SEL | PR_RATE)->rate = SEL_LESS << 6 | 3;
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	group_query(PR_LIFE_SEL | PR_LIFE)->life = SEL_GREATER << 6 | 15;
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	/* from any member that the requester sees */
	join(H4);
	for (unsigned n = 2; n < 3; n--) {
		group_query(0)->num_path = (uint8_t)n;
		rig_set_mask(&r, PR_DGID | (n < 2 ? PR_NUMB_PATH : 0));
		r.mad[3] = GET_TABLE;
		ck_assert_uint_eq(rig_ask(&r), 0);
		ck_assert_uint_eq(rig_records(&r, 64), n ? 2 : 0);
	}
	group_query(PR_MTU_SEL | PR_MTU)->mtu = SEL_GREATER << 6 | 4;
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	group_query(PR_MTU_SEL | PR_MTU)->mtu = SEL_EXACT << 6 | 4;
	answer();
	r.policy->partitions[0].n_members = 0;		/* h2 does not have its P_Key */
	free(r.policy->partitions[0].members[0].group.s);
	rig_start(&r);
	group_query(0);
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	rig_member(&r.policy->partitions[0], N_HOSTS, MEMBER_LIMITED);
	rig_start(&r);
	group_query(0);
	answer();
	group_query(0)->dgid[15] = 1;			/* nobody's group */
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	group_query(0);
	rig_set_mask(&r, PR_DGID);
	ck_assert_uint_eq(rig_ask(&r), 0x0600);
}
END_TEST

/* Each GID that joined is a source, and no other of the port's. */
START_TEST(path_to_a_group_from_an_alias)
{
	static const uint64_t alias = 0xaaaa000000000001;
	struct mcast_group *g;

	rig_start(&r);
	alias_put(r.sa.alias, HOST_GUID(H2), 1, alias);
	alias_put(r.sa.alias, HOST_GUID(H2), 2, alias + 1);
	mcast_sync(r.sa.mcast, r.state);
	g = mcast_find(r.sa.mcast, mcast_at(r.sa.mcast, 0)->mgid);
	mcast_join(r.sa.mcast, g, (struct mcast_gid){ HOST_GUID(H2), alias }, JOIN_FULL, false);
	group_query(0);
	ck_assert_uint_eq(rig_ask(&r), 0x0300);		/* the port itself is none */
	for (unsigned i = 0; i < 2; i++) {
		rig_gid(alias + i, group_query(0)->sgid);
		ck_assert_uint_eq(rig_ask(&r), i ? 0x0300 : 0);
	}
	rig_gid(alias, group_query(0)->sgid);
	const struct sa_path_record *p = answer();

	ck_assert_uint_eq(get_be64(p->sgid + 8), alias);
	ck_assert_uint_eq(get_be16(p->slid), rig_lid(&r, H2));
	/* by LID: all GIDs of the port, of which a Get gets the port's own */
	join(H2);
	join(H3);
	for (unsigned how = 0; how < 3; how++) {	/* Get, table, table of all */
		put_be16(group_query(0)->slid, rig_lid(&r, H2));
		rig_set_mask(&r, PR_DGID | (how < 2 ? PR_SLID : 0) | (how ? 0 : PR_NUMB_PATH));
		if (how)
			r.mad[3] = GET_TABLE;
		ck_assert_uint_eq(rig_ask(&r), 0);
		ck_assert_uint_eq(rig_records(&r, 64), how + 1);
		p = rig_record(&r, 0);
		ck_assert_uint_eq(get_be64(p->sgid + 8), HOST_GUID(H2));
		if (how)
			ck_assert_uint_eq(get_be64(((const struct sa_path_record *)
						    rig_record(&r, 1))->sgid + 8), alias);
	}
}
END_TEST

/* --- in words, for `explain` --- */

START_TEST(reasons)
{
	struct path_answer a;

	drop_sl(9);
	rig_level(&r, "nine", 9);
	rig_range(&rig_rule(&r, "nine")->qos_classes, 9, 9);
	rig_start(&r);
	struct path_query q = {
		.src = rig_host(&r, H1), .dst = rig_host(&r, H3),
		.slid = rig_lid(&r, H1), .dlid = rig_lid(&r, H3),
	};

	ck_assert_ptr_null(path_resolve(r.state, &q, &a));
	ck_assert_uint_eq(a.rule, MATCH_NO_RULE);
	ck_assert_uint_eq(a.mtu, 4);
	ck_assert_uint_eq(a.rate, 3);
	ck_assert(a.reversible);
	q.has = PR_QOS_CLASS;
	q.qos_class = 9;
	ck_assert_str_eq(path_resolve(r.state, &q, &a), "the level's SL is dropped on the route");
	ck_assert_uint_eq(a.rule, 0);
	ck_assert_uint_eq(a.level, 1);
	q.has = 0;
	q.dlid = rig_lid(&r, H2);
	ck_assert_str_eq(path_resolve(r.state, &q, &a), "the port does not have the LID");

	q.dlid = rig_lid(&r, H3);
	q.has = PR_PKEY;
	q.pkey = 0x8001;
	ck_assert_str_eq(path_resolve(r.state, &q, &a),
			 "the two ends do not share the requested P_Key");
	q.pkey = 0xffff;
	rig_range(&r.policy->levels[0].pkeys, 1, 1);
	rig_start(&r);
	ck_assert_str_eq(path_resolve(r.state, &q, &a),
			 "the level is restricted to P_Keys that the two ends do not share");
	q.has = 0;
	ck_assert_str_eq(path_resolve(r.state, &q, &a),
			 "the level is restricted to P_Keys that the two ends do not share");
	free(r.policy->partitions[0].members[0].group.s);
	r.policy->partitions[0].n_members = 0;
	rig_start(&r);
	ck_assert_str_eq(path_resolve(r.state, &q, &a), "the two ends share no P_Key");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("path");
	TCase *c = tcase_create("path");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, plain_path);
	tcase_add_test(c, slowest_link_and_least_mtu_count);
	tcase_add_test(c, to_itself);
	tcase_add_test(c, to_and_from_a_switch);
	tcase_add_test(c, which_ends_are_needed);
	tcase_add_test(c, unknown_ends);
	tcase_add_test(c, gid_and_lid_contradict);
	tcase_add_test(c, link_local_prefix_is_always_known);
	tcase_add_test(c, rules_by_each_field);
	tcase_add_test(c, half_a_service_id);
	tcase_add_test(c, another_sl_than_the_levels_is_not_given);
	tcase_add_test(c, level_limits);
	tcase_add_test(c, rates_that_an_end_does_not_know);
	tcase_add_test(c, sl_that_is_dropped_on_the_route);
	tcase_add_test(c, pkeys);
	tcase_add_loop_test(c, pkey_of_two_ends, 0, ARRAY_SIZE(by_pkey));
	tcase_add_test(c, nothing_shared);
	tcase_add_test(c, level_by_rule_and_by_partition);
	tcase_add_test(c, level_by_the_ipoib_group);
	tcase_add_loop_test(c, selector, 0, ARRAY_SIZE(selectors));
	tcase_add_test(c, codes_that_do_not_exist);
	tcase_add_test(c, no_way_back);
	tcase_add_test(c, way_back_on_another_sl_is_none);
	tcase_add_test(c, lid_pairs_equal_path_bits_first);
	tcase_add_test(c, one_end_with_lmc);
	tcase_add_test(c, lids_that_are_asked_for);
	tcase_add_test(c, path_bits_of_the_level);
	tcase_add_test(c, numb_path);
	tcase_add_test(c, one_end_open);
	tcase_add_test(c, both_ends_open);
	tcase_add_test(c, paths_of_others);
	tcase_add_test(c, flow_label_and_hop_limit);
	tcase_add_test(c, what_is_no_criterion);
	tcase_add_test(c, by_a_router);
	tcase_add_test(c, routers_share);
	tcase_add_test(c, path_to_a_group);
	tcase_add_test(c, path_to_a_group_from_an_alias);
	tcase_add_test(c, reasons);
	suite_add_tcase(s, c);
	return run_suite(s);
}
