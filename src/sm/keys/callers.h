/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who sent us an SMP: nobody can tell from what it says.  But the answer to a directed route goes
 * back the way that the switches wrote into it, so whoever sits at the other end of that way is
 * the sender, and can be asked for its SMInfo; and the SLID of a LID-routed SMP is that of one
 * port, whose LID can be read.  The request waits meanwhile.
 *
 * A sender that has told the SM_Key is remembered by its way for a while, and so is, for a
 * moment, one that has not, or is not who it said, so that a host which asks or claims again and
 * again costs nothing more and keeps nobody else waiting.
 *
 * Bounds: 8 Gets and 4 controls wait at a time, 100 senders of Gets are asked in a second, and 64
 * ways are remembered.
 */
#ifndef QOSD_SM_KEYS_CALLERS_H
#define QOSD_SM_KEYS_CALLERS_H

#include <stdbool.h>
#include <stdint.h>

#include "mad/mad.h"
#include "sm/election/election_table.h"

struct sm;
struct callers;

/* What came of it. */
struct caller {
	bool is_there;			/* the GUID that it claims is there, or its LID is right */
	bool tells_key;			/* it answered with the SM_Key itself */
	bool proves_key;		/* it showed by a proof that it has it (sm/keys/proof.h) */
	struct sm_info info;		/* that it answered with; zeros where its LID was asked for */
	struct smp route;		/* to it; good during the call only */
};
/* In the loop's thread; `in` is a copy of the request and can be answered. */
typedef void caller_fn(struct sm *sm, const struct mad_in *in, const struct caller *who);

void callers_new(struct sm *sm);
void callers_free(struct sm *sm);

/* Whether the sender, by the way that the request came, has told the SM_Key lately. */
bool callers_knows(const struct sm *sm, const struct mad_in *in);
/*
 * Asks the sender of a directed-route SMP for its SMInfo.  guid: that it is said to have, by
 * which it can prove that it has the SM_Key; 0: any, and the key itself is what counts.
 * False: fn will not be called, as it has no such way, did not tell the key a moment ago, or
 * too many are being asked.
 */
bool callers_ask(struct sm *sm, const struct mad_in *in, uint64_t guid, caller_fn *fn);
/*
 * Asks the port at the end of a route whether the SLID of a LID-routed SMP is its own.  False as
 * above.
 */
bool callers_ask_lid(struct sm *sm, const struct mad_in *in, const struct smp *route,
		     caller_fn *fn);

#endif
