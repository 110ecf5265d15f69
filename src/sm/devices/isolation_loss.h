/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Says whom isolated places (withdrawals.h) cut off.  Pure; both functions take time proportional to the fabric.
 */
#ifndef QOSD_SM_DEVICES_ISOLATION_LOSS_H
#define QOSD_SM_DEVICES_ISOLATION_LOSS_H

#include "sm/devices/withdrawals.h"

#define ISOLATION_SHOWN 3
/* Whom isolation cuts off from the manager who is not isolated itself. */
struct isolation_loss {
	uint32_t hosts;				/* end ports of hosts, */
	uint32_t first[ISOLATION_SHOWN];	/* the first of them */
	uint32_t switches;
};
/*
 * Whom the list w cuts off in f whom the list `before` (NULL: an empty one) does not: f may not be cut by that one yet.
 */
struct isolation_loss isolations_loss(const struct withdrawals *w, const struct withdrawals *before,
				      const struct fabric *f);

/* For each link of f that w leaves, whom it would cut off if it were isolated, too. */
struct isolation_ways *isolation_ways_new(const struct withdrawals *w, const struct fabric *f);
void isolation_ways_free(struct isolation_ways *x);	/* NULL is fine */
/* For the link of this port, between switches.  Takes constant time; `first` of the result is empty. */
struct isolation_loss isolation_ways_loss(const struct isolation_ways *x, uint32_t port);

#endif
