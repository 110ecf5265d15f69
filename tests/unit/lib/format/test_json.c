/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests JSON values of texts from devices.
 *
 * promise: C2
 */
#include <check.h>
#include <stdlib.h>

#include "lib/format/json.h"
#include "unit/run.h"

static void expect_text(const char *in, const char *out)
{
	json_t *j = json_text(in);

	ck_assert_str_eq(json_string_value(j), out);
	json_decref(j);
}

START_TEST(text)
{
	expect_text("", "");
	expect_text("node001 HCA-1", "node001 HCA-1");
	expect_text("caf\xc3\xa9", "caf\xc3\xa9");		/* UTF-8 stays */
	expect_text("caf\xe9 \xc3\xa9", "caf? ??");		/* … unless something is none */
}
END_TEST

START_TEST(guid)
{
	json_t *j = json_guid(0x2c90300080e84);

	ck_assert_str_eq(json_string_value(j), "0x0002c90300080e84");
	json_decref(j);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("json");
	TCase *tc = tcase_create("json");

	tcase_add_test(tc, text);
	tcase_add_test(tc, guid);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
