/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the VLs of a link got, against what they are promised.
 *
 * A promise counts when there is more to send than the link can carry.  So a VL is short
 * only if all of this holds:
 *  - it got less than its promise, by more than JUDGE_TOLERANCE of the link and a tenth
 *    of the promise;
 *  - the link was full.  A VL that waits on one that is not is held up further on, where
 *    buffers are full (7.9.4): the arbiter here has nothing to do with it;
 *  - it wanted more, which XmitWait shows (ticks in which it had data and sent none).
 *
 * To wait at times is nothing: on a full link every packet waits for one of the others.
 * Who wants a share s and less than the link gives waits about as long as it sends; who
 * always has something to send waits for all of the rest of the time, 1 - s.  How long a
 * tick is devices say (PortSamplesControl), and mean this or that by it.  But on a full link some
 * VL always has something to send: the one whose ticks are most, relative to the time
 * in which it did not send.  By that one's the others' are measured: half as much is
 * taken for wanting more.  Where nobody else waited, because one VL had it all, who sent
 * nothing and waited JUDGE_TICKS starved.
 *
 * Counters of 16 bits are full soon, with ticks of 8 to 128 bytes after a millisecond of
 * waiting.  Where that keeps from knowing, the verdict is that it is not known.
 *
 * Pure.
 */
#ifndef QOSD_PERF_JUDGE_H
#define QOSD_PERF_JUDGE_H

#include "perf/pma.h"
#include "qos/arbiter/arbiter.h"

#define JUDGE_TOLERANCE	0.05	/* of the link */
#define JUDGE_TICKS	1000	/* of less waiting nothing follows: that is some packets */
#define JUDGE_FULL	0.8	/* a link is full from so much of its data rate on */

enum verdict {
	VERDICT_NONE,		/* nothing is promised, or nothing was sent on the link */
	VERDICT_SERVED,		/* it has its promise */
	VERDICT_CONTENT,	/* it has less, and wanted no more */
	VERDICT_NOT_FULL,	/* it has less, but there was room on the link */
	VERDICT_SHORT,		/* it has less, and wanted more */
	VERDICT_UNKNOWN,
};
const char *verdict_name(enum verdict v);

struct vl_use {
	struct pma_growth words;	/* sent; units of 4 bytes */
	struct pma_growth wait;		/* ticks */
	double promised;		/* of the link, 0..1 */
	/* out */
	double got;			/* of what was sent; 0..1, -1: not known */
	enum verdict verdict;
};

/*
 * Fills in got and verdict.  gbps: data rate of the link; us: between the two reads.
 * Promises that nobody knows are 0.  Returns how full the link was, -1 if unknown.
 */
double judge_vls(struct vl_use vls[ARB_VLS], double gbps, int64_t us);

#endif
