/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What every unit test ends with: its suite is run, and told as tests/run counts it. */
#ifndef QOSD_TEST_RUN_H
#define QOSD_TEST_RUN_H

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>

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

/* Sanitized programs are many times slower, and what sanitizers look for shows in few cases. */
static inline bool sanitized(void)
{
	const char *by = getenv("QOSD_SANITIZE");

	return by && *by;
}

/* How many of n cases, made from a seed each, a test has. */
static inline int cases(int n)
{
	return sanitized() ? (n + 4) / 5 : n;
}

#endif
