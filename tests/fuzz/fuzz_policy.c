/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Arbitrary bytes as a policy (libFuzzer's interface).  One that is accepted has a normal
 * form that is accepted, too, and is its own; and it is planned for a small subnet.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/conf.h"
#include "fuzz.h"
#include "plan/feasible/feasible.h"
#include "subnet.h"

static struct policy *parse(const char *text, size_t n)
{
	struct findings found = { 0 };
	struct policy *p = conf_parse_policy("policy", text, n, &found);

	if (!p != (found.count[SEV_ERROR] > 0)) {
		fprintf(stderr, "%zu errors\n", (size_t)found.count[SEV_ERROR]);
		abort();
	}
	findings_free(&found);
	return p;
}

static void check_normal_form(const struct policy *p)
{
	struct buf first = { 0 }, second = { 0 };
	struct policy *again;

	conf_print_policy(p, &first);
	again = parse(first.s, first.n);
	if (!again) {
		fprintf(stderr, "refused: %s\n", first.s);
		abort();
	}
	conf_print_policy(again, &second);
	if (strcmp(first.s, second.s)) {
		fprintf(stderr, "%s--- and again:\n%s", first.s, second.s);
		abort();
	}
	policy_free(again);
	buf_free(&first);
	buf_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct subnet_state *s = subnet_state();
	struct policy *p = parse((const char *)data, size);
	struct plan *plan;

	if (!p)
		return 0;
	check_normal_form(p);
	plan = plan_compute(s->f, p, s->plan->settings, NULL, NULL, NULL);
	plan_judge(plan, NULL);
	plan_free(plan);
	policy_free(p);
	return 0;
}
