/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Prunes memories that are kept by GUID once their nodes and ports are gone.
 *
 * Local sweeps add to such memories and take nothing away, as a node that is gone may soon be back.
 * Hosts that come with new GUIDs each time would let a memory grow from one discovery to the next,
 * so it is pruned when it has outgrown the fabric.
 */
#ifndef QOSD_SM_SWEEP_FORGET_H
#define QOSD_SM_SWEEP_FORGET_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/map64.h"

/* GUIDs that a memory may hold beyond those of the fabric. */
#define FORGET_SPARE 4096u

/*
 * Drops the GUIDs that are not in `present` if the memory holds more than FORGET_SPARE of them.
 * True: some were dropped.
 */
bool forget_gone(struct map64 *guids, const struct map64 *present);

#endif
