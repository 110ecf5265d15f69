/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests alias GUIDs by GuidInfoRecord: which port may have which, the answers, and paths
 * to them.  h1 sends the requests; its GUIDCap is 20: three blocks, the last with four.
 *
 * promise: N1
 */
#include <check.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "rig.h"
#include "unit/run.h"

enum { GET = 0x01, SET = 0x02, TABLE = 0x12, DELETE = 0x15 };
enum { GUIDINFO = 0x30, PATH = 0x35, MULTIPATH = 0x3a };
enum { LID = 1, BLOCK = 2 };
#define G(i) (1u << (4 + (i)))
#define ALIAS 0x0011223344556600ULL

static struct rig r;

static void start(void)
{
	for (int h = 0; h < N_HOSTS; h++)
		r.f->ports[rig_host(&r, h)].info[50] = 20;
	rig_start(&r);
}

static void setup(void)
{
	rig_init(&r);
	start();
}

static void teardown(void)
{
	rig_end(&r);
}

static struct sa_guidinfo_record *request(uint8_t method, uint64_t mask, enum host h,
					 unsigned block)
{
	struct sa_guidinfo_record *g = rig_request(&r, method, GUIDINFO, mask);

	put_be16(g->lid, rig_lid(&r, h));
	g->block = (uint8_t)block;
	return g;
}

static void trust(void)
{
	put_be64(r.mad + 36, SM_KEY);
}

static struct sa_guidinfo_record one(void)
{
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(rig_records(&r, 72), 1);
	return *(const struct sa_guidinfo_record *)rig_record(&r, 0);
}

/* Sets a GUID by h's own request; returns the GUID in the answer. */
static uint64_t set(enum host h, unsigned place, uint64_t guid)
{
	put_be64(request(SET, LID | BLOCK | G(place % 8), h, place / 8)->guids[place % 8], guid);
	r.slid = rig_lid(&r, h);
	return get_be64(one().guids[place % 8]);
}

START_TEST(given_shown_and_taken)
{
	struct sa_guidinfo_record *g = request(SET, LID | BLOCK | G(1) | G(3), H1, 0), a, b;

	put_be64(g->guids[1], ALIAS);
	put_be64(g->guids[2], ALIAS + 2);	/* not in the mask: no part of it */
	put_be64(g->guids[3], ALIAS + 3);
	a = one();
	ck_assert_uint_eq(get_be16(a.lid), rig_lid(&r, H1));
	ck_assert_uint_eq(a.block, 0);
	for (unsigned i = 0; i < 8; i++)
		ck_assert_uint_eq(get_be64(a.guids[i]), i == 0 ? HOST_GUID(H1) : i == 1 ? ALIAS :
				  i == 3 ? ALIAS + 3 : 0);
	request(GET, LID | BLOCK, H1, 0);
	b = one();
	ck_assert_int_eq(memcmp(&b, &a, sizeof(a)), 0);
	put_be64(request(TABLE, G(3), H1, 0)->guids[3], ALIAS + 3);
	b = one();
	ck_assert_int_eq(memcmp(&b, &a, sizeof(a)), 0);

	request(DELETE, LID | BLOCK | G(1) | G(2), H1, 0);
	a = one();
	ck_assert_uint_eq(get_be64(a.guids[0]), HOST_GUID(H1));
	ck_assert_uint_eq(get_be64(a.guids[1]), 0);
	ck_assert_uint_eq(get_be64(a.guids[3]), ALIAS + 3);
	ck_assert_uint_eq(alias_owner(r.sa.alias, ALIAS), 0);
	ck_assert_uint_eq(alias_owner(r.sa.alias, ALIAS + 3), HOST_GUID(H1));
}
END_TEST

/* By any LID of the port's, and beyond the first block. */
START_TEST(places)
{
	ck_assert_uint_eq(set(H1, 8, ALIAS), ALIAS);
	ck_assert_uint_eq(set(H1, 19, ALIAS + 1), ALIAS + 1);
	ck_assert_uint_eq(set(H1, 20, ALIAS + 2), 0);	/* beyond GUIDCap */
	ck_assert_uint_eq(alias_count(r.sa.alias), 2);
	r.settings->lmc = 2;
	rig_start(&r);
	put_be16(request(SET, LID | BLOCK | G(1), H1, 1)->lid, (uint16_t)(rig_lid(&r, H1) + 3));
	put_be64(((struct sa_guidinfo_record *)(void *)(r.mad + 56))->guids[1], ALIAS + 3);
	struct sa_guidinfo_record a = one();

	ck_assert_uint_eq(get_be16(a.lid), rig_lid(&r, H1));
	ck_assert_uint_eq(get_be64(a.guids[0]), ALIAS);
	ck_assert_uint_eq(get_be64(a.guids[1]), ALIAS + 3);
}
END_TEST

START_TEST(taken_by_others)
{
	ck_assert_uint_eq(set(H2, 1, ALIAS), ALIAS);
	ck_assert_uint_eq(set(H1, 1, ALIAS), 0);		/* another's alias */
	ck_assert_uint_eq(set(H1, 1, HOST_GUID(H3)), 0);	/* another port's own */
	ck_assert_uint_eq(set(H1, 1, HOST_GUID(H1)), 0);
	ck_assert_uint_eq(set(H1, 1, SWITCH_GUID(1)), 0);
	ck_assert_uint_eq(set(H1, 2, ALIAS + 1), ALIAS + 1);
	ck_assert_uint_eq(set(H1, 3, ALIAS + 1), 0);		/* its own in another place */
	/* a refused request changes nothing */
	ck_assert_uint_eq(set(H1, 2, ALIAS), 0);
	ck_assert_uint_eq(alias_at(r.sa.alias, HOST_GUID(H1), 2), ALIAS + 1);
	ck_assert_uint_eq(alias_owner(r.sa.alias, ALIAS), HOST_GUID(H2));
}
END_TEST

START_TEST(assigned)
{
	uint64_t a = set(H1, 1, 0), b = set(H1, 2, 0), c;
	uint32_t h4 = rig_host(&r, H4);

	ck_assert(a && b && a != b);
	ck_assert_uint_eq(set(H1, 1, 0), a);	/* it has one already */
	/* the next is a port's own */
	map64_put(&r.f->by_guid, b + 1, h4);
	c = set(H2, 1, 0);
	ck_assert_uint_eq(c, b + 2);
	alias_set_assigned(r.sa.alias, UINT32_MAX);
	ck_assert_uint_eq(set(H1, 3, 0), 0);	/* there are no more */
}
END_TEST

static const struct {
	uint8_t method;
	unsigned mask;
	enum host of;
	unsigned block, status;
	bool trusted;
} errors[] = {
	{ SET, LID | G(1), H1, 0, 0x0600, false }, { SET, BLOCK | G(1), H1, 0, 0x0600, false },
	{ DELETE, LID | G(1), H1, 0, 0x0600, false }, { DELETE, BLOCK | G(1), H1, 0, 0x0600, true },
	{ SET, LID | BLOCK | G(0) | G(1), H1, 0, 0x0200, false },
	{ DELETE, LID | BLOCK | G(0) | G(1), H1, 0, 0x0200, true },
	{ SET, LID | BLOCK | G(1), H1, 3, 0x0300, false },
	{ SET, LID | BLOCK | G(1), H1, 255, 0x0300, false },
	{ DELETE, LID | BLOCK | G(1), H1, 3, 0x0300, false },
	{ SET, LID | BLOCK | G(1), N_HOSTS, 0, 0x0300, false },	/* nobody's LID */
	{ SET, LID | BLOCK | G(1), H2, 0, 0x0700, false },	/* another port's */
	{ DELETE, LID | BLOCK | G(1), H2, 0, 0x0700, false },
	{ SET, LID | BLOCK | G(1), H2, 0, 0, true },
	{ DELETE, LID | BLOCK | G(1), H2, 0, 0, true },
	{ SET, LID | BLOCK, H1, 0, 0, false },			/* none chosen */
	{ DELETE, LID | BLOCK, H1, 2, 0, false },
	{ SET, LID | BLOCK | G(0), H1, 1, 0, false },
};

START_TEST(statuses)
{
	struct sa_guidinfo_record *g = rig_request(&r, errors[_i].method, GUIDINFO,
						   errors[_i].mask);

	put_be16(g->lid, errors[_i].of == N_HOSTS ? 0x777 : rig_lid(&r, errors[_i].of));
	g->block = (uint8_t)errors[_i].block;
	put_be64(g->guids[0], ALIAS + 7);
	put_be64(g->guids[1], ALIAS);
	if (errors[_i].trusted)
		trust();
	ck_assert_uint_eq(rig_ask(&r), errors[_i].status);
	if (errors[_i].status)
		ck_assert_uint_eq(alias_count(r.sa.alias), 0);
}
END_TEST

START_TEST(without_a_common_partition)
{
	r.policy->partitions[0].members[0].membership = MEMBER_LIMITED;
	start();
	put_be64(request(SET, LID | BLOCK | G(1), H3, 0)->guids[1], ALIAS);
	r.slid = rig_lid(&r, H2);
	trust();
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	put_be64(request(SET, LID | BLOCK | G(1), H2, 0)->guids[1], ALIAS);
	r.slid = rig_lid(&r, H2);
	ck_assert_uint_eq(rig_ask(&r), 0);
}
END_TEST

START_TEST(a_path_to_an_alias)
{
	struct sa_path_record *p = rig_request(&r, GET, PATH, PR_SGID | PR_DGID | PR_NUMB_PATH);

	rig_gid(HOST_GUID(H1), p->sgid);
	rig_gid(ALIAS, p->dgid);
	p->num_path = 0x81;
	ck_assert_uint_eq(rig_ask(&r), 0x0500);
	set(H3, 5, ALIAS);
	set(H1, 5, ALIAS + 1);
	p = rig_request(&r, GET, PATH, PR_SGID | PR_DGID | PR_NUMB_PATH);
	rig_gid(ALIAS + 1, p->sgid);
	rig_gid(ALIAS, p->dgid);
	p->num_path = 0x81;
	ck_assert_uint_eq(rig_ask(&r), 0);
	p = xmemdup(rig_record(&r, 0), sizeof(*p));
	ck_assert_uint_eq(get_be64(p->sgid + 8), ALIAS + 1);
	ck_assert_uint_eq(get_be64(p->dgid + 8), ALIAS);
	ck_assert_uint_eq(get_be16(p->slid), rig_lid(&r, H1));
	ck_assert_uint_eq(get_be16(p->dlid), rig_lid(&r, H3));
	free(p);
	/* the port whose own GUID it is takes precedence */
	alias_put(r.sa.alias, HOST_GUID(H3), 5, HOST_GUID(H2));
	p = rig_request(&r, GET, PATH, PR_SGID | PR_DGID | PR_NUMB_PATH);
	rig_gid(HOST_GUID(H1), p->sgid);
	rig_gid(HOST_GUID(H2), p->dgid);
	p->num_path = 0x81;
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(get_be16(((const struct sa_path_record *)rig_record(&r, 0))->dlid),
			  rig_lid(&r, H2));
}
END_TEST

START_TEST(a_multipath_to_an_alias)
{
	struct sa_multipath_record *q;

	set(H3, 5, ALIAS);
	q = rig_request(&r, 0x14, MULTIPATH, MPR_SGID_COUNT | MPR_DGID_COUNT | MPR_NUMB_PATH);
	q->num_path = 0x81;
	q->sgid_count = q->dgid_count = 1;
	rig_gid(ALIAS, q->gids[0]);
	rig_gid(HOST_GUID(H1), q->gids[1]);
	ck_assert_uint_eq(rig_ask(&r), 0);
	const struct sa_path_record *p = rig_record(&r, 0);

	ck_assert_uint_eq(get_be64(p->sgid + 8), ALIAS);
	ck_assert_uint_eq(get_be16(p->slid), rig_lid(&r, H3));
}
END_TEST

/* Removing an alias ends its memberships, even if other GIDs of the port stay in the groups. */
START_TEST(groups_of_an_alias)
{
	struct mcast_group *g;
	uint64_t h1 = HOST_GUID(H1);
	struct mcast_gid gid = { h1, ALIAS };

	mcast_sync(r.sa.mcast, r.state);
	g = mcast_find(r.sa.mcast, mcast_at(r.sa.mcast, 0)->mgid);
	mcast_join(r.sa.mcast, g, mcast_own_gid(h1), JOIN_FULL, false);
	set(H1, 1, ALIAS);
	mcast_join(r.sa.mcast, g, gid, JOIN_FULL | JOIN_NON, false);
	ck_assert_uint_eq(set(H1, 1, ALIAS), ALIAS);		/* as it is */
	ck_assert_uint_eq(set(H2, 1, ALIAS), 0);		/* refused */
	ck_assert_ptr_nonnull(mcast_member(g, gid));
	ck_assert_uint_eq(set(H1, 1, ALIAS + 1), ALIAS + 1);	/* in its place */
	ck_assert_uint_eq(g->members.n, 1);
	gid.guid++;
	mcast_join(r.sa.mcast, g, gid, JOIN_FULL, false);
	request(DELETE, LID | BLOCK | G(2), H1, 0);
	one();
	ck_assert_ptr_nonnull(mcast_member(g, gid));
	request(DELETE, LID | BLOCK | G(1), H1, 0);
	one();
	ck_assert_ptr_null(mcast_member(g, gid));
	ck_assert_ptr_nonnull(mcast_member(g, mcast_own_gid(h1)));
	/* the next owner has not joined */
	ck_assert_uint_eq(set(H2, 1, ALIAS + 1), ALIAS + 1);
	ck_assert_uint_eq(g->members.n, 1);
}
END_TEST

START_TEST(said_by_class_port_info)
{
	for (unsigned on = 0; on < 2; on++) {
		if (!on) {
			alias_free(r.sa.alias);
			r.sa.alias = NULL;
		} else {
			r.sa.alias = alias_new();
		}
		rig_request(&r, GET, 1, 0);
		ck_assert_uint_eq(rig_ask(&r), 0);
		/* CapabilityMask2 is 27 bits before RespTimeValue */
		ck_assert_uint_eq(get_be32((const uint8_t *)rig_record(&r, 0) + 4) >> 10 & 1, on);
		request(SET, LID | BLOCK, H1, 0);
		ck_assert_uint_eq(rig_ask(&r), on ? 0 : 0x000c);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("guidinfo");
	TCase *t = tcase_create("aliases");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, given_shown_and_taken);
	tcase_add_test(t, places);
	tcase_add_test(t, taken_by_others);
	tcase_add_test(t, assigned);
	tcase_add_loop_test(t, statuses, 0, ARRAY_SIZE(errors));
	tcase_add_test(t, without_a_common_partition);
	tcase_add_test(t, a_path_to_an_alias);
	tcase_add_test(t, a_multipath_to_an_alias);
	tcase_add_test(t, groups_of_an_alias);
	tcase_add_test(t, said_by_class_port_info);
	suite_add_tcase(s, t);
	return run_suite(s);
}
