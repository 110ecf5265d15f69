/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Routes by a given up/down order, and the orders that there are to choose from (internal to routing/). */
#ifndef QOSD_ROUTING_UPDN_UPDN_H
#define QOSD_ROUTING_UPDN_UPDN_H

#include "routing/updn/order.h"

/* What came of it; a pair is a switch with an end port, and a port with a LID in the same part. */
struct updn_outcome {
	uint64_t lost;		/* pairs with an end port that have no path */
	uint64_t lost_inner;	/* pairs with a switch's own port 0 */
};

/* Fills out, whatever it held.  r->order is of no account. */
struct updn_outcome updn_by(const struct route_request *r, const struct updn_order *o,
			    struct lfts *out);

#endif
