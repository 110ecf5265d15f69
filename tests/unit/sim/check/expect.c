/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

struct sim_fabric *the_fabric;
struct audit the_audit;

void tree_up(void)
{
	the_fabric = make_tree(3, 2, 2);
	bring_up(the_fabric, 4, 0, SHORTEST);
}

void fabric_free(void)
{
	audit_free(&the_audit);
	the_audit = (struct audit){ 0 };
	simfab_free(the_fabric);
	the_fabric = NULL;
}

void audit_all(uint16_t sls)
{
	struct audit_options o = { .sls = sls, .findings_max = 20 };

	audit_free(&the_audit);
	audit_run(the_fabric, &o, &the_audit);
}

void expect(enum audit_kind kind, uint64_t n, int also)
{
	struct buf text = { 0 };

	audit_print(&the_audit, &text);
	for (unsigned k = 0; k < AUDIT_KINDS; k++)
		if (k == (unsigned)kind)
			ck_assert_msg(the_audit.count[k] == n, "%s", text.s);
		else if ((int)k != also)
			ck_assert_msg(the_audit.count[k] == 0, "%s", text.s);
	buf_free(&text);
}

void expect_text(const char *part)
{
	struct buf text = { 0 };

	audit_print(&the_audit, &text);
	ck_assert_msg(strstr(text.s, part) != NULL, "no \"%s\" in:\n%s", part, text.s);
	buf_free(&text);
}

void expect_note(const char *part)
{
	expect(AUDIT_LOOP, 0, -1);
	ck_assert(audit_clean(&the_audit));
	ck_assert_uint_eq(the_audit.notes, 1);
	expect_text(part);
}

void expect_clean(uint64_t pairs)
{
	expect(AUDIT_LOOP, 0, -1);
	expect_text("no faults");
	ck_assert(audit_clean(&the_audit));
	ck_assert_uint_eq(the_audit.notes, 0);
	ck_assert_uint_eq(the_audit.pairs, pairs);
	ck_assert_uint_eq(the_audit.connected, pairs);
}
