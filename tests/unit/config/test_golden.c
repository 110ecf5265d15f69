/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compares tests/golden/{policy,settings}/X.yaml with X.findings (missing: no findings)
 * and X.normal (missing: refused), every normal form with itself, and tests the files
 * that are installed in /etc.
 *
 * With QOSD_GOLDEN_WRITE=1 in the environment, the test writes the expectations anew
 * instead; review them before a commit.
 *
 * promise: O9
 */
#include <check.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf_test.h"
#include "lib/base/alloc.h"
#include "unit/run.h"

static unsigned failures, compared;

static void write_expected(const char *path, const char *text)
{
	FILE *f;

	if (!text || !*text) {
		unlink(path);
		return;
	}
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

/* Compares the text with the file of expectations; NULL and a missing file stand for nothing. */
static void compare(const char *yaml, const char *suffix, const char *text)
{
	char *path = xasprintf("%.*s%s", (int)(strlen(yaml) - strlen(".yaml")), yaml, suffix);
	char *expected;

	if (getenv("QOSD_GOLDEN_WRITE"))
		write_expected(path, text);
	expected = slurp(path, NULL);
	compared++;
	if (strcmp(expected ? expected : "", text ? text : "")) {
		failures++;
		printf("%s: expected:\n%sgot:\n%s", path, expected ? expected : "(nothing)\n",
		       text ? text : "(nothing)\n");
	}
	free(expected);
	free(path);
}

/* A normal form parses without errors and prints as itself. */
static void round_trip(const char *path, const struct buf *normal)
{
	struct findings found = { 0 };
	struct policy *p = conf_parse_policy(path, normal->s, normal->n, &found);
	struct buf again = { 0 };

	if (p)
		conf_print_policy(p, &again);
	else
		findings_text(&found, &again);
	if (strcmp(again.s, normal->s)) {
		failures++;
		printf("%s: normal form:\n%sprints as:\n%s", path, normal->s, again.s);
	}
	buf_free(&again);
	findings_free(&found);
	policy_free(p);
}

static void golden_policy(const char *path)
{
	struct findings found = { 0 };
	struct buf text = { 0 }, normal = { 0 };
	size_t n;
	char *yaml = slurp(path, &n);
	struct policy *p = conf_parse_policy(strrchr(path, '/') + 1, yaml, n, &found);

	ck_assert_msg((p != NULL) == (found.count[SEV_ERROR] == 0), "%s", path);
	if (p) {
		conf_print_policy(p, &normal);
		round_trip(path, &normal);
	}
	findings_text(&found, &text);
	compare(path, ".findings", text.s);
	compare(path, ".normal", normal.s);
	buf_free(&text);
	buf_free(&normal);
	findings_free(&found);
	policy_free(p);
	free(yaml);
}

static void golden_settings(const char *path)
{
	struct findings found = { 0 };
	struct buf text = { 0 };
	size_t n;
	char *yaml = slurp(path, &n);
	struct settings *s = whole_settings(strrchr(path, '/') + 1, yaml, n, &found);

	ck_assert_msg((s != NULL) == (found.count[SEV_ERROR] == 0), "%s", path);
	findings_text(&found, &text);
	compare(path, ".findings", text.s);
	buf_free(&text);
	findings_free(&found);
	settings_free(s);
	free(yaml);
}

static void walk(const char *below, void (*test)(const char *path))
{
	char *pattern = source_path(below);
	glob_t g;

	failures = compared = 0;
	ck_assert_msg(glob(pattern, 0, NULL, &g) == 0, "no files: %s", pattern);
	for (size_t i = 0; i < g.gl_pathc; i++)
		test(g.gl_pathv[i]);
	printf("%s: %zu files, %u expectations\n", pattern, g.gl_pathc, compared);
	globfree(&g);
	free(pattern);
	ck_assert_uint_eq(failures, 0);
}

START_TEST(policies)
{
	walk("tests/golden/policy/*.yaml", golden_policy);
}
END_TEST

START_TEST(settings)
{
	walk("tests/golden/settings/*.yaml", golden_settings);
}
END_TEST

START_TEST(shipped_policy_is_clean)
{
	struct findings found = { 0 };
	char *path = source_path("etc/policy.yaml");
	size_t n;
	char *yaml = slurp(path, &n);
	struct policy *p = conf_parse_policy(path, yaml, n, &found);
	struct buf normal = { 0 };

	ck_assert_ptr_nonnull(p);
	ck_assert_uint_eq(found.n, 0);
	ck_assert_str_eq(p->file, path);
	free(yaml);
	conf_print_policy(p, &normal);
	failures = 0;
	round_trip(path, &normal);
	ck_assert_uint_eq(failures, 0);
	buf_free(&normal);
	policy_free(p);
	free(path);
}
END_TEST

static void ck_same_settings(const struct settings *a, const struct settings *b)
{
	struct settings x = *a, y = *b;

	for (int i = 0; a->engines[i] || b->engines[i]; i++)
		ck_assert_str_eq(a->engines[i], b->engines[i]);
	memset(x.engines, 0, sizeof(x.engines));
	memset(y.engines, 0, sizeof(y.engines));
	x.file = y.file = NULL;
#define SAME(member) ck_assert_msg(x.member == y.member, "%s", #member)
	SAME(port_guid); SAME(subnet_prefix); SAME(lmc); SAME(lmc_enhanced_port0);
	SAME(subnet_timeout); SAME(packet_lifetime); SAME(hoq_lifetime); SAME(hoq_lifetime_end);
	SAME(vl_stall_count); SAME(vl_stall_count_end); SAME(local_phy_errors);
	SAME(overrun_errors); SAME(max_op_vls); SAME(link_width); SAME(link_speed);
	SAME(partition_enforcement);
	SAME(m_key); SAME(m_key_lease); SAME(m_key_protect); SAME(sm_key); SAME(priority);
	SAME(poll_interval_ms); SAME(poll_retries); SAME(smp_window); SAME(smp_window_device);
	SAME(smp_timeout_ms); SAME(smp_retries); SAME(discovery_window);
	SAME(prefix_routes.n); SAME(sweep_interval_s); SAME(scrub_interval_s);
	SAME(flap_limit); SAME(flap_window_s); SAME(flap_hold_s); SAME(history_max_mib);
	SAME(sa_requests_max); SAME(sa_requests_per_port);
	SAME(sa_long_requests_max); SAME(sa_long_requests_per_port);
	SAME(reports_max); SAME(reports_per_port); SAME(mlids_max); SAME(mlids_per_port);
	SAME(sa_transfers_max); SAME(sa_transfers_per_port); SAME(log_level); SAME(sandbox);
#undef SAME
}

/* As it is, and with the comment taken from every setting, it changes nothing. */
START_TEST(shipped_settings_are_the_defaults)
{
	struct findings found = { 0 };
	char *path = source_path("etc/qosd.yaml");
	char *text = slurp(path, NULL);
	struct settings *defaults = settings_default(), *s = parse_settings(text, &found);
	struct buf all = { 0 };
	unsigned n = 0;

	ck_assert_ptr_nonnull(s);
	ck_assert_uint_eq(found.n, 0);
	ck_same_settings(s, defaults);
	settings_free(s);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (line[0] == '#' && line[1] > ' ') {
			buf_printf(&all, "%s\n", line + 1);
			n++;
		}
	s = parse_settings(all.s, &found);
	ck_assert_uint_eq(found.n, 0);
	ck_assert_ptr_nonnull(s);
	ck_same_settings(s, defaults);
	ck_assert_uint_eq(n, 84);
	settings_free(s);
	settings_free(defaults);
	buf_free(&all);
	free(text);
	free(path);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("golden");
	TCase *t = tcase_create("golden");

	tcase_add_test(t, policies);
	tcase_add_test(t, settings);
	tcase_add_test(t, shipped_policy_is_clean);
	tcase_add_test(t, shipped_settings_are_the_defaults);
	suite_add_tcase(s, t);
	return run_suite(s);
}
