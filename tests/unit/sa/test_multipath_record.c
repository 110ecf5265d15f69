/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests MultiPathRecord: it follows the same policy as PathRecord, and refuses wrong counts of GIDs.
 *
 * promise: N1
 */
#include <check.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "rig.h"
#include "unit/run.h"

#define COUNTS		(MPR_SGID_COUNT | MPR_DGID_COUNT)
#define SERVICE_ID	(MPR_SERVICE_ID_MSB | MPR_SERVICE_ID_LSB)

static struct rig r;

static void setup(void)
{
	rig_init(&r);
}

static void teardown(void)
{
	rig_end(&r);
}

/* From all of src to all of dst, given as digits: "12" is h1 and h2. */
static struct sa_multipath_record *query(const char *src, const char *dst, uint64_t more)
{
	if (!r.state)
		rig_start(&r);
	struct sa_multipath_record *q = rig_request(&r, 0x14, 0x3a, COUNTS | more);
	unsigned n = 0;

	q->sgid_count = (uint8_t)strlen(src);
	q->dgid_count = (uint8_t)strlen(dst);
	for (; *src; src++)
		rig_gid(HOST_GUID(*src - '1'), q->gids[n++]);
	for (; *dst; dst++)
		rig_gid(HOST_GUID(*dst - '1'), q->gids[n++]);
	r.len = SA_HDR_LEN + sizeof(*q) + 16 * n;
	return q;
}

static unsigned paths(void)
{
	ck_assert_uint_eq(rig_ask(&r), 0);
	/* the answer's records are PathRecords, and say so (o15-0.2.7) */
	ck_assert_uint_eq(get_be16(r.out.s + 16), 0x35);
	return rig_records(&r, sizeof(struct sa_path_record));
}

static const struct sa_path_record *path(unsigned i)
{
	return rig_record(&r, i);
}

START_TEST(all_from_all)
{
	query("12", "34", 0);
	ck_assert_uint_eq(paths(), 4);
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_uint_eq(get_be64(path(i)->sgid + 8), HOST_GUID(i / 2));
		ck_assert_uint_eq(get_be64(path(i)->dgid + 8), HOST_GUID(2 + i % 2));
		ck_assert_uint_eq(path(i)->rate & 0x3f, i % 2 ? 2 : 3);
		ck_assert_uint_eq(get_be16(path(i)->pkey), 0xffff);
	}
}
END_TEST

/* In one MAD, as a client without RMPP sends it: what follows the GIDs is padding. */
START_TEST(padded_request)
{
	query("1", "2", 0);
	r.len = MAD_LEN;
	ck_assert_uint_eq(paths(), 1);
}
END_TEST

START_TEST(numb_path_is_of_all)
{
	r.settings->lmc = 1;
	query("12", "34", 0);
	ck_assert_uint_eq(paths(), 16);
	query("12", "34", MPR_NUMB_PATH)->num_path = 3;
	ck_assert_uint_eq(paths(), 3);
	query("12", "34", MPR_NUMB_PATH)->num_path = 0;
	ck_assert_uint_eq(paths(), 0);
}
END_TEST

START_TEST(policy_is_the_same)
{
	struct policy_class_default *d = &r.policy->defaults[CLASS_SWITCH];

	r.policy->has_fabric_setup = true;
	d->given = d->has_sl2vl = true;
	for (unsigned i = 0; i < IB_SL_COUNT; i++)
		d->sl2vl.vl[i] = i == 6 ? IB_VL_DROP : (uint8_t)(i % 8);
	for (uint8_t sl = 1; sl < 7; sl++) {
		char name[2] = { (char)('0' + sl), 0 };
		rig_level(&r, name, sl);
	}
	/* the 64 bits of the Service-ID are in two places */
	rig_range(&rig_rule(&r, "1")->service_ids, 0xab00000000001234, 0xab00000000001234);
	rig_range(&rig_rule(&r, "2")->qos_classes, 300, 300);
	rig_range(&rig_rule(&r, "3")->tclasses, 3, 3);
	rig_range(&rig_rule(&r, "6")->service_ids, 6, 6);

	struct sa_multipath_record *q = query("1", "3", SERVICE_ID);
	q->service_id_msb = 0xab;
	q->service_id_lsb[5] = 0x12;
	q->service_id_lsb[6] = 0x34;
	ck_assert_uint_eq(paths(), 1);
	ck_assert_uint_eq(path(0)->qos_class_sl[1] & 0xf, 1);
	ck_assert_uint_eq(get_be64(path(0)->service_id), 0xab00000000001234);
	put_be16(query("1", "3", MPR_QOS_CLASS)->qos_class_sl, 300 << 4);
	ck_assert_uint_eq(paths(), 1);
	ck_assert_uint_eq(path(0)->qos_class_sl[1] & 0xf, 2);
	query("1", "3", MPR_TCLASS)->tclass = 3;
	ck_assert_uint_eq(paths(), 1);
	ck_assert_uint_eq(path(0)->qos_class_sl[1] & 0xf, 3);
	query("1", "3", SERVICE_ID)->service_id_lsb[6] = 6;	/* dropped on the way */
	ck_assert_uint_eq(paths(), 0);
	query("1", "3", MPR_SL)->qos_class_sl[1] = 5;
	ck_assert_uint_eq(paths(), 0);
	query("1", "3", MPR_PKEY)->pkey[1] = 5;
	ck_assert_uint_eq(paths(), 0);
	query("1", "3", MPR_REVERSIBLE)->num_path = 0x80;
	ck_assert_uint_eq(paths(), 1);
	query("1", "34", MPR_RATE_SEL | MPR_RATE)->rate = SEL_GREATER << 6 | 2;
	ck_assert_uint_eq(paths(), 1);
	query("1", "34", MPR_MTU_SEL | MPR_MTU)->mtu = SEL_EXACT << 6 | 4;
	ck_assert_uint_eq(paths(), 1);
	query("1", "3", MPR_LIFE_SEL | MPR_LIFE)->life = SEL_LESS << 6 | 9;
	ck_assert_uint_eq(paths(), 1);
	ck_assert_uint_eq(path(0)->life & 0x3f, 8);
	query("1", "3", MPR_RAW)->hop_flow_raw[0] = 0x80;
	ck_assert_uint_eq(paths(), 1);
	ck_assert_uint_eq(get_be16(path(0)->pkey), 0);
}
END_TEST

START_TEST(bad_queries)
{
	query("1", "2", MPR_SERVICE_ID_MSB);
	ck_assert_uint_eq(rig_ask(&r), 0x0600);
	query("1", "2", MPR_SERVICE_ID_LSB);
	ck_assert_uint_eq(rig_ask(&r), 0x0600);
	query("1", "2", 0);
	rig_set_mask(&r, MPR_SGID_COUNT);
	ck_assert_uint_eq(rig_ask(&r), 0x0600);
	ck_assert_uint_eq(get_be16(r.out.s + 16), 0x35);
	rig_set_mask(&r, MPR_DGID_COUNT);
	ck_assert_uint_eq(rig_ask(&r), 0x0600);
	query("", "2", 0);
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	query("1", "", 0);
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	query("1", "24", 0)->gids[2][15] ^= 1;
	ck_assert_uint_eq(rig_ask(&r), 0x0500);
	query("12", "4", 0)->gids[0][7] = 1;
	ck_assert_uint_eq(rig_ask(&r), 0x0500);
	query("12", "4", 0)->gids[1][0] = 0xff;
	ck_assert_uint_eq(rig_ask(&r), 0x0500);
	query("1", "2", MPR_RATE_SEL | MPR_RATE)->rate = 60;
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
}
END_TEST

/* Whatever the counts say, only GIDs that came are read: the rig's copy ends with the request. */
START_TEST(counts_that_lie)
{
	for (unsigned s = 1; s < 256; s += 7)
		for (unsigned d = 1; d < 256; d += 7) {
			struct sa_multipath_record *q = query("12", "34", 0);

			q->sgid_count = (uint8_t)s;
			q->dgid_count = (uint8_t)d;
			unsigned status = rig_ask(&r);

			if (s + d > 4)
				ck_assert_uint_eq(status, 0x0200);
		}
}
END_TEST

/* 16 pairs of ports with 16384 pairs of LIDs each, none of which will do. */
START_TEST(endless_search_is_given_up)
{
	r.settings->lmc = 7;
	query("1234", "1234", MPR_SL)->qos_class_sl[1] = 1;
	ck_assert_uint_eq(rig_ask(&r), 0x0100);
}
END_TEST

START_TEST(the_same_gid_twice)
{
	query("1121", "33", 0);
	ck_assert_uint_eq(paths(), 2);
	query("1", "1", 0);
	ck_assert_uint_eq(paths(), 1);
	ck_assert_uint_eq(path(0)->life, 2 << 6);
}
END_TEST

/* What two paths need, counted by hand on leaf1 == spine -- leaf2. */
START_TEST(independent_paths)
{
	static const struct { const char *from, *to; unsigned lmc, shared; } t[] = {
		/* leaf1, spine, leaf2 and their only link */
		{ "12", "34", 0, 4 }, { "12", "34", 1, 4 },
		/* the links of h1 and h3, too */
		{ "1", "3", 1, 6 },
		/* their links and the leaf; from h1 to itself nothing is needed */
		{ "1", "2", 1, 3 }, { "12", "1", 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		r.settings->lmc = (uint8_t)t[i].lmc;
		if (r.state)
			rig_start(&r);
		struct sa_multipath_record *q = query(t[i].from, t[i].to,
						      MPR_INDEPENDENCE | MPR_NUMB_PATH);
		q->num_path = 2;
		q->independence = INDEPENDENT << 6 | 0x3f;
		ck_assert_uint_eq(paths(), 2);
		ck_assert_uint_eq(path(0)->preference, 0);
		ck_assert_uint_eq(path(1)->preference, t[i].shared);
	}
	r.settings->lmc = 1;
	rig_start(&r);
	query("1", "3", MPR_INDEPENDENCE)->independence = INDEPENDENT << 6;
	ck_assert_uint_eq(paths(), 4);
	query("1", "3", MPR_INDEPENDENCE | MPR_NUMB_PATH)->independence = INDEPENDENT << 6;
	ck_assert_uint_eq(paths(), 0);
}
END_TEST

/* Two ports at either end and two paths: neither path has an end of the other's. */
START_TEST(migration)
{
	for (unsigned lmc = 0; lmc < 3; lmc++) {
		r.settings->lmc = (uint8_t)lmc;
		if (r.state)
			rig_start(&r);
		query("12", "34", MPR_NUMB_PATH)->num_path = 2;
		ck_assert_uint_eq(paths(), 2);
		ck_assert(memcmp(path(0)->sgid, path(1)->sgid, 16) != 0);
		ck_assert(memcmp(path(0)->dgid, path(1)->dgid, 16) != 0);
		ck_assert_uint_eq(path(1)->preference, 4);
	}
	/* without a P_Key of h4 there is no such pair, and the answer is not empty either */
	free(r.policy->partitions[0].members[0].group.s);
	r.policy->partitions[0].n_members = 0;
	for (enum host h = H1; h <= H3; h++)
		rig_member(&r.policy->partitions[0], h, MEMBER_FULL);
	rig_start(&r);
	query("12", "34", MPR_NUMB_PATH)->num_path = 2;
	ck_assert_uint_eq(paths(), 2);
	ck_assert_uint_eq(get_be64(path(1)->dgid + 8), HOST_GUID(H3));
	ck_assert(memcmp(path(0)->sgid, path(1)->sgid, 16) != 0);
}
END_TEST

START_TEST(to_another_subnet)
{
	struct prefix_route *route = vec_push(&r.settings->prefix_routes);

	*route = (struct prefix_route){ .prefix = 0xfec0000000000007 };
	r.f->nodes[r.f->ports[rig_host(&r, H4)].node].type = IB_NODE_ROUTER_T;
	put_be64(query("12", "34", 0)->gids[2], 0xfec0000000000007);
	ck_assert_uint_eq(paths(), 4);
	ck_assert_uint_eq(get_be64(path(0)->dgid), 0xfec0000000000007);
	ck_assert_uint_eq(get_be64(path(0)->dgid + 8), HOST_GUID(H3));
	ck_assert_uint_eq(get_be16(path(0)->dlid), rig_lid(&r, H4));
	ck_assert_uint_eq(path(0)->hop_flow_raw[3], 255);
	ck_assert_uint_eq(path(1)->hop_flow_raw[3], 0);
	put_be64(query("1", "3", 0)->gids[1], 0xfec0000000000008);
	ck_assert_uint_eq(rig_ask(&r), 0x0500);
	put_be64(query("1", "3", 0)->gids[0], 0xfec0000000000007);
	ck_assert_uint_eq(rig_ask(&r), 0x0500);
}
END_TEST

/* The requester must see both ends. */
START_TEST(paths_of_others)
{
	free(r.policy->partitions[0].members[0].group.s);
	r.policy->partitions[0].n_members = 0;
	for (enum host h = H1; h <= H3; h++)
		rig_member(&r.policy->partitions[0], h, MEMBER_FULL);
	rig_partition(&r, 1);
	rig_member(&r.policy->partitions[1], H2, MEMBER_FULL);
	rig_member(&r.policy->partitions[1], H4, MEMBER_FULL);
	query("2", "34", 0);
	ck_assert_uint_eq(paths(), 1);
	r.slid = rig_lid(&r, H2);
	ck_assert_uint_eq(paths(), 2);
}
END_TEST

/* Each pair has its own P_Key, and the level of that partition. */
START_TEST(partitions)
{
	r.policy->partitions[0].members[0].membership = MEMBER_LIMITED;
	rig_level(&r, "one", 1);
	rig_partition(&r, 1)->level_index = policy_find_level(r.policy, "one");
	rig_member(&r.policy->partitions[1], H2, MEMBER_FULL);
	rig_member(&r.policy->partitions[1], H3, MEMBER_LIMITED);
	query("2", "134", 0);
	ck_assert_uint_eq(paths(), 2);			/* h4 belongs to none of them */
	ck_assert_uint_eq(get_be16(path(0)->pkey), 0x7fff);
	ck_assert_uint_eq(path(0)->qos_class_sl[1] & 0xf, 0);
	ck_assert_uint_eq(get_be16(path(1)->pkey), 0x8001);
	ck_assert_uint_eq(path(1)->qos_class_sl[1] & 0xf, 1);
	query("2", "134", MPR_PKEY)->pkey[1] = 1;
	ck_assert_uint_eq(paths(), 1);
	ck_assert_uint_eq(get_be64(path(0)->dgid + 8), HOST_GUID(H3));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("multipath");
	TCase *c = tcase_create("multipath");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, all_from_all);
	tcase_add_test(c, padded_request);
	tcase_add_test(c, numb_path_is_of_all);
	tcase_add_test(c, policy_is_the_same);
	tcase_add_test(c, bad_queries);
	tcase_add_test(c, counts_that_lie);
	tcase_add_test(c, endless_search_is_given_up);
	tcase_add_test(c, the_same_gid_twice);
	tcase_add_test(c, independent_paths);
	tcase_add_test(c, migration);
	tcase_add_test(c, to_another_subnet);
	tcase_add_test(c, paths_of_others);
	tcase_add_test(c, partitions);
	suite_add_tcase(s, c);
	return run_suite(s);
}
