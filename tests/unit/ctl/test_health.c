/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests the problems that health reports for each fault of a subnet. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asking.h"
#include "ctl/commands/health_findings.h"
#include "events/outages.h"
#include "plan/feasible/feasible.h"
#include "plan/routes/base_routes.h"
#include "sa/registry/groups.h"
#include "sa/registry/holdings.h"
#include "sa/registry/subscriptions.h"
#include "subnet.h"
#include "sm/devices/isolations.h"
#include "unit/run.h"

static struct subnet_state *state;
static struct sm_status sm;
static struct sa_stats *sa;
static struct health_input in;
static struct health h;
static struct sm_seen other;

static void setup(void)
{
	json_set_alloc_funcs(xmalloc, free);
	state = test_subnet();
	memset(&sm, 0, sizeof(sm));
	sm.state = SM_MASTER;
	sm.subnet_up = true;
	sm.sweeps = 1;
	sm.phase = "idle";
	sm.policy = state->policy;
	sa = sa_stats_new();
	memset(&other, 0, sizeof(other));
	other.guid = 0x77;
	in = (struct health_input){ .sm = &sm, .state = state, .sa = sa, .trial_left_us = -1 };
}

static void teardown(void)
{
	health_free(&h);
	sa_stats_free(sa);
	test_subnet_free(state);
}

static size_t judged(void)
{
	health_free(&h);
	health_judge(&in, &h);
	return h.v.n;
}

/* Returns the problem; there must be exactly one. */
static const struct problem *only(void)
{
	ck_assert_uint_eq(judged(), 1);
	ck_assert_uint_gt(strlen(h.v.v[0].action), 10);
	return &h.v.v[0];
}

static void expect(enum severity severity, const char *kind, const char *text)
{
	const struct problem *p = only();

	ck_assert_str_eq(p->kind, kind);
	ck_assert_int_eq(p->severity, severity);
	ck_assert_msg(strstr(p->text, text) != NULL, "%s", p->text);
}

START_TEST(nothing_wrong)
{
	ck_assert_uint_eq(judged(), 0);
}
END_TEST

START_TEST(shares_missed)
{
	char port[] = "leaf one/P1", levels[] = "storage";
	struct perf_finding x = { .port = port, .levels = levels, .got = 0.21, .promised = 0.4,
				  .when_us = 5000000 };

	in.shorts = &x;
	in.n_shorts = 1;
	in.now_us = 17000000;
	expect(SEV_WARNING, "share-missed",
	       "leaf one/P1: level storage got 21 % of 40 % promised while waiting, 12 s ago");
	in.now_us = 0;			/* a clock that was set back */
	expect(SEV_WARNING, "share-missed", " 0 s ago");
}
END_TEST

/* promise: B9 */
START_TEST(data_on_an_sl_without_a_level)
{
	char first[] = "a/P1", second[] = "b/P1";
	struct perf_stray x[13];

	for (unsigned i = 0; i < 11; i++)
		x[i] = (struct perf_stray){ .lane = 5, .port = first, .bytes = 1000 };
	x[11] = (struct perf_stray){ .lane = 6, .port = second, .bytes = 4000 };
	x[12] = (struct perf_stray){ .by_vl = true, .lane = 6, .port = second, .bytes = 5000 };
	in.strays = x;
	in.n_strays = 11;
	expect(SEV_INFO, "sl-without-level",
	       "SL 5 carries data, but no level has it: 11000 bytes when last measured, sent by a/P1, a/P1");
	expect(SEV_INFO, "sl-without-level", "a/P1, a/P1 and 1 more");
	in.n_strays = 13;
	ck_assert_uint_eq(judged(), 3);		/* one for each SL and VL */
	in.strays = x + 11;
	in.n_strays = 1;
	expect(SEV_INFO, "sl-without-level", "SL 6 carries data, but no level has it: 4000 bytes when last measured, "
	       "sent by b/P1");
	in.strays = x + 12;
	in.n_strays = 1;
	expect(SEV_INFO, "sl-without-level", "VL 6 carries data");
}
END_TEST

START_TEST(every_finding_says_what_to_do)
{
	for (enum health_finding x = 0; x < HEALTH_FINDINGS; x++) {
		const struct problem *p;

		health_free(&h);
		health_add(&h, x, "text");
		p = &h.v.v[0];
		ck_assert_msg(*p->kind && strspn(p->kind, "abcdefghijklmnopqrstuvwxyz-") == strlen(p->kind), "%s",
			      p->kind);
		ck_assert_msg(strlen(p->action) > 10 && !strchr(p->action, '\n'), "%s: %s", p->kind, p->action);
	}
}
END_TEST

START_TEST(who_is_master)
{
	in.state = NULL;
	sm.subnet_up = false;
	sm.state = SM_NOT_ACTIVE;
	expect(SEV_ERROR, "not-active", "disabled this");
	sm.state = SM_STANDBY;
	expect(SEV_ERROR, "no-master", "no master");
	sm.master_guid = 0x77;		/* as it should be */
	ck_assert_uint_eq(judged(), 0);
	sm.state = SM_DISCOVERING;
	sm.master_guid = 0;
	sm.sweeps = 0;
	sm.sweeping = true;
	expect(SEV_WARNING, "no-master", "idle");
	sm.sweeping = false;
	expect(SEV_ERROR, "no-master", "");
	sm.state = SM_MASTER;		/* the first sweep */
	expect(SEV_WARNING, "not-up", "being brought up");
}
END_TEST

/* promise: A43 */
START_TEST(a_standby_that_is_not_active)
{
	in.others = &other;
	in.n_others = 1;
	other.state = SM_NOT_ACTIVE;
	expect(SEV_WARNING, "standby-not-active", "0x0000000000000077");
	in.n_others = 0;
	sm.state = SM_NOT_ACTIVE;
	in.state = NULL;
	sm.master_guid = 0x77;
	expect(SEV_ERROR, "not-active", "the master disabled this subnet manager");
	ck_assert_ptr_null(strstr(only()->text, "gone"));
	sm.master_guid = 0;
	expect(SEV_ERROR, "not-active", "and is gone: unless there is another standby");
}
END_TEST

/* promise: A47 */
START_TEST(an_m_key_is_advised)
{
	sm.no_m_key = true;
	expect(SEV_INFO, "no-m-key", "any host can configure any device");
	ck_assert_ptr_null(strstr(only()->text, "SM_Key"));
	sm.sm_key_known = true;
	expect(SEV_INFO, "no-m-key", "the SM_Key is the well-known default");
	sm.no_m_key = false;
	ck_assert_uint_eq(judged(), 0);
	sm.m_key_readable = true;
	expect(SEV_INFO, "m-key-readable", "any host can read the M_Key");
}
END_TEST

START_TEST(another_master)
{
	in.others = &other;
	in.n_others = 1;
	other.state = SM_STANDBY;
	ck_assert_uint_eq(judged(), 0);
	other.state = SM_MASTER;
	expect(SEV_ERROR, "two-masters", "0x0000000000000077");
}
END_TEST

/* A standby reports no devices, but reports that it could not take over. */
/* promise: L5 */
START_TEST(keys)
{
	sm.key_mismatches = 3;
	ck_assert_uint_eq(judged(), 0);
	in.state = NULL;
	sm.state = SM_STANDBY;
	sm.master_guid = 0x77;
	expect(SEV_ERROR, "m-key", "3 ports");
	sm.key_mismatches = 0;
	ck_assert_uint_eq(judged(), 0);
}
END_TEST

START_TEST(not_up)
{
	sm.subnet_up = false;
	sm.ports_linked = 12;
	sm.ports_active = 11;
	expect(SEV_ERROR, "not-up", "11 of 12");
}
END_TEST

START_TEST(devices)
{
	struct device_fault faults[] = {
		{ .node = 1, .kind = FAULT_KEEPS, .n = 7 }, { .node = 2, .kind = FAULT_SILENT },
	};
	struct device_fault mismatch = { .node = 2, .kind = FAULT_KEY_MISMATCH };
	struct sm_refused refused[] = {
		{ 3, { .attr = 0x16, .status = 0x1c, .by_status = 2 } },
		{ 1, { .attr = 0x17, .status = 0x0c, .by_status = 1 } },
	};

	state->faults = faults;
	for (unsigned i = 0; i < 2; i++) {
		static const char *const kinds[] = { "device-keeps", "device-silent" };

		state->faults = &faults[i];
		state->n_faults = 1;
		expect(i ? SEV_ERROR : SEV_WARNING, kinds[i], state->f->nodes[i + 1].desc);
	}
	state->n_faults = 0;
	in.refused = refused;
	in.n_refused = 1;
	expect(SEV_ERROR, "device-refuses", "Sets of P_KeyTable with status 0x001c (invalid value), 2 of");
	/* worst first */
	state->faults = faults;
	state->n_faults = 2;
	ck_assert_uint_eq(judged(), 3);
	ck_assert_str_eq(h.v.v[0].kind, "device-silent");
	ck_assert_str_eq(h.v.v[1].kind, "device-refuses");
	ck_assert_str_eq(h.v.v[2].kind, "device-keeps");
	/* a table that a device keeps because it refuses Sets is reported once */
	in.n_refused = 2;
	ck_assert_uint_eq(judged(), 3);
	ck_assert_str_eq(h.v.v[2].kind, "device-refuses");
	in.n_refused = 0;
	state->faults = &mismatch;
	state->n_faults = 1;
	expect(SEV_ERROR, "device-key-mismatch", state->f->nodes[2].desc);
	state->faults = NULL;
	state->n_faults = 0;
	state->f->unanswered = 3;
	expect(SEV_WARNING, "no-far-end", "3 switch ports");
	state->f->unanswered = 0;
	sm.refused = 5;
	expect(SEV_INFO, "values-kept", "5 attribute values");
}
END_TEST

/* promise: A75 */
START_TEST(multicast_lids_that_run_out)
{
	struct sa registered = { .holdings = holdings_new() };
	struct mcast_db *db = mcast_new(NULL, NULL);

	mcast_sync(db, state);
	ck_assert_uint_gt(mcast_usage(db).limit, 10);
	in.registered = &registered;
	in.mcast = db;
	holdings_set_bound(registered.holdings, HOLD_MLIDS, (struct hold_bound){ 10, 10 });
	holdings_add(registered.holdings, HOLD_MLIDS, 0x99, 7);
	ck_assert_uint_eq(judged(), 0);
	holdings_add(registered.holdings, HOLD_MLIDS, 0x99, 1);
	expect(SEV_WARNING, "mlids-filling", "multicast LIDs are in use; every switch can forward");
	in.mcast = NULL;
	mcast_free(db);
	holdings_free(registered.holdings);
}
END_TEST

/* promise: D111 A32 */
START_TEST(a_registry_that_fills)
{
	struct sa registered = { .holdings = holdings_new() };
	uint64_t node1 = 0x2c90300000011;

	in.registered = &registered;
	holdings_set_bound(registered.holdings, HOLD_SERVICES, (struct hold_bound){ 100, 50 });
	holdings_add(registered.holdings, HOLD_SERVICES, 0x99, 49);
	holdings_add(registered.holdings, HOLD_SERVICES, node1, 30);
	ck_assert_uint_eq(judged(), 0);
	holdings_add(registered.holdings, HOLD_SERVICES, node1, 1);
	expect(SEV_WARNING, "registry-filling", "80 services; the limit for all ports is 100");
	holdings_add(registered.holdings, HOLD_SERVICES, 0x99, -30);
	holdings_add(registered.holdings, HOLD_SERVICES, node1, 19);
	expect(SEV_WARNING, "port-at-bound", "node1 HCA-1/P1");
	expect(SEV_WARNING, "port-at-bound", "holds 50 services, the limit for one port");
	holdings_add(registered.holdings, HOLD_SERVICES, node1, -1);
	holdings_add(registered.holdings, HOLD_SERVICES, 0x99, 31);
	ck_assert_uint_eq(judged(), 2);
	ck_assert_str_eq(h.v.v[1].kind, "port-at-bound");
	ck_assert_ptr_nonnull(strstr(h.v.v[1].text, "0x0000000000000099 holds 50 services"));
	holdings_set_bound(registered.holdings, HOLD_SERVICES, (struct hold_bound){ 99, 51 });
	expect(SEV_ERROR, "registry-full", "99 services, the limit for all ports");
	holdings_free(registered.holdings);
}
END_TEST

/* promise: A71 */
START_TEST(silent_subscribers)
{
	uint64_t node1 = 0x2c90300000011;
	struct subscription what = { .what = { .lid_first = INFORM_ALL_LIDS, .generic = true },
				     .number = SUBSCRIPTION_ANY };
	struct sa registered = { .holdings = holdings_new() };
	struct subscriptions *db = registered.subscriptions = subscriptions_new(NULL, NULL);
	struct subscriber *who;

	in.registered = &registered;
	in.now_us = 1000000000;
	subscriptions_add(db, node1, 5, &what);
	ck_assert_uint_eq(judged(), 0);
	who = subscriber_find(db, node1, 5);
	who->unanswered = 1;
	who->silent_us = in.now_us - 20000000;
	expect(SEV_INFO, "subscriber-silent", "QP 5 has not answered Reports for 20 s");
	subscriptions_drop_silent(db, node1, 5);
	expect(SEV_INFO, "subscriber-silent", "for 20 s, and was unsubscribed");
	subscriptions_add(db, node1, 5, &what);
	ck_assert_uint_eq(judged(), 0);
	subscriptions_drop(db, node1, 5);
	in.now_us += 3700000000;
	ck_assert_uint_eq(judged(), 0);
	for (unsigned i = 0; i < 200; i++) {
		subscriptions_add(db, 0x99, i, &what);
		subscriber_find(db, 0x99, i)->silent_us = in.now_us;
		subscriptions_drop_silent(db, 0x99, i);
	}
	ck_assert_uint_eq(judged(), HEALTH_EACH + 1);
	ck_assert_str_eq(h.v.v[HEALTH_EACH].text, "54 more silent subscribers");
	subscriptions_free(db);
	holdings_free(registered.holdings);
}
END_TEST

START_TEST(floods_of_traps)
{
	struct trap_flood floods[] = {
		{ .source = 0x2c90300000011, .port = 1, .traps = 1200, .dropped = 1100, .us = 10000000 },
		{ .traps = 30, .dropped = 17, .us = 1000000 },
	};

	in.floods = floods;
	in.n_floods = 1;
	expect(SEV_WARNING, "trap-flood", "node1 HCA-1");
	expect(SEV_WARNING, "trap-flood", " port 1: 1200 traps in 10 s, of which 1100 were dropped");
	in.floods = &floods[1];
	expect(SEV_WARNING, "trap-flood", "too many ports at once: 30 traps");
}
END_TEST

START_TEST(links_that_flap)
{
	uint32_t host = fabric_find_port(state->f, 0x2c90300000011);
	struct sm_flap x = { .flap = { .downs = 6, .link = flap_link_of(state->f, host) },
			     .left_us = 9000000, .is = FLAP_HELD };

	in.flaps = &x;
	in.n_flaps = 1;
	expect(SEV_WARNING, "link-flapping", "node1 HCA-1/P1");
	expect(SEV_WARNING, "link-flapping", "leaf one/P1");
	expect(SEV_WARNING, "link-flapping", "6 times; no route uses it");
	expect(SEV_WARNING, "link-flapping", "stable after 9 s");
	x.is = FLAP_USED;
	expect(SEV_WARNING, "link-flapping", "is in use because there is no other route");
	x.flap.link.guid[0] = 0x77;	/* a node that is gone */
	x.is = FLAP_DOWN;
	expect(SEV_WARNING, "link-flapping", "0x0000000000000077/P");
}
END_TEST

static void went_often(struct outages *o, enum event_kind kind, uint64_t guid, unsigned times)
{
	struct event e;

	event_make(&e, kind, "x");
	event_guid(&e, "node", guid);
	event_text(&e, "description", "node %d", (int)guid);
	while (times--)
		outages_note(o, &e, 0);
}

/* promise: C5 */
/* Switches come first, however often hosts went; many are summed up. */
START_TEST(what_goes_too_often)
{
	struct outages *o = outages_new();

	outages_set_limit(o, 2);
	in.outages = o;
	went_often(o, EVENT_NODE_WENT, 1, 2);
	ck_assert_uint_eq(judged(), 0);
	went_often(o, EVENT_NODE_WENT, 1, 1);
	expect(SEV_WARNING, "node-unsteady", "node 1 went away 3 times in the last hour");
	went_often(o, EVENT_NODE_WENT, 2, 100);
	went_often(o, EVENT_SWITCH_WENT, 3, 3);
	ck_assert_uint_eq(judged(), 3);
	ck_assert_str_eq(h.v.v[0].text, "node 3 went away 3 times in the last hour");
	ck_assert_str_eq(h.v.v[1].text, "node 2 went away at least 32 times in the last hour");
	for (unsigned i = 4; i < HEALTH_EACH + 5; i++)
		went_often(o, EVENT_NODE_WENT, i, 3);
	ck_assert_uint_eq(judged(), HEALTH_EACH + 1);
	ck_assert_str_eq(h.v.v[HEALTH_EACH].text, "4 more nodes and links that went away too often");
	outages_free(o);
}
END_TEST

START_TEST(many_of_a_kind)
{
	struct device_fault *faults = xcalloc(HEALTH_EACH + 4, sizeof(*faults));

	for (unsigned i = 0; i < HEALTH_EACH + 4; i++)
		faults[i] = (struct device_fault){ .node = i % state->f->n_nodes,
						  .kind = FAULT_SILENT };
	state->faults = faults;
	state->n_faults = HEALTH_EACH + 4;
	ck_assert_uint_eq(judged(), HEALTH_EACH + 1);
	ck_assert_str_eq(h.v.v[HEALTH_EACH].text, "4 more devices");
}
END_TEST

START_TEST(ports)
{
	uint32_t host = fabric_find_port(state->f, 0x2c90300000011);
	uint16_t lid = state->plan->lid[host];

	state->f->ports[host].state = IB_PORT_ARMED_S;
	expect(SEV_ERROR, "port-not-active", "node1 HCA-1/P1 (0x0002c90300000011) is Armed");
	state->f->ports[host].state = IB_PORT_ACTIVE_S;
	state->plan->lid[host] = 0;
	expect(SEV_ERROR, "no-lid", "node1 HCA-1/P1");
	state->plan->lid[host] = lid;
	state->f->ports[state->f->ports[host].peer].peer = FABRIC_NONE;
	state->f->unanswered = 1;
	expect(SEV_WARNING, "no-far-end", "leaf one/P1 (0x0008f10400410017) has a link");
	state->f->ports[state->f->ports[host].peer].peer = host;
	state->f->unanswered = 0;
	state->f->ports[host].guid = 0x2c90300000021;
	expect(SEV_ERROR, "duplicate-guid", "has the port GUID of node2 HCA-1/P1");
}
END_TEST

START_TEST(links)
{
	struct feasibility *v = state->plan->feasible, own = { 0 };
	struct deviation d = { .port = fabric_find_port(state->f, 0x2c90300000011),
			       .why = "runs at 10 Gb/s, both ends support 40 Gb/s" };

	own.deviations = &d;
	own.n_deviations = 1;
	state->plan->feasible = &own;
	expect(SEV_WARNING, "link-deviates", "both ends support 40 Gb/s");
	ck_assert_ptr_nonnull(strstr(h.v.v[0].text, "leaf one/P1"));
	state->plan->feasible = v;
}
END_TEST

/* Routes that do not arrive, and an isolated link of a switch at one of their ends. */
static void isolation_is_named(void)
{
	uint64_t leaf = port_node(state->f, state->f->ports[state->plan->report.to_hosts.dst].peer)->guid;
	struct withdrawals *w = withdrawals_new();
	struct isolation_cuts cuts = { 0 };

	withdrawals_put(w, &(struct withdrawal){ .guid = 0x99, .kind = WITHDRAWAL_ISOLATED, .uid = 1000, .name = "spine",
						 .reason = "burns" });
	isolation_cuts_put(&cuts, &(struct isolation_cut){ .guid = { 0x99, leaf }, .num = { 1, 1 } });
	sm.withdrawals = w;
	sm.cuts = &cuts;
	judged();
	ck_assert_str_eq(h.v.v[0].kind, "unreachable");
	ck_assert_msg(strstr(h.v.v[0].text, ") is behind the isolated link of ") &&
		      strstr(h.v.v[0].text, "), isolated by user 1000: burns; 'qosd-ctl release 0x0000000000000099' ends "
			     "that; 1 link is isolated"), "%s", h.v.v[0].text);
	isolation_cuts_free(&cuts);
	sm.withdrawals = NULL;
	sm.cuts = NULL;
	withdrawals_free(w);
}

/* promise: F13 M32 */
START_TEST(routes)
{
	state->plan->report.unreachable = 2;
	state->plan->report.pairs = 9;
	state->plan->report.unreachable_src = fabric_find_port(state->f, 0x2c90300000011);
	state->plan->report.unreachable_dst = fabric_find_port(state->f, 0x2c90300000021);
	state->plan->report.to_hosts = (struct route_lost){
		1, state->plan->report.unreachable_src, state->plan->report.unreachable_dst };
	expect(SEV_ERROR, "unreachable", "2 of 9");
	ck_assert_ptr_nonnull(strstr(h.v.v[0].text, "1 of them to hosts"));
	isolation_is_named();
	/* only a switch's port 0, or an aggregation node */
	state->plan->report.to_switches = state->plan->report.to_hosts;
	state->plan->report.to_hosts.n = 0;
	expect(SEV_INFO, "switch-unreachable", "1 route from hosts to switches");
	state->plan->report.to_aggregation = state->plan->report.to_switches;
	state->plan->report.to_switches.n = 0;
	expect(SEV_WARNING, "aggregation-unreachable", "1 route from hosts to aggregation nodes");
	/* not reported if switches with fixed entries are the reason, which health reports for them */
	state->plan->cut_pairs = 2;
	ck_assert_uint_eq(judged(), 0);
	state->plan->cut_pairs = 0;
	state->plan->report.unreachable = state->plan->report.to_aggregation.n = 0;
	/* routes from switches without hosts */
	state->plan->report.inner = state->plan->report.to_aggregation;
	state->plan->report.inner.n = 3;
	expect(SEV_INFO, "switch-unreachable", "3 routes from switches");
	state->plan->report.of_sm = state->plan->report.inner;
	state->plan->report.inner.n = 0;
	expect(SEV_ERROR, "unmanaged", "3 routes between");
	state->plan->silent_switches = 1;
	ck_assert_uint_eq(judged(), 0);
	state->plan->silent_switches = 0;
	state->plan->report.of_sm.n = 0;
	state->plan->report.credit_loop = true;
	expect(SEV_WARNING, "credit-loop", "cycle");
}
END_TEST

/* promise: B6 */
START_TEST(what_the_switches_form)
{
	struct plan *p = state->plan;
	const struct route_shape tree = p->shape;
	const unsigned hops = p->report.host_hops;
	struct gauged measured = { .compared = true, .g = { .connected = 1, .ratio_mean = 1.25, .ebb = 0.5,
		.efi = 30, .efi_mean = 10 }, .plain = { .ebb = 0.625, .efi = 15, .efi_mean = 10 } };

	ck_assert_int_eq(tree.kind, SHAPE_TREE);
	/* a fabric that is no tree by design: a note, with the cost once it is measured */
	p->shape.kind = SHAPE_OTHER;
	p->shape.n_ranks = 0;
	expect(SEV_INFO, "no-tree", "no tree: there are no ranks");
	ck_assert_ptr_null(strstr(h.v.v[0].text, "minhop"));
	in.gauged = &measured;
	expect(SEV_INFO, "no-tree", "routes are 1.250 times as long as the shortest on average, effective bisection "
	       "bandwidth is 0.500, and the busiest cable carries 3.0 times the mean; shortest paths, which may "
	       "deadlock (minhop), would have 0.625 and 1.5 times");
	in.gauged = NULL;
	/* a tree that lacks a link, at no cost: nothing, or a note if the link existed before */
	p->shape = tree;
	p->shape.n_fewer = 1;
	p->shape.n_ranks = 2;
	p->shape.fewer[0] = (struct shape_fewer){ .n = 1, .of = 3, .usual = 2, .has = 1,
		.one = state->f->switches[0].node };
	ck_assert_uint_eq(judged(), 0);
	*vec_push(&p->now->dead) = (struct link_end){ 0, 1, false, false };
	expect(SEV_INFO, "tree-damaged", "1 of 3 switches of rank 0 has fewer than 2 links up");
	/* routes are longer than in the whole tree */
	p->report.host_hops = 5;
	expect(SEV_WARNING, "tree-damaged", "the longest route between hosts crosses 5 switches, instead of 3 in the whole tree");
	p->now->dead.n = 0;
	expect(SEV_WARNING, "tree-damaged", "5 switches");
	p->report.host_hops = hops;
	/* pairs that reach each other only by a turn at a hub */
	p->shape.kind = SHAPE_RANKS;
	p->shape.pairs = 6;
	p->shape.pathless = 2;
	expect(SEV_WARNING, "tree-damaged", "2 of 6 pairs of switches with hosts have no path");
	/* another engine does not use the order */
	const char *engine = p->engine;

	p->engine = "minhop";
	expect(SEV_INFO, "no-tree", "2 of 6 pairs");
	p->engine = engine;
	/* hosts on a spine: not a damaged tree, but no tree */
	p->shape.hosts_above = 1;
	p->shape.n_inner = 2;
	p->shape.hosts_above_one = state->f->switches[1].node;
	expect(SEV_INFO, "no-tree", "1 of 2 switches above the leaves has hosts");
	p->shape = tree;
}
END_TEST

START_TEST(policy)
{
	struct findings found = { 0 }, rejected = { 0 };
	struct shared_policy *stand_in;

	findings_add(&found, SEV_INFO, "p.yaml", (struct src_pos){ 1, 1 }, "worth knowing");
	/* health reports this finding in other words */
	findings_add(&found, SEV_WARNING, "", (struct src_pos){ 0, 0 }, "link a to b");
	sm.findings = &found;
	ck_assert_uint_eq(judged(), 0);
	findings_add(&found, SEV_WARNING, "p.yaml", (struct src_pos){ 7, 3 }, "level starves");
	expect(SEV_WARNING, "policy", "p.yaml:7:3: level starves");
	sm.findings = NULL;
	findings_add(&rejected, SEV_WARNING, "q.yaml", (struct src_pos){ 1, 1 }, "a doubt");
	findings_add(&rejected, SEV_ERROR, "q.yaml", (struct src_pos){ 2, 1 }, "a mistake");
	sm.rejected = &rejected;
	expect(SEV_ERROR, "policy-rejected", "has 1 error;");
	ck_assert_ptr_nonnull(strstr(h.v.v[0].text, "a mistake"));
	sm.rejected = NULL;
	in.trial_left_us = 1500000;
	expect(SEV_INFO, "policy-on-trial", "in 2 s");
	in.trial_left_us = -1;
	/* what stands in for the file */
	stand_in = shared_policy_new(policy_builtin());
	in.in_force = stand_in;
	ck_assert_uint_eq(judged(), 0);
	in.policy_wanted = true;
	expect(SEV_WARNING, "no-policy", "has no policy");
	stand_in->source = POLICY_KEPT;
	expect(SEV_ERROR, "policy-last-good", "last good policy is in force");
	stand_in->source = POLICY_FILE;
	ck_assert_uint_eq(judged(), 0);
	in.in_force = NULL;
	shared_policy_unref(stand_in);
	findings_free(&found);
	findings_free(&rejected);
}
END_TEST

/* promise: H5 */
START_TEST(missing_things_are_named_up_to_ten_of_each_kind)
{
	struct missing *m = missing_new();

	in.missing = m;
	ck_assert_uint_eq(judged(), 0);
	missing_set_time(m, 1700000000 * 1000000ll);
	missing_manager(m, 0x77, "node7", true);
	expect(SEV_WARNING, "manager-missing", "node7 (0x0000000000000077) is gone since 2023-11-14T22:13:20Z");
	for (uint64_t guid = 1; guid < HEALTH_EACH + 3; guid++)
		missing_manager(m, guid, "", true);
	ck_assert_uint_eq(judged(), HEALTH_EACH + 1);
	ck_assert_ptr_nonnull(strstr(h.v.v[HEALTH_EACH].text, "3 more subnet managers are missing"));
	missing_forget(m, NULL);
	ck_assert_uint_eq(judged(), 0);
	in.missing = NULL;
	missing_free(m);
}
END_TEST

/* promise: P10 */
START_TEST(other_policies)
{
	struct ctl_policy_peer peers[] = { { .guid = 0x10, .checksum = 7 }, { .guid = 0x20 } };
	struct shared_policy *p = shared_policy_new(policy_builtin());

	p->p->checksum = 7;
	p->source = POLICY_CLIENT;
	in.in_force = p;
	in.policy_wanted = true;
	in.peers = peers;
	in.n_peers = 2;
	ck_assert_uint_eq(judged(), 0);		/* the same, and one that is unknown */
	peers[1].checksum = 8;
	expect(SEV_WARNING, "policy-differs", "the standby 0x0000000000000020 has the policy with checksum "
	       "0000000000000008, and this master has the policy with checksum 0000000000000007");
	peers[0] = (struct ctl_policy_peer){ .guid = 0x30, .checksum = CTL_POLICY_BUILTIN, .is_master = true };
	in.n_peers = 1;
	expect(SEV_WARNING, "policy-differs", "the master 0x0000000000000030 has the built-in policy, and "
	       "this standby has the policy with checksum 0000000000000007");
	in.n_peers = 0;
	/* the configured file */
	in.on_disk = (struct ctl_policy_file){ true, false, 7 };
	ck_assert_uint_eq(judged(), 0);
	in.on_disk.checksum = 9;
	expect(SEV_WARNING, "policy-not-in-file", "has another, checksum 0000000000000009");
	in.on_disk.missing = true;
	expect(SEV_WARNING, "policy-not-in-file", "cannot be read");
	in.trial_left_us = 1500000;
	expect(SEV_INFO, "policy-on-trial", "in 2 s");
	in.trial_left_us = -1;
	p->source = POLICY_FILE;
	ck_assert_uint_eq(judged(), 0);
	in.in_force = NULL;
	shared_policy_unref(p);
}
END_TEST

START_TEST(busy)
{
	int64_t now = 1000ll * SA_CLIENTS_SECONDS * 1000000;

	sa_stats_request(sa, 1, now);
	sa_stats_answer(sa, 0x35, IB_STATUS_BUSY, 5);		/* as where there is no subnet yet */
	ck_assert_uint_eq(judged(), 0);
	sa_stats_busy(sa);
	expect(SEV_WARNING, "sa-busy", "1 of 1 answers since the start");
	sa_stats_turn(sa, now + 60 * 1000000ll);
	ck_assert_uint_eq(judged(), 1);
	sa_stats_turn(sa, now + 71 * 1000000ll);	/* that is over */
	ck_assert_uint_eq(judged(), 0);
}
END_TEST

START_TEST(disk)
{
	in.store = (struct store_failures){ .all = 4 };		/* all written since */
	ck_assert_uint_eq(judged(), 0);
	in.store = (struct store_failures){ .all = 4, .now = 2, .file = "lids" };
	expect(SEV_ERROR, "store", "2 files of the state folder, among them lids");
}
END_TEST

/* promise: O14 */
START_TEST(history)
{
	in.history = (struct history_state){ .stored = 4, .why = "database or disk is full" };
	ck_assert_uint_eq(judged(), 0);
	in.history.dropped = 3;
	expect(SEV_INFO, "history", "3 events were not kept on disk");
	in.history.failing = true;
	expect(SEV_WARNING, "history", "not kept on disk: database or disk is full; 3 were dropped");
	in.history.hangs = true;
	expect(SEV_WARNING, "history", "the disk does not answer");
}
END_TEST

/* Returns the number of problems of one kind; *text gets the text of the last one. */
static size_t of_kind(const char *kind, const char **text)
{
	size_t n = 0;

	judged();
	for (size_t i = 0; i < h.v.n; i++)
		if (!strcmp(h.v.v[i].kind, kind)) {
			n++;
			*text = h.v.v[i].text;
		}
	return n;
}

#define LEAF_ONE 0x8f10400410017
#define LEAF_TWO 0x8f10400420005

static struct implausible_answer answer_of(uint64_t guid, unsigned num, bool behind, const char *text)
{
	struct implausible_answer x = { .guid = guid, .num = (uint8_t)num, .behind = behind };

	snprintf(x.text, sizeof(x.text), "%s", text);
	return x;
}

/* promise: A61 */
START_TEST(devices_that_lie)
{
	struct implausible_answer list[] = {
		answer_of(LEAF_ONE, 2, true, "node2 HCA-1, behind leaf one/P2, says A"),
		answer_of(LEAF_TWO, 1, false, "leaf two/P1 says B"),
		answer_of(0x2c90300000020, 1, false, "node2 HCA-1/P1 says C"),	/* of the first device */
		answer_of(LEAF_TWO, 2, true, "the device behind leaf two/P2 says D"),	/* nothing is known there */
		answer_of(0x4711, 1, true, "the device behind port 1 of 0x4711 says E"),	/* nor of that */
	};
	const char *text = NULL;

	in.implausible = list;
	in.n_implausible = 1;
	expect(SEV_WARNING, "device-lies", "node2 HCA-1, behind leaf one/P2, says A");
	in.n_implausible = 2;
	ck_assert_uint_eq(of_kind("device-lies", &text), 2);
	in.n_implausible = 3;
	ck_assert_uint_eq(of_kind("device-lies", &text), 2);
	ck_assert_str_eq(h.v.v[0].text,
			 "node2 HCA-1, behind leaf one/P2, says A; 1 more of its answers are implausible");
	in.n_implausible = 5;
	ck_assert_uint_eq(of_kind("device-lies", &text), 4);
	ck_assert_str_eq(text, "the device behind port 1 of 0x4711 says E");
	list[1].unsure = true;		/* a second answer may clear it up */
	ck_assert_uint_eq(of_kind("device-lies", &text), 3);
	list[1].unsure = false;
	in.state = NULL;		/* only a name is known */
	ck_assert_uint_eq(of_kind("device-lies", &text), 5);
}
END_TEST

/* promise: A61 */
START_TEST(devices_that_are_excluded)
{
	uint32_t leaf = state->f->nodes[map64_get(&state->f->node_by_guid, LEAF_TWO)].port0;
	struct sm_exclusion left[] = {
		{ .near = leaf + 2, .guid = 0x99 }, { .near = leaf + 3, .guid = 0x99 },
		{ .near = FABRIC_NONE },
	};
	struct implausible_answer list[] = {
		answer_of(LEAF_TWO, 2, true, "the device behind leaf two/P2 says A"),
		answer_of(LEAF_TWO, 1, true, "storage1 HCA-1, behind leaf two/P1, says B"),
	};
	const char *text = NULL;

	buf_puts(&left[0].text, "the device at leaf two/P2 says NumPorts 0");
	buf_puts(&left[1].text, "the device at leaf two/P3 says NumPorts 0");
	buf_puts(&left[2].text, "the device at port 3 of 0x77 says NumPorts 0");
	in.left = left;
	in.n_left = 1;
	expect(SEV_ERROR, "device-excluded", "the device at leaf two/P2 says NumPorts 0: it is excluded");
	in.n_left = 3;
	ck_assert_uint_eq(of_kind("device-excluded", &text), 2);
	ck_assert_str_eq(h.v.v[0].text, "the device at leaf two/P2 says NumPorts 0: it is excluded, as well as "
			 "at 1 more of its links");
	in.implausible = list;		/* an excluded device is reported once, whatever it answers */
	in.n_implausible = 2;
	ck_assert_uint_eq(of_kind("device-excluded", &text), 2);
	ck_assert_uint_eq(of_kind("device-lies", &text), 1);
	ck_assert_str_eq(text, "storage1 HCA-1, behind leaf two/P1, says B");
	for (unsigned i = 0; i < 3; i++)
		buf_free(&left[i].text);
}
END_TEST

START_TEST(devices_with_one_guid)
{
	uint32_t leaf = state->f->nodes[map64_get(&state->f->node_by_guid, LEAF_TWO)].port0;
	struct sm_exclusion left[] = {
		{ .near = leaf + 2, .known_as = 0x200 }, { .near = leaf + 3, .known_as = 0x200 },
	};
	const char *text = NULL;

	buf_puts(&left[0].text, "the device at leaf two/P2 reports node GUID 0x5, as does another");
	buf_puts(&left[1].text, "the device at leaf two/P3 reports node GUID 0x5, as does another");
	in.left = left;
	in.n_left = 2;
	ck_assert_uint_eq(of_kind("device-excluded", &text), 0);
	ck_assert_uint_eq(of_kind("duplicate-guid", &text), 1);
	ck_assert_str_eq(text, left[0].text.s);
	for (unsigned i = 0; i < 2; i++)
		buf_free(&left[i].text);
}
END_TEST

static json_t *ask_health(const struct ctl_env *env)
{
	struct ctl_view view = { .state = state, .sm = sm };
	json_t *rows, *head = answer_parts(env, &view, "{\"command\": \"health\"}", &rows);

	json_decref(rows);
	ck_assert(json_is_true(json_object_get(head, "ok")));
	return head;
}

START_TEST(verdicts)
{
	struct ctl_env env = { .version = "1" };
	json_t *head = ask_health(&env), *r = json_object_get(head, "result");

	ck_assert_str_eq(str(r, "verdict"), "ok");
	ck_assert_uint_eq(json_array_size(json_object_get(r, "problems")), 0);
	json_decref(head);
	sm.refused = 1;			/* for information only */
	head = ask_health(&env);
	ck_assert_str_eq(str(json_object_get(head, "result"), "verdict"), "ok");
	json_decref(head);
	state->f->unanswered = 1;
	head = ask_health(&env);
	ck_assert_str_eq(str(json_object_get(head, "result"), "verdict"), "warning");
	json_decref(head);
	sm.subnet_up = false;
	head = ask_health(&env);
	r = json_object_get(head, "result");
	ck_assert_str_eq(str(r, "verdict"), "error");
	ck_assert_str_eq(str(r, "state"), "master");
	r = json_array_get(json_object_get(r, "problems"), 0);
	ck_assert_str_eq(str(r, "kind"), "not-up");
	ck_assert_str_eq(str(r, "severity"), "error");
	ck_assert_uint_gt(strlen(str(r, "action")), 0);
	json_decref(head);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("health");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, nothing_wrong);
	tcase_add_test(t, shares_missed);
	tcase_add_test(t, data_on_an_sl_without_a_level);
	tcase_add_test(t, every_finding_says_what_to_do);
	tcase_add_test(t, who_is_master);
	tcase_add_test(t, a_standby_that_is_not_active);
	tcase_add_test(t, an_m_key_is_advised);
	tcase_add_test(t, another_master);
	tcase_add_test(t, keys);
	tcase_add_test(t, not_up);
	tcase_add_test(t, devices);
	tcase_add_test(t, a_registry_that_fills);
	tcase_add_test(t, silent_subscribers);
	tcase_add_test(t, multicast_lids_that_run_out);
	tcase_add_test(t, floods_of_traps);
	tcase_add_test(t, links_that_flap);
	tcase_add_test(t, what_goes_too_often);
	tcase_add_test(t, many_of_a_kind);
	tcase_add_test(t, ports);
	tcase_add_test(t, links);
	tcase_add_test(t, routes);
	tcase_add_test(t, what_the_switches_form);
	tcase_add_test(t, policy);
	tcase_add_test(t, missing_things_are_named_up_to_ten_of_each_kind);
	tcase_add_test(t, other_policies);
	tcase_add_test(t, busy);
	tcase_add_test(t, disk);
	tcase_add_test(t, history);
	tcase_add_test(t, verdicts);
	tcase_add_test(t, devices_that_lie);
	tcase_add_test(t, devices_that_are_excluded);
	tcase_add_test(t, devices_with_one_guid);
	suite_add_tcase(s, t);
	return run_suite(s);
}
