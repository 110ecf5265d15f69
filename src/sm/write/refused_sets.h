/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Deals with Sets that devices answer with an error.
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
 * A Set was answered with an error.  True: the refusal is for good.  want: a digest of the data.
 * Called from a job of a sweep, or between mad_hold() and mad_release().
 */
bool refused_for_good(struct sm *sm, uint64_t guid, uint16_t attr, uint32_t mod, uint64_t want,
		      unsigned status);
/*
 * The same within a sweep.  If the refusal is not for good, the sweep is incomplete and the node is
 * soon tried again.
 */
void refused_note(struct sm *sm, uint32_t node, uint16_t attr, uint32_t mod, uint64_t want,
		  unsigned status);
/*
 * The same for one field of an attribute, which the caller then leaves out; mod: its bits that IBA
 * leaves free tell the field from others.  True: the refusal is for good, and the caller remembers
 * it.
 */
bool refused_field(struct sm *sm, uint32_t node, uint16_t attr, uint32_t mod);
/* The device took a Set, or already has the value. */
void refused_taken(struct sm *sm, uint64_t guid, uint16_t attr, uint32_t mod);
/*
 * Called when a sweep knows the fabric and writes next.  refused_end(): the sweep is over or given
 * up; refused_swept(): it has published.
 */
void refused_begin(struct sm *sm);
/*
 * A node of f, which has just been discovered, must be tried again: it has restarted since old was
 * published, or another device may have answered in its name.
 */
bool refused_starts_anew(const struct fabric *old, const struct fabric *f, uint32_t node);
void refused_end(struct sm *sm);
/* The switch refuses SwitchInfo for good, so its PortStateChange cannot be cleared. */
bool refused_clearing(const struct sm *sm, uint64_t guid);
void refused_swept(struct sm *sm);

#endif
