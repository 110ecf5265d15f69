/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Measurements: counters of ports are read from their devices twice, and what VLs
 * and levels got in between is held against what the policy promises them.
 *
 * Nothing is read unless it is asked for, or `counters-interval` says so.  One
 * measurement runs at a time, with PERF_WINDOW requests outstanding.  What a device does
 * not answer it is not asked for again.  No counter is changed, unless that is wished.
 *
 * Of the loop's thread.
 */
#ifndef QOSD_PERF_PERF_H
#define QOSD_PERF_PERF_H

#include "events/event.h"
#include "lib/base/alloc.h"
#include "lib/loop/loop.h"
#include "mad/mad.h"
#include "perf/judge.h"
#include "plan/port_shares.h"
#include "plan/published_state.h"

#define PERF_WINDOW		16	/* requests outstanding */
#define PERF_FINDINGS_MAX	1000	/* that are remembered */
#define PERF_US_DEFAULT		1000000	/* between the two reads */

/* A port that was measured. */
struct perf_port {
	uint32_t port;				/* index into the state's fabric */
	int64_t us;				/* between the two reads; 0: there was none */
	struct pma_values before[PMA_ATTRS], after[PMA_ATTRS];
	/* Made of them. */
	enum pma_attr by;			/* whence words by VL are; PMA_ATTRS: they are not */
	double full;				/* of the link's data rate; -1: unknown */
	bool promises;				/* are known */
	struct pma_growth sl[IB_SL_COUNT];	/* words sent */
	uint16_t sls[ARB_VLS];			/* SLs that levels have, by VL */
	struct vl_use vls[ARB_VLS];
};

struct perf_report {
	const struct subnet_state *state;	/* whose ports they are */
	bool reset;				/* counters were reset before */
	struct perf_port *ports;
	uint32_t n;
	unsigned asked, silent;			/* requests, and those without an answer */
};

/* A VL that got less than it is promised while it wanted more, when it was last looked at. */
struct perf_finding {
	uint64_t guid;				/* of the port (a switch's: the node's), … */
	uint8_t num, vl;
	char *port;				/* … and its name; owned, as the next */
	char *levels;				/* "a, b" */
	double got, promised;
	int64_t when_us;			/* realtime */
	bool looked_at;				/* … by the measurement that is under way */
};

/* What a level had in the last measurement of all ports. */
struct perf_level {
	char *name;				/* owned */
	uint64_t bytes;				/* sent by all ports that tell it by SL */
	unsigned judged, short_of;		/* ports */
	double got, promised;			/* of the port that is short by most; 0: none */
};

struct perf_summary {
	int64_t when_us;			/* realtime; 0: never */
	unsigned ports, silent, lacking;	/* do not answer; do not tell by VL */
	double seconds;				/* between the two reads, the mean */
	VEC(struct perf_level) levels;
};

struct perf;
struct perf_hooks {
	void (*event)(void *arg, const struct event *e);
	void *arg;
};
/* interval_s: a measurement of all ports as often, 0: never.  timeout_ms: of a request. */
struct perf *perf_new(struct loop *l, struct mad_port *m, uint32_t interval_s, bool reset,
		      unsigned timeout_ms, const struct perf_hooks *hooks);
/* Nobody is told any more.  Before mad_close(). */
void perf_free(struct perf *p);		/* NULL is fine */
/* From now on this is measured; NULL: we are not master, nothing is. */
void perf_published(struct perf *p, struct subnet_state *s);

/*
 * Measures ports of the state, by index, which must be linked; n is 1.. and the list is
 * copied.  fn is called once with the report, good until it returns.  False, with
 * the reason in err, and fn is not called: another measurement is under way.
 */
bool perf_measure(struct perf *p, struct subnet_state *s, const uint32_t *ports, uint32_t n,
		  int64_t us, bool reset,
		  void (*fn)(void *arg, const struct perf_report *r), void *arg, struct buf *err);
/* Who asked is gone: fn is not called with this arg. */
void perf_forget(struct perf *p, const void *arg);
/* Whether a port can be measured: it has a link that is up, and is no switch's port 0. */
bool perf_can_measure(const struct subnet_state *s, uint32_t port);
/* All that can, by number, then by device; the caller's.  NULL if there are none. */
uint32_t *perf_ports(const struct subnet_state *s, uint32_t *n);

const struct perf_finding *perf_findings(const struct perf *p, size_t *n);
const struct perf_summary *perf_last(const struct perf *p);
/* "a, b": the levels that have one of these SLs, in whatever layer. */
void perf_level_names(const struct plan *p, uint16_t sls, struct buf *out);

#endif
