/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests which of a host's ports qosd chooses. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "mad/choose_port.h"
#include "unit/run.h"

#define IB	true
#define ROCE	false
#define NO_SMI	(1u << 10)
enum { DOWN = 1, INIT, ARMED, ACTIVE };

static struct seen_ports ports;
static struct mad_port_info info;
static struct buf err;

static void add(const char *ca, int num, uint64_t guid, unsigned state, uint32_t capmask,
		bool infiniband)
{
	struct seen_port *s = vec_push(&ports.v);

	*s = (struct seen_port){ .num = num, .guid = guid, .lid = (uint16_t)(num + 1), .state = state,
				 .capmask = capmask, .infiniband = infiniband };
	snprintf(s->ca, sizeof(s->ca), "%s", ca);
}

static void setup(void)
{
	memset(&ports, 0, sizeof(ports));
	memset(&err, 0, sizeof(err));
}

static void teardown(void)
{
	vec_free(&ports.v);
	buf_free(&err);
}

/* Returns "SMI/PORT GSI/PORT", or the error. */
static const char *choose(uint64_t guid)
{
	static char text[256];
	struct seen_port *s;

	err.n = 0;
	s = port_choose(&ports, guid, &err);
	if (!s) {
		snprintf(text, sizeof(text), "%s", err.s);
		return text;
	}
	port_pair(&ports, s, &info);
	snprintf(text, sizeof(text), "%s/%d %s/%d", info.ca, info.port, info.gsi_ca, info.gsi_port);
	return text;
}

START_TEST(the_first_with_a_link)
{
	ck_assert_ptr_nonnull(strstr(choose(0), "ib_umad"));
	add("a", 1, 0x11, DOWN, 0, IB);
	ck_assert_str_eq(choose(0), "no InfiniBand port is connected");
	add("a", 2, 0x12, INIT, 0, IB);
	add("b", 1, 0x21, ACTIVE, 0, IB);
	ck_assert_str_eq(choose(0), "a/2 a/2");
	ck_assert_str_eq(choose(0x21), "b/1 b/1");
	ck_assert_str_eq(choose(0x11), "a/1 a/1");	/* a named port: its link may come up later */
	ck_assert_str_eq(choose(0x99), "no InfiniBand port with GUID 0x0000000000000099");
}
END_TEST

/* promise: D71 */
START_TEST(ports_that_are_not_ours)
{
	add("roce", 1, 0x1, ACTIVE, 1u << 16, ROCE);
	ck_assert_str_eq(choose(0), "no port can be managed; roce port 1: its link layer is Ethernet");
	add("vf", 1, 0x2, ACTIVE, NO_SMI, IB);
	add("broken", 1, 0, ACTIVE, 0, IB);
	add("pf", 1, 0x3, INIT, 0, IB);
	ck_assert_str_eq(choose(0), "pf/1 pf/1");
	for (size_t i = 0; i < ports.v.n; i++)
		ports.v.v[i].passed_over = false;
	ck_assert_ptr_nonnull(strstr(choose(0x2), "cannot be managed: it has no subnet management"));
	ck_assert_ptr_nonnull(strstr(choose(0x1), "port 0x0000000000000001 (roce port 1)"));
}
END_TEST

/* A host with a ConnectX-8 shows its planes after the device for subnet management. */
/* promise: D71 */
START_TEST(smi_and_gsi_apart)
{
	add("mlx5_0", 1, 0x10, ACTIVE, NO_SMI, IB);
	add("roce", 1, 0x10, ACTIVE, 1u << 16, ROCE);	/* whatever GUID it has */
	add("mlx5_1", 1, 0x20, DOWN, NO_SMI, IB);
	add("smi1", 1, 0x10, DOWN, 0, IB);
	add("smi1", 2, 0x10, INIT, 0, IB);
	add("smi1", 3, 0x10, INIT, 0, IB);
	add("smi2", 1, 0x20, INIT, 0, IB);
	ck_assert_str_eq(choose(0), "smi1/2 mlx5_0/1");
	ck_assert_uint_eq(info.lid, 2);
	ck_assert_uint_eq(info.guid, 0x10);
	ck_assert_str_eq(choose(0x20), "smi2/1 mlx5_1/1");
	ck_assert_str_eq(choose(0x10), "smi1/2 mlx5_0/1");
}
END_TEST

/* promise: D71 */
START_TEST(many_adapters)
{
	for (unsigned i = 0; i < 200; i++) {
		char name[CA_NAME_SIZE];

		snprintf(name, sizeof(name), "mlx5_%u", i);
		add(name, 1, 0x100 + i, i == 150 ? ACTIVE : DOWN, 0, IB);
	}
	ck_assert_str_eq(choose(0), "mlx5_150/1 mlx5_150/1");
	ck_assert_str_eq(choose(0x100 + 199), "mlx5_199/1 mlx5_199/1");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("choose");
	TCase *c = tcase_create("choose");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, the_first_with_a_link);
	tcase_add_test(c, ports_that_are_not_ours);
	tcase_add_test(c, smi_and_gsi_apart);
	tcase_add_test(c, many_adapters);
	suite_add_tcase(s, c);
	return run_suite(s);
}
