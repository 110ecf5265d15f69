/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What every unit test ends with: its suite is run, and told as tests/run counts it. */
#ifndef QOSD_TEST_RUN_H
#define QOSD_TEST_RUN_H

#include <check.h>

/* The exit status of the program.  Takes over the suite; $CK_VERBOSITY says how much is told. */
static inline int run_suite(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}

#endif
