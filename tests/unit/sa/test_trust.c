/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What each SM_Key opens: none, the one that everybody knows, a secret one.  h2 asks, for what is
 * of h1.  The table is that of qosd-security(7).
 */
#include <check.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "rig.h"
#include "unit/run.h"

enum { GET = 0x01, SET = 0x02, TABLE = 0x12, DELETE = 0x15 };
enum { TOLD = 0x10000, HIDDEN = 0x20000 };	/* besides statuses */
#define M_KEY 0x0000cafe0000cafeULL

static struct rig r;
static uint64_t key;		/* that the request shows */

static void setup(void)
{
	rig_init(&r);
	r.f->ports[rig_host(&r, H1)].info[50] = 8;	/* GUIDCap */
	put_be64(r.f->ports[rig_host(&r, H1)].info, M_KEY);
	r.arrived_us = 1;
	rig_start(&r);
}

static void teardown(void)
{
	rig_end(&r);
}

/* As h2, with the key. */
static unsigned ask(void)
{
	r.slid = rig_lid(&r, H2);
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

/* It is no way to try keys out either. */
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

static unsigned subscribe_to_switches(void)
{
	return subscribe(259);
}

static const struct {
	const char *name;
	unsigned (*ask)(void);
	unsigned without, with_known, with_secret;
} cells[] = {
	{ "PortInfoRecord, M_Key", port_info, HIDDEN, HIDDEN, TOLD },
	{ "PortInfoRecord by M_Key", port_info_by_key, HIDDEN, HIDDEN, TOLD },
	{ "P_KeyTableRecord", p_keys, 0x0700, 0, 0 },
	{ "ServiceRecord, ServiceKey", service_get, HIDDEN, HIDDEN, TOLD },
	{ "ServiceRecord Set", service_set, 0x0700, 0x0700, 0 },
	{ "ServiceRecord Delete", service_delete, 0x0700, 0x0700, 0 },
	{ "GuidInfoRecord Set", guid_set, 0x0700, 0x0700, 0 },
	{ "GuidInfoRecord Delete", guid_delete, 0x0700, 0x0700, 0 },
	{ "InformInfo, trap 128", subscribe_to_links, 0, 0, 0 },
	{ "InformInfo, trap 256", subscribe_to_violations, 0x0700, 0, 0 },
	{ "InformInfo, trap 259", subscribe_to_switches, 0x0700, 0, 0 },
};

START_TEST(what_each_key_opens)
{
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
		key = 0;
		ck_assert_msg(cells[i].ask() == cells[i].without, "%s without a key", cells[i].name);
		r.sa.sm_key = key = SM_KEY_KNOWN;
		ck_assert_msg(cells[i].ask() == cells[i].with_known, "%s with the key of all",
			      cells[i].name);
		r.sa.sm_key = key = SM_KEY;
		ck_assert_msg(cells[i].ask() == cells[i].with_secret, "%s with a secret key",
			      cells[i].name);
	}
}
END_TEST

/* Whoever says a wrong one gets no answer. */
START_TEST(a_wrong_key)
{
	static const uint64_t wrong[] = { 1, SM_KEY - 1, SM_KEY ^ 1ull << 63, UINT64_MAX };
	struct sa_request req = { .mad = r.mad, .len = MAD_LEN, .slid = rig_lid(&r, H2) };

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		rig_request(&r, TABLE, 0x12, 0);
		put_be64(r.mad + 36, wrong[i]);
		ck_assert(!sa_answer(&r.sa, &req, &r.out));
	}
}
END_TEST

/* h2 has the port GUID of h1, which owns it: it may ask, and change nothing. */
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

int main(void)
{
	Suite *s = suite_create("trust");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, what_each_key_opens);
	tcase_add_test(t, a_wrong_key);
	tcase_add_test(t, a_port_with_the_guid_of_another);
	suite_add_tcase(s, t);
	return run_suite(s);
}
