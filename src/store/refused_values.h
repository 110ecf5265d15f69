/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Values that devices do not take, by device, attribute and AttributeModifier: a Set that a
 * device confirms and does not follow (refused by value), or answers with an error each time (by
 * status).  As data: nothing is sent or written here.
 *
 * There is one refusal for an AttributeModifier of a device's attribute: that of the value that was
 * asked for last.  The oldest give way when there are more than REFUSALS_MAX.
 *
 * A kind is what is remembered of one attribute of one device.  It is firm by status when the device
 * took no value of that attribute since: then another value need not be tried several times.
 */
#ifndef QOSD_STORE_REFUSED_VALUES_H
#define QOSD_STORE_REFUSED_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REFUSALS_MAX 65536

struct refused_set {
	uint64_t guid;		/* of the node */
	uint64_t want;		/* a digest of what was asked */
	uint64_t got;		/* … of what the device has instead, or refusal_status() */
	uint32_t mod;		/* AttributeModifier; bits that IBA leaves free are the caller's */
	uint16_t attr;
};

/* In place of `got`: the device answers with this MAD status (0: it says that it did it). */
#define REFUSAL_STATUS	0xfffffffffff00000ull
static inline bool refusal_by_status(const struct refused_set *r)
{
	return (r->got & REFUSAL_STATUS) == REFUSAL_STATUS;
}

struct refused_kind {
	uint64_t guid;
	uint16_t attr;
	uint16_t status;	/* the last one, if any is by status */
	bool firm;
	uint32_t by_status, by_value;
	uint32_t of_ports;	/* of both, those whose AttributeModifier has a port in its upper half */
};

struct refusals;
struct refusals *refusals_new(void);
struct refusals *refusals_copy(const struct refusals *all);
void refusals_free(struct refusals *all);	/* NULL is fine */

/* False: that is known. */
bool refusals_put(struct refusals *all, const struct refused_set *r);
/* The device took a value, or has it.  False: nothing was known against that. */
bool refusals_drop(struct refusals *all, uint64_t guid, uint16_t attr, uint32_t mod);
/* Those by status of a device that started anew.  False: there are none. */
bool refusals_forget(struct refusals *all, uint64_t guid);
/*
 * Drops those by status of nodes that are not there; those by value, too, when there are so many
 * that others would have to give way.  False: there are none.
 */
bool refusals_prune(struct refusals *all, bool (*is_there)(void *arg, uint64_t guid), void *arg);

/* While it is on, what is refused by status counts as not refused: all is tried once more. */
void refusals_probe(struct refusals *all, bool on);
/*
 * Whether the device does not take `want`: it answers it with an error, or has `got` after it.
 * all NULL: no.
 */
bool refusals_have(const struct refusals *all, uint64_t guid, uint16_t attr, uint32_t mod,
		   uint64_t want, uint64_t got);
/* … by status only; and whether that is known, though it may be tried once more. */
bool refusals_know_status(const struct refusals *all, uint64_t guid, uint16_t attr, uint32_t mod,
			  uint64_t want);
bool refusals_have_status(const struct refusals *all, uint64_t guid, uint16_t attr, uint32_t mod,
			  uint64_t want);
/* What is known of one AttributeModifier; NULL: nothing.  Valid until the refusals change. */
const struct refused_set *refusals_find(const struct refusals *all, uint64_t guid, uint16_t attr,
					uint32_t mod);
/* What is known of an attribute of a device; NULL: nothing. */
const struct refused_kind *refusals_kind(const struct refusals *all, uint64_t guid, uint16_t attr);

/* i from 0; NULL: no more.  Those of which nothing is left are there, too, with zeros. */
const struct refused_kind *refusals_kind_at(const struct refusals *all, size_t i);
const struct refused_set *refusals_at(const struct refusals *all, size_t i);
/* Values that devices keep instead of others. */
size_t refusals_by_value(const struct refusals *all);

#endif
