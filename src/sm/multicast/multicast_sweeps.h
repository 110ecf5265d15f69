/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes multicast trees and alias GUIDs follow sweeps.
 */
#ifndef QOSD_SM_MULTICAST_MULTICAST_SWEEPS_H
#define QOSD_SM_MULTICAST_MULTICAST_SWEEPS_H

#include "sm/sm.h"

/* multicast.c */
void multicast_after_sweep(struct sm *sm);
/* Before a sweep publishes: takes note of the MFTs whose contents the sweep puts in doubt. */
void multicast_observed(struct sm *sm);
void multicast_stop(struct sm *sm);
/* Fills the members of out that describe trees. */
void multicast_status(const struct sm *sm, struct sm_status *out);
/* Blocks are being written, or will be in a moment. */
bool multicast_is_busy(const struct sm *sm);
/* The contents of a block that needs no write; false: they are unknown. */
bool multicast_block_is(const struct sm *sm, uint64_t guid, unsigned block, unsigned position,
			uint8_t entries[64]);

/* alias_guids.c: the same for alias GUIDs of ports; the work outlives guidinfo_stop() */
void guidinfo_after_sweep(struct sm *sm);
void guidinfo_observed(struct sm *sm);
void guidinfo_stop(struct sm *sm);
void guidinfo_free(struct sm *sm);

#endif
