/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests reading from things that are not files or give no data, and bounded calls that do not return. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/base/bounded.h"
#include "lib/base/clock.h"
#include "lib/base/file.h"
#include "unit/run.h"
#include "unit/temp.h"

#define MAX (1u << 20)

static char *dir;

static void setup(void)
{
	dir = temp_directory();
}

static void teardown(void)
{
	temp_directory_remove(dir);
}

static void ck_refused(const char *path, int error, const char *words)
{
	struct buf text = { 0 }, why = { 0 };

	buf_puts(&text, "as it was");
	ck_assert(!file_read(path, MAX, &text, &why));
	ck_assert_int_eq(errno, error);
	ck_assert_msg(strstr(why.s, words), "%s: %s", path, why.s);
	ck_assert_str_eq(text.s, "as it was");
	buf_free(&text);
	buf_free(&why);
}

START_TEST(a_file)
{
	struct buf text = { 0 }, why = { 0 };
	char *path = temp_file("a\0b", 3), *link = xasprintf("%s/link", dir);

	buf_puts(&text, "x");
	ck_assert(file_read(path, 3, &text, &why));
	ck_assert_uint_eq(text.n, 4);
	ck_assert_mem_eq(text.s, "xa\0b", 4);
	ck_assert_int_eq(symlink(path, link), 0);
	ck_assert(file_read(link, 3, &text, &why));
	ck_assert_uint_eq(text.n, 7);
	ck_assert(!file_read(path, 2, &text, &why));
	ck_assert_int_eq(errno, EFBIG);
	ck_assert_int_eq(truncate(path, 0), 0);
	ck_assert(file_read(path, 2, &text, &why));
	ck_assert_uint_eq(text.n, 7);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert(file_read("/dev/null", 2, &text, &why));
	ck_assert_uint_eq(text.n, 7);
	free(path);
	free(link);
	buf_free(&text);
	buf_free(&why);
}
END_TEST

/* promise: A50 */
START_TEST(what_is_no_file)
{
	char *fifo = xasprintf("%s/fifo", dir), *zero = xasprintf("%s/zero", dir);
	char *huge = xasprintf("%s/huge", dir), *loop = xasprintf("%s/loop", dir);
	int64_t begun = clock_mono_us();
	int fd;

	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	ck_refused(fifo, EINVAL, "cannot be read: it is a FIFO, not a regular file");
	ck_refused("/dev/zero", EINVAL, "it is a device");
	ck_assert_int_eq(symlink("/dev/zero", zero), 0);
	ck_refused(zero, EINVAL, "it is a device");
	ck_refused(dir, EISDIR, "it is a directory");
	ck_assert_int_eq(symlink("loop", loop), 0);
	ck_refused(loop, ELOOP, "cannot be opened: ");
	fd = open(huge, O_WRONLY | O_CREAT, 0600);
	ck_assert_int_eq(ftruncate(fd, 3ll << 30), 0);
	close(fd);
	ck_refused(huge, EFBIG, "too large: 3221225472 bytes, at most 1048576 are read");
	ck_refused("/proc/self/mem", EIO, "cannot be read: ");
	ck_refused("missing", ENOENT, "cannot be opened: No such file");
	ck_assert_int_lt(clock_mono_us() - begun, FILE_SECONDS * 1000000);
	free(fifo);
	free(zero);
	free(huge);
	free(loop);
}
END_TEST

/* --- calls that do not return --- */

struct stuck {
	sem_t go;
	sem_t dropped;
};

static void wait_to_go(void *arg)
{
	struct stuck *s = arg;

	sem_wait(&s->go);
}

static void drop(void *arg)
{
	struct stuck *s = arg;

	sem_post(&s->dropped);
}

static void stuck_init(struct stuck *s)
{
	sem_init(&s->go, 0, 0);
	sem_init(&s->dropped, 0, 0);
}

/* promise: A50 */
START_TEST(calls_are_left_behind)
{
	struct stuck s[BOUNDED_LEFT_MAX + 1];

	for (unsigned i = 0; i < BOUNDED_LEFT_MAX; i++) {
		stuck_init(&s[i]);
		ck_assert(!bounded_run(wait_to_go, drop, &s[i], 1000));
		ck_assert_int_eq(errno, ETIMEDOUT);
		ck_assert_int_eq(sem_trywait(&s[i].dropped), -1);
	}
	/* one more call is not started */
	stuck_init(&s[BOUNDED_LEFT_MAX]);
	ck_assert(!bounded_run(wait_to_go, drop, &s[BOUNDED_LEFT_MAX], 1000));
	ck_assert_int_eq(errno, EBUSY);
	ck_assert_int_eq(sem_trywait(&s[BOUNDED_LEFT_MAX].dropped), 0);
	/* a call that returns late is dropped and makes room */
	for (unsigned i = 0; i < BOUNDED_LEFT_MAX; i++) {
		sem_post(&s[i].go);
		sem_wait(&s[i].dropped);
	}
	sem_post(&s[0].go);
	ck_assert(bounded_run(wait_to_go, drop, &s[0], 20000000));
	ck_assert_int_eq(sem_trywait(&s[0].dropped), -1);
}
END_TEST

static void *cancel(void *arg)
{
	(void)arg;
	usleep(10000);
	bounded_cancel();
	return NULL;
}

/* promise: A50 */
static struct file_stamp stamp_of(const char *path)
{
	struct file_stamp s;

	ck_assert(file_stamp(path, &s));
	return s;
}

START_TEST(stamps)
{
	char path[256], other[256];
	struct file_stamp a, b;
	int fd;

	snprintf(path, sizeof(path), "%s/a", dir);
	snprintf(other, sizeof(other), "%s/b", dir);
	a = stamp_of(path);
	ck_assert(!a.there && !a.ino && !a.size && !a.mtime_us);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	ck_assert_int_eq(write(fd, "one", 3), 3);
	a = stamp_of(path);
	ck_assert(a.there);
	ck_assert_int_eq(a.size, 3);
	ck_assert_int_gt(a.mtime_us, clock_real_us() - 60000000);
	b = stamp_of(path);
	ck_assert(a.ino == b.ino && a.mtime_us == b.mtime_us && a.ctime_us == b.ctime_us);
	ck_assert_int_eq(write(fd, "two", 3), 3);
	close(fd);
	ck_assert_int_eq(stamp_of(path).size, 6);
	close(open(other, O_WRONLY | O_CREAT, 0600));
	ck_assert_int_eq(rename(other, path), 0);
	ck_assert_int_eq(stamp_of(path).size, 0);
	ck_assert(stamp_of(path).ino != b.ino);
}
END_TEST

START_TEST(the_end_waits_for_none)
{
	int64_t begun = clock_mono_us();
	struct buf text = { 0 }, why = { 0 };
	struct stuck s;
	pthread_t t;

	stuck_init(&s);
	ck_assert_int_eq(pthread_create(&t, NULL, cancel, NULL), 0);
	ck_assert(!bounded_run(wait_to_go, drop, &s, 3600 * 1000000ll));
	ck_assert_int_eq(errno, ECANCELED);
	ck_assert_int_lt(clock_mono_us() - begun, 60 * 1000000ll);
	pthread_join(t, NULL);
	ck_assert(!file_read("/etc/passwd", MAX, &text, &why));
	ck_assert_str_eq(why.s, "not reading it: the process is ending");
	sem_post(&s.go);
	sem_wait(&s.dropped);
	buf_free(&text);
	buf_free(&why);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("file");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_file);
	tcase_add_test(t, what_is_no_file);
	tcase_add_test(t, stamps);
	tcase_add_test(t, calls_are_left_behind);
	tcase_add_test(t, the_end_waits_for_none);
	suite_add_tcase(s, t);
	return run_suite(s);
}
