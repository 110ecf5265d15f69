/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests what a process can and cannot do in the sandbox.  Each call is tried in a child that has
 * entered the sandbox by the daemon's functions.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/base/sandbox.h"
#include "unit/run.h"
#include "unit/temp.h"

static char *directory, *file;

static void setup(void)
{
	int fd;

	directory = temp_directory();
	file = xasprintf("%s/file", directory);
	fd = open(file, O_WRONLY | O_CREAT, 0600);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

static void teardown(void)
{
	unlink(file);
	ck_assert_int_eq(rmdir(directory), 0);
	free(file);
	free(directory);
}

/* --- calls to try, which return 0 or errno --- */

static int result(long r)
{
	return r < 0 ? errno : 0;
}

static int runs_a_program(void)
{
	return result(execl("/bin/true", "true", (char *)NULL));
}

static int runs_it_in_a_child(void)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return errno;
	if (pid == 0)
		_exit(runs_a_program());
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

static int forks(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return result(pid);
}

static void *nothing(void *arg)
{
	return arg;
}

static int starts_a_thread(void)
{
	pthread_t t;
	int error = pthread_create(&t, NULL, nothing, NULL);

	if (!error)
		pthread_join(t, NULL);
	return error;
}

static int opens(int flags)
{
	return result(open(file, flags, 0600));
}

static int opens_to_read(void) { return opens(O_RDONLY); }
static int opens_to_write(void) { return opens(O_WRONLY); }
static int opens_for_both(void) { return opens(O_RDWR); }
static int opens_anew(void) { return opens(O_RDONLY | O_CREAT | O_TRUNC); }
static int removes(void) { return result(unlink("/does/not/exist")); }
static int socket_unix(void) { return result(socket(AF_UNIX, SOCK_STREAM, 0)); }
static int socket_ip(void) { return result(socket(AF_INET, SOCK_STREAM, 0)); }
static int socket_netlink(void) { return result(socket(AF_NETLINK, SOCK_RAW, 0)); }
static int socket_packet(void) { return result(socket(AF_PACKET, SOCK_RAW, 0)); }
static int socket_vsock(void) { return result(socket(AF_VSOCK, SOCK_STREAM, 0)); }
/* The kernel uses the lower half of the argument only. */
static int socket_packet_or_so(void)
{
	return result(syscall(SYS_socket, AF_PACKET | 1ul << 32, SOCK_RAW, 0));
}

static int new_namespace(void) { return result(unshare(CLONE_NEWUSER)); }
static int mounts(void) { return result(mount("none", "/does/not/exist", "tmpfs", 0, NULL)); }
static int traces(void) { return result(ptrace(PTRACE_TRACEME, 0, NULL, NULL)); }
static int reads_others(void) { return result(syscall(SYS_process_vm_readv, 1, NULL, 0, NULL, 0, 0)); }
static int sets_the_clock(void) { return result(syscall(SYS_settimeofday, NULL, NULL)); }
static int uses_bpf(void) { return result(syscall(SYS_bpf, 0, NULL, 0)); }

/*
 * The kernel refuses these two flags together with EINVAL before it checks permissions.  A process may
 * lack the permission for user namespaces whatever its capabilities, for example below chroot().
 */
static int new_process_in_namespace(void)
{
	long pid = syscall(SYS_clone, CLONE_NEWUSER | CLONE_FS | SIGCHLD, NULL, NULL, NULL, NULL);

	if (pid == 0)
		_exit(0);
	return result(pid);
}

static int maps(int prot)
{
	void *p = mmap(NULL, 1 << 20, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return errno;
	return result(munmap(p, 1 << 20));
}

static int maps_data(void) { return maps(PROT_READ | PROT_WRITE); }
static int maps_code(void) { return maps(PROT_READ | PROT_WRITE | PROT_EXEC); }
static int makes_code(void) { return result(mprotect(directory, 1, PROT_READ | PROT_EXEC)); }
static int terminal_ioctl(void) { return result(ioctl(1, TIOCSTI, "x")); }

static int umad_ioctl(void)
{
	return ioctl(1, 0x1b02, NULL) < 0 && errno != EPERM ? 0 : EPERM;
}

static int prints(void)
{
	char *p = malloc(1 << 22);

	if (!p)
		return ENOMEM;
	memset(p, 0, 1 << 22);
	free(p);
	return fprintf(stderr, "\n") < 0 || usleep(1000) < 0 ? errno : 0;
}

/* --- trying --- */

enum box { NONE, DAEMON, DISCOVERY, DISCOVERY_PRELOADED };

static bool lock_up(enum box box, struct buf *err)
{
	if (box == NONE)
		return true;
	if (!sandbox_drop_privileges(err) || !sandbox_daemon(err))
		return false;
	return box == DAEMON || sandbox_discovery(box == DISCOVERY_PRELOADED, err);
}

/* Calls `what` in a child in the sandbox; returns its result, or a signal as -n.  Its output goes to `said`. */
static int try_in(enum box box, int (*what)(void), struct buf *said)
{
	int out[2], status;
	pid_t pid;

	ck_assert_int_eq(pipe(out), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct buf err = { 0 };

		dup2(out[1], STDERR_FILENO);
		if (!lock_up(box, &err)) {
			fprintf(stderr, "%s\n", err.s);
			_exit(200);
		}
		_exit(what());
	}
	close(out[1]);
	ck_assert(buf_read(said, out[0], 1 << 16));
	close(out[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

#define CALL(fn, call, ...) { #fn, fn, call, { __VA_ARGS__ } }
/* The wanted result in each box from DAEMON on: 0, an errno, or a signal as -n. */
static const struct {
	const char *name;
	int (*what)(void);
	int nr;			/* as discovery says it; -1: depends on the C library */
	int wanted[3];
} calls[] = {
	CALL(runs_a_program, SYS_execve, 0, EPERM, EPERM),
	CALL(runs_it_in_a_child, -1, 0, EPERM, EPERM),
	CALL(forks, -1, 0, EPERM, EPERM),
	/* all signals are blocked at this call, and a process that cannot get SIGSYS is killed */
	CALL(starts_a_thread, -1, 0, -SIGSYS, -SIGSYS),
	CALL(opens_to_read, -1, 0, EPERM, 0),
	CALL(opens_to_write, -1, 0, EPERM, EPERM),
	CALL(opens_for_both, -1, 0, EPERM, EPERM),
	CALL(opens_anew, -1, 0, EPERM, EPERM),
	CALL(removes, -1, ENOENT, EPERM, ENOENT),
	CALL(socket_unix, SYS_socket, 0, EPERM, 0),
	CALL(socket_ip, SYS_socket, 0, EPERM, EPERM),
	CALL(socket_netlink, SYS_socket, 0, EPERM, EPERM),
	CALL(socket_packet, SYS_socket, EPERM, EPERM, EPERM),
	CALL(socket_packet_or_so, SYS_socket, EPERM, EPERM, EPERM),
	CALL(socket_vsock, SYS_socket, EPERM, EPERM, EPERM),
	CALL(new_namespace, SYS_unshare, EPERM, EPERM, EPERM),
	CALL(new_process_in_namespace, SYS_clone, EPERM, EPERM, EPERM),
	CALL(mounts, SYS_mount, EPERM, EPERM, EPERM),
	CALL(traces, SYS_ptrace, EPERM, EPERM, EPERM),
	CALL(reads_others, SYS_process_vm_readv, EPERM, EPERM, EPERM),
	CALL(sets_the_clock, SYS_settimeofday, EPERM, EPERM, EPERM),
	CALL(uses_bpf, SYS_bpf, EPERM, EPERM, EPERM),
	CALL(maps_data, -1, 0, 0, 0),
	CALL(maps_code, SYS_mmap, 0, EPERM, EPERM),
	CALL(makes_code, SYS_mprotect, EINVAL, EPERM, EPERM),
	CALL(terminal_ioctl, SYS_ioctl, ENOTTY, EPERM, EPERM),
	CALL(umad_ioctl, -1, 0, 0, 0),
	CALL(prints, -1, 0, 0, 0),
};

/* promise: L1 */
START_TEST(what_is_denied_and_what_is_not)
{
	if (!sandbox_filters()) {
		printf("SKIP: built with a sanitizer, nothing is filtered\n");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		for (enum box box = DAEMON; box <= DISCOVERY_PRELOADED; box++) {
			int wanted = calls[i].wanted[box - DAEMON];
			struct buf said = { 0 };
			int got = try_in(box, calls[i].what, &said);

			/* (the machine may lack what the daemon may do) */
			ck_assert_msg(got == wanted || (wanted == 0 && box == DAEMON && got != EPERM),
				      "%s in %d: %d, want %d (%s)", calls[i].name, box,
				      got, wanted, said.n ? said.s : "");
			/* each refusal must be reported */
			if (box != DAEMON && wanted == EPERM) {
				char *word = calls[i].nr < 0 ? xstrdup("refused itself system call ") :
					     xasprintf("refused itself system call %d\n", calls[i].nr);

				ck_assert_msg(said.n && strstr(said.s, word), "%s: %s", calls[i].name,
					      said.n ? said.s : "(nothing)");
				free(word);
			}
			buf_free(&said);
		}
}
END_TEST

/* Without a filter, each call gives another result, unless it takes a capability. */
/* promise: L1 */
START_TEST(it_is_the_filter_that_denies)
{
	static const struct {
		int (*what)(void);
		int wanted;
	} free_to_all[] = {
		{ runs_a_program, 0 }, { forks, 0 }, { starts_a_thread, 0 }, { opens_to_read, 0 },
		{ opens_to_write, 0 }, { opens_anew, 0 }, { socket_unix, 0 }, { socket_ip, 0 },
		{ maps_code, 0 }, { new_process_in_namespace, EINVAL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(free_to_all); i++) {
		struct buf said = { 0 };
		int got = try_in(NONE, free_to_all[i].what, &said);

		buf_free(&said);
		/* a container's filter may also deny this */
		if (free_to_all[i].what == new_process_in_namespace && got == EPERM)
			continue;
		ck_assert_int_eq(got, free_to_all[i].wanted);
	}
}
END_TEST

/* Whether /proc/self/status has this line. */
static bool status_says(const char *wanted)
{
	struct buf text = { 0 };
	int fd = open("/proc/self/status", O_RDONLY);
	bool found = fd >= 0 && buf_read(&text, fd, 1 << 16) && strstr(text.s, wanted);

	close(fd);
	buf_free(&text);
	return found;
}

static int has_nothing(void)
{
	if (!status_says("\nCapEff:\t0000000000000000\n") ||
	    !status_says("\nCapPrm:\t0000000000000000\n") ||
	    !status_says("\nCapAmb:\t0000000000000000\n"))
		return 1;
	if (geteuid() == 0 && !status_says("\nCapBnd:\t0000000000000000\n"))
		return 2;
	if (!status_says("\nNoNewPrivs:\t1\n"))
		return 3;
	return sandbox_filters() && !status_says("\nSeccomp:\t2\n") ? 4 : 0;
}

static int program_has_nothing(void)
{
	return result(execl("/bin/sh", "sh", "-c", "grep -q '^CapEff:.*\t0*$' /proc/self/status && "
			    "grep -q '^CapPrm:.*\t0*$' /proc/self/status", (char *)NULL));
}

/* promise: L1 */
START_TEST(capabilities_are_gone_for_good)
{
	struct buf said = { 0 };

	ck_assert_int_eq(try_in(DAEMON, has_nothing, &said), 0);
	ck_assert_int_eq(try_in(DAEMON, program_has_nothing, &said), 0);
	if (geteuid() == 0)
		ck_assert_int_ne(try_in(NONE, program_has_nothing, &said), 0);
	buf_free(&said);
}
END_TEST

/* A thread that was started before the sandbox. */
static int pipes[2];

static void *waiting(void *arg)
{
	char c;

	if (read(pipes[0], &c, 1) == 1)
		*(int *)arg = result(syscall(SYS_socket, AF_PACKET, SOCK_RAW, 0));
	return NULL;
}

static int threads_too(void)
{
	struct buf err = { 0 };
	pthread_t t;
	int got = -1;

	if (pipe(pipes) < 0 || pthread_create(&t, NULL, waiting, &got) ||
	    !sandbox_discovery(true, &err) || write(pipes[1], "x", 1) != 1)
		return 1;
	pthread_join(t, NULL);
	return got == EPERM ? 0 : 2;
}

/* promise: L1 */
START_TEST(threads_that_are_there_are_locked_up_too)
{
	struct buf said = { 0 };

	if (sandbox_filters())
		ck_assert_int_eq(try_in(DAEMON, threads_too, &said), 0);
	buf_free(&said);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sandbox");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, what_is_denied_and_what_is_not);
	tcase_add_test(t, it_is_the_filter_that_denies);
	tcase_add_test(t, capabilities_are_gone_for_good);
	tcase_add_test(t, threads_that_are_there_are_locked_up_too);
	suite_add_tcase(s, t);
	return run_suite(s);
}
