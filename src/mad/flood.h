/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which ports send too many MADs, and of which kind.  Pure: a small table, and time as a
 * parameter.
 *
 * A port and a kind have a place in the table by their hash.  Two that share a place take from
 * each other's count, so that the place ends up with the one that sends more.  A port that sends
 * as much as a flood is therefore found, whatever else comes, and memory does not grow with ports.
 */
#ifndef QOSD_MAD_FLOOD_H
#define QOSD_MAD_FLOOD_H

#include <stdbool.h>
#include <stdint.h>

#include "mad/mad.h"

#define FLOOD_PLACES	256u
#define FLOOD_WINDOW_US	1000000
#define FLOOD_OVER_US	10000000	/* without too many: the flood is over */

struct flood_table;
struct flood_table *flood_table_new(void);
void flood_table_free(struct flood_table *t);	/* NULL is fine */

/*
 * A MAD came that counts.  source: the port's LID, or what else it is known by if lid is
 * IB_LID_PERMISSIVE; dropped: it was not looked at.
 */
void flood_note(struct flood_table *t, uint64_t source, uint16_t lid, enum mad_kind kind,
		bool dropped, int64_t now_us);
/* A flood that nobody was told of yet; false: none. */
bool flood_tell(struct flood_table *t, int64_t now_us, struct mad_flood *out);
/* The floods that go on, i from 0; false: there are no more. */
bool flood_at(const struct flood_table *t, unsigned i, int64_t now_us, struct mad_flood *out);

#endif
