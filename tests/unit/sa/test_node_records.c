/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests NodeRecord and PortInfoRecord.  The offsets of fields come from libibmad,
 * so that the tables of records.c are not checked against themselves.
 *
 * promise: N1
 */
#include <check.h>
#include <stdlib.h>

#include <infiniband/mad.h>

#include "lib/base/alloc.h"
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

static unsigned nodes(void)
{
	ck_assert_uint_eq(rig_ask(&r), 0);
	return rig_records(&r, sizeof(struct sa_node_record));
}

static unsigned ports(void)
{
	ck_assert_uint_eq(rig_ask(&r), 0);
	return rig_records(&r, sizeof(struct sa_portinfo_record));
}

static struct sa_node_record *node_query(uint64_t mask)
{
	return rig_request(&r, 0x12, 0x11, mask);
}

static struct sa_portinfo_record *port_query(uint64_t mask)
{
	return rig_request(&r, 0x12, 0x12, mask);
}

/* --- NodeRecord --- */

START_TEST(node_of_a_host)
{
	put_be16(node_query(1)->lid, rig_lid(&r, H3));
	ck_assert_uint_eq(nodes(), 1);
	struct sa_node_record n = *(const struct sa_node_record *)rig_record(&r, 0);

	ck_assert_uint_eq(get_be16(n.lid), rig_lid(&r, H3));
	ck_assert_uint_eq(mad_get_field(n.node_info, 0, IB_NODE_TYPE_F), 1);
	ck_assert_uint_eq(mad_get_field64(n.node_info, 0, IB_NODE_PORT_GUID_F), HOST_GUID(H3));
	ck_assert_uint_eq(mad_get_field(n.node_info, 0, IB_NODE_LOCAL_PORT_F), 1);
	ck_assert_str_eq((const char *)n.node_desc, "h3 HCA-1");
}
END_TEST

/* A switch's record has the port with the LID, not the one that discovery entered by. */
START_TEST(node_of_a_switch)
{
	uint32_t node = r.f->switches[1].node;
	const struct sa_node_record *n;

	r.f->nodes[node].info[36] = 7;
	put_be16(node_query(1)->lid, r.state->plan->lid[r.f->nodes[node].port0]);
	ck_assert_uint_eq(nodes(), 1);
	n = rig_record(&r, 0);
	ck_assert_uint_eq(n->node_info[36], 0);
	ck_assert_uint_eq(get_be64(n->node_info + 20), SWITCH_GUID(1));
}
END_TEST

START_TEST(every_lid_of_a_port_means_it)
{
	r.settings->lmc = 3;
	rig_start(&r);
	for (unsigned i = 0; i < 8; i++) {
		put_be16(node_query(1)->lid, (uint16_t)(rig_lid(&r, H2) + i));
		ck_assert_uint_eq(nodes(), 1);
		ck_assert_uint_eq(get_be16(rig_record(&r, 0)), rig_lid(&r, H2));
		put_be16(port_query(1)->lid, (uint16_t)(rig_lid(&r, H2) + i));
		ck_assert_uint_eq(ports(), 1);
	}
}
END_TEST

/* Each field: asked for with h3's value finds h3; with one bit changed it does not. */
static const struct { unsigned bit; enum MAD_FIELDS field; } node_fields[] = {
	{ 2, IB_NODE_BASE_VERS_F }, { 3, IB_NODE_CLASS_VERS_F }, { 4, IB_NODE_TYPE_F },
	{ 5, IB_NODE_NPORTS_F }, { 6, IB_NODE_SYSTEM_GUID_F }, { 7, IB_NODE_GUID_F },
	{ 8, IB_NODE_PORT_GUID_F }, { 9, IB_NODE_PARTITION_CAP_F }, { 10, IB_NODE_DEVID_F },
	{ 11, IB_NODE_REVISION_F }, { 12, IB_NODE_LOCAL_PORT_F }, { 13, IB_NODE_VENDORID_F },
};

START_TEST(node_component)
{
	uint64_t mask = 1ull << node_fields[_i].bit;
	enum MAD_FIELDS field = node_fields[_i].field;
	struct sa_node_record *q;
	uint8_t wanted[8] = { 0 };

	put_be16(node_query(1)->lid, rig_lid(&r, H3));
	ck_assert_uint_eq(nodes(), 1);
	struct sa_node_record n = *(const struct sa_node_record *)rig_record(&r, 0);

	mad_decode_field(n.node_info, field, wanted);
	q = node_query(1 | mask);
	put_be16(q->lid, rig_lid(&r, H3));
	mad_encode_field(q->node_info, field, wanted);
	ck_assert_uint_eq(nodes(), 1);
	wanted[0] ^= 1;
	mad_encode_field(q->node_info, field, wanted);
	ck_assert_uint_eq(nodes(), 0);
}
END_TEST

START_TEST(nodes_by_kind)
{
	mad_set_field(node_query(1 << 4)->node_info, 0, IB_NODE_TYPE_F, 2);
	ck_assert_uint_eq(nodes(), 3);
	mad_set_field(node_query(1 << 4)->node_info, 0, IB_NODE_TYPE_F, 1);
	ck_assert_uint_eq(nodes(), 4);
	memcpy(node_query(1 << 14)->node_desc, "h2 HCA-1", 8);
	ck_assert_uint_eq(nodes(), 1);
	ck_assert_uint_eq(get_be16(rig_record(&r, 0)), rig_lid(&r, H2));
	memcpy(node_query(1 << 14)->node_desc, "h2 HCA", 6);	/* not all of the name */
	ck_assert_uint_eq(nodes(), 0);
}
END_TEST

/* --- PortInfoRecord --- */

START_TEST(ports_of_a_switch)
{
	uint16_t lid = r.state->plan->lid[r.f->nodes[r.f->switches[0].node].port0];

	put_be16(port_query(1)->lid, lid);
	ck_assert_uint_eq(ports(), 9);
	for (unsigned i = 0; i < 9; i++) {
		const struct sa_portinfo_record *p = rig_record(&r, i);

		ck_assert_uint_eq(get_be16(p->lid), lid);
		ck_assert_uint_eq(p->port_num, i);
	}
	struct sa_portinfo_record *q = port_query(1 | 2);
	put_be16(q->lid, lid);
	q->port_num = 7;
	ck_assert_uint_eq(ports(), 1);
	r.mad[3] = 1;
	ck_assert_uint_eq(ports(), 1);
	port_query(0);
	ck_assert_uint_eq(ports(), 3 * 9 + 4);
}
END_TEST

static const struct { unsigned bit; enum MAD_FIELDS field; } port_fields[] = {
	{ 4, IB_PORT_GID_PREFIX_F }, { 5, IB_PORT_LID_F }, { 6, IB_PORT_SMLID_F },
	{ 7, IB_PORT_CAPMASK_F }, { 8, IB_PORT_DIAG_F }, { 9, IB_PORT_MKEY_LEASE_F },
	{ 10, IB_PORT_LOCAL_PORT_F }, { 11, IB_PORT_LINK_WIDTH_ENABLED_F },
	{ 12, IB_PORT_LINK_WIDTH_SUPPORTED_F }, { 13, IB_PORT_LINK_WIDTH_ACTIVE_F },
	{ 14, IB_PORT_LINK_SPEED_SUPPORTED_F }, { 15, IB_PORT_STATE_F },
	{ 16, IB_PORT_PHYS_STATE_F }, { 17, IB_PORT_LINK_DOWN_DEF_F },
	{ 18, IB_PORT_MKEY_PROT_BITS_F }, { 20, IB_PORT_LMC_F },
	{ 21, IB_PORT_LINK_SPEED_ACTIVE_F }, { 22, IB_PORT_LINK_SPEED_ENABLED_F },
	{ 23, IB_PORT_NEIGHBOR_MTU_F }, { 24, IB_PORT_SMSL_F }, { 25, IB_PORT_VL_CAP_F },
	{ 26, IB_PORT_INIT_TYPE_F }, { 27, IB_PORT_VL_HIGH_LIMIT_F },
	{ 28, IB_PORT_VL_ARBITRATION_HIGH_CAP_F }, { 29, IB_PORT_VL_ARBITRATION_LOW_CAP_F },
	{ 30, IB_PORT_INIT_TYPE_REPLY_F }, { 31, IB_PORT_MTU_CAP_F },
	{ 32, IB_PORT_VL_STALL_COUNT_F }, { 33, IB_PORT_HOQ_LIFE_F }, { 34, IB_PORT_OPER_VLS_F },
	{ 35, IB_PORT_PART_EN_INB_F }, { 36, IB_PORT_PART_EN_OUTB_F },
	{ 37, IB_PORT_FILTER_RAW_INB_F }, { 38, IB_PORT_FILTER_RAW_OUTB_F },
	{ 39, IB_PORT_MKEY_VIOL_F }, { 40, IB_PORT_PKEY_VIOL_F }, { 41, IB_PORT_QKEY_VIOL_F },
	{ 42, IB_PORT_GUID_CAP_F }, { 43, IB_PORT_CLIENT_REREG_F },
	{ 45, IB_PORT_SUBN_TIMEOUT_F }, { 47, IB_PORT_RESP_TIME_VAL_F },
	{ 48, IB_PORT_LOCAL_PHYS_ERR_F }, { 49, IB_PORT_OVERRUN_ERR_F },
	{ 50, IB_PORT_MAX_CREDIT_HINT_F }, { 52, IB_PORT_LINK_ROUND_TRIP_F },
	{ 53, IB_PORT_CAPMASK2_F }, { 54, IB_PORT_LINK_SPEED_EXT_ACTIVE_F },
	{ 55, IB_PORT_LINK_SPEED_EXT_SUPPORTED_F }, { 57, IB_PORT_LINK_SPEED_EXT_ENABLED_F },
};

START_TEST(port_component)
{
	uint64_t mask = 1ull << port_fields[_i].bit;
	enum MAD_FIELDS field = port_fields[_i].field;
	uint8_t *info = r.f->ports[rig_host(&r, H3)].info;
	uint8_t wanted[8] = { 0 };
	struct sa_portinfo_record *q;

	memset(info, 0xa5, 64);
	mad_decode_field(info, field, wanted);
	q = port_query(1 | 1 << 2 | mask);
	memset(q->port_info, 0x5a, 64);		/* only the field counts */
	q->options = 0x80;			/* speeds as they are */
	put_be16(q->lid, rig_lid(&r, H3));
	mad_encode_field(q->port_info, field, wanted);
	ck_assert_uint_eq(ports(), 1);
	wanted[0] ^= 1;
	mad_encode_field(q->port_info, field, wanted);
	ck_assert_uint_eq(ports(), 0);
}
END_TEST

START_TEST(capabilities_that_include_some)
{
	struct sa_portinfo_record *q = port_query(1 | 1 << 7);

	mad_set_field(r.f->ports[rig_host(&r, H3)].info, 0, IB_PORT_CAPMASK_F, 0x02010048);
	put_be16(q->lid, rig_lid(&r, H3));
	mad_set_field(q->port_info, 0, IB_PORT_CAPMASK_F, 0x40);
	ck_assert_uint_eq(ports(), 0);
	put_be32(r.mad + 20, 1u << 31);		/* AttributeModifier: subset */
	ck_assert_uint_eq(ports(), 1);
	mad_set_field(q->port_info, 0, IB_PORT_CAPMASK_F, 0x42);
	ck_assert_uint_eq(ports(), 0);
}
END_TEST

/* Options selects the form of the record and is no criterion. */
START_TEST(full_records)
{
	uint8_t *info = r.f->ports[rig_host(&r, H3)].info;
	const struct sa_portinfo_record *p;

	r.f->ports[rig_host(&r, H3)].capmask |= 1u << 14;	/* extended speeds */
	info[32] = info[35] = 0x11;
	for (unsigned i = 0; i < 4; i++) {
		bool full = i & 1, extended = i & 2;
		struct sa_portinfo_record *q = port_query(1 | 1 << 2);

		info[62] = extended ? 0x11 : 0x01;
		put_be16(q->lid, rig_lid(&r, H3));
		q->options = full ? 0x80 : 0;
		ck_assert_uint_eq(ports(), 1);
		p = rig_record(&r, 0);
		ck_assert_uint_eq(p->options, q->options);
		ck_assert_uint_eq(p->port_info[32], full || !extended ? 0x11 : 0x51);
		ck_assert_uint_eq(p->port_info[35], full || !extended ? 0x11 : 0x55);
		ck_assert_uint_eq(p->port_info[62], info[62]);
	}
	put_be16(port_query(1)->lid, rig_lid(&r, H3));		/* not full, unless asked for */
	ck_assert_uint_eq(ports(), 1);
	p = rig_record(&r, 0);
	ck_assert_uint_eq(p->options, 0);
	ck_assert_uint_eq(p->port_info[35], 0x55);
	r.f->ports[rig_host(&r, H3)].capmask &= ~(1u << 14);
	ck_assert_uint_eq(ports(), 1);
	p = rig_record(&r, 0);
	ck_assert_uint_eq(p->port_info[35], 0x11);
}
END_TEST

static uint64_t answered_m_key(void)
{
	const struct sa_portinfo_record *p = rig_record(&r, 0);

	return get_be64(p->port_info);
}

START_TEST(m_key_is_for_the_trusted)
{
	struct sa_portinfo_record *q = port_query(1);
	uint64_t key = 0xfeedface12345678ULL;

	put_be64(r.f->ports[rig_host(&r, H3)].info, key);
	put_be16(q->lid, rig_lid(&r, H3));
	ck_assert_uint_eq(ports(), 1);
	ck_assert_uint_eq(answered_m_key(), 0);
	put_be64(r.mad + 36, SM_KEY);
	ck_assert_uint_eq(ports(), 1);
	ck_assert_uint_eq(answered_m_key(), key);
	/* nor can it be guessed */
	q = port_query(1 | 1 << 3);
	put_be16(q->lid, rig_lid(&r, H3));
	put_be64(q->port_info, key);
	ck_assert_uint_eq(ports(), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("records");
	TCase *c = tcase_create("records");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, node_of_a_host);
	tcase_add_test(c, node_of_a_switch);
	tcase_add_test(c, every_lid_of_a_port_means_it);
	tcase_add_loop_test(c, node_component, 0, ARRAY_SIZE(node_fields));
	tcase_add_test(c, nodes_by_kind);
	tcase_add_test(c, ports_of_a_switch);
	tcase_add_loop_test(c, port_component, 0, ARRAY_SIZE(port_fields));
	tcase_add_test(c, capabilities_that_include_some);
	tcase_add_test(c, full_records);
	tcase_add_test(c, m_key_is_for_the_trusted);
	suite_add_tcase(s, c);
	return run_suite(s);
}
