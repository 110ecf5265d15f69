/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The file of the control socket.
 *
 * Something that cleans up may remove it, or its folder; then nobody can connect any more, and it
 * is made again.  An administrator may give it another group.  So it is looked at every two
 * seconds, in a thread: the folder may be on a disk or a server that does not answer.  Nobody waits
 * for that thread for longer than said below, and while it hangs there is no other one.
 */
#ifndef QOSD_CTL_SOCKET_FILE_H
#define QOSD_CTL_SOCKET_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "lib/base/buf.h"
#include "lib/loop/loop.h"

struct socket_file;

/*
 * Makes the file, in place of one that nobody listens on, with the mode; NULL and err if there
 * can be none.  *fd: a socket that listens, the caller's.  renewed(arg, fd) is called in the loop
 * with one that listens in its place, because the file was gone; connections stay.
 */
struct socket_file *socket_file_new(struct loop *l, const char *path, mode_t mode, int *fd,
				    void (*renewed)(void *arg, int fd), void *arg, struct buf *err);
/*
 * The file's group; where the disk does not answer, after the first 0.1 s of that, the one that was
 * seen last.  False: the file at the path is another one, or there is none.
 */
bool socket_file_group(struct socket_file *s, gid_t *gid);
/* Removes the file, unless it is another one's; NULL is fine. */
void socket_file_free(struct socket_file *s);

#endif
