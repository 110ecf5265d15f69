/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Arbitrary lines as each file of the state folder (libFuzzer's interface).  The first byte
 * says which file; titles and digests are put around the lines, so that they are read, but
 * where that byte's highest bit says to leave them as they are.  What was read can be
 * written, and that can be read.
 */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/policy_trials.h"
#include "events/missing.h"
#include "fabric/expected.h"
#include "fuzz.h"
#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/base/map64.h"
#include "sa/registry/alias.h"
#include "sa/registry/dynamic_partitions.h"
#include "sa/registry/groups.h"
#include "sa/registry/services.h"
#include "sa/registry/subscriptions.h"
#include "sm/devices/withdrawals.h"
#include "sm/keys/mkey_ring.h"
#include "store/store.h"
#include "subnet.h"

enum { LIDS, REFUSED, PKEYS, SERVICES, SUBSCRIPTIONS, ALIASES, GROUPS, PARTITIONS, HISTORY,
       JOURNAL, M_KEYS, MISSING, WITHDRAWN, ACCEPTED, FILES, AS_IT_IS = 0x80 };

static const char *const names[FILES] = {
	"lids", "refused", "pkeys", "services", "subscriptions", "aliases", "groups",
	"partitions", "history", "groups.journal", "m-keys", "missing", "withdrawn", "accepted",
};

static char dir[64];

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *where)
{
	(void)s;
	(void)type;
	(void)where;
	return remove(path);
}

static void remove_dir(void)
{
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* In memory if there is such a place: it is written to thousands of times. */
static void make_dir(void)
{
	snprintf(dir, sizeof(dir), "%s/qosd-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(dir))
		abort();
	atexit(remove_dir);
}

static void put_file(const char *name, const char *text, size_t n)
{
	char *path = xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "w");

	if (!f || fwrite(text, 1, n, f) != n || fclose(f))
		abort();
	free(path);
}

static uint64_t put_wrapped(const char *name, const char *lines, size_t n)
{
	struct buf b = { 0 };
	uint64_t sum;

	buf_printf(&b, "qosd %s 1\n", strcmp(name, names[ACCEPTED]) ? name : "accepted topology");
	buf_add(&b, lines, n);
	sum = hash_bytes(b.s, b.n, 0);
	buf_printf(&b, "end %016llx\n", (unsigned long long)sum);
	put_file(name, b.s, b.n);
	buf_free(&b);
	return sum;
}

static void journal_line(struct buf *b, const char *line, size_t n, uint64_t *check)
{
	*check = hash_bytes(line, n, *check);
	buf_add(b, line, n);
	buf_printf(b, " %016llx\n", (unsigned long long)*check);
}

/* Of a snapshot with a group; what follows the last newline is a line that was not finished. */
static void put_journal(const char *lines, size_t n)
{
	static const char snapshot[] =
		"group ff12401bffff00000000000000000001 0xc000 0xffff 0xb1b 5 4 3 18 7 1 255\n"
		"member 0x0000000000000500 1 0\n";
	uint64_t of = put_wrapped("groups", snapshot, sizeof(snapshot) - 1), check = 0;
	struct buf b = { 0 };
	const char *nl;
	char title[64];

	snprintf(title, sizeof(title), "qosd groups journal 1 of %016llx", (unsigned long long)of);
	journal_line(&b, title, strlen(title), &check);
	for (; n && (nl = memchr(lines, '\n', n)); lines = nl + 1) {
		journal_line(&b, lines, (size_t)(nl - lines), &check);
		n -= (size_t)(nl - lines) + 1;
	}
	buf_add(&b, lines, n);
	put_file(names[JOURNAL], b.s, b.n);
	buf_free(&b);
}

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* No wait is for ever, and a machine that has other work to do is slower than that. */
static void must_be_written(struct store *s, bool in_time)
{
	for (unsigned i = 0; i < 100 && !in_time; i++)
		in_time = store_wait(s);
	must(in_time);
}

static void apply(void *arg, struct shared_policy *p)
{
	(void)arg;
	(void)p;
}

static void read_partitions(struct store *s)
{
	struct dynamic_partitions *x = dynamic_new(), *again = dynamic_new();
	struct buf lines = { 0 };

	if (store_load_partitions(s, dynamic_line, x)) {
		dynamic_print(x, &lines);
		must_be_written(s, store_save_partitions(s, lines.n ? lines.s : ""));
		must(store_load_partitions(s, dynamic_line, again));
		must(again->n_members == x->n_members && again->v.n == x->v.n);
		shared_policy_unref(dynamic_policy(x, subnet_state()->policy));
	}
	buf_free(&lines);
	dynamic_free(x);
	dynamic_free(again);
}

static void read_history(struct store *s)
{
	static struct loop *loop;
	struct policies_hooks hooks = { .apply = apply };

	if (!loop)
		loop = loop_new();
	/* each makes an entry and writes all of them */
	for (unsigned i = 0; i < 2; i++) {
		policies_free(policies_new(loop, s, subnet_state()->policy,
					&(struct policies_rules){ 0 }, &hooks));
		must_be_written(s, store_wait(s));
	}
}

static bool key_line(void *arg, const char *text)
{
	return mkey_ring_take_line(arg, text);
}

static void read_keys(struct store *s)
{
	struct mkey_ring x = { .n = 0 }, again = { .n = 0 };
	struct buf lines = { 0 };

	if (store_load_m_keys(s, key_line, &x)) {
		mkey_ring_print(&x, &lines);
		must_be_written(s, store_save_m_keys(s, lines.n ? lines.s : ""));
		must(store_load_m_keys(s, key_line, &again) && again.n == x.n);
		must(!memcmp(again.keys, x.keys, x.n * sizeof(*x.keys)));
	}
	buf_free(&lines);
}

static void must_be_same(const struct buf *a, const struct buf *b)
{
	must(a->n == b->n && !memcmp(a->n ? a->s : "", b->n ? b->s : "", a->n));
}

static void read_missing(struct store *s)
{
	struct missing *x = missing_new(), *again = missing_new();
	struct buf a = { 0 }, b = { 0 };

	if (store_load_missing(s, missing_line, x)) {
		missing_print(x, &a);
		store_save_missing(s, a.n ? a.s : "");
		must_be_written(s, store_wait(s));
		must(store_load_missing(s, missing_line, again));
		missing_print(again, &b);
		must_be_same(&a, &b);
	}
	missing_free(x);
	missing_free(again);
	buf_free(&a);
	buf_free(&b);
}

static void read_withdrawn(struct store *s)
{
	struct withdrawals *x = withdrawals_new(), *again = withdrawals_new();
	struct buf a = { 0 }, b = { 0 };

	if (store_load_withdrawn(s, withdrawals_line, x)) {
		for (size_t i = 0; i < x->v.n; i++)
			withdrawal_left(&x->v.v[i], subnet_state()->f);
		withdrawals_print(x, &a);
		must_be_written(s, store_save_withdrawn(s, a.n ? a.s : ""));
		must(store_load_withdrawn(s, withdrawals_line, again));
		withdrawals_print(again, &b);
		must_be_same(&a, &b);
	}
	withdrawals_free(x);
	withdrawals_free(again);
	buf_free(&a);
	buf_free(&b);
}

static void read_accepted(struct store *s)
{
	struct expected *x = expected_new(), *again = expected_new();
	struct expected_findings found = { 0 };
	struct buf a = { 0 }, b = { 0 };

	if (store_load_accepted(s, expected_line, x)) {
		expected_compare(x, subnet_state()->f, &found);
		for (size_t i = 0; i < found.v.n; i++)
			expected_text(x, subnet_state()->f, &found.v.v[i], &b);
		b.n = 0;
		expected_print(x, &a);
		store_save_accepted(s, a.n ? a.s : "");
		must_be_written(s, store_wait(s));
		must(store_load_accepted(s, expected_line, again));
		expected_print(again, &b);
		must_be_same(&a, &b);
	}
	vec_free(&found.v);
	expected_unref(x);
	expected_unref(again);
	buf_free(&a);
	buf_free(&b);
}

#define TWICE(s, load, save, new, free_, count) do { \
	__typeof__(new) x_ = new, y_ = new; \
	if (load(s, x_)) { \
		save(s, x_); \
		must_be_written(s, store_wait(s)); \
		must(load(s, y_) && count(y_) <= count(x_)); \
	} \
	free_(x_); \
	free_(y_); \
} while (0)

static void read_file(struct store *s, unsigned file)
{
	struct mcast_db *db;

	switch (file) {
	case SERVICES:
		TWICE(s, store_load_services, store_save_services, services_new(NULL, NULL),
		      services_free, services_count);
		break;
	case SUBSCRIPTIONS:
		TWICE(s, store_load_subscriptions, store_save_subscriptions,
		      subscriptions_new(NULL, NULL), subscriptions_free, subscriptions_count);
		break;
	case ALIASES:
		TWICE(s, store_load_aliases, store_save_aliases, alias_new(), alias_free,
		      alias_count);
		break;
	case PARTITIONS:
		read_partitions(s);
		break;
	case HISTORY:
		read_history(s);
		break;
	case M_KEYS:
		read_keys(s);
		break;
	case MISSING:
		read_missing(s);
		break;
	case WITHDRAWN:
		read_withdrawn(s);
		break;
	case ACCEPTED:
		read_accepted(s);
		break;
	case GROUPS:
	case JOURNAL:
		db = mcast_new(NULL, NULL);
		store_load_groups(s, db);
		mcast_sync(db, subnet_state());
		store_save_groups(s, db);
		store_close(s);
		mcast_free(db);
		return;
	}
	store_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf err = { 0 };
	unsigned file;
	struct store *s;
	bool newer;

	if (!size)
		return 0;
	if (!*dir)
		make_dir();
	log_set_level(LOG_LEVEL_ERROR);
	file = (data[0] & 0x7f) % FILES;
	if (data[0] & AS_IT_IS)
		put_file(names[file], (const char *)data + 1, size - 1);
	else if (file == JOURNAL)
		put_journal((const char *)data + 1, size - 1);
	else
		put_wrapped(names[file], (const char *)data + 1, size - 1);
	s = store_open(dir, &newer, &err);
	must((s != NULL) == !newer);
	if (s)
		read_file(s, file);
	buf_free(&err);
	/* written or set aside, it is in the way of the next */
	for (unsigned i = 0; i < FILES; i++) {
		char *path = xasprintf("%s/%s", dir, names[i]);

		unlink(path);
		free(path);
	}
	return 0;
}
