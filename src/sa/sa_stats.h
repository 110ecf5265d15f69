/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts the SA's requests by attribute, client and status, and how long answers took.
 *
 * Each struct sa counts into a struct sa_stats of its own; sa_stats_add() adds them up.
 */
#ifndef QOSD_SA_SA_STATS_H
#define QOSD_SA_SA_STATS_H

#include <stdbool.h>
#include <stdint.h>

/* The number of MAD statuses; sa_stats.c maps a status to its index. */
#define SA_STATUS_SLOTS 14
/* Histogram of times in µs: four slots for each power of two; the last slot has all longer times. */
#define SA_TIME_SLOTS 92
#define SA_ATTR_SLOTS 257
#define SA_ATTR_SLOT_REPLICA 256	/* SA_ATTR_REPLICA, which standbys ask for */
#define SA_LIDS 0xc000		/* unicast LIDs and LID 0 */
#define SA_CLIENTS_SECONDS 10	/* window in which requests by client are counted */

struct sa_attr_stats {
	uint64_t requests;			/* answered requests */
	uint64_t status[SA_STATUS_SLOTS];
	uint64_t timed, total_us;		/* number of requests in `time`, and the sum of their times */
	uint64_t time[SA_TIME_SLOTS];		/* histogram of times from arrival to answer */
};

struct sa_stats {
	/*
	 * Each request ends as answered, dropped (it gets no answer) or abandoned (the client went
	 * away or asked again before the answer was complete).  Requests whose answer is being made
	 * are in `requests` only.  busy: answered with BUSY because of overload.
	 */
	uint64_t requests, answered, dropped, abandoned, busy;
	int64_t busy_window;		/* number of the window of the last BUSY; 0: none yet */
	/* index: AttributeID; 0: larger AttributeIDs, except SA_ATTR_REPLICA */
	struct sa_attr_stats by_attr[SA_ATTR_SLOTS];
	/* requests by SLID: in the present window (at `now`) and in the last complete one */
	uint32_t clients[2][SA_LIDS];
	unsigned now;				/* index of the present window in `clients` */
	int64_t window;				/* number of the present window, the same in all sa_stats */
};

struct sa_stats *sa_stats_new(void);
void sa_stats_free(struct sa_stats *st);	/* NULL is fine */
/* Adds b to a; both must be in the same window. */
void sa_stats_add(struct sa_stats *a, const struct sa_stats *b);

/* Counts a request; now_us: monotonic, 0: not known. */
void sa_stats_request(struct sa_stats *st, uint16_t slid, int64_t now_us);
/* Counts an answer of BUSY for overload, besides sa_stats_answer(). */
void sa_stats_busy(struct sa_stats *st);
/* Counts an answer; us: time from arrival to answer, < 0: not timed. */
void sa_stats_answer(struct sa_stats *st, uint16_t attr, uint16_t status, int64_t us);
/* Begins a new window of clients if the present one is over. */
void sa_stats_turn(struct sa_stats *st, int64_t now_us);

/* The AttributeID of a slot of by_attr; 0: the slot of all others. */
uint16_t sa_attr_of_slot(unsigned slot);
/* The longest time in µs of a slot; times of the last slot may be longer. */
uint64_t sa_time_slot_end(unsigned slot);
/* The time in µs that so many percent of the answers did not exceed, rounded up to the end of a slot. */
uint64_t sa_time_percentile(const struct sa_attr_stats *a, double percent);

#endif
