/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps the control socket's file in place.
 *
 * A cleanup may remove the file, or its folder; then nobody can connect, and the file is made
 * again.  An administrator may change its group.  So a thread checks it every two seconds: the
 * folder may be on a disk or a server that does not respond.  Callers wait for that thread no
 * longer than stated below, and while it hangs no other one is started.
 */
#ifndef QOSD_CTL_SOCKET_FILE_H
#define QOSD_CTL_SOCKET_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "lib/base/buf.h"
#include "lib/loop/loop.h"

struct socket_file;

/*
 * Makes the file with the mode, replacing one that nobody listens on; returns NULL and err on
 * failure.  *fd: a listening socket, owned by the caller.  renewed(arg, fd) is called in the loop
 * with a listening socket that replaces it when the file was gone; connections stay.
 */
struct socket_file *socket_file_new(struct loop *l, const char *path, mode_t mode, int *fd,
				    void (*renewed)(void *arg, int fd), void *arg, struct buf *err);
/*
 * Gets the file's group; if the disk does not respond, waits 0.1 s once, and then returns the group
 * last seen.  Returns false if another file, or none, is at the path.
 */
bool socket_file_group(struct socket_file *s, gid_t *gid);
/* Removes the file unless it is no longer ours; accepts NULL. */
void socket_file_free(struct socket_file *s);

#endif
