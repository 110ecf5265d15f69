/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The thread that writes into the state folder, so that a slow disk delays no other thread.
 *
 * Texts are handed over, and written in that order.  A caller that must not go on before its
 * text is on disk waits for a mark, with a time limit.
 */
#ifndef QOSD_STORE_WRITER_THREAD_H
#define QOSD_STORE_WRITER_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"

struct folder;
struct writer;

/* Hands the folder over to the writer, except for reading at the start. */
struct writer *writer_new(struct folder *f);
/*
 * Tries all waiting jobs, and ends the thread.  False: the disk hangs, and the files logged as
 * lost were not written.  The thread then keeps writer and folder, which must not be freed,
 * until the process ends.  The writer gives up at once if the disk has been at one job for
 * WRITER_HUNG_US already, otherwise when it has been for WRITER_END_US.
 */
bool writer_free(struct writer *w);	/* NULL is fine */
#define WRITER_HUNG_US	1000000
#define WRITER_END_US	5000000

/*
 * Writes a whole file, and retries until it is in place.  Takes the text over; the thread seals
 * it (store_seal()).  Replaces a waiting text of that name.
 */
void writer_put(struct writer *w, const char *name, struct buf *text);
/*
 * Writes a sealed text once, and waits for at most wait_us.  False: it is not in place; if only
 * the time ran out (*in_time is false), it may still be written.
 */
bool writer_put_now(struct writer *w, const char *name, struct buf *text, int64_t wait_us,
		    bool *in_time);
/*
 * One file has a journal beside it.  writer_begin() writes the file once and, only if that
 * succeeds, an empty journal; writer_append() appends to the journal.  Both take the text over.
 * After a failure nothing is appended until writer_begin() is called again: the end of the
 * journal is undefined, but the journal and its file stay as they are.  writer_begin() drops
 * appends that still wait.
 */
void writer_begin(struct writer *w, const char *name, struct buf *text, const char *journal);
void writer_append(struct writer *w, const char *journal, struct buf *text);
bool writer_append_failed(struct writer *w);
/* See folder_recoveries(). */
uint64_t writer_recoveries(struct writer *w);

/* A mark after everything handed over, and whether all of that was tried, successfully or not. */
uint64_t writer_mark(struct writer *w);
bool writer_is_past(struct writer *w, uint64_t mark);
/* Whether the disk has been at one job for WRITER_HUNG_US. */
bool writer_hangs(struct writer *w);
/* Waits until writer_is_past(mark), at most wait_us. */
bool writer_wait(struct writer *w, uint64_t mark, int64_t wait_us);
/*
 * Calls fn in the writer's thread after each attempt; NULL stops the calls.  fn must not call
 * the writer.
 */
void writer_on_done(struct writer *w, void (*fn)(void *arg), void *arg);

/* Number of files that could not be written when they were handed over. */
uint64_t writer_failures(struct writer *w);
/*
 * For how long, in µs, the writer has been at its present job, and the file's name (at most n
 * bytes); 0: it is idle.
 */
int64_t writer_busy_us(struct writer *w, char *name, size_t n);

#endif
