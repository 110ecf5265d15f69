/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests what a PortInfo read after the fabric says about the other end of the link. */
#include <check.h>
#include <string.h>

#include <infiniband/mad.h>

#include "sm/sm_internal.h"
#include "unit/run.h"

static struct fabric_node nodes[2];
static struct fabric_port ports[3];	/* 0 and 1 are linked with each other, 2 is not linked */
static struct node_work work[2];
static struct fabric f = { .nodes = nodes, .n_nodes = 2, .ports = ports, .n_ports = 3 };

static void store(uint32_t port, unsigned before, unsigned now)
{
	struct sm sm = { .sweep.f = &f, .sweep.work = work };
	uint8_t info[64] = { 0 };

	memset(work, 0, sizeof(work));
	ports[0] = (struct fabric_port){ .node = 0, .peer = 1, .present = true, .state = IB_PORT_ACTIVE_S };
	ports[1] = (struct fabric_port){ .node = 1, .peer = 0, .present = true, .state = IB_PORT_ACTIVE_S };
	ports[2] = (struct fabric_port){ .node = 1, .peer = FABRIC_NONE, .present = true };
	ports[port].state = (uint8_t)before;
	mad_set_field(info, 0, IB_PORT_STATE_F, now);
	sweep_store_port(&sm, port, info);
}

/* promise: D125 */
START_TEST(a_port_below_what_was_known)
{
	store(0, IB_PORT_ACTIVE_S, IB_PORT_INIT_S);
	ck_assert_uint_eq(ports[0].state, IB_PORT_INIT_S);
	ck_assert(work[1].trained);
	ck_assert(!work[0].trained);
	store(0, IB_PORT_ACTIVE_S, IB_PORT_DOWN_S);
	ck_assert(work[1].trained);
}
END_TEST

/* promise: D125 */
START_TEST(what_says_nothing_of_the_other_end)
{
	store(0, IB_PORT_INIT_S, IB_PORT_ARMED_S);
	ck_assert(!work[1].trained);
	store(0, IB_PORT_ACTIVE_S, IB_PORT_ACTIVE_S);
	ck_assert(!work[1].trained);
	store(0, IB_PORT_ACTIVE_S, 15);		/* an undefined state */
	ck_assert(!work[1].trained);
	store(2, IB_PORT_INIT_S, IB_PORT_DOWN_S);
	ck_assert(!work[0].trained);
	ck_assert(!work[1].trained);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("trained");
	TCase *c = tcase_create("all");

	tcase_add_test(c, a_port_below_what_was_known);
	tcase_add_test(c, what_says_nothing_of_the_other_end);
	suite_add_tcase(s, c);
	return run_suite(s);
}
