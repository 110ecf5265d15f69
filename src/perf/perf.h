/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Measures what VLs and levels got, and compares it with what the policy promises them.
 *
 * A measurement reads counters of ports from their devices twice.
 *
 * Nothing is read unless an operator asks for it, or `counters-interval` is set.  One
 * measurement runs at a time, with PERF_WINDOW requests outstanding.  A device is not asked
 * again for what it does not answer or says that it lacks.  Counters are not changed, unless the operator wants them
 * reset.
 *
 * For the loop's thread only.
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

#define PERF_WINDOW		128	/* requests outstanding */
#define PERF_FINDINGS_MAX	1000	/* findings remembered */
#define PERF_US_DEFAULT		1000000	/* time between the two reads */

/* A measured port. */
struct perf_port {
	uint32_t port;				/* index into the state's fabric */
	int64_t us;				/* time between the two reads; 0: there was none */
	struct pma_values before[PMA_ATTRS], after[PMA_ATTRS];
	/* computed from the reads */
	enum pma_attr by;			/* source of words by VL; PMA_ATTRS: unknown */
	double full;				/* part of the link's data rate; -1: unknown */
	bool promises;				/* the promises are known */
	struct pma_growth sl[IB_SL_COUNT];	/* words sent */
	uint16_t sls[ARB_VLS];			/* by VL: SLs that levels use */
	struct vl_use vls[ARB_VLS];
	uint16_t stray_sls, stray_vls;		/* see struct perf_stray */
};

struct perf_report {
	const struct subnet_state *state;	/* state that the ports belong to */
	bool reset;				/* the first read also reset the counters */
	struct perf_port *ports;
	uint32_t n;
	unsigned asked, silent;			/* requests, and those without an answer */
};

/* A VL that got less than it is promised while it wanted more, when it was last measured. */
struct perf_finding {
	uint64_t guid;				/* GUID of the port, or of a switch's node */
	uint8_t num, vl;
	char *port;				/* name of the port; owned, like the next */
	char *levels;				/* "a, b" */
	double got, promised;
	int64_t when_us;			/* realtime */
	bool looked_at;				/* covered by the measurement in progress */
};

/*
 * An SL that a port sent data on though no level has it, when it was last measured: a program chose it.  Of a
 * port that does not count by SL: a VL that no level uses there, by what the far end received.  Less than
 * PERF_STRAY_WORDS in a measurement is not counted: it may be management.
 */
#define PERF_STRAY_WORDS 10000
struct perf_stray {
	uint64_t guid;				/* as in struct perf_finding */
	uint8_t num;
	bool by_vl;				/* lane is a VL, not an SL */
	uint8_t lane;
	char *port;				/* owned */
	uint64_t bytes;				/* sent during the measurement */
	int64_t when_us;			/* realtime */
	bool looked_at;
};

/* What the VLs of a port got when it was last measured; a port that does not tell has none. */
#define PERF_GOT_MAX 200000
struct perf_got {
	uint64_t guid;				/* of the node */
	int64_t when_us;			/* realtime */
	float full;				/* part of the link's data rate; negative: not known */
	float got[ARB_VLS];			/* part of what was sent, 0..1; negative: not known */
	uint8_t verdict[ARB_VLS];		/* enum verdict */
	uint8_t num;
};

/* The same for all ports of a measurement. */
struct perf_stray_sum {
	uint64_t bytes;
	unsigned ports;
};

/* A level in the last measurement of all ports. */
struct perf_level {
	char *name;				/* owned */
	uint64_t bytes;				/* sent by all ports that count by SL */
	unsigned judged, short_of;		/* numbers of ports */
	double got, promised;			/* of the port with the greatest shortfall; 0: none */
};

struct perf_summary {
	int64_t when_us;			/* realtime; 0: never */
	unsigned ports, silent, lacking;	/* silent: do not answer; lacking: do not count by VL */
	double seconds;				/* mean time between the two reads */
	VEC(struct perf_level) levels;
	struct perf_stray_sum stray_sls[IB_SL_COUNT], stray_vls[ARB_VLS];
};

struct perf;
struct perf_hooks {
	void (*event)(void *arg, const struct event *e);
	void *arg;
};
/* interval_s: between measurements of all ports, 0: none; timeout_ms: of a request. */
struct perf *perf_new(struct loop *l, struct mad_port *m, uint32_t interval_s, bool reset,
		      unsigned timeout_ms, const struct perf_hooks *hooks);
/* Pending measurements end without calling fn.  Must be called before mad_close(). */
/* Changes how often all counters are read, from now on, and whether that resets them. */
void perf_set_interval(struct perf *p, uint32_t interval_s, bool reset);
void perf_free(struct perf *p);		/* NULL is fine */
/* Sets the state to be measured; NULL: we are not master, and nothing is measured. */
void perf_published(struct perf *p, struct subnet_state *s);

/*
 * Measures ports of the state, by index.  They must have links; n must be at least 1; the list
 * is copied.  fn is called once with the report, which is valid until fn returns.  False, with
 * the reason in err: another measurement is in progress, and fn is not called.
 */
bool perf_measure(struct perf *p, struct subnet_state *s, const uint32_t *ports, uint32_t n,
		  int64_t us, bool reset,
		  void (*fn)(void *arg, const struct perf_report *r), void *arg, struct buf *err);
/* Cancels the calls of fn with this arg. */
void perf_forget(struct perf *p, const void *arg);
/* Whether a port can be measured: it has an active link, and is not a switch's port 0. */
bool perf_can_measure(const struct subnet_state *s, uint32_t port);
/*
 * All measurable ports, by number, then by device; the caller frees the list.  NULL if there are
 * none.
 */
uint32_t *perf_ports(const struct subnet_state *s, uint32_t *n);

const struct perf_finding *perf_findings(const struct perf *p, size_t *n);
/* Sorted by SL, then by VL; at most PERF_FINDINGS_MAX. */
const struct perf_stray *perf_strays(const struct perf *p, size_t *n);
const struct perf_summary *perf_last(const struct perf *p);
/* What a port's VLs got; NULL: it was not measured, or does not tell. */
const struct perf_got *perf_port_got(const struct perf *p, const struct subnet_state *s, uint32_t port);
/* Appends "a, b": the levels that use one of these SLs, in any layer. */
void perf_level_names(const struct plan *p, uint16_t sls, struct buf *out);

#endif
