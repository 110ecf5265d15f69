/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests fault rules: which packets they match, where they apply, and each effect.
 *
 * promise: V1
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/bytes.h"
#include "rig.h"
#include "unit/run.h"

static struct rig *r;

static void setup(void)
{
	r = rig_line(4);
}

static void teardown(void)
{
	rig_free(r);
}

/* For every packet, for ever. */
static struct fault_rule rule(enum fault_effect effect)
{
	return (struct fault_rule){
		.effect = effect, .chance = 1, .left = UINT32_MAX, .node = SIM_NONE,
		.port = SIM_NONE,
	};
}

static uint32_t add(struct fault_rule f)
{
	return fault_add(r->s, &f);
}

/* Sends one SMP from host 0 to host 3. */
static void send_numbered(uint8_t n)
{
	struct packet p = rig_smp(HOST_LID(3));

	p.mad[MAD_TID] = n;
	rig_send(r, r->host[0], p);
}

static uint8_t number(size_t arrival)
{
	return r->arrived.v[arrival].p.mad[MAD_TID];
}

START_TEST(drop)
{
	uint32_t id = add(rule(FAULT_DROP));

	send_numbered(1);
	ck_assert_uint_eq(r->arrived.n, 0);
	ck_assert_uint_eq(rig_dropped(r, DROP_FAULT), 1);
	ck_assert_uint_eq(r->s->drops->last[0].port, r->host[0]);
	ck_assert_uint_eq(r->s->faults->rules.v[0].hits, 1);
	ck_assert(fault_remove(r->s, id));
	ck_assert(!fault_remove(r->s, id));
	send_numbered(2);
	ck_assert_uint_eq(r->arrived.n, 1);
}
END_TEST

START_TEST(ids_and_removal)
{
	ck_assert(!fault_remove(r->s, 0));
	ck_assert_uint_eq(add(rule(FAULT_DROP)), 1);
	ck_assert_uint_eq(add(rule(FAULT_DELAY)), 2);
	ck_assert_uint_eq(add(rule(FAULT_CORRUPT)), 3);
	ck_assert(fault_remove(r->s, 2));
	ck_assert_uint_eq(r->s->faults->rules.n, 2);
	ck_assert_uint_eq(r->s->faults->rules.v[1].id, 3);
	ck_assert_uint_eq(add(rule(FAULT_DROP)), 4);
	ck_assert(fault_remove(r->s, 0));
	ck_assert_uint_eq(r->s->faults->rules.n, 0);
}
END_TEST

START_TEST(count_is_used_up)
{
	struct fault_rule f = rule(FAULT_DROP);

	f.left = 2;
	add(f);
	for (uint8_t i = 0; i < 5; i++)
		send_numbered(i);
	ck_assert_uint_eq(rig_dropped(r, DROP_FAULT), 2);
	ck_assert_uint_eq(r->arrived.n, 3);
	ck_assert_uint_eq(r->s->faults->rules.n, 0);
}
END_TEST

START_TEST(first_rule_decides)
{
	add(rule(FAULT_DUPLICATE));
	add(rule(FAULT_DROP));
	send_numbered(1);
	ck_assert_uint_eq(r->arrived.n, 2);
}
END_TEST

START_TEST(chance)
{
	struct fault_rule f = rule(FAULT_DROP);

	f.chance = 0.25;
	add(f);
	for (unsigned i = 0; i < 4000; i++)
		send_numbered(0);
	/* once for each packet, not for each hop: a thousand, more or less */
	ck_assert_uint_gt(rig_dropped(r, DROP_FAULT), 850);
	ck_assert_uint_lt(rig_dropped(r, DROP_FAULT), 1150);
	fault_remove(r->s, 0);
	f.chance = 0;
	add(f);
	r->arrived.n = 0;
	for (unsigned i = 0; i < 1000; i++)
		send_numbered(0);
	ck_assert_uint_eq(r->arrived.n, 1000);
}
END_TEST

START_TEST(kinds)
{
	struct fault_rule f = rule(FAULT_DROP);

	f.mgmt_class = CLASS_SM_LID;
	f.method = METHOD_GET;
	f.attr = 0x11;
	add(f);
	rig_send(r, r->host[0], rig_smp(HOST_LID(3)));
	rig_send(r, r->host[0], DR(1, PORT_HOST));	/* 0x81 is meant, too */
	ck_assert_uint_eq(rig_dropped(r, DROP_FAULT), 2);

	struct packet p = rig_smp(HOST_LID(3));

	p.mad[MAD_METHOD] = METHOD_SET;
	rig_send(r, r->host[0], p);
	p = rig_smp(HOST_LID(3));
	put_be16(p.mad + MAD_ATTR, 0x15);
	rig_send(r, r->host[0], p);
	rig_send(r, r->host[0], rig_gsi(HOST_LID(3), 0));
	ck_assert_uint_eq(rig_dropped(r, DROP_FAULT), 2);
	fault_remove(r->s, 0);
	f = rule(FAULT_DROP);
	f.mgmt_class = CLASS_SM_DR;
	add(f);
	rig_send(r, r->host[0], rig_smp(HOST_LID(3)));
	rig_send(r, r->host[0], DR(1, PORT_HOST));
	ck_assert_uint_eq(rig_dropped(r, DROP_FAULT), 3);
}
END_TEST

/* Where packets from host 0 to host 3 are lost. */
static void assert_lost_at(struct fault_rule f, uint32_t port)
{
	memset(r->s->drops, 0, sizeof(*r->s->drops));
	fault_remove(r->s, 0);
	add(f);
	send_numbered(1);
	ck_assert_uint_eq(rig_dropped(r, DROP_FAULT), 1);
	ck_assert_uint_eq(r->s->drops->last[0].port, port);
}

START_TEST(places)
{
	struct fault_rule f = rule(FAULT_DROP);

	f.node = r->sw[2];
	assert_lost_at(f, rig_port(r, 2, PORT_PREV));
	f.node = r->f->ports[r->host[0]].node;
	assert_lost_at(f, r->host[0]);
	f.node = SIM_NONE;
	f.port = rig_port(r, 2, PORT_NEXT);
	assert_lost_at(f, f.port);
	f.port = r->host[3];
	assert_lost_at(f, f.port);
	f.node = r->sw[1];
	f.port = rig_port(r, 1, PORT_PREV);
	assert_lost_at(f, f.port);

	memset(r->s->drops, 0, sizeof(*r->s->drops));
	f.node = r->sw[0];			/* not of that port: never */
	fault_remove(r->s, 0);
	add(f);
	f.node = SIM_NONE;
	f.port = rig_port(r, 1, PORT_HOST);	/* not on the way */
	add(f);
	f.port = rig_port(r, 3, 0);
	add(f);
	send_numbered(1);
	ck_assert_uint_eq(rig_dropped_all(r), 0);
	rig_send(r, r->host[0], rig_smp(SW_LID(3)));	/* ends there */
	ck_assert_uint_eq(r->s->drops->last[0].port, rig_port(r, 3, 0));
}
END_TEST

/* Each place is met once on a way, and a rule with a node once at the node. */
START_TEST(met_once)
{
	struct fault_rule f = rule(FAULT_DELAY);

	f.delay_us = 0;
	f.node = r->sw[1];
	add(f);
	f.node = SIM_NONE;
	f.port = r->host[0];
	add(f);
	f.port = r->host[3];
	add(f);
	f.port = rig_port(r, 2, PORT_NEXT);
	add(f);
	send_numbered(1);
	ck_assert_uint_eq(r->arrived.n, 1);
	for (unsigned i = 0; i < 4; i++)
		ck_assert_uint_eq(r->s->faults->rules.v[i].hits, 1);
}
END_TEST

START_TEST(delay)
{
	struct fault_rule f = rule(FAULT_DELAY);

	f.delay_us = 500;
	f.left = 1;
	f.node = r->sw[1];
	add(f);
	send_numbered(1);
	send_numbered(2);
	ck_assert_uint_eq(r->arrived.n, 1);
	ck_assert_int_eq(sim_run(r->s, 100), 400);
	ck_assert_uint_eq(r->arrived.n, 1);
	ck_assert_int_eq(sim_run(r->s, 1000), -1);
	ck_assert_uint_eq(r->arrived.n, 2);
	ck_assert_uint_eq(number(0), 2);
	ck_assert_uint_eq(number(1), 1);
	ck_assert_int_eq(r->arrived.v[1].when_us, 500);
}
END_TEST

START_TEST(what_is_held_back_meets_the_fabric_as_it_is_then)
{
	struct fault_rule f = rule(FAULT_DELAY);

	f.delay_us = 500;
	f.node = r->sw[1];
	add(f);
	send_numbered(1);
	r->f->nodes[r->sw[1]].off = true;
	sim_run(r->s, 1000);
	ck_assert_uint_eq(rig_dropped(r, DROP_NODE_OFF), 1);
	ck_assert_uint_eq(r->s->drops->last[0].port, rig_port(r, 1, PORT_PREV));
	f.port = rig_port(r, 0, PORT_NEXT);
	f.node = SIM_NONE;
	fault_remove(r->s, 0);
	add(f);
	r->f->nodes[r->sw[1]].off = false;
	send_numbered(2);
	r->f->ports[f.port].unplugged = true;
	sim_run(r->s, 2000);
	ck_assert_uint_eq(rig_dropped(r, DROP_LINK_DOWN), 1);
}
END_TEST

START_TEST(held_back_at_the_end)
{
	add(rule(FAULT_DELAY));
	send_numbered(1);
	r->s->faults->rules.v[0].delay_us = 1000000;
	send_numbered(2);		/* never arrives: its memory goes with the simulation */
	ck_assert_uint_eq(r->arrived.n, 1);
}
END_TEST

START_TEST(duplicate)
{
	struct fault_rule f = rule(FAULT_DUPLICATE);

	f.node = r->sw[2];
	add(f);
	send_numbered(9);
	ck_assert_uint_eq(r->arrived.n, 2);
	ck_assert_uint_eq(number(0), 9);
	ck_assert_mem_eq(&r->arrived.v[0].p, &r->arrived.v[1].p, sizeof(struct packet));
	ck_assert_uint_eq(r->s->faults->rules.v[0].hits, 1);
}
END_TEST

START_TEST(reorder)
{
	struct fault_rule f = rule(FAULT_REORDER);
	struct packet p = rig_smp(HOST_LID(3));
	bool earlier = false;

	f.left = 1;
	add(f);
	for (uint8_t i = 0; i < 3; i++) {
		p.mad[MAD_TID] = i;
		wire_send(r->s, r->host[0], &p);
	}
	sim_run(r->s, 0);
	ck_assert_uint_eq(r->arrived.n, 3);
	ck_assert_uint_eq(number(0), 1);
	ck_assert_uint_eq(number(2), 0);

	r->arrived.n = 0;
	f.left = UINT32_MAX;
	f.delay_us = 1000;
	add(f);
	for (uint8_t i = 0; i < 100; i++)
		send_numbered(i);
	sim_run(r->s, 1000);		/* none is held back for longer */
	ck_assert_uint_eq(r->arrived.n, 100);
	for (size_t i = 1; i < 100; i++)
		earlier |= number(i) < number(i - 1);
	ck_assert(earlier);
}
END_TEST

START_TEST(corrupt)
{
	struct packet p = rig_smp(HOST_LID(3));

	add(rule(FAULT_CORRUPT));
	for (unsigned i = 0; i < 200; i++) {
		rig_send(r, r->host[0], p);
		const uint8_t *mad = r->arrived.v[i].p.mad;

		ck_assert_mem_eq(mad, p.mad, 24);
		ck_assert_mem_ne(mad + 24, p.mad + 24, SIM_MAD_SIZE - 24);
	}
	ck_assert_mem_ne(r->arrived.v[0].p.mad, r->arrived.v[1].p.mad, SIM_MAD_SIZE);
}
END_TEST

START_TEST(damage)
{
	struct fault_rule x = rule(FAULT_DAMAGE);
	const struct sim_counters *c;

	x.port = r->host[3];
	x.left = 1;
	add(x);
	rig_send(r, r->host[3], rig_smp(HOST_LID(0)));		/* what it sends is sound */
	ck_assert_uint_eq(r->arrived.n, 1);
	rig_send(r, r->host[0], rig_smp(HOST_LID(3)));
	ck_assert_uint_eq(r->arrived.n, 1);
	c = port_counters(&r->s->f->ports[r->host[3]]);
	ck_assert_uint_eq(c->symbol_errors, 1);
	ck_assert_uint_eq(c->rcv_errors, 1);
	ck_assert_uint_eq(c->rcv_pkts, 1);
	rig_send(r, r->host[0], rig_smp(HOST_LID(3)));
	ck_assert_uint_eq(r->arrived.n, 2);
}
END_TEST

/* Two fabrics, one seed: one history. */
static uint64_t history(uint64_t seed)
{
	struct fault_rule f = rule(FAULT_CORRUPT);
	uint64_t digest = 0;

	teardown();
	setup();
	r->s->rng = seed;
	f.chance = 0.3;
	add(f);
	f.effect = FAULT_DROP;
	add(f);
	f.effect = FAULT_REORDER;
	f.delay_us = 50;
	add(f);
	for (uint8_t i = 0; i < 100; i++)
		send_numbered(i);
	sim_run(r->s, 1000);
	for (size_t i = 0; i < r->arrived.n; i++)
		digest = hash_bytes(r->arrived.v[i].p.mad, SIM_MAD_SIZE, digest) +
			 (uint64_t)r->arrived.v[i].when_us;
	return digest;
}

START_TEST(one_seed_one_history)
{
	ck_assert_uint_eq(history(5), history(5));
	ck_assert_uint_ne(history(5), history(6));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fault");
	TCase *t = tcase_create("fault");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, drop);
	tcase_add_test(t, ids_and_removal);
	tcase_add_test(t, count_is_used_up);
	tcase_add_test(t, first_rule_decides);
	tcase_add_test(t, chance);
	tcase_add_test(t, kinds);
	tcase_add_test(t, places);
	tcase_add_test(t, met_once);
	tcase_add_test(t, delay);
	tcase_add_test(t, what_is_held_back_meets_the_fabric_as_it_is_then);
	tcase_add_test(t, held_back_at_the_end);
	tcase_add_test(t, duplicate);
	tcase_add_test(t, reorder);
	tcase_add_test(t, corrupt);
	tcase_add_test(t, damage);
	tcase_add_test(t, one_seed_one_history);
	suite_add_tcase(s, t);
	return run_suite(s);
}
