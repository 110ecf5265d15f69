/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds out who sent an SMP, by asking the device where it came from.
 *
 * An SMP does not identify its sender.  But the answer to a directed-route SMP goes back the way
 * that the switches recorded in it, so whoever sits at the other end of that route is the sender
 * and can be asked for its SMInfo.  The SLID of a LID-routed SMP is the LID of one port, which can
 * be read. The request waits meanwhile.
 *
 * A sender that has shown the SM_Key is remembered by its route for a while.  A sender that has
 * not, or is not who it claimed to be, is remembered for a moment, so that a host which asks or
 * claims again and again costs nothing more and delays nobody.
 *
 * Bounds: 8 Gets and 4 controls wait at a time, 100 senders of Gets are asked per second, and 64
 * routes are remembered.
 */
#ifndef QOSD_SM_KEYS_CALLERS_H
#define QOSD_SM_KEYS_CALLERS_H

#include <stdbool.h>
#include <stdint.h>

#include "mad/mad.h"
#include "sm/election/election_table.h"

struct sm;
struct callers;

/* The result for one sender. */
struct caller {
	bool is_there;			/* the claimed GUID is at the end of the route, or the LID is right */
	bool tells_key;			/* it answered with the SM_Key itself */
	bool proves_key;		/* it proved that it has the key (sm/keys/proof.h) */
	struct sm_info info;		/* its answer; zeros where its LID was asked for */
	struct smp route;		/* the route to it; valid during the call only */
};
/* Called in the loop's thread; `in` is a copy of the request and can be answered. */
typedef void caller_fn(struct sm *sm, const struct mad_in *in, const struct caller *who);

void callers_new(struct sm *sm);
void callers_free(struct sm *sm);

/* The sender at the end of the request's route has shown the SM_Key lately. */
bool callers_knows(const struct sm *sm, const struct mad_in *in);
/*
 * Asks the sender of a directed-route SMP for its SMInfo.  guid: the port GUID that the sender
 * claims, which a proof of the SM_Key needs; 0: any GUID, and only the key itself counts.  False:
 * fn will not be called, as the SMP has no such route, the sender failed to show the key a moment
 * ago, or too many senders are being asked.
 */
bool callers_ask(struct sm *sm, const struct mad_in *in, uint64_t guid, caller_fn *fn);
/* Asks the port at the end of a route whether the SLID of a LID-routed SMP is its own. False as above. */
bool callers_ask_lid(struct sm *sm, const struct mad_in *in, const struct smp *route,
		     caller_fn *fn);

#endif
