/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests Sets that were answered with an error: when qosd retries a device as if it were new. */
#include <check.h>

#include "sm/sm_internal.h"
#include "sm/write/refused_sets.h"
#include "unit/plan/net.h"
#include "unit/run.h"

enum { SELF = 0x1000, HOST = 0x2000, NEAR = 0x9000, FAR = 0x9100 };

/*
 * Two switches with a link between their ports 2. Port 3 of the near switch leads to the far switch
 * as well, to a device that claims to be it (far_twice), or to a host.
 */
static struct fabric *two_switches(bool far_twice, unsigned state)
{
	struct fabric *f = fabric_new();
	uint32_t self = net_ca(f, SELF, 1), near = net_switch(f, NEAR, 4, false);
	uint32_t far = net_switch(f, FAR, 4, false), host = net_ca(f, HOST, 1);

	ck_assert(fabric_link(f, self, 1, near, 1));
	ck_assert(fabric_link(f, near, 2, far, 2));
	ck_assert(fabric_link(f, near, 3, far_twice ? far : host, far_twice ? 3 : 1));
	if (far_twice)
		ck_assert(fabric_link(f, far, 4, host, 1));
	net_finish(f);
	for (uint32_t i = 0; i < f->n_ports; i++)
		f->ports[i].state = (uint8_t)state;
	return f;
}

static uint32_t node_of(const struct fabric *f, uint64_t guid)
{
	return map64_get(&f->node_by_guid, guid);
}

static bool starts_anew(const struct fabric *old, const struct fabric *f, uint64_t guid)
{
	return refused_starts_anew(old, f, node_of(f, guid));
}

/* The directed route to the far switch ends at that port of it. */
static void reached_by(struct fabric *f, unsigned num)
{
	struct fabric_node *n = &f->nodes[node_of(f, FAR)];

	n->hops = 2;
	n->local_port = (uint8_t)num;
}

START_TEST(one_that_stays)
{
	struct fabric *old = two_switches(true, IB_PORT_ACTIVE_S);
	struct fabric *f = fabric_clone(old);

	reached_by(old, 2);
	ck_assert(!starts_anew(old, f, FAR));
	/* the link over which it was queried goes down */
	f->ports[f->nodes[node_of(f, FAR)].port0 + 2].state = IB_PORT_DOWN_S;
	f->ports[f->nodes[node_of(f, NEAR)].port0 + 2].state = IB_PORT_DOWN_S;
	ck_assert(!starts_anew(old, f, FAR));
	fabric_free(f);
	fabric_free(old);
}
END_TEST

START_TEST(one_whose_links_all_came_up)
{
	struct fabric *old = two_switches(true, IB_PORT_ACTIVE_S);
	struct fabric *f = two_switches(true, IB_PORT_INIT_S);

	ck_assert(starts_anew(old, f, FAR));
	fabric_free(f);
	fabric_free(old);
}
END_TEST

/* A host claimed to be the far switch, and qosd queried it instead. */
/* promise: A106 */
START_TEST(another_answered_in_its_name)
{
	struct fabric *old = two_switches(true, IB_PORT_ACTIVE_S);
	struct fabric *f = two_switches(false, IB_PORT_ACTIVE_S);

	reached_by(old, 2);
	ck_assert(!starts_anew(old, f, FAR));
	reached_by(old, 3);
	ck_assert(starts_anew(old, f, FAR));
	ck_assert(!starts_anew(old, f, NEAR));
	fabric_free(f);
	fabric_free(old);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("refused");
	TCase *t = tcase_create("refused");

	tcase_add_test(t, one_that_stays);
	tcase_add_test(t, one_whose_links_all_came_up);
	tcase_add_test(t, another_answered_in_its_name);
	suite_add_tcase(s, t);
	return run_suite(s);
}
