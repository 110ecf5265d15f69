/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What devices said that cannot be or does not stay the same, and asking them again.
 *
 * A device that tells the truth again does not say that it does.  So with each light sweep the
 * following is asked for once more, and a local sweep looks at what turns out to be different:
 *  - what is on the list of answers that cannot be: a port, or who is behind a port;
 *  - values that a device said it keeps instead of those that it was given (store/refusals.h),
 *    ASK_AGAIN_MAX of them in one light sweep;
 *  - NodeInfo of each node that has not said the same twice, as discovery asks for it once;
 *  - in every other light sweep NodeInfo of each node with more than two ports: one that leaves
 *    out some of its ports hides what is behind them, and nobody else would tell.
 *
 * The list is for `health`, too; what is new on it is logged.  It holds LIARS_MAX; more are logged.
 */
#ifndef QOSD_SM_LIARS_H
#define QOSD_SM_LIARS_H

#include "fabric/fabric.h"

struct sm;

#define LIARS_MAX	4096
#define ASK_AGAIN_MAX	1024

struct liar {
	uint64_t guid;		/* of the node that has the port */
	uint8_t num;
	bool behind;		/* whoever is at the other end of the link of that port said it */
	bool answer;		/* it was an answer, which the next good one takes off the list */
	bool found;		/* … else: in the fabric that was published last */
	char text[224];
};

void liars_new(struct sm *sm);
void liars_free(struct sm *sm);
/* Nothing is published any more. */
void liars_stop(struct sm *sm);

/* An answer of a port of f, or from behind it, cannot be.  True: that is not on the list yet. */
bool liars_note(struct sm *sm, const struct fabric *f, uint32_t port, bool behind,
		const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* An answer was good. */
void liars_clear(struct sm *sm, const struct fabric *f, uint32_t port, bool behind);
bool liars_know(const struct sm *sm, const struct fabric *f, uint32_t port, bool behind);

/* A fabric was published: what does not fit in it comes on the list. */
void liars_look(struct sm *sm);
/* With a light sweep: asks again. */
void liars_ask(struct sm *sm);

/* i from 0; NULL: no more. */
const struct liar *liars_at(const struct sm *sm, size_t i);

#endif
