/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests ServiceRecord: which client may register, change, see and end what.  The test has
 * its own offsets of fields: bits of the wire format, counted by hand.
 */
#include <check.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "rig.h"
#include "unit/run.h"

enum { GET = 0x01, SET = 0x02, TABLE = 0x12, DELETE = 0x15 };
enum { SERVICE = 0x31 };
enum { ID = 1, GID = 2, PKEY = 4, LEASE = 0x10, KEY = 0x20, NAME = 0x40 };
#define SECOND 1000000ll

static struct rig r;

static void setup(void)
{
	rig_init(&r);
}

static void start(void)
{
	rig_start(&r);
	r.arrived_us = 1000 * SECOND;
}

static void teardown(void)
{
	rig_end(&r);
}

/* Makes a request for the service 0x77 of h1. */
static struct sa_service_record *request(uint8_t method, uint64_t mask)
{
	struct sa_service_record *s = rig_request(&r, method, SERVICE, mask);

	put_be64(s->id, 0x77);
	rig_gid(HOST_GUID(H1), s->gid);
	return s;
}

static void trust(void)
{
	put_be64(r.mad + 36, SM_KEY);
}

static struct sa_service_record one(void)
{
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(rig_records(&r, 176), 1);
	return *(const struct sa_service_record *)rig_record(&r, 0);
}

static unsigned count(uint64_t mask)
{
	request(TABLE, mask);
	ck_assert_uint_eq(rig_ask(&r), 0);
	return rig_records(&r, 176);
}

START_TEST(registered_and_found)
{
	struct sa_service_record *s, got;

	start();
	s = request(SET, ID | GID | LEASE | NAME);
	put_be32(s->lease, 60);
	memcpy(s->name, "a name", 6);
	memset(s->data, 0xee, sizeof(s->data));	/* not in the mask: no part of it */
	got = one();
	ck_assert_uint_eq(get_be64(got.id), 0x77);
	ck_assert_uint_eq(get_be16(got.pkey), 0xffff);
	ck_assert_uint_eq(get_be32(got.lease), 60);
	ck_assert_str_eq((const char *)got.name, "a name");
	for (unsigned i = 0; i < 64; i++)
		ck_assert_uint_eq(got.data[i], 0);
	ck_assert_uint_eq(count(0), 1);
	r.arrived_us += 20 * SECOND - 1;
	request(GET, ID);
	got = one();
	ck_assert_uint_eq(get_be32(got.lease), 41);	/* remaining lease, rounded up */
	r.arrived_us += 40 * SECOND;
	ck_assert_uint_eq(count(0), 1);
	r.arrived_us += 1;
	ck_assert_msg(!count(0), "the lease is over, whether it was removed yet or not");
	request(DELETE, ID | GID);
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	request(GET, ID);
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
}
END_TEST

/* A service whose lease is over has no effect, although it is not removed yet. */
START_TEST(anew_when_the_lease_is_over)
{
	struct sa_service_record *s, got;

	start();
	s = request(SET, ID | GID | LEASE | KEY | NAME);
	put_be32(s->lease, 10);
	memset(s->key, 5, sizeof(s->key));
	memcpy(s->name, "old", 3);
	one();
	r.arrived_us += 10 * SECOND;
	request(SET, ID | GID);
	got = one();
	ck_assert_uint_eq(got.name[0], 0);
	request(DELETE, ID | GID);
	one();
}
END_TEST

START_TEST(without_a_lease_for_ever)
{
	struct sa_service_record *s;

	start();
	s = request(SET, ID | GID);
	put_be32(s->lease, 5);		/* not in the mask */
	ck_assert_uint_eq(get_be32(one().lease), 0xffffffff);
	s = request(SET, ID | GID | LEASE);
	put_be32(s->lease, 0xffffffff);
	ck_assert_uint_eq(get_be32(one().lease), 0xffffffff);
	r.arrived_us = INT64_MAX / 2;
	ck_assert_uint_eq(count(0), 1);
}
END_TEST

/* Each component distinguishes two services if it is in the mask. */
START_TEST(every_component)
{
	/* bits from the start of the record */
	static const struct { uint8_t bit; uint16_t at, width; } fields[] = {
		{ 0, 0, 64 }, { 1, 64, 128 }, { 2, 192, 16 }, { 4, 224, 32 }, { 5, 256, 128 },
		{ 6, 384, 512 },
	};
	uint64_t all = 0x1ffffffff7ULL;

	start();
	for (unsigned bit = 0, at = 0; bit < 37; bit++) {
		struct sa_service_record want, *s = request(SET, all & ~(uint64_t)PKEY);
		unsigned byte, width;

		if (bit == 3)		/* reserved */
			continue;
		put_be32(s->lease, 1000);
		memset(s->data, 0x11, sizeof(s->data));
		memset(s->key, 0x22, sizeof(s->key));
		memcpy(s->name, "n", 1);
		ck_assert_uint_eq(rig_ask(&r), 0);
		want = *(const struct sa_service_record *)rig_record(&r, 0);
		memset(want.key, 0x22, sizeof(want.key));
		if (bit < 7) {
			byte = fields[bit < 4 ? bit : bit - 1].at / 8;
			width = fields[bit < 4 ? bit : bit - 1].width / 8;
			ck_assert_uint_eq(fields[bit < 4 ? bit : bit - 1].bit, bit);
		} else {
			width = bit < 23 ? 1 : bit < 31 ? 2 : bit < 35 ? 4 : 8;
			byte = 112 + at;
			at += width;
		}
		s = request(TABLE, 1ull << bit);
		*s = want;
		ck_assert_uint_eq(rig_ask(&r), 0);
		ck_assert_msg(rig_records(&r, 176) == 1, "bit %u is not found", bit);
		for (unsigned end = 0; end < 2; end++) {
			s = request(TABLE, 1ull << bit);
			*s = want;
			((uint8_t *)s)[byte + (end ? width - 1 : 0)] ^= 1;
			ck_assert_uint_eq(rig_ask(&r), 0);
			ck_assert_msg(!rig_records(&r, 176), "bit %u does not count", bit);
			/* … and the other components do not */
			rig_set_mask(&r, all & ~(1ull << bit));
			ck_assert_uint_eq(rig_ask(&r), 0);
			ck_assert_msg(rig_records(&r, 176) == 1, "bit %u counts unasked", bit);
		}
		request(DELETE, ID | GID | KEY);
		memset(((struct sa_service_record *)(void *)(r.mad + SA_HDR_LEN))->key, 0x22, 16);
		ck_assert_uint_eq(rig_ask(&r), 0);
		if (bit == 36)
			ck_assert_uint_eq(at, 64);
	}
}
END_TEST

START_TEST(an_update_changes_what_it_says)
{
	struct sa_service_record *s, got;

	start();
	s = request(SET, ID | GID | NAME | 1ull << 7 | 1ull << 36);
	memcpy(s->name, "old", 3);
	s->data[0] = 7;
	s->data[63] = 9;
	one();
	s = request(SET, ID | GID | 1ull << 7);
	s->data[0] = 8;
	got = one();
	ck_assert_str_eq((const char *)got.name, "old");
	ck_assert(got.data[0] == 8 && got.data[63] == 9);
	ck_assert_uint_eq(count(0), 1);
}
END_TEST

START_TEST(what_must_be_said)
{
	start();
	for (unsigned i = 0; i < 2; i++) {
		uint8_t method = i ? DELETE : SET;

		request(method, ID);
		ck_assert_uint_eq(rig_ask(&r), 0x0600);
		request(method, GID);
		ck_assert_uint_eq(rig_ask(&r), 0x0600);
		request(method, PKEY | LEASE | NAME);
		ck_assert_uint_eq(rig_ask(&r), 0x0600);
		/* an invalid P_Key */
		put_be16(request(method, ID | GID | PKEY)->pkey, 0x8000);
		ck_assert_uint_eq(rig_ask(&r), 0x0200);
	}
	/* a GID that no port has, and one that no port can have */
	rig_gid(0x999, request(SET, ID | GID)->gid);
	ck_assert_uint_eq(rig_ask(&r), 0x0500);
	put_be64(request(SET, ID | GID)->gid, 0);
	ck_assert_uint_eq(rig_ask(&r), 0x0500);
	memset(request(SET, ID | GID)->gid, 0, 16);
	ck_assert_uint_eq(rig_ask(&r), 0x0500);
	request(DELETE, ID | GID);
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	/* a group may provide a service, too */
	memset(request(SET, ID | GID)->gid, 0xff, 16);
	ck_assert_uint_eq(rig_ask(&r), 0);
}
END_TEST

START_TEST(the_key_protects)
{
	struct sa_service_record *s;

	start();
	s = request(SET, ID | GID | KEY);
	memset(s->key, 5, sizeof(s->key));
	s = NULL;
	ck_assert_msg(!get_be64(one().key), "nobody is told the key");
	for (unsigned i = 0; i < 2; i++) {
		uint8_t method = i ? DELETE : SET;

		request(method, ID | GID);
		r.slid = rig_lid(&r, i ? H2 : H1);	/* the source may end it */
		ck_assert_uint_eq(rig_ask(&r), 0x0700);
		s = request(method, ID | GID);
		r.slid = rig_lid(&r, i ? H2 : H1);
		memset(s->key, 5, sizeof(s->key));	/* there, but not in the mask */
		ck_assert_uint_eq(rig_ask(&r), 0x0700);
		r.slid = rig_lid(&r, H1);
		s = request(method, ID | GID | KEY);
		memset(s->key, 5, sizeof(s->key));
		s->key[15] = 6;
		ck_assert_uint_eq(rig_ask(&r), 0x0700);
	}
	request(GET, ID);
	ck_assert_uint_eq(get_be64(one().key), 0);
	request(GET, ID);
	trust();
	ck_assert_uint_eq(get_be64(one().key), 0x0505050505050505ULL);
	request(SET, ID | GID);			/* the SM_Key makes a ServiceKey needless */
	trust();
	ck_assert_uint_eq(get_be64(one().key), 0x0505050505050505ULL);
	s = request(DELETE, ID | GID | KEY);
	memset(s->key, 5, sizeof(s->key));
	ck_assert_uint_eq(get_be64(one().key), 0);
	ck_assert_uint_eq(count(0), 0);
}
END_TEST

/* A Delete that repeats the record of an answer, with nothing of its RID in the mask, means that record. */
START_TEST(ended_by_its_record)
{
	struct sa_service_record *s, got;

	start();
	s = request(SET, ID | GID | NAME);
	memcpy(s->name, "a name", 6);
	got = one();
	*request(DELETE, NAME) = got;
	r.slid = rig_lid(&r, H2);		/* of another port: it stays */
	ck_assert_uint_eq(rig_ask(&r), 0x0700);
	r.slid = rig_lid(&r, H1);
	s = request(DELETE, NAME);
	*s = got;
	put_be64(s->id, 0x78);
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	*request(DELETE, ID) = got;		/* a part of the RID is none */
	ck_assert_uint_eq(rig_ask(&r), 0x0600);
	memset(request(DELETE, NAME)->gid, 0, 16);
	ck_assert_uint_eq(rig_ask(&r), 0x0600);
	*request(SET, NAME) = got;		/* a Set must say what it means */
	ck_assert_uint_eq(rig_ask(&r), 0x0600);
	ck_assert_uint_eq(count(0), 1);
	*request(DELETE, NAME) = got;
	ck_assert_str_eq((const char *)one().name, "a name");
	ck_assert_uint_eq(count(0), 0);
}
END_TEST

/* A GID of another subnet is in nobody's name here: the service belongs to its source. */
/* promise: A44 */
START_TEST(of_another_subnet)
{
	start();
	for (unsigned k = 0; k < 2; k++) {
		put_be64(request(SET, ID | GID)->gid, 0x1234);
		r.slid = rig_lid(&r, H2);
		ck_assert_uint_eq(rig_ask(&r), 0);
		/* h1 has the GUID, but not the GID */
		put_be64(request(k ? DELETE : SET, ID | GID)->gid, 0x1234);
		r.slid = rig_lid(&r, H1);
		ck_assert_uint_eq(rig_ask(&r), 0x0700);
		put_be64(request(DELETE, ID | GID)->gid, 0x1234);
		r.slid = rig_lid(&r, H2);
		ck_assert_uint_eq(rig_ask(&r), 0);
	}
	ck_assert_uint_eq(count(0), 0);
}
END_TEST

/*
 * Which client may change or end a service of h1: depends on the client that registered it, whether with
 * a ServiceKey, on the requester, and on the keys in the request.  Its source ends it without the key,
 * but does not change it.
 */
/* promise: A44 */
START_TEST(owners)
{
	enum { NOTHING, RIGHT, WRONG, SM };
	static const struct {
		enum host source;
		bool secret;
		enum host asks;
		int shows;
		unsigned status;
		bool ends;		/* a Delete is granted, though a Set is not */
	} cells[] = {
		{ H1, false, H1, NOTHING, 0, false }, { H1, false, H2, NOTHING, 0x0700, false },
		{ H1, false, H2, RIGHT, 0x0700, false }, { H1, false, H2, SM, 0, false },
		{ H1, true, H1, NOTHING, 0x0700, true }, { H1, true, H1, WRONG, 0x0700, false },
		{ H1, true, H1, RIGHT, 0, false }, { H1, true, H2, NOTHING, 0x0700, false },
		{ H1, true, H2, WRONG, 0x0700, false }, { H1, true, H2, RIGHT, 0, false },
		{ H1, true, H2, SM, 0, false },
		/* h2 registered it in the name of h1 */
		{ H2, false, H2, NOTHING, 0, false }, { H2, false, H1, NOTHING, 0, false },
		{ H2, false, H3, NOTHING, 0x0700, false }, { H2, true, H2, NOTHING, 0x0700, true },
		{ H2, true, H2, RIGHT, 0, false }, { H2, true, H1, NOTHING, 0, false },
		{ H2, true, H3, RIGHT, 0, false }, { H2, true, H3, WRONG, 0x0700, false },
		{ H2, true, H3, SM, 0, false },
	};

	start();
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++)
		for (unsigned k = 0; k < 2; k++) {
			struct sa_service_record *s;

			s = request(SET, ID | GID | (cells[i].secret ? KEY : 0));
			memset(s->key, 5, sizeof(s->key));
			r.slid = rig_lid(&r, cells[i].source);
			ck_assert_uint_eq(rig_ask(&r), 0);
			s = request(k ? DELETE : SET, ID | GID | (cells[i].shows == RIGHT ||
								  cells[i].shows == WRONG ? KEY : 0));
			memset(s->key, cells[i].shows == WRONG ? 6 : 5, sizeof(s->key));
			if (cells[i].shows == SM)
				trust();
			r.slid = rig_lid(&r, cells[i].asks);
			ck_assert_msg(rig_ask(&r) == (k && cells[i].ends ? 0 : cells[i].status),
				      "cell %zu, %s", i, k ? "delete" : "set");
			request(DELETE, ID | GID);
			trust();
			rig_ask(&r);
			ck_assert_uint_eq(count(0), 0);
		}
}
END_TEST

/* A request with the default SM_Key sees no ServiceKey and cannot end others' services. */
/* promise: A44 */
START_TEST(a_key_that_everybody_knows)
{
	struct sa_service_record *s;

	start();
	r.sa.sm_key = SM_KEY_KNOWN;
	s = request(SET, ID | GID | KEY);
	memset(s->key, 5, sizeof(s->key));
	one();
	request(GET, ID);
	put_be64(r.mad + 36, SM_KEY_KNOWN);
	ck_assert_uint_eq(get_be64(one().key), 0);
	request(DELETE, ID | GID);
	put_be64(r.mad + 36, SM_KEY_KNOWN);
	r.slid = rig_lid(&r, H2);
	ck_assert_uint_eq(rig_ask(&r), 0x0700);
}
END_TEST

/* h1 and h2 are in the partition 0x10, h3 is not. */
START_TEST(partitions)
{
	struct policy_partition *part = rig_partition(&r, 0x10);

	rig_member(part, H1, MEMBER_FULL);
	rig_member(part, H2, MEMBER_LIMITED);
	start();
	put_be16(request(SET, ID | GID | PKEY)->pkey, 0x8010);
	one();
	ck_assert_uint_eq(count(0), 1);
	request(TABLE, 0);
	r.slid = rig_lid(&r, H2);
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(rig_records(&r, 176), 1);
	request(TABLE, 0);
	r.slid = rig_lid(&r, H3);
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(rig_records(&r, 176), 0);
	/* neither for itself, nor for a member; nor a member for a non-member */
	put_be16(request(SET, ID | GID | PKEY)->pkey, 0x8010);
	r.slid = rig_lid(&r, H3);
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	put_be16(request(DELETE, ID | GID | PKEY)->pkey, 0x8010);
	r.slid = rig_lid(&r, H3);
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	rig_gid(HOST_GUID(H3), request(SET, ID | GID | PKEY)->gid);
	put_be16(r.mad + SA_HDR_LEN + 24, 0x8010);
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	/* the same ID and GID in another partition is another service */
	request(SET, ID | GID);
	one();
	ck_assert_uint_eq(count(ID), 2);
	request(GET, ID);
	ck_assert_uint_eq(rig_ask(&r), 0x0400);
}
END_TEST

START_TEST(no_more_than_the_bound)
{
	enum { BOUND = 20 };

	start();
	holdings_set_bound(r.sa.holdings, HOLD_SERVICES,
			   (struct hold_bound){ 1000, BOUND });
	for (unsigned i = 0; i <= BOUND; i++) {
		put_be64(request(SET, ID | GID)->id, i);
		ck_assert_uint_eq(rig_ask(&r), i < BOUND ? 0 : 0x0100);
	}
	put_be64(request(SET, ID | GID)->id, 5000);
	r.slid = rig_lid(&r, H2);
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(count(0), BOUND + 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("service");
	TCase *t = tcase_create("service");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, registered_and_found);
	tcase_add_test(t, anew_when_the_lease_is_over);
	tcase_add_test(t, without_a_lease_for_ever);
	tcase_add_test(t, every_component);
	tcase_add_test(t, an_update_changes_what_it_says);
	tcase_add_test(t, what_must_be_said);
	tcase_add_test(t, the_key_protects);
	tcase_add_test(t, ended_by_its_record);
	tcase_add_test(t, of_another_subnet);
	tcase_add_test(t, owners);
	tcase_add_test(t, a_key_that_everybody_knows);
	tcase_add_test(t, partitions);
	tcase_add_test(t, no_more_than_the_bound);
	suite_add_tcase(s, t);
	return run_suite(s);
}
