/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reports (13.4.9): events on their way to those who subscribed to them.
 *
 * Events go into one ring, once each, whoever wants them; each subscriber has
 * seen it up to some place and goes on from there when its last Report was
 * answered.  So a subscriber hears of events in their order, has one Report
 * outstanding at a time, and costs no memory by being slow: whoever is further
 * behind than the ring is long has lost events, and only those.  How many Reports
 * are outstanding in all is bounded, too, and so is what one call does.
 *
 * Those that do not answer are in nobody else's way.  Reports are sent through REPORTS_WINDOW places,
 * and one that is not answered within two ticks gives its place to another and goes on waiting
 * beside.  A port has some of the places only, by its holdings, and all subscribers that did not answer
 * their last Report share a few.  After REPORTS_UNANSWERED Reports in a row without an answer it is no subscriber
 * any more.
 *
 * No I/O and no clock: the caller sends, waits for answers, and has the time.
 */
#ifndef QOSD_SA_REPORTS_H
#define QOSD_SA_REPORTS_H

#include "lib/iba/sa_records.h"
#include "plan/published_state.h"
#include "sa/registry/holdings.h"
#include "sa/registry/subscriptions.h"

#define REPORTS_EVENTS		8192	/* in the ring */
#define REPORTS_WINDOW		32	/* outstanding and not late */
#define REPORTS_WINDOW_PORT	8	/* of one port */
#define REPORTS_WINDOW_SILENT	4	/* to those that did not answer the last one */
#define REPORTS_OUTSTANDING	512	/* in all; holdings bound it further, and by port */
#define REPORTS_SILENT		64
#define REPORTS_TICK_US		25000
#define REPORTS_UNANSWERED	3
#define REPORTS_TRIES		3	/* of each */

struct report {
	unsigned id;			/* below REPORTS_OUTSTANDING: for reports_answered() */
	uint16_t lid;			/* where to */
	uint32_t qpn;
	uint16_t pkey_index;
	uint8_t sl;
	unsigned timeout_ms;		/* of one try */
	uint8_t mad[MAD_LEN];		/* but for the TransactionID */
};

struct reports_hooks {
	/* Sends it; reports_answered() is to be called later.  False: it can't be sent. */
	bool (*send)(void *arg, const struct report *r);
	/* There is something to do: reports_work() is to be called soon, but not from here. */
	void (*wake)(void *arg);
	/* Nobody answered its Reports: it is a subscriber no more.  May be NULL. */
	void (*dropped)(void *arg, uint64_t guid, uint32_t qpn);
	/* Realtime, for people to be told since when somebody is silent.  May be NULL. */
	int64_t (*now_us)(void);
	void *arg;
};

struct reports_counts {
	uint64_t events, sent, answered, unanswered, lost, dropped_traps, dropped_subscribers;
};

struct reports;
struct reports *reports_new(struct subscriptions *db, const struct reports_hooks *hooks);
/* Counts those outstanding, by port, which has no more than it may hold.  NULL: no longer. */
void reports_hold(struct reports *r, struct holdings *h);
void reports_free(struct reports *r);		/* NULL is fine */

/*
 * The published state, or NULL; end ports that only one of two in a row has are
 * events 64 and 65.  A reference is taken.  The first one after none tells nothing:
 * what was before is not known.
 */
void reports_publish(struct reports *r, struct subnet_state *s);
/* A group, which may be gone after the call: event 66 or 67. */
void reports_group(struct reports *r, const uint8_t mgid[16], uint16_t pkey, bool created);
/*
 * An alias of a port, which is there or not: event 64, or 65 if it is gone.  What comes
 * and goes with its port is not told: that the port did is.
 */
void reports_alias(struct reports *r, uint64_t port, uint64_t alias, bool came);
/*
 * A trap that arrived: the data of its SMP.  How many of one source are heard is the caller's
 * to bound.
 */
void reports_trap(struct reports *r, const uint8_t smp_data[NOTICE_SMP_LEN], uint16_t slid);

/* Sends what may be sent now. */
void reports_work(struct reports *r);
/*
 * To be called each REPORTS_TICK_US while Reports are outstanding.  False: none is, and there is
 * no need until the next one is sent.
 */
bool reports_tick(struct reports *r);
/* A ReportResp came, or will not. */
void reports_answered(struct reports *r, unsigned id, bool answered);
const struct reports_counts *reports_counts(const struct reports *r);

#endif
