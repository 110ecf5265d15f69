/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Detects ports that flood the subnet manager with MADs of one kind.
 *
 * The code works on a small table, and the caller passes the time.  A port and a kind hash to a
 * place in the table.  Two that share a place decrement each other's count, so that the place ends
 * up with the one that sends more.  Therefore a port that sends enough for a flood is found
 * whatever else arrives, and memory does not grow with the number of ports.
 */
#ifndef QOSD_MAD_FLOOD_H
#define QOSD_MAD_FLOOD_H

#include <stdbool.h>
#include <stdint.h>

#include "mad/mad.h"

#define FLOOD_PLACES	256u
#define FLOOD_WINDOW_US	1000000
#define FLOOD_OVER_US	10000000	/* a flood ends after this time below its limit */

struct flood_table;
struct flood_table *flood_table_new(void);
void flood_table_free(struct flood_table *t);	/* NULL is fine */

/*
 * Counts a MAD.  `source` identifies the sender: its LID, or another number if lid is
 * IB_LID_PERMISSIVE.  `dropped`: the MAD was not processed.
 */
void flood_note(struct flood_table *t, uint64_t source, uint16_t lid, enum mad_kind kind,
		bool dropped, int64_t now_us);
/* Returns each flood once, when it is new; false if there is no new one. */
bool flood_tell(struct flood_table *t, int64_t now_us, struct mad_flood *out);
/* Enumerates the current floods by i from 0; false at the end. */
bool flood_at(const struct flood_table *t, unsigned i, int64_t now_us, struct mad_flood *out);

#endif
