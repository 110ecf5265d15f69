/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests policies on trial, reverting and the history, with their own loop and state folder. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/policy_trials.h"
#include "lib/base/alloc.h"
#include "store/store.h"
#include "unit/run.h"
#include "unit/temp.h"

static char *dir;
static struct loop *loop;
static struct timer *alarm_clock;
static struct store *store;
static struct policies *ps;
static struct shared_policy *applied;	/* the hook's last argument; holds no reference */
static unsigned applications;

static void apply(void *arg, struct shared_policy *p)
{
	(void)arg;
	applied = p;
	applications++;
}

/* "kind outcome file\n" for each change that the hook was told. */
static struct buf told;

static void changed(void *arg, const struct policy_change *c)
{
	(void)arg;
	buf_printf(&told, "%s %s %s\n", change_kind_name(c->kind), change_outcome_name(c->outcome), c->name);
}

static void stop(void *arg)
{
	(void)arg;
	loop_stop(loop);
}

static void run_for_ms(int ms)
{
	timer_set(alarm_clock, ms * 1000, 0);
	loop_run(loop);
}

/* Makes a policy with this file name, checksum (which identifies it) and size in bytes. */
static struct shared_policy *make(const char *name, uint64_t checksum, size_t bytes)
{
	struct shared_policy *p = shared_policy_new(policy_builtin());

	free(p->p->file);
	p->p->file = xstrdup(name);
	p->p->checksum = checksum;
	p->source = POLICY_CLIENT;
	p->uid = 1000;
	for (size_t i = 0; i < bytes; i++)
		buf_add(&p->text, "x", 1);
	return p;
}

static const char *load(const char *name, uint64_t checksum, unsigned trial_s)
{
	struct shared_policy *p = make(name, checksum, 1);
	const char *why = policies_load(ps, p, trial_s);

	shared_policy_unref(p);
	return why;
}

static void reload(const char *name, uint64_t checksum)
{
	struct shared_policy *p = make(name, checksum, 1);

	policies_reload(ps, p);
	shared_policy_unref(p);
}

static void start(void)
{
	struct policies_hooks hooks = { .apply = apply, .changed = changed };
	struct shared_policy *first = make("first", 1, 1);
	struct buf err = { 0 };

	store = store_open(dir, NULL, &err);
	ck_assert_msg(store != NULL, "%s", err.s);
	ps = policies_new(loop, store, first, &(struct policies_rules){ 0 }, &hooks);
	shared_policy_unref(first);
	applied = NULL;
	applications = 0;
}

static void end(void)
{
	policies_free(ps);
	store_close(store);
}

static struct asker user(int64_t uid)
{
	return (struct asker){ .uid = uid };
}

static void setup(void)
{
	dir = temp_directory();
	loop = loop_new();
	alarm_clock = timer_new(loop, stop, NULL);
	start();
}

static void teardown(void)
{
	end();
	timer_free(alarm_clock);
	loop_free(loop);
	temp_directory_remove(dir);
}

static void in_force(const char *name)
{
	ck_assert_str_eq(policies_in_force(ps)->p->file, name);
	if (applied)
		ck_assert_ptr_eq(applied, policies_in_force(ps));
}

static void change(size_t i, enum change_kind kind, enum change_outcome outcome, const char *name)
{
	const struct policy_change *c = policies_change(ps, i);

	ck_assert_ptr_nonnull(c);
	ck_assert_msg(c->kind == kind && c->outcome == outcome && strcmp(c->name, name) == 0,
		      "%zu: %s %s %s", i, change_kind_name(c->kind),
		      change_outcome_name(c->outcome), c->name);
}

START_TEST(a_load_is_applied_and_taken_back)
{
	in_force("first");
	ck_assert_ptr_null(policies_before(ps));
	ck_assert_ptr_nonnull(strstr(policies_revert(ps, user(0)), "no earlier policy"));
	ck_assert_ptr_null(load("second", 2, 0));
	in_force("second");
	ck_assert_ptr_null(load("third", 3, 0));
	ck_assert_str_eq(policies_before(ps)->p->file, "second");
	ck_assert_uint_eq(applications, 2);

	ck_assert_ptr_null(policies_revert(ps, user(7)));
	in_force("second");
	ck_assert_ptr_null(policies_revert(ps, user(7)));
	in_force("first");
	ck_assert_uint_eq(applications, 4);
	ck_assert_ptr_nonnull(policies_revert(ps, user(7)));
	ck_assert_uint_eq(applications, 4);

	change(0, CHANGE_REVERT, CHANGE_APPLIED, "first");
	ck_assert_int_eq(policies_change(ps, 0)->uid, 7);
	change(1, CHANGE_REVERT, CHANGE_REVERTED, "second");
	change(2, CHANGE_LOAD, CHANGE_REVERTED, "third");
	ck_assert_int_eq(policies_change(ps, 2)->uid, 1000);
	ck_assert_uint_eq(policies_change(ps, 2)->checksum, 3);
	change(3, CHANGE_LOAD, CHANGE_APPLIED, "second");
	change(4, CHANGE_START, CHANGE_APPLIED, "first");
	ck_assert_ptr_null(policies_change(ps, 5));
}
END_TEST

START_TEST(a_trial_ends_by_itself)
{
	int64_t left;

	ck_assert(!policies_on_trial(ps, &left));
	ck_assert_ptr_null(load("second", 2, 1));
	in_force("second");
	ck_assert(policies_on_trial(ps, &left));
	ck_assert_int_gt(left, 500000);
	ck_assert_int_le(left, 1000000);
	change(0, CHANGE_LOAD, CHANGE_ON_TRIAL, "second");
	ck_assert_ptr_nonnull(strstr(load("third", 3, 0), "on trial"));	/* not now */
	in_force("second");
	run_for_ms(700);
	in_force("second");
	run_for_ms(600);
	in_force("first");
	ck_assert_uint_eq(applications, 2);
	ck_assert(!policies_on_trial(ps, &left));
	change(0, CHANGE_REVERT, CHANGE_APPLIED, "first");
	ck_assert_int_eq(policies_change(ps, 0)->uid, -1);
	change(1, CHANGE_LOAD, CHANGE_TIMED_OUT, "second");
}
END_TEST

START_TEST(a_confirmed_trial_stays)
{
	int64_t left;

	ck_assert_ptr_nonnull(strstr(policies_confirm(ps), "no policy is on trial"));
	ck_assert_ptr_null(load("second", 2, 1));
	ck_assert_ptr_null(policies_confirm(ps));
	ck_assert(!policies_on_trial(ps, &left));
	change(0, CHANGE_LOAD, CHANGE_CONFIRMED, "second");
	run_for_ms(1300);
	in_force("second");
	ck_assert_uint_eq(applications, 1);
	ck_assert_ptr_nonnull(policies_confirm(ps));
	ck_assert_ptr_null(policies_revert(ps, user(0)));	/* one step back nevertheless */
	in_force("first");
}
END_TEST

START_TEST(a_trial_can_be_taken_back_at_once)
{
	ck_assert_ptr_null(load("second", 2, 1));
	ck_assert_ptr_null(policies_revert(ps, user(0)));
	in_force("first");
	change(1, CHANGE_LOAD, CHANGE_REVERTED, "second");
	run_for_ms(1300);	/* the timer does not fire */
	ck_assert_uint_eq(applications, 2);
}
END_TEST

START_TEST(a_reload_ends_a_trial)
{
	int64_t left;

	ck_assert_ptr_null(load("second", 2, 1));
	reload("configured", 4);
	in_force("configured");
	ck_assert(!policies_on_trial(ps, &left));
	change(0, CHANGE_RELOAD, CHANGE_APPLIED, "configured");
	change(1, CHANGE_LOAD, CHANGE_REPLACED, "second");
	run_for_ms(1300);
	in_force("configured");
	ck_assert_ptr_null(policies_revert(ps, user(0)));	/* not to the one that was on trial */
	in_force("first");
}
END_TEST

START_TEST(a_reload_of_what_was_before_a_trial_is_no_step)
{
	reload("second", 2);
	ck_assert_ptr_null(load("third", 3, 1));
	reload("second again", 2);
	in_force("second again");
	ck_assert_str_eq(policies_before(ps)->p->file, "first");
	ck_assert_ptr_null(policies_revert(ps, user(0)));
	in_force("first");
	ck_assert_ptr_null(policies_before(ps));
}
END_TEST

START_TEST(the_same_file_again_is_no_step)
{
	reload("first", 1);
	reload("first", 1);
	ck_assert_uint_eq(applications, 2);
	ck_assert_ptr_null(policies_before(ps));
	ck_assert_ptr_null(load("first", 1, 0));
	ck_assert_ptr_null(policies_before(ps));
	ck_assert_ptr_null(load("first", 1, 1));	/* a trial must have a way back */
	ck_assert_ptr_nonnull(policies_before(ps));
}
END_TEST

START_TEST(steps_are_bounded)
{
	char name[32];

	for (unsigned i = 2; i < 2 + POLICY_STEPS_MAX + 5; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		ck_assert_ptr_null(load(name, i, 0));
	}
	for (unsigned i = 0; i < POLICY_STEPS_MAX; i++)
		ck_assert_ptr_null(policies_revert(ps, user(0)));
	in_force("p6");
	ck_assert_ptr_nonnull(policies_revert(ps, user(0)));

	for (unsigned i = 100; i < 104; i++) {		/* only as many large files as fit */
		struct shared_policy *p = make("large", i, 12 << 20);

		ck_assert_ptr_null(policies_load(ps, p, 0));
		shared_policy_unref(p);
	}
	ck_assert_ptr_null(policies_revert(ps, user(0)));
	ck_assert_ptr_null(policies_revert(ps, user(0)));
	ck_assert_ptr_nonnull(policies_revert(ps, user(0)));
}
END_TEST

START_TEST(refusals_are_remembered)
{
	policies_refused(ps, CHANGE_LOAD, "bad\nname\x1b", user(1000), 3);
	in_force("first");
	ck_assert_uint_eq(applications, 0);
	change(0, CHANGE_LOAD, CHANGE_REFUSED, "bad?name?");
	ck_assert_uint_eq(policies_change(ps, 0)->errors, 3);
}
END_TEST

START_TEST(changes_are_told)
{
	load("a", 2, 0);
	load("b", 3, 60);
	policies_confirm(ps);
	load("c", 4, 60);
	policies_revert(ps, user(7));
	policies_refused(ps, CHANGE_RELOAD, "d", user(-1), 3);
	ck_assert_str_eq(told.s, "start applied first\nload applied a\nload on-trial b\nload confirmed b\n"
			 "load on-trial c\nload reverted c\nrevert applied b\nreload refused d\n");
	buf_free(&told);
}
END_TEST

START_TEST(the_history_survives_a_restart)
{
	struct policy_change before;
	char *long_name = xcalloc(1, 1001);

	memset(long_name, 'n', 1000);
	policies_refused(ps, CHANGE_RELOAD, "a name with spaces", user(1000), 3);
	policies_refused(ps, CHANGE_RELOAD, "", user(-1), 1);
	policies_refused(ps, CHANGE_RELOAD, long_name, user(-1), 1);
	ck_assert_ptr_null(load("second", 2, 60));
	before = *policies_change(ps, 3);
	end();
	start();
	change(0, CHANGE_START, CHANGE_APPLIED, "first");
	change(1, CHANGE_LOAD, CHANGE_LOST, "second");
	ck_assert_uint_eq(strlen(policies_change(ps, 2)->name), 255);
	change(4, CHANGE_RELOAD, CHANGE_REFUSED, "a name with spaces");
	ck_assert_int_eq(policies_change(ps, 4)->when_us, before.when_us);
	ck_assert_int_eq(policies_change(ps, 4)->uid, 1000);
	ck_assert_uint_eq(policies_change(ps, 4)->errors, 3);
	ck_assert_ptr_null(policies_before(ps));
	for (unsigned i = 0; i < 2 * POLICY_CHANGES_MAX; i++)
		reload("first", 1);
	ck_assert_ptr_nonnull(policies_change(ps, POLICY_CHANGES_MAX - 1));
	ck_assert_ptr_null(policies_change(ps, POLICY_CHANGES_MAX));
	free(long_name);
}
END_TEST

/* promise: J15 */
START_TEST(the_history_has_whom_a_user_asked_for)
{
	struct shared_policy *p = make("second", 2, 1);

	policies_refused(ps, CHANGE_LOAD, "bad name", (struct asker){ 1000, "ali\tce\n" }, 1);
	p->behalf = xstrdup("bob");
	ck_assert_ptr_null(policies_load(ps, p, 0));
	shared_policy_unref(p);
	ck_assert_ptr_null(policies_revert(ps, (struct asker){ 7, "carol" }));
	for (unsigned after = 0; after < 2; after++) {
		ck_assert_str_eq(policies_change(ps, after)->behalf, "carol");
		ck_assert_str_eq(policies_change(ps, after + 1)->behalf, "bob");
		change(after + 2, CHANGE_LOAD, CHANGE_REFUSED, "bad name");
		ck_assert_str_eq(policies_change(ps, after + 2)->behalf, "ali?ce?");
		ck_assert_ptr_null(policies_change(ps, after + 3)->behalf);
		end();
		start();
	}
}
END_TEST

START_TEST(a_name_of_spaces_survives_a_restart)
{
	policies_refused(ps, CHANGE_LOAD, " ", user(1000), 1);
	policies_refused(ps, CHANGE_LOAD, "  indented", user(1000), 1);
	end();
	start();
	change(1, CHANGE_LOAD, CHANGE_REFUSED, "  indented");
	change(2, CHANGE_LOAD, CHANGE_REFUSED, " ");
}
END_TEST

START_TEST(a_damaged_history_is_set_aside)
{
	char *path = xasprintf("%s/history", dir), *aside = xasprintf("%s/history.damaged", dir);

	end();
	store = store_open(dir, NULL, &(struct buf){ 0 });
	/* a valid digest of a malformed line */
	store_save_history(store, "1 2 3 start applied 0 x\n1 2 3 start adopted 0 x\n");
	ck_assert(store_wait(store));
	store_close(store);
	start();
	ck_assert_int_eq(access(aside, F_OK), 0);
	ck_assert(store_wait(store));
	ck_assert_int_eq(access(path, F_OK), 0);	/* a new one */
	change(0, CHANGE_START, CHANGE_APPLIED, "first");
	free(path);
	free(aside);
}
END_TEST

/* The reason why policies_accept() refuses a file; NULL if it accepts. */
static const char *why_not(struct shared_policy *p)
{
	static char text[256];
	struct findings found = { 0 };
	bool good = policies_accept(ps, p, "the-file", &found);

	ck_assert_uint_eq(found.count[SEV_ERROR], good ? 0 : 1);
	if (!good) {
		ck_assert_str_eq(found.v[0].file, "the-file");
		snprintf(text, sizeof(text), "%s", found.v[0].text);
	}
	findings_free(&found);
	return good ? NULL : text;
}

/* promise: A51 */
START_TEST(files_that_are_not_all_there)
{
	struct shared_policy *whole = make("whole", 2, 1), *cut = make("cut", 3, 1);
	struct shared_policy *empty = make("empty", 4, 1), *gone = shared_policy_new(policy_builtin());
	struct policies_hooks hooks = { .apply = apply };

	whole->p->ends_marked = true;
	empty->p->says_nothing = true;
	/* the policy in force has no marker */
	ck_assert_ptr_null(why_not(whole));
	ck_assert_ptr_null(why_not(cut));
	ck_assert_ptr_nonnull(strstr(why_not(empty), "would leave the subnet without its policy"));
	ck_assert_ptr_nonnull(strstr(why_not(gone), "is missing, which would leave the subnet"));
	/* the policy in force has a marker */
	ck_assert_ptr_null(policies_load(ps, whole, 0));
	ck_assert_ptr_null(why_not(whole));
	ck_assert_ptr_nonnull(strstr(why_not(cut), "as the policy in force does: it may be truncated"));
	/* the settings require a marker */
	policies_free(ps);
	ps = policies_new(loop, store, cut, &(struct policies_rules){ .marker = true }, &hooks);
	ck_assert_ptr_null(why_not(whole));
	ck_assert_ptr_nonnull(strstr(why_not(cut), "'policy-end-marker' of qosd.yaml requires"));
	policies_free(ps);
	ps = policies_new(loop, store, cut, &(struct policies_rules){ .may_be_none = true }, &hooks);
	ck_assert_ptr_null(why_not(empty));
	ck_assert_ptr_null(why_not(gone));
	/* if there was no file before, none is missing */
	policies_free(ps);
	ps = policies_new(loop, store, gone, &(struct policies_rules){ 0 }, &hooks);
	ck_assert_ptr_null(why_not(gone));
	shared_policy_unref(whole);
	shared_policy_unref(cut);
	shared_policy_unref(empty);
	shared_policy_unref(gone);
}
END_TEST

/* promise: A51 */
START_TEST(files_at_the_start)
{
	struct shared_policy *p = make("first", 2, 1);
	struct policies_rules rules = { 0 };
	struct findings found = { 0 };

	ck_assert(policies_may_start(&rules, p, false, &found));
	ck_assert_uint_eq(found.n, 0);
	p->p->says_nothing = true;
	ck_assert(policies_may_start(&rules, p, false, &found));
	ck_assert(!policies_may_start(&rules, p, true, &found));
	ck_assert_uint_eq(found.count[SEV_ERROR], 1);
	rules.may_be_none = true;
	ck_assert(policies_may_start(&rules, p, true, &found));
	rules.marker = true;
	ck_assert(!policies_may_start(&rules, p, false, &found));
	ck_assert_uint_eq(found.count[SEV_ERROR], 2);
	p->p->ends_marked = true;
	ck_assert(policies_may_start(&rules, p, false, &found));
	shared_policy_unref(p);
	findings_free(&found);
}
END_TEST

static void kept(const char *name, uint64_t checksum)
{
	struct store_policy p;

	store_wait(store);
	ck_assert(store_peek_policy(dir, &p));
	ck_assert_str_eq(p.name, name);
	ck_assert_uint_eq(p.checksum, checksum);
	store_policy_free(&p);
}

/* promise: P9 */
START_TEST(the_last_good_policy)
{
	struct shared_policy *none;

	kept("first", 1);
	ck_assert_ptr_null(load("second", 2, 0));
	kept("second", 2);
	ck_assert_ptr_null(load("trial", 3, 100));
	kept("second", 2);
	ck_assert_ptr_null(policies_confirm(ps));
	kept("trial", 3);
	ck_assert_ptr_null(policies_revert(ps, user(0)));
	kept("second", 2);
	ck_assert_ptr_null(load("trial", 3, 100));
	reload("file", 4);
	kept("file", 4);
	/* no policy does not displace one */
	none = make("empty", 5, 0);
	none->p->says_nothing = true;
	policies_reload(ps, none);
	shared_policy_unref(none);
	kept("file", 4);
}
END_TEST

static Suite *policies_suite(void)
{
	Suite *s = suite_create("policies");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, a_load_is_applied_and_taken_back);
	tcase_add_test(t, a_trial_ends_by_itself);
	tcase_add_test(t, a_confirmed_trial_stays);
	tcase_add_test(t, a_trial_can_be_taken_back_at_once);
	tcase_add_test(t, a_reload_ends_a_trial);
	tcase_add_test(t, a_reload_of_what_was_before_a_trial_is_no_step);
	tcase_add_test(t, the_same_file_again_is_no_step);
	tcase_add_test(t, steps_are_bounded);
	tcase_add_test(t, refusals_are_remembered);
	tcase_add_test(t, changes_are_told);
	tcase_add_test(t, the_history_survives_a_restart);
	tcase_add_test(t, the_history_has_whom_a_user_asked_for);
	tcase_add_test(t, a_name_of_spaces_survives_a_restart);
	tcase_add_test(t, a_damaged_history_is_set_aside);
	tcase_add_test(t, files_that_are_not_all_there);
	tcase_add_test(t, files_at_the_start);
	tcase_add_test(t, the_last_good_policy);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	return run_suite(policies_suite());
}
