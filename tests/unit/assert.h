/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Defines assertions that cost nothing while they hold; the Makefile includes this header in every unit test.
 *
 * Check reports each assertion that held to its parent process, by a write() to a file, to be able to
 * name the last one before a crash.  In a test with assertions about each entry of each forwarding
 * table, these writes take longer than everything else.  Here an assertion reports nothing unless it
 * fails.  After a crash, Check then names the test, and a debugger or sanitizer names the line.
 */
#ifndef QOSD_TEST_ASSERT_H
#define QOSD_TEST_ASSERT_H

#include <check.h>

/* Check's other assertions are built on this one. */
#undef ck_assert_msg
#define ck_assert_msg(expr, ...) \
	((expr) ? (void)0 : \
		  _ck_assert_failed(__FILE__, __LINE__, "Assertion '" #expr "' failed", ##__VA_ARGS__))

#endif
