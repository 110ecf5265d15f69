/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the events that follow from two states in a row.
 *
 * promise: O4
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>

#include "events/topology_events.h"
#include "lib/base/alloc.h"
#include "unit/plan/net.h"
#include "unit/run.h"

/* --- states: two switches, three hosts, and a test's changes to them --- */

enum { H1 = 0x10, H2 = 0x20, H3 = 0x30, S1 = 0x100, S2 = 0x200 };

/* A link between two nodes, by GUID; a port of 0: none. */
struct wire {
	uint64_t a, b;
	unsigned pa, pb;
};
#define WIRES 8

static struct wire wires[WIRES];
static bool absent[0x300];		/* by node GUID */
static struct shared_policy *policy;
static struct subnet_state *states[2];
static struct buf told;
static unsigned n_told;

static struct subnet_state *make_state(void)
{
	static const uint64_t hosts[] = { H1, H2, H3 }, switches[] = { S1, S2 };
	struct subnet_state *s = xcalloc(1, sizeof(*s));

	s->refs = 1;
	s->f = fabric_new();
	s->policy = shared_policy_ref(policy);
	for (unsigned i = 0; i < 3; i++)
		if (!absent[hosts[i]])
			net_ca(s->f, hosts[i], 2);
	for (unsigned i = 0; i < 2; i++)
		if (!absent[switches[i]])
			net_switch(s->f, switches[i], 8, false);
	for (unsigned i = 0; i < WIRES; i++) {
		uint32_t a = FABRIC_NONE, b = FABRIC_NONE;

		for (uint32_t n = 0; n < s->f->n_nodes; n++) {
			a = s->f->nodes[n].guid == wires[i].a ? n : a;
			b = s->f->nodes[n].guid == wires[i].b ? n : b;
		}
		if (wires[i].pa && a != FABRIC_NONE && b != FABRIC_NONE)
			ck_assert(fabric_link(s->f, a, wires[i].pa, b, wires[i].pb));
	}
	/* nodes enter the index by GUID when they are added */
	net_finish(s->f);
	return s;
}

static void setup(void)
{
	static const struct wire usual[WIRES] = {
		{ H1, S1, 1, 1 }, { H2, S1, 1, 2 }, { H3, S2, 1, 1 },
		{ S1, S2, 5, 5 }, { S1, S2, 6, 6 },
	};

	memcpy(wires, usual, sizeof(wires));
	memset(absent, 0, sizeof(absent));
	policy = shared_policy_new(policy_builtin());
	states[0] = make_state();
	states[1] = NULL;
	n_told = 0;
}

static void teardown(void)
{
	state_unref(states[0]);
	state_unref(states[1]);
	shared_policy_unref(policy);
	buf_free(&told);
}

static void hear(void *arg, const struct event *e)
{
	ck_assert_ptr_eq(arg, &told);
	buf_printf(&told, "%s: %s\n", event_kind_name(e->kind), e->text);
	n_told++;
}

static const struct topology_listener listener = { .event = hear, .arg = &told };

static bool port_changed(const struct fabric *a, uint32_t i, const struct fabric *b, uint32_t k)
{
	uint32_t p = a->ports[i].peer, q = b->ports[k].peer;

	if (memcmp(a->ports[i].info, b->ports[k].info, 64) || a->ports[i].fdr10 != b->ports[k].fdr10 ||
	    a->ports[i].guid != b->ports[k].guid || (p == FABRIC_NONE) != (q == FABRIC_NONE))
		return true;
	return p != FABRIC_NONE && (port_node(a, p)->guid != port_node(b, q)->guid ||
				    a->ports[p].num != b->ports[q].num);
}

/* The nodes that a local sweep, which reads only some nodes, would mark as changed. */
static uint8_t *changed_nodes(const struct fabric *old, const struct fabric *f)
{
	uint8_t *changed = xcalloc(f->n_nodes, 1);

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		uint32_t k = map64_get(&old->node_by_guid, f->nodes[i].guid);

		changed[i] = k == MAP64_NONE || old->nodes[k].nports != f->nodes[i].nports;
		for (unsigned num = 0; num <= f->nodes[i].nports && !changed[i]; num++)
			changed[i] = port_changed(old, old->nodes[k].port0 + num, f,
						  f->nodes[i].port0 + num);
	}
	return changed;
}

/* All events between the former state and this one; comparing only changed nodes must give the same. */
static const char *heard_of(struct subnet_state *now)
{
	char *all;

	buf_free(&told);
	n_told = 0;
	state_unref(states[1]);
	states[1] = now;
	topology_events(states[0], states[1], &listener);
	all = xstrdup(told.n ? told.s : "");
	buf_free(&told);
	n_told = 0;
	now->changed = changed_nodes(states[0]->f, now->f);
	now->since = states[0]->generation;
	topology_events(states[0], states[1], &listener);
	ck_assert_str_eq(told.n ? told.s : "", all);
	free(all);
	return told.n ? told.s : "";
}

static const char *heard(void)
{
	return heard_of(make_state());
}

START_TEST(nothing)
{
	ck_assert_str_eq(heard(), "");
}
END_TEST

START_TEST(first_state)
{
	topology_events(NULL, states[0], &listener);
	ck_assert_str_eq(told.s, "policy-in-force: all devices have policy (built-in)\n");
}
END_TEST

#define LINK_56 "link n100/P6 (0x0000000000000100) to n200/P6 (0x0000000000000200)"

START_TEST(links)
{
	wires[4].pa = 0;
	ck_assert_str_eq(heard(), "link-down: " LINK_56 " is down\n");
	/* and back */
	state_unref(states[0]);
	states[0] = states[1];
	states[1] = NULL;
	wires[4].pa = 6;
	ck_assert_str_eq(heard(), "link-up: " LINK_56 " is up\n");
}
END_TEST

START_TEST(another_cable_between_switches)
{
	wires[4].pb = 7;
	ck_assert_str_eq(heard(), "link-down: " LINK_56 " is down\n"
		"link-up: link n100/P6 (0x0000000000000100) to n200/P7 (0x0000000000000200) is up\n");
}
END_TEST

START_TEST(a_host_without_cable_is_there_no_more)
{
	absent[H3] = true;
	ck_assert_str_eq(heard(), "node-went: n30 (0x0000000000000030) is gone\n");
	state_unref(states[0]);
	states[0] = states[1];
	states[1] = NULL;
	absent[H3] = false;
	ck_assert_str_eq(heard(), "node-came: n30 (0x0000000000000030) came\n");
}
END_TEST

START_TEST(a_switch_goes)
{
	absent[S2] = true;
	/* its links get no events; its host does, because it may have another path */
	ck_assert_str_eq(heard(), "switch-went: n200 (0x0000000000000200) is gone\n");
}
END_TEST

START_TEST(a_host_moves)
{
	wires[2] = (struct wire){ H3, S1, 1, 3 };
	ck_assert_str_eq(heard(), "node-moved: n30/P1 (0x0000000000000031) moved to n100/P3 "
		"(0x0000000000000100) (was at n200/P1 (0x0000000000000200))\n");
}
END_TEST

START_TEST(two_hosts_change_places)
{
	wires[1].pb = 3;
	wires[5] = wires[2];
	ck_assert_ptr_nonnull(strstr(heard(), "node-moved: n20/P1"));
	ck_assert_uint_eq(n_told, 1);
	wires[5].pa = 0;
	wires[1] = (struct wire){ H2, S2, 1, 1 };
	wires[2] = (struct wire){ H3, S1, 1, 2 };
	ck_assert_ptr_nonnull(strstr(heard(), "node-moved: n20/P1"));
	ck_assert_ptr_nonnull(strstr(told.s, "node-moved: n30/P1"));
	ck_assert_uint_eq(n_told, 2);
}
END_TEST

/* Sets width and speed of both ends of the link at (node, num). */
static void set_link(struct fabric *f, uint64_t guid, unsigned num, unsigned width, unsigned speed)
{
	uint32_t port = f->nodes[map64_get(&f->node_by_guid, guid)].port0 + num;
	uint32_t ends[] = { port, f->ports[port].peer };

	for (unsigned i = 0; i < 2; i++) {
		uint8_t info[64];

		memcpy(info, f->ports[ends[i]].info, sizeof(info));
		mad_set_field(info, 0, IB_PORT_LINK_WIDTH_ACTIVE_F, width);
		mad_set_field(info, 0, IB_PORT_LINK_SPEED_ACTIVE_F, speed);
		fabric_port_store(&f->ports[ends[i]], info);
	}
}

static enum severity last_severity;
static void hear_severity(void *arg, const struct event *e)
{
	(void)arg;
	last_severity = e->severity;
}

static const struct topology_listener severities = { .event = hear_severity };

START_TEST(width_and_speed)
{
	struct subnet_state *s = make_state();

	set_link(s->f, S1, 6, 1, 4);
	ck_assert_str_eq(heard_of(s), "link-changed: " LINK_56 " runs at 1xQDR (was 4xQDR)\n");
	topology_events(states[0], s, &severities);
	ck_assert_int_eq(last_severity, SEV_WARNING);
	topology_events(s, states[0], &severities);	/* faster again */
	ck_assert_int_eq(last_severity, SEV_INFO);
	s = make_state();
	set_link(s->f, S1, 6, 2, 2);
	ck_assert_str_eq(heard_of(s), "link-changed: " LINK_56 " runs at 4xDDR (was 4xQDR)\n");
}
END_TEST

START_TEST(duplicates)
{
	struct subnet_state *s = make_state();
	uint32_t p = fabric_find_port(s->f, H3 + 1), first;

	ck_assert(!port_is_duplicate(s->f, p, &first));
	s->f->ports[p].guid = H2 + 1;
	s->f->n_nameless++;	/* as fabric_finish() counts it */
	ck_assert(port_is_duplicate(s->f, p, &first));
	ck_assert_uint_eq(first, fabric_find_port(s->f, H2 + 1));
	ck_assert_str_eq(heard_of(s), "duplicate-guid: n30/P1 (0x0000000000000021) has the port "
			 "GUID of n20/P1 (0x0000000000000021)\n");
	/* told once */
	buf_free(&told);
	topology_events(s, s, &listener);
	ck_assert_uint_eq(told.n, 0);
}
END_TEST

static void add_fault(struct subnet_state *s, uint64_t guid, int kind, uint32_t n)
{
	s->faults = xrealloc(s->faults, s->n_faults + 1, sizeof(*s->faults));
	s->faults[s->n_faults].node = map64_get(&s->f->node_by_guid, guid);
	s->faults[s->n_faults].kind = kind;
	s->faults[s->n_faults].attr = kind == FAULT_REFUSES ? 0x15 : 0;
	s->faults[s->n_faults].status = kind == FAULT_REFUSES ? 0x1c : 0;
	s->faults[s->n_faults++].n = n;
}

START_TEST(faults)
{
	struct subnet_state *s = make_state(), *later = make_state();

	add_fault(s, H2, FAULT_SILENT, 0);
	add_fault(s, S1, FAULT_REFUSES, 3);
	add_fault(s, S1, FAULT_KEEPS, 2);
	add_fault(s, S1, FAULT_KEY_MISMATCH, 0);
	ck_assert_str_eq(heard_of(state_ref(s)),
		"device-silent: n20 (0x0000000000000020) does not answer\n"
		"device-refuses: n100 (0x0000000000000100) refuses 3 Sets of PortInfo with status 0x001c\n"
		"device-keeps: n100 (0x0000000000000100) keeps 2 values that differ from those set\n"
		"device-key-mismatch: n100 (0x0000000000000100) has an unknown M_Key\n");
	/* one of the switch's faults is over: that is no recovery, and the others were told before */
	add_fault(later, S1, FAULT_KEEPS, 2);
	buf_free(&told);
	topology_events(s, later, &listener);
	ck_assert_str_eq(told.s, "device-recovered: n20 (0x0000000000000020) works correctly again\n");
	buf_free(&told);
	topology_events(later, states[0], &listener);
	ck_assert_str_eq(told.s, "device-recovered: n100 (0x0000000000000100) works correctly again\n");
	state_unref(s);
	state_unref(later);
}
END_TEST

START_TEST(another_policy)
{
	struct subnet_state *s = make_state(), *t = make_state();
	struct shared_policy *overlay = shared_policy_overlay(policy, policy_overlay(policy->p, 0));

	/* dynamic partitions: the same file */
	shared_policy_unref(s->policy);
	s->policy = overlay;
	ck_assert_str_eq(heard_of(s), "");
	shared_policy_unref(t->policy);
	t->policy = shared_policy_new(policy_builtin());
	ck_assert_str_eq(heard_of(t), "policy-in-force: all devices have policy (built-in)\n");
}
END_TEST

START_TEST(more_than_is_told)
{
	struct subnet_state *s = xcalloc(1, sizeof(*s));

	s->refs = 1;
	s->f = fabric_new();
	s->policy = shared_policy_ref(policy);
	net_ca(s->f, H1, 1);
	for (unsigned i = 0; i < TOPOLOGY_EVENTS_MAX + 9; i++)
		net_ca(s->f, 0x1000 + 16 * i, 1);
	net_finish(s->f);
	heard_of(s);
	/* the four removed nodes are among the reported events */
	ck_assert_uint_eq(n_told, TOPOLOGY_EVENTS_MAX + 1);
	ck_assert_ptr_nonnull(strstr(told.s, "more-changes: … 13 more nodes and 0 more links"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("topology");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, nothing);
	tcase_add_test(t, first_state);
	tcase_add_test(t, links);
	tcase_add_test(t, another_cable_between_switches);
	tcase_add_test(t, a_host_without_cable_is_there_no_more);
	tcase_add_test(t, a_switch_goes);
	tcase_add_test(t, a_host_moves);
	tcase_add_test(t, two_hosts_change_places);
	tcase_add_test(t, width_and_speed);
	tcase_add_test(t, duplicates);
	tcase_add_test(t, faults);
	tcase_add_test(t, another_policy);
	tcase_add_test(t, more_than_is_told);
	suite_add_tcase(s, t);
	return run_suite(s);
}
