/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How multicast trees and alias GUIDs follow sweeps.
 */
#ifndef QOSD_SM_MULTICAST_MULTICAST_SWEEPS_H
#define QOSD_SM_MULTICAST_MULTICAST_SWEEPS_H

#include "sm/sm.h"

/* multicast.c */
void multicast_after_sweep(struct sm *sm);
/* Before it publishes: what MFTs it leaves in doubt. */
void multicast_observed(struct sm *sm);
void multicast_stop(struct sm *sm);
/* Of out, the members that tell of trees. */
void multicast_status(const struct sm *sm, struct sm_status *out);
/* Blocks are being written, or will be in a moment. */
bool multicast_is_busy(const struct sm *sm);
/* What a block holds, if nothing is to be written to it; false: nobody knows. */
bool multicast_block_is(const struct sm *sm, uint64_t guid, unsigned block, unsigned position,
			uint8_t entries[64]);

/* alias_guids.c: the same for the aliases of ports; the work is kept from one stop to the next */
void guidinfo_after_sweep(struct sm *sm);
void guidinfo_observed(struct sm *sm);
void guidinfo_stop(struct sm *sm);
void guidinfo_free(struct sm *sm);

#endif
