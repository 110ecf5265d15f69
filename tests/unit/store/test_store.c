/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests the state folder: what it stores, and what happens to damaged files. */
#include <check.h>
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "sa/registry/alias.h"
#include "sa/registry/groups.h"
#include "sa/registry/holdings.h"
#include "sa/registry/services.h"
#include "sa/registry/subscriptions.h"
#include "store/store.h"
#include "unit/run.h"
#include "unit/temp.h"

/* Replaces the library's function: nothing gets to the disk while it hangs. */
static atomic_bool disk_hangs;

static int sync_with(long number, int fd)
{
	while (disk_hangs)
		usleep(2000);
	return (int)syscall(number, fd);
}

int fsync(int fd)
{
	return sync_with(SYS_fsync, fd);
}

int fdatasync(int fd)
{
	return sync_with(SYS_fdatasync, fd);
}

/* Replaces the library's function: while it is set, no back-off comes to its end. */
static atomic_llong stopped_clock_ns;

int clock_gettime(clockid_t id, struct timespec *t)
{
	long long ns = stopped_clock_ns;

	if (!ns || id != CLOCK_MONOTONIC)
		return (int)syscall(SYS_clock_gettime, id, t);
	*t = (struct timespec){ ns / 1000000000, ns % 1000000000 };
	return 0;
}

static void stop_clock(void)
{
	stopped_clock_ns = clock_mono_us() * 1000;
}

static char *dir;

static void setup(void)
{
	dir = temp_directory();
}

static char *file_of(const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

static void teardown(void)
{
	temp_directory_remove(dir);
}

static struct store *open_store(void)
{
	struct buf err = { 0 };
	struct store *s = store_open(dir, NULL, &err);

	ck_assert_msg(s != NULL, "%s", err.s ? err.s : "");
	buf_free(&err);
	return s;
}

/* A plan with ports and LIDs only, which is all that the store reads. */
struct little_plan {
	struct fabric f;
	struct fabric_port ports[3];
	uint16_t lid[3];
	uint8_t lmc[3];
	struct plan p;
};

static void little_plan(struct little_plan *l, uint64_t guid, uint16_t lid)
{
	memset(l, 0, sizeof(*l));
	for (unsigned i = 0; i < 2; i++) {
		l->ports[i].guid = guid + i;
		l->lid[i] = (uint16_t)(lid + 4 * i);
		l->lmc[i] = 2;
	}
	l->ports[2].guid = guid;	/* an external port: no LID of its own */
	l->f.ports = l->ports;
	l->f.n_ports = 3;
	l->p.f = &l->f;
	l->p.lid = l->lid;
	l->p.lmc = l->lmc;
}

/* The store waits for a second, in which a busy machine may not write everything. */
static void all_tried(struct store *s)
{
	for (unsigned i = 0; i < 60; i++)
		if (store_wait(s))
			return;
	ck_abort_msg("the store has not tried everything for a minute");
}

/* Whether the data of the call is on disk a moment later. */
#define FAILURES(s, call, n) do {						\
	uint64_t before_ = store_failures(s).all;				\
										\
	call;									\
	all_tried(s);							\
	ck_assert_uint_eq(store_failures(s).all - before_, n);			\
} while (0)
#define SAVED(s, call) FAILURES(s, call, 0)
#define NOT_SAVED(s, call) FAILURES(s, call, 1)

static void corrupt(const char *name, long offset, const char *with, size_t n)
{
	char *path = file_of(name);
	FILE *f = fopen(path, "r+");

	ck_assert_ptr_nonnull(f);
	fseek(f, offset, SEEK_SET);
	fwrite(with, 1, n, f);
	fclose(f);
	free(path);
}

START_TEST(lids_are_kept)
{
	struct little_plan l;
	struct store *s = open_store();

	little_plan(&l, 0x100, 8);
	SAVED(s, store_save_lids(s, &l.p));
	little_plan(&l, 0x900, 16);	/* later, other ports: the first ones stay known */
	SAVED(s, store_save_lids(s, &l.p));
	store_close(s);

	s = open_store();
	ck_assert_uint_eq(map64_get(&store_lids(s)->by_guid, 0x100), 8);
	ck_assert_uint_eq(map64_get(&store_lids(s)->by_guid, 0x101), 12);
	ck_assert_uint_eq(map64_get(&store_lids(s)->by_guid, 0x900), 16);
	ck_assert_uint_eq(map64_get(&store_lids(s)->lmc_by_guid, 0x100), 2);
	ck_assert_uint_eq(map64_get(&store_lids(s)->by_guid, 0x102), MAP64_NONE);
	store_close(s);
}
END_TEST

/* promise: A65 */
START_TEST(a_lid_is_of_the_owner_of_its_guid)
{
	struct little_plan l;
	struct store *s = open_store();

	little_plan(&l, 0x100, 8);
	for (unsigned i = 0; i < 2; i++) {
		l.ports[i].guid = 0x100;
		l.ports[i].present = true;
	}
	l.f.n_nameless = 1;
	map64_init(&l.f.by_guid, 4);
	map64_put(&l.f.by_guid, 0x100, 0);
	SAVED(s, store_save_lids(s, &l.p));
	ck_assert_uint_eq(map64_get(&store_lids(s)->by_guid, 0x100), 8);
	map64_free(&l.f.by_guid);
	store_close(s);
}
END_TEST

START_TEST(damage_is_set_aside)
{
	struct little_plan l;
	struct store *s = open_store();
	char *path = file_of("lids"), *aside = file_of("lids.damaged");

	little_plan(&l, 0x100, 8);
	SAVED(s, store_save_lids(s, &l.p));
	store_close(s);
	corrupt("lids", 20, "f", 1);

	s = open_store();
	ck_assert_uint_eq(store_lids(s)->by_guid.n, 0);
	ck_assert_int_ne(access(path, F_OK), 0);
	ck_assert_int_eq(access(aside, F_OK), 0);
	/* and the service goes on */
	SAVED(s, store_save_lids(s, &l.p));
	ck_assert_int_eq(access(path, F_OK), 0);
	store_close(s);
	free(path);
	free(aside);
}
END_TEST

static const char *const bad_files[] = {
	"", "\n", "qosd lids 1\n", "qosd lids 1\nend 0000000000000000\n",
	"\177ELF", "qosd lids 1\n0x1 1 0\nend 0123456789abcdef\n", "qosd lids 2", "qosd lids \n",
	"qosd lids 0\n", "qosd lids -2\n", "qosd lids 2.1\n", "qosd lids 02\n", "qosd pkeys 2\n",
	"qosd lids 99999999999999999999\n",
};

START_TEST(garbage_is_set_aside)
{
	char *path = file_of("lids"), *aside = file_of("lids.damaged");
	FILE *f = fopen(path, "w");
	struct store *s;

	fputs(bad_files[_i], f);
	fclose(f);
	s = open_store();
	ck_assert_uint_eq(store_lids(s)->by_guid.n, 0);
	ck_assert_int_eq(access(aside, F_OK), 0);
	store_close(s);
	free(path);
	free(aside);
}
END_TEST

/* promise: P9 */
START_TEST(the_last_good_policy_is_kept)
{
	static const char text[] = "a: 1\nend 0123456789abcdef\n\n  b: \"\t\"";
	struct store_policy p = { .when_us = 17, .checksum = 0xfedcba9876543210, .name = " a name" }, q;
	struct store *s = open_store();
	char *aside = file_of("policy.damaged");

	ck_assert(!store_load_policy(s, &q));
	ck_assert(!store_peek_policy(dir, &q));
	ck_assert_int_eq(errno, ENOENT);
	buf_puts(&p.text, text);
	SAVED(s, store_save_policy(s, &p));
	/* another daemon has the folder */
	ck_assert(store_peek_policy(dir, &q));
	ck_assert_uint_eq(q.checksum, p.checksum);
	ck_assert_str_eq(q.text.s, text);
	store_policy_free(&q);
	store_close(s);

	s = open_store();
	ck_assert(store_load_policy(s, &q));
	ck_assert_int_eq(q.when_us, 17);
	ck_assert_str_eq(q.name, " a name");
	ck_assert_uint_eq(q.text.n, sizeof(text) - 1);
	store_policy_free(&q);
	buf_add(&p.text, "", 1);
	ck_assert(!store_save_policy(s, &p));
	corrupt("policy", 20, "?", 1);
	ck_assert(!store_peek_policy(dir, &q));
	ck_assert_int_eq(errno, EBADMSG);
	ck_assert(!store_load_policy(s, &q));
	ck_assert_int_eq(access(aside, F_OK), 0);
	buf_free(&p.text);
	free(aside);
	store_close(s);
}
END_TEST

/* Files of a newer qosd; only the first line must be in today's format. */
static const struct { const char *name, *text; } newer_files[] = {
	{ "lids", "qosd lids 2\n0x1 1 0\nend 0123456789abcdef\n" }, { "lids", "qosd lids 12\n" },
	{ "lids", "qosd lids 2 and a word\n" }, { "pkeys", "qosd pkeys 2\n" },
	{ "refused", "qosd refused 2\n" }, { "fabric", "qosd: the fabric that is known, 2\n" },
	{ "groups", "qosd groups 3\n" }, { "groups.journal", "qosd groups journal 3 of all\n" },
	{ "services", "qosd services 2\n" }, { "subscriptions", "qosd subscriptions 2\n" },
	{ "aliases", "qosd aliases 2\n" }, { "partitions", "qosd partitions 3\n" },
	{ "withdrawn", "qosd withdrawn 3\n" },
	{ "m-keys", "qosd m-keys 2\n" }, { "history", "qosd history 3\n" },
	{ "gone", "qosd gone 2\n" }, { "missing", "qosd missing 3\n" },
	{ "accepted", "qosd accepted topology 3\n" }, { "policy", "qosd policy 2\n" },
};

/* promise: K5 */
START_TEST(newer_files_are_left_alone)
{
	char *path = file_of(newer_files[_i].name), *other, text[64] = "";
	FILE *f = fopen(path, "w");
	struct buf err = { 0 };
	bool newer = false;

	fputs(newer_files[_i].text, f);
	fclose(f);
	/* if another file is damaged, this one stays, too */
	other = file_of(strcmp(newer_files[_i].name, "lids") ? "lids" : "pkeys");
	f = fopen(other, "w");
	fputs("garbage\n", f);
	fclose(f);
	ck_assert_ptr_null(store_open(dir, &newer, &err));
	ck_assert(newer);
	ck_assert_ptr_nonnull(strstr(err.s, "written by a newer qosd"));
	buf_free(&err);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fread(text, 1, sizeof(text) - 1, f), strlen(newer_files[_i].text));
	ck_assert_str_eq(text, newer_files[_i].text);
	fclose(f);
	ck_assert_int_eq(access(other, F_OK), 0);
	free(other);
	unlink(path);
	free(path);
	store_close(open_store());
}
END_TEST

START_TEST(one_at_a_time)
{
	struct buf err = { 0 };
	struct store *s = open_store();

	ck_assert_ptr_null(store_open(dir, NULL, &err));
	ck_assert_ptr_nonnull(strstr(err.s, "another qosd"));
	buf_free(&err);
	store_close(s);
	store_close(open_store());
}
END_TEST

START_TEST(no_folder_at_all)
{
	struct buf err = { 0 };

	ck_assert_ptr_null(store_open("/dev/null", NULL, &err));
	ck_assert_str_eq(err.s, "/dev/null: is not a folder");
	buf_free(&err);
}
END_TEST

/* --- failures of the folder --- */

static void add_problem(void *arg, const struct store_problem *p)
{
	ck_assert_int_gt(p->since_us, 0);
	buf_printf(arg, "%s: %s\n", p->file, p->text);
}

/* There must be n problems, with these words, in any order. */
static void has_problems(struct store *s, unsigned n, const char *const *words)
{
	struct buf b = { 0 };
	unsigned lines = 0;

	buf_puts(&b, "");
	store_problems(s, add_problem, &b);
	for (const char *c = b.s; *c; c++)
		lines += *c == '\n';
	ck_assert_msg(lines == n, "%s", b.s);
	for (unsigned i = 0; i < n; i++)
		ck_assert_msg(strstr(b.s, words[i]) != NULL, "no \"%s\" in: %s", words[i], b.s);
	buf_free(&b);
}

#define PROBLEMS(s, ...) has_problems(s, ARRAY_SIZE(((const char *[]){ __VA_ARGS__ })), \
				      (const char *[]){ __VA_ARGS__ })

static void no_problems(struct store *s)
{
	has_problems(s, 0, NULL);
}

/* The store must try again within a second or two. */
static void retried(struct store *s)
{
	usleep(1300000);
	all_tried(s);
}

static unsigned lid_of(uint64_t guid)
{
	struct store *s = open_store();
	unsigned lid = map64_get(&store_lids(s)->by_guid, guid);

	store_close(s);
	return lid;
}

/* Limits files to so many bytes, which gives EFBIG where a full disk gives ENOSPC. */
static void disk_has_room(rlim_t bytes)
{
	struct rlimit r;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &r);
	r.rlim_cur = bytes;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &r), 0);
}

/* The store works without the folder, reports that, uses the folder when it appears, and keeps its contents. */
/* promise: K2 */
START_TEST(folder_comes_later)
{
	char *inner = file_of("a/b"), *outer = file_of("a"), *cmd;
	struct buf err = { 0 };
	struct little_plan l;
	struct store *s = store_open(inner, NULL, &err);

	ck_assert_ptr_nonnull(s);
	PROBLEMS(s, ": cannot be used: No such file or directory");
	little_plan(&l, 0x100, 8);
	NOT_SAVED(s, store_save_lids(s, &l.p));
	retried(s);
	PROBLEMS(s, ": cannot be used: No such file or directory");
	ck_assert_int_eq(mkdir(outer, 0700), 0);
	ck_assert_int_eq(mkdir(inner, 0700), 0);
	cmd = xasprintf("echo old >%s/lids; echo old >%s/history", inner, inner);
	ck_assert_int_eq(system(cmd), 0);
	free(cmd);
	usleep(1000000);
	retried(s);
	PROBLEMS(s, "lids: was not readable when qosd started; set aside as",
		 "history: was not readable");
	store_close(s);

	s = store_open(inner, NULL, &err);
	ck_assert_uint_eq(map64_get(&store_lids(s)->by_guid, 0x100), 8);
	no_problems(s);
	store_close(s);
	cmd = xasprintf("grep -q old %s/lids.unread && grep -q old %s/history.unread", inner,
			inner);
	ck_assert_int_eq(system(cmd), 0);
	free(cmd);
	free(inner);
	free(outer);
}
END_TEST

/*
 * The folder comes when three files wait for their back-off, and has no room for them.  A fourth
 * file ends the folder's problem: each of the three must then have its own.  When a file that
 * does not wait can be written, they are written without waiting any longer.
 */
/* promise: K2 */
START_TEST(files_that_wait_are_known)
{
	char *inner = file_of("a/b"), *outer = file_of("a");
	struct mcast_db *db = mcast_new(NULL, NULL);
	struct buf err = { 0 };
	struct little_plan l;
	struct store *s = store_open(inner, NULL, &err);

	little_plan(&l, 0x100, 8);
	NOT_SAVED(s, store_save_lids(s, &l.p));
	NOT_SAVED(s, store_save_history(s, "a line that needs more room than there is going to be\n"));
	NOT_SAVED(s, store_save_groups(s, db));
	store_check(s);
	all_tried(s);
	PROBLEMS(s, ": cannot be used: No such file or directory");
	stop_clock();
	ck_assert_int_eq(mkdir(outer, 0700), 0);
	ck_assert_int_eq(mkdir(inner, 0700), 0);
	disk_has_room(48);
	SAVED(s, store_save_partitions(s, ""));
	PROBLEMS(s, "lids: ", "history: ", "groups: ");
	disk_has_room(RLIM_INFINITY);
	ck_assert(store_save_partitions(s, "one\n"));
	for (unsigned i = 0; store_failures(s).now && i < 1000; i++) {
		store_check(s);
		usleep(10000);
	}
	no_problems(s);
	stopped_clock_ns = 0;
	mcast_free(db);
	store_close(s);
	s = store_open(inner, NULL, &err);
	ck_assert_uint_eq(map64_get(&store_lids(s)->by_guid, 0x100), 8);
	store_close(s);
	free(inner);
	free(outer);
}
END_TEST

START_TEST(folder_is_removed)
{
	char *inner = file_of("inner"), *cmd = xasprintf("rm -r %s/inner", dir);
	struct buf err = { 0 };
	struct little_plan l;
	struct store *s = store_open(inner, NULL, &err);

	ck_assert_int_eq(system(cmd), 0);
	little_plan(&l, 0x100, 8);
	NOT_SAVED(s, store_save_lids(s, &l.p));
	PROBLEMS(s, "lids: cannot open: No such file or directory");
	retried(s);
	no_problems(s);
	ck_assert_ptr_null(store_open(inner, NULL, &err));	/* it is locked again */
	buf_free(&err);
	store_close(s);
	free(inner);
	free(cmd);
}
END_TEST

START_TEST(failures_are_known)
{
	struct little_plan l;
	struct store *s = open_store();
	struct store_failures f = store_failures(s);

	ck_assert_uint_eq(f.all + f.now, 0);
	little_plan(&l, 0x10, 4);
	disk_has_room(0);
	NOT_SAVED(s, store_save_lids(s, &l.p));
	f = store_failures(s);
	ck_assert_uint_eq(f.all, 1);
	ck_assert_uint_eq(f.now, 1);
	ck_assert_str_eq(f.file, "lids");
	disk_has_room(1 << 20);
	retried(s);
	f = store_failures(s);
	ck_assert_uint_eq(f.all, 1);
	ck_assert_uint_eq(f.now, 0);
	ck_assert_str_eq(f.file, "");
	store_close(s);
}
END_TEST

/* promise: K2 */
START_TEST(full_disk)
{
	struct little_plan l;
	struct store *s = open_store();
	char *beside = file_of("lids.new");

	little_plan(&l, 0x100, 8);
	SAVED(s, store_save_lids(s, &l.p));
	disk_has_room(20);
	little_plan(&l, 0x200, 16);
	NOT_SAVED(s, store_save_lids(s, &l.p));
	NOT_SAVED(s, store_save_history(s, "one\n"));
	ck_assert(!store_save_partitions(s, "one\n"));
	PROBLEMS(s, "lids: cannot write: File too large", "history: cannot write",
		 "partitions: cannot write");
	ck_assert_int_ne(access(beside, F_OK), 0);	/* removed, as it would need space */
	retried(s);
	PROBLEMS(s, "lids: cannot write", "history: cannot write", "partitions: cannot write");
	NOT_SAVED(s, store_save_history(s, "two\n"));
	disk_has_room(RLIM_INFINITY);
	usleep(1000000);
	retried(s);
	/* a refused request is not done later */
	PROBLEMS(s, "partitions: cannot write");
	ck_assert(store_save_partitions(s, "two\n"));
	no_problems(s);
	store_close(s);
	ck_assert_uint_eq(lid_of(0x100), 8);
	ck_assert_uint_eq(lid_of(0x200), 16);
	free(beside);
}
END_TEST

/* The store tries once more when it ends. */
START_TEST(full_disk_until_the_end)
{
	struct little_plan l;
	struct store *s = open_store();

	disk_has_room(20);
	little_plan(&l, 0x100, 8);
	NOT_SAVED(s, store_save_lids(s, &l.p));
	disk_has_room(RLIM_INFINITY);
	store_close(s);
	ck_assert_uint_eq(lid_of(0x100), 8);
}
END_TEST

/* Shell commands, run in the folder, that put something else in a file's place. */
static const char *const in_its_place[] = {
	"mkdir lids", "mkdir -p lids/full lids.damaged/full", "ln -s lids lids",
	"ln -s /dev/zero lids", "mkfifo lids", "truncate -s 1G lids", "ln -s nowhere lids",
};

/* promise: K3 */
START_TEST(something_else_in_its_place)
{
	char *cmd = xasprintf("cd %s && %s", dir, in_its_place[_i]);
	struct little_plan l;
	struct store *s;

	ck_assert_int_eq(system(cmd), 0);
	s = open_store();
	PROBLEMS(s, "lids: cannot be read");
	little_plan(&l, 0x100, 8);
	SAVED(s, store_save_lids(s, &l.p));
	PROBLEMS(s, "set aside as");
	store_close(s);
	ck_assert_uint_eq(lid_of(0x100), 8);
	free(cmd);
}
END_TEST

/* The same while the store runs, and in the place of the file that it writes. */
START_TEST(something_in_the_way)
{
	char *cmd = xasprintf("cd %s && mkdir -p lids/full lids.new/full history.new groups.journal "
			      "&& ln -s history history", dir);
	struct mcast_db *db = mcast_new(NULL, NULL);
	struct little_plan l;
	struct store *s = open_store();

	ck_assert_int_eq(system(cmd), 0);
	little_plan(&l, 0x100, 8);
	SAVED(s, store_save_lids(s, &l.p));
	SAVED(s, store_save_history(s, "one\n"));
	SAVED(s, store_save_groups(s, db));
	store_close(s);
	mcast_free(db);
	ck_assert_uint_eq(lid_of(0x100), 8);
	free(cmd);
}
END_TEST

START_TEST(lock_in_the_way)
{
	static const char *const ways[] = { "mkdir -p lock/full", "ln -s lock lock" };
	char *cmd = xasprintf("cd %s && %s", dir, ways[_i]);
	struct buf err = { 0 };
	struct store *s;

	ck_assert_int_eq(system(cmd), 0);
	s = open_store();
	ck_assert_ptr_null(store_open(dir, NULL, &err));	/* it is locked all the same */
	buf_free(&err);
	store_close(s);
	free(cmd);
}
END_TEST

START_TEST(refusals)
{
	struct store *s = open_store();

	store_refused(s, 0x100, 0x15, 3, 11, 22);
	store_refused(s, 0x100, 0x15, 4, 11, 22);
	store_refused(s, 0x100, 0x15, 4, 11, 23);	/* the device has another value now */
	ck_assert_uint_eq(refusals_by_value(store_refusals(s)), 2);
	SAVED(s, store_save_refused(s));
	store_close(s);

	s = open_store();
	ck_assert(refusals_have(store_refusals(s), 0x100, 0x15, 3, 11, 22));
	ck_assert(refusals_have(store_refusals(s), 0x100, 0x15, 4, 11, 23));
	/* another wanted value, another device, another present value: the Set is worth a try */
	ck_assert(!refusals_have(store_refusals(s), 0x100, 0x15, 3, 12, 22));
	ck_assert(!refusals_have(store_refusals(s), 0x101, 0x15, 3, 11, 22));
	ck_assert(!refusals_have(store_refusals(s), 0x100, 0x15, 4, 11, 22));
	store_close(s);
}
END_TEST

/* Departed ports keep their LIDs unless other ports have them. */
/* promise: D42 */
START_TEST(lids_are_bounded)
{
	struct little_plan l;
	struct store *s = open_store();
	struct lid_map *m = store_lids(s);

	for (uint32_t i = 0; i < STORE_LIDS_MAX; i++) {
		map64_put(&m->by_guid, 0x10000 + i, 1000 + i / 2 % 40000);
		map64_put(&m->lmc_by_guid, 0x10000 + i, 0);
	}
	little_plan(&l, 0x100, 1008);
	SAVED(s, store_save_lids(s, &l.p));
	ck_assert_uint_eq(map64_get(&m->by_guid, 0x100), 1008);
	ck_assert_uint_eq(map64_get(&m->by_guid, 0x101), 1012);
	/* 32,768 LIDs, each of two ports, but for the two times four that are the plan's */
	ck_assert_uint_eq(m->by_guid.n, 32768 - 8 + 2);
	for (uint32_t i = 0; i < STORE_LIDS_MAX; i += 2)
		ck_assert_uint_eq((map64_get(&m->by_guid, 0x10000 + i) != MAP64_NONE) +
				  (map64_get(&m->by_guid, 0x10001 + i) != MAP64_NONE),
				  i / 2 + 1000 < 1008 || i / 2 + 1000 >= 1016);
	store_close(s);
}
END_TEST

/* Saves two ports, of which only the second has a table that must be remembered. */
static void save_pkeys(struct store *s, uint16_t *keys, uint32_t n)
{
	struct fabric_node node = { .type = 1 };	/* CA */
	struct fabric_port ports[2] = { 
		{ .guid = 0x100, .num = 1, .present = true },
		{ .guid = 0x101, .num = 2, .present = true },
	 };
	uint16_t plain[] = { 0xffff };
	struct pkey_table tables[] = { { 0 }, { .keys = plain, .n = 1 }, { .keys = keys, .n = n } };
	uint32_t table[] = { 1, 2 };
	struct partitions parts = { .n_ports = 2, .table = table, .tables = tables };
	struct fabric f = { .nodes = &node, .n_nodes = 1, .ports = ports, .n_ports = 2 };
	struct plan p = { .f = &f, .partitions = &parts };

	SAVED(s, store_save_pkeys(s, &p));
}

START_TEST(places_of_pkeys_are_kept)
{
	uint16_t keys[] = { 0x7fff, 0, 0x8002 };
	char *path = file_of("pkeys"), *aside = file_of("pkeys.damaged");
	struct store *s = open_store();
	const struct pkey_places *x;

	save_pkeys(s, keys, 1);
	ck_assert_int_ne(access(path, F_OK), 0);	/* nothing to remember */
	save_pkeys(s, keys, 3);
	store_close(s);
	s = open_store();
	x = &store_lids(s)->pkeys;
	ck_assert_uint_eq(x->rows.n, 1);
	ck_assert_uint_eq(x->rows.v[0].guid, 0x101);
	ck_assert_uint_eq(x->rows.v[0].n, 3);
	ck_assert_mem_eq(x->rows.v[0].keys, keys, sizeof(keys));
	store_close(s);
	corrupt("pkeys", 20, "f", 1);
	s = open_store();
	ck_assert_uint_eq(store_lids(s)->pkeys.rows.n, 0);
	ck_assert_int_eq(access(aside, F_OK), 0);
	store_close(s);
	unlink(path);
	unlink(aside);
	free(path);
	free(aside);
}
END_TEST

static struct service service(uint64_t id, int64_t ends_us)
{
	struct service s = { .key = { .id = id, .pkey = 0x8123 }, .source = 0x500 + id,
			     .ends_us = ends_us };

	memset(s.key.gid, 0xfe, sizeof(s.key.gid));
	memset(s.secret, 0x0a, sizeof(s.secret));
	memset(s.data, 0xd0, sizeof(s.data));
	strcpy((char *)s.name, "two words\n");
	return s;
}

#define SECOND 1000000ll

/* Rewrites the file with an earlier time or another boot id, and a new digest. */
static void written_earlier(int64_t seconds, bool before_a_boot)
{
	char *path = file_of("services"), *text = xcalloc(1, 1 << 16), *rest, *end, boot[40];
	FILE *f = fopen(path, "r+");
	size_t n = fread(text, 1, (1 << 16) - 1, f);
	long long at;

	ck_assert_uint_gt(n, 0);
	ck_assert_int_eq(sscanf(text, "qosd services 1\nwritten %39s %lld", boot, &at), 2);
	boot[0] ^= before_a_boot;	/* another digit */
	rest = strstr(text, "\nservice ");
	end = strstr(rest, "\nend ");
	end[1] = '\0';
	char *changed = xasprintf("qosd services 1\nwritten %s %lld%s", boot,
				  at - seconds * SECOND, rest);

	rewind(f);
	fprintf(f, "%send %016llx\n", changed,
		(unsigned long long)hash_bytes(changed, strlen(changed), 0));
	ck_assert_int_eq(ftruncate(fileno(f), ftell(f)), 0);
	fclose(f);
	free(changed);
	free(text);
	free(path);
}

/* promise: K4 */
START_TEST(services_are_kept)
{
	struct services *db = services_new(NULL, NULL);
	struct store *s = open_store();
	int64_t now = clock_mono_us();
	struct service in[] = {
		service(1, SERVICE_NEVER), service(2, now + 100 * SECOND),
		service(3, now + 3000 * SECOND), service(4, now - SECOND),
	};
	const struct service *x;

	ck_assert(!store_load_services(s, db));	/* nothing there yet */
	for (unsigned i = 0; i < 4; i++)
		services_put(db, &in[i]);
	SAVED(s, store_save_services(s, db));
	services_free(db);
	store_close(s);

	/* loaded at once, after 200 s, and after a reboot, where the elapsed wall time counts */
	for (unsigned i = 0; i < 3; i++) {
		int64_t passed = i == 0 ? 0 : i == 1 ? 200 : clock_boot_us() / SECOND;

		written_earlier(i == 1 ? 200 : 0, i == 2);
		s = open_store();
		db = services_new(NULL, NULL);
		ck_assert(store_load_services(s, db));
		ck_assert_uint_eq(services_count(db), 1 + (passed < 100) + (passed < 3000));
		x = services_find(db, &in[0].key);
		ck_assert_int_eq(memcmp(x, &in[0], sizeof(*x)), 0);
		x = services_find(db, &in[2].key);
		ck_assert(!x == (passed >= 3000));
		ck_assert(!x || service_lease(x, clock_mono_us()) <= 3000 - passed);
		ck_assert(!x || service_lease(x, clock_mono_us()) >= 2995 - passed);
		ck_assert(!services_find(db, &in[1].key) == (passed >= 100));
		if (i == 1)	/* for the next time, as it was */
			written_earlier(-200, false);
		services_free(db);
		store_close(s);
	}
	s = open_store();
	corrupt("services", 60, "zz", 2);
	db = services_new(NULL, NULL);
	ck_assert(!store_load_services(s, db));
	ck_assert_uint_eq(services_count(db), 0);
	char *aside = file_of("services.damaged");

	ck_assert_int_eq(access(aside, F_OK), 0);
	free(aside);
	services_free(db);
	store_close(s);
}
END_TEST

START_TEST(subscriptions_are_kept)
{
	struct subscriptions *db = subscriptions_new(NULL, NULL);
	struct store *s = open_store();
	struct subscription in[] = {
		{ .what = { .lid_first = INFORM_ALL_LIDS, .generic = true, .type = 3, .number = 64,
			    .producer = 4 }, .number = 5, .resp_time = 31, .pkey = 0x7fff },
		{ .what = { .gid = { 0xfe, 0x80, [15] = 1 }, .lid_first = INFORM_ALL_LIDS,
			    .type = INFORM_ALL_TYPES, .number = INFORM_ALL_TRAPS,
			    .producer = INFORM_ALL_PRODUCERS }, .number = 0, .trusted = true },
		{ .what = { .lid_first = 1, .lid_last = 0xbfff, .generic = true }, .number = 7 },
	};

	ck_assert(!store_load_subscriptions(s, db));
	SAVED(s, store_save_subscriptions(s, db));	/* of nobody */
	ck_assert(store_load_subscriptions(s, db));
	for (unsigned i = 0; i < 3; i++)
		ck_assert(subscriptions_add(db, 0x500, i / 2 ? 0xffffff : 1, &in[i]));
	SAVED(s, store_save_subscriptions(s, db));
	subscriptions_free(db);
	store_close(s);

	s = open_store();
	db = subscriptions_new(NULL, NULL);
	ck_assert(store_load_subscriptions(s, db));
	ck_assert_uint_eq(subscriptions_count(db), 3);
	for (unsigned i = 0; i < 3; i++) {
		const struct subscription *x = subscription_find(
			subscriber_find(db, 0x500, i / 2 ? 0xffffff : 1), &in[i].what);

		ck_assert_ptr_nonnull(x);
		ck_assert(x->number == in[i].number && x->resp_time == in[i].resp_time &&
			  x->pkey == in[i].pkey && x->trusted == in[i].trusted);
	}
	subscriptions_free(db);
	corrupt("subscriptions", 40, "zz", 2);
	db = subscriptions_new(NULL, NULL);
	ck_assert(!store_load_subscriptions(s, db));
	subscriptions_free(db);
	store_close(s);
}
END_TEST

/* Although subscribers come and go meanwhile, each piece has whole subscribers, and each of them once. */
START_TEST(services_in_pieces)
{
	struct services *db = services_new(NULL, NULL), *read = services_new(NULL, NULL);
	struct service x = { .key = { .pkey = 0xffff }, .source = 0x500, .ends_us = SERVICE_NEVER };
	struct service_place at = { 0 };
	struct buf text = { 0 };
	struct store *s;
	unsigned n = 1;

	for (x.key.id = 100; x.key.id < 200; x.key.id++)
		ck_assert(services_put(db, &x));
	s = open_store();
	store_begin_services(db, &text);
	while (store_print_some_services(db, &at, 7, &text))
		ck_assert_uint_lt(n++, 20);
	ck_assert_uint_gt(n, 10);
	store_save_printed_services(s, &text);
	ck_assert_ptr_null(text.s);
	store_close(s);
	s = open_store();
	ck_assert(store_load_services(s, read));
	ck_assert_uint_eq(services_count(read), 100);
	/* the services change meanwhile */
	at = (struct service_place){ 0 };
	ck_assert(store_print_some_services(db, &at, 50, &text));
	services_remove(db, &at.key);
	x.key.id = 50;
	ck_assert(services_put(db, &x));
	x.key.id = 500;
	ck_assert(services_put(db, &x));
	ck_assert(!store_print_some_services(db, &at, 1000, &text));
	services_free(read);
	read = services_new(NULL, NULL);
	ck_assert(store_take_services(read, text.s));
	ck_assert_uint_eq(services_count(read), 101);
	buf_free(&text);
	store_close(s);
	services_free(read);
	services_free(db);
}
END_TEST

/* promise: A73 */
START_TEST(subscriptions_in_pieces)
{
	struct subscriptions *db = subscriptions_new(NULL, NULL), *read = subscriptions_new(NULL, NULL);
	struct subscription x = { .what = { .lid_first = INFORM_ALL_LIDS, .generic = true } };
	struct subscriber_place at = { 0 };
	struct buf whole = { 0 }, pieces = { 0 };
	unsigned n = 1;

	for (unsigned i = 0; i < 300; i++) {
		x.number = x.what.number = (uint16_t)i;
		ck_assert(subscriptions_add(db, 0x500 + i / 10, i % 3, &x));
	}
	store_print_subscriptions(db, &whole);
	while (store_print_some_subscriptions(db, &at, 7, &pieces))
		ck_assert_uint_lt(n++, 80);
	ck_assert_uint_gt(n, 20);
	ck_assert_str_eq(pieces.s, whole.s);
	buf_free(&pieces);
	at = (struct subscriber_place){ 0 };
	ck_assert(store_print_some_subscriptions(db, &at, 50, &pieces));
	subscriptions_drop(db, at.guid, at.qpn);
	ck_assert(subscriptions_add(db, 0x1000, 1, &x) && subscriptions_add(db, 0x100, 1, &x));
	ck_assert(!store_print_some_subscriptions(db, &at, 1000, &pieces));
	ck_assert(store_take_subscriptions(read, pieces.s));
	ck_assert_uint_eq(subscriptions_count(read), 301);
	buf_free(&pieces);
	buf_free(&whole);
	subscriptions_free(read);
	subscriptions_free(db);
}
END_TEST

START_TEST(aliases_are_kept)
{
	struct alias_db *db = alias_new();
	struct store *s = open_store();
	uint64_t assigned[2], again;

	ck_assert(!store_load_aliases(s, db));
	SAVED(s, store_save_aliases(s, db));	/* none */
	ck_assert(store_load_aliases(s, db));
	ck_assert_uint_eq(alias_assigned(db), 0);
	assigned[0] = alias_assign(db);
	ck_assert(alias_put(db, 0x500, 1, assigned[0]));
	ck_assert(alias_put(db, 0x500, 255, 0xffffffffffffffff));
	ck_assert(alias_put(db, 0x501, 8, 0x77));
	ck_assert(alias_put(db, 0x501, 9, 0x78));
	ck_assert(alias_put(db, 0x501, 9, 0));
	SAVED(s, store_save_aliases(s, db));
	assigned[1] = alias_assign(db);		/* the daemon dies before it is written */
	alias_free(db);
	store_close(s);

	s = open_store();
	db = alias_new();
	ck_assert(store_load_aliases(s, db));
	ck_assert_uint_eq(alias_count(db), 3);
	ck_assert_uint_eq(alias_at(db, 0x500, 1), assigned[0]);
	ck_assert_uint_eq(alias_at(db, 0x500, 255), 0xffffffffffffffff);
	ck_assert_uint_eq(alias_owner(db, 0x77), 0x501);
	ck_assert_uint_eq(alias_owner(db, 0x78), 0);
	again = alias_assign(db);
	ck_assert(again != assigned[0] && again != assigned[1]);
	alias_free(db);
	corrupt("aliases", 40, "zz", 2);
	db = alias_new();
	ck_assert(!store_load_aliases(s, db));
	ck_assert_uint_eq(alias_count(db), 0);
	alias_free(db);
	store_close(s);
}
END_TEST

/* promise: A33 */
START_TEST(ports_that_are_gone)
{
	struct holdings *h = holdings_new();
	int64_t since = clock_boot_us() - 5000000;
	struct store *s = open_store();

	for (uint64_t port = 1; port <= 3; port++)
		holdings_add(h, HOLD_SERVICES, port, 1);
	ck_assert(!store_load_gone(s, h));
	holdings_set_gone(h, 1, since);
	holdings_set_gone(h, 2, since + 1);
	SAVED(s, store_save_gone(s, h));
	store_close(s);
	for (uint64_t port = 1; port <= 3; port++)
		holdings_set_gone(h, port, 0);
	holdings_add(h, HOLD_SERVICES, 2, -1);
	s = open_store();
	ck_assert(store_load_gone(s, h));
	ck_assert_int_eq(holdings_find(h, 1)->gone_us, since);
	ck_assert_msg(!holdings_find(h, 2)->gone_us, "it holds nothing any more");
	ck_assert(!holdings_find(h, 3)->gone_us);
	corrupt("gone", 40, "zz", 2);
	ck_assert(!store_load_gone(s, h));
	store_close(s);
	holdings_free(h);
}
END_TEST

START_TEST(groups_are_kept)
{
	struct mcast_group like = {
		.mgid = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, [15] = 1 }, .qkey = 0xb1b,
		.flow_label = 0xfffff, .pkey = 0xffff, .mtu = 4, .rate = 3, .life = 18, .sl = 5,
		.tclass = 7, .tclass_asked = 8, .hop_limit = 255,
	};
	struct mcast_db *db = mcast_new(NULL, NULL);
	struct store *s = open_store();
	struct mcast_group *g;

	ck_assert(!store_load_groups(s, db));	/* nothing there yet */
	g = mcast_create(db, &like, 100);
	mcast_join(db, g, mcast_own_gid(0x500), JOIN_FULL, false);
	mcast_join(db, g, mcast_own_gid(0x501), JOIN_SEND_ONLY_NON, true);
	mcast_join(db, g, (struct mcast_gid){ 0x501, 0xa1 }, JOIN_FULL, false);
	SAVED(s, store_save_groups(s, db));
	mcast_free(db);
	store_close(s);

	s = open_store();
	db = mcast_new(NULL, NULL);
	ck_assert(store_load_groups(s, db));
	ck_assert_uint_eq(mcast_count(db), 1);
	g = mcast_find(db, like.mgid);
	ck_assert_ptr_nonnull(g);
	ck_assert_uint_eq(g->mlid, 0xc000);
	ck_assert_uint_eq(g->qkey, like.qkey);
	ck_assert_uint_eq(g->flow_label, like.flow_label);
	ck_assert_uint_eq(g->pkey, like.pkey);
	ck_assert_uint_eq(g->sl, like.sl);
	ck_assert_uint_eq(g->hop_limit, like.hop_limit);
	ck_assert_uint_eq(g->tclass, 7);
	ck_assert_uint_eq(g->tclass_asked, 8);
	ck_assert_uint_eq(g->members.n, 3);
	ck_assert_uint_eq(mcast_member(g, (struct mcast_gid){ 0x501, 0xa1 })->join_state, JOIN_FULL);
	ck_assert_uint_eq(mcast_member(g, mcast_own_gid(0x501))->join_state, JOIN_SEND_ONLY_NON);
	ck_assert(mcast_member(g, mcast_own_gid(0x501))->proxy);
	mcast_free(db);

	/* a damaged file: clients must join again */
	corrupt("groups", 30, "zz", 2);
	db = mcast_new(NULL, NULL);
	ck_assert(!store_load_groups(s, db));
	mcast_free(db);
	store_close(s);
}
END_TEST

static void put_file(const char *name, const char *text)
{
	char *path = file_of(name);
	FILE *f = fopen(path, "w");

	ck_assert_int_ge(fputs(text, f), 0);
	fclose(f);
	free(path);
}

/* Files of versions without members by alias, and with a TClass of the group only. */
START_TEST(groups_of_earlier_versions)
{
	struct mcast_db *db = mcast_new(NULL, NULL);
	struct store *s = open_store();
	const struct mcast_group *g;

	put_file("groups",
		 "qosd groups 1\n"
		 "group ff12401bffff00000000000000000001 0xc000 0xffff 0xb1b 5 4 3 18 7 "
		 "1048575 255\n"
		 "root 0xc000 0x0000000000000abc\n"
		 "member 0x0000000000000500 1 0\n"
		 "member 0x0000000000000501 4 1\n"
		 "end f60581465e927c5b\n");
	put_file("groups.journal",
		 "qosd groups journal 1 of f60581465e927c5b f4311ba80ef8bd61\n"
		 "member ff12401bffff00000000000000000001 0x0000000000000502 2 0 "
		 "0b166ed7e3105395\n"
		 "member ff12401bffff00000000000000000001 0x0000000000000501 0 1 "
		 "29ae39d5b562b2ae\n");
	ck_assert(store_load_groups(s, db));
	ck_assert_uint_eq(mcast_count(db), 1);
	g = mcast_at(db, 0);
	ck_assert_uint_eq(g->tclass, 7);
	ck_assert_uint_eq(g->tclass_asked, 7);
	ck_assert_uint_eq(g->hop_limit, 255);
	ck_assert_uint_eq(mcast_root(db, 0xc000), 0xabc);
	ck_assert_uint_eq(g->members.n, 2);
	ck_assert_uint_eq(mcast_member(g, mcast_own_gid(0x500))->join_state, JOIN_FULL);
	ck_assert_uint_eq(mcast_member(g, mcast_own_gid(0x502))->join_state, JOIN_NON);
	mcast_free(db);
	store_close(s);
}
END_TEST

/* --- the journal of groups --- */

static const struct mcast_group some_group = {
	.mgid = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, [15] = 1 }, .qkey = 0xb1b,
	.pkey = 0xffff, .mtu = 4, .rate = 3, .life = 18, .hop_limit = 255,
};

static struct mcast_group *some_other(struct mcast_db *db, uint8_t n)
{
	struct mcast_group g = some_group;

	g.mgid[15] = n;
	return mcast_create(db, &g, 100);
}

/* Returns the text of all groups. */
static char *text_of(const struct mcast_db *db)
{
	struct buf b = { 0 };

	buf_puts(&b, "");
	for (size_t i = 0; i < mcast_count(db); i++) {
		const struct mcast_group *g = mcast_at(db, i);

		buf_printf(&b, "%u: %x root %llx sl %u q %x tclass %u of %u\n", g->mgid[15],
			   g->mlid, (unsigned long long)mcast_root(db, g->mlid), g->sl, g->qkey,
			   g->tclass, g->tclass_asked);
		for (size_t k = 0; k < g->members.n; k++)
			buf_printf(&b, " %llx of %llx %u %u\n",
				   (unsigned long long)g->members.v[k].gid.guid,
				   (unsigned long long)g->members.v[k].gid.port,
				   g->members.v[k].join_state, g->members.v[k].proxy);
	}
	return b.s;
}

/* Makes one change of each kind, step by step; false if there is no further step. */
static bool change(struct mcast_db *db, unsigned step)
{
	struct mcast_group *g = mcast_find(db, some_group.mgid), like = some_group;

	switch (step) {
	case 0: mcast_join(db, g, mcast_own_gid(0x501), JOIN_FULL, true); break;
	case 1: mcast_join(db, g, mcast_own_gid(0x502), JOIN_NON, false); break;
	case 2: mcast_set_root(db, 0xc000, 0xabc); break;
	case 3: mcast_join(db, g, mcast_own_gid(0x501), JOIN_SEND_ONLY_NON, false); break;
	case 4: g = some_other(db, 2); mcast_set_root(db, g->mlid, 0xdef); break;
	case 5: g = mcast_find(db, mcast_at(db, 1)->mgid);
		mcast_join(db, g, mcast_own_gid(7), JOIN_FULL, false); break;
	case 6: mcast_leave(db, g, mcast_own_gid(0x502), JOIN_NON); break;
	case 7: mcast_leave(db, g, mcast_own_gid(0x500), JOIN_FULL); break;
	case 8: g = mcast_find(db, mcast_at(db, 1)->mgid);
		mcast_leave(db, g, mcast_own_gid(7), JOIN_FULL); break;
	case 9: g = some_other(db, 3); mcast_join(db, g, mcast_own_gid(9), JOIN_FULL, false); break;
	case 10: mcast_leave(db, g, mcast_own_gid(0x501), JOIN_FULL | JOIN_SEND_ONLY_NON); break;
	case 11: g = mcast_create(db, &some_group, 100);
		 mcast_join(db, g, mcast_own_gid(0x502), JOIN_FULL, false); break;
	case 12: mcast_join(db, g, (struct mcast_gid){ 0x502, 0xa1 }, JOIN_FULL, true); break;
	case 13: mcast_join(db, g, (struct mcast_gid){ 0x502, 0xa2 }, JOIN_NON, false); break;
	case 14: mcast_leave(db, g, (struct mcast_gid){ 0x502, 0xa1 }, JOIN_FULL); break;
	case 15: like.tclass = 9; like.tclass_asked = 4; like.mgid[15] = 4;
		 mcast_create(db, &like, 100); break;
	default: return false;
	}
	return true;
}

enum { STEPS = 16 };

/* Saves after each step; texts[i] gets the groups after i steps. */
static void write_journal(char *texts[STEPS + 1], char **journal, size_t *n)
{
	struct mcast_db *db = mcast_new(NULL, NULL);
	struct store *s = open_store();
	char *path = file_of("groups.journal");
	struct stat st;
	FILE *f;

	ck_assert(!store_load_groups(s, db));
	mcast_join(db, mcast_create(db, &some_group, 100), mcast_own_gid(0x500), JOIN_FULL, false);
	SAVED(s, store_save_groups(s, db));
	texts[0] = text_of(db);
	for (unsigned i = 0; change(db, i); i++) {
		SAVED(s, store_save_groups(s, db));
		texts[i + 1] = text_of(db);
	}
	mcast_free(db);
	store_close(s);
	ck_assert_int_eq(stat(path, &st), 0);
	*n = (size_t)st.st_size;
	*journal = xmalloc(*n);
	f = fopen(path, "r");
	ck_assert_uint_eq(fread(*journal, 1, *n, f), *n);
	fclose(f);
	free(path);
}

static void put_journal(const char *bytes, size_t n)
{
	char *path = file_of("groups.journal");
	FILE *f = fopen(path, "w");

	ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
	fclose(f);
	free(path);
}

static bool load_text(char **text)
{
	struct mcast_db *db = mcast_new(NULL, NULL);
	struct store *s = open_store();
	bool good = store_load_groups(s, db);

	*text = text_of(db);
	store_close(s);
	mcast_free(db);
	return good;
}

static bool is_damaged(const char *name)
{
	char *path = file_of(name);
	bool there = access(path, F_OK) == 0;

	unlink(path);
	free(path);
	return there;
}

/* A daemon that is killed while writing leaves the first bytes of the data. */
/* promise: K1 */
START_TEST(journal_of_any_length)
{
	char *texts[STEPS + 1], *journal, *text;
	unsigned seen = 0;
	size_t n;

	write_journal(texts, &journal, &n);
	for (size_t len = 0; len <= n; len++) {
		put_journal(journal, len);
		ck_assert_msg(load_text(&text), "%zu of %zu bytes", len, n);
		ck_assert(!is_damaged("groups.journal.damaged"));
		/* a step has one or two lines; longer beginnings give no earlier groups; all steps occur */
		if (seen < STEPS && !strcmp(text, texts[seen + 1]))
			seen++;
		free(text);
	}
	ck_assert_uint_eq(seen, STEPS);
	load_text(&text);
	ck_assert_str_eq(text, texts[STEPS]);
	free(text);
	free(journal);
	for (unsigned i = 0; i <= STEPS; i++)
		free(texts[i]);
}
END_TEST

/* After a power failure, data that was not synced may be zeros. */
/* promise: K1 */
START_TEST(journal_that_ends_in_zeros)
{
	char *texts[STEPS + 1], *journal, *zeros, *text, *until;
	size_t n;

	write_journal(texts, &journal, &n);
	zeros = xcalloc(1, n);
	for (size_t len = 0; len <= n; len++) {
		put_journal(journal, len);
		ck_assert(load_text(&until));
		memcpy(zeros, journal, len);
		put_journal(zeros, n);
		ck_assert_msg(load_text(&text), "%zu of %zu bytes", len, n);
		ck_assert_str_eq(text, until);
		ck_assert(!is_damaged("groups.journal.damaged"));
		free(text);
		free(until);
	}
	free(zeros);
	free(journal);
	for (unsigned i = 0; i <= STEPS; i++)
		free(texts[i]);
}
END_TEST

/* promise: K3 */
START_TEST(damaged_journal_is_set_aside)
{
	char *texts[STEPS + 1], *journal, *text;
	size_t n;

	write_journal(texts, &journal, &n);
	for (size_t at = 0; at < n; at++) {
		if (at == strlen("qosd groups journal "))
			continue;	/* it would be a newer qosd's */
		journal[at] ^= 4;
		put_journal(journal, n);
		journal[at] ^= 4;
		/* without its last byte, the last line is incomplete */
		ck_assert_msg(load_text(&text) == (at == n - 1), "byte %zu of %zu", at, n);
		ck_assert(is_damaged("groups.journal.damaged") == (at != n - 1));
		free(text);
	}
	/* a line in the middle is missing */
	char *second = memchr(journal, '\n', n), *third = memchr(second + 1, '\n', 100);

	memmove(second, third, (size_t)(journal + n - third));
	put_journal(journal, n - (size_t)(third - second));
	ck_assert(!load_text(&text));
	ck_assert_str_eq(text, texts[0]);
	free(text);
	free(journal);
	for (unsigned i = 0; i <= STEPS; i++)
		free(texts[i]);
}
END_TEST

static size_t size_of(const char *name)
{
	char *path = file_of(name);
	struct stat st = { 0 };

	stat(path, &st);
	free(path);
	return (size_t)st.st_size;
}

/* Joins are appended, and now and then folded into the snapshot; an older journal has no effect. */
START_TEST(journal_is_folded_in)
{
	struct mcast_db *db = mcast_new(NULL, NULL);
	struct store *s = open_store();
	struct mcast_group *g;
	size_t written = 0, folded = 0, was = 0, was_snapshot = 0;
	char *old, *now, *path = file_of("groups.journal"), *text;

	store_load_groups(s, db);
	g = mcast_create(db, &some_group, 100);
	SAVED(s, store_save_groups(s, db));
	for (unsigned i = 0; i < 20000; i++) {
		mcast_join(db, g, mcast_own_gid(0x1000 + i), JOIN_FULL, false);
		if (i % 100 != 99)
			continue;
		SAVED(s, store_save_groups(s, db));
		if (size_of("groups") != was_snapshot) {
			was_snapshot = size_of("groups");
			written += was_snapshot;
			folded++;
			was = 0;
		}
		written += size_of("groups.journal") - was;
		was = size_of("groups.journal");
		ck_assert_uint_le(was, 65536 + was_snapshot);
	}
	ck_assert_uint_ge(folded, 3);
	ck_assert_uint_le(written, 20000 * 27 * 10);	/* ten times what there is */
	mcast_leave(db, g, mcast_own_gid(0x1000), JOIN_FULL);
	SAVED(s, store_save_groups(s, db));
	old = xasprintf("%s.old", path);
	ck_assert_int_eq(link(path, old), 0);
	now = text_of(db);
	store_close(s);
	mcast_free(db);
	ck_assert(load_text(&text));
	ck_assert(!strcmp(text, now));
	free(text);

	/* the first save of a run folds in; a crash before the journal is emptied leaves the old journal */
	db = mcast_new(NULL, NULL);
	s = open_store();
	ck_assert(store_load_groups(s, db));
	mcast_join(db, mcast_find(db, some_group.mgid), mcast_own_gid(0x1000), JOIN_FULL, false);
	unlink(path);
	SAVED(s, store_save_groups(s, db));
	free(now);
	now = text_of(db);
	store_close(s);
	mcast_free(db);
	ck_assert_int_eq(rename(old, path), 0);
	ck_assert(load_text(&text));
	ck_assert(!strcmp(text, now));
	ck_assert(!is_damaged("groups.journal.damaged"));
	free(text);
	free(now);
	free(old);
	free(path);
}
END_TEST

/* A crash at this moment must leave these groups. */
static void crash_leaves(const char *text)
{
	char *real = dir, *now, *cmd = xasprintf("cp -a %s %s.crash", dir, dir);

	ck_assert_int_eq(system(cmd), 0);
	dir = xasprintf("%s.crash", real);
	ck_assert(load_text(&now));
	ck_assert_msg(!strcmp(now, text), "%zu bytes, want %zu", strlen(now), strlen(text));
	temp_directory_remove(dir);
	dir = real;
	free(now);
	free(cmd);
}

/* Makes groups with some members in the snapshot and some in the journal. */
static struct store *groups_begin(struct mcast_db *db)
{
	struct store *s = open_store();
	struct mcast_group *g;

	store_load_groups(s, db);
	g = mcast_create(db, &some_group, 100);
	for (unsigned i = 0; i < 60; i++) {
		mcast_join(db, g, mcast_own_gid(0x1000 + i), JOIN_FULL, false);
		if (i % 30 == 29)
			SAVED(s, store_save_groups(s, db));
	}
	return s;
}

/* If neither the journal nor then the snapshot can be written, the groups on disk stay. */
START_TEST(journal_on_a_full_disk)
{
	struct mcast_db *db = mcast_new(NULL, NULL);
	struct store *s = groups_begin(db);
	char *was = text_of(db), *now;

	disk_has_room(8);
	mcast_join(db, mcast_find(db, some_group.mgid), mcast_own_gid(1), JOIN_FULL, false);
	store_save_groups(s, db);
	all_tried(s);
	PROBLEMS(s, "groups.journal: cannot write");
	for (unsigned i = 0; i < 3; i++) {
		store_check(s);
		all_tried(s);
	}
	PROBLEMS(s, "groups.journal: cannot write", "groups: cannot write");
	disk_has_room(RLIM_INFINITY);
	crash_leaves(was);
	usleep(1100000);
	store_check(s);
	all_tried(s);
	no_problems(s);
	now = text_of(db);
	crash_leaves(now);
	mcast_join(db, mcast_find(db, some_group.mgid), mcast_own_gid(2), JOIN_FULL, false);
	disk_has_room(8);
	store_save_groups(s, db);
	all_tried(s);
	disk_has_room(RLIM_INFINITY);
	store_end_groups(s, db);	/* with the end comes a last try */
	all_tried(s);
	free(now);
	now = text_of(db);
	crash_leaves(now);
	mcast_free(db);
	store_close(s);
	free(was);
	free(now);
}
END_TEST

/* At most a snapshot and a journal wait to be written, and the groups on disk stay. */
START_TEST(journal_while_the_disk_hangs)
{
	struct mcast_db *db = mcast_new(NULL, NULL);
	struct store *s = groups_begin(db);
	struct mcast_group *g = mcast_find(db, some_group.mgid);
	size_t before = size_of("groups.journal");
	char *was, *now;

	disk_hangs = true;
	mcast_join(db, g, mcast_own_gid(0x1fff), JOIN_FULL, false);
	store_save_groups(s, db);
	while (size_of("groups.journal") == before)
		usleep(1000);
	was = text_of(db);	/* that is written, if not synced */
	before = mallinfo2().uordblks;
	for (unsigned i = 0; i < 60000; i++) {
		struct mcast_gid gid = mcast_own_gid(0x2000 + i % 49);

		if (i / 49 % 2)
			mcast_leave(db, g, gid, JOIN_FULL);
		else
			mcast_join(db, g, gid, JOIN_FULL, false);
		if (i % 7 == 0)
			store_save_groups(s, db);
	}
	ck_assert_uint_lt(mallinfo2().uordblks, before + 1000000);
	crash_leaves(was);
	mcast_join(db, g, mcast_own_gid(1), JOIN_FULL, false);
	store_save_groups(s, db);
	disk_hangs = false;
	all_tried(s);
	now = text_of(db);
	crash_leaves(now);
	mcast_free(db);
	store_close(s);
	free(was);
	free(now);
}
END_TEST

/* A daemon that was stopped meanwhile must not report a slow disk. */
START_TEST(who_did_not_run_does_not_blame_the_disk)
{
	struct mcast_db *db = mcast_new(NULL, NULL);
	struct store *s = groups_begin(db);

	store_check(s);
	disk_hangs = true;
	mcast_join(db, mcast_find(db, some_group.mgid), mcast_own_gid(0x1fff), JOIN_FULL, false);
	store_save_groups(s, db);
	usleep(3 * STORE_CHECK_US);
	for (unsigned i = 0; i < 2; i++) {
		store_check(s);
		ck_assert_uint_eq(store_failures(s).now, 0);
	}
	for (unsigned i = 0; i < 3; i++) {
		usleep(STORE_CHECK_US);
		store_check(s);
	}
	ck_assert_uint_eq(store_failures(s).now, 1);
	disk_hangs = false;
	all_tried(s);
	store_check(s);
	ck_assert_uint_eq(store_failures(s).now, 0);
	mcast_free(db);
	store_close(s);
}
END_TEST

/* --- as text, for another daemon --- */

START_TEST(lids_go_from_one_to_another)
{
	struct little_plan l;
	struct store *s = open_store(), *other;
	struct buf lids = { 0 }, again = { 0 }, err = { 0 };
	char none[] = "", bad[] = "0x100 49152 0\n", *text;

	little_plan(&l, 0x100, 8);
	SAVED(s, store_save_lids(s, &l.p));
	store_print_lids(s, &lids);
	other = store_open(NULL, NULL, &err);
	little_plan(&l, 0x900, 16);
	SAVED(other, store_save_lids(other, &l.p));
	ck_assert(!store_take_lids(other, bad, none));	/* no such LID: nothing changes */
	ck_assert_uint_eq(map64_get(&store_lids(other)->by_guid, 0x900), 16);
	text = xstrdup(lids.s);
	ck_assert(store_take_lids(other, text, none));
	free(text);
	ck_assert_uint_eq(map64_get(&store_lids(other)->by_guid, 0x101), 12);
	ck_assert_uint_eq(map64_get(&store_lids(other)->by_guid, 0x900), MAP64_NONE);
	store_print_lids(other, &again);
	ck_assert_uint_eq(again.n, lids.n);
	buf_free(&lids);
	buf_free(&again);
	store_close(other);
	store_close(s);
}
END_TEST

/* promise: M4 */
START_TEST(clients_go_from_one_to_another)
{
	struct services *from = services_new(NULL, NULL), *to = services_new(NULL, NULL);
	struct mcast_db *groups = mcast_new(NULL, NULL), *others = mcast_new(NULL, NULL);
	struct mcast_group g = { .mgid = { 0xff, 0x12, [15] = 7 }, .mlid = 0xc005, .pkey = 0xffff };
	struct service x = service(1, clock_mono_us() + 100 * SECOND);
	struct buf b = { 0 };
	char *end;

	services_put(from, &x);
	store_print_services(from, &b);
	/* the lease goes on, independent of the other daemon's clock */
	end = strchr(b.s, '\n');
	memmove(b.s, "written 1", 9);
	memset(b.s + 9, '0', (size_t)(end - b.s) - 9);
	ck_assert(store_take_services(to, b.s));
	ck_assert_uint_ge(service_lease(services_find(to, &x.key), clock_mono_us()), 98);
	services_free(from);
	services_free(to);

	b.n = 0;
	mcast_join(groups, mcast_restore(groups, &g), mcast_own_gid(0x500), JOIN_FULL, false);
	mcast_set_root(groups, 0xc005, 0x900);
	store_print_groups(groups, &b);
	ck_assert(store_take_groups(others, b.s));
	ck_assert_uint_eq(mcast_find(others, g.mgid)->mlid, 0xc005);
	ck_assert_uint_eq(mcast_role(others, 0xc005, 0x500), JOIN_FULL);
	ck_assert_uint_eq(mcast_root(others, 0xc005), 0x900);
	b.n = 0;
	buf_puts(&b, "member 0x1 1 0\n");	/* of which group? */
	ck_assert(!store_take_groups(others, b.s));
	mcast_free(groups);
	mcast_free(others);
	buf_free(&b);
}
END_TEST

START_TEST(without_a_folder)
{
	struct buf err = { 0 };
	struct store *s = store_open(NULL, NULL, &err);
	struct little_plan l;

	ck_assert_ptr_nonnull(s);
	little_plan(&l, 0x100, 8);
	SAVED(s, store_save_lids(s, &l.p));
	store_close(s);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("store");
	TCase *t = tcase_create("folder");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);	/* disks may be slow */
	tcase_add_test(t, lids_are_kept);
	tcase_add_test(t, failures_are_known);
	tcase_add_test(t, a_lid_is_of_the_owner_of_its_guid);
	tcase_add_test(t, damage_is_set_aside);
	tcase_add_loop_test(t, newer_files_are_left_alone, 0, ARRAY_SIZE(newer_files));
	tcase_add_loop_test(t, garbage_is_set_aside, 0, ARRAY_SIZE(bad_files));
	tcase_add_test(t, one_at_a_time);
	tcase_add_test(t, no_folder_at_all);
	tcase_add_test(t, folder_comes_later);
	tcase_add_test(t, files_that_wait_are_known);
	tcase_add_test(t, folder_is_removed);
	tcase_add_test(t, full_disk);
	tcase_add_test(t, full_disk_until_the_end);
	tcase_add_loop_test(t, something_else_in_its_place, 0, ARRAY_SIZE(in_its_place));
	tcase_add_test(t, something_in_the_way);
	tcase_add_loop_test(t, lock_in_the_way, 0, 2);
	tcase_add_test(t, the_last_good_policy_is_kept);
	tcase_add_test(t, refusals);
	tcase_add_test(t, lids_are_bounded);
	tcase_add_test(t, places_of_pkeys_are_kept);
	tcase_add_test(t, groups_are_kept);
	tcase_add_test(t, groups_of_earlier_versions);
	tcase_add_test(t, journal_of_any_length);
	tcase_add_test(t, journal_that_ends_in_zeros);
	tcase_add_test(t, damaged_journal_is_set_aside);
	tcase_add_test(t, journal_is_folded_in);
	tcase_add_test(t, journal_on_a_full_disk);
	tcase_add_test(t, journal_while_the_disk_hangs);
	tcase_add_test(t, who_did_not_run_does_not_blame_the_disk);
	tcase_add_test(t, services_are_kept);
	tcase_add_test(t, subscriptions_are_kept);
	tcase_add_test(t, services_in_pieces);
	tcase_add_test(t, subscriptions_in_pieces);
	tcase_add_test(t, aliases_are_kept);
	tcase_add_test(t, ports_that_are_gone);
	tcase_add_test(t, lids_go_from_one_to_another);
	tcase_add_test(t, clients_go_from_one_to_another);
	tcase_add_test(t, without_a_folder);
	suite_add_tcase(s, t);
	return run_suite(s);
}
