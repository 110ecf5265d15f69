/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compares what the VLs of a link got with what they are promised.
 *
 * A promise counts when there is more to send than the link can carry.  So a VL is short only if
 * all of this holds:
 *  - it got less than its promise, by more than JUDGE_TOLERANCE of the link and a tenth
 *    of the promise;
 *  - the link was full. A VL that waits on a link that is not full is held up further on, where
 *    buffers are full (7.9.4), not by this arbiter;
 *  - it wanted more, as XmitWait shows (ticks in which it had data and sent none).
 *
 * Waiting alone means nothing: on a full link every packet waits for one of the others.  A VL
 * that wants a share s, less than the link would give it, waits about as long as it sends.  A VL
 * that always has data waits during all the rest of the time, 1 - s.  Devices state the length
 * of a tick (PortSamplesControl), but do not agree on its meaning.  But on a full link some VL
 * always has data: the one with the most ticks in proportion to the time in which it did not
 * send.  That VL is the scale for the others: a VL with half as many ticks is taken to want
 * more.  If no other VL waited, because one VL had the whole link, a VL that sent nothing and
 * waited JUDGE_TICKS starved.
 *
 * Counters of 16 bits saturate soon: with ticks of 8 to 128 bytes, after a millisecond of
 * waiting.  If that prevents a verdict, the verdict is "unknown".
 *
 * The functions have no side effects.
 */
#ifndef QOSD_PERF_JUDGE_H
#define QOSD_PERF_JUDGE_H

#include "perf/pma.h"
#include "qos/arbiter/arbiter.h"

#define JUDGE_TOLERANCE	0.05	/* part of the link */
#define JUDGE_TICKS	1000	/* less waiting, a few packets' worth, means nothing */
#define JUDGE_FULL	0.8	/* part of the data rate from which a link counts as full */

enum verdict {
	VERDICT_NONE,		/* nothing is promised, or the link sent nothing */
	VERDICT_SERVED,		/* it got its promise */
	VERDICT_CONTENT,	/* it got less, and wanted no more */
	VERDICT_NOT_FULL,	/* it got less, but the link was not full */
	VERDICT_SHORT,		/* it got less, and wanted more */
	VERDICT_UNKNOWN,
};
const char *verdict_name(enum verdict v);

struct vl_use {
	struct pma_growth words;	/* sent, in units of 4 bytes */
	struct pma_growth wait;		/* ticks */
	double promised;		/* share of the link, 0..1 */
	/* results */
	double got;			/* share of what was sent, 0..1; -1: unknown */
	enum verdict verdict;
};

/*
 * Fills in got and verdict.  gbps: data rate of the link; us: time between the two reads.  An
 * unknown promise is 0.  Returns the part of the link's data rate that was used, -1 if unknown.
 */
double judge_vls(struct vl_use vls[ARB_VLS], double gbps, int64_t us);

#endif
