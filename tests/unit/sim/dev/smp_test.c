/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "smp_test.h"

struct sim *sim;
struct sim_fabric *fabric;
uint32_t ca_a, ca_b, sw1, sw2;
struct packet heard[HEARD_MAX];
uint32_t heard_at[HEARD_MAX];
unsigned n_heard;
uint64_t smp_key;

static struct packet *answer_to;	/* of the request that smp_send() waits for */
static bool answered;
static uint64_t next_tid;

static void hear(struct sim *s, uint32_t port, struct packet *p)
{
	ck_assert_ptr_eq(s, sim);
	if (answer_to && !memcmp(p->mad + MAD_TID, answer_to->mad + MAD_TID, 8)) {
		*answer_to = *p;
		answered = true;
	} else if (n_heard < HEARD_MAX) {
		heard_at[n_heard] = port;
		heard[n_heard++] = *p;
	}
}

static uint32_t add(const char *name, uint8_t type, unsigned nports, uint64_t guid, uint16_t lid)
{
	struct sim_node_spec spec = {
		.type = type, .nports = (uint8_t)nports, .guid = guid, .sysimg_guid = guid,
		.id = name, .desc = name,
	};
	struct buf err = { 0 };
	uint32_t node = simfab_add_node(fabric, &spec, &err);

	ck_assert_msg(node != SIM_NONE, "%s", err.s);
	fabric->ports[fabric->nodes[node].port0 + (type != SIM_SWITCH)].lid = lid;
	return fabric->nodes[node].port0;
}

static void cable(uint32_t a, uint32_t b)
{
	struct buf err = { 0 };

	ck_assert_msg(simfab_connect(fabric, a, b, &err), "%s", err.s);
}

static void give_profiles(const char *profiles)
{
	struct findings out = { 0 };
	struct profile_set *ps = profiles_load("test", profiles, strlen(profiles), &out);

	ck_assert_ptr_nonnull(ps);
	profiles_apply(ps, fabric);
	profiles_free(ps);
	findings_free(&out);
}

void (*before_start)(void);

void fabric_setup(const char *profiles, bool keep_lids)
{
	fabric = simfab_new();
	sw1 = add("sw1", SIM_SWITCH, 4, 0x100, 0);
	sw2 = add("sw2", SIM_SWITCH, 4, 0x200, 12);
	ca_a = add("a", SIM_CA, 2, 0x300, 7) + 1;
	ca_b = add("b", SIM_CA, 1, 0x400, 0) + 1;
	cable(ca_a, sw1 + 1);
	cable(sw1 + 2, sw2 + 1);
	cable(sw1 + 3, sw2 + 3);
	cable(sw2 + 2, ca_b);
	fabric->ports[ca_a + 1].lid = 8;
	if (before_start)
		before_start();
	give_profiles(profiles);
	sim = sim_new(fabric, 1);
	sim->hooks.arrive = devices_receive;
	sim->hooks.host = hear;
	sim->hooks.bad_pkey = device_bad_pkey;
	sim->hooks.activate = device_activate;
	sim->hooks.falsify = device_falsify;
	devices_start(sim, keep_lids);
	n_heard = 0;
	smp_key = 0;
	sim_run(sim, 0);
}

void fabric_teardown(void)
{
	devices_stop(sim);
	sim_free(sim);
}

void default_setup(void)
{
	fabric_setup("nodes:\n- {type: switch, profile: switch-ib-2}\n"
		     "- {type: ca, profile: connectx-5}\n", false);
}

struct sim_profile *profile_of(uint32_t port)
{
	for (size_t i = 0; i < fabric->profiles.n; i++)
		if (fabric->profiles.v[i] == node_of(fabric, port)->profile)
			return fabric->profiles.v[i];
	return NULL;
}

uint32_t port_of(const char *name)
{
	struct buf err = { 0 };
	uint32_t port = find_port_by_text(fabric, name, &err);

	ck_assert_msg(port != SIM_NONE, "%s", err.s);
	return port;
}

uint8_t *info_of(const char *name)
{
	return fabric->ports[port_of(name)].info;
}

void pass_us(int64_t us)
{
	sim_run(sim, sim_now(sim) + us);
}

unsigned traps_heard(unsigned trap, const uint8_t **last)
{
	unsigned n = 0;

	for (unsigned i = 0; i < n_heard; i++) {
		const uint8_t *mad = heard[i].mad;

		if (mad[MAD_METHOD] != METHOD_TRAP || get_be16(mad + MAD_ATTR) != ATTR_NOTICE ||
		    get_be16(mad + SMP_DATA + NOTICE_TRAP) != trap)
			continue;
		n++;
		if (last)
			*last = mad + SMP_DATA;
	}
	return n;
}

struct packet smp_packet(const char *path, uint8_t method, uint16_t attr, uint32_t mod,
			 const uint8_t *data)
{
	struct packet p = { .client = 1, .slid = 0xffff, .dlid = 0xffff };

	p.mad[MAD_BASE_VERSION] = p.mad[MAD_CLASS_VERSION] = 1;
	p.mad[MAD_CLASS] = CLASS_SM_DR;
	p.mad[MAD_METHOD] = method;
	put_be64(p.mad + MAD_TID, 0x8000000000000000ull + ++next_tid);
	put_be16(p.mad + MAD_ATTR, attr);
	put_be32(p.mad + MAD_MOD, mod);
	put_be64(p.mad + SMP_MKEY, smp_key);
	put_be16(p.mad + SMP_DR_SLID, 0xffff);
	put_be16(p.mad + SMP_DR_DLID, 0xffff);
	if (data)
		memcpy(p.mad + SMP_DATA, data, SMP_DATA_SIZE);
	for (char *end; *path; path = *end ? end + 1 : end)
		p.mad[SMP_INIT_PATH + ++p.mad[MAD_DR_HOP_CNT]] = (uint8_t)strtoul(path, &end, 10);
	return p;
}

unsigned smp_send(struct packet *p)
{
	answer_to = p;
	answered = false;
	wire_send(sim, ca_a, p);
	pass_us(0);
	if (!answered)
		pass_us(1000000);
	answer_to = NULL;
	if (!answered)
		return NO_ANSWER;
	ck_assert_uint_eq(p->mad[MAD_METHOD], METHOD_GET_RESP);
	return get_be16(p->mad + MAD_STATUS) & 0x7fff;
}

unsigned smp(const char *path, uint8_t method, uint16_t attr, uint32_t mod, uint8_t *data)
{
	struct packet p = smp_packet(path, method, attr, mod, data);
	unsigned status = smp_send(&p);

	memcpy(data, p.mad + SMP_DATA, SMP_DATA_SIZE);
	return status;
}

unsigned smp_get(const char *path, uint16_t attr, uint32_t mod, uint8_t *data)
{
	memset(data, 0, SMP_DATA_SIZE);
	return smp(path, METHOD_GET, attr, mod, data);
}

unsigned smp_set(const char *path, uint16_t attr, uint32_t mod, uint8_t *data)
{
	return smp(path, METHOD_SET, attr, mod, data);
}

unsigned set_port(const char *path, unsigned num, void (*change)(uint8_t *info, unsigned v),
		  unsigned v)
{
	uint8_t data[SMP_DATA_SIZE];

	ck_assert_uint_eq(smp_get(path, ATTR_PORT_INFO, num, data), STATUS_OK);
	set_low4(data + PI_SPEED_SUP_STATE, 0);
	set_high4(data + PI_PHYS_STATE_DOWN_DEFAULT, 0);
	change(data, v);
	return smp_set(path, ATTR_PORT_INFO, num | PI_MOD_EXT_SPEEDS, data);
}

static void set_lids(uint8_t *info, unsigned lid)
{
	put_be16(info + PI_LID, (uint16_t)lid);
	put_be16(info + PI_SM_LID, 1);
}

static void set_state(uint8_t *info, unsigned state)
{
	set_low4(info + PI_SPEED_SUP_STATE, state);
}

static void set_routes(const char *path, unsigned to_a, unsigned to_b, unsigned to_sw1,
		       unsigned to_sw2)
{
	uint8_t data[SMP_DATA_SIZE];

	memset(data, SIM_LFT_DROP, sizeof(data));
	data[1] = (uint8_t)to_a;
	data[2] = (uint8_t)to_b;
	data[11] = (uint8_t)to_sw1;
	data[12] = (uint8_t)to_sw2;
	ck_assert_uint_eq(smp_set(path, ATTR_LINEAR_FORWARDING, 0, data), STATUS_OK);
	ck_assert_uint_eq(smp_get(path, ATTR_SWITCH_INFO, 0, data), STATUS_OK);
	put_be16(data + SI_LINEAR_TOP, 63);
	ck_assert_uint_eq(smp_set(path, ATTR_SWITCH_INFO, 0, data), STATUS_OK);
}

void bring_up(void)
{
	static const struct { const char *path; unsigned num; } ports[] = {
		{ "", 0 }, { "1", 1 }, { "1", 2 }, { "1", 3 }, { "1.2", 1 }, { "1.2", 2 },
		{ "1.2", 3 }, { "1.2.2", 0 },
	};

	ck_assert_uint_eq(set_port("", 0, set_lids, 1), STATUS_OK);
	ck_assert_uint_eq(set_port("1", 0, set_lids, 11), STATUS_OK);
	ck_assert_uint_eq(set_port("1.2", 0, set_lids, 12), STATUS_OK);
	ck_assert_uint_eq(set_port("1.2.2", 0, set_lids, 2), STATUS_OK);
	set_routes("1", 1, 2, 0, 2);
	set_routes("1.2", 1, 2, 1, 0);
	for (unsigned state = SIM_PORT_ARMED; state <= SIM_PORT_ACTIVE; state++)
		for (size_t i = 0; i < ARRAY_SIZE(ports); i++)
			ck_assert_uint_eq(set_port(ports[i].path, ports[i].num, set_state, state),
					  STATUS_OK);
}
