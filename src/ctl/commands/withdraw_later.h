/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Withdraws places for `drain` and `isolate` once a thread has judged what comes of it, which takes too long for the
 * loop on a large fabric.
 *
 * The list may have changed meanwhile, which is rare: then it is judged again, in the loop.
 */
#ifndef QOSD_CTL_COMMANDS_WITHDRAW_LATER_H
#define QOSD_CTL_COMMANDS_WITHDRAW_LATER_H

#include "ctl/commands/cmd_withdrawals.h"
#include "sm/devices/isolation_loss.h"

struct withdrawing {
	const struct subnet_state *state;	/* as the request found it */
	/* owned, and not judge()'s to change */
	struct withdrawals *places;		/* those of the command */
	struct withdrawals *list;		/* all, with them */
	struct withdrawals *before;		/* all, without them */
	bool force;				/* the flag of the command */
	/* what judge() finds */
	struct isolation_loss loss;
	json_t *rows;				/* the places, for the answer; owned */
};

struct withdrawing_ops {
	void (*judge)(struct withdrawing *x);	/* in any thread */
	/* Whether the list may be put in force; false with an error in the reply.  NULL: always. */
	bool (*allows)(const struct withdrawing *x, struct reply *r);
};

/* Takes ownership of both lists. */
void withdraw_later(const struct ctl_call *c, struct withdrawals *list, struct withdrawals *places,
		    const struct withdrawing_ops *ops, struct reply *r);

#endif
