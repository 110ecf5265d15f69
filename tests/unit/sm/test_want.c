/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the plan as attributes: which fields qosd sets, which items a device has, and
 * their wire format.  One switch, three CAs, the first of them the SM.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad_sm.h>

#include "fabric/edit.h"
#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "sm/sm_internal.h"
#include "sm/sweep/difference.h"
#include "sm/sweep/want.h"
#include "sm/write/write.h"
#include "unit/run.h"

#define N_CAS 3
#define SWITCH_PORTS 8

static struct fabric *f;
static struct settings *settings;
static struct policy *policy;
static struct lid_map known;
static struct plan *plan;
static struct want_env env;
static uint32_t sw;
static struct store *store;

static void put(uint8_t *info, enum MAD_FIELDS field, uint32_t v)
{
	mad_set_field(info, 0, field, v);
}

static uint32_t field(const uint8_t *info, enum MAD_FIELDS which)
{
	uint8_t copy[64];

	memcpy(copy, info, sizeof(copy));
	return mad_get_field(copy, 0, which);
}

static void node_info(uint8_t *d, unsigned type, unsigned ports, uint64_t guid, unsigned local)
{
	memset(d, 0, 40);
	put(d, IB_NODE_TYPE_F, type);
	put(d, IB_NODE_NPORTS_F, ports);
	mad_set_field64(d, 0, IB_NODE_GUID_F, guid);
	mad_set_field64(d, 0, IB_NODE_SYSTEM_GUID_F, guid);
	put(d, IB_NODE_PARTITION_CAP_F, 40);
	put(d, IB_NODE_LOCAL_PORT_F, local);
}

static void port_info(uint8_t *d, unsigned state)
{
	memset(d, 0, 64);
	put(d, IB_PORT_STATE_F, state);
	put(d, IB_PORT_PHYS_STATE_F, state > 1 ? 5 : 2);
	put(d, IB_PORT_CAPMASK_F, IB_CAP_SL_MAP | IB_CAP_CLIENT_REREG);
	put(d, IB_PORT_MTU_CAP_F, 5);
	put(d, IB_PORT_VL_CAP_F, 4);
	put(d, IB_PORT_OPER_VLS_F, 4);
	put(d, IB_PORT_VL_ARBITRATION_HIGH_CAP_F, 64);
	put(d, IB_PORT_VL_ARBITRATION_LOW_CAP_F, 20);
	put(d, IB_PORT_LINK_WIDTH_ACTIVE_F, 2);
	put(d, IB_PORT_LINK_SPEED_ACTIVE_F, 4);
	put(d, IB_PORT_MKEY_VIOL_F, 3);
	put(d, IB_PORT_LINK_SPEED_EXT_ENABLED_F, 5);
}

static void build_fabric(void)
{
	uint8_t ni[40], pi[64], si[20] = { 0 };
	struct buf err = { 0 };
	uint8_t to_switch[] = { 1 };

	f = fabric_new();
	node_info(ni, IB_NODE_CA_T, 1, 0x100, 1);
	fabric_add_node(f, ni, "sm", NULL, NULL, 0);
	node_info(ni, IB_NODE_SWITCH_T, SWITCH_PORTS, 0x900, 1);
	put_be16(si, 1024);		/* LinearFDBCap */
	put(si, IB_SW_PARTITION_ENFORCE_CAP_F, 33);
	put(si, IB_SW_PARTITION_ENF_INB_F, 1);
	put(si, IB_SW_PARTITION_ENF_OUTB_F, 1);
	sw = fabric_add_node(f, ni, "switch", si, to_switch, 1);
	for (unsigned i = 1; i < N_CAS; i++) {
		uint8_t route[] = { 1, (uint8_t)(i + 1) };

		node_info(ni, IB_NODE_CA_T, 1, 0x100 * (i + 1), 1);
		fabric_add_node(f, ni, "ca", NULL, route, 2);
	}
	port_info(pi, IB_PORT_INIT_S);
	for (unsigned i = 0; i < N_CAS; i++) {
		uint32_t node = i ? sw + i : 0;

		fabric_set_port(f, node, 1, 0x101 + 0x100 * i, pi);
		fabric_set_port(f, sw, i + 1, 0x900, pi);
		fabric_link(f, node, 1, sw, i + 1);
	}
	port_info(pi, IB_PORT_ACTIVE_S);
	fabric_set_port(f, sw, 0, 0x900, pi);
	port_info(pi, IB_PORT_DOWN_S);
	for (unsigned i = N_CAS + 1; i <= SWITCH_PORTS; i++)
		fabric_set_port(f, sw, i, 0x900, pi);
	ck_assert_msg(fabric_finish(f, 0, 1, &err), "%s", err.s ? err.s : "");
	buf_free(&err);
}

/* Adds n partitions with only the second CA as member, full and limited. */
static void add_partitions(unsigned n)
{
	policy->partitions = xrealloc(policy->partitions, n + 1, sizeof(*policy->partitions));
	for (unsigned k = 1; k <= n; k++) {
		struct policy_member *m = xcalloc(1, sizeof(*m));

		m->guids = (struct u64_range){ .lo = 0x201, .hi = 0x201 };
		m->membership = MEMBER_BOTH;
		policy->partitions[k] = (struct policy_partition){
			.name = xasprintf("p%u", k), .pkey = (uint16_t)k, .members = m, .n_members = 1,
		};
	}
	policy->n_partitions = n + 1;
}

static void make_plan(bool tables, unsigned partitions)
{
	struct buf err = { 0 };

	store = store_open(NULL, NULL, &err);
	build_fabric();
	settings = settings_default();
	policy = policy_builtin();
	add_partitions(partitions);
	if (tables) {
		policy->has_fabric_setup = true;
		for (int c = 0; c < PORT_CLASS_COUNT; c++) {
			struct policy_class_default *d = &policy->defaults[c];

			d->given = d->has_sl2vl = d->has_high = d->has_low = true;
			d->high_limit = 9;
			for (unsigned sl = 0; sl < 16; sl++)
				d->sl2vl.vl[sl] = sl < 3 ? (uint8_t)sl : 15;
			d->arb.n_high = 40;
			for (unsigned i = 0; i < 40; i++)
				d->arb.high[i] = (struct vlarb_entry){ 1, (uint8_t)(i + 1) };
			d->arb.n_low = 2;
			d->arb.low[0] = (struct vlarb_entry){ 0, 64 };
			d->arb.low[1] = (struct vlarb_entry){ 2, 128 };
		}
	}
	map64_init(&known.by_guid, 8);
	map64_init(&known.lmc_by_guid, 8);
	plan = plan_compute(f, policy, settings, &known, NULL, NULL);
	env = (struct want_env){ .plan = plan, .sm_lid = plan->lid[f->self] };
}

static void drop_plan(void)
{
	plan_free(plan);
	policy_free(policy);
	settings_free(settings);
	fabric_free(f);
	store_close(store);
	map64_free(&known.by_guid);
	map64_free(&known.lmc_by_guid);
}

START_TEST(port_info_of_a_ca)
{
	uint32_t port = fabric_find_port(f, 0x201);
	uint8_t d[64];

	want_port_info(&env, port, IB_PORT_ARMED_S, d);
	ck_assert_uint_eq(field(d, IB_PORT_LID_F), plan->lid[port]);
	ck_assert_uint_eq(field(d, IB_PORT_SMLID_F), plan->lid[f->self]);
	ck_assert_uint_eq(field(d, IB_PORT_STATE_F), IB_PORT_ARMED_S);
	ck_assert_uint_eq(field(d, IB_PORT_PHYS_STATE_F), 0);
	ck_assert_uint_eq(field(d, IB_PORT_NEIGHBOR_MTU_F), 5);
	ck_assert_uint_eq(field(d, IB_PORT_OPER_VLS_F), 3);	/* VLs 0 to 2 are used: four VLs */
	ck_assert_uint_eq(field(d, IB_PORT_VL_HIGH_LIMIT_F), 9);
	ck_assert_uint_eq(field(d, IB_PORT_SUBN_TIMEOUT_F), settings->subnet_timeout);
	ck_assert_uint_eq(field(d, IB_PORT_LINK_DOWN_DEF_F), 2);
	ck_assert_uint_eq(get_be64(d + 8), settings->subnet_prefix);
	/* no change of width and speed */
	ck_assert_uint_eq(field(d, IB_PORT_LINK_WIDTH_ENABLED_F), 0);
	ck_assert_uint_eq(field(d, IB_PORT_LINK_SPEED_ENABLED_F), 0);
	ck_assert_uint_eq(field(d, IB_PORT_LINK_SPEED_EXT_ENABLED_F), 0);
	/* any other value is undefined */
	ck_assert_uint_eq(field(d, IB_PORT_MKEY_VIOL_F), 0);
	/* the port comes up: its clients do not know us */
	ck_assert_uint_eq(field(d, IB_PORT_CLIENT_REREG_F), 1);
}
END_TEST

/* --- width and speed --- */

/* Sets widths and speeds in a port's PortInfo; ext and ext2 are the bytes 62, 63 and 56. */
static void give_speeds(uint32_t port, unsigned widths, unsigned speeds, unsigned ext_supported,
			unsigned ext_enabled, unsigned second)
{
	uint8_t d[64];

	memcpy(d, f->ports[port].info, sizeof(d));
	put(d, IB_PORT_LINK_WIDTH_SUPPORTED_F, widths);
	put(d, IB_PORT_LINK_WIDTH_ENABLED_F, 1);
	put(d, IB_PORT_LINK_SPEED_SUPPORTED_F, speeds);
	put(d, IB_PORT_LINK_SPEED_ENABLED_F, 1);
	put(d, IB_PORT_LINK_SPEED_EXT_SUPPORTED_F, ext_supported);
	put(d, IB_PORT_LINK_SPEED_EXT_ENABLED_F, ext_enabled);
	d[56] = (uint8_t)second;
	fabric_port_store(&f->ports[port], d);
}

static void give_capabilities(uint32_t port, uint32_t more, uint32_t more2)
{
	uint8_t d[64];

	memcpy(d, f->ports[port].info, sizeof(d));
	put(d, IB_PORT_CAPMASK_F, IB_CAP_SL_MAP | more);
	put(d, IB_PORT_CAPMASK2_F, more2);
	fabric_port_store(&f->ports[port], d);
}

/* Checks the fields for width and speed in a Set, 0 for no change. */
static void ck_speeds(uint32_t port, unsigned width, unsigned speed, unsigned ext, unsigned ext2)
{
	uint8_t d[64], wanted[64], spoilt[64];

	want_port_info(&env, port, IB_PORT_NOP, d);
	ck_assert_uint_eq(field(d, IB_PORT_LINK_WIDTH_ENABLED_F), width);
	ck_assert_uint_eq(field(d, IB_PORT_LINK_SPEED_ENABLED_F), speed);
	ck_assert_uint_eq(field(d, IB_PORT_LINK_SPEED_EXT_ENABLED_F), ext);
	ck_assert_uint_eq(d[56] & 7, ext2);
	/* it counts as a difference by itself */
	memcpy(wanted, f->ports[port].info, sizeof(wanted));
	want_port_fields(&env, port, wanted);
	memcpy(spoilt, wanted, sizeof(spoilt));
	put(spoilt, IB_PORT_LINK_WIDTH_ENABLED_F, 1);
	put(spoilt, IB_PORT_LINK_SPEED_ENABLED_F, 1);
	put(spoilt, IB_PORT_LINK_SPEED_EXT_ENABLED_F,
	    field(f->ports[port].info, IB_PORT_LINK_SPEED_EXT_ENABLED_F));
	spoilt[56] = f->ports[port].info[56];
	ck_assert_int_eq(port_info_digest(&env, port, wanted) != port_info_digest(&env, port, spoilt),
			 width || speed || ext || ext2);
}

#define BOTH_GROUPS (IB_CAP_EXT_SPEEDS | IB_CAP_MASK2)

/* promise: D31 */
START_TEST(all_that_is_supported)
{
	uint32_t port = fabric_find_port(f, 0x201), peer = f->ports[port].peer;
	uint32_t port0 = f->nodes[f->ports[peer].node].port0;

	give_speeds(port, 19, 7, 15, 2, 1 << 3);
	give_capabilities(port, BOTH_GROUPS, IB_CAP2_EXT_SPEEDS_2);
	give_capabilities(port0, BOTH_GROUPS, IB_CAP2_EXT_SPEEDS_2);
	ck_speeds(port, 0, 0, 0, 0);
	settings->link_width = LINK_SUPPORTED;
	ck_speeds(port, 19, 0, 0, 0);
	settings->link_speed = LINK_SUPPORTED;
	ck_speeds(port, 19, 7, 15, 1);
	/* the other end knows the first group, or no extended speeds at all */
	give_capabilities(port0, IB_CAP_EXT_SPEEDS, 0);
	ck_speeds(port, 19, 7, 15, 0);
	give_capabilities(port0, 0, 0);
	ck_speeds(port, 19, 7, 0, 0);
	/* unsupported values are not requested */
	give_capabilities(port0, BOTH_GROUPS, IB_CAP2_EXT_SPEEDS_2);
	give_speeds(port, 0, 0, 0, 0, 0);
	ck_speeds(port, 0, 0, 0, 0);
}
END_TEST

/* A Set that repeats the present value could be refused because of it. */
/* promise: D31 */
START_TEST(more_enabled_than_supported)
{
	uint32_t port = fabric_find_port(f, 0x201);

	give_speeds(port, 3, 7, 7, 15, 0);
	ck_speeds(port, 0, 0, 7, 0);
	give_speeds(port, 3, 7, 4, 3, 0);
	ck_speeds(port, 0, 0, 30, 0);
	give_speeds(port, 3, 7, 7, 30, 0);	/* which is: none */
	ck_speeds(port, 0, 0, 0, 0);
}
END_TEST

/* The modifier depends on the device's capabilities, which for a switch port are in port 0. */
START_TEST(modifier_asks_for_extended_speeds)
{
	uint32_t port = fabric_find_port(f, 0x201), peer = f->ports[port].peer;
	uint32_t node = f->ports[peer].node;

	ck_assert_uint_eq(port_info_modifier(f, f->ports[port].node, 1), 1);
	give_capabilities(port, IB_CAP_EXT_SPEEDS, 0);
	ck_assert_uint_eq(port_info_modifier(f, f->ports[port].node, 1), 0x80000001);
	ck_assert_uint_eq(port_info_modifier(f, node, f->ports[peer].num), f->ports[peer].num);
	give_capabilities(f->nodes[node].port0, IB_CAP_EXT_SPEEDS, 0);
	ck_assert_uint_eq(port_info_modifier(f, node, f->ports[peer].num),
			  0x80000000 | f->ports[peer].num);
	ck_assert_uint_eq(port_info_modifier(f, node, 0), 0x80000000);
}
END_TEST

/* Key, protection and lease go in one Set, and in each Set to a port that has a key. */
/* promise: L4 */
START_TEST(m_key_of_end_ports)
{
	static const uint64_t ports[] = { 0x101, 0x201, 0x900 };
	uint8_t d[64];

	settings->m_key_lease = 60;
	settings->m_key_protect = 3;
	env.m_key = 0x1122334455667788;
	for (unsigned i = 0; i < ARRAY_SIZE(ports); i++)
		for (unsigned state = IB_PORT_NOP; state <= IB_PORT_ACTIVE_S; state++) {
			want_port_info(&env, fabric_find_port(f, ports[i]), state, d);
			ck_assert_uint_eq(get_be64(d), env.m_key);
			ck_assert_uint_eq(field(d, IB_PORT_MKEY_PROT_BITS_F), 3);
			ck_assert_uint_eq(field(d, IB_PORT_MKEY_LEASE_F), 60);
		}
	/* an external port of a switch has none */
	want_port_info(&env, f->nodes[sw].port0 + 1, IB_PORT_NOP, d);
	ck_assert_uint_eq(get_be64(d), 0);
	/* without a key there is nothing to protect */
	env.m_key = 0;
	want_port_info(&env, fabric_find_port(f, 0x201), IB_PORT_NOP, d);
	ck_assert_uint_eq(get_be64(d), 0);
	ck_assert_uint_eq(field(d, IB_PORT_MKEY_PROT_BITS_F), 0);
	ck_assert_uint_eq(field(d, IB_PORT_MKEY_LEASE_F), 0);
}
END_TEST

/* An SMP carries the M_Key of the port whose agent answers: port 0 for all ports of a switch. */
/* promise: L4 */
START_TEST(m_key_of_smps)
{
	uint32_t ca = fabric_find_port(f, 0x201), port0 = fabric_find_port(f, 0x900);
	struct smp s = { .m_key = 99 };

	ck_assert(want_route(f, sw, 2, &s));
	ck_assert_uint_eq(s.m_key, 0);
	put_be64(f->ports[port0].info, 7);
	put_be64(f->ports[ca].info, 8);
	put_be64(f->ports[f->nodes[sw].port0 + 2].info, 9);
	for (unsigned num = 0; num <= SWITCH_PORTS; num++) {
		ck_assert(want_route(f, sw, num, &s));
		ck_assert_uint_eq(s.m_key, 7);
	}
	for (unsigned num = 0; num <= 1; num++) {
		ck_assert(want_route(f, f->ports[ca].node, num, &s));
		ck_assert_uint_eq(s.m_key, 8);
	}
}
END_TEST

/* An enhanced port 0 has arbitration tables and so the limit, a base port 0 neither. */
START_TEST(high_limit_of_port_0)
{
	uint32_t port = fabric_find_port(f, 0x900);
	uint8_t d[64], other[64];

	ck_assert(!f->switches[f->nodes[sw].sw].enhanced_port0);
	want_port_info(&env, port, IB_PORT_NOP, d);
	ck_assert_uint_eq(field(d, IB_PORT_VL_HIGH_LIMIT_F), 0);

	plan->tables->arb[port] = plan->tables->arb[fabric_find_port(f, 0x201)];
	want_port_info(&env, port, IB_PORT_NOP, d);
	ck_assert_uint_eq(field(d, IB_PORT_VL_HIGH_LIMIT_F), 9);
	memcpy(other, d, sizeof(other));
	put(other, IB_PORT_VL_HIGH_LIMIT_F, 8);
	ck_assert(port_info_digest(&env, port, d) != port_info_digest(&env, port, other));
}
END_TEST

static void give_vls(uint32_t port, unsigned state, unsigned vls)
{
	uint8_t d[64];

	memcpy(d, f->ports[port].info, 64);
	put(d, IB_PORT_STATE_F, state);
	put(d, IB_PORT_OPER_VLS_F, vls);
	fabric_port_store(&f->ports[port], d);
}

/* The plan has 3 for all links (four VLs). */
/* promise: D32 */
START_TEST(vls_of_a_link_at_work)
{
	uint32_t port = fabric_find_port(f, 0x201), peer = f->ports[port].peer;
	uint8_t d[64];

	/* below Active it goes with the other fields */
	give_vls(port, IB_PORT_INIT_S, 4);
	give_vls(peer, IB_PORT_ARMED_S, 1);
	ck_assert_uint_eq(port_new_vls(plan, port), 0);
	/* one end is enough, and then no Set of one end changes it */
	give_vls(peer, IB_PORT_ACTIVE_S, 1);
	ck_assert_uint_eq(port_new_vls(plan, port), 3);
	ck_assert_uint_eq(port_new_vls(plan, peer), 3);
	want_port_info(&env, port, IB_PORT_NOP, d);
	ck_assert_uint_eq(field(d, IB_PORT_OPER_VLS_F), 4);
	want_port_info(&env, peer, IB_PORT_NOP, d);
	ck_assert_uint_eq(field(d, IB_PORT_OPER_VLS_F), 1);
	settings->active_vls = ACTIVE_VLS_WAIT;
	ck_assert_uint_eq(port_new_vls(plan, port), 0);
	settings->active_vls = ACTIVE_VLS_CHANGE;
	give_vls(port, IB_PORT_ACTIVE_S, 3);
	give_vls(peer, IB_PORT_ACTIVE_S, 3);
	ck_assert_uint_eq(port_new_vls(plan, port), 0);
	/* a port with an invalid OperationalVLs gets a valid one */
	give_vls(port, IB_PORT_ACTIVE_S, 0);
	ck_assert_uint_eq(port_new_vls(plan, port), 3);
	want_port_info(&env, port, IB_PORT_NOP, d);
	ck_assert_uint_eq(field(d, IB_PORT_OPER_VLS_F), 3);
	ck_assert_uint_eq(port_new_vls(plan, f->nodes[sw].port0), 0);
	ck_assert_uint_eq(port_new_vls(plan, f->nodes[sw].port0 + SWITCH_PORTS), 0);
}
END_TEST

/* A light sweep reads a fixed value like the sweep that found it, even an invalid code. */
/* promise: A79 */
START_TEST(what_a_link_keeps)
{
	static const enum MAD_FIELDS which[] = { IB_PORT_OPER_VLS_F, IB_PORT_NEIGHBOR_MTU_F };
	uint32_t port = fabric_find_port(f, 0x201);
	uint64_t good, odd, as_found;
	uint8_t d[64], found[64];

	memcpy(d, f->ports[port].info, sizeof(d));
	ck_assert(!vls_fixed_digest(1, d, &good));
	for (uint32_t k = 0; k < 2; k++) {
		put(d, which[k], 4);
		ck_assert(vls_fixed_digest((k + 1) << 12 | 1, d, &good));
		put(d, which[k], 15);
		ck_assert(vls_fixed_digest((k + 1) << 12 | 1, d, &odd));
		fabric_port_store(&f->ports[port], d);
		memcpy(found, d, sizeof(found));
		put(found, which[k], k ? f->ports[port].neighbor_mtu : f->ports[port].op_vls);
		ck_assert(vls_fixed_digest((k + 1) << 12 | 1, found, &as_found));
		ck_assert_uint_eq(odd, as_found);
		ck_assert_uint_ne(odd, good);
	}
}
END_TEST

/* A Set repeats the port's value of fields that qosd does not manage, unless it is invalid. */
/* promise: A109 */
START_TEST(an_mtu_that_there_is_not)
{
	static const struct { unsigned says, is_sent; } cases[] = {
		{ 0, 0 }, { 1, 1 }, { 4, 4 }, { 6, 3 }, { 15, 3 },
	};
	uint32_t port = f->nodes[sw].port0;
	uint8_t d[64];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		memcpy(d, f->ports[port].info, sizeof(d));
		put(d, IB_PORT_MTU_CAP_F, 3);
		put(d, IB_PORT_NEIGHBOR_MTU_F, cases[i].says);
		fabric_port_store(&f->ports[port], d);
		want_port_info(&env, port, IB_PORT_NOP, d);
		ck_assert_uint_eq(field(d, IB_PORT_NEIGHBOR_MTU_F), cases[i].is_sent);
	}
}
END_TEST

START_TEST(reregistration_only_with_a_reason)
{
	uint32_t port = fabric_find_port(f, 0x201);
	uint8_t d[64];

	want_port_info(&env, port, IB_PORT_NOP, d);
	put(d, IB_PORT_STATE_F, IB_PORT_ACTIVE_S);
	fabric_port_store(&f->ports[port], d);
	ck_assert(!port_owes_registrations(&env, port));
	env.reregister = true;		/* all registrations are lost */
	ck_assert(port_owes_registrations(&env, port));
	env.reregister = false;
	put(d, IB_PORT_SMLID_F, 77);	/* it had another master SM */
	fabric_port_store(&f->ports[port], d);
	ck_assert(port_owes_registrations(&env, port));
	env.successor_of = 76;
	ck_assert(port_owes_registrations(&env, port));
	env.successor_of = 77;		/* … whose registrations are ours */
	ck_assert(!port_owes_registrations(&env, port));
	env.reregister = true;
	ck_assert(port_owes_registrations(&env, port));
	env.reregister = false;
	put(d, IB_PORT_SMLID_F, 0);	/* it knew none */
	env.successor_of = 0;
	fabric_port_store(&f->ports[port], d);
	ck_assert(port_owes_registrations(&env, port));
	put(d, IB_PORT_CAPMASK_F, 0);	/* it cannot be informed */
	fabric_port_store(&f->ports[port], d);
	ck_assert(!port_owes_registrations(&env, port));
}
END_TEST

/* An Active port gets our SM LID, and the request to register again, when the answers are published. */
/* promise: D100 */
START_TEST(active_ports_await_publishing)
{
	uint32_t port = fabric_find_port(f, 0x201);
	uint8_t d[64];

	want_port_info(&env, port, IB_PORT_NOP, d);
	put(d, IB_PORT_STATE_F, IB_PORT_ACTIVE_S);
	fabric_port_store(&f->ports[port], d);
	ck_assert(!port_awaits_publishing(&env, port));
	env.reregister = true;
	ck_assert(port_awaits_publishing(&env, port));
	ck_assert(!port_is_to_reregister(&env, port));
	ck_assert(!port_lost_registrations(&env, port));
	env.reregister = false;
	put(d, IB_PORT_SMLID_F, 77);
	put(d, IB_PORT_MKEY_LEASE_F, 5);
	fabric_port_store(&f->ports[port], d);
	ck_assert(port_awaits_publishing(&env, port));
	want_port_info(&env, port, IB_PORT_NOP, d);
	ck_assert_uint_eq(field(d, IB_PORT_SMLID_F), 77);
	ck_assert_uint_eq(field(d, IB_PORT_MKEY_LEASE_F), 0);
	ck_assert_uint_eq(field(d, IB_PORT_CLIENT_REREG_F), 0);
	want_announced_fields(&env, port, d);
	ck_assert_uint_eq(field(d, IB_PORT_SMLID_F), env.sm_lid);
	/* a port that cannot send queries yet, or gets another LID, is informed at once */
	put(d, IB_PORT_SMLID_F, 77);
	put(d, IB_PORT_STATE_F, IB_PORT_ARMED_S);
	fabric_port_store(&f->ports[port], d);
	ck_assert(!port_awaits_publishing(&env, port));
	ck_assert(port_is_to_reregister(&env, port));
	put(d, IB_PORT_STATE_F, IB_PORT_ACTIVE_S);
	put(d, IB_PORT_LID_F, field(d, IB_PORT_LID_F) + 1);
	fabric_port_store(&f->ports[port], d);
	ck_assert(!port_awaits_publishing(&env, port));
}
END_TEST

/* One Set has all that waited; refused values are left, and the request to register again is sent anyway. */
START_TEST(what_is_announced)
{
	uint32_t port = fabric_find_port(f, 0x201);
	uint64_t guid = port_node(f, port)->guid;
	struct refusals *refused = refusals_new();
	struct refused_set set = { .guid = guid, .attr = UMAD_SM_ATTR_PORT_INFO, .mod = 1 };
	struct announced out;
	uint8_t d[64];

	want_port_info(&env, port, IB_PORT_NOP, d);
	put(d, IB_PORT_STATE_F, IB_PORT_ACTIVE_S);
	fabric_port_store(&f->ports[port], d);
	ck_assert(!port_is_announced(&env, refused, port, &out));
	env.reregister = true;
	ck_assert(port_is_announced(&env, refused, port, &out));
	ck_assert(!out.changes && out.reregister);
	env.reregister = false;
	put(d, IB_PORT_SMLID_F, 77);
	put(d, IB_PORT_MKEY_LEASE_F, 5);
	fabric_port_store(&f->ports[port], d);
	ck_assert(port_is_announced(&env, refused, port, &out));
	ck_assert(out.changes && out.reregister);
	ck_assert_uint_eq(field(out.info, IB_PORT_SMLID_F), env.sm_lid);
	ck_assert_uint_eq(field(out.info, IB_PORT_MKEY_LEASE_F), 5);
	ck_assert_uint_eq(field(out.info, IB_PORT_STATE_F), IB_PORT_ACTIVE_S);
	env.successor_of = 77;	/* whose registrations are here */
	ck_assert(port_is_announced(&env, refused, port, &out));
	ck_assert(out.changes && !out.reregister);
	/* the port keeps what it has */
	set.want = port_info_digest(&env, port, out.info);
	set.got = port_info_digest(&env, port, d);
	refusals_put(refused, &set);
	ck_assert(!port_is_announced(&env, refused, port, &out));
	env.successor_of = 0;
	ck_assert(port_is_announced(&env, refused, port, &out));
	/* a Set is still due, and does not repeat the port's value */
	ck_assert(out.changes && out.reregister);
	ck_assert_uint_eq(field(out.info, IB_PORT_SMLID_F), env.sm_lid);
	set.got = REFUSAL_STATUS | 0x1c;
	refusals_put(refused, &set);
	ck_assert(port_is_announced(&env, refused, port, &out));
	ck_assert(!out.changes && out.reregister);
	ck_assert_uint_eq(field(out.info, IB_PORT_SMLID_F), 77);
	refusals_free(refused);
}
END_TEST

/* The digest sees differences in fields that qosd sets, and no others. */
START_TEST(digest_sees_our_fields_only)
{
	static const enum MAD_FIELDS ours[] = {
		IB_PORT_LID_F, IB_PORT_SMLID_F, IB_PORT_LMC_F, IB_PORT_NEIGHBOR_MTU_F,
		IB_PORT_OPER_VLS_F, IB_PORT_VL_HIGH_LIMIT_F, IB_PORT_SUBN_TIMEOUT_F,
		IB_PORT_MKEY_PROT_BITS_F, IB_PORT_MKEY_LEASE_F, IB_PORT_SMSL_F,
		IB_PORT_LINK_DOWN_DEF_F, IB_PORT_LOCAL_PHYS_ERR_F, IB_PORT_OVERRUN_ERR_F,
	};
	static const enum MAD_FIELDS others[] = {
		IB_PORT_STATE_F, IB_PORT_CAPMASK_F, IB_PORT_LINK_WIDTH_ACTIVE_F,
		IB_PORT_LINK_SPEED_ENABLED_F, IB_PORT_MKEY_VIOL_F, IB_PORT_CLIENT_REREG_F,
	};
	uint32_t port = fabric_find_port(f, 0x201);
	uint8_t d[64];
	uint64_t h;

	want_port_info(&env, port, IB_PORT_NOP, d);
	h = port_info_digest(&env, port, d);
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++) {
		uint32_t was = field(d, ours[i]);

		put(d, ours[i], was ^ 1);
		ck_assert_msg(port_info_digest(&env, port, d) != h, "field %zu", i);
		put(d, ours[i], was);
	}
	d[0] ^= 1;	/* M_Key */
	ck_assert(port_info_digest(&env, port, d) != h);
	d[0] ^= 1;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		put(d, others[i], field(d, others[i]) ^ 1);
	ck_assert(port_info_digest(&env, port, d) == h);
}
END_TEST

static unsigned counts[8], total;
static item_t order[512];

static void count(void *arg, item_t item)
{
	(void)arg;
	counts[ITEM_KIND(item)]++;
	order[total++] = item;
}

static void count_items(uint32_t node)
{
	memset(counts, 0, sizeof(counts));
	total = 0;
	want_items(plan, node, count, NULL);
}

START_TEST(items_of_a_switch)
{
	struct item_want w;

	count_items(sw);
	ck_assert_uint_eq(counts[ITEM_LFT], 1);
	ck_assert_uint_eq(counts[ITEM_PKEY], 2);	/* 40 entries of port 0, and no other port's */
	/* from port 0 and from each linked port to each other linked port */
	ck_assert_uint_eq(counts[ITEM_SL2VL], N_CAS + N_CAS * (N_CAS - 1));
	/* low: 20 entries in one block; high: 64 in two */
	ck_assert_uint_eq(counts[ITEM_VLARB], N_CAS * 3);

	want_item(plan, sw, ITEM(ITEM_LFT, 0, 0), &w);
	for (uint32_t p = 0; p < f->n_ports; p++)
		if (plan->lid[p] && f->ports[p].node != sw)
			ck_assert_uint_eq(w.data[plan->lid[p]], f->ports[f->ports[p].peer].num);
	want_item(plan, sw, ITEM(ITEM_SL2VL, 2, 3), &w);
	ck_assert_uint_eq(w.attr, UMAD_SM_ATTR_SLVL_TABLE);
	ck_assert_uint_eq(w.mod, 2 << 8 | 3);
	ck_assert_uint_eq(w.len, 8);
	ck_assert_uint_eq(w.data[0], 0x01);
	ck_assert_uint_eq(w.data[1], 0x2f);
	ck_assert_uint_eq(w.data[7], 0xff);
	want_item(plan, sw, ITEM(ITEM_VLARB, 2, 4), &w);
	ck_assert_uint_eq(w.mod, 4 << 16 | 2);
	ck_assert_uint_eq(w.len, 64);
	ck_assert_uint_eq(w.data[1], 33);	/* the 33rd entry comes first in block 4 */
	ck_assert_uint_eq(w.data[15], 40);
	ck_assert_uint_eq(w.data[17], 0);
	want_item(plan, sw, ITEM(ITEM_VLARB, 2, 1), &w);
	ck_assert_uint_eq(w.len, 40);
	ck_assert_uint_eq(w.data[2], 2);
	ck_assert_uint_eq(w.data[3], 128);
}
END_TEST

START_TEST(items_of_a_ca)
{
	uint32_t node = sw + 1;
	struct item_want w;

	count_items(node);
	ck_assert_uint_eq(counts[ITEM_LFT], 0);
	ck_assert_uint_eq(counts[ITEM_PKEY], 2);
	ck_assert_uint_eq(counts[ITEM_SL2VL], 1);
	ck_assert_uint_eq(counts[ITEM_VLARB], 3);
	want_item(plan, node, ITEM(ITEM_PKEY, 1, 0), &w);
	ck_assert_uint_eq(w.mod, 0);		/* a CA's port is the one asked through */
	ck_assert_uint_eq(get_be16(w.data), 0xffff);
	ck_assert_uint_eq(get_be16(w.data + 2), 0);
	ck_assert_uint_eq(w.len, 64);
	want_item(plan, node, ITEM(ITEM_PKEY, 1, 1), &w);
	ck_assert_uint_eq(w.len, 16);		/* 8 entries left of 40 */
	ck_assert_uint_eq(get_be16(w.data), 0);

	/* a port that claims to have no room gets what the plan says */
	f->nodes[node].partition_cap = 0;
	count_items(node);
	ck_assert_uint_eq(counts[ITEM_PKEY], 1);
	want_item(plan, node, ITEM(ITEM_PKEY, 1, 0), &w);
	ck_assert_uint_eq(w.len, 2);
	ck_assert_uint_eq(get_be16(w.data), 0xffff);
}
END_TEST

/* --- partitions --- */

static unsigned pkey_at(const struct item_want *w, unsigned i)
{
	return get_be16(w->data + 2 * i);
}

START_TEST(pkey_tables)
{
	struct item_want w;
	bool seen[SWITCH_PORTS + 1][2] = { 0 };

	/* of the CA: 0xffff, 0x8001, 0x0001, 0x8002 … in 40 entries */
	want_item(plan, sw + 1, ITEM(ITEM_PKEY, 1, 0), &w);
	ck_assert_uint_eq(w.mod, 0);
	ck_assert_uint_eq(pkey_at(&w, 0), 0xffff);
	ck_assert_uint_eq(pkey_at(&w, 1), 0x8001);
	ck_assert_uint_eq(pkey_at(&w, 2), 0x0001);
	ck_assert_uint_eq(pkey_at(&w, 31), 0x8010);
	want_item(plan, sw + 1, ITEM(ITEM_PKEY, 1, 1), &w);
	ck_assert_uint_eq(pkey_at(&w, 0), 0x0010);
	ck_assert_uint_eq(pkey_at(&w, 2), 0x0011);
	ck_assert_uint_eq(pkey_at(&w, 3), 0);
	/* of the switch port next to it: each once */
	want_item(plan, sw, ITEM(ITEM_PKEY, 2, 0), &w);
	ck_assert_uint_eq(w.attr, UMAD_SM_ATTR_PKEY_TABLE);
	ck_assert_uint_eq(w.mod, 2 << 16);
	ck_assert_uint_eq(w.len, 64);
	ck_assert_uint_eq(pkey_at(&w, 0), 0xffff);
	ck_assert_uint_eq(pkey_at(&w, 17), 0x8011);
	ck_assert_uint_eq(pkey_at(&w, 18), 0);
	want_item(plan, sw, ITEM(ITEM_PKEY, 2, 1), &w);
	ck_assert_uint_eq(w.mod, 2 << 16 | 1);
	ck_assert_uint_eq(w.len, 2);		/* 33 entries */
	/* next to another CA */
	want_item(plan, sw, ITEM(ITEM_PKEY, 3, 0), &w);
	ck_assert_uint_eq(pkey_at(&w, 0), 0xffff);
	ck_assert_uint_eq(pkey_at(&w, 1), 0);
	/* of the switch's own port */
	want_item(plan, sw, ITEM(ITEM_PKEY, 0, 0), &w);
	ck_assert_uint_eq(w.mod, 0);
	ck_assert_uint_eq(pkey_at(&w, 1), 0);

	count_items(sw);
	ck_assert_uint_eq(counts[ITEM_PKEY], 2 + 2 * N_CAS);
	for (unsigned i = 0; i < total; i++)
		if (ITEM_KIND(order[i]) == ITEM_PKEY)
			seen[ITEM_A(order[i])][ITEM_B(order[i])] = true;
	for (unsigned num = 0; num <= SWITCH_PORTS; num++)
		ck_assert(seen[num][0] == (num <= N_CAS) && seen[num][1] == (num <= N_CAS));
}
END_TEST

/* The port's state and present enforcement; the wanted enforcement, and that before and after the tables. */
static const struct {
	unsigned state, in, out;
	bool before_in, before_out, to_enforce;
} enforcement[] = {
	{ IB_PORT_INIT_S, 0, 0, true, true, false },	/* no traffic yet */
	{ IB_PORT_ARMED_S, 0, 0, true, true, false },
	{ IB_PORT_ACTIVE_S, 0, 0, false, false, true },
	{ IB_PORT_ACTIVE_S, 1, 1, true, true, false },
	{ IB_PORT_ACTIVE_S, 1, 0, true, true, false },
};

static uint32_t switch_port_in(unsigned state, unsigned in, unsigned out)
{
	uint32_t port = f->nodes[sw].port0 + 2;
	uint8_t d[64];

	port_info(d, state);
	put(d, IB_PORT_PART_EN_INB_F, in);
	put(d, IB_PORT_PART_EN_OUTB_F, out);
	fabric_port_store(&f->ports[port], d);
	return port;
}

START_TEST(enforcement_begins_with_its_table)
{
	uint32_t port = switch_port_in(enforcement[_i].state, enforcement[_i].in, enforcement[_i].out);
	uint8_t d[64];
	uint64_t h;

	want_port_info(&env, port, IB_PORT_NOP, d);
	ck_assert_uint_eq(field(d, IB_PORT_PART_EN_INB_F), enforcement[_i].before_in);
	ck_assert_uint_eq(field(d, IB_PORT_PART_EN_OUTB_F), enforcement[_i].before_out);
	ck_assert(port_is_to_enforce(plan, port) == enforcement[_i].to_enforce);
	h = port_info_digest(&env, port, d);
	env.tables_written = true;
	want_port_info(&env, port, IB_PORT_NOP, d);
	ck_assert_uint_eq(field(d, IB_PORT_PART_EN_INB_F), 1);
	ck_assert_uint_eq(field(d, IB_PORT_PART_EN_OUTB_F), 1);
	ck_assert((port_info_digest(&env, port, d) != h) == enforcement[_i].to_enforce);
	/* as far as the switch supports it */
	f->switches[0].enforces_in = false;
	want_port_info(&env, port, IB_PORT_NOP, d);
	ck_assert_uint_eq(field(d, IB_PORT_PART_EN_INB_F), 0);
	ck_assert_uint_eq(field(d, IB_PORT_PART_EN_OUTB_F), 1);
}
END_TEST

/* A switch that refuses its ports' P_Key tables cannot enforce by them; the table of port 0 does not matter. */
/* promise: D92 */
START_TEST(enforcement_without_its_table)
{
	uint32_t port = switch_port_in(IB_PORT_INIT_S, 0, 0);
	uint8_t d[64];

	env.refused = store_refusals(store);
	store_refused_by_status(store, f->nodes[sw].guid, UMAD_SM_ATTR_PKEY_TABLE, 0, 1, 0x1c);
	want_port_info(&env, port, IB_PORT_NOP, d);
	ck_assert_uint_eq(field(d, IB_PORT_PART_EN_INB_F), 1);
	ck_assert_uint_eq(field(d, IB_PORT_PART_EN_OUTB_F), 1);
	store_refused_by_status(store, f->nodes[sw].guid, UMAD_SM_ATTR_PKEY_TABLE, 2 << 16, 1, 0x1c);
	want_port_info(&env, port, IB_PORT_NOP, d);
	ck_assert_uint_eq(field(d, IB_PORT_PART_EN_INB_F), 0);
	ck_assert_uint_eq(field(d, IB_PORT_PART_EN_OUTB_F), 0);
	store_taken(store, f->nodes[sw].guid, UMAD_SM_ATTR_PKEY_TABLE, 2 << 16);
	want_port_info(&env, port, IB_PORT_NOP, d);
	ck_assert_uint_eq(field(d, IB_PORT_PART_EN_INB_F), 1);
}
END_TEST

START_TEST(enforcement_ends_at_once)
{
	uint32_t port = switch_port_in(IB_PORT_ACTIVE_S, 1, 1);
	uint8_t d[64];

	want_port_info(&env, port, IB_PORT_NOP, d);
	ck_assert_uint_eq(field(d, IB_PORT_PART_EN_INB_F), 0);
	ck_assert_uint_eq(field(d, IB_PORT_PART_EN_OUTB_F), 0);
	ck_assert(!port_is_to_enforce(plan, port));
}
END_TEST

START_TEST(no_tables_without_a_policy_for_them)
{
	count_items(sw);
	ck_assert_uint_eq(counts[ITEM_SL2VL] + counts[ITEM_VLARB], 0);
	ck_assert_uint_gt(counts[ITEM_LFT], 0);
}
END_TEST

START_TEST(routes)
{
	struct smp s = { 0 };

	ck_assert(want_route(f, sw, 3, &s));
	ck_assert_uint_eq(s.hops, 1);
	ck_assert_uint_eq(s.last_hop, 0);
	ck_assert(want_route(f, sw + 1, 1, &s));
	ck_assert_uint_eq(s.hops, 2);
	ck_assert_uint_eq(s.route[1], 2);
	/* found by another port: this one is reached through its own link */
	f->nodes[sw + 2].local_port = 2;
	ck_assert(want_route(f, sw + 2, 1, &s));
	ck_assert_uint_eq(s.hops, 1);
	ck_assert_uint_eq(s.last_hop, 3);
	/* it is unreachable: no SMP has so many hops */
	f->nodes[sw + 1].hops = FABRIC_UNREACHED;
	ck_assert(!want_route(f, sw + 1, 1, &s));
}
END_TEST

START_TEST(switch_info)
{
	uint8_t d[64];
	struct fabric_switch *s = &f->switches[f->nodes[sw].sw];
	const struct refusals *none = store_refusals(store);

	ck_assert(want_switch_info(&env, none, 0, d));
	ck_assert_uint_eq(field(d, IB_SW_LINEAR_FDB_TOP_F), plan->lid_top);
	ck_assert_uint_eq(field(d, IB_SW_LIFE_TIME_F), settings->packet_lifetime);
	ck_assert_uint_eq(field(d, IB_SW_MCAST_FDB_TOP_F), 0);
	fabric_switch_store(s, d);
	ck_assert(!want_switch_info(&env, none, 0, d));
	/* it is cleared by writing it */
	put(s->info, IB_SW_STATE_CHANGE_F, 1);
	memcpy(d, s->info, 20);
	fabric_switch_store(s, d);
	ck_assert(want_switch_info(&env, none, 0, d));
	ck_assert_uint_eq(field(d, IB_SW_STATE_CHANGE_F), 1);
	ck_assert(switch_info_needs_set(&env, none, 0));
	/* without an answer of the switch, nobody knows what to set */
	memset(d, 0, sizeof(d));
	fabric_switch_store(s, d);
	ck_assert(!switch_info_needs_set(&env, none, 0));
}
END_TEST

/* Sets MulticastFDBTop as OpenSM leaves it: the last block in use. */
static void leave_mcast_top(unsigned cap, unsigned top)
{
	uint8_t d[64];

	want_switch_info(&env, store_refusals(store), 0, d);
	put(d, IB_SW_MCAST_FDB_CAP_F, cap);
	put(d, IB_SW_MCAST_FDB_TOP_F, top);
	fabric_switch_store(&f->switches[0], d);
}

/* promise: D40 */
START_TEST(mcast_top)
{
	static const struct {
		unsigned cap, top, wanted, forwards;
	} t[] = {
		{ 1024, 0xc01f, 0xc3ff, 32 }, { 1024, 0, 0xc3ff, 1024 },
		{ 1024, 0xbfff, 0xc3ff, 0 }, { 1024, 0xc3ff, 0xc3ff, 1024 },
		{ 1024, 0xffff, 0xc3ff, 1024 }, { 16383, 0xc01f, 0xfffe, 32 },
		{ 65535, 0xc01f, 0xfffe, 32 }, { 1, 0xbfff, 0xc000, 0 },
		{ 0, 0xbfff, 0xbfff, 0 },		/* it forwards none at all */
	};
	struct fabric_port *port0 = &f->ports[f->nodes[sw].port0];
	uint8_t d[64];

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		port0->capmask &= ~IB_CAP_MCAST_FDB_TOP;
		leave_mcast_top(t[i].cap, t[i].top);
		ck_assert(!want_switch_info(&env, store_refusals(store), 0, d));
		ck_assert_uint_eq(field(d, IB_SW_MCAST_FDB_TOP_F), t[i].top);
		ck_assert_uint_eq(fabric_switch_mlids(f, 0), f->switches[0].mcast_cap);
		port0->capmask |= IB_CAP_MCAST_FDB_TOP;
		ck_assert_int_eq(want_switch_info(&env, store_refusals(store), 0, d),
				 t[i].top != t[i].wanted);
		ck_assert_uint_eq(field(d, IB_SW_MCAST_FDB_TOP_F), t[i].wanted);
		ck_assert_uint_eq(fabric_switch_mlids(f, 0), t[i].forwards);
	}
	/* a refused value is not requested again until the switch has another one */
	leave_mcast_top(1024, 0xc01f);
	store_refused(store, 0x900, UMAD_SM_ATTR_SWITCH_INFO, REFUSED_MCAST_TOP, 0xc3ff, 0xc01f);
	ck_assert(!want_switch_info(&env, store_refusals(store), 0, d));
	ck_assert_uint_eq(field(d, IB_SW_MCAST_FDB_TOP_F), 0xc01f);
	leave_mcast_top(1024, 0xc03f);
	ck_assert(want_switch_info(&env, store_refusals(store), 0, d));
}
END_TEST

static void with_tables(void)
{
	make_plan(true, 0);
}

static void without_tables(void)
{
	make_plan(false, 0);
}

static void with_partitions(void)
{
	make_plan(false, 17);
}

int main(void)
{
	Suite *s = suite_create("sm");
	TCase *t = tcase_create("want"), *n = tcase_create("without tables"),
	      *k = tcase_create("partitions");

	tcase_add_checked_fixture(t, with_tables, drop_plan);
	tcase_add_test(t, port_info_of_a_ca);
	tcase_add_test(t, all_that_is_supported);
	tcase_add_test(t, more_enabled_than_supported);
	tcase_add_test(t, modifier_asks_for_extended_speeds);
	tcase_add_test(t, m_key_of_end_ports);
	tcase_add_test(t, m_key_of_smps);
	tcase_add_test(t, high_limit_of_port_0);
	tcase_add_test(t, vls_of_a_link_at_work);
	tcase_add_test(t, an_mtu_that_there_is_not);
	tcase_add_test(t, what_a_link_keeps);
	tcase_add_test(t, reregistration_only_with_a_reason);
	tcase_add_test(t, active_ports_await_publishing);
	tcase_add_test(t, what_is_announced);
	tcase_add_test(t, digest_sees_our_fields_only);
	tcase_add_test(t, items_of_a_switch);
	tcase_add_test(t, items_of_a_ca);
	tcase_add_test(t, routes);
	tcase_add_test(t, switch_info);
	tcase_add_test(t, mcast_top);
	suite_add_tcase(s, t);
	tcase_add_checked_fixture(n, without_tables, drop_plan);
	tcase_add_test(n, no_tables_without_a_policy_for_them);
	tcase_add_test(n, enforcement_ends_at_once);
	suite_add_tcase(s, n);
	tcase_add_checked_fixture(k, with_partitions, drop_plan);
	tcase_add_test(k, pkey_tables);
	tcase_add_test(k, enforcement_without_its_table);
	tcase_add_loop_test(k, enforcement_begins_with_its_table, 0, ARRAY_SIZE(enforcement));
	suite_add_tcase(s, k);
	return run_suite(s);
}
