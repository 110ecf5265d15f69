/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends Reports (13.4.9) of events to subscribers.
 *
 * Each event is stored once, in a ring that all subscribers share.  A subscriber has a
 * position in the ring, and gets the Report of the next event it subscribed to when it has
 * answered the last Report.  So a subscriber gets events in order, has one Report outstanding,
 * and costs no memory by being slow: if it is further behind than the ring is long, it loses the
 * oldest events.  The number of Reports outstanding and the work of one call are bounded.
 *
 * Silent subscribers do not delay others.  The window has REPORTS_WINDOW places.  A Report that
 * is not answered within two ticks leaves the window and still waits for its answer.  A port may have
 * REPORTS_WINDOW_PORT of the places, and all subscribers that did not answer their last
 * Report share REPORTS_WINDOW_SILENT.  After REPORTS_UNANSWERED Reports in a row without an answer a
 * subscriber is dropped.
 *
 * No I/O and no clock: the caller sends Reports, waits for answers, and calls reports_tick().
 */
#ifndef QOSD_SA_REPORTS_H
#define QOSD_SA_REPORTS_H

#include "lib/iba/sa_records.h"
#include "plan/published_state.h"
#include "sa/registry/holdings.h"
#include "sa/registry/subscriptions.h"

#define REPORTS_EVENTS		8192	/* length of the ring */
#define REPORTS_WINDOW		32	/* Reports outstanding and not late */
#define REPORTS_WINDOW_PORT	8	/* places of one port in the window */
#define REPORTS_WINDOW_SILENT	4	/* places of subscribers that did not answer their last Report */
#define REPORTS_OUTSTANDING	512	/* Reports in all; holdings bound them further, also by port */
#define REPORTS_SILENT		64	/* Reports in all to such subscribers */
#define REPORTS_TICK_US		25000
#define REPORTS_UNANSWERED	3
#define REPORTS_TRIES		3	/* sends of one Report */

struct report {
	unsigned id;			/* for reports_answered(); below REPORTS_OUTSTANDING */
	uint16_t lid;			/* destination */
	uint32_t qpn;
	uint16_t pkey_index;
	uint8_t sl;
	unsigned timeout_ms;		/* for the answer to one try */
	uint8_t mad[MAD_LEN];		/* the whole MAD except the TransactionID */
};

struct reports_hooks {
	/* Sends a Report; the caller must call reports_answered() later.  False: it cannot be sent. */
	bool (*send)(void *arg, const struct report *r);
	/* Asks the caller to call reports_work() soon, but not from within this hook. */
	void (*wake)(void *arg);
	/* The subscriber did not answer its Reports and is about to be dropped.  May be NULL. */
	void (*dropped)(void *arg, uint64_t guid, uint32_t qpn);
	/* Realtime, to show since when a subscriber is silent.  May be NULL. */
	int64_t (*now_us)(void);
	void *arg;
};

struct reports_counts {
	uint64_t events, sent, answered, unanswered, lost, dropped_traps, dropped_subscribers;
};

struct reports;
struct reports *reports_new(struct subscriptions *db, const struct reports_hooks *hooks);
/* Counts the Reports outstanding to each port in h, which also bounds them; NULL: no holdings. */
void reports_hold(struct reports *r, struct holdings *h);
void reports_free(struct reports *r);		/* NULL is fine */

/*
 * Sets the published state, or NULL, and takes a reference.  An end port that appears or
 * disappears between two states in a row is an event (trap 64 or 65).  A state that follows
 * NULL makes no events.
 */
void reports_publish(struct reports *r, struct subnet_state *s);
/* A multicast group was created (trap 66) or is about to be deleted (trap 67). */
void reports_group(struct reports *r, const uint8_t mgid[16], uint16_t pkey, bool created);
/*
 * A port got an alias (trap 64) or lost one (trap 65).  No event if the port is not in the
 * fabric: when it comes or goes, subscribers hear of the port, not of its aliases.
 */
void reports_alias(struct reports *r, uint64_t port, uint64_t alias, bool came);
/*
 * A trap arrived; smp_data is the data of its SMP.  The caller bounds the rate of traps from one
 * source.
 */
void reports_trap(struct reports *r, const uint8_t smp_data[NOTICE_SMP_LEN], uint16_t slid);

/* Sends the Reports that may be sent now. */
void reports_work(struct reports *r);
/*
 * The caller calls this every REPORTS_TICK_US while Reports are outstanding.  False: none is, and
 * ticks may stop until the next Report is sent.
 */
bool reports_tick(struct reports *r);
/* The ReportResp to a Report came (answered), or all tries timed out. */
void reports_answered(struct reports *r, unsigned id, bool answered);
const struct reports_counts *reports_counts(const struct reports *r);

#endif
