/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests MCMemberRecord: the requests of IPoIB at its start, and what other clients may not do.
 *
 * promise: N1
 */
#include <check.h>
#include <stdlib.h>

#include <infiniband/umad_sa_mcm.h>

#include "lib/base/alloc.h"
#include "rig.h"
#include "unit/run.h"

#define MCM(name)	UMAD_SA_MCM_COMP_MASK_##name
#define JOIN		(MCM(MGID) | MCM(PORT_GID) | MCM(JOIN_STATE))
#define CREATE		(JOIN | MCM(QKEY) | MCM(TCLASS) | MCM(PKEY) | MCM(FLOW_LABEL) | MCM(SL))

enum { GET = 0x01, SET = 0x02, GET_TABLE = 0x12, DELETE = 0x15 };

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

/* The IPv4 group of an IPoIB subnet: 0xffffffff is the broadcast group. */
static void ipv4_mgid(uint8_t mgid[16], uint32_t address)
{
	static const uint8_t form[16] = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff };

	memcpy(mgid, form, 16);
	put_be32(mgid + 12, address);
}
#define BROADCAST 0xffffffff
#define ALL_HOSTS 0xe0000001

/* Makes a request from the host for itself, with the parameters of the broadcast group. */
static struct umad_sa_mcmember_record *request(uint8_t method, uint64_t mask, uint32_t address,
					       enum host h, uint8_t join_state)
{
	struct umad_sa_mcmember_record *q = rig_request(&r, method, 0x38, mask);

	ipv4_mgid(q->mgid, address);
	rig_gid(HOST_GUID(h), q->portgid);
	q->scope_state = 0x20 | join_state;
	q->qkey = htobe32(0x0b1b);
	q->pkey = htobe16(0xffff);
	r.slid = rig_lid(&r, h);
	return q;
}

static struct umad_sa_mcmember_record answer(void)
{
	struct umad_sa_mcmember_record m = { 0 };

	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(rig_records(&r, 52), 1);
	memcpy(&m, rig_record(&r, 0), 52);
	return m;
}

static unsigned table(void)
{
	ck_assert_uint_eq(rig_ask(&r), 0);
	return rig_records(&r, 52);
}

static void join(enum host h, uint32_t address)
{
	request(SET, address == BROADCAST ? JOIN : CREATE, address, h, 1);
	answer();
}

static size_t groups(void)
{
	return mcast_count(r.sa.mcast);
}

START_TEST(ipoib_comes_up_and_goes)
{
	request(SET, JOIN | MCM(PKEY), BROADCAST, H2, 1);
	struct umad_sa_mcmember_record m = answer();

	ck_assert_uint_eq(be16toh(m.mlid), 0xc000);
	ck_assert_uint_eq(be32toh(m.qkey), 0x0b1b);
	ck_assert_uint_eq(be16toh(m.pkey), 0xffff);
	ck_assert_uint_eq(m.mtu, 2 << 6 | 4);
	ck_assert_uint_eq(m.rate, 2 << 6 | 3);
	ck_assert_uint_eq(m.pkt_life, 2 << 6 | 18);
	ck_assert_uint_eq(m.scope_state, 0x21);
	ck_assert_uint_eq(m.proxy_join, 0);
	ck_assert_uint_eq(get_be64(m.portgid + 8), HOST_GUID(H2));

	/* 224.0.0.1 with the values of the broadcast group */
	struct umad_sa_mcmember_record *q =
		request(SET, CREATE | MCM(MTU_SEL) | MCM(MTU) | MCM(RATE_SEL) | MCM(RATE) |
			MCM(HOP_LIMIT), ALL_HOSTS, H2, 1);
	q->mtu = m.mtu;
	q->rate = m.rate;
	q->sl_flow_hop = m.sl_flow_hop;
	m = answer();
	ck_assert_uint_eq(be16toh(m.mlid), 0xc001);
	ck_assert_uint_eq(m.mtu, 2 << 6 | 4);
	ck_assert_uint_eq(m.rate, 2 << 6 | 3);
	request(SET, JOIN, ALL_HOSTS, H3, 1);
	ck_assert_uint_eq(be16toh(answer().mlid), 0xc001);
	ck_assert_uint_eq(groups(), 2);

	unsigned before = r.changes;
	request(DELETE, JOIN, ALL_HOSTS, H2, 1);
	ck_assert_uint_eq(answer().scope_state & 0xf, 0);
	ck_assert_uint_eq(r.changes, before + 1);
	ck_assert_uint_eq(groups(), 2);
	request(DELETE, JOIN, ALL_HOSTS, H3, 1);
	answer();
	ck_assert_uint_eq(groups(), 1);
	request(DELETE, JOIN, BROADCAST, H2, 1);
	answer();
	ck_assert_uint_eq(groups(), 1);		/* the broadcast group stays */
}
END_TEST

START_TEST(membership_survives_a_new_plan)
{
	join(H2, BROADCAST);
	join(H2, ALL_HOSTS);
	rig_start(&r);
	request(DELETE, JOIN, ALL_HOSTS, H2, 1);
	answer();
}
END_TEST

START_TEST(components_that_are_needed)
{
	static const uint64_t of_join[] = { MCM(MGID), MCM(PORT_GID), MCM(JOIN_STATE) };
	static const uint64_t of_create[] = {
		MCM(QKEY), MCM(TCLASS), MCM(PKEY), MCM(FLOW_LABEL), MCM(SL),
	};

	for (size_t i = 0; i < ARRAY_SIZE(of_join); i++) {
		request(SET, JOIN & ~of_join[i], BROADCAST, H2, 1);
		ck_assert_uint_eq(rig_ask(&r), 0x0600);
		r.mad[3] = DELETE;
		ck_assert_uint_eq(rig_ask(&r), 0x0600);
	}
	for (size_t i = 0; i < ARRAY_SIZE(of_create); i++) {
		request(SET, CREATE & ~of_create[i], ALL_HOSTS, H2, 1);
		ck_assert_uint_eq(rig_ask(&r), 0x0600);
	}
	ck_assert_uint_eq(groups(), 1);
}
END_TEST

START_TEST(join_states)
{
	request(SET, JOIN, BROADCAST, H2, 0);
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	/* only a full member makes a group */
	static const struct { uint8_t state; uint16_t status; } t[] = {
		{ 2, 0x0200 }, { 4, 0x0200 }, { 6, 0x0200 }, { 8, 0 }, { 1, 0 }, { 5, 0 },
	};
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		request(SET, CREATE, ALL_HOSTS + (uint32_t)i, H2, t[i].state);
		ck_assert_uint_eq(rig_ask(&r), t[i].status);
	}
	/* states accumulate, and are removed one by one */
	join(H2, ALL_HOSTS);
	request(SET, JOIN, ALL_HOSTS, H2, 4);
	ck_assert_uint_eq(answer().scope_state & 0xf, 5);
	request(DELETE, JOIN, ALL_HOSTS, H2, 2);	/* a state that the member does not have */
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	request(DELETE, JOIN, ALL_HOSTS, H2, 4);
	ck_assert_uint_eq(answer().scope_state & 0xf, 1);
	ck_assert_ptr_nonnull(mcast_find(r.sa.mcast, request(GET, 0, ALL_HOSTS, H2, 0)->mgid));
}
END_TEST

START_TEST(ports_and_groups_that_do_not_exist)
{
	request(SET, JOIN, BROADCAST, H2, 1)->portgid[15] ^= 1;
	ck_assert_uint_eq(rig_ask(&r), 0x0500);
	request(SET, JOIN, BROADCAST, H2, 1)->portgid[2] = 5;
	ck_assert_uint_eq(rig_ask(&r), 0x0500);
	request(DELETE, JOIN, ALL_HOSTS, H2, 1);
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	request(DELETE, JOIN, BROADCAST, H2, 1);		/* no member */
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	static const uint8_t bad[][2] = {
		{ 0xfe, 0x80 }, { 0xff, 0x22 }, { 0xff, 0x82 },
	};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		memcpy(request(SET, CREATE, ALL_HOSTS, H2, 1)->mgid, bad[i], 2);
		ck_assert_uint_eq(rig_ask(&r), 0x0200);
	}
	ck_assert_uint_eq(groups(), 1);
}
END_TEST

START_TEST(what_is_said_must_be_the_groups)
{
	uint64_t all = CREATE | MCM(HOP_LIMIT) | MCM(SCOPE) | MCM(MLID);
	struct umad_sa_mcmember_record *q;

	for (int wrong = -1; wrong < 8; wrong++) {
		q = request(SET, all, BROADCAST, H2, 1);
		q->mlid = htobe16(wrong == 0 ? 0xc001 : 0xc000);
		if (wrong == 1)
			q->qkey = htobe32(0x1234);
		if (wrong == 2)
			q->tclass = 1;
		if (wrong == 3)
			q->pkey = htobe16(0x8001);
		if (wrong == 4)
			q->sl_flow_hop = htobe32(1u << 28);
		if (wrong == 5)
			q->sl_flow_hop = htobe32(1u << 8);
		if (wrong == 6)
			q->sl_flow_hop = htobe32(1);
		if (wrong == 7)
			q->scope_state = 0x51;
		/* the policy decides the SL, the MGID the scope */
		ck_assert_uint_eq(rig_ask(&r), wrong < 0 || wrong == 4 || wrong == 7 ? 0 : 0x0200);
		if (wrong == 7)
			ck_assert_uint_eq(answer().scope_state >> 4, 2);
		if (wrong == 4)
			ck_assert_uint_eq(be32toh(answer().sl_flow_hop) >> 28, 0);
	}
	/* MTU and rate, by their selectors */
	static const struct { uint8_t mtu, rate; uint16_t status; } t[] = {
		{ 2 << 6 | 4, 2 << 6 | 3, 0 }, { 2 << 6 | 3, 2 << 6 | 3, 0x0200 },
		{ 0 << 6 | 3, 0 << 6 | 2, 0 }, { 0 << 6 | 4, 2 << 6 | 3, 0x0200 },
		{ 1 << 6 | 5, 1 << 6 | 7, 0 }, { 1 << 6 | 5, 1 << 6 | 3, 0x0200 },
		{ 3 << 6 | 1, 3 << 6 | 1, 0 },
	};
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		q = request(SET, JOIN | MCM(MTU_SEL) | MCM(MTU) | MCM(RATE_SEL) | MCM(RATE),
			    BROADCAST, H2, 1);
		q->mtu = t[i].mtu;
		q->rate = t[i].rate;
		ck_assert_uint_eq(rig_ask(&r), t[i].status);
	}
}
END_TEST

START_TEST(port_that_is_too_slow)
{
	request(SET, JOIN, BROADCAST, H4, 1);		/* 2.5 Gb/s, MTU 1024 */
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	r.f->ports[rig_host(&r, H4)].mtu_cap = 4;
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	r.policy->levels[0].rate_limit = 2;
	rig_start(&r);
	ck_assert_uint_eq(rig_ask(&r), 0);
}
END_TEST

/* Hosts that are full, limited and no members of the group's partition. */
START_TEST(pkey_of_the_group)
{
	uint8_t mgid[16];
	struct umad_sa_mcmember_record *q;
	struct policy_partition *part = rig_partition(&r, 1);

	part->ipoib = true;
	rig_member(part, H1, MEMBER_FULL);
	rig_member(part, H2, MEMBER_LIMITED);
	rig_start(&r);
	mcast_sync(r.sa.mcast, r.state);
	ck_assert_uint_eq(groups(), 2);
	ipv4_mgid(mgid, BROADCAST);
	put_be16(mgid + 4, 0x8001);
	for (enum host h = H1; h <= H3; h++) {
		memcpy(request(SET, JOIN, BROADCAST, h, 1)->mgid, mgid, 16);
		ck_assert_uint_eq(rig_ask(&r), h == H3 ? 0x0200 : 0);
		if (h != H3)
			ck_assert_uint_eq(be16toh(answer().pkey), 0x8001);
		/* nor can a group of it be made */
		q = request(SET, CREATE, ALL_HOSTS + (uint32_t)h, h, 1);
		put_be16(q->mgid + 4, 0x8001);
		q->pkey = htobe16(0x8001);
		ck_assert_uint_eq(rig_ask(&r), h == H3 ? 0x0200 : 0);
	}
	q = request(SET, CREATE, ALL_HOSTS + 9, H1, 1);
	q->pkey = htobe16(0x8002);			/* nobody's */
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	q->pkey = htobe16(0x8000);
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
}
END_TEST

START_TEST(joining_for_another)
{
	request(SET, JOIN, BROADCAST, H2, 1);
	r.slid = rig_lid(&r, H1);
	ck_assert_uint_eq(answer().proxy_join, 0x80);
	/* the port itself may take the membership over; after that, no other port may */
	request(SET, JOIN, BROADCAST, H2, 1);
	ck_assert_uint_eq(answer().proxy_join, 0);
	request(SET, JOIN, BROADCAST, H2, 2);
	r.slid = rig_lid(&r, H1);
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	request(DELETE, JOIN, BROADCAST, H2, 1);
	r.slid = rig_lid(&r, H1);
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	request(DELETE, JOIN, BROADCAST, H2, 1);
	ck_assert_uint_eq(rig_ask(&r), 0);
}
END_TEST

/* --- members behind one port --- */

#define ALIAS 0xaaaa000000000001ULL	/* of h2, and the next */

/* Sends a request of h2 about the broadcast group for one of its aliases. */
static void by_alias(uint8_t method, uint64_t alias, uint8_t join_state)
{
	rig_gid(alias, request(method, JOIN, BROADCAST, H2, join_state)->portgid);
}

static void give_aliases(void)
{
	for (unsigned i = 0; i < 3; i++)
		alias_put(r.sa.alias, HOST_GUID(H2), i + 1, ALIAS + i);
}

/* The JoinState of a PortGID, as a request with the SM_Key sees it; 0: no member. */
static unsigned state_of(uint64_t guid)
{
	struct umad_sa_mcmember_record m;
	unsigned found = 0;

	request(GET_TABLE, MCM(MGID), BROADCAST, H1, 0);
	put_be64(r.mad + 36, SM_KEY);
	for (unsigned n = table(), i = 0; i < n; i++) {
		memcpy(&m, rig_record(&r, i), 52);
		if (get_be64(m.portgid + 8) != guid)
			continue;
		ck_assert_uint_eq(found, 0);
		found = m.scope_state & 0xf;
	}
	return found;
}

START_TEST(each_gid_is_a_member)
{
	struct umad_sa_mcmember_record m;
	const struct mcast_group *g;

	give_aliases();
	by_alias(SET, ALIAS, 1);
	m = answer();
	ck_assert_uint_eq(get_be64(m.portgid + 8), ALIAS);
	ck_assert_uint_eq(m.scope_state & 0xf, 1);
	ck_assert_uint_eq(m.proxy_join, 0);	/* it is the port's own */
	by_alias(SET, ALIAS + 1, 4);
	m = answer();
	ck_assert_uint_eq(get_be64(m.portgid + 8), ALIAS + 1);
	ck_assert_uint_eq(m.scope_state & 0xf, 4);
	g = mcast_at(r.sa.mcast, 0);
	ck_assert_uint_eq(g->members.n, 2);
	ck_assert_uint_eq(mcast_role(r.sa.mcast, g->mlid, HOST_GUID(H2)), 5);
	ck_assert_uint_eq(state_of(ALIAS), 1);
	ck_assert_uint_eq(state_of(ALIAS + 1), 4);
	ck_assert_uint_eq(state_of(HOST_GUID(H2)), 0);

	/* neither the port itself nor another alias is what has joined */
	request(DELETE, JOIN, BROADCAST, H2, 1);
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	by_alias(DELETE, ALIAS + 1, 1);
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	by_alias(DELETE, ALIAS + 2, 1);
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	by_alias(SET, ALIAS + 1, 1);
	ck_assert_uint_eq(answer().scope_state & 0xf, 5);
	by_alias(DELETE, ALIAS, 1);
	m = answer();
	ck_assert_uint_eq(get_be64(m.portgid + 8), ALIAS);
	ck_assert_uint_eq(m.scope_state & 0xf, 0);
	ck_assert_uint_eq(state_of(ALIAS), 0);
	ck_assert_uint_eq(state_of(ALIAS + 1), 5);
	ck_assert_uint_eq(mcast_role(r.sa.mcast, g->mlid, HOST_GUID(H2)), 5);
	by_alias(SET, ALIAS + 3, 1);		/* nobody's */
	ck_assert_uint_eq(rig_ask(&r), 0x0500);
}
END_TEST

START_TEST(who_sees_which_gid)
{
	give_aliases();
	by_alias(SET, ALIAS, 1);
	answer();
	by_alias(GET_TABLE, ALIAS, 0);
	rig_set_mask(&r, MCM(PORT_GID));
	ck_assert_uint_eq(table(), 1);		/* itself */
	by_alias(GET_TABLE, ALIAS + 1, 0);
	rig_set_mask(&r, MCM(PORT_GID));
	ck_assert_uint_eq(table(), 0);		/* is no member */
	by_alias(GET_TABLE, ALIAS, 0);
	rig_set_mask(&r, MCM(PORT_GID));
	r.slid = rig_lid(&r, H1);
	ck_assert_uint_eq(table(), 0);		/* another's */
	put_be64(r.mad + 36, SM_KEY);
	ck_assert_uint_eq(table(), 1);
}
END_TEST

START_TEST(joining_for_another_by_its_alias)
{
	give_aliases();
	by_alias(SET, ALIAS, 1);
	r.slid = rig_lid(&r, H1);
	ck_assert_uint_eq(answer().proxy_join, 0x80);
	by_alias(SET, ALIAS + 1, 1);
	ck_assert_uint_eq(answer().proxy_join, 0);
	/* each by its own rule: one belongs to anyone in the partition, the other to the port */
	by_alias(DELETE, ALIAS + 1, 1);
	r.slid = rig_lid(&r, H1);
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	by_alias(DELETE, ALIAS, 1);
	r.slid = rig_lid(&r, H1);
	ck_assert_uint_eq(answer().scope_state & 0xf, 0);
	ck_assert_uint_eq(state_of(ALIAS + 1), 1);
	/* a requester that names its port tells the truth, also about an alias */
	for (unsigned own = 0; own < 2; own++) {
		by_alias(SET, ALIAS, 1);
		rig_set_mask(&r, JOIN | MCM(PROXY_JOIN));
		((struct umad_sa_mcmember_record *)(void *)(r.mad + 56))->proxy_join = 0x80;
		r.slid = rig_lid(&r, own ? H2 : H1);
		ck_assert_uint_eq(rig_ask(&r), own ? 0x0200 : 0);
	}
}
END_TEST

START_TEST(new_group_is_what_the_client_says)
{
	uint64_t mask = CREATE | MCM(MTU_SEL) | MCM(MTU) | MCM(RATE_SEL) | MCM(RATE) |
			MCM(LIFE_TIME_SEL) | MCM(LIFE_TIME) | MCM(HOP_LIMIT) | MCM(MLID);
	struct umad_sa_mcmember_record *q = request(SET, mask, ALL_HOSTS, H2, 1), m;

	q->mlid = htobe16(0xc010);
	q->mtu = SEL_LESS << 6 | 4;
	q->rate = SEL_EXACT << 6 | 5;
	q->pkt_life = SEL_GREATER << 6 | 18;
	q->mgid[3] = 0x1c;			/* no IPoIB group */
	q->tclass = 0x11;
	q->sl_flow_hop = umad_sa_mcm_set_sl_flow_hop(3, 0xabcde, 7);
	m = answer();
	ck_assert_uint_eq(be16toh(m.mlid), 0xc010);
	ck_assert_uint_eq(m.mtu, 2 << 6 | 3);
	ck_assert_uint_eq(m.rate, 2 << 6 | 5);
	ck_assert_uint_eq(m.pkt_life, 2 << 6 | 19);
	ck_assert_uint_eq(m.tclass, 0x11);
	ck_assert_uint_eq(be32toh(m.sl_flow_hop), 0xabcde07);	/* SL: the policy's */

	/* left out: the creator's own */
	request(SET, CREATE, ALL_HOSTS + 1, H4, 1)->mgid[3] = 0x1c;
	m = answer();
	ck_assert_uint_eq(m.mtu & 0x3f, 3);
	ck_assert_uint_eq(m.rate & 0x3f, 2);
	ck_assert_uint_eq(m.pkt_life & 0x3f, 18);
	/* more than its port can do */
	request(SET, CREATE | MCM(MTU_SEL) | MCM(MTU), ALL_HOSTS + 2, H4, 1)->mtu = 2 << 6 | 4;
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	request(SET, CREATE | MCM(RATE_SEL) | MCM(RATE), ALL_HOSTS + 2, H4, 1)->rate = 2 << 6 | 3;
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	request(SET, CREATE | MCM(MTU_SEL) | MCM(MTU), ALL_HOSTS + 2, H4, 1)->mtu = 2 << 6 | 0;
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	request(SET, CREATE, ALL_HOSTS + 2, H4, 1)->pkey = htobe16(0x8001);
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	/* an MLID that is taken */
	request(SET, CREATE | MCM(MLID), ALL_HOSTS + 2, H2, 1)->mlid = htobe16(0xc000);
	ck_assert_uint_eq(rig_ask(&r), 0x0100);
}
END_TEST

START_TEST(mgid_of_our_choice)
{
	uint8_t first[16];
	struct umad_sa_mcmember_record *q = request(SET, CREATE, ALL_HOSTS, H2, 1), m;

	memset(q->mgid, 0, 16);
	m = answer();
	ck_assert_uint_eq(m.mgid[0], 0xff);
	ck_assert_uint_eq(m.mgid[1], 0x12);
	ck_assert_uint_eq(get_be16(m.mgid + 2), 0xa01b);
	memcpy(first, m.mgid, 16);
	m = answer();				/* once more: another group */
	ck_assert_int_ne(memcmp(first, m.mgid, 16), 0);
	rig_set_mask(&r, CREATE | MCM(SCOPE));
	q->scope_state = 0x51;
	m = answer();
	ck_assert_uint_eq(m.mgid[1], 0x15);
	ck_assert_uint_eq(be32toh(m.sl_flow_hop) & 0xff, 0xff);	/* leaves the subnet */
	q->scope_state = 0x01;			/* reserved: the SA generates no such MGID */
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
	q->scope_state = 0xf1;
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
}
END_TEST

/* An MGID that a client chooses may have any scope; the Scope component beside it is advisory. */
START_TEST(mgid_of_their_choice)
{
	static const struct { uint8_t first, second; uint16_t status; } t[] = {
		{ 0xff, 0x12, 0 }, { 0xff, 0x02, 0 }, { 0xff, 0x1f, 0 }, { 0xff, 0x10, 0 },
		{ 0xff, 0x22, 0x0200 }, { 0xff, 0x82, 0x0200 },		/* reserved flags */
		{ 0xfa, 0x12, 0x0200 }, { 0xef, 0x12, 0x0200 }, { 0xfe, 0x80, 0x0200 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct umad_sa_mcmember_record *q =
			request(SET, CREATE | MCM(SCOPE), 7 + (uint32_t)i, H2, 1);

		q->mgid[0] = t[i].first;
		q->mgid[1] = t[i].second;
		put_be16(q->mgid + 2, 0xa01c);
		for (unsigned again = 0; again < 2; again++)	/* creates the group, then joins it */
			ck_assert_msg(rig_ask(&r) == t[i].status, "MGID %02x%02x", t[i].first, t[i].second);
		if (!t[i].status)
			ck_assert_uint_eq(answer().scope_state, (t[i].second & 0xf) << 4 | 1);
	}
}
END_TEST

/* When MLIDs run out, groups whose packets have the same headers share them. */
START_TEST(mlids_run_out)
{
	struct umad_sa_mcmember_record *q;

	r.f->switches[1].mcast_cap = 4;
	rig_start(&r);
	for (uint32_t i = 0; i < 3; i++)
		join(H2, ALL_HOSTS + i);
	request(SET, CREATE, ALL_HOSTS + 3, H2, 1);
	ck_assert_uint_ge(be16toh(answer().mlid), 0xc000);
	q = request(SET, CREATE | MCM(RATE_SEL) | MCM(RATE), ALL_HOSTS + 4, H2, 1);
	q->mgid[3] = 0x1c;
	q->rate = SEL_EXACT << 6 | 5;
	ck_assert_uint_eq(rig_ask(&r), 0x0100);
}
END_TEST

/* The policy determines a group's values, whatever its creator or a joining host requests. */
START_TEST(the_policy_has_the_last_word)
{
	struct policy_level *l = rig_level(&r, "gold", 3);
	struct umad_sa_mcmember_record *q, m;
	uint64_t mask = CREATE | MCM(MTU_SEL) | MCM(MTU) | MCM(RATE_SEL) | MCM(RATE) |
			MCM(LIFE_TIME_SEL) | MCM(LIFE_TIME);
	static const struct { uint8_t mtu, rate, life; uint16_t status; } t[] = {
		{ SEL_BEST << 6 | 1, SEL_BEST << 6 | 2, SEL_BEST << 6, 0 },
		{ SEL_EXACT << 6 | 3, SEL_EXACT << 6 | 3, SEL_EXACT << 6 | 15, 0 },
		{ SEL_LESS << 6 | 3, SEL_LESS << 6 | 3, SEL_LESS << 6 | 16, 0 },
		{ SEL_EXACT << 6 | 4, SEL_BEST << 6 | 2, SEL_BEST << 6, 0x0200 },
		{ SEL_GREATER << 6 | 3, SEL_BEST << 6 | 2, SEL_BEST << 6, 0x0200 },
		{ SEL_BEST << 6 | 1, SEL_EXACT << 6 | 6, SEL_BEST << 6, 0x0200 },
		{ SEL_BEST << 6 | 1, SEL_BEST << 6 | 2, SEL_EXACT << 6 | 14, 0x0200 },
		{ SEL_BEST << 6 | 1, SEL_BEST << 6 | 2, SEL_GREATER << 6 | 15, 0x0200 },
	};

	l->mtu_limit = 3;
	l->rate_limit = 3;
	l->packet_lifetime = 15;
	l->tclass = 0x44;
	r.policy->partitions[0].level_index = 1;
	r.policy->partitions[0].ipoib = false;
	rig_start(&r);
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		q = request(SET, mask, ALL_HOSTS + (uint32_t)i, H1, 1);
		q->mgid[3] = 0x1c;
		q->sl_flow_hop = umad_sa_mcm_set_sl_flow_hop(1, 0, 0);
		q->mtu = t[i].mtu;
		q->rate = t[i].rate;
		q->pkt_life = t[i].life;
		ck_assert_msg(rig_ask(&r) == t[i].status, "case %zu", i);
		if (t[i].status)
			continue;
		m = answer();
		ck_assert_uint_eq(be32toh(m.sl_flow_hop) >> 28, 3);
		ck_assert_uint_eq(m.tclass, 0x44);
		ck_assert_uint_le(m.mtu & 0x3f, 3);
		ck_assert_uint_eq(m.pkt_life & 0x3f, 15);
	}
	/* the same values from another port are no reason to refuse it */
	q = request(SET, CREATE, ALL_HOSTS, H2, 1);
	q->mgid[3] = 0x1c;
	q->sl_flow_hop = umad_sa_mcm_set_sl_flow_hop(1, 0, 0);
	q->tclass = 1;
	m = answer();
	ck_assert_uint_eq(be32toh(m.sl_flow_hop) >> 28, 3);
	/* lifetime is a criterion of a join, too */
	q = request(SET, JOIN | MCM(LIFE_TIME_SEL) | MCM(LIFE_TIME), ALL_HOSTS, H2, 1);
	q->mgid[3] = 0x1c;
	q->pkt_life = SEL_LESS << 6 | 15;
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
}
END_TEST

/* A new policy has no TClass: an IPoIB group had that of the former policy, others that of their creator. */
START_TEST(tclass_of_an_earlier_policy)
{
	struct umad_sa_mcmember_record *q;

	r.policy->levels[0].tclass = 0x44;
	rig_start(&r);
	request(SET, CREATE, ALL_HOSTS, H2, 1)->tclass = 0x44;
	answer();
	q = request(SET, CREATE, ALL_HOSTS, H2, 1);
	q->mgid[3] = 0x1c;
	q->tclass = 0x11;
	ck_assert_uint_eq(answer().tclass, 0x44);
	r.policy->levels[0].tclass = -1;
	rig_start(&r);
	for (unsigned ipoib = 0; ipoib < 2; ipoib++) {
		q = request(SET, JOIN, ALL_HOSTS, H2, 1);
		q->mgid[3] = ipoib ? 0x1b : 0x1c;
		ck_assert_uint_eq(answer().tclass, ipoib ? 0 : 0x11);
	}
}
END_TEST

START_TEST(groups_of_an_ipoib_subnet)
{
	uint64_t all = CREATE | MCM(MTU_SEL) | MCM(MTU) | MCM(RATE_SEL) | MCM(RATE) |
		       MCM(HOP_LIMIT) | MCM(SCOPE);
	static const struct {
		const char *what;
		unsigned at, value;	/* a byte of the record */
		uint16_t status;
	} t[] = {
		{ "as the broadcast group", 0, 0xff, 0 },
		{ "IPv6", 2, 0x60, 0 },
		{ "Q_Key", 35, 0x1b, 0 }, { "other Q_Key", 35, 0x1c, 0x0200 },
		{ "TClass", 39, 1, 0x0200 }, { "FlowLabel", 46, 1, 0x0200 },
		{ "HopLimit", 47, 1, 0x0200 }, { "SL", 44, 0x30, 0 },
		{ "MTU", 38, 2 << 6 | 3, 0x0200 }, { "rate", 42, 2 << 6 | 2, 0x0200 },
		{ "P_Key in the MGID", 5, 1, 0x0200 }, { "limited P_Key there", 4, 0x7f, 0x0200 },
		{ "no broadcast group of that scope", 1, 0x15, 0x0200 },
		{ "Scope unlike the MGID's", 48, 0x51, 0 },
		{ "not of IPoIB", 3, 0x1c, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct umad_sa_mcmember_record *q =
			request(SET, all, ALL_HOSTS + (uint32_t)i, H2, 1);

		q->mtu = 2 << 6 | 4;
		q->rate = 2 << 6 | 3;
		((uint8_t *)q)[t[i].at] = (uint8_t)t[i].value;
		if (t[i].at == 1)
			q->scope_state = 0x51;
		ck_assert_msg(rig_ask(&r) == t[i].status, "%s: %#x", t[i].what, rig_ask(&r));
	}
	/* what is left out is the broadcast group's, not the port's */
	request(SET, CREATE, ALL_HOSTS + 100, H2, 1);
	ck_assert_uint_eq(answer().rate, 2 << 6 | 3);
}
END_TEST

START_TEST(mgids_that_are_ours_to_give)
{
	static const struct { uint8_t prefix, flags; uint32_t number; uint16_t status; } t[] = {
		{ 0xfe, 0x12, 7, 0 },		/* it had a member before the restart */
		{ 0xfd, 0x12, 8, 0x0200 }, { 0xfe, 0x02, 9, 0x0200 },
		/* no number that the SA gets to */
		{ 0xfe, 0x12, 0, 0x0200 }, { 0xfe, 0x12, 0xffffff, 0 }, { 0xfe, 0x12, 0x1000000, 0x0200 },
		{ 0xfe, 0x12, 0x12345678, 0x0200 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct umad_sa_mcmember_record *q =
			request(SET, CREATE, t[i].number, H2, 1);

		q->mgid[1] = t[i].flags;
		put_be16(q->mgid + 2, 0xa01b);
		put_be64(q->mgid + 4, PREFIX);
		q->mgid[4] = t[i].prefix;
		ck_assert_msg(rig_ask(&r) == t[i].status, "case %zu", i);
	}
}
END_TEST

/* Requests for others: with and without a common partition, with the SM_Key, and with false claims. */
START_TEST(who_may_ask_for_another)
{
	struct policy_partition *part = rig_partition(&r, 1);
	uint8_t mgid[16];

	part->ipoib = true;
	rig_member(part, H2, MEMBER_FULL);
	rig_member(part, H3, MEMBER_FULL);
	rig_start(&r);
	ipv4_mgid(mgid, BROADCAST);
	put_be16(mgid + 4, 0x8001);
	for (unsigned i = 0; i < 4; i++) {	/* H1, H3, H1 with the key, H1 leaving */
		memcpy(request(i == 3 ? DELETE : SET, JOIN, BROADCAST, H2, 1)->mgid, mgid, 16);
		r.slid = rig_lid(&r, i == 1 ? H3 : H1);
		if (i == 2)
			put_be64(r.mad + 36, SM_KEY);
		ck_assert_msg(rig_ask(&r) == (i == 1 || i == 2 ? 0 : 0x0200), "case %u", i);
	}
	memcpy(request(SET, JOIN | MCM(PROXY_JOIN), BROADCAST, H2, 1)->mgid, mgid, 16);
	ck_assert_uint_eq(rig_ask(&r), 0);
	struct umad_sa_mcmember_record *q =
		request(SET, JOIN | MCM(PROXY_JOIN), BROADCAST, H2, 1);
	q->proxy_join = 0x80;
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
}
END_TEST

/* A group of the limited P_Key is for full members only: limited members cannot communicate. */
START_TEST(limited_group)
{
	struct policy_partition *part = rig_partition(&r, 1);
	static const struct { enum host h; uint16_t status; } t[] = {
		{ H2, 0x0200 }, { H3, 0 }, { H2, 0x0200 }, { H1, 0 },
	};

	rig_member(part, H1, MEMBER_FULL);
	rig_member(part, H2, MEMBER_LIMITED);
	rig_member(part, H3, MEMBER_BOTH);
	rig_start(&r);
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct umad_sa_mcmember_record *q = request(SET, CREATE, ALL_HOSTS, t[i].h, 1);

		q->mgid[3] = 0x1c;
		q->pkey = htobe16(0x0001);
		ck_assert_msg(rig_ask(&r) == t[i].status, "case %zu", i);
	}
}
END_TEST

START_TEST(an_sl_that_the_port_drops)
{
	struct policy_level *l = rig_level(&r, "dead", 4);

	l->tclass = -1;
	r.policy->partitions[0].level_index = r.policy->partitions[0].ipoib_level_index = 1;
	rig_start(&r);
	request(SET, JOIN, BROADCAST, H2, 1);
	ck_assert_uint_eq(rig_ask(&r), 0);
	struct qos_tables *tables = r.state->plan->tables;

	for (uint32_t i = 0; i < tables->n_maps; i++)
		tables->maps[i].vl[4] = 15;
	request(SET, JOIN, BROADCAST, H3, 1);
	ck_assert_uint_eq(rig_ask(&r), 0x0200);
}
END_TEST

START_TEST(no_switch_can)
{
	for (unsigned i = 0; i < 3; i++)
		r.f->switches[i].mcast_cap = i == 1 ? 8 : 0;
	rig_start(&r);
	join(H2, ALL_HOSTS);		/* one can, avoiding the others */
	for (unsigned i = 0; i < 3; i++)
		r.f->switches[i].mcast_cap = 0;
	rig_start(&r);
	request(SET, CREATE, ALL_HOSTS, H2, 1);
	ck_assert_uint_eq(rig_ask(&r), 0x000c);
	request(GET_TABLE, 0, 0, H2, 0);
	ck_assert_uint_eq(rig_ask(&r), 0x000c);
	request(DELETE, JOIN, ALL_HOSTS, H2, 1);
	ck_assert_uint_eq(rig_ask(&r), 0x000c);
	rig_request(&r, GET, 0x0001, 0);
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(r.out.s[56 + 2] & 0x02, 0);	/* UDMulticastSupported, bit 9 */
}
END_TEST

/* A host outside its partition sees a group only with the SM_Key. */
START_TEST(groups_of_other_partitions)
{
	struct policy_partition *part = rig_partition(&r, 1);

	part->ipoib = true;
	rig_member(part, H2, MEMBER_LIMITED);
	rig_start(&r);
	request(GET_TABLE, 0, 0, H2, 0);
	ck_assert_uint_eq(table(), 2);
	request(GET_TABLE, 0, 0, H3, 0);
	ck_assert_uint_eq(table(), 1);
	put_be64(r.mad + 36, SM_KEY);
	ck_assert_uint_eq(table(), 2);
	/* nor any member but itself */
	join(H2, BROADCAST);
	request(GET_TABLE, MCM(PORT_GID), 0, H2, 0);
	ck_assert_uint_eq(table(), 1);
	r.slid = rig_lid(&r, H3);
	ck_assert_uint_eq(table(), 0);
}
END_TEST

START_TEST(who_sees_what)
{
	join(H2, BROADCAST);
	join(H3, BROADCAST);
	join(H3, ALL_HOSTS);

	/* without the key: groups */
	request(GET_TABLE, 0, 0, H1, 0);
	ck_assert_uint_eq(table(), 2);
	for (unsigned i = 0; i < 2; i++) {
		struct umad_sa_mcmember_record m = { 0 };

		memcpy(&m, rig_record(&r, i), 52);
		ck_assert_uint_eq(get_be64(m.portgid), 0);
		ck_assert_uint_eq(get_be64(m.portgid + 8), 0);
		ck_assert_uint_eq(m.scope_state, 0x20);
	}
	request(GET, MCM(MGID), BROADCAST, H1, 0);
	answer();
	request(GET, 0, 0, H1, 0);
	ck_assert_uint_eq(rig_ask(&r), 0x0400);
	request(GET_TABLE, MCM(PORT_GID), 0, H2, 0);
	ck_assert_uint_eq(table(), 1);
	/* with it: members */
	request(GET_TABLE, 0, 0, H1, 0);
	put_be64(r.mad + 36, SM_KEY);
	ck_assert_uint_eq(table(), 3);
	request(GET_TABLE, MCM(MGID), BROADCAST, H1, 0);
	put_be64(r.mad + 36, SM_KEY);
	ck_assert_uint_eq(table(), 2);
	request(GET_TABLE, MCM(PORT_GID), 0, H3, 0);
	put_be64(r.mad + 36, SM_KEY);
	ck_assert_uint_eq(table(), 2);
	request(GET, MCM(PORT_GID) | MCM(MGID), ALL_HOSTS, H3, 0);
	put_be64(r.mad + 36, SM_KEY);
	ck_assert_uint_eq(answer().scope_state, 0x21);
	request(GET_TABLE, MCM(JOIN_STATE), 0, H3, 8);
	put_be64(r.mad + 36, SM_KEY);
	ck_assert_uint_eq(table(), 0);
	/* a full member that is a non-member, too, is not one that is only the former */
	request(SET, JOIN, BROADCAST, H2, 2);
	ck_assert_uint_eq(answer().scope_state, 0x23);
	static const struct { uint8_t state; unsigned n; } by_state[] = { { 1, 2 }, { 2, 0 }, { 3, 1 } };

	for (unsigned i = 0; i < ARRAY_SIZE(by_state); i++) {
		request(GET_TABLE, MCM(JOIN_STATE), 0, H1, by_state[i].state);
		put_be64(r.mad + 36, SM_KEY);
		ck_assert_uint_eq(table(), by_state[i].n);
	}
}
END_TEST

START_TEST(groups_by_component)
{
	join(H3, ALL_HOSTS);
	request(GET_TABLE, MCM(MLID), 0, H1, 0)->mlid = htobe16(0xc001);
	ck_assert_uint_eq(table(), 1);
	request(GET_TABLE, MCM(MLID), 0, H1, 0)->mlid = htobe16(0xc002);
	ck_assert_uint_eq(table(), 0);
	request(GET_TABLE, MCM(PKEY), 0, H1, 0)->pkey = htobe16(0x7fff);
	ck_assert_uint_eq(table(), 2);
	request(GET_TABLE, MCM(QKEY), 0, H1, 0)->qkey = htobe32(1);
	ck_assert_uint_eq(table(), 0);
	request(GET_TABLE, MCM(RATE_SEL) | MCM(RATE), 0, H1, 0)->rate = SEL_EXACT << 6 | 3;
	ck_assert_uint_eq(table(), 2);
	request(GET_TABLE, MCM(MTU_SEL) | MCM(MTU), 0, H1, 0)->mtu = SEL_GREATER << 6 | 4;
	ck_assert_uint_eq(table(), 0);
	request(GET_TABLE, MCM(LIFE_TIME_SEL) | MCM(LIFE_TIME), 0, H1, 0)->pkt_life =
		SEL_LESS << 6 | 19;
	ck_assert_uint_eq(table(), 2);
	request(GET_TABLE, MCM(SCOPE), 0, H1, 0)->scope_state = 0x50;
	ck_assert_uint_eq(table(), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mcmember");
	TCase *c = tcase_create("mcmember");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, ipoib_comes_up_and_goes);
	tcase_add_test(c, membership_survives_a_new_plan);
	tcase_add_test(c, components_that_are_needed);
	tcase_add_test(c, join_states);
	tcase_add_test(c, ports_and_groups_that_do_not_exist);
	tcase_add_test(c, what_is_said_must_be_the_groups);
	tcase_add_test(c, port_that_is_too_slow);
	tcase_add_test(c, pkey_of_the_group);
	tcase_add_test(c, joining_for_another);
	tcase_add_test(c, each_gid_is_a_member);
	tcase_add_test(c, who_sees_which_gid);
	tcase_add_test(c, joining_for_another_by_its_alias);
	tcase_add_test(c, new_group_is_what_the_client_says);
	tcase_add_test(c, mgid_of_our_choice);
	tcase_add_test(c, mlids_run_out);
	tcase_add_test(c, the_policy_has_the_last_word);
	tcase_add_test(c, tclass_of_an_earlier_policy);
	tcase_add_test(c, groups_of_an_ipoib_subnet);
	tcase_add_test(c, mgid_of_their_choice);
	tcase_add_test(c, mgids_that_are_ours_to_give);
	tcase_add_test(c, who_may_ask_for_another);
	tcase_add_test(c, limited_group);
	tcase_add_test(c, an_sl_that_the_port_drops);
	tcase_add_test(c, no_switch_can);
	tcase_add_test(c, groups_of_other_partitions);
	tcase_add_test(c, who_sees_what);
	tcase_add_test(c, groups_by_component);
	suite_add_tcase(s, c);
	return run_suite(s);
}
