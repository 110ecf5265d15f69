/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the metrics page: its format, with a strict reader of the exposition format, and its values.
 *
 * promise: O4
 */
#include <check.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/commands/metrics.h"
#include "ctl/prom.h"
#include "lib/base/alloc.h"
#include "sa/registry/groups.h"
#include "subnet.h"
#include "unit/run.h"

/* --- a strict reader --- */

static bool is_name(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isalpha((unsigned char)s[i]) && s[i] != '_' && !(i && isdigit((unsigned char)s[i])))
			return false;
	return n > 0;
}

/* Skips {name="value",...}; NULL if it is malformed. */
static const char *skip_labels(const char *s)
{
	if (*s != '{')
		return s;
	do {
		size_t n = strcspn(++s, "=");

		if (!is_name(s, n) || s[n + 1] != '"')
			return NULL;
		for (s += n + 2; *s && *s != '"'; s++)
			if (*s == '\\' && !strchr("\\\"n", *++s))
				return NULL;
		if (*s++ != '"')
			return NULL;
	} while (*s == ',');
	return *s == '}' ? s + 1 : NULL;
}

/* Whether a sample's name is one of the metric's. */
static bool is_of(const char *metric, const char *type, const char *s, size_t n)
{
	static const char *const suffixes[] = { "_bucket", "_sum", "_count" };
	size_t m = strlen(metric);

	if (strncmp(s, metric, m))
		return false;
	if (strcmp(type, "histogram"))
		return n == m;
	for (unsigned i = 0; i < 3; i++)
		if (n == m + strlen(suffixes[i]) && !strncmp(s + m, suffixes[i], n - m))
			return true;
	return false;
}

/* Returns the fault, or NULL.  Each metric must come once, followed by its samples, and no series twice. */
static const char *wrong(const char *all)
{
	char *copy = xstrdup(all), *save = NULL, name[100] = "", type[20] = "", word[100];
	VEC(char *) series = { 0 };
	VEC(char *) names = { 0 };
	bool helped = false;
	const char *why = NULL;

	if (!*all || all[strlen(all) - 1] != '\n')
		why = "no newline at the end";
	for (char *l = strtok_r(copy, "\n", &save); l && !why; l = strtok_r(NULL, "\n", &save)) {
		const char *rest;
		char *end;
		size_t n;

		if (!strncmp(l, "# HELP ", 7)) {
			if (sscanf(l + 7, "%99s", name) != 1 || !l[8 + strlen(name)])
				why = "no help";
			for (size_t i = 0; i < names.n; i++)
				if (!strcmp(names.v[i], name))
					why = "a metric twice";
			*vec_push(&names) = xstrdup(name);
			helped = true;
			continue;
		}
		if (!strncmp(l, "# TYPE ", 7)) {
			if (!helped || sscanf(l + 7, "%99s %19s", word, type) != 2 || strcmp(word, name))
				why = "TYPE without HELP";
			if (!strcmp(type, "counter") != (strlen(name) > 6 && !strcmp(name + strlen(name) - 6, "_total")))
				why = "a counter, and only that, ends with _total";
			continue;
		}
		n = strcspn(l, "{ ");
		rest = skip_labels(l + n);
		if (!is_name(l, n) || !is_of(name, type, l, n))
			why = "a sample that belongs to no metric";
		else if (!rest || *rest != ' ')
			why = "labels";
		else if (strtod(rest + 1, &end), *end || end == rest + 1)
			why = "a value";
		if (why)
			break;
		for (size_t i = 0; i < series.n; i++)
			if (!strncmp(series.v[i], l, (size_t)(rest - l)) && series.v[i][rest - l] == ' ')
				why = "a series twice";
		*vec_push(&series) = l;
	}
	for (size_t i = 0; i < names.n; i++)
		free(names.v[i]);
	vec_free(&names);
	vec_free(&series);
	free(copy);
	return why;
}

START_TEST(the_reader_is_strict)
{
	static const char head[] = "# HELP a_b Help.\n# TYPE a_b gauge\n";
	static const char *const good[] = { "", "a_b 1\n", "a_b{c=\"d\"} 1\na_b{c=\"e\"} 1\n",
					    "a_b{c=\"\\\\\\\"\\n\",d=\"}\"} -1e-9\n", "a_b +Inf\n", "a_b NaN\n" };
	static const char *const bad[] = {
		"a_b 1", "a_c 1\n", "a_b 1\na_b 1\n", "a_b{c=d} 1\n", "a_b{c=\"d} 1\n", "a_b{c=\"\\d\"} 1\n",
		"a_b{1=\"d\"} 1\n", "a_b \n", "a_b x\n", "a_b\n", "a_b{c=\"d\"}1\n", "a_b{c=\"d\",} 1\n",
		"# TYPE c gauge\nc 1\n", "# HELP a_b Again.\n", "# HELP c Help.\n# TYPE c counter\n",
	};
	struct buf b = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		b.n = 0;
		buf_printf(&b, "%s%s", head, good[i]);
		ck_assert_msg(!wrong(b.s), "%s: %s", b.s, wrong(b.s));
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		b.n = 0;
		buf_printf(&b, "%s%s", head, bad[i]);
		ck_assert_msg(wrong(b.s) != NULL, "%s", b.s);
	}
	buf_free(&b);
}
END_TEST

START_TEST(the_format)
{
	struct buf b = { 0 };
	struct prom p = { .out = &b };

	prom_metric(&p, "a_total", PROM_COUNTER, "What it is.");
	prom_sample(&p, 1, "x", "a\\b\"c\nd", "y", "", NULL);
	prom_sample(&p, 9007199254740992.0, "x", "\xc3\xa9", NULL);
	prom_sample(&p, 0.1, "x", "\xff\x01", NULL);
	prom_metric(&p, "h", PROM_HISTOGRAM, "Times.");
	prom_sample_of(&p, "_bucket", 2, "le", "+Inf", NULL);
	prom_single(&p, "g", PROM_GAUGE, "One.", -INFINITY);
	prom_single(&p, "n", PROM_GAUGE, "None.", NAN);
	ck_assert_str_eq(b.s, "# HELP a_total What it is.\n# TYPE a_total counter\n"
			 "a_total{x=\"a\\\\b\\\"c\\nd\",y=\"\"} 1\n"
			 "a_total{x=\"\xc3\xa9\"} 9007199254740992\n"
			 "a_total{x=\"?\x01\"} 0.1\n"
			 "# HELP h Times.\n# TYPE h histogram\nh_bucket{le=\"+Inf\"} 2\n"
			 "# HELP g One.\n# TYPE g gauge\ng -Inf\n# HELP n None.\n# TYPE n gauge\nn NaN\n");
	buf_free(&b);
}
END_TEST

/* --- what the daemon prints --- */

static struct ctl_env env;
static struct ctl_view view;
static struct mad_counts counts;
static struct sa sa;
static struct buf out;

static void setup(void)
{
	json_set_alloc_funcs(xmalloc, free);
	memset(&counts, 0, sizeof(counts));
	memset(&sa, 0, sizeof(sa));
	sa.state = test_subnet();
	plan_judge(sa.state->plan, NULL);
	sa.stats = sa_stats_new();
	sa.mcast = mcast_new(NULL, NULL);
	env = (struct ctl_env){ .version = "1.2.3", .sa = &sa };
	view = (struct ctl_view){ .state = sa.state, .mad = &counts };
	view.sm.state = SM_MASTER;
	view.sm.policy = sa.state->policy;
}

static void teardown(void)
{
	buf_free(&out);
	mcast_free(sa.mcast);
	sa_stats_free(sa.stats);
	test_subnet_free(sa.state);
}

static void print(void)
{
	buf_free(&out);
	metrics_print(&env, &view, &out);
	ck_assert_msg(!wrong(out.s), "%s", wrong(out.s));
}

static void has_line(const char *line)
{
	char *whole = xasprintf("\n%s\n", line);

	ck_assert_msg(strstr(out.s, whole) != NULL, "no %s", line);
	free(whole);
}

START_TEST(all_that_there_is)
{
	counts.gets[0x15] = 3;
	counts.sets[0x3f] = 4;
	print();
	has_line("qosd_routing_tree 1");
	has_line("qosd_routing_tree_damaged 0");
	has_line("qosd_routing_lost_routes{kind=\"hosts\"} 0");
	has_line("qosd_routing_lost_routes{kind=\"switches-and-sm\"} 0");
	has_line("qosd_info{version=\"1.2.3\"} 1");
	has_line("qosd_sm_state{state=\"master\"} 1");
	has_line("qosd_sm_state{state=\"standby\"} 0");
	has_line("qosd_fabric_nodes{type=\"ca\"} 3");
	has_line("qosd_fabric_nodes{type=\"switch\"} 2");
	has_line("qosd_fabric_links 5");
	has_line("qosd_fabric_ports{state=\"active\"} 10");
	has_line("qosd_smps_sent_total{attribute=\"PortInfo\",method=\"get\"} 3");
	has_line("qosd_smps_sent_total{attribute=\"0x003f\",method=\"set\"} 4");
	has_line("qosd_level_unreachable_pairs{level=\"storage\"} 0");
	has_line("qosd_policy_levels 3");
}
END_TEST

static void end_loop(void *loop)
{
	loop_stop(loop);
}

/* A read of the page starts the measurement, and the next read shows it; then there is no other for a while. */
START_TEST(routes_measured)
{
	struct loop *loop = loop_new();
	struct timer *tick = timer_new(loop, end_loop, loop);

	view.gauges = gauges_new(loop);
	print();
	ck_assert_ptr_null(strstr(out.s, "qosd_routes_pairs"));
	for (int i = 0; i < 3000 && !gauges_last(view.gauges); i++) {
		timer_set(tick, 10000, 0);
		loop_run(loop);
	}
	print();
	has_line("qosd_routes_measured_current 1");
	has_line("qosd_routes_pairs 6");
	has_line("qosd_routes_pairs_connected 6");
	has_line("qosd_routes_hops_ratio 1");
	has_line("qosd_routes_layers 1");
	sa.state->generation++;
	print();
	has_line("qosd_routes_measured_current 0");
	has_line("qosd_routes_pairs 6");
	gauges_free(view.gauges);
	view.gauges = NULL;
	timer_free(tick);
	loop_free(loop);
}
END_TEST

START_TEST(times_of_answers)
{
	sa_stats_request(sa.stats, 1, 0);
	sa_stats_answer(sa.stats, 0x35, IB_STATUS_OK, 3);
	sa_stats_answer(sa.stats, 0x35, IB_STATUS_OK, 4);
	sa_stats_answer(sa.stats, 0x35, IB_STATUS_BUSY, 100000000);
	sa_stats_answer(sa.stats, 0x11, IB_STATUS_OK, -1);	/* the clock was not read */
	print();
	has_line("qosd_sa_requests_total 1");
	has_line("qosd_sa_answers_total{attribute=\"PathRecord\",status=\"ok\"} 2");
	has_line("qosd_sa_answers_total{attribute=\"PathRecord\",status=\"busy\"} 1");
	has_line("qosd_sa_answers_total{attribute=\"NodeRecord\",status=\"ok\"} 1");
	has_line("qosd_sa_answer_seconds_bucket{attribute=\"PathRecord\",le=\"3e-06\"} 1");
	has_line("qosd_sa_answer_seconds_bucket{attribute=\"PathRecord\",le=\"1.5e-05\"} 2");
	has_line("qosd_sa_answer_seconds_bucket{attribute=\"PathRecord\",le=\"4.194303\"} 2");
	has_line("qosd_sa_answer_seconds_bucket{attribute=\"PathRecord\",le=\"+Inf\"} 3");
	has_line("qosd_sa_answer_seconds_count{attribute=\"PathRecord\"} 3");
	has_line("qosd_sa_answer_seconds_sum{attribute=\"PathRecord\"} 100.000007");
	ck_assert_ptr_null(strstr(out.s, "answer_seconds_count{attribute=\"NodeRecord\""));
}
END_TEST

START_TEST(before_there_is_anything)
{
	env = (struct ctl_env){ .version = "1\"2" };
	view = (struct ctl_view){ .state = NULL };
	view.sm.state = SM_DISCOVERING;
	print();
	has_line("qosd_info{version=\"1\\\"2\"} 1");
	has_line("qosd_subnet_up 0");
	ck_assert_ptr_null(strstr(out.s, "qosd_fabric"));
}
END_TEST

START_TEST(hostile_names)
{
	struct policy *p = sa.state->policy->p;

	free(p->file);
	p->file = xstrdup("a\nb\"} 1\nqosd_up 1\n\xff");
	print();
	has_line("qosd_policy_info{file=\"a\\nb\\\"} 1\\nqosd_up 1\\n?\",checksum=\"0000000000000000\"} 1");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("metrics");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, the_reader_is_strict);
	tcase_add_test(t, the_format);
	tcase_add_test(t, all_that_there_is);
	tcase_add_test(t, routes_measured);
	tcase_add_test(t, times_of_answers);
	tcase_add_test(t, before_there_is_anything);
	tcase_add_test(t, hostile_names);
	suite_add_tcase(s, t);
	return run_suite(s);
}
