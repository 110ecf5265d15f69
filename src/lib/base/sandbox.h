/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a process gives up, so that whoever gets hold of it gets little: its capabilities,
 * and the system calls that it has no use for (the only user of libseccomp).
 *
 * None of it can be taken back, and all of it holds for every thread and program that the
 * process starts from then on: call it while there is one thread.  Built with a sanitizer
 * that brings system calls of its own nothing is filtered (sandbox_filters()).
 */
#ifndef QOSD_LIB_BASE_SANDBOX_H
#define QOSD_LIB_BASE_SANDBOX_H

#include <stdbool.h>

#include "lib/base/buf.h"

/* Whether this build filters system calls at all. */
bool sandbox_filters(void);

/*
 * No capability from now on, nor by running another program, set-user-ID or not
 * (no_new_privs).  False: err says what the kernel refused.
 */
bool sandbox_drop_privileges(struct buf *err);

/*
 * Nobody but who may trace every process reads or writes this process's memory from now on, not
 * even programs of the same user that it starts (/proc/PID/mem): no capability is left to them.
 * The price is that the kernel writes no core dump of it.
 */
bool sandbox_hide_memory(struct buf *err);

/*
 * For the daemon, and so for the commands that it runs for events, which may be any program: what
 * none of them has to do with is refused, with EPERM, and left to the kernel's audit log.
 * These are changes of the system as a whole (mounts, modules, clocks, names), namespaces, looking
 * into other processes, interfaces of the kernel that are large and seldom used
 * (bpf, io_uring, keys, perf), and sockets but for those of UNIX, IP and netlink.
 */
bool sandbox_daemon(struct buf *err);

/*
 * For the process that reads what the fabric answers, once its port is open: memory, the
 * descriptors that it has, time and its end, and nothing else: no file is opened, no program
 * run, no socket made, no process or thread started, no memory made executable.
 * What else it tries is refused with EPERM, and said on standard error by number.  It
 * lives on: a library that tries another way is no attack, and a subnet that is not discovered
 * is worse than one that is discovered by who may do nothing.  (Only who has blocked
 * SIGSYS is killed by it, as a thread that starts another is.)
 *
 * preloaded: a library was put before others (LD_PRELOAD): that of a simulator, which asks its
 * server by sockets of UNIX and removes its files at the end.  That is allowed then.
 */
bool sandbox_discovery(bool preloaded, struct buf *err);

/* What it says then: this, the number of the call and a newline. */
#define SANDBOX_REFUSED "refused itself system call "
/* The name of a system call on this machine; the caller frees it. */
char *sandbox_call_name(int nr);

#endif
