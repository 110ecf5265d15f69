/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Converts texts and holds the results for the tests of cli/convert. */
#ifndef QOSD_TEST_CONVERTING_H
#define QOSD_TEST_CONVERTING_H

#include <check.h>
#include <string.h>

#include "cli/convert/convert.h"

static struct conversion made;
static struct buf yaml, said;		/* the policy, and all verdicts */
static struct convert_options options_given;
static bool ok;

static inline void teardown(void)
{
	conversion_free(&made);
	buf_free(&said);
}

static inline void setup(void)
{
	made = (struct conversion){ .policy = { 0 } };
	yaml = said = (struct buf){ 0 };
	options_given = (struct convert_options){ .with_qos = false };
}

static inline void convert_inputs(const struct convert_input *in, size_t n)
{
	teardown();
	ok = convert_all(in, n, &options_given, &made);
	for (size_t i = 0; i < made.verdicts.n; i++) {
		judged_format(&made.verdicts.v[i], &said);
		buf_puts(&said, "\n");
	}
	ck_assert_int_eq(ok, made.verdicts.count[VERDICT_ERROR] == 0);
	if (!ok)
		ck_assert_uint_eq(made.policy.n + made.settings.n, 0);
	buf_puts(&made.policy, "");
	buf_puts(&made.settings, "");
	buf_puts(&said, "");
	yaml = made.policy;
}

static inline void convert(enum convert_format format, const char *text)
{
	const struct convert_input in = { "f", text, strlen(text), format };

	convert_inputs(&in, 1);
}

#define ck_has(b, what) \
	ck_assert_msg(strstr((b).s, what), "'%s' is not in:\n%s", what, (b).s)
#define ck_has_not(b, what) \
	ck_assert_msg(!strstr((b).s, what), "'%s' is in:\n%s", what, (b).s)

#endif
