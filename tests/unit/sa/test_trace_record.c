/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests TraceRecord: the nodes on the path of a query, in order, with the ports by which
 * the path enters and leaves them; which paths have a trace.  test_statuses.c tests wrong
 * requests.
 */
#include <check.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "rig.h"
#include "unit/run.h"

#define GET		0x01
#define GET_TRACE	0x13
#define PR		0x35
#define TRACE		0x39
#define ENDS		(PR_SGID | PR_DGID)
#define NO_RECORDS	0x0300

enum { CA = 1, SWITCH = 2, ROUTER = 3 };

static struct rig r;

static void setup(void)
{
	rig_init(&r);
}

static void teardown(void)
{
	rig_end(&r);
}

/* From GUID to GUID, with more components to be filled in. */
static struct sa_path_record *query(uint64_t src, uint64_t dst, uint64_t more)
{
	if (!r.state)
		rig_start(&r);
	struct sa_path_record *q = rig_request(&r, GET_TRACE, TRACE, ENDS | more);

	rig_gid(src, q->sgid);
	rig_gid(dst, q->dgid);
	return q;
}

static struct sa_path_record *hosts(enum host src, enum host dst, uint64_t more)
{
	return query(HOST_GUID(src), HOST_GUID(dst), more);
}

static unsigned answer(void)
{
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(get_be16(r.out.s + 16), TRACE);
	return rig_records(&r, sizeof(struct sa_trace_record));
}

/* One node: what is entered and left by, number and GUID; 0, 0: by nothing. */
struct hop {
	uint8_t type;
	uint64_t node;
	uint8_t in, out;
	uint64_t in_guid, out_guid;
};

#define HOST_NODE(h) (HOST_GUID(h) - 1)
#define FROM(h) { CA, HOST_NODE(h), 0, 1, 0, HOST_GUID(h) }
#define TO(h) { CA, HOST_NODE(h), 1, 0, HOST_GUID(h), 0 }
#define OVER(i, in, out) { SWITCH, SWITCH_GUID(i), in, out, SWITCH_GUID(i), SWITCH_GUID(i) }

static void check_hops(const struct hop *want, unsigned n)
{
	ck_assert_uint_eq(answer(), n);
	for (unsigned i = 0; i < n; i++) {
		const struct sa_trace_record *t = rig_record(&r, i);
		const struct hop *w = &want[i];

		ck_assert_uint_eq(get_be64(t->gid_prefix), PREFIX);
		ck_assert_uint_eq(get_be16(t->id_generation), 1);
		ck_assert_uint_eq(t->reserved, 0);
		ck_assert_uint_eq(t->node_type, w->type);
		ck_assert_uint_eq(get_be64(t->node_id), w->node);
		ck_assert_uint_eq(get_be64(t->chassis_id), w->node == SWITCH_GUID(1) ? 0x77 : 0);
		ck_assert_uint_eq(t->entry_port, w->in);
		ck_assert_uint_eq(t->exit_port, w->out);
		ck_assert_uint_eq(get_be64(t->entry_port_id), w->in_guid);
		ck_assert_uint_eq(get_be64(t->exit_port_id), w->out_guid);
		ck_assert_uint_eq(get_be16((const uint8_t *)t + sizeof(*t)), 0);	/* padding */
	}
}

#define CHECK_HOPS(...) do { \
	static const struct hop want_[] = { __VA_ARGS__ }; \
	check_hops(want_, ARRAY_SIZE(want_)); \
} while (0)

/* Only the spine has a SystemImageGUID; the others have none. */
static void chassis(void)
{
	for (uint32_t n = 0; n < r.f->n_nodes; n++)
		r.f->nodes[n].sysimg_guid = r.f->nodes[n].guid == SWITCH_GUID(1) ? 0x77 : 0;
}

static uint8_t *lft_entry(uint64_t sw_guid, uint16_t lid)
{
	struct lfts *l = r.state->plan->lfts;

	return &l->entries[(size_t)fabric_switch_of(r.f, fabric_find_port(r.f, sw_guid)) *
			   l->stride + lid];
}

static void judge_routes(void)
{
	struct plan *p = r.state->plan;

	paths_free(p->paths);
	p->paths = paths_compute(r.f, p->lfts, p->lid_top, p->port_by_lid, p->tables);
}

/* --- nodes --- */

START_TEST(over_one_switch)
{
	chassis();
	hosts(H1, H2, 0);
	CHECK_HOPS(FROM(H1), OVER(0, 1, 2), TO(H2));
	ck_assert_uint_eq(r.out.s[26] & 7, 7);		/* all of it in one MAD */
	ck_assert_uint_eq((uint8_t)r.out.s[3], 0x92);	/* GetTableResp */
	ck_assert_uint_eq(get_be16(r.out.s + 44), 6);
}
END_TEST

/* The LFT decides which of the two links to the spine is used. */
START_TEST(over_more_than_one_mad_has)
{
	chassis();
	hosts(H1, H3, 0);
	*lft_entry(SWITCH_GUID(0), rig_lid(&r, H3)) = 7;
	CHECK_HOPS(FROM(H1), OVER(0, 1, 7), OVER(1, 1, 3), OVER(2, 7, 1), TO(H3));
	ck_assert_uint_eq(r.out.s[26] & 7, 3);
	*lft_entry(SWITCH_GUID(0), rig_lid(&r, H3)) = 8;
	CHECK_HOPS(FROM(H1), OVER(0, 1, 8), OVER(1, 2, 3), OVER(2, 7, 1), TO(H3));
}
END_TEST

START_TEST(from_and_to_a_switch)
{
	chassis();
	query(SWITCH_GUID(0), HOST_GUID(H1), 0);
	CHECK_HOPS(OVER(0, 0, 1), TO(H1));
	query(HOST_GUID(H1), SWITCH_GUID(0), 0);
	CHECK_HOPS(FROM(H1), OVER(0, 1, 0));
	query(SWITCH_GUID(1), SWITCH_GUID(2), 0);
	CHECK_HOPS(OVER(1, 0, 3), OVER(2, 7, 0));
}
END_TEST

/* A packet that does not leave its port visits one node, and passes no port of a CA. */
START_TEST(to_itself)
{
	chassis();
	hosts(H1, H1, 0);
	CHECK_HOPS({ CA, HOST_NODE(H1), 0, 0, 0, 0 });
	query(SWITCH_GUID(2), SWITCH_GUID(2), 0);
	CHECK_HOPS(OVER(2, 0, 0));
}
END_TEST

/* A trace to another subnet ends in the router. */
/* promise: S7 */
START_TEST(by_a_router)
{
	struct prefix_route *route = vec_push(&r.settings->prefix_routes);

	chassis();
	r.f->nodes[r.f->ports[rig_host(&r, H2)].node].type = IB_NODE_ROUTER_T;
	*route = (struct prefix_route){ .prefix = 0xfec0000000000001 };
	put_be64(hosts(H1, H4, 0)->dgid, 0xfec0000000000001);
	CHECK_HOPS(FROM(H1), OVER(0, 1, 2), { ROUTER, HOST_NODE(H2), 1, 0, HOST_GUID(H2), 0 });
	put_be64(hosts(H1, H4, 0)->dgid, 0xfec0000000000002);	/* no route leads there */
	ck_assert_uint_eq(rig_ask(&r), 0x0500);
}
END_TEST

/* --- which path --- */

START_TEST(ends_by_lid)
{
	chassis();
	struct sa_path_record *q = hosts(H1, H1, 0);

	put_be16(q->slid, rig_lid(&r, H1));
	put_be16(q->dlid, rig_lid(&r, H2));
	rig_set_mask(&r, PR_SLID | PR_DLID);
	CHECK_HOPS(FROM(H1), OVER(0, 1, 2), TO(H2));
	rig_set_mask(&r, PR_SLID | PR_DLID | PR_DGID);	/* which is another port's */
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	rig_set_mask(&r, PR_SLID);
	ck_assert_uint_eq(rig_ask(&r), 0x0600);
	rig_set_mask(&r, PR_DLID);
	ck_assert_uint_eq(rig_ask(&r), 0x0600);
}
END_TEST

START_TEST(ends_by_alias)
{
	chassis();
	rig_start(&r);
	ck_assert(alias_put(r.sa.alias, HOST_GUID(H2), 1, 0xabcdef));
	query(HOST_GUID(H1), 0xabcdef, 0);
	CHECK_HOPS(FROM(H1), OVER(0, 1, 2), TO(H2));
}
END_TEST

/* The port by which the path leaves leaf1. */
static unsigned left_by(void)
{
	const struct sa_trace_record *t;

	ck_assert_uint_eq(answer(), 5);
	t = rig_record(&r, 1);
	return t->exit_port;
}

/* Of several LIDs, the requested one, or that of a Get's path: by the level's path bits. */
/* promise: S7 */
START_TEST(lids_of_a_port)
{
	r.settings->lmc = 1;
	rig_level(&r, "odd", 0)->path_bits = 1;
	rig_range(&rig_rule(&r, "odd")->service_ids, 2, 2);
	rig_start(&r);
	uint16_t lid = rig_lid(&r, H3);

	*lft_entry(SWITCH_GUID(0), lid) = 7;
	*lft_entry(SWITCH_GUID(0), lid + 1) = 8;
	hosts(H1, H3, 0);
	ck_assert_uint_eq(left_by(), 7);
	for (unsigned i = 0; i < 2; i++) {
		put_be16(hosts(H1, H3, PR_DLID)->dlid, (uint16_t)(lid + i));
		ck_assert_uint_eq(left_by(), 7 + i);
		put_be64(hosts(H1, H3, PR_SERVICE_ID_MSB | PR_SERVICE_ID_LSB)->service_id, 1 + i);
		ck_assert_uint_eq(left_by(), 7 + i);
	}
	hosts(H1, H3, PR_NUMB_PATH)->num_path = 4;	/* the first of them */
	ck_assert_uint_eq(left_by(), 7);
}
END_TEST

/* --- paths without a trace --- */

START_TEST(no_route)
{
	hosts(H1, H3, 0);
	*lft_entry(SWITCH_GUID(1), rig_lid(&r, H3)) = LFT_DROP;
	judge_routes();
	ck_assert_uint_eq(rig_ask(&r), NO_RECORDS);
	hosts(H3, H1, 0);				/* back there is one */
	ck_assert_uint_eq(answer(), 5);
	hosts(H3, H1, PR_REVERSIBLE)->num_path = 0x80;
	ck_assert_uint_eq(rig_ask(&r), NO_RECORDS);
}
END_TEST

/* The policy still offers a path while the verdict is that of other tables. */
START_TEST(a_cycle)
{
	hosts(H1, H3, 0);
	*lft_entry(SWITCH_GUID(1), rig_lid(&r, H3)) = 1;	/* and back to leaf1 */
	ck_assert_uint_eq(rig_ask(&r), NO_RECORDS);
}
END_TEST

START_TEST(groups)
{
	static const uint8_t broadcast[16] = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0,
					       0, 0, 0xff, 0xff, 0xff, 0xff };
	struct sa_path_record *q = hosts(H1, H2, 0);

	mcast_sync(r.sa.mcast, r.state);
	mcast_join(r.sa.mcast, mcast_find(r.sa.mcast, broadcast), mcast_own_gid(HOST_GUID(H1)),
		   JOIN_FULL, false);
	memcpy(q->dgid, broadcast, 16);
	ck_assert_uint_eq(rig_ask(&r), NO_RECORDS);
	r.mad[3] = GET;
	put_be16(r.mad + 16, PR);
	ck_assert_uint_eq(rig_ask(&r), 0);		/* although there is a path */
}
END_TEST

/* TraceRecord hides from a requester what PathRecord hides. */
/* promise: S7 */
START_TEST(paths_of_others)
{
	free(r.policy->partitions[0].members[0].group.s);
	r.policy->partitions[0].n_members = 0;		/* h1 stays in it: the SM is there */
	rig_partition(&r, 1);
	for (enum host h = H1; h <= H4; h++)
		rig_member(&r.policy->partitions[1], h, h < H3 ? MEMBER_FULL : MEMBER_LIMITED);
	rig_start(&r);
	for (enum host who = H1; who <= H4; who++)
		for (enum host src = H1; src <= H4; src++)
			for (enum host dst = H1; dst <= H4; dst++) {
				unsigned status;

				hosts(src, dst, 0);
				r.slid = rig_lid(&r, who);
				status = rig_ask(&r);
				r.mad[3] = GET;
				put_be16(r.mad + 16, PR);
				ck_assert_uint_eq(rig_ask(&r), status);
				ck_assert_uint_eq(status, (src >= H3 && dst >= H3) ||
						  (who >= H3 && who != src && who != dst &&
						   (src >= H3 || dst >= H3)) ? NO_RECORDS : 0);
			}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("trace record");
	TCase *c = tcase_create("trace record");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, over_one_switch);
	tcase_add_test(c, over_more_than_one_mad_has);
	tcase_add_test(c, from_and_to_a_switch);
	tcase_add_test(c, to_itself);
	tcase_add_test(c, by_a_router);
	tcase_add_test(c, ends_by_lid);
	tcase_add_test(c, ends_by_alias);
	tcase_add_test(c, lids_of_a_port);
	tcase_add_test(c, no_route);
	tcase_add_test(c, a_cycle);
	tcase_add_test(c, groups);
	tcase_add_test(c, paths_of_others);
	suite_add_tcase(s, c);
	return run_suite(s);
}
