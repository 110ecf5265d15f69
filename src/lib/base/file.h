/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading a file that somebody names, whatever it turns out to be: only regular files are read,
 * up to a size, and /dev/null as an empty one; nobody waits longer than FILE_SECONDS.
 */
#ifndef QOSD_LIB_BASE_FILE_H
#define QOSD_LIB_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/buf.h"

#define FILE_SECONDS 5

/*
 * Adds the bytes of the file, at most max, to text.  False: `why` says in words what is wrong
 * ("cannot be opened: …"), errno is set, and text is as it was.  May be called from any thread,
 * for it neither opens a device nor waits for the writer of a FIFO; where the disk or a server does
 * not answer it gives up after FILE_SECONDS (ETIMEDOUT), or when the process is about to end
 * (bounded.h).
 */
bool file_read(const char *path, size_t max, struct buf *text, struct buf *why);

#endif
