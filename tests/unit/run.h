/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs the suite of a unit test and prints the result in the form that tests/run counts. */
#ifndef QOSD_TEST_RUN_H
#define QOSD_TEST_RUN_H

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>

/* Returns the exit status of the program.  Frees the suite; $CK_VERBOSITY determines how much is printed. */
static inline int run_suite(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}

/* Sanitized programs are many times slower, and a few cases show what sanitizers look for. */
static inline bool sanitized(void)
{
	const char *by = getenv("QOSD_SANITIZE");

	return by && *by;
}

/* How many of n seeded cases a test runs in this build. */
static inline int cases(int n)
{
	return sanitized() ? (n + 4) / 5 : n;
}

#endif
