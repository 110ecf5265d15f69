/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Assertions that cost nothing while they hold; the Makefile includes this header in every unit test.
 *
 * Check tells its parent process of each assertion that held, by a write() to a file, so that it can
 * name the last one before a crash.  In a test that asserts something of each entry of each
 * forwarding table these writes take longer than all else.  Here an assertion says nothing unless
 * it fails; of a crash Check then names the test, and a debugger or sanitizer the line.
 */
#ifndef QOSD_TEST_ASSERT_H
#define QOSD_TEST_ASSERT_H

#include <check.h>

/* What Check's other assertions are made of. */
#undef ck_assert_msg
#define ck_assert_msg(expr, ...) \
	((expr) ? (void)0 : \
		  _ck_assert_failed(__FILE__, __LINE__, "Assertion '" #expr "' failed", ##__VA_ARGS__))

#endif
