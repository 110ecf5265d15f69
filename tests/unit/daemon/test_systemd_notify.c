/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the messages to a service manager that does not read for a while (daemon/systemd_notify.c).
 *
 * promise: O2
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "daemon/systemd_notify.h"
#include "unit/run.h"
#include "unit/temp.h"

static char *directory, *path;
static int manager;

int64_t __wrap_clock_mono_us(void);
int64_t __wrap_clock_mono_us(void)
{
	return 0;
}

static void setup(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	directory = temp_directory();
	path = xasprintf("%s/notify", directory);
	ck_assert_uint_lt(strlen(path), sizeof(addr.sun_path));
	strcpy(addr.sun_path, path);
	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(manager, 0);
	ck_assert_int_eq(bind(manager, (const struct sockaddr *)&addr, sizeof(addr)), 0);
	setenv("NOTIFY_SOCKET", path, 1);
}

static void teardown(void)
{
	unsetenv("NOTIFY_SOCKET");
	close(manager);
	free(path);
	temp_directory_remove(directory);
}

/* Reads all messages in the socket and returns their number; `last` gets the last one, or "". */
static unsigned read_all(char last[256])
{
	unsigned n = 0;
	ssize_t len;

	last[0] = '\0';
	while ((len = recv(manager, last, 255, 0)) >= 0) {
		last[len] = '\0';
		n++;
	}
	return n;
}

/* Fills the socket, which has room for a few messages. */
static void fill(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	strcpy(addr.sun_path, path);
	while (sendto(fd, "x", 1, 0, (const struct sockaddr *)&addr, sizeof(addr)) == 1)
		;
	close(fd);
}

START_TEST(heard_once)
{
	char last[256];

	notify("READY=1");
	notify_again();
	ck_assert_uint_eq(read_all(last), 1);
	ck_assert_str_eq(last, "READY=1");
}
END_TEST

START_TEST(said_again_until_there_is_room)
{
	char last[256];

	fill();
	notify("READY=1\nSTATUS=master");
	notify_again();
	read_all(last);
	ck_assert_str_eq(last, "x");
	notify_again();
	ck_assert_uint_eq(read_all(last), 1);
	ck_assert_str_eq(last, "READY=1\nSTATUS=master");
	notify_again();
	ck_assert_uint_eq(read_all(last), 0);
}
END_TEST

/* The later text replaces the earlier one, whether that was queued or sent. */
START_TEST(a_later_text_replaces_what_is_kept)
{
	char last[256];

	fill();
	notify("READY=1");
	if (_i)
		read_all(last);
	notify("STOPPING=1");
	read_all(last);
	notify_again();
	if (_i)
		ck_assert_uint_eq(read_all(last), 0);
	else
		ck_assert_uint_eq(read_all(last), 1);
	if (!_i)
		ck_assert_str_eq(last, "STOPPING=1");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("notify");
	TCase *t = tcase_create("notify");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, heard_once);
	tcase_add_test(t, said_again_until_there_is_room);
	tcase_add_loop_test(t, a_later_text_replaces_what_is_kept, 0, 2);
	suite_add_tcase(s, t);
	return run_suite(s);
}
