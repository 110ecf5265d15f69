/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Routes a fabric by a given up/down order (internal to routing/). */
#ifndef QOSD_ROUTING_UPDN_UPDN_H
#define QOSD_ROUTING_UPDN_UPDN_H

#include "routing/updn/order.h"

/*
 * Result of a routing; a pair is a switch with an end port, and a port with a LID in the same connected
 * component.
 */
struct updn_outcome {
	uint64_t lost;		/* pairs without a path whose LID is an end port's */
	uint64_t lost_inner;	/* pairs without a path whose LID is a switch's own port 0 */
};

/* Overwrites out completely.  Ignores r->order. */
struct updn_outcome updn_by(const struct route_request *r, const struct updn_order *o,
			    struct lfts *out);

#endif
