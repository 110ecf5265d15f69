/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests the list of implausible answers: what is listed, what leaves the list, and when qosd reads again. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad_sm.h>

#include "fabric/edit.h"
#include "lib/base/alloc.h"
#include "sm/devices/exclusions.h"
#include "sm/devices/implausible.h"
#include "sm/devices/node_names.h"
#include "sm/keys/mkey.h"
#include "sm/sm_internal.h"
#include "smps.h"
#include "unit/plan/net.h"
#include "unit/run.h"

#define SPINE_PORTS 8
#define N_LEAVES 3
#define N_HOSTS 4	/* of a leaf */

static struct sm sm;
static struct subnet_state now, before;
static uint8_t changed[64];
static uint64_t implausible;		/* node that reports the following values; 0: none */
static unsigned said_port;
static uint64_t said_system;	/* SystemImageGUID; 0: the true one */

/* A spine, leaves and hosts; the SM is on the first host. */
static struct fabric *tree(void)
{
	struct fabric *f = fabric_new();
	uint32_t self = net_ca(f, 0x1000, 1), spine;

	spine = net_switch(f, 0x9000, SPINE_PORTS, false);
	for (unsigned l = 0; l < N_LEAVES; l++) {
		uint32_t leaf = net_switch(f, 0x9100 + l, N_HOSTS + 1, false);

		ck_assert(fabric_link(f, spine, l + 1, leaf, 1));
		for (unsigned h = 0; h < N_HOSTS; h++)
			ck_assert(fabric_link(f, leaf, h + 2, l || h ? net_ca(f, 0x1000 + 0x100 * l + 0x10 * h,
									    1) : self, 1));
	}
	net_finish(f);
	fabric_reroute(f, NULL);
	return f;
}

/* The port where an SMP arrives. */
static uint32_t arrives(const struct smp *s)
{
	uint32_t port = now.f->self;

	for (unsigned i = 1; i <= s->hops + (s->last_hop ? 1u : 0u); i++) {
		unsigned by = i <= s->hops ? s->route[i - 1] : s->last_hop;

		port = now.f->ports[now.f->nodes[now.f->ports[port].node].port0 + by].peer;
		ck_assert_uint_ne(port, FABRIC_NONE);
	}
	return port;
}

/* Answers NodeInfo as published, except for the port that the implausible device claims. */
static int answer_node(struct smp *s)
{
	uint32_t port = arrives(s);
	const struct fabric_node *n = port_node(now.f, port);

	ck_assert_uint_eq(s->attr, UMAD_SM_ATTR_NODE_INFO);
	memcpy(s->data, n->info, 40);
	mad_set_field(s->data, 0, IB_NODE_LOCAL_PORT_F,
		      n->guid == implausible ? said_port : now.f->ports[port].num);
	if (n->guid == implausible && said_system)
		mad_set_field64(s->data, 0, IB_NODE_SYSTEM_GUID_F, said_system);
	if (!node_is_switch(n))
		mad_set_field64(s->data, 0, IB_NODE_PORT_GUID_F, now.f->ports[port].guid);
	return 0;
}

static void setup(void)
{
	memset(&sm, 0, sizeof(sm));
	memset(changed, 0, sizeof(changed));
	implausible_new(&sm);
	names_new(&sm);
	implausible = said_system = 0;
	smps_reset(answer_node);
	sm.loop = loop_new();
	sm.settings = settings_default();
	sm.store = store_open(NULL, NULL, NULL);
	sm.devices.exclusions = exclusions_new();
	mkey_new(&sm);
	now = (struct subnet_state){ .refs = 1, .generation = 1, .f = tree() };
	before = (struct subnet_state){ .refs = 1 };
	sm.published = &now;
}

static void teardown(void)
{
	names_free(&sm);
	implausible_free(&sm);
	mkey_free(&sm);
	exclusions_free(sm.devices.exclusions);
	store_close(sm.store);
	settings_free((struct settings *)(uintptr_t)sm.settings);
	loop_free(sm.loop);
	vec_free(&sm.wishes.suspects);
	fabric_free(now.f);
	fabric_free(before.f);
	before.f = NULL;
}

/* Prepares the next state to be published, in which only the nodes in `changed` differ. */
static void next_state(void)
{
	fabric_free(before.f);
	before.f = fabric_clone(now.f);
	memset(changed, 0, sizeof(changed));
	now.since = now.generation++;
	now.changed = changed;
	sm.sweep.replaced = &before;
}

static uint32_t port_at(uint64_t guid, unsigned num)
{
	return now.f->nodes[map64_get(&now.f->node_by_guid, guid)].port0 + num;
}

static void set(uint32_t port, enum MAD_FIELDS field, unsigned value)
{
	uint8_t info[64];

	memcpy(info, now.f->ports[port].info, sizeof(info));
	mad_set_field(info, 0, field, value);
	fabric_port_store(&now.f->ports[port], info);
	changed[now.f->ports[port].node] = 1;
}

/* Renames a port like a finished fabric: of two ports with one GUID, the first keeps it. */
static void rename_port(uint32_t port, uint64_t guid)
{
	struct fabric *f = now.f;

	f->ports[port].guid = guid;
	changed[f->ports[port].node] = 1;
	map64_clear(&f->by_guid);
	for (uint32_t i = f->n_ports; i-- > 0;)
		if (port_is_end(f, i) && f->ports[i].guid)
			map64_put(&f->by_guid, f->ports[i].guid, i);
}

static size_t listed(void)
{
	size_t n;

	implausible_list(&sm, &n);
	return n;
}

static bool tells(const char *text)
{
	size_t n;
	const struct implausible_answer *list = implausible_list(&sm, &n);

	for (size_t i = 0; i < n; i++)
		if (strstr(list[i].text, text))
			return true;
	return false;
}

START_TEST(one_that_is_odd_for_good_is_looked_at_once)
{
	struct again a = { 0 };
	unsigned looks = 0;

	for (unsigned i = 0; i < 100; i++)
		looks += again_is_news(&a, 0x77);
	ck_assert_uint_eq(looks, 1);
	ck_assert(again_is_news(&a, 0x55));	/* the truth, at once */
	ck_assert(!again_is_news(&a, 0x55));
}
END_TEST

START_TEST(one_that_answers_at_random_is_not_looked_at_each_time)
{
	struct again a = { 0 };
	unsigned looks = 0;
	uint64_t seed = 4711;

	for (unsigned i = 0; i < 100; i++)
		looks += again_is_news(&a, net_random(&seed));
	ck_assert_uint_eq(looks, 2);
	looks = again_is_news(&a, 0);
	looks += again_is_news(&a, 0);
	ck_assert_uint_eq(looks, 1);		/* within two light sweeps */
}
END_TEST

START_TEST(odd_ports_are_listed_by_name)
{
	implausible_look(&sm);
	ck_assert_uint_eq(listed(), 0);
	next_state();
	set(port_at(0x9101, 3), IB_PORT_VL_CAP_F, 15);
	set(port_at(0x1210, 1), IB_PORT_LINK_SPEED_ACTIVE_F, 11);
	implausible_look(&sm);
	ck_assert_uint_eq(listed(), 2);
	ck_assert(tells("n9101/P3 (0x0000000000009101) reports VLCap 15, which does not exist"));
	ck_assert(tells("n1210/P1 (0x0000000000001211) reports LinkSpeedActive 11, which is not a speed"));
	next_state();
	set(port_at(0x9101, 3), IB_PORT_VL_CAP_F, 4);
	implausible_look(&sm);
	ck_assert_uint_eq(listed(), 1);
	next_state();
	implausible_look(&sm);
	ck_assert_uint_eq(listed(), 1);		/* an entry stays where nothing changed */
}
END_TEST

/* promise: A74 */
START_TEST(a_link_with_one_end_down)
{
	implausible_look(&sm);
	next_state();
	set(port_at(0x9102, 4), IB_PORT_STATE_F, IB_PORT_DOWN_S);
	implausible_look(&sm);
	ck_assert_uint_eq(listed(), 1);
	ck_assert(tells("n9102/P4 (0x0000000000009102) reports that its link is down, but the far end reports that it is up"));
	ck_assert(implausible_list(&sm, &(size_t){ 0 })->unsure);	/* it may have come up between two answers */
	next_state();
	set(port_at(0x9102, 4), IB_PORT_STATE_F, IB_PORT_INIT_S);
	implausible_look(&sm);
	ck_assert_uint_eq(listed(), 0);
}
END_TEST

START_TEST(a_link_with_both_ends_down)
{
	uint32_t port = port_at(0x9102, 4), peer = now.f->ports[port].peer;

	set(port, IB_PORT_STATE_F, IB_PORT_DOWN_S);
	set(peer, IB_PORT_STATE_F, IB_PORT_DOWN_S);
	implausible_look(&sm);
	ck_assert_uint_eq(listed(), 2);		/* otherwise neither of them would be queried again */
	ck_assert(tells("n9102/P4 (0x0000000000009102) reports that its link is down, as does the far end"));
	ck_assert(implausible_list(&sm, &(size_t){ 0 })->unsure);
	next_state();
	fabric_cut(now.f, port);
	changed[now.f->ports[port].node] = changed[now.f->ports[peer].node] = 1;
	implausible_look(&sm);
	ck_assert_uint_eq(listed(), 0);
}
END_TEST

START_TEST(two_with_one_port_guid)
{
	uint32_t first = port_at(0x1110, 1), second = port_at(0x1220, 1);
	uint64_t guid = now.f->ports[second].guid;

	implausible_look(&sm);
	next_state();
	rename_port(first, guid);	/* it comes first, and the rightful owner has not changed */
	implausible_look(&sm);
	ck_assert_uint_eq(listed(), 2);
	ck_assert(tells("n1220 (0x0000000000001220), behind n9102/P4 (0x0000000000009102), reports the port GUID of n1110/P1"));
	ck_assert(tells("n1110 (0x0000000000001110), behind n9101/P3 (0x0000000000009101), reports a port GUID that another device reports"));
	next_state();
	rename_port(first, 0x1111);
	implausible_look(&sm);
	ck_assert_uint_eq(listed(), 0);
}
END_TEST

/* Checking only changed nodes must find the same as checking all. */
START_TEST(looking_at_changes_finds_the_same)
{
	static const unsigned values[] = { 0, 1, 4, 15 };
	static const enum MAD_FIELDS fields[] = {
		IB_PORT_VL_CAP_F, IB_PORT_MTU_CAP_F, IB_PORT_STATE_F, IB_PORT_LINK_SPEED_ACTIVE_F,
	};
	uint64_t seed = 99;

	implausible_look(&sm);
	for (unsigned round = 0; round < 400; round++) {
		struct implausible_answers *kept = sm.devices.implausible;
		size_t n, found = 0;
		const struct implausible_answer *list;

		next_state();
		for (unsigned i = 0; i < 2; i++) {
			uint32_t port = net_random(&seed) % now.f->n_ports, from;

			if (!now.f->ports[port].present)
				continue;
			set(port, fields[net_random(&seed) % 4], values[net_random(&seed) % 4]);
			from = net_random(&seed) % now.f->n_ports;
			if (!node_is_switch(port_node(now.f, port)) && now.f->ports[from].present)
				rename_port(port, now.f->ports[net_random(&seed) % 2 ? from : port].guid);
		}
		implausible_look(&sm);
		implausible_new(&sm);
		now.changed = NULL;
		implausible_look(&sm);
		list = implausible_list(&sm, &n);
		for (size_t i = 0; i < n; i++) {
			struct implausible_answers *fresh = sm.devices.implausible;

			sm.devices.implausible = kept;
			found += tells(list[i].text);
			sm.devices.implausible = fresh;
		}
		ck_assert_uint_eq(found, n);
		implausible_free(&sm);
		sm.devices.implausible = kept;
		ck_assert_uint_eq(listed(), n);
	}
}
END_TEST

START_TEST(an_answer_stays_until_a_good_one)
{
	uint32_t port = port_at(0x9100, 3);

	ck_assert(implausible_note(&sm, now.f, port, true, 77, "claims to be port %u", 7));
	ck_assert(!implausible_note(&sm, now.f, port, true, 77, "claims to be port %u", 7));
	ck_assert(implausible_know(&sm, now.f, port, true));
	ck_assert(!implausible_know(&sm, now.f, port, false));
	implausible_look(&sm);
	ck_assert_uint_eq(listed(), 1);
	ck_assert(tells("n1010 (0x0000000000001010), behind n9100/P3 (0x0000000000009100), claims to be port 7"));
	implausible_clear(&sm, now.f, port, true);
	ck_assert_uint_eq(listed(), 0);
}
END_TEST

/* promise: A74 */
START_TEST(an_answer_that_is_published_goes)
{
	uint32_t port = port_at(0x9100, 3), host = port_node(now.f, now.f->ports[port].peer) - now.f->nodes;
	uint8_t info[40];

	memcpy(info, now.f->nodes[host].info, sizeof(info));
	mad_set_field(info, 0, IB_NODE_LOCAL_PORT_F, 1);
	mad_set_field64(info, 0, IB_NODE_PORT_GUID_F, now.f->ports[now.f->ports[port].peer].guid);
	ck_assert(implausible_note(&sm, now.f, port, true, implausible_digest(UMAD_SM_ATTR_NODE_INFO, info),
				   "claims to be elsewhere"));
	implausible_look(&sm);
	ck_assert_uint_eq(listed(), 0);		/* confirmed by a discovery meanwhile */
}
END_TEST

/* A discovery takes place during the local sweep that was to read the port. */
START_TEST(an_answer_of_a_port_that_is_published_goes)
{
	uint32_t port = port_at(0x9101, 3);

	ck_assert(implausible_note(&sm, now.f, port, false, 77, "says PortState 14"));
	implausible_look(&sm);
	ck_assert_uint_eq(listed(), 1);
	implausible_note(&sm, now.f, port, false,
			 implausible_digest(UMAD_SM_ATTR_PORT_INFO, now.f->ports[port].info), "says PortState 14");
	implausible_look(&sm);
	ck_assert_uint_eq(listed(), 0);
}
END_TEST

static uint8_t *switch_info(unsigned cap)
{
	static uint8_t info[64];

	memcpy(info, now.f->switches[0].info, sizeof(now.f->switches[0].info));
	mad_set_field(info, 0, IB_SW_LINEAR_FDB_CAP_F, cap);
	return info;
}

/* promise: A79 */
START_TEST(a_switch_that_says_otherwise)
{
	unsigned news = 0;

	fabric_switch_store(&now.f->switches[0], switch_info(1024));
	ck_assert(!implausible_switch_is_news(&sm, now.f, 0, switch_info(1024)));
	ck_assert(implausible_switch_is_news(&sm, now.f, 0, switch_info(2048)));
	fabric_switch_store(&now.f->switches[0], switch_info(2048));	/* the sweep reads the same */
	ck_assert(!implausible_switch_is_news(&sm, now.f, 0, switch_info(2048)));
	/* it gives this answer to light sweeps only */
	for (unsigned i = 0; i < 2000; i++)
		news += implausible_switch_is_news(&sm, now.f, 0, switch_info(4096));
	ck_assert_uint_ge(news, 5);
	ck_assert_uint_le(news, 20);
	/* another value each time */
	news = 0;
	for (unsigned i = 0; i < 2000; i++)
		news += implausible_switch_is_news(&sm, now.f, 0, switch_info(4096 + i));
	ck_assert_uint_eq(news, 0);
}
END_TEST

/* promise: A109 */
START_TEST(what_is_found_and_what_is_answered_do_not_replace_each_other)
{
	uint32_t port = port_at(0x9101, 3);

	set(port, IB_PORT_VL_CAP_F, 15);
	implausible_look(&sm);
	ck_assert(implausible_note(&sm, now.f, port, false, 77, "says PortState 0"));
	implausible_look(&sm);
	ck_assert(!implausible_note(&sm, now.f, port, false, 77, "says PortState 0"));
	ck_assert_uint_eq(listed(), 2);
	ck_assert_uint_eq(implausible_next_right(&sm), 0);
	implausible_clear(&sm, now.f, port, false);
	ck_assert_uint_eq(listed(), 1);
	ck_assert(tells("VLCap 15"));
	/* what it refused is to be tried again */
	ck_assert_uint_eq(implausible_next_right(&sm), port_node(now.f, port)->guid);
	ck_assert_uint_eq(implausible_next_right(&sm), 0);
}
END_TEST

static void light_sweeps(unsigned n)
{
	while (n--) {
		implausible_ask(&sm);
		smps_run();
	}
}

/* A known switch begins to claim that the SMP entered by a port that it does not have. */
static void says_no_port(uint64_t guid, unsigned num, const char *text)
{
	light_sweeps(3);
	ck_assert_uint_eq(listed(), 0);
	implausible = guid;
	said_port = num;
	light_sweeps(2);
	ck_assert_uint_eq(listed(), 1);
	ck_assert(tells(text));
	light_sweeps(3);
	/* its link stays, so there is nothing to probe */
	ck_assert_uint_eq(smps.sweeps, 0);
	ck_assert_uint_eq(sm.wishes.suspects.n, 0);
	/* nor if it reports another port each time */
	said_port = num ? num - 1 : 77;
	light_sweeps(1);
	said_port = num;
	light_sweeps(3);
	ck_assert_uint_eq(listed(), 1);
	ck_assert_uint_eq(smps.sweeps, 0);
}

/* The lie ends, and a local sweep must probe behind the link. */
static void says_the_truth(uint64_t near)
{
	implausible = 0;
	light_sweeps(2);
	ck_assert_uint_eq(smps.sweeps, 1);
	ck_assert_int_eq(smps.kind, SWEEP_LOCAL);
	ck_assert_uint_eq(sm.wishes.suspects.n, 1);
	ck_assert_uint_eq(sm.wishes.suspects.v[0].guid, near);
	ck_assert(sm.wishes.suspects.v[0].ends);
	next_state();
	implausible_look(&sm);		/* that sweep publishes the answer */
	ck_assert_uint_eq(listed(), 0);
}

/* promise: A2 */
START_TEST(a_port_that_it_does_not_have)
{
	says_no_port(0x9101, 254, "n9101 (0x0000000000009101), behind n9000/P2 (0x0000000000009000), reports "
		     "LocalPortNum 254 but has 5 ports");
	says_the_truth(0x9000);
}
END_TEST

START_TEST(port_0_of_a_switch_that_is_not_ours)
{
	says_no_port(0x9102, 0, "reports LocalPortNum 0 but has 5 ports");
	says_the_truth(0x9000);
}
END_TEST

/* Another port that the switch has is plausible: the SMP may have taken another route. */
START_TEST(another_port_that_it_has)
{
	light_sweeps(3);
	implausible = 0x9101;
	said_port = 5;
	light_sweeps(4);
	ck_assert_uint_eq(listed(), 0);
	ck_assert_uint_eq(smps.sweeps, 0);
}
END_TEST

/* A device with varying answers leaves the list after it twice gives the published answer with a valid port. */
START_TEST(this_and_that_and_then_no_port)
{
	light_sweeps(3);
	implausible = 0x9101;
	said_port = 254;
	said_system = 0x77;
	light_sweeps(2);
	ck_assert(tells("contradicts itself"));
	ck_assert_uint_eq(smps.sweeps, 1);
	said_system = 0;
	light_sweeps(3);
	ck_assert(tells("reports LocalPortNum 254"));
	ck_assert_uint_eq(listed(), 1);
}
END_TEST

/* The manager runs on a switch and queries it by port 0. */
START_TEST(port_0_of_our_own_switch)
{
	struct buf err = { 0 };

	fabric_free(now.f);
	now.f = fabric_new();
	net_switch(now.f, 0x9000, 4, false);
	ck_assert(fabric_link(now.f, 0, 1, net_ca(now.f, 0x1000, 1), 1));
	ck_assert_msg(fabric_finish(now.f, 0, 0, &err), "%s", err.s);
	fabric_reroute(now.f, NULL);
	light_sweeps(1);
	smps.gets = 0;
	light_sweeps(2);
	ck_assert_uint_eq(smps.gets, 1);	/* once per large switch; else it is confirmed */
	ck_assert_uint_eq(listed(), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("implausible");
	TCase *t = tcase_create("implausible");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, one_that_is_odd_for_good_is_looked_at_once);
	tcase_add_test(t, one_that_answers_at_random_is_not_looked_at_each_time);
	tcase_add_test(t, odd_ports_are_listed_by_name);
	tcase_add_test(t, a_link_with_one_end_down);
	tcase_add_test(t, a_link_with_both_ends_down);
	tcase_add_test(t, two_with_one_port_guid);
	tcase_add_test(t, looking_at_changes_finds_the_same);
	tcase_add_test(t, an_answer_stays_until_a_good_one);
	tcase_add_test(t, an_answer_that_is_published_goes);
	tcase_add_test(t, an_answer_of_a_port_that_is_published_goes);
	tcase_add_test(t, a_switch_that_says_otherwise);
	tcase_add_test(t, what_is_found_and_what_is_answered_do_not_replace_each_other);
	tcase_add_test(t, a_port_that_it_does_not_have);
	tcase_add_test(t, port_0_of_a_switch_that_is_not_ours);
	tcase_add_test(t, another_port_that_it_has);
	tcase_add_test(t, this_and_that_and_then_no_port);
	tcase_add_test(t, port_0_of_our_own_switch);
	suite_add_tcase(s, t);
	return run_suite(s);
}
