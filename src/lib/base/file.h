/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads a file that a user names, with limits on its type, its size and the time.
 *
 * It must be a regular file; /dev/null counts as an empty one.  No caller waits longer than
 * FILE_SECONDS.
 */
#ifndef QOSD_LIB_BASE_FILE_H
#define QOSD_LIB_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"

#define FILE_SECONDS 5

/*
 * Appends the bytes of the file, at most max, to text.  On failure it returns false, sets errno,
 * leaves text as it was, and puts the reason in words into `why` ("cannot be opened: …").  May be
 * called from any thread: it neither opens a device nor waits for the writer of a FIFO.  It gives
 * up after FILE_SECONDS if the disk or server does not answer (ETIMEDOUT), and when the process is
 * about to end (bounded.h).
 */
bool file_read(const char *path, size_t max, struct buf *text, struct buf *why);

/* What changes when a file is written, replaced or removed; times are realtime. */
struct file_stamp {
	bool there;		/* false: there is no file that may be looked at, and the rest is 0 */
	uint64_t dev, ino;
	int64_t size, mtime_us, ctime_us;
};

/*
 * Returns false if that cannot be known now, as the disk or server does not answer; with the same limit
 * of time and from any thread, as file_read().
 */
bool file_stamp(const char *path, struct file_stamp *out);
bool file_stamp_same(const struct file_stamp *a, const struct file_stamp *b);

#endif
