/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sets that are answered with an error.
 */
#ifndef QOSD_SM_WRITE_REFUSED_SETS_H
#define QOSD_SM_WRITE_REFUSED_SETS_H

#include <stdbool.h>
#include <stdint.h>

struct fabric;
struct sm;

void refused_new(struct sm *sm);
void refused_free(struct sm *sm);
/*
 * A Set was answered with an error: is that for good?  want: a digest of what was to be set.  From a
 * job of a sweep, or between mad_hold() and mad_release().
 */
bool refused_for_good(struct sm *sm, uint64_t guid, uint16_t attr, uint32_t mod, uint64_t want,
		      unsigned status);
/* The same in a sweep: if it is not, the sweep is incomplete, and the node is tried again soon. */
void refused_note(struct sm *sm, uint32_t node, uint16_t attr, uint32_t mod, uint64_t want,
		  unsigned status);
/*
 * The same for one field of an attribute, which the caller excludes then; mod: bits that IBA leaves
 * free tell it from others.  True: that is for good, and the caller remembers it.
 */
bool refused_field(struct sm *sm, uint32_t node, uint16_t attr, uint32_t mod);
/* The device took a Set, or has what it was to have. */
void refused_taken(struct sm *sm, uint64_t guid, uint16_t attr, uint32_t mod);
/* A sweep knows the fabric, and writes next; it is over, or given up; it has published. */
void refused_begin(struct sm *sm);
/*
 * Whether a node of f, which has just been discovered, is to be tried again: it has started anew since
 * old was published, or another device may have answered in its name.
 */
bool refused_starts_anew(const struct fabric *old, const struct fabric *f, uint32_t node);
void refused_end(struct sm *sm);
/* The switch refuses SwitchInfo for good: its PortStateChange can't be cleared. */
bool refused_clearing(const struct sm *sm, uint64_t guid);
void refused_swept(struct sm *sm);

#endif
