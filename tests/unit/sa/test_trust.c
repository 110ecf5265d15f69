/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests which client may request what from the SA: each row of the table in qosd-security(7).  h1
 * requests what belongs to h1, and so does h2 with each SM_Key: none, the default one, a secret one.
 */
#include <check.h>
#include <stdlib.h>

#include <infiniband/umad_sa_mcm.h>

#include "lib/base/alloc.h"
#include "rig.h"
#include "sa/handler.h"
#include "unit/run.h"

enum { GET = 0x01, SET = 0x02, TABLE = 0x12, DELETE = 0x15 };
enum { TOLD = 0x10000, HIDDEN = 0x20000 };	/* besides statuses */
#define M_KEY 0x0000cafe0000cafeULL
#define MCM(name) UMAD_SA_MCM_COMP_MASK_##name
#define APART 0x10		/* a partition of h1 and h3 */
#define QPN 0x1234

static struct rig r;
static uint64_t key;		/* that the request shows */
static enum host asks;

static bool sm_of(void *arg, uint32_t i, struct sa_sm_info *out)
{
	(void)arg;
	*out = (struct sa_sm_info){ HOST_GUID(H1), 5, 3, 3 };
	return i == 0;
}

static void setup(void)
{
	rig_init(&r);
	r.f->ports[rig_host(&r, H1)].info[50] = 8;	/* GUIDCap */
	put_be64(r.f->ports[rig_host(&r, H1)].info, M_KEY);
	r.arrived_us = 1;
	struct policy_partition *part = rig_partition(&r, APART);

	part->ipoib = true;
	rig_member(part, H1, MEMBER_FULL);
	rig_member(part, H3, MEMBER_FULL);
	rig_start(&r);
	r.sa.sm.sm_info = sm_of;
}

static void teardown(void)
{
	rig_end(&r);
}

/* With the key. */
static unsigned ask(void)
{
	r.slid = rig_lid(&r, asks);
	put_be64(r.mad + 36, key);
	return rig_ask(&r);
}

static unsigned port_info(void)
{
	struct sa_portinfo_record *p = rig_request(&r, GET, 0x12, 1);

	put_be16(p->lid, rig_lid(&r, H1));
	ck_assert_uint_eq(ask(), 0);
	p = (struct sa_portinfo_record *)(uintptr_t)rig_record(&r, 0);
	return get_be64(p->port_info) == M_KEY ? TOLD : HIDDEN;
}

/* It cannot be used to guess keys either. */
static unsigned port_info_by_key(void)
{
	struct sa_portinfo_record *p = rig_request(&r, TABLE, 0x12, 1 << 3);

	put_be64(p->port_info, M_KEY);
	ck_assert_uint_eq(ask(), 0);
	return rig_records(&r, sizeof(*p)) ? TOLD : HIDDEN;
}

static unsigned p_keys(void)
{
	rig_request(&r, TABLE, 0x33, 0);
	return ask();
}

static unsigned sm_info(void)
{
	const struct sa_sminfo_record *record;

	rig_request(&r, TABLE, 0x18, 0);
	ck_assert_uint_eq(ask(), 0);
	record = rig_record(&r, 0);
	ck_assert_uint_eq(get_be64(record->guid), HOST_GUID(H1));
	return get_be64(record->sm_key) ? TOLD : HIDDEN;
}

/* Nor can it be guessed. */
static unsigned sm_info_by_key(void)
{
	struct sa_sminfo_record *q = rig_request(&r, TABLE, 0x18, 1 << 3);

	put_be64(q->sm_key, r.sa.sm_key);
	ck_assert_uint_eq(ask(), 0);
	return rig_records(&r, sizeof(*q)) ? TOLD : HIDDEN;
}

/* --- groups --- */

/* About h1, in the broadcast group of a partition; in the requester's name unless `own`. */
static unsigned member(uint8_t method, uint16_t pkey, uint8_t state, bool own)
{
	static const uint8_t form[16] = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0,
					  0xff, 0xff, 0xff, 0xff };
	struct umad_sa_mcmember_record *q =
		rig_request(&r, method, 0x38, MCM(MGID) | MCM(PORT_GID) |
			    (method == TABLE ? 0 : MCM(JOIN_STATE)));

	memcpy(q->mgid, form, 16);
	put_be16(q->mgid + 4, 0x8000 | pkey);
	rig_gid(HOST_GUID(H1), q->portgid);
	q->scope_state = 0x20 | state;
	if (!own)
		return ask();
	r.slid = rig_lid(&r, H1);
	return rig_ask(&r);
}

/* However h1 became a member. */
static void leave(uint16_t pkey)
{
	for (uint8_t state = 1; state < 8; state <<= 1)
		member(DELETE, pkey, state, true);
}

/* h1 is a member by its own request only. */
static void be_member(void)
{
	leave(0x7fff);
	ck_assert_uint_eq(member(SET, 0x7fff, 1, true), 0);
}

static unsigned members(void)
{
	be_member();
	ck_assert_uint_eq(member(TABLE, 0x7fff, 0, false), 0);
	return rig_records(&r, 52) ? TOLD : HIDDEN;
}

static unsigned member_set(void)
{
	be_member();
	return member(SET, 0x7fff, 2, false);
}

static unsigned member_delete(void)
{
	be_member();
	return member(DELETE, 0x7fff, 1, false);
}

static unsigned proxy_set(void)
{
	leave(0x7fff);
	return member(SET, 0x7fff, 1, false);
}

static unsigned proxy_set_apart(void)
{
	leave(APART);
	return member(SET, APART, 1, false);
}

/* Of what h3 has joined for h1. */
static unsigned proxy_delete_apart(void)
{
	enum host who = asks;
	uint64_t shown = key;

	leave(APART);
	asks = H3;
	key = 0;
	ck_assert_uint_eq(member(SET, APART, 1, false), 0);
	asks = who;
	key = shown;
	return member(DELETE, APART, 1, false);
}

/* --- services --- */

static struct sa_service_record *service(uint8_t method)
{
	struct sa_service_record *s = rig_request(&r, method, 0x31, 3);

	put_be64(s->id, 0x77);
	rig_gid(HOST_GUID(H1), s->gid);
	return s;
}

static void register_service(void)
{
	struct sa_service_record *s = service(SET);

	rig_set_mask(&r, 3 | 0x20);
	memset(s->key, 5, sizeof(s->key));
	ck_assert_uint_eq(rig_ask(&r), 0);
}

static unsigned service_get(void)
{
	register_service();
	service(GET);
	ck_assert_uint_eq(ask(), 0);
	return ((const struct sa_service_record *)rig_record(&r, 0))->key[0] ? TOLD : HIDDEN;
}

static unsigned service_set(void)
{
	register_service();
	service(SET);
	return ask();
}

static unsigned service_delete(void)
{
	register_service();
	service(DELETE);
	return ask();
}

/* Without a ServiceKey. */
static void register_open_service(void)
{
	service(DELETE);
	put_be64(r.mad + 36, r.sa.sm_key = SM_KEY);
	rig_ask(&r);
	r.sa.sm_key = key ? key : SM_KEY;
	service(SET);
	ck_assert_uint_eq(rig_ask(&r), 0);
}

static unsigned open_service_set(void)
{
	register_open_service();
	service(SET);
	return ask();
}

static unsigned open_service_delete(void)
{
	register_open_service();
	service(DELETE);
	return ask();
}

/* --- aliases --- */

static unsigned guid_info(uint8_t method)
{
	struct sa_guidinfo_record *g = rig_request(&r, method, 0x30, 3 | 1 << 5);

	put_be16(g->lid, rig_lid(&r, H1));
	put_be64(g->guids[1], 0x0011223344556600);
	return ask();
}

static unsigned guid_set(void)
{
	return guid_info(SET);
}

static unsigned guid_delete(void)
{
	return guid_info(DELETE);
}

/* --- subscriptions --- */

static unsigned subscribe(unsigned trap)
{
	struct sa_inform_info *i = rig_request(&r, SET, 0x03, 0);

	put_be16(i->lid_first, 0xffff);
	i->generic = i->subscribe = 1;
	put_be16(i->type, 0xffff);
	put_be16(i->number, (uint16_t)trap);
	put_be32(i->producer, 0xffffff);
	return ask();
}

static unsigned subscribe_to_links(void)
{
	return subscribe(128);
}

static unsigned subscribe_to_violations(void)
{
	return subscribe(256);
}

static unsigned subscribe_to_pkeys(void)
{
	return subscribe(257);
}

static unsigned subscribe_to_qkeys(void)
{
	return subscribe(258);
}

static unsigned subscribe_to_switches(void)
{
	return subscribe(259);
}

/* h1 has one of trap 128; who asks names its QP. */
static void wish(bool subscribe, uint32_t qpn)
{
	struct sa_inform_info *i = rig_request(&r, SET, 0x03, 0);

	put_be16(i->lid_first, 0xffff);
	i->generic = 1;
	i->subscribe = subscribe;
	put_be16(i->type, 0xffff);
	put_be16(i->number, 128);
	put_be32(i->producer, 0xffffff);
	put_be32(i->qpn_resp_time, qpn << 8);
}

static void be_subscribed(void)
{
	wish(true, 0);
	r.slid = rig_lid(&r, H1);
	r.qpn = QPN;
	ck_assert_uint_eq(rig_ask(&r), 0);
}

static unsigned unsubscribe(void)
{
	be_subscribed();
	wish(false, QPN);
	return ask();
}

static unsigned subscriptions(void)
{
	struct sa_inform_info_record *q;

	be_subscribed();
	q = rig_request(&r, TABLE, 0xf3, 1);
	rig_gid(HOST_GUID(H1), q->gid);
	ck_assert_uint_eq(ask(), 0);
	ck_assert_uint_ge(rig_records(&r, sizeof(*q)), 1);
	q = (struct sa_inform_info_record *)(uintptr_t)rig_record(&r, 0);
	return get_be32(q->info.qpn_resp_time) >> 8 ? TOLD : HIDDEN;
}

static const struct {
	const char *name;
	unsigned (*ask)(void);
	unsigned own;			/* h1, without a key */
	unsigned without, with_known, with_secret;
} cells[] = {
	{ "PortInfoRecord, M_Key", port_info, HIDDEN, HIDDEN, HIDDEN, TOLD },
	{ "PortInfoRecord by M_Key", port_info_by_key, HIDDEN, HIDDEN, HIDDEN, TOLD },
	{ "P_KeyTableRecord", p_keys, 0x0700, 0x0700, 0, 0 },
	{ "SMInfoRecord, SM_Key", sm_info, HIDDEN, HIDDEN, HIDDEN, HIDDEN },
	{ "SMInfoRecord by SM_Key", sm_info_by_key, HIDDEN, HIDDEN, HIDDEN, HIDDEN },
	{ "MCMemberRecord, members", members, TOLD, HIDDEN, TOLD, TOLD },
	{ "MCMemberRecord Set", member_set, 0, 0x0200, 0x0200, 0x0200 },
	{ "MCMemberRecord Delete", member_delete, 0, 0x0200, 0x0200, 0x0200 },
	{ "MCMemberRecord Set by proxy, in the partition", proxy_set, 0, 0, 0, 0 },
	{ "MCMemberRecord Set by proxy, not in it", proxy_set_apart, 0, 0x0200, 0x0200, 0 },
	{ "MCMemberRecord Delete of a proxy join", proxy_delete_apart, 0, 0x0200, 0x0200, 0 },
	{ "ServiceRecord, ServiceKey", service_get, HIDDEN, HIDDEN, HIDDEN, TOLD },
	{ "ServiceRecord Set", service_set, 0x0700, 0x0700, 0x0700, 0 },
	{ "ServiceRecord Delete", service_delete, 0, 0x0700, 0x0700, 0 },
	{ "ServiceRecord Set, without a ServiceKey", open_service_set, 0, 0x0700, 0x0700, 0 },
	{ "ServiceRecord Delete, without a ServiceKey", open_service_delete, 0, 0x0700, 0x0700, 0 },
	{ "GuidInfoRecord Set", guid_set, 0, 0x0700, 0x0700, 0 },
	{ "GuidInfoRecord Delete", guid_delete, 0, 0x0700, 0x0700, 0 },
	{ "InformInfo, trap 128", subscribe_to_links, 0, 0, 0, 0 },
	{ "InformInfo, trap 256", subscribe_to_violations, 0x0700, 0x0700, 0, 0 },
	{ "InformInfo, trap 257", subscribe_to_pkeys, 0x0700, 0x0700, 0, 0 },
	{ "InformInfo, trap 258", subscribe_to_qkeys, 0x0700, 0x0700, 0, 0 },
	{ "InformInfo, trap 259", subscribe_to_switches, 0x0700, 0x0700, 0, 0 },
	{ "InformInfo unsubscribe", unsubscribe, 0, 0x0200, 0x0200, 0x0200 },
	{ "InformInfoRecord, QPN", subscriptions, HIDDEN, HIDDEN, TOLD, TOLD },
};

/* Checks the cell of the table for this host and key. */
static void check_cell(size_t i, enum host who, uint64_t shown, unsigned want)
{
	unsigned got;

	asks = who;
	key = shown;
	r.sa.sm_key = shown ? shown : SM_KEY;
	got = cells[i].ask();
	ck_assert_msg(got == want, "%s: h%d with the key 0x%llx: 0x%x, not 0x%x", cells[i].name,
		      (int)who + 1, (unsigned long long)shown, got, want);
}

/* promise: A45 A82 */
START_TEST(what_each_key_opens)
{
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
		check_cell(i, H1, 0, cells[i].own);
		check_cell(i, H2, 0, cells[i].without);
		check_cell(i, H2, SM_KEY_KNOWN, cells[i].with_known);
		check_cell(i, H2, SM_KEY, cells[i].with_secret);
	}
}
END_TEST

/* A LID that no port has owns nothing, whatever key the request has. */
/* promise: A82 */
START_TEST(a_sender_that_there_is_not)
{
	static const uint16_t lids[] = { 0x7fff, 0xbfff, 0xc000, 0xffff };

	for (size_t i = 0; i < ARRAY_SIZE(lids); i++)
		for (unsigned k = 0; k < 2; k++) {
			rig_request(&r, TABLE, 0x12, 0);
			put_be64(r.mad + 36, k ? SM_KEY : 0);
			r.slid = lids[i];
			ck_assert_uint_eq(rig_ask(&r), 0x0200);
		}
}
END_TEST

/* A request with a wrong key gets no answer. */
/* promise: A45 A82 */
START_TEST(a_wrong_key)
{
	static const uint64_t wrong[] = { 1, SM_KEY - 1, SM_KEY ^ 1ull << 63, UINT64_MAX };
	struct sa_request req = { .mad = r.mad, .len = MAD_LEN, .slid = rig_lid(&r, H2) };

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		rig_request(&r, TABLE, 0x12, 0);
		put_be64(r.mad + 36, wrong[i]);
		ck_assert(!rig_answer(&r, &req));
	}
}
END_TEST

/* h2 has the port GUID of h1, its rightful owner: h2 may query but change nothing. */
/* promise: A65 */
START_TEST(a_port_with_the_guid_of_another)
{
	uint16_t lid = rig_lid(&r, H2);

	key = 0;
	register_service();
	r.f->ports[rig_host(&r, H2)].guid = HOST_GUID(H1);
	r.f->n_nameless = 1;
	service(SET);
	r.slid = lid;
	ck_assert_uint_eq(rig_ask(&r), IB_SA_REQ_INVALID);
	service(DELETE);
	r.slid = lid;
	ck_assert_uint_eq(rig_ask(&r), IB_SA_REQ_INVALID);
	service(GET);
	r.slid = lid;
	ck_assert_uint_eq(rig_ask(&r), 0);
	register_service();
}
END_TEST

static uint16_t tell_replica(void *arg, uint64_t from, const struct sa_replica *query,
			    struct sa_replica *answer)
{
	(void)arg;
	*answer = *query;
	return from == HOST_GUID(H2) ? IB_STATUS_OK : IB_STATUS_BAD_METHOD_ATTR;
}

/* h3 has the port GUID of h2, a standby; only h2 may copy registrations. */
/* promise: A77 */
START_TEST(an_impostor_of_a_standby)
{
	r.sa.replicate = tell_replica;
	r.f->ports[rig_host(&r, H3)].guid = HOST_GUID(H2);
	r.f->n_nameless = 1;
	rig_request(&r, GET, SA_ATTR_REPLICA, 0);
	r.slid = rig_lid(&r, H2);
	ck_assert_uint_eq(rig_ask(&r), 0);
	rig_request(&r, GET, SA_ATTR_REPLICA, 0);
	r.slid = rig_lid(&r, H3);
	ck_assert_uint_eq(rig_ask(&r), IB_SA_REQ_INVALID);
}
END_TEST

/* Pending work of a port counts for its GUID if the GUID is its own, otherwise for its LID. */
/* promise: A75 */
START_TEST(who_answers_for_what_is_under_way)
{
	uint32_t h2 = rig_host(&r, H2);
	uint16_t own = rig_lid(&r, H1), lid = rig_lid(&r, H2);
	char name[HOLDER_NAME_MAX];
	uint64_t implausible;

	ck_assert_uint_eq(sa_lid_holder(r.state, own), HOST_GUID(H1));
	ck_assert_uint_eq(sa_lid_holder(r.state, 0), HOST_GUID(H1));	/* the SM's own port */
	ck_assert_uint_eq(sa_lid_holder(r.state, lid), HOST_GUID(H2));
	r.f->ports[h2].guid = HOST_GUID(H1);
	r.f->n_nameless = 1;
	implausible = sa_lid_holder(r.state, lid);
	ck_assert_uint_eq(sa_port_holder(r.state, h2), implausible);
	ck_assert_uint_eq(sa_lid_holder(r.state, own), HOST_GUID(H1));
	ck_assert_uint_ne(implausible, HOST_GUID(H1));
	ck_assert(holder_is_lid(implausible));
	ck_assert_str_eq(holder_name(HOST_GUID(H1), name), "0x0002c90300000011");
	/* nor does it get another's LID by a GUID of that form */
	r.f->n_nameless = 0;
	r.f->ports[h2].guid = holder_of_lid(own);
	ck_assert_uint_eq(sa_lid_holder(r.state, lid), implausible);
	/* LIDs that no port has are apart */
	ck_assert_uint_ne(sa_lid_holder(r.state, 0x4001), sa_lid_holder(r.state, 0x4002));
	ck_assert_str_eq(holder_name(sa_lid_holder(NULL, 7), name), "LID 7");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("trust");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, what_each_key_opens);
	tcase_add_test(t, a_sender_that_there_is_not);
	tcase_add_test(t, a_wrong_key);
	tcase_add_test(t, a_port_with_the_guid_of_another);
	tcase_add_test(t, an_impostor_of_a_standby);
	tcase_add_test(t, who_answers_for_what_is_under_way);
	suite_add_tcase(s, t);
	return run_suite(s);
}
