/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Drops the capabilities and system calls that a process does not need.
 *
 * An attacker who takes over the process then gains little.  This is the only user of libseccomp.
 * No restriction can be lifted again, and each holds for every thread and program that the process
 * starts later: call these functions while there is one thread.  A build with a sanitizer filters
 * nothing, because the sanitizer uses system calls of its own (sandbox_filters()).
 */
#ifndef QOSD_LIB_BASE_SANDBOX_H
#define QOSD_LIB_BASE_SANDBOX_H

#include <stdbool.h>

#include "lib/base/buf.h"

/* Whether this build filters system calls. */
bool sandbox_filters(void);

/*
 * Drops all capabilities for good: executing another program, set-user-ID or not, does not restore
 * them (no_new_privs).  False: err holds what the kernel refused.
 */
bool sandbox_drop_privileges(struct buf *err);

/*
 * From now on only a process that may trace every process can read or write this process's memory
 * (/proc/PID/mem).  Even programs that it starts under the same user cannot, for they have no
 * capabilities.  The price: the kernel writes no core dump of it.
 */
bool sandbox_hide_memory(struct buf *err);

/*
 * Filter for the daemon and for the commands that it runs on events, which may be any program.  It
 * refuses, with EPERM, calls that none of them needs, and the kernel's audit log records them:
 * changes of the whole system (mounts, modules, clocks, names), namespaces, access to other
 * processes, large and seldom used kernel interfaces (bpf, io_uring, keys, perf), and sockets other
 * than those of UNIX, IP and netlink.
 */
bool sandbox_daemon(struct buf *err);

/*
 * Filter for the process that reads the fabric's answers, once its port is open.  It allows memory,
 * open descriptors, time and exit.  It does not allow opening files, running programs, making
 * sockets, starting processes or threads, or making memory executable.  Any other call fails with
 * EPERM, and its number is written to standard error.  The process lives on: a library that tries
 * another way is no attack, and an undiscovered subnet is worse than one discovered by a process
 * without rights. (Only a thread that blocks SIGSYS is killed, for example one that is starting
 * another thread.)
 *
 * `preloaded` says that a simulator's library was preloaded (LD_PRELOAD).  That library talks to
 * its server over UNIX sockets and removes its files at the end; the filter then allows these
 * calls, too.
 */
bool sandbox_discovery(bool preloaded, struct buf *err);

/* The message about a refused call: this text, the number of the call and a newline. */
#define SANDBOX_REFUSED "refused itself system call "
/* The name of a system call on this machine; the caller frees it. */
char *sandbox_call_name(int nr);

#endif
