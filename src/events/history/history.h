/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps events on disk for months, in an SQLite database; the only user of SQLite.
 *
 * A thread of its own writes, and nobody waits for it: what does not fit into its queue while the
 * disk hangs or is full is dropped and counted.  Events are on disk within HISTORY_DELAY_US.
 */
#ifndef QOSD_EVENTS_HISTORY_H
#define QOSD_EVENTS_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"

#define HISTORY_QUEUE		8192		/* waiting events, at most */
#define HISTORY_DELAY_US	250000
#define HISTORY_HUNG_US		5000000		/* the disk counts as hanging from then on */
#define HISTORY_END_US		2000000		/* history_free() waits at most */
#define HISTORY_MIN_BYTES	(1ull << 20)

struct history;

/*
 * Opens the database in the background, or makes one.  A damaged one is renamed (".damaged") and a
 * new one is made.  The file has at most max_bytes (HISTORY_MIN_BYTES or more), besides a journal
 * of a few MB: the oldest events make room.
 */
struct history *history_new(const char *path, uint64_t max_bytes);
/* Stores what waits, in HISTORY_END_US at most; a thread that hangs longer keeps the rest. */
void history_free(struct history *h);		/* NULL is fine */
/* The same without waiting: a thread stores what is left, if the process and the disk let it. */
void history_leave(struct history *h);		/* NULL is fine */
/* Changes the size of the file; a file that has more loses its oldest events when the next event is stored. */
void history_set_max(struct history *h, uint64_t max_bytes);
/* Takes over the event's JSON text.  kind: static string; when_us: realtime. */
void history_add(struct history *h, int64_t when_us, const char *kind, char *json);

struct history_state {
	uint64_t stored, dropped;	/* events since the start */
	bool failing;			/* the last attempt failed */
	bool hangs;			/* the disk has been at one job for HISTORY_HUNG_US */
	char why[200];			/* the last failure; "": none yet */
};
struct history_state history_state(struct history *h);
const char *history_path(const struct history *h);

/*
 * Calls fn for each event with from_us <= time < until_us in the order in which they were stored,
 * until it returns false.  Any thread may call it, also while another one writes; it waits for the
 * disk.  False: err says why.  No database means no events.
 */
bool history_read(const char *path, int64_t from_us, int64_t until_us,
		  bool (*fn)(void *arg, const char *kind, const char *json), void *arg,
		  struct buf *err);

#endif
