/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes the report of the subnet: one HTML page that needs nothing from outside, with the data of a
 * published state in it.
 *
 * The page is share/report/, the same for each subnet.  The data is one JSON object, compressed, in the place
 * that the page has for it; the page's script draws it.  Nothing of the fabric stands in the page as HTML, so
 * no name can become part of its markup.
 */
#ifndef QOSD_CTL_REPORT_REPORT_H
#define QOSD_CTL_REPORT_REPORT_H

#include "ctl/command.h"
#include "plan/feasible/feasible.h"

#define REPORT_EVENTS 500	/* the last ones */
#define REPORT_GROUPS 60	/* most port groups in the matrix */
#define REPORT_BUSY 0.005f	/* part of a link's data rate from which its shares are shown */
#define REPORT_GOTS 2000	/* most ends of links with what their VLs got */

/*
 * The report of a state.  report_new() collects in the loop's thread what changes there (status, health,
 * events, counters) and references the state; report_make() adds the rest, and may run in another thread.
 */
struct report;
struct report *report_new(const struct ctl_call *c);
/* Appends the data, compressed and in base64. */
void report_make(struct report *r, struct buf *out);
void report_free(struct report *r);		/* in the loop's thread */

/* The page up to the place of the data, and from there on. */
void report_page(const char **head, size_t *n_head, const char **tail, size_t *n_tail);
/* The Content-Security-Policy of the page, for an HTTP header; static. */
const char *report_page_policy(void);

/*
 * The newest data, for many readers (live_report.c).  live_report_data() appends it, and has it made anew if it
 * is old; false: there is none yet.  For the loop's thread.
 */
struct live_report;
struct live_report *live_report_new(struct loop *l);
bool live_report_data(struct live_report *x, const struct ctl_call *c, struct buf *out);
void live_report_free(struct live_report *x);	/* NULL is fine; waits for its thread */

/* --- parts of the data, for any thread --- */

/* Adds "nodes", "switches", "shape" and "ends". */
void report_nodes(json_t *out, const struct subnet_state *s);
/* Adds "links"; v is a judgement of the state's plan. */
void report_links(json_t *out, const struct subnet_state *s, const struct feasibility *v);
/* Adds "pairs": the level of a plain path query between any two port groups of the policy. */
void report_pairs(json_t *out, const struct subnet_state *s);

/*
 * What was measured.  report_measured_new() copies it, in the loop's thread; report_measured() adds "measured", and to
 * "links" the columns of loads and waits if there are any.
 */
struct report_measured;
struct report_measured *report_measured_new(const struct ctl_call *c);
void report_measured(json_t *out, struct report_measured *m, const struct subnet_state *s);
void report_measured_free(struct report_measured *m);

#endif
