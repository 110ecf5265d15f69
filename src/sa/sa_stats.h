/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What an SA did: requests by attribute and by client, statuses, and how long
 * answers took.  Each face of an SA (struct sa) counts into one of its own.
 */
#ifndef QOSD_SA_SA_STATS_H
#define QOSD_SA_SA_STATS_H

#include <stdbool.h>
#include <stdint.h>

/* Statuses that there are, as indexes: see sa_stats.c. */
#define SA_STATUS_SLOTS 14
/* Times in µs, four slots to a power of two; the last one has all that took longer. */
#define SA_TIME_SLOTS 92
#define SA_ATTR_SLOTS 257
#define SA_ATTR_SLOT_REPLICA 256	/* what standbys ask for (SA_ATTR_REPLICA) */
#define SA_LIDS 0xc000		/* unicast LIDs, and 0 */
#define SA_CLIENTS_SECONDS 10	/* over which clients are counted */

struct sa_attr_stats {
	uint64_t requests;			/* answered ones */
	uint64_t status[SA_STATUS_SLOTS];
	uint64_t timed, total_us;		/* so many of them are in `time`; their sum */
	uint64_t time[SA_TIME_SLOTS];		/* from arrival to answer */
};

struct sa_stats {
	/*
	 * All requests are in one of answered, dropped (nothing is to be said) and abandoned
	 * (who asked went away, or asked again, before the answer was made), but for those
	 * whose answer is being made.  busy: of the answered ones, because it was too much.
	 */
	uint64_t requests, answered, dropped, abandoned, busy;
	int64_t busy_window;		/* in which it was BUSY last, if it ever was */
	/* index: attribute id; 0: those that are larger, but for SA_ATTR_REPLICA */
	struct sa_attr_stats by_attr[SA_ATTR_SLOTS];
	/* by LID: in the window that is not over yet, and in the last whole one */
	uint32_t clients[2][SA_LIDS];
	unsigned now;				/* index of the first of these */
	int64_t window;				/* number of the window: the same for all faces */
};

struct sa_stats *sa_stats_new(void);
void sa_stats_free(struct sa_stats *st);	/* NULL is fine */
/* Adds b to a, which are in the same window. */
void sa_stats_add(struct sa_stats *a, const struct sa_stats *b);

/* A request of a client came; now_us: monotonic, 0: not known. */
void sa_stats_request(struct sa_stats *st, uint16_t slid, int64_t now_us);
/* It was too much: the answer, which is counted as any other, is BUSY. */
void sa_stats_busy(struct sa_stats *st);
/* … and was answered.  us < 0: nobody looked at the clock. */
void sa_stats_answer(struct sa_stats *st, uint16_t attr, uint16_t status, int64_t us);
/* Begins a new window of clients if the last is over. */
void sa_stats_turn(struct sa_stats *st, int64_t now_us);

/* The attribute that a slot of by_attr stands for; 0: those that have none. */
uint16_t sa_attr_of_slot(unsigned slot);
/* The longest time in µs of a slot; the last one's is the longest of all. */
uint64_t sa_time_slot_end(unsigned slot);
/* The time in µs that so many percent of the answers did not exceed; as exact as slots are. */
uint64_t sa_time_percentile(const struct sa_attr_stats *a, double percent);

#endif
