/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The one thread that writes into the state folder, so that a disk that takes its time
 * holds up nobody: texts are handed over, and written in that order.  Who must not go on
 * before they are on disk waits for a mark, and not for ever.
 */
#ifndef QOSD_STORE_WRITER_THREAD_H
#define QOSD_STORE_WRITER_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"

struct folder;
struct writer;

/* The folder is the writer's from now on, but for reading at the start. */
struct writer *writer_new(struct folder *f);
/*
 * Tries all that is waiting, and ends.  False: the disk hangs, what is logged as lost was not
 * written, and the thread stays with the writer and the folder, neither of which may be freed,
 * until the process ends.  It is given up where the disk has been at one thing for WRITER_HUNG_US
 * already, and else when it is for WRITER_END_US.
 */
bool writer_free(struct writer *w);	/* NULL is fine */
#define WRITER_HUNG_US	1000000
#define WRITER_END_US	5000000

/*
 * Puts a whole file in place, and tries again until it is there.  The text is taken over, and sealed
 * (store_seal()) by the thread.  One of that name that waits is forgotten.
 */
void writer_put(struct writer *w, const char *name, struct buf *text);
/*
 * The same once, of a text that is sealed, waiting for it for at most so long.  False: it is not there; where only
 * the time was over it may yet come to be.
 */
bool writer_put_now(struct writer *w, const char *name, struct buf *text, int64_t wait_us,
		    bool *in_time);
/*
 * There is one file with a journal beside it.  writer_begin() puts the file in place, once, and
 * only if it is there an empty journal; writer_append() adds to that.  Both take over the
 * text.  After a failure nothing more is appended until it is begun again: the end of
 * the journal is not to be relied upon, but it and its file stay as they are.  What waits when
 * it is begun again is forgotten.
 */
void writer_begin(struct writer *w, const char *name, struct buf *text, const char *journal);
void writer_append(struct writer *w, const char *journal, struct buf *text);
bool writer_append_failed(struct writer *w);

/* A mark behind all that was handed over; whether all of that was tried, with or without luck. */
uint64_t writer_mark(struct writer *w);
bool writer_is_past(struct writer *w, uint64_t mark);
/* The disk has been at one thing for WRITER_HUNG_US. */
bool writer_hangs(struct writer *w);
/* Waits for that, at most so long. */
bool writer_wait(struct writer *w, uint64_t mark, int64_t wait_us);
/*
 * fn is called in the writer's thread after each thing that was tried; NULL: none is from
 * now on.  It must not call the writer.
 */
void writer_on_done(struct writer *w, void (*fn)(void *arg), void *arg);

/* Files that could not be put in place when they were handed over, in all. */
uint64_t writer_failures(struct writer *w);
/* How long it has been at what it does now, in us, and the name (at most n bytes); 0: at nothing. */
int64_t writer_busy_us(struct writer *w, char *name, size_t n);

#endif
