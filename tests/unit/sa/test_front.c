/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the SA's front: which requests it answers, with which status, for every
 * length and sender; and that no sequence of bytes harms it.
 *
 * promise: N1
 */
#include <check.h>
#include <stdlib.h>

#include "rig.h"
#include "unit/run.h"

static struct rig r;

static void setup(void)
{
	rig_init(&r);
	rig_start(&r);
}

static void teardown(void)
{
	rig_end(&r);
}

static bool ask(void)
{
	struct sa_request req = { .mad = r.mad, .len = r.len, .slid = r.slid };

	return rig_answer(&r, &req);
}

/* --- methods and attributes --- */

static const struct {
	uint8_t method;
	uint16_t attr, status;
} statuses[] = {
	{ 0x01, 0x0001, 0 },		/* Get(ClassPortInfo) */
	{ 0x02, 0x0001, 0x000c },
	{ 0x12, 0x0001, 0x000c },
	{ 0x01, 0x0035, 0x0600 },	/* PathRecord without any component */
	{ 0x12, 0x0035, 0x0000 },	/* all of them */
	{ 0x14, 0x0035, 0x000c },
	{ 0x02, 0x0035, 0x000c },
	{ 0x15, 0x0035, 0x000c },
	{ 0x14, 0x003a, 0x0600 },	/* MultiPathRecord */
	{ 0x01, 0x003a, 0x000c },
	{ 0x12, 0x003a, 0x000c },
	{ 0x01, 0x0011, 0x0400 },	/* NodeRecord: there are seven */
	{ 0x12, 0x0011, 0 },
	{ 0x14, 0x0011, 0x000c },
	{ 0x02, 0x0011, 0x000c },
	{ 0x01, 0x0012, 0x0400 },	/* PortInfoRecord */
	{ 0x12, 0x0012, 0 },
	{ 0x15, 0x0012, 0x000c },
	{ 0x01, 0x0038, 0 },		/* MCMemberRecord: the broadcast group */
	{ 0x12, 0x0038, 0 },
	{ 0x02, 0x0038, 0x0600 },
	{ 0x15, 0x0038, 0x0600 },
	{ 0x01, 0x0031, 0x0300 },	/* ServiceRecord: there is none */
	{ 0x12, 0x0031, 0 },
	{ 0x02, 0x0031, 0x0600 },
	{ 0x15, 0x0031, 0x0600 },
	{ 0x14, 0x0031, 0x000c },
	{ 0x02, 0x0003, 0x0200 },	/* InformInfo */
	{ 0x12, 0x0003, 0x000c },
	{ 0x01, 0x00f3, 0x0300 },	/* InformInfoRecord */
	{ 0x12, 0x00f3, 0 },
	{ 0x02, 0x00f3, 0x000c },
	{ 0x13, 0x0039, 0x0600 },	/* GetTraceTable(TraceRecord) without any component */
	{ 0x01, 0x0039, 0x000c },
	{ 0x12, 0x0039, 0x000c },
	{ 0x13, 0x0035, 0x000c },	/* of no other attribute: its request is a PathRecord … */
	{ 0x13, 0x003a, 0x000c },
	{ 0x06, 0x0002, 0x000c },	/* Report(Notice) */
	{ 0x01, 0x0033, 0x0700 },	/* P_KeyTableRecord without the SM_Key */
	{ 0x01, 0x003c, 0x000c },	/* attributes that we don't have */
	{ 0x12, 0x003b, 0x000c },
	{ 0x01, 0x0000, 0x000c },
	{ 0x01, 0xffff, 0x000c },
	{ 0x00, 0x0035, 0x0008 },	/* methods that the class does not have */
	{ 0x04, 0x0035, 0x0008 },
	{ 0x11, 0x0035, 0x0008 },
	{ 0x16, 0x0035, 0x0008 },
	{ 0x7f, 0x0035, 0x0008 },
};

START_TEST(status_by_method_and_attribute)
{
	rig_request(&r, statuses[_i].method, statuses[_i].attr, 0);
	ck_assert_uint_eq(rig_ask(&r), statuses[_i].status);
}
END_TEST

START_TEST(no_answer_to_what_is_no_request)
{
	static const struct { uint8_t base, class, method; } drops[] = {
		{ 1, 3, 0x81 }, { 1, 3, 0x92 }, { 1, 3, 0x86 }, { 1, 3, 0xff },
		{ 1, 3, 0x03 }, { 1, 3, 0x05 }, { 1, 3, 0x07 },
		{ 0, 3, 0x01 }, { 2, 3, 0x01 }, { 1, 1, 0x01 }, { 1, 0x81, 0x01 }, { 1, 4, 0x01 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(drops); i++) {
		rig_request(&r, drops[i].method, 0x35, 0);
		r.mad[0] = drops[i].base;
		r.mad[1] = drops[i].class;
		ck_assert(!ask());
		ck_assert_uint_eq(r.out.n, 0);
	}
	ck_assert_uint_eq(r.sa.stats->dropped, ARRAY_SIZE(drops));
	ck_assert_uint_eq(r.sa.stats->answered, 0);
}
END_TEST

START_TEST(class_version)
{
	rig_request(&r, 1, 1, 0);
	r.mad[2] = 1;
	ck_assert_uint_eq(rig_ask(&r), 0x0004);
}
END_TEST

START_TEST(sm_key)
{
	rig_request(&r, 1, 1, 0);
	put_be64(r.mad + 36, SM_KEY);
	ck_assert_uint_eq(rig_ask(&r), 0);
	put_be64(r.mad + 36, SM_KEY + 1);
	ck_assert(!ask());	/* C15-0.1.5 */
}
END_TEST

static uint16_t replicate(void *arg, uint64_t from, const struct sa_replica *query,
		       struct sa_replica *answer)
{
	(void)arg;
	memset(answer, 0, sizeof(*answer));
	put_be64(answer->version, from);
	put_be32(answer->n, get_be32(query->part) + 1);
	return get_be32(query->part) < 2 ? 0 : 0x0300;
}

/* The owner of the replica decides which standby gets it; the SA passes the requester's port. */
START_TEST(a_replica_is_asked_for_by_a_port)
{
	rig_request(&r, 1, SA_ATTR_REPLICA, 0);
	ck_assert_uint_eq(rig_ask(&r), 0x000c);		/* nobody tells */
	r.sa.replicate = replicate;
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(get_be32(r.out.s + SA_HDR_LEN + offsetof(struct sa_replica, n)), 1);
	ck_assert_uint_eq(get_be64(r.out.s + SA_HDR_LEN + offsetof(struct sa_replica, version)),
			  HOST_GUID(H1));
	put_be32(r.mad + SA_HDR_LEN, 2);
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	ck_assert_uint_eq(r.sa.stats->by_attr[SA_ATTR_SLOT_REPLICA].requests, 3);
	ck_assert_uint_eq(sa_attr_of_slot(SA_ATTR_SLOT_REPLICA), SA_ATTR_REPLICA);
	put_be64(r.mad + 36, SM_KEY + 1);
	ck_assert(!ask());
	rig_request(&r, 2, SA_ATTR_REPLICA, 0);		/* and nobody writes */
	ck_assert_uint_eq(rig_ask(&r), 0x000c);
}
END_TEST

static bool waits(void)
{
	struct sa_request req = { .mad = r.mad, .len = r.len, .slid = r.slid };

	return sa_waits(&r.sa, &req);
}

START_TEST(nothing_is_said_before_the_first_sweep)
{
	r.sa.state = NULL;
	rig_request(&r, 1, 0x35, 0);
	ck_assert(waits() && !ask());
	ck_assert_uint_eq(r.sa.stats->dropped, 1);
	rig_request(&r, 1, 0xffff, 0);		/* no use in asking again */
	ck_assert(!waits());
	ck_assert_uint_eq(rig_ask(&r), 0x000c);
	/* requests for other SMs do not wait */
	rig_request(&r, 1, 0x35, 0);
	put_be64(r.mad + 36, SM_KEY + 1);
	ck_assert(!waits());
	rig_request(&r, 0x81, 0x35, 0);
	ck_assert(!waits());
	/* nor do requests of another SM, which is answered */
	rig_request(&r, 1, SA_ATTR_REPLICA, 0);
	put_be64(r.mad + 36, SM_KEY);
	ck_assert_uint_eq(rig_ask(&r), 0x0001);
	r.sa.state = r.state;
}
END_TEST

static void set_bit(uint64_t *bits, unsigned i)
{
	bits[i / 64] |= UINT64_C(1) << i % 64;
}

/* Requests of ports about to join the subnet wait, and so do those with a P_Key that is not yet written. */
START_TEST(what_is_on_its_way_is_waited_for)
{
	static const struct {
		uint16_t attr;
		unsigned bit, offset;	/* of the P_Key */
	} rows[] = { { 0x38, 7, 40 }, { 0x35, 13, 50 }, { 0x3a, 7, 6 }, { 0x31, 2, 24 } };
	static struct sa_coming coming;

	r.sa.coming = &coming;
	set_bit(coming.lids, 0x4321);
	set_bit(coming.pkeys, 0x1234);
	set_bit(coming.members, 5);
	rig_request(&r, 1, 0x35, 0);
	ck_assert(!waits());
	r.slid = 0x4321;
	ck_assert(waits() && !ask());
	r.slid = 0x4322;
	ck_assert(!waits());
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		rig_request(&r, rows[i].attr == 0x3a ? 0x14 : 1, rows[i].attr, 1ull << rows[i].bit);
		r.slid = 5;
		put_be16(r.mad + SA_HDR_LEN + rows[i].offset, 0x9234);
		ck_assert_msg(waits(), "attribute 0x%x", rows[i].attr);
		put_be16(r.mad + SA_HDR_LEN + rows[i].offset, 0x1234);
		ck_assert_msg(waits(), "attribute 0x%x", rows[i].attr);
		r.slid = 6;		/* the port already has the P_Key, or gets none */
		ck_assert_msg(!waits(), "attribute 0x%x", rows[i].attr);
		r.slid = 5;
		put_be16(r.mad + SA_HDR_LEN + rows[i].offset, 0x9235);
		ck_assert_msg(!waits(), "attribute 0x%x", rows[i].attr);
		put_be16(r.mad + SA_HDR_LEN + rows[i].offset, 0x9234);
		rig_set_mask(&r, 0);
		ck_assert_msg(!waits(), "attribute 0x%x", rows[i].attr);
	}
	/* an IPoIB group has it in its MGID */
	rig_request(&r, 2, 0x38, 1);
	r.slid = 5;
	put_be32(r.mad + SA_HDR_LEN, 0xff12401b);
	put_be16(r.mad + SA_HDR_LEN + 4, 0x9234);
	ck_assert(waits());
	put_be16(r.mad + SA_HDR_LEN + 4, 0x9235);
	ck_assert(!waits());
	r.sa.coming = NULL;
}
END_TEST

START_TEST(busy_on_demand)
{
	struct sa_request req = { .mad = r.mad, .slid = 1, .len = 256 };

	rig_request(&r, 0x12, 0x35, 0);
	ck_assert(sa_answer_busy(&r.sa, &req, &r.out));
	ck_assert_uint_eq(get_be16(r.out.s + 4), 1);
	ck_assert_uint_eq((uint8_t)r.out.s[3], 0x92);
	ck_assert_uint_eq(r.out.n, MAD_LEN);
	ck_assert_uint_eq(r.sa.stats->busy, 1);
	r.mad[3] = 0x92;
	ck_assert(!sa_answer_busy(&r.sa, &req, &r.out));
}
END_TEST

START_TEST(unknown_requester)
{
	rig_request(&r, 1, 1, 0);
	r.slid = 0x4321;
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	r.slid = 0xc001;
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	r.slid = 0xffff;
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	r.slid = 0;			/* the SM's own node */
	ck_assert_uint_eq(rig_ask(&r), 0);
}
END_TEST

/* Requests for each attribute, truncated to every length. */
START_TEST(short_requests)
{
	static const struct { uint8_t method; uint16_t attr; size_t record; } kinds[] = {
		{ 0x01, 0x0001, 0 }, { 0x12, 0x0011, 108 }, { 0x12, 0x0012, 68 },
		{ 0x01, 0x0035, 64 }, { 0x12, 0x0038, 52 }, { 0x02, 0x0038, 52 },
		{ 0x15, 0x0038, 52 }, { 0x14, 0x003a, 24 },
	};

	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
		for (size_t len = 0; len <= MAD_LEN; len++) {
			uint8_t *record = rig_request(&r, kinds[k].method, kinds[k].attr, ~0ull);

			memset(record, 0xff, SA_DATA_LEN);
			r.len = len;
			if (len < 24) {
				ck_assert(!ask());
				continue;
			}
			unsigned status = rig_ask(&r);

			if (len < SA_HDR_LEN + kinds[k].record)
				ck_assert_uint_eq(status, 0x0200);
			else if (kinds[k].attr == 1)
				ck_assert_uint_eq(status, 0);
		}
}
END_TEST

START_TEST(error_says_the_request_again)
{
	uint8_t *record = rig_request(&r, 0x12, 0x35, PR_SERVICE_ID_MSB);

	for (unsigned i = 0; i < SA_DATA_LEN; i++)
		record[i] = (uint8_t)i;
	ck_assert_uint_eq(rig_ask(&r), 0x0600);
	ck_assert_int_eq(memcmp(r.out.s + SA_HDR_LEN, record, SA_DATA_LEN), 0);
	ck_assert_uint_eq(r.out.n, MAD_LEN);
	ck_assert_uint_eq((uint8_t)r.out.s[26], 0);	/* not RMPP */
	ck_assert_uint_eq(get_be16(r.out.s + 44), 0);
}
END_TEST

START_TEST(class_port_info)
{
	rig_request(&r, 1, 1, 0);
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(rig_records(&r, 72), 1);
	const uint8_t *c = rig_record(&r, 0);
	ck_assert_uint_eq(c[0], 1);
	ck_assert_uint_eq(c[1], 2);
	/* multicast, MultiPathRecord and TraceRecord, CapabilityMask match */
	ck_assert_uint_eq(get_be16(c + 2), 0x0200 | 0x0400 | 0x2000);
	/*
	 * QoS, MulticastFDBTop, alias GUIDs, full PortInfoRecord, extended speeds, services of groups,
	 * CapabilityMask2 match, send-only, 2x, HDR, NDR, the second group of extended speeds, XDR
	 */
	ck_assert_uint_eq(get_be32(c + 4) >> 5, 1 << 1 | 1 << 3 | 1 << 5 | 1 << 6 | 1 << 7 |
						1 << 8 | 1 << 10 | 1 << 12 | 1 << 13 | 1 << 15 |
						1 << 17 | 1 << 19 | 1 << 20);
	ck_assert_uint_eq(get_be32(c + 4) & 0x1f, 16);
}
END_TEST

START_TEST(empty_table_is_an_answer)
{
	uint8_t *node = rig_request(&r, 0x12, 0x11, 1);

	put_be16(node, 0x7777);
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(rig_records(&r, 108), 0);
	r.mad[3] = 1;
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
}
END_TEST

START_TEST(rmpp_of_a_table)
{
	rig_request(&r, 0x12, 0x11, 0);
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(rig_records(&r, 108), 7);
	ck_assert_uint_eq(r.out.n, SA_HDR_LEN + 7 * 112);
	ck_assert_uint_eq(r.out.s[24], 1);
	ck_assert_uint_eq(r.out.s[25], 1);
	ck_assert_uint_eq(r.out.s[26] & 7, 3);		/* more segments follow */
	uint8_t *node = rig_request(&r, 0x12, 0x11, 1);
	put_be16(node, rig_lid(&r, H2));
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(r.out.s[26] & 7, 7);		/* this is all */
	ck_assert_uint_eq(rig_records(&r, 108), 1);
}
END_TEST

/* --- fuzz --- */

static uint64_t seed;
static uint32_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 16);
}

/* Makes a mostly valid request; otherwise none would get past the header. */
static void fuzz_request(void)
{
	static const uint8_t methods[] = { 0x01, 0x02, 0x12, 0x14, 0x15 };
	static const uint16_t attrs[] = {
		0x01, 0x11, 0x12, 0x35, 0x38, 0x3a, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x20, 0x30,
		0x33, 0x36, 0x35, 0x38, 0x3a, 0x35, 0x38, 0x3a,
	};
	uint64_t mask = (uint64_t)rnd() << 32 | rnd();
	uint8_t *record;

	mask = rnd() & 1 ? mask : mask & ((uint64_t)rnd() << 32 | rnd()) & (uint64_t)rnd();
	if (rnd() & 1)
		mask |= 0x10003;	/* what a join needs */
	record = rig_request(&r, methods[rnd() % ARRAY_SIZE(methods)],
			     attrs[rnd() % ARRAY_SIZE(attrs)], mask);
	r.len = rnd() % 2 ? MAD_LEN : rnd() % 8 ? 56 + rnd() % 300 : rnd() % sizeof(r.mad);
	r.slid = (uint16_t)(rnd() % 10);
	for (unsigned i = 0; i < 300; i++)
		record[i] = rnd() & 1 ? (uint8_t)rnd() : 0;
	if (rnd() & 1)		/* GIDs where PathRecord and MCMemberRecord have them */
		for (unsigned at = rnd() & 1 ? 8 : 0; at <= 24; at += 16)
			rig_gid(HOST_GUID(rnd() % N_HOSTS), record + at);
	if (rnd() & 1)		/* and MultiPathRecord */
		for (unsigned i = 0; i < 10; i++)
			rig_gid(HOST_GUID(rnd() % N_HOSTS), record + 24 + 16 * i);
	if (rnd() % 4 == 0) {
		record[0] = 0xff;
		record[1] = 0x12;
	}
	if (rnd() % 3 == 0)
		put_be64(r.mad + 36, SM_KEY);
	if (rnd() % 16 == 0)
		r.mad[rnd() % 56] = (uint8_t)rnd();
}

START_TEST(any_bytes)
{
	seed = 0x1234567 + (uint64_t)_i;
	r.settings->lmc = (uint8_t)_i;
	rig_start(&r);
	uint64_t good = 0;

	for (unsigned i = 0; i < 25000; i++) {
		fuzz_request();
		uint8_t *copy = xmemdup(r.mad, r.len);
		struct sa_request req = { .mad = copy, .len = r.len, .slid = r.slid };

		if (rig_answer(&r, &req)) {
			ck_assert_uint_ge(r.out.n, SA_HDR_LEN);
			ck_assert(r.out.s[3] & 0x80);
			good += get_be16(r.out.s + 4) == 0;
		}
		free(copy);
	}
	ck_assert_uint_gt(good, 1000);
	ck_assert_uint_eq(r.sa.stats->answered + r.sa.stats->dropped, 25000);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("front");
	TCase *c = tcase_create("front");

	tcase_set_timeout(c, 60);
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, status_by_method_and_attribute, 0, ARRAY_SIZE(statuses));
	tcase_add_test(c, no_answer_to_what_is_no_request);
	tcase_add_test(c, class_version);
	tcase_add_test(c, sm_key);
	tcase_add_test(c, a_replica_is_asked_for_by_a_port);
	tcase_add_test(c, nothing_is_said_before_the_first_sweep);
	tcase_add_test(c, what_is_on_its_way_is_waited_for);
	tcase_add_test(c, busy_on_demand);
	tcase_add_test(c, unknown_requester);
	tcase_add_test(c, short_requests);
	tcase_add_test(c, error_says_the_request_again);
	tcase_add_test(c, class_port_info);
	tcase_add_test(c, empty_table_is_an_answer);
	tcase_add_test(c, rmpp_of_a_table);
	tcase_add_loop_test(c, any_bytes, 0, 8);
	suite_add_tcase(s, c);
	return run_suite(s);
}
