/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Implements the sandbox; see sandbox.h.
 *
 * Filters list system calls by name.  A name that this libseccomp or this architecture does not
 * know is skipped; in a list of allowed calls, that is the safe side.
 */
#include "lib/base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "lib/base/alloc.h"

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
	__has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
	__has_feature(memory_sanitizer)
#define SANITIZED true	/* sanitizers use ptrace to find leaks, and map memory at will */
#else
#define SANITIZED false
#endif

bool sandbox_filters(void)
{
	return !SANITIZED;
}

/* --- capabilities --- */

/* A service manager may have removed both the capabilities and the call that drops them. */
static bool has_capabilities(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct has[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	if (syscall(SYS_capget, &head, has) < 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(has); i++)
		if (has[i].effective || has[i].permitted || has[i].inheritable)
			return true;
	return false;
}

bool sandbox_drop_privileges(struct buf *err)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	/*
	 * The bounding set limits what executed programs can gain.  Dropping from it needs
	 * CAP_SETPCAP; a process without that capability is protected by no_new_privs.
	 */
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (has_capabilities() && syscall(SYS_capset, &head, none) < 0) {
		buf_printf(err, "cannot drop capabilities: %s", strerror(errno));
		return false;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) {
		buf_printf(err, "no_new_privs: %s", strerror(errno));
		return false;
	}
	return true;
}

bool sandbox_hide_memory(struct buf *err)
{
	if (SANITIZED)
		return true;
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0)
		return true;
	buf_printf(err, "cannot hide memory: %s", strerror(errno));
	return false;
}

/* --- filters --- */

/* A filter under construction; `error` is libseccomp's first error. */
struct filter {
	scmp_filter_ctx ctx;
	uint32_t action;
	int error;
};

static struct filter filter_new(uint32_t otherwise, uint32_t action)
{
	struct filter f = { seccomp_init(otherwise), action, 0 };

	if (!f.ctx)
		f.error = -ENOMEM;
	else	/* a preloaded library may have started threads already */
		f.error = seccomp_attr_set(f.ctx, SCMP_FLTATR_CTL_TSYNC, 1);
	return f;
}

static void add_if(struct filter *f, const char *name, unsigned n, struct scmp_arg_cmp arg)
{
	int nr = seccomp_syscall_resolve_name(name);

	if (!f->error && nr != __NR_SCMP_ERROR)
		f->error = seccomp_rule_add_array(f->ctx, f->action, nr, n, &arg);
}

static void add(struct filter *f, const char *name)
{
	add_if(f, name, 0, (struct scmp_arg_cmp){ 0 });
}

/* Matches when all 64 bits of the argument compare; the upper half of an int argument is arbitrary. */
static void add_compared(struct filter *f, const char *name, unsigned arg, enum scmp_compare op,
			 uint64_t value)
{
	add_if(f, name, 1, (struct scmp_arg_cmp){ .arg = arg, .op = op, .datum_a = value });
}

/* Matches when the argument's bits in the mask equal value. */
static void add_masked(struct filter *f, const char *name, unsigned arg, uint64_t mask,
		       uint64_t value)
{
	add_if(f, name, 1, (struct scmp_arg_cmp){ .arg = arg, .op = SCMP_CMP_MASKED_EQ,
						  .datum_a = mask, .datum_b = value });
}

static void add_all(struct filter *f, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add(f, names[i]);
}

static bool filter_load(struct filter *f, const char *what, struct buf *err)
{
	if (!f->error)
		f->error = seccomp_load(f->ctx);
	if (f->error)
		buf_printf(err, "cannot filter %s: %s", what, strerror(-f->error));
	seccomp_release(f->ctx);
	return !f->error;
}

/* --- the daemon --- */

static const char *const not_ours[] = {
	/* the system as a whole */
	"acct", "adjtimex", "clock_adjtime", "clock_settime", "delete_module", "finit_module",
	"init_module", "ioperm", "iopl", "kexec_file_load", "kexec_load", "quotactl",
	"quotactl_fd", "reboot", "setdomainname", "sethostname", "settimeofday", "stime",
	"swapoff", "swapon", "syslog", "vhangup",
	/* file systems and namespaces */
	"chroot", "fanotify_init", "fsconfig", "fsmount", "fsopen", "fspick", "mount",
	"mount_setattr", "move_mount", "open_by_handle_at", "open_tree", "pivot_root", "setns",
	"umount", "umount2", "unshare",
	/* other processes */
	"kcmp", "pidfd_getfd", "process_madvise", "process_vm_readv", "process_vm_writev", "ptrace",
	/* large interfaces that are seldom used */
	"add_key", "bpf", "io_uring_enter", "io_uring_register", "io_uring_setup", "keyctl",
	"lookup_dcookie", "nfsservctl", "perf_event_open", "personality", "request_key",
	"uselib", "userfaultfd", "vm86", "vm86old",
};

static void deny_sockets(struct filter *f)
{
	static const int ours[] = { AF_UNIX, AF_INET, AF_INET6, AF_NETLINK };
	int family = 0;

	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		for (; family <= ours[i]; family++)
			if (family != ours[i])
				add_compared(f, "socket", 0, SCMP_CMP_EQ, (uint64_t)family);
	/* also refuse values with bits beyond those of an int */
	add_compared(f, "socket", 0, SCMP_CMP_GE, (uint64_t)family);
}

static void deny_namespaces(struct filter *f)
{
	static const unsigned flags[] = { CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
					  CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET };

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		add_masked(f, "clone", 0, flags[i], flags[i]);
}

/*
 * clone3() passes its flags in memory, which a filter cannot see; with ENOSYS, callers fall back to
 * clone().  This filter is separate so that refused calls are not logged: otherwise every thread
 * start would fill the audit log.
 */
static bool deny_clone3(struct buf *err)
{
	struct filter f = filter_new(SCMP_ACT_ALLOW, SCMP_ACT_ERRNO(ENOSYS));

	add(&f, "clone3");
	return filter_load(&f, "clone3()", err);
}

bool sandbox_daemon(struct buf *err)
{
	struct filter f;

	if (SANITIZED)
		return true;
	f = filter_new(SCMP_ACT_ALLOW, SCMP_ACT_ERRNO(EPERM));
	if (!f.error)	/* kernels before 4.14 cannot log refusals; that is no error */
		seccomp_attr_set(f.ctx, SCMP_FLTATR_CTL_LOG, 1);
	add_all(&f, not_ours, ARRAY_SIZE(not_ours));
	deny_sockets(&f);
	deny_namespaces(&f);
	return filter_load(&f, "system calls", err) && deny_clone3(err);
}

/* --- discovery --- */

static const char *const always[] = {
	"read", "readv", "write", "writev", "close", "lseek", "fstat",
	"poll", "ppoll", "select", "pselect6",
	"brk", "munmap", "mremap", "madvise",
	"futex", "sched_yield", "rseq", "set_robust_list", "getpid", "gettid",
	"rt_sigreturn", "rt_sigprocmask", "sigaltstack", "restart_syscall",
	"clock_gettime", "clock_nanosleep", "gettimeofday", "nanosleep", "time",
	"getrandom", "exit", "exit_group",
};

static const char *const of_simulators[] = {
	"connect", "sendto", "sendmsg", "recvfrom", "recvmsg", "shutdown", "setsockopt",
	"fcntl", "getdents64", "lstat", "newfstatat", "stat", "unlink", "unlinkat", "rmdir",
	"rt_sigaction",		/* set by the thread that these calls end */
};

#define UMAD_IOCTLS 0x1b00	/* IB_IOCTL_MAGIC of the kernel's rdma/ib_user_mad.h */
#define WRITES (O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND)

/* For `make coverage`: at exit the process adds its line counts to files. */
static void allow_coverage(struct filter *f)
{
#ifdef QOSD_COVERAGE
	add_masked(f, "open", 1, WRITES, O_RDWR | O_CREAT);
	add_masked(f, "openat", 2, WRITES, O_RDWR | O_CREAT);
	add_compared(f, "fcntl", 1, SCMP_CMP_EQ, F_SETLKW);
#else
	(void)f;
#endif
}

/* Formats by hand: a signal handler may not call stdio. */
static void say_denied(int nr)
{
	static const char before[] = SANDBOX_REFUSED;
	char text[sizeof(before) + 16], digits[12];
	size_t n = sizeof(before) - 1, d = 0;
	unsigned v = (unsigned)nr;

	memcpy(text, before, n);
	do {
		digits[d++] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	while (d)
		text[n++] = digits[--d];
	text[n++] = '\n';
	if (write(STDERR_FILENO, text, n) < 0)
		_exit(1);	/* standard error has no reader any more */
}

char *sandbox_call_name(int nr)
{
	char *found = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, nr);
	char *name = found ? xstrdup(found) : xasprintf("number %d", nr);

	free(found);
	return name;
}

/* SIGSYS handler: reports the call and makes it fail with EPERM. */
static void on_denied(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	(void)sig;
	say_denied(info->si_syscall);
#if defined(__x86_64__)
	u->uc_mcontext.gregs[REG_RAX] = -EPERM;
#elif defined(__aarch64__)
	u->uc_mcontext.regs[0] = (unsigned long long)-EPERM;
#else
	(void)u;
	_exit(1);	/* no known register for the result on this architecture */
#endif
}

bool sandbox_discovery(bool preloaded, struct buf *err)
{
	struct sigaction denied = { .sa_sigaction = on_denied, .sa_flags = SA_SIGINFO };
	struct filter f;

	if (SANITIZED)
		return true;
	if (sigaction(SIGSYS, &denied, NULL) < 0) {
		buf_printf(err, "SIGSYS: %s", strerror(errno));
		return false;
	}
	f = filter_new(SCMP_ACT_TRAP, SCMP_ACT_ALLOW);
	add_all(&f, always, ARRAY_SIZE(always));
	add_masked(&f, "ioctl", 1, 0xff00, UMAD_IOCTLS);
	add_masked(&f, "mmap", 2, PROT_EXEC, 0);
	add_masked(&f, "mprotect", 2, PROT_EXEC, 0);
	/* for abort() */
	add_compared(&f, "tgkill", 0, SCMP_CMP_EQ, (uint64_t)getpid());
	if (preloaded) {
		add_all(&f, of_simulators, ARRAY_SIZE(of_simulators));
		add_compared(&f, "socket", 0, SCMP_CMP_EQ, AF_UNIX);
		add_masked(&f, "open", 1, WRITES, O_RDONLY);
		add_masked(&f, "openat", 2, WRITES, O_RDONLY);
	} else {
		/* newer C libraries implement fstat() this way, with an empty name */
		add_masked(&f, "newfstatat", 3, AT_EMPTY_PATH, AT_EMPTY_PATH);
	}
	allow_coverage(&f);
	return filter_load(&f, "system calls", err);
}
