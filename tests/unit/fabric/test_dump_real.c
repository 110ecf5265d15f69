/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the reader with dumps of real clusters, which may not be distributed with qosd.
 * They are in the directory QOSD_FABRICS; without them, the test is skipped.
 *
 * promise: V4
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fabric/fabric.h"
#include "lib/base/alloc.h"
#include "unit/load_fabric.h"
#include "unit/run.h"

static const struct {
	const char *name;
	uint32_t nodes, switches, links;
} dumps[] = {
	/* counted in the files with grep */
	{ "psmn-x5.topo", 100, 11, 159 },
	{ "two-switch-sdr.topo", 6, 2, 7 },
};

static char *path_of(size_t i)
{
	const char *dir = getenv("QOSD_FABRICS");

	return xasprintf("%s/%s", dir ? dir : "../shared/fabrics", dumps[i].name);
}

START_TEST(real_dump)
{
	struct buf err = { 0 };
	char *path = path_of((size_t)_i);
	struct fabric *f = fabric_load(path, 0, true, &err);
	uint32_t ends = 0;

	ck_assert_msg(f != NULL, "%s", err.s);
	ck_assert_uint_eq(f->n_nodes, dumps[_i].nodes);
	ck_assert_uint_eq(f->n_switches, dumps[_i].switches);
	for (uint32_t p = 0; p < f->n_ports; p++) {
		if (f->ports[p].peer == FABRIC_NONE)
			continue;
		ck_assert_uint_eq(f->ports[f->ports[p].peer].peer, p);
		ck_assert_uint_ne(f->ports[p].rate, 0);
		ends++;
	}
	ck_assert_uint_eq(ends, 2 * dumps[_i].links);
	fabric_free(f);
	free(path);
}
END_TEST

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(dumps); i++) {
		char *path = path_of(i);

		if (access(path, R_OK)) {
			printf("%s is not there (see QOSD_FABRICS)\n", path);
			free(path);
			return 77;
		}
		free(path);
	}
	Suite *suite = suite_create("real dumps");
	TCase *tc = tcase_create("real dumps");

	tcase_add_loop_test(tc, real_dump, 0, ARRAY_SIZE(dumps));
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
