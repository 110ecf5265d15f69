/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is remembered of nodes and ports by GUID, when these are gone.
 *
 * Local sweeps add to such memories and take nothing away, as a node that is gone may be back soon.
 * Hosts that come with new GUIDs each time would let them grow from one discovery to the next, so
 * they are pruned when they have outgrown the fabric.
 */
#ifndef QOSD_SM_SWEEP_FORGET_H
#define QOSD_SM_SWEEP_FORGET_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/map64.h"

/* So many more GUIDs than there are in the fabric may be remembered. */
#define FORGET_SPARE 4096u

/*
 * Drops the GUIDs that `present` does not have, if there are more than FORGET_SPARE beyond those
 * that it has.  True: some were dropped.
 */
bool forget_gone(struct map64 *guids, const struct map64 *present);

#endif
