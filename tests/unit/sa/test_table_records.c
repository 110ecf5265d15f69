/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests records of switches, tables, links and SMs.  The answer to a query must be equal
 * to the whole table, filtered here by the component; the offsets of fields of SwitchInfo
 * and SMInfo come from libibmad.
 *
 * promise: N1
 */
#include <check.h>
#include <stdlib.h>

#include <infiniband/mad.h>

#include "lib/base/alloc.h"
#include "plan/sm_attributes.h"
#include "rig.h"
#include "sa/scan.h"
#include "unit/run.h"

enum {
	SL2VL = 0x13, SWITCH = 0x14, LFT = 0x15, RFT = 0x16, MFT = 0x17, SMINFO = 0x18,
	LINK = 0x20, GUIDINFO = 0x30, PKEY = 0x33, VLARB = 0x36,
};

static const struct kind {
	uint16_t attr;
	uint8_t size;
	uint64_t reserved;	/* bits of the mask that mean nothing */
	const struct sa_kind *scan;
} kinds[] = {
	{ SL2VL, 16, 1 << 3, &sa_sl2vl_kind },
	{ SWITCH, 24, 1 << 1 | 1 << 19, &sa_switchinfo_kind },
	{ LFT, 72, 1 << 2, &sa_lft_kind },
	{ RFT, 72, 1 << 2, &sa_rft_kind },
	{ MFT, 72, 1 << 2 | 1 << 4, &sa_mft_kind },
	{ SMINFO, 25, 1 << 1, &sa_sminfo_kind },
	{ LINK, 6, 1 << 4, &sa_link_kind },
	{ GUIDINFO, 72, 1 << 2 | 1 << 3, &sa_guidinfo_kind },
	{ PKEY, 72, 1 << 3, &sa_pkey_kind },
	{ VLARB, 72, 1 << 3, &sa_vlarb_kind },
	{ 0x11, 108, 1 << 1, &sa_node_kind },
	{ 0x12, 68, 1 << 19 | 1ull << 44 | 1ull << 46 | 1ull << 51 | 1ull << 56,
	  &sa_portinfo_kind },
};

static const struct kind *kind_of(uint16_t attr)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].attr == attr)
			return &kinds[i];
	ck_abort_msg("no such kind");
}

static struct rig r;

/* --- what the SM would say --- */

static struct sa_sm_info sms[3];
#define MFT_BLOCKS 4

static bool sm_info(void *arg, uint32_t i, struct sa_sm_info *out)
{
	ck_assert_ptr_eq(arg, &r);
	if (i < ARRAY_SIZE(sms))
		*out = sms[i];
	return i < ARRAY_SIZE(sms);
}

static uint32_t mft_blocks(void *arg)
{
	ck_assert_ptr_eq(arg, &r);
	return MFT_BLOCKS;
}

/* Of each switch blocks 0 and 3 are known, and nothing of the spine's block 3. */
static bool mft_block(void *arg, uint64_t guid, unsigned block, unsigned position,
		      uint8_t entries[64])
{
	ck_assert_ptr_eq(arg, &r);
	ck_assert_uint_lt(block, MFT_BLOCKS);
	if ((block != 0 && block != 3) || (block == 3 && guid == SWITCH_GUID(1)))
		return false;
	memset(entries, (int)(guid >> 4 ^ block << 2 ^ position), 64);
	return true;
}

static struct fabric_switch *sw(unsigned i)
{
	return &r.f->switches[i];
}

static uint32_t sw_port0(unsigned i)
{
	return r.f->nodes[sw(i)->node].port0;
}

/* Tables of all kinds, none of them trivial. */
static void setup(void)
{
	struct policy_partition *p;

	rig_init(&r);
	sms[0] = (struct sa_sm_info){ HOST_GUID(H1), 7, 3, 3 };
	sms[1] = (struct sa_sm_info){ HOST_GUID(H4), 100, 2, 2 };
	sms[2] = (struct sa_sm_info){ 0x4711, 1, 1, 1 };	/* on no existing port */
	r.sa.sm = (struct sa_sm_hooks){ sm_info, mft_blocks, mft_block, &r };
	r.policy->has_fabric_setup = true;
	p = rig_partition(&r, 0x10);
	rig_member(p, H3, MEMBER_FULL);
	rig_member(p, H4, MEMBER_LIMITED);
	for (unsigned i = 0; i < r.f->n_switches; i++) {
		sw(i)->enforce_cap = 40;
		sw(i)->enforces_in = sw(i)->enforces_out = true;
		for (unsigned b = 0; b < sizeof(sw(i)->info); b++)
			sw(i)->info[b] = (uint8_t)(0x5b * (b + 1) ^ 0x3d * i);
	}
	r.f->ports[rig_host(&r, H3)].info[50] = 20;	/* GUIDCap: three blocks */
	r.f->ports[rig_host(&r, H4)].info[50] = 0;
	rig_start(&r);
}

static void teardown(void)
{
	rig_end(&r);
}

/* --- asking --- */

static void *query(uint16_t attr, uint64_t mask)
{
	uint8_t *q = rig_request(&r, 0x12, attr, mask);

	put_be64(r.mad + 36, SM_KEY);
	return q;
}

struct answer {
	unsigned n;
	uint8_t (*v)[112];
};

/* A copy of the answer to the last request. */
static struct answer take_answer(uint16_t attr)
{
	struct answer a;

	ck_assert_uint_eq(rig_ask(&r), 0);
	a.n = rig_records(&r, kind_of(attr)->size);
	a.v = xcalloc(a.n + 1, sizeof(*a.v));
	for (unsigned i = 0; i < a.n; i++)
		memcpy(a.v[i], rig_record(&r, i), kind_of(attr)->size);
	return a;
}

static struct answer whole(uint16_t attr)
{
	query(attr, 0);
	return take_answer(attr);
}

static unsigned count(uint16_t attr)
{
	struct answer a = take_answer(attr);

	free(a.v);
	return a.n;
}

/* --- each component --- */

static const struct component {
	uint16_t attr;
	uint8_t bit;
	uint16_t offset, width;		/* in the record, or */
	enum MAD_FIELDS field;		/* … of the attribute behind the first 4 bytes */
} components[] = {
	{ SL2VL, 0, 0, 16, 0 }, { SL2VL, 1, 16, 8, 0 }, { SL2VL, 2, 24, 8, 0 },
	{ SL2VL, 4, 64, 4, 0 }, { SL2VL, 5, 68, 4, 0 }, { SL2VL, 6, 72, 4, 0 },
	{ SL2VL, 7, 76, 4, 0 }, { SL2VL, 8, 80, 4, 0 }, { SL2VL, 9, 84, 4, 0 },
	{ SL2VL, 10, 88, 4, 0 }, { SL2VL, 11, 92, 4, 0 }, { SL2VL, 12, 96, 4, 0 },
	{ SL2VL, 13, 100, 4, 0 }, { SL2VL, 14, 104, 4, 0 }, { SL2VL, 15, 108, 4, 0 },
	{ SL2VL, 16, 112, 4, 0 }, { SL2VL, 17, 116, 4, 0 }, { SL2VL, 18, 120, 4, 0 },
	{ SL2VL, 19, 124, 4, 0 },
	{ SWITCH, 0, 0, 16, 0 }, { SWITCH, 2, 0, 0, IB_SW_LINEAR_FDB_CAP_F },
	{ SWITCH, 3, 0, 0, IB_SW_RANDOM_FDB_CAP_F }, { SWITCH, 4, 0, 0, IB_SW_MCAST_FDB_CAP_F },
	{ SWITCH, 5, 0, 0, IB_SW_LINEAR_FDB_TOP_F }, { SWITCH, 6, 0, 0, IB_SW_DEF_PORT_F },
	{ SWITCH, 7, 0, 0, IB_SW_DEF_MCAST_PRIM_F },
	{ SWITCH, 8, 0, 0, IB_SW_DEF_MCAST_NOT_PRIM_F }, { SWITCH, 9, 0, 0, IB_SW_LIFE_TIME_F },
	{ SWITCH, 10, 0, 0, IB_SW_STATE_CHANGE_F }, { SWITCH, 11, 0, 0, IB_SW_OPT_SLTOVL_MAPPING_F },
	{ SWITCH, 12, 0, 0, IB_SW_LIDS_PER_PORT_F },
	{ SWITCH, 13, 0, 0, IB_SW_PARTITION_ENFORCE_CAP_F },
	{ SWITCH, 14, 0, 0, IB_SW_PARTITION_ENF_INB_F },
	{ SWITCH, 15, 0, 0, IB_SW_PARTITION_ENF_OUTB_F },
	{ SWITCH, 16, 0, 0, IB_SW_FILTER_RAW_INB_F },
	{ SWITCH, 17, 0, 0, IB_SW_FILTER_RAW_OUTB_F },
	{ SWITCH, 18, 0, 0, IB_SW_ENHANCED_PORT0_F }, { SWITCH, 20, 0, 0, IB_SW_MCAST_FDB_TOP_F },
	{ LFT, 0, 0, 16, 0 }, { LFT, 1, 16, 16, 0 }, { LFT, 3, 64, 512, 0 },
	{ MFT, 0, 0, 16, 0 }, { MFT, 1, 16, 4, 0 }, { MFT, 3, 23, 9, 0 }, { MFT, 5, 64, 512, 0 },
	{ SMINFO, 0, 0, 16, 0 }, { SMINFO, 2, 0, 0, IB_SMINFO_GUID_F },
	{ SMINFO, 3, 0, 0, IB_SMINFO_KEY_F }, { SMINFO, 4, 0, 0, IB_SMINFO_ACT_F },
	{ SMINFO, 5, 0, 0, IB_SMINFO_PRIO_F }, { SMINFO, 6, 0, 0, IB_SMINFO_STATE_F },
	{ LINK, 0, 0, 16, 0 }, { LINK, 1, 16, 8, 0 }, { LINK, 2, 24, 8, 0 }, { LINK, 3, 32, 16, 0 },
	{ GUIDINFO, 0, 0, 16, 0 }, { GUIDINFO, 1, 16, 8, 0 }, { GUIDINFO, 4, 64, 64, 0 },
	{ GUIDINFO, 5, 128, 64, 0 }, { GUIDINFO, 6, 192, 64, 0 }, { GUIDINFO, 7, 256, 64, 0 },
	{ GUIDINFO, 8, 320, 64, 0 }, { GUIDINFO, 9, 384, 64, 0 }, { GUIDINFO, 10, 448, 64, 0 },
	{ GUIDINFO, 11, 512, 64, 0 },
	{ PKEY, 0, 0, 16, 0 }, { PKEY, 1, 16, 16, 0 }, { PKEY, 2, 32, 8, 0 }, { PKEY, 4, 64, 512, 0 },
	{ VLARB, 0, 0, 16, 0 }, { VLARB, 1, 16, 8, 0 }, { VLARB, 2, 24, 8, 0 },
	{ VLARB, 4, 64, 512, 0 },
};

static bool bit_of(const uint8_t *v, unsigned i)
{
	return v[i / 8] >> (7 - i % 8) & 1;
}

static void set_bit(uint8_t *v, unsigned i, bool on)
{
	uint8_t bit = (uint8_t)(0x80 >> i % 8);

	v[i / 8] = (uint8_t)(on ? v[i / 8] | bit : v[i / 8] & ~bit);
}

static void get_component(const struct component *c, uint8_t *record, uint8_t value[64])
{
	memset(value, 0, 64);
	if (c->field)
		mad_decode_field(record + 4, c->field, value);
	for (unsigned i = 0; i < c->width; i++)
		set_bit(value, i, bit_of(record, c->offset + i));
}

static void put_component(const struct component *c, uint8_t *record, uint8_t value[64])
{
	if (c->field)
		mad_encode_field(record + 4, c->field, value);
	for (unsigned i = 0; i < c->width; i++)
		set_bit(record, c->offset + i, bit_of(value, i));
}

static bool holds(const struct answer *a, const uint8_t record[112])
{
	for (unsigned i = 0; i < a->n; i++)
		if (!memcmp(a->v[i], record, sizeof(*a->v)))
			return true;
	return false;
}

/* Those records of the whole that have the value, in any order; no two are equal. */
static void expect_filtered(const struct component *c, const struct answer *all,
			    const struct answer *got, const uint8_t value[64])
{
	uint8_t has[64];
	unsigned n = 0;

	for (unsigned i = 0; i < all->n; i++) {
		get_component(c, all->v[i], has);
		if (memcmp(has, value, sizeof(has)))
			continue;
		ck_assert(holds(got, all->v[i]));
		n++;
	}
	ck_assert_uint_eq(n, got->n);
}

static void try_component(const struct component *c, const struct answer *all, uint8_t value[64])
{
	uint8_t *q = query(c->attr, 1ull << c->bit);
	struct answer got;

	memset(q, 0xa5, kind_of(c->attr)->size);	/* only the component counts */
	put_component(c, q, value);
	got = take_answer(c->attr);
	expect_filtered(c, all, &got, value);
	free(got.v);
}

START_TEST(component)
{
	const struct component *c = &components[_i];
	struct answer all = whole(c->attr);
	uint8_t value[64];

	ck_assert_uint_gt(all.n, 1);
	for (unsigned i = 0; i < all.n; i += all.n > 40 ? 13 : 1) {
		get_component(c, all.v[i], value);
		try_component(c, &all, value);
		if (c->field)
			value[0] ^= 1;
		else
			set_bit(value, c->width - 1u, !bit_of(value, c->width - 1u));
		try_component(c, &all, value);
	}
	free(all.v);
}
END_TEST

START_TEST(reserved_components_are_ignored)
{
	const struct kind *k = &kinds[_i];
	struct answer all = whole(k->attr), got;

	memset(query(k->attr, k->reserved | 1ull << 62 | 1ull << 63), 0xa5, k->size);
	got = take_answer(k->attr);
	ck_assert_uint_eq(got.n, all.n);
	ck_assert_mem_eq(got.v, all.v, all.n * sizeof(*all.v));
	free(all.v);
	free(got.v);
}
END_TEST

/* --- LIDs --- */

START_TEST(any_lid_of_a_port)
{
	const struct kind *k = &kinds[_i];
	struct answer base;
	uint16_t lid;

	r.settings->lmc = 2;
	rig_start(&r);
	lid = k->attr == SWITCH || k->attr == LFT || k->attr == MFT ?
	      r.state->plan->lid[sw_port0(0)] : rig_lid(&r, H4);
	put_be16(query(k->attr, 1), lid);
	base = take_answer(k->attr);
	ck_assert(base.n || k->attr == RFT);
	for (uint16_t i = 1; i < 4 && lid == rig_lid(&r, H4); i++) {
		put_be16(query(k->attr, 1), (uint16_t)(lid + i));
		struct answer got = take_answer(k->attr);

		ck_assert_uint_eq(got.n, base.n);
		ck_assert_mem_eq(got.v, base.v, base.n * sizeof(*base.v));
		free(got.v);
	}
	free(base.v);
	/* a LID that no port has */
	put_be16(query(k->attr, 1), 0x7777);
	ck_assert_uint_eq(count(k->attr), 0);
	r.mad[3] = 1;
	ck_assert_uint_eq(rig_ask(&r), 0x0300);
	put_be16(query(k->attr, 1), 0xc001);
	ck_assert_uint_eq(count(k->attr), 0);
}
END_TEST

/* --- who may see it --- */

/* All are limited members but the SM's port and leaf1: the others do not see each other. */
static void keep_apart(void)
{
	struct policy_partition *p = &r.policy->partitions[0];

	ck_assert_uint_eq(p->pkey, 0x7fff);
	for (size_t i = 0; i < p->n_members; i++)
		p->members[i].membership = MEMBER_LIMITED;
	rig_member(p, H1, MEMBER_FULL);
	rig_member(p, H1, MEMBER_FULL);
	p->members[p->n_members - 1].guids = (struct u64_range){ .lo = SWITCH_GUID(0), .hi = SWITCH_GUID(0) };
	rig_start(&r);
}

START_TEST(limited_visibility)
{
	const struct kind *k = &kinds[_i];
	struct answer all, got;
	uint16_t seen[3];
	unsigned n = 0;

	keep_apart();
	seen[0] = rig_lid(&r, H1);
	seen[1] = rig_lid(&r, H2);
	seen[2] = r.state->plan->lid[sw_port0(0)];
	all = whole(k->attr);
	query(k->attr, 0);
	r.slid = seen[1];
	got = take_answer(k->attr);
	for (unsigned i = 0; i < all.n; i++) {
		uint16_t lid = get_be16(all.v[i]), to = get_be16(all.v[i] + 4);
		bool see = lid == seen[0] || lid == seen[1] || lid == seen[2];

		if (k->attr == LINK && to != seen[0] && to != seen[1] && to != seen[2])
			see = false;
		if (!see)
			continue;
		ck_assert_uint_lt(n, got.n);
		ck_assert_mem_eq(all.v[i], got.v[n], k->size);
		n++;
	}
	ck_assert_uint_eq(n, got.n);
	ck_assert(got.n || k->attr == RFT);
	ck_assert(got.n < all.n || k->attr == RFT);
	if (k->attr == LINK)
		ck_assert_uint_eq(got.n, 4);
	free(all.v);
	free(got.v);
}
END_TEST

/* --- the form of a request --- */

static unsigned asked(uint8_t method, uint16_t attr, uint32_t mod, size_t len)
{
	query(attr, 0);
	r.mad[3] = method;
	put_be32(r.mad + 20, mod);
	r.len = len;
	return rig_ask(&r);
}

START_TEST(form)
{
	const struct kind *k = &kinds[_i];
	static const uint8_t others[] = { 0x02, 0x14, 0x15, 0x13 };
	unsigned get = k->attr == RFT ? 0x0300 : 0x0400;	/* there are several */

	ck_assert_uint_eq(asked(1, k->attr, 0, MAD_LEN), get);
	ck_assert_uint_eq(asked(0x12, k->attr, 0, MAD_LEN), 0);
	for (size_t i = 0; i < sizeof(others); i++)
		ck_assert_uint_eq(asked(others[i], k->attr, 0, MAD_LEN),
				  k->attr == GUIDINFO && others[i] != 0x14 && others[i] != 0x13 ?
				  0x0600 : 0x000c);	/* aliases may be set, of a port that is named */
	ck_assert_uint_eq(asked(0x12, k->attr, 1, MAD_LEN), 0);
	ck_assert_uint_eq(asked(0x12, k->attr, 1u << 31, MAD_LEN), 0);
	ck_assert_uint_eq(asked(0x12, k->attr, 0, SA_HDR_LEN + k->size), 0);
	ck_assert_uint_eq(asked(0x12, k->attr, 0, SA_HDR_LEN + k->size - 1u), 0x0200);
	ck_assert_uint_eq(asked(0x12, k->attr, 0, MAD_LEN + 8), 0x0200);
}
END_TEST

START_TEST(attributes_that_there_are_not)
{
	/*
	 * LinkSpeedWidthPairs, SwitchPortState, Trace, ServiceAssociation, HierarchyInfo,
	 * CableInfo, PortInfoExtended
	 */
	static const uint16_t attrs[] = { 0x19, 0x34, 0x39, 0x3b, 0x3c, 0x3d, 0x3e };

	for (size_t i = 0; i < ARRAY_SIZE(attrs); i++) {
		rig_request(&r, 0x01, attrs[i], 0);
		ck_assert_uint_eq(rig_ask(&r), 0x000c);
		rig_request(&r, 0x12, attrs[i], 0);
		ck_assert_uint_eq(rig_ask(&r), 0x000c);
	}
}
END_TEST

/* --- what is in the records --- */

START_TEST(switch_info)
{
	struct answer a = whole(SWITCH);

	ck_assert_uint_eq(a.n, 3);
	for (unsigned i = 0; i < 3; i++) {
		const struct sa_switchinfo_record *s = (const void *)a.v[i];

		ck_assert_uint_eq(get_be16(s->lid), r.state->plan->lid[sw_port0(i)]);
		ck_assert_mem_eq(s->switch_info, sw(i)->info, 20);
	}
	free(a.v);
}
END_TEST

START_TEST(linear_tables)
{
	r.settings->lmc = 6;		/* more than one block */
	rig_start(&r);
	struct answer a = whole(LFT);
	const struct lfts *l = r.state->plan->lfts;
	unsigned blocks = l->top / 64 + 1u;

	ck_assert_uint_gt(blocks, 3);
	ck_assert_uint_eq(a.n, 3 * blocks);
	for (unsigned i = 0; i < a.n; i++) {
		const struct sa_ft_record *f = (const void *)a.v[i];
		uint32_t s = i / blocks;

		ck_assert_uint_eq(get_be16(f->lid), r.state->plan->lid[sw_port0(s)]);
		ck_assert_uint_eq(get_be16(f->block), i % blocks);
		for (unsigned e = 0; e < 64; e++)
			ck_assert_uint_eq(f->entries[e],
					  lft_get(l, s, (uint16_t)(i % blocks * 64 + e)));
	}
	free(a.v);
	put_be16((uint8_t *)query(LFT, 2) + 2, (uint16_t)blocks);
	ck_assert_uint_eq(count(LFT), 0);
}
END_TEST

START_TEST(no_random_tables)
{
	query(RFT, 0);
	ck_assert_uint_eq(count(RFT), 0);
}
END_TEST

START_TEST(multicast_tables)
{
	struct answer a = whole(MFT);

	ck_assert_uint_eq(a.n, 5);	/* of 3 switches two blocks each, but for one */
	for (unsigned i = 0; i < a.n; i++) {
		const struct sa_mft_record *f = (const void *)a.v[i];
		uint32_t port = r.state->plan->port_by_lid[get_be16(f->lid)];
		uint8_t want[64];

		ck_assert(mft_block(&r, port_node(r.f, port)->guid, get_be16(f->position_block), 0,
				    want));
		ck_assert_mem_eq(f->entries, want, 64);
	}
	free(a.v);
	r.sa.sm = (struct sa_sm_hooks){ 0 };
	query(MFT, 0);
	ck_assert_uint_eq(count(MFT), 0);
}
END_TEST

/* A switch of 8 ports has position 0 only. */
START_TEST(multicast_positions)
{
	((struct sa_mft_record *)query(MFT, 2))->position_block[0] = 0x10;
	ck_assert_uint_eq(count(MFT), 0);
	r.f->nodes[sw(0)->node].nports = 16;	/* whose ports are not used */
	query(MFT, 0);
	ck_assert_uint_eq(count(MFT), 7);
	((struct sa_mft_record *)query(MFT, 2))->position_block[0] = 0x10;
	ck_assert_uint_eq(count(MFT), 2);
	r.f->nodes[sw(0)->node].nports = 8;
}
END_TEST

/* A table for each pair of different ports with links, and for CAs one of their own. */
START_TEST(sl2vl_tables)
{
	struct answer a = whole(SL2VL);
	const struct qos_tables *t = r.state->plan->tables;
	unsigned n = 0;

	for (unsigned i = 0; i < a.n; i++) {
		const struct sa_sl2vl_record *s = (const void *)a.v[i];
		uint32_t port = r.state->plan->port_by_lid[get_be16(s->lid)];
		const struct fabric_node *node = port_node(r.f, port);
		bool is_switch = node_is_switch(node);
		uint16_t id = qos_sl2vl_id(t, r.f, r.f->ports[port].node, s->in,
					   is_switch ? s->out : 1);

		ck_assert_uint_ne(id, TABLE_NONE);
		for (unsigned sl = 0; sl < 16; sl++)
			ck_assert_uint_eq(s->table[sl / 2] >> (sl % 2 ? 0 : 4) & 15,
					  t->maps[id].vl[sl]);
		ck_assert(is_switch || (!s->in && !s->out));
	}
	for (uint32_t node = 0; node < r.f->n_nodes; node++)
		for (unsigned out = 0; out <= r.f->nodes[node].nports; out++)
			for (unsigned in = 0; in < (r.f->nodes[node].sw == FABRIC_NONE ? 1 : 9); in++)
				n += qos_sl2vl_id(t, r.f, node, in, out) != TABLE_NONE &&
				     (out || r.f->nodes[node].sw != FABRIC_NONE);
	ck_assert_uint_eq(a.n, n);
	free(a.v);
}
END_TEST

START_TEST(sl2vl_that_a_device_keeps)
{
	struct fixed_map kept = { .node = r.f->ports[rig_host(&r, H3)].node, .out = 1 };
	struct findings found = { 0 };
	const struct sa_sl2vl_record *s;

	for (unsigned i = 0; i < 16; i++)
		kept.map.vl[i] = (uint8_t)(7 - i % 8);
	qos_tables_keep(r.state->plan->tables, r.f,
			&(struct fixed_seen){ .maps = &kept, .n_maps = 1 }, &found);
	findings_free(&found);
	put_be16(query(SL2VL, 1), rig_lid(&r, H3));
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(rig_records(&r, 16), 1);
	s = rig_record(&r, 0);
	ck_assert_mem_eq(s->table, "\x76\x54\x32\x10\x76\x54\x32\x10", 8);
}
END_TEST

START_TEST(vlarb_tables)
{
	uint32_t port = rig_host(&r, H2);
	struct answer a;
	uint8_t want[64];

	r.f->ports[port].vlarb_low_cap = 40;	/* two blocks */
	r.f->ports[port].vlarb_high_cap = 0;
	rig_start(&r);
	put_be16(query(VLARB, 1), rig_lid(&r, H2));
	a = take_answer(VLARB);
	ck_assert_uint_eq(a.n, 2);
	for (unsigned i = 0; i < a.n; i++) {
		const struct sa_vlarb_record *v = (const void *)a.v[i];

		ck_assert_uint_eq(v->out, 1);
		ck_assert_uint_eq(v->block, i + 1);
		attribute_vlarb(r.state->plan, port, i + 1, want);
		ck_assert_mem_eq(v->table, want, 64);
	}
	const struct qos_tables *t = r.state->plan->tables;
	ck_assert_uint_eq(a.v[0][8 + 1], t->arbs[t->arb[port]].low[0].weight);
	ck_assert_uint_ne(a.v[0][8 + 1], 0);
	ck_assert_uint_le(t->arbs[t->arb[port]].n_low, 32);
	for (unsigned i = 0; i < 64; i++)
		ck_assert_uint_eq(a.v[1][8 + i], 0);
	free(a.v);
}
END_TEST

/* Tables that nobody writes are not known. */
START_TEST(tables_that_are_not_managed)
{
	r.policy->has_fabric_setup = false;
	rig_start(&r);
	query(SL2VL, 0);
	ck_assert_uint_eq(count(SL2VL), 0);
	query(VLARB, 0);
	ck_assert_uint_eq(count(VLARB), 0);
}
END_TEST

START_TEST(pkey_tables)
{
	struct answer a = whole(PKEY);
	unsigned external = 0;

	for (unsigned i = 0; i < a.n; i++) {
		const struct sa_pkey_record *p = (const void *)a.v[i];
		uint32_t end = r.state->plan->port_by_lid[get_be16(p->lid)];
		bool is_switch = node_is_switch(port_node(r.f, end));
		uint32_t port = is_switch ? end + p->port_num : end;

		ck_assert_uint_eq(p->port_num, r.f->ports[port].num);
		external += is_switch && p->port_num && !get_be16(p->block);
		ck_assert_uint_lt(get_be16(p->block), (port_pkey_cap(r.f, port) + 31) / 32);
		if (get_be16(p->block)) {	/* beyond the maximum of two keys */
			for (unsigned j = 0; j < 64; j++)
				ck_assert_uint_eq(p->table[j], 0);
			continue;
		}
		ck_assert_uint_eq(get_be16(p->table), 0xffff);
		if (get_be16(p->lid) == rig_lid(&r, H3))
			ck_assert_uint_eq(get_be16(p->table + 2), 0x8010);
		if (get_be16(p->lid) == rig_lid(&r, H4))
			ck_assert_uint_eq(get_be16(p->table + 2), 0x0010);
		ck_assert_uint_eq(get_be16(p->table + 4), 0);
	}
	ck_assert_uint_eq(external, 4);		/* towards each host */
	free(a.v);
	/* for trusted requesters only */
	rig_request(&r, 0x12, PKEY, 0);
	ck_assert_uint_eq(rig_ask(&r), 0x0700);
	rig_request(&r, 0x01, PKEY, 1);
	ck_assert_uint_eq(rig_ask(&r), 0x0700);
}
END_TEST

START_TEST(guid_tables)
{
	struct answer a;

	put_be16(query(GUIDINFO, 1), rig_lid(&r, H3));
	a = take_answer(GUIDINFO);
	ck_assert_uint_eq(a.n, 3);
	for (unsigned i = 0; i < a.n; i++) {
		const struct sa_guidinfo_record *g = (const void *)a.v[i];

		ck_assert_uint_eq(g->block, i);
		for (unsigned j = 0; j < 8; j++)
			ck_assert_uint_eq(get_be64(g->guids[j]), i || j ? 0 : HOST_GUID(H3));
	}
	free(a.v);
	put_be16(query(GUIDINFO, 1), rig_lid(&r, H4));		/* GUIDCap 0 */
	ck_assert_uint_eq(count(GUIDINFO), 1);
	put_be16(query(GUIDINFO, 1), r.state->plan->lid[sw_port0(1)]);
	a = take_answer(GUIDINFO);
	ck_assert_uint_ge(a.n, 1);
	ck_assert_uint_eq(get_be64(((const struct sa_guidinfo_record *)(const void *)a.v[0])->guids[0]),
			  SWITCH_GUID(1));
	free(a.v);
}
END_TEST

START_TEST(sm_infos)
{
	struct answer a = whole(SMINFO);
	const struct sa_sminfo_record *s = (const void *)a.v[0], *t = (const void *)a.v[1];

	ck_assert_uint_eq(a.n, 2);
	ck_assert_uint_eq(get_be16(s->lid), rig_lid(&r, H1));
	ck_assert_uint_eq(s->priority_state, 0x33);
	ck_assert_uint_eq(get_be32(s->act_count), 7);
	ck_assert_uint_eq(get_be64(s->sm_key), 0);
	ck_assert_uint_eq(get_be64(t->guid), HOST_GUID(H4));
	ck_assert_uint_eq(t->priority_state, 0x22);
	free(a.v);
	/* nor can the SM_Key be guessed */
	put_be64(((struct sa_sminfo_record *)query(SMINFO, 1 << 3))->sm_key, SM_KEY);
	ck_assert_uint_eq(count(SMINFO), 0);
	r.sa.sm = (struct sa_sm_hooks){ 0 };
	query(SMINFO, 0);
	ck_assert_uint_eq(count(SMINFO), 0);
}
END_TEST

static unsigned links(uint16_t from, int from_port, uint16_t to, int to_port)
{
	uint64_t mask = (from ? 1 : 0) | (from_port >= 0 ? 2 : 0) | (to_port >= 0 ? 4 : 0) |
			(to ? 8 : 0);
	struct sa_link_record *q = query(LINK, mask);

	put_be16(q->from_lid, from);
	put_be16(q->to_lid, to);
	q->from_port = (uint8_t)from_port;
	q->to_port = (uint8_t)to_port;
	return count(LINK);
}

START_TEST(link_records)
{
	uint16_t leaf1, spine;

	r.settings->lmc = 2;
	r.settings->lmc_enhanced_port0 = true;
	rig_start(&r);
	leaf1 = r.state->plan->lid[sw_port0(0)];
	spine = r.state->plan->lid[sw_port0(1)];
	ck_assert_uint_eq(links(0, -1, 0, -1), 14);
	ck_assert_uint_eq(links(leaf1, -1, 0, -1), 4);
	ck_assert_uint_eq(links(0, -1, leaf1, -1), 4);
	ck_assert_uint_eq(links(leaf1, -1, spine, -1), 2);
	ck_assert_uint_eq(links((uint16_t)(leaf1 + 3), -1, spine, 2), 1);
	ck_assert_uint_eq(links(spine, -1, (uint16_t)(leaf1 + 3), 8), 1);
	ck_assert_uint_eq(links(leaf1, 7, 0, -1), 1);
	ck_assert_uint_eq(links(leaf1, 3, 0, -1), 0);		/* no cable */
	ck_assert_uint_eq(links(leaf1, 0, 0, -1), 0);
	ck_assert_uint_eq(links((uint16_t)(rig_lid(&r, H3) + 2), -1, 0, -1), 1);
	ck_assert_uint_eq(links(0, -1, (uint16_t)(rig_lid(&r, H3) + 2), 1), 1);
	ck_assert_uint_eq(links(rig_lid(&r, H3), -1, leaf1, -1), 0);	/* on the other one */
	ck_assert_uint_eq(links(0x7777, -1, leaf1, -1), 0);
	ck_assert_uint_eq(links(leaf1, -1, 0x7777, -1), 0);
	/* the far end is named by its base LID */
	struct sa_link_record *q = query(LINK, 1 | 8);
	put_be16(q->from_lid, rig_lid(&r, H1));
	put_be16(q->to_lid, (uint16_t)(leaf1 + 1));
	ck_assert_uint_eq(rig_ask(&r), 0);
	ck_assert_uint_eq(rig_records(&r, 6), 1);
	const struct sa_link_record *l = rig_record(&r, 0);
	ck_assert_uint_eq(get_be16(l->to_lid), leaf1);
	ck_assert_uint_eq(l->from_port, 1);
	ck_assert_uint_eq(l->to_port, 1);
}
END_TEST

/* --- a scan does not step through what can't be there --- */

static const struct { uint16_t attr; uint64_t mask; uint8_t fill; } jumps[] = {
	{ SL2VL, 0, 0 }, { SL2VL, 2, 1 }, { SL2VL, 4, 1 }, { SL2VL, 6, 2 },
	{ SL2VL, 2, 200 },
	{ LFT, 2, 0 }, { LFT, 2, 1 }, { LFT, 2, 0xff },
	{ MFT, 8, 0 }, { MFT, 2, 0 }, { MFT, 10, 0x11 },
	{ GUIDINFO, 0, 0 }, { GUIDINFO, 2, 2 }, { GUIDINFO, 2, 0xff },
	{ PKEY, 0, 0 }, { PKEY, 2, 1 }, { PKEY, 2, 0xff },
	{ VLARB, 0, 0 }, { VLARB, 4, 3 }, { VLARB, 4, 0 }, { VLARB, 4, 0xff },
	{ SMINFO, 0, 0 }, { RFT, 0, 0 },
};

START_TEST(few_steps)
{
	r.settings->lmc = 6;		/* several blocks of linear tables */
	rig_start(&r);
	uint8_t data[SA_DATA_LEN], record[SA_RECORD_MAX];
	struct sa_msg m = {
		.sa = &r.sa, .s = r.state, .method = 0x12, .attr = jumps[_i].attr,
		.mask = jumps[_i].mask, .trusted = true, .requester = r.f->self,
		.data = data, .n = sizeof(data),
	};
	unsigned skips = 0;
	enum sa_step step;

	memset(data, jumps[_i].fill, sizeof(data));
	ck_assert_uint_eq(sa_scan_for(&m, kind_of(m.attr)->scan), 0);
	while ((step = m.rows->step(m.rows, record)) != SA_END)
		skips += step == SA_SKIP;
	if (m.attr == LFT)
		ck_assert_uint_le(skips, 2 * r.f->n_switches);
	/* a few for each port, and once for each pair of ports of a switch */
	ck_assert_uint_le(skips, 3 * r.f->n_ports + (m.attr == SL2VL && !m.mask ? 3 * 9 * 9 : 0));
	free(m.rows);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tables");
	TCase *c = tcase_create("tables");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, component, 0, ARRAY_SIZE(components));
	tcase_add_loop_test(c, reserved_components_are_ignored, 0, ARRAY_SIZE(kinds));
	tcase_add_loop_test(c, any_lid_of_a_port, 0, ARRAY_SIZE(kinds));
	tcase_add_loop_test(c, limited_visibility, 0, ARRAY_SIZE(kinds));
	tcase_add_loop_test(c, form, 0, ARRAY_SIZE(kinds));
	tcase_add_test(c, attributes_that_there_are_not);
	tcase_add_test(c, switch_info);
	tcase_add_test(c, linear_tables);
	tcase_add_test(c, no_random_tables);
	tcase_add_test(c, multicast_tables);
	tcase_add_test(c, multicast_positions);
	tcase_add_test(c, sl2vl_tables);
	tcase_add_test(c, sl2vl_that_a_device_keeps);
	tcase_add_test(c, vlarb_tables);
	tcase_add_test(c, tables_that_are_not_managed);
	tcase_add_test(c, pkey_tables);
	tcase_add_test(c, guid_tables);
	tcase_add_test(c, sm_infos);
	tcase_add_test(c, link_records);
	tcase_add_loop_test(c, few_steps, 0, ARRAY_SIZE(jumps));
	suite_add_tcase(s, c);
	return run_suite(s);
}
